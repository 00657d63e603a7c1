from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.noise.certified_quantile import Tail, normal_guess, require_confidence, secant_guess, smallest_margin
from phexplore.noise.enclosure import Enclosure


def powers_of_half(m: int) -> Fraction:
    """P(|X| > m) of a made-up noise."""
    return Fraction(1, 2 ** (m + 1))


def exactly(m: int, bits: int) -> Enclosure:
    return Enclosure.of(powers_of_half(m), bits)


def vaguely(m: int) -> Tail:
    return Tail(0.5, 0.5)


def never_asked(m: int, bits: int) -> Enclosure:
    raise AssertionError(f"the exact tail at {m} was asked for")


@given(st.integers(0, 200), st.fractions(Fraction(1, 10**9), 1 - Fraction(1, 10**9)), st.floats(0, 1e-3))
def test_that_the_start_and_the_float_error_do_not_change_the_margin(start, confidence, error):
    margin = smallest_margin(confidence, start, lambda m: Tail(float(powers_of_half(m)), error), exactly)
    assert 1 - powers_of_half(margin) >= confidence
    assert margin == 0 or 1 - powers_of_half(margin - 1) < confidence


def test_that_a_tie_is_decided_exactly_and_counts_as_covered():
    assert smallest_margin(Fraction(7, 8), 0, lambda m: Tail(float(powers_of_half(m)), 0.0), exactly) == 2
    just_above = Fraction(7, 8) + Fraction(1, 10**40)
    assert smallest_margin(just_above, 0, lambda m: Tail(float(powers_of_half(m)), 0.0), exactly) == 3


def test_that_floats_alone_decide_where_they_are_sure():
    found = smallest_margin(Fraction(9, 10), 50, lambda m: Tail(float(powers_of_half(m)), 1e-12), never_asked)
    assert found == 3


def test_that_a_confidence_beyond_the_floats_is_decided_by_digits():
    confidence = 1 - Fraction(1, 10**400)
    margin = smallest_margin(confidence, 0, lambda m: Tail(float(powers_of_half(m)), 1e-300), exactly)
    assert margin == math.ceil(400 * math.log2(10)) - 1


def test_that_sides_that_never_part_are_reported():
    def vague(m: int, bits: int) -> Enclosure:
        return Enclosure(0, 1 << bits, bits)

    with pytest.raises(ArithmeticError, match="do not part"):
        smallest_margin(Fraction(1, 2), 0, vaguely, vague)


@pytest.mark.parametrize("confidence", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(3, 2)])
def test_that_a_confidence_outside_0_to_1_is_refused_with_its_value(confidence):
    with pytest.raises(ValueError, match=f"got {confidence}"):
        require_confidence(confidence)
    with pytest.raises(ValueError, match="strictly between"):
        smallest_margin(confidence, 0, vaguely, exactly)


def test_that_the_normal_guess_is_the_normal_margin():
    assert normal_guess(1000.0, Fraction(9, 10)) == math.ceil(1644.8536 - 0.5)
    assert normal_guess(0.001, Fraction(9, 10)) == 0


@given(st.integers(0, 5000), st.integers(50, 3000))
def test_that_the_secant_lands_within_one_of_the_root_of_an_exponential_tail(start, scale):
    confidence = Fraction(99, 100)
    found = secant_guess(start, confidence, lambda m: Tail(math.exp(-m / scale), 0.0))
    assert abs(found - math.log(100) * scale) <= 1
