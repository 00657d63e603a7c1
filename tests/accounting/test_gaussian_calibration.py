"""Exact calibration of Gaussian noise, against mpmath and against the published errors of the paper's constant."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.accounting.gaussian_calibration import (
    CalibrationError,
    delta_is_at_most,
    exact_delta,
    paper_constant,
    smallest_variance,
)

DELTA = Fraction(1, 10**10)


def reference_delta(epsilon, v, digits=60):
    """δ(ε) of Balle and Wang 2018, Theorem 8, in multiple precision."""
    with mpmath.workdps(digits):
        epsilon = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        mu = 1 / mpmath.sqrt(mpmath.mpf(v.numerator) / v.denominator)
        upper = lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2
        return upper(epsilon / mu - mu / 2) - mpmath.exp(epsilon) * upper(epsilon / mu + mu / 2)


@settings(max_examples=30)
@given(
    st.fractions(Fraction(1, 100), Fraction(30)), st.fractions(Fraction(1, 50), Fraction(2000)),
)  # fmt: skip
def test_that_the_enclosure_contains_the_reference_and_is_narrow(epsilon, v):
    found = exact_delta(epsilon, v, 120)
    reference = reference_delta(epsilon, v, 80)
    with mpmath.workdps(80):
        assert (
            mpmath.mpf(found.low) / mpmath.mpf(2) ** 120 <= reference <= mpmath.mpf(found.high) / mpmath.mpf(2) ** 120
        )
    assert found.high - found.low <= 4


@pytest.mark.parametrize("epsilon", ["0.001", "0.192", "1", "1.5", "4", "8", "20", "100"])
@pytest.mark.parametrize("delta", ["1e-10", "1e-6", "0.01", "0.5", "1e-40"])
def test_that_the_variance_is_the_smallest_that_keeps_delta(epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    v = smallest_variance(epsilon, delta)
    goal = mpmath.mpf(delta.numerator) / delta.denominator
    assert reference_delta(epsilon, v) <= goal * (1 + mpmath.mpf(10) ** -40)
    assert reference_delta(epsilon, v * (1 - Fraction(1, 10**11))) > goal


@pytest.mark.parametrize(("epsilon", "factor"), [("1.5", 1.55), ("2", 2.6), ("8", 172)])
def test_that_the_constant_of_the_paper_under_protects_by_the_published_factors(epsilon, factor):
    found = paper_constant(Fraction(epsilon), DELTA)
    assert not found.protects
    assert found.factor == pytest.approx(factor, rel=0.02)
    assert found.delta == pytest.approx(float(reference_delta(Fraction(epsilon), found.v)), rel=1e-9)


def test_that_the_constant_of_the_paper_protects_at_a_small_budget():
    found = paper_constant(Fraction(1, 2), DELTA)
    assert found.protects
    assert found.v > smallest_variance(Fraction(1, 2), DELTA)


def test_that_the_decision_is_exact_where_a_float_cannot_tell():
    v = smallest_variance(Fraction(1), DELTA)
    at = exact_delta(Fraction(1), v, 400)
    just_below = Fraction(at.low, 1 << 400) * (1 - Fraction(1, 2**200))
    just_above = Fraction(at.high, 1 << 400) * (1 + Fraction(1, 2**200))
    assert not delta_is_at_most(Fraction(1), v, just_below)
    assert delta_is_at_most(Fraction(1), v, just_above)


@pytest.mark.parametrize(("epsilon", "delta"), [("0", "0.1"), ("-1", "0.1"), ("1", "0"), ("1", "1"), ("1001", "0.1")])
def test_that_impossible_budgets_are_refused(epsilon, delta):
    with pytest.raises(CalibrationError):
        smallest_variance(Fraction(epsilon), Fraction(delta))


def test_that_a_variance_out_of_range_is_refused():
    with pytest.raises(CalibrationError, match="out of range"):
        exact_delta(Fraction(1), Fraction(1, 10**12), 64)
