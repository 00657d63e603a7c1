from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from phexplore.data.regions.counties import GROUPS, read_counties_2010
from phexplore.data.regions.table_file import BLANK
from phexplore.model.issues import InputProblemsError

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "counties" / "counties_2010.csv"
PEOPLE, ADULTS = [f"pop_{group}" for group in GROUPS], [f"vap_{group}" for group in GROUPS]
HEADER = ",".join(["fips", "state_name", "name", "pop", *PEOPLE, "vap", *ADULTS, "households", "gq_pop"])
AUTAUGA = "01001,Alabama,Autauga County,36,1,2,3,4,5,6,7,8,8,1,1,1,1,1,1,1,1,20,3"
BALDWIN = "01003,Alabama,Baldwin County,8,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,,"


def table(tmp_path, *lines, header=HEADER):
    path = tmp_path / "counties.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def problems(path):
    with pytest.raises(InputProblemsError) as caught:
        read_counties_2010(path)
    return caught.value.issues


def test_that_counties_are_read_in_code_order_with_unknown_counts_marked(tmp_path):
    counties = read_counties_2010(table(tmp_path, BALDWIN, AUTAUGA))
    assert counties.fips.tolist() == ["01001", "01003"]
    assert counties.names == ("Autauga County", "Baldwin County")
    assert counties.groups[0].tolist() == [[0, 1, 2, 3, 4, 5, 6, 7], [1] * 8]
    assert counties.households.tolist() == [20, BLANK]
    assert counties.group_quarters.tolist() == [3, BLANK]
    assert counties.of_state("01").tolist() == [0, 1]
    assert len(counties.of_state("02")) == 0


def test_that_every_bad_field_is_listed_with_line_and_column(tmp_path):
    found = problems(
        table(
            tmp_path,
            AUTAUGA.replace("01001", "1001").replace(",20,", ",many,"),
            BALDWIN,
            "",
            BALDWIN.replace("8,1,1", "8,-1,1"),
        )
    )
    assert [(issue.line, issue.column) for issue in found] == [(2, 1), (2, 22), (5, 1), (5, 5)]
    assert "not a whole number" in found[1].sentence
    assert "earlier line" in found[2].sentence


@pytest.mark.parametrize(
    ("line", "column"),
    [
        (AUTAUGA.replace(",36,", ",37,"), "pop"),
        (AUTAUGA.replace(",8,8,1", ",8,9,1"), "vap"),
        (AUTAUGA.replace(",8,8,1,1", ",8,9,2,1"), "vap_white"),
        (AUTAUGA.replace(",20,3", ",20,37"), "gq_pop"),
    ],
)
def test_that_counts_that_contradict_each_other_are_refused(tmp_path, line, column):
    found = problems(table(tmp_path, line))
    assert [issue.column for issue in found] == [HEADER.split(",").index(column) + 1]


def test_that_missing_columns_and_short_lines_and_empty_tables_are_said(tmp_path):
    assert "gq_pop" in problems(table(tmp_path, AUTAUGA, header=HEADER.replace(",gq_pop", ",other")))[0].sentence
    assert problems(table(tmp_path, AUTAUGA[:-4]))[0].line == 2
    assert "no row" in problems(table(tmp_path))[0].sentence
    assert "cannot be read" in problems(tmp_path / "absent.csv")[0].sentence


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.exists(), reason="the census data folder does not stand beside the checkout")
def test_that_the_real_counties_add_up_to_the_published_nation():
    counties = read_counties_2010(REAL)
    assert len(counties) == 3143
    assert counties.population.sum() == 308_745_538
    assert counties.groups[:, 1].sum() == 234_564_071
    assert counties.groups[:, :, -1].sum() == 50_477_594
    illinois = counties.of_state("17")
    assert (len(illinois), counties.population[illinois].sum()) == (102, 12_830_632)
    assert counties.fips[counties.households == BLANK].tolist() == ["51019", "51515"]
    assert np.unique(counties.states).size == 51
