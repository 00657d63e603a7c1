from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.figures.wording import (
    budget_text,
    margin_text,
    parse_people,
    people,
    power_text,
    sentence,
    short_budget,
    signed_budget,
    signed_people,
    target_text,
    to_digits,
    to_places,
    with_interval,
    with_unit,
)
from phexplore.model.numbers import UNLIMITED, parse_exact
from phexplore.model.rounded import fixed, percent


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=9), st.integers(0, 8))
def test_that_fixed_rounds_as_the_decimal_module_does(value, places) -> None:
    expected = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    shown = fixed(Fraction(value), places).replace("−", "-").replace(",", "")
    assert Decimal(shown) == expected
    assert shown.count(".") == (1 if places else 0)


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (Fraction(0), "–"),
        (Fraction("0.662976"), "0.662976"),
        (Fraction("0.000022"), "0.000022"),
        (Fraction("0.1"), "0.100000"),
        (Fraction("2.514562"), "2.514562"),
        (Fraction("12345.5"), "12,345.500000"),
        (Fraction("0.00000022"), "0.00000022"),
        (Fraction(1, 3), "0.333333…"),
        (Fraction(1, 3 * 10**7), "3.3333e-08…"),
        (Fraction(1, 3 * 10**400), "3.3333e-401…"),
        (UNLIMITED, "∞"),
    ],
)
def test_that_a_budget_reads_well_and_never_as_zero(budget, text) -> None:
    assert budget_text(budget) == text


@given(st.fractions(min_value=0, max_value=100).filter(bool))
def test_that_a_budget_that_is_shown_without_dots_is_exactly_that(budget) -> None:
    shown = budget_text(budget)
    if "…" not in shown:
        assert parse_exact(shown.replace(",", "")) == budget


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (500.2, "500"),
        (20, "20"),
        (67.99, "68.0"),
        (0.5, "0.50"),
        (12688, "12,688"),
        (float("inf"), "∞"),
        (float("nan"), "–"),
    ],
)
def test_that_people_are_rounded_for_reading(number, text) -> None:
    assert people(number) == text


def test_that_differences_carry_their_sign() -> None:
    assert signed_people(5.0) == "+5"
    assert signed_people(-119.1) == "−119"
    assert signed_people(0.001) == "0"
    assert signed_budget(Fraction("0.0311")) == "+0.031100"
    assert signed_budget(Fraction(-1, 10**9)) == "−1.0000e-09"
    assert signed_budget(Fraction(0)) == "0"


@pytest.mark.parametrize(
    ("value", "error", "is_signed", "text"),
    [
        (2.5, 1.0, False, "2.50, 1.50 to 3.50"),
        (454.35, 12.34, False, "454.4, 442.0 to 466.7"),
        (1200.0, 300.0, False, "1,200, 900 to 1,500"),
        (2.0, 0.75, True, "+2.00, +1.25 to +2.75"),
        (-2.0, 3.0, True, "−2, −5 to +1"),
    ],
)
def test_that_a_number_and_its_interval_have_the_same_decimals(value, error, is_signed, text) -> None:
    assert with_interval(value, error, is_signed=is_signed) == text


def test_that_a_small_share_does_not_read_zero() -> None:
    assert percent(Fraction(1, 10**6)) == "< 0.1 %"
    assert percent(Fraction(527, 1000)) == "52.7 %"
    assert percent(Fraction(0)) == "0.0 %"
    assert percent(None) == "–"


@pytest.mark.parametrize(
    ("margin", "target", "text", "excess"),
    [
        (19.704, "19.7", "19.704", "0.004"),
        (20.6, "20", "20.6", "0.60"),
        (500.44, "500.4", "500.44", "0.04"),
        (590.9584, "500", "591", "91.0"),
        (math.inf, "500", "∞", "∞"),
    ],
)
def test_that_a_margin_that_misses_its_target_reads_wider(margin, target, text, excess) -> None:
    assert margin_text(margin, Fraction(target)) == text
    assert people(margin - float(target)) == excess
    assert target_text(Fraction(target)) == target


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.00128, "0.0013"),
        (1.27e-6, "1.3e-06"),
        (-0.004, "−0.004"),
        (0.006, "0.01"),
        (7.5, "7.50"),
        (31.31, "31.3"),
    ],
)
def test_that_people_never_read_0_where_there_are_some(value, text) -> None:
    assert people(value) == text


def test_that_a_huge_number_has_its_digits_and_a_small_one_is_not_0() -> None:
    assert to_digits(Fraction(999999999999)) == "999,999,999,999"
    assert to_digits(Fraction(1, 3)) == "0.333333"
    assert to_places(1234.5) == "1,234.50"
    assert to_places(0.00002) == "2e-05"


def test_that_a_margin_that_keeps_its_target_reads_as_any_number_of_people() -> None:
    assert margin_text(500.04) == "500"
    assert margin_text(1e-9) == "1e-09", "noise that is there is not 0.00"
    assert margin_text(19.996) == "20.0"


@pytest.mark.parametrize(
    ("typed", "value"),
    [("1/3", "1/3"), ("0,25", "1/4"), ("0.25", "1/4"), ("2.2e-5", "0.000022"), ("20", "20")],
)
def test_that_people_are_read_exactly(typed, value) -> None:
    assert parse_people(typed) == Fraction(value)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("1,500", 1500),
        ("12,688", 12688),
        ("1,234,567", 1234567),
        ("1,000.5", "1000.5"),
        ("0,250", "0.25"),
        ("12,5", "12.5"),
    ],
)
def test_that_printed_thousands_are_read_and_other_commas_are_decimals(typed, value) -> None:
    assert parse_people(typed) == Fraction(value)


@pytest.mark.parametrize("value", [500, 1000, 12688, 999_999])
@pytest.mark.defect("minor 2")
def test_that_every_printed_number_of_people_is_read_back(value) -> None:
    assert parse_people(people(value)) == value


@pytest.mark.parametrize("typed", ["1,50,000", "1.000,5", "1,2345,678"])
def test_that_a_number_with_other_separators_is_refused(typed) -> None:
    with pytest.raises(ValueError, match="write it"):
        parse_people(typed)


def test_that_a_share_is_no_number_of_people() -> None:
    """A margin of 50 % was half a person."""
    with pytest.raises(ValueError, match="'50 %' is a share"):
        parse_people("50 %")


def test_that_sentences_and_powers_are_written_out() -> None:
    assert sentence("not a number") == "Not a number."
    assert sentence("Done!") == "Done!"
    assert sentence(" ") == ""
    assert power_text(Fraction(1, 10**10)) == "10⁻¹⁰"
    assert power_text(Fraction(1, 3)) == "1/3"


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        ("0.662976", "0.662976"),
        ("99.123456", "99.123456"),
        ("123.456", "123.46"),
        ("20955.000001", "20,956"),
        ("1000000000000", "1.00e12"),
        ("1234567", "1.24e6"),
        ("0", "–"),
    ],
)
def test_that_a_large_budget_fits_a_column_and_is_never_less_than_it_is(budget, text) -> None:
    assert short_budget(Fraction(budget)) == text


@pytest.mark.parametrize(
    ("number", "unit", "said"),
    [
        (1, "people", "1 person"),
        (1.0, "housing units or group-quarters facilities", "1 housing unit or group-quarters facility"),
        (0.996, "people", "1.00 people"),
        (2, "households", "2 households"),
        (0, "people", "0 people"),
    ],
)
def test_that_one_of_what_is_counted_is_in_the_singular(number, unit, said) -> None:
    assert with_unit(number, unit) == said
