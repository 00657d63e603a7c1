"""Estimation of a range of families: measure the children, least squares, controlled rounding, and a failsafe.

Source: TopDown paper, sections 7.1 to 7.3. A range is a value that depends on nothing else, so ranges may be solved in
any order, in threads or on other machines.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.optimize.least_squares import LeastSquaresOptions, LevelData, Status, least_squares
from phexplore.optimize.plan import LevelPlan
from phexplore.optimize.rounder import RounderOptions, round_level
from phexplore.optimize.screening import screened_least_squares, worth_screening
from phexplore.simulate.topdown.design import LevelDesign
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.simulate.topdown.measuring import Measured, MeasurementSource, weights_of
from phexplore.simulate.topdown.repair import repair
from phexplore.workload.queries import total_query

Ints = NDArray[np.int64]

PHASES = ("measure", "least_squares", "rounder", "failsafe")
"""Where the time of a range goes."""


@dataclass(frozen=True, slots=True)
class Estimation:
    """How histograms are estimated.

    Attributes:
        least_squares: options of eq. 7.1, 7.2, 7.5 and 7.6.
        rounder: options of eq. 7.3, 7.4 and 7.7.
        keep: whether the noisy answers are handed back with the estimates.
        pooled: whether the answers are pooled: a pass that fits the total alone then gets everything known of it.
    """

    least_squares: LeastSquaresOptions = field(default_factory=LeastSquaresOptions)
    rounder: RounderOptions = field(default_factory=RounderOptions)
    keep: bool = False
    pooled: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class FamilyRange:
    """Some parents of a level with their children.

    Attributes:
        level: of the children.
        first_child: number of the first child in its level.
        child_start: ``int64[parents + 1]``, counted from the first child.
        parents: estimates of the parents; None for roots, which are estimated each alone.
        truth: exact histograms of the children.
        classes: ``int8[children]``, see `MeasurementSource.measure`.
        lower: ``int64[children, bounds]``.
        upper: the same.
        possible: ``bool[cells]``, where a root may have people.
        measured: noisy answers of the children; None while they are to be measured.
        group: ``int64[children]``, which shared total a child counts in; None where none are kept.
        group_total: ``int64[groups]``.
    """

    level: LevelDesign
    first_child: int
    child_start: Ints
    parents: Histograms | None
    truth: Histograms
    classes: NDArray[np.int8]
    lower: Ints
    upper: Ints
    possible: NDArray[np.bool_]
    measured: Measured | None = None
    group: Ints | None = None
    group_total: Ints | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RangeResult:
    """What became of a range.

    Attributes:
        children: their estimates.
        negative: counts below zero that rounding left.
        failed: parents that the failsafe took over.
        relaxed: of these, parents whose bounds contradict each other; their children break some.
        unfinished: parents whose least squares did not reach the accuracy asked for; rounded all the same.
        within: noise within its margin.
        numbers: noise in all.
        solved: families that were solved, neither empty nor copied.
        seconds: per phase, see `PHASES`.
        answers: noisy answers of the children where they are to be kept and not pooled, ``[children, answers]``.
    """

    children: Histograms
    negative: int
    failed: int
    relaxed: int
    unfinished: int
    within: int
    numbers: int
    solved: int
    seconds: tuple[float, ...]
    answers: NDArray[Any] | None = None


def estimate(task: FamilyRange, source: MeasurementSource | None, options: Estimation) -> RangeResult:
    """Return the estimates of the children of a range.

    Args:
        task: the families.
        source: of their measurements; None where the task has them.
        options: of the estimation.
    """
    from phexplore.simulate.topdown import kernels  # noqa: PLC0415 - numba takes half a second to load

    clock = [time.perf_counter()]
    measured = task.measured or measured_for(task, source)
    clock.append(time.perf_counter())
    data = level_data(task, measured, pooled=options.pooled)
    solve = screened_least_squares if worth_screening(task.level.plan, data) else least_squares
    found = solve(task.level.plan, data, options=options.least_squares)
    clock.append(time.perf_counter())
    failing = found.families_with(Status.CONTRADICTION, Status.UNFINISHED)
    if task.level.plan.shares_totals:
        data = with_whole_totals(task.level.plan, data, found.values)
    rounded = round_level(task.level.plan, data, found.values, options=options.rounder)
    clock.append(time.perf_counter())
    repaired = repair(
        task.level.plan, data, found.values, rounded.counts, np.union1d(failing, rounded.unrounded), options.rounder
    )
    clock.append(time.perf_counter())
    positive = int(np.count_nonzero(rounded.counts > 0))
    cells, counts = np.empty(positive, np.int32), np.empty(positive, np.int64)
    starts = kernels.keep_positive(
        data.child_start, data.cell_start, data.cells, data.value_start, rounded.counts, cells, counts
    )
    return RangeResult(
        children=Histograms(starts, cells, counts),
        negative=int(np.count_nonzero(rounded.counts < 0)),
        failed=repaired.families,
        relaxed=repaired.relaxed,
        unfinished=len(found.families_with(Status.UNFINISHED)),
        within=measured.within,
        numbers=measured.numbers,
        solved=len(found.families_with(Status.SOLVED, Status.UNFINISHED)),
        seconds=tuple(float(second) for second in np.diff(clock)),
        answers=measured.answers if options.keep and measured.weights is None else None,
    )


def measured_for(task: FamilyRange, source: MeasurementSource | None) -> Measured:
    """Return the noisy answers of the children of a range.

    Args:
        task: the families.
        source: of the measurements.

    Raises:
        ValueError: there is none.
    """
    if source is None:
        raise ValueError(f"{task.level.name} is neither measured nor to be measured")
    return source.measure(task.level, task.truth, task.first_child, task.classes)


def with_whole_totals(plan: LevelPlan, data: LevelData, values: NDArray[np.float64]) -> LevelData:
    """Return a level whose parts of a shared total have whole totals of their own, for the rounder.

    The rounder's network has no sums over some children. Its first pass, over the totals, falls apart into the groups:
    the nearest whole totals with the group's sum are its optimum, and the rest of the rounding takes them as given.

    Args:
        plan: with the total among its bounded queries.
        data: of the level, with groups.
        values: ``values[numbers]``, estimates of least squares, laid out as `LevelData.value_start` says.
    """
    if data.group is None or data.group_total is None:
        return data
    totals = np.zeros(data.children)
    for family, start in enumerate(data.value_start[:-1].tolist()):
        first, last = int(data.child_start[family]), int(data.child_start[family + 1])
        width = int(data.cell_start[family + 1] - data.cell_start[family])
        totals[first:last] = values[start : start + (last - first) * width].reshape(last - first, width).sum(axis=1)
    whole = np.rint(totals).astype(np.int64)
    for group in np.unique(data.group[data.group >= 0]).tolist():
        members = np.flatnonzero(data.group == group)
        # Those whose rounding was the closest call give way, a person each, until the sum is right.
        excess = int(whole[members].sum() - data.group_total[group])
        order = members[np.argsort(np.sign(excess) * (totals - whole)[members], kind="stable")]
        whole[order[: abs(excess)]] -= np.sign(excess)
    column = plan.bound_start[total_query(plan.schema)]
    lower, upper = data.lower.copy(), data.upper.copy()
    lower[data.group >= 0, column] = upper[data.group >= 0, column] = whole[data.group >= 0]
    return replace(data, lower=lower, upper=upper)


def level_data(task: FamilyRange, measured: Measured, *, pooled: bool = False) -> LevelData:
    """Return a range as the solvers take it.

    Args:
        task: the families.
        measured: answers of the children.
        pooled: whether a pass that fits the total alone gets everything that is known of it.
    """
    if task.parents is None:
        starts, cells = _support(task)
        counts = None
    else:
        starts, cells, counts = task.parents.starts, task.parents.cells, task.parents.counts
    weights = weights_of(task.level, task.classes) if measured.weights is None else measured.weights
    is_narrow = measured.answers.dtype == np.int32 and not pooled
    answers: NDArray[Any] = np.ascontiguousarray(measured.answers, np.int32 if is_narrow else np.float64)
    if pooled:
        answers, weights = with_known_totals(task.level.plan, answers, weights)
    return LevelData(
        child_start=task.child_start,
        cell_start=np.ascontiguousarray(starts),
        cells=np.ascontiguousarray(cells),
        counts=None if counts is None else np.ascontiguousarray(counts),
        answers=answers,
        weights=np.ascontiguousarray(weights),
        lower=np.ascontiguousarray(task.lower),
        upper=np.ascontiguousarray(task.upper),
        group=None if task.group is None else np.ascontiguousarray(task.group),
        group_total=task.group_total,
    )


def with_known_totals(
    plan: LevelPlan, answers: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return answers and weights whose total is what all queries that count everybody once say of it together.

    Only where the first pass fits the total alone and no later one uses it: beside finer queries it would count twice.

    Args:
        plan: of the level.
        answers: ``answers[children, answers]``.
        weights: ``weights[children, queries]``, people⁻².
    """
    total = total_query(plan.schema)
    if plan.passes[0] != (total,) or any(total in queries for queries in plan.passes[1:]):
        return answers, weights
    place = plan.measured.index(total)
    known, sums = np.zeros(len(answers)), np.zeros(len(answers))
    for number, (query, start) in enumerate(plan.answer_start.items()):
        if query.cell_map().min() >= 0:
            weight = weights[:, number] / query.answers
            known += weight
            sums += weight * answers[:, start : start + query.answers].sum(axis=1)
    answers, weights = answers.copy(), weights.copy()
    column = plan.answer_start[total]
    answers[:, column] = np.divide(sums, known, out=answers[:, column], where=known > 0)
    weights[:, place] = known
    return answers, weights


def _support(task: FamilyRange) -> tuple[Ints, NDArray[np.int32]]:
    """Return the cells where each root may have people: neither structurally empty nor of a type without facilities."""
    from phexplore.simulate.topdown import kernels  # noqa: PLC0415 - numba takes half a second to load

    plan = task.level.plan
    starts = plan.bound_start
    columns = [np.where(query.cell_map() < 0, -1, query.cell_map() + start) for query, start in starts.items()]
    table = np.stack(columns).astype(np.int32) if columns else np.empty((0, plan.schema.cells), np.int32)
    cells = np.empty(task.truth.units * plan.schema.cells, np.int32)
    ends = kernels.allowed_cells(table, np.ascontiguousarray(task.upper), task.possible, cells)
    return ends, cells[: ends[-1]]
