"""Kernels: columns replaced by the nearest ones with a given sum and no negative number.

The multiplier of a column solves a piecewise linear equation in one unknown, by Newton's method. Where a column has no
more than `LANE` children, `LANE` columns are solved side by side, each with the numbers it would have alone: a lane whose
equation is solved waits for the others.

Args:
    point: ``point[columns, width]``, counts per column and child.
"""

from __future__ import annotations

from typing import Any

from phexplore.compiled import woven_kernel
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
from phexplore.optimize.marginals import Floats

CLOSE = 1e-13
"""A sum this close to its count, in proportion to 1 + count, is reached."""

MOST_TURNS = 80
"""Most Newton steps of one column."""


@woven_kernel
def fill_simplex(point: Floats, column: int, count: float, multiplier: float) -> float:
    """Replace a column v by max(0, v + λ) with sum `count`; return λ.

    Args:
        column: whose row of `point` is v.
        count: the sum, at least 0.
        multiplier: first guess of λ.
    """
    width = point.shape[1]
    tolerance = CLOSE * (1.0 + count)
    zero = alike(0.0)
    for _ in range(MOST_TURNS):
        push = alike(multiplier)
        found, members = zero, zero
        for child in range(0, width, LANE):
            value = plus(load(point, column, child), push)
            found = plus(found, larger(value, zero))
            members = plus(members, is_positive(value))
        positive = total(members)
        if positive == 0.0:
            top = load(point, column, 0)
            for child in range(LANE, width, LANE):
                top = larger(top, load(point, column, child))
            multiplier = count - largest(top)
            if count <= 0.0:
                break
            continue
        gap = count - total(found)
        if abs(gap) <= tolerance:
            break
        multiplier += gap / positive
    push = alike(multiplier)
    for child in range(0, width, LANE):
        store(point, column, child, larger(plus(load(point, column, child), push), zero))
    return multiplier


@woven_kernel
def find_multiplier(values: Any, count: float, multiplier: float) -> float:
    """Return λ of `fill_simplex` for a column of `LANE` children.

    Args:
        values: v, a vector.
        count: the sum, at least 0.
        multiplier: first guess of λ.
    """
    tolerance = CLOSE * (1.0 + count)
    for _ in range(MOST_TURNS):
        value = plus(values, alike(multiplier))
        positive = total(is_positive(value))
        if positive == 0.0:
            multiplier = count - largest(values)
            if count <= 0.0:
                break
            continue
        gap = count - total(larger(value, alike(0.0)))
        if abs(gap) <= tolerance:
            break
        multiplier += gap / positive
    return multiplier


@woven_kernel
def fill_four_simplexes(point: Floats, column: int, counts: Floats, multipliers: Floats) -> None:
    """Do what `fill_simplex` does to the `LANE` columns of `LANE` children that begin at one.

    Args:
        column: the first of them.
        counts: ``counts[all columns]``, the sums.
        multipliers: ``multipliers[all columns]``, first guesses; receives each λ.
    """
    zero = alike(0.0)
    one, two, three, four = turned(
        load(point, column, 0), load(point, column + 1, 0), load(point, column + 2, 0), load(point, column + 3, 0)
    )
    count, push = load(counts, 0, column), load(multipliers, 0, column)
    tolerance = times(alike(CLOSE), plus(alike(1.0), count))
    top = larger(larger(one, two), larger(three, four))
    running = alike(1.0)
    for _ in range(MOST_TURNS):
        first, second, third, fourth = plus(one, push), plus(two, push), plus(three, push), plus(four, push)
        found = plus(plus(larger(first, zero), larger(third, zero)), plus(larger(second, zero), larger(fourth, zero)))
        members = plus(plus(is_positive(first), is_positive(third)), plus(is_positive(second), is_positive(fourth)))
        gap = minus(count, found)
        far = is_positive(minus(size(gap), tolerance))
        nearer = where_positive(far, plus(push, over(gap, members)), push)
        push = where_positive(running, where_positive(members, nearer, minus(count, top)), push)
        running = times(running, where_positive(members, far, is_positive(count)))
        if total(running) == 0.0:
            break
    store(multipliers, 0, column, push)
    one, two, three, four = turned(
        larger(plus(one, push), zero),
        larger(plus(two, push), zero),
        larger(plus(three, push), zero),
        larger(plus(four, push), zero),
    )
    store(point, column, 0, one)
    store(point, column + 1, 0, two)
    store(point, column + 2, 0, three)
    store(point, column + 3, 0, four)
