from __future__ import annotations

import gzip
import random

import pytest
from population_files import (
    ALONE,
    MARRIED,
    column_place,
    csv_text,
    tiny_population,
    with_value,
    write_csv,
    write_parquet,
)

from phexplore.data.problems import LISTED_PER_RULE, Phase
from phexplore.data.validation import PRIVACY_NOTE, check_data, load_data
from phexplore.model.issues import InputProblemsError, Severity


def _places(report):
    return [(issue.path[-1], issue.line, issue.column) for issue in report.issues]


def test_that_a_clean_population_has_no_issue_and_is_counted(tmp_path):
    report = check_data(write_csv(tmp_path))
    assert report.issues == ()
    assert report.reached is Phase.RECORDS
    counts = report.counts
    assert (counts.persons, counts.household_persons, counts.households) == (8, 6, 3)
    assert (counts.vacant_units, counts.group_quarters, counts.states) == (1, 1, ("09", "44"))


def test_that_the_report_says_it_is_outside_the_privacy_guarantee(tmp_path):
    assert check_data(write_csv(tmp_path)).note == PRIVACY_NOTE
    assert "privacy guarantee does not cover" in PRIVACY_NOTE


@pytest.mark.parametrize("storage", ["csv", "text parquet", "integer parquet"])
def test_that_every_storage_gives_the_same_codes(tmp_path, storage):
    write = {
        "csv": write_csv,
        "text parquet": write_parquet,
        "integer parquet": lambda path: write_parquet(path, integers=True),
    }[storage]
    data = load_data(write(tmp_path))
    rows = tiny_population()
    for frame, table in (("persons", data.persons), ("units", data.units), ("geo", data.geo)):
        for column in type(table).DTYPES:
            expected = [int(row[column_place(frame, column.upper())]) for row in rows[frame]]
            assert getattr(table, column).tolist() == expected, (frame, column)


TYPE_PROBLEMS = [("persons", 1, "MAFID", "1e8"), ("persons", 7, "QAGE", "4.5"), ("units", 0, "FINAL_POP", "three")]
VALUE_PROBLEMS = [
    ("persons", 0, "RTYPE", "2"),
    ("persons", 2, "MAFID", "100000000"),
    ("persons", 2, "QAGE", "116"),
    ("persons", 3, "CENHISP", "3"),
    ("persons", 4, "CENRACE", "64"),
    ("persons", 4, "CENRACE", "1"),
    ("persons", 5, "RELSHIP", ""),
    ("persons", 5, "QAGE", ""),
    ("units", 0, "NPF", "1"),
    ("units", 4, "TEN", "5"),
    ("units", 4, "HHT2", "13"),
    ("geo", 1, "TABTRACTCE", "12345"),
    ("geo", 1, "REGIONCE", "5"),
    ("geo", 4, "AIANNHCE", "99x9"),
]


@pytest.mark.parametrize(("frame", "row", "column", "value"), TYPE_PROBLEMS)
def test_that_a_value_of_the_wrong_type_fails_the_first_phase_with_its_place(tmp_path, frame, row, column, value):
    report = check_data(write_csv(tmp_path, with_value(frame, row, column, value)))
    assert report.reached is Phase.TYPES
    assert _places(report) == [(f"{frame}.csv", row + 2, column_place(frame, column) + 1)]
    assert value not in report.issues[0].sentence


@pytest.mark.parametrize(("frame", "row", "column", "value"), VALUE_PROBLEMS)
def test_that_an_illegal_value_fails_the_second_phase_with_its_place(tmp_path, frame, row, column, value):
    report = check_data(write_csv(tmp_path, with_value(frame, row, column, value)))
    assert report.reached is Phase.VALUES
    assert _places(report) == [(f"{frame}.csv", row + 2, column_place(frame, column) + 1)]
    assert report.issues[0].sentence == f"{column} is not a legal value."
    assert report.issues[0].remedy.startswith("Legal: ")


def test_that_a_failing_phase_is_the_last_one_and_lists_all_files(tmp_path):
    population = with_value("persons", 0, "QAGE", "x")
    with_value("units", 0, "FINAL_POP", "y", population)
    with_value("geo", 0, "REGIONCE", "7", population)
    report = check_data(write_csv(tmp_path, population))
    assert report.reached is Phase.TYPES
    assert [issue.path[0] for issue in report.issues] == ["persons.csv", "units.csv"]


def test_that_blank_lines_are_skipped_and_lines_stay_true(tmp_path):
    write_csv(tmp_path)
    lines = csv_text("persons", with_value("persons", 3, "RELSHIP", "99")["persons"]).splitlines()
    (tmp_path / "persons.csv").write_text("\n".join([*lines[:2], "", "", *lines[2:]]) + "\n", encoding="utf-8")
    assert _places(check_data(tmp_path)) == [("persons.csv", 7, 6)]


KEY_PROBLEMS = {
    "unit twice": (lambda p: p["units"].append(p["units"][0]), "units.csv", 7, "occurs more than once"),
    "geography twice": (lambda p: p["geo"].append(p["geo"][2]), "geo.csv", 7, "occurs more than once"),
    "person without unit": (
        lambda p: p["persons"].append(["3", "100000099", "1", "1", "01", "20"]), "persons.csv", 10, "not in units.csv"
    ),
    "geography without unit": (
        lambda p: p["geo"].append(["2", "100000099", *p["geo"][0][2:]]), "geo.csv", 7, "not in units.csv"
    ),
    "unit without geography": (lambda p: p["geo"].pop(0), "units.csv", 2, "not in geo.csv"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KEY_PROBLEMS)
def test_that_broken_keys_fail_the_third_phase(tmp_path, kind):
    change, file, line, words = KEY_PROBLEMS[kind]
    population = tiny_population()
    change(population)
    report = check_data(write_csv(tmp_path, population))
    assert report.reached is Phase.KEYS
    assert _places(report) == [(file, line, 2)]
    assert words in report.issues[0].sentence


@pytest.mark.parametrize("code", ["00", "03", "52", "57", "60", "78", "99"])
def test_that_without_a_filter_every_state_code_must_be_a_state(tmp_path, code):
    report = check_data(write_csv(tmp_path, with_value("geo", 0, "TABBLKST", code)))
    assert report.reached is Phase.KEYS
    assert _places(report) == [("geo.csv", 2, 3)]


def test_that_keys_are_checked_on_the_data_left_by_the_state_filter(tmp_path):
    population = tiny_population()
    population["units"].append(population["units"][0])  # a repeated unit, in state 44 only
    write_csv(tmp_path, population)
    assert check_data(tmp_path, ("44",)).reached is Phase.KEYS
    report = check_data(tmp_path, ("09",))
    assert report.issues == ()
    assert (report.counts.persons, report.counts.states) == (4, ("09",))


def test_that_lines_stay_true_behind_a_state_filter(tmp_path):
    population = tiny_population()
    population["units"].append(population["units"][4])
    assert _places(check_data(write_csv(tmp_path, population), ("09",))) == [("units.csv", 7, 2)]


def test_that_loading_restricts_to_the_states(tmp_path):
    data = load_data(write_csv(tmp_path), ("44",))
    assert data.persons.mafid.tolist() == [int(MARRIED)] * 3 + [int(ALONE)]
    assert (len(data.units), len(data.geo)) == (3, 3)


def test_that_a_state_without_data_is_a_warning(tmp_path):
    report = check_data(write_csv(tmp_path), ("06",))
    assert [issue.severity for issue in report.issues] == [Severity.WARNING]
    assert "06" in report.issues[0].sentence


def test_that_loading_refuses_with_every_problem(tmp_path):
    population = with_value("persons", 0, "QAGE", "200")
    with_value("geo", 1, "REGIONCE", "8", population)
    with pytest.raises(InputProblemsError) as caught:
        load_data(write_csv(tmp_path, population))
    assert [issue.place for issue in caught.value.issues] == ["persons.csv:2:3", "geo.csv:3:8"]


def test_that_repeats_of_one_problem_are_cut_and_counted(tmp_path):
    population = tiny_population()
    population["persons"] = [["3", MARRIED, "200", "1", "01", "20"]] * (LISTED_PER_RULE + 7)
    report = check_data(write_csv(tmp_path, population))
    assert len(report.issues) == LISTED_PER_RULE + 1
    assert report.errors == LISTED_PER_RULE + 7
    assert "7 more problems" in report.issues[-1].sentence
    assert report.issues[LISTED_PER_RULE - 1].line == LISTED_PER_RULE + 1


# Whole files that are bad, and what must be said about them: change the file, then phase, place and words.
def _replace(old, new):
    return lambda text: text.replace(old, new)


BAD_FILES = {
    "bars": (_replace(",", "|"), Phase.FILES, 1, 6, "not by a comma"),
    "semicolons": (_replace(",", ";"), Phase.FILES, 1, 6, "not by a comma"),
    "no header": (lambda text: text.split("\n", 1)[1], Phase.FILES, 1, 1, "no header"),
    "empty": (lambda _: "", Phase.FILES, 1, 1, "is empty"),
    "missing column": (lambda text: text.replace("QAGE,", "", 1), Phase.FILES, 1, 3, "QAGE is missing"),
    "unexpected column": (lambda text: text.replace("RELSHIP", "RELSHIP,SEX", 1), Phase.FILES, 1, 7, "'SEX'"),
    "double column": (lambda text: text.replace("RELSHIP", "QAGE", 1), Phase.FILES, 1, 6, "occurs twice"),
    "other order": (
        lambda text: text.replace("RTYPE,MAFID", "MAFID,RTYPE", 1), Phase.FILES, 1, 1, "another order"
    ),
    "lower case": (lambda text: text.replace("RTYPE", "rtype", 1), Phase.FILES, 1, 1, "'rtype'"),
    "value too many": (lambda text: text + "3,100000001,1,1,01,20,9\n", Phase.FILES, 10, 6, "7 values, not 6"),
    "cut off": (lambda text: text.rstrip("\n")[:-9], Phase.FILES, 9, 3, "3 values, not 6"),
    "open quote": (lambda text: text + '3,100000001,1,1,"01,20\n', Phase.FILES, 10, 1, "cannot be split"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_FILES)
def test_that_a_bad_file_is_told_with_its_place(tmp_path, kind):
    change, phase, line, column, words = BAD_FILES[kind]
    write_csv(tmp_path)
    path = tmp_path / "persons.csv"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    report = check_data(tmp_path)
    assert report.reached is phase
    assert words in report.issues[0].sentence
    assert (report.issues[0].path, report.issues[0].line, report.issues[0].column) == (("persons.csv",), line, column)
    assert report.issues[0].remedy


def test_that_bytes_that_are_no_utf8_are_told_with_line_and_byte(tmp_path):
    write_csv(tmp_path)
    with (tmp_path / "persons.csv").open("ab") as file:
        file.write(b"3,100000001,1,1,01,2\xff\n")
    assert _places(check_data(tmp_path)) == [("persons.csv", 10, 21)]


def test_that_a_header_that_is_no_utf8_is_told(tmp_path):
    write_csv(tmp_path)
    (tmp_path / "geo.csv").write_bytes("RTYPE,MAFID".encode("utf-16"))
    report = check_data(tmp_path)
    assert (report.reached, report.issues[0].path) == (Phase.FILES, ("geo.csv",))
    assert "not UTF-8" in report.issues[0].sentence


def test_that_a_compressed_file_under_a_plain_name_is_told(tmp_path):
    write_csv(tmp_path)
    path = tmp_path / "units.csv"
    path.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    report = check_data(tmp_path)
    assert (report.reached, report.issues[0].path) == (Phase.FILES, ("units.csv",))


def test_that_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path):
    write_csv(tmp_path)
    path = tmp_path / "persons.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert check_data(tmp_path).issues == ()


def test_that_a_file_with_a_header_only_is_an_empty_table(tmp_path):
    population = tiny_population()
    population["persons"] = []
    for place, column in ((2, "FINAL_POP"), *enumerate(("NPF", "HHSPAN", "HHRACE", "TEN", "HHT", "HHT2", "CPLT"), 3)):
        for row in population["units"]:
            row[place] = "00" if column in {"HHRACE", "HHT2"} else "0"
    write_csv(tmp_path, population)
    report = check_data(tmp_path)
    assert report.errors == 0
    assert "no persons" in report.issues[0].sentence
    path = tmp_path / "persons.csv"
    path.write_text(path.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    assert check_data(tmp_path).errors == 0


@pytest.mark.parametrize("bytes_left", [0, 3, 40, -20])
def test_that_a_truncated_parquet_file_is_told(tmp_path, bytes_left):
    write_parquet(tmp_path)
    path = tmp_path / "units.parquet"
    path.write_bytes(path.read_bytes()[:bytes_left])
    report = check_data(tmp_path)
    assert (report.reached, report.issues[0].path) == (Phase.FILES, ("units.parquet",))
    assert "cannot be read as Parquet" in report.issues[0].sentence


def test_that_parquet_columns_are_checked_by_name_and_type(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    write_parquet(tmp_path)
    table = (
        parquet.read_table(tmp_path / "persons.parquet").drop_columns("CENHISP").append_column("SEX", pa.array([1] * 8))
    )
    parquet.write_table(table, tmp_path / "persons.parquet")
    report = check_data(tmp_path)
    assert report.reached is Phase.FILES
    assert [issue.sentence for issue in report.issues] == [
        "Column 'SEX' is not expected.",
        "Column CENHISP is missing.",
    ]

    write_parquet(tmp_path)
    table = parquet.read_table(tmp_path / "units.parquet")
    table = table.set_column(2, "FINAL_POP", table.column("FINAL_POP").cast(pa.float64()))
    parquet.write_table(table, tmp_path / "units.parquet")
    report = check_data(tmp_path)
    assert report.reached is Phase.TYPES
    assert report.issues[0].sentence == "Column FINAL_POP holds double, not int."


def test_that_the_order_of_parquet_columns_does_not_matter(tmp_path):
    from pyarrow import parquet

    write_parquet(tmp_path)
    table = parquet.read_table(tmp_path / "persons.parquet")
    parquet.write_table(table.select(table.column_names[::-1]), tmp_path / "persons.parquet")
    assert check_data(tmp_path).issues == ()


@pytest.mark.parametrize(("column", "value"), [("QAGE", 116), ("QAGE", None), ("RELSHIP", 19), ("MAFID", -(2**40))])
def test_that_illegal_parquet_values_are_told_by_record(tmp_path, column, value):
    import pyarrow as pa
    from pyarrow import parquet

    write_parquet(tmp_path, integers=True)
    table = parquet.read_table(tmp_path / "persons.parquet")
    place = table.column_names.index(column)
    values = [*table.column(column).to_pylist()[:-1], value]
    parquet.write_table(table.set_column(place, column, pa.array(values)), tmp_path / "persons.parquet")
    report = check_data(tmp_path)
    assert report.reached is Phase.VALUES
    assert _places(report) == [("persons.parquet", 8, place + 1)]


def test_that_parquet_may_be_a_directory_of_parts(tmp_path):
    from pyarrow import parquet

    write_parquet(tmp_path)
    table = parquet.read_table(tmp_path / "persons.parquet")
    (tmp_path / "persons.parquet").unlink()
    (tmp_path / "persons.parquet").mkdir()
    parquet.write_table(table.slice(0, 3), tmp_path / "persons.parquet" / "part-0.parquet")
    parquet.write_table(table.slice(3), tmp_path / "persons.parquet" / "part-1.parquet")
    (tmp_path / "persons.parquet" / "_SUCCESS").touch()
    assert load_data(tmp_path).persons.qage.tolist() == table.column("QAGE").to_pylist()


def test_that_progress_is_told_in_words(tmp_path):
    told = []
    check_data(write_csv(tmp_path), progress=told.append)
    assert told == [
        "Reading persons.csv",
        "Reading units.csv",
        "Reading geo.csv",
        "Matching records",
        "Comparing columns",
    ]


@pytest.mark.parametrize("write", [write_csv, write_parquet])
@pytest.mark.parametrize("frame", ["persons", "units", "geo"])
def test_that_damaged_bytes_give_issues_and_never_another_failure(tmp_path, write, frame):
    """120 damages a file: bytes changed, left out, doubled or cut off. Nothing but a report may come out."""
    suffix = "csv" if write is write_csv else "parquet"
    path = write(tmp_path) / f"{frame}.{suffix}"
    intact, chance = path.read_bytes(), random.Random(f"{frame}{suffix}")
    for _ in range(120):
        content = bytearray(intact)
        for _ in range(chance.choice([1, 1, 2, 20])):
            place = chance.randrange(len(content))
            match chance.randrange(4):
                case 0:
                    content[place] = (
                        chance.choice(b',|";\n\r\x00\xff \t09a-') if suffix == "csv" else chance.randrange(256)
                    )
                case 1:
                    del content[place : place + chance.randrange(1, 30)]
                case 2:
                    content[place:place] = content[place : place + chance.randrange(1, 30)]
                case _:
                    del content[max(place, 1) :]
            if not content:
                content = bytearray(intact[:1])
        path.write_bytes(content)
        report = check_data(tmp_path)
        assert all(issue.sentence and issue.remedy for issue in report.issues)
        if report.reached < Phase.RECORDS:
            assert report.errors > 0
