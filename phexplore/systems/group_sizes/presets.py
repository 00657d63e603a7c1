"""The shipped presets of hierarchical group sizes, with what the paper prints otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from phexplore.catalog.presets import Preset, read_presets
from phexplore.model.group_sizes import GroupSizes, HeavyTail, SizeMechanism, equal_shares
from phexplore.model.numbers import parse_exact
from phexplore.model.phsafe import PrivacyFramework


@lru_cache(maxsize=1)
def group_sizes_presets() -> Mapping[str, Preset]:
    """Return all published parameters by id."""
    return read_presets("presets/group_sizes.json", _method)


def _method(entry: Mapping[str, Any]) -> GroupSizes:
    levels = tuple(entry["levels"])
    return GroupSizes(
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
