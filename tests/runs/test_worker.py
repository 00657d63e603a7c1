"""Real worker processes: how they end, and what they leave."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import psutil
import pytest

from phexplore.runs import launch, worker
from phexplore.runs.events import (
    Failed,
    Finished,
    Note,
    Outcome,
    Paused,
    Progress,
    Resumed,
    Started,
    TrialDone,
)
from phexplore.runs.launch import run_worker
from phexplore.runs.spec import StopRule
from phexplore.runs.states import RunState
from phexplore.runs.store import load_events, load_summary, present_trials, state_of, trial_file, verify_run

COMPLETE, CANCELLED, INTERRUPTED = (Finished(outcome) for outcome in Outcome)
FAKE_WORKER = str(Path(__file__).with_name("fake_worker.py"))
STARTER = """
import sys
from pathlib import Path
from phexplore.runs.events import PhaseDone
from phexplore.runs.launch import WorkerProcess

worker = WorkerProcess(Path(sys.argv[3]), sys.argv[1:])
for event in worker.events():
    if isinstance(event, PhaseDone) and event.name == "count":
        print(worker.process_id, flush=True)
"""
Make = Callable[..., Path]


def is_trial(event: object) -> bool:
    return isinstance(event, TrialDone)


def is_started(event: object) -> bool:
    return isinstance(event, Started)


def contents(directory: Path) -> dict[int, bytes]:
    return {index: (directory / trial_file(index)).read_bytes() for index in present_trials(directory)}


def test_that_a_run_reports_its_trials_in_order_and_ends_complete(run_directory: Make, start) -> None:
    directory = run_directory()
    run = start(directory)
    assert run.to_end() == COMPLETE
    assert run.events[0] == Started(10, 0)
    assert [event.index for event in run.events if isinstance(event, TrialDone)] == list(range(10))
    assert len(contents(directory)) == 10
    assert state_of(directory) is RunState.COMPLETE
    assert verify_run(directory) == ()
    summary = load_summary(directory)
    assert summary["checks"] == {"whole": True}
    assert {"check data", "count", "trials"} <= set(summary["seconds"])


def test_that_the_record_of_a_run_holds_what_was_reported_but_progress(run_directory: Make, start) -> None:
    directory = run_directory()
    run = start(directory)
    run.to_end()
    assert list(load_events(directory)) == [event for event in run.events if not isinstance(event, Progress)]


def test_that_workers_and_their_order_change_no_byte(run_directory: Make, start) -> None:
    alone, together = run_directory("a"), run_directory("b", workers=3)
    for directory in (alone, together):
        assert start(directory).to_end() == COMPLETE
    assert contents(alone) == contents(together)


def test_that_cancel_stops_the_run_and_keeps_finished_trials(run_directory: Make, start) -> None:
    directory = run_directory(trials=5000)
    run = start(directory, "slow")
    run.until(is_trial)
    run.process.cancel()
    assert run.to_end() == CANCELLED
    assert run.process.exit_code == 0
    done = {event.index for event in run.events if isinstance(event, TrialDone)}
    assert set(contents(directory)) == done
    assert 0 < len(done) < 5000
    assert state_of(directory) is RunState.CANCELLED
    assert not list(directory.glob("*.part"))


def test_that_a_resumed_run_has_the_bytes_of_an_uninterrupted_one(run_directory: Make, start) -> None:
    whole, cut = run_directory("whole", trials=30), run_directory("cut", trials=30)
    start(whole).to_end()
    first = start(cut, "slow")
    first.until(is_trial)
    first.process.cancel()
    assert first.to_end() == CANCELLED
    present = len(contents(cut))
    assert 0 < present < 30
    second = start(cut)
    assert second.to_end() == COMPLETE
    assert second.events[0] == Started(30, present)
    assert len([event for event in second.events if is_trial(event)]) == 30 - present
    assert contents(cut) == contents(whole)


def test_that_the_worker_itself_leaves_work_without_checkpoints(run_directory: Make, start) -> None:
    directory = run_directory()
    run = start(directory, "stuck")
    run.until(lambda event: getattr(event, "name", "") == "count")
    run.process.cancel()
    assert run.to_end() == CANCELLED
    assert run.process.exit_code == 0
    assert state_of(directory) is RunState.CANCELLED


def test_that_a_worker_deaf_to_cancel_is_killed_after_its_grace(
    run_directory: Make, start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "GRACE_SECONDS", 0.3)
    directory = run_directory()
    run = start(directory, "deaf")
    run.until(lambda event: isinstance(event, Started))
    run.process.cancel()
    assert run.process.state is RunState.CANCELLING
    assert run.to_end() == CANCELLED
    assert run.process.exit_code == -signal.SIGKILL
    assert state_of(directory) is RunState.CANCELLED


def test_that_a_worker_is_killed_with_everything_it_started(
    run_directory: Make, start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "GRACE_SECONDS", 0.3)
    run = start(run_directory(), "parent")
    child = psutil.Process(int(run.until(lambda event: isinstance(event, Note)).text))
    run.process.cancel()
    assert run.to_end() == CANCELLED
    assert run.process.exit_code == -signal.SIGKILL
    # Whoever adopts orphans may take its time to bury them; a killed one no longer runs either way.
    assert not child.is_running() or child.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}


@pytest.mark.defect("T16")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_that_a_killed_worker_is_interrupted_once_and_its_trials_stay(run_directory: Make, start, number) -> None:
    directory = run_directory(trials=5000)
    run = start(directory, "slow")
    run.until(is_trial)
    os.kill(run.process.process_id, number)
    end = run.to_end()
    assert end == INTERRUPTED
    assert number.name in run.events[-2].text
    assert sum(isinstance(event, Finished | Failed) for event in run.events) == 1
    assert all(content.split()[1] == b"of" for content in contents(directory).values())
    assert state_of(directory) is RunState.INTERRUPTED
    assert load_events(directory)[-1] == end
    kept = contents(directory)
    resumed = start(directory, "slow")
    assert resumed.until(is_started) == Started(5000, len(kept))


@pytest.mark.defect("T16")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("behaviour", ["slow", "stuck"])
def test_that_a_run_whose_starter_is_killed_is_interrupted(run_directory: Make, number: int, behaviour: str) -> None:
    directory = run_directory(trials=5000)
    worker_line = [sys.executable, FAKE_WORKER, str(directory), behaviour]
    with subprocess.Popen([sys.executable, "-c", STARTER, *worker_line], stdout=subprocess.PIPE, text=True) as starter:
        at_work = psutil.Process(int(starter.stdout.readline()))
        starter.send_signal(number)
        psutil.wait_procs([at_work])
    assert load_events(directory)[-1] == INTERRUPTED
    assert state_of(directory) is RunState.INTERRUPTED


@pytest.mark.defect("T16")
def test_that_a_run_killed_together_with_its_starter_is_interrupted(run_directory: Make, start) -> None:
    directory = run_directory()
    run = start(directory, "stuck")
    run.until(is_started)
    with run.process:
        pass
    assert load_events(directory)[-1] == Started(10, 0)
    assert state_of(directory) is RunState.INTERRUPTED


def test_that_a_crash_carries_the_last_words_of_the_log(run_directory: Make, start) -> None:
    end = start(run_directory(), "dying").to_end()
    assert isinstance(end, Failed)
    assert "SIGABRT" in end.sentence
    assert "about to fall over" in end.details


@pytest.mark.parametrize(
    ("behaviour", "sentence", "remedy", "details"),
    [
        ("broken", "error in the program (KeyError)", "report the error", "write_trial"),
        ("refusing", "The data holds no households.", "Choose other data.", "write_trial"),
        ("full-disk", "could not be written: File too large", "Free some space", "write_trial"),
        ("hungry", "not enough memory", "fewer workers", "MemoryError"),
    ],
)
@pytest.mark.parametrize("workers", [1, 3])
def test_that_an_error_in_the_simulation_is_a_sentence_with_a_remedy(
    run_directory: Make, start, behaviour: str, sentence: str, remedy: str, details: str, workers: int
) -> None:
    directory = run_directory(workers=workers)
    end = start(directory, behaviour).to_end()
    assert isinstance(end, Failed)
    assert sentence in end.sentence
    assert remedy in end.remedy
    assert details in end.details
    assert state_of(directory) is RunState.FAILED
    assert end.sentence in (directory / "log.txt").read_text()


@pytest.mark.defect("F14")
def test_that_a_disk_that_is_full_for_the_record_of_the_run_is_said(run_directory: Make, start) -> None:
    directory = run_directory()
    end = start(directory, "full-record").to_end()
    assert isinstance(end, Failed)
    assert "File too large" in end.sentence
    assert "disk has space" in end.remedy
    assert not list(directory.glob("*.part"))
    assert start(directory).to_end() == COMPLETE


@pytest.mark.defect("F14")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_that_a_full_disk_is_called_so(number: int) -> None:
    failed = worker._failure(OSError(number, os.strerror(number)))
    assert "The disk is full" in failed.sentence
    assert "Free some space" in failed.remedy


@pytest.mark.defect("F14")
def test_that_a_worker_ends_with_its_starter_whatever_it_is_at(run_directory: Make, start) -> None:
    run = start(run_directory(), "stuck")
    run.until(lambda event: isinstance(event, Started))
    run.process._process.stdin.close()
    assert run.to_end() == INTERRUPTED
    assert run.process.exit_code == 0


@pytest.mark.defect("F14")
def test_that_a_worker_that_hears_nothing_ends_with_its_starter(run_directory: Make, start) -> None:
    run = start(run_directory(), "parent")
    run.until(lambda event: isinstance(event, Note))
    run.process._process.stdin.close()
    assert run.to_end() == INTERRUPTED
    assert run.process.exit_code == -signal.SIGKILL


@pytest.mark.defect("F14")
def test_that_little_address_space_ends_a_worker_with_a_sentence(run_directory: Make, start) -> None:
    directory = run_directory()
    limited = ["sh", "-c", 'ulimit -v 700000; exec "$@"', "sh", *launch.worker_command(directory)]
    with launch.WorkerProcess(directory, limited) as process:
        *_, end = process.events()
    assert isinstance(end, Failed)
    assert "not enough memory" in end.sentence


def test_that_a_failed_run_goes_on_where_it_stopped(run_directory: Make, start) -> None:
    directory = run_directory()
    start(directory, "broken").to_end()
    assert set(contents(directory)) == {0, 1, 2}
    assert start(directory).to_end() == COMPLETE
    assert len(contents(directory)) == 10


def test_that_a_worker_stops_when_its_starter_is_gone(run_directory: Make) -> None:
    directory = run_directory(trials=5000)
    with subprocess.Popen(
        [sys.executable, FAKE_WORKER, str(directory), "slow"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:
        assert b"Started" in worker.stdout.readline()
        worker.stdin.close()
        assert b"interrupted" in worker.stdout.read()
        assert worker.wait() == 0
    assert state_of(directory) is RunState.INTERRUPTED


def test_that_a_worker_ends_well_when_nobody_reads_it(run_directory: Make) -> None:
    directory = run_directory()
    with subprocess.Popen(
        [sys.executable, FAKE_WORKER, str(directory), "quick"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:
        worker.stdout.close()
        assert worker.wait() == 0
    assert state_of(directory) is RunState.COMPLETE


def test_that_a_paused_run_rests_and_goes_on(run_directory: Make, start) -> None:
    directory = run_directory(trials=25)
    run = start(directory, "slow")
    run.until(is_trial)
    run.process.pause()
    run.until(lambda event: isinstance(event, Paused))
    assert run.process.state is RunState.PAUSED
    resting = len(contents(directory))
    run.process.resume()
    run.until(lambda event: isinstance(event, Resumed))
    assert len(contents(directory)) == resting
    assert run.to_end() == COMPLETE
    assert len(contents(directory)) == 25


def test_that_a_resting_run_can_be_cancelled(run_directory: Make, start) -> None:
    run = start(run_directory(trials=500), "slow")
    run.until(is_trial)
    run.process.pause()
    run.until(lambda event: isinstance(event, Paused))
    run.process.cancel()
    assert run.to_end() == CANCELLED


def test_that_a_complete_run_is_not_computed_again(run_directory: Make, start) -> None:
    directory = run_directory()
    start(directory).to_end()
    before = {path: path.stat().st_mtime_ns for path in directory.iterdir() if path.name != "worker.lock"}
    run = start(directory, "broken")
    assert run.to_end() == COMPLETE
    assert any(isinstance(event, Note) and "complete already" in event.text for event in run.events)
    assert {path: path.stat().st_mtime_ns for path in directory.iterdir() if path.name != "worker.lock"} == before


def test_that_two_workers_do_not_share_a_directory(run_directory: Make, start) -> None:
    directory = run_directory(trials=5000)
    first, second = start(directory, "slow"), start(directory, "slow")
    first.until(is_trial)
    end = second.to_end()
    assert isinstance(end, Failed)
    assert "Another process" in end.sentence
    first.process.cancel()
    assert first.to_end() == CANCELLED
    assert not any(isinstance(event, Failed) for event in load_events(directory))


def test_that_changed_data_fails_the_run_before_anything_is_drawn(run_directory: Make, start, data: Path) -> None:
    directory = run_directory()
    (data / "persons.csv").write_text("changed\n")
    end = start(directory).to_end()
    assert isinstance(end, Failed)
    assert "content has changed" in end.sentence
    assert contents(directory) == {}


def test_that_missing_data_fails_the_run(run_directory: Make, start, data: Path) -> None:
    directory = run_directory()
    (data / "geo.csv").unlink()
    end = start(directory).to_end()
    assert isinstance(end, Failed)
    assert "geo.csv is missing" in end.sentence


@pytest.mark.parametrize("damage", ["{}", "not json", ""])
def test_that_a_damaged_specification_fails_the_run(run_directory: Make, start, damage: str) -> None:
    directory = run_directory()
    (directory / "spec.json").write_text(damage)
    end = start(directory).to_end()
    assert isinstance(end, Failed)
    assert "spec.json" in end.sentence


def test_that_an_altered_specification_fails_the_run(run_directory: Make, start) -> None:
    directory = run_directory()
    content = json.loads((directory / "spec.json").read_text())
    content["scenario"]["method"]["budgets"]["PH1_num/usa_*"] = "0.2"
    (directory / "spec.json").write_text(json.dumps(content))
    end = start(directory).to_end()
    assert isinstance(end, Failed)
    assert "altered" in end.sentence


def test_that_trials_of_two_versions_are_not_mixed(run_directory: Make, start) -> None:
    end = start(run_directory(code_version="0.0.1")).to_end()
    assert isinstance(end, Failed)
    assert "made by version 0.0.1" in end.sentence


def test_that_a_damaged_trial_is_drawn_again(run_directory: Make, start) -> None:
    whole, damaged = run_directory("whole"), run_directory("damaged")
    start(whole).to_end()
    start(damaged, "broken").to_end()
    (damaged / trial_file(1)).write_bytes(b"")
    assert start(damaged).to_end() == COMPLETE
    assert contents(damaged) == contents(whole)


def test_that_unfinished_files_of_a_dead_worker_are_cleared_away(run_directory: Make, start) -> None:
    directory = run_directory()
    (directory / "trial-00004.parquet.part").write_bytes(b"half")
    assert start(directory).to_end() == COMPLETE
    assert not list(directory.glob("*.part"))


@pytest.mark.parametrize("workers", [1, 4])
def test_that_a_stop_rule_ends_at_the_same_trial_whatever_the_workers(run_directory: Make, start, workers: int) -> None:
    rule = StopRule(Fraction(1, 100), 5)
    directory = run_directory(trials=400, stop=rule, workers=workers)
    assert start(directory).to_end() == COMPLETE
    shares = [int(content.split()[0]) / 100 for content in contents(directory).values()]
    enough = [n for n in range(5, len(shares) + 1) if _error(shares[:n]) <= 0.01]
    assert enough == [len(shares)]
    assert load_summary(directory)["trials"] == len(shares) < 400


def _error(shares: list[float]) -> float:
    mean = sum(shares) / len(shares)
    return (sum((share - mean) ** 2 for share in shares) / (len(shares) - 1) / len(shares)) ** 0.5


class TestCommandLine:
    def test_that_a_run_is_followed_to_its_end(self, run_directory: Make) -> None:
        directory, seen = run_directory(), []
        end = run_worker(directory, seen.append, command=[sys.executable, FAKE_WORKER, str(directory)])
        assert end == COMPLETE == seen[-1]

    def test_that_an_interrupt_cancels_the_run(self, run_directory: Make) -> None:
        directory, seen = run_directory(trials=5000), []

        def interrupt_at_a_trial(event: object) -> None:
            seen.append(event)
            if len([each for each in seen if is_trial(each)]) == 2 and is_trial(event):
                signal.raise_signal(signal.SIGINT)

        before = signal.getsignal(signal.SIGINT)
        end = run_worker(directory, interrupt_at_a_trial, command=[sys.executable, FAKE_WORKER, str(directory), "slow"])
        assert end == CANCELLED
        assert signal.getsignal(signal.SIGINT) is before

    def test_that_a_second_interrupt_kills_a_deaf_worker(
        self, run_directory: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(launch, "GRACE_SECONDS", 3600.0)
        directory = run_directory()

        def interrupt(event: object) -> None:
            if isinstance(event, Started):
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)

        end = run_worker(directory, interrupt, command=[sys.executable, FAKE_WORKER, str(directory), "deaf"])
        assert end == CANCELLED

    def test_that_a_program_that_is_not_there_is_a_failure(self, run_directory: Make) -> None:
        end = run_worker(run_directory(), [].append, command=["/no/such/program"])
        assert isinstance(end, Failed)
        assert "could not be started" in end.sentence

    def test_that_a_listener_that_fails_takes_the_worker_with_it(self, run_directory: Make) -> None:
        directory, seen = run_directory(trials=5000), []

        def fail(event: object) -> None:
            seen.append(event)
            raise BrokenPipeError

        with pytest.raises(BrokenPipeError):
            run_worker(directory, fail, command=[sys.executable, FAKE_WORKER, str(directory), "slow"])
        assert state_of(directory) is not RunState.RUNNING

    def test_that_a_run_cancelled_before_its_start_needs_no_process(self, run_directory: Make, start) -> None:
        run = start(run_directory())
        run.process.cancel()
        assert run.to_end() == CANCELLED
        assert run.process.process_id == 0
