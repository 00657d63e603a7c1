"""The last run of the active scenario: which one counts, and what the tile says of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal

from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.figures.tile import Tone
from phexplore.gui.binding.session import Session
from phexplore.gui.run_manager import last_run
from phexplore.gui.run_manager.last_run import EDITED, LastRun, last_run_of, reservation, wanted_run
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, state_words
from phexplore.model.edits import set_field
from phexplore.model.keys import TableId
from phexplore.model.workbook import Workbook, activate, add_scenario
from phexplore.runs.spec import RunData, RunSpec
from phexplore.runs.states import RunState
from phexplore.systems.phsafe.budget_edits import edit_threshold
from phexplore.systems.phsafe.run_reader import PhSafeRunReader
from phexplore.systems.registry import preset
from phexplore.systems.run_results import RunRequest

DATA = RunData("/no/data", "0" * 64, 1)


def row(scenario, name, trials=3, state=RunState.COMPLETE):
    return RunRow(Path(name), RunSpec(scenario, DATA, 5, 1), state, trials=trials)


@pytest.fixture
def persons():
    return replace(preset("pl94-2020-persons-us").scenario, name="Mine")


def test_that_runs_of_other_scenarios_and_runs_without_trials_do_not_count(persons, us):
    other = set_field(replace(persons, name="Other"), "total", Fraction(3))
    rows = [row(us, "4"), row(other, "3"), row(persons, "2", trials=0), row(persons, "1")]
    found = last_run_of(persons, rows)
    assert found.row.directory == Path("1")
    assert found.is_current
    assert last_run_of(other, rows).row.directory == Path("3")
    assert last_run_of(us, rows).row.directory == Path("4")
    assert last_run_of(set_field(replace(persons, name="New"), "total", Fraction(1)), rows) is None


def test_that_an_edited_scenario_keeps_its_run_and_exact_parameters_come_first(persons):
    edited = set_field(persons, "total", Fraction(3))
    assert not last_run_of(edited, [row(persons, "1")]).is_current
    found = last_run_of(persons, [row(edited, "2"), row(persons, "1")])
    assert (found.row.directory, found.is_current) == (Path("1"), True)
    renamed = replace(persons, name="Renamed")
    assert last_run_of(renamed, [row(persons, "1")]).is_current


@pytest.mark.defect("M4")
@pytest.mark.parametrize("state", [RunState.CANCELLED, RunState.FAILED, RunState.RUNNING])
def test_that_a_complete_run_comes_before_a_newer_one_that_is_not(persons, state):
    edited = set_field(persons, "total", Fraction(3))
    rows = [row(persons, "3", state=state), row(persons, "2"), row(edited, "1")]
    assert last_run_of(persons, rows).row.directory == Path("2")
    assert last_run_of(persons, [rows[0], rows[2]]).row.directory == Path("1")
    assert last_run_of(persons, rows[:1]).row.directory == Path("3")


@pytest.mark.defect("M4")
def test_that_results_are_those_of_the_scenario_or_say_whose_they_are(persons, us):
    other = set_field(replace(persons, name="Other"), "total", Fraction(3))
    mine, cancelled = row(persons, "2"), row(persons, "4", state=RunState.CANCELLED)
    rows = [row(us, "5"), cancelled, row(other, "3"), mine]
    assert wanted_run(persons, rows, {}) is mine
    assert reservation(persons, mine) == ""
    new = set_field(replace(persons, name="New"), "total", Fraction(1))
    foreign = wanted_run(new, rows, {})
    assert foreign.directory == Path("3")
    assert reservation(new, foreign) == "These are results of another scenario, 'Other'; 'New' is being edited."
    assert reservation(persons, cancelled) == "This run is not complete (cancelled): 3 of 5 trials."
    assert reservation(set_field(persons, "total", Fraction(2)), mine) == "The scenario was edited since this run."
    assert wanted_run(persons, [row(us, "5")], {}) is None


class Direct(QObject):
    """Answers at once, in this process."""

    answered = Signal(object)
    failed = Signal(object)

    def __init__(self):
        super().__init__()
        self._reader = PhSafeRunReader()

    def request(self, request):
        self.answered.emit(self._reader.answer(request))

    def stop(self):
        """Nothing runs."""


class Refusing(Direct):
    """Cannot read any run."""

    def request(self, request):
        self.failed.emit(PhexploreError("The run cannot be read."))


@pytest.mark.defect("M4")
def test_that_the_tile_follows_the_active_scenario_and_says_when_it_was_edited(qtbot, us, write_run):
    run = write_run(2)
    session = Session(Project.new(Workbook((us,), us.name)))
    controller = RunController(run.directory.parent)
    last = LastRun(session, controller, session, service=Direct())
    tiles = []
    last.changed.connect(tiles.append)
    qtbot.waitUntil(lambda: bool(tiles) and tiles[-1] is not None)
    assert tiles[0].value == "…"  # and not "none yet" beside the notice of a complete run
    assert (
        tiles[-1].caption == "Last run (waiting): coverage"
    )  # not by its colour alone where no room is left for the change
    value = tiles[-1].value

    session.edit("Set the threshold of PH4 to 12", lambda s: edit_threshold(s, TableId("PH4"), 12))
    qtbot.waitUntil(lambda: tiles[-1].change == EDITED)
    assert (tiles[-1].value, tiles[-1].tone) == (value, Tone.ATTENTION)
    assert tiles[-1].caption == "Last run (edited since): coverage"
    session.undo()
    qtbot.waitUntil(lambda: tiles[-1].change != EDITED)

    session.edit_workbook("Add", lambda book: add_scenario(book, preset("pl94-2020-persons-us").scenario))
    qtbot.waitUntil(lambda: tiles[-1] is None)
    session.edit_workbook("Back", lambda book: activate(book, us.name))
    qtbot.waitUntil(lambda: tiles[-1] is not None and tiles[-1].value == value)
    last.stop()
    controller.shut_down()


class Rows(QObject):
    """Runs that are there."""

    changed = Signal()

    def __init__(self, *rows):
        super().__init__()
        self.rows = rows


def test_that_a_run_judges_exactly_the_parameters_it_was_made_with(qapp, us, monkeypatch):
    monkeypatch.setattr(last_run, "load_summary", lambda directory: {"of": directory})
    session, runs = Session(Project.new(Workbook((us,), us.name))), Rows(row(us, "1"))
    last = LastRun(session, runs, session, service=Refusing())
    runs.changed.emit()
    assert last.summary_of(session.scenario) == {"of": Path("1")}
    session.edit("Set the threshold of PH4 to 12", lambda s: edit_threshold(s, TableId("PH4"), 12))
    assert last.summary_of(session.scenario) is None
    session.undo()
    assert last.summary_of(session.scenario) == {"of": Path("1")}
    runs.rows = (row(us, "2", state=RunState.RUNNING),)
    runs.changed.emit()
    assert last.summary_of(session.scenario) is None


class InSlices(Direct):
    """Answers with a part of the trials first, as a large run is read."""

    def __init__(self):
        super().__init__()
        self._lacking = 2

    def request(self, request):
        answer = self._reader.answer(request)
        if self._lacking:
            part = replace(answer.headline, value="of a part")
            answer = replace(answer, headline=part, waiting=self._lacking)
            self._lacking -= 1
        self.answered.emit(answer)


@pytest.mark.defect("M4")
def test_that_the_figure_of_a_part_of_the_trials_is_not_taken_for_that_of_the_run(qtbot, us, write_run):
    run = write_run(2)
    session = Session(Project.new(Workbook((us,), us.name)))
    controller = RunController(run.directory.parent)
    last = LastRun(session, controller, session, service=InSlices())
    tiles = []
    last.changed.connect(tiles.append)
    whole = PhSafeRunReader().answer(RunRequest(run.directory)).headline
    qtbot.waitUntil(lambda: bool(tiles) and tiles[-1].value != "…")
    assert tiles[-1].value == whole.value
    assert "of a part" not in {tile.value for tile in tiles}
    last.stop()
    controller.shut_down()


@pytest.mark.defect("M4")
def test_that_a_run_that_cannot_be_read_is_not_called_none(qtbot, us, write_run):
    run = write_run(2)
    session = Session(Project.new(Workbook((us,), us.name)))
    controller = RunController(run.directory.parent)
    last = LastRun(session, controller, session, service=Refusing())
    tiles = []
    last.changed.connect(tiles.append)
    qtbot.waitUntil(lambda: bool(tiles))
    assert tiles[-1].value == "unreadable"
    last.stop()
    controller.shut_down()


class Late(Direct):
    """Answers and fails when it is told to."""

    def request(self, request):
        """Nothing yet."""


@pytest.mark.defect("M4")
def test_that_a_late_failure_is_not_said_of_a_scenario_without_runs(qtbot, us, write_run):
    run = write_run(2)
    session = Session(Project.new(Workbook((us,), us.name)))
    controller, service = RunController(run.directory.parent), Late()
    last = LastRun(session, controller, session, service=service)
    tiles = []
    last.changed.connect(tiles.append)
    qtbot.waitUntil(lambda: bool(tiles) and tiles[-1].value == "…")
    session.edit_workbook("Add", lambda book: add_scenario(book, preset("pl94-2020-persons-us").scenario))
    qtbot.waitUntil(lambda: tiles[-1] is None)
    service.failed.emit(PhexploreError("The run cannot be read."))
    assert tiles[-1] is None
    last.stop()
    controller.shut_down()


@pytest.mark.defect("M4")
def test_that_a_run_with_all_trials_that_was_stopped_says_what_is_missing(us):
    assert state_words(row(us, "1", trials=5, state=RunState.CANCELLED)) == "stopped before the summary"
    assert state_words(row(us, "1", trials=4, state=RunState.CANCELLED)) == "cancelled"
    assert state_words(row(us, "1", trials=4, state=RunState.INTERRUPTED)) == "interrupted"
    assert state_words(row(us, "1", trials=5)) == "complete"
