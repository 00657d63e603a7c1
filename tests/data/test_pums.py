from __future__ import annotations

import csv
import gzip
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from phexplore.data.description import describe_data
from phexplore.data.provenance import read_provenance
from phexplore.data.pums import convert_pums
from phexplore.data.source import Storage
from phexplore.data.validation import check_data, load_data
from phexplore.errors import PhexploreError
from phexplore.model.issues import InputProblemsError

RACES = dict(enumerate((c for size in range(1, 7) for c in combinations("WBIANS", size)), start=1))
"""The letters of the major races behind each code 1-63, as the technical documentation numbers them."""


COLUMNS = [
    "SERIALNO",
    "SPORDER",
    "ST",
    "PWGTP",
    "AGEP",
    "SEX",
    "RELP",
    "HISP",
    "RACWHT",
    "RACBLK",
    "RACAIAN",
    "RACASN",
    "RACNH",
    "RACPI",
    "RACSOR",
]


def _person(serial, relp, age, sex=1, *, order=1, weight=1, state="44", hisp="01", races="W"):
    flags = dict.fromkeys("WBIAHPS", "0") | dict.fromkeys(races, "1")
    values = [serial, order, state, weight, age, sex, relp, hisp, *(flags[letter] for letter in "WBIAHPS")]
    return [str(value) for value in values]


FAMILY = [
    _person("h1", 0, 40, 2, order=1, weight=3),
    _person("h1", 1, 41, 1, order=2, weight=5),
    _person("h1", 2, 9, 2, order=3, weight=7, hisp="24", races="WB"),
]
SAME_SEX = [_person("h2", 0, 30, 1), _person("h2", 13, 31, 1, order=2, races="A")]
QUARTERS = [_person("g1", 16, 80, 1, weight=2), _person("g2", 17, 20, 2)]


def _write(path, rows, columns=COLUMNS):
    lines = [",".join(columns), *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def convert(tmp_path):
    def run(rows, columns=COLUMNS, **options):
        conversion = convert_pums(_write(tmp_path / "sample.csv", rows, columns), tmp_path / "out", **options)
        report = check_data(tmp_path / "out")
        assert report.issues == ()
        return conversion, load_data(tmp_path / "out")

    return run


def test_that_a_family_gets_its_census_codes(convert):
    _, data = convert(FAMILY)
    assert data.persons.relship.tolist() == [20, 21, 25]
    assert data.persons.qage.tolist() == [40, 41, 9]
    assert data.persons.cenhisp.tolist() == [1, 1, 2]
    assert data.persons.cenrace.tolist() == [1, 1, 7]
    unit = [
        int(getattr(data.units, name)[0]) for name in ("final_pop", "npf", "hhspan", "hhrace", "hht", "hht2", "cplt")
    ]
    assert unit == [3, 3, 1, 1, 1, 1, 1]


def test_that_couples_of_the_same_sex_get_their_codes(convert):
    _, data = convert(SAME_SEX)
    assert data.persons.relship.tolist() == [20, 24]
    assert (data.units.hht[0], data.units.hht2[0], data.units.cplt[0]) == (5, 4, 4)


@pytest.mark.parametrize(
    ("relp", "relship"),
    [(2, 25), (3, 26), (4, 27), (5, 28), (6, 29), (7, 30), (8, 31), (9, 32), (10, 33), (11, 36), (12, 34), (14, 35), (15, 36)],
)  # fmt: skip
def test_that_every_relationship_of_2018_has_one_of_2020(convert, relp, relship):
    _, data = convert([_person("h", 0, 50), _person("h", relp, 20, order=2)])
    assert data.persons.relship.tolist() == [20, relship]


def test_that_relationships_of_2019_and_later_are_taken_as_they_are(convert):
    columns = ["RELSHIPP" if name == "RELP" else name for name in COLUMNS]
    _, data = convert([_person("h", 20, 50, 1), _person("h", 23, 50, 1, order=2)], columns)
    assert data.persons.relship.tolist() == [20, 23]
    assert data.units.cplt.tolist() == [2]


def test_that_each_person_in_group_quarters_is_a_unit(convert):
    _, data = convert(QUARTERS)
    assert data.units.rtype.tolist() == [4, 4]
    assert data.units.final_pop.tolist() == [1, 1]
    assert data.persons.rtype.tolist() == [5, 5]
    assert data.persons.relship.tolist() == [37, 38]


@pytest.mark.parametrize("code", sorted(RACES))
def test_that_every_set_of_races_has_its_code(convert, code):
    # The sample splits Native Hawaiian (H) and other Pacific Islander (P); the census has one race, N.
    letters = "".join(RACES[code])
    for spelled in {letters.replace("N", "H"), letters.replace("N", "P"), letters.replace("N", "HP")}:
        _, data = convert([_person("h", 0, 50, races=spelled)])
        assert data.persons.cenrace.tolist() == [code]


def test_that_weights_repeat_whole_households_by_the_householder(convert):
    conversion, data = convert([*FAMILY, *QUARTERS], weighted=True)
    assert data.units.final_pop.tolist() == [3, 3, 3, 1, 1, 1]
    assert (conversion.persons, conversion.units) == (12, 6)
    assert data.persons.relship.tolist() == [20, 21, 25] * 3 + [37, 37, 38]


def test_that_a_weight_of_zero_leaves_a_unit_out_and_is_said(convert):
    conversion, data = convert([*SAME_SEX, _person("h3", 0, 50, weight=0)], weighted=True)
    assert len(data.units) == 1
    assert any("weight is 0: 1" in line for line in conversion.imputed)


def test_that_rows_may_come_in_any_order(convert):
    rows = [*SAME_SEX, *FAMILY]
    _, data = convert([rows[place] for place in (3, 0, 4, 1, 2)])
    by_unit = {}
    for mafid, code in zip(data.persons.mafid.tolist(), data.persons.relship.tolist(), strict=True):
        by_unit.setdefault(mafid, []).append(code)
    assert sorted(by_unit.values()) == [[20, 21, 25], [20, 24]]


def test_that_a_household_without_reference_person_gets_its_oldest(convert):
    conversion, data = convert([_person("h", 5, 30), _person("h", 6, 60, order=2)])
    assert sorted(data.persons.relship.tolist()) == [20, 28]
    assert data.persons.qage[data.persons.relship == 20].tolist() == [60]
    assert any("oldest member: 1" in line for line in conversion.imputed)


def test_that_second_reference_persons_and_spouses_become_others(convert):
    rows = [
        _person("h", relp, 50 - order, order % 2 + 1, order=order) for order, relp in enumerate((0, 0, 1, 1, 13), 1)
    ]
    conversion, data = convert(rows)
    assert Counter(data.persons.relship.tolist())[20] == 1
    assert sum(Counter(data.persons.relship.tolist())[code] for code in (21, 22, 23, 24)) == 1
    assert any("Second reference persons" in line and line.endswith(": 3") for line in conversion.imputed)


def test_that_what_is_imputed_is_counted(convert):
    conversion, data = convert(
        [*FAMILY, *SAME_SEX, *QUARTERS, _person("h9", 0, 50, races=""), _person("h9", 11, 5, order=2)]
    )
    lines = "\n".join(conversion.imputed)
    assert "Tenure" in lines
    assert ": 3\n" in lines.split("Tenure")[1]
    assert "report none: Some Other Race: 1" in lines
    assert "other nonrelatives, as the list of relationships of 2020 does: 1" in lines
    assert set(data.units.ten[data.units.rtype == 2].tolist()) <= {1, 2, 3, 4}
    assert set(data.units.ten[data.units.rtype == 4].tolist()) == {0}


def test_that_tenure_in_the_file_is_kept(convert):
    columns = [*COLUMNS, "TEN"]
    conversion, data = convert([[*row, "4"] for row in FAMILY] + [[*row, ""] for row in QUARTERS], columns)
    assert data.units.ten.tolist() == [4, 0, 0]
    assert "Tenure" not in "\n".join(conversion.imputed)


def test_that_a_file_without_state_needs_one_named(convert):
    columns = [name for name in COLUMNS if name != "ST"]
    rows = [row[:2] + row[3:] for row in FAMILY]
    with pytest.raises(PhexploreError, match="no column ST"):
        convert(rows, columns)
    _, data = convert(rows, columns, state="Puerto Rico")
    assert data.geo.tabblkst.tolist() == [72]


def test_that_states_are_told_apart(convert):
    _, data = convert([*FAMILY, *([*row[:2], "09", *row[3:]] for row in SAME_SEX)])
    assert data.geo.tabblkst.tolist() == [9, 44]


def test_that_equal_seeds_give_equal_files(tmp_path):
    file = _write(tmp_path / "sample.csv", [_person(f"h{place}", 0, 50) for place in range(40)])
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        convert_pums(file, tmp_path / name, seed=seed, storages=[Storage.CSV])
    content = {name: (tmp_path / name / "units.csv").read_bytes() for name in "abc"}
    assert content["a"] == content["b"] != content["c"]


def test_that_the_result_carries_a_mark(convert, tmp_path):
    conversion, _ = convert(FAMILY)
    mark = read_provenance(tmp_path / "out")
    assert mark == conversion.provenance
    assert (mark.kind, mark.synthetic, mark.states) == ("converted-sample", True, ("44",))
    assert mark.imputed == conversion.imputed


BAD = {
    "age": ("AGEP", "116", 2),
    "sex": ("SEX", "3", 2),
    "relationship": ("RELP", "18", 2),
    "race flag": ("RACWHT", "2", 2),
    "text": ("HISP", "no", 2),
    "empty": ("AGEP", "", 2),
    "serial": ("SERIALNO", "", 2),
    "state": ("ST", "03", 2),
}


@pytest.mark.parametrize("kind", BAD)
def test_that_a_bad_value_is_told_with_line_and_column(tmp_path, kind):
    column, value, line = BAD[kind]
    rows = [row.copy() for row in FAMILY]
    rows[0][COLUMNS.index(column)] = value
    with pytest.raises(InputProblemsError) as caught:
        convert_pums(_write(tmp_path / "sample.csv", rows), tmp_path / "out")
    assert [issue.place for issue in caught.value.issues] == [f"sample.csv:{line}:{COLUMNS.index(column) + 1}"]
    assert not (tmp_path / "out").exists()


def test_that_all_missing_columns_are_listed(tmp_path):
    with pytest.raises(InputProblemsError) as caught:
        convert_pums(_write(tmp_path / "sample.csv", [["1", "2"]], ["SERIALNO", "AGEP"]), tmp_path / "out")
    words = " ".join(issue.sentence for issue in caught.value.issues)
    for name in ("RELP or RELSHIPP", "SEX", "HISP", "RACWHT", "RACSOR", "RACNH and RACPI"):
        assert name in words


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"SERIALNO,AGEP\n1\n"])
def test_that_a_file_that_is_no_csv_is_refused(tmp_path, content):
    path = tmp_path / "sample.csv"
    path.write_bytes(content)
    with pytest.raises(InputProblemsError, match=r"sample\.csv"):
        convert_pums(path, tmp_path / "out")


def test_that_a_cut_off_archive_is_refused(tmp_path):
    path = tmp_path / "sample.csv.gz"
    path.write_bytes(gzip.compress(b"SERIALNO,AGEP\n" * 1000, mtime=0)[:-20])
    with pytest.raises(InputProblemsError, match=r"sample\.csv\.gz"):
        convert_pums(path, tmp_path / "out")


def test_that_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputProblemsError, match="no such file"):
        convert_pums(tmp_path / "nothing.csv", tmp_path / "out")


def test_that_households_and_quarters_under_one_number_are_refused(tmp_path):
    rows = [_person("x", 0, 50), _person("x", 16, 60, order=2)]
    with pytest.raises(InputProblemsError, match="SERIALNO x"):
        convert_pums(_write(tmp_path / "sample.csv", rows), tmp_path / "out")


def test_that_weights_must_be_there_to_be_used(tmp_path):
    columns = [name for name in COLUMNS if name != "PWGTP"]
    rows = [row[:3] + row[4:] for row in FAMILY]
    with pytest.raises(PhexploreError, match="PWGTP"):
        convert_pums(_write(tmp_path / "sample.csv", rows, columns), tmp_path / "out", weighted=True)


@pytest.mark.real_data
def test_that_the_rhode_island_sample_keeps_its_persons_and_couples(real_data, tmp_path):
    """Against a second reading of the sample, record by record, with the standard library."""
    file = real_data / "micro" / "pums_2018_ri_persons.csv.gz"
    convert_pums(file, tmp_path, storages=[Storage.PARQUET])
    assert check_data(tmp_path).issues == ()
    data = load_data(tmp_path)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        records = list(csv.DictReader(lines))
    assert len(data.persons) == len(records)
    assert np.bincount(data.persons.qage, minlength=116).tolist() == [
        Counter(int(record["AGEP"]) for record in records)[age] for age in range(116)
    ]
    households = {}
    for record in records:
        if int(record["RELP"]) < 16:
            households.setdefault(record["SERIALNO"], []).append(record)
    types = Counter()
    for members in households.values():
        head = next(record for record in members if record["RELP"] == "0")
        codes = {int(record["RELP"]) for record in members}
        child = any(int(r["RELP"]) in {2, 3, 4} and int(r["AGEP"]) < 18 for r in members)
        if 1 in codes:
            types[1 if child else 2] += 1
        elif 13 in codes:
            types[3 if child else 4] += 1
        else:
            relatives = codes & set(range(2, 11))
            kind = 6 if child else 7 if relatives else 8 if len(members) > 1 else 5
            types[kind + (4 if head["SEX"] == "1" else 0)] += 1
    occupied = data.units.hht > 0
    assert Counter(data.units.hht2[occupied].tolist()) == types
    assert describe_data(tmp_path).group_quarters == 732
