"""The top-down descent: from the root to the leaves, level by level, every parent's children at once.

Source: TopDown paper, section 6.5.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.population import BlockPopulation
from phexplore.simulate.topdown.bounds import unit_bounds
from phexplore.simulate.topdown.design import Design, DesignError
from phexplore.simulate.topdown.families import PHASES, Estimation, FamilyRange, RangeResult, estimate, measured_for
from phexplore.simulate.topdown.histograms import Histograms, histograms_of, joined, sums_up
from phexplore.simulate.topdown.measuring import MeasurementSource
from phexplore.spine.tree import GeoTree

Ints = NDArray[np.int64]

_LEAST_BYTES, _MOST_BYTES, _RANGES = 1 << 19, 24 << 20, 24
"""Ranges of families take between these many bytes of answers and estimates, about so many per level."""

_LEAVES = 24
"""The least range of leaves is so many times the least of others: every range begins streams of noise, most of their work."""

_MOST_THREADS = 8

Task = TypeVar("Task")
Result = TypeVar("Result")


class Mapper(Protocol):
    """Applies a function to values, at the same time where it can, and yields the results in their order."""

    def __call__(self, function: Callable[[Task], Result], values: Iterable[Task]) -> Iterator[Result]:
        """Yield ``function(value)`` for every value."""


def in_order(function: Callable[[Task], Result], values: Iterable[Task]) -> Iterator[Result]:
    """Apply the function one by one.

    Args:
        function: of one value.
        values: taken one by one.
    """
    return (function(value) for value in values)


def spare_cores() -> int:
    """Return how many threads a trial may use: the cores of this process, eight at most, as each holds a piece of work."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(own, _MOST_THREADS)


class Threads:
    """A mapper on threads of this process: the compiled loops run without the interpreter's lock. Use it in a with block."""

    def __init__(self, workers: int) -> None:
        self._ahead = workers + 1
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="families")

    def __call__(self, function: Callable[[Task], Result], values: Iterable[Task]) -> Iterator[Result]:
        """Apply the function on all threads; what was not begun when the caller stops listening is not done.

        Values are taken as threads become free, so that few of them and of their results are held.
        """
        running: deque[Future[Result]] = deque()
        try:
            for value in values:
                running.append(self._pool.submit(function, value))
                if len(running) > self._ahead:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True, slots=True, eq=False)
class SharedTotals:
    """Groups of a level's units whose totals are kept together.

    Attributes:
        codes: ``U[groups]``, of the groups, ascending.
        of_unit: ``int64[units]``, the group of each.
        totals: ``int64[groups]``, exact.
    """

    codes: NDArray[np.str_]
    of_unit: Ints
    totals: Ints

    def broken(self, estimate: Histograms) -> int:
        """Return how many groups have another total in the estimates of the level."""
        found = np.zeros(len(self.codes), np.int64)
        np.add.at(found, self.of_unit, estimate.totals())
        return int(np.count_nonzero(found != self.totals))


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What all trials share: exact counts of every level, and the bounds that follow from what is published exactly.

    Attributes:
        design: of the run.
        tree: over the leaves.
        truth: exact histograms per level, the root first.
        lower: ``int64[units, bounds]`` per level.
        upper: the same.
        classes: ``int8[units]`` per level, place of each unit's noise among the level's measurings.
        shared: per level, the groups whose totals are kept together; None where there are none, empty where no level
            has any.
    """

    design: Design
    tree: GeoTree
    truth: tuple[Histograms, ...]
    lower: tuple[Ints, ...]
    upper: tuple[Ints, ...]
    classes: tuple[NDArray[np.int8], ...]
    shared: tuple[SharedTotals | None, ...] = ()
    first: tuple[int, ...] = ()

    def place(self, number: int, unit: int) -> int:
        """Return the number of a unit in the tree that the noise is drawn for.

        Args:
            number: of its level.
            unit: its number in this tree.
        """
        return unit + (self.first[number] if self.first else 0)


def make_world(
    design: Design, tree: GeoTree, leaves: BlockPopulation, group_of: Callable[[str], str] | None = None
) -> World:
    """Return what all trials share.

    Args:
        design: made for the tree's levels and the leaves' schema.
        tree: over the leaves, in their order or in its own.
        leaves: the exact counts.
        group_of: the group of a unit by its code, at levels that keep totals of groups together.

    Raises:
        DesignError: the design was made for other levels.
    """
    if tuple(level.name for level in design.levels) != tuple(level.name for level in tree.levels):
        raise DesignError("The design was made for other levels than the tree's.")
    return world_over(design, tree, histograms_of(leaves), leaves.facilities, group_of)


def world_over(
    design: Design,
    tree: GeoTree,
    leaves: Histograms,
    facilities: NDArray[np.int32] | None,
    group_of: Callable[[str], str] | None = None,
) -> World:
    """Return what all trials share, from arrays.

    Args:
        design: made for the tree's levels.
        tree: over the leaves, in their order or in its own; its widest level may have several units.
        leaves: exact counts.
        facilities: ``int32[leaves, types]``, None where they are unknown.
        group_of: the group of a unit by its code, at levels that keep totals of groups together.
    """
    exact_leaves, present = leaves, facilities
    if tree.order is not None:
        exact_leaves = exact_leaves.ordered(tree.order)
        present = None if present is None else present[tree.order]
    truth = sums_up(exact_leaves, tree, design.schema.cells)
    lower, upper, classes = [], [], []
    shared: list[SharedTotals | None] = []
    for level, units, exact in zip(design.levels, tree.levels, truth, strict=True):
        inside = None
        if present is not None and (level.least or level.most):
            inside = np.add.reduceat(present.astype(np.int64), units.first_block[:-1], axis=0)
        bounds = unit_bounds(level, units.units, inside, exact.totals() if level.exact_total else None)
        lower.append(bounds[0])
        upper.append(bounds[1])
        classes.append(np.zeros(units.units, np.int8))
        shared.append(shared_totals(units.codes, exact, group_of) if level.shared_total and group_of else None)
    together = tuple(shared) if any(each is not None for each in shared) else ()
    return World(design, tree, truth, tuple(lower), tuple(upper), tuple(classes), together)


def shared_totals(codes: NDArray[np.str_], exact: Histograms, group_of: Callable[[str], str]) -> SharedTotals:
    """Return the groups whose totals are kept together.

    Args:
        codes: ``codes[units]``.
        exact: histograms of the units.
        group_of: the group of a unit by its code.
    """
    groups, of_unit = np.unique(np.array([group_of(str(code)) for code in codes.tolist()]), return_inverse=True)
    totals = np.zeros(len(groups), np.int64)
    np.add.at(totals, of_unit, exact.totals())
    return SharedTotals(groups, of_unit.astype(np.int64), totals)


@dataclass(slots=True)
class TrialRecord:
    """How a trial went.

    Attributes:
        seconds: per phase, summed over threads.
        failed: parents that the failsafe took over.
        relaxed: of these, parents whose children break bounds.
        unfinished: parents whose least squares did not reach the accuracy asked for.
        negative: counts below zero.
        within: noise within its margin.
        numbers: noise in all.
        expected: how much noise lies within its margin in expectation: margins are not whole, noise is. Outer passes only.
        families: solved per level.
    """

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    failed: int = 0
    relaxed: int = 0
    unfinished: int = 0
    negative: int = 0
    within: int = 0
    numbers: int = 0
    expected: float = 0.0
    families: dict[str, int] = field(default_factory=dict)

    def add(self, level: str, result: RangeResult) -> None:
        """Add what became of a range.

        Args:
            level: name of the level.
            result: of a range of its families.
        """
        for name, seconds in zip(PHASES, result.seconds, strict=True):
            self.seconds[name] += seconds
        self.failed += result.failed
        self.relaxed += result.relaxed
        self.unfinished += result.unfinished
        self.negative += result.negative
        self.within += result.within
        self.numbers += result.numbers
        self.families[level] = self.families.get(level, 0) + result.solved


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """One trial's estimates.

    Attributes:
        levels: per level, the root first; the last are the leaves.
        record: how it went.
    """

    levels: tuple[Histograms, ...]
    record: TrialRecord

    @property
    def leaves(self) -> Histograms:
        """The estimates of the leaves."""
        return self.levels[-1]


def descend(  # noqa: PLR0913 - who estimates, of what, where, and who hears of it
    world: World,
    sources: Sequence[MeasurementSource],
    options: Estimation | None = None,
    *,
    record: TrialRecord | None = None,
    given: Histograms | None = None,
    mapper: Mapper = in_order,
    elsewhere: bool = False,
    on_progress: Callable[[str, int, int], None] | None = None,
    on_answers: Callable[[int, NDArray[Any]], None] | None = None,
) -> Descent:
    """Estimate every level, given the one above it.

    Args:
        world: what all trials share.
        sources: of the measurements, one per level.
        options: of the estimation.
        record: what was done for the trial before; how it goes is added.
        given: estimates of the widest level where they were made elsewhere; None estimates it.
        mapper: applies a function to ranges of families.
        elsewhere: whether the mapper works where memory and files of this process cannot be reached; ranges then take
            along what only this process can measure.
        on_progress: called with a level, its finished units and all of them; may raise to stop.
        on_answers: called with a level's number and ``answers[units, answers]`` of its next units, where options keep
            them.

    Raises:
        RepairError: the failsafe failed.
    """
    chosen = options or Estimation()
    record = record or TrialRecord()
    levels: list[Histograms] = [] if given is None else [given]
    for number, level in list(enumerate(world.design.levels))[len(levels) :]:
        parents = levels[-1] if levels else None
        tasks: Iterable[FamilyRange] = family_ranges(world, number, parents)
        source: MeasurementSource | None = sources[number]
        if elsewhere and not sources[number].is_anywhere:
            tasks = (replace(task, measured=measured_for(task, sources[number])) for task in tasks)
            source = None
        solve = partial(estimate, source=source, options=chosen)
        parts, done = [], 0
        for result in mapper(solve, tasks):
            record.add(level.name, result)
            parts.append(result.children)
            done += result.children.units
            if on_answers is not None and result.answers is not None:
                on_answers(number, result.answers)
            if on_progress is not None:
                on_progress(level.name, done, world.tree.levels[number].units)
        levels.append(joined(parts))
    return Descent(tuple(levels), record)


def family_ranges(world: World, number: int, parents: Histograms | None) -> list[FamilyRange]:
    """Cut the families of a level into ranges.

    Args:
        world: what all trials share.
        number: of the level, 0 for the root.
        parents: estimates of the level above, None for roots.
    """
    level = world.design.levels[number]
    units = world.tree.levels[number].units
    above = world.tree.levels[number - 1].first_child if number else None
    child_start = np.arange(units + 1, dtype=np.int64) if above is None else above
    possible = world.design.possible()
    support = np.full(len(child_start) - 1, level.plan.schema.cells) if parents is None else np.diff(parents.starts)
    size = np.diff(child_start) * (4 * level.plan.answers + 24 * support)
    shared = world.shared[number] if world.shared else None
    found = []
    for first, last in pairwise(range_edges(size, _LEAVES if number == len(world.design.levels) - 1 else 1)):
        low, high = int(child_start[first]), int(child_start[last])
        found.append(
            FamilyRange(
                level=level,
                first_child=world.place(number, low),
                child_start=child_start[first : last + 1] - low,
                parents=None if parents is None else parents.part(first, last),
                truth=world.truth[number].part(low, high),
                classes=world.classes[number][low:high],
                lower=world.lower[number][low:high],
                upper=world.upper[number][low:high],
                possible=possible,
                group=None if shared is None else shared.of_unit[low:high],
                group_total=None if shared is None else shared.totals,
            )
        )
    return found


def range_edges(size: NDArray[np.integer], times: int = 1) -> list[int]:
    """Return where ranges of families begin, and the number of families.

    Args:
        size: ``size[families]``, in bytes.
        times: how many times larger than usual the least range is.
    """
    ends = np.cumsum(size)
    total = int(ends[-1]) if len(ends) else 0
    limit = min(max(total // _RANGES, times * _LEAST_BYTES), _MOST_BYTES)
    edges = np.searchsorted(ends, np.arange(limit, total, limit), side="left") + 1
    return sorted({0, len(size), *(edge for edge in edges.tolist() if edge < len(size))})
