"""Least squares of a root with very many cells: solve few of them, prove that the others are 0.

Single years of age make hundreds of thousands of cells, nearly all of them 0 in the estimate, and the more cells add up
to an answer, the slower gradient steps converge. So a short descent over all cells only proposes which are positive;
least squares over these is solved to its accuracy, and the optimality conditions over all cells decide: with the
multipliers of totals and bounds, read off the gradient of the positive cells, no cell at 0 may gain by growing. Cells
that would gain join, until none does. Convexity makes the answer that of the whole problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from phexplore.optimize.least_squares import LeastSquaresOptions, LeastSquaresResult, LevelData, Status, least_squares
from phexplore.optimize.plan import LevelPlan

MANY_CELLS = 1 << 14
"""Roots with fewer cells are solved at once."""

FIRST_STEPS = 100
MOST_ROUNDS = 60
COARSE = 1e-3
AT_ONCE = 600
"""Cells of one kind that join in one round: few cells converge fast."""

GAIN = 1e-6
"""A cell joins when the gradient would move it by more than this many people, by its own weight alone."""

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def worth_screening(plan: LevelPlan, level: LevelData) -> bool:
    """Return whether a level is a root that this module solves faster: one unit, one pass, very many cells.

    Args:
        plan: of the level.
        level: its arrays.
    """
    return level.counts is None and level.children == 1 and len(plan.passes) == 1 and len(level.cells) >= MANY_CELLS


def screened_least_squares(
    plan: LevelPlan, level: LevelData, *, options: LeastSquaresOptions | None = None
) -> LeastSquaresResult:
    """Return what `least_squares` returns for a level that is worth screening.

    Args:
        plan: of the level.
        level: its arrays.
        options: accuracy, slack and most steps.
    """
    wanted = options or LeastSquaresOptions()
    problem = _problem(plan, level)
    first = least_squares(plan, level, options=replace(wanted, limit=FIRST_STEPS))
    chosen = problem.largest(first.values, np.ones(len(level.cells), bool))
    result = first
    values = np.zeros(len(level.cells))
    # Which cells are positive is found at a lower accuracy, then confirmed at the one asked for.
    coarse = replace(wanted, accuracy=max(wanted.accuracy, COARSE))
    now = coarse
    for turn in range(MOST_ROUNDS):
        inside = np.flatnonzero(chosen)
        part = replace(level, cells=level.cells[inside], cell_start=np.array([0, len(inside)], np.int64))
        result = least_squares(plan, part, options=now)
        if result.families_with(Status.CONTRADICTION).size:
            break
        values[:] = 0.0
        values[inside] = result.values
        joining = problem.gaining(values, chosen)
        if not joining.any() and now is wanted:
            break
        now = coarse if joining.any() and turn < MOST_ROUNDS // 2 else wanted
        # Cells at 0 leave again; every round lowers the objective, so none comes back for ever.
        chosen = problem.with_a_cell(values > 0.0) | joining if turn < MOST_ROUNDS // 2 else chosen | joining
    else:
        result.outcome.status[0] = Status.UNFINISHED
    return LeastSquaresResult(values, result.outcome)


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """The objective over all cells of a root.

    Attributes:
        answer: ``int32[queries, cells]``, the answer each cell counts in; -1 for none.
        size: answers per query.
        weight: ``float64[queries]``, people⁻².
        measured: per query its noisy answers.
        own: ``float64[cells]``, the weight of each cell's own measurement: what a gradient moves it by.
        kind: ``int64[cells]``, cells of equal kind count in the same bounded answers.
    """

    answer: npt.NDArray[np.int32]
    size: tuple[int, ...]
    weight: Floats
    measured: tuple[npt.NDArray[Any], ...]
    own: Floats
    kind: npt.NDArray[np.int64]

    def gradient(self, values: Floats) -> Floats:
        """Return half the gradient of Σ (Qx − m)² / variance, ``float64[cells]``."""
        found = np.zeros(len(values))
        for answer, size, weight, measured in zip(self.answer, self.size, self.weight, self.measured, strict=True):
            if weight > 0.0:
                counted = answer >= 0
                sums = np.bincount(answer[counted], weights=values[counted], minlength=size)
                found[counted] += weight * (sums - measured)[answer[counted]]
        return found

    def gaining(self, values: Floats, inside: Flags) -> Flags:
        """Return the cells left out that would gain by growing at the cost of the positive ones of their kind."""
        gradient = self.gradient(values)
        # The multiplier of a kind: the mean gradient of its positive cells, the larger ones more, for they are the surer. Where all of
        # its cells are 0, that of the one that comes nearest to growing.
        weight = np.where(inside, values, 0.0)
        kinds = int(self.kind.max()) + 1
        total = np.bincount(self.kind, weights=weight, minlength=kinds)
        sums = np.bincount(self.kind, weights=weight * gradient, minlength=kinds)
        nearest = np.full(kinds, np.inf)
        np.minimum.at(nearest, self.kind[inside], gradient[inside])
        multiplier = np.divide(sums, total, out=nearest, where=total > 0.0)
        gain = multiplier[self.kind] - gradient
        return self.largest(gain, ~inside & (gain > GAIN * self.own))

    def largest(self, values: Floats, among: Flags) -> Flags:
        """Return the `AT_ONCE` cells of every kind that have the largest values among some."""
        chosen = np.zeros(len(values), bool)
        for kind in np.unique(self.kind[among]).tolist():
            cells = np.flatnonzero(among & (self.kind == kind))
            if len(cells) > AT_ONCE:
                cells = cells[np.argpartition(values[cells], -AT_ONCE)[-AT_ONCE:]]
            chosen[cells] = True
        return chosen

    def with_a_cell(self, chosen: Flags) -> Flags:
        """Return these cells, and the first of every kind that has none of them: each needs one to compare with."""
        kinds, first = np.unique(self.kind, return_index=True)
        found = chosen.copy()
        found[first[~np.isin(kinds, self.kind[chosen])]] = True
        return found


def _problem(plan: LevelPlan, level: LevelData) -> _Problem:
    used = [number for number, query in enumerate(plan.measured) if query in plan.passes[0]]
    starts = plan.answer_start
    answer = np.stack([plan.measured[number].cell_map()[level.cells] for number in used])
    size = tuple(plan.measured[number].answers for number in used)
    first = [starts[plan.measured[number]] for number in used]
    measured = tuple(level.answers[0, begin : begin + count] for begin, count in zip(first, size, strict=True))
    weight = level.weights[0, used].astype(np.float64)
    finest = [number for number, count in enumerate(size) if count == plan.schema.cells]
    own = np.full(len(level.cells), weight[finest].sum())
    kind = np.zeros(len(level.cells), np.int64)
    for query in plan.bounded:
        kind = kind * (query.answers + 1) + query.cell_map()[level.cells] + 1
    kind = np.unique(kind, return_inverse=True)[1].astype(np.int64)
    return _Problem(answer, size, weight, measured, own, kind)
