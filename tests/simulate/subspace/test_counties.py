"""County errors of TopDown and the projected Laplace mechanism under exact state totals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from phexplore.data.regions.counties import read_counties_2010
from phexplore.resources import resource
from phexplore.simulate.subspace.counties import EPSILON, county_errors, slope_of, state_errors, topdown_method


@pytest.fixture(scope="module")
def illinois():
    return read_counties_2010(resource("tables/illinois_counties_2010.csv"))


def test_that_both_mechanisms_keep_the_total_of_the_state(illinois):
    found = state_errors(illinois, "17", 3, 1)
    assert found.population.sum() == 12_830_632
    assert (found.topdown.sum(axis=1) == 0).all()
    assert np.abs(found.subspace.sum(axis=1)).max() < 1e-9
    assert (found.topdown + found.population >= 0).all()


def test_that_the_population_query_of_topdown_has_the_budget_of_the_paper():
    method = topdown_method()
    key = next(key for key in method.query_shares if key == ("County", "total"))
    assert method.budget(key) == EPSILON


def test_that_states_with_few_counties_are_left_out(illinois):
    assert [state.name for state in county_errors(illinois, 1, 1)] == ["Illinois"]


def test_that_the_slope_is_that_of_least_squares_with_its_error():
    random = np.random.default_rng(4)
    population = random.integers(100, 10**6, 40)
    errors = random.standard_normal(40) - 0.4 * np.log(population)
    found = slope_of(errors, population)
    design = np.stack([np.log(population), np.ones(40)], axis=1)
    (slope, intercept), residual, *_ = np.linalg.lstsq(design, errors, rcond=None)
    spread = np.sqrt(residual[0] / 38 / ((np.log(population) - np.log(population).mean()) ** 2).sum())
    assert found.slope == pytest.approx(slope)
    assert found.intercept == pytest.approx(intercept)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(slope / spread), 38), rel=1e-6)


@pytest.mark.parametrize("population", [[5, 5, 5], [5, 6]])
def test_that_a_line_through_too_little_is_refused(population):
    with pytest.raises(ValueError, match="at least 3 counties"):
        slope_of(np.zeros(len(population)), np.array(population))


@pytest.mark.slow
@pytest.mark.real_data
def test_that_topdown_leans_and_the_projected_mechanism_does_not(real_data):
    """47 states, 10 runs: TopDown's slopes are mostly negative, the others' evenly split (binomial, false alarm 1e-6)."""
    counties = read_counties_2010(real_data / "counties" / "counties_2010.csv")
    states = list(county_errors(counties, 10, 2020))
    assert len(states) == 47
    negative = {"topdown": 0, "subspace": 0}
    for state in states:
        for name in negative:
            negative[name] += sum(slope_of(errors, state.population).slope < 0 for errors in getattr(state, name))
    assert stats.binomtest(negative["topdown"], 470, alternative="greater").pvalue < 1e-6
    assert stats.binomtest(negative["subspace"], 470).pvalue > 1e-6
