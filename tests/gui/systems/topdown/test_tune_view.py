from __future__ import annotations

import json
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from PySide6.QtCore import QPointF, Qt

from phexplore.document.project import Project
from phexplore.files.project_file import read_project
from phexplore.gui.binding.session import Session
from phexplore.gui.systems.topdown.tune_view import TuneView
from phexplore.model.issues import InputProblemsError
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset
from phexplore.systems.topdown.tune_answers import (
    OWN,
    FoundBudgets,
    as_scenario,
    probe_figure,
    probe_words,
    read_probes,
    read_result,
    result_words,
)
from phexplore.systems.topdown.tuning import starting_strategies
from phexplore.systems.topdown.tuning_probes import read_probes as read_stored_probes

LEVELS = preset("pl94-2020-persons-us").scenario.topdown.levels
FULL = dict.fromkeys(LEVELS, "1/2")
SMALL = dict.fromkeys(LEVELS, "1/4")
# Writes the line of what was asked and two settings, as the command does, then what it found.
FAKE = f"""
import json, sys, time
out = sys.argv[sys.argv.index("--out") + 1]
lines = [{{"asked": 1}}, {{"budgets": {dict.fromkeys(LEVELS)}, "value": 1.0, "meets": True}},
         {{"budgets": {SMALL}, "value": 0.931, "meets": False}}]
with open(out, "a") as file:
    for line in lines:
        file.write(json.dumps(line) + "\\n")
        file.flush()
        print("93.1% misses", file=sys.stderr, flush=True)
SLEEP
print(json.dumps({{"alone": {FULL}, "budgets": {FULL}, "total": "3", "probes": 2,
                  "smaller": [{{"budgets": {SMALL}, "value": 0.96, "meets": True, "total": "3/2"}}]}}))
"""

PROMPT = FAKE.replace("SLEEP", "")


@pytest.fixture
def session(qapp):
    scenario = replace(preset("pl94-2020-persons-us").scenario, name="Proposal")
    return Session(Project.new(Workbook((scenario,), "Proposal")))


@pytest.fixture
def make(qtbot, session, tmp_path):
    made = []

    def build(script=PROMPT):
        found = TuneView(session, lambda: tmp_path / "tuning", command=[sys.executable, "-c", script])
        qtbot.addWidget(found)
        found.resize(1100, 650)
        found.show()
        made.append(found)
        return found

    yield build
    for found in made:
        found.stop()


def test_that_it_starts_from_the_six_published_strategies_and_the_own_one(make, session) -> None:
    view = make()
    assert list(view.settings.ticks) == [*starting_strategies(session.scenario.topdown), OWN]
    assert len(view.settings.ticks) == 7
    assert view.settings.level.currentData() == "Block_Group"


def test_that_every_setting_is_stored_listed_and_the_result_loads(qtbot, make, session, tmp_path) -> None:
    view = make()
    view.start_button.click()
    qtbot.waitUntil(lambda: bool(view.found))
    assert [mark.parts[0].is_hollow for mark in view.chart.marks] == [False, True]
    folder = next((tmp_path / "tuning").iterdir())
    stored = read_project((folder / "parameters.phx").read_text(), name="a.phx").workbook.scenario
    assert stored == session.scenario
    assert len(read_probes(next(folder.glob("*.jsonl")))) == 2
    view.load(view.found[0])
    method = session.scenario.topdown
    assert method.total == 3
    assert set(method.level_shares.values()) == {Fraction(1, 6)}
    assert (
        method.query_shares
        == starting_strategies(preset("pl94-2020-persons-us").scenario.topdown)[view._at].query_shares
    )
    view.load(view.found[0], smaller=True)
    assert session.scenario.topdown.total == Fraction(3, 2)
    assert len(session.project.workbook.scenarios) == 3


def test_that_strategies_run_one_after_the_other(qtbot, make) -> None:
    view = make()
    for name in list(view.settings.ticks)[:3]:
        view.settings.ticks[name].setChecked(True)
    view.start()
    qtbot.waitUntil(lambda: len(view.found) == 3)
    assert len({found.strategy for found in view.found}) == 3
    assert "finished" in view.words.text()


def test_that_a_search_pauses_with_what_it_stored_and_goes_on(qtbot, make) -> None:
    view = make(FAKE.replace("SLEEP", "time.sleep(60)"))
    view.start()
    qtbot.waitUntil(lambda: len(view.chart.marks) == 2)
    assert not view.settings.isEnabled()
    view.pause_button.click()
    qtbot.waitUntil(view.start_button.isEnabled)
    assert "Paused after 2 settings" in view.words.text()
    assert view.found == []


def test_that_settings_are_walked_by_keyboard(qtbot, make) -> None:
    view = make()
    view.start()
    qtbot.waitUntil(lambda: bool(view.found))
    view.chart.canvas.setFocus()
    qtbot.keyClick(view.chart.canvas, Qt.Key.Key_End)
    assert "93.1 %" in view.detail.text()
    view.chart.plot.gestures.pointer_moved(QPointF(200, 100))
    view.chart.show_table(visible=True)
    assert view.chart.numbers.column("Meets") == ("yes", "no")


@pytest.mark.parametrize(("name", "typed"), [("at-least", "many"), ("at-least", "0"), ("within", "101"), ("people", "-5"),
                                              ("data", " ")])  # fmt: skip
def test_that_a_wrong_setting_is_said_and_nothing_starts(qtbot, make, name, typed) -> None:
    view = make()
    view.settings.lines[name].setText(typed)
    view.start()
    assert view.reason.text()
    assert not view.process.is_busy
    view.settings.lines[name].setText({"at-least": "95", "within": "5", "people": "500", "data": "demo"}[name])
    view.start()
    assert view.reason.isHidden(), "a refusal ends with its cause"
    qtbot.waitUntil(lambda: bool(view.found))


def test_that_a_failure_ends_the_search_and_is_said(qtbot, make) -> None:
    view = make("import sys; print('The criterion is not met even without any noise.', file=sys.stderr); sys.exit(1)")
    with qtbot.waitSignal(view.failed) as caught:
        view.start()
    assert "without any noise" in str(caught.args[0])


def test_that_a_line_being_written_is_left_out(tmp_path) -> None:
    path = tmp_path / "p.jsonl"
    assert read_probes(path) == ()
    path.write_text('{"asked": 1}\n{"budgets": {"US": null}, "value": 1.0, "meets": true}\n{"budgets": {"US"')
    assert [probe_words(probe) for probe in read_probes(path)] == ["100.0 % of areas, meets: ρ US ∞"]
    (line,) = probe_figure(read_probes(path), 0.95).under
    assert line.text == "", "words at the line stood under dots"


def test_that_a_result_becomes_parameters_of_its_strategy(session) -> None:
    printed = json.dumps({"budgets": FULL, "total": "3", "probes": 4, "smaller": []})
    found = read_result("collapsed, uniform", printed)
    made = as_scenario(session.scenario, found)
    assert made.topdown.total == 3
    assert made.name.endswith("Collapsed, uniform")
    assert as_scenario(session.scenario, read_result(OWN, printed)).topdown.query_shares == (
        session.scenario.topdown.query_shares
    )


def test_that_a_level_the_data_lack_keeps_its_budget(session) -> None:
    before = session.scenario.topdown
    budgets = {level: "1/2" for level in LEVELS if level != "US"}
    found = read_result(OWN, json.dumps({"budgets": budgets, "total": "5/2", "probes": 4, "smaller": []}))
    after = as_scenario(session.scenario, found).topdown
    assert after.total * after.level_shares["US"] == before.total * before.level_shares["US"]
    assert after.total * after.level_shares["State"] == Fraction(1, 2)


@pytest.mark.defect("minor 19")
def test_that_a_total_far_below_the_scenarios_is_explained() -> None:
    found = FoundBudgets(OWN, {}, Fraction(13, 1000), None, None, 70)
    said = result_words(found, Fraction(256, 100), "demo")
    assert "far below the scenario's ρ of 2.56, and no proof that less is enough" in said
    assert "judged on the areas of demo alone" in said
    assert "because" not in said, "no cause is measured"
    assert "far below" not in result_words(found, Fraction(2, 100), "demo")


@pytest.mark.defect("M6")
def test_that_a_search_ends_with_its_project_and_leaves_nothing_to_load(qtbot, make, session) -> None:
    view = make()
    view.settings.lines["data"].setText("blocks.csv")
    view.start_button.click()
    qtbot.waitUntil(lambda: bool(view.found) and not view.process.is_busy)
    kept = view.found[0]
    other = replace(session.scenario, name="Another")
    session.install(Project.new(Workbook((other,), "Another")))
    assert (view.found, view.chart.marks) == ([], ())
    assert view.settings.lines["data"].text() == "demo"
    view.load(kept)
    assert session.project.workbook.names == ("Another",)


@pytest.mark.defect("M6")
def test_that_a_search_still_at_work_is_stopped_with_its_project(qtbot, make, session) -> None:
    view = make(FAKE.replace("SLEEP", "time.sleep(600)"))
    view.start_button.click()
    qtbot.waitUntil(lambda: len(view.chart.marks) == 2)
    session.install(Project.new(Workbook((replace(session.scenario, name="Another"),), "Another")))
    qtbot.waitUntil(lambda: not view.process.is_busy)
    assert (view.found, view.chart.marks) == ([], ())


@pytest.mark.defect("F7")
def test_that_a_search_on_records_without_a_mark_asks_first(qtbot, make, tmp_path) -> None:
    from phexplore.data.blocks.layouts import PERSON_LAYOUTS

    records = tmp_path / "persons.csv"
    records.write_text(",".join(PERSON_LAYOUTS[0].columns) + "\n")
    view = make()
    view.settings.lines["data"].setText(str(records))
    with qtbot.waitSignal(view.doubted) as doubted:
        view.start_button.click()
    assert "treated as confidential" in doubted.args[0]
    assert not view.process.is_busy
    assert not (tmp_path / "tuning").exists()
    view.start_all_the_same()
    qtbot.waitUntil(lambda: bool(view.found))


@pytest.mark.defect("F9")
@pytest.mark.parametrize("budget", ["1e999999999", "1e-999999999", "9" * 5000, "1/0", "NaN", 0.5, []])
def test_that_a_probe_with_an_impossible_budget_ends_what_is_read_at_once(tmp_path, budget) -> None:
    path = tmp_path / "p.jsonl"
    whole = {"budgets": {"US": "1/3"}, "value": 1.0, "meets": True}
    lines = [{"asked": {}}, whole, {**whole, "budgets": {"US": budget}}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len(read_probes(path)) == 1
    with pytest.raises(InputProblemsError, match="holds no probe"):
        read_stored_probes(path, {})


def test_that_another_estimator_is_asked_of_the_command_and_stored_apart(make):
    view = make()
    assert "estimator" not in view.settings.options()
    view.settings.estimator.select("pooled")
    assert view.settings.options()["estimator"] == "pooled"


@pytest.mark.parametrize(
    ("missing", "said"), [((), ""), (("US",), " Levels that the data lack keep their budgets (US): ρ 2.5649 in all.")]
)
def test_that_a_loaded_total_that_is_not_the_one_found_is_explained(qtbot, make, session, missing, said) -> None:
    """ρ 0.013 was found, and a scenario of 0.078 was loaded without a word."""
    view, notes = make(), []
    view.noted.connect(notes.append)
    budgets = {level: Fraction(1, 2) for level in LEVELS if level not in missing}
    view._scenario = session.scenario
    view.load(FoundBudgets("", budgets, sum(budgets.values()), None, None, 2))
    (note,) = notes
    total = float(session.scenario.topdown.total)
    assert note.partition("edited.")[2] == said.replace("2.5649", f"{total:.6g}")
