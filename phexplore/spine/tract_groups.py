"""Group the tracts of every county so that areas come closer to the spine (Algorithm 2 of the spines paper).

Every tract begins as a group of its own. Pairs of groups of one county are merged when the size allows and the distances of all
areas, sorted from the largest down, come lexicographically no later than before (`paper`) or earlier (`production`, which also
leaves out areas no grouping can bring further away than the threshold, and where none is left puts tracts together in their order).
The sweep over all counties repeats until nothing changes.

Merging changes the distance of areas that touch the county only, and what happens above the county is two sums per area; so a pair is
judged by the areas that touch the county, not by a new run of Algorithm 1. Comparing sorted lists that differ in a few places is
comparing the places: the largest distance that one list has more often decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.spine.settings import SpineSettings

Ints = NDArray[np.int64]


@dataclass(slots=True)
class _Level:
    """Sums over the children of units of one level, per pair of an area and a unit that it touches.

    Attributes:
        unit_of: unit of this level for each unit of the level below.
        rows: place in the sums of each pair, by area and unit.
        added: sum of the children's costs.
        subtracted: sum of the children's rests.
    """

    unit_of: Ints
    rows: dict[tuple[int, int], int]
    added: Ints
    subtracted: Ints


def merge_tracts(
    above: Sequence[Ints], tract: Ints, group: Ints, partitions: Sequence[Ints], settings: SpineSettings
) -> Ints:
    """Return the tract group of each block, numbered over all counties.

    Args:
        above: per level down to the county, the unit of each block.
        tract: ``int64[blocks]``, units numbered from 0, ascending with the county.
        group: ``int64[blocks]``, block groups numbered from 0, each inside one tract.
        partitions: classes of areas, each as one number per block; blocks outside of all areas count as an area, too.
        settings: with the rule, the cutoff and the threshold.
    """
    area, touched_tract, cost, rest = _by_tract(tract, group, partitions)
    county_of_tract = _of_unit(tract, above[-1])
    levels = _levels(above, county_of_tract, area, touched_tract, cost, rest)
    bound = np.bincount(area, weights=cost).astype(np.int64)
    keep = bound > settings.entity_threshold if settings.tract_groups == "production" else np.ones(len(bound), bool)
    counties = int(above[-1].max()) + 1
    merged = [np.empty(0, np.int64)] * counties
    work = _Counties(levels, county_of_tract, (area, touched_tract, cost, rest), keep, settings)
    waiting = list(range(counties))
    while waiting:
        waiting = [county for county in waiting if work.sweep(county)]
        # A county that changed may let another one change: its areas may reach over the border.
        waiting = work.neighbours(waiting)
    for county in range(counties):
        merged[county] = work.groups(county)
    number = np.empty(len(county_of_tract), np.int64)
    offset = 0
    for county, own in enumerate(merged):
        members = np.flatnonzero(county_of_tract == county)
        number[members] = own + offset
        offset += int(own.max()) + 1
    return number[tract]


def _of_unit(unit: Ints, value: Ints) -> Ints:
    """Return the value of each unit, equal for all its blocks."""
    found = np.empty(int(unit.max()) + 1, np.int64)
    found[unit] = value
    return found


def _by_tract(tract: Ints, group: Ints, partitions: Sequence[Ints]) -> tuple[Ints, Ints, Ints, Ints]:
    """Return pairs of areas and tracts that they touch, with the cost of the area's part and of the rest (equation 20)."""
    tract_of_group = _of_unit(group, tract)
    in_group, groups_in = np.bincount(group), np.bincount(tract_of_group)
    found: list[tuple[Ints, Ints, Ints, Ints]] = []
    offset = 0
    for partition in partitions:
        areas = np.unique(partition, return_inverse=True)[1].astype(np.int64)
        keys, inside = np.unique(areas * len(in_group) + group, return_counts=True)
        area, unit = np.divmod(keys, len(in_group))
        outside = in_group[unit] - inside
        cost, rest = np.minimum(inside, outside + 1), np.minimum(outside, inside + 1)
        keys, row = np.unique(area * len(groups_in) + tract_of_group[unit], return_inverse=True)
        area, unit = np.divmod(keys, len(groups_in))
        added = np.bincount(row, weights=cost).astype(np.int64)
        subtracted = np.bincount(row, weights=rest).astype(np.int64) + groups_in[unit] - np.bincount(row)
        found.append((area + offset, unit, np.minimum(added, subtracted + 1), np.minimum(subtracted, added + 1)))
        offset += int(areas.max()) + 1
    area, unit, cost, rest = (np.concatenate(column) for column in zip(*found, strict=True))
    return area, unit, cost, rest


def _levels(
    above: Sequence[Ints], county_of_tract: Ints, area: Ints, tract: Ints, cost: Ints, rest: Ints
) -> list[_Level]:
    """Return the sums of every level from the county up, every tract being a group of its own."""
    # A group of one tract: the group's cost is min(c, k + 1) of the tract, which is the tract's cost again.
    found: list[_Level] = []
    unit_of, below = county_of_tract, len(county_of_tract)
    units = tract
    for ids in reversed(above):
        parent = unit_of[units]
        count = int(ids.max()) + 1
        children = np.bincount(unit_of, minlength=count)
        keys, row = np.unique(area * count + parent, return_inverse=True)
        added = np.bincount(row, weights=cost).astype(np.int64)
        subtracted = np.bincount(row, weights=rest).astype(np.int64)
        area, units = np.divmod(keys, count)
        subtracted += children[units] - np.bincount(row)
        rows = {pair: place for place, pair in enumerate(zip(area.tolist(), units.tolist(), strict=True))}
        found.append(_Level(unit_of, rows, added, subtracted))
        cost, rest = np.minimum(added, subtracted + 1), np.minimum(subtracted, added + 1)
        below = count
        place = next(each for each, level in enumerate(above) if level is ids)
        if place:
            unit_of = np.empty(below, np.int64)
            unit_of[ids] = above[place - 1]
    return found


class _Counties:
    """The groups of every county while they are merged."""

    def __init__(
        self,
        levels: list[_Level],
        county_of_tract: Ints,
        pairs: tuple[Ints, Ints, Ints, Ints],
        keep: NDArray[np.bool_],
        settings: SpineSettings,
    ) -> None:
        self._levels = levels
        self._settings = settings
        counties = int(county_of_tract.max()) + 1
        area, tract, cost, rest = pairs
        self._tracts = [np.flatnonzero(county_of_tract == county) for county in range(counties)]
        self._group = [np.arange(len(tracts)) for tracts in self._tracts]
        self._areas: list[Ints] = []
        self._tables: list[tuple[Ints, Ints]] = []
        order = np.argsort(county_of_tract[tract], kind="stable")
        ends = np.searchsorted(county_of_tract[tract][order], np.arange(counties + 1))
        for county, tracts in enumerate(self._tracts):
            rows = order[ends[county] : ends[county + 1]]
            rows = rows[keep[area[rows]]]
            areas, which = np.unique(area[rows], return_inverse=True)
            added = np.zeros((len(areas), len(tracts)), np.int64)
            subtracted = np.ones((len(areas), len(tracts)), np.int64)
            place = np.searchsorted(tracts, tract[rows])
            added[which, place], subtracted[which, place] = cost[rows], rest[rows]
            self._areas.append(areas)
            self._tables.append((added, subtracted))
        self._counties_of_area: dict[int, list[int]] = {}
        for county, areas in enumerate(self._areas):
            for each in areas.tolist():
                self._counties_of_area.setdefault(each, []).append(county)

    def groups(self, county: int) -> Ints:
        """Return the group of each tract of a county, numbered by first appearance."""
        first, inverse = np.unique(self._group[county], return_index=True, return_inverse=True)[1:]
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        numbers: Ints = rank[inverse]
        return numbers

    def neighbours(self, changed: list[int]) -> list[int]:
        """Return the counties that areas of changed counties reach, those included."""
        found = set(changed)
        for county in changed:
            for area in self._areas[county].tolist():
                found.update(self._counties_of_area[area])
        return sorted(found)

    def sweep(self, county: int) -> bool:
        """Try all pairs of groups of a county once; return whether one was merged."""
        from phexplore.spine import _merging  # noqa: PLC0415 - numba takes half a second to load

        tracts, areas = self._tracts[county], self._areas[county]
        most = int(np.sqrt(len(tracts))) + self._settings.fanout_cutoff
        if not len(areas) and self._settings.tract_groups == "production":
            chunked = np.arange(len(tracts)) // most
            changed = bool((chunked != self._group[county]).any())
            self._group[county] = chunked
            return changed
        added, subtracted = self._tables[county]
        above_added, above_subtracted, places = self._above(county, areas)
        alive = np.flatnonzero(np.bincount(self._group[county], minlength=len(tracts)) > 0)
        before = self._totals(added, subtracted, alive)
        merged = _merging.sweep(
            self._group[county],
            added,
            subtracted,
            above_added,
            above_subtracted,
            most,
            self._settings.tract_groups == "paper",
        )
        if not merged:
            return False
        alive = np.flatnonzero(np.bincount(self._group[county], minlength=len(tracts)) > 0)
        self._carry(places, before, self._totals(added, subtracted, alive))
        return True

    @staticmethod
    def _totals(added: Ints, subtracted: Ints, alive: Ints) -> tuple[Ints, Ints]:
        x, y = added[:, alive], subtracted[:, alive]
        return np.minimum(x, y + 1).sum(axis=1), np.minimum(y, x + 1).sum(axis=1)

    def _above(self, county: int, areas: Ints) -> tuple[Ints, Ints, list[Ints]]:
        """Return per area and level above the county the sums without this branch, and the places of the sums."""
        places, unit = [], county
        for number, level in enumerate(self._levels):
            places.append(np.array([level.rows[area, unit] for area in areas.tolist()], np.int64))
            if number + 1 < len(self._levels):
                unit = int(self._levels[number + 1].unit_of[unit])
        added = np.zeros((len(areas), len(self._levels) - 1), np.int64)
        subtracted = np.zeros_like(added)
        for number in range(1, len(self._levels)):
            below, level = self._levels[number - 1], self._levels[number]
            x, y = below.added[places[number - 1]], below.subtracted[places[number - 1]]
            added[:, number - 1] = level.added[places[number]] - np.minimum(x, y + 1)
            subtracted[:, number - 1] = level.subtracted[places[number]] - np.minimum(y, x + 1)
        return added, subtracted, places

    def _carry(self, places: list[Ints], before: tuple[Ints, Ints], after: tuple[Ints, Ints]) -> None:
        """Bring the changed sums of a county up to the root."""
        change_added, change_subtracted = after[0] - before[0], after[1] - before[1]
        for level, place in zip(self._levels, places, strict=True):
            x, y = level.added[place], level.subtracted[place]
            level.added[place], level.subtracted[place] = x + change_added, y + change_subtracted
            new_x, new_y = level.added[place], level.subtracted[place]
            change_added = np.minimum(new_x, new_y + 1) - np.minimum(x, y + 1)
            change_subtracted = np.minimum(new_y, new_x + 1) - np.minimum(y, x + 1)
