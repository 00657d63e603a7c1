from __future__ import annotations

from fractions import Fraction

import pytest
from noise.oracles import ROUNDING, UNIT, convolved, coverages, half_pmf

from phexplore.noise import geometric_tail
from phexplore.noise.distributions import TwoSidedGeometric

SCALES = [Fraction(1, 20), Fraction(1, 3), Fraction(1), Fraction(5, 2)]
COUNTS = [1, 2, 3, 7]


@pytest.mark.parametrize("scale", [*SCALES, Fraction(20)], ids=str)
def test_that_the_variance_is_the_second_moment(scale):
    moment = Fraction(2 * sum(x * x * p for x, p in enumerate(half_pmf(TwoSidedGeometric(scale)))), UNIT)
    assert geometric_tail.variance(float(scale)) == pytest.approx(float(moment), rel=1e-14)
    assert geometric_tail.variance(float(scale), 5) == pytest.approx(5 * float(moment), rel=1e-14)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("count", COUNTS)
def test_that_the_finite_sum_is_the_tail_of_the_convolution(scale, count):
    exact = coverages(convolved([TwoSidedGeometric(scale)] * count))
    for m in (0, 1, 2, 5, 13, 40):
        if m < len(exact):
            outside = 1 - exact[m]
            value, error = geometric_tail.tail(float(scale), m, count)
            assert abs(Fraction(value) - outside) <= Fraction(error) + ROUNDING <= Fraction(1, 10**13)
            enclosure = geometric_tail.exact_tail(scale, m, 150, count)
            assert enclosure.low - 1 <= outside * 2**150 <= enclosure.high + 1
            assert enclosure.high - enclosure.low <= 4


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(2200), Fraction(10**9)], ids=str)
@pytest.mark.parametrize("count", [1, 2, 16, 64])
def test_that_the_float_tail_agrees_with_the_exact_one_where_convolution_is_too_long(scale, count):
    for sigmas in (0.0, 1.0, 2.0, 6.0):
        m = int(sigmas * geometric_tail.variance(float(scale), count) ** 0.5)
        value, error = geometric_tail.tail(float(scale), m, count)
        exact = geometric_tail.exact_tail(scale, m, 200, count)
        assert Fraction(value) - Fraction(error) <= Fraction(exact.high, 2**200)
        assert Fraction(exact.low, 2**200) <= Fraction(value) + Fraction(error)
        assert error <= 1e-11


def test_that_a_tail_beyond_the_floats_is_bounded_not_guessed():
    value, error = geometric_tail.tail(1.0, 10_000, 3)
    exact = geometric_tail.exact_tail(Fraction(1), 650, 1200, 3)
    assert (value, error) == (0.0, 0.0)
    value, error = geometric_tail.tail(1.0, 650, 3)
    assert value == 0
    assert Fraction(exact.high, 2**1200) <= Fraction(error) < Fraction(1, 10**270)
