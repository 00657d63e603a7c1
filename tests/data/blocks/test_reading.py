from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from phexplore.data.blocks.reading import GROUPS
from phexplore.data.blocks.source import read_population
from phexplore.model.issues import InputProblemsError

HEADER = ["geoid", "pop", *(f"pop_{g}" for g in GROUPS), "vap", *(f"vap_{g}" for g in GROUPS), "place"]
GOOD = ["440010301001000", "15", *"12345000", "7", *"11122000", "4419"]
SECOND = ["440010301001001", *GOOD[1:-1], ""]


def write(path, *rows, header=HEADER):
    path.write_text("\n".join(",".join(row) for row in (header, *rows)) + "\n", "utf-8")
    return path


def problems(path):
    with pytest.raises(InputProblemsError) as caught:
        read_population(path)
    return [(issue.line, issue.column, issue.sentence) for issue in caught.value.issues]


def changed(column, value, row=GOOD):
    return [value if name == column else old for name, old in zip(HEADER, row, strict=True)]


def test_that_a_block_file_is_read_cell_by_cell(tmp_path):
    blocks = read_population(write(tmp_path / "b.csv", SECOND, GOOD))
    assert blocks.geoids.tolist() == ["440010301001000", "440010301001001"]
    assert blocks.dense(0, 1).tolist() == [[0, 1, 2, 2, 3, 0, 0, 0, 1, 1, 1, 2, 2, 0, 0, 0]]
    assert blocks.places["place"].tolist() == ["4419", ""]


def test_that_real_blocks_equal_a_plain_reading_of_the_file(rhode_island, real_data):
    with gzip.open(real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["geoid"])
    expected = np.array(
        [
            [int(row[f"pop_{g}"]) - int(row[f"vap_{g}"]) for g in GROUPS] + [int(row[f"vap_{g}"]) for g in GROUPS]
            for row in rows
        ]
    )
    assert (rhode_island.dense(0, rhode_island.blocks) == expected).all()
    assert rhode_island.geoids.tolist() == [row["geoid"] for row in rows]
    for kind in ("place", "cousub", "zcta", "aiannh"):
        assert rhode_island.places[kind].tolist() == [row[kind] for row in rows]


def test_that_rhode_island_has_its_published_counts(rhode_island):
    table = rhode_island.dense(0, rhode_island.blocks)
    assert rhode_island.blocks == 25_181
    assert table.sum() == 1_052_567
    assert table[:, 8:].sum() == 828_611
    assert table[rhode_island.places["cousub"] == "4400759000"].sum() == 178_042  # Providence city


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_that_line_ends_marks_and_blank_lines_do_not_matter(tmp_path, end, mark):
    path = tmp_path / "b.csv"
    text = end.join([",".join(HEADER), ",".join(GOOD), "", ",".join(SECOND), "", ""])
    path.write_bytes((mark + text).encode())
    assert read_population(path).total == 30


def test_that_surrounding_blanks_and_whole_decimals_are_read(tmp_path):
    row = changed("pop_white", " 2.0 ", changed("geoid", " 440010301001000"))
    assert read_population(write(tmp_path / "b.csv", row)).total == 15


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("geoid", "44001030100100", "is not a block code of 15 digits"),
        ("geoid", "44001030100100A", "is not a block code of 15 digits"),
        ("geoid", "٤٤٠٠١٠٣٠١٠٠١٠٠٠", "is not a block code of 15 digits"),
        ("pop_white", "-2", "is not a whole number from 0 to 10,000,000"),
        ("pop_white", "0x2", "is not a whole number"),
        ("pop_white", "2.5", "is not a whole number"),
        ("pop_white", "", "is not a whole number"),
        ("pop_white", "99999999", "is not a whole number"),
        ("vap_white", "3", "is larger than pop_white."),
        ("pop", "16", "is not the sum of its eight groups."),
        ("vap", "6", "is not the sum of its eight groups."),
    ],
)
def test_that_a_wrong_value_is_reported_with_line_and_column(tmp_path, column, value, said):
    found = problems(write(tmp_path / "b.csv", SECOND, changed(column, value)))
    assert {line for line, _, _ in found} == {3}
    assert [said in sentence for _, place, sentence in found if place == HEADER.index(column) + 1] == [True]


def test_that_lines_are_counted_over_blank_ones(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("\n".join([",".join(HEADER), "", ",".join(GOOD), "", ",".join(changed("geoid", "1"))]), "utf-8")
    assert [line for line, _, _ in problems(path)] == [5]


def test_that_all_problems_are_listed_at_once(tmp_path):
    rows = [changed("pop_black", "x"), changed("geoid", "y", SECOND), changed("vap_two", "z")]
    assert [(line, column) for line, column, _ in problems(write(tmp_path / "b.csv", *rows))] == [
        (2, HEADER.index("pop_black") + 1),
        (3, 1),
        (4, HEADER.index("vap_two") + 1),
    ]


def test_that_thousands_of_problems_are_cut_and_counted(tmp_path):
    rows = [changed("pop_black", "x", changed("geoid", f"44001030100{n:04d}")) for n in range(1, 1502)]
    found = problems(write(tmp_path / "b.csv", *rows))
    assert len(found) == 1001
    assert found[-1][2] == "501 further problems are not listed."


def test_that_a_block_named_twice_is_reported(tmp_path):
    found = problems(write(tmp_path / "b.csv", GOOD, SECOND, GOOD))
    assert found == [(4, 1, "geoid is that of an earlier line.")]


def test_that_missing_columns_are_named(tmp_path):
    found = problems(write(tmp_path / "b.csv", ["440010301001000", "5"], header=["geoid", "pop_white"]))
    assert len(found) == 15
    assert found[0] == (1, 0, "The column 'pop_hisp' is missing.")


def test_that_a_column_named_twice_is_refused(tmp_path):
    found = problems(write(tmp_path / "b.csv", [*GOOD, "1"], header=[*HEADER, "pop_white"]))
    assert found == [(1, len(HEADER) + 1, "Two columns have the same name.")]


def test_that_lines_with_another_number_of_values_are_all_listed(tmp_path):
    found = problems(write(tmp_path / "b.csv", GOOD, GOOD[:-1], [*GOOD, "1"], SECOND))
    assert [(line, sentence) for line, _, sentence in found] == [
        (3, "The line has 19 values, the header 20."),
        (4, "The line has 21 values, the header 20."),
    ]


def test_that_bytes_that_are_no_text_are_located(tmp_path):
    path = tmp_path / "b.csv"
    path.write_bytes(",".join(HEADER).encode() + b"\n" + ",".join(GOOD[:-1]).encode() + b",\xff\n")
    assert problems(path)[0][:2] == (2, 20)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only a remark\n"])
def test_that_an_empty_file_is_refused(tmp_path, content):
    path = tmp_path / "b.csv"
    path.write_bytes(content)
    assert "empty" in problems(path)[0][2]


def test_that_a_header_alone_is_refused(tmp_path):
    assert problems(write(tmp_path / "b.csv")) == [(1, 0, "The file has no blocks.")]


def test_that_a_missing_file_is_refused(tmp_path):
    assert "cannot be read" in problems(tmp_path / "none.csv")[0][2]


def test_that_a_cut_archive_is_refused(tmp_path):
    path = tmp_path / "b.csv.gz"
    whole = gzip.compress(
        write(tmp_path / "b.csv", *[changed("geoid", f"44001030100{n:04d}") for n in range(1, 500)]).read_bytes()
    )
    path.write_bytes(whole[:-40])
    assert "damaged" in problems(path)[0][2]


def test_that_codes_that_all_lost_their_leading_zero_get_it_back(tmp_path):
    rows = [changed("geoid", code) for code in ("4001000100100", "4001000100101")]
    arizona = [[f"{row[0]}1", *row[1:]] for row in rows]
    found = read_population(write(tmp_path / "b.csv", *arizona))
    assert found.geoids.tolist() == ["040010001001001", "040010001001011"]
    assert any("leading zero" in remark for remark in found.remarks)


def test_that_one_code_without_its_zero_is_a_problem(tmp_path):
    """Among whole codes it may as well be one that lost its last digit."""
    assert problems(write(tmp_path / "b.csv", GOOD, changed("geoid", "40010001001001")))[0][:2] == (3, 1)
    no_state = [changed("geoid", "30010001001001")]  # there is no state 03
    assert problems(write(tmp_path / "c.csv", *no_state))[0][:2] == (2, 1)


def test_that_headers_in_capitals_are_the_same(tmp_path):
    path = write(tmp_path / "b.csv", GOOD, header=[name.upper() for name in HEADER])
    assert (
        read_population(path).dense(0, 1).tolist()
        == read_population(write(tmp_path / "c.csv", GOOD)).dense(0, 1).tolist()
    )


@pytest.mark.parametrize("column", ["NAME", "place"])
def test_that_a_quotation_mark_cannot_swallow_lines(tmp_path, column):
    """In a column that is not even read; the lines behind it would be missing from every count."""
    header = [*HEADER, "NAME"]
    rows = [[f"44001030100100{number}", *GOOD[1:], "Newport"] for number in range(6)]
    rows[2][header.index(column)] = '"New'
    rows[4][header.index(column)] = 'port"'
    found = problems(write(tmp_path / "b.csv", *rows, header=header))
    assert (4, header.index(column) + 1) in {(line, place) for line, place, _ in found}
    assert "quotation mark" in found[0][2]


def test_that_quoted_values_on_one_line_are_read(tmp_path):
    rows = [[f"44001030100100{number}", *GOOD[1:], '"Newport, ""old"" part"'] for number in range(3)]
    assert read_population(write(tmp_path / "b.csv", *rows, header=[*HEADER, "NAME"])).blocks == 3


def test_that_values_instead_of_a_header_are_named(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text(",".join(GOOD) + "\n", "utf-8")
    with pytest.raises(InputProblemsError, match="contains values") as caught:
        read_population(path)
    assert caught.value.issues[0].line == 1
