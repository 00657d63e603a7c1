"""Pooled measurements: what every unit's own noisy answers and those of the units inside it say together, query by query.

A unit's answers are added to the sums of its children's, each weighted by what it is worth: with w = 1/σ² of the unit's own answer and
p = 1 / Σ 1/w̃ over the children, w̃ = w + p and ỹ = (w y + p Σ ỹ) / w̃, from the leaves to the root. The descent is then TopDown's,
with (ỹ, w̃) for (y, w). Answers of different queries share no noise, so least squares with these weights is the likelihood of all that
they use; where siblings are measured alike, it is the best linear estimate from everything measured in a unit and below.

Source of the tree pass: Hay, Rastogi, Miklau, Suciu, VLDB 2010; of its use before a constrained descent: BlueDown, arXiv 2603.10099.
What published bounds rule out in a child, a facility type it does not have or a structural zero, counts as 0 in the sum: its noise is
known to be noise. The weights stay those of the noise, which is then a little less.

It is post-processing of answers already paid for: exact counts enter in no other way than in TopDown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.optimize.plan import LevelPlan
from phexplore.simulate.topdown.design import LevelDesign
from phexplore.simulate.topdown.driver import Mapper, TrialRecord, World, in_order, range_edges
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.simulate.topdown.measuring import Measured, MeasurementSource, weights_of
from phexplore.workload.queries import detailed_query

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WORTH_POOLING = 0.05
"""From this `weight_of_leaves` it pays to pool the answers of the leaves, which are then drawn or read twice."""


@dataclass(frozen=True, slots=True, eq=False)
class PooledLevel:
    """Pooled answers of a level.

    Attributes:
        answers: ``float64[units, answers]``, in the order of the plan's measured queries.
        weights: ``float64[units, queries]``, inverse variances, people⁻²; 0 where nothing is known.
    """

    answers: Floats
    weights: Floats

    def part(self, first: int, last: int) -> PooledLevel:
        """Return the units ``first:last``.

        Args:
            first: first unit.
            last: behind the last.
        """
        return PooledLevel(self.answers[first:last], self.weights[first:last])


class PooledMeasurements:
    """The pooled answers of a level; they are where they were pooled."""

    is_anywhere = False

    def __init__(self, pooled: PooledLevel, first: int = 0) -> None:
        """Keep the pooled answers of a level, or of a run of its units.

        Args:
            pooled: their answers.
            first: number of the first of them in its level.
        """
        self.pooled, self._first = pooled, first

    def measure(
        self,
        level: LevelDesign,  # noqa: ARG002 - whoever pooled knew what was asked
        truth: Histograms,
        first: int,
        classes: NDArray[np.int8],  # noqa: ARG002
    ) -> Measured:
        """Return the pooled answers of some units; arguments as in `MeasurementSource.measure`."""
        begin = first - self._first
        part = self.pooled.part(begin, begin + truth.units)
        return Measured(part.answers, 0, 0, part.weights)


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Some units of a level, to be measured.

    Attributes:
        level: what is asked.
        truth: exact histograms.
        first: number of the first unit.
        classes: ``int8[units]``, see `MeasurementSource.measure`.
        measured: their answers; None while they are to be measured.
    """

    level: LevelDesign
    truth: Histograms
    first: int
    classes: NDArray[np.int8]
    measured: Measured | None = None

    def answered(self, source: MeasurementSource | None) -> Measured:
        """Return their answers, from a source unless they are there.

        Raises:
            ValueError: they are not, and there is no source.
        """
        if self.measured is not None:
            return self.measured
        if source is None:
            raise ValueError(f"{self.level.name} is neither measured nor to be measured")
        return source.measure(self.level, self.truth, self.first, self.classes)

    def alone(self, measured: Measured) -> PooledLevel:
        """Return their answers with their weights, as arrays that may be changed."""
        return PooledLevel(np.array(measured.answers, np.float64), weights_of(self.level, self.classes))


@dataclass(frozen=True, slots=True, eq=False)
class KnownZeros:
    """Which answers of a level are 0 for certain where upper bounds are 0.

    Attributes:
        columns: ``int64[kinds, bounded queries]``, the columns of the bounds that cells of one kind count in, -1 for none.
        answers: ``float64[kinds, answers]``, 1 where a cell of the kind counts in the answer.
    """

    columns: Ints
    answers: Floats

    def clear(self, answers: Floats, upper: Ints) -> None:
        """Set to 0 what no possible cell can fill.

        Args:
            answers: ``answers[units, answers]``, changed.
            upper: ``upper[units, bounds]``.
        """
        open_kinds = np.ones((len(answers), len(self.columns)))
        for columns in self.columns.T:
            open_kinds *= (columns < 0) | (upper[:, columns] > 0)
        answers[open_kinds @ self.answers == 0.0] = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PoolRange:
    """Some units with what is known below them.

    Attributes:
        own: the units.
        child_start: ``int64[units + 1]``, counted from the first child.
        below: plan of the level below.
        children: their children: leaves to be measured, or pooled answers; None where they are not to count.
        upper: ``int64[children, bounds]``.
        zeros: of the children.
    """

    own: Units
    child_start: Ints
    below: LevelPlan
    children: Units | PooledLevel | None
    upper: Ints
    zeros: KnownZeros


@dataclass(frozen=True, slots=True, eq=False)
class PoolResult:
    """What became of a range.

    Attributes:
        pooled: answers of its units.
        answers: their own noisy answers, ``[units, answers]``, where they are to be kept.
        within: of the units' own noise, within its margin.
        numbers: of the units' own noise.
        seconds: of measuring, of pooling.
    """

    pooled: PooledLevel
    answers: NDArray[Any] | None
    within: int
    numbers: int
    seconds: tuple[float, ...]


def pool(  # noqa: PLR0913 - who pools, of what, where, and who hears of it
    world: World,
    sources: Sequence[MeasurementSource],
    record: TrialRecord | None = None,
    *,
    lowest: int,
    given: PooledLevel | None = None,
    mapper: Mapper = in_order,
    elsewhere: bool = False,
    on_progress: Callable[[str, int, int], None] | None = None,
    on_answers: Callable[[int, NDArray[Any]], None] | None = None,
) -> tuple[MeasurementSource, ...]:
    """Return what the descent starts from: pooled answers of the upper levels, and below them each level's own.

    Args:
        world: what all trials share.
        sources: of the measurements, one per level; that of the leaves gives equal answers each time where they count.
        record: of the trial; seconds and noise within its margin are added.
        lowest: number of the level whose answers are the lowest that count for those above (`lowest_pooled`).
        given: pooled answers of the lowest level of this tree, where they were made from what lies below it.
        mapper: applies a function to ranges of units.
        elsewhere: whether the mapper works where memory and files of this process cannot be reached.
        on_progress: called with a level, its finished units and all of them; may raise to stop.
        on_answers: called with a level's number and ``answers[units, answers]`` of its next units as they were measured, for
            every level that gets pooled answers; None where nobody keeps them.
    """
    last = len(world.design.levels) - 1
    record = record or TrialRecord()
    made: list[PooledMeasurements] = [] if given is None else [PooledMeasurements(given)]
    children = given
    for number in range(min(lowest, last - 1), -1, -1):
        level, units = world.design.levels[number], world.tree.levels[number].units
        tasks: Iterable[PoolRange] = pool_ranges(world, number, children, pools_leaves=lowest == last)
        if elsewhere:
            tasks = (_measured_here(task, sources[number], sources[last]) for task in tasks)
        there = [each if each.is_anywhere or not elsewhere else None for each in (sources[number], sources[last])]
        children = PooledLevel(np.empty((units, level.plan.answers)), np.empty((units, len(level.plan.measured))))
        done = 0
        for result in mapper(partial(pool_range, source=there[0], leaves=there[1], keep=on_answers is not None), tasks):
            part = slice(done, done + len(result.pooled.answers))
            children.answers[part], children.weights[part] = result.pooled.answers, result.pooled.weights
            done = part.stop
            record.within += result.within
            record.numbers += result.numbers
            for name, seconds in zip(("measure", "pool"), result.seconds, strict=True):
                record.seconds[name] = record.seconds.get(name, 0.0) + seconds
            if on_answers is not None and result.answers is not None:
                on_answers(number, result.answers)
            if on_progress is not None:
                on_progress(f"{level.name}, from below", done, units)
        made.append(PooledMeasurements(children, world.place(number, 0)))
    return (*reversed(made), *sources[len(made) :])


def lowest_pooled(world: World, *, pools_leaves: bool | None = None) -> int:
    """Return the number of the lowest level whose answers are pooled: that of the leaves, or the one above them.

    Args:
        world: what all trials share; the answer depends on its budgets and units, not on its counts.
        pools_leaves: what is asked; None pools the leaves where it pays.
    """
    leaves = len(world.design.levels) - 1
    pays = weight_of_leaves(world) >= WORTH_POOLING if pools_leaves is None else pools_leaves
    return leaves if pays else leaves - 1


def weight_of_leaves(world: World) -> float:
    """Return what share the leaves' sums have in what is known of the cells above them, averaged over units with own answers."""
    total, units = weights_below(world)
    return total / units if units else 0.0


def weights_below(world: World) -> tuple[float, int]:
    """Return the sum of these shares, and over how many units."""
    levels = world.design.levels
    first_child = world.tree.levels[-2].first_child if len(levels) > 1 else None
    if first_child is None:
        return 0.0, 0
    own, leaf = (
        weights_of(levels[place], world.classes[place])[
            :, levels[place].plan.measured.index(detailed_query(levels[place].plan.schema))
        ]
        for place in (-2, -1)
    )
    with np.errstate(divide="ignore"):
        below = 1.0 / np.add.reduceat(1.0 / leaf, first_child[:-1])
    asked = own > 0
    return float((below[asked] / (own + below)[asked]).sum()), int(np.count_nonzero(asked))


def pool_ranges(world: World, number: int, children: PooledLevel | None, *, pools_leaves: bool) -> list[PoolRange]:
    """Cut the units of a level into ranges.

    Args:
        world: what all trials share.
        number: of the level, not that of the leaves.
        children: pooled answers of the level below; None above the leaves.
        pools_leaves: whether leaves count for the level above them.

    Raises:
        ValueError: the level has no children.
    """
    level, below = world.design.levels[number : number + 2]
    child_start = world.tree.levels[number].first_child
    if child_start is None:
        raise ValueError(f"{level.name} has no children")
    counted = children is not None or pools_leaves
    zeros, upper = known_zeros(below.plan, world.design.possible()), world.upper[number + 1]
    size = 8 * (level.plan.answers + np.diff(child_start) * below.plan.answers * counted)
    found = []
    for first, last in pairwise(range_edges(size)):
        low, high = int(child_start[first]), int(child_start[last])
        inside: Units | PooledLevel | None = None if children is None else children.part(low, high)
        if children is None and counted:
            inside = _units(world, number + 1, low, high)
        found.append(
            PoolRange(
                own=_units(world, number, first, last),
                child_start=child_start[first : last + 1] - low,
                below=below.plan,
                children=inside,
                upper=upper[low:high],
                zeros=zeros,
            )
        )
    return found


def _units(world: World, number: int, first: int, last: int) -> Units:
    level = world.design.levels[number]
    truth = world.truth[number].part(first, last)
    return Units(level, truth, world.place(number, first), world.classes[number][first:last])


def _measured_here(task: PoolRange, source: MeasurementSource, leaves: MeasurementSource) -> PoolRange:
    """Return a range with the answers that only this process can give."""
    own, children = task.own, task.children
    if not source.is_anywhere:
        own = replace(own, measured=own.answered(source))
    if isinstance(children, Units) and not leaves.is_anywhere:
        children = replace(children, measured=children.answered(leaves))
    return replace(task, own=own, children=children)


def pool_range(
    task: PoolRange, source: MeasurementSource | None, leaves: MeasurementSource | None, *, keep: bool
) -> PoolResult:
    """Return the pooled answers of some units.

    Args:
        task: the units.
        source: of their measurements; None where the task has them.
        leaves: of the measurements of leaves, likewise.
        keep: whether the units' own answers are handed back.
    """
    from phexplore.simulate.topdown import kernels  # noqa: PLC0415 - numba takes half a second to load

    clock = [perf_counter()]
    own = task.own.answered(source)
    below = task.children.answered(leaves) if isinstance(task.children, Units) else None
    clock.append(perf_counter())
    pooled = task.own.alone(own)
    children = task.children.alone(below) if isinstance(task.children, Units) and below is not None else task.children
    if isinstance(children, PooledLevel):
        sums = np.array(children.answers)
        task.zeros.clear(sums, task.upper)
        kernels.pool_children(
            task.child_start,
            sums,
            np.ascontiguousarray(children.weights),
            matching_queries(task.own.level.plan, task.below),
            pooled.answers,
            pooled.weights,
        )
    clock.append(perf_counter())
    seconds = tuple(float(second) for second in np.diff(clock))
    return PoolResult(pooled, own.answers if keep else None, own.within, own.numbers, seconds)


def known_zeros(plan: LevelPlan, possible: NDArray[np.bool_]) -> KnownZeros:
    """Return which answers of a level are 0 for certain where upper bounds are 0.

    Args:
        plan: of the level.
        possible: ``bool[cells]``, False where a structural zero keeps everybody out.
    """
    bounds = [np.where(query.cell_map() < 0, -1, query.cell_map() + start) for query, start in plan.bound_start.items()]
    of_cell = np.stack(bounds, axis=1) if bounds else np.empty((plan.schema.cells, 0), np.int64)
    columns, kind = np.unique(of_cell, axis=0, return_inverse=True)
    answers = np.zeros((len(columns), plan.answers))
    for query, start in plan.answer_start.items():
        counted = possible & (query.cell_map() >= 0)
        answers[kind.ravel()[counted], query.cell_map()[counted] + start] = 1.0
    return KnownZeros(columns.astype(np.int64), answers)


@lru_cache(maxsize=64)
def matching_queries(plan: LevelPlan, below: LevelPlan) -> Ints:
    """Return the queries that two levels both measure, ``int64[queries, 5]``.

    A row has the query's place in the plan, its first column there, both in the level below, and its number of answers.

    Args:
        plan: of the level.
        below: of the level below.
    """
    starts, lower = plan.answer_start, below.answer_start
    rows = [
        (place, starts[query], below.measured.index(query), lower[query], query.answers)
        for place, query in enumerate(plan.measured)
        if query in lower
    ]
    return np.array(rows, np.int64).reshape(-1, 5)
