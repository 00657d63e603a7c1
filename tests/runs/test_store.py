from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phexplore.runs.events import Failed, Finished, Note, Outcome, Started, TrialDone
from phexplore.runs.journal import EventJournal
from phexplore.runs.lock import RunBusyError, locked
from phexplore.runs.spec import RunSpec, describe_data
from phexplore.runs.states import RunState
from phexplore.runs.store import (
    RunExistsError,
    RunStore,
    RunUnreadableError,
    close_run,
    describe_run,
    load_events,
    load_spec,
    load_summary,
    prepare_directory,
    present_trials,
    record_final,
    remove_leftovers,
    remove_run_files,
    state_of,
    trial_file,
    verify_run,
)

Make = Callable[..., RunSpec]
NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def files(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def add_trials(directory: Path, count: int) -> None:
    for index in range(count):
        (directory / trial_file(index)).write_text(f"trial {index}")


def record(directory: Path, *events: object) -> None:
    with EventJournal(directory / "events.jsonl") as journal:
        for event in events:
            journal.add(event)  # type: ignore[arg-type]


class TestPreparing:
    def test_that_a_new_directory_holds_the_specification(self, tmp_path: Path, make_spec: Make) -> None:
        directory = prepare_directory(tmp_path / "deep" / "run", make_spec())
        assert load_spec(directory) == make_spec()
        assert state_of(directory) is RunState.QUEUED

    def test_that_the_same_run_keeps_its_trials(self, tmp_path: Path, make_spec: Make) -> None:
        directory = prepare_directory(tmp_path / "run", make_spec())
        add_trials(directory, 4)
        prepare_directory(directory, make_spec(workers=2))
        assert present_trials(directory) == (0, 1, 2, 3)

    def test_that_the_same_complete_run_stays_complete(self, tmp_path: Path, make_spec: Make) -> None:
        directory = prepare_directory(tmp_path / "run", make_spec())
        close_run(directory, make_spec().identity)
        prepare_directory(directory, make_spec())
        assert state_of(directory) is RunState.COMPLETE
        assert verify_run(directory) == ()

    def test_that_another_run_is_refused_and_untouched(self, tmp_path: Path, make_spec: Make) -> None:
        directory = prepare_directory(tmp_path / "run", make_spec())
        add_trials(directory, 2)
        with pytest.raises(RunExistsError, match="holds another run"):
            prepare_directory(directory, make_spec(seed=8))
        assert load_spec(directory) == make_spec()
        assert present_trials(directory) == (0, 1)

    def test_that_another_run_is_replaced_when_allowed_and_foreign_files_stay(
        self, tmp_path: Path, make_spec: Make
    ) -> None:
        directory = prepare_directory(tmp_path / "run", make_spec())
        add_trials(directory, 2)
        close_run(directory, make_spec().identity)
        (directory / "release" / "PH1_num").mkdir(parents=True)
        (directory / "my notes.txt").write_text("keep")
        prepare_directory(directory, make_spec(seed=8), replace=True)
        assert load_spec(directory).seed == 8
        assert files(directory) == {"spec.json", "my notes.txt"}

    @pytest.mark.defect("F5")
    @pytest.mark.parametrize("replaced", [False, True])
    def test_that_a_directory_that_is_no_readable_run_is_never_replaced(
        self, tmp_path: Path, make_spec: Make, replaced: bool
    ) -> None:
        directory = prepare_directory(tmp_path / "run", make_spec())
        (directory / "spec.json").write_text("{")
        add_trials(directory, 2)
        with pytest.raises(RunExistsError, match="no run that can be read"):
            prepare_directory(directory, make_spec(), replace=replaced)
        assert (directory / "spec.json").read_text() == "{"
        assert present_trials(directory) == (0, 1)

    @pytest.mark.defect("F5")
    @pytest.mark.parametrize("name", ["log.txt", "summary.json", "trial-00003.parquet", "release/PH1_num/mine.csv"])
    def test_that_files_without_a_specification_are_somebodys(self, tmp_path: Path, make_spec: Make, name: str) -> None:
        directory = tmp_path / "run"
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("mine")
        with pytest.raises(RunExistsError, match="no run that can be read"):
            prepare_directory(directory, make_spec(), replace=True)
        assert (directory / name).read_text() == "mine"

    def test_that_what_a_worker_left_before_there_was_a_run_is_in_nobodys_way(
        self, tmp_path: Path, make_spec: Make
    ) -> None:
        directory = tmp_path / "run"
        directory.mkdir()
        (directory / ".spec.json.x1y2.part").write_text("{")
        prepare_directory(directory, make_spec())
        assert load_spec(directory) == make_spec()

    def test_that_more_trials_keep_those_that_are_there_and_reopen_the_run(
        self, tmp_path: Path, make_spec: Make
    ) -> None:
        directory = prepare_directory(tmp_path / "run", make_spec())
        add_trials(directory, 10)
        close_run(directory, make_spec().identity)
        prepare_directory(directory, make_spec(trials=20))
        assert state_of(directory) is not RunState.COMPLETE
        assert load_spec(directory).trials == 20
        assert len(present_trials(directory)) == 10

    def test_that_data_that_moved_is_found_again(self, tmp_path: Path, make_spec: Make, data: Path) -> None:
        directory = prepare_directory(tmp_path / "run", make_spec())
        add_trials(directory, 1)
        spec, elsewhere = make_spec(), data.rename(tmp_path / "elsewhere")
        prepare_directory(directory, replace(spec, data=describe_data(elsewhere)))
        assert load_spec(directory).data.path == str(elsewhere)
        assert present_trials(directory) == (0,)

    def test_that_nobody_interferes_with_a_worker(self, tmp_path: Path, make_spec: Make) -> None:
        directory = prepare_directory(tmp_path / "run", make_spec())
        with locked(directory):
            for spec in (make_spec(), make_spec(seed=8)):
                with pytest.raises(RunBusyError, match="Another process"):
                    prepare_directory(directory, spec, replace=True)
            with pytest.raises(RunBusyError):
                remove_run_files(directory)
            assert state_of(directory) is RunState.RUNNING
        prepare_directory(directory, make_spec())


class TestStates:
    @pytest.mark.parametrize(
        ("events", "state"),
        [
            ([], RunState.QUEUED),
            ([Started(3), TrialDone(0)], RunState.INTERRUPTED),
            ([Started(3), Finished(Outcome.CANCELLED)], RunState.CANCELLED),
            ([Started(3), Finished(Outcome.INTERRUPTED)], RunState.INTERRUPTED),
            ([Started(3), Failed("x")], RunState.FAILED),
            ([Failed("x"), Started(3), Finished(Outcome.CANCELLED)], RunState.CANCELLED),
            ([Started(3), Finished(Outcome.COMPLETE)], RunState.INTERRUPTED),  # died before the manifest
        ],
    )
    def test_that_the_disk_tells_the_state(
        self, run_directory: Callable[..., Path], events: list[object], state: RunState
    ) -> None:
        directory = run_directory()
        record(directory, *events)
        assert state_of(directory) is state

    def test_that_the_end_of_a_dead_worker_is_written_down_once(self, run_directory: Callable[..., Path]) -> None:
        directory = run_directory()
        record(directory, Started(3))
        record_final(directory, Failed("It died."), "last words\n")
        record_final(directory, Failed("Again."))
        assert load_events(directory) == (Started(3), Failed("It died."))
        assert "last words" in (directory / "log.txt").read_text()

    def test_that_a_complete_run_is_not_touched_by_its_watcher(self, run_directory: Callable[..., Path]) -> None:
        directory = run_directory()
        close_run(directory, "x")
        record_final(directory, Failed("no"))
        assert load_events(directory) == ()


class TestJournal:
    def test_that_a_line_cut_by_a_crash_spoils_only_itself(self, tmp_path: Path) -> None:
        path = tmp_path / "events.jsonl"
        record(tmp_path, Started(3))
        with path.open("ab") as file:
            file.write(b'{"event": "Tri')
        record(tmp_path, TrialDone(1))
        assert load_events(tmp_path) == (Started(3), Note('{"event": "Tri'), TrialDone(1))

    def test_that_every_line_has_its_time(self, tmp_path: Path) -> None:
        record(tmp_path, Started(3))
        line = json.loads((tmp_path / "events.jsonl").read_text())
        assert datetime.fromisoformat(line["at"]).tzinfo is not None


class TestManifest:
    def test_that_every_change_after_the_end_is_named(self, run_directory: Callable[..., Path]) -> None:
        directory = run_directory()
        add_trials(directory, 3)
        (directory / "release" / "PH2").mkdir(parents=True)
        (directory / "release" / "PH2" / "part.csv").write_text("1")
        close_run(directory, "x")
        assert verify_run(directory) == ()
        (directory / trial_file(0)).write_text("other")
        (directory / trial_file(1)).unlink()
        (directory / trial_file(7)).write_text("new")
        (directory / "release" / "PH2" / "part.csv").write_text("2")
        assert {issue.path[1]: issue.sentence for issue in verify_run(directory)} == {
            "trial-00000.parquet": "The file was altered after the run was complete.",
            "trial-00001.parquet": "The file is missing.",
            "trial-00007.parquet": "The file was added after the run was complete.",
            "release/PH2/part.csv": "The file was altered after the run was complete.",
        }

    @pytest.mark.parametrize("content", ["", "{}", "[]", '{"files": 3}', '{"files": {"a": 1}}'])
    def test_that_a_broken_manifest_is_an_error(self, run_directory: Callable[..., Path], content: str) -> None:
        directory = run_directory()
        (directory / "manifest.json").write_text(content)
        with pytest.raises(RunUnreadableError):
            verify_run(directory)


class TestManyRuns:
    def test_that_runs_are_named_by_time_and_identity_and_listed_newest_first(
        self, tmp_path: Path, make_spec: Make
    ) -> None:
        store = RunStore(tmp_path / "runs")
        assert store.entries() == ()
        first = store.create(make_spec(), NOW)
        again = store.create(make_spec(), NOW)
        later = store.create(make_spec(seed=8), NOW.replace(hour=13))
        assert first.name == f"20260301T123000Z-{make_spec().identity[:8]}"
        assert again.name == first.name.replace("T123000Z", "T123001Z")
        assert [entry.directory for entry in store.entries()] == [later, again, first]
        assert {entry.state for entry in store.entries()} == {RunState.QUEUED}

    def test_that_a_clock_that_was_set_back_does_not_hide_a_new_run_below_older_ones(
        self, tmp_path: Path, make_spec: Make
    ) -> None:
        store = RunStore(tmp_path / "runs")
        (tmp_path / "runs").mkdir()
        (tmp_path / "runs" / "notes").mkdir()
        old = store.create(make_spec(), NOW)
        first = store.create(make_spec(seed=8), NOW.replace(year=2001))
        second = store.create(make_spec(seed=9), NOW.replace(year=2002))
        assert [entry.directory for entry in store.entries()] == [second, first, old]

    def test_that_a_broken_run_is_listed_with_its_problem(self, tmp_path: Path, make_spec: Make) -> None:
        store = RunStore(tmp_path)
        directory = store.create(make_spec(), NOW)
        (directory / "spec.json").write_text("nonsense")
        (entry,) = store.entries()
        assert entry.spec is None
        assert "cannot be read" in entry.problem

    def test_that_a_removed_run_leaves_foreign_files_behind(self, tmp_path: Path, make_spec: Make) -> None:
        store = RunStore(tmp_path / "runs")
        kept, gone = store.create(make_spec(), NOW), store.create(make_spec(seed=1), NOW)
        (kept / "notes.txt").write_text("mine")
        add_trials(gone, 2)
        for directory in (kept, gone):
            store.remove(directory)
        assert files(store.root) == {kept.name}
        assert files(kept) == {"notes.txt"}

    def test_that_an_entry_counts_whole_trials_only(self, run_directory: Callable[..., Path]) -> None:
        directory = run_directory()
        add_trials(directory, 2)
        (directory / (trial_file(2) + ".part")).write_text("half")
        assert describe_run(directory).trials == 2
        remove_leftovers(directory)
        assert files(directory) == {"spec.json", trial_file(0), trial_file(1)}


def test_that_a_missing_summary_is_none_and_a_broken_one_an_error(run_directory: Callable[..., Path]) -> None:
    directory = run_directory()
    assert load_summary(directory) is None
    (directory / "summary.json").write_text("{")
    with pytest.raises(RunUnreadableError, match=r"summary\.json"):
        load_summary(directory)


def test_that_a_directory_without_a_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(RunUnreadableError, match="There is no"):
        load_spec(tmp_path)


def test_that_trial_numbers_of_any_length_are_read(tmp_path: Path) -> None:
    for index in (0, 99_999, 100_000, 1_234_567):
        (tmp_path / trial_file(index)).write_text("x")
    assert present_trials(tmp_path) == (0, 99_999, 100_000, 1_234_567)
