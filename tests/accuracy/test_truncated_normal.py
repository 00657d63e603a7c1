"""Against mpmath with forty digits, in the middle and far out."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.accuracy.truncated_normal import draws_between, mean_above_zero, quantile_above_zero

mpmath.mp.dps = 40


def mean_by_mpmath(centre, spread):
    a = mpmath.mpf(-centre) / spread
    return float(mpmath.mpf(centre) + spread * mpmath.npdf(a) / (mpmath.erfc(a / mpmath.sqrt(2)) / 2))


@settings(max_examples=150, deadline=None)
@given(st.floats(-60, 60), st.floats(0.1, 300))
def test_that_the_mean_is_right_however_far_below_zero_the_count_was(standardised, spread):
    centre = standardised * spread
    expected = mean_by_mpmath(centre, spread)
    assert mean_above_zero(centre, spread**2) == pytest.approx(expected, rel=1e-9 * (1 + standardised**2))


@settings(max_examples=150, deadline=None)
@given(st.floats(-35, 35), st.floats(0.1, 300), st.sampled_from([0.05, 0.5, 0.95]))
def test_that_a_quantile_leaves_its_probability_below(standardised, spread, probability):
    centre = standardised * spread
    value = float(quantile_above_zero(probability, centre, spread**2))
    assert value >= 0
    above = mpmath.erfc((mpmath.mpf(value) - centre) / spread / mpmath.sqrt(2))
    whole = mpmath.erfc(mpmath.mpf(-centre) / spread / mpmath.sqrt(2))
    assert float(above / whole) == pytest.approx(1 - probability, rel=1e-7 * (1 + standardised**2))


def test_that_no_noise_is_a_point():
    assert mean_above_zero([5.0, -3.0], [0.0, 0.0]).tolist() == [5.0, 0.0]
    assert quantile_above_zero(0.05, [5.0, -3.0], [0.0, 0.0]).tolist() == [5.0, 0.0]


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 1.0), (2.0, 3.0), (8.0, 9.0), (-30.0, -29.0), (40.0, np.inf), (-np.inf, -12.0), (0.5, 0.5)]
)
def test_that_draws_stay_inside_and_follow_the_distribution(low, high):
    uniform = (np.arange(2000) + 0.5) / 2000
    value = draws_between(uniform, 0.0, 1.0, low, high)
    assert (value >= low).all()
    assert (value <= high).all()
    assert (np.diff(value) >= 0).all()
    if low < high:

        def mass(x):
            if x == -np.inf:
                return mpmath.mpf(0)
            return mpmath.erfc(-mpmath.mpf(float(x)) / mpmath.sqrt(2)) / 2 if x <= 0 else None

        if high <= 0:
            whole = mass(high) - mass(low)
            for place in (100, 1000, 1900):
                part = (mass(value[place]) - mass(low)) / whole
                assert float(part) == pytest.approx(uniform[place], rel=1e-6)


def test_that_both_tails_are_mirror_images():
    uniform = (np.arange(99) + 1) / 100
    upper = draws_between(uniform, 0.0, 1.0, 7.0, 9.0)
    lower = draws_between(1 - uniform, 0.0, 1.0, -9.0, -7.0)
    assert np.allclose(upper, -lower, rtol=1e-12)
