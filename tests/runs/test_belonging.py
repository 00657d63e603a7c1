from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from phexplore.files.atomic_files import WriteError
from phexplore.runs import belonging
from phexplore.runs.belonging import (
    abandoned_runs,
    fetch_runs,
    promise_runs,
    promised_runs,
    runs_folder,
    runs_with_trials,
)
from phexplore.runs.lock import LOCK_FILE, locked
from phexplore.runs.store import SPEC_FILE, trial_file


def make_run(folder, name="20260504T120000Z-0123abcd", trials=1):
    directory = folder / name
    directory.mkdir(parents=True)
    (directory / SPEC_FILE).write_text(f'{{"run": "{name}"}}')
    for index in range(trials):
        (directory / trial_file(index)).write_bytes(b"numbers")
    return directory


def content(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != "worker.lock"}


def test_that_runs_are_kept_beside_the_project_file():
    assert runs_folder(Path("/p/plan.phx")) == Path("/p/plan.phx.runs")


def test_that_only_runs_with_a_finished_trial_count_as_something_to_lose(tmp_path):
    make_run(tmp_path, "one")
    make_run(tmp_path, "two", trials=0)
    (tmp_path / "three").mkdir()
    assert runs_with_trials(tmp_path) == 1
    assert runs_with_trials(tmp_path / "missing") == 0


@pytest.mark.defect("B2")
def test_that_runs_are_found_by_the_file_they_were_promised_to_and_by_no_other(tmp_path):
    folder = runs_folder(tmp_path / "7-1.phx")
    run = make_run(folder)
    promise_runs(folder, tmp_path / "big.phx")
    assert promised_runs(tmp_path, tmp_path / "big.phx") == (run,)
    assert promised_runs(tmp_path, tmp_path / "other.phx") == ()


@pytest.mark.defect("B2")
def test_that_a_promise_of_a_save_that_did_not_happen_counts_for_nothing(tmp_path):
    scratch = tmp_path / "7-1.phx"
    scratch.write_text("{}")
    make_run(runs_folder(scratch))
    promise_runs(runs_folder(scratch), tmp_path / "big.phx")
    assert promised_runs(tmp_path, tmp_path / "big.phx") == ()


def test_that_a_project_without_runs_leaves_no_folder(tmp_path):
    promise_runs(tmp_path / "7-1.phx.runs", tmp_path / "big.phx")
    assert list(tmp_path.iterdir()) == []


def test_that_a_folder_goes_with_its_last_run(tmp_path):
    folder = tmp_path / "7-1.phx.runs"
    first, second = make_run(folder, "a"), make_run(folder, "b")
    promise_runs(folder, tmp_path / "big.phx")
    root = tmp_path / "big.phx.runs"
    assert fetch_runs([first], root) == {first: root / "a"}
    assert folder.is_dir()
    assert fetch_runs([second, folder / "gone"], root) == {second: root / "b"}
    assert not folder.exists()


def test_that_a_run_a_worker_is_at_is_left_where_it_is(tmp_path):
    run = make_run(tmp_path / "from")
    with locked(run):
        assert fetch_runs([run], tmp_path / "to") == {}
    assert run.is_dir()


def test_that_two_runs_of_the_same_name_are_both_kept(tmp_path):
    first, second = make_run(tmp_path / "from", trials=1), make_run(tmp_path / "to", trials=2)
    moved = fetch_runs([first], tmp_path / "to")
    assert moved == {first: second.with_name(f"{second.name}-2")}
    assert [len(content(path)) for path in sorted((tmp_path / "to").iterdir())] == [3, 2]


def test_that_a_move_to_another_disk_is_a_copy_that_appears_at_once(tmp_path, monkeypatch):
    run = make_run(tmp_path / "from")
    before, rename = content(run), Path.rename

    def across(path, target):
        if path == run:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", across)
    monkeypatch.setattr(belonging, "_is_same_disk", lambda _one, _other: False)
    (moved,) = fetch_runs([run], tmp_path / "to").values()
    assert content(moved) == before
    assert not run.exists()
    assert [path.name for path in (tmp_path / "to").iterdir()] == [run.name]


def test_that_a_refusal_leaves_the_run_whole_and_says_what_happens_next(tmp_path):
    run = make_run(tmp_path / "from")
    (tmp_path / "to").write_text("in the way")
    with pytest.raises(WriteError, match="could not be moved") as caught:
        fetch_runs([run], tmp_path / "to")
    assert "fetched when the project is opened" in caught.value.remedy
    assert run.is_dir()


NOW = 1_800_000_000.0


def left_alone(*folders):
    """Let folders and what is in them look as they did long ago."""
    for folder in folders:
        for path in (*folder.rglob("*"), folder):
            os.utime(path, (NOW - 1000, NOW - 1000))


def test_that_runs_of_projects_that_are_gone_are_found_and_empty_folders_removed(tmp_path):
    lost, old = tmp_path / "7-1.phx.runs", tmp_path / "8-runs"
    empty, begun, kept = tmp_path / "9-1.phx.runs", tmp_path / "10-1.phx.runs", tmp_path / "11-1.phx.runs"
    make_run(lost)
    make_run(old)
    empty.mkdir()
    make_run(begun, trials=0)
    make_run(kept, trials=0)
    (kept / "notes.txt").write_text("mine")
    left_alone(lost, old, empty, begun, kept)
    assert abandoned_runs(tmp_path, NOW) == (lost, old)
    assert {path.name for path in tmp_path.iterdir()} == {lost.name, old.name, kept.name}


@pytest.mark.parametrize("rest", ["7-1.phx", "7-1.phx.journal"])
def test_that_the_runs_of_a_project_that_can_come_back_are_left_alone(rest, tmp_path):
    make_run(folder := tmp_path / "7-1.phx.runs")
    (tmp_path / rest).write_text("{}")
    left_alone(folder)
    assert abandoned_runs(tmp_path, NOW) == ()


def test_that_runs_that_were_promised_are_found_when_nobody_will_fetch_them(tmp_path):
    make_run(folder := tmp_path / "7-1.phx.runs")
    promise_runs(folder, saved := tmp_path / "big.project")
    left_alone(folder)
    assert abandoned_runs(tmp_path, NOW) == (folder,)
    saved.write_text("{}")
    assert abandoned_runs(tmp_path, NOW) == ()


def test_that_what_may_be_at_work_is_left_alone(tmp_path):
    waiting, working = tmp_path / "7-1.phx.runs", tmp_path / "8-1.phx.runs"
    make_run(waiting, trials=0)
    run = make_run(working, trials=0)
    (run / LOCK_FILE).touch()
    left_alone(working)
    os.utime(waiting, (NOW + 1, NOW + 1))
    with locked(run):
        assert abandoned_runs(tmp_path, NOW) == ()
    assert waiting.is_dir()
    assert working.is_dir()
