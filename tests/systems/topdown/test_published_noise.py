"""Noisy answers in the published layout: written, described, read back, estimated again; nothing differs."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from silent_watch import SilentWatch
from topdown_worlds import PERSONS, blocks

from phexplore.cli.app import run as command
from phexplore.data.blocks.generator import synthesize_states, write_block_file
from phexplore.model.issues import InputProblemsError
from phexplore.model.scenario import Scenario
from phexplore.published.measurements import NoisyMeasurements, describe_measurements
from phexplore.runs.spec import RunSpec, RunSpecError, describe_blocks
from phexplore.runs.store import SUMMARY_FILE, TRUTH_FILE, prepare_directory, trial_file
from phexplore.systems.run_results import COUNTING, RunRequest
from phexplore.systems.topdown.measured_units import MeasuredUnits
from phexplore.systems.topdown.open_run import UNCOUNTED
from phexplore.systems.topdown.published_noise import PublishedNoise, tabulated_codes
from phexplore.systems.topdown.published_writing import published_directory
from phexplore.systems.topdown.reprocessing import complete_run
from phexplore.systems.topdown.run_options import KeptAnswers, TopDownOptions
from phexplore.systems.topdown.run_reader import ESTIMATED, TopDownRunReader
from phexplore.systems.topdown.simulation import make_simulation
from phexplore.systems.topdown.table_pictures import write_run_tables

SCENARIO = Scenario("persons", PERSONS)
LENGTHS = {"State": 3, "County": 9, "Tract": 13, "Block_Group": 15, "Block": 31}


def carry_out(directory: Path, spec: RunSpec) -> Path:
    prepare_directory(directory, spec)
    simulation = make_simulation(spec, directory)
    simulation.prepare(SilentWatch())
    simulation.write_trial(0, directory / trial_file(0))
    return directory


def kept_run(folder: Path, population) -> Path:
    write_block_file(population, folder / "blocks.csv.gz")
    options = TopDownOptions(expand=5, keep_measurements="nmf")
    return carry_out(
        folder / "run", RunSpec(SCENARIO, describe_blocks(folder / "blocks.csv.gz"), 1, 1, options=options)
    )


@pytest.fixture(scope="module", params=["one state", "two states with tribal parts"])
def kept(request, tmp_path_factory):
    """A trial on an optimised spine, its answers kept in both layouts."""
    population = blocks() if request.param == "one state" else synthesize_states(60, 3, ("04", "35"), tribal=0.3)
    return kept_run(tmp_path_factory.mktemp("kept"), population)


def published_rows(kept: Path) -> dict[tuple[str, str], list[tuple[str, list[int], float, list[int]]]]:
    """Read the files without the reader under test: (level, geocode) to rows."""
    found: dict[tuple[str, str], list[tuple[str, list[int], float, list[int]]]] = {}
    for path in sorted(published_directory(kept, 0).rglob("DPQuery/**/*.parquet")):
        level = next(part for part in path.parts if part.endswith(".parquet")).removesuffix(".parquet")
        for row in pq.ParquetFile(path).read().to_pylist():
            entry = (row["query_name"], row["value"], row["variance"], row["query_shape"])
            found.setdefault((level, row["geocode"]), []).append(entry)
    return found


def test_that_every_answer_and_variance_is_written_as_it_was_drawn(kept):
    rows, units = published_rows(kept), MeasuredUnits(kept)
    seen = 0
    for geoid in units.geoids:
        for unit in units.path(np.array([geoid])):
            if unit.level != "Block" or not unit.variances:
                continue
            ends = geoid[:11] + geoid[11:12] + geoid[11:]
            published = [each for (level, code), each in rows.items() if level == unit.level and code.endswith(ends)]
            answers = units.answers(0, unit)
            assert {name.removesuffix("_dpq"): value for name, value, _, _ in published[0]} == {
                name: own.tolist() for name, own in answers.items()
            }
            for name, value, variance, shape in published[0]:
                # σ² of a discrete Gaussian is within 1e-4 of its variance above 100
                assert variance == pytest.approx(unit.variances[name.removesuffix("_dpq")], rel=1e-3)
                assert np.prod(shape) == len(value)
            seen += 1
    assert seen > len(units.geoids) // 2
    assert all(len(code) == LENGTHS.get(level, 0) for level, code in rows)  # bypassed units have no rows


def test_that_an_estimate_from_what_was_published_is_the_estimate_of_the_run(kept, tmp_path):
    source = published_directory(kept, 0)
    spec = complete_run(
        RunSpec(SCENARIO, describe_blocks(source), 1, 9, options=TopDownOptions(measurements=str(source)))
    )
    again = carry_out(tmp_path / "again", spec)
    assert pq.read_table(again / trial_file(0)).equals(pq.read_table(kept / trial_file(0)))
    assert not (again / TRUTH_FILE).exists()
    request = RunRequest(again, "errors")
    assert TopDownRunReader().answer(request).reason == COUNTING
    (again / SUMMARY_FILE).write_text(
        "{}", encoding="utf-8"
    )  # what it says is not asked, only that the run is finished
    assert TopDownRunReader().answer(request).reason.startswith(UNCOUNTED)


def test_that_a_run_on_measurements_alone_shows_and_writes_its_estimates(kept, tmp_path):
    source = published_directory(kept, 0)
    options = TopDownOptions(measurements=str(source))
    run = carry_out(tmp_path / "run", complete_run(RunSpec(SCENARIO, describe_blocks(source), 1, 9, options=options)))
    (run / SUMMARY_FILE).write_text("{}", encoding="utf-8")  # the run is finished
    columns = pq.read_table(run / trial_file(0))
    counties = np.array([code[:5] for code in columns.column("geoid").to_pylist()])
    counts = np.stack([column.to_numpy() for column in columns.columns[1:]], axis=1)
    largest = max(set(counties.tolist()), key=lambda code: counts[counties == code].sum())
    choices = {"level": "County", "unit": largest, "query": "detailed"}
    reader = TopDownRunReader()
    for tab in ESTIMATED:
        answer = reader.answer(RunRequest(run, tab, choices))
        assert answer.trials == 1
        rows = answer.picture.table.rows
        assert not {"True", "Error, mean"} & set(answer.picture.table.headers)
        first = rows[0][-1]
        inside = counts[counties == largest]
        assert first == (inside.sum() if tab == "tables" else inside.sum(axis=0).max())
    for tab in ("errors", "worst", "criterion", "path", "plausible", "compare"):
        assert reader.answer(RunRequest(run, tab, choices)).picture is None
    written = write_run_tables(run, 0, tmp_path / "tables")
    assert [path.name for path in written] == ["P1.csv", "P2.csv", "P3.csv", "P4.csv", "P5.csv"]


def test_that_an_archive_is_read_like_a_folder_and_a_second_trial_is_refused(kept, tmp_path):
    source = published_directory(kept, 0)
    archive = tmp_path / "measured.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(source.rglob("*.parquet")):
            if path.is_file():
                file.write(path, Path("2020-nmf") / path.relative_to(source))
    one, other = describe_measurements(source), describe_measurements(archive)
    assert {**one, "path": ""} == {**other, "path": ""}
    asked = RunSpec(SCENARIO, describe_blocks(archive), 2, 9, options=TopDownOptions())
    with pytest.raises(RunSpecError):
        complete_run(asked)


def changed_copy(source: Path, target: Path, level: str, change) -> None:
    shutil.copytree(source, target)
    for path in (target / "US_Person_PL_PROD" / f"{level}.parquet" / "DPQuery").rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        pq.write_table(change(table), path)


def test_that_the_variances_are_those_of_the_file(kept, tmp_path):
    def doubled(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("variance")
        return table.set_column(place, "variance", pa.array(np.full(table.num_rows, 40.5, np.float32)))

    target = tmp_path / "other"
    changed_copy(published_directory(kept, 0), target, "Block", doubled)
    noise = PublishedNoise(target, SCENARIO.topdown)
    world, remarks = noise.world(noise.population())
    noises = {each.sigma2 for each in world.design.levels[-1].measuring.noises}
    assert noises == {Fraction(81, 2)}
    assert any("not the scenario's" in each for each in remarks)


def test_that_files_that_are_not_whole_are_refused_with_a_sentence(kept, tmp_path):
    target = tmp_path / "cut"
    changed_copy(published_directory(kept, 0), target, "Block", lambda table: table.drop_columns(["hispanic"]))
    with pytest.raises(InputProblemsError):
        describe_measurements(target)
    for path in (target / "US_Person_PL_PROD" / "Block.parquet").rglob("*.parquet"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputProblemsError):
        describe_measurements(target)
    with pytest.raises(InputProblemsError):
        NoisyMeasurements(kept / TRUTH_FILE)


@pytest.mark.parametrize("wrong", [lambda row: [row], lambda row: [list(map(str, row))], lambda row: row[0]])
def test_that_answers_of_another_type_are_refused_with_the_type(wrong, kept, tmp_path):
    def changed(table: pa.Table) -> pa.Table:
        values = pa.array([wrong(row) for row in table.column("value").to_pylist()])
        return table.set_column(table.schema.get_field_index("value"), "value", values)

    changed_copy(published_directory(kept, 0), tmp_path / "nested", "Block", changed)
    with pytest.raises(InputProblemsError, match="column value must contain lists of numbers"):
        describe_measurements(tmp_path / "nested")


def test_that_codes_of_other_units_are_refused(kept, tmp_path):
    def renamed(table: pa.Table) -> pa.Table:
        codes = [f"9{code[1:]}" for code in table.column("geocode").to_pylist()]
        return table.set_column(0, "geocode", pa.array(codes))

    target = tmp_path / "moved"
    changed_copy(published_directory(kept, 0), target, "Block", renamed)
    noise = PublishedNoise(target, SCENARIO.topdown)
    with pytest.raises(InputProblemsError):
        noise.population()


def test_that_the_flag_takes_a_word_and_stays_a_flag(tmp_path, capsys):
    asked = ["run", "sdhc-2020-us", "--data", "demo", "--out", str(tmp_path / "run"), "--keep-measurements"]
    for word in ([], ["nmf"]):
        assert command([*asked, *word]) == 2
        assert "--keep-measurements" in capsys.readouterr().err
    assert replace(TopDownOptions(), keep_measurements=True).keep_measurements is KeptAnswers.YES


def test_that_a_block_of_water_stands_where_its_people_were_tabulated():
    measured = np.array(["440070001011000", "450299901000001"])
    found, moved = tabulated_codes(measured, np.array(["440070001011000", "450299708003004"]))
    assert (found.tolist(), moved) == (["440070001011000", "450299708003004"], 1)
    for data in (["440070001011000", "450299901000001"], ["440070001011000", "450299708003005"]):
        assert tabulated_codes(measured, np.array(data))[1] == 0
