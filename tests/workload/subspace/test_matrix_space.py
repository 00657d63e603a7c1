"""Projection along rows of a matrix, part by part, against the dense projection of the paper."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from dense_subspace import dense_projection, pair_sensitivity

from phexplore.model.subspace import LinearCount
from phexplore.workload.subspace.matrix_space import LARGEST_PART, MatrixSpace
from phexplore.workload.subspace.spaces import InvariantError

CASES = {
    "nothing exact": (4, []),
    "one row": (4, [{0: 1, 2: 1}]),
    "weights and fractions": (5, [{0: Fraction(1, 2), 1: -3}, {2: 2, 3: 4}]),
    "overlapping": (6, [{0: 1, 1: 1, 2: 1}, {2: 1, 3: 1, 4: 1}]),
    "redundant": (6, [{0: 1, 1: 1}, {2: 1, 3: 1}, {0: 1, 1: 1, 2: 1, 3: 1}, {4: 1}]),
    "every column different": (4, [{0: 1, 1: 2, 2: 3, 3: 4}]),
}


def sums(rows):
    return [
        LinearCount(f"row {number}", tuple((answer, Fraction(weight)) for answer, weight in row.items()))
        for number, row in enumerate(rows)
    ]


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request):
    size, rows = request.param
    matrix = np.zeros((len(rows), size))
    for number, row in enumerate(rows):
        for answer, weight in row.items():
            matrix[number, answer] = float(weight)
    return MatrixSpace(size, sums(rows)), matrix


def test_that_rank_and_projection_are_those_of_the_dense_matrix(case):
    space, matrix = case
    assert space.rank == (np.linalg.matrix_rank(matrix) if len(matrix) else 0)
    noise = np.random.default_rng(3).integers(-100, 100, space.size)
    exact = space.project(noise)
    assert np.allclose(exact.values, dense_projection(matrix) @ noise, atol=1e-9)
    assert np.allclose(space.project_floats(noise.astype(float)), exact.values, atol=1e-9)
    assert space.broken(exact, np.zeros(space.size, dtype=np.int64)) == 0


def test_that_variances_weights_and_sensitivity_are_those_of_the_dense_projection(case):
    space, matrix = case
    projection = dense_projection(matrix)
    assert np.allclose(space.unit_variances().values, np.diag(projection))
    for answer in range(space.size):
        spread = sorted(float(weight) for weight, count in space.weights(answer) for _ in range(count))
        assert np.allclose(spread, sorted(projection[answer][np.abs(projection[answer]) > 1e-12]))
    assert float(space.squared_sensitivity()) == pytest.approx(pair_sensitivity(projection))


def test_that_the_norm_bound_bounds_the_independent_rows(case):
    space, matrix = case
    matrix = matrix[[bool(report.independent) for report in space.reports]]
    largest = np.linalg.eigvalsh(matrix @ matrix.T).max() if len(matrix) else 0
    assert space.row_norm_bound() >= largest - 1e-9


@pytest.mark.parametrize("seed", range(15))
def test_that_random_matrices_project_as_the_dense_one_does(seed):
    random = np.random.default_rng(seed)
    matrix = random.integers(-1, 2, (5, 9))
    matrix[np.all(matrix == 0, axis=1), 0] = 1
    rows = [{column: int(weight) for column, weight in enumerate(row) if weight} for row in matrix]
    space = MatrixSpace(9, sums(rows))
    noise = random.integers(-100, 100, 9)
    assert space.rank == np.linalg.matrix_rank(matrix)
    assert np.allclose(space.project(noise).values, dense_projection(matrix) @ noise)
    assert np.allclose(space.unit_variances().values, np.diag(dense_projection(matrix)))
    assert float(space.squared_sensitivity()) == pytest.approx(pair_sensitivity(dense_projection(matrix)))


def test_that_a_redundant_row_says_what_it_follows_from():
    space = MatrixSpace(6, sums(CASES["redundant"][1]))
    assert [report.independent for report in space.reports] == [1, 1, 0, 1]
    assert space.reports[2].why == "row 0 + row 1"


def test_that_an_answer_fixed_alone_is_counted():
    assert MatrixSpace(6, sums(CASES["redundant"][1])).determined() == 1


def test_that_a_broken_sum_is_counted():
    space = MatrixSpace(4, sums([{0: 1, 1: 1}, {2: 1, 3: -1}]))
    exact = space.project(np.array([1, 0, 0, 0]))
    exact.numerators[3] += 1
    assert space.broken(exact, np.zeros(4, dtype=np.int64)) == 1


def test_that_many_overlapping_rows_stay_exact_beyond_64_bits():
    random = np.random.default_rng(5)
    matrix = (random.random((40, 100)) < 0.3).astype(int)
    rows = [dict.fromkeys(np.flatnonzero(row).tolist(), 1) for row in matrix]
    space = MatrixSpace(100, sums(rows))
    noise = random.integers(-100, 100, 100)
    exact = space.project(noise)
    assert exact.numerators.dtype == object
    assert np.allclose(exact.values, dense_projection(matrix) @ noise)
    assert space.broken(exact, np.zeros(100, dtype=np.int64)) == 0


def test_that_many_disjoint_sums_need_no_matrix():
    space = MatrixSpace(60_000, sums([{3 * k: 1, 3 * k + 1: 1, 3 * k + 2: 1} for k in range(20_000)]))
    exact = space.project(np.arange(60_000))
    assert space.rank == 20_000
    assert exact.at(0) == -1
    assert space.weights(0) == [(Fraction(-1, 3), 2), (Fraction(2, 3), 1)]


def test_that_an_answer_that_does_not_exist_is_refused():
    with pytest.raises(InvariantError, match="uses answer 4"):
        MatrixSpace(4, sums([{4: 1}]))


def test_that_invariants_that_leave_nothing_are_refused():
    with pytest.raises(InvariantError, match="fix all 2 answers"):
        MatrixSpace(2, sums([{0: 1}, {1: 1}]))


def test_that_a_part_too_large_for_exact_arithmetic_is_refused():
    chain = [{k: 1, k + 1: 1} for k in range(LARGEST_PART + 1)]
    with pytest.raises(InvariantError, match="at most 200"):
        MatrixSpace(LARGEST_PART + 3, sums(chain))
