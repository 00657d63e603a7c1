"""A spine in figures: units and fan-out per level, distances per class of areas beside the standard spine, what was bypassed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phexplore.model.numbers import exact_text
from phexplore.spine.allocation import Allocation, bypassed_units, moved_budget
from phexplore.spine.building import Spine, build_spine, place_mcd
from phexplore.spine.distance import QUANTILES, Distances, distances
from phexplore.spine.geography import TABULATION, EntitySet, entities_of, entity_set
from phexplore.spine.settings import CLASS_TITLES, PLACE_MCD, SpineSettings, settings_json
from phexplore.text.messages import msg, series

if TYPE_CHECKING:
    from phexplore.model.topdown import TopDown

STANDARD = SpineSettings()
"""The spine that others are compared with."""


@dataclass(frozen=True, slots=True, eq=False)
class LevelFigures:
    """One level.

    Attributes:
        name: of the level.
        units: how many.
        fan_out: ``int64[units]``, children of each unit; empty for the blocks.
    """

    name: str
    units: int
    fan_out: NDArray[np.int64]

    def quantiles(self) -> dict[float, float]:
        """Return quantiles of the children per unit; empty for the blocks."""
        if not len(self.fan_out):
            return {}
        found = np.quantile(self.fan_out, QUANTILES, method="inverted_cdf").tolist()
        return dict(zip(QUANTILES, map(float, found), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class ClassDistances:
    """One class of areas on two spines.

    Attributes:
        name: of the class.
        title: words for it.
        standard: on the standard spine.
        this: on this spine.
        reason: why the two are as they are, where that is not plain; else "".
    """

    name: str
    title: str
    standard: Distances
    this: Distances
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SpineDescription:
    """A spine in figures.

    Attributes:
        spine: the spine.
        levels: widest first.
        classes: of areas.
        scenario: whose budgets were allocated, None if none was.
        allocation: of these budgets, None without a scenario.
    """

    spine: Spine
    levels: tuple[LevelFigures, ...]
    classes: tuple[ClassDistances, ...]
    scenario: str | None
    allocation: Allocation | None

    def json(self) -> dict[str, Any]:
        """Return the figures as JSON values; shares are exact texts."""
        return {
            "blocks": self.spine.geography.blocks,
            "source": self.spine.geography.source,
            "provenance": self.spine.geography.provenance.json(),
            "levels": [
                {"name": level.name, "units": level.units, "fan_out": _texts(level.quantiles())}
                for level in self.levels
            ],
            "distance": [
                {
                    "class": each.name,
                    "title": each.title,
                    "entities": len(each.this.codes),
                    "standard": _distances_json(each.standard),
                    "this": _distances_json(each.this),
                    "reason": each.reason or None,
                }
                for each in self.classes
            ],
            "bypassed": self._bypassed(),
            "settings": settings_json(self.spine.settings),
            "remarks": list(self.spine.remarks),
        }

    def _bypassed(self) -> dict[str, Any] | None:
        if self.allocation is None:
            return None
        return {
            "scenario": self.scenario,
            "rule": self.allocation.rule,
            "units": bypassed_units(self.allocation.bypassed),
            "budget_moved": exact_text(moved_budget(self.allocation.bypassed)),
            "levels": [
                {
                    "level": level.level,
                    "units": level.units,
                    "shares": [{"share": exact_text(share), "units": units} for share, units in level.shares],
                }
                for level in self.allocation.bypassed
            ],
            "path_total": exact_text(self.allocation.total),
            "unspent": [
                {"level": level, "share": exact_text(share)} for level, share in self.allocation.unspent if share > 0
            ],
        }


def describe_spine(
    spine: Spine,
    *,
    classes: Sequence[str] | None = None,
    standard: Spine | None = None,
    scenario: tuple[str, TopDown] | None = None,
) -> SpineDescription:
    """Return a spine's figures.

    Args:
        spine: the spine.
        classes: of areas; without it all that the blocks have codes of.
        standard: the standard spine over the same blocks, where it is at hand.
        scenario: id and parameters whose budgets are allocated.

    Raises:
        PhexploreError: a class is unknown, or the scenario is for another spine.
    """
    from phexplore.spine.allocation import allocation_of  # noqa: PLC0415 - beside its only use

    standard = standard or build_spine(spine.geography, STANDARD)
    levels = tuple(
        LevelFigures(
            level.name,
            level.units,
            np.diff(level.first_child) if level.first_child is not None else np.empty(0, np.int64),
        )
        for level in spine.tree.levels
    )
    names = default_classes(spine) if classes is None else classes
    found = tuple(class_distances(spine, standard, name) for name in names)
    allocation = allocation_of(spine, scenario[1]) if scenario is not None else None
    return SpineDescription(spine, levels, found, scenario[0] if scenario else None, allocation)


def default_classes(spine: Spine) -> tuple[str, ...]:
    """Return the classes a description speaks of: those of the blocks, the entity of 2020 where it is targeted, the tabulation's."""
    targeted = spine.settings.shapes_block_groups and PLACE_MCD in spine.settings.targets
    return (*spine.geography.areas, *([PLACE_MCD] if targeted else []), *TABULATION)


def class_entities(spine: Spine, name: str) -> EntitySet:
    """Return the areas of a class, those that only a spine's settings define included.

    Args:
        spine: whose geography and settings define the areas.
        name: of the class, e.g. ``place``.

    Raises:
        UnknownNameError: the geography has no such class.
    """
    if name == PLACE_MCD:
        return entities_of(name, place_mcd(spine.geography, spine.settings))
    return entity_set(spine.geography, name)


def class_distances(spine: Spine, standard: Spine, name: str) -> ClassDistances:
    """Return the distances of one class of areas on a spine and on the one it is compared with.

    Args:
        spine: the one described.
        standard: the one it is compared with, over the same blocks.
        name: of the class of areas.

    Raises:
        UnknownNameError: the geography has no such class.
    """
    entities = class_entities(spine, name)
    before, after = distances(standard.tree, entities), distances(spine.tree, entities)
    return ClassDistances(
        name, CLASS_TITLES.get(name, name), before, after, _reason(spine, name, entities, before, after)
    )


_TARGETED_INSTEAD = {
    "place": msg("In these states, this spine targets county subdivisions, not places."),
    "cousub": msg("In these states, this spine targets places, not county subdivisions."),
}


def _reason(spine: Spine, name: str, entities: EntitySet, before: Distances, after: Distances) -> str:
    """Say why targeting a class changed little, or why a class that is not targeted moved."""
    if not spine.settings.shapes_block_groups or not entities.areas or name in TABULATION:
        return ""
    if not is_targeted(spine, name, entities):
        if PLACE_MCD in spine.settings.targets and name in {"place", "cousub"}:
            towns = _in_strong_states(spine, entities)
            if bool(towns.all() if name == "place" else not towns.any()):
                return _TARGETED_INSTEAD[name]
        return msg("This spine does not target the class.")
    tract = spine.geography.area("tract").of_block
    touched = np.unique(np.stack([tract[entities.blocks], _area_of_member(entities)]), axis=1)
    whole = np.bincount(touched[0], minlength=int(tract.max()) + 1)
    sizes, own = np.bincount(tract), np.bincount(tract[entities.blocks], minlength=int(tract.max()) + 1)
    if ((whole <= 1) & ((own == 0) | (own == sizes))).all():
        reason = msg("Every tract lies in one of these areas, so block groups cannot reduce their distance.")
        if not (after.distance > before.distance).any():
            return reason
        return series(reason, msg("An area divided by a tribal area has a distance one larger."))
    return ""


def is_targeted(spine: Spine, name: str, entities: EntitySet) -> bool:
    """Return whether a spine's block groups follow the areas of a class, be it as towns or places by state.

    Args:
        spine: the one described.
        name: of the class of areas.
        entities: the areas of the class.
    """
    settings = spine.settings
    if not settings.shapes_block_groups:
        return False
    if name in settings.targets:
        return True
    if PLACE_MCD not in settings.targets or name not in {"place", "cousub"}:
        return False
    towns = _in_strong_states(spine, entities)
    return bool(towns.all() if name == "cousub" else not towns.any())


def _in_strong_states(spine: Spine, entities: EntitySet) -> NDArray[np.bool_]:
    """Return which blocks of the areas lie where towns govern, ``bool[members]``."""
    states = [int(code) for code in spine.settings.strong_mcd_states]
    found: NDArray[np.bool_] = np.isin(spine.geography.numbers(0, 2), states)[entities.blocks]
    return found


def _area_of_member(entities: EntitySet) -> NDArray[np.int64]:
    return np.repeat(np.arange(entities.areas), np.diff(entities.starts))


def _distances_json(found: Distances) -> dict[str, Any]:
    return {
        "mean": found.mean,
        "max": found.largest,
        "quantiles": _texts(dict(zip(QUANTILES, found.quantiles(), strict=True))),
    }


def _texts(values: dict[float, float]) -> dict[str, float]:
    return {str(share): value for share, value in values.items()}


def freed(allocation: Allocation) -> Fraction:
    """Return the largest share of the budget that moved at one unit."""
    return max((share for level in allocation.bypassed for share, _ in level.shares), default=Fraction(0))
