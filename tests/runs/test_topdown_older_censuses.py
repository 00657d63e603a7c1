"""Whole runs on the layouts of the 2010 demonstration data and of the 1940 full count, with what their parameters keep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from census_1940_files import synthesize_census_1940, write_census_1940
from topdown_runs import EXPANDED, run, spec_of

from phexplore.data.blocks.age_microdata_writing import write_persons_with_ages
from phexplore.data.blocks.ages import with_ages
from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_states, write_block_file
from phexplore.data.blocks.source import read_population
from phexplore.model.issues import has_errors
from phexplore.model.scenario import Scenario
from phexplore.runs.spec import RunMode
from phexplore.runs.store import TRUTH_FILE, RunUnreadableError, trial_file
from phexplore.systems.registry import check
from phexplore.systems.topdown.ini_reading import load_ini
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.release import CELLS_FILE, PERSONS_FILE, trial_directory
from phexplore.systems.topdown.results import TopDownResults
from phexplore.systems.topdown.run_files import open_leaf_files
from phexplore.systems.topdown.run_options import TopDownOptions
from phexplore.workload.schema import load_schema

DEMONSTRATION = Scenario("2010 demonstration", topdown_presets()["ddp-2019-persons-us"].scenario.method)
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "census-1940.ini"
HELD = {
    "budget_spent_equals_declared": True,
    "sums": True,
    "invariants": True,
    "structural_zeros": True,
    "non_negativity": True,
}


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    """A state's persons in 17 columns, the run on them, and the directory of the run."""
    directory = tmp_path_factory.mktemp("demonstration")
    made = with_ages(expand(synthesize_states(40, 1, ["44"]), 1), 1)
    write_persons_with_ages(made, directory / "persons.txt")
    spec = spec_of(
        directory / "persons.txt",
        DEMONSTRATION,
        trials=1,
        options=TopDownOptions(microdata=True, keep_measurements=False),
    )
    return directory / "run", run(directory / "run", spec), made


@pytest.fixture(scope="module")
def census_1940(tmp_path_factory):
    directory = tmp_path_factory.mktemp("census")
    write_census_1940(synthesize_census_1940(6, 1, ("09", "44")), directory / "census.dat.gz")
    scenario, warnings = load_ini(EXAMPLE)
    assert warnings == ()
    spec = spec_of(directory / "census.dat.gz", scenario, trials=1, options=TopDownOptions(microdata=True))
    return directory / "run", run(directory / "run", spec), read_population(directory / "census.dat.gz")


@pytest.mark.defect("D1")
def test_that_the_example_of_1940_passes_the_check_of_every_command():
    assert not has_errors(check(load_ini(EXAMPLE)[0]))


def test_that_a_run_of_the_demonstration_data_keeps_what_its_parameters_name(demonstration):
    _, summary, _ = demonstration
    assert summary["checks"] == HELD
    assert (summary["failsafe"], summary["relaxed"], summary["unfinished"]) == (0, 0, 0)
    levels = [level["level"] for level in summary["design"]["levels"]]
    assert levels == ["State", "County", "Tract_Group", "Tract", "Block_Group", "Block"]
    assert all(len(level["structural_zeros"]) == 5 for level in summary["design"]["levels"])
    assert summary["broken_totals"] == {"State": {"units": 1, "trials": 1, "broken": 0}}
    assert summary["privacy"]["unspent"] == "0.8"  # the nation's fifth of ε = 4


def test_that_the_demonstration_microdata_read_back_as_the_trial(demonstration):
    directory, _, made = demonstration
    place = trial_directory(directory, 0)
    people = read_population(place / PERSONS_FILE)
    files = open_leaf_files(directory / TRUTH_FILE, load_schema("demonstration_2010_persons"))
    trial = files.read(directory / trial_file(0))
    assert people.total == trial.total == made.total
    assert (people.cells.tolist(), people.counts.tolist()) == (trial.cells.tolist(), trial.counts.tolist())
    assert read_population(place / CELLS_FILE).cells.tolist() == trial.cells.tolist()


def test_that_trials_of_many_cells_list_the_filled_ones(demonstration):
    """Read by another program: one row per leaf, the counts of a cell add up to what the microdata say."""
    directory, _, _ = demonstration
    table = pd.read_parquet(directory / trial_file(0))
    cells, counts = (np.concatenate(table[name].to_list()) for name in ("cells", "counts"))
    people = read_population(trial_directory(directory, 0) / PERSONS_FILE)
    assert counts.sum() == people.total
    assert len(table) == len(open_leaf_files(directory / TRUTH_FILE, people.schema).geoids)
    cell = int(people.cells[0])
    assert counts[cells == cell].sum() == people.counts[people.cells == cell].sum()


def test_that_an_altered_list_is_found(demonstration, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    directory, _, _ = demonstration
    table = pq.read_table(directory / trial_file(0))
    counts = table.column("counts").to_pylist()
    next(row for row in counts if row)[0] += 1
    altered = table.set_column(2, table.schema.field(2), pa.array(counts, table.schema.field(2).type))
    pq.write_table(altered, tmp_path / "trial.parquet")
    files = open_leaf_files(directory / TRUTH_FILE, load_schema("demonstration_2010_persons"))
    with pytest.raises(RunUnreadableError, match="was altered"):
        files.read(tmp_path / "trial.parquet")


def test_that_a_run_of_1940_keeps_totals_and_facilities(census_1940):
    directory, summary, truth = census_1940
    assert summary["checks"] == HELD
    assert (summary["failsafe"], summary["unfinished"]) == (0, 0)
    levels = [level["level"] for level in summary["design"]["levels"]]
    assert levels == ["Nation", "State", "County", "Supdist", "Enumdist"]
    assert summary["privacy"]["unspent"] == "0"
    cells = read_population(trial_directory(directory, 0) / CELLS_FILE)
    by_state = [
        {state: int(each.totals()[each.geoids.astype("U2") == state].sum()) for state in ("09", "44")}
        for each in (cells, truth)
    ]
    assert by_state[0] == by_state[1]
    lines = (trial_directory(directory, 0) / PERSONS_FILE).read_text("utf-8").splitlines()
    header = next(line for line in lines if not line.startswith("#"))
    assert header.split("|")[2:6] == ["TABBLKST", "TABBLKCOU", "SUPDIST", "ENUMDIST"]
    assert len(lines) - lines.index(header) - 1 == truth.total


@pytest.mark.parametrize("case", ["demonstration", "census_1940"])
def test_that_results_of_such_runs_open_with_their_own_levels(case, request):
    directory, summary, _ = request.getfixturevalue(case)
    results = TopDownResults.open(directory)
    assert list(results.run.levels) == [level["level"] for level in summary["design"]["levels"]]
    worst = results.worst(2)
    assert {unit.level for unit in worst} == {level["level"] for level in summary["design"]["levels"][1:]}
    assert all(unit.code in unit.sentence for unit in worst)


def test_that_exact_measurements_of_1940_give_the_input_back(tmp_path):
    write_census_1940(synthesize_census_1940(3, 2), tmp_path / "census.dat")
    scenario, _ = load_ini(EXAMPLE)
    run(tmp_path / "run", spec_of(tmp_path / "census.dat", scenario, trials=1, mode=RunMode.NO_NOISE))
    files = open_leaf_files(tmp_path / "run" / TRUTH_FILE, load_schema("census_1940"))
    truth, found = (files.read(tmp_path / "run" / name) for name in (TRUTH_FILE, trial_file(0)))
    assert found.differences(truth) == 0


def test_that_blocks_of_the_redistricting_data_meet_the_demonstration_by_the_rule(tmp_path):
    """The smaller schema: equal images merged, what has none goes to `detailed`, shares still add to 1."""
    write_block_file(synthesize_states(60, 3, ["44"]), tmp_path / "blocks.csv")
    small = run(tmp_path / "small", spec_of(tmp_path / "blocks.csv", DEMONSTRATION, trials=1))
    assert small["design"]["schema"] == "pl94_reduced16"
    assert small["checks"] == HELD
    for level in small["design"]["levels"]:
        assert sum(_fraction(query["share"]) for query in level["queries"]) == 1
    persons = run(
        tmp_path / "persons",
        spec_of(
            tmp_path / "blocks.csv",
            replace(DEMONSTRATION, method=topdown_presets()["pl94-2020-persons-us"].scenario.method),
            trials=1,
            options=EXPANDED,
        ),
    )
    assert persons["design"]["schema"] == "pl94_persons"


def test_that_an_expansion_for_the_demonstration_data_invents_ages(tmp_path):
    write_block_file(synthesize_states(12, 3, ["44"]), tmp_path / "blocks.csv")
    summary = run(tmp_path / "run", spec_of(tmp_path / "blocks.csv", DEMONSTRATION, trials=1, options=EXPANDED))
    assert summary["design"]["schema"] == "demonstration_2010_persons"
    assert summary["checks"] == HELD


def _fraction(text):
    from fractions import Fraction

    return Fraction(text)


def test_that_the_answers_of_the_summary_are_those_of_the_files(demonstration):
    """Mean absolute error of block totals from the files, by plain arithmetic."""
    directory, summary, _ = demonstration
    files = open_leaf_files(directory / TRUTH_FILE, load_schema("demonstration_2010_persons"))
    truth, trial = (files.read(directory / name).totals() for name in (TRUTH_FILE, trial_file(0)))
    (entry,) = [e for e in summary["metrics"] if (e["level"], e["query"]) == ("Block", "total")]
    assert entry["total"]["mae"]["value"] == pytest.approx(np.abs(trial - truth).mean())
