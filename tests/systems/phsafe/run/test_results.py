from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from origins import SYNTHETIC

from phexplore.model.keys import TableId, parse_level
from phexplore.model.scenario import Scenario
from phexplore.runs.events import Finished, Outcome
from phexplore.runs.simulation import TrialFigures
from phexplore.runs.states import RunState
from phexplore.runs.store import RunUnreadableError, record_final, trial_file
from phexplore.simulate.tabulation import Tabulation
from phexplore.systems.phsafe.number_files import NumberFiles
from phexplore.systems.phsafe.number_rows import keys_of, truth_of
from phexplore.systems.phsafe.results import NumberSelection, RunResults
from phexplore.systems.phsafe.run_snapshot import worst_numbers

Pair = tuple[Tabulation, Tabulation]
TRIALS = 4


class Written:
    """A run directory with trials whose noise is known."""

    def __init__(self, directory: Path, tabulated: Pair) -> None:
        self.directory = directory
        self.files = NumberFiles(keys_of(tabulated[0]))
        self.truth = truth_of(*tabulated)
        self.noise = np.random.default_rng(1).integers(-50, 50, (TRIALS, len(self.files.keys)))
        self.files.write_truth(
            directory / "truth.parquet", self.truth, {"truncation": [{"tau": 3}]}, provenance=SYNTHETIC
        )
        for trial in range(TRIALS):
            self.add(trial)

    def add(self, trial: int) -> None:
        counts = self.truth.truncated + self.noise[trial % TRIALS]
        blank = np.full(len(counts), "Discrete Gaussian")
        writer = self.files.trial_writer(blank, np.ones(len(counts)), {})
        writer.write(self.directory / trial_file(trial), counts, TrialFigures(1, 2))


@pytest.fixture
def written(run_directory: Callable[..., Path], us: Scenario, tabulated: Pair) -> Written:
    return Written(run_directory(scenario=us), tabulated)


def test_that_errors_are_kept_apart_by_kind(written: Written) -> None:
    errors = RunResults.open(written.directory).errors()
    assert np.array_equal(errors.noise, written.noise)
    assert np.array_equal(errors.bias, written.truth.truncated - written.truth.untruncated)
    assert np.array_equal(errors.total, written.noise + written.truth.truncated - written.truth.non_private)
    assert errors.trials == tuple(range(TRIALS))


@pytest.mark.parametrize(
    ("selection", "numbers"),
    [
        (NumberSelection(), 732),
        (NumberSelection(table=TableId("PH2")), 24),
        (NumberSelection(table=TableId("PH3"), level=parse_level("state_A-G")), 2 * 7 * 7),
        (NumberSelection(level=parse_level("usa_*")), 46),
        (NumberSelection(table=TableId("PH1_num"), region_id="44", iteration_code="C", cell=3), 1),
        (NumberSelection(table=TableId("PH2"), iteration_code="A"), 0),
    ],
)
def test_that_a_selection_means_what_it_says(written: Written, selection: NumberSelection, numbers: int) -> None:
    results = RunResults.open(written.directory)
    rows = results.rows(selection)
    assert len(rows) == numbers
    keys = results.keys
    for name, column in (("table", keys.table), ("region_id", keys.region_id), ("iteration_code", keys.iteration_code)):
        wanted = getattr(selection, name)
        assert wanted is None or set(column[rows]) <= {wanted}
    assert np.array_equal(results.errors(selection).noise, written.noise[:, rows])


def test_that_the_worst_numbers_come_first(written: Written) -> None:
    results = RunResults.open(written.directory)
    errors = results.errors()
    sizes, noises = np.abs(errors.total).mean(axis=0), np.abs(errors.noise).mean(axis=0)
    worst = worst_numbers(results, 10)
    assert [each.mean_error for each in worst] == sorted(sizes.tolist(), reverse=True)[:10]
    keys = results.keys
    names = list(zip(keys.table, keys.region_id, keys.iteration_code, keys.cell.tolist(), strict=True))
    for each in worst:
        row = names.index((each.query.table, each.region_id, each.code, each.cell_code))
        assert abs(each.largest_error) == np.abs(errors.total[:, row]).max()
        assert errors.total[each.trial, row] == each.largest_error
        assert each.mean_noise == noises[row]
        assert each.bias == written.truth.truncated[row] - written.truth.untruncated[row]


def test_that_a_damaged_trial_is_left_out_and_named(written: Written) -> None:
    (written.directory / trial_file(1)).write_bytes(b"damaged")
    results = RunResults.open(written.directory)
    errors = results.errors()
    assert errors.trials == (0, 2, 3)
    assert np.array_equal(errors.noise, written.noise[[0, 2, 3]])
    assert [issue.path[1] for issue in results.problems] == [trial_file(1)]
    assert results.trials == (0, 2, 3)


def test_that_a_run_without_truth_still_has_its_specification_and_trials(written: Written) -> None:
    (written.directory / "truth.parquet").write_bytes(b"damaged")
    results = RunResults.open(written.directory)
    assert not results.has_truth
    assert results.trials == (0, 1, 2, 3)
    assert results.spec.seed == 7
    assert [issue.path[1] for issue in results.problems] == ["truth.parquet"]
    with pytest.raises(RunUnreadableError, match=r"truth\.parquet"):
        results.errors()


def test_that_a_run_that_has_not_counted_yet_has_no_problem(run_directory: Callable[..., Path]) -> None:
    results = RunResults.open(run_directory())
    assert not results.has_truth
    assert results.problems == []
    assert results.summary is None
    assert results.state is RunState.QUEUED


def test_that_trials_written_later_are_found(written: Written) -> None:
    results = RunResults.open(written.directory)
    assert results.refresh() == ()
    written.add(4)
    written.add(5)
    assert results.refresh() == (4, 5)
    assert results.errors().noise.shape[0] == 6


def test_that_a_cancelled_run_is_as_readable_as_a_complete_one(written: Written) -> None:
    record_final(written.directory, Finished(Outcome.CANCELLED))
    results = RunResults.open(written.directory)
    assert results.state is RunState.CANCELLED
    assert results.errors().noise.shape[0] == TRIALS


def test_that_a_damaged_summary_is_named_and_nothing_else_is_lost(written: Written) -> None:
    (written.directory / "summary.json").write_text("{")
    results = RunResults.open(written.directory)
    assert results.summary is None
    assert [issue.path[1] for issue in results.problems] == ["summary.json"]
    assert results.errors().noise.shape[0] == TRIALS


def test_that_what_truncation_cut_is_there_before_the_run_ends(written: Written) -> None:
    assert RunResults.open(written.directory).truncation == [{"tau": 3}]


def test_that_a_directory_that_went_away_leaves_what_was_read(written: Written) -> None:
    results = RunResults.open(written.directory)
    results.errors()
    for path in written.directory.iterdir():
        path.unlink()
    written.directory.rmdir()
    results.refresh()
    assert results.trials == ()
    assert "cannot be read" in results.problems[-1].sentence
