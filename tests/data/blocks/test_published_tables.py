from __future__ import annotations

import csv
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from phexplore.catalog.states import us_states
from phexplore.data.blocks.generator import synthesize_states
from phexplore.data.blocks.published_tables import published_tables, tabulate, write_tables
from phexplore.errors import PhexploreError
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import load_schema

ALL = [table for schema in ("pl94_persons", "pl94_reduced16", "pl94_units") for table in published_tables(schema)]
WORDS = ("White", "Black or African American", "American Indian and Alaska Native", "Asian")
WORDS += ("Native Hawaiian and Other Pacific Islander", "Some Other Race")


def table_of(schema, name):
    return next(table for table in published_tables(schema) if table.id == name)


def test_that_the_tables_have_their_published_number_of_lines():
    assert {table.id: len(table.cells) for table in published_tables("pl94_persons")} == {
        "P1": 71,
        "P2": 73,
        "P3": 71,
        "P4": 73,
        "P5": 10,
    }
    assert {table.id: len(table.cells) for table in published_tables("pl94_units")} == {"H1": 3}
    assert {table.id: len(table.cells) for table in published_tables("pl94_reduced16")} == {"P2": 11, "P4": 11}
    assert published_tables("census_1940") == ()


@pytest.mark.parametrize(
    "table",
    [*ALL, *published_tables("dhc_persons"), *published_tables("dhc_households")],
    ids=lambda table: f"{table.schema.id}-{table.id}",
)
def test_that_codes_run_through_and_sums_are_those_of_the_lines_below(table):
    assert [cell.code for cell in table.cells] == [
        f"{table.id[0]}{int(table.id[1:]):03d}{number:04d}" for number in range(1, len(table.cells) + 1)
    ]
    selection = table.selection(np.arange(table.schema.cells))
    for place, cell in enumerate(table.cells):
        below = []
        for further in range(place + 1, len(table.cells)):
            if table.cells[further].depth <= cell.depth:
                break
            if table.cells[further].depth == cell.depth + 1:
                below.append(selection[further])
        if len(below) > 1:  # of children and grandchildren those under 18 alone are told
            assert np.stack(below).sum(axis=0).tolist() == selection[place].astype(int).tolist(), cell.label


@pytest.mark.parametrize("name", ["P1", "P2", "P3", "P4"])
def test_that_labels_name_the_races_that_are_counted(name):
    table = table_of("pl94_persons", name)
    codes = table.schema.attribute("cenrace").labels
    short = dict(zip(("White", "Black", "AIAN", "Asian", "NHOPI", "Some other race"), WORDS, strict=True))
    seen = set()
    for cell in table.cells:
        races = cell.where.get("cenrace")
        if races is not None and len(races) == 1 and not cell.label.startswith("Population"):
            parts = codes[races[0]].removesuffix(" alone").split(" + ")
            expected = "; ".join(short[part] for part in parts) + (" alone" if len(parts) == 1 else "")
            assert cell.label == expected
            seen.add(races[0])
        if (match := re.fullmatch(r"Population of (two|three|four|five|six) races", cell.label)) is not None:
            size = ("two", "three", "four", "five", "six").index(match[1]) + 2
            assert {codes[race].count(" + ") + 1 for race in races} == {size}
    assert seen == set(range(63))


@pytest.mark.parametrize("table", ALL, ids=lambda table: f"{table.schema.id}-{table.id}")
def test_that_counts_are_those_of_the_dense_histogram_at_every_level(table, synthetic, synthetic_full, units):
    population = {"pl94_persons": synthetic_full, "pl94_reduced16": synthetic, "pl94_units": units}[table.schema.id]
    lines = population.dense(0, population.blocks) @ table.selection(np.arange(table.schema.cells)).T.astype(np.int64)
    for filled in tabulate(population, table):
        expected = np.zeros((len(filled.units), len(table.cells)), np.int64)
        np.add.at(expected, filled.units.of_leaf, lines)
        assert (filled.counts == expected).all()
    assert [filled.units.level for filled in tabulate(population, table)] == list(population.layout.names[1:])


@pytest.mark.defect("D9")
def test_that_the_nation_has_a_row_only_where_all_of_it_is_counted(synthetic, tmp_path):
    table = table_of("pl94_reduced16", "P2")
    (file, _) = write_tables([synthetic], tmp_path)
    with file.open(newline="") as opened:
        assert "US" not in {row["level"] for row in csv.DictReader(opened)}
    nation = synthesize_states(60, 1, us_states())
    assert [filled.units.level for filled in tabulate(nation, table)][:2] == ["US", "State"]
    some = synthesize_states(60, 1, us_states()[:-1])
    assert next(filled.units.level for filled in tabulate(some, table)) == "State"


def test_that_rhode_island_has_its_published_table_of_2010(rhode_island):
    (state,) = tabulate(rhode_island, table_of("pl94_reduced16", "P2"), ["State"])
    assert state.counts.tolist() == [
        [1_052_567, 130_655, 921_912, 898_433, 803_685, 51_560, 4_020, 29_988, 305, 8_875, 23_479]
    ]
    (adults,) = tabulate(rhode_island, table_of("pl94_reduced16", "P4"), ["State"])
    assert adults.counts[0, 0] == 828_611


def test_that_both_schemas_make_the_same_lines(rhode_island, expanded):
    for name in ("P2", "P4"):
        few = tabulate(rhode_island, table_of("pl94_reduced16", name), ["Tract"])[0].counts
        many = tabulate(expanded, table_of("pl94_persons", name), ["Tract"])[0].counts
        assert (many[:, : few.shape[1]] == few).all()


def test_that_quarters_are_those_of_the_query(synthetic_full):
    counts = tabulate(synthetic_full, table_of("pl94_persons", "P5"), ["US"])[0].counts[0]
    query = parse_query(load_schema("pl94_persons"), "gqlevels")
    kinds = query.tabulate(synthetic_full.dense(0, synthetic_full.blocks)).sum(axis=0)
    assert counts[[2, 3, 4, 5, 7, 8, 9]].tolist() == kinds.tolist()
    assert kinds.sum() > 0


def test_that_tables_are_written_one_file_each(tmp_path, synthetic_full, units, monkeypatch):
    monkeypatch.setattr("phexplore.data.blocks.published_tables.UNITS_AT_ONCE", 100)
    files = write_tables([synthetic_full, units], tmp_path / "out")
    arrow = write_tables([synthetic_full, units], tmp_path / "out", in_columns=True)
    assert [file.name for file in arrow] == [f"{file.stem}.parquet" for file in files]
    assert [file.name for file in files] == ["P1.csv", "P2.csv", "P3.csv", "P4.csv", "P5.csv", "H1.csv"]
    for file, population in zip(files, [*[synthetic_full] * 5, units], strict=True):
        table = table_of(population.schema.id, file.stem)
        rows = list(csv.reader(file.read_text("utf-8").splitlines()))
        assert rows[0] == ["level", "geoid", *(cell.code for cell in table.cells)]
        expected = [
            [filled.units.level, str(code), *map(str, row)]
            for filled in tabulate(population, table)
            for code, row in zip(filled.units.codes, filled.counts.tolist(), strict=True)
        ]
        assert rows[1:] == expected
        columns = pq.read_table(file.with_suffix(".parquet"))
        assert columns.column_names == rows[0]
        assert [list(map(str, row)) for row in zip(*columns.to_pydict().values(), strict=True)] == expected


def test_that_other_data_has_no_tables(tmp_path, synthetic, synthetic_full):
    with pytest.raises(ValueError, match="computed from pl94_persons"):
        tabulate(synthetic, table_of("pl94_persons", "P1"))
    with pytest.raises(PhexploreError, match="No published table"):
        write_tables([], tmp_path)
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(PhexploreError, match="cannot be written"):
        write_tables([synthetic_full], tmp_path / "file")
