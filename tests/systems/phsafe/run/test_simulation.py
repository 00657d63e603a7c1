"""The real simulation on the shipped synthetic population, in this process; one test runs it as a worker."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from silent_watch import SilentWatch

from phexplore.catalog.tables import sensitivity, table
from phexplore.data.source import find_source
from phexplore.data.validation import load_data
from phexplore.errors import CancelledError
from phexplore.metrics.numbers import cell_groups
from phexplore.model.issues import InputProblemsError
from phexplore.model.keys import TableId, parse_query
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import noise_for
from phexplore.runs.events import Finished, Outcome, TrialDone
from phexplore.runs.launch import WorkerProcess
from phexplore.runs.run_files import read_mark
from phexplore.runs.simulation import Simulation
from phexplore.runs.spec import RunMode, RunSpec, describe_data
from phexplore.runs.store import prepare_directory, trial_file
from phexplore.simulate.phsafe_count import CountingSpec, UnclassifiableRecordError, tabulate
from phexplore.simulate.phsafe_output import write_output
from phexplore.systems.phsafe import summary as phsafe_summary
from phexplore.systems.phsafe.number_files import read_truth
from phexplore.systems.phsafe.number_rows import keys_of, truth_of
from phexplore.systems.phsafe.results import NumberSelection, RunResults
from phexplore.systems.phsafe.simulation import make_simulation

DEMO = Path("demo")
TRIALS = 25


def run(
    directory: Path, scenario: Scenario, *, trials: int = 2, data: Path = DEMO, **changes: Any
) -> Mapping[str, Any]:
    """Do a whole run in this process and return its part of the summary."""
    return prepare_and_run(directory, scenario, trials=trials, data=data, **changes)[1]


def prepare_and_run(
    directory: Path, scenario: Scenario, *, trials: int, data: Path = DEMO, **changes: Any
) -> tuple[Simulation, Mapping[str, Any]]:
    spec = RunSpec(scenario, describe_data(data), trials, **({"seed": 7} | changes))
    prepare_directory(directory, spec)
    simulation = make_simulation(spec, directory)
    simulation.prepare(SilentWatch())
    for index in range(trials):
        simulation.write_trial(index, directory / trial_file(index))
    content = simulation.finish(tuple(range(trials)), SilentWatch())
    (directory / "summary.json").write_text(json.dumps(content))
    return simulation, content


def released_rows(directory: Path) -> dict[tuple[str, str, str, str, str], tuple[str, str, str]]:
    """Return the production layout as text: key columns to COUNT, NOISE_DISTRIBUTION, VARIANCE."""
    found = {}
    for place in directory.iterdir():
        with (place / "part-00000.csv").open(newline="") as file:
            for row in csv.DictReader(file, delimiter="|"):
                key = (
                    place.name,
                    row["REGION_TYPE"],
                    row["REGION_ID"],
                    row.get("ITERATION_CODE", "*"),
                    row[f"{place.name.upper()}_DATA_CELL"],
                )
                assert key not in found
                found[key] = (row["COUNT"], row.get("NOISE_DISTRIBUTION", ""), row.get("VARIANCE", ""))
    return found


@dataclass(frozen=True)
class Done:
    """A run of all tables in 51 states, used by many tests."""

    directory: Path
    simulation: Simulation
    summary: Mapping[str, Any]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, us: Scenario) -> Done:
    directory = tmp_path_factory.mktemp("run")
    return Done(directory, *prepare_and_run(directory, us, trials=TRIALS))


@pytest.fixture(scope="module")
def results(done: Done) -> RunResults:
    return RunResults.open(done.directory)


def test_that_every_check_of_a_sound_run_is_true(done: Done) -> None:
    checks = done.summary["checks"]
    assert len(checks) == 8
    assert set(checks.values()) == {True}
    assert done.summary["privacy"] == {"framework": "zcdp", "budget": "1.257281", "bounded_budget": "2.514562"}


def test_that_the_truth_is_that_of_the_population_loaded_whole(results: RunResults, us: Scenario) -> None:
    data = load_data(DEMO, us.method.states)
    measured = tabulate([data], CountingSpec.measured(us.method))
    exact = tabulate([data], CountingSpec.exact(us.method.states))
    expected = truth_of(measured, exact)
    assert all(map(np.array_equal, astuple(results.keys), astuple(keys_of(measured))))
    for name in ("truncated", "untruncated", "non_private"):
        assert np.array_equal(getattr(results.truth(), name), getattr(expected, name))
    assert results.truth().truncated.sum() < results.truth().untruncated.sum()


def test_that_coverage_is_what_the_noise_promises(done: Done, results: RunResults, us: Scenario) -> None:
    """Expected share within the margin from the exact distribution of every number; false alarm below 1e-7."""
    method, mean, variance = us.method, 0.0, 0.0
    for group in cell_groups(results.keys):
        if table(group.table).measured:
            reach = sensitivity(table(group.table), method.thresholds.get(group.table))
            noise = noise_for(method.framework, sensitivity=reach, budget=method.budgets[group.query])
            share = noise.coverage(int(results.expectation.margin[group.rows[0]]))
            mean += TRIALS * len(group.rows) * share
            variance += TRIALS * len(group.rows) * share * (1 - share)
    coverage = done.summary["coverage"]
    assert coverage["of"] == TRIALS * 10_608
    assert abs(coverage["held"] - mean) < 5.4 * variance**0.5


def test_that_noise_has_the_spread_and_centre_of_its_distribution(results: RunResults, us: Scenario) -> None:
    """PH3 by state and race: 8 925 and more errors per table; mean and variance within 5.4 standard errors."""
    for name in ("PH3/state_A-G", "PH1_denom/state_H,I", "PH7/state_A-G"):
        query = parse_query(name)
        reach = sensitivity(table(query.table), us.method.thresholds.get(query.table))
        sigma2 = float(Fraction(reach**2) / (2 * us.method.budgets[query]))
        noise = results.errors(NumberSelection(table=query.table, level=query.level)).noise
        assert abs(noise.mean()) < 5.4 * (sigma2 / noise.size) ** 0.5
        assert abs(noise.var() - sigma2) < 5.4 * sigma2 * (2 / noise.size) ** 0.5


def test_that_the_release_is_the_first_trial_in_production_s_layout(done: Done) -> None:
    directory = done.directory
    frame = pq.read_table(directory / trial_file(0)).to_pandas()
    expected = {
        (row.TABLE, row.REGION_TYPE, row.REGION_ID, row.ITERATION_CODE, str(row.DATA_CELL)): (
            str(row.COUNT),
            row.NOISE_DISTRIBUTION,
            repr(float(row.VARIANCE)),
        )
        for row in frame.itertuples()
    }
    assert len(expected) == 12_688
    assert released_rows(directory / "release") == expected


def test_that_a_trial_depends_on_seed_and_index_alone(done: Done, us: Scenario, tmp_path: Path) -> None:
    spec = RunSpec(us, describe_data(DEMO), 2, 7, workers=4)
    simulation = make_simulation(spec, tmp_path)
    simulation.prepare(SilentWatch())
    for index in (TRIALS - 1, 3):
        simulation.write_trial(index, tmp_path / "trial")
        assert (tmp_path / "trial").read_bytes() == (done.directory / trial_file(index)).read_bytes()


def test_that_trials_differ_and_seeded_ones_say_what_they_are(done: Done, results: RunResults) -> None:
    assert not np.array_equal(results.released(0), results.released(1))
    assert "never for release" in read_mark(done.directory / trial_file(0))["label"]


def test_that_noise_of_the_operating_system_never_repeats(us: Scenario, tmp_path: Path) -> None:
    spec = RunSpec(us, describe_data(DEMO), 2, None)
    simulation, watch = make_simulation(spec, tmp_path), SilentWatch()
    simulation.prepare(watch)
    for name in "ab":
        simulation.write_trial(0, tmp_path / name)
    assert (tmp_path / "a").read_bytes() != (tmp_path / "b").read_bytes()
    assert any("once more" in note for note in watch.notes)
    assert not any("no mark" in note for note in watch.notes)


def test_that_a_run_without_noise_gives_the_truncated_counts(us: Scenario, tmp_path: Path) -> None:
    summary = run(tmp_path, us, trials=1, mode=RunMode.NO_NOISE)
    results = RunResults.open(tmp_path)
    assert np.array_equal(results.released(0), results.truth().truncated)
    assert {row[1:] for row in released_rows(tmp_path / "release").values()} == {("Discrete Gaussian", "0.0")}
    assert set(summary["checks"].values()) == {True}
    assert summary["privacy"]["budget"] == "Infinity"


def test_that_a_non_private_run_gives_production_s_exact_tables(us: Scenario, tmp_path: Path) -> None:
    summary = run(tmp_path / "run", us, trials=1, mode=RunMode.NON_PRIVATE)
    write_output(tabulate([load_data(DEMO)], CountingSpec.exact(us.method.states)), tmp_path / "expected")
    assert released_rows(tmp_path / "run" / "release") == released_rows(tmp_path / "expected")
    assert summary["checks"] == {"totals_equal_their_cells": True}
    results = RunResults.open(tmp_path / "run")
    assert not results.errors().total.any()


def test_that_truncation_bias_by_household_size_adds_up_to_the_bias(results: RunResults) -> None:
    truth = results.truth()
    for entry in results.truncation:
        name = TableId(entry["table"])
        rows = results.rows(NumberSelection(table=name, region_id="1", iteration_code="*"))
        assert sum(each["cut"] for each in entry["sizes"]) == (truth.untruncated - truth.truncated)[rows].sum()
        assert sum(each["persons"] for each in entry["sizes"]) == truth.untruncated[rows].sum()
    assert {entry["table"] for entry in results.truncation} == {"PH1_num", "PH2", "PH3", "PH4", "PH6", "PH7"}


def test_that_the_accuracy_report_is_production_s_figure_for_a_cell(done: Done, results: RunResults) -> None:
    wanted = {"TABLE": "PH3", "REGION_TYPE": "STATE", "ITERATION_CODE": "C", "DATA_CELL": 9}
    (line,) = [line for line in done.summary["accuracy_report"] if wanted.items() <= line.items()]
    rows = [
        row
        for row in results.rows(NumberSelection(table=TableId("PH3"), iteration_code="C", cell=9)).tolist()
        if results.keys.region_type[row] == "STATE"
    ]
    sizes = sorted(
        abs(int(results.released(trial)[row]) - int(results.truth().non_private[row]))
        for trial in range(TRIALS)
        for row in rows
    )
    assert line["COUNT"] == len(sizes) == 51 * TRIALS
    assert line["EXPERIMENTAL_MOE"] == pytest.approx(np.quantile(sizes, 0.9))
    assert len(done.summary["accuracy_report"]) == 12_688 // 52 * 2


def test_that_memory_bounds_change_no_figure(done: Done, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phsafe_summary, "_BLOCK_BYTES", 8 * TRIALS * 700)
    assert done.simulation.finish(tuple(range(TRIALS)), SilentWatch()) == done.summary


def test_that_files_in_any_order_give_the_same_truth(results: RunResults, us: Scenario, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    for frame, (file,) in find_source(DEMO).files.items():
        content = pq.read_table(file)
        pq.write_table(content.take(rng.permutation(len(content))), tmp_path / f"{frame}.parquet")
    directory = tmp_path / "run"
    directory.mkdir()
    spec, watch = RunSpec(us, describe_data(tmp_path), 1, 7), SilentWatch()
    make_simulation(spec, directory).prepare(watch)
    assert any("not sorted" in note for note in watch.notes)
    found = read_truth(directory / "truth.parquet")
    assert all(map(np.array_equal, astuple(found.keys), astuple(results.keys)))
    assert np.array_equal(found.truth.truncated, results.truth().truncated)
    assert found.metadata["confidential"] is True


def test_that_a_record_that_fits_no_cell_fails_a_private_run_and_counts_in_an_exact_one(
    us: Scenario, tmp_path: Path
) -> None:
    """phsafe.md §4: HHT2 of a married couple without such a couple in CPLT fits no basis cell of PH2."""
    for frame, (file,) in find_source(DEMO).files.items():
        content = pq.read_table(file)
        if frame == "units":
            couples = content.column("CPLT").to_pylist()
            couples[content.column("HHT2").to_pylist().index("01")] = "5"
            content = content.set_column(content.schema.get_field_index("CPLT"), "CPLT", pa.array(couples, pa.string()))
        pq.write_table(content, tmp_path / f"{frame}.parquet")
    (tmp_path / "run").mkdir()
    simulation = make_simulation(RunSpec(us, describe_data(tmp_path), 1, 7), tmp_path / "run")
    with pytest.raises(
        InputProblemsError, match=r"units\.parquet:\d+:10: HHT2 is the code of a married couple"
    ) as refused:
        simulation.prepare(SilentWatch())
    assert isinstance(refused.value.__cause__, UnclassifiableRecordError)
    summary = run(tmp_path / "exact", us, trials=1, data=tmp_path, mode=RunMode.NON_PRIVATE)
    assert summary["checks"]["totals_equal_their_cells"] > 0


def test_that_unpublished_levels_have_no_numbers(us: Scenario, tmp_path: Path) -> None:
    kept = {parse_query("PH2/state_*"), parse_query("PH4/usa_H,I")}
    budgets = {query: budget if query in kept else Fraction(0) for query, budget in us.method.budgets.items()}
    summary = run(tmp_path, replace(us, method=replace(us.method, budgets=budgets)))
    assert summary["numbers"] == 51 * 8 + 2 * 2 * 2  # PH5_num repeats PH4
    assert set(summary["checks"].values()) == {True}
    assert {entry["table"] for entry in summary["metrics"]} == {"PH2", "PH4", "PH5_num"}


def test_that_pure_privacy_has_geometric_noise(us: Scenario, tmp_path: Path) -> None:
    summary = run(tmp_path, replace(us, method=replace(us.method, framework=PrivacyFramework.PURE_DP)))
    assert set(summary["checks"].values()) == {True}
    assert summary["privacy"]["framework"] == "puredp"
    distributions, _ = RunResults.open(tmp_path).noise_columns(0)
    assert set(distributions.tolist()) == {"Two-Sided Geometric"}


def test_that_puerto_rico_runs_on_its_own(puerto_rico: Scenario, tmp_path: Path) -> None:
    summary = run(tmp_path, puerto_rico, data=Path("demo-pr"))
    assert set(RunResults.open(tmp_path).keys.region_type.tolist()) == {"STATE"}
    assert summary["privacy"]["budget"] == "1.226649"
    assert set(summary["checks"].values()) == {True}


@pytest.mark.parametrize("checkpoint", [1, 2, 3])
def test_that_counting_stops_at_a_checkpoint(us: Scenario, tmp_path: Path, checkpoint: int) -> None:
    simulation = make_simulation(RunSpec(us, describe_data(DEMO), 1, 7), tmp_path)
    with pytest.raises(CancelledError):
        simulation.prepare(SilentWatch(checkpoint))


def test_that_a_worker_draws_what_is_missing_with_the_same_bytes(done: Done, us: Scenario, tmp_path: Path) -> None:
    directory = prepare_directory(tmp_path / "run", RunSpec(us, describe_data(DEMO), TRIALS, 7, workers=2))
    there = (0, 1, 2, 9, TRIALS - 1)
    for index in there:
        shutil.copy(done.directory / trial_file(index), directory)
    with WorkerProcess(directory) as worker:
        events = list(worker.events())
    assert events[-1] == Finished(Outcome.COMPLETE)
    drawn = {event.index for event in events if isinstance(event, TrialDone)}
    assert drawn == set(range(TRIALS)) - set(there)
    for index in range(TRIALS):
        assert (directory / trial_file(index)).read_bytes() == (done.directory / trial_file(index)).read_bytes()
    assert json.loads((directory / "summary.json").read_text())["metrics"] == json.loads(
        json.dumps(done.summary["metrics"])
    )


@pytest.mark.slow
def test_that_a_real_run_is_cancelled_with_its_trials_kept(us: Scenario, tmp_path: Path) -> None:
    directory = prepare_directory(tmp_path / "run", RunSpec(us, describe_data(DEMO), 5000, 7))
    with WorkerProcess(directory) as worker:
        for event in worker.events():
            if isinstance(event, TrialDone):
                worker.cancel()
    assert event == Finished(Outcome.CANCELLED)
    assert worker.exit_code == 0
    assert len(RunResults.open(directory).errors().noise) > 0
