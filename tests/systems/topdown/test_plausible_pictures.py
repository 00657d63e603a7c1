"""The checks of plausibility on real runs of people and of housing units of the same blocks."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from silent_watch import SilentWatch
from topdown_runs import ask as ask_reader
from topdown_runs import records

from phexplore.data.blocks.generator import synthesize_blocks, write_block_file
from phexplore.figures.to_matplotlib import chart_of
from phexplore.runs.spec import RunSpec, describe_blocks
from phexplore.runs.store import (
    FACILITIES_FILE,
    TRUTH_FILE,
    RunStore,
    RunUnreadableError,
    close_run,
    prepare_directory,
    trial_file,
    verify_run,
)
from phexplore.systems.registry import preset
from phexplore.systems.run_results import RunRequest
from phexplore.systems.topdown.facilities import read_facilities
from phexplore.systems.topdown.plausible_pictures import PlausibleFold
from phexplore.systems.topdown.run_files import open_leaf_files
from phexplore.systems.topdown.run_options import TopDownOptions
from phexplore.systems.topdown.run_reader import TopDownRunReader
from phexplore.systems.topdown.simulation import make_simulation
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import load_schema


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two trials of people and of housing units of 200 blocks in the full schemas, and of people in 16 cells."""
    folder = tmp_path_factory.mktemp("runs")
    write_block_file(synthesize_blocks(200, 5), folder / "blocks.csv.gz")
    data = describe_blocks(folder / "blocks.csv.gz")
    for name, scenario, expand in (
        ("people", "pl94-2020-persons-us", 5),
        ("units", "pl94-2020-units-us", 5),
        ("few", "pl94-2020-persons-us", None),
    ):
        spec = RunSpec(preset(scenario).scenario, data, 2, 1, options=TopDownOptions(expand=expand))
        prepare_directory(folder / name, spec)
        simulation = make_simulation(spec, folder / name)
        simulation.prepare(SilentWatch())
        for index in range(2):
            simulation.write_trial(index, folder / name / trial_file(index))
        close_run(folder / name, spec.identity)
    return folder


def ask(directory, partner=None):
    return ask_reader(
        directory, "plausible", None, () if partner is None else (partner,), partner=str(partner or "")
    ).picture


def made(picture):
    return {int(row["Check"]) for row in records(picture) if row["Result"] != "Not checked"}


def dense(directory, schema, name, query):
    path = directory / name
    files = open_leaf_files(directory / TRUTH_FILE, load_schema(schema))
    asked = parse_query(files.schema, query)
    return files.read(path).answers(asked.cell_map(), asked.answers)


def test_that_every_check_is_made_that_the_records_allow(runs):
    assert made(ask(runs / "few")) == {1, 18}
    assert made(ask(runs / "people")) == {1, 18, 21}
    assert made(ask(runs / "units")) == {22, 23}
    both = ask(runs / "people", runs / "units")
    assert made(both) == made(ask(runs / "units", runs / "people")) == {1, 2, 3, 4, 5, 18, 19, 21, 22, 23}
    assert "With the records of" in both.summary
    assert len(both.marks) == 10
    assert "13 checks need records" in both.summary
    assert chart_of(both).caption == both.summary
    assert both.marks[0].name in chart_of(both).description
    assert all(row.name.startswith("Check ") for row in both.marks), "a number alone is read as how many"
    assert len(both.table.rows) == 23
    assert made(ask(runs / "people", runs / "few")) == {1, 18, 21}  # the same records say nothing more


def test_that_counts_and_places_are_those_of_a_plain_look_at_the_blocks(runs):
    reader = TopDownRunReader()
    people, units = (reader.open(runs / name) for name in ("people", "units"))
    checks = {check.result.number: check for check in people.folded(PlausibleFold, units).checks()}
    geoids = open_leaf_files(runs / "people" / TRUTH_FILE, load_schema("pl94_persons")).geoids
    odd = np.zeros(len(geoids), int)
    counts = []
    for name in (trial_file(0), trial_file(1)):
        people = dense(runs / "people", "pl94_persons", name, "hhgq * votingage").reshape(-1, 8, 2)
        occupied = dense(runs / "units", "pl94_units", name, "detailed")[:, 1]
        nobody = (people[:, 0].sum(axis=1) >= 1) & (occupied == 0)
        counts.append(int(nobody.sum()))
        odd += nobody
    assert checks[4].published == tuple(counts)
    assert sum(counts) > 0  # people and housing units are published apart, so this happens
    assert {place.code: place.trials for place in checks[4].places}.items() <= dict(
        zip(geoids.tolist(), odd.tolist(), strict=True)
    ).items()
    assert all(place.trials > 0 and not place.in_truth for place in checks[4].places)
    truth = dense(runs / "people", "pl94_persons", TRUTH_FILE, "hhgq * votingage").reshape(-1, 8, 2)
    minors = (truth[:, 1:].sum(axis=(1, 2)) == 0) & (truth[:, :, 1].sum(axis=1) == 0) & (truth.sum(axis=(1, 2)) > 0)
    assert checks[18].result.found_truth == int(minors.sum())
    assert checks[1].mean == 0  # state totals are published exactly


def test_that_the_picture_has_failures_first_and_says_what_is_missing(runs):
    picture = ask(runs / "people", runs / "units")
    assert (len(picture.marks), len(picture.table.rows)) == (10, 23)
    groups = [row.group for row in picture.marks]
    assert groups == sorted(groups, key=["More than in truth", "Pass"].index)
    failed = [row for row in picture.marks if row.is_warned]
    assert failed
    assert failed[0].key[0] in {"Block", "Tract"}
    assert f"{len(failed)} of 10 checks fail, most: " in picture.title
    assert "13 checks need records" in picture.summary
    assert next(row["Result"] for row in records(picture) if row["Check"] == "9") == "Not checked"
    assert any(row["Why not, notes"].startswith("needs householders by sex") for row in records(picture))


def test_that_facilities_are_kept_whole_or_refused(runs, tmp_path):
    assert verify_run(runs / "people") == ()
    files = open_leaf_files(runs / "people" / TRUTH_FILE, load_schema("pl94_persons"))
    found = read_facilities(runs / "people", files.geoids)
    assert found.shape == (200, 8)
    assert (found >= 0).all()
    assert read_facilities(tmp_path, files.geoids) is None
    with pytest.raises(RunUnreadableError, match="other blocks"):
        read_facilities(runs / "people", files.geoids[::-1])
    (tmp_path / FACILITIES_FILE).write_bytes(b"PAR1")
    with pytest.raises(RunUnreadableError, match="cannot be read"):
        read_facilities(tmp_path, files.geoids)


def test_that_only_runs_of_the_other_records_are_partners(tmp_path):
    persons, units = (preset(name).scenario for name in ("pl94-2020-persons-us", "pl94-2020-units-us"))
    block = tmp_path / "blocks.csv"
    block.write_text("geoid\n", "utf-8")
    data = describe_blocks(block)
    runs = [
        RunStore(tmp_path / name).create(
            RunSpec(scenario, data, 1, 1, options=TopDownOptions()), datetime(2026, 5, 4, tzinfo=UTC)
        )
        for name, scenario in (("a", persons), ("b", units))
    ]
    for mine, other in (runs, runs[::-1]):
        request = RunRequest(mine, "plausible", others=(other, mine, tmp_path / "gone"))
        assert TopDownRunReader()._partners(request) == [other]
