"""The shipped presets of hierarchical group sizes, with what the paper prints otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from phexplore.model.group_sizes import GroupSizes, HeavyTail, SizeMechanism, equal_shares
from phexplore.model.numbers import parse_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.resources import resource


@dataclass(frozen=True, slots=True)
class GroupSizesEntry:
    """One published set of parameters.

    Attributes:
        id: as the command line takes it.
        title: for people.
        product: the publication.
        source: where the figures come from.
        errata: what the paper prints otherwise, in words.
        method: the parameters.
    """

    id: str
    title: str
    product: str
    source: str
    errata: tuple[str, ...]
    method: GroupSizes


@lru_cache(maxsize=1)
def group_sizes_entries() -> Mapping[str, GroupSizesEntry]:
    """Return all published parameters by id."""
    content = json.loads(resource("presets/group_sizes.json").read_text(encoding="utf-8"))
    return MappingProxyType({entry["id"]: _entry(entry) for entry in content["presets"]})


def _entry(entry: Mapping[str, Any]) -> GroupSizesEntry:
    levels = tuple(entry["levels"])
    method = GroupSizes(
        levels=levels,
        regions=tuple(entry["regions"]),
        total=parse_exact(entry["total"]),
        level_shares=equal_shares(levels),
        largest=entry["largest"],
        mechanism=SizeMechanism(entry["mechanism"]),
        framework=PrivacyFramework(entry["framework"]),
        largest_quantity=entry["largest_quantity"],
        tail=HeavyTail(**entry["tail"]) if entry["tail"] else None,
    )
    return GroupSizesEntry(
        entry["id"], entry["title"], entry["product"], entry["source"], tuple(entry["errata"]), method
    )
