"""TopDown runs from their files: what workers write, resume, refuse and sum up."""

import json
import shutil
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
import pytest
from topdown_runs import EXPANDED, SCENARIO, SilentWatch, run, spec_of
from topdown_worlds import PERSONS, UNITS, blocks, full

from phexplore.data.blocks.generator import write_block_file
from phexplore.data.blocks.source import read_population
from phexplore.errors import BudgetMismatchError, PhexploreError
from phexplore.metrics.topdown.figures import QUANTILES, error_figures
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.metrics.topdown.summary import figure_json, figures_json
from phexplore.model.fields import encode, read
from phexplore.model.issues import InputProblemsError
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery
from phexplore.runs.events import INSIDE, Finished, Outcome, Progress, TrialDone
from phexplore.runs.launch import WorkerProcess
from phexplore.runs.spec import RunMode, RunSpecError, StopRule, decode_spec, describe_blocks, encode_spec
from phexplore.runs.states import RunState
from phexplore.runs.store import (
    RunUnreadableError,
    load_spec,
    load_summary,
    prepare_directory,
    state_of,
    trial_file,
    verify_run,
)
from phexplore.spine.tree import tree_of
from phexplore.systems.topdown.measurements import measuring_run
from phexplore.systems.topdown.reprocessing import reprocess_measurements
from phexplore.systems.topdown.run_files import LeafFiles, cell_names, open_leaf_files
from phexplore.systems.topdown.run_options import Mechanism, RounderTarget, TopDownOptions, topdown_options
from phexplore.systems.topdown.simulation import make_simulation
from phexplore.workload.queries import parse_query


@pytest.fixture(scope="module")
def block_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("blocks") / "blocks.csv.gz"
    write_block_file(blocks(), path)
    return path


@pytest.fixture(scope="module")
def done(block_file, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    return directory, run(directory, spec_of(block_file, options=EXPANDED))


def assert_close(found, expected):
    """Nested JSON values, numbers up to rounding."""
    if isinstance(expected, dict):
        assert list(found) == list(expected) or set(found) == set(expected)
        for name, value in expected.items():
            assert_close(found[name], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    else:
        assert found == expected


def entry_of_tables(level, query, truth, estimates):
    """One entry of ``metrics`` from full tables: truth [units, answers], estimates [trials, units, answers]."""
    errors = estimates - truth
    sizes = TENS.class_of(truth)
    by_size = {
        TENS.labels[place]: error_figures(truth[sizes == place], estimates[:, sizes == place])
        for place in np.unique(sizes).tolist()
    }
    return {
        "level": level,
        "query": query,
        "units": len(truth),
        "numbers": truth.size,
        "total": figures_json(error_figures(truth, estimates)),
        "one_minus_tvd": figure_json(1 - np.abs(errors).sum(axis=(1, 2)) / (2 * truth.sum())),
        "mean_largest": figure_json(np.abs(errors).max(axis=2).mean(axis=1)),
        "quantiles": {
            "probability": list(QUANTILES),
            "signed": np.quantile(errors, QUANTILES).tolist(),
            "absolute": np.quantile(np.abs(errors), QUANTILES).tolist(),
        },
        "by_size": {label: {"numbers": each.numbers, **figures_json(each)} for label, each in by_size.items()},
    }


def dense(path):
    table = pq.read_table(path)
    return table.column("geoid").to_pylist(), np.stack([column.to_numpy() for column in table.columns[1:]], axis=1)


class TestFiles:
    def test_that_a_trial_has_one_row_per_block_and_one_column_per_cell(self, done):
        directory, _ = done
        geoids, counts = dense(directory / trial_file(0))
        assert geoids == blocks().geoids.tolist()
        assert counts.shape == (150, 2016)
        assert counts.min() >= 0
        assert counts.sum() == blocks().total

    def test_that_columns_are_named_by_attribute_and_level_in_cell_order(self, done):
        directory, _ = done
        names = pq.read_schema(directory / trial_file(0)).names
        assert names[:2] == ["geoid", "hhgq0_votingage0_hispanic0_cenrace00"]
        assert names[-1] == "hhgq7_votingage1_hispanic1_cenrace62"
        assert len(set(names)) == 2017

    def test_that_the_truth_is_the_data_and_says_that_marked_data_are_not_confidential(self, done):
        directory, _ = done
        _, counts = dense(directory / "truth.parquet")
        assert (counts == full().dense(0, 150)).all()
        mark = json.loads(pq.read_schema(directory / "truth.parquet").metadata[b"phexplore"])
        assert mark["confidential"] is False  # the block file marks every row as synthetic

    def test_that_files_read_back_what_was_written(self, done):
        directory, _ = done
        files = open_leaf_files(directory / "truth.parquet", full().schema)
        _, counts = dense(directory / trial_file(1))
        found = files.read(directory / trial_file(1))
        rows = np.repeat(np.arange(150), np.diff(found.starts))
        table = np.zeros_like(counts)
        table[rows, found.cells] = found.counts
        assert (table == counts).all()

    def test_that_a_changed_count_is_refused(self, done, tmp_path):
        directory, _ = done
        files = open_leaf_files(directory / "truth.parquet", full().schema)
        table = pq.read_table(directory / trial_file(1))
        column = table.column(5).to_numpy().copy()
        column[3] += 1
        pq.write_table(table.set_column(5, table.schema.field(5), [column]), tmp_path / "x.parquet")
        with pytest.raises(PhexploreError, match="altered"):
            files.read(tmp_path / "x.parquet")

    def test_that_files_of_other_blocks_are_refused(self, done):
        directory, _ = done
        other = LeafFiles(full().schema, full().geoids[:-1])
        with pytest.raises(PhexploreError, match="other places"):
            other.read(directory / trial_file(0))

    def test_that_cell_names_pad_levels(self):
        assert cell_names(blocks().schema)[9] == "votingage1_race_ethnicity1"


class TestSummary:
    def test_that_every_check_holds(self, done):
        _, summary = done
        assert set(summary["checks"].values()) == {True}
        assert set(summary["checks"]) >= {"sums", "invariants", "non_negativity", "budget_spent_equals_declared"}
        assert summary["failsafe"] == 0

    def test_that_the_budget_is_spent_or_unspent(self, done):
        _, summary = done
        privacy = summary["privacy"]
        assert Fraction(privacy["budget"]) + Fraction(privacy["unspent"]) == PERSONS.total
        assert [entry["level"] for entry in summary["design"]["dropped"]] == ["US"]

    def test_that_there_are_metrics_of_every_level_and_query(self, done):
        _, summary = done
        found = {(entry["level"], entry["query"]) for entry in summary["metrics"]}
        assert len(found) == 5 * 11
        state = next(entry for entry in summary["metrics"] if (entry["level"], entry["query"]) == ("State", "total"))
        assert state["total"]["mae"]["value"] == 0
        assert {entry["level"] for entry in summary["redistricting"]} == {
            "State", "County", "Tract", "Block_Group", "Block"
        }  # fmt: skip

    def test_that_metrics_are_those_of_the_files(self, done):
        directory, summary = done
        _, truth = dense(directory / "truth.parquet")
        errors = [dense(directory / trial_file(index))[1] - truth for index in range(2)]
        entry = next(e for e in summary["metrics"] if (e["level"], e["query"]) == ("Block", "detailed"))
        assert entry["total"]["mae"]["value"] == pytest.approx(np.mean([np.abs(error).mean() for error in errors]))
        total = next(e for e in summary["metrics"] if (e["level"], e["query"]) == ("Block", "total"))
        sizes = [np.abs(error.sum(axis=1)).mean() for error in errors]
        assert total["total"]["mae"]["value"] == pytest.approx(np.mean(sizes))

    def test_that_every_figure_is_that_of_the_full_tables(self, done):
        """All figures of all queries at block groups, against the metrics of dense tables."""
        directory, summary = done
        tree = tree_of(full().geocodes(), PERSONS.levels)
        first = tree.levels[3].first_block[:-1]
        truth = np.add.reduceat(dense(directory / "truth.parquet")[1], first, axis=0)
        trials = [np.add.reduceat(dense(directory / trial_file(index))[1], first, axis=0) for index in range(2)]
        for entry in summary["metrics"]:
            if entry["level"] != "Block_Group":
                continue
            query = parse_query(full().schema, entry["query"])
            tables = [query.tabulate(table.astype(np.int64)) for table in (truth, *trials)]
            expected = entry_of_tables("Block_Group", entry["query"], tables[0], np.stack(tables[1:]))
            assert set(entry) == set(expected)
            assert_close(entry, expected)

    def test_that_coverage_is_about_the_confidence(self, done):
        """The margins are 1.645 σ rounded down to whole people: a share between 0.85 and 0.97 at these variances."""
        _, summary = done
        assert 0.85 < summary["coverage"]["value"] < 0.97


@pytest.fixture(scope="module")
def release(block_file, tmp_path_factory):
    directory = tmp_path_factory.mktemp("micro")
    options = TopDownOptions(expand=5, microdata=True)
    run(directory, spec_of(block_file, options=options))
    run(directory / "units", spec_of(block_file, Scenario("units", UNITS), options=options))
    return directory


class TestMicrodata:
    def test_that_persons_read_back_are_the_trial(self, release):
        for index in range(2):
            found = read_population(release / "release" / f"trial-{index:05d}" / "persons.txt")
            _, counts = dense(release / trial_file(index))
            kept = counts.sum(axis=1) > 0
            assert found.geoids.tolist() == full().geoids[kept].tolist()
            assert (found.dense(0, found.blocks) == counts[kept]).all()

    def test_that_units_read_back_are_the_trial(self, release):
        found = read_population(release / "units" / "release" / "trial-00000" / "units.txt")
        geoids, counts = dense(release / "units" / trial_file(0))
        rows = np.searchsorted(np.array(geoids), found.geoids)
        assert (found.housing == counts[rows]).all()
        assert counts.sum() == full().housing.sum()

    def test_that_tables_of_every_level_are_written(self, release):
        place = release / "release" / "trial-00000" / "tables"
        assert sorted(path.name for path in place.iterdir()) == ["P1.csv", "P2.csv", "P3.csv", "P4.csv", "P5.csv"]
        lines = (place / "P1.csv").read_text().splitlines()
        assert {line.split(",")[0] for line in lines[1:]} == {"State", "County", "Tract", "Block_Group", "Block"}
        assert (release / "units" / "release" / "trial-00000" / "tables" / "H1.csv").exists()


class TestModes:
    def test_that_exact_measurements_give_the_data_back(self, block_file, tmp_path):
        summary = run(tmp_path, spec_of(block_file, trials=1, mode=RunMode.NO_NOISE, options=EXPANDED))
        _, counts = dense(tmp_path / trial_file(0))
        assert (counts == full().dense(0, 150)).all()
        assert summary["privacy"]["budget"] == "unlimited"

    def test_that_there_is_no_non_private_mode(self, block_file, tmp_path):
        with pytest.raises(RunSpecError, match="no non-private mode"):
            make_simulation(spec_of(block_file, mode=RunMode.NON_PRIVATE), tmp_path)

    def test_that_block_by_block_breaks_the_states_total_and_counts_it(self, block_file, tmp_path):
        options = TopDownOptions(expand=5, mechanism=Mechanism.BLOCK_BY_BLOCK)
        summary = run(tmp_path, spec_of(block_file, options=options))
        assert set(summary["checks"].values()) == {True}
        assert summary["broken_totals"] == {"State": {"units": 1, "trials": 2, "broken": 2}}
        assert Fraction(summary["privacy"]["budget"]) == PERSONS.total

    def test_that_data_as_they_are_run_in_the_smaller_schema(self, block_file, tmp_path):
        summary = run(tmp_path, spec_of(block_file, trials=1))
        assert summary["design"]["schema"] == "pl94_reduced16"
        assert summary["design"]["images"]
        assert dense(tmp_path / trial_file(0))[1].shape == (150, 16)

    def test_that_the_productions_rounding_is_another_run(self, block_file):
        one = spec_of(block_file)
        other = spec_of(block_file, options=TopDownOptions(target=RounderTarget.WHOLE))
        assert one.identity != other.identity


class TestSpecification:
    def test_that_options_survive_the_file(self, block_file):
        options = TopDownOptions(7, Mechanism.BLOCK_BY_BLOCK, RounderTarget.WHOLE, microdata=True)
        assert read(TopDownOptions, encode(options)) == options
        spec = spec_of(block_file, options=options)
        assert decode_spec(json.loads(json.dumps(encode_spec(spec)))) == spec

    @pytest.mark.defect("F3")
    def test_that_no_address_is_written_into_a_specification(self, block_file):
        assert "scheduler" not in json.dumps(encode_spec(spec_of(block_file, options=TopDownOptions())))

    def test_that_a_renamed_file_is_the_same_data(self, block_file, tmp_path):
        shutil.copy(block_file, tmp_path / "other.csv.gz")
        assert describe_blocks(tmp_path / "other.csv.gz").sha256 == describe_blocks(block_file).sha256

    def test_that_an_empty_directory_is_refused(self, tmp_path):
        with pytest.raises(InputProblemsError, match="no block-level data"):
            describe_blocks(tmp_path)


class TestRefusals:
    def prepare(self, path, tmp_path, scenario=SCENARIO, **changes):
        spec = spec_of(path, scenario, **changes)
        prepare_directory(tmp_path / "run", spec)
        make_simulation(spec, tmp_path / "run").prepare(SilentWatch())

    def test_that_units_need_housing(self, block_file, tmp_path):
        with pytest.raises(InputProblemsError) as refused:
            self.prepare(block_file, tmp_path, Scenario("units", UNITS))
        assert "--expand" in refused.value.issues[0].remedy

    def test_that_full_data_need_no_expansion(self, tmp_path):
        from phexplore.data.blocks.microdata_writing import write_persons
        from phexplore.simulate.topdown.histograms import histograms_of
        from phexplore.systems.topdown.run_data import read_input

        write_persons(full(), tmp_path / "persons.txt")
        plain, asked = (
            histograms_of(read_input(tmp_path / "persons.txt", SCENARIO.topdown, options).population)
            for options in (TopDownOptions(), EXPANDED)
        )
        assert plain.counts.tolist() == asked.counts.tolist()
        assert plain.cells.tolist() == asked.cells.tolist()

    def test_that_people_where_nobody_can_be_are_listed(self, tmp_path):
        from phexplore.data.blocks.cell_lists import write_cells
        from phexplore.data.blocks.population import from_filled

        population = full()
        # Nursing facility (type 3), under 18.
        cell = 3 * 252
        changed = from_filled(
            population.schema,
            population.geoids,
            rows=np.append(population.rows(), 4),
            cells=np.append(population.cells, cell),
            counts=np.append(population.counts, 2),
        )
        write_cells(changed, tmp_path / "cells.csv")
        with pytest.raises(InputProblemsError) as refused:
            self.prepare(tmp_path / "cells.csv", tmp_path)
        (issue,) = refused.value.issues
        assert str(population.geoids[4]) in issue.path
        assert issue.sentence.startswith("2 persons are counted as Nursing facilities, 17 and under")

    def test_that_a_budget_that_is_not_spent_stops_the_run(self, block_file, tmp_path, monkeypatch):
        monkeypatch.setattr("phexplore.systems.topdown.simulation.spent_on_noise", lambda design: design.spent * 2)
        with pytest.raises(BudgetMismatchError):
            run(tmp_path, spec_of(block_file, trials=1))


class TestWorker:
    def test_that_workers_and_resuming_change_no_byte(self, done, block_file, tmp_path):
        directory, _ = done
        spec = spec_of(block_file, trials=3, workers=2, options=EXPANDED)
        place = prepare_directory(tmp_path / "run", spec)
        shutil.copy(directory / trial_file(1), place)
        with WorkerProcess(place) as worker:
            events = list(worker.events())
        assert events[-1] == Finished(Outcome.COMPLETE)
        assert {event.index for event in events if isinstance(event, TrialDone)} == {0, 2}
        moved = [event for event in events if isinstance(event, Progress) and event.phase == INSIDE]
        first_end = next(place for place, event in enumerate(events) if isinstance(event, TrialDone))
        assert any(event in moved for event in events[:first_end]), "the bar moves before the first trial ends"
        assert sorted(event.done for event in moved) == [event.done for event in moved]
        assert all(event.total < 3 * event.done <= 3 * event.total for event in moved), "one of three was there before"
        assert 3 * moved[0].done > 1.01 * moved[0].total, "one unit of the highest level is more work than one block"
        for index in range(2):
            assert (place / trial_file(index)).read_bytes() == (directory / trial_file(index)).read_bytes()
        assert state_of(place) is RunState.COMPLETE
        assert verify_run(place) == ()
        assert load_summary(place)["seconds"]["least_squares"] >= 0

    def test_that_a_wrong_file_is_a_list_of_problems(self, tmp_path):
        (tmp_path / "blocks.csv").write_text("geoid,pop\n440010301001000,3\n")
        place = prepare_directory(tmp_path / "run", spec_of(tmp_path / "blocks.csv"))
        with WorkerProcess(place) as worker:
            events = list(worker.events())
        assert events[-1].problems > 0
        assert "blocks.csv" in events[-1].details


@pytest.fixture(scope="module")
def kept(block_file, tmp_path_factory):
    directory = tmp_path_factory.mktemp("kept")
    spec = spec_of(block_file, options=TopDownOptions(expand=5, keep_measurements=True))
    prepare_directory(directory, spec)
    with WorkerProcess(directory) as worker:
        assert list(worker.events())[-1] == Finished(Outcome.COMPLETE)
    return directory


class TestKeptMeasurements:
    def test_that_every_level_and_trial_is_kept(self, kept):
        names = {
            path.relative_to(kept / "measurements").as_posix() for path in (kept / "measurements").rglob("*.parquet")
        }
        levels = ("State", "County", "Tract", "Block_Group", "Block")
        assert names == {
            "units.parquet",
            *(f"trial-{index:05d}/{level}.parquet" for index in range(2) for level in levels),
        }
        assert verify_run(kept) == ()

    def test_that_the_answers_are_the_exact_ones_with_noise_of_the_stated_variance(self, kept):
        table = pq.read_table(kept / "measurements" / "trial-00000" / "Block.parquet")
        codes = table.column("geocode").to_pylist()
        assert sorted(codes) == full().geocodes().tolist()
        lists = table.column("detailed").combine_chunks()
        answers = lists.flatten().to_numpy().reshape(-1, 2016)
        # The spine has an order of its own, and an only child is not measured: its exact answers are not kept either.
        measured = lists.is_valid().to_numpy(zero_copy_only=False)
        assert 120 < measured.sum() < 150
        place = np.searchsorted(full().geocodes(), codes)
        errors = answers - full().dense(0, 150)[place][measured]
        variance = float(1 / (PERSONS.budget(LevelQuery("Block", "detailed"))))
        # 240,000 errors and more: 1 % of the variance is three and a half standard errors.
        assert abs(errors.var() / variance - 1) < 0.01
        assert abs(errors.mean()) < 4 * (variance / errors.size) ** 0.5

    def test_that_the_same_post_processing_gives_the_same_bytes(self, kept, block_file, tmp_path):
        spec = reprocess_measurements(SCENARIO, kept, describe_blocks(block_file), trials=2, options=TopDownOptions())
        summary = run(tmp_path, spec)
        for index in range(2):
            assert (dense(tmp_path / trial_file(index))[1] == dense(kept / trial_file(index))[1]).all()
        assert set(summary["checks"].values()) == {True}

    def test_that_the_measuring_run_is_found_beside_when_both_were_moved(self, kept, block_file, tmp_path):
        before, after = tmp_path / "unsaved", tmp_path / "project.phx.runs"
        shutil.copytree(kept, before / "measured")
        data = describe_blocks(block_file)
        spec = reprocess_measurements(SCENARIO, before / "measured", data, trials=2, options=TopDownOptions())
        prepare_directory(before / "again", spec)
        before.rename(after)
        held = load_spec(after / "again")
        assert set(run(after / "again", held)["checks"].values()) == {True}
        for index in range(2):
            assert (dense(after / "again" / trial_file(index))[1] == dense(kept / trial_file(index))[1]).all()
        # Another name is no hindrance: the run is known by its identity.
        (after / "measured").rename(after / "measured-2")
        options = topdown_options(held)
        found = measuring_run(after / "again", options.measurements, options.measured_identity)
        assert found == after / "measured-2"
        # What lies there in its name, but measured something else, is none.
        shutil.rmtree(after / "measured-2" / "measurements" / "trial-00001")
        with pytest.raises(RunUnreadableError, match="not those this run was made for"):
            make_simulation(held, after / "again").prepare(SilentWatch())
        shutil.rmtree(after / "measured-2")
        assert measuring_run(after / "again", options.measurements, options.measured_identity) == before / "measured"
        assert measuring_run(after / "again", str(kept), options.measured_identity) == kept

    def test_that_other_passes_give_other_estimates_of_the_same_measurements(self, kept, block_file, tmp_path):
        single = Scenario("single pass", replace(PERSONS, passes={}))
        spec = reprocess_measurements(single, kept, describe_blocks(block_file), trials=1, options=TopDownOptions())
        summary = run(tmp_path, spec)
        assert set(summary["checks"].values()) == {True}
        assert (dense(tmp_path / trial_file(0))[1] != dense(kept / trial_file(0))[1]).any()

    def test_that_other_data_more_trials_and_runs_that_kept_nothing_are_refused(self, kept, done, block_file, tmp_path):
        data = describe_blocks(block_file)
        write_block_file(blocks(60, 9), tmp_path / "other.csv")
        with pytest.raises(RunSpecError, match="measured other data"):
            reprocess_measurements(
                SCENARIO, kept, describe_blocks(tmp_path / "other.csv"), trials=1, options=TopDownOptions()
            )
        with pytest.raises(RunSpecError, match="2 trials, 3 are asked for"):
            reprocess_measurements(SCENARIO, kept, data, trials=3, options=TopDownOptions())
        with pytest.raises(RunSpecError, match="kept its measurements"):
            reprocess_measurements(SCENARIO, done[0], data, trials=1, options=TopDownOptions())


class TestStopping:
    def test_that_a_run_ends_when_a_figure_is_precise_enough(self, block_file, tmp_path):
        spec = spec_of(block_file, trials=50, stop=StopRule(Fraction(2), 3, "Block/total/mae"))
        place = prepare_directory(tmp_path, spec)
        with WorkerProcess(place) as worker:
            assert list(worker.events())[-1] == Finished(Outcome.COMPLETE)
        summary = load_summary(place)
        assert 3 <= summary["trials"] < 50
        entry = next(e for e in summary["metrics"] if (e["level"], e["query"]) == ("Block", "total"))
        assert entry["total"]["mae"]["error"] <= 2

    def test_that_an_unknown_figure_is_named(self, block_file, tmp_path):
        spec = spec_of(block_file, stop=StopRule(Fraction(1), 2, "Block/total/mean"))
        prepare_directory(tmp_path / "run", spec)
        with pytest.raises(PhexploreError, match="No figure is called 'mean'"):
            make_simulation(spec, tmp_path / "run").prepare(SilentWatch())

    def test_that_the_rule_survives_the_file(self, block_file):
        spec = spec_of(block_file, stop=StopRule(Fraction(7, 2), 4, "County/redistricting"))
        assert decode_spec(json.loads(json.dumps(encode_spec(spec)))) == spec

    def test_that_the_criterion_can_be_watched(self, block_file, tmp_path):
        spec = spec_of(block_file, trials=2, options=EXPANDED, stop=StopRule(Fraction(1, 10), 2, "Tract/redistricting"))
        prepare_directory(tmp_path / "run", spec)
        simulation = make_simulation(spec, tmp_path / "run")
        simulation.prepare(SilentWatch())
        figures = simulation.write_trial(0, tmp_path / "run" / trial_file(0))
        assert 0 <= figures.share <= 1
        assert simulation.read_figures(tmp_path / "run" / trial_file(0)) == figures
