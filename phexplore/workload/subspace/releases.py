"""From the parameters of a release to its null space, its answers and its sensitivity.

Neighbours differ in one replaced record (subspace paper, Definition 2.1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from phexplore.model.subspace import (
    Axis,
    Histogram,
    Invariant,
    LinearCount,
    LinearQuery,
    Query,
    Release,
    Subspace,
    Totals,
)
from phexplore.text.messages import Quoted, msg
from phexplore.workload.subspace.exact import Integers
from phexplore.workload.subspace.margin_space import MarginSpace, NotNestedError, total_blocks
from phexplore.workload.subspace.matrix_space import MatrixSpace
from phexplore.workload.subspace.spaces import InvariantError, NullSpace

_MOST_COLUMNS = 400
_MOST_BOUNDED = 4000


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one replaced record can move the answers.

    Attributes:
        l1: Δ₁(A), largest sum of absolute changes.
        squared_l2: Δ₂(A)².
        squared_projected: Δ₂(Π_N A)², what is left of it in the null space; never above `squared_l2`.
        is_exact: whether all three are maxima over all pairs of records; else the last, or all, are bounds above them.
    """

    l1: Fraction
    squared_l2: Fraction
    squared_projected: Fraction
    is_exact: bool = True


def null_space(method: Subspace, release: Release) -> NullSpace:
    """Return the null space of a release's invariants; equal ones are built once.

    Args:
        method: the scenario with its axes.
        release: whose invariants to keep.

    Raises:
        InvariantError: they cannot be kept, or leave nothing to protect.
    """
    return _null_space(method.axes, release.query, release.invariants)


@lru_cache(maxsize=64)
def _null_space(axes: tuple[Axis, ...], query: Query, invariants: tuple[Invariant, ...]) -> NullSpace:
    totals = [each for each in invariants if isinstance(each, Totals)]
    if isinstance(query, LinearQuery):
        if totals:
            raise InvariantError(
                msg(
                    "The invariant “{total}” refers to cells, but this query answers {query}.",
                    total=Quoted(str(totals[0])),
                    query=Quoted(str(query)),
                ),
                msg("Give the invariant as a weighted sum of answers."),
            )
        return MatrixSpace(len(query.answers), [each for each in invariants if isinstance(each, LinearCount)])
    if len(totals) == len(invariants):
        try:
            return MarginSpace(axes, totals)
        except NotNestedError:
            pass  # groupings that cross each other are rows of a matrix
    sums = [row for each in invariants for row in (expand(axes, each) if isinstance(each, Totals) else [each])]
    return MatrixSpace(math.prod(axis.size for axis in axes), sums)


def expand(axes: Sequence[Axis], total: Totals) -> list[LinearCount]:
    """Return totals as one weighted sum each.

    Args:
        axes: of the histogram.
        total: which names the sums keep apart.

    Raises:
        InvariantError: a name is unknown.
    """
    blocks = total_blocks(axes, total)
    order = np.argsort(blocks, kind="stable")
    starts = np.flatnonzero(np.diff(blocks[order], prepend=-1))
    one = Fraction(1)
    return [
        LinearCount(f"{total} at {cell_text(axes, int(cells[0]), total.by)}", tuple((int(cell), one) for cell in cells))
        for cells in np.split(order, starts[1:])
    ]


def cell_text(axes: Sequence[Axis], cell: int, by: Sequence[str] | None = None) -> str:
    """Return the name of a cell by all its axes, or by some of the names only.

    Args:
        axes: of the histogram.
        cell: number of the cell, last axis fastest.
        by: names of axes or groupings to say, None for all axes.
    """
    places = np.unravel_index(cell, tuple(axis.size for axis in axes))
    words = []
    for axis, place in zip(axes, places, strict=True):
        if by is None or axis.name in by:
            words.append(f"{axis.name} {axis.label(int(place))}")
        words += [
            f"{grouping.name} {grouping.groups[int(place)]}"
            for grouping in axis.groupings
            if by and grouping.name in by
        ]
    return ", ".join(words) or "all"


def answer_names(method: Subspace, release: Release) -> list[str]:
    """Return the name of each answer.

    Args:
        method: the scenario with its axes.
        release: whose query is asked.
    """
    if isinstance(release.query, LinearQuery):
        return [answer.name for answer in release.query.answers]
    return [cell_text(method.axes, cell) for cell in range(method.cells)]


def common_denominator(query: Query) -> int:
    """Return the smallest whole number that makes every answer of whole counts whole."""
    if isinstance(query, Histogram):
        return 1
    return math.lcm(*(weight.denominator for answer in query.answers for _, weight in answer.coefficients))


def true_answers(query: Query, counts: Integers) -> Integers:
    """Return the answers times `common_denominator`: ``int64[answers]``.

    Args:
        query: of a release.
        counts: ``counts[cells]``, the histogram.

    Raises:
        OverflowError: an answer leaves 64 bits.
    """
    if isinstance(query, Histogram):
        return counts
    common = common_denominator(query)
    found = [
        sum(int(weight * common) * int(counts[cell]) for cell, weight in answer.coefficients)
        for answer in query.answers
    ]
    if max(map(abs, found)) >= 2**62:
        raise OverflowError(f"an answer of {max(map(abs, found))} is too large")
    return np.array(found, dtype=np.int64)


@lru_cache(maxsize=64)
def sensitivity(method: Subspace, name: str) -> Sensitivity:
    """Return the sensitivities of a release when one record is replaced by any other.

    Args:
        method: the scenario.
        name: key of the release in `method.releases`.

    Raises:
        InvariantError: its invariants cannot be kept.
    """
    release = method.releases[name]
    space = null_space(method, release)
    if isinstance(release.query, Histogram):
        if method.cells < 2:
            return Sensitivity(Fraction(0), Fraction(0), Fraction(0))
        return Sensitivity(Fraction(2), Fraction(2), min(space.squared_sensitivity(), Fraction(2)))
    columns = _distinct_columns(release.query, method.cells)
    if len(columns) > _MOST_BOUNDED:
        l1, squared = _by_triangle(columns)
        return Sensitivity(l1, squared, squared, is_exact=False)
    l1, squared = _over_pairs(columns)
    if len(columns) > _MOST_COLUMNS:
        return Sensitivity(l1, squared, squared, is_exact=False)
    return Sensitivity(l1, squared, _projected(columns, space, common_denominator(release.query)))


Column = tuple[tuple[int, Fraction], ...]


def _distinct_columns(query: LinearQuery, cells: int) -> list[dict[int, Fraction]]:
    """Return what a record adds to the answers, for every kind of record; cells in no answer add nothing."""
    found: dict[int, list[tuple[int, Fraction]]] = {}
    for number, answer in enumerate(query.answers):
        for cell, weight in answer.coefficients:
            found.setdefault(cell, []).append((number, weight))
    distinct = {tuple(column) for column in found.values()}
    if len(found) < cells:
        distinct.add(())
    return [dict(column) for column in sorted(distinct)]


def _over_pairs(columns: Sequence[dict[int, Fraction]]) -> tuple[Fraction, Fraction]:
    most, squared = Fraction(0), Fraction(0)
    for one, other in itertools.combinations(columns, 2):
        changes = [abs(one.get(row, Fraction(0)) - other.get(row, Fraction(0))) for row in one.keys() | other.keys()]
        most, squared = max(most, sum(changes, Fraction(0))), max(squared, sum((c * c for c in changes), Fraction(0)))
    return most, squared


def _by_triangle(columns: Sequence[dict[int, Fraction]]) -> tuple[Fraction, Fraction]:
    """Return 2·max |a|₁ and 4·max |a|₂²: no difference of two columns is longer."""
    return (
        2 * max(sum(map(abs, column.values()), Fraction(0)) for column in columns),
        4 * max(sum((weight * weight for weight in column.values()), Fraction(0)) for column in columns),
    )


def _projected(columns: Sequence[dict[int, Fraction]], space: NullSpace, common: int) -> Fraction:
    """Return max |Π_N(a − b)|² = (a − b)·Π_N(a − b) over all pairs."""
    whole = np.zeros((len(columns), space.size), dtype=np.int64)
    for place, column in enumerate(columns):
        for row, weight in column.items():
            whole[place, row] = int(weight * common)
    shared = math.lcm(*np.unique(space.denominators).tolist())
    projected = np.array(
        [
            [int(value * shared) for value in space.project(column).fractions()]
            for column in whole
        ],
        dtype=object,
    )  # fmt: skip
    gram = whole.astype(object).dot(projected.T)
    own = np.diagonal(gram)
    return Fraction(int((own[:, None] + own[None, :] - 2 * gram).max()), shared * common * common)
