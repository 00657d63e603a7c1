"""One outer pass of one family: its children measured, estimated and rounded where there is somebody to place.

Numbers exist per child and class where the child's held sum and the parent's count are above 0. A number that its held sum or its
column decides alone is set; the others are least squares under the held sums and the columns, then rounded.

Source: production's `L2PlusRounder_interleaved`, as told in its configuration of 2020 for persons and households.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.optimize.rounder import RounderOptions, Target
from phexplore.simulate.outer_passes.partitions import gathered, projection
from phexplore.simulate.outer_passes.plan import OuterPass
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.workload.queries import MarginalQuery

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOLERANCE = 2e-7
"""Violation of a sum at which least squares stop, people; rounding restores every sum exactly."""

_DENSE = 4
"""Rows of a query are numbered by answer where there are at most so many times more answers than numbers."""


class FamilyError(PhexploreError):
    """Children whose sums cannot be kept together."""


Measure = Callable[[MarginalQuery, Ints, Ints, Ints], Ints]
"""Noisy answers ``int64[n]`` of a query from children ``[n]``, answers ``[n]`` and exact counts ``[n]``."""


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """The children of one parent, before a pass.

    Attributes:
        truth: exact answers of the pass's classes, per child.
        held: sums that are kept, per child: answers of the pass's held query.
        parent: classes and counts of the parent, ascending; None for a root, whose classes are all that are possible.
        possible: the possible classes of a root, None otherwise.
        weights: ``float64[children, measured]``, inverse variances of the pass's queries, people⁻².
    """

    truth: Histograms
    held: Histograms
    parent: tuple[Ints, Ints] | None
    possible: Ints | None
    weights: Floats


@dataclass(slots=True)
class Progress:
    """How passes went.

    Attributes:
        seconds: of measuring, least squares and rounding.
        unfinished: families whose least squares did not reach the accuracy asked for.
        failed: families in which the failsafe rounded.
        rescued: of these, the classes that were rounded, and by how many people least squares had missed a sum.
        numbers: that least squares had to find.
    """

    seconds: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("measuring", "least squares", "rounding"), 0.0)
    )
    unfinished: int = 0
    failed: int = 0
    rescued: list[tuple[str, float]] = field(default_factory=list)
    numbers: int = 0


def solve_pass(
    order: OuterPass, family: Family, measure: Measure, options: RounderOptions, progress: Progress
) -> Histograms:
    """Return the children's whole counts of the pass's classes.

    Args:
        order: the pass.
        family: the children.
        measure: gives noisy answers.
        options: of the rounder.
        progress: what was done is added.

    Raises:
        FamilyError: the held sums of the children do not add up to the parent's.
    """
    began = time.perf_counter()
    numbers = _numbers(order, family)
    children = family.truth.units
    counts = np.zeros(len(numbers.cls), np.int64)
    counts[numbers.fixed] = numbers.given[numbers.fixed]
    open_ = np.flatnonzero(~numbers.fixed)
    if len(open_):
        problem = _problem(order, family, numbers, open_, measure)
        progress.seconds["measuring"] += time.perf_counter() - began
        progress.numbers += len(open_)
        counts[open_] = _solved(order, numbers, open_, problem, options, progress)
    return gathered(children, numbers.child, numbers.classes[numbers.cls], counts)


@dataclass(frozen=True, slots=True, eq=False)
class _Numbers:
    """What is to be found, by held answer, then child, then class.

    Attributes:
        classes: ``int64[classes]``, their answers, by held answer and then ascending.
        totals: ``int64[classes]``, the parent's counts; empty for a root.
        child: ``int64[n]``.
        cls: ``int64[n]``, places in `classes`.
        row: ``int64[n]``, place of the number's held sum.
        held: ``int64[rows]``, held sums.
        part: ``int64[rows]``, the held answer of each.
        fixed: ``bool[n]``, decided by its held sum or its column alone.
        given: ``int64[n]``, the count where it is fixed.
    """

    classes: Ints
    totals: Ints
    child: Ints
    cls: Ints
    row: Ints
    held: Ints
    part: Ints
    fixed: NDArray[np.bool_]
    given: Ints


def _numbers(order: OuterPass, family: Family) -> _Numbers:
    way = projection(order.fine, order.held.query)
    if family.parent is not None:
        classes, totals = family.parent
    else:
        classes, totals = (
            family.possible if family.possible is not None else np.empty(0, np.int64),
            np.empty(0, np.int64),
        )
    part_of = way(classes)
    by_part = np.argsort(part_of, kind="stable")
    classes, part_of = classes[by_part], part_of[by_part]
    totals = totals[by_part] if len(totals) else totals
    child = np.repeat(np.arange(family.held.units, dtype=np.int64), np.diff(family.held.starts))
    answer, kept = family.held.cells.astype(np.int64), family.held.counts
    in_parts = np.lexsort((child, answer))
    child, answer, kept = child[in_parts], answer[in_parts], kept[in_parts]
    first, last = np.searchsorted(part_of, answer), np.searchsorted(part_of, answer, side="right")
    size = last - first
    if (size == 0).any():
        raise FamilyError(
            f"Children hold {int(kept[size == 0].sum()):,} records where their parent has none.",
            "The release that is kept and the data do not belong together.",
        )
    _confirm_sums(part_of, totals, answer, kept)
    row = np.repeat(np.arange(len(size)), size)
    offset = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    cls = first[row] + offset
    holders = np.bincount(np.searchsorted(np.unique(answer), answer))[np.searchsorted(np.unique(answer), answer)]
    alone, only = (holders == 1)[row], (size == 1)[row]
    given = kept[row]
    fixed = only.copy()
    if len(totals):
        given = np.where(alone, totals[cls], given)
        fixed |= alone
    return _Numbers(classes, totals, child[row], cls, row, kept, answer, fixed, given)


def _confirm_sums(part_of: Ints, totals: Ints, answer: Ints, kept: Ints) -> None:
    """Refuse children whose held sums are not their parent's: no counts could keep both."""
    if not len(totals):
        return
    width = int(max(part_of.max(initial=0), answer.max(initial=0))) + 1
    above = np.bincount(part_of, weights=totals, minlength=width)
    below = np.bincount(answer, weights=kept, minlength=width)
    wrong = np.flatnonzero(above != below)
    if len(wrong):
        raise FamilyError(
            f"{len(wrong)} held sums of the children do not add up to their parent's.",
            "The release that is kept and the data do not belong together.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """Arrays of the compiled least squares; see `phexplore.simulate.outer_passes.fit_kernels.fit`."""

    weight: Floats
    measured: Floats
    rows: NDArray[np.int32]
    soft: Floats
    target: Floats
    hard_families: int


def _problem(order: OuterPass, family: Family, numbers: _Numbers, open_: Ints, measure: Measure) -> _Problem:
    child, classes = numbers.child[open_], numbers.classes[numbers.cls[open_]]
    settled = np.flatnonzero(numbers.fixed)
    settled_child, settled_class = numbers.child[settled], numbers.classes[numbers.cls[settled]]
    truth_child = np.repeat(np.arange(family.truth.units, dtype=np.int64), np.diff(family.truth.starts))
    truth_class, truth_count = family.truth.cells.astype(np.int64), family.truth.counts
    weight, known = np.zeros(len(open_)), np.zeros(len(open_))
    families: list[Ints] = []
    soft: list[Floats] = []
    target: list[Floats] = []
    hard = _hard_rows(numbers, open_, families, soft, target)
    for place, query in enumerate(order.measured):
        force = family.weights[:, place]
        way = projection(order.fine, query)
        answer = way(classes)
        row, row_child, row_answer = _rows_of(child, answer, family.truth.units, query.answers)
        exact = _looked_up(truth_child, way(truth_class), truth_count, row_child, row_answer, query.answers)
        noisy = measure(query, row_child, row_answer, exact).astype(np.float64)
        if len(settled):
            noisy -= _looked_up(
                settled_child, way(settled_class), numbers.given[settled], row_child, row_answer, query.answers
            )
        size = np.bincount(row, minlength=len(row_child))
        single = size[row] == 1
        weight[single] += force[child[single]]
        known[single] += force[child[single]] * noisy[row[single]]
        if single.all():
            continue
        several = size > 1
        number = np.cumsum(several) - 1
        families.append(np.where(single, -1, number[row] + sum(map(len, target))))
        soft.append(1.0 / force[row_child[several]])
        target.append(noisy[several])
    if not (weight > 0).all():
        raise FamilyError("A unit of a family is not measured.", "Give every level and query of the scenario a budget.")
    scale = float(weight.mean())
    return _Problem(
        weight / scale,
        known / weight,
        np.stack(families).astype(np.int32),
        np.concatenate(soft) * scale,
        np.concatenate(target),
        hard,
    )


def _hard_rows(numbers: _Numbers, open_: Ints, families: list[Ints], soft: list[Floats], target: list[Floats]) -> int:
    """Add the held sums and the columns of what is open; return how many families of rows they are.

    The numbers of a held answer are all fixed or all open, so that no fixed one is in an open column.
    """
    used, row = np.unique(numbers.row[open_], return_inverse=True)
    families.append(row)
    soft.append(np.zeros(len(used)))
    target.append(numbers.held[used].astype(np.float64))
    if not len(numbers.totals):
        return 1
    used, row = np.unique(numbers.cls[open_], return_inverse=True)
    families.append(row + len(target[0]))
    soft.append(np.zeros(len(used)))
    target.append(numbers.totals[used].astype(np.float64))
    return 2


def _rows_of(child: Ints, answer: Ints, children: int, answers: int) -> tuple[Ints, Ints, Ints]:
    """Return the row of each number, and child and answer of each row."""
    keys = child * answers + answer
    if children * answers <= _DENSE * len(keys) + 1024:
        every = np.arange(children * answers)
        return keys, every // answers, every % answers
    used, row = np.unique(keys, return_inverse=True)
    return row, used // answers, used % answers


def _looked_up(child: Ints, answer: Ints, counts: Ints, at_child: Ints, at_answer: Ints, answers: int) -> Ints:
    """Return the sums of some entries at given children and answers, ascending; 0 where there is none."""
    keys, wanted = child * answers + answer, at_child * answers + at_answer
    place = np.searchsorted(wanted, keys)
    inside = np.flatnonzero((place < len(wanted)) & (answer >= 0))
    inside = inside[wanted[place[inside]] == keys[inside]]
    sums = np.zeros(len(wanted), np.int64)
    np.add.at(sums, place[inside], counts[inside])
    return sums


def _solved(
    order: OuterPass, numbers: _Numbers, open_: Ints, problem: _Problem, options: RounderOptions, progress: Progress
) -> Ints:
    """Return whole counts of what is open."""
    from phexplore.simulate.outer_passes import fit_kernels, rounding_kernels  # noqa: PLC0415 - numba loads slowly

    began = time.perf_counter()
    x = np.zeros(len(open_))
    goal = TOLERANCE + 1e-12 * float(problem.target.max(initial=0.0))
    left = fit_kernels.fit(
        problem.weight, problem.measured, problem.rows, problem.soft, problem.target, problem.hard_families, goal, x
    )
    progress.unfinished += left > 10 * goal
    fitted = time.perf_counter()
    progress.seconds["least squares"] += fitted - began
    part = numbers.part[numbers.row[open_]]
    edges = np.flatnonzero(np.concatenate([[True], part[1:] != part[:-1], [True]])).astype(np.int64)
    classes = numbers.classes[numbers.cls[open_]]
    chain, end = np.empty((len(order.chain), len(open_)), np.int32), 0
    for level, query in enumerate(order.chain):
        _, row = np.unique(
            numbers.child[open_] * query.answers + projection(order.fine, query)(classes), return_inverse=True
        )
        chain[level] = row + end
        end += int(row.max()) + 1
    held_rows = len(np.unique(numbers.row[open_]))
    is_root = problem.hard_families == 1
    columns = np.full(len(open_), -1, np.int32) if is_root else problem.rows[1] - np.int32(held_rows)
    column_count = 0 if is_root else int(columns.max()) + 1
    counts = np.empty(len(open_), np.int64)
    rescued, failed = rounding_kernels.round_parts(
        edges,
        problem.rows[0],
        columns,
        chain,
        end,
        x,
        np.rint(problem.target[:held_rows]).astype(np.int64),
        np.rint(problem.target[held_rows : held_rows + column_count]).astype(np.int64),
        options.target is Target.WHOLE,
        options.snap,
        counts,
    )
    if rescued:
        progress.failed += 1
        progress.rescued.append((order.fine.name, float(left)))
    progress.seconds["rounding"] += time.perf_counter() - fitted
    if failed:
        raise FamilyError(
            f"The rounder found no whole counts for {failed} held sums.", "Report this with the run's specification."
        )
    return counts
