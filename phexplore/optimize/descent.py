"""Kernels: minimise the weighted least squares objective of one stage over its feasible set.

Two methods. Column by column (exact block coordinate descent): each column is minimised exactly over its simplex while
the others stand still; valid while no row couples columns. Together: accelerated projected gradient (Nesterov, strongly
convex version with restart by gradient) in the metric of H's row sums, where the curvature is at most 1, until the set
of positive counts stands still; then conjugate gradients on that face; repeated until a projected gradient step moves
nothing. Where `Polytope.careful` is False, points are projected by the next gradient step alone, which is quicker and leads
nowhere in some families.

Args:
    point: ``point[columns, width]``, counts per column and child; improved in place.
    objective: of the stage, with scratch.
    counts: numbers of columns and rows.
    closed: whether the counts of a column add up to the parent's.
    margins: how many margins have rows.
    forest: the sums of the stage.
    polytope: the feasible set with its scratch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phexplore.compiled import inlined_kernel, lean_kernel, woven_kernel
from phexplore.optimize.active_set_cg import minimise_on_active_set
from phexplore.optimize.lanes import (
    LANE,
    alike,
    is_positive,
    larger,
    largest,
    load,
    minus,
    plus,
    size,
    store,
    times,
    total,
)
from phexplore.optimize.marginals import Floats, Forest, add_up, gradient
from phexplore.optimize.polytope import Polytope, project
from phexplore.optimize.simplex import fill_simplex, find_multiplier

LEAST_MODULUS = 1e-4
"""Strong convexity assumed in the stopping rule when some count has no measurement of its own."""

INEXACT = 0.01
"""Violation allowed in a projection, as a fraction of the last move: early steps need no more."""

FIRST_MOVE = 1e6
"""What a first gradient step from a point that was not projected is taken to move, in tolerances."""

BIG = 1e300

ON_FACE, CAREFUL_ON_FACE = 0.03, 0.3
"""Projected gradient step at which conjugate gradients end, as a fraction of the one that is small enough."""

FACES = 25
"""Most faces explored by conjugate gradients in one solve."""


class Objective(NamedTuple):
    """The objective of one stage and scratch of its size.

    Attributes:
        weight: ``float64[rows, children]``, inverse variances summed per row.
        pull: ``float64[rows, children]``, inverse variance times measured answer.
        sums: ``float64[rows, children]``, scratch.
        metric: ``float64[columns]``, h_c.
        diagonal: ``float64[columns]``, largest diagonal entry of H over the children.
        ahead, next, slope, direction: ``float64[columns, children]``, scratch.
    """

    weight: Floats
    pull: Floats
    sums: Floats
    metric: Floats
    diagonal: Floats
    ahead: Floats
    next: Floats
    slope: Floats
    direction: Floats


@lean_kernel
def descend_by_column(
    point: Floats,
    objective: Objective,
    counts: tuple[int, int],
    closed: bool,
    tolerance: float,
    limit: int,
    forest: Forest,
    polytope: Polytope,
) -> tuple[float, int]:
    """Improve `point` until no count moves by more than `tolerance`; return the last move and the sweeps.

    `point` satisfies the column sums and barriers on entry and on return. No row is looked at.

    Args:
        tolerance: largest move of a sweep, in people, that is small enough.
        limit: most sweeps.
    """
    columns, _ = counts
    width = point.shape[1]
    sums, weight = objective.sums, objective.weight
    start_sums(point, objective, counts, forest)
    trial = objective.next
    moved = 0.0
    sweeps = 0
    while sweeps < limit:
        moved = 0.0
        for column in range(columns):
            diagonal = objective.diagonal[column]
            if diagonal <= 0.0:
                continue
            above = range(forest.above_start[column], forest.above_start[column + 1])
            index = polytope.column_class[column]
            scale, zero = alike(1.0 / diagonal), alike(0.0)
            changes, value = zero, zero
            for child in range(0, width, LANE):
                slope = load(sums, column, child)
                for slot in above:
                    slope = plus(slope, load(sums, forest.above_row[slot], child))
                value = minus(load(point, column, child), times(scale, slope))
                value = plus(value, load(polytope.barrier, index, child))
                if width > LANE:
                    store(trial, 0, child, value)
            if closed and width == LANE:
                multiplier = find_multiplier(value, polytope.column_count[column], polytope.column_multiplier[column])
                polytope.column_multiplier[column] = multiplier
                value = plus(value, alike(multiplier))
            elif closed:
                polytope.column_multiplier[column] = fill_simplex(
                    trial, 0, polytope.column_count[column], polytope.column_multiplier[column]
                )
            for child in range(0, width, LANE):
                new = larger(load(trial, 0, child) if width > LANE else value, zero)
                difference = minus(new, load(point, column, child))
                changes = larger(changes, size(difference))
                store(point, column, child, new)
                store(trial, 0, child, difference)
            change = largest(changes)
            if change == 0.0:
                continue
            moved = max(moved, change)
            for child in range(0, width, LANE):
                difference = load(trial, 0, child)
                slope = times(load(weight, column, child), difference)
                store(sums, column, child, plus(load(sums, column, child), slope))
                for slot in above:
                    row = forest.above_row[slot]
                    slope = times(load(weight, row, child), difference)
                    store(sums, row, child, plus(load(sums, row, child), slope))
        sweeps += 1
        if moved <= tolerance:
            break
    return moved, sweeps


@woven_kernel
def start_sums(point: Floats, objective: Objective, counts: tuple[int, int], forest: Forest) -> None:
    """Fill every row of `sums` with its share of the gradient, w_r (Σ x) - pull_r."""
    columns, rows = counts
    width = point.shape[1]
    sums = objective.sums
    copy_rows(point, sums, columns)
    add_up(sums, columns, rows, forest)
    for row in range(rows):
        target = sums[row]
        factor = objective.weight[row]
        pull = objective.pull[row]
        for child in range(width):
            target[child] = factor[child] * target[child] - pull[child]


@woven_kernel
def copy_rows(source: Floats, target: Floats, rows: int) -> None:
    """Copy the first rows.

    Args:
        source: ``source[>= rows, width]``.
        target: ``target[>= rows, width]``, receives them.
        rows: how many.
    """
    for row in range(rows):
        for child in range(0, source.shape[1], LANE):
            store(target, row, child, load(source, row, child))


@woven_kernel
def set_metric(objective: Objective, columns: int, polytope: Polytope) -> float:
    """Fill the inverse metric; return the strong convexity of the objective in it, 0 if some count has no weight.

    Args:
        columns: how many columns.
    """
    modulus = 1.0
    for column in range(columns):
        metric = objective.metric[column]
        polytope.inverse_metric[column] = 1.0 / metric if metric > 0.0 else 1.0
        barrier = polytope.barrier[polytope.column_class[column]]
        for child in range(barrier.shape[0]):
            if barrier[child] == 0.0:
                modulus = min(modulus, objective.weight[column, child] * polytope.inverse_metric[column])
    return modulus


@woven_kernel
def set_diagonal(objective: Objective, columns: int, polytope: Polytope) -> None:
    """Fill the inverse metric for conjugate gradients, which need no bound on the curvature: the diagonal itself serves better."""
    for column in range(columns):
        diagonal = objective.diagonal[column]
        polytope.inverse_metric[column] = 1.0 / diagonal if diagonal > 0.0 else 1.0


@inlined_kernel
def step_ahead(
    point: Floats,
    objective: Objective,
    counts: tuple[int, int],
    closed: bool,
    margins: int,
    tolerance: float,
    forest: Forest,
    polytope: Polytope,
) -> tuple[float, float, int, float, int]:
    """Fill `next` with a projected gradient step from `ahead`.

    Args:
        point: ``point[columns, width]``, where the last step ended; read only.
        tolerance: violation of a row, in people, that is small enough.

    Returns:
        the largest move, the uphill part of it (restart if positive), the counts that changed between zero and
        positive, the violation of the rows, and the Newton steps of the projection.
    """
    columns = counts[0]
    ahead, following, sums = objective.ahead, objective.next, objective.sums
    width = ahead.shape[1]
    gradient(ahead, objective.weight, objective.pull, sums, counts, forest)
    for column in range(columns):
        scale = alike(polytope.inverse_metric[column])
        for child in range(0, width, LANE):
            step = times(scale, load(sums, column, child))
            store(sums, column, child, minus(load(ahead, column, child), step))
    violation, newton = project(sums, following, closed, margins, tolerance, 100, polytope)
    longest, changes = alike(0.0), alike(0.0)
    uphill = 0.0
    for column in range(columns):
        inner = alike(0.0)
        for child in range(0, width, LANE):
            new, old = load(following, column, child), load(point, column, child)
            move = minus(new, load(ahead, column, child))
            longest = larger(longest, size(move))
            inner = plus(inner, times(move, minus(new, old)))
            changes = plus(changes, size(minus(is_positive(new), is_positive(old))))
        uphill -= total(inner) / polytope.inverse_metric[column]
    return largest(longest), uphill, int(total(changes)), violation, newton


@inlined_kernel
def descend_together(
    point: Floats,
    objective: Objective,
    counts: tuple[int, int],
    closed: bool,
    margins: int,
    tolerance: float,
    limit: int,
    forest: Forest,
    polytope: Polytope,
) -> tuple[float, int, int, float]:
    """Improve `point`.

    Args:
        tolerance: distance to the optimum, in people, that is good enough.
        limit: most gradient steps.

    Returns:
        an estimate of the distance to the optimum, the gradient steps (projected and conjugate), the Newton steps of
        all projections, and the largest violation of a row.
    """
    columns = counts[0]
    width = point.shape[1]
    ahead, following, sums = objective.ahead, objective.next, objective.sums
    modulus = set_metric(objective, columns, polytope)
    trusted = max(modulus, LEAST_MODULUS)
    row_tolerance = 0.1 * tolerance
    copy_rows(point, ahead, columns)
    violation, newton = BIG, 0
    furthest = FIRST_MOVE * tolerance
    if polytope.careful:
        violation, newton = project(ahead, point, closed, margins, row_tolerance, 400, polytope)
        copy_rows(point, ahead, columns)
        furthest = 0.0
    theta = 1.0
    steps = 0
    still = 0
    patience = 2
    faces = 0
    distance = BIG
    while steps < limit:
        allowed = max(row_tolerance, INEXACT * furthest)
        furthest, uphill, changes, violation, more = step_ahead(
            point, objective, counts, closed, margins, allowed, forest, polytope
        )
        newton += more
        steps += 1
        if uphill > 0.0:
            theta = 1.0
        gap = modulus - theta * theta
        root = 0.5 * (gap + np.sqrt(gap * gap + 4.0 * theta * theta))
        momentum = theta * (1.0 - theta) / (theta * theta + root)
        theta = root
        for column in range(columns):
            for child in range(0, width, LANE):
                new = load(following, column, child)
                further = times(alike(momentum), minus(new, load(point, column, child)))
                store(ahead, column, child, plus(new, further))
                store(point, column, child, new)
        distance = furthest / trusted
        if modulus == 0.0 and faces >= FACES and furthest <= row_tolerance:
            # Only sums are measured, so the moves are all there is to know, and no projection makes them smaller.
            distance = furthest
        if distance <= tolerance and violation <= row_tolerance:
            break
        still = still + 1 if changes == 0 else 0
        if still < patience or faces >= FACES:
            continue
        gradient(point, objective.weight, objective.pull, sums, counts, forest)
        copy_rows(sums, objective.slope, columns)
        if not polytope.careful:
            set_diagonal(objective, columns, polytope)
        steps += minimise_on_active_set(
            point,
            ahead,
            objective.slope,
            following,
            objective.direction,
            objective.weight,
            sums,
            counts,
            closed,
            margins,
            (CAREFUL_ON_FACE if polytope.careful else ON_FACE) * tolerance * trusted,
            200,
            forest,
            polytope,
        )
        faces += 1
        still = 0
        theta = 1.0
        if polytope.careful:
            violation, more = project(ahead, following, closed, margins, row_tolerance, 100, polytope)
            newton += more
            patience += 1 if differs(following, ahead, columns, tolerance) else 0
            copy_rows(following, ahead, columns)
        else:
            # The minimum over the face may lie outside of the bounds: the next gradient step projects it.
            set_metric(objective, columns, polytope)
            polytope.known[0] = -1
            furthest = 0.0
            violation = BIG
            patience += 1 if is_outside(ahead, tolerance) else 0
        copy_rows(ahead, point, columns)
    if violation > row_tolerance:
        copy_rows(point, ahead, columns)
        violation, more = project(ahead, point, closed, margins, row_tolerance, 400, polytope)
        newton += more
        if not polytope.careful:
            distance = BIG  # nothing says how far this projection has moved from the optimum
    return distance, steps, newton, violation


@woven_kernel
def differs(left: Floats, right: Floats, columns: int, tolerance: float) -> bool:
    """Return whether two points differ by more than `tolerance` in some count.

    Args:
        left: ``left[>= columns, width]``.
        right: ``right[>= columns, width]``.
        columns: how many rows to compare.
        tolerance: in people.
    """
    for column in range(columns):
        for child in range(left.shape[1]):
            if abs(left[column, child] - right[column, child]) > tolerance:
                return True
    return False


@woven_kernel
def is_outside(point: Floats, tolerance: float) -> bool:
    """Return whether some count is below 0 by more than `tolerance`, in people."""
    for column in range(point.shape[0]):
        for child in range(point.shape[1]):
            if point[column, child] < -tolerance:
                return True
    return False
