from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.decide.comparing import Compared, compare, comparison_json
from phexplore.decide.comparison_view import view_of
from phexplore.errors import ComparisonError
from phexplore.model.edits import rename
from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.rules import Bound, Measure, Outcome, Rule
from phexplore.systems.phsafe.edits import set_budget, set_target, set_threshold
from phexplore.systems.registry import preset

CHILDREN = parse_query("PH3/state_A-G")


def columns(*scenarios):
    return [Compared(scenario.name, scenario) for scenario in scenarios]


def test_that_only_what_differs_is_shown(us):
    other = set_budget(us, CHILDREN, Fraction("0.4"))
    third = set_threshold(us, "PH2", 8)
    found = compare(columns(us, other, third))
    assert [(row.path, [str(v) for v in row.values]) for row in found.parameters] == [
        ("budget PH3/state_A-G", ["10359/15625", "2/5", "10359/15625"]),
        ("threshold PH2", ["10", "10", "8"]),
    ]
    assert {row.place for row in found.effects} == {"PH3/state_A-G", "PH2/usa_*", "PH2/state_*"}
    (row,) = [row for row in found.effects if row.place == "PH3/state_A-G"]
    assert row.values[0] == row.values[2] < row.values[1]


def test_that_equal_scenarios_differ_in_nothing_and_names_become_unique(us):
    found = compare(columns(us, us, rename(us, "Other")))
    assert (found.parameters, found.effects) == ((), ())
    assert [column.name for column in found.columns] == [us.name, f"{us.name} (2)", "Other"]


def test_that_figures_of_runs_stand_beside_each_other(us):
    runs = [
        Compared("one", us, {"metrics": [{"table": "PH2", "level": "usa_*", "total": {"mae": {"value": 3.0}}}]}),
        Compared("two", us, {"metrics": [{"table": "PH2", "level": "usa_*", "total": {"mae": {"value": 4.0}}}]}),
    ]
    found = compare([*runs, *columns(us)])
    assert [(row.name, row.place, row.values) for row in found.measured] == [("mae", "PH2/usa_*", (3.0, 4.0, None))]


def test_that_rules_are_judged_for_every_column(us):
    rule = Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(25), "PH3/state_A-G")
    worse = set_budget(us, CHILDREN, Fraction("0.1"))
    ((first, second),) = compare(columns(us, worse), [rule]).verdicts
    assert (first.outcome.value, second.outcome.value) == ("pass", "fail")


def test_that_systems_are_not_mixed_and_one_is_no_comparison(us):
    with pytest.raises(ComparisonError, match="different systems"):
        compare(columns(us, preset("pl94-2020-units-us").scenario))
    with pytest.raises(ComparisonError, match="at least two"):
        compare(columns(us))


def test_that_the_json_says_the_same(us):
    found = comparison_json(compare(columns(us, set_budget(us, CHILDREN, UNLIMITED))))
    assert found["parameters"] == [{"path": "budget PH3/state_A-G", "values": ["0.662976", "Infinity"]}]
    assert [column["total"] for column in found["columns"]] == ["2.514562", "Infinity"]
    topdown = [preset(name).scenario for name in ("pl94-2020-persons-us", "ppmf-2021-04-high-persons-us")]
    shares = comparison_json(compare(columns(*topdown)))["parameters"]
    assert {"path": "level share County", "values": ["447/4099", "0.076171875"]} in shares


def test_that_rules_judge_what_the_comparison_states(us):
    """A proposal that states its margins at 50 % would pass with half the margin that stands beside it."""
    half = replace(
        us, name="At 50 %", conventions=replace(us.conventions, confidence=Fraction(1, 2), z=Fraction("0.674"))
    )
    limit = Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(15), "PH3/state_A-G")
    (row,) = compare(columns(us, half), (limit,)).verdicts
    assert [each.outcome for each in row] == [Outcome.FAIL, Outcome.FAIL]
    assert row[0].value == row[1].value
    (row,) = compare(columns(half, us), (limit,)).verdicts
    assert [each.outcome for each in row] == [Outcome.PASS, Outcome.PASS]


def test_that_margins_are_stated_in_the_conventions_of_the_first(us):
    wider = replace(us, name="At 99 %", conventions=replace(us.conventions, confidence=Fraction(99, 100)))
    assert compare([Compared("A", us), Compared("B", wider)]).effects == ()


@pytest.mark.defect("S1")
@pytest.mark.parametrize(
    ("name", "total", "loss"), [("group-sizes-census-2010", "1", 1.0), ("counties-invariant-2010", "0.192", 0.192)]
)
def test_that_the_total_of_every_system_stands_in_a_comparison(name, total, loss):
    scenario = preset(name).scenario
    found = compare([Compared("a", scenario), Compared("b", replace(scenario, note="another"))])
    assert found.totals == ((total, loss), (total, loss))


def test_that_targets_a_production_file_cannot_hold_are_no_difference(us):
    bare = replace(us, name="File", method=replace(us.phsafe, targets={}))
    for pair in ((us, bare), (bare, us)):
        found = compare(columns(*pair))
        assert found.parameters == ()
        assert "no targets, like every production file" in view_of(found).sentence
    assert len(compare(columns(us, set_target(us, CHILDREN, Fraction(77)))).parameters) == 1
