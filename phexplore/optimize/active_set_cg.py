"""Kernels: conjugate gradients on one face of the feasible set.

Once the set of positive counts stands still, the rest of the problem is an equality-constrained quadratic: minimise
over the positive counts, with column sums and binding rows fixed. Projected conjugate gradients, preconditioned by the
same metric and the same factor as the projection, reach the accuracy of the solver in a few steps where a gradient
method needs many.

Args:
    point: ``point[columns, width]``, counts per column and child; its zeros mark the face.
    slope: ``slope[>= columns, width]``, half the gradient at the point; only positive counts are read.
    direction: ``direction[columns, width]``, a step along the face; 0 where the point is 0.
    toward: ``toward[columns, width]``, the step of steepest descent along the face.
    closed: whether the counts of a column add up to the parent's.
    margins: how many margins have rows.
    columns: how many columns.
    counts: numbers of columns, rows and edges.
    forest: the sums of the stage.
    polytope: the feasible set with its scratch.
"""

from __future__ import annotations

from phexplore.compiled import float_kernel
from phexplore.optimize.marginals import Floats, Forest, add_up, hand_down
from phexplore.optimize.polytope import Polytope, add_rows, factorise, solve_step


@float_kernel
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


@float_kernel
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
        for child in range(width):
            shift[index, child] = 0.0
            class_sum[index, child] = 0.0
        for margin in range(margins):
            for child in range(width):
                row = polytope.row_of[margin * classes + index, child]
                if row >= 0:
                    shift[index, child] += polytope.step[row]
    # Indexed in full: a view of a row costs two atomic counts of references, more than the row's few children.
    for column in range(point.shape[0]):
        index = polytope.column_class[column]
        scale = polytope.inverse_metric[column]
        total = 0.0
        positive = 0.0
        for child in range(width):
            member = 1.0 if point[column, child] > 0.0 else 0.0
            value = member * (shift[index, child] - slope[column, child])
            direction[column, child] = value
            total += value
            positive += member
        if closed and positive > 0.0:
            mean = total / positive
            for child in range(width):
                direction[column, child] = (
                    scale * (direction[column, child] - mean) if point[column, child] > 0.0 else 0.0
                )
        else:
            for child in range(width):
                direction[column, child] *= scale
        if rows > 0:
            for child in range(width):
                class_sum[index, child] += direction[column, child]


@float_kernel
def curve(direction: Floats, weight: Floats, sums: Floats, counts: tuple[int, int, int], forest: Forest) -> None:
    """Leave H d in the first rows of `sums`.

    Args:
        direction: ``direction[columns, width]``, d.
        weight: ``weight[rows, width]``, inverse variances summed per row.
        sums: ``sums[rows, width]``, receives H d in its first rows.
    """
    columns, rows, edges = counts
    width = direction.shape[1]
    for column in range(columns):
        for child in range(width):
            sums[column, child] = direction[column, child]
    add_up(sums, columns, rows, edges, forest)
    for row in range(rows):
        for child in range(width):
            sums[row, child] *= weight[row, child]
    hand_down(sums, edges, forest)


@float_kernel
def keep_tangent(slope: Floats, toward: Floats, columns: int, polytope: Polytope) -> float:
    """Replace the slope by its part along the face, ``-h toward``; return its squared length in the dual metric.

    The part across the face is as large as the multipliers; left in, its rounding errors would end the convergence.

    Args:
        slope: ``slope[>= columns, width]``, replaced.
    """
    fall = 0.0
    for column in range(columns):
        metric = 1.0 / polytope.inverse_metric[column]
        target, source = slope[column], toward[column]
        part = 0.0
        for child in range(source.shape[0]):
            target[child] = -metric * source[child]
            part += source[child] * source[child]
        fall += metric * part
    return fall


@float_kernel
def inner_product(left: Floats, right: Floats, columns: int) -> float:
    """Return Σ left · right over the first rows.

    Args:
        left: ``left[>= columns, width]``.
        right: ``right[>= columns, width]``.
    """
    total = 0.0
    for column in range(columns):
        mine, other = left[column], right[column]
        part = 0.0
        for child in range(mine.shape[0]):
            part += mine[child] * other[child]
        total += part
    return total


@float_kernel
def minimise_on_active_set(
    point: Floats,
    moved: Floats,
    slope: Floats,
    toward: Floats,
    direction: Floats,
    weight: Floats,
    sums: Floats,
    counts: tuple[int, int, int],
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
        for child in range(width):
            moved[column, child] = point[column, child]
            direction[column, child] = toward[column, child]
    fall = keep_tangent(slope, toward, columns, polytope)
    steps = 0
    while steps < limit and fall > 0.0:
        curve(direction, weight, sums, counts, forest)
        curvature = inner_product(direction, sums, columns)
        if curvature <= 0.0:
            break
        length = fall / curvature
        for column in range(columns):
            target, source, along, bent = moved[column], slope[column], direction[column], sums[column]
            for child in range(width):
                target[child] += length * along[child]
                source[child] += length * bent[child]
        steps += 1
        project_direction(slope, point, toward, closed, margins, polytope)
        largest = 0.0
        for column in range(columns):
            for child in range(width):
                largest = max(largest, abs(toward[column, child]))
        if largest <= tolerance:
            break
        before = fall
        fall = keep_tangent(slope, toward, columns, polytope)
        momentum = fall / before
        for column in range(columns):
            along, new = direction[column], toward[column]
            for child in range(width):
                along[child] = new[child] + momentum * along[child]
    return steps
