"""Workers killed at random moments, also while they write: the run goes on to the bytes of one that nobody disturbed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from phexplore.entry import WORKER, program_command
from phexplore.runs.spec import RunSpec, describe_data
from phexplore.runs.store import load_summary, prepare_directory, present_trials, state_of, trial_file, verify_run

FAKE_WORKER = [sys.executable, str(Path(__file__).with_name("fake_worker.py"))]
REAL_WORKER = program_command(WORKER)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL")


def complete(command: list[str], directory: Path) -> None:
    """Let a worker run to its end; its standard input stays open, because its end would stop it."""
    with subprocess.Popen(
        [*command, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as worker:
        said = worker.stdout.read()
        assert worker.wait() == 0, said[-2000:]


def begin_and_kill(command: list[str], directory: Path, after: float) -> bool:
    """Start a worker, kill it so many seconds after its first word; return whether that caught it at work."""
    with subprocess.Popen(
        [*command, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as worker:
        worker.stdout.readline()
        deadline = time.perf_counter() + after
        while time.perf_counter() < deadline and worker.poll() is None:
            pass
        worker.kill()  # nothing where it ended by itself
    return worker.returncode == -signal.SIGKILL


def result(directory: Path) -> tuple[object, ...]:
    """Return everything a run produced but times."""
    trials = {index: (directory / trial_file(index)).read_bytes() for index in present_trials(directory)}
    summary = {name: value for name, value in load_summary(directory).items() if name not in {"seconds", "peak_mb"}}
    return trials, summary, verify_run(directory)


def kill_many(command: list[str], whole: Path, cut: Path, *, kills: int, longest: float, seed: int) -> int:
    """Kill so many starts on one directory, then let it end; return how many were caught at work."""
    complete(command, whole)
    dice, caught = random.Random(seed), 0
    for _ in range(kills):
        caught += begin_and_kill(command, cut, dice.uniform(0, longest))
        assert set(present_trials(cut)) <= set(present_trials(whole))
    complete(command, cut)
    assert state_of(cut).value == "complete"
    assert result(cut) == result(whole)
    assert not list(cut.rglob("*.part"))
    return caught


def test_that_a_worker_killed_again_and_again_ends_with_the_same_result(run_directory: Callable[..., Path]) -> None:
    whole, cut = (run_directory(name, trials=120, workers=3) for name in ("whole", "cut"))
    assert kill_many(FAKE_WORKER, whole, cut, kills=3, longest=0.1, seed=3) > 0


@pytest.mark.slow
def test_that_60_killed_workers_lose_nothing(run_directory: Callable[..., Path]) -> None:
    whole, cut = (run_directory(name, trials=3000, workers=2) for name in ("whole", "cut"))
    assert kill_many(FAKE_WORKER, whole, cut, kills=60, longest=0.15, seed=9) >= 40


@pytest.mark.slow
def test_that_a_real_run_killed_while_it_counts_draws_and_writes_has_the_same_bytes(tmp_path: Path, us) -> None:
    spec = RunSpec(us, describe_data(Path("demo")), 40, 5)
    whole, cut = (prepare_directory(tmp_path / name, spec) for name in ("whole", "cut"))
    assert kill_many(REAL_WORKER, whole, cut, kills=12, longest=4.0, seed=3) > 0
