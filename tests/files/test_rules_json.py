from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.files.rules_json import read_rules, write_rules
from phexplore.model.issues import InputProblemsError
from phexplore.model.rules import REDISTRICTING, Bound, Measure, Rule

RULES = st.builds(
    lambda measure, bound, limit, place, people, tolerance: Rule(
        measure, bound, limit, place, "mae" if measure is Measure.ERROR else "", people, tolerance
    ),
    st.sampled_from(Measure),
    st.sampled_from(Bound),
    st.fractions(0, 1),
    st.sampled_from(["", "Block", "PH3/state_A-G"]),
    st.integers(0, 10_000),
    st.fractions(Fraction(1, 1000), 1),
)


@given(st.lists(RULES, min_size=1, max_size=4))
def test_that_rules_are_written_and_read_back(rules):
    assert read_rules(write_rules(rules).decode()) == tuple(rules)


def test_that_numbers_are_read_as_written():
    assert read_rules('[{"measure": "largest group", "at_least": 0.95}]') == (REDISTRICTING,)
    assert read_rules('{"rules": [{"measure": "largest group", "at_least": "95 %"}]}') == (REDISTRICTING,)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "Not JSON"),
        ("3", "no list of rules"),
        pytest.param('{"rules": []}', "holds no rule", marks=pytest.mark.defect("F15")),
        pytest.param('[{"measure": "loss", "at_most": "1e-9999"}]', "closer to 0", marks=pytest.mark.defect("F9")),
        ("[3]", "a rule is an object"),
        ('[{"measure": "luck", "at_most": 1}]', "the measure is one of"),
        ('[{"measure": "margin"}]', "exactly one of"),
        ('[{"measure": "margin", "at_most": 1, "at_least": 2}]', "exactly one of"),
        ('[{"measure": "margin", "at_most": true}]', "a number is expected"),
        ('[{"measure": "margin", "at_most": 1, "where": "x"}]', "'where' is unknown"),
        ('[{"measure": "margin", "at_most": 1, "place": 1}]', "text is expected"),
        ('[{"measure": "margin", "at_most": 1, "least_people": 1.5}]', "whole number"),
        ('[{"measure": "error", "at_most": 1}]', "names one figure"),
        ("[" * 100000, "Not JSON"),
    ],
)
def test_that_problems_name_the_rule(text, sentence):
    with pytest.raises(InputProblemsError) as caught:
        read_rules(text)
    issue = caught.value.issues[0]
    assert sentence in issue.sentence or "nested" in issue.sentence


def test_that_all_problems_are_listed():
    with pytest.raises(InputProblemsError) as caught:
        read_rules('[{"measure": "x", "at_most": 1}, {"measure": "margin", "at_most": 1}, 5]')
    assert [issue.path[1] for issue in caught.value.issues] == ["rule 1", "rule 3"]
