from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from phexplore.data.source import demonstration_directory
from phexplore.gui.run_manager.launch_form import LaunchRequest
from phexplore.gui.run_manager.run_controller import RunNotPossibleError
from phexplore.runs.events import Failed, Outcome
from phexplore.runs.run_settings import RunSettings
from phexplore.runs.states import RunState
from phexplore.runs.store import load_events, load_spec


@pytest.fixture
def launch(pretence, us, qtbot):
    """Launch a run and return its directory."""

    def begin(**fields):
        before = len(pretence.controller.rows)
        pretence.controller.launch(us, LaunchRequest(RunSettings(**{"trials": 20, **fields})))
        qtbot.waitUntil(lambda: len(pretence.controller.rows) > before and not pretence.controller.is_busy)
        return pretence.controller.rows[0].directory

    return begin


def settle(pretence, qtbot):
    qtbot.waitUntil(lambda: not pretence.controller.is_busy)


def test_that_a_launched_run_is_frozen_on_disk_and_started(pretence, launch, us, tmp_path):
    directory = launch(trials=7, seed=3)
    spec = load_spec(directory)
    assert directory.parent == tmp_path / "runs"
    assert (spec.trials, spec.seed, spec.scenario) == (7, 3, us)
    assert pretence.processes[0].commands == ["start"]
    assert pretence.controller.row(directory).state is RunState.STARTING


def test_that_runs_wait_for_their_turn(pretence, launch, qtbot):
    first, second = launch(seed=1), launch(seed=2)
    assert len(pretence.processes) == 1
    waiting = pretence.controller.row(second)
    assert (waiting.state, waiting.waits_behind) == (RunState.QUEUED, 1)
    pretence.processes[0].end()
    settle(pretence, qtbot)
    assert [process.directory for process in pretence.processes] == [first, second]
    assert pretence.controller.active[0].directory == second


def test_that_progress_is_told_at_most_four_times_a_second(pretence, launch, qtbot):
    directory = launch()
    process = pretence.processes[0]
    process.begin()
    told, moved = [], []
    pretence.controller.changed.connect(told.append)
    pretence.controller.progressed.connect(moved.append)
    for index in range(100):
        process.finish_trial(index, total=100)
    assert told == []
    qtbot.waitUntil(lambda: moved == [directory])
    assert len(told) == 1
    assert told[0][0].trials == 100


def test_that_pause_resume_and_cancel_reach_the_worker(pretence, launch, qtbot):
    directory = launch()
    process, controller = pretence.processes[0], pretence.controller
    process.begin()
    controller.pause(directory)
    process.become(RunState.PAUSED)
    assert controller.row(directory).state is RunState.PAUSED
    controller.resume(directory)
    process.become(RunState.RUNNING)
    controller.cancel(directory)
    assert process.commands == ["start", "pause", "resume", "cancel"]
    process.end(Outcome.CANCELLED)
    settle(pretence, qtbot)
    assert controller.row(directory).state is RunState.CANCELLED


def test_that_a_waiting_run_leaves_the_queue_when_cancelled(pretence, launch, qtbot):
    launch(seed=1)
    second = launch(seed=2)
    pretence.controller.cancel(second)
    pretence.processes[0].end()
    settle(pretence, qtbot)
    assert len(pretence.processes) == 1
    assert pretence.controller.row(second).state is RunState.CANCELLED


def test_that_a_crash_is_told_with_its_reason_and_recorded(pretence, launch, qtbot):
    directory = launch()
    ended = []
    pretence.controller.ended.connect(ended.append)
    pretence.processes[0].begin()
    pretence.processes[0].fail()
    qtbot.waitUntil(lambda: bool(ended))
    row = ended[0]
    assert (row.state, row.problem, row.remedy) == (RunState.FAILED, "It broke.", "Mend it.")
    assert load_events(directory)[-1] == Failed("It broke.", "Mend it.", "Traceback: here")


def test_that_a_failed_run_starts_again_in_its_own_directory(pretence, launch, qtbot):
    directory = launch()
    pretence.processes[0].fail()
    settle(pretence, qtbot)
    pretence.controller.resume(directory)
    assert [process.directory for process in pretence.processes] == [directory, directory]
    assert pretence.controller.row(directory).problem == ""


def test_that_a_repeated_run_is_a_new_one_with_the_same_identity(pretence, launch, qtbot):
    directory = launch()
    pretence.processes[0].end()
    settle(pretence, qtbot)
    pretence.controller.repeat(directory)
    qtbot.waitUntil(lambda: len(pretence.processes) == 2)
    again = pretence.processes[1].directory
    assert again != directory
    assert load_spec(again).identity == load_spec(directory).identity


def test_that_a_deleted_run_is_gone_from_list_and_disk(pretence, launch, qtbot):
    directory = launch()
    pretence.processes[0].end()
    settle(pretence, qtbot)
    pretence.controller.remove(directory)
    qtbot.waitUntil(lambda: pretence.controller.row(directory) is None)
    assert not directory.exists()


def test_that_what_the_state_forbids_is_refused_with_the_reason(pretence, launch):
    directory = launch()
    pretence.processes[0].begin()
    with pytest.raises(RunNotPossibleError, match="Cancel the run before"):
        pretence.controller.remove(directory)
    with pytest.raises(RunNotPossibleError, match="There is no run"):
        pretence.controller.pause(Path("/nowhere"))


def test_that_data_that_is_not_there_is_told_and_starts_nothing(pretence, us, qtbot, tmp_path):
    request = LaunchRequest(RunSettings(str(tmp_path / "missing")))
    pretence.controller.launch(us, request)
    qtbot.waitUntil(lambda: bool(pretence.failures))
    assert "no such file or directory" in str(pretence.failures[0]).lower()
    assert pretence.processes == []
    assert not pretence.controller.is_busy


def test_that_runs_of_earlier_sessions_are_listed_with_what_happened(pretence, write_run, qtbot):
    run = write_run(trials=3)
    pretence.controller.homes.reread()
    settle(pretence, qtbot)
    (row,) = pretence.controller.rows
    assert (row.directory, row.trials, row.spec) == (run.directory, 3, run.spec)


@pytest.mark.defect("B2")
def test_that_runs_come_along_when_their_project_is_first_saved_and_one_at_work_when_it_ends(
    pretence, launch, qtbot, tmp_path
):
    controller, saved = pretence.controller, tmp_path / "big.phx.runs"
    finished = launch(seed=1)
    pretence.processes[0].end()
    settle(pretence, qtbot)
    working, waiting = launch(seed=2), launch(seed=3)
    controller.homes.follow(saved, takes_runs=True)
    settle(pretence, qtbot)
    assert (saved / finished.name).is_dir()
    assert working.is_dir()
    assert waiting.is_dir()
    assert [row.directory for row in controller.rows] == [waiting, working, saved / finished.name]
    pretence.processes[1].begin()
    pretence.processes[1].end()
    settle(pretence, qtbot)
    assert pretence.processes[2].directory == waiting
    pretence.processes[2].end()
    settle(pretence, qtbot)
    assert {row.directory.parent for row in controller.rows} == {saved}
    assert len(controller.rows) == 3
    assert controller.row(working).directory == saved / working.name
    assert not (tmp_path / "runs").exists()


@pytest.mark.defect("B2")
def test_that_a_run_stays_with_the_file_it_was_started_in_when_the_project_is_saved_under_another_name(
    pretence, launch, qtbot, tmp_path
):
    working = launch()
    pretence.controller.homes.follow(tmp_path / "copy.phx.runs", takes_runs=False)
    settle(pretence, qtbot)
    assert [row.directory for row in pretence.controller.rows] == [working]
    pretence.processes[0].end()
    settle(pretence, qtbot)
    assert pretence.controller.rows == ()
    assert working.is_dir()


@pytest.mark.defect("B3")
def test_that_another_project_lists_its_own_runs_alone(pretence, launch, write_run, qtbot, tmp_path):
    working = launch()
    other = write_run(root=tmp_path / "other")
    pretence.controller.leave(tmp_path / "other", discard=False)
    settle(pretence, qtbot)
    assert [row.directory for row in pretence.controller.rows] == [other.directory]
    assert pretence.processes[0].commands[-1] == "shut down"
    assert working.is_dir()


@pytest.mark.defect("B3")
def test_that_a_run_whose_data_was_still_read_is_not_made_in_the_next_project(pretence, us, qtbot, tmp_path):
    pretence.controller.launch(us, LaunchRequest(RunSettings(trials=20)))
    pretence.controller.leave(tmp_path / "other", discard=True)
    settle(pretence, qtbot)
    assert pretence.controller.rows == ()
    assert pretence.processes == []
    assert not (tmp_path / "runs").exists()
    assert not (tmp_path / "other").exists()


def test_that_a_closing_window_ends_its_workers(pretence, launch):
    launch()
    pretence.controller.shut_down()
    assert pretence.processes[0].commands[-1] == "shut down"


def test_that_records_without_a_mark_wait_for_somebody_who_answers_for_them(pretence, us, qtbot, tmp_path):
    population = tmp_path / "population"
    shutil.copytree(demonstration_directory(), population)
    (population / "provenance.json").unlink()
    doubted = []
    pretence.controller.doubted.connect(doubted.append)
    pretence.controller.launch(us, LaunchRequest(RunSettings(str(population), trials=20)))
    qtbot.waitUntil(lambda: bool(doubted))
    settle(pretence, qtbot)
    assert pretence.controller.rows == ()
    assert not (tmp_path / "runs").exists()
    pretence.controller.confirm(doubted[0])
    qtbot.waitUntil(lambda: bool(pretence.processes))
    row = pretence.controller.rows[0]
    assert doubted[0].doubt.sha256 in row.notes[0]
    assert row.state is RunState.STARTING
