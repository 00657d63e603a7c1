"""Whose runs they are: real windows, real worker processes, real files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint

from phexplore.document.project import Project
from phexplore.gui.binding.areas import Area
from phexplore.gui.main import project_files
from phexplore.gui.main.project_files import first_project, project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.run_manager.launch_form import LaunchRequest
from phexplore.gui.widgets.buttons import TextButton
from phexplore.model.keys import TableId
from phexplore.model.workbook import add_scenario
from phexplore.runs.belonging import runs_folder, runs_in
from phexplore.runs.run_settings import RunSettings
from phexplore.runs.states import RunState
from phexplore.runs.store import SPEC_FILE, state_of, trial_file
from phexplore.systems.phsafe.budget_edits import edit_threshold
from phexplore.systems.registry import preset

LONG = RunSettings("demo-pr", trials=5000)
SHORT = RunSettings("demo-pr", trials=1, seed=2)


def press(dialog, text):
    next(button for button in dialog.findChildren(TextButton) if button.text() == text).click()


@pytest.fixture
def unsaved(qtbot, settings, tmp_path):
    """A window on an unsaved project of Puerto Rico."""
    found = MainWindow(project_of(preset("sdhc-2020-pr")), settings, tmp_path / "kept-nowhere")
    qtbot.addWidget(found, before_close_func=lambda window: setattr(window, "_leaves_without_asking", True))
    found.show()
    return found


@pytest.fixture
def run(qtbot):
    """Start a run in a window and wait until it has a finished trial, or has ended."""

    def begin(window, fields=SHORT, *, to_end=True):
        controller, before = window.areas.runs.controller, len(window.areas.runs.controller.rows)
        controller.launch(window.session.scenario, LaunchRequest(fields))
        qtbot.waitUntil(lambda: len(controller.rows) > before)
        qtbot.waitUntil(lambda: controller.rows[0].state.is_final or (not to_end and controller.rows[0].trials > 0))
        if to_end:
            qtbot.waitUntil(lambda: not controller.is_busy)
        return controller.rows[0].directory

    return begin


@pytest.mark.defect("B2")
def test_that_a_run_at_work_while_its_project_is_first_saved_belongs_to_the_file(unsaved, run, qtbot, tmp_path):
    finished, working = run(unsaved), run(unsaved, LONG, to_end=False)
    controller, path = unsaved.areas.runs.controller, tmp_path / "big.phx"
    unsaved.files.save_to(path)
    assert [row.directory for row in controller.active] == [working]
    controller.cancel(working)
    qtbot.waitUntil(lambda: not controller.active and not controller.is_busy)
    expected = {runs_folder(path) / finished.name, runs_folder(path) / working.name}
    assert set(runs_in(runs_folder(path))) == {row.directory for row in controller.rows} == expected
    assert not finished.parent.exists()
    assert controller.row(working).state is RunState.CANCELLED
    controller.resume(runs_folder(path) / working.name)
    qtbot.waitUntil(lambda: bool(controller.active) and controller.active[0].state is RunState.RUNNING)


@pytest.mark.defect("B2")
def test_that_a_window_closed_just_after_the_first_save_takes_its_run_along(unsaved, run, tmp_path):
    working = run(unsaved, LONG, to_end=False)
    unsaved.files.save_to(tmp_path / "big.phx")
    unsaved.leave_without_asking()
    (kept,) = runs_in(tmp_path / "big.phx.runs")
    assert kept.name == working.name
    assert state_of(kept) is RunState.CANCELLED


@pytest.mark.defect("B2")
def test_that_a_program_killed_after_the_first_save_loses_no_run(qtbot, settings, tmp_path):
    """The worker is between two trials, the project is saved, the run is still beside the scratch file: then the kill."""
    path, home = tmp_path / "big.phx", tmp_path / "home"
    home.mkdir()
    program = [sys.executable, str(Path(__file__).with_name("killed_with_run.py")), str(path), str(home)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=os.environ) as window:
        working = Path(window.stdout.readline().strip())
        window.send_signal(signal.SIGKILL)
    assert working.parent.parent == home
    qtbot.waitUntil(lambda: state_of(working) is not RunState.RUNNING)
    (left,) = runs_in(working.parent)
    # The folder of scratch files of this window is another one: look where the killed program kept its own.
    working.parent.rename(tmp_path / working.parent.name)
    again = MainWindow(Project.open(path), settings, tmp_path / "kept-nowhere")
    qtbot.addWidget(again)
    qtbot.waitUntil(lambda: bool(again.areas.runs.controller.rows) and not again.areas.runs.controller.is_busy)
    assert [row.directory for row in again.areas.runs.controller.rows] == [runs_folder(path) / left.name]
    assert again.areas.runs.controller.rows[0].trials > 0


@pytest.mark.defect("B3")
def test_that_a_new_project_asks_for_the_runs_of_the_unsaved_one_and_never_inherits_them(unsaved, run, qtbot):
    finished = run(unsaved)
    unsaved.files.new(preset("group-sizes-census-2010"))
    question = unsaved.files.dialog
    assert question.windowTitle() == "Keep the finished run of this unsaved project?"
    assert question.focusWidget().text() == "Save"
    press(question, "Cancel")
    assert finished.is_dir()
    unsaved.files.new(preset("group-sizes-census-2010"))
    press(unsaved.files.dialog, "Delete")
    qtbot.waitUntil(lambda: not unsaved.areas.runs.controller.is_busy)
    assert unsaved.areas.runs.controller.rows == ()
    assert not finished.parent.exists()


@pytest.mark.defect("B3")
def test_that_an_opened_project_lists_its_own_runs_and_the_kept_ones_stay_with_theirs(unsaved, run, qtbot, tmp_path):
    other = tmp_path / "pl94.phx"
    made = project_of(preset("pl94-2020-persons-us"))
    made.save(other)
    made.close()
    finished, first = run(unsaved), tmp_path / "first.phx"
    unsaved.files.open(other)
    press(unsaved.files.dialog, "Save")
    unsaved.files.dialog.fileSelected.emit(str(first))
    unsaved.files.dialog.reject()
    qtbot.waitUntil(lambda: unsaved.session.project.path == other and not unsaved.areas.runs.controller.is_busy)
    assert unsaved.areas.runs.controller.rows == ()
    assert runs_in(runs_folder(other)) == ()
    assert [path.name for path in runs_in(runs_folder(first))] == [finished.name]


@pytest.mark.defect("B3")
def test_that_opening_another_project_asks_before_it_ends_a_run(unsaved, run, qtbot, tmp_path):
    path = tmp_path / "first.phx"
    unsaved.files.save_to(path)
    working = run(unsaved, LONG, to_end=False)
    unsaved.files.new(preset("group-sizes-census-2010"))
    assert unsaved.files.dialog.windowTitle() == "Stop the run?"
    assert unsaved.session.project.path == path
    press(unsaved.files.dialog, "Stop the run")
    qtbot.waitUntil(lambda: unsaved.session.project.path is None and not unsaved.areas.runs.controller.is_busy)
    assert unsaved.areas.runs.controller.rows == ()
    assert state_of(working) is RunState.CANCELLED
    assert working.parent == runs_folder(path)


@pytest.mark.defect("B3")
def test_that_closing_asks_for_the_runs_of_an_unsaved_project_without_edits(unsaved, run):
    finished = run(unsaved)
    assert not unsaved.close()
    assert unsaved.files.dialog.windowTitle().startswith("Keep the finished run")
    press(unsaved.files.dialog, "Delete")
    assert not unsaved.isVisible()
    assert not finished.exists()


@pytest.mark.defect("B2")
def test_that_runs_of_an_unsaved_project_without_edits_come_back_after_a_crash():
    left = project_of(preset("sdhc-2020-pr"))
    run = runs_folder(left.scratch) / "20260504T120000Z-0123abcd"
    run.mkdir(parents=True)
    (run / SPEC_FILE).write_text("{}")
    (run / trial_file(0)).write_bytes(b"numbers")
    left._keeping._journal.close(remove=False)  # as when the process ends without a word
    opening = first_project(None)
    assert opening.project.scratch == left.scratch
    assert opening.note.startswith("A run of a project that was not saved")
    opening.project.close()


@pytest.mark.defect("M3")
@pytest.mark.defect("M4")
@pytest.mark.defect("M15")
def test_that_a_start_says_where_runs_of_projects_that_are_gone_lie(monkeypatch, tmp_path):
    monkeypatch.setattr(project_files, "scratch_folder", lambda: tmp_path)
    lost = tmp_path / "7-1.phx.runs" / "20260504T120000Z-0123abcd"
    lost.mkdir(parents=True)
    for name in (SPEC_FILE, trial_file(0)):
        (lost / name).write_bytes(b"{}")
    for path in (lost, lost.parent):
        os.utime(path, (1e9, 1e9))
    assert str(lost.parent) in project_files.abandoned_runs_sentence()
    assert lost.is_dir()


def test_that_news_of_a_run_goes_when_the_next_is_started(unsaved, run, qtbot):
    unsaved.navigation.choose(Area.RUNS)
    run(unsaved)
    qtbot.waitUntil(lambda: "is complete: 1 of 1 trials" in unsaved.notice.text)
    with qtbot.waitSignal(unsaved.areas.runs.controller.launched):
        unsaved.areas.runs.page.start_run()
    assert not unsaved.notice.text


def test_that_the_end_of_a_run_leads_to_its_results_and_results_say_whose_they_are(unsaved, run, qtbot):
    unsaved.navigation.choose(Area.RUNS)
    first = run(unsaved)
    qtbot.waitUntil(lambda: "is complete: 1 of 1 trials" in unsaved.notice.text)
    unsaved.notice._act()
    assert unsaved.navigation.area is Area.RESULTS
    results = unsaved.areas.runs.results["phsafe"]
    line, bar = results.reservation, results.tabs.tabBar()
    qtbot.waitUntil(lambda: results.answer is not None)
    assert results.directory == first
    assert not line.isVisible()
    place = bar.mapTo(unsaved, QPoint())

    unsaved.navigation.choose(Area.RUNS)
    working = run(unsaved, LONG, to_end=False)
    unsaved.areas.runs.controller.cancel(working)
    qtbot.waitUntil(lambda: not unsaved.areas.runs.controller.active and not unsaved.areas.runs.controller.is_busy)
    unsaved.navigation.choose(Area.RESULTS)
    assert results.directory == first
    unsaved.areas.runs.show_results(working)
    assert results.directory == working
    qtbot.waitUntil(lambda: line.text().startswith("This run is not complete (cancelled)"))
    assert line.isVisible()
    assert bar.mapTo(unsaved, QPoint()) == place

    other = replace(unsaved.session.scenario, name="Other")
    unsaved.session.edit_workbook("Add", lambda book: add_scenario(book, edit_threshold(other, TableId("PH4"), 12)))
    qtbot.waitUntil(lambda: line.text().startswith("These are results of another scenario"))
    assert results.directory == first

    assert unsaved.areas.runs._reader.process_id
    unsaved.files.new(preset("pl94-2020-persons-us"))
    press(unsaved.files.dialog, "Delete")
    assert unsaved.areas.runs._reader.process_id == 0
    unsaved.areas.runs.show_results(first)
    assert "not in the open project" in unsaved.notice.text
