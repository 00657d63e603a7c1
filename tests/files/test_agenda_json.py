from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.errors import PhexploreError
from phexplore.files.agenda_json import decode_goals, decode_rules, encode_agenda
from phexplore.files.project_file import LoggedStep, ProjectContent, read_project, write_project
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.goals import Cap, CapOn, Goals, Tie, TiedBy
from phexplore.model.keys import parse_query
from phexplore.model.rules import REDISTRICTING, Bound, Measure, Rule
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import Workbook, remove_scenario, set_goals, set_rules, system_name

A, B = parse_query("PH3/state_A-G"), parse_query("PH7/usa_*")
BLOCK = LevelQuery("Block", "hispanic * cenrace")
ASKED = Goals(
    {A: Fraction(61, 3)},
    {B: Fraction(1, 7)},
    (
        Cap(CapOn.BOUNDED, Fraction(5, 2), frozenset({A})),
        Cap(CapOn.EPSILON, Fraction(11), None, Neighbours.UNBOUNDED, Fraction(1, 10**6), Conversion.BUN_STEINKE),
    ),
    (Tie((A, B), TiedBy.BUDGET),),
    frozenset({B}),
)
RULES = (REDISTRICTING, Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(68), "PH3"))


@pytest.fixture
def book(us):
    first = replace(us, name="A")
    return set_rules(set_goals(Workbook((first, replace(us, name="B")), "A"), "phsafe", ASKED), RULES)


def test_that_rules_and_goals_survive_exactly(book) -> None:
    value = json.loads(json.dumps(encode_agenda(book)))
    assert decode_rules(value["rules"]) == RULES
    assert decode_goals(value["goals"]) == {"phsafe": ASKED}


def test_that_goals_of_topdown_keep_their_names() -> None:
    goals = {"topdown": Goals(margins={BLOCK: Fraction(9)})}
    value = {"topdown": {"targets": {BLOCK.text: "9"}}}
    assert decode_goals(value) == goals


def test_that_a_project_keeps_them_with_its_log(book, us) -> None:
    first = Workbook((replace(us, name="A"), replace(us, name="B")), "A")
    steps = (LoggedStep("New", "", first), LoggedStep("Ask", "", book), LoggedStep("Forget", "", set_rules(book, ())))
    for cursor in range(3):
        read = read_project(write_project(ProjectContent(steps, cursor)).decode(), name="a.phx")
        assert read.issues == ()
        assert read.workbook == steps[cursor].workbook
        assert [step.workbook for step in read.steps] == [step.workbook for step in steps]


def test_that_a_project_without_them_is_written_as_before(us) -> None:
    text = write_project(ProjectContent((LoggedStep("New", "", Workbook((us,), us.name)),), 0)).decode()
    assert "rules" not in text
    assert "goals" not in text


def test_that_they_stay_when_a_scenario_goes(book) -> None:
    left = remove_scenario(book, "A")
    assert (left.rules, dict(left.goals)) == (RULES, {"phsafe": ASKED})


def test_that_goals_that_ask_nothing_are_left_out(book, us) -> None:
    assert dict(set_goals(book, "phsafe", Goals()).goals) == {}
    assert system_name(us) == "phsafe"


@pytest.mark.parametrize(
    "value",
    [[1], {"phsafe": 1}, {"phsafe": {"targets": {"PH3/nowhere": "1"}}}, {"topdown": {"targets": {"Block": "1"}}},
     {"phsafe": {"caps": [{"limit": "1"}]}}, {"phsafe": {"targets": {"PH3/state_A-G": "0"}}}],
)  # fmt: skip
def test_that_goals_that_cannot_be_read_are_refused(value) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError, PhexploreError)):
        decode_goals(value)
