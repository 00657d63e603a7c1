"""Numbers for people: one way to write a share, and never better than it is."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import phexplore
from phexplore.figures.table import AtMost, shown
from phexplore.model.rounded import Toward, epsilon_bound, fixed, percent, rounded_down, rounded_up


@given(st.fractions(max_denominator=10**6), st.integers(0, 6))
def test_that_a_direction_is_kept_and_the_next_decimal_is_taken(value, places) -> None:
    down, near, up = (Fraction(fixed(value, places, each).replace(",", "").replace("−", "-"))
                      for each in (Toward.DOWN, Toward.NEAREST, Toward.UP))  # fmt: skip
    assert down <= value <= up
    assert up - down == (0 if down == value else Fraction(1, 10**places))
    assert abs(near - value) == min(value - down, up - value)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (None, "–"), (float("nan"), "–"), (0, "0.0 %"), (1.0, "100.0 %"), (0.042, "4.2 %"),
        (Fraction(1, 10**9), "< 0.1 %"), (Fraction(-1, 10**9), "> −0.1 %"), (0.9999, "> 99.9 %"), (10**400, None),
    ],
)  # fmt: skip
def test_that_a_share_reads_0_or_100_only_when_it_is(share, text) -> None:
    assert percent(share) == text or text is None


def test_that_what_misses_a_limit_never_reads_as_met() -> None:
    assert percent(Fraction(10004, 10000), toward=Toward.UP) == "100.1 %"
    assert percent(0.94996, toward=Toward.DOWN) == "94.9 %"


@pytest.mark.parametrize("toward", Toward)
def test_that_a_share_of_counts_reads_as_the_exact_one(toward) -> None:
    """3 errors of 5 within the margin read 59.99 %, 7 areas of 100 off by more than 5 % read 7.1 %."""
    counts = [(part, whole) for whole in (5, 7, 40, 100, 500, 12495) for part in range(0, whole + 1, 1 + whole // 100)]
    for part, whole in counts:
        exact = Fraction(part, whole)
        for places in (1, 2, 3):
            assert percent(part / whole, places=places, toward=toward) == percent(exact, places=places, toward=toward)


def test_that_shares_are_written_by_the_one_function() -> None:
    tight = re.compile(r"%\}|\{[a-z]+\}%\}|(?<=[\w)])\}%")
    sources = Path(phexplore.__file__).parent.rglob("*.py")
    found = [f"{file.name}: {line.strip()}" for file in sources for line in file.read_text("utf-8").splitlines()
             if tight.search(line) and "strftime" not in line]  # fmt: skip
    assert found == []


@given(st.floats(1e-9, 1e6))
def test_that_a_bound_is_never_shown_smaller_than_it_is(epsilon) -> None:
    shown, meant = Fraction(epsilon_bound(epsilon).replace(",", "")), Fraction(repr(epsilon))
    assert meant <= shown <= meant * Fraction(11, 10) + Fraction(1, 100)


@given(st.integers(1, 10**6), st.integers(2, 6))
def test_that_a_budget_of_few_decimals_reads_as_it_was_entered(number, places) -> None:
    """ε = 0.1 read 0.11 and 0.1001: as a float it is a bit more than 0.1."""
    exact = Fraction(number, 10**places)
    assert rounded_up(float(exact), places) == rounded_down(float(exact), places) == fixed(exact, places)


def test_that_a_bound_reads_as_the_published_one_rounded_up() -> None:
    assert (epsilon_bound(17.143551), epsilon_bound(0), epsilon_bound(float("inf"))) == ("17.15", "0.00", "∞")
    assert [epsilon_bound(float(text)) for text in ("0.1", "0.2", "1.1", "4")] == ["0.10", "0.20", "1.10", "4.00"]
    assert [shown(AtMost(value)) for value in (0.1, 0.3, 17.1453219)] == ["0.1", "0.3", "17.146"]


@pytest.mark.parametrize(
    ("chosen", "text"), [("0.9", "90 %"), ("0.975", "97.5 %"), ("0.995", "99.5 %"), ("0.9999", "99.99 %")]
)
def test_that_a_share_somebody_chose_keeps_all_its_digits(chosen: str, text: str) -> None:
    """Margins at 97.5 % were said to be at 98 %, those at 99.5 % at more than 99 %."""
    assert percent(Fraction(chosen), places=None) == text
