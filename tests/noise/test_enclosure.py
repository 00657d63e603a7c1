from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.noise.enclosure import Enclosure, cosine_of_pi, exp_negative, pi, sine_of_pi

BITS = st.integers(20, 300)
NUMBERS = st.fractions(-1000, 1000, max_denominator=10**6)


def contains(enclosure: Enclosure, value) -> bool:
    if isinstance(value, Fraction):
        return enclosure.low <= value * 2**enclosure.bits <= enclosure.high
    with mpmath.workprec(enclosure.bits + 80):
        return enclosure.low <= value() * mpmath.mpf(2) ** enclosure.bits <= enclosure.high


def width(enclosure: Enclosure) -> int:
    return enclosure.high - enclosure.low


@given(NUMBERS, NUMBERS, BITS)
def test_that_the_four_operations_enclose_the_exact_result(a, b, bits):
    x, y = Enclosure.of(a, bits), Enclosure.of(b, bits)
    assert contains(x + y, a + b)
    assert contains(x - y, a - b)
    assert contains(-x, -a)
    assert contains(x * y, a * b)
    if y.low > 0:
        assert contains(x / y, a / b)


@given(NUMBERS, st.integers(0, 9), st.integers(0, 50), st.integers(1, 50), BITS)
def test_that_powers_and_scaling_enclose_the_exact_result(a, exponent, factor, divisor, bits):
    x = Enclosure.of(a, bits)
    assert contains(x.power(exponent), a**exponent)
    assert contains(x.scaled(factor, divisor), a * factor / divisor)


@given(NUMBERS, BITS, BITS)
def test_that_changing_the_places_keeps_the_number_inside(a, bits, others):
    assert contains(Enclosure.of(a, bits).at(others), a)


@given(NUMBERS, NUMBERS, BITS)
def test_that_an_interval_of_two_numbers_contains_the_products_of_both(a, b, bits):
    both = Enclosure.of(a, bits).joined(Enclosure.of(b, bits))
    for left in (a, b):
        for right in (a, b):
            assert contains(both * both, left * right)


def test_that_division_by_what_may_be_zero_is_refused_with_the_divisor():
    with pytest.raises(ZeroDivisionError, match="low=-1, high=1"):
        Enclosure.of(1, 30) / Enclosure(-1, 1, 30)


@given(st.fractions(0, 500, max_denominator=10**6), BITS)
def test_that_the_exponential_is_enclosed_within_a_few_units(x, bits):
    enclosure = exp_negative(Enclosure.of(x, bits))
    assert contains(enclosure, lambda: mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator))
    assert width(enclosure) <= 4


def test_that_the_exponential_of_a_negative_number_is_refused():
    with pytest.raises(ValueError, match="at least 0"):
        exp_negative(Enclosure.of(-1, 30))


@pytest.mark.parametrize("bits", [8, 64, 192, 1000])
def test_that_pi_is_enclosed_within_two_units(bits):
    assert contains(pi(bits), lambda: +mpmath.pi)
    assert width(pi(bits)) <= 2


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6), BITS)
def test_that_sine_and_cosine_are_enclosed_within_a_few_units(numerator, denominator, bits):
    for function, exact in ((sine_of_pi, mpmath.sinpi), (cosine_of_pi, mpmath.cospi)):
        enclosure = function(numerator, denominator, bits)
        with mpmath.workprec(bits + 80):
            value = exact(mpmath.mpf(numerator) / denominator)
        assert contains(enclosure, lambda value=value: value)
        assert width(enclosure) <= 4
