"""Bases of what totals leave free, and the exact rates of their noise."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from phexplore.model.subspace import Basis
from phexplore.workload.subspace.contrasts import (
    LARGEST_BLOCK,
    basis_factors,
    contrast_rates,
    contrasts,
    laplace_factor,
    random_basis,
    reflection_basis,
)
from phexplore.workload.subspace.spaces import InvariantError


@pytest.mark.parametrize("basis", Basis)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 16])
def test_that_contrasts_are_an_orthogonal_basis_of_what_adds_to_zero(basis, size):
    found = contrasts(size, basis)
    gram = found.vectors @ found.vectors.T
    assert found.vectors.shape == (size - 1, size)
    assert (found.vectors.sum(axis=1) == 0).all()
    assert (gram == np.diag(found.norms)).all()
    assert np.linalg.matrix_rank(found.vectors) == size - 1 if size > 1 else True


@pytest.mark.parametrize("make", [reflection_basis, lambda size: random_basis(size, np.random.default_rng(1))])
def test_that_bases_for_comparison_are_orthonormal(make):
    found = make(9)
    assert np.allclose(found @ found.T, np.eye(8))
    assert np.allclose(found.sum(axis=1), 0)


@pytest.mark.parametrize("basis", Basis)
@pytest.mark.parametrize("sizes", [(5,), (3, 4), (1, 2, 6), (2, 2)])
def test_that_rates_spend_all_of_epsilon_on_the_worst_pair_and_no_more(basis, sizes):
    epsilon = Fraction(24, 125)
    found = contrast_rates(sizes, basis, epsilon)
    cells = [(block, cell) for block, size in enumerate(sizes) for cell in range(size)]
    spent = []
    for (block, y), (other, z) in itertools.combinations(cells, 2):
        total = Fraction(0)
        for where, size in enumerate(sizes):
            vectors = contrasts(size, basis).vectors
            apart = np.zeros(size, dtype=np.int64)
            if where == block:
                apart[y] += 1
            if where == other:
                apart[z] -= 1
            total += sum((abs(int(v @ apart)) * found.rate(size, row) for row, v in enumerate(vectors)), Fraction(0))
        spent.append(total)
    assert max(spent) <= epsilon
    assert max(spent) >= epsilon * (1 - Fraction(1, 10**8))


def test_that_the_published_factors_for_illinois_come_out():
    """Errata: 8 times the projected mechanism's squared error (Helmert) to 38 times (random basis)."""
    found = basis_factors(102)
    assert found["helmert"] == pytest.approx(8, rel=0.01)
    assert found["random"] == pytest.approx(38, rel=0.05)
    assert found["halves"] == min(found.values())


def test_that_the_factor_of_two_cells_is_that_of_one_dimension():
    # One contrast of two cells: Δ₁ = √2 against 2.
    assert laplace_factor(contrasts(2, Basis.HELMERT).vectors / np.sqrt(2)) == pytest.approx(0.5)


def test_that_a_total_over_too_many_cells_is_refused():
    with pytest.raises(InvariantError, match="too large"):
        contrast_rates([LARGEST_BLOCK + 1], Basis.HALVES, Fraction(1))


def test_that_totals_of_single_cells_are_refused():
    with pytest.raises(InvariantError, match="nothing remains"):
        contrast_rates([1, 1], Basis.HALVES, Fraction(1))


def test_that_a_vanishing_epsilon_is_refused():
    with pytest.raises(InvariantError, match="too small"):
        contrast_rates([10], Basis.HALVES, Fraction(1, 10**9))
