from __future__ import annotations

import numpy as np
import pytest

from phexplore.data.blocks.cell_lists import schema_of, write_cells
from phexplore.data.blocks.delimited import read_header
from phexplore.data.blocks.geocodes import ENUMERATION_DISTRICTS_1940
from phexplore.data.blocks.population import from_filled
from phexplore.data.blocks.source import read_population
from phexplore.errors import PhexploreError
from phexplore.model.issues import InputProblemsError
from phexplore.workload.schema import load_schema


def same(one, other):
    return (one.geoids.tolist(), one.starts.tolist(), one.cells.tolist(), one.counts.tolist()) == (
        other.geoids.tolist(),
        other.starts.tolist(),
        other.cells.tolist(),
        other.counts.tolist(),
    )


def populated(population):
    kept = np.flatnonzero(population.totals())
    place = np.zeros(population.blocks, np.int64)
    place[kept] = np.arange(len(kept))
    return from_filled(
        population.schema,
        population.geoids[kept],
        rows=place[population.rows()],
        cells=population.cells,
        counts=population.counts,
        layout=population.layout,
    )


def test_that_every_schema_reads_back(tmp_path, synthetic, synthetic_full, units):
    for population in (synthetic, synthetic_full, units):
        lines = write_cells(population, tmp_path / "c.csv")
        assert lines == len(population.cells)
        back = read_population(tmp_path / "c.csv")
        assert back.schema == population.schema
        assert same(back, populated(population))


def test_that_districts_of_1940_read_back(tmp_path):
    population = from_filled(
        load_schema("census_1940"),
        np.array(["440010012003A", "4400100120035"][::-1]),
        rows=np.array([0, 1, 1]),
        cells=np.array([0, 5, 40_000]),
        counts=np.array([1, 2, 3]),
        layout=ENUMERATION_DISTRICTS_1940,
    )
    write_cells(population, tmp_path / "c.csv.gz")
    back = read_population(tmp_path / "c.csv.gz")
    assert same(back, population)
    assert back.layout is ENUMERATION_DISTRICTS_1940


def test_that_a_line_says_block_labels_and_count(tmp_path, two_blocks):
    write_cells(two_blocks, tmp_path / "c.csv")
    lines = (tmp_path / "c.csv").read_text("utf-8").splitlines()
    assert lines[:2] == ["geoid,votingage,race_ethnicity,count", "440010301001000,17 and under,Hispanic or Latino,16"]
    assert lines[2] == '440010301001000,17 and under,"Not Hispanic, White alone",17'


def test_that_equal_lines_are_added_and_zeros_dropped(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(
        "count,geoid,h1\n2,440010301001000,Vacant\n3,440010301001000,Vacant\n0,440010301001000,Occupied\n", "utf-8"
    )
    assert read_population(path).dense(0, 1).tolist() == [[5, 0]]


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ("44001030100100,Vacant,1", 1, "is not a code of 15 characters"),
        ("440010301001000,Empty,1", 2, "h1 is not a label of the schema pl94_units"),
        ("440010301001000,Vacant,-1", 3, "count is not a whole number"),
        ("440010301001000,Vacant,1.5", 3, "count is not a whole number"),
        ("440010301001000,Vacant,99999999", 3, "count is not a whole number"),
    ],
)
def test_that_wrong_values_are_reported_with_line_and_column(tmp_path, line, column, said):
    path = tmp_path / "c.csv"
    path.write_text(f"geoid,h1,count\n440010301001000,Vacant,1\n{line}\n", "utf-8")
    with pytest.raises(InputProblemsError) as caught:
        read_population(path)
    (issue,) = caught.value.issues
    assert (issue.line, issue.column) == (3, column)
    assert said in issue.sentence


def test_that_a_list_without_lines_is_refused(tmp_path):
    (tmp_path / "c.csv").write_text("geoid,h1,count\n", "utf-8")
    with pytest.raises(InputProblemsError, match="no lines"):
        read_population(tmp_path / "c.csv")


def test_that_the_schema_is_known_from_the_columns(tmp_path):
    path = tmp_path / "c.csv"
    for header, expected in (("geoid,h1,count", "pl94_units"), ("geoid,h1,other,count", None), ("geoid,h1", None)):
        path.write_text(header + "\n", "utf-8")
        schema = schema_of(read_header(path))
        assert (schema.id if schema else None) == expected


def test_that_a_place_that_cannot_be_written_is_an_expected_failure(tmp_path, two_blocks):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(PhexploreError, match="cannot be written"):
        write_cells(two_blocks, tmp_path / "file" / "c.csv")
