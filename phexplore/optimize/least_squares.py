"""Weighted non-negative least squares of all families of one level (TopDown paper, eq. 7.1, 7.2, 7.5 and 7.6).

A family is a parent and its children. Children of different families do not meet, so one compiled call solves a range
of families without the interpreter's lock, and ranges run on threads.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from phexplore.errors import PhexploreError
from phexplore.optimize.bounds import ENDLESS, Families
from phexplore.optimize.families import (
    CONTRADICTION,
    COPIED,
    EMPTY,
    SOLVED,
    UNFINISHED,
    Outcome,
    Settings,
    solve_families,
)
from phexplore.optimize.plan import LevelPlan, tables_of

Ints = npt.NDArray[np.int64]

PRODUCTION_SLACK = 0.01
"""How far production lets held answers move beyond the tolerance found (its configured 0.1 is never read)."""

UNBOUNDED = ENDLESS
"""An upper bound that bounds nothing."""


class Status(enum.IntEnum):
    """What became of a family in least squares."""

    SOLVED = SOLVED
    COPIED = COPIED
    """An only child has its parent's counts."""
    EMPTY = EMPTY
    """The parent has nobody."""
    CONTRADICTION = CONTRADICTION
    """Parent counts and bounds contradict each other."""
    UNFINISHED = UNFINISHED
    """Not solved to the accuracy asked for."""


class LevelError(PhexploreError):
    """Arrays of a level that do not fit together."""


@dataclass(frozen=True, slots=True, eq=False)
class LevelData:
    """Parents of one level with the measurements of their children, all flat.

    Attributes:
        child_start: ``int64[parents + 1]``; the children of parent p are ``child_start[p]:child_start[p + 1]``.
        cell_start: ``int64[parents + 1]``; the support of parent p is ``cell_start[p]:cell_start[p + 1]`` of `cells`.
        cells: ``int32[]``, the cells where the parent has somebody, ascending; without parent the cells that may hold
            somebody.
        counts: ``int64[]``, the parent's counts, positive; None without parent: the children are roots, each alone.
        answers: ``float64 or int32[children, answers]``, noisy answers in the order of the plan's measured queries.
        weights: ``float64[children, measured queries]``, inverse variances in people⁻²; 0 for a query not measured in
            that child. Children may differ.
        lower, upper: ``int64[children, bounds]`` for the plan's bounded queries; `UNBOUNDED` for none.
        group: ``int64[children]``, which fixed total a child counts in, -1 for none; only with shared totals.
        group_total: ``int64[groups]``.
    """

    child_start: Ints
    cell_start: Ints
    cells: npt.NDArray[np.int32]
    counts: Ints | None
    answers: npt.NDArray[Any]
    weights: npt.NDArray[np.float64]
    lower: Ints
    upper: Ints
    group: Ints | None = None
    group_total: Ints | None = None

    @property
    def parents(self) -> int:
        """The number of families."""
        return len(self.child_start) - 1

    @property
    def children(self) -> int:
        """The number of children of all families."""
        return int(self.child_start[-1])

    @property
    def value_start(self) -> Ints:
        """``int64[parents + 1]``: where the values of each family start, child by child over the parent's support."""
        sizes = np.diff(self.child_start) * np.diff(self.cell_start)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


@dataclass(frozen=True, slots=True)
class LeastSquaresOptions:
    """How least squares is solved.

    Attributes:
        slack: how far answers held from an earlier pass may move beyond the tolerance found by eq. 7.6, in people.
            0 is the equation as printed: the margins are kept exactly.
        accuracy: of each count, in people, for parents whose cells hold up to 10,000; in proportion above.
        limit: most gradient steps of one pass of one family.
    """

    slack: float = PRODUCTION_SLACK
    accuracy: float = 1e-7
    limit: int = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquaresResult:
    """Estimates of all children and what it took.

    Attributes:
        values: ``float64[]``, family by family (`LevelData.value_start`), child by child, over the parent's support.
        outcome: per family: status, steps, tolerance found (τ̂ of eq. 7.6), estimated distance, violation.
    """

    values: npt.NDArray[np.float64]
    outcome: Outcome

    def families_with(self, *statuses: Status) -> Ints:
        """Return the numbers of the families that ended in one of these ways, ``int64[found]``."""
        return np.flatnonzero(np.isin(self.outcome.status, statuses))


def least_squares(
    plan: LevelPlan,
    level: LevelData,
    *,
    options: LeastSquaresOptions | None = None,
    threads: int = 1,
    only: Sequence[int] | None = None,
) -> LeastSquaresResult:
    """Estimate the children of every family of a level; values of a family do not depend on the others.

    Args:
        threads: ranges of families solved at the same time.
        only: families to solve; the values of the others are 0.

    Raises:
        LevelError: the arrays do not fit the plan or each other.
    """
    check(plan, level)
    chosen = options or LeastSquaresOptions()
    settings = Settings(level.counts is not None, chosen.slack, chosen.accuracy, chosen.limit)
    tables = tables_of(plan)
    families = families_of(level)
    starts = level.value_start
    values = np.zeros(int(starts[-1]), np.float64)
    outcome = _outcome(level.parents)

    def solve(span: tuple[int, int]) -> None:
        solve_families(tables, families, settings, *span, starts, values, outcome)

    spans = [(int(one), int(one) + 1) for one in only] if only is not None else spans_of(starts, threads)
    run_spans(solve, spans, threads)
    return LeastSquaresResult(values, outcome)


def spans_of(starts: Ints, threads: int) -> list[tuple[int, int]]:
    """Return ranges of families of about equal work, several per thread: number of the first, and behind the last.

    Args:
        starts: ``starts[families + 1]``, where the values of each family begin.
        threads: how many work at once.
    """
    families = len(starts) - 1
    if threads <= 1 or families <= 1:
        return [(0, families)]
    work = starts[1:] + np.arange(1, families + 1)
    cuts = np.searchsorted(work, np.linspace(0, int(work[-1]), 8 * threads + 1)[1:-1])
    edges = np.unique(np.concatenate([[0], cuts, [families]])).tolist()
    return list(pairwise(edges))


def run_spans(solve: Callable[[tuple[int, int]], None], spans: list[tuple[int, int]], threads: int) -> None:
    """Call `solve` for every range, on threads when there are several.

    Args:
        solve: takes a range of families.
        spans: the ranges.
        threads: how many work at once.
    """
    if threads <= 1 or len(spans) <= 1:
        for span in spans:
            solve(span)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(solve, spans):
            pass


def families_of(level: LevelData) -> Families:
    """Return the arrays as the kernels take them: both kinds of answers have a place, so that they are compiled once."""
    none = np.zeros(0, np.int64)
    is_narrow = level.answers.dtype == np.int32
    counts = np.zeros(len(level.cells), np.int64) if level.counts is None else level.counts
    return Families(
        level.child_start,
        level.cell_start,
        level.cells,
        counts,
        level.answers.astype(np.int32, copy=False) if is_narrow else np.empty((0, 0), np.int32),
        np.empty((0, 0)) if is_narrow else level.answers.astype(np.float64, copy=False),
        level.weights,
        level.lower,
        level.upper,
        none if level.group is None else level.group,
        none if level.group_total is None else level.group_total,
    )


def check(plan: LevelPlan, level: LevelData) -> None:
    """Refuse arrays that do not fit.

    Args:
        plan: of the level.
        level: its arrays.

    Raises:
        LevelError: a shape or type differs, a weight is negative or not finite, a support leaves the schema.
    """
    children = level.children
    shapes = {
        "answers": (level.answers.shape, (children, plan.answers)),
        "weights": (level.weights.shape, (children, len(plan.measured))),
        "lower": (level.lower.shape, (children, plan.bounds)),
        "upper": (level.upper.shape, (children, plan.bounds)),
        "cells": (level.cells.shape, (int(level.cell_start[-1]),)),
    }
    if level.counts is not None:
        shapes["counts"] = (level.counts.shape, level.cells.shape)
    if plan.shares_totals:
        shapes["group"] = ((0,) if level.group is None else level.group.shape, (children,))
    for name, (found, wanted) in shapes.items():
        if found != wanted:
            raise LevelError(f"The array {name} of a level has the shape {found}, the plan needs {wanted}.")
    types = {"child_start": np.int64, "cell_start": np.int64, "cells": np.int32, "weights": np.float64}
    types |= {"lower": np.int64, "upper": np.int64}
    types["answers"] = np.int32 if level.answers.dtype == np.int32 else np.float64
    for name, wanted_type in types.items():
        if getattr(level, name).dtype != wanted_type:
            raise LevelError(
                f"The array {name} of a level is {getattr(level, name).dtype}, not {np.dtype(wanted_type)}."
            )
    if len(level.cell_start) != len(level.child_start):
        raise LevelError(f"{len(level.cell_start) - 1} supports belong to {level.parents} parents.")
    if not (np.isfinite(level.weights).all() and (level.weights >= 0).all()):
        raise LevelError("An inverse variance of a level is negative or not finite.", "Use 0 for a query not measured.")
    if len(level.cells) and (level.cells.min() < 0 or level.cells.max() >= plan.schema.cells):
        raise LevelError(f"A support names a cell outside of the {plan.schema.cells} cells of {plan.schema.id}.")
    if level.counts is not None and len(level.counts) and level.counts.min() <= 0:
        raise LevelError("A support names a cell where its parent has nobody.")


def _outcome(families: int) -> Outcome:
    ints = [np.zeros(families, np.int64) for _ in range(4)]
    floats = [np.zeros(families, np.float64) for _ in range(3)]
    return Outcome(ints[0], ints[1], ints[2], ints[3], floats[0], floats[1], floats[2])
