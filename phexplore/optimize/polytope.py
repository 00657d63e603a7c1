"""Kernels: the exact projection onto the feasible set of one subproblem, in a diagonal metric.

The feasible set of n children is: counts x_ic ≥ 0, none where a child may hold nobody of that class; column sums Σ_i
x_ic = p_c (the parent's counts, eq. 7.2); and rows lo_r ≤ Σ_{(i,c) in r} x_ic ≤ up_r (facility bounds, child totals,
margins held from an earlier pass, eq. 7.5). With multipliers λ of columns and ν of rows the projection of z in the
metric h is

    x_ic = max(0, z_ic + (λ_c + Σ_{r: (i,c) in r} ν_r) / h_c).

λ_c makes the sum of the column right (`phexplore.optimize.simplex`). The concave dual in ν is climbed by a
projected semismooth Newton method (two-metric projection: a multiplier that would change its sign stops at 0) with a
line search on its derivative; both are warm started by the caller.

Args:
    point: ``point[columns, width]``, x, the counts per column and child.
    closed: whether column sums are fixed; a root without parent is open.
    margins: how many margins have rows.
    polytope: the feasible set with the multipliers at hand.
    unknowns: size of the Newton system.
"""

from __future__ import annotations

from typing import NamedTuple

from phexplore.compiled import lean_kernel, woven_kernel
from phexplore.optimize.factor import DETERMINED, STUCK, cholesky
from phexplore.optimize.lanes import LANE, alike, is_positive, larger, load, minus, plus, store, times, total
from phexplore.optimize.marginals import Floats, Ints
from phexplore.optimize.simplex import fill_four_simplexes, fill_simplex

BARRED = -1e30
"""Added to a child's class that must stay empty."""

TOGETHER = 16
"""Columns whose shares are taken from the curvature at a time: its numbers are loaded and stored once for so many."""

BEYOND_ANY = 1e300
"""Longer than any step."""

RISING = 1e-6
"""A Newton step that rises less than this fraction of a plain step leads nowhere."""

CHORD = 0.05
"""The factor of an earlier point serves as long as one step shrinks the violation at least this well."""


class Polytope(NamedTuple):
    """The feasible set of one stage and the state of the projection.

    Attributes:
        column_count: ``float64[columns]``, p_c.
        column_class: ``int64[columns]``.
        inverse_metric: ``float64[columns]``, 1 / h_c.
        barrier: ``float64[classes, children]``, 0, or `BARRED` where the child holds nobody of the class.
        row_of: ``int64[margins * classes, children]``, the row that counts this class of this child, or -1.
        lower, upper: ``float64[rows]``.
        multiplier: ``float64[rows]``, ν.
        column_multiplier: ``float64[columns]``, λ_c / h_c.
        shift, class_sum: ``float64[classes, children]``, scratch.
        sums, residual, step, trial, slid: ``float64[rows]``, scratch.
        free: ``int64[rows]``, scratch: place of the row in the Newton system, or -1.
        curvature: ``float64[classes * children, children]``, scratch, of each class the lower triangle.
        system: ``float64[rows, padded rows]``, scratch: Cholesky factor of the Newton system.
        known: ``int64[1]``, unknowns of the factor at hand; -1 when there is none.
        pivots: ``float64[padded rows / LANE, BLOCK × LANE]``, scratch of the factorisation.
        free_child, free_place: ``int64[margins * classes, children]``, scratch: children with a free row, and its place.
        found: ``int64[margins * classes]``, scratch: how many those are.
        spread: ``float64[columns]``, scratch: what the members of a column take from the curvature.
        diagonal: ``float64[classes, children]``, scratch: of the curvature.
        share: ``float64[TOGETHER, children]``, scratch: the same of some columns, by child.
        among: ``int64[TOGETHER]``, scratch.
        careful: whether every point is projected as soon as it is found, and rows keep their order in the Newton system.
    """

    column_count: Floats
    column_class: Ints
    inverse_metric: Floats
    barrier: Floats
    row_of: Ints
    lower: Floats
    upper: Floats
    multiplier: Floats
    column_multiplier: Floats
    shift: Floats
    class_sum: Floats
    sums: Floats
    residual: Floats
    step: Floats
    trial: Floats
    slid: Floats
    free: Ints
    curvature: Floats
    system: Floats
    known: Ints
    pivots: Floats
    free_child: Ints
    free_place: Ints
    found: Ints
    spread: Floats
    diagonal: Floats
    share: Floats
    among: Ints
    careful: bool


@woven_kernel
def fill_columns(target: Floats, point: Floats, closed: bool, margins: int, polytope: Polytope) -> None:
    """Fill ``x = max(0, z + (λ + ν) / h)`` for the present ν, solving for λ, and the sums of every row.

    Args:
        target: z, ``float64[columns, children]``.
        point: x, same shape, written.
        closed: whether column sums are fixed; a root without parent is open.
        margins: number of margins whose rows bind.
    """
    shift, class_sum = polytope.shift, polytope.class_sum
    classes, width = shift.shape
    columns = point.shape[0]
    for index in range(classes):
        for child in range(0, width, LANE):
            store(shift, index, child, load(polytope.barrier, index, child))
            store(class_sum, index, child, alike(0.0))
        for line in range(index, margins * classes, classes):
            for child in range(width):
                row = polytope.row_of[line, child]
                if row >= 0:
                    shift[index, child] += polytope.multiplier[row]
    for column in range(columns):
        index = polytope.column_class[column]
        scale = alike(polytope.inverse_metric[column])
        for child in range(0, width, LANE):
            push = times(scale, load(shift, index, child))
            store(point, column, child, plus(load(target, column, child), push))
    in_fours = columns // LANE * LANE if closed and width == LANE else 0
    for column in range(0, in_fours, LANE):
        fill_four_simplexes(point, column, polytope.column_count, polytope.column_multiplier)
    for column in range(in_fours, columns):
        if closed:
            polytope.column_multiplier[column] = fill_simplex(
                point, column, polytope.column_count[column], polytope.column_multiplier[column]
            )
        else:
            for child in range(0, width, LANE):
                store(point, column, child, larger(load(point, column, child), alike(0.0)))
    if polytope.lower.shape[0] == 0:
        return
    for column in range(columns):
        index = polytope.column_class[column]
        for child in range(0, width, LANE):
            store(class_sum, index, child, plus(load(class_sum, index, child), load(point, column, child)))
    add_rows(margins, polytope)


@woven_kernel
def add_rows(margins: int, polytope: Polytope) -> None:
    """Add up the class sums of every row."""
    sums = polytope.sums
    classes, width = polytope.class_sum.shape
    for row in range(sums.shape[0]):
        sums[row] = 0.0
    for margin in range(margins):
        for index in range(classes):
            row_of = polytope.row_of[margin * classes + index]
            for child in range(width):
                if row_of[child] >= 0:
                    sums[row_of[child]] += polytope.class_sum[index, child]


@woven_kernel
def fill_residual(polytope: Polytope) -> float:
    """Fill the ascent direction of the dual per row, 0 where the row is satisfied and slack; return the largest."""
    largest = 0.0
    for row in range(polytope.lower.shape[0]):
        lower, upper, value = polytope.lower[row], polytope.upper[row], polytope.sums[row]
        multiplier = polytope.multiplier[row]
        residual = 0.0
        if lower == upper or multiplier > 0.0 or (multiplier == 0.0 and value < lower):
            residual = lower - value
        elif multiplier < 0.0 or value > upper:
            residual = upper - value
        polytope.residual[row] = residual
        largest = max(largest, abs(residual))
    return largest


@woven_kernel
def factorise(point: Floats, closed: bool, margins: int, polytope: Polytope) -> int:
    """Build and factorise the generalised Jacobian of the row sums on the free rows; return their number.

    J = Σ_c (1/h_c) A_c' (diag(1_F) - 1_F 1_F' / |F|) A_c with F the children of column c that are positive.
    """
    rows = polytope.lower.shape[0]
    classes, width = polytope.class_sum.shape
    unknowns = 0
    for row in range(rows):
        polytope.free[row] = -1
        binding = polytope.lower[row] == polytope.upper[row] or polytope.multiplier[row] != 0.0
        if binding or (polytope.careful and polytope.residual[row] != 0.0):
            polytope.free[row] = unknowns
            unknowns += 1
    # Rows that start to bind stand last: where rows determine each other, one of these is left alone.
    for row in range(rows):
        if polytope.free[row] < 0 and polytope.residual[row] != 0.0:
            polytope.free[row] = unknowns
            unknowns += 1
    touch_curvature(point, closed, margins, polytope)
    system = polytope.system
    for row in range(unknowns):
        for column in range(0, row + 1, LANE):
            store(system, row, column, alike(0.0))
    # Of every class of every margin the children whose row is free, and its place; not those fixed in every column.
    free_child, free_place, found = polytope.free_child, polytope.free_place, polytope.found
    curvature = polytope.curvature
    for line in range(margins * classes):
        found[line] = 0
        for child in range(width):
            row = polytope.row_of[line, child]
            if row >= 0 and polytope.free[row] >= 0 and curvature[line % classes * width + child, child] > 0.0:
                free_child[line, found[line]] = child
                free_place[line, found[line]] = polytope.free[row]
                found[line] += 1
    for index in range(classes):
        for first in range(index, margins * classes, classes):
            for one in range(found[first]):
                row, mine = free_place[first, one], free_child[first, one]
                for second in range(index, margins * classes, classes):
                    for other in range(found[second]):
                        column, theirs = free_place[second, other], free_child[second, other]
                        if column <= row:
                            system[row, column] += curvature[index * width + max(mine, theirs), min(mine, theirs)]
    cholesky(system, polytope.pivots, polytope.trial, unknowns)
    return unknowns


@woven_kernel
def touch_curvature(point: Floats, closed: bool, margins: int, polytope: Polytope) -> None:
    """Fill, per class with a free row, the lower triangle of Σ_c (1/h_c)(diag(1_F) - 1_F 1_F' / |F|).

    Lines of children that are positive in no column have their diagonal only, which is 0.
    """
    classes, width = polytope.class_sum.shape
    # Indexed in full: a view of a row costs two atomic counts of references, more than the row's few children.
    curvature, shift = polytope.curvature, polytope.shift
    for index in range(classes):
        touched = False
        for margin in range(margins):
            for child in range(width):
                row = polytope.row_of[margin * classes + index, child]
                touched = touched or (row >= 0 and polytope.free[row] >= 0)
        shift[index, 0] = 1.0 if touched else 0.0
    spread, diagonal = polytope.spread, polytope.diagonal
    if width == LANE:
        fill_narrow_curvature(point, closed, polytope)
        return
    for index in range(classes):
        for child in range(0, width, LANE):
            store(diagonal, index, child, alike(0.0))
    for column in range(point.shape[0]):
        index = polytope.column_class[column]
        spread[column] = 0.0
        if shift[index, 0] == 0.0:
            continue
        scale = polytope.inverse_metric[column]
        members = alike(0.0)
        for child in range(0, width, LANE):
            members = plus(members, is_positive(load(point, column, child)))
        positive = total(members)
        if closed and positive < 2.0:
            continue
        spread[column] = scale / positive if closed else 0.0
        for child in range(0, width, LANE):
            member = is_positive(load(point, column, child))
            own = plus(load(diagonal, index, child), times(alike(scale), member))
            store(diagonal, index, child, minus(own, times(alike(spread[column]), member)))
    for index in range(classes):
        for child in range(width):
            line = index * width + child
            for other in range(0, child if diagonal[index, child] > 0.0 else 0, LANE):
                store(curvature, line, other, alike(0.0))
    share, among = polytope.share, polytope.among
    held, of_class = 0, 0
    for column in range(point.shape[0]):
        if spread[column] == 0.0:
            continue
        index = polytope.column_class[column]
        if held == TOGETHER or index != of_class:
            take_shares(share, among, held, of_class * width, curvature)
            held, of_class = 0, index
        for child in range(0, width, LANE):
            store(share, held, child, times(alike(spread[column]), is_positive(load(point, column, child))))
        held += 1
    take_shares(share, among, held, of_class * width, curvature)
    for index in range(classes):
        for child in range(width):
            curvature[index * width + child, child] = diagonal[index, child]


@woven_kernel
def fill_narrow_curvature(point: Floats, closed: bool, polytope: Polytope) -> None:
    """Do the same for `LANE` children, whose lines are vectors; `shift` marks the classes with a free row."""
    curvature, diagonal = polytope.curvature, polytope.diagonal
    for index in range(diagonal.shape[0]):
        store(diagonal, index, 0, alike(0.0))
        for child in range(LANE):
            store(curvature, index * LANE + child, 0, alike(0.0))
    for column in range(point.shape[0]):
        index = polytope.column_class[column]
        if polytope.shift[index, 0] == 0.0:
            continue
        scale = polytope.inverse_metric[column]
        member = is_positive(load(point, column, 0))
        positive = total(member)
        if closed and positive < 2.0:
            continue
        taken = times(alike(scale / positive if closed else 0.0), member)
        own = plus(load(diagonal, index, 0), times(alike(scale), member))
        store(diagonal, index, 0, minus(own, taken))
        for child in range(LANE):
            mine = alike(1.0 if point[column, child] > 0.0 else 0.0)
            left = load(curvature, index * LANE + child, 0)
            store(curvature, index * LANE + child, 0, minus(left, times(mine, taken)))
    for index in range(diagonal.shape[0]):
        for child in range(LANE):
            curvature[index * LANE + child, child] = diagonal[index, child]


@lean_kernel
def take_shares(share: Floats, among: Ints, held: int, first: int, curvature: Floats) -> None:
    """Subtract, for some columns in their order, the outer product of their members from the lower triangle of a class.

    Args:
        share: ``share[columns, width]``, 1 / (h |F|) of a column's members, 0 of the other children.
        among: ``among[columns]``, scratch.
        held: how many columns.
        first: line of the class's first child.
        curvature: ``curvature[classes × width, width]``; the diagonal is left to the caller.
    """
    for child in range(share.shape[1]):
        members = 0
        for column in range(held):
            among[members] = column
            members += 1 if share[column, child] > 0.0 else 0
        for other in range(0, child + 1 if members > 0 else 0, LANE):
            left = load(curvature, first + child, other)
            for member in range(members):
                left = minus(left, load(share, among[member], other))
            store(curvature, first + child, other, left)


@woven_kernel
def solve_step(unknowns: int, polytope: Polytope) -> tuple[int, float]:
    """Fill the Newton step of every row from its residual.

    Returns:
        the unknown that other rows determine whose residual contradicts theirs most, -1 for none, and by how much.
    """
    worst = -1
    excess = 0.0
    system, trial, step = polytope.system, polytope.trial, polytope.step
    rows = polytope.lower.shape[0]
    for row in range(rows):
        place = polytope.free[row]
        if place >= 0:
            trial[place] = polytope.residual[row]
    for row in range(unknowns):
        value = trial[row]
        mine = system[row]
        for inner in range(row):
            value -= mine[inner] * trial[inner]
        if mine[row] == DETERMINED and abs(value) > abs(excess):
            worst = row
            excess = value
        trial[row] = value / mine[row]
    for row in range(unknowns - 1, -1, -1):
        value = trial[row] / system[row, row]
        trial[row] = value
        mine = system[row]
        for inner in range(row):
            trial[inner] -= mine[inner] * value
    typical = 0.0
    for column in range(polytope.inverse_metric.shape[0]):
        typical += polytope.inverse_metric[column]
    typical = polytope.inverse_metric.shape[0] / typical
    for row in range(rows):
        place = polytope.free[row]
        if place < 0:
            step[row] = 0.0
        elif system[place, place] == STUCK:
            # No free count can change this row at the present point: a plain gradient step, until one becomes free.
            step[row] = typical * polytope.residual[row]
        else:
            step[row] = trial[place]
    return worst, excess


@woven_kernel
def slide(unknown: int, excess: float, polytope: Polytope) -> int:
    """Fill the step along which no row sum moves and the dual rises straight, until the first multiplier is 0.

    A Newton step cannot leave a set of binding rows of which one is determined by the others and asks for another
    value: one of them has to stop binding.

    Args:
        unknown: the one that others determine, from `solve_step`.
        excess: by how much its residual contradicts theirs.

    Returns:
        1 when the step is filled; 0 when a row is in the way and was taken out of the free ones; -1 when no multiplier
        ends the rise: then the Newton step is filled if it rises, else a plain step along the way, which frees further
        counts unless the rows contradict each other.
    """
    system, trial, step = polytope.system, polytope.trial, polytope.step
    rows = polytope.lower.shape[0]
    newton = 0.0
    for row in range(rows):
        newton += step[row] * polytope.residual[row]
    for row in range(rows):
        polytope.slid[row] = step[row]
    way = 1.0 if excess > 0.0 else -1.0
    for row in range(unknown):
        trial[row] = -way * system[unknown, row]
    for row in range(unknown - 1, -1, -1):
        value = trial[row] / system[row, row]
        trial[row] = value
        for inner in range(row):
            trial[inner] -= system[row, inner] * value
    length = BEYOND_ANY
    last = -1
    for row in range(rows):
        place = polytope.free[row]
        step[row] = 0.0
        if place < 0 or place > unknown:
            continue
        step[row] = way if place == unknown else trial[place]
        if abs(step[row]) < 1e-9 or polytope.lower[row] == polytope.upper[row]:
            continue
        multiplier = polytope.multiplier[row]
        if multiplier == 0.0 and step[row] * polytope.residual[row] < 0.0:
            polytope.residual[row] = 0.0
            return 0
        if multiplier * step[row] < 0.0 and -multiplier / step[row] < length:
            length = -multiplier / step[row]
            last = row
    if last < 0:
        typical = 0.0
        for column in range(polytope.inverse_metric.shape[0]):
            typical += polytope.inverse_metric[column]
        length = abs(excess) * polytope.inverse_metric.shape[0] / typical
        for row in range(rows):
            step[row] = polytope.slid[row] if newton > RISING * abs(excess) * length else step[row] * length
        return -1
    for row in range(rows):
        step[row] *= length
    step[last] = -polytope.multiplier[last]
    return 1


@lean_kernel
def project(
    target: Floats, point: Floats, closed: bool, margins: int, tolerance: float, limit: int, polytope: Polytope
) -> tuple[float, int]:
    """Fill the point of the polytope nearest to `target`; return the largest violation of a row and the Newton steps.

    Args:
        target: z, ``float64[columns, children]``.
        point: x, same shape, written.
        closed: whether column sums are fixed.
        margins: number of margins with rows.
        tolerance: violation in people that is good enough.
        limit: most Newton steps.
    """
    rows = polytope.lower.shape[0]
    fill_columns(target, point, closed, margins, polytope)
    if rows == 0:
        return 0.0, 0
    violation = fill_residual(polytope)
    steps = 0
    fresh = polytope.known[0] >= 0 and same_free_rows(polytope)
    while violation > tolerance and steps < limit:
        if not fresh:
            polytope.known[0] = factorise(point, closed, margins, polytope)
        unknown, excess = solve_step(polytope.known[0], polytope)
        sliding = unknown >= 0 and abs(excess) > 0.5 * violation
        if sliding and slide(unknown, excess, polytope) == 0:
            fresh = False
            steps += 1
            continue
        before = 0.0
        for row in range(rows):
            before += polytope.step[row] * polytope.residual[row]
            polytope.trial[row] = polytope.multiplier[row]
        length = 1.0
        old_violation = violation
        while True:
            climb(length, polytope)
            fill_columns(target, point, closed, margins, polytope)
            steps += 1
            if ascent_left(polytope) >= -0.9 * length * before or length < 1e-9 or steps >= limit:
                break
            length *= 0.5
        violation = fill_residual(polytope)
        fresh = not sliding and length == 1.0 and violation < CHORD * old_violation and same_free_rows(polytope)
    return violation, steps


@woven_kernel
def climb(length: float, polytope: Polytope) -> None:
    """Move every multiplier from `trial` along `step`; one that would change its sign, or start the wrong way, is 0.

    Args:
        length: of the step, 1 for a full one.
    """
    for row in range(polytope.lower.shape[0]):
        old = polytope.trial[row]
        new = old + length * polytope.step[row]
        crossed = (new > 0.0 > old) or (new < 0.0 < old)
        wrong_way = old == 0.0 and new * polytope.residual[row] < 0.0
        if polytope.lower[row] != polytope.upper[row] and (crossed or wrong_way):
            new = 0.0
        polytope.multiplier[row] = new


@woven_kernel
def ascent_left(polytope: Polytope) -> float:
    """Return the derivative of the dual along the step just taken, at its end."""
    slope = 0.0
    for row in range(polytope.lower.shape[0]):
        old, new = polytope.trial[row], polytope.multiplier[row]
        if new != old:
            above = new > 0.0 or (new == 0.0 and old > 0.0)
            slope += (new - old) * ((polytope.lower[row] if above else polytope.upper[row]) - polytope.sums[row])
    return slope


@woven_kernel
def same_free_rows(polytope: Polytope) -> bool:
    """Return whether the rows of the present system are the ones that are free now."""
    for row in range(polytope.lower.shape[0]):
        free = (
            polytope.lower[row] == polytope.upper[row]
            or polytope.multiplier[row] != 0.0
            or polytope.residual[row] != 0.0
        )
        if free != (polytope.free[row] >= 0):
            return False
    return True
