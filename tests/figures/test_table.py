from __future__ import annotations

import math
from fractions import Fraction

import pytest

from phexplore.figures.table import AtLeast, AtMost, Mean, Table, grouped, plain, shortened, shown, signed_tick


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (12688, "12,688"),
        (-5, "−5"),
        (0.0, "0"),
        (500.0412545, "500.04"),
        (1234567.891, "1,234,568"),
        (-0.12345678, "−0.12346"),
        (1e-9, "1e−09"),
        (1e30, "1e+30"),
        (math.nan, "–"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (Fraction(1, 3), "0.33333"),
        ("PH3", "PH3"),
    ],
)
def test_that_a_value_is_shown_with_five_digits_and_a_true_minus(value, text):
    assert shown(value) == text


@pytest.mark.parametrize("size", range(-12, 20))
def test_that_bounds_are_shown_on_their_side_and_copied_in_full(size):
    value = 1.2345678901234 * 10.0**size
    assert Fraction(shown(AtLeast(value)).replace("−", "-").replace(",", "")) <= Fraction(value)
    assert Fraction(shown(AtMost(value)).replace("−", "-").replace(",", "")) >= Fraction(value)
    assert plain(AtMost(value)) == plain(value)


def test_that_a_copy_keeps_every_digit_and_fractions_exact():
    assert plain(500.0412545027243) == "500.0412545027243"
    assert plain(Fraction(1257281, 10**6)) == "1.257281"
    assert plain(Fraction(1, 3)) == "1/3"
    assert plain(None) == ""


def test_that_a_copy_has_headers_and_one_line_per_row():
    numbers = Table(("Table", "people"), (("PH1", 1234.5), ("a\tb", None)))
    assert numbers.tab_separated() == "Table\tpeople\nPH1\t1234.5\na b\t\n"


def test_that_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="a row has 2 values"):
        Table(("a", "b"), ((1,),))


def test_that_a_column_is_found_by_its_header():
    assert Table(("a", "b"), ((1, 2), (3, 4))).column("b") == (2, 4)


def test_that_small_words_are_kept_and_long_ones_end_in_dots():
    assert shortened("Grandchild") == "Grandchild"
    assert shortened("Householder, spouse, unmarried partner, or nonrelative", 24) == "Householder, spouse, un…"


def test_that_ticks_around_zero_carry_their_sign():
    assert [signed_tick(value) for value in (-5.0, 0.0, 2.5)] == ["−5", "0", "+2.5"]
    assert grouped(-1234567) == "−1,234,567"


def test_that_a_mean_and_its_error_add_up_as_they_are_read():
    assert [shown(Mean(value)) for value in (13_733.5, 13_733.5 - 13_734, 13_734.0)] == ["13,733.50", "−0.50", "13,734"]
    assert plain(Mean(13_733.5)) == "13733.5"
