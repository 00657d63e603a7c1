from __future__ import annotations

import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.runs.spec import StopRule
from phexplore.runs.trials import stopping_trial


@given(st.lists(st.floats(0, 1), max_size=40), st.integers(2, 12), st.integers(1, 200))
def test_that_a_run_stops_at_the_first_trial_that_is_precise_enough(
    shares: list[float], minimum: int, thousandths: int
) -> None:
    rule = StopRule(Fraction(thousandths, 1000), minimum)

    def error(count: int) -> float:
        return statistics.stdev(shares[:count]) / count**0.5

    found = stopping_trial(shares, rule)
    limit = float(rule.coverage_error)
    for count in range(minimum, len(shares) + 1):
        if error(count) == pytest.approx(limit, abs=1e-9):
            return  # a tie within rounding may fall either way
        if error(count) < limit:
            assert found == count
            return
    assert found is None


def test_that_equal_trials_stop_at_the_minimum() -> None:
    assert stopping_trial([0.9] * 20, StopRule(Fraction(1, 1000), 7)) == 7


def test_that_too_few_trials_never_stop() -> None:
    assert stopping_trial([0.9] * 6, StopRule(Fraction(1, 1000), 7)) is None
