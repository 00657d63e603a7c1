from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.model.numbers import (
    UNLIMITED,
    Rounding,
    decimal_text,
    exact_text,
    has_decimal,
    parse_budget,
    parse_exact,
    round_exact,
    scientific_text,
    total_budget,
)

SPELLINGS = {
    "0.25": Fraction(1, 4),
    "0,25": Fraction(1, 4),
    ".5": Fraction(1, 2),
    "1/3": Fraction(1, 3),
    " 1 / 3 ": Fraction(1, 3),
    "25 %": Fraction(1, 4),
    "25%": Fraction(1, 4),
    "33,3 %": Fraction(333, 1000),
    "2.2e-5": Fraction(22, 10**6),
    "2.2E-05": Fraction(22, 10**6),
    "0.002619": Fraction(2619, 10**6),
    "−1": Fraction(-1),
}


@pytest.mark.parametrize(("text", "value"), SPELLINGS.items(), ids=SPELLINGS.keys())
def test_that_every_spelling_is_read_exactly(text, value):
    assert parse_exact(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "1.2.3",
        "1,234.5",
        "1/0",
        "--1",
        "1e",
        "nan",
        "0x10",
        "1 2",
        "%",
        "\u0663",
        "1\u066b5",
        "\uff13",
        "1/\u0663",
    ],
)
def test_that_what_is_no_number_is_refused_with_the_text(text):
    with pytest.raises(ValueError, match=r"separator|number|zero"):
        parse_exact(text)


@given(st.fractions(min_value=0))
def test_that_exact_text_reads_back_to_the_same_budget(value):
    assert parse_budget(exact_text(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=9, min_value=-(10**6), max_value=10**6))
def test_that_decimals_print_as_the_decimal_module_says(value):
    text = decimal_text(Fraction(value))
    assert text is not None
    assert Decimal(text) == value


@pytest.mark.parametrize("text", ["1,000", "12,345", "-2,514", "999,999"])
def test_that_a_comma_that_may_group_thousands_is_refused_with_both_readings(text):
    with pytest.raises(ValueError, match="may mean"):
        parse_exact(text)
    assert parse_exact("0,125") == Fraction(1, 8)
    assert parse_exact("2,5140") == Fraction("2.514")


@pytest.mark.parametrize(
    ("text", "value"), [("1 234,5", "1234.5"), ("12 688", "12688"), ("-1 234 567.25", "-1234567.25")]
)
def test_that_thousands_can_be_typed_as_they_are_shown(text, value):
    assert parse_exact(text) == Fraction(value)


@pytest.mark.parametrize("text", ["0 125", "1 23", "1234 567", "1.5 200", "1 200 3", "1  234"])
def test_that_other_spaces_within_a_number_are_refused(text):
    with pytest.raises(ValueError, match="is not a number"):
        parse_exact(text)


def test_that_a_third_has_no_decimal():
    assert decimal_text(Fraction(1, 3)) is None
    assert exact_text(Fraction(1, 3)) == "1/3"


@given(st.fractions(min_value=0, max_value=10**6), st.fractions(min_value=Fraction(1, 10**9), max_value=1))
def test_that_rounding_up_is_the_smallest_multiple_not_below(value, step):
    rounded = round_exact(value, step, Rounding.UP)
    assert value <= rounded < value + step
    assert (rounded / step).denominator == 1


@given(st.fractions(min_value=0, max_value=10**6), st.fractions(min_value=Fraction(1, 10**9), max_value=1))
def test_that_rounding_to_nearest_is_within_half_a_step(value, step):
    rounded = round_exact(value, step, Rounding.NEAREST)
    assert abs(rounded - value) <= step / 2


def test_that_a_step_of_zero_is_refused():
    with pytest.raises(ValueError, match="positive"):
        round_exact(Fraction(1), Fraction(0), Rounding.UP)


@given(st.lists(st.fractions(min_value=0), min_size=1))
def test_that_a_total_is_exact_and_order_free(parts):
    assert total_budget(parts) == total_budget(parts[::-1]) == sum(parts)


def test_that_ten_tenths_are_one():
    assert total_budget([parse_budget("0.1")] * 10) == 1


def test_that_one_unlimited_part_makes_the_total_unlimited():
    assert total_budget([Fraction(1), UNLIMITED]) is UNLIMITED
    assert parse_budget("Infinity") is UNLIMITED
    assert exact_text(UNLIMITED) == "Infinity"


def test_that_a_negative_budget_is_refused():
    with pytest.raises(ValueError, match="not published"):
        parse_budget("-0.1")


EXTREME = ("1e9999", "1e-9999", "1e76", "1e-76", f"1/{'7' * 4299}", f"{'7' * 2100}/{'9' * 2099}", "9" * 6000, "1e75/3")


@pytest.mark.defect("F9")
@pytest.mark.parametrize("text", EXTREME, ids=lambda text: text[:8])
def test_that_numbers_no_parameter_has_are_refused_in_a_short_sentence(text):
    with pytest.raises(ValueError, match=r"number|1e-?75|digits") as caught:
        parse_budget(text)
    assert len(str(caught.value)) < 160


@pytest.mark.parametrize("text", ["1e75", "1e-74", f"{'7' * 1990}/{'9' * 1990}", "0." + "3" * 1900, "0", "0e-9999"])
def test_that_every_number_within_the_bounds_is_read_and_shown_and_computed_with(text):
    value = parse_exact(text)
    assert parse_exact(exact_text(value)) == value
    assert float(value**2 * 1000) < float("inf")


@pytest.mark.defect("F9")
def test_that_no_parameters_hold_a_number_that_could_not_be_read_again(us):
    query = next(iter(us.phsafe.budgets))
    for value, words in (
        (Fraction(10) ** 76, "larger than 1e75"),
        (Fraction(1, 3**5000), "closer to 0"),
        (Fraction(-1), "at least 0"),
    ):
        with pytest.raises(ValueError, match=words):
            replace(us.phsafe, budgets={**us.phsafe.budgets, query: value})


@given(st.fractions())
def test_that_a_number_has_a_decimal_exactly_where_one_is_written(value):
    assert has_decimal(value) == (decimal_text(value) is not None)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 10**6))
def test_that_long_decimals_are_decimals(twos, fives, above):
    assert has_decimal(Fraction(above, 2**twos * 5**fives))
    assert not has_decimal(Fraction(1, 2**twos * 5**fives * 7))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 10**10), "1e-10"),
        (Fraction(1, 20), "5e-02"),
        (Fraction(25, 10**11), "2.5e-10"),
        (Fraction(1, 330_000_000), "1/330000000"),
    ],
)
def test_that_a_small_number_is_written_exactly(value, text):
    assert scientific_text(value) == text
    assert Fraction(text) == value
