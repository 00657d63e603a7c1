"""Kernels: conjugate gradients on one face of the feasible set.

Once the set of positive counts stands still, the rest of the problem is an equality-constrained quadratic: minimise
over the positive counts, with column sums and binding rows fixed. Projected conjugate gradients, preconditioned by the
diagonal of the objective, reach the accuracy of the solver in a few steps where a gradient
method needs many.

Args:
    point: ``point[columns, width]``, counts per column and child; its zeros mark the face.
    slope: ``slope[>= columns, width]``, half the gradient at the point; only positive counts are read.
    direction: ``direction[columns, width]``, a step along the face; 0 where the point is 0.
    toward: ``toward[columns, width]``, the step of steepest descent along the face.
    closed: whether the counts of a column add up to the parent's.
    margins: how many margins have rows.
    columns: how many columns.
    counts: numbers of columns and rows.
    forest: the sums of the stage.
    polytope: the feasible set with its scratch.
"""

from __future__ import annotations

from phexplore.compiled import lean_kernel, woven_kernel
from phexplore.optimize.lanes import (
    LANE,
    alike,
    is_positive,
    larger,
    largest,
    load,
    minus,
    over,
    plus,
    size,
    store,
    times,
    total,
    turned,
    where_positive,
)
from phexplore.optimize.marginals import Floats, Forest, add_up, hand_down
from phexplore.optimize.polytope import Polytope, add_rows, factorise, solve_step


@woven_kernel
def project_direction(
    slope: Floats, point: Floats, direction: Floats, closed: bool, margins: int, polytope: Polytope
) -> None:
    """Fill the direction within the face nearest to ``-slope / h`` in the metric h.

    Args:
        slope: ``float64[>= columns, children]``, half the gradient; only positive counts of `point` are read.
        point: ``float64[columns, children]``, marks the face.
        direction: same shape, written; 0 where `point` is 0.
    """
    rows = polytope.lower.shape[0]
    for row in range(rows):
        polytope.step[row] = 0.0
    fill_direction(slope, point, direction, closed, margins, polytope)
    if rows == 0 or polytope.known[0] == 0:
        return
    add_rows(margins, polytope)
    for row in range(rows):
        polytope.residual[row] = -polytope.sums[row]
    solve_step(polytope.known[0], polytope)
    fill_direction(slope, point, direction, closed, margins, polytope)


@woven_kernel
def fill_direction(
    slope: Floats, point: Floats, direction: Floats, closed: bool, margins: int, polytope: Polytope
) -> None:
    """Fill ``(-slope + λ_c + ν) / h`` on the face for ν in `step`, with λ from the column sums; add up the classes.

    Args:
        direction: ``direction[columns, width]``, receives the step.
    """
    shift, class_sum = polytope.shift, polytope.class_sum
    classes, width = shift.shape
    rows = polytope.lower.shape[0]
    for index in range(classes):
        for child in range(0, width, LANE):
            store(shift, index, child, alike(0.0))
            store(class_sum, index, child, alike(0.0))
        for line in range(index, margins * classes, classes):
            for child in range(width):
                row = polytope.row_of[line, child]
                if row >= 0:
                    shift[index, child] += polytope.step[row]
    columns = point.shape[0]
    in_fours = columns // LANE * LANE if closed and width == LANE else 0
    for column in range(0, in_fours, LANE):
        fill_four_directions(slope, point, direction, column, polytope)
    for column in range(in_fours, columns):
        index = polytope.column_class[column]
        scale = alike(polytope.inverse_metric[column])
        values, members = alike(0.0), alike(0.0)
        for child in range(0, width, LANE):
            member = is_positive(load(point, column, child))
            value = times(member, minus(load(shift, index, child), load(slope, column, child)))
            store(direction, column, child, value)
            values = plus(values, value)
            members = plus(members, member)
        positive = total(members)
        mean = alike(total(values) / positive if closed and positive > 0.0 else 0.0)
        for child in range(0, width, LANE):
            member = is_positive(load(point, column, child))
            store(direction, column, child, times(scale, times(member, minus(load(direction, column, child), mean))))
    for column in range(columns if rows > 0 else 0):
        index = polytope.column_class[column]
        for child in range(0, width, LANE):
            store(class_sum, index, child, plus(load(class_sum, index, child), load(direction, column, child)))


@woven_kernel
def fill_four_directions(slope: Floats, point: Floats, direction: Floats, column: int, polytope: Polytope) -> None:
    """Fill the step of the `LANE` columns of `LANE` children that begin at one, with the numbers each would have alone.

    Args:
        direction: ``direction[columns, width]``, receives the steps.
        column: the first of them.
    """
    zero, shift, kind = alike(0.0), polytope.shift, polytope.column_class
    one, two, three, four = turned(
        is_positive(load(point, column, 0)),
        is_positive(load(point, column + 1, 0)),
        is_positive(load(point, column + 2, 0)),
        is_positive(load(point, column + 3, 0)),
    )
    first, second, third, fourth = turned(
        minus(load(shift, kind[column], 0), load(slope, column, 0)),
        minus(load(shift, kind[column + 1], 0), load(slope, column + 1, 0)),
        minus(load(shift, kind[column + 2], 0), load(slope, column + 2, 0)),
        minus(load(shift, kind[column + 3], 0), load(slope, column + 3, 0)),
    )
    first, second, third, fourth = times(one, first), times(two, second), times(three, third), times(four, fourth)
    values = plus(plus(plus(zero, first), plus(zero, third)), plus(plus(zero, second), plus(zero, fourth)))
    members = plus(plus(one, three), plus(two, four))
    mean = where_positive(members, over(values, members), zero)
    scale = load(polytope.inverse_metric, 0, column)
    first, second, third, fourth = turned(
        times(scale, times(one, minus(first, mean))),
        times(scale, times(two, minus(second, mean))),
        times(scale, times(three, minus(third, mean))),
        times(scale, times(four, minus(fourth, mean))),
    )
    store(direction, column, 0, first)
    store(direction, column + 1, 0, second)
    store(direction, column + 2, 0, third)
    store(direction, column + 3, 0, fourth)


@woven_kernel
def curve(direction: Floats, weight: Floats, sums: Floats, counts: tuple[int, int], forest: Forest) -> None:
    """Leave H d in the first rows of `sums`.

    Args:
        direction: ``direction[columns, width]``, d.
        weight: ``weight[rows, width]``, inverse variances summed per row.
        sums: ``sums[rows, width]``, receives H d in its first rows.
    """
    columns, rows = counts
    width = direction.shape[1]
    for column in range(columns):
        for child in range(0, width, LANE):
            store(sums, column, child, load(direction, column, child))
    add_up(sums, columns, rows, forest)
    for row in range(rows):
        for child in range(0, width, LANE):
            store(sums, row, child, times(load(sums, row, child), load(weight, row, child)))
    hand_down(sums, columns, rows, forest)


@woven_kernel
def keep_tangent(slope: Floats, toward: Floats, columns: int, polytope: Polytope) -> float:
    """Replace the slope by its part along the face, ``-h toward``; return its squared length in the dual metric.

    The part across the face is as large as the multipliers; left in, its rounding errors would end the convergence.

    Args:
        slope: ``slope[>= columns, width]``, replaced.
    """
    fall = 0.0
    for column in range(columns):
        metric = 1.0 / polytope.inverse_metric[column]
        part = alike(0.0)
        for child in range(0, toward.shape[1], LANE):
            step = load(toward, column, child)
            store(slope, column, child, times(alike(-metric), step))
            part = plus(part, times(step, step))
        fall += metric * total(part)
    return fall


@woven_kernel
def inner_product(left: Floats, right: Floats, columns: int) -> float:
    """Return Σ left · right over the first rows.

    Args:
        left: ``left[>= columns, width]``.
        right: ``right[>= columns, width]``.
    """
    found = 0.0
    for column in range(columns):
        part = alike(0.0)
        for child in range(0, left.shape[1], LANE):
            part = plus(part, times(load(left, column, child), load(right, column, child)))
        found += total(part)
    return found


@lean_kernel
def minimise_on_active_set(
    point: Floats,
    moved: Floats,
    slope: Floats,
    toward: Floats,
    direction: Floats,
    weight: Floats,
    sums: Floats,
    counts: tuple[int, int],
    closed: bool,
    margins: int,
    tolerance: float,
    limit: int,
    forest: Forest,
    polytope: Polytope,
) -> int:
    """Fill `moved` with the minimum over the face of `point`, whatever the signs of its counts; return the steps.

    Args:
        point: ``float64[columns, children]``; its zeros stay zero.
        moved: same shape, written.
        slope: same shape, half the gradient at `point`; overwritten.
        toward, direction: same shape, scratch.
        weight: ``float64[rows, children]`` of the objective.
        sums: ``float64[rows, children]``, scratch.
        tolerance: projected gradient step, in people, that is small enough.
        limit: most steps.
    """
    columns = counts[0]
    width = point.shape[1]
    if polytope.lower.shape[0] > 0:
        for row in range(polytope.lower.shape[0]):
            polytope.residual[row] = 0.0
        polytope.known[0] = factorise(point, closed, margins, polytope)
    project_direction(slope, point, toward, closed, margins, polytope)
    for column in range(columns):
        for child in range(0, width, LANE):
            store(moved, column, child, load(point, column, child))
            store(direction, column, child, load(toward, column, child))
    fall = keep_tangent(slope, toward, columns, polytope)
    steps = 0
    while steps < limit and fall > 0.0:
        curve(direction, weight, sums, counts, forest)
        curvature = inner_product(direction, sums, columns)
        if curvature <= 0.0:
            break
        length = fall / curvature
        for column in range(columns):
            for child in range(0, width, LANE):
                along = times(alike(length), load(direction, column, child))
                bent = times(alike(length), load(sums, column, child))
                store(moved, column, child, plus(load(moved, column, child), along))
                store(slope, column, child, plus(load(slope, column, child), bent))
        steps += 1
        project_direction(slope, point, toward, closed, margins, polytope)
        longest = alike(0.0)
        for column in range(columns):
            for child in range(0, width, LANE):
                longest = larger(longest, size(load(toward, column, child)))
        if largest(longest) <= tolerance:
            break
        before = fall
        fall = keep_tangent(slope, toward, columns, polytope)
        momentum = fall / before
        for column in range(columns):
            for child in range(0, width, LANE):
                along = times(alike(momentum), load(direction, column, child))
                store(direction, column, child, plus(load(toward, column, child), along))
    return steps
