from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from noise.oracles import ROUNDING, UNIT, coverages, half_pmf, pmf

from phexplore.noise import gaussian_tail
from phexplore.noise.distributions import DiscreteGaussian

# Below and above each change of formula: 1/2 for the theta image, 256 for Euler-Maclaurin.
SIGMA2S = [
    Fraction(text) for text in ("1/1000", "1/10", "2/5", "0.499", "1/2", "1", "10", "255.9", "256", "1000", "5000")
]


@pytest.mark.parametrize("sigma2", SIGMA2S, ids=str)
def test_that_the_normalisation_is_the_sum_of_the_weights(sigma2):
    # P(0) = 1 / normalisation
    assert gaussian_tail.normalisation(float(sigma2)) == pytest.approx(
        UNIT / half_pmf(DiscreteGaussian(sigma2))[0], rel=1e-15
    )


@pytest.mark.parametrize("sigma2", SIGMA2S, ids=str)
def test_that_the_variance_is_the_second_moment(sigma2):
    half = half_pmf(DiscreteGaussian(sigma2))
    moment = Fraction(2 * sum(x * x * p for x, p in enumerate(half)), UNIT)
    # The formula subtracts next to equal numbers around σ² = 1/2: one digit is lost there.
    assert gaussian_tail.variance(float(sigma2)) == pytest.approx(float(moment), rel=5e-15, abs=1e-50)


@pytest.mark.parametrize("sigma2", SIGMA2S, ids=str)
@pytest.mark.parametrize("sigmas", [0, 0.7, 1.6, 2.9, 3.1, 5, 9])
def test_that_the_stated_error_of_the_float_tail_holds(sigma2, sigmas):
    m = int(sigmas * float(sigma2) ** 0.5)
    exact = 1 - coverages(pmf(DiscreteGaussian(sigma2)))[m]
    value, error = gaussian_tail.tail(float(sigma2), m)
    assert abs(Fraction(value) - exact) <= Fraction(error) + ROUNDING
    assert error <= 1e-13


@pytest.mark.parametrize("sigma2", SIGMA2S, ids=str)
@pytest.mark.parametrize("sigmas", [0, 1.6, 5])
def test_that_the_exact_tail_encloses_the_sum_within_a_few_units(sigma2, sigmas):
    m = int(sigmas * float(sigma2) ** 0.5)
    exact = (1 - coverages(pmf(DiscreteGaussian(sigma2)))[m]) * 2**150
    enclosure = gaussian_tail.exact_tail(sigma2, m, 150)
    assert enclosure.low - 1 <= exact <= enclosure.high + 1
    assert enclosure.high - enclosure.low <= 4


@pytest.mark.parametrize("sigma2", [Fraction(10**8), Fraction(10**14, 3), Fraction(2**90)], ids=str)
def test_that_very_wide_noise_agrees_with_the_first_terms_of_euler_maclaurin(sigma2):
    # Too wide to add up. The terms beyond these two are below 1/σ⁴ ≤ 1e-16 of the first correction.
    with mpmath.workdps(60):
        sigma = mpmath.sqrt(mpmath.mpf(sigma2.numerator) / sigma2.denominator)
        m = int(1.645 * sigma)
        t = (m + mpmath.mpf(1) / 2) / sigma
        density = mpmath.sqrt(2 / mpmath.pi) * mpmath.exp(-t * t / 2)
        expected = mpmath.erfc(t / mpmath.sqrt(2)) - density * t / (24 * sigma**2)
        found = gaussian_tail.exact_tail(sigma2, m, 200)
        assert abs(mpmath.mpf(found.low) / 2**200 - expected) < 1 / sigma**4
        value, error = gaussian_tail.tail(float(sigma2), m)
        assert abs(value - expected) < error + 1 / sigma**4
