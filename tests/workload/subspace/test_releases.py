"""Null spaces, answers and sensitivities of releases."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from dense_subspace import dense_projection

from phexplore.model.subspace import (
    Axis,
    Grouping,
    Histogram,
    LinearCount,
    LinearQuery,
    Mechanism,
    Release,
    Subspace,
    Totals,
)
from phexplore.workload.subspace.margin_space import MarginSpace
from phexplore.workload.subspace.matrix_space import MatrixSpace
from phexplore.workload.subspace.releases import (
    answer_names,
    common_denominator,
    expand,
    null_space,
    sensitivity,
    true_answers,
)
from phexplore.workload.subspace.spaces import InvariantError

COUNTIES = Axis(
    "county", 4, ("Cook", "Lake", "Kent", "Sussex"), (Grouping("state", tuple("iidd")), Grouping("half", tuple("xyxy")))
)


def method(release, *axes):
    return Subspace(axes or (COUNTIES,), {"only": release}, Fraction(1))


def histogram(*invariants):
    return Release(Histogram(), invariants, Mechanism.PROJECTED_LAPLACE)


def linear(rows, *invariants):
    answers = tuple(
        LinearCount(f"answer {k}", tuple((cell, Fraction(w)) for cell, w in enumerate(row) if w))
        for k, row in enumerate(rows)
    )
    return Release(LinearQuery(answers), invariants, Mechanism.PROJECTED_LAPLACE)


def test_that_totals_project_without_a_matrix_and_crossing_groupings_with_one():
    nested = histogram(Totals(("state",)), Totals())
    crossing = histogram(Totals(("state",)), Totals(("half",)))
    assert isinstance(null_space(method(nested), nested), MarginSpace)
    space = null_space(method(crossing), crossing)
    assert isinstance(space, MatrixSpace)
    assert space.rank == 3
    assert (
        space.reports[3].why
        == "total per state at state d + total per state at state i + -1 × total per half at half x"
    )


def test_that_a_row_beside_totals_makes_a_matrix():
    release = histogram(Totals(("state",)), LinearCount("Cook", ((0, Fraction(1)),)))
    space = null_space(method(release), release)
    assert space.rank == 3
    assert space.determined() == 2


def test_that_totals_are_refused_for_a_linear_query():
    release = linear([[1, 1, 0, 0]], Totals())
    with pytest.raises(InvariantError, match="refers to cells"):
        null_space(method(release), release)


def test_that_expanded_totals_name_their_place():
    rows = expand((COUNTIES, Axis("sex", 2, ("m", "f"))), Totals(("state", "sex")))
    assert [row.name for row in rows][:2] == [
        "total per state × sex at state d, sex m",
        "total per state × sex at state d, sex f",
    ]
    assert [cell for cell, _ in rows[0].coefficients] == [4, 6]


def test_that_answers_are_whole_after_scaling():
    release = linear([[1, Fraction(1, 2), 0, 0], [0, 0, Fraction(1, 3), 1]])
    assert common_denominator(release.query) == 6
    assert true_answers(release.query, np.array([1, 2, 3, 4])).tolist() == [12, 30]


def test_that_answers_have_names():
    assert answer_names(method(histogram()), histogram()) == [
        "county Cook",
        "county Lake",
        "county Kent",
        "county Sussex",
    ]
    release = linear([[1, 0, 0, 0]])
    assert answer_names(method(release), release) == ["answer 0"]


def test_that_the_sensitivity_of_counts_is_that_of_a_replaced_record():
    found = sensitivity(method(histogram(Totals())), "only")
    assert (found.l1, found.squared_l2, found.squared_projected) == (2, 2, 2)


def test_that_two_margins_lower_the_projected_sensitivity():
    release = histogram(Totals(("a",)), Totals(("b",)))
    found = sensitivity(method(release, Axis("a", 2), Axis("b", 2)), "only")
    assert found.squared_projected == 1


@pytest.mark.parametrize("seed", range(10))
def test_that_the_sensitivity_of_a_linear_query_is_the_largest_over_all_pairs(seed):
    random = np.random.default_rng(seed)
    matrix = random.integers(-2, 3, (5, 6))
    matrix[np.all(matrix == 0, axis=1), 0] = 1
    exact = LinearCount("exact", ((0, Fraction(1)), (1, Fraction(2))))
    release = linear(matrix.tolist(), exact)
    found = sensitivity(method(release, Axis("cell", 6)), "only")
    projection = dense_projection(np.array([[1, 2, 0, 0, 0]]))
    pairs = [matrix[:, y] - matrix[:, z] for y, z in itertools.combinations(range(6), 2)]
    assert found.l1 == max(np.abs(pair).sum() for pair in pairs)
    assert found.squared_l2 == max((pair**2).sum() for pair in pairs)
    assert float(found.squared_projected) == pytest.approx(max(pair @ projection @ pair for pair in pairs))


def test_that_a_cell_in_no_answer_counts_as_a_column_of_zeros():
    assert sensitivity(method(linear([[1, 0, 0, 0], [1, 0, 0, 0]])), "only").l1 == 2


def test_that_a_single_cell_has_nothing_to_hide():
    assert sensitivity(method(histogram(), Axis("one", 1)), "only").l1 == 0
