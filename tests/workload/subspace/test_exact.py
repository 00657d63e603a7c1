"""Exact elimination and inversion against NumPy and against their own definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from phexplore.workload.subspace.exact import Rationals, eliminate, integers, inverse, whole_rows


@pytest.mark.parametrize("seed", range(30))
def test_that_elimination_finds_the_rank_and_the_combinations(seed):
    random = np.random.default_rng(seed)
    matrix = random.integers(-2, 3, (7, 6))
    matrix[5], matrix[6] = matrix[0] - 2 * matrix[1], matrix[2]
    rows = [{column: int(weight) for column, weight in enumerate(row) if weight} for row in matrix]
    found = eliminate(rows)
    assert len(found.independent) == np.linalg.matrix_rank(matrix)
    for row, combination in found.combinations.items():
        total = sum((weight * Fraction(1) * matrix[other].astype(object) for other, weight in combination.items()), 0)
        assert (total == matrix[row]).all()


def test_that_elimination_is_exact_where_floats_are_not():
    big = 10**17
    rows = [{0: big, 1: 1}, {0: big, 1: 1 + 2}, {0: 2 * big, 1: 4}]
    assert eliminate(rows).independent == (0, 1)
    assert eliminate(rows).combinations == {2: {0: Fraction(1), 1: Fraction(1)}}


@pytest.mark.parametrize("seed", range(20))
def test_that_the_adjugate_over_the_determinant_is_the_inverse(seed):
    matrix = np.random.default_rng(seed).integers(-3, 4, (5, 5))
    if round(np.linalg.det(matrix)) == 0:
        matrix = matrix + 10 * np.eye(5, dtype=int)
    adjugate, determinant = inverse(matrix.tolist())
    assert determinant > 0
    assert (np.array(adjugate, dtype=object).dot(matrix) == determinant * np.eye(5, dtype=int)).all()


def test_that_a_pivot_of_zero_is_stepped_over():
    assert inverse([[0, 1], [1, 0]]) == ([[0, 1], [1, 0]], 1)


def test_that_a_singular_matrix_has_no_inverse():
    with pytest.raises(ArithmeticError):
        inverse([[1, 2], [2, 4]])


def test_that_rows_are_scaled_to_coprime_whole_numbers():
    assert whole_rows([((0, Fraction(1, 2)), (3, Fraction(-3, 4)))]) == [{0: 2, 3: -3}]


def test_that_classes_merge_equal_fractions():
    values = Rationals(np.array([1, 2, 3]), np.array([2, 4, 4]))
    assert values.classes() == [(Fraction(1, 2), 2), (Fraction(3, 4), 1)]


def test_that_wide_values_become_python_integers():
    assert integers(np.array([1]), 2**62).dtype == object
    assert integers(np.array([1]), 2**62 - 1).dtype == np.int64
