"""Kernels: the factor of a symmetric system, in columns that vectors take together, its numbers reduced in one fixed order.

Args:
    system: the matrix; its lower triangle receives the factor.
    unknowns: its size.
"""

from __future__ import annotations

import numpy as np

from phexplore.compiled import lean_kernel
from phexplore.optimize.lanes import LANE, alike, load, minus, store, times
from phexplore.optimize.marginals import Floats

PANEL = 4
"""Columns that a factorisation makes at a time, number by number: a multiple of `LANE`."""

BLOCK = 32
"""Columns after which a factorisation reduces everything behind them: a multiple of `PANEL`."""

DEPENDENT = 1e-11
"""A pivot below this fraction of its diagonal entry marks a row that others already determine."""

DETERMINED = 1e100
"""Pivot of a row that other rows and the column sums determine; its step is 0."""

STUCK = 1e101
"""Pivot of a row that no free count can change."""


@lean_kernel
def cholesky(system: Floats, pivots: Floats, diagonal: Floats, unknowns: int) -> None:
    """Factorise in place, lower triangle. A dependent unknown gets a pivot so large that its step is 0.

    Args:
        system: ``system[>= unknowns, >= unknowns]``, rows padded to a multiple of `LANE`; its lower triangle receives the
            factor.
        pivots: ``pivots[>= unknowns / LANE, BLOCK × LANE]``, scratch.
        diagonal: ``diagonal[>= unknowns]``, scratch.
    """
    for row in range(unknowns):
        diagonal[row] = system[row, row]
    # Block by block of columns, panel by panel within it, so that the innermost loop runs along rows and what lies behind is
    # read once per block; every entry is reduced in the order of the columns.
    for first in range(0, unknowns, BLOCK):
        last = min(first + BLOCK, unknowns)
        for begin in range(first, last, PANEL):
            end = min(begin + PANEL, last)
            for row in range(begin, unknowns):
                for column in range(begin, min(end, row + 1)):
                    value = system[row, column]
                    for before in range(begin, column):
                        value -= system[row, before] * system[column, before]
                    if row > column:
                        value /= system[column, column]
                    elif value > DEPENDENT * diagonal[column]:
                        value = np.sqrt(value)
                    else:
                        # The row of the factor stays: it says how the others determine this one.
                        value = DETERMINED if diagonal[column] > 0.0 else STUCK
                    system[row, column] = value
                    pivots[row // LANE, (column - first) * LANE + row % LANE] = value
            reduce_rows(system, pivots, first, begin, end, end, last, unknowns)
        reduce_rows(system, pivots, first, first, last, last, unknowns, unknowns)


@lean_kernel
def reduce_rows(
    system: Floats, pivots: Floats, first: int, begin: int, end: int, row: int, behind: int, unknowns: int
) -> None:
    """Subtract what some columns of the factor take from the lower triangle behind them, four rows at a time.

    Args:
        system: as in `cholesky`; beyond the lower triangle anything may be written.
        pivots: ``pivots[rows / LANE, BLOCK × LANE]``, the same columns, `LANE` rows of one next to those of the following one.
        first: column that `pivots` begins with.
        begin: first of the columns to take.
        end: behind the last of them, a multiple of `LANE` where anything is behind.
        row: first row; the columns to reduce begin at `end`.
        behind: last column to reduce, and one.
        unknowns: behind the last row.
    """
    while row + 4 <= unknowns:
        for inner in range(end, min(row + 4, behind), LANE):
            one, two = load(system, row, inner), load(system, row + 1, inner)
            three, four = load(system, row + 2, inner), load(system, row + 3, inner)
            line = inner // LANE
            for column in range(begin, end):
                taken = load(pivots, line, (column - first) * LANE)
                one = minus(one, times(alike(system[row, column]), taken))
                two = minus(two, times(alike(system[row + 1, column]), taken))
                three = minus(three, times(alike(system[row + 2, column]), taken))
                four = minus(four, times(alike(system[row + 3, column]), taken))
            store(system, row, inner, one)
            store(system, row + 1, inner, two)
            store(system, row + 2, inner, three)
            store(system, row + 3, inner, four)
        row += 4
    while row < unknowns:
        for inner in range(end, min(row + 1, behind), LANE):
            one = load(system, row, inner)
            for column in range(begin, end):
                one = minus(
                    one, times(alike(system[row, column]), load(pivots, inner // LANE, (column - first) * LANE))
                )
            store(system, row, inner, one)
        row += 1
