"""A nation estimated state by state: the top of the tree in one go, then every state on its own from its counties' estimates.

Only the US, the states and the counties need each other. Below a county nothing depends on another state, and the noise of a unit is
addressed by its place in the whole tree (`phexplore.simulate.topdown.measuring`): a state on its own gets, bit for bit, what it gets
in the whole tree. On a spine with tribal parts a state has two runs of counties, which lie far apart in the tree.

Source: TopDown paper, section 6.5 (the descent); topdown, section 10 (the spine).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from phexplore.simulate.topdown.bounds import unit_bounds
from phexplore.simulate.topdown.design import Design
from phexplore.simulate.topdown.driver import SharedTotals, TrialRecord, World, descend, shared_totals, world_over
from phexplore.simulate.topdown.error_folding import LevelErrors, level_errors
from phexplore.simulate.topdown.families import Estimation
from phexplore.simulate.topdown.histograms import Histograms, joined, sums_up
from phexplore.simulate.topdown.measuring import MeasurementSource
from phexplore.simulate.topdown.on_spine import in_code_order
from phexplore.simulate.topdown.pooling import PooledLevel, PooledMeasurements, pool, weights_below
from phexplore.simulate.topdown.run_checks import CHECKS, broken_bounds, trial_checks
from phexplore.spine.tree import GeoTree, TreeLevel, UnitShares
from phexplore.workload.queries import MarginalQuery

Ints = NDArray[np.int64]

TOP_LEVELS = 3
"""US, states and counties are estimated together."""


@dataclass(frozen=True, slots=True, eq=False)
class StateData:
    """What a state is estimated from; small enough to travel.

    Attributes:
        code: of the state, two digits.
        design: its levels from the counties down.
        tree: the same, without the units' codes.
        parts: ``int64[parts + 1]``, the counties of each part of the state.
        first: ``int64[parts, levels]``, number of the part's first unit of each level in the whole tree.
        leaves: exact counts, in the order of the codes.
        facilities: ``int32[leaves, types]``, None where they are unknown.
        classes: ``int8[units]`` per level, as in `World`.
        tabulation: ``int64[units + 1]`` per level from the state down, the children of each unit by code; without the leaves'.
    """

    code: str
    design: Design
    tree: GeoTree
    parts: Ints
    first: Ints
    leaves: Histograms
    facilities: NDArray[np.int32] | None
    classes: tuple[NDArray[np.int8], ...]
    tabulation: tuple[Ints, ...]

    @property
    def blocks(self) -> int:
        """The number of leaves."""
        return self.leaves.units


@dataclass(frozen=True, slots=True, eq=False)
class StateTop:
    """What the top of the tree needs of a state.

    Attributes:
        code: of the state.
        codes: of its parts and of its counties, ``U[units]``.
        first_child: ``int64[parts + 1]``, the counties of each part.
        truth: exact histograms of its parts and of its counties.
        facilities: ``int64[units, types]`` of parts and of counties, None where they are unknown.
        shares: of the budget, of parts and of counties; None where every unit has its level's.
        units: ``int64[parts, levels]``, units of each part at the levels from the part down.
        exact: histogram of the whole state.
    """

    code: str
    codes: tuple[NDArray[np.str_], NDArray[np.str_]]
    first_child: Ints
    truth: tuple[Histograms, Histograms]
    facilities: tuple[Ints, Ints] | None
    shares: tuple[UnitShares | None, UnitShares | None]
    units: Ints
    exact: Histograms


@dataclass(frozen=True, slots=True, eq=False)
class StateTask:
    """A state to be estimated.

    Attributes:
        data: of the state.
        counties: estimates of the counties, of each part.
        sources: of the measurements, from the counties down.
        options: of the estimation.
        queries: whose errors are wanted, per level of the tabulation from the state down.
        groups: the query whose answers are the groups of redistricting, None for none.
        lowest: number of the lowest pooled level from the counties down, -1 where none is pooled.
    """

    data: StateData
    counties: tuple[Histograms, ...]
    sources: tuple[MeasurementSource, ...]
    options: Estimation
    queries: tuple[tuple[MarginalQuery, ...], ...]
    groups: MarginalQuery | None
    lowest: int


@dataclass(frozen=True, slots=True, eq=False)
class StateResult:
    """What became of a state.

    Attributes:
        code: of the state.
        leaves: estimates, in the order of the codes.
        whole: their sum, one unit.
        errors: per level of the tabulation from the state down.
        checks: failures by check, in the order of `CHECKS`.
        counts: parents that the failsafe took over, of these relaxed, unfinished ones, numbers within their margin, numbers.
        families: (level, solved) pairs.
        seconds: (phase, seconds) pairs.
    """

    code: str
    leaves: Histograms
    whole: Histograms
    errors: tuple[LevelErrors, ...]
    checks: tuple[int, ...]
    counts: tuple[int, ...]
    families: tuple[tuple[str, int], ...]
    seconds: tuple[tuple[str, float], ...]


def top_of(
    code: str, tree: GeoTree, world: World, tabulated: Histograms, facilities: NDArray[np.int32] | None
) -> StateTop:
    """Return what the top of the tree needs of a state.

    Args:
        code: of the state.
        tree: of its spine, from its parts down, with shares.
        world: over it.
        tabulated: the histogram of the whole state.
        facilities: ``int32[leaves, types]`` in the order of the codes.
    """
    parts, counties = tree.levels[:2]
    if parts.first_child is None:
        raise ValueError("a state has counties")
    inside = None
    if facilities is not None:
        ordered = (facilities if tree.order is None else facilities[tree.order]).astype(np.int64)
        inside = (
            np.add.reduceat(ordered, parts.first_block[:-1], axis=0),
            np.add.reduceat(ordered, counties.first_block[:-1], axis=0),
        )
    units = [np.arange(parts.units + 1)]
    for level in tree.levels[:-1]:
        if level.first_child is None:
            raise ValueError(f"the level {level.name} has no children")
        units.append(level.first_child[units[-1]])
    return StateTop(
        code,
        (parts.codes, counties.codes),
        parts.first_child,
        (world.truth[0], world.truth[1]),
        inside,
        (parts.shares, counties.shares),
        np.stack([np.diff(each) for each in units], axis=1),
        tabulated,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """The top of the tree.

    Attributes:
        world: US, parts of states, counties.
        counties: per state and part, the first of its counties and one past the last.
        first: per state, ``int64[parts, levels]``, number of the part's first unit at the levels from the counties down.
    """

    world: World
    counties: dict[str, list[tuple[int, int]]]
    first: dict[str, Ints]


def top_of_nation(
    states: Sequence[StateTop],
    design: Callable[[Sequence[TreeLevel]], Design],
    classes: Callable[[Design, Sequence[TreeLevel]], tuple[NDArray[np.int8], ...]],
    group_of: Callable[[str], str],
    root: TreeLevel,
) -> Top:
    """Put the tops of all states together.

    Args:
        states: in any order.
        design: of the three levels, given their units.
        classes: of the units of the three levels, ``int8[units]`` each.
        group_of: the state whose part a code names.
        root: name and share of the level above the states; its intervals are made here.
    """
    parts = sorted((str(code), state, place) for state in states for place, code in enumerate(state.codes[0].tolist()))
    counts = np.array([state.units[place] for _, state, place in parts])
    begins = np.cumsum(counts, axis=0) - counts
    first = {
        state.code: np.stack([begins[row] for row, (_, of, _) in enumerate(parts) if of is state])[:, 1:]
        for state in states
    }
    ends = {state.code: [int(count) for count in state.units[:, 1]] for state in states}
    counties = {
        code: [(int(begin), int(begin) + count) for begin, count in zip(rows[:, 0], ends[code], strict=True)]
        for code, rows in first.items()
    }
    codes = (
        np.array([code for code, _, _ in parts]),
        np.concatenate([_of_part(state.codes[1], state, place) for _, state, place in parts]),
    )
    truth = (
        joined([state.truth[0].part(place, place + 1) for _, state, place in parts]),
        joined([state.truth[1].part(*_counties(state, place)) for _, state, place in parts]),
    )
    children = np.concatenate([[0], np.cumsum(counts[:, 1])])
    levels = [
        replace(root, first_block=children[[0, -1]], first_child=np.array([0, len(parts)])),
        TreeLevel("State", codes[0], children, children, _shares_of_parts(parts)),
        TreeLevel("County", codes[1], np.arange(len(codes[1]) + 1), None, _shares_of_counties(parts)),
    ]
    made = design(levels)
    inside = None if states[0].facilities is None else _facilities(parts)
    exact = (truth[0].summed(np.array([0, len(parts)]), made.schema.cells), *truth)
    lower, upper = [], []
    shared: list[SharedTotals | None] = []
    for number, (level, units, true) in enumerate(zip(made.levels, levels, exact, strict=True)):
        bounded = inside is not None and (level.least or level.most)
        found = unit_bounds(
            level,
            units.units,
            inside[number] if bounded and inside is not None else None,
            true.totals() if level.exact_total else None,
        )
        lower.append(found[0])
        upper.append(found[1])
        shared.append(shared_totals(units.codes, true, group_of) if level.shared_total else None)
    together = tuple(shared) if any(each is not None for each in shared) else ()
    world = World(made, GeoTree(tuple(levels), ()), exact, tuple(lower), tuple(upper), classes(made, levels), together)
    return Top(world, counties, first)


_Part = tuple[str, StateTop, int]


def _counties(state: StateTop, place: int) -> tuple[int, int]:
    return int(state.first_child[place]), int(state.first_child[place + 1])


def _of_part(array: NDArray[np.str_], state: StateTop, place: int) -> NDArray[np.str_]:
    first, last = _counties(state, place)
    return array[first:last]


def _facilities(parts: Sequence[_Part]) -> tuple[Ints, Ints, Ints]:
    found = [
        (state.facilities[0][place : place + 1], state.facilities[1][slice(*_counties(state, place))])
        for _, state, place in parts
        if state.facilities is not None
    ]
    of_parts, of_counties = (np.concatenate([each[number] for each in found]) for number in (0, 1))
    return of_parts.sum(axis=0, keepdims=True), of_parts, of_counties


def _shares_of_parts(parts: Sequence[_Part]) -> UnitShares | None:
    if parts[0][1].shares[0] is None:
        return None
    found = [shares.share(place) for _, state, place in parts if (shares := state.shares[0]) is not None]
    values = tuple(dict.fromkeys(found))
    return UnitShares(values, np.array([values.index(each) for each in found], np.int32))


def _shares_of_counties(parts: Sequence[_Part]) -> UnitShares | None:
    if parts[0][1].shares[1] is None:
        return None
    found = [
        shares.share(county)
        for _, state, place in parts
        if (shares := state.shares[1]) is not None
        for county in range(*_counties(state, place))
    ]
    values = tuple(dict.fromkeys(found))
    return UnitShares(values, np.array([values.index(each) for each in found], np.int32))


def top_checks(world: World, levels: Sequence[Histograms]) -> tuple[int, ...]:
    """Return the failures at the top, in the order of `CHECKS`; those of the counties are counted with their states.

    Args:
        world: of the top.
        levels: estimates of its levels.
    """
    summed = sums_up(levels[-1], world.tree, world.design.schema.cells)
    above = replace(
        world,
        design=replace(world.design, levels=world.design.levels[:-1]),
        lower=world.lower[:-1],
        upper=world.upper[:-1],
    )
    sums = sum(one.differences(other) for one, other in zip(summed[:-1], levels[:-1], strict=True))
    return (sums, broken_bounds(above, summed[:-1]), 0, 0)


def branches(data: StateData) -> tuple[World, ...]:
    """Return the trees below the counties of each part of a state, with their counts and bounds."""
    world = replace(world_over(data.design, data.tree, data.leaves, data.facilities), classes=data.classes)
    return tuple(
        _branch(world, int(first), int(last), tuple(places.tolist()))
        for (first, last), places in zip(pairwise(data.parts), data.first, strict=True)
    )


def _branch(world: World, first: int, last: int, places: tuple[int, ...]) -> World:
    """Return the counties ``first:last`` with everything below them."""
    levels, spans = [], []
    for level in world.tree.levels:
        spans.append((first, last))
        blocks = level.first_block[first : last + 1]
        children = None if level.first_child is None else level.first_child[first : last + 1]
        levels.append(
            TreeLevel(
                level.name,
                level.codes[first:last],
                blocks - blocks[0],
                None if children is None else children - children[0],
            )
        )
        if children is not None:
            first, last = int(children[0]), int(children[-1])
    return World(
        world.design,
        GeoTree(tuple(levels), ()),
        tuple(each.part(*span) for each, span in zip(world.truth, spans, strict=True)),
        tuple(each[slice(*span)] for each, span in zip(world.lower, spans, strict=True)),
        tuple(each[slice(*span)] for each, span in zip(world.upper, spans, strict=True)),
        tuple(each[slice(*span)] for each, span in zip(world.classes, spans, strict=True)),
        first=places,
    )


def estimate_state(task: StateTask, on_progress: Callable[[str, int, int], None] | None = None) -> StateResult:
    """Return the estimates of a state and their errors.

    Args:
        task: the state.
        on_progress: called with a level, its finished units and all of them; may raise to stop.
    """
    data, record = task.data, TrialRecord()
    found, checks = [], np.zeros(len(CHECKS), np.int64)
    for world, counties in zip(branches(data), task.counties, strict=True):
        sources: Sequence[MeasurementSource] = task.sources
        if task.lowest >= 0:
            sources = pool(world, sources, record, lowest=task.lowest, on_progress=on_progress)
        before = record.negative
        descent = descend(world, sources, task.options, record=record, given=counties, on_progress=on_progress)
        failures = trial_checks(world, descent)
        failures["non_negativity"] -= before
        checks += [failures[name] for name in CHECKS]
        found.append(descent.leaves)
    leaves = in_code_order(data.tree, joined(found))
    errors, whole = errors_of_state(data, leaves, task.queries, task.groups)
    return StateResult(
        data.code,
        leaves,
        whole,
        errors,
        tuple(checks.tolist()),
        (record.failed, record.relaxed, record.unfinished, record.within, record.numbers),
        tuple(record.families.items()),
        tuple(record.seconds.items()),
    )


def errors_of_state(
    data: StateData, leaves: Histograms, queries: Sequence[Sequence[MarginalQuery]], groups: MarginalQuery | None
) -> tuple[tuple[LevelErrors, ...], Histograms]:
    """Return the errors of a state's levels of tabulation, and the state's own histogram.

    Args:
        data: of the state.
        leaves: estimates in the order of the codes.
        queries: whose errors, per level from the state down.
        groups: of redistricting, None for none.
    """
    one, other = data.leaves, leaves
    errors = [level_errors(one, other, queries[-1], groups)]
    for children, wanted in zip(reversed(data.tabulation), reversed(queries[:-1]), strict=True):
        one, other = (each.summed(children, data.design.schema.cells) for each in (one, other))
        errors.append(level_errors(one, other, wanted, groups))
    return tuple(reversed(errors)), other


def pool_state(task: StateTask, on_progress: Callable[[str, int, int], None] | None = None) -> PooledLevel:
    """Return the pooled answers of a state's counties: what is known of each from itself and from everything inside it.

    Args:
        task: the state.
        on_progress: called with a level, its finished units and all of them; may raise to stop.
    """
    found = []
    for world in branches(task.data):
        pooled = pool(world, task.sources, lowest=task.lowest, on_progress=on_progress)[0]
        if not isinstance(pooled, PooledMeasurements):
            raise TypeError("the counties of a state are pooled")
        found.append(pooled.pooled)
    return PooledLevel(
        np.concatenate([each.answers for each in found]), np.concatenate([each.weights for each in found])
    )


def leaf_weights(data: StateData) -> tuple[float, int]:
    """Return the sum of what share the leaves' sums have in what is known above them, and over how many units."""
    sums, units = zip(*(weights_below(world) for world in branches(data)), strict=True)
    return sum(sums), sum(units)
