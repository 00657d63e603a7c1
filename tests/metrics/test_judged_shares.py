"""What titles claim: no change that is not shown, no verdict from too few areas, one decimal rule for a number and its interval."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.figures.wording import people, shown_change, with_interval
from phexplore.metrics.coverage import Judgement, coverage_of

REQUIRED = Fraction(19, 20)


@pytest.mark.parametrize(
    ("held", "judged", "judgement"),
    [
        (12, 12, Judgement.TOO_FEW),  # Wilson: 75.8 % to 100 %
        (0, 0, Judgement.TOO_FEW),
        (72, 72, Judgement.TOO_FEW),  # 72 / (72 + 1.96²) = 94.9 %
        (73, 73, Judgement.MET),  # 73 / (73 + 1.96²) = 95.0002 %
        (1123, 1150, Judgement.MET),  # 96.6 % to 98.4 %
        (0, 12, Judgement.NOT_MET),
        (2, 7, Judgement.NOT_MET),
        (95, 100, Judgement.TOO_FEW),
    ],
)
@pytest.mark.defect("T13")
def test_that_a_share_is_judged_only_where_its_interval_lies_on_one_side(held, judged, judgement):
    assert coverage_of(held, judged).judge(REQUIRED) is judgement


@given(st.integers(0, 400), st.integers(1, 400))
def test_that_no_share_below_the_criterion_meets_it_and_none_above_fails(held, judged):
    held = min(held, judged)
    judgement = coverage_of(held, judged).judge(REQUIRED)
    if judgement is Judgement.MET:
        assert Fraction(held, judged) >= REQUIRED
    if judgement is Judgement.NOT_MET:
        assert Fraction(held, judged) < REQUIRED


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_that_a_change_is_counted_where_the_shown_digits_differ_and_in_their_direction(before, after):
    change = shown_change(before, after)
    assert (change == 0) is (people(before) == people(after))
    assert change * (after - before) >= 0
    assert shown_change(after, before) == -change


@pytest.mark.defect("T13")
def test_that_the_residue_of_floats_is_no_difference():
    assert with_interval(2.2e-17, 0.21, is_signed=True) == "0.00, −0.21 to +0.21"
    assert with_interval(0.4246, 0.0596, is_signed=True) == "+0.42, +0.36 to +0.48"
    assert with_interval(1.72, 0.3) == "1.72, 1.42 to 2.02"
    assert with_interval(1e-5, 0.0) == "1e-05, 1e-05 to 1e-05"
