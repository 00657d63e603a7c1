"""The shipped presets of TopDown: exact production parameters, the misprints of the papers corrected and named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery, Passes, SpineChoice, TopDown
from phexplore.resources import resource


@dataclass(frozen=True, slots=True)
class TopDownEntry:
    """One published set of TopDown parameters.

    Attributes:
        id: as the command line takes it, e.g. ``pl94-2020-persons-us``.
        title: for people.
        product: the publication.
        source: where the figures come from.
        partner: preset released together with this one, "" when alone.
        errata: what the papers print otherwise, in words.
        method: the parameters.
    """

    id: str
    title: str
    product: str
    source: str
    partner: str
    errata: tuple[str, ...]
    method: TopDown


@lru_cache(maxsize=1)
def topdown_entries() -> Mapping[str, TopDownEntry]:
    """Return all published TopDown parameters by id."""
    content = json.loads(resource("presets/topdown.json").read_text(encoding="utf-8"))
    return MappingProxyType({entry["id"]: _entry(entry) for entry in content["presets"]})


def _entry(entry: Mapping[str, Any]) -> TopDownEntry:
    levels = tuple(entry["levels"])
    shares = {
        LevelQuery(level, query): Fraction(share)
        for level in levels
        for query, share in entry["query_shares"][level].items()
    }
    method = TopDown(
        schema=entry["schema"],
        levels=levels,
        total=Fraction(entry["total"]),
        level_shares={level: Fraction(entry["level_shares"][level]) for level in levels},
        query_shares=shares,
        framework=PrivacyFramework(entry["framework"]),
        passes={level: _passes(order) for order in entry["passes"] for level in order["levels"]},
        invariants={level: tuple(names) for level, names in entry["invariants"].items()},
        constraints={level: tuple(names) for level, names in entry["constraints"].items()},
        spine=SpineChoice(entry["spine"]["kind"], tuple(entry["spine"]["settings"].items())),
    )
    return TopDownEntry(
        entry["id"],
        entry["title"],
        entry["product"],
        entry["source"],
        entry["partner"],
        tuple(entry["errata"]),
        method,
    )


def _passes(order: Mapping[str, Any]) -> Passes:
    return Passes(_nested(order["least_squares"]), _nested(order["rounder"]))


def _nested(passes: list[list[list[str]]]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(tuple(tuple(names) for names in inner) for inner in passes)
