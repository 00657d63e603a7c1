from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from phexplore.metrics.coverage import (
    coverage_of,
    error_between_trials,
    observed_margin,
    over_trials,
    wilson_interval,
)


@given(st.integers(1, 100_000), st.data())
def test_that_the_interval_is_that_of_scipy(errors: int, data: st.DataObject) -> None:
    held = data.draw(st.integers(0, errors))
    reference = stats.binomtest(held, errors).proportion_ci(0.95, method="wilson")
    assert wilson_interval(held, errors) == pytest.approx((reference.low, reference.high), abs=1e-9)


def test_that_nothing_simulated_gives_no_coverage() -> None:
    assert math.isnan(coverage_of(0, 0).share.value)


@pytest.mark.parametrize(("held", "errors"), [(-1, 3), (4, 3)])
def test_that_impossible_coverage_is_refused(held: int, errors: int) -> None:
    with pytest.raises(ValueError, match=f"got {held}"):
        coverage_of(held, errors)


def test_that_the_standard_error_is_the_binomial_one() -> None:
    assert coverage_of(90, 100).standard_error == pytest.approx(0.03)


def test_that_the_error_between_trials_is_that_of_their_mean() -> None:
    shares = np.array([0.89, 0.91, 0.90, 0.92])
    assert error_between_trials(shares) == pytest.approx(stats.sem(shares))
    assert error_between_trials(shares[:1]) == math.inf


def test_that_a_root_mean_square_over_trials_is_that_of_all_errors_with_an_error_that_holds():
    """One answer per trial: the mean of the roots is its mean size, 0.8 σ. False alarm of the share below 1e-6."""
    rng = np.random.default_rng(13)
    errors = rng.normal(0, 3, (400, 100))
    found = [over_trials("rmse", np.abs(each)) for each in errors]
    assert [value for value, _ in found] == pytest.approx(np.sqrt((errors**2).mean(axis=1)).tolist())
    held = sum(abs(value - 3) <= 1.96 * error for value, error in found)
    assert held >= stats.binom.ppf(1e-6, 400, 0.93)
    assert over_trials("mae", np.array([1.0, 3.0])) == (2.0, 1.0)
    assert over_trials("rmse", np.array([5.0])) == (5.0, math.inf)


def test_that_the_observed_margin_is_the_interpolated_quantile_of_sizes() -> None:
    errors = np.array([[-10, 4], [3, -2]])
    assert observed_margin(errors, 0.9).value == pytest.approx(np.quantile([10, 4, 3, 2], 0.9))


def test_that_the_interval_of_a_margin_holds_it_as_often_as_stated() -> None:
    """400 samples, true quantile known: the count within the interval is binomial; a false alarm has odds below 1e-6."""
    rng = np.random.default_rng(11)
    true = stats.norm.ppf(0.95)  # 90 % of |x| lie below
    found = [observed_margin(rng.standard_normal(2000), 0.9) for _ in range(400)]
    held = sum(each.low <= true <= each.high for each in found)
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], 400, 0.95)
    assert low <= held <= high


@pytest.mark.parametrize(("size", "confidence"), [(1, 0.9), (5, 0.9), (20, 0.9), (20, 0.99), (60, 0.9), (200, 0.99)])
def test_that_few_errors_claim_no_narrower_an_interval_than_they_know(size: int, confidence: float) -> None:
    """The largest of 20 errors is below the 99 % quantile four times out of five: it is no upper end."""
    rng = np.random.default_rng(12)
    true = stats.norm.ppf((1 + confidence) / 2)
    found = [observed_margin(rng.standard_normal(size), confidence) for _ in range(400)]
    assert all(each.low <= each.value <= each.high for each in found)
    assert sum(each.low <= true <= each.high for each in found) >= stats.binom.ppf(1e-6, 400, 0.95)


def test_that_no_errors_give_no_margin() -> None:
    assert math.isnan(observed_margin(np.empty(0), 0.9).value)
