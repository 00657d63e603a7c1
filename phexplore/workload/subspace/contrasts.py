"""Orthogonal bases of what disjoint totals leave free, and what they cost the extended Laplace mechanism.

The extended Laplace mechanism (Corollary 3.9) adds Laplace noise of scale Δ₁(QᵀA)/ε to each coordinate of an orthonormal
basis Q of the null space. Unlike Gaussian noise it is not round: its error depends on Q. The bases here have whole
multiples b_i of their vectors, q_i = b_i / |b_i|, so that coordinates b_i·v are whole and privacy is decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from phexplore.model.subspace import Basis
from phexplore.text.messages import msg
from phexplore.workload.subspace.exact import Integers
from phexplore.workload.subspace.spaces import Floats, InvariantError

RATE_BITS = 40
"""Rates are multiples of 2^-40: rounding them down wastes 1e-12 of the noise's width."""

LARGEST_BLOCK = 2000
"""Most cells of one total: all pairs of its cells are tried."""

_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """An orthogonal basis of the vectors of m cells that add to 0.

    Attributes:
        vectors: ``int64[m − 1, m]``, whole, orthogonal to each other and to (1, …, 1).
        norms: ``int64[m − 1]``, their squared lengths.
    """

    vectors: Integers
    norms: Integers


@lru_cache(maxsize=256)
def contrasts(size: int, basis: Basis) -> Contrasts:
    """Return the basis for a total of `size` cells.

    Args:
        size: number m of cells under the total, at least 1.
        basis: which orthogonal basis.
    """
    vectors = np.zeros((max(size - 1, 0), size), dtype=np.int64)
    match basis:
        case Basis.HELMERT:
            for row in range(size - 1):
                vectors[row, : row + 1], vectors[row, row + 1] = 1, -(row + 1)
        case Basis.HALVES:
            _halve(vectors, 0, size, 0)
    return Contrasts(vectors, (vectors**2).sum(axis=1))


def _halve(vectors: Integers, start: int, stop: int, row: int) -> int:
    """Fill in the contrasts of the cells from start to stop and return the next free row."""
    size = stop - start
    if size < 2:
        return row
    left = size // 2
    right = size - left
    shared = math.gcd(left, right)
    vectors[row, start : start + left] = right // shared
    vectors[row, start + left : stop] = -(left // shared)
    row = _halve(vectors, start, start + left, row + 1)
    return _halve(vectors, start + left, stop, row)


@dataclass(frozen=True, slots=True, eq=False)
class ContrastRates:
    """How fast the noise of each coordinate b_i·v falls off: P(z) ∝ exp(−rate·|z|) on the whole numbers.

    Attributes:
        rates: per size of a total, ``int64[m − 1]`` in units of 2^-`RATE_BITS`.
        delta_1: Δ₁(QᵀA), rounded up a little.
    """

    rates: dict[int, Integers]
    delta_1: float

    def rate(self, size: int, row: int) -> Fraction:
        """Return one rate exactly.

        Args:
            size: number of cells under the total.
            row: of the basis.
        """
        return Fraction(int(self.rates[size][row]), 1 << RATE_BITS)


def contrast_rates(sizes: Sequence[int], basis: Basis, epsilon: Fraction) -> ContrastRates:
    """Return rates that spend at most ε on any two cells, proven in whole numbers, and within 1e-9 of all of it.

    Args:
        sizes: cells of each total.
        basis: of the null space.
        epsilon: of the release.

    Raises:
        InvariantError: a total has too many cells, or ε is so small that the rates vanish.
    """
    if max(sizes) > LARGEST_BLOCK:
        raise InvariantError(
            msg(
                "A total over {cells:,} cells is too large for the extended Laplace mechanism (at most {limit:,}).",
                cells=max(sizes),
                limit=LARGEST_BLOCK,
            ),
            msg("Choose the projected Laplace mechanism, whose error is also smaller."),
        )
    distinct = sorted(set(sizes))
    weights = {size: 1 / np.sqrt(contrasts(size, basis).norms) for size in distinct}
    delta = float(_most_spent(sizes, basis, weights)) * (1 + 1e-10)
    if delta == 0:
        raise InvariantError(
            msg("Every total has a single cell, so nothing remains to protect."), msg("Remove the invariant.")
        )
    limit = int(epsilon * (1 << RATE_BITS))
    exact = {size: float(epsilon) / delta * (1 << RATE_BITS) * weights[size] for size in distinct}
    if any(own.size and own.max() >= 2**62 for own in exact.values()):
        raise InvariantError(
            msg("ε = {epsilon:g} is too large for this mechanism.", epsilon=float(epsilon)), msg("Choose a smaller ε.")
        )
    rates = {size: np.floor(own).astype(np.int64) for size, own in exact.items()}
    if any(own.size and own.min() < 1 << 10 for own in rates.values()):
        raise InvariantError(
            msg("ε = {epsilon:g} is too small for this basis.", epsilon=float(epsilon)), msg("Choose a larger ε.")
        )
    if int(_most_spent(sizes, basis, rates)) > limit:
        raise ArithmeticError(f"the rates of {basis} spend more than ε = {epsilon}")
    return ContrastRates(rates, delta)


def _most_spent(sizes: Sequence[int], basis: Basis, rates: dict[int, Integers] | dict[int, Floats]) -> int | float:
    """Return max over pairs of cells of Σ_i |b_i·(e_y − e_z)|·rate_i; exact when the rates are whole."""
    alone: dict[int, int | float] = {}
    most: int | float = 0
    for size, own in rates.items():
        vectors = contrasts(size, basis).vectors
        alone[size] = (np.abs(vectors) * own[:, None]).sum(axis=0).max().item() if size > 1 else 0
        rows = max(1, _CHUNK // max(1, vectors.size))
        for start in range(0, size, rows):
            # Pairs within one total: their coordinates partly cancel.
            apart = np.abs(vectors[:, start : start + rows, None] - vectors[:, None, :])
            most = max(most, np.einsum("iyz,i->yz", apart, own).max().item() if size > 1 else 0)
    ordered = sorted((alone[size] for size in sizes), reverse=True)
    return max(most, sum(ordered[:2]) if len(ordered) > 1 else 0)


def reflection_basis(size: int) -> Floats:
    """Return the orthonormal basis that mirrors the cells' own axes: ``float64[m − 1, m]``, for comparison only."""
    mirror = np.full(size, -1 / math.sqrt(size))
    mirror[0] += 1
    mirror /= np.linalg.norm(mirror)
    return np.asarray((np.eye(size) - 2 * np.outer(mirror, mirror))[1:], dtype=np.float64)


def random_basis(size: int, rng: np.random.Generator) -> Floats:
    """Return a random orthonormal basis of the vectors that add to 0: ``float64[m − 1, m]``, for comparison only.

    Args:
        size: number m of cells under the total.
        rng: source of the rotation.
    """
    normal = rng.standard_normal((size, size - 1))
    normal -= normal.mean(axis=0)
    return np.asarray(np.linalg.qr(normal)[0].T, dtype=np.float64)


def laplace_factor(orthonormal: Floats) -> float:
    """Return the extended Laplace mechanism's squared error under ``orthonormal[m - 1, m]`` over the projected one's.

    Both add noise to m − 1 dimensions, of scales Δ₁(QᵀA)/ε and 2/ε (one total, histogram).
    """
    widest = max(float(np.abs(orthonormal - column[:, None]).sum(axis=0).max()) for column in orthonormal.T)
    return (widest / 2) ** 2


def basis_factors(size: int, seed: int = 0) -> dict[str, float]:
    """Return `laplace_factor` of the bases here for one total over `size` cells.

    Args:
        size: number m of cells under the total, at least 2.
        seed: of the random basis.
    """
    found = {
        basis.value: laplace_factor(own.vectors / np.sqrt(own.norms)[:, None])
        for basis in Basis
        for own in [contrasts(size, basis)]
    }
    found["reflection"] = laplace_factor(reflection_basis(size))
    found["random"] = laplace_factor(random_basis(size, np.random.default_rng(seed)))
    return found
