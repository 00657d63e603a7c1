"""Compiled loops of least squares over partitions: non-negative numbers near measured ones, whose sums over rows are given.

The problem: minimise Σ d (x − m)² / 2 + Σ over soft rows (sum − t)² / (2 s), x ≥ 0, with sums = t over hard rows. Every number
is in at most one row of each family of rows (its child's held answer, its column, one row per measured query).

Its dual has one free multiplier per row, y; x = max(0, m + Σ y / d) follows. The dual is concave with a continuous gradient, and
is maximised by Newton's method with conjugate gradients for the steps (Li, Sun, Toh, SIAM J. Optimization 30, 2020), from a
point found by solving hard rows one after the other, each exactly; the same sweeps rescue a step that does not help.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phexplore.compiled import kernel

Floats = NDArray[np.float64]
Places = NDArray[np.int32]

_NEWTON, _CONJUGATE, _SWEEPS = 120, 400, 4

_FIRST_CAUTION, _LEAST_CAUTION = 1e-3, 1e-6
"""Damping of Newton's steps, in parts of the second derivative with all numbers free: after the first step cut short, and where it ends."""


@kernel
def fit(
    weight: Floats,
    measured: Floats,
    rows: Places,
    soft: Floats,
    target: Floats,
    hard_families: int,
    tolerance: float,
    x: Floats,
) -> float:
    """Fill the least squares solution; return the largest violation of a row that is left, people.

    Args:
        weight: ``weight[n]``, d of each number, all above 0.
        measured: ``measured[n]``, m.
        rows: ``rows[families, n]``, the row of each number in each family, -1 for none. Rows are numbered through.
        soft: ``soft[rows]``, s of each row, 0 where it is hard.
        target: ``target[rows]``, t.
        hard_families: the first so many families have hard rows.
        tolerance: violation that is good enough, people.
        x: ``x[n]``, written.
    """
    families, numbers = rows.shape
    count = target.shape[0]
    y = np.zeros(count)
    full = soft.copy()
    for family in range(families):
        for number in range(numbers):
            row = rows[family, number]
            if row >= 0:
                full[row] += 1.0 / weight[number]
    starts, members = _members(rows, hard_families, count)
    base = measured.copy()
    for _ in range(_SWEEPS):
        _sweep(weight, target, starts, members, base, y)
    gradient, best_gradient = np.empty(count), np.empty(count)
    direction, residual, conjugate, image, scaled = (
        np.empty(count),
        np.empty(count),
        np.empty(count),
        np.empty(count),
        np.empty(count),
    )
    diagonal = np.empty(count)
    trial, trial_base = np.empty(count), np.empty(numbers)
    free = np.empty(numbers, np.int32)
    value, worst = _dual(weight, measured, rows, soft, target, y, base, x, gradient)
    best, caution = worst, 0.0
    for _ in range(_NEWTON):
        if worst <= tolerance:
            break
        used = 0
        for number in range(numbers):
            if x[number] > 0.0:
                free[used] = number
                used += 1
        damping = max(min(1e-4, 1e-3 * worst), caution)
        for row in range(count):
            diagonal[row] = soft[row] + damping * full[row]
        for family in range(families):
            for place in range(used):
                row = rows[family, free[place]]
                if row >= 0:
                    diagonal[row] += 1.0 / weight[free[place]]
        _newton_step(
            weight,
            rows,
            soft,
            free[:used],
            damping,
            full,
            diagonal,
            gradient,
            direction,
            residual,
            conjugate,
            image,
            scaled,
        )
        slope = 0.0
        for row in range(count):
            slope += gradient[row] * direction[row]
        step, moved = 1.0, False
        for _ in range(12):
            for row in range(count):
                trial[row] = y[row] + step * direction[row]
            found, left = _dual(weight, measured, rows, soft, target, trial, trial_base, x, best_gradient)
            if found >= value + 1e-4 * step * slope or (left < 0.5 * worst and found >= value - 1e-9 * abs(value)):
                moved = True
                break
            step *= 0.4
        if moved:
            y[:] = trial
            base[:] = trial_base
            gradient[:] = best_gradient
            value, worst = found, left
            # A step that must be cut short points where numbers that are 0 now would rise: shorter ones, not along what is flat.
            if step > 0.3:
                best, caution = min(best, worst), 0.1 * caution if caution > _LEAST_CAUTION else 0.0
                continue
        caution = min(1.0, max(8.0 * caution, _FIRST_CAUTION))
        _sweep(weight, target, starts, members, base, y)
        value, worst = _dual(weight, measured, rows, soft, target, y, base, x, gradient)
        best = min(best, worst)
    _dual(weight, measured, rows, soft, target, y, base, x, gradient)
    return float(worst)


@kernel
def _dual(  # noqa: PLR0913, PLR0917 - compiled code takes its arrays one by one
    weight: Floats,
    measured: Floats,
    rows: Places,
    soft: Floats,
    target: Floats,
    y: Floats,
    base: Floats,
    x: Floats,
    gradient: Floats,
) -> tuple[float, float]:
    """Fill unclipped numbers, numbers and gradient at some multipliers; return the dual's value and the largest gradient."""
    families, numbers = rows.shape
    value = 0.0
    for row in range(target.shape[0]):
        gradient[row] = target[row] - soft[row] * y[row]
        value += y[row] * (target[row] - 0.5 * soft[row] * y[row])
    for number in range(numbers):
        price = 0.0
        for family in range(families):
            row = rows[family, number]
            if row >= 0:
                price += y[row]
        at = measured[number] + price / weight[number]
        base[number] = at
        if at > 0.0:
            x[number] = at
            value -= 0.5 * weight[number] * at * at
            for family in range(families):
                row = rows[family, number]
                if row >= 0:
                    gradient[row] -= at
        else:
            x[number] = 0.0
    worst = 0.0
    for row in range(target.shape[0]):
        worst = max(worst, abs(gradient[row]))
    return value, worst


@kernel
def _newton_step(  # noqa: PLR0913, PLR0917 - compiled code takes its arrays one by one
    weight: Floats,
    rows: Places,
    soft: Floats,
    free: Places,
    damping: float,
    full: Floats,
    diagonal: Floats,
    gradient: Floats,
    direction: Floats,
    residual: Floats,
    conjugate: Floats,
    image: Floats,
    scaled: Floats,
) -> None:
    """Fill the Newton direction by conjugate gradients with the diagonal as preconditioner."""
    count = gradient.shape[0]
    families = rows.shape[0]
    product, norm = 0.0, 0.0
    for row in range(count):
        direction[row] = 0.0
        residual[row] = gradient[row]
        norm += gradient[row] * gradient[row]
        scaled[row] = residual[row] / diagonal[row] if diagonal[row] > 0.0 else 0.0
        conjugate[row] = scaled[row]
        product += residual[row] * scaled[row]
    goal = norm * min(1e-2, 1e-2 * np.sqrt(norm)) ** 2
    for _ in range(_CONJUGATE):
        if norm <= goal or product <= 0.0:
            break
        for row in range(count):
            image[row] = (soft[row] + damping * full[row]) * conjugate[row]
        for place in range(free.shape[0]):
            number = free[place]
            total = 0.0
            for family in range(families):
                row = rows[family, number]
                if row >= 0:
                    total += conjugate[row]
            total /= weight[number]
            for family in range(families):
                row = rows[family, number]
                if row >= 0:
                    image[row] += total
        curve = 0.0
        for row in range(count):
            curve += conjugate[row] * image[row]
        if curve <= 0.0:
            break
        length = product / curve
        norm, following = 0.0, 0.0
        for row in range(count):
            direction[row] += length * conjugate[row]
            residual[row] -= length * image[row]
            norm += residual[row] * residual[row]
            scaled[row] = residual[row] / diagonal[row] if diagonal[row] > 0.0 else 0.0
            following += residual[row] * scaled[row]
        turn = following / product
        product = following
        for row in range(count):
            conjugate[row] = scaled[row] + turn * conjugate[row]


@kernel
def _members(rows: Places, hard_families: int, count: int) -> tuple[NDArray[np.int64], Places]:
    """Return where the numbers of each hard row begin, and these numbers."""
    numbers = rows.shape[1]
    starts = np.zeros(count + 1, np.int64)
    for family in range(hard_families):
        for number in range(numbers):
            if rows[family, number] >= 0:
                starts[rows[family, number] + 1] += 1
    for row in range(count):
        starts[row + 1] += starts[row]
    members = np.empty(starts[count], np.int32)
    end = starts[:-1].copy()
    for family in range(hard_families):
        for number in range(numbers):
            row = rows[family, number]
            if row >= 0:
                members[end[row]] = number
                end[row] += 1
    return starts, members


@kernel
def _sweep(
    weight: Floats,
    target: Floats,
    starts: NDArray[np.int64],
    members: Places,
    base: Floats,
    y: Floats,
) -> None:
    """Maximise the dual in the multiplier of every hard row, one after the other; keep unclipped numbers and multipliers."""
    for row in range(target.shape[0]):
        first, last = starts[row], starts[row + 1]
        if first == last:
            continue
        total, slope, least = 0.0, 0.0, np.inf
        for place in range(first, last):
            number = members[place]
            least = min(least, weight[number] * (target[row] - base[number]))
            if base[number] > 0.0:
                total += base[number]
                slope += 1.0 / weight[number]
        shift = 0.0 if total >= target[row] else least
        # From the right Newton's steps on a convex function go down to the root and never past it.
        for _ in range(60):
            total, slope = 0.0, 0.0
            for place in range(first, last):
                number = members[place]
                at = base[number] + shift / weight[number]
                if at > 0.0:
                    total += at
                    slope += 1.0 / weight[number]
            if total <= target[row] * (1.0 + 1e-14) or slope == 0.0:
                break
            shift -= (total - target[row]) / slope
        y[row] += shift
        for place in range(first, last):
            base[members[place]] += shift / weight[members[place]]
