from __future__ import annotations

import csv
import gzip
from collections import Counter

import pytest

from phexplore.data.blocks.layouts import (
    DEMONSTRATION_2010_PERSONS,
    PERSON_LAYOUTS,
    PL94_DEMONSTRATION_2021_UNITS,
    PL94_PERSONS,
    PL94_UNITS,
    UNIT_LAYOUTS,
    VALID_STATES,
    PersonLayout,
)
from phexplore.data.blocks.source import read_population
from phexplore.model.issues import InputProblemsError
from phexplore.workload.schema import load_schema

PERSON = dict(
    zip(
        PL94_PERSONS.columns,
        ["MPD", "1.1.0", "44", "001", "030100", "1", "1000", "0", "3", "0", "2", "1", "01"],
        strict=True,
    )
)
UNIT = dict(zip(PL94_UNITS.columns, ["MUD", "1.1.0", "44", "001", "030100", "1", "1000", "2", "1"], strict=True))
OLD = dict(
    zip(
        DEMONSTRATION_2010_PERSONS.columns,
        [*list(PERSON.values())[:7], "999999999", "3", "000", "99", "2", "115", "2", "63", "1", "9"],
        strict=True,
    )
)


def write(path, *records, delimiter="|", metadata=()):
    lines = [*metadata, delimiter.join(records[0]), *(delimiter.join(record.values()) for record in records)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def problems(path):
    with pytest.raises(InputProblemsError) as caught:
        read_population(path)
    return [(issue.line, issue.column, issue.sentence) for issue in caught.value.issues]


def test_that_a_record_falls_into_its_cell(tmp_path):
    record = {**PERSON, "RTYPE": "5", "GQTYPE_PL": "5", "VOTING_AGE": "1", "CENHISP": "2", "CENRACE": "63"}
    found = read_population(write(tmp_path / "p.txt", PERSON, record, record))
    assert found.geoids.tolist() == ["440010301001000"]
    labels = [found.schema.cell_labels(int(cell)) for cell in found.cells]
    assert labels == [
        ("Household", "18 and over", "Not Hispanic or Latino", "White alone"),
        (
            "College or university housing",
            "17 and under",
            "Hispanic or Latino",
            load_schema("pl94_persons").attributes[3].labels[-1],
        ),
    ]
    assert found.counts.tolist() == [1, 2]


def test_that_the_published_microdata_of_perry_county_is_counted_like_a_plain_reading_does(real_data):
    path = real_data / "blocks" / "ppmf_perry_al_20210428_eps12-2.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        expected = Counter(
            (
                row["TABBLKST"] + row["TABBLKCOU"] + row["TABTRACT"] + row["TABBLK"],
                ((int(row["GQTYPE_PL"]) * 2 + int(row["VOTING_AGE"]) - 1) * 2 + int(row["CENHISP"]) - 1) * 63
                + int(row["CENRACE"])
                - 1,
            )
            for row in csv.DictReader(file)
        )
    found = read_population(path)
    rows = found.geoids[found.rows()].tolist()
    assert dict(zip(zip(rows, found.cells.tolist(), strict=True), found.counts.tolist(), strict=True)) == expected
    assert (found.total, found.blocks) == (10_588, 511)
    assert len(set((found.cells % 63).tolist())) == 25
    assert found.counts[found.cells >= 2 * 2 * 63].sum() == 708


@pytest.mark.parametrize("delimiter", ["|", ",", "\t"])
def test_that_metadata_delimiter_order_and_further_columns_do_not_matter(tmp_path, delimiter):
    record = {"NOTE": "x", **dict(reversed(PERSON.items()))}
    metadata = ("# Classification: Simulated", "# Records: 2")
    found = read_population(write(tmp_path / "p.txt", record, record, delimiter=delimiter, metadata=metadata))
    assert found.total == 2


def test_that_records_in_any_order_of_blocks_are_added_up(tmp_path):
    other = {**PERSON, "TABBLKST": "01"}
    found = read_population(write(tmp_path / "p.txt", PERSON, other, PERSON, other, other))
    assert found.geoids.tolist() == ["010010301001000", "440010301001000"]
    assert found.counts.tolist() == [3, 2]


def test_that_codes_that_lost_their_zeros_are_the_same_codes(tmp_path):
    short = {**PERSON, "TABBLKCOU": "1", "TABTRACTCE": "30100", "CENRACE": "1"}
    assert read_population(write(tmp_path / "p.txt", PERSON, short)).counts.tolist() == [2]


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("TABBLKST", "03", "the code of a state"),
        ("TABBLKST", "x", "the code of a state"),
        ("TABBLKCOU", "841", "a code from 001 to 840"),
        ("TABBLKCOU", "0001", "a code from 001 to 840"),
        ("TABTRACTCE", "000099", "a code from 000100 to 998999"),
        ("TABBLKGRPCE", "2", "not the first digit of TABBLK."),
        ("TABBLK", "0000", "a code from 0001 to 9999"),
        ("RTYPE", "5", "does not fit the rest"),
        ("RTYPE", "", "does not fit the rest"),
        ("GQTYPE_PL", "8", "a code from 0 to 7"),
        ("VOTING_AGE", "0", "a code from 1 to 2"),
        ("CENHISP", "3", "a code from 1 to 2"),
        ("CENRACE", "64", "a code from 01 to 63"),
        ("CENRACE", "00", "a code from 01 to 63"),
        ("CENRACE", "1.", "a code from 01 to 63"),
    ],
)
def test_that_a_wrong_code_is_reported_once_with_line_and_column(tmp_path, column, value, said):
    bad = {**PERSON, column: value}
    path = write(tmp_path / "p.txt", PERSON, bad, PERSON, metadata=("# Created: today",))
    ((line, place, sentence),) = problems(path)
    assert (line, place) == (4, PL94_PERSONS.columns.index(column) + 1)
    assert said in sentence


def test_that_a_minor_in_a_nursing_facility_is_reported(tmp_path):
    bad = {**PERSON, "RTYPE": "5", "GQTYPE_PL": "3", "VOTING_AGE": "1"}
    ((line, _, sentence),) = problems(write(tmp_path / "p.txt", PERSON, bad))
    assert line == 3
    assert "nobody under 18 lives in a nursing facility" in sentence


def test_that_missing_columns_and_records_are_reported(tmp_path):
    fewer = {name: value for name, value in PERSON.items() if name not in {"CENRACE", "RTYPE"}}
    assert [sentence for _, _, sentence in problems(write(tmp_path / "p.txt", fewer))] == [
        "The column 'RTYPE' is missing.",
        "The column 'CENRACE' is missing.",
    ]
    (tmp_path / "p.txt").write_text("|".join(PERSON) + "\n", "utf-8")
    assert problems(tmp_path / "p.txt") == [(1, 0, "The file has no records.")]


def test_that_other_tables_are_no_microdata(tmp_path):
    assert "not a known header" in problems(write(tmp_path / "p.txt", {"a": "1", "b": "2"}))[0][2]


def test_that_a_cut_last_line_is_reported(tmp_path):
    path = write(tmp_path / "p.txt", PERSON, PERSON)
    path.write_text(path.read_text("utf-8")[:-4], "utf-8")
    assert problems(path) == [(3, 12, "The line has 12 values, the header 13.")]


def test_that_units_are_counted_by_status_and_quarters_apart(tmp_path):
    vacant, quarters = {**UNIT, "HH_STATUS": "2"}, {**UNIT, "RTYPE": "4", "HH_STATUS": "0"}
    elsewhere = {**UNIT, "TABBLK": "1001"}
    found = read_population(write(tmp_path / "u.txt", UNIT, UNIT, vacant, quarters, quarters, elsewhere))
    assert found.schema.id == "pl94_units"
    assert found.dense(0, 2).tolist() == [[1, 2], [0, 1]]
    assert found.housing.tolist() == [[1, 2], [0, 1]]
    assert found.facilities.tolist() == [[3, 2], [1, 0]]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"HH_STATUS": "3"}, "HH_STATUS is not 0 (group quarters), 1 (occupied) or 2 (vacant)"),
        ({"HH_STATUS": "0"}, "RTYPE does not fit"),
        ({"RTYPE": "4"}, "RTYPE does not fit"),
    ],
)
def test_that_contradictory_units_are_reported(tmp_path, changes, said):
    ((line, _, sentence),) = problems(write(tmp_path / "u.txt", UNIT, {**UNIT, **changes}))
    assert line == 3
    assert said in sentence


def test_that_persons_of_the_2010_demonstration_keep_age_sex_and_citizenship(tmp_path):
    facility = {**OLD, "RTYPE": "5", "GQTYPE": "701", "QSEX": "1", "QAGE": "40", "CITIZEN": "2"}
    found = read_population(write(tmp_path / "p.txt", OLD, facility))
    assert [found.schema.cell_labels(int(cell))[:3] for cell in found.cells] == [
        ("Household", "Female", "115 or over"),
        ("Other noninstitutional facilities", "Male", "40"),
    ]
    assert [found.schema.cell_labels(int(cell))[5] for cell in found.cells] == ["Citizen", "Not a citizen"]


def test_that_every_layout_covers_its_schema():
    for layout in (each for each in PERSON_LAYOUTS if isinstance(each, PersonLayout)):
        schema = load_schema(layout.schema)
        assert [column.attribute for column in layout.attributes] == [a.name for a in schema.attributes]
        for column, attribute in zip(layout.attributes, schema.attributes, strict=True):
            assert sorted(column.levels.values()) == list(range(attribute.levels))
        assert set(layout.needed) <= set(layout.columns)
    assert len(VALID_STATES) == 52
    assert [len(layout.columns) for layout in (*PERSON_LAYOUTS, *UNIT_LAYOUTS)] == [13, 11, 17, 16, 9, 8, 27]


@pytest.mark.defect("D10")
def test_that_units_of_april_2021_are_units(tmp_path):
    values = dict(zip(PL94_UNITS.columns, UNIT.values(), strict=True))
    renamed = {"TABTRACT": "TABTRACTCE", "TABBLKGRP": "TABBLKGRPCE"}
    columns = PL94_DEMONSTRATION_2021_UNITS.columns
    record = {name: "20210428" if name == "VINTAGE" else values[renamed.get(name, name)] for name in columns}
    vacant = {**record, "HH_STATUS": "2"}
    found = read_population(write(tmp_path / "u.csv", record, vacant, delimiter=","))
    assert found.schema.id == "pl94_units"
    assert found.geoids.tolist() == ["440010301001000"]
    assert found.counts.tolist() == [1, 1]
