"""Vectors of exact rational numbers, and exact elimination: what decides protection passes no float.

Elimination is fraction-free: Bareiss, Sylvester's identity and multistep integer-preserving Gaussian elimination, Mathematics of
Computation 22 (1968).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Exact = NDArray[Any]
"""``int64`` where it holds every value, else Python integers (dtype object)."""

_LARGEST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Rationals:
    """A vector of fractions.

    Attributes:
        numerators: ``[n]``, whole numbers.
        denominators: ``[n]`` or one for all, > 0; not necessarily in lowest terms.
    """

    numerators: Exact
    denominators: Exact

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.numerators)

    @property
    def values(self) -> NDArray[np.float64]:
        """``float64[n]``, each rounded once or twice."""
        return np.asarray(self.numerators / self.denominators, dtype=np.float64)

    def at(self, place: int) -> Fraction:
        """Return one of them exactly."""
        denominators = self.denominators
        return Fraction(
            int(self.numerators[place]), int(denominators if denominators.ndim == 0 else denominators[place])
        )

    def fractions(self) -> list[Fraction]:
        """Return all of them exactly."""
        return [self.at(place) for place in range(len(self))]

    def classes(self) -> list[tuple[Fraction, int]]:
        """Return the distinct values, ascending, with how often each occurs."""
        return [(value, count) for value, count, _ in self.kinds()]

    def kinds(self) -> list[tuple[Fraction, int, int]]:
        """Return the distinct values, ascending, with how often each occurs and the place of the first."""
        firsts, counts = self._distinct()
        merged: dict[Fraction, tuple[int, int]] = {}
        for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
            value = self.at(first)
            before, place = merged.get(value, (0, first))
            merged[value] = before + count, min(place, first)
        return [(value, count, place) for value, (count, place) in sorted(merged.items())]

    def _distinct(self) -> tuple[Integers, Integers]:
        """Return the first places of distinct (numerator, denominator) and how often each occurs."""
        if any(part.dtype == object for part in (self.numerators, self.denominators)):
            return np.arange(len(self)), np.ones(len(self), dtype=np.int64)
        if self.denominators.ndim == 0:
            _, firsts, counts = np.unique(self.numerators, return_index=True, return_counts=True)
        else:
            pairs = np.stack([self.numerators, self.denominators], axis=1)
            _, firsts, counts = np.unique(pairs, axis=0, return_index=True, return_counts=True)
        return firsts, counts


def integers(values: Exact, bound: int) -> Exact:
    """Return the values as Python integers when `bound`, on everything computed from them, leaves ``int64``.

    Args:
        values: ``values[...]``, whole numbers.
        bound: absolute value that nothing computed from them exceeds.
    """
    return values if bound < _LARGEST else values.astype(object)


def largest(values: Exact) -> int:
    """Return the largest absolute value, 0 of nothing."""
    return max(abs(int(values.max())), abs(int(values.min()))) if values.size else 0


def whole_rows(rows: Sequence[Sequence[tuple[int, Fraction]]]) -> list[dict[int, int]]:
    """Return rows of a matrix scaled to coprime whole numbers: {column: weight}."""
    scaled = []
    for row in rows:
        common = math.lcm(*(weight.denominator for _, weight in row))
        whole = {column: int(weight * common) for column, weight in row}
        divisor = math.gcd(*whole.values())
        scaled.append({column: weight // divisor for column, weight in whole.items()})
    return scaled


@dataclass(frozen=True, slots=True)
class Elimination:
    """What exact elimination says of the rows of a matrix.

    Attributes:
        independent: numbers of rows that are independent of those before them, ascending.
        pivots: the column each of them is solved for.
        combinations: per dependent row, the rows it follows from with their weights.
    """

    independent: tuple[int, ...]
    pivots: tuple[int, ...]
    combinations: dict[int, dict[int, Fraction]]


def eliminate(rows: Sequence[dict[int, int]]) -> Elimination:
    """Return which rows are independent, by elimination over the rationals in the order given.

    Every row carries its combination of the original ones, so that a dependent row names what it follows from.
    """
    reduced: dict[int, tuple[dict[int, Fraction], dict[int, Fraction]]] = {}
    independent, pivots = [], []
    combinations: dict[int, dict[int, Fraction]] = {}
    for number, row in enumerate(rows):
        rest = {column: Fraction(weight) for column, weight in row.items()}
        made = {number: Fraction(1)}
        # A reduced row has 0 at the pivots before its own, so one pass in the order of the pivots is enough.
        for pivot, (known, origin) in reduced.items():
            factor = rest.get(pivot)
            if factor:
                _subtract(rest, known, factor)
                _subtract(made, origin, factor)
        if not rest:
            combinations[number] = {origin: -weight for origin, weight in made.items() if origin != number}
            continue
        pivot = min(rest, key=lambda column: (abs(rest[column]) != 1, column))
        scale = 1 / rest[pivot]
        reduced[pivot] = (
            {column: weight * scale for column, weight in rest.items()},
            {origin: weight * scale for origin, weight in made.items()},
        )
        independent.append(number)
        pivots.append(pivot)
    return Elimination(tuple(independent), tuple(pivots), combinations)


def _subtract(target: dict[int, Fraction], source: dict[int, Fraction], factor: Fraction) -> None:
    for column, weight in source.items():
        left = target.get(column, Fraction(0)) - factor * weight
        if left:
            target[column] = left
        else:
            target.pop(column, None)


def inverse(matrix: Sequence[Sequence[int]]) -> tuple[list[list[int]], int]:
    """Return (adjugate, determinant) of a regular whole matrix, divided by what they have in common.

    The inverse is adjugate / determinant; Bareiss's fraction-free elimination keeps every step whole.

    Raises:
        ArithmeticError: the matrix is singular.
    """
    size = len(matrix)
    left = [list(row) + [int(i == j) for j in range(size)] for i, row in enumerate(matrix)]
    previous = 1
    for step in range(size):
        chosen = next((row for row in range(step, size) if left[row][step]), None)
        if chosen is None:
            raise ArithmeticError("the matrix has no inverse")
        if chosen != step:
            left[step], left[chosen] = left[chosen], [-value for value in left[step]]
        pivot, base = left[step][step], left[step]
        for row in range(size):
            if row != step:
                factor, line = left[row][step], left[row]
                left[row] = [(pivot * a - factor * b) // previous for a, b in zip(line, base, strict=True)]
        previous = pivot
    determinant = left[0][0] if size else 1
    adjugate = [row[size:] for row in left]
    shared = math.gcd(determinant, *(value for row in adjugate for value in row))
    if determinant < 0:
        shared = -shared
    return [[value // shared for value in row] for row in adjugate], determinant // shared
