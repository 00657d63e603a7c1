"""The best shape of Gaussian noise against its dual bound, symmetry, and the mechanism it generalises."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from phexplore.model.subspace import Axis, Histogram, LinearCount, LinearQuery, Mechanism, Release, Subspace, Totals
from phexplore.workload.subspace.shapes import MOST_ANSWERS, best_shape, differences, reach_bound, shape_for
from phexplore.workload.subspace.spaces import InvariantError


def method(release, *axes):
    return Subspace(axes, {"only": release}, Fraction(1), Fraction(1, 10**10))


def prefix(cells):
    rows = tuple(LinearCount(f"up to {k}", tuple((c, Fraction(1)) for c in range(k + 1))) for k in range(cells))
    exact = LinearCount("all", ((cells - 1, Fraction(1)),))
    return method(Release(LinearQuery(rows), (exact,), Mechanism.CORRELATED_GAUSSIAN), Axis("cell", cells))


def pairs(columns):
    first, second = np.triu_indices(len(columns), 1)
    return columns[first] - columns[second]


def base_decomposition(found):
    """The mechanism the paper cites (Nikolov, Talwar, Zhang 2013, Algorithm 1): noise per half of an ellipsoid's axes.

    Smallest ellipsoid by the multiplicative D-optimal weights; √k times the reach of each part as its scale.
    """
    parts, rest = [], np.linalg.svd(found.T, full_matrices=False)[0][:, : np.linalg.matrix_rank(found)]
    while rest.shape[1]:
        inside = found @ rest
        weights = np.full(len(inside), 1 / len(inside))
        for _ in range(500):
            moment = (inside * weights[:, None]).T @ inside
            weights *= np.einsum("ij,jk,ik->i", inside, np.linalg.inv(moment), inside) / rest.shape[1]
        vectors = np.linalg.eigh((inside * weights[:, None]).T @ inside)[1]
        if rest.shape[1] == 1:
            parts.append(rest)
            break
        half = rest.shape[1] - rest.shape[1] // 2
        parts.append(rest @ vectors[:, :half])
        rest = rest @ vectors[:, half:]
    covariance = np.zeros((found.shape[1], found.shape[1]))
    for part in parts:
        reach = np.sqrt(((found @ part) ** 2).sum(axis=1)).max()
        covariance += len(parts) * reach**2 * part @ part.T
    return covariance


@pytest.mark.parametrize("seed", range(6))
def test_that_the_shape_hides_every_pair_and_reaches_its_bound(seed):
    found = pairs(np.random.default_rng(seed).standard_normal((7, 4)))
    shape = shape_for(found)
    covariance = shape.factor @ shape.factor.T
    reached = np.einsum("ij,jk,ik->i", found, np.linalg.inv(covariance), found)
    assert reached.max() <= 1 + 1e-9
    assert np.trace(covariance) == pytest.approx(shape.error, rel=1e-9)
    assert shape.bound <= shape.error <= 1.0051 * shape.bound


@pytest.mark.parametrize("seed", range(6))
def test_that_no_other_covariance_beats_the_bound(seed):
    random = np.random.default_rng(seed)
    found = pairs(random.standard_normal((6, 3)))
    bound = shape_for(found).bound
    for _ in range(50):
        root = random.standard_normal((3, 3))
        covariance = root @ root.T
        covariance *= np.einsum("ij,jk,ik->i", found, np.linalg.inv(covariance), found).max()
        assert np.trace(covariance) >= bound


def test_that_the_shape_is_never_worse_than_the_mechanism_it_generalises():
    for found in (differences(prefix(16), "only"), pairs(np.random.default_rng(3).standard_normal((9, 6)))):
        covariance = base_decomposition(found)
        inverse = np.linalg.pinv(covariance)
        assert np.einsum("ij,jk,ik->i", found, inverse, found).max() <= 1 + 1e-9
        assert shape_for(found).error <= np.trace(covariance) * (1 + 1e-9)


def test_that_a_histogram_under_its_total_needs_round_noise():
    release = Release(Histogram(), (Totals(),), Mechanism.CORRELATED_GAUSSIAN)
    shape = best_shape(method(release, Axis("cell", 20)), "only")
    assert shape.error == pytest.approx(2 * 19)
    assert shape.approximation == pytest.approx(1)


def test_that_running_totals_gain_much_from_their_shape():
    chosen = prefix(30)
    round_error = (differences(chosen, "only") ** 2).sum(axis=1).max() * 29
    assert best_shape(chosen, "only").error < round_error / 4


def test_that_the_proven_reach_is_above_the_true_one_and_close():
    random = np.random.default_rng(1)
    factor = random.integers(-500, 500, (8, 5))
    found = random.standard_normal((40, 8))
    true = np.einsum("ij,jk,ik->i", found, np.linalg.inv(factor @ factor.T + 2000 * np.eye(8)), found).max()
    bound = reach_bound(factor, 2000.0, found)
    assert true <= bound <= true * 1.001


def test_that_a_lopsided_covariance_is_not_claimed():
    with pytest.raises(ArithmeticError, match="lopsided"):
        reach_bound(np.array([[10**9], [0]]), 1.0, np.eye(2))


def test_that_too_many_answers_are_refused():
    release = Release(Histogram(), (Totals(),), Mechanism.CORRELATED_GAUSSIAN)
    with pytest.raises(InvariantError, match=f"at most {MOST_ANSWERS} answers"):
        differences(method(release, Axis("cell", MOST_ANSWERS + 1)), "only")


def test_that_too_many_kinds_of_records_are_refused():
    row = LinearCount("weights", tuple((cell, Fraction(cell + 1)) for cell in range(MOST_ANSWERS + 1)))
    release = Release(LinearQuery((row,)), (), Mechanism.CORRELATED_GAUSSIAN)
    with pytest.raises(InvariantError, match="kinds of records"):
        differences(method(release, Axis("cell", MOST_ANSWERS + 1)), "only")


def test_that_answers_alike_for_all_records_are_refused():
    row = LinearCount("all", ((0, Fraction(1)), (1, Fraction(1))))
    release = Release(LinearQuery((row,)), (), Mechanism.CORRELATED_GAUSSIAN)
    with pytest.raises(InvariantError, match="distinguishes two records"):
        differences(method(release, Axis("cell", 2)), "only")
