"""DHC runs from public blocks: what is kept of the redistricting release, what is written, what is refused."""

from __future__ import annotations

import csv
import math
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from topdown_runs import run, spec_of

from phexplore.data.blocks.dhc_microdata_writing import write_dhc_persons, write_dhc_units
from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_blocks, write_block_file
from phexplore.data.blocks.household_cells import type_columns
from phexplore.data.blocks.households import with_households
from phexplore.data.blocks.microdata_writing import write_persons, write_units
from phexplore.data.blocks.published_tables import published_tables, tabulate
from phexplore.data.blocks.source import read_population
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.published.measurements import NoisyMeasurements
from phexplore.runs.place import Place
from phexplore.runs.spec import RunMode, RunSpecError, describe_blocks
from phexplore.runs.store import TRUTH_FILE, trial_file
from phexplore.simulate.outer_passes.partitions import answered, of_cells
from phexplore.simulate.topdown.histograms import histograms_of
from phexplore.systems.topdown.area_levels import area_levels
from phexplore.systems.topdown.chained_release import kept_query, redistricting_of
from phexplore.systems.topdown.group_pictures import groups_figure
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.published_writing import published_directory
from phexplore.systems.topdown.reprocessing import complete_run
from phexplore.systems.topdown.run_choice import TopDownChoice
from phexplore.systems.topdown.run_data import read_input
from phexplore.systems.topdown.run_options import Estimator, TopDownOptions
from phexplore.systems.topdown.simulation import make_simulation
from phexplore.systems.topdown.state_store import BASE_BYTES
from phexplore.systems.topdown.table_pictures import tables_figure, write_run_tables
from phexplore.workload.schema import load_schema


@dataclass(frozen=True)
class LevelStub:
    """As much of a level's design as areas take over."""

    name: str
    exact_total: bool = True


OPTIONS = TopDownOptions(expand=3, microdata=True)
PRODUCTS = ("persons", "units")
RHO = {"persons": 4.9622, "units": 7.7005}
"""Sums of production's budgets."""


@pytest.fixture(scope="module")
def block_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("blocks") / "blocks.csv.gz"
    write_block_file(synthesize_blocks(40, 7), path)
    return path


@pytest.fixture(scope="module")
def both(block_file):
    return with_households(expand(read_population(block_file), 3), 3)


def spec(block_file, product, **wishes):
    scenario = topdown_presets()[f"dhc-2020-{product}-us"].scenario
    return replace(spec_of(block_file, options=wishes.pop("options", OPTIONS)), scenario=scenario, trials=1, **wishes)


def records(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="|"))


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_expansion_keeps_every_redistricting_count_and_every_zero(block_file, both, product):
    given = expand(read_population(block_file), 3)
    found = both.persons if product == "persons" else both.households
    assert not found.schema.structurally_empty()[found.cells].any()
    counted = redistricting_of(found)
    if product == "persons":
        assert histograms_of(counted).differences(histograms_of(given)) == 0
        assert (counted.facilities == given.facilities).all()
    else:
        assert (counted.dense(0, counted.blocks) == given.housing).all()
        assert (found.totals() == given.housing[:, 1]).all()


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_run_keeps_what_it_stands_on_and_writes_production_layouts(block_file, both, tmp_path, product):
    summary = run(tmp_path / "run", spec(block_file, product))
    assert all(value is True for name, value in summary["checks"].items() if name != "facility_bounds")
    assert summary["failsafe"] == 0
    covered = summary["coverage"]
    # Draws are independent: four standard deviations, one false alarm in 16,000; noise 5 % too wide or narrow is seen.
    deviation = (covered["expected"] * (1 - covered["expected"]) / covered["of"]) ** 0.5
    assert abs(covered["value"] - covered["expected"]) < 4 * deviation < 0.011
    assert {"redistricting_counts", "structural_zeros", "non_negativity", "sums_before_repair"} <= set(
        summary["checks"]
    )
    assert summary["redistricting_release"]["preset"] == f"pl94-2020-{product}-us"
    figures = {each["conversion"]: each["value"] for each in summary["privacy"]["epsilon"]}
    assert summary["privacy"]["declared"] == str(RHO[product])
    assert figures["bun-steinke"] == pytest.approx(RHO[product] + 2 * (RHO[product] * 10 * math.log(10)) ** 0.5)
    assert round(figures["bun-steinke"], 2) == {"persons": 26.34, "units": 34.33}[product]
    assert figures["discrete-gaussian-exact"] < figures["zcdp-optimal-alpha"] < figures["bun-steinke"]
    table = pq.read_table(tmp_path / "run" / "trial-00000.parquet")
    assert table.column_names[:3] == ["geoid", "cells", "counts"]
    total = sum(map(sum, table.column("counts").to_pylist()))
    written = records(next((tmp_path / "run").glob(f"*/trial-00000/{product}.txt")))
    if product == "persons":
        assert len(written) == total == both.persons.total
        assert len(written[0]) == 16
        assert [int(row["EPNUM"]) for row in written] == list(range(len(written)))
    else:
        assert len(written[0]) == 27
        kinds = Counter((row["RTYPE"], row["TEN"] != "0") for row in written)
        assert kinds["2", True] == total
        assert len(written) == int(both.households.facilities.sum())
    metrics = {(each["level"], each["query"]): each for each in summary["metrics"]}
    name, column = ("sex", "QSEX") if product == "persons" else ("hhsize_all", "HHSIZE")
    assert summary["production_metrics"]["queries"][name] == name
    assert ("Block", name) not in metrics
    true = both.persons if product == "persons" else both.households
    levels = np.unravel_index(true.cells, true.schema.shape)
    exact = levels[1] + 1 if product == "persons" else type_columns()[levels[6], 0]
    published = Counter(int(row[column]) for row in written)
    errors = [published[code] - int(true.counts[exact == code].sum()) for code in range(1, exact.max() + 1)]
    assert metrics["State", name]["total"]["mae"]["value"] == pytest.approx(np.abs(errors).mean())
    assert any("invented" in remark for remark in summary["data"]["remarks"])
    tables_of_finished_run(tmp_path, true)


def tables_of_finished_run(place, true):
    """Compare what is written of a finished run, and what is shown of it, with what the run wrote and with the data."""
    made = {path.name: path.read_bytes() for path in (place / "run").glob("release/trial-00000/tables/*.csv")}
    found = write_run_tables(place / "run", 0, place / "tables")
    assert {path.name: path.read_bytes() for path in found} == made
    with pytest.raises(UnknownNameError, match="trial"):
        write_run_tables(place / "run", 1, place / "tables")
    open_run = TopDownRun(place / "run")
    open_run.refresh()
    for table in published_tables(true.schema.id):
        for level in ("State", "Tract"):
            exact = tabulate(true, table, [level])[0]
            choice = TopDownChoice(level=level, query="total", table=table.id, unit=str(exact.units.codes[0]))
            shown = tables_figure(open_run, choice)
            rows = csv.DictReader(made[f"{table.id}.csv"].decode().splitlines())
            (published,) = (each for each in rows if each["geoid"] == choice.unit)
            assert [(row[0], row[2], row[5]) for row in shown.table.rows] == [
                (line.code, count, int(published[line.code]))
                for line, count in zip(table.cells, exact.counts[0].tolist(), strict=True)
            ]
            above, _, name = shown.title.partition("“")[2].partition("”")[0].rpartition(": ")
            assert bool(above) is ([line.label for line in table.cells].count(name) > 1)  # e.g. of which sex an age is


@pytest.mark.parametrize("product", PRODUCTS)
def test_exact_answers_give_the_data_back(block_file, both, tmp_path, product):
    run(tmp_path / "run", spec(block_file, product, mode=RunMode.NO_NOISE, options=TopDownOptions(expand=3)))
    table = pq.read_table(tmp_path / "run" / "trial-00000.parquet").to_pydict()
    truth = histograms_of(both.persons if product == "persons" else both.households)
    assert np.concatenate([np.array(row, int) for row in table["cells"]]).tolist() == truth.cells.tolist()
    assert np.concatenate([np.array(row, int) for row in table["counts"]]).tolist() == truth.counts.tolist()


@pytest.mark.parametrize("is_published", [False, True], ids=["a run", "its microdata"])
def test_a_named_release_is_kept(block_file, both, tmp_path, is_published):
    scenario = topdown_presets()["pl94-2020-persons-us"].scenario
    run(tmp_path / "pl94", replace(spec(block_file, "persons"), scenario=scenario))
    named = next((tmp_path / "pl94").glob("*/trial-00000/persons.txt")) if is_published else tmp_path / "pl94"
    options = TopDownOptions(expand=3, redistricting=str(named))
    summary = run(tmp_path / "run", spec(block_file, "persons", options=options))
    assert summary["redistricting_release"]["source"] == str(named)
    assert (summary["redistricting_release"]["joint"] is None) == is_published
    released = pq.read_table(tmp_path / "pl94" / "trial-00000.parquet")
    counts = np.stack([column.to_numpy() for column in released.columns[1:]], axis=1)
    table = pq.read_table(tmp_path / "run" / "trial-00000.parquet").to_pydict()
    cells = np.concatenate([np.array(row, int) for row in table["cells"]])
    rows = np.repeat(np.arange(len(counts)), [len(row) for row in table["cells"]])
    found = np.zeros_like(counts)
    query = kept_query(both.persons.schema)
    np.add.at(found, (rows, of_cells(query.schema, query)(cells)), np.concatenate(table["counts"]))
    assert (found == counts).all()
    assert answered(histograms_of(both.persons), of_cells(query.schema, query)).total == counts.sum()


def test_data_that_would_not_fit_are_refused_before_they_are_read(block_file, tmp_path):
    with pytest.raises(PhexploreError, match="40 blocks takes about") as refused:
        make_simulation(spec(block_file, "persons"), tmp_path / "run", Place(memory=BASE_BYTES))
    assert "--memory 1G" in refused.value.remedy
    make_simulation(spec(block_file, "persons"), tmp_path / "run", Place(memory=BASE_BYTES + (40 << 20)))


@pytest.mark.parametrize("product", PRODUCTS)
def test_microdata_are_run_on_published_microdata(both, tmp_path, product):
    found = both.persons if product == "persons" else both.households
    (write_dhc_persons if product == "persons" else write_dhc_units)(found, tmp_path / "data.txt")
    kept = redistricting_of(found)
    (write_persons if product == "persons" else write_units)(kept, tmp_path / "published.txt.gz")
    options = TopDownOptions(redistricting=str(tmp_path / "published.txt.gz"))
    summary = run(tmp_path / "run", spec(tmp_path / "data.txt", product, options=options))
    assert summary["redistricting_release"]["source"] == str(tmp_path / "published.txt.gz")
    assert summary["checks"]["redistricting_counts"] is True
    table = pq.read_table(tmp_path / "run" / "trial-00000.parquet")
    assert sum(map(sum, table.column("counts").to_pylist())) == found.total


def test_counts_of_blocks_become_households_without_a_seed(block_file):
    method = topdown_presets()["dhc-2020-units-us"].scenario.topdown
    given, asked = (read_input(block_file, method, TopDownOptions(expand=seed)) for seed in (None, 1))
    assert given.population.schema.id == "dhc_households"
    assert (given.population.cells == asked.population.cells).all()
    assert any("invented (seed 1)" in remark for remark in given.remarks)


def test_the_redistricting_scenario_takes_microdata_of_the_dhc(both, tmp_path):
    write_dhc_persons(both.persons, tmp_path / "data.txt")
    scenario = topdown_presets()["pl94-2020-persons-us"].scenario
    run(tmp_path / "run", replace(spec(tmp_path / "data.txt", "persons", options=TopDownOptions()), scenario=scenario))
    counts = pq.read_table(tmp_path / "run" / "truth.parquet").columns[1:]
    assert [int(column.to_numpy().sum()) for column in counts] == np.bincount(
        (kept := redistricting_of(both.persons)).cells, kept.counts, kept.schema.cells
    ).astype(int).tolist()


def test_errors_are_shown_group_by_group(block_file, both, tmp_path):
    run(tmp_path / "run", spec(block_file, "units", options=TopDownOptions(expand=3)))
    opened = TopDownRun(tmp_path / "run")
    opened.refresh()
    shown = groups_figure(opened, TopDownChoice("Tract", "total"))
    rows = {(row[0], row[1]): row for row in shown.table.rows}
    assert {"Hhtenshort_2lev × coupled_hh_type", "Hhsize_all", "Hhage"} <= {group for group, _ in rows}
    table = pq.read_table(tmp_path / "run" / "trial-00000.parquet").to_pydict()
    tracts, errors = np.array([geoid[:11] for geoid in table["geoid"]]), {}
    for sign, found in ((1, zip(table["cells"], table["counts"], strict=True)), (-1, None)):
        for number, tract in enumerate(tracts.tolist()):
            part = slice(both.households.starts[number], both.households.starts[number + 1])
            cells, counts = next(found) if found else (both.households.cells[part], both.households.counts[part])
            tenure = np.unravel_index(np.array(cells, int), both.households.schema.shape)[5]
            errors[tract] = errors.get(tract, 0) + sign * int(np.array(counts, int)[tenure == 2].sum())
    assert rows["Hhtenshort_3lev", "Not owned"][4] == pytest.approx(np.abs(list(errors.values())).mean())


def test_areas_add_up_their_blocks(both):
    codes = np.array([["", "a", "b"][number % 3] for number in range(both.persons.blocks)])
    population = replace(both.persons, places={"place": codes, "cousub": np.full(len(codes), "")})
    design = SimpleNamespace(levels=[LevelStub("Block_Group"), LevelStub("Block")])
    areas = area_levels(population, design)
    assert [each.name for each in areas.designs] == ["place"]
    totals = [int(both.persons.totals()[codes == code].sum()) for code in "ab"]
    assert areas.truth[0].totals().tolist() == areas.of(histograms_of(population))[0].totals().tolist() == totals


def test_wishes_without_a_meaning_are_refused(block_file, tmp_path):
    with pytest.raises(RunSpecError, match="pooled"):
        run(tmp_path / "x", spec(block_file, "persons", options=TopDownOptions(expand=3, estimator=Estimator.POOLED)))


@pytest.mark.slow
@pytest.mark.parametrize("product", PRODUCTS)
def test_whole_noisy_answers_are_published_and_give_the_estimate_back(tmp_path, product):
    path = tmp_path / "few.csv.gz"
    write_block_file(synthesize_blocks(6, 7), path)
    kept = spec(path, product, options=TopDownOptions(expand=1, keep_measurements="nmf"))
    run(tmp_path / "kept", kept)
    source = published_directory(tmp_path / "kept", 0)
    read = NoisyMeasurements(source).product(load_schema(kept.scenario.topdown.schema))
    drawn = 0
    for name in read.parts("Block"):
        rows = read.rows(name)
        assert all(len(row) == query.answers for row, query in zip(rows.values, rows.queries, strict=True))
        detailed = np.array([query.name == "detailed" for query in rows.queries])
        for code, row in zip(rows.codes[detailed].tolist(), np.flatnonzero(detailed).tolist(), strict=True):
            noise = rows.values[row].values.to_numpy()
            # Nearly all of a million cells are empty: what they hold is noise of the published variance.
            assert noise.var() == pytest.approx(rows.variances[row], rel=0.02)
            assert len(code) > 16
            drawn += len(noise)
    assert drawn > 10**6
    archive = tmp_path / "measured"
    shutil.make_archive(str(archive), "zip", source)
    for given, data in ((source, source), (archive.with_suffix(".zip"), path)):
        asked = replace(kept, data=describe_blocks(data), seed=77, options=TopDownOptions(measurements=str(given)))
        again = tmp_path / f"from {data.name}"
        summary = run(again, complete_run(asked))
        assert pq.read_table(again / trial_file(0)).equals(pq.read_table(tmp_path / "kept" / trial_file(0)))
        assert all(value is True for name, value in summary["checks"].items() if name != "facility_bounds")
        assert summary["privacy"]["epsilon"] == []
        assert (again / TRUTH_FILE).exists() == (data == path)
    with pytest.raises(RunSpecError):
        complete_run(replace(kept, options=TopDownOptions(measurements=str(tmp_path / "kept"))))


def test_answers_that_the_disk_cannot_hold_are_refused_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**6))
    path = tmp_path / "few.csv.gz"
    write_block_file(synthesize_blocks(6, 7), path)
    with pytest.raises(RunSpecError, match="no room"):
        run(tmp_path / "run", spec(path, "persons", options=TopDownOptions(expand=1, keep_measurements="nmf")))
