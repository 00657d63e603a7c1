"""The values that every version of the bundle's format states, and how stated values are compared with recomputed ones.

A later release may add keys to what it writes and may word a note otherwise; what stands here it may not change or
leave out. So a bundle of an earlier version goes on verifying, and one that states a value nobody listed does not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

_DIGIT = re.compile(r"[\d∞]")
RELATIVE_TOLERANCE = 1e-9
"""Floats differ in their last digits between computers; everything exact is text and compared as such."""

CONVERSIONS = frozenset({"bun-steinke", "zcdp-optimal-alpha", "gaussian-continuous", "pure-dp"})
"""Conversions of ρ to ε that versions 1 and 2 state."""
LATER_CONVERSIONS = frozenset({"discrete-gaussian-exact"})
"""What bundles may state since; those of before do not, and go on verifying."""
WORDING = frozenset({"errata[]", "spine.note"})
"""Keys of the forecast whose text explains values: another release may word it otherwise, where it names no number."""
_MARGINS = ("moe.exact", "moe.normal", "moe.paper")
_FORECAST = frozenset(
    {
        "scenario",
        "framework",
        "schema",
        *(f"conventions.{key}" for key in ("confidence", "delta", "margin", "neighbours", "rounding", "rounding_step", "z")),
        *(f"privacy.{key}" for key in ("rho", "bounded_rho", "pure_epsilon", "bounded_pure_epsilon", "joint_release")),
        *(f"privacy.epsilon[].{key}" for key in ("conversion", "delta", "neighbours", "rho", "value")),
        *(f"privacy.{part}[].{key}" for part in ("attributes", "block_within") for key in ("epsilon", "rho")),
        "privacy.attributes[].attribute",
        "privacy.block_within[].level",
        *(f"privacy.joint_release.{k}" for k in ("epsilon", "epsilon_bun_steinke", "rho", "sum_of_epsilons", "with")),
        *(f"levels[].{key}" for key in ("level", "share")),
        *(f"cells[].{key}" for key in ("table", "tau", "sensitivity", "bounded_rho", "target", "query", "cells", "sigma2")),
        *(f"cells[].{key}" for key in ("level", "rho", "share", "sigma", *_MARGINS)),
        *(f"derived[].{key}" for key in ("table", "level", "cell", "kind", "source", "source_cells[]", "ratio")),
        *(f"derived[].{key}" for key in ("interval[]", "reliable", "label")),
        *(f"derived[].expected.{key}" for key in ("numerator", "denominator", "of")),
        *(f"derived[].{key}" for key in _MARGINS),
        *(f"spine.{key}" for key in ("blocks", "kind", "settings")),
    }
)  # fmt: skip
"""Keys of ``forecast.json`` of versions 1 and 2; ``[]`` stands for every entry of a list."""
_LATER = frozenset(
    {
        *(f"privacy.epsilon[].{key}" for key in ("low", "high", "bypass_high")),
        *(f"privacy.{part}.{key}" for part in ("attributes[]", "block_within[]", "joint_release") for key in ("exact_low", "exact_high")),
        *(f"privacy.attributes[].{key}" for key in ("own_low", "own_high")),
    }
)  # fmt: skip
"""Keys that may be stated since; where they are, they have to agree."""
_WITH_LINKED = 3
_FORMERLY = {f"privacy.attributes[].exact_{end}": f"own_{end}" for end in ("low", "high")}
"""What versions 1 and 2 stated under these keys of attributes that a companion histogram tells, too: less than is lost."""


def same(stated: object, made: object) -> bool:
    """Return whether two plain values are equal: text and integers exactly, floats within `RELATIVE_TOLERANCE`.

    Args:
        stated: value of a bundle.
        made: recomputed value.
    """
    if isinstance(stated, bool) or isinstance(made, bool) or not isinstance(stated, (int, float)):
        return type(stated) is type(made) and stated == made
    if not isinstance(made, (int, float)):
        return False
    if isinstance(stated, int) and isinstance(made, int):
        return stated == made
    return math.isclose(stated, made, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0)


def forecast_differences(stated: object, made: object, version: int) -> Iterator[str]:
    """Yield the keys at which a stated forecast is not the recomputed one.

    Args:
        stated: forecast of a bundle, plain JSON.
        made: recomputed forecast.
        version: of the bundle.
    """
    former = _FORMERLY if version < _WITH_LINKED else {}
    known = CONVERSIONS | (_conversions_of(stated) & LATER_CONVERSIONS)
    ours = _leaves(_with_conversions(made, known))
    theirs = _leaves(stated)
    explained = [value for key, value in ours.values() if key in WORDING]
    for place, (key, value) in theirs.items():
        if key in WORDING and (value in explained or (isinstance(value, str) and not _DIGIT.search(value))):
            continue
        formerly = (*place[:-1], former.get(key, ""))
        if formerly in ours and formerly not in theirs and _agree(value, ours[formerly][1]):
            continue
        if key not in _FORECAST | _LATER or place not in ours or not _agree(value, ours[place][1]):
            yield key or "the whole"
    for place, (key, _) in ours.items():
        if key in _FORECAST and place not in theirs:
            yield key


def _leaves(
    value: object, place: tuple[str | int, ...] = (), key: str = ""
) -> dict[tuple[str | int, ...], tuple[str, object]]:
    """Return the values of a JSON value by their place, each with its key in the spelling of `_FORECAST`."""
    found: dict[tuple[str | int, ...], tuple[str, object]] = {}
    if isinstance(value, dict) and key != "spine.settings":
        for name, inner in value.items():
            found |= _leaves(inner, (*place, str(name)), f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            found |= _leaves(inner, (*place, number), f"{key}[]")
    else:
        found[place] = (key, value)
    return found


def _epsilons_of(forecast: object) -> list[object]:
    privacy = forecast.get("privacy") if isinstance(forecast, dict) else None
    entries = privacy.get("epsilon") if isinstance(privacy, dict) else None
    return entries if isinstance(entries, list) else []


def _conversions_of(forecast: object) -> set[str]:
    return {str(one.get("conversion")) for one in _epsilons_of(forecast) if isinstance(one, dict)}


def _with_conversions(forecast: object, known: frozenset[str]) -> object:
    """Leave out conversions that a later release added than the one that states the forecast."""
    if not isinstance(forecast, dict) or not (entries := _epsilons_of(forecast)):
        return forecast
    kept = [one for one in entries if not isinstance(one, dict) or one.get("conversion") in known]
    return {**forecast, "privacy": {**forecast["privacy"], "epsilon": kept}}


def _agree(stated: object, made: object) -> bool:
    if isinstance(stated, dict) and isinstance(made, dict):
        return stated.keys() == made.keys() and all(_agree(stated[key], made[key]) for key in stated)
    if isinstance(stated, list) and isinstance(made, list):
        return len(stated) == len(made) and all(map(_agree, stated, made))
    return same(stated, made)


def is_contained(stated: Any, made: Any) -> bool:
    """Return whether everything that is stated was made too; `made` may hold keys that a later release added.

    Args:
        stated: value of a bundle.
        made: recomputed value.
    """
    if isinstance(stated, dict) and isinstance(made, dict):
        return all(key in made and is_contained(value, made[key]) for key, value in stated.items())
    if isinstance(stated, list) and isinstance(made, list):
        return len(stated) == len(made) and all(map(is_contained, stated, made))
    return same(stated, made)
