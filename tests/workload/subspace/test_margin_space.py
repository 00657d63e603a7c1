"""Projection by averages against the dense projection of the paper."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from dense_subspace import dense_matrix, dense_projection, pair_sensitivity

from phexplore.model.subspace import Axis, Grouping, Totals
from phexplore.workload.subspace.margin_space import MarginSpace, NotNestedError
from phexplore.workload.subspace.spaces import InvariantError

COUNTIES = Axis(
    "county",
    7,
    groupings=(Grouping("state", tuple("aabbbcc")), Grouping("region", ("w", "w", "w", "w", "w", "e", "e"))),
)
A, B, C = Axis("a", 3), Axis("b", 4), Axis("c", 2)

CASES = {
    "grand total": ((A,), [Totals()]),
    "one total per state": ((COUNTIES,), [Totals(("state",))]),
    "nested states and regions": ((COUNTIES,), [Totals(("region",)), Totals(("state",)), Totals()]),
    "two margins": ((A, B), [Totals(("a",)), Totals(("b",))]),
    "paper's margins": ((A, B, C), [Totals(("b", "c")), Totals(("a", "c"))]),
    "all two-way margins": ((A, B, C), [Totals(("a", "b")), Totals(("b", "c")), Totals(("a", "c"))]),
    "states by sex beside counties": ((COUNTIES, C), [Totals(("state", "c")), Totals(("county",))]),
    "nothing exact": ((A, B), []),
    "a level of one": ((Axis("one", 1), A), [Totals(("one",))]),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request):
    axes, totals = request.param
    matrix = dense_matrix(axes, totals)
    size = int(np.prod([axis.size for axis in axes]))
    return MarginSpace(axes, totals), matrix.reshape(-1, size)


def test_that_the_rank_is_that_of_the_matrix(case):
    space, matrix = case
    assert space.rank == (np.linalg.matrix_rank(matrix) if len(matrix) else 0)
    assert sum(report.independent for report in space.reports) == space.rank
    assert sum(report.rows for report in space.reports) == len(matrix)


def test_that_the_exact_projection_is_the_dense_one(case):
    space, matrix = case
    noise = np.random.default_rng(1).integers(-1000, 1000, space.size)
    exact = space.project(noise)
    assert np.allclose(exact.values, dense_projection(matrix) @ noise, atol=1e-9)
    assert np.allclose(space.project_floats(noise.astype(float)), exact.values, atol=1e-9)
    assert space.broken(exact, np.zeros(space.size, dtype=np.int64)) == 0


def test_that_unit_variances_and_weights_are_those_of_the_dense_projection(case):
    space, matrix = case
    projection = dense_projection(matrix)
    variances = space.unit_variances()
    assert np.allclose(variances.values, np.diag(projection), atol=1e-12)
    assert sum(value * count for value, count in variances.classes()) == space.size - space.rank
    for cell in range(space.size):
        weights = space.weights(cell)
        spread = sorted(float(weight) for weight, count in weights for _ in range(count))
        row = projection[cell][np.abs(projection[cell]) > 1e-12]
        assert np.allclose(spread, sorted(row), atol=1e-12)
        assert sum(weight * weight * count for weight, count in weights) == variances.at(cell)


def test_that_the_sensitivity_is_the_largest_over_all_pairs(case):
    space, matrix = case
    assert float(space.squared_sensitivity()) == pytest.approx(pair_sensitivity(dense_projection(matrix)), abs=1e-12)


def test_that_the_norm_bound_bounds_the_rows(case):
    space, matrix = case
    largest = np.linalg.eigvalsh(matrix @ matrix.T).max() if len(matrix) else 0
    assert space.row_norm_bound() >= largest - 1e-9


def test_that_a_changed_total_is_found():
    space = MarginSpace((COUNTIES,), [Totals(("state",)), Totals()])
    noise = space.project(np.array([5, 0, 0, 0, 0, 0, 0]))
    noise.numerators[6] += 1
    assert space.broken(noise, np.zeros(7, dtype=np.int64)) == 2


def test_that_large_noise_stays_exact():
    space = MarginSpace((Axis("cell", 1000),), [Totals()])
    noise = np.full(1000, 2**60, dtype=np.int64)
    noise[0] -= 1
    exact = space.project(noise)
    assert exact.at(0) == -1 + Fraction(1, 1000)
    assert exact.at(1) == Fraction(1, 1000)


def test_that_the_case_of_the_paper_has_its_rank_and_variance():
    """14 groups, 24 hours, 20 places; totals per place and hour, and per place and group (§5.2)."""
    axes = (Axis("group", 14), Axis("hour", 24), Axis("place", 20))
    space = MarginSpace(axes, [Totals(("hour", "place")), Totals(("group", "place"))])
    assert (space.size, space.rank) == (6720, 740)
    assert space.unit_variances().classes() == [(Fraction(299, 336), 6720)]
    second = space.reports[1]
    assert (second.rows, second.independent) == (280, 260)
    assert second.why == "20 of its 280 sums follow from: total per hour × place"


def test_that_a_million_cells_project_exactly():
    axes = (Axis("a", 100), Axis("b", 100), Axis("c", 100))
    space = MarginSpace(axes, [Totals(("a", "b")), Totals(("c",))])
    noise = np.random.default_rng(2).integers(-50, 50, space.size)
    exact = space.project(noise)
    assert exact.numerators.dtype == np.int64
    assert space.broken(exact, np.zeros(space.size, dtype=np.int64)) == 0
    assert np.abs(space.project_floats(noise.astype(float)) - exact.values).max() < 1e-9


def test_that_invariants_that_leave_nothing_are_refused():
    with pytest.raises(InvariantError, match="fix all 12 answers"):
        MarginSpace((A, B), [Totals(("a", "b"))])


def test_that_an_unknown_name_is_refused():
    with pytest.raises(InvariantError, match="'stat'"):
        MarginSpace((COUNTIES,), [Totals(("stat",))])


def test_that_an_axis_named_twice_is_refused():
    with pytest.raises(InvariantError, match="contain the axis county twice"):
        MarginSpace((COUNTIES,), [Totals(("state", "county"))])


def test_that_crossing_groupings_are_refused():
    axis = Axis("cell", 4, groupings=(Grouping("x", tuple("aabb")), Grouping("y", tuple("abab"))))
    with pytest.raises(NotNestedError, match="x and y"):
        MarginSpace((axis,), [Totals(("x",)), Totals(("y",))])


@pytest.mark.parametrize("seed", range(25))
def test_that_random_nested_groupings_agree_with_the_dense_projection(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(3, 9))
    states = np.sort(random.integers(0, 4, size))
    regions = states // 2
    axis = Axis(
        "county",
        size,
        groupings=(Grouping("state", tuple(map(str, states))), Grouping("region", tuple(map(str, regions)))),
    )
    other = Axis("sex", int(random.integers(1, 4)))
    names = [(), ("region",), ("state",), ("sex",), ("region", "sex"), ("state", "sex"), ("county",)]
    totals = [Totals(names[k]) for k in random.choice(len(names), int(random.integers(1, 4)), replace=False)]
    matrix = dense_matrix((axis, other), totals)
    if np.linalg.matrix_rank(matrix) == matrix.shape[1]:
        with pytest.raises(InvariantError):
            MarginSpace((axis, other), totals)
        return
    space, projection = MarginSpace((axis, other), totals), dense_projection(matrix)
    assert space.rank == np.linalg.matrix_rank(matrix)
    assert np.allclose(space.unit_variances().values, np.diag(projection))
    assert float(space.squared_sensitivity()) == pytest.approx(pair_sensitivity(projection), abs=1e-9)
    noise = random.integers(-1000, 1000, space.size)
    exact = space.project(noise)
    assert np.allclose(exact.values, projection @ noise)
    assert space.broken(exact, np.zeros(space.size, dtype=np.int64)) == 0
