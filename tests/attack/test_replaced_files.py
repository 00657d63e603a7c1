"""A pipe, a device, a directory or a broken link in the place of a file of a run, a project or an experiment: answered at once."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from attack import commands
from attack.run_samples import add_runs, looked_at
from attack.samples import US
from report.run_builder import made_run

from phexplore.decide.citing import CitationError, evidence_of
from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.model.edits import set_field
from phexplore.model.workbook import Workbook
from phexplore.runs.events import Failed, Finished, Outcome
from phexplore.runs.launch import run_worker
from phexplore.runs.store import (
    MANIFEST_FILE,
    SHARED_SUMMARY_FILE,
    RunStore,
    load_spec,
    prepare_directory,
    record_final,
)
from phexplore.systems.group_sizes.experiment import DRAWS_FILE

SECONDS = 60
"""After so long on the clock an action counts as one that waits for ever."""


class WaitsForEverError(BaseException):
    """Whatever an action does, it does not end."""


@contextlib.contextmanager
def answered_at_once():
    """Allow a sentence or an error of the system that callers expect; nothing else, and no wait."""

    def give_up(_number, _frame):
        raise WaitsForEverError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        with contextlib.suppress(PhexploreError):
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


REPLACED = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "directory": lambda path: path.mkdir(),
    "broken link": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
}

NO_FILES = [kind for kind in REPLACED if kind != "broken link"]
"""What cannot be written either; a broken link leads to a file as soon as one is written there."""


def put_in_place(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    REPLACED[kind](path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    home = tmp_path_factory.mktemp("runs")
    add_runs(home, lambda *_: None)
    return home


def reopened(folder):
    spec = load_spec(folder)
    prepare_directory(folder, replace(spec, trials=spec.trials + 1))


def ended(folder):
    with contextlib.suppress(OSError):
        record_final(folder, Finished(Outcome.CANCELLED), "its log")


ACTIONS = {
    "looked at": looked_at,
    "cited": lambda folder: evidence_of(folder, load_spec(folder).scenario),
    "asked for more": reopened,
    "begun again": lambda folder: prepare_directory(folder, replace(load_spec(folder), seed=99), replace=True),
    "ended": ended,
    "removed": lambda folder: RunStore(folder.parent).remove(folder),
    "listed": lambda folder: RunStore(folder.parent).entries(),
}
FILES = (
    "spec.json", "events.jsonl", "log.txt", "summary.json", "summary-shared.json", "manifest.json", "worker.lock", "truth.parquet",
    "facilities.parquet", "trial-00000.parquet", "release", "measurements",
)  # fmt: skip


def with_one_replaced(whole: Path, folder: Path, name: str, kind: str) -> None:
    """Make a copy of a folder with something else in the place of one file."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    if (folder / name).is_dir():
        shutil.rmtree(folder / name)
    put_in_place(folder / name, kind)


@pytest.mark.parametrize(
    ("system", "kind", "names"),
    [
        ("group-sizes", "pipe", ("log.txt", "manifest.json")),
        *(
            pytest.param(system, kind, FILES, marks=pytest.mark.slow, id=f"{system}-{kind}")
            for system, kind in product(("phsafe", "topdown", "subspace", "group-sizes"), REPLACED)
        ),
    ],
)
def test_that_no_action_on_a_run_waits_or_fails_without_a_sentence(runs, system, kind, names, tmp_path):
    for complete, name, act in product((True, False), names, ACTIONS.values()):
        with_one_replaced(runs / f"run-{system}", folder := tmp_path / f"run-{system}", name, kind)
        if not complete and name != MANIFEST_FILE:
            (folder / MANIFEST_FILE).unlink()
        with answered_at_once():
            act(folder)


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("name", ["events.jsonl", "log.txt", "worker.lock"])
def test_that_a_worker_ends_at_once_where_its_records_are_no_files(runs, name, kind, tmp_path):
    folder = tmp_path / "run-group-sizes"
    with_one_replaced(runs / folder.name, folder, name, kind)
    (folder / MANIFEST_FILE).unlink()
    with answered_at_once():
        end = run_worker(folder, lambda _event: None)
        assert isinstance(end, Failed)
        assert end.remedy


@pytest.mark.parametrize("kind", REPLACED)
def test_that_a_confidential_run_without_a_summary_to_show_is_not_cited(kind, tmp_path):
    run = made_run(tmp_path / "run", US, trials=1, synthetic=False)
    with answered_at_once(), pytest.raises(CitationError, match="holds exact counts"):
        evidence_of(run, load_spec(run).scenario)
    put_in_place(run / SHARED_SUMMARY_FILE, kind)
    with answered_at_once(), pytest.raises(CitationError):
        evidence_of(run, load_spec(run).scenario)


def edited(project):
    project.edit("Note", lambda scenario: set_field(scenario, "note", scenario.note + "+"))
    project.flush()


def opened_and_saved(folder):
    with contextlib.closing(Project.open(folder / "a.phx")) as project:
        edited(project)
        project.save()


PROJECT_ACTIONS = {
    "opened and saved": opened_and_saved,
    "salvaged": lambda folder: Project.salvage(folder / "a.phx").close(),
    "asked for edits": lambda folder: Project.interrupted_edits(folder / "a.phx"),
}
PROJECT_FILES = ("a.phx", "a.phx.journal", "a.phx.previous", "a.phx.journal.kept")


@pytest.fixture
def home(tmp_path):
    """A project that was saved twice, with edits in its journal."""
    folder = tmp_path / "home"
    folder.mkdir()
    project = Project.new(Workbook((US,), US.name, "sdhc-2020-us"))
    project.save(folder / "a.phx")
    edited(project)
    project.save()
    edited(project)
    shutil.copytree(folder, whole := tmp_path / "whole")
    project.close()
    return whole


@pytest.mark.parametrize("kind", REPLACED)
@pytest.mark.parametrize("name", PROJECT_FILES)
def test_that_a_project_with_something_else_beside_it_is_opened_or_refused_at_once(home, name, kind, tmp_path):
    for act in PROJECT_ACTIONS.values():
        with_one_replaced(home, folder := tmp_path / "here", name, kind)
        with answered_at_once():
            act(folder)


@pytest.mark.parametrize("kind", REPLACED)
def test_that_an_open_project_is_saved_elsewhere_when_its_files_were_replaced(home, kind, tmp_path):
    project = Project.open(home / "a.phx")
    edited(project)
    for name in PROJECT_FILES:
        put_in_place(home / name, kind)
    with answered_at_once():
        project.save()
    with answered_at_once():
        project.save(overwrite_foreign=True)
    project.save(tmp_path / "b.phx")
    project.close()
    found = Project.open(tmp_path / "b.phx")
    assert found.workbook == project.workbook
    found.close()


@pytest.mark.parametrize("kind", NO_FILES)
def test_that_an_experiment_and_a_search_answer_at_once_where_their_files_are_none(kind, tmp_path):
    for command, name in (
        ("group-sizes experiment --trials 1 --epsilons 1 --out o", DRAWS_FILE),
        ("tune pl94-2020-persons-us --data demo --judge Block --trials 1 --out o/p.jsonl", "p.jsonl"),
    ):
        folder = tmp_path / "o"
        shutil.rmtree(folder, ignore_errors=True)
        put_in_place(folder / name, kind)
        with answered_at_once():
            words = commands.called(*(word if word[:1] != "o" else str(tmp_path / word) for word in command.split()))
            assert words
