from __future__ import annotations

import math

import mpmath
import pytest

from phexplore.accounting.gaussian_curve import _h, _integral_of_h, _mills, gaussian_solution


def mills(x):
    with mpmath.workdps(60):
        x = mpmath.mpf(x)
        return mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(x * x / 2) * mpmath.erfc(x / mpmath.sqrt(2))


@pytest.mark.parametrize("x", [-0.5, 0, 0.3, 1.9, 2, 4, 5.999, 6, 7, 8.5, 14, 40, 1000])
def test_that_mills_ratio_and_its_complement_have_thirteen_digits(x):
    with mpmath.workdps(60):
        assert abs(_mills(x) / mills(x) - 1) < 1e-14
        assert abs(_h(x) / (1 - mpmath.mpf(x) * mills(x)) - 1) < 2e-13


@pytest.mark.parametrize("mu", [1e-9, 0.9e-3, 1.1e-3, 0.019, 0.021, 0.1, 0.249])
@pytest.mark.parametrize("a", [-0.05, 0, 1, 3, 7, 20])
def test_that_the_nodes_integrate_the_difference_of_mills_ratios(mu, a):
    with mpmath.workdps(60):
        difference = mills(a) - mills(mpmath.mpf(a) + mpmath.mpf(mu))
        assert abs(_integral_of_h(a, mu) / difference - 1) < 2e-13


@pytest.mark.parametrize("rho", [1e-8, 1e-3, 0.03, 0.04, 1.0, 50.0])
@pytest.mark.parametrize("logarithm", [0.5, 5.0, 23.0, 200.0])
def test_that_the_slope_is_the_change_of_epsilon_with_rho(rho, logarithm):
    here = gaussian_solution(rho, logarithm)
    step = 1e-5
    above, below = (gaussian_solution(rho * (1 + sign * step), logarithm) for sign in (1, -1))
    if min(above.epsilon, below.epsilon) > 1e-6 * math.sqrt(rho):
        assert (above.epsilon - below.epsilon) / (2 * step * rho) == pytest.approx(here.slope, rel=1e-6)
    else:
        assert here.epsilon < 1e-3
        assert here.slope > 0


def test_that_epsilon_passes_zero_without_a_jump():
    # δ(0) = 2Φ(μ/2) − 1: on either side of it, ε changes sign and is small.
    rho = 0.02
    at_zero = -math.log(math.erf(math.sqrt(2 * rho) / 2 / math.sqrt(2)))
    below, above = (gaussian_solution(rho, at_zero + shift).epsilon for shift in (-1e-9, 1e-9))
    assert below < 0 < above
    assert above - below < 1e-8
