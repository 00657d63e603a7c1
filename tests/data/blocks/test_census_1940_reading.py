from __future__ import annotations

import gzip

import pytest

from phexplore.data.blocks.census_1940_reading import looks_like_1940, read_census_1940
from phexplore.data.blocks.geocodes import ENUMERATION_DISTRICTS_1940
from phexplore.data.blocks.source import read_population
from phexplore.model.issues import InputProblemsError

H_WIDTHS = [
    1,
    4,
    2,
    8,
    2,
    2,
    10,
    4,
    1,
    8,
    2,
    5,
    2,
    2,
    2,
    4,
    1,
    1,
    3,
    4,
    4,
    5,
    2,
    5,
    3,
    3,
    3,
    1,
    1,
    3,
    2,
    1,
    1,
    2,
    4,
    7,
    2,
]
H_WIDTHS += [1, 1, 1, 1, 1, 2, 4, 3, 1, 1, 8, 4, 1, 8, 4, 1]
P_WIDTHS = [
    1,
    4,
    2,
    8,
    4,
    10,
    10,
    1,
    1,
    2,
    2,
    1,
    1,
    1,
    2,
    1,
    1,
    2,
    1,
    1,
    2,
    1,
    1,
    1,
    1,
    2,
    2,
    2,
    4,
    1,
    3,
    2,
    1,
    1,
    2,
    2,
    1,
]
P_WIDTHS += [
    3,
    1,
    3,
    3,
    5,
    3,
    5,
    3,
    5,
    1,
    1,
    2,
    4,
    1,
    1,
    1,
    2,
    3,
    2,
    3,
    1,
    2,
    1,
    4,
    3,
    4,
    3,
    1,
    2,
    2,
    1,
    2,
    1,
    3,
    3,
    3,
    3,
]
P_WIDTHS += [1, 6, 1, 2, 2, 3, 4, 4, 4, 1, 2, 3, 4, 1, 4, 3, 1, 1, 4, 1, 2, 1, 1, 1, 1, 36, 2, 1]
H_PLACES = {"serial": 3, "state": 14, "county": 15, "gq": 27, "gqtype": 28, "enumdist": 43, "supdist": 44}
P_PLACES = {"serial": 3, "sex": 29, "age": 30, "race": 36, "hispan": 38, "citizen": 47}


def record(letter, widths, places, values, delimiter):
    fields = ["0" * width for width in widths]
    fields[0], fields[1] = letter, "1940"
    for name, value in values.items():
        place = places[name]
        fields[place] = str(value).rjust(widths[place], "0")
    return delimiter.join(fields)


def household(serial, district=("44", "0010", "012", "0034"), gq=1, gqtype=0, delimiter=""):
    state, county, supdist, enumdist = district
    values = {"serial": serial, "state": state, "county": county, "gq": gq, "gqtype": gqtype}
    return record("H", H_WIDTHS, H_PLACES, {**values, "enumdist": enumdist, "supdist": supdist}, delimiter)


def person(serial, sex=1, age=30, race=1, hispan=0, citizen=0, delimiter=""):
    values = {"serial": serial, "sex": sex, "age": age, "race": race, "hispan": hispan, "citizen": citizen}
    return record("P", P_WIDTHS, P_PLACES, values, delimiter)


def write(path, *lines, end="\n"):
    path.write_text(end.join(lines) + end, "utf-8", newline="")
    return path


def problems(path):
    with pytest.raises(InputProblemsError) as caught:
        read_census_1940(path)
    return [(issue.line, issue.column, issue.sentence) for issue in caught.value.issues]


def test_that_our_lines_have_the_lengths_of_the_extract():
    assert (len(household(1)), len(person(1))) == (159, 273)
    assert (len(H_WIDTHS), len(P_WIDTHS)) == (53, 102)


@pytest.mark.parametrize("delimiter", ["", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_that_people_fall_into_their_district_and_cell(tmp_path, delimiter, end):
    lines = [
        household(1, delimiter=delimiter),
        person(1, delimiter=delimiter),
        person(1, sex=2, age=120, race=6, hispan=4, citizen=3, delimiter=delimiter),
        household(2, ("44", "0010", "012", "0035"), gq=3, gqtype=7, delimiter=delimiter),
        person(2, age=0, race=2, citizen=2, delimiter=delimiter),
    ]
    found = read_census_1940(write(tmp_path / "x.dat", *lines, end=end))
    assert found.layout is ENUMERATION_DISTRICTS_1940
    assert found.geoids.tolist() == ["4400100120034", "4400100120035"]
    assert sorted(
        (int(row), found.schema.cell_labels(int(cell))) for row, cell in zip(found.rows(), found.cells, strict=True)
    ) == [
        (
            0,
            (
                "Household",
                "Female",
                "115 or over",
                "Hispanic or Latino",
                "Other Asian or Pacific Islander",
                "Not a citizen",
            ),
        ),
        (0, ("Household", "Male", "30", "Not Hispanic or Latino", "White", "Citizen")),
        (1, ("College quarters", "Male", "0", "Not Hispanic or Latino", "Black", "Citizen")),
    ]
    assert found.facilities.tolist() == [[1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("gq", "gqtype", "level"),
    [
        (1, 0, 0),
        (3, 2, 1),
        (3, 3, 2),
        (3, 4, 3),
        (3, 6, 4),
        (3, 7, 5),
        (3, 8, 6),
        (1, 9, 0),
        (2, 9, 0),
        (5, 9, 0),
        (3, 9, 7),
        (4, 9, 7),
    ],
)
def test_that_quarters_are_recoded_as_production_does(tmp_path, gq, gqtype, level):
    found = read_census_1940(write(tmp_path / "x.dat", household(7, gq=gq, gqtype=gqtype), person(7)))
    inside = found.schema.cells // 8
    assert (found.cells // inside).tolist() == [level]
    assert found.facilities[0].tolist() == [int(kind == level) for kind in range(8)]


def test_that_households_may_stand_anywhere_and_files_may_be_compressed(tmp_path):
    path = tmp_path / "x.dat.gz"
    path.write_bytes(
        gzip.compress("\n".join([person(2), person(1), "", household(1), household(2), person(1)]).encode())
    )
    found = read_census_1940(path)
    assert found.total == 3
    assert found.counts.tolist() == [3]


def test_that_blank_characters_of_a_code_are_zeros(tmp_path):
    line = household(1)
    found = read_census_1940(write(tmp_path / "x.dat", line[:53] + "44  1" + line[58:], person(1)))
    assert found.geoids[0].startswith("44001")


def test_that_reading_in_pieces_changes_nothing(tmp_path, monkeypatch):
    lines = [
        line
        for n in range(1, 60)
        for line in (household(n, ("44", "0010", "001", f"{n % 7:04d}")), person(n), person(n, age=n))
    ]
    path = write(tmp_path / "x.dat", *lines)
    whole = read_census_1940(path)
    monkeypatch.setattr("phexplore.data.blocks.census_1940_reading.CHUNK_BYTES", 500)
    parts = read_census_1940(path)
    assert parts.geoids.tolist() == whole.geoids.tolist()
    assert (parts.cells.tolist(), parts.counts.tolist()) == (whole.cells.tolist(), whole.counts.tolist())
    bad = write(tmp_path / "y.dat", *lines, person(9, sex=3))
    assert [(line, column) for line, column, _ in problems(bad)] == [(len(lines) + 1, 73)]


@pytest.mark.parametrize(
    ("values", "column", "said"),
    [
        ({"sex": 3}, 73, "SEX does not lie between 1 and 2"),
        ({"age": 121}, 74, "AGE does not lie between 0 and 120"),
        ({"age": "x"}, 74, "AGE is not a number"),
        ({"race": 7}, 85, "RACE does not lie between 1 and 6"),
        ({"hispan": 5}, 89, "HISPAN does not lie between 0 and 4"),
        ({"citizen": 5}, 118, "CITIZEN does not lie between 0 and 4"),
        ({"serial": 9}, 8, "SERIAL is that of no household"),
    ],
)
def test_that_wrong_persons_are_reported_with_line_and_column(tmp_path, values, column, said):
    ((line, place, sentence),) = problems(
        write(tmp_path / "x.dat", household(1), person(1), person(**{"serial": 1, **values}))
    )
    assert (line, place) == (3, column)
    assert said in sentence


def test_that_columns_of_a_delimited_file_are_counted_between_bars(tmp_path):
    lines = [household(1, delimiter="|"), person(1, race=9, delimiter="|")]
    assert [(line, place) for line, place, _ in problems(write(tmp_path / "x.dat", *lines))] == [(2, 37)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (household(2, gqtype=5), "GQTYPE does not occur in 1940"),
        (household(2).replace("1940", "1930"), "YEAR does not lie between 1940 and 1940"),
        (household(2, ("44", "0010", "0?2", "0001")), "SUPDIST is not a code"),
        (household(1), "SERIAL is that of an earlier household"),
        (household(2)[:100], "The record H has 100 characters, not 131"),
        ("X" + household(2)[1:], "does not begin with H or P"),
        (household(2, gq=3, gqtype=2), "more group quarters of this type than people"),
    ],
)
def test_that_wrong_households_are_reported(tmp_path, line, said):
    found = problems(write(tmp_path / "x.dat", household(1), person(1), line))
    assert found[0][0] == 3
    assert said in found[0][2]


def test_that_a_delimited_record_with_a_missing_value_is_reported(tmp_path):
    path = write(tmp_path / "x.dat", household(1, delimiter="|"), person(1, delimiter="|").rpartition("|")[0])
    assert problems(path) == [(2, 101, "The record P has 101 values, not 102.")]


def test_that_households_alone_are_no_population(tmp_path):
    assert problems(write(tmp_path / "x.dat", household(1)))[0][2] == "The file has no person records."


def test_that_the_extract_is_recognised_by_its_first_line():
    assert looks_like_1940(household(1).encode())
    assert looks_like_1940(person(1, delimiter="|").encode())
    assert not looks_like_1940(b"HOUSE,1940\n")
    assert not looks_like_1940(b"geoid,pop_white\n")


@pytest.mark.parametrize("state", ["99", "00", "03"])
def test_that_a_code_of_no_state_is_reported(tmp_path, state):
    path = write(tmp_path / "c.dat", household(1, (state, "0010", "012", "0034")), person(1))
    assert problems(path)[0][:2] == (1, 54)
    assert "not the code of a state" in problems(path)[0][2]


@pytest.mark.parametrize("delimiter", ["", "|"])
def test_that_an_extract_of_another_year_is_named(tmp_path, delimiter):
    line = household(1, delimiter=delimiter).replace("1940", "1930", 1)
    with pytest.raises(InputProblemsError, match="year 1930; only 1940"):
        read_population(write(tmp_path / "c.dat", line, person(1, delimiter=delimiter)))
