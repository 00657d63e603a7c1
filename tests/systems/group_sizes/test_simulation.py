"""Runs of group sizes from their files: promises, errors, resuming, refusals."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
import pytest
from group_size_runs import SMALL, run_here, small_file, with_mechanism

from phexplore.errors import BudgetMismatchError
from phexplore.model.group_sizes import SizeMechanism
from phexplore.model.issues import InputProblemsError
from phexplore.model.phsafe import PrivacyFramework
from phexplore.runs.events import Finished, Outcome
from phexplore.runs.launch import run_worker
from phexplore.runs.run_files import read_trial_figures
from phexplore.runs.spec import RunMode, RunSpec, data_of
from phexplore.runs.states import RunState
from phexplore.runs.store import (
    TRUTH_FILE,
    RunUnreadableError,
    load_summary,
    prepare_directory,
    state_of,
    trial_file,
    verify_run,
)
from phexplore.simulate.group_sizes.release import GroupSizeDataError
from phexplore.systems.group_sizes.run_files import read_sizes


@pytest.fixture
def small(tmp_path):
    return small_file(tmp_path, np.random.default_rng(1))


@pytest.mark.parametrize("framework", PrivacyFramework)
@pytest.mark.parametrize("mechanism", [m for m in SizeMechanism if m.is_exact])
def test_that_exact_mechanisms_keep_every_promise(tmp_path, small, mechanism, framework):
    table, path = small
    content, _ = run_here(tmp_path / "run", path, with_mechanism(mechanism, framework=framework), trials=4)
    assert content["checks"] == {
        "budget_spent_equals_declared": True,
        "consistency": True,
        "non_negative": True,
        "groups_of_every_level": True,
    }
    assert content["violations"] == {"mean": 0.0, "sd": 0.0}
    assert content["privacy"]["budget"] == "1.5"
    assert content["data"]["groups"] == table.groups
    assert [level["regions"] for level in content["metrics"]] == [1, 2, 5]


@pytest.mark.parametrize("mechanism", [m for m in SizeMechanism if not m.is_exact])
def test_that_baselines_count_what_they_break(tmp_path, small, mechanism):
    table, path = small
    content, notes = run_here(tmp_path / "run", path, with_mechanism(mechanism, total=Fraction(1, 2)), trials=6)
    levels = [read_sizes(tmp_path / "run" / trial_file(t), table.tree, 12) for t in range(6)]
    broken = sum(
        int((above != np.add.reduceat(below, first[:-1], axis=0)).sum())
        for trial in levels
        for above, below, first in zip(trial, trial[1:], table.tree.first_child, strict=False)
    )
    assert broken > 0
    assert content["checks"]["consistency"] == broken
    assert content["violations"]["mean"] == pytest.approx(broken / 6)
    assert content["checks"]["non_negative"] is True
    assert any("rounds every value by itself" in note for note in notes)


def test_that_the_summary_can_be_worked_out_from_the_trials(tmp_path, small):
    table, path = small
    content, _ = run_here(tmp_path / "run", path, trials=5)
    exact = table.by_level()
    trials = [read_sizes(tmp_path / "run" / trial_file(t), table.tree, 12) for t in range(5)]
    for place, level in enumerate(content["metrics"]):
        errors = np.array([trial[place] - exact[place] for trial in trials])
        distances = np.abs(errors).sum(axis=(1, 2))
        assert level["l1"]["mean"] == pytest.approx(distances.mean())
        assert level["l1"]["sd"] == pytest.approx(distances.std(ddof=1))
        assert level["largest"] == np.abs(errors).max()
        assert level["rmse"] == pytest.approx(np.sqrt((errors**2).mean()))
        assert sum(size["l1"] for size in level["sizes"]) == pytest.approx(distances.mean())
        moved = np.abs(np.cumsum(errors, axis=2)).sum(axis=(1, 2)).mean()
        assert level["individuals_moved"]["mean"] == pytest.approx(moved)
    held = sum(read_trial_figures(tmp_path / "run" / trial_file(t)).covered for t in range(5))
    assert content["coverage"]["held"] == held
    assert content["coverage"]["of"] == 5 * 8 * 12


def test_that_a_reader_can_add_up_every_level(tmp_path, small):
    table, path = small
    run_here(tmp_path / "run", path, trials=1)
    rows = pq.read_table(tmp_path / "run" / trial_file(0)).to_pylist()
    for level in table.tree.levels:
        assert sum(row["count"] for row in rows if row["level"] == level) == table.groups
    text = (tmp_path / "run" / "release" / "3-county.csv").read_text()
    lines = list(csv.DictReader(text.splitlines(), delimiter="|"))
    assert sum(int(line["count"]) for line in lines) == table.groups
    assert lines[0]["region"] == "A/1"
    truth = read_sizes(tmp_path / "run" / TRUTH_FILE, table.tree, 12)
    assert all((a == b).all() for a, b in zip(truth, table.by_level(), strict=True))


def test_that_equal_seeds_give_equal_bytes_and_other_trials_other_noise(tmp_path, small):
    _, path = small
    run_here(tmp_path / "one", path, trials=2)
    run_here(tmp_path / "two", path, trials=2)
    first = (tmp_path / "one" / trial_file(0)).read_bytes()
    assert first == (tmp_path / "two" / trial_file(0)).read_bytes()
    assert first != (tmp_path / "one" / trial_file(1)).read_bytes()


@pytest.mark.parametrize("mode", [RunMode.NO_NOISE, RunMode.NON_PRIVATE])
def test_that_modes_without_noise_return_the_data(tmp_path, small, mode):
    _, path = small
    content, notes = run_here(tmp_path / "run", path, trials=1, mode=mode)
    assert all(level["l1"]["mean"] == 0 for level in content["metrics"])
    assert "budget_spent_equals_declared" not in content["checks"]
    assert "privacy" not in content
    assert any("not protected" in note for note in notes)


def test_that_a_worker_runs_resumes_and_closes(tmp_path, small):
    _, path = small
    spec = RunSpec(SMALL, data_of(SMALL, path), 2, 3, workers=2)
    directory = prepare_directory(tmp_path / "run", spec)
    assert run_worker(directory, lambda _: None) == Finished(Outcome.COMPLETE)
    before = (directory / trial_file(1)).read_bytes()
    prepare_directory(directory, replace(spec, trials=4))
    assert run_worker(directory, lambda _: None) == Finished(Outcome.COMPLETE)
    assert state_of(directory) is RunState.COMPLETE
    assert not verify_run(directory)
    assert (directory / trial_file(1)).read_bytes() == before
    summary = load_summary(directory)
    assert summary["trials"] == 4
    assert summary["checks"]["consistency"] is True
    assert "trials" in summary["seconds"]


def test_that_data_of_another_shape_are_refused_or_noted(tmp_path, small):
    _, path = small
    flat = replace(
        SMALL,
        method=replace(
            SMALL.method, levels=("a", "b"), regions=(1, 5), level_shares=dict.fromkeys("ab", Fraction(1, 2))
        ),
    )
    with pytest.raises(InputProblemsError, match="levels"):
        run_here(tmp_path / "flat", path, flat)
    content, _ = run_here(tmp_path / "run", path, with_mechanism(SizeMechanism.TREE, regions=(1, 2, 9)), trials=1)
    assert "the data's count" in " ".join(content["data"]["remarks"])


def test_that_wrong_shares_never_reach_a_trial(tmp_path, small):
    _, path = small
    shares = {"Country": Fraction(1, 3), "State": Fraction(1, 3), "County": Fraction(1, 2)}
    with pytest.raises(BudgetMismatchError, match="more"):
        run_here(tmp_path / "run", path, with_mechanism(SizeMechanism.TREE, level_shares=shares))
    assert not (tmp_path / "run" / trial_file(0)).exists()


def test_that_damaged_trials_are_told_apart(tmp_path, small):
    table, path = small
    run_here(tmp_path / "run", path, trials=1)
    trial = tmp_path / "run" / trial_file(0)
    with pytest.raises(RunUnreadableError, match="other regions or sizes"):
        read_sizes(trial, table.tree, 13)
    content = trial.read_bytes()
    trial.write_bytes(content[: len(content) // 2])
    with pytest.raises(RunUnreadableError, match="cannot be read"):
        read_sizes(trial, table.tree, 12)
    with pytest.raises(RunUnreadableError, match="cannot be read"):
        read_trial_figures(trial)


def test_that_the_specification_holds_the_parameters(tmp_path, small):
    _, path = small
    run_here(tmp_path / "run", path, trials=1)
    spec = json.loads((tmp_path / "run" / "spec.json").read_text())
    assert spec["scenario"]["method"]["kind"] == "group-sizes"
    assert spec["scenario"]["method"]["total"] == "1.5"


def test_that_a_releaser_refuses_another_largest_size(small):
    from phexplore.simulate.group_sizes.release import GroupSizeReleaser

    table, _ = small
    with pytest.raises(GroupSizeDataError, match="sizes up to 12"):
        GroupSizeReleaser(table, replace(SMALL.method, largest=13))
