"""The shape of Gaussian noise with the least squared error for a query: the correlated Gaussian mechanism.

Gaussian noise of covariance Σ on the null space hides every pair of records when dᵀΣ⁻¹d ≤ μ² for each difference d of two
columns of Π_N A. Among all of them the least error is the solution of

    minimise tr Σ  subject to  dᵀΣ⁻¹d ≤ 1  for all d,

whose dual is: maximise (tr M^½)², M = Σ_d p_d ddᵀ, over weights p that add to 1. Any p bounds the error of every Gaussian
mechanism from below (Cauchy–Schwarz), and Σ = tr(M^½)·M^½ attains it at the best p. So the error here is within a known
factor, close to 1, of the best Gaussian noise, and inherits the guarantee of the mechanism the paper builds on (Nikolov,
Talwar and Zhang 2013; Theorem 3.11), which is one of those it is at least as good as.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from phexplore.model.subspace import Histogram, LinearQuery, Query, Subspace
from phexplore.text.messages import msg
from phexplore.workload.subspace.exact import Integers
from phexplore.workload.subspace.releases import null_space
from phexplore.workload.subspace.spaces import Floats, InvariantError

MOST_ANSWERS = 200
"""Largest query whose noise is shaped; the work grows with the cube."""

GAP = 5e-3
"""The error is brought within this of the best, if that takes few enough rounds."""

_MOST_ROUNDS = 2000
_UNIT = 2.0**-53
# Directions that weigh less than this of the largest are not in the span of the differences.
_NEGLIGIBLE = 1e-11


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A covariance that hides every pair of records at μ = 1, and what is known about it.

    Attributes:
        factor: ``float64[n, r]`` with Σ = factor·factorᵀ.
        error: tr Σ, the squared error at μ = 1.
        bound: no Gaussian noise has a smaller one.
    """

    factor: Floats
    error: float
    bound: float

    @property
    def approximation(self) -> float:
        """At most how many times the least squared error of Gaussian noise this is."""
        return self.error / self.bound


def differences(method: Subspace, name: str) -> Floats:
    """Return Π_N(a_y − a_z) for all pairs of kinds of records: ``float64[pairs, n]``.

    Args:
        method: the scenario.
        name: key of the release in `method.releases`.

    Raises:
        InvariantError: there are too many answers or kinds of records, or all records are alike.
    """
    release = method.releases[name]
    answers = method.answers(release)
    if answers > MOST_ANSWERS:
        raise InvariantError(
            msg(
                "Noise can be shaped for at most {limit} answers; this query has {answers:,}.",
                limit=MOST_ANSWERS,
                answers=answers,
            ),
            msg("Choose the extended Gaussian mechanism."),
        )
    return _differences(method, name)


@lru_cache(maxsize=8)
def _differences(method: Subspace, name: str) -> Floats:
    release = method.releases[name]
    space = null_space(method, release)
    columns = np.array([space.project_floats(column) for column in _columns(release.query, space.size, method.cells)])
    if len(columns) > MOST_ANSWERS:
        raise InvariantError(
            msg(
                "Noise can be shaped for at most {limit} kinds of records; this query distinguishes {count:,}.",
                limit=MOST_ANSWERS,
                count=len(columns),
            ),
            msg("Choose the extended Gaussian mechanism."),
        )
    first, second = np.triu_indices(len(columns), 1)
    found = columns[first] - columns[second]
    found = found[(found**2).sum(axis=1) > 1e-12]
    if not len(found):
        raise InvariantError(
            msg("No answer distinguishes two records beyond the invariants."), msg("Choose another query.")
        )
    return np.asarray(found, dtype=np.float64)


def _columns(query: Query, answers: int, cells: int) -> Floats:
    if isinstance(query, Histogram):
        return np.eye(answers)
    return np.unique(_matrix(query, cells).T, axis=0)


def _matrix(query: LinearQuery, cells: int) -> Floats:
    matrix = np.zeros((len(query.answers), cells))
    for row, answer in enumerate(query.answers):
        for cell, weight in answer.coefficients:
            matrix[row, cell] = float(weight)
    return matrix


@lru_cache(maxsize=8)
def best_shape(method: Subspace, name: str) -> Shape:
    """Return the covariance of least error for a release, within `GAP` of the best where rounds allow.

    Args:
        method: the scenario.
        name: key of the release in `method.releases`.

    Raises:
        InvariantError: see `differences`.
    """
    return shape_for(differences(method, name))


def shape_for(found: Floats, gap: float = GAP) -> Shape:
    """Return the covariance of least trace with dᵀΣ⁻¹d ≤ 1 for all rows d.

    Multiplicative rounds p_d ← p_d · dᵀM^(−½)d / tr M^½ raise the dual bound (Yu 2010); the rows reached furthest give
    the scale that makes the covariance feasible.

    Args:
        found: ``found[pairs, n]``, differences of columns of the query.
        gap: relative distance between error and bound at which to stop.
    """
    values, vectors = np.linalg.eigh(found.T @ found)
    span = vectors[:, values > _NEGLIGIBLE * values[-1]]
    inside = found @ span
    weights = np.full(len(inside), 1 / len(inside))
    best: Shape | None = None
    bound = 0.0
    for _ in range(_MOST_ROUNDS):
        values, vectors = np.linalg.eigh((inside * weights[:, None]).T @ inside)
        roots = np.sqrt(np.maximum(values, 1e-300))
        trace = float(roots.sum())
        turned = inside @ vectors
        reached = (turned**2 / roots).sum(axis=1) / trace
        bound = max(bound, trace * trace)
        error = trace * trace * float(reached.max())
        if best is None or error < best.error:
            factor = span @ (vectors * np.sqrt(trace * float(reached.max()) * roots))
            best = Shape(factor, error, bound)
        if error <= bound * (1 + gap):
            break
        weights *= reached
        weights /= weights.sum()
    if best is None:
        raise ArithmeticError("no round was made")
    return Shape(best.factor, best.error, bound)


def reach_bound(factor: Integers, extra: float, found: Floats) -> float:
    """Return a bound above max_d dᵀ(FFᵀ + extra·I)⁻¹d over the rows d, rounding errors included.

    Args:
        factor: F, whole, ``int64[n, r]``.
        extra: > 0; makes the matrix regular.
        found: rows d, in the units of F.

    Raises:
        ArithmeticError: the matrix is so lopsided that floats prove nothing.
    """
    whole = factor.astype(np.float64)
    matrix = whole @ whole.T + extra * np.eye(len(whole))
    values = np.linalg.eigvalsh(matrix)
    # Cholesky solves (A + E)x = b exactly with |E| ≤ 4n(3n + 1)u·|A| (Higham 2002, Theorem 10.4, with the sums of A itself);
    # a relative change of A of at most E/λ_min changes bᵀA⁻¹b by that factor and its square.
    doubt = 16 * (len(whole) + 4) ** 2 * _UNIT * float(values[-1] / extra)
    if doubt > 1e-2:
        raise ArithmeticError(f"the covariance is too lopsided to prove: condition {values[-1] / extra:.1e}")
    half = np.linalg.solve(np.linalg.cholesky(matrix), found.T)
    return float((half**2).sum(axis=0).max()) * (1 + 4 * doubt) + 1e-300
