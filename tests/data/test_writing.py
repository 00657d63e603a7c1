from __future__ import annotations

import numpy as np
import pytest
from population_files import column_place, tiny_population, write_csv

from phexplore.data.layout import FRAMES, LAYOUT
from phexplore.data.provenance import PopulationMark
from phexplore.data.source import Storage
from phexplore.data.validation import check_data
from phexplore.data.writing import PopulationPart, PopulationWriter
from phexplore.model.issues import Severity

MARK = PopulationMark("synthetic-population", "test", True, 0, (), (), (), "Test.")


def _part(first=0, last=None):
    rows = tiny_population()
    columns = {
        frame: {
            column.name: np.array([int(row[column_place(frame, column.name)]) for row in rows[frame][first:last]])
            for column in LAYOUT[frame]
        }
        for frame in FRAMES
    }
    return PopulationPart(**columns)


def test_that_csv_files_are_written_as_production_spells_them(tmp_path):
    with PopulationWriter(tmp_path / "out", [Storage.CSV]) as writer:
        writer.write(_part())
        writer.close(MARK)
    expected = write_csv(tmp_path / "expected")
    for frame in FRAMES:
        assert (tmp_path / "out" / f"{frame}.csv").read_bytes() == (expected / f"{frame}.csv").read_bytes()


def test_that_parquet_columns_have_the_types_of_production(tmp_path):
    from pyarrow import parquet

    with PopulationWriter(tmp_path, [Storage.PARQUET]) as writer:
        writer.write(_part())
        writer.close(MARK)
    for frame, rows in tiny_population().items():
        table = parquet.read_table(tmp_path / f"{frame}.parquet")
        assert table.column_names == [column.name for column in LAYOUT[frame]]
        for place, column in enumerate(LAYOUT[frame]):
            wanted = [int(row[place]) if column.kind.value == "int" else row[place] for row in rows]
            assert table.column(column.name).to_pylist() == wanted


@pytest.mark.parametrize("storage", Storage)
def test_that_parts_make_one_file(tmp_path, storage):
    for name, parts in (("whole", [_part()]), ("parts", [_part(0, 2), _part(2)])):
        with PopulationWriter(tmp_path / name, [storage]) as writer:
            for part in parts:
                writer.write(part)
            mark = writer.close(MARK)
    assert mark.files[f"persons.{storage.value}"].rows == 8
    if storage is Storage.CSV:
        assert (tmp_path / "whole/persons.csv").read_bytes() == (tmp_path / "parts/persons.csv").read_bytes()


def test_that_a_failure_leaves_no_file_behind(tmp_path):
    broken = PopulationPart(_part().persons, {}, {})

    def write():
        with PopulationWriter(tmp_path, list(Storage)) as writer:
            writer.write(_part())
            writer.write(broken)

    with pytest.raises(KeyError):
        write()
    assert list(tmp_path.iterdir()) == []


def test_that_nothing_has_its_final_name_before_the_end(tmp_path):
    write_csv(tmp_path)
    before = (tmp_path / "persons.csv").read_bytes()
    with PopulationWriter(tmp_path, [Storage.CSV]) as writer:
        writer.write(_part(0, 1))
        assert (tmp_path / "persons.csv").read_bytes() == before
        writer.close(MARK)
    assert (tmp_path / "persons.csv").read_bytes() != before


def test_that_a_flipped_bit_in_a_written_parquet_file_is_noticed(tmp_path):
    with PopulationWriter(tmp_path, [Storage.PARQUET]) as writer:
        writer.write(_part())
        writer.close(MARK)
    path = tmp_path / "persons.parquet"
    intact = path.read_bytes()
    for place in range(4, len(intact) - 8, 31):
        damaged = bytearray(intact)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        issues = check_data(path).issues
        assert any(issue.severity is Severity.ERROR or "unknown origin" in issue.sentence for issue in issues), place
