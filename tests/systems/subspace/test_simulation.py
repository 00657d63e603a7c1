"""Subspace runs from their files: exact fractions, checks, resuming, refusals."""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
import pytest
from subspace_runs import COUNTIES, TWO_RELEASES, counts_file, run_here, specification

from phexplore.errors import BudgetMismatchError
from phexplore.model.issues import InputProblemsError
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Axis, Histogram, Mechanism, Release, Subspace, Totals
from phexplore.runs.events import Finished, Outcome
from phexplore.runs.launch import run_worker
from phexplore.runs.run_files import read_trial_figures
from phexplore.runs.spec import RunMode
from phexplore.runs.states import RunState
from phexplore.runs.store import (
    RunUnreadableError,
    load_summary,
    prepare_directory,
    state_of,
    trial_file,
    verify_run,
)
from phexplore.systems.subspace.run_files import (
    MOST_NAMED,
    AnswerNames,
    read_answers,
    write_answers,
)
from phexplore.systems.subspace.run_reader import ReleaseRun
from phexplore.systems.subspace.simulation import make_simulation, names_of
from phexplore.workload.subspace.exact import Rationals


@pytest.fixture(scope="module")
def counties(tmp_path_factory):
    directory = tmp_path_factory.mktemp("counties")
    content, _ = run_here(directory, specification(trials=30))
    return directory, content


@pytest.fixture
def two(tmp_path):
    directory = tmp_path / "two"
    content, simulation = run_here(directory, specification(TWO_RELEASES, counts_file(tmp_path), trials=4))
    return directory, content, simulation


def test_that_every_check_of_the_preset_holds(counties):
    _, content = counties
    assert content["checks"] == {
        "invariants_exact": True,
        "budget_spent_equals_declared": True,
        "unbiased": True,
        "squared_error_equals_formula": True,
    }
    assert content["numbers"] == 102
    assert content["privacy"]["epsilon"] == "0.192"
    assert content["coverage"]["of"] == 30 * 102


def test_that_a_reader_can_add_up_the_total_exactly(counties):
    """With nothing but the file: numerators over denominators, as fractions."""
    directory, _ = counties
    for trial in range(30):
        table = pq.read_table(directory / trial_file(trial)).to_pydict()
        total = sum(Fraction(n, d) for n, d in zip(table["numerator"], table["denominator"], strict=True))
        assert total == 12_830_632
    assert table["answer"][:2] == ["17001", "17003"]
    assert table["released"][0] == table["numerator"][0] / table["denominator"][0]


def test_that_the_first_trial_is_written_as_csv(counties):
    directory, _ = counties
    text = (directory / "release" / "release-01.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert sum(Fraction(int(row["numerator"]), int(row["denominator"])) for row in rows) == 12_830_632
    assert rows[0]["answer"] == "17001"


def test_that_results_give_errors_in_people(counties):
    directory, content = counties
    results = opened(directory)
    (release,) = results.releases.values()
    errors = np.array(release.errors)
    assert errors.shape == (30, 102)
    assert np.abs(errors.sum(axis=1)).max() < 1e-9
    assert release.truth.sum() == 12_830_632
    squared = (errors**2).sum(axis=1).mean()
    assert squared == pytest.approx(content["metrics"][0]["squared_error"])
    assert release.mean == pytest.approx(errors.mean(axis=0))
    assert release.squares == pytest.approx((errors**2).sum(axis=0))
    assert (release.lowest == errors.min(axis=0)).all()
    assert (release.highest == errors.max(axis=0)).all()


def opened(directory):
    run = ReleaseRun(directory)
    run.refresh()
    return run


def test_that_several_releases_are_kept_apart(two):
    directory, content, _ = two
    assert [figures["release"] for figures in content["metrics"]] == ["cells", "shares"]
    assert content["checks"]["invariants_exact"] is True
    table = pq.read_table(directory / trial_file(0)).to_pydict()
    assert table["release"] == ["cells"] * 8 + ["shares"] * 3
    assert table["answer"][0] == "county a, sex 0"
    assert table["answer"][-3:] == ["third", "half", "rest"]
    shares = [Fraction(n, d) for n, d in zip(table["numerator"][8:], table["denominator"][8:], strict=True)]
    # 3·third + 2·half of the true counts 100, 117, 134, 151
    assert 3 * shares[0] + 2 * shares[1] == 217 + 2 * (67 + 151)


def test_that_a_seed_repeats_a_trial_and_the_system_does_not(tmp_path, two):
    directory, _, _ = two
    path = counts_file(tmp_path)
    again, _ = tmp_path / "again", run_here(tmp_path / "again", specification(TWO_RELEASES, path, trials=2))
    run_here(tmp_path / "system", specification(TWO_RELEASES, path, trials=2, seed=None))
    assert (again / trial_file(1)).read_bytes() == (directory / trial_file(1)).read_bytes()
    assert (tmp_path / "system" / trial_file(1)).read_bytes() != (directory / trial_file(1)).read_bytes()


def test_that_a_trial_of_an_earlier_start_is_read(two):
    directory, _, simulation = two
    figures = simulation.read_figures(directory / trial_file(2))
    assert figures == read_trial_figures(directory / trial_file(2))
    assert figures.numbers == 11
    (directory / trial_file(2)).write_bytes(b"half a file")
    with pytest.raises(RunUnreadableError):
        simulation.read_figures(directory / trial_file(2))


@pytest.mark.parametrize("mode", [RunMode.NO_NOISE, RunMode.NON_PRIVATE])
def test_that_a_run_without_noise_gives_the_answers(tmp_path, mode):
    content, _ = run_here(tmp_path / "run", specification(TWO_RELEASES, counts_file(tmp_path), trials=1, mode=mode))
    releases = opened(tmp_path / "run").releases
    assert not any(errors.any() for release in releases.values() for errors in release.errors)
    assert content["checks"] == {"invariants_exact": True}
    assert content["metrics"][0]["expected_squared_error"] == 0


def test_that_a_broken_total_is_counted(two):
    directory, _, simulation = two
    path, names = directory / trial_file(1), names_of(TWO_RELEASES.subspace)
    values = read_answers(path, names)
    changed = values["cells"].numerators.copy()
    changed[0] += 1
    values["cells"] = replace(values["cells"], numerators=changed)
    write_answers(path, names, values, {"covered": 0, "numbers": 11})
    assert simulation.finish((0, 1), _Silent())["checks"]["invariants_exact"] == 1


class _Silent:
    def progress(self, phase, done, total):
        pass


def test_that_a_run_of_a_worker_is_complete_and_intact(tmp_path):
    directory = prepare_directory(tmp_path / "run", specification(trials=2))
    assert run_worker(directory, print) == Finished(Outcome.COMPLETE)
    assert state_of(directory) is RunState.COMPLETE
    assert verify_run(directory) == ()
    assert load_summary(directory)["trials"] == 2
    assert {path.name for path in directory.iterdir()} >= {
        "spec.json", "events.jsonl", "truth.parquet", "summary.json", "manifest.json", "release",
    }  # fmt: skip


def test_that_data_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("county,sex,count\na,0,1\n")
    with pytest.raises(InputProblemsError, match="has no line"):
        run_here(tmp_path / "run", specification(TWO_RELEASES, path))


def test_that_noise_that_does_not_cost_what_is_declared_stops_the_run(tmp_path, monkeypatch):
    import phexplore.systems.subspace.simulation as module

    def wrong(method):
        plans = real(method)
        return (replace(plans[0], steps=2 * plans[0].steps),)

    real = module.noise_plans
    monkeypatch.setattr(module, "noise_plans", wrong)
    with pytest.raises(BudgetMismatchError):
        run_here(tmp_path / "run", specification())


def test_that_an_unprepared_run_draws_nothing(tmp_path):
    with pytest.raises(RuntimeError, match="not prepared"):
        make_simulation(specification(), tmp_path).write_trial(0, tmp_path / "x")


def test_that_results_of_another_system_are_refused(tmp_path, counties):
    directory, _ = counties
    assert ReleaseRun(directory).releases
    with pytest.raises(RunUnreadableError):
        ReleaseRun(tmp_path)


def test_that_very_large_releases_are_read_by_number():
    axes = (Axis("cell", MOST_NAMED + 1),)
    method = Subspace(axes, {"only": Release(Histogram(), (Totals(),), Mechanism.PROJECTED_LAPLACE)}, Fraction(1))
    assert names_of(method).texts == ()


def test_that_fractions_beyond_64_bits_are_stored_as_text(tmp_path):
    names = AnswerNames({"only": 2}, ("a", "b"))
    values = Rationals(np.array([2**70, -(2**70) + 1], dtype=object), np.array(3**50, dtype=object))
    write_answers(tmp_path / "t.parquet", names, {"only": values})
    assert pq.read_table(tmp_path / "t.parquet").column("numerator").to_pylist() == [str(2**70), str(1 - 2**70)]
    assert read_answers(tmp_path / "t.parquet", names)["only"].fractions() == values.fractions()


def test_that_a_file_of_other_answers_is_refused(tmp_path):
    names = AnswerNames({"only": 2}, ("a", "b"))
    write_answers(tmp_path / "t.parquet", names, {"only": Rationals(np.array([1, 2]), np.array(1))})
    with pytest.raises(RunUnreadableError, match="it has 2 rows, not 3"):
        read_answers(tmp_path / "t.parquet", AnswerNames({"only": 3}, ()))


def test_that_the_note_says_what_the_trials_are_fit_for(tmp_path):
    from subspace_runs import SilentWatch

    watch = SilentWatch()
    make_simulation(specification(), tmp_path).prepare(watch)
    assert "never for release" in watch.notes[-1]
    scenario = Scenario("again", COUNTIES.method)
    make_simulation(replace(specification(scenario), seed=None), tmp_path).prepare(watch)
    assert "operating system" in watch.notes[-1]
