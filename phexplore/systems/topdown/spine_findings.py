"""Sentences that state what a spine does to areas: the figures, and the reason where it is not plain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.wording import shown_change
from phexplore.spine.description import ClassDistances
from phexplore.spine.geography import TABULATION
from phexplore.spine.settings import BLOCK_GROUP, PLACE_MCD, QUARTERS

_NOUNS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "place": ("place", "places"),
        "cousub": ("county subdivision", "county subdivisions"),
        "aiannh": ("tribal area", "tribal areas"),
        "school_dist": ("school district", "school districts"),
        "secondary_sd": ("secondary school district", "secondary school districts"),
        "sldu": ("upper-chamber district", "upper-chamber districts"),
        "sldl": ("lower-chamber district", "lower-chamber districts"),
        "cd": ("congressional district", "congressional districts"),
        "zcta": ("ZIP code area", "ZIP code areas"),
        "county": ("county", "counties"),
        "tract": ("tract", "tracts"),
        BLOCK_GROUP: ("tabulated block group", "tabulated block groups"),
        PLACE_MCD: ("town or place", "towns or places by state"),
        QUARTERS: ("combination of group quarters", "combinations of group quarters"),
    }
)


def noun(name: str, count: int = 2) -> str:
    """Return what areas of a class are called, one or several.

    Args:
        name: of a class of areas.
        count: how many.
    """
    one, many = _NOUNS.get(name, (name, name))
    return one if count == 1 else many


def distance_finding(found: ClassDistances, *, targeted: bool) -> str:
    """Return what a spine does to the distances of a class, e.g. "Targeting places brings the mean …".

    Args:
        found: what was found.
        targeted: whether each class was aimed at.
    """
    areas, name = len(found.this.codes), noun(found.name)
    if not areas:
        return f"No block lies in one of the {name}."
    before, after = found.standard.mean, found.this.mean
    several = f"{areas:,} {noun(found.name, areas)}"
    was, now = f"{before:.2f}", f"{after:.2f}"
    if was == now:
        return f"The mean off-spine distance of {several} stays at {now} units."
    if targeted and after < before:
        return f"Targeting {name} brings the mean off-spine distance of {several} from {was} to {now} units."
    verb = "falls" if after < before else "rises"
    return f"The mean off-spine distance of {several} {verb} from {was} to {now} units."


SPOKEN_OF = ("place", PLACE_MCD, "cousub", "school_dist", "aiannh")
"""Classes in the order in which a page speaks of them."""


def first_class(classes: Sequence[ClassDistances]) -> ClassDistances | None:
    """Return the class a page speaks of first, None where the blocks have no areas but those of the tabulation."""
    named = {each.name: each for each in classes if each.name not in TABULATION and len(each.this.codes)}
    return next((named[name] for name in SPOKEN_OF if name in named), next(iter(named.values()), None))


def summary(classes: Sequence[ClassDistances], targeted: Sequence[bool]) -> tuple[str, str]:
    """Return what a spine does to areas in one sentence, and the reasons with what becomes of the other classes.

    Args:
        classes: distances of every class of areas.
        targeted: whether each class was aimed at.
    """
    first = first_class(classes)
    if first is None:
        return (
            "These blocks have no codes of areas beyond tract and block group: distances are those of the tabulation.",
            "",
        )
    named = {each.name: (each, aimed) for each, aimed in zip(classes, targeted, strict=True) if len(each.this.codes)}
    others = [named[name] for name in SPOKEN_OF[:3] if name in named and name != first.name]
    parts = [first.reason]
    for each, aimed in others:
        parts += [distance_finding(each, targeted=aimed), each.reason]
    return distance_finding(first, targeted=named[first.name][1]), " ".join(part for part in parts if part)


def margin_finding(name: str, before: NDArray[np.float64] | None, after: NDArray[np.float64], unit: str) -> str:
    """Return what a spine does to the predicted margins of areas.

    Args:
        name: what has the margins, plural.
        before: ``float64[areas]`` on the other spine, None where it cannot be predicted.
        after: on this one.
        unit: what the margins count, plural.
    """
    finite = np.isfinite(after)
    if not len(after):
        return f"There are no {name.removeprefix('0 ')}."
    if not finite.any():
        return f"Nothing measured determines the counts of {name}."
    now = f"±{_people(float(after[finite].mean()))}"
    if before is None or not (finite & np.isfinite(before)).any():
        return f"Predicted margin of {name}: {now} {unit} on average"
    both = finite & np.isfinite(before)
    was = f"±{_people(float(before[both].mean()))}"
    now = f"±{_people(float(after[both].mean()))}"
    pairs = zip(before[both].tolist(), after[both].tolist(), strict=True)
    changes = [shown_change(old, new, margin_text) for old, new in pairs]
    smaller, larger = changes.count(-1), changes.count(1)
    if was == now:
        change = f"Predicted margin of {name}: unchanged at {now} {unit} on average"
    else:
        change = f"Predicted margin of {name}: {was} → {now} {unit}" + (" on average" if len(changes) > 1 else "")
    if len(changes) == 1 or not (smaller or larger):
        return change
    counts = f"smaller for {smaller:,}" if smaller >= larger else f"larger for {larger:,}"
    return f"{change}, {counts} of {len(changes):,}"


def _people(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def margin_text(value: float) -> str:
    """Return a predicted margin as it is read, of a count: ``±2.63``, or that it has none."""
    if not math.isfinite(value):
        return "not determined"
    if value == 0:
        return "exact"
    return f"±{value:,.2f}" if value < 10 else f"±{value:,.1f}" if value < 1000 else f"±{value:,.0f}"
