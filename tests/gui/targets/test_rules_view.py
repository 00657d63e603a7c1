from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal

from phexplore.catalog import names
from phexplore.decide.rule_evaluation import never_judged
from phexplore.decide.verdict_words import rule_title, verdict_detail, verdict_summary, verdict_text, with_rules
from phexplore.figures.tile import TileContent, Tone
from phexplore.gui.systems.phsafe.summary import phsafe_tiles
from phexplore.gui.targets.rules_view import RuleForm, RulesView
from phexplore.model.rules import REDISTRICTING, Bound, Measure, Outcome, Rule, judged, not_judged
from phexplore.model.workbook import Workbook, add_scenario, set_rules
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.registry import preset

MARGIN = Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(68), "state_A-G")
LOSS = Rule(Measure.LOSS, Bound.AT_MOST, Fraction(2))


@dataclass
class OneRun:
    directory: Path
    spec: object
    trials: int = 3


@dataclass
class Spec:
    scenario: object


class Runs(QObject):
    changed = Signal()
    rows: list = field(default_factory=list)

    def __init__(self, rows) -> None:
        super().__init__()
        self.rows = rows


@pytest.fixture
def run(session, tmp_path, monkeypatch):
    """A finished run on open data whose coverage is known; its specification is not on the disk."""
    monkeypatch.setattr("phexplore.runs.confidentiality.load_spec", lambda _directory: None)
    monkeypatch.setattr("phexplore.runs.confidentiality.is_confidential", lambda *_of: False)
    home = tmp_path / "first"
    home.mkdir()
    (home / "summary.json").write_text(
        json.dumps({"coverage": {"value": 0.93, "low": 0.92, "high": 0.94}, "metrics": []})
    )
    return OneRun(home, Spec(session.scenario))


@pytest.fixture
def view(qtbot, session, run):
    found = RulesView(session, Runs([run]))
    qtbot.addWidget(found)
    found.resize(1100, 600)
    found.show()
    qtbot.waitUntil(lambda: found.answer is not None)
    yield found
    found.stop()


def _wait(qtbot, view):
    qtbot.waitUntil(lambda: view.answer.request.rules == view.rules)


def test_that_an_empty_list_teaches_and_its_button_fills_it(qtbot, view) -> None:
    assert view.pages.currentIndex() == 0
    view.add_published()
    _wait(qtbot, view)
    assert view.rules == (REDISTRICTING,)
    assert view.pages.currentIndex() == 1


def test_that_every_scenario_and_run_has_a_verdict_with_its_distance(qtbot, view, session, query) -> None:
    session.edit_workbook("Copy", lambda book: add_scenario(book, replace(book.scenario, name="Generous")))
    session.edit("More", lambda scenario: set_budget(scenario, query, Fraction(2)))
    coverage = Rule(Measure.COVERAGE, Bound.AT_LEAST, Fraction(9, 10))
    session.edit_workbook("Rules", lambda book: set_rules(book, (MARGIN, LOSS, coverage)))
    _wait(qtbot, view)
    qtbot.waitUntil(lambda: len(view.table.numbers.rows) == 9)
    assert [of for _, of, _ in view.table.numbers.rows[:3]] == [
        "Generous",
        "Proposal",
        "Proposal, 3 trials (first)",
    ]  # the run is of other parameters
    texts = {(rule, of): text for rule, of, text in view.table.numbers.rows}
    loss = texts[rule_title(LOSS), "Generous"]
    assert loss.startswith("✗ ρ 5.1887")
    assert loss.endswith(" over")
    assert texts[rule_title(coverage), "Proposal"] == "– not judged: only a run can tell"
    assert texts[rule_title(coverage), "Proposal, 3 trials (first)"] == "✓ 93.00 %, 3.00 percentage points to spare"
    for row in range(9):
        view.table.selectRow(row)
        assert view.form.rule() == view.rules[row // 3]


def test_that_many_scenarios_are_judged_without_scrolling_sideways(qtbot, view, session) -> None:
    for name in ("Generous", "More careful than the Proposal", "Consensus draft of the committee"):
        session.edit_workbook("Copy", lambda book, name=name: add_scenario(book, replace(book.scenario, name=name)))
    session.edit_workbook("Rules", lambda book: set_rules(book, (MARGIN, LOSS)))
    qtbot.waitUntil(lambda: len(view.table.numbers.rows) == 10)
    assert view.table.horizontalScrollBar().maximum() == 0
    lines = view.table.fontMetrics().lineSpacing()
    assert any(view.table.rowHeight(row) > 2 * lines for row in range(10)), "what does not fit is broken and not cut"


def test_that_a_run_of_the_scenario_stands_beside_it_and_judges_what_a_forecast_cannot(qtbot, view, session) -> None:
    session.edit_workbook("Copy", lambda book: add_scenario(book, replace(book.scenario, name="Copy")))
    coverage = Rule(Measure.COVERAGE, Bound.AT_LEAST, Fraction(9, 10))
    session.edit_workbook("Rules", lambda book: set_rules(book, (coverage,)))
    _wait(qtbot, view)
    qtbot.waitUntil(lambda: len(view.table.numbers.rows) == 3)
    run = "Proposal, 3 trials (first)"
    assert view.table.numbers.rows[1][1] == run
    assert (
        view.finding.text()
        == f"{session.scenario.name}: 1 rule not judged: only a run can tell\n{run}: 1 of 1 rules pass"
    )


def test_that_a_rule_is_added_changed_and_removed_and_undone(qtbot, view, session) -> None:
    view.form.show_rule(MARGIN)
    view.add()
    _wait(qtbot, view)
    view.table.selectRow(0)
    assert view.form.limit.text() == "68"
    view.form.limit.setText("1,070")  # people, as the program prints them
    view.change()
    assert [rule.limit for rule in view.rules] == [1070]
    _wait(qtbot, view)
    view.table.selectRow(0)
    view.remove()
    assert view.rules == ()
    session.undo()
    assert [rule.limit for rule in view.rules] == [1070]


@pytest.mark.parametrize("rule", [REDISTRICTING, MARGIN, LOSS, Rule(Measure.ERROR, Bound.AT_MOST, Fraction(5), "PH3", "mae"),
                                  Rule(Measure.EPSILON, Bound.AT_MOST, Fraction(11, 3)),
                                  Rule(Measure.COVERAGE, Bound.AT_LEAST, Fraction(889, 1000), "PH3")])  # fmt: skip
def test_that_the_form_gives_back_the_rule_it_shows(view, rule) -> None:
    view.form.show_rule(rule)
    assert view.form.rule() == rule
    assert view.form.problem() == ""


@pytest.mark.parametrize(("name", "typed"), [("limit", "many"), ("limit", "-1"), ("limit", "101"), ("least", "2.5"),
                                              ("tolerance", "0")])  # fmt: skip
def test_that_a_rule_that_says_nothing_is_refused_beside_the_form(view, name, typed) -> None:
    view.form.show_rule(REDISTRICTING)
    getattr(view.form, name).setText(typed)
    view.add()
    assert view.reason.text()
    assert view.rules == ()


def test_that_a_limit_that_was_not_typed_is_asked_for(view) -> None:
    view.form.show_rule(MARGIN)
    view.form.limit.clear()
    view.add()
    assert view.reason.text() == "Enter the limit."


def test_that_rules_go_to_a_file_and_back(qtbot, view, session, tmp_path) -> None:
    session.edit_workbook("Rules", lambda book: set_rules(book, (MARGIN, REDISTRICTING)))
    view.write_file(tmp_path / "rules.json")
    session.edit_workbook("Rules", lambda book: set_rules(book, (LOSS,)))
    view.read_file(tmp_path / "rules.json")
    assert view.rules == (LOSS, MARGIN, REDISTRICTING)
    with qtbot.waitSignal(view.failed):
        view.read_file(tmp_path / "absent.json")


def test_that_words_of_verdicts_name_value_distance_and_place() -> None:
    missed = judged(REDISTRICTING, 0.931, "Place", low=0.92, high=0.94)
    assert verdict_text(missed) == "✗ 93.10 %, 1.90 percentage points short"
    assert "Decided by Place" in verdict_detail(missed)
    assert "Between 92.00 % and 94.00 %" in verdict_detail(missed)
    waits = not_judged(REDISTRICTING, "only a run can tell")
    assert verdict_detail(waits).endswith("not judged, only a run can tell")
    met = judged(MARGIN, 68.0)
    assert met.outcome is Outcome.PASS
    assert verdict_summary((met, missed, waits)).startswith("1 of 3 rules pass; ✗ ≥ 95 %")
    assert verdict_summary(()) == ""


def test_that_a_summary_counts_every_miss_and_names_the_place_of_the_first() -> None:
    elsewhere = judged(MARGIN, 98.0, "PH8_num/state_A-G")
    missed = judged(REDISTRICTING, 0.931, "Place")
    found = verdict_summary((elsewhere, missed))
    assert (
        found
        == "0 of 2 rules pass; ✗ margin of error of state_A-G at most 68: 30 people over at PH8_num/state_A-G; 1 more fails"
    )
    assert verdict_summary((elsewhere, missed, missed)).endswith("; 2 more fail")
    assert "PH8_num" not in verdict_summary((elsewhere, missed), names_place=False)  # a tile has no room for it


def test_that_a_symbol_keeps_its_letter_and_a_distance_is_that_of_the_decimals_read() -> None:
    rule = Rule(Measure.EPSILON, Bound.AT_MOST, Fraction(2))
    assert rule_title(rule) == "ε at most 2"
    assert verdict_text(judged(rule, 1.1)) == "✓ ε 1.1, 0.9 to spare"  # 0.89999 by the floats


def test_that_the_headline_names_rules_only_where_there_are_some(us) -> None:
    tiles = tuple(TileContent(f"{number}", "") for number in range(3))
    book = Workbook((us,), us.name)
    assert with_rules(tiles, book, us) is tiles
    found = with_rules(tiles, set_rules(book, (LOSS,)), us)
    assert found[1].change.startswith("0 of 1 rules pass")
    assert (found[0], found[2]) == (tiles[0], tiles[2])


def test_that_the_headline_judges_with_the_last_run_what_a_forecast_cannot(us) -> None:
    tiles = tuple(TileContent(f"{number}", "", "", "all met", Tone.GOOD) for number in range(3))
    book = set_rules(Workbook((us,), us.name), (Rule(Measure.COVERAGE, Bound.AT_LEAST, Fraction(9, 10)),))
    assert with_rules(tiles, book, us)[1].change == "1 rule not judged: only a run can tell · all met"
    ran = with_rules(tiles, book, us, {"coverage": {"value": 0.93}})[1]
    assert (ran.change, ran.tone) == ("1 of 1 rules pass (with the last run) · all met", Tone.GOOD)
    missed = with_rules(tiles, book, us, {"coverage": {"value": 0.7}})[1]
    assert missed.change.startswith("0 of 1 rules pass (with the last run) · all met · ✗ coverage")
    assert missed.tone is Tone.ATTENTION


@pytest.mark.defect("M16")
def test_that_a_rule_nothing_can_judge_is_not_offered_and_contradicts_nothing(qtbot, view, session, us) -> None:
    assert not view.published.isEnabled()
    assert "only TopDown runs" in view.published.toolTip()
    measure = view.form.measure
    assert measure.currentData() is Measure.MARGIN
    entry = measure.model().item(measure.findData(Measure.LARGEST_GROUP))
    assert not entry.isEnabled()
    assert "only TopDown runs" in entry.toolTip()
    view.add_published()
    _wait(qtbot, view)
    assert view.finding.text() == f"Proposal: 1 rule not judged: {never_judged(Measure.LARGEST_GROUP, us)}"
    tiles = with_rules(phsafe_tiles(session.shown), session.project.workbook, session.scenario)
    assert tiles[1].change.startswith("1 rule not judged: only TopDown")
    assert tiles[1].change.endswith(" · all met")
    assert tiles[1].tone is Tone.NEUTRAL


@pytest.mark.defect("M16")
def test_that_topdown_is_offered_the_criterion_of_2020() -> None:
    assert never_judged(Measure.LARGEST_GROUP, preset("pl94-2020-persons-us").scenario) == ""


@pytest.mark.parametrize(
    ("name", "unit", "loss"),
    [
        ("group-sizes-census-2010", "groups", "ε here, unbounded neighbors"),
        ("dhc-2020-units-us", "households", "ρ here, bounded neighbors"),
        ("pl94-2020-persons-us", "people", "ρ here, bounded neighbors"),
    ],
)
def test_that_the_limit_of_a_margin_is_in_what_the_scenario_counts_and_that_of_its_loss_in_what_it_is(
    qtbot, name, unit, loss
) -> None:
    form = RuleForm()
    qtbot.addWidget(form)
    form.show_rule(MARGIN)
    form.offer_for(preset(name).scenario)
    assert form._unit.text() == unit
    form.show_rule(LOSS)
    assert form._unit.text() == loss


def test_that_the_criterion_of_2020_is_offered_in_one_place(qtbot, view) -> None:
    assert view.published.isHidden()
    assert view.pages.currentIndex() == 0
    view.add_published()
    _wait(qtbot, view)
    assert not view.published.isHidden()


@pytest.mark.parametrize(
    "typed", ["Children by household type (State, by race)", "children by household type", "PH3", "Place"]
)
def test_that_the_place_of_a_rule_is_typed_by_name_or_by_code(view, typed, monkeypatch) -> None:
    """A name matched no place, and the rule was never judged."""
    monkeypatch.setattr(names, "_CHOSEN", [names.Naming.NAMES])
    view._offer_what_can_be_judged(view._session.scenario)
    view.form.show_rule(MARGIN)
    assert view.form.place.text() == "State, by race"
    view.form.place.setText(typed)
    place = view.form.rule().place
    assert place == {
        "children by household type (state, by race)": "PH3/state_A-G",
        "children by household type": "PH3",
    }.get(typed.lower(), typed)
