from __future__ import annotations

import numpy as np
import pytest
from population_files import write_csv, write_parquet

from phexplore.data import reading
from phexplore.data.csv_diagnosis import CsvLines
from phexplore.data.problems import ProblemLog
from phexplore.data.reading import KEPT, join_tables, read_batches, read_table
from phexplore.data.source import find_source
from phexplore.data.synthetic.generator import generate_sdhc


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    path = tmp_path_factory.mktemp("synthetic")
    generate_sdhc(2000, path, seed=3, states=["RI"])
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("frame", ["persons", "units", "geo"])
def test_that_batches_are_consecutive_parts_of_the_table(directory, monkeypatch, kind, frame):
    source, log = find_source(directory / f"persons.{kind}"), ProblemLog()
    whole = read_table(source, frame, log)
    monkeypatch.setattr(reading, "BATCH_ROWS", 100)
    monkeypatch.setattr(reading, "BLOCK_BYTES", 3000)
    batches = list(read_batches(source, frame, log))
    assert len(batches) > 3
    assert [batch.place.first for batch in batches] == np.cumsum([0, *map(len, batches)])[:-1].tolist()
    for name, values in join_tables(batches, source, frame).columns.items():
        assert np.array_equal(values, whole.columns[name])
        assert values.dtype == KEPT[frame][name]
    assert log.issues() == ()


def test_that_joined_selections_remember_their_records(tmp_path):
    source = find_source(write_parquet(tmp_path))
    table = read_table(source, "persons", ProblemLog())
    pieces = [table.part(0, 3), table.part(3, 8).kept(np.array([1, 4]))]
    joined = join_tables(pieces, source, "persons")
    assert joined.place.records.tolist() == [0, 1, 2, 4, 7]
    assert joined.columns["qage"].tolist() == table.columns["qage"][[0, 1, 2, 4, 7]].tolist()


def test_that_no_batches_make_an_empty_table(tmp_path):
    table = join_tables([], find_source(write_csv(tmp_path)), "units")
    assert len(table) == 0
    assert {name: column.dtype for name, column in table.columns.items()} == KEPT["units"]


def test_that_records_are_counted_past_blank_lines(tmp_path):
    path = tmp_path / "persons.csv"
    path.write_text("header\n\nfirst\nsecond\n\n\r\nthird\n", encoding="utf-8")
    assert CsvLines(path)([0, 1, 2]) == [3, 4, 7]
