"""The shipped presets of TopDown: exact production parameters, the misprints of the papers corrected and named."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from phexplore.catalog.presets import Preset, read_presets
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery, Passes, SpineChoice, TopDown


@lru_cache(maxsize=1)
def topdown_presets() -> Mapping[str, Preset]:
    """Return all published parameters by id."""
    return read_presets("presets/topdown.json", _method, "{product} (TopDown)")


def _method(entry: Mapping[str, Any]) -> TopDown:
    levels = tuple(entry["levels"])
    shares = {
        LevelQuery(level, query): Fraction(share)
        for level in levels
        for query, share in entry["query_shares"][level].items()
    }
    return TopDown(
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


def _passes(order: Mapping[str, Any]) -> Passes:
    return Passes(_nested(order["least_squares"]), _nested(order["rounder"]))


def _nested(passes: list[list[list[str]]]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(tuple(tuple(names) for names in inner) for inner in passes)
