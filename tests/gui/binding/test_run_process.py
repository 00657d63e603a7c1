from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from phexplore import entry
from phexplore.gui.binding.run_process import RunProcess
from phexplore.runs.events import Failed, Finished, Note, Outcome, Started, TrialDone
from phexplore.runs.launch import worker_command
from phexplore.runs.states import RunState

SCRIPT = """
import json, os, signal, subprocess, sys, threading, time
def say(event, **fields): print(json.dumps({"event": event, **fields}), flush=True)
say("Started", trials=3)
what = sys.argv[1]
if what == "whole":
    for index in range(3): say("TrialDone", index=index)
    say("Finished", outcome="complete")
elif what == "obedient":
    for line in sys.stdin:
        say("Note", text=line.strip())
        if line.strip() == "cancel": break
    say("Finished", outcome="cancelled")
elif what == "deaf":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    say("Note", text=str(child.pid))
    time.sleep(600)
elif what == "crash":
    print("last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
elif what == "error":
    raise RuntimeError("the reason")
elif what == "nice":
    time.sleep(0.2)
    say("Note", text=str(os.getpriority(os.PRIO_PROCESS, 0)))
    say("Note", text=str(os.getsid(0) == os.getpid()))
    say("Finished", outcome="complete")
"""


@pytest.fixture
def start(qtbot, tmp_path):
    runs = []

    def begin(what):
        script = tmp_path / "worker.py"
        script.write_text(SCRIPT)
        run = RunProcess(tmp_path, command=[sys.executable, str(script), what])
        run.events, run.states = [], []
        run.reported.connect(run.events.append)
        run.state_changed.connect(run.states.append)
        run.start()
        runs.append(run)
        return run

    yield begin
    for run in runs:
        run.shut_down()


def _wait_for_end(qtbot, run):
    qtbot.waitUntil(lambda: run.state.is_final)
    return run.events[-1]


def _finals(run):
    return [event for event in run.events if isinstance(event, Finished | Failed)]


def test_that_a_whole_run_relays_every_event_and_ends_once(qtbot, start) -> None:
    run = start("whole")
    assert _wait_for_end(qtbot, run) == Finished(Outcome.COMPLETE)
    assert [event.index for event in run.events if isinstance(event, TrialDone)] == [0, 1, 2]
    assert isinstance(run.events[0], Started)
    assert len(_finals(run)) == 1
    assert run.process_id == 0
    assert run.states == [RunState.STARTING, RunState.RUNNING, RunState.COMPLETE]


def test_that_cancel_is_obeyed_and_pause_and_resume_are_passed_on(qtbot, start) -> None:
    run = start("obedient")
    qtbot.waitUntil(lambda: bool(run.events))
    run.pause()
    run.resume()
    run.cancel()
    assert _wait_for_end(qtbot, run) == Finished(Outcome.CANCELLED)
    assert [event.text for event in run.events if isinstance(event, Note)] == ["pause", "resume", "cancel"]


def test_that_a_deaf_worker_and_its_children_are_killed_after_the_grace_period(qtbot, start, monkeypatch) -> None:
    run = start("deaf")
    run._grace.setInterval(50)
    qtbot.waitUntil(lambda: any(isinstance(event, Note) for event in run.events))
    child = int(next(event.text for event in run.events if isinstance(event, Note)))
    run.cancel()
    assert run.state is RunState.CANCELLING
    assert _wait_for_end(qtbot, run) == Finished(Outcome.CANCELLED)
    assert len(_finals(run)) == 1
    qtbot.waitUntil(lambda: _is_gone(child))


def _is_gone(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_that_a_crash_is_reported_once_with_its_signal_and_log(qtbot, start) -> None:
    end = _wait_for_end(qtbot, start("crash"))
    assert isinstance(end, Failed)
    assert "SIGSEGV" in end.sentence
    assert "last words" in end.details


def test_that_an_error_in_the_worker_carries_its_traceback(qtbot, start) -> None:
    run = start("error")
    end = _wait_for_end(qtbot, run)
    assert "RuntimeError: the reason" in end.details
    assert len(_finals(run)) == 1


def test_that_a_killed_worker_is_interrupted(qtbot, start) -> None:
    run = start("obedient")
    qtbot.waitUntil(lambda: bool(run.events))
    os.kill(run.process_id, signal.SIGKILL)
    assert _wait_for_end(qtbot, run) == Finished(Outcome.INTERRUPTED)
    assert "SIGKILL" in run.events[-2].text


def test_that_a_program_that_is_not_there_is_reported(qtbot, tmp_path) -> None:
    run, events = RunProcess(tmp_path, command=["/no/such/program"]), []
    run.reported.connect(events.append)
    run.start()
    qtbot.waitUntil(lambda: bool(events))
    assert [type(event) for event in events] == [Failed]
    assert run.state is RunState.FAILED


def test_that_the_worker_is_nice_and_leads_a_session_of_its_own(qtbot, start) -> None:
    run = start("nice")
    _wait_for_end(qtbot, run)
    assert [event.text for event in run.events if isinstance(event, Note)] == ["10", "True"]


def test_that_a_queued_run_is_cancelled_without_a_process(qtbot, tmp_path) -> None:
    run, events = RunProcess(tmp_path), []
    run.reported.connect(events.append)
    run.cancel()
    assert events == [Finished(Outcome.CANCELLED)]


def test_that_shutting_down_ends_an_obedient_worker_at_once(qtbot, start) -> None:
    run = start("obedient")
    qtbot.waitUntil(lambda: bool(run.events))
    process = run.process_id
    run.shut_down()
    assert _is_gone(process)


def test_that_processes_beside_the_window_start_from_source_frozen_or_by_another_entry(tmp_path, monkeypatch) -> None:
    asked = ["--worker", str(tmp_path)]
    assert worker_command(tmp_path) == [sys.executable, "-m", "phexplore", *asked]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert worker_command(tmp_path) == [sys.executable, *asked]
    monkeypatch.setattr(entry, "_program", [])
    entry.start_with(["python", "entry.py"])
    assert worker_command(tmp_path) == ["python", "entry.py", *asked]
