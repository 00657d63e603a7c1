"""Tables of the DHC against plain counts of its records: a line says in words which codes of the microdata it counts."""

from __future__ import annotations

import csv
import re
from collections import Counter

import pytest

from phexplore.data.blocks.dhc_microdata_writing import write_dhc_persons, write_dhc_units
from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.data.blocks.households import with_households
from phexplore.data.blocks.published_tables import published_tables, write_tables

TABLES = [table for schema in ("dhc_persons", "dhc_households") for table in published_tables(schema)]
LINES = {"P12": 49, "P16": 9, "P17": 31, "P18": 63, "H4": 4, "H9": 8, "H10": 17, "H11": 7, "H12": 17, "H13": 21}
RELATIONS = {
    "Householder": "20",
    "Opposite-sex spouse": "21",
    "Opposite-sex unmarried partner": "22",
    "Same-sex spouse": "23",
    "Same-sex unmarried partner": "24",
    "Biological child": "25",
    "Adopted child": "26",
    "Stepchild": "27",
    "Brother or sister": "28",
    "Parent": "29",
    "Grandchild": "30",
    "Parent-in-law": "31",
    "Son-in-law or daughter-in-law": "32",
    "Other relatives": "33",
    "Foster child": "35",
}
QUARTERS = {
    "Institutionalized population": "1234",
    "Noninstitutionalized population": "56789",
    "In group quarters": "123456789",
    "Correctional facilities for adults": "1",
    "Juvenile facilities": "2",
    "Nursing facilities/Skilled-nursing facilities": "3",
    "Other institutional facilities": "4",
    "College/University student housing": "5",
    "Military quarters": "6",
    "Other noninstitutional facilities": "789",
}
HOUSEHOLDS = {
    "Family households": "123",
    "Married couple family": "1",
    "Other family": "23",
    "Male householder, no spouse present": "2",
    "Female householder, no spouse present": "3",
    "Nonfamily households": "4567",
    "Householder living alone": "46",
    "Householder not living alone": "57",
}
TENURES = {
    "Owner occupied": "12",
    "Renter occupied": "34",
    "Owned with a mortgage or a loan": "1",
    "Owned free and clear": "2",
}
RACES = (
    "White alone",
    "Black or African American alone",
    "American Indian and Alaska Native alone",
    "Asian alone",
    "Native Hawaiian and Other Pacific Islander alone",
    "Some Other Race alone",
    "Two or More Races",
)
FIRST_AGES = (15, 25, 35, 45, 55, 60, 65, 75, 85)
CODES = {
    **{label: ("RELSHIP", {code}) for label, code in RELATIONS.items()},
    "Other nonrelatives": ("RELSHIP", {"34", "36"}),
    **{label: ("HHT", set(codes)) for label, codes in HOUSEHOLDS.items()},
    **{label: ("TEN", set(codes)) for label, codes in TENURES.items()},
    **{f"Householder who is {race}": ("THHRACE", {f"{place + 1:02d}"}) for place, race in enumerate(RACES)},
    "Male": ("QSEX", {"1"}),
    "Female": ("QSEX", {"2"}),
    "Living alone": ("LIVE_ALONE", {"1"}),
    "Not living alone": ("LIVE_ALONE", {"2"}),
    "In households": ("RTYPE", {"3"}),
    "Not Hispanic or Latino householder": ("THHSPAN", {"1"}),
    "Hispanic or Latino householder": ("THHSPAN", {"2"}),
}
"""The column of the microdata and its codes, by the words of a line."""


def is_counted(label, row):
    """Return whether a record is of those that the words of a line name."""
    numbers = [int(number) for number in re.findall(r"\d+", label)]
    if label in QUARTERS:
        found = row["GQTYPE"][0] in QUARTERS[label]
    elif label in CODES:
        column, codes = CODES[label]
        found = row[column] in codes
    elif label.startswith("Householder "):
        found = int(row["THHLDRAGE"]) == FIRST_AGES.index(numbers[0]) + 1
    elif "household" in label:
        found = int(row["HHSIZE"]) == numbers[0]
    elif numbers:
        low = 0 if label.startswith("Under") else numbers[0]
        high = numbers[0] - 1 if label.startswith("Under") else 999 if label.endswith("over") else numbers[-1]
        found = low <= int(row["QAGE"]) <= high
    else:
        found = label == "Total"
        assert found, label
    return found


@pytest.fixture(scope="module")
def both():
    return with_households(expand(synthesize_blocks(150, 7), 3), 3)


@pytest.fixture(scope="module")
def written(both, tmp_path_factory):
    place = tmp_path_factory.mktemp("tables")
    write_dhc_persons(both.persons, place / "persons.txt")
    write_dhc_units(both.households, place / "units.txt")
    write_tables([both.persons, both.households], place / "tables")
    return place


def test_the_tables_are_those_that_people_know():
    assert {table.id: len(table.cells) for table in TABLES} == LINES


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.id)
def test_every_line_is_the_plain_count_of_its_records(written, table):
    is_person = table.schema.id == "dhc_persons"
    with (written / ("persons.txt" if is_person else "units.txt")).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="|"))
    if not is_person:
        rows = [row for row in rows if row["TEN"] != "0"]
    if table.id == "P18":
        rows = [row for row in rows if row["RTYPE"] == "5"]
    counted = Counter()
    path = []
    for line in table.cells:
        path[line.depth :] = [line.label]
        for row in rows:
            if all(is_counted(label, row) for label in path):
                block = "".join(row[name] for name in ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"))
                for level, digits in (("State", 2), ("County", 5), ("Tract", 11), ("Block_Group", 12), ("Block", 15)):
                    counted[level, block[:digits], line.code] += 1
    with (written / "tables" / f"{table.id}.csv").open(encoding="utf-8", newline="") as file:
        filled = list(csv.DictReader(file))
    levels = {"State", "County", "Tract", "Block_Group", "Block"}
    found = Counter(
        {
            (row["level"], row["geoid"], line.code): int(row[line.code])
            for row in filled
            for line in table.cells
            if row["level"] in levels
        }
    )
    assert +found == counted
    assert sum(counted.values()) > 1000 or table.id == "P18"
