"""Invariants given as rows of a matrix: exact projection, one connected part at a time.

Rows that share no answer do not meet in the projection. A part with a single row projects by one weighted mean, all
such parts at once, so that a million disjoint totals cost no more than their answers; a part with several rows needs
the exact inverse of its small Gram matrix B·Bᵀ. No dense projection is formed. The projection is that of the subspace
paper (Theorem 3.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from phexplore.model.subspace import LinearCount
from phexplore.text.messages import msg
from phexplore.workload.subspace.exact import (
    Exact,
    Integers,
    Rationals,
    eliminate,
    integers,
    inverse,
    largest,
    whole_rows,
)
from phexplore.workload.subspace.spaces import Floats, InvariantError, RowReport

LARGEST_PART = 200
"""Most independent rows of one connected part: exact inversion takes some seconds there."""

_MOST_PAIRED = 1500


@dataclass(frozen=True, slots=True, eq=False)
class _Singles:
    """The parts with one row, flat.

    Attributes:
        answers: ``int64[k]``, the answers in such a row.
        row: ``int64[k]``, which row each is in.
        weights: ``int64[k]``.
        norms: ``int64[rows]``, squared length of each row.
    """

    answers: Integers
    row: Integers
    weights: Integers
    norms: Integers


@dataclass(frozen=True, eq=False)
class _Part:
    """A connected part with several independent rows: Π_R = Bᵀ·adjugate·B / determinant.

    Attributes:
        answers: ``int64[k]``.
        rows: whole, ``[r, k]``.
        adjugate: of B·Bᵀ, ``[r, r]``.
        determinant: of B·Bᵀ, both divided by what they share; > 0.
    """

    answers: Integers
    rows: NDArray[np.object_]
    adjugate: NDArray[np.object_]
    determinant: int

    @cached_property
    def onto_rows(self) -> NDArray[np.object_]:
        """The determinant times Π_R, whole, ``[k, k]``."""
        return np.asarray(self.rows.T.dot(self.adjugate).dot(self.rows), dtype=object)


class MatrixSpace:
    """The null space of weighted sums of answers.

    Args:
        size: number of answers.
        sums: what is exact.

    Raises:
        InvariantError: a sum names an answer that does not exist, a connected part is too large, or nothing is left to
            protect.
    """

    def __init__(self, size: int, sums: Sequence[LinearCount]) -> None:
        self._size = size
        self._sums = tuple(sums)
        for each in sums:
            if (most := max(number for number, _ in each.coefficients)) >= size:
                raise InvariantError(
                    msg(
                        "The invariant {name!r} uses answer {number}, but the query has {size:,} answers (numbered from 0).",
                        name=each.name,
                        number=most,
                        size=size,
                    ),
                    msg("Use the numbers of existing answers."),
                )
        self._rows = whole_rows([each.coefficients for each in sums])
        singles: list[int] = []
        self._parts: list[_Part] = []
        self._rank = 0
        self._why: dict[int, str] = {}
        for members in _connected(self._rows):
            if len(members) == 1:
                singles += members
                self._rank += 1
            else:
                self._parts.append(self._part(members))
        self._singles = self._flat(singles)
        if self._rank >= size:
            raise InvariantError(
                msg("The invariants fix all {size:,} answers exactly, so nothing remains to protect.", size=size),
                msg("Remove an invariant, or publish the counts exactly and claim no privacy."),
            )

    def _part(self, members: Sequence[int]) -> _Part:
        found = eliminate([self._rows[number] for number in members])
        if len(found.independent) > LARGEST_PART:
            raise InvariantError(
                msg(
                    "{count:,} invariants share answers. As rows of a matrix, at most {limit} can be projected exactly.",
                    count=len(found.independent),
                    limit=LARGEST_PART,
                ),
                msg("Give the invariants as totals over axes and groupings, which have no such limit."),
            )
        for place, combination in found.combinations.items():
            terms = sorted(combination.items())
            self._why[members[place]] = " + ".join(
                f"{'' if weight == 1 else f'{weight} × '}{self._sums[members[other]].name}" for other, weight in terms
            )
        self._rank += len(found.independent)
        answers = sorted({answer for number in members for answer in self._rows[number]})
        position = {answer: place for place, answer in enumerate(answers)}
        rows = np.zeros((len(found.independent), len(answers)), dtype=object)
        for place, number in enumerate(found.independent):
            for answer, weight in self._rows[members[number]].items():
                rows[place, position[answer]] = weight
        adjugate, determinant = inverse(rows.dot(rows.T).tolist())
        return _Part(np.array(answers, dtype=np.int64), rows, np.array(adjugate, dtype=object), determinant)

    def _flat(self, members: Sequence[int]) -> _Singles:
        entries = [
            (answer, place, weight)
            for place, number in enumerate(members)
            for answer, weight in self._rows[number].items()
        ]
        table = np.array(entries, dtype=np.int64).reshape(-1, 3)
        norms = np.zeros(len(members), dtype=np.int64)
        np.add.at(norms, table[:, 1], table[:, 2] ** 2)
        return _Singles(table[:, 0], table[:, 1], table[:, 2], norms)

    @property
    def size(self) -> int:
        """Number of answers."""
        return self._size

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        return self._rank

    @property
    def reports(self) -> tuple[RowReport, ...]:
        """What each row adds."""
        return tuple(
            RowReport(each.name, 1, int(number not in self._why), self._why.get(number, ""))
            for number, each in enumerate(self._sums)
        )

    @cached_property
    def denominators(self) -> Exact:
        """Denominators of a projected whole vector, per answer."""
        found = np.ones(self._size, dtype=np.int64)
        found[self._singles.answers] = self._singles.norms[self._singles.row]
        if any(part.determinant >= 2**62 for part in self._parts):
            found = found.astype(object)
        for part in self._parts:
            found[part.answers] = part.determinant
        return found

    def project(self, noise: Integers) -> Rationals:
        """Return Π_N·noise exactly; ``noise[n]``."""
        singles, reach = self._singles, largest(noise)
        bound = reach * int(self.denominators.max()) * 2
        heaviest = largest(singles.weights)
        bound = max(bound, reach * heaviest * heaviest * max(1, len(singles.answers)))
        values = integers(noise, bound)
        total = values * self.denominators
        summed = np.zeros(len(singles.norms), dtype=values.dtype)
        np.add.at(summed, singles.row, values[singles.answers] * singles.weights)
        total[singles.answers] -= singles.weights * summed[singles.row]
        for part in self._parts:
            own = values[part.answers].astype(object)
            row_part = part.rows.T.dot(part.adjugate.dot(part.rows.dot(own)))
            exact = own * part.determinant - row_part
            total[part.answers] = exact if total.dtype == object or largest(exact) < 2**62 else self._too_wide(exact)
        return Rationals(total, self.denominators)

    @staticmethod
    def _too_wide(exact: Exact) -> Exact:
        raise OverflowError(f"a projected numerator of {largest(exact)} was not foreseen")

    def project_floats(self, values: Floats) -> Floats:
        """Return Π_N·values as ``float64[n]``; ``values[n]``."""
        singles = self._singles
        total = values.astype(np.float64)
        summed = np.bincount(singles.row, values[singles.answers] * singles.weights, minlength=len(singles.norms))
        np.subtract.at(total, singles.answers, singles.weights * (summed / singles.norms)[singles.row])
        for part in self._parts:
            onto = (part.onto_rows / part.determinant).astype(np.float64)
            total[part.answers] -= onto @ values[part.answers]
        return total

    def unit_variances(self) -> Rationals:
        """Return the diagonal of Π_N."""
        singles = self._singles
        total = self.denominators.copy()
        total[singles.answers] -= singles.weights**2
        for part in self._parts:
            total[part.answers] = part.determinant - np.diagonal(part.onto_rows)
        return Rationals(total, self.denominators)

    def weights(self, answer: int) -> list[tuple[Fraction, int]]:
        """Return the distinct weights of a row of Π_N with how often each occurs, zeros left out."""
        found: dict[Fraction, int] = {}
        for weight in self._row(answer).values():
            if weight:
                found[weight] = found.get(weight, 0) + 1
        return sorted(found.items())

    def _row(self, answer: int) -> dict[int, Fraction]:
        """Return a row of Π_N by answer; answers of other parts are left out."""
        singles = self._singles
        if len(place := np.flatnonzero(singles.answers == answer)):
            row, own = singles.row[place[0]], int(singles.weights[place[0]])
            inside, norm = singles.row == row, int(singles.norms[row])
            found = {
                other: Fraction(-own * weight, norm)
                for other, weight in zip(
                    singles.answers[inside].tolist(), singles.weights[inside].tolist(), strict=True
                )
            }
            found[answer] += 1
            return found
        for part in self._parts:
            if len(place := np.flatnonzero(part.answers == answer)):
                line = part.onto_rows[place[0]]
                found = {
                    other: Fraction(-int(weight), part.determinant)
                    for other, weight in zip(part.answers.tolist(), line, strict=True)
                }
                found[answer] += 1
                return found
        return {answer: Fraction(1)}

    def squared_sensitivity(self) -> Fraction:
        """Return max over pairs of Π_N[y,y] + Π_N[z,z] − 2Π_N[y,z]; 2, a bound, where there are too many answers to try."""
        if self._size < 2:
            return Fraction(0)
        columns: dict[int, list[tuple[int, int]]] = {}
        for number, row in enumerate(self._rows):
            for answer, weight in row.items():
                columns.setdefault(answer, []).append((number, weight))
        alike = {tuple(column) for column in columns.values()}
        # Two answers with equal columns, or in no invariant: their difference lies in the null space, of length √2.
        if len(alike) < len(columns) or self._size - len(columns) > 1 or self._size > _MOST_PAIRED:
            return Fraction(2)
        rows = [self._row(answer) for answer in range(self._size)]
        return max(
            rows[y][y] + rows[z][z] - 2 * rows[y].get(z, Fraction(0)) for y in range(self._size) for z in range(y)
        )

    def row_norm_bound(self) -> int:
        """Return the largest absolute row sum of B·Bᵀ (Gershgorin)."""
        most = largest(self._singles.norms)
        for part in self._parts:
            most = max(most, *(sum(map(abs, line)) for line in part.rows.dot(part.rows.T).tolist()))
        return max(most, 1)

    def broken(self, released: Rationals, truth: Integers) -> int:
        """Return how many sums of `released` are not those of ``truth[n]``, as in `NullSpace.broken`."""
        failures = 0
        for row in self._rows:
            answers = list(row)
            found = sum((released.at(answer) * row[answer] for answer in answers), Fraction(0))
            failures += found != sum(int(truth[answer]) * row[answer] for answer in answers)
        return failures

    def determined(self) -> int:
        """Return how many answers have no noise at all."""
        return int(np.count_nonzero(self.unit_variances().numerators == 0))


def _connected(rows: Sequence[dict[int, int]]) -> list[list[int]]:
    """Return the rows in groups that share answers, directly or through others; in the order of their first rows."""
    leader = list(range(len(rows)))

    def find(row: int) -> int:
        while leader[row] != row:
            leader[row] = leader[leader[row]]
            row = leader[row]
        return row

    first: dict[int, int] = {}
    for number, row in enumerate(rows):
        for answer in row:
            one, other = find(first.setdefault(answer, number)), find(number)
            leader[max(one, other)] = min(one, other)
    groups: dict[int, list[int]] = {}
    for number in range(len(rows)):
        groups.setdefault(find(number), []).append(number)
    return list(groups.values())
