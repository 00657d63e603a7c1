from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from population_files import tiny_population, with_value, write_csv, write_parquet

from phexplore.data import reading
from phexplore.data.chunks import UnsortedError, iter_chunks, record_problems
from phexplore.data.population import SdhcGeo, SdhcPersons, SdhcUnits
from phexplore.data.problems import Phase
from phexplore.data.synthetic.generator import generate_sdhc
from phexplore.data.validation import load_data
from phexplore.model.issues import InputProblemsError


def _joined(chunks):
    for frame in ("persons", "units", "geo"):
        tables = [getattr(chunk, frame) for chunk in chunks]
        for column in fields(type(tables[0])):
            yield frame, column.name, np.concatenate([getattr(table, column.name) for table in tables])


@pytest.fixture(scope="module")
def population(tmp_path_factory):
    directory = tmp_path_factory.mktemp("synthetic")
    generate_sdhc(3000, directory, seed=5, states=["RI", "CT"])
    return directory


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("persons", [1, 7, 500, 10_000])
def test_that_parts_together_are_the_whole_population(population, monkeypatch, kind, persons):
    monkeypatch.setattr(reading, "BATCH_ROWS", 64)
    monkeypatch.setattr(reading, "BLOCK_BYTES", 2000)
    whole = load_data(population / f"persons.{kind}")
    chunks = list(iter_chunks(population / f"persons.{kind}", persons_per_chunk=persons))
    for frame, column, values in _joined(chunks):
        assert np.array_equal(values, getattr(getattr(whole, frame), column)), (frame, column)


@pytest.mark.parametrize("persons", [1, 100])
def test_that_a_part_holds_whole_households_of_about_the_size_asked_for(population, persons):
    seen = set()
    for chunk in iter_chunks(population, persons_per_chunk=persons):
        own = set(chunk.units.mafid.tolist())
        assert not own & seen
        assert set(chunk.persons.mafid.tolist()) <= own
        assert set(chunk.geo.mafid.tolist()) == own
        seen |= own


def test_that_a_batch_border_inside_a_household_does_not_cut_it(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "BATCH_ROWS", 2)
    sizes = [len(chunk.persons) for chunk in iter_chunks(write_parquet(tmp_path), persons_per_chunk=1)]
    assert sum(sizes) == 8
    assert set(sizes) <= {0, 1, 2, 3, 4}


def test_that_states_are_kept_part_by_part(population):
    whole = load_data(population, ("44",))
    chunks = list(iter_chunks(population, states=("44",), persons_per_chunk=200))
    for frame, column, values in _joined(chunks):
        assert np.array_equal(values, getattr(getattr(whole, frame), column))


def test_that_unsorted_files_are_refused_with_the_line(tmp_path):
    population = tiny_population()
    population["units"].reverse()
    with pytest.raises(UnsortedError) as caught:
        list(iter_chunks(write_csv(tmp_path, population)))
    assert caught.value.issues[0].place == "units.csv:3:2"
    assert "Sort" in caught.value.remedy


def test_that_a_bad_part_is_refused_with_true_lines(tmp_path):
    write_csv(tmp_path, with_value("persons", 7, "RELSHIP", "37"))
    with pytest.raises(InputProblemsError) as caught:
        list(iter_chunks(tmp_path, persons_per_chunk=1))
    assert caught.value.issues[0].place == "persons.csv:9:6"


def test_that_repeated_and_missing_keys_are_found_across_part_borders(tmp_path):
    population = tiny_population()
    population["units"].insert(1, population["units"][0])
    with pytest.raises(InputProblemsError, match="occurs more than once"):
        list(iter_chunks(write_csv(tmp_path / "twice", population), persons_per_chunk=1))
    population = tiny_population()
    del population["geo"][4]
    with pytest.raises(InputProblemsError, match=r"not in geo\.csv"):
        list(iter_chunks(write_csv(tmp_path / "missing", population), persons_per_chunk=1))


def test_that_records_without_a_cell_pass_where_production_takes_them(tmp_path):
    write_csv(tmp_path, with_value("units", 0, "TEN", "0"))
    with pytest.raises(InputProblemsError, match="no tenure"):
        load_data(tmp_path)
    assert len(load_data(tmp_path, up_to=Phase.KEYS).persons) == 8
    assert sum(len(part.persons) for part in iter_chunks(tmp_path, persons_per_chunk=1, up_to=Phase.KEYS)) == 8
    with pytest.raises(InputProblemsError, match="no tenure"):
        list(iter_chunks(tmp_path, persons_per_chunk=1))


@pytest.mark.parametrize("is_sorted", [True, False])
def test_that_the_records_a_private_count_stops_at_are_found_with_their_lines(tmp_path, is_sorted):
    population = with_value("units", 0, "TEN", "0", with_value("persons", 7, "RELSHIP", "37"))
    for rows in population.values():
        rows.sort(key=lambda row: int(row[1]), reverse=not is_sorted)
    write_csv(tmp_path, population)
    assert sorted(issue.place for issue in record_problems(tmp_path)) == (
        ["persons.csv:9:6", "units.csv:2:7"] if is_sorted else ["persons.csv:3:6", "units.csv:6:7"]
    )
    assert [issue.place for issue in record_problems(tmp_path, ("09",))] == [
        "persons.csv:9:6" if is_sorted else "persons.csv:3:6"
    ]
    assert record_problems(write_csv(tmp_path / "clean")) == ()


def test_that_a_part_of_nobody_is_refused():
    with pytest.raises(ValueError, match="got 0"):
        list(iter_chunks("demo", persons_per_chunk=0))


def test_that_parts_have_the_types_of_a_population(tmp_path):
    (chunk,) = iter_chunks(write_csv(tmp_path))
    assert [type(table) for table in (chunk.persons, chunk.units, chunk.geo)] == [SdhcPersons, SdhcUnits, SdhcGeo]
