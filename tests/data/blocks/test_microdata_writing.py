from __future__ import annotations

import gzip
from itertools import pairwise

import numpy as np
import pytest

from phexplore.data.blocks import microdata_writing
from phexplore.data.blocks.layouts import PL94_PERSONS, PL94_UNITS
from phexplore.data.blocks.microdata_writing import PersonWriter, UnitWriter, write_persons, write_units
from phexplore.data.blocks.population import from_filled
from phexplore.data.blocks.source import read_population
from phexplore.errors import PhexploreError
from phexplore.workload.schema import load_schema


def expected_lines(persons):
    """The same records, one by one."""
    number = 0
    for row, cell, count in zip(persons.rows().tolist(), persons.cells.tolist(), persons.counts.tolist(), strict=True):
        code = str(persons.geoids[row])
        kind, adult, hispanic, race = np.unravel_index(cell, persons.schema.shape)
        for _ in range(count):
            yield "|".join(
                [
                    *("MPD", "1.1.0", code[:2], code[2:5], code[5:11], code[11], code[11:], str(number)),
                    *("5" if kind else "3", str(kind), str(adult + 1), str(hispanic + 1), f"{race + 1:02d}"),
                ]
            )
            number += 1


@pytest.mark.parametrize("records_at_once", [1, 7, 1000, 1 << 19])
def test_that_records_are_those_of_a_plain_loop(tmp_path, synthetic_full, records_at_once, monkeypatch):
    monkeypatch.setattr(microdata_writing, "RECORDS_AT_ONCE", records_at_once)
    persons = synthetic_full.part(0, 60 if records_at_once < 1000 else 400)
    assert write_persons(persons, tmp_path / "p.txt") == persons.total
    lines = (tmp_path / "p.txt").read_text("ascii").splitlines()
    assert lines[0] == "|".join(PL94_PERSONS.columns)
    assert lines[1:] == list(expected_lines(persons))


def test_that_persons_read_back(tmp_path, expanded):
    write_persons(expanded, tmp_path / "p.txt.gz", [("Classification", "Simulated"), ("Records", str(expanded.total))])
    back = read_population(tmp_path / "p.txt.gz")
    populated = expanded.totals() > 0
    assert back.geoids.tolist() == expanded.geoids[populated].tolist()
    assert (back.cells == expanded.cells).all()
    assert (back.counts == expanded.counts).all()


def test_that_units_read_back(tmp_path, units):
    assert write_units(units, tmp_path / "u.txt") == units.total + units.facilities[:, 1:].sum()
    back = read_population(tmp_path / "u.txt")
    kept = units.totals() + units.facilities[:, 1:].sum(axis=1) > 0
    assert back.geoids.tolist() == units.geoids[kept].tolist()
    assert (back.housing == units.housing[kept]).all()
    assert (back.facilities[:, 1] == units.facilities[kept, 1:].sum(axis=1)).all()


def test_that_units_stand_occupied_vacant_quarters(tmp_path):
    units = from_filled(
        load_schema("pl94_units"),
        np.array(["440010301001000"]),
        rows=np.array([0, 0]),
        cells=np.array([0, 1]),
        counts=np.array([1, 2]),
        facilities=np.array([[3, 0, 1, 0, 0, 0, 0, 0]], np.int32),
    )
    write_units(units, tmp_path / "u.txt")
    lines = (tmp_path / "u.txt").read_text("ascii").splitlines()
    assert lines[0] == "|".join(PL94_UNITS.columns)
    assert [line.split("|")[-2:] for line in lines[1:]] == [["2", "1"], ["2", "1"], ["2", "2"], ["4", "0"]]
    assert lines[1].startswith("MUD|1.1.0|44|001|030100|1|1000|")


def test_that_parts_make_the_file_of_the_whole(tmp_path, synthetic_full, units):
    write_persons(synthetic_full, tmp_path / "whole.txt")
    write_units(units, tmp_path / "units.txt")
    cuts = [0, 300, 301, 900, synthetic_full.blocks]
    with PersonWriter(tmp_path / "parts.txt") as persons, UnitWriter(tmp_path / "unit-parts.txt") as others:
        for first, last in pairwise(cuts):
            persons.write(synthetic_full.part(first, last))
            others.write(units.part(first, last))
    assert (tmp_path / "parts.txt").read_bytes() == (tmp_path / "whole.txt").read_bytes()
    assert (tmp_path / "unit-parts.txt").read_bytes() == (tmp_path / "units.txt").read_bytes()
    assert persons.records == synthetic_full.total


def test_that_metadata_stand_in_front_of_the_header(tmp_path, two_blocks, synthetic_full):
    write_persons(synthetic_full.part(0, 5), tmp_path / "p.txt", [("Classification", "Simulated\nreally")])
    assert (tmp_path / "p.txt").read_text("ascii").startswith("# Classification: Simulated really\nSCHEMA_TYPE_CODE|")
    with pytest.raises(ValueError, match="pl94_reduced16"):
        write_persons(two_blocks, tmp_path / "q.txt")
    assert not (tmp_path / "q.txt").exists()


def test_that_compressed_files_depend_on_their_content_only(tmp_path, synthetic_full):
    for name in ("a.txt.gz", "b.txt.gz", "c.txt"):
        write_persons(synthetic_full.part(0, 50), tmp_path / name)
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.txt.gz").read_bytes()) == (tmp_path / "c.txt").read_bytes()


def test_that_an_empty_population_is_a_header(tmp_path, synthetic_full):
    assert write_persons(synthetic_full.part(0, 0), tmp_path / "p.txt") == 0
    assert (tmp_path / "p.txt").read_text("ascii") == "|".join(PL94_PERSONS.columns) + "\n"


def test_that_a_broken_write_leaves_nothing(tmp_path, synthetic_full):
    def broken():
        with PersonWriter(tmp_path / "p.txt") as writer:
            writer.write(synthetic_full.part(0, 5))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert list(tmp_path.iterdir()) == []


def test_that_running_numbers_do_not_overflow(tmp_path, synthetic_full):
    with PersonWriter(tmp_path / "p.txt") as writer:
        writer.records = 999_999_999
        with pytest.raises(PhexploreError, match="numbers persons up to 999,999,999"):
            writer.write(synthetic_full.part(0, 50))


def test_that_a_place_that_cannot_be_written_is_an_expected_failure(tmp_path, synthetic_full):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(PhexploreError, match="cannot be written"):
        write_persons(synthetic_full, tmp_path / "file" / "p.txt")
