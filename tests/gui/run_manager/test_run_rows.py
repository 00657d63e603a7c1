from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from phexplore.data.source import demonstration_directory
from phexplore.gui.run_manager.run_list import RunList
from phexplore.gui.run_manager.run_rows import (
    RunAction,
    RunRow,
    after_event,
    asked_title,
    data_words,
    kind_words,
    refusal,
    run_title,
    run_words,
    state_words,
    time_words,
    trials_words,
)
from phexplore.resources import resource
from phexplore.runs.events import (
    WHOLE_RUN,
    Failed,
    Finished,
    Note,
    Outcome,
    Paused,
    PhaseDone,
    Progress,
    Resumed,
    Started,
    TrialDone,
)
from phexplore.runs.spec import RunMode, RunSpec, StopRule, data_of
from phexplore.runs.states import RunState
from phexplore.runs.store import started_words
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.registry import preset
from phexplore.systems.topdown.run_options import Estimator, TopDownOptions

PLACE = Path("/runs/20260504T120000Z-abcdef01")


@pytest.fixture
def row(us, run_data):
    return RunRow(PLACE, RunSpec(us, run_data, 5, 1), RunState.RUNNING)


def test_that_events_of_a_whole_run_are_followed(row):
    for event in (
        Started(5, present=1),
        Progress("read", 10, 40, 3.0),
        PhaseDone("read", 1.25),
        Progress("trials", 1, 5),
        TrialDone(1),
        Progress("trials", 2, 5, 6.0),
        Note("Worth reading."),
        Finished(Outcome.COMPLETE),
    ):
        row = after_event(row, event)
    assert row.trials == 2
    assert row.notes == ("reading: 1.25 s", "Worth reading.", "Complete.")
    assert row.seconds_left is None


def test_that_a_failure_keeps_its_reason_remedy_and_details(row):
    failed = after_event(row, Failed("It broke.", "Mend it.", "Traceback"))
    assert (failed.problem, failed.remedy, failed.details) == ("It broke.", "Mend it.", "Traceback")
    again = after_event(failed, Started(5))
    assert (again.problem, again.remedy, again.details) == ("", "", "")


def test_that_a_pause_is_noted_and_its_time_left_forgotten(row):
    timed = after_event(row, Progress("trials", 1, 5, 9.0))
    rested = after_event(timed, Paused())
    assert rested.seconds_left is None
    assert after_event(rested, Resumed()).notes == ("Paused.", "Resumed.")


def test_that_the_log_in_memory_is_bounded(row):
    for number in range(500):
        row = after_event(row, Note(str(number)))
    assert len(row.notes) == 200
    assert row.notes[-1] == "499"


def test_that_progress_counts_the_phase_before_the_trials_and_then_the_trials(row):
    assert after_event(row, Progress("count", 25, 100)).share_done == 0.25
    assert after_event(row, Progress("count", 25, 0)).share_done is None
    assert after_event(row, Progress("trials", 2, 5)).share_done == 0.4
    assert replace(row, state=RunState.COMPLETE, trials=3).share_done == 1.0
    assert replace(row, spec=None).share_done is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, ""), (0.2, "1 s left"), (45, "45 s left"), (125, "2 min left"), (9000, "2.5 h left")],
)
def test_that_time_left_is_coarser_the_longer_it_is(seconds, words):
    assert time_words(seconds) == words


def test_that_states_say_what_is_waited_for(row):
    assert state_words(replace(row, state=RunState.QUEUED, waits_behind=2)) == "waiting, 2 runs before it"
    assert state_words(replace(row, phase="count")) == "running: counting"
    assert {state_words(replace(row, phase=phase)) for phase in WHOLE_RUN} == {"running"}
    assert state_words(replace(row, state=RunState.CANCELLING)) == "stopping"


def test_that_an_early_stop_is_told_from_an_unfinished_run(row):
    assert trials_words(replace(row, trials=3)) == "3 of 5"
    early = replace(row, trials=3, state=RunState.COMPLETE)
    assert trials_words(early) == "3 of at most 5"
    assert trials_words(replace(row, spec=None, trials=3)) == "3"


def test_that_a_run_says_how_it_works_and_on_what(row, us, run_data, tmp_path):
    shipped = resource("tables/illinois_counties_2010.csv")
    assert kind_words(row.spec) == "with noise, seed 1"
    assert data_words(row.spec) == "data (synthetic)"
    for name, title in PHSAFE.runs.shipped.items():
        demonstration = replace(run_data, path=str(demonstration_directory(name)))
        assert data_words(replace(row.spec, data=demonstration)) == title
    spec = RunSpec(us, run_data, 5, None, workers=2, stop=StopRule(row.spec.scenario.conventions.confidence / 180))
    assert kind_words(spec) == "with noise, seed from the system, 2 workers, stops at a standard error of 0.5 %"
    assert kind_words(replace(spec, mode=RunMode.NO_NOISE, workers=1, stop=None)) == "truncated, no noise"
    assert (kind_words(None), data_words(None)) == ("", "")
    method = preset("counties-invariant-2010").scenario
    counties = RunSpec(method, data_of(method, shipped), 1, 1)
    assert data_words(counties) == "102 counties of Illinois"
    elsewhere = tmp_path / shipped.name
    elsewhere.write_bytes(shipped.read_bytes())
    assert data_words(replace(counties, data=data_of(method, elsewhere))) == f"{shipped.name} (published)"


def test_that_the_directory_says_when_a_run_was_made():
    made = datetime(2026, 5, 4, 12, tzinfo=UTC).astimezone()
    assert f"{made.day} May" in started_words(PLACE)
    assert started_words(PLACE).endswith(f"{made:%H:%M}")
    assert started_words(Path("/runs/mine")) == ""


@pytest.mark.parametrize(
    ("state", "possible"),
    [
        (RunState.QUEUED, {RunAction.CANCEL, RunAction.DELETE}),
        (RunState.STARTING, {RunAction.CANCEL}),
        (RunState.RUNNING, {RunAction.PAUSE, RunAction.CANCEL}),
        (RunState.PAUSED, {RunAction.RESUME, RunAction.CANCEL}),
        (RunState.CANCELLING, set()),
        (RunState.COMPLETE, {RunAction.DELETE}),
        (RunState.CANCELLED, {RunAction.RESUME, RunAction.DELETE}),
        (RunState.INTERRUPTED, {RunAction.RESUME, RunAction.DELETE}),
        (RunState.FAILED, {RunAction.RESUME, RunAction.DELETE}),
    ],
)
def test_that_the_state_decides_what_can_be_asked(row, state, possible):
    always = {RunAction.OPEN, RunAction.RERUN}
    found = {action for action in RunAction if refusal(replace(row, state=state), action) is None}
    assert found == possible | always


def test_that_an_unreadable_run_can_only_be_deleted(row):
    unreadable = replace(row, spec=None, state=RunState.FAILED)
    assert {action for action in RunAction if refusal(unreadable, action) is None} == {RunAction.DELETE}


def test_that_runs_of_one_minute_are_told_apart_by_their_seconds(qtbot):
    owner = QObject()
    listed = RunList(owner)
    names = ("20260504T120005Z-0123abcd", "20260504T120041Z-0123abcd", "20260504T120105Z-0123abcd")
    for name in names[:1]:
        listed.rows[Path("/runs") / name] = RunRow(Path("/runs") / name, None, RunState.COMPLETE, trials=2)
    listed.tell()
    (alone,) = listed.newest_first
    assert alone.started == started_words(alone.directory)
    for name in names[1:]:
        listed.rows[Path("/runs") / name] = RunRow(Path("/runs") / name, None, RunState.COMPLETE, trials=2)
    with qtbot.waitSignal(listed.changed):
        listed.tell()
    later, second, first = listed.newest_first
    assert later.started == started_words(later.directory)
    assert (first.started[-3:], second.started[-3:]) == (":05", ":41")
    assert len({run_words(row) for row in listed.newest_first}) == 3


def test_that_runs_that_differ_in_estimator_alone_have_names_of_their_own(run_data):
    scenario = preset("pl94-2020-persons-us").scenario
    usual, pooled = (
        RunRow(PLACE, RunSpec(scenario, run_data, 5, 1, options=TopDownOptions(estimator=each)), RunState.COMPLETE)
        for each in (Estimator.TOP_DOWN, Estimator.POOLED)
    )
    assert asked_title(usual) == scenario.name
    assert asked_title(pooled) != asked_title(usual)
    assert asked_title(pooled) in run_title(pooled)
