"""The program is killed at random moments; what it had acknowledged is there when the project is opened again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest
from document.killed_editor import SAVE, operations, perform

from phexplore.document.project import Project
from phexplore.model.workbook import Workbook

pytestmark = pytest.mark.skipif(os.name != "posix", reason="fork and SIGKILL")

LIVES_PER_PROJECT = 6
"""Kills one after the other on the same file, so that recoveries are killed too."""


@pytest.fixture
def nursery():
    script = Path(__file__).with_name("killed_editor.py")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


def live_and_die(nursery, path: Path, seed: int) -> tuple[int, bool]:
    """Let a process edit the project and kill it; return how many operations it acknowledged and whether a save was cut."""
    dice = random.Random(seed)
    nursery.stdin.write(f"{seed} {path}\n")
    nursery.stdin.flush()
    pid = int(nursery.stdout.readline().split()[1])
    acknowledged, saving = 0, False
    wanted, patience = dice.randrange(0, 30), dice.uniform(0, 0.004)
    while acknowledged < wanted:
        word = nursery.stdout.readline().strip()
        saving = word == SAVE
        acknowledged = acknowledged if saving else int(word)
    deadline = time.perf_counter() + patience
    while time.perf_counter() < deadline:
        pass
    os.kill(pid, signal.SIGKILL)
    while (word := nursery.stdout.readline().strip()) != "gone":
        saving = word == SAVE
        acknowledged = acknowledged if saving else int(word)
    return acknowledged, saving


def state(project: Project) -> tuple[object, ...]:
    return tuple((step.label, step.value) for step in project.steps), project.cursor


def expected(before: Project, seed: int, count: int) -> set[object]:
    """Return the states a project may be in after `count` acknowledged operations: the next one may have been done too."""
    model = Project(before.content(), None, base=b"", on_disk=before.content())
    if before.recovered:
        model._history.forget_saved()
    states = []
    for operation in islice(operations(seed), count + 1):
        states = [*states[-1:], state(model)]
        perform(model, operation, lambda project: project._history.mark_saved())
    return {*states[-1:], state(model)}


def kill_many(nursery, folder: Path, us, kills: int, seed: int) -> int:
    """Kill so many times and compare each time; return how many saves were cut off."""
    cut = 0
    path = folder / "never.phx"
    for number in range(kills):
        if number % LIVES_PER_PROJECT == 0:
            path = folder / f"{number}.phx"
            made = Project.new(Workbook((us,), us.name))
            made.save(path)
            made.close()
        before = Project.open(path)
        before._keeping._journal.close(remove=False)
        acknowledged, saving = live_and_die(nursery, path, seed + number)
        cut += saving
        after = Project.open(path)
        after._keeping._journal.close(remove=False)
        assert state(after) in expected(before, seed + number, acknowledged), f"kill {number} of seed {seed}"
        assert [issue.sentence for issue in after.issues] == []
        assert list(folder.glob("*.part")) == []
    return cut


def test_that_a_program_killed_at_any_moment_loses_no_acknowledged_edit(nursery, tmp_path, us):
    for number in range(10):  # on a loaded machine, 25 kills may all fall between two saves
        folder = tmp_path / str(number)
        folder.mkdir()
        if kill_many(nursery, folder, us, 25, seed=1 + 25 * number):
            return
    pytest.fail("no kill cut off a save")


@pytest.mark.slow
def test_that_500_kills_lose_no_acknowledged_edit(nursery, tmp_path, us, capsys):
    cut = kill_many(nursery, tmp_path, us, 500, seed=10_000)
    with capsys.disabled():
        sys.stdout.write(f"\n500 kills, {cut} of them during a save: no acknowledged edit was lost\n")
    assert cut >= 50
