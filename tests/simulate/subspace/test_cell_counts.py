"""Counts of cells from tables, and every problem with its place."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from phexplore.model.issues import InputProblemsError
from phexplore.model.subspace import Axis, Histogram, Mechanism, Release, Subspace
from phexplore.simulate.subspace.cell_counts import read_cell_counts, shipped_table
from phexplore.systems.registry import preset

RELEASE = {"only": Release(Histogram(), (), Mechanism.PROJECTED_LAPLACE)}
METHOD = Subspace((Axis("sex", 2, ("f", "m")), Axis("hour", 2)), RELEASE, Fraction(1))


def written(tmp_path, text):
    path = tmp_path / "counts.csv"
    path.write_text(text, encoding="utf-8")
    return path


def problems(tmp_path, text, method=METHOD):
    with pytest.raises(InputProblemsError) as caught:
        read_cell_counts(written(tmp_path, text), method)
    return [(issue.line, issue.sentence) for issue in caught.value.issues]


def test_that_lines_in_any_order_fill_the_cells(tmp_path):
    path = written(tmp_path, "hour,sex,note,count\n1,m,x,4\n0,f,x,1\n1,f,x,2\n0,m,x,3\n")
    assert read_cell_counts(path, METHOD).tolist() == [1, 2, 3, 4]


def test_that_the_shipped_table_is_the_one_of_the_paper():
    method = preset("counties-invariant-2010").scenario.subspace
    counts = read_cell_counts(shipped_table(method), method)
    assert (len(counts), counts.sum()) == (102, 12_830_632)


def test_that_a_scenario_without_a_table_names_none():
    assert shipped_table(METHOD) is None


def test_that_a_table_of_all_counties_gives_the_same_counts(real_data):
    method = preset("counties-invariant-2010").scenario.subspace
    found = read_cell_counts(real_data / "counties" / "counties_2010.csv", method)
    assert (found == read_cell_counts(shipped_table(method), method)).all()


def test_that_a_county_that_is_missing_is_named(real_data):
    method = Subspace((Axis("county", 2, ("17001", "17002")),), RELEASE, Fraction(1))
    with pytest.raises(InputProblemsError, match="county 17002 has no line"):
        read_cell_counts(real_data / "counties" / "counties_2010.csv", method)


def test_that_an_unknown_level_is_refused(tmp_path):
    assert problems(tmp_path, "sex,hour,count\nf,0,1\nx,2,1\n") == [
        (3, "The value is no level of sex."), (3, "The value is no level of hour."),
    ]  # fmt: skip


def test_that_a_cell_that_stands_twice_is_refused(tmp_path):
    found = problems(tmp_path, "sex,hour,count\nf,0,1\nf,0,2\n")
    assert found == [(3, "The cell is that of an earlier line.")]


def test_that_cells_without_a_line_are_refused(tmp_path):
    found = problems(tmp_path, "sex,hour,count\nf,0,1\nm,1,2\n")
    assert [sentence for _, sentence in found] == [
        "The cell sex f, hour 1 has no line.", "The cell sex m, hour 0 has no line.",
    ]  # fmt: skip


def test_that_many_missing_cells_are_counted(tmp_path):
    method = Subspace((Axis("cell", 100),), RELEASE, Fraction(1))
    found = problems(tmp_path, "cell,count\n0,1\n", method)
    assert found[-1][1] == "79 more cells have no line."


@pytest.mark.parametrize("count", ["-1", "1.5", "", "x"])
def test_that_a_count_that_is_none_is_refused(tmp_path, count):
    (found,) = problems(tmp_path, f"sex,hour,count\nf,0,{count}\n")
    assert found[0] == 2


def test_that_a_missing_column_is_named(tmp_path):
    (found,) = problems(tmp_path, "sex,count\nf,1\n")
    assert "'hour' is missing" in found[1]


def test_that_numbered_levels_are_read_as_written(tmp_path):
    method = Subspace((Axis("cell", 3),), RELEASE, Fraction(1))
    path = written(tmp_path, "cell,count\n2,30\n0,10\n1,20\n")
    assert np.array_equal(read_cell_counts(path, method), [10, 20, 30])
