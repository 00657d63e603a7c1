from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.model.rules import REDISTRICTING, Bound, Measure, Outcome, Rule, RuleError, judged, not_judged


def test_that_the_criterion_of_the_redistricting_data_reads_as_people_say_it():
    assert REDISTRICTING.title == "≥ 95 % of areas with ≥ 500 people within 5 percentage points"


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("bound", Bound)
def test_that_every_rule_has_words(measure, bound):
    rule = Rule(measure, bound, Fraction(1, 2), "Block", "mae" if measure is Measure.ERROR else "")
    assert rule.title


@given(st.floats(0, 100), st.fractions(0, 100), st.sampled_from(Bound))
def test_that_the_distance_is_the_room_left_and_the_limit_itself_passes(value, limit, bound):
    rule = Rule(Measure.MARGIN, bound, limit)
    verdict = judged(rule, value)
    assert (verdict.outcome is Outcome.PASS) == (verdict.distance >= 0)
    assert judged(rule, float(limit)).outcome is Outcome.PASS


def test_that_what_nobody_can_know_is_not_judged():
    verdict = not_judged(REDISTRICTING, "only a run can tell")
    assert (verdict.outcome, verdict.value, verdict.distance) == (Outcome.NOT_JUDGED, None, None)


@pytest.mark.parametrize(
    "arguments",
    [
        (Measure.MARGIN, Bound.AT_MOST, Fraction(-1)),
        (Measure.COVERAGE, Bound.AT_LEAST, Fraction(90)),
        (Measure.ERROR, Bound.AT_MOST, Fraction(1)),
        (Measure.MARGIN, Bound.AT_MOST, Fraction(1), "", "mae"),
        (Measure.LARGEST_GROUP, Bound.AT_LEAST, Fraction(1), "", "", -1),
        (Measure.LARGEST_GROUP, Bound.AT_LEAST, Fraction(1), "", "", 1, Fraction(0)),
    ],
)
def test_that_rules_that_say_nothing_are_refused(arguments):
    with pytest.raises(RuleError):
        Rule(*arguments)
