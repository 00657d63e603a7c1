"""Names instead of production's codes: every code has one, they are told apart, and files are read with either."""

from __future__ import annotations

import csv
import gzip
import tomllib

import pytest

from phexplore.catalog.names import (
    Naming,
    area,
    choose_naming,
    in_words,
    learn_areas,
    place,
    run_name,
    spellings,
    worded,
    words,
)
from phexplore.catalog.states import states
from phexplore.catalog.tables import queries, tables
from phexplore.resources import resource
from phexplore.systems.registry import presets

PLAIN = {"sex", "age", "race", "citizen", "elderly", "size", "multi"}
"""Attributes whose code is the word."""


@pytest.fixture
def named():
    choose_naming(Naming.NAMES)
    yield
    choose_naming(Naming.CODES)


def test_that_every_table_has_a_name_of_its_own():
    named_tables = words()["tables"]
    assert set(tables()) <= set(named_tables)
    assert len(set(named_tables.values())) == len(named_tables)


def test_that_every_attribute_and_recode_of_a_schema_has_a_name():
    for file in resource("schemas").glob("*.toml"):
        schema = tomllib.loads(file.read_text(encoding="utf-8"))
        for part in (*schema["attributes"], *schema.get("recodes", ())):
            assert part["name"] in words()["attributes"] or part["name"] in PLAIN, (file.name, part["name"])


def test_that_every_preset_has_a_name():
    assert set(words()["presets"]) == set(presets())


@pytest.mark.parametrize("naming", Naming)
def test_that_46_queries_stay_46_and_are_worded_once(naming):
    said = {in_words(query.title, naming) for query in queries()}
    assert len(said) == 46
    assert {in_words(text, naming) for text in said} == said
    assert {in_words(query.text, naming) for query in queries()} == (
        said if naming is not Naming.CODES else {query.text for query in queries()}
    )


def test_that_names_hold_no_code_and_both_hold_the_code():
    for query in queries():
        assert query.table not in in_words(query.title, Naming.NAMES)
        assert in_words(query.title, Naming.BOTH).startswith(f"{query.table} · ")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("PH3 takes 54.0 % of the loss", "Children by household type takes 54.0 % of the loss"),
        ("votingage × hispanic × cenrace at County", "voting age × Hispanic origin × race at County"),
        ("Hispanic or Latino: 834 became 791", "Hispanic or Latino: 834 became 791"),
        ("phexplore forecast sdhc-2020-us", "phexplore forecast sdhc-2020-us"),
        ("PH3.csv and the folder/PH3/x", "PH3.csv and the folder/PH3/x"),
        ("seed 440070001023", "seed 440070001023"),
        ("12,688 of 440070001023.5", "12,688 of 440070001023.5"),
        ("33003956502/643312550121", "33003956502/643312550121"),
        ("ρ 440070001023/440070002001 of 1/44007000102", "ρ 440070001023/440070002001 of 1/44007000102"),
        ("County 44007: 3", "Providence County, Rhode Island: 3"),
        ("tract 99999999999", "tract 99999999999"),
        ("place 4459000: 3", "Providence city, RI: 3"),
        ("County subdivision 4400754640 is off", "Pawtucket city, RI is off"),
        ("tribal area 2415, 3 of 4", "Narragansett Reservation, 3 of 4"),
        ("place 4499999 and place 44590001", "place 4499999 and place 44590001"),
        ("State 44: 3", "Rhode Island: 3"),
        ("State 44 cells", "State 44 cells"),
        ("Group quarters 103: 12 became 9", "State prisons: 12 became 9"),
        ("Group quarters 101, 102, 103", "Group quarters 101, 102, 103"),
        ("sex × hhsize_all at County", "sex × household size at County"),
        ("margin of error of state_A-G at most 68", "margin of error of State, by race at most 68"),
        ("state_totals of my_state_A-G", "state_totals of my_state_A-G"),
        ("County: detailed ±5.23; Block_Group: total", "County: every cell ±5.23; Block group: total"),
        (
            "Levels are County, Prim, Tract_Subset_Group, Tract_Subset, Block: Prim does not fit.",
            "Levels are County, Primitive area, Tract subset group, Tract subset, Block: Primitive area does not fit.",
        ),
        ("Prim and proper", "Prim and proper"),
        ("Level share Prim", "Level share Primitive area"),
        ("Prim", "Primitive area"),
        (
            "Spine: prim, 3 County, 23 Prim, 57 Tract_Subset.",
            "Spine: primitive areas, 3 County, 23 Primitive area, 57 Tract subset.",
        ),
        ("sex * age_38_groups", "sex × 38 age groups"),
        ("sex * age", "sex × age"),
        ("phexplore forecast dhc-2020-persons-us", "phexplore forecast dhc-2020-persons-us"),
        ("only a run of dhc-2020-persons-us does.", "only a run of DHC 2020, people does."),
        ("read from dhc-2020-persons-us.ini", "read from dhc-2020-persons-us.ini"),
        (
            "Nothing says how many units the level Prim has.",
            "Nothing says how many units the level Primitive area has.",
        ),
        ("Constraints left out: nurse_nva_0.", "Constraints left out: nobody under 18 in nursing facilities."),
        ("Share of Prim: 5 % → 6 %", "Share of Primitive area: 5 % → 6 %"),
        ("Prim: total; Prim: detailed", "Primitive area: total; Primitive area: every cell"),
        ("a detailed list, detailed", "a detailed list, every cell"),
        ("below one person: detailed. Look for a slip", "below one person: every cell. Look for a slip"),
        ("The budgets of detailed and 3 more at US look", "The budgets of every cell and 3 more at US look"),
        ("Block group 440070001023: 3", "Block group 3, tract 1.02, Providence County, RI: 3"),
        ("most at block group 440070001023 (−94)", "most at block group 3, tract 1.02, Providence County, RI (−94)"),
    ],
)
def test_that_codes_are_read_and_the_rest_is_left(text, read):
    assert in_words(text, Naming.NAMES) == read


def test_that_every_area_of_rhode_island_has_the_name_of_the_crosswalk_of_its_blocks(real_data):
    with gzip.open(real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = {"cousub": 10, "place": 7, "school_dist": 7, "aiannh": 4}
    wanted = {
        (kind, row[kind][:digits], row[f"{kind}_name"].removesuffix(", RI"))
        for kind, digits in kinds.items()
        for row in rows
        if row[kind]
    }
    with resource("geography/areas.csv").open(encoding="utf-8", newline="") as file:
        shipped = [(row["class"], row["code"], row["name"]) for row in csv.DictReader(file)]
    assert sorted(wanted) == shipped
    assert len(wanted) == 39 + 36 + 35 + 1
    assert in_words("school_dist 4400900", Naming.NAMES) == "Providence School District, RI"


def test_that_names_of_files_are_learned_and_shipped_ones_stay():
    assert area("place", "0636568") == ""
    learn_areas("place", {"0636568": "La Habra city", "4459000": "Elsewhere", "0600001": ""})
    assert area("place", "0636568") == "La Habra city, CA"
    assert in_words("place 0636568 and place 4459000", Naming.BOTH) == (
        "place 0636568 (La Habra city, CA) and place 4459000 (Providence city, RI)"
    )
    assert in_words("place 0636568", Naming.CODES) == "place 0636568"


def test_that_counties_lie_in_the_states_their_codes_say():
    with resource("geography/counties.csv").open(encoding="utf-8", newline="") as file:
        codes = [row["fips"] for row in csv.DictReader(file)]
    assert len(codes) == len(set(codes)) == 3143  # counties of 2010, Puerto Rico apart
    assert {code[:2] for code in codes} == set(states()) - {"72"}
    assert place("44003") == "Kent County, Rhode Island"
    # Codes of a spine repeat the block group before the number of the block, whose first digit it is.
    assert place("440070001022002") == "block 2002, tract 1.02, Providence County, RI"
    assert place("4400700010222002") == "block 2002, tract 1.02, Providence County, RI"
    assert place("72001") == ""


def test_that_the_process_says_what_was_chosen(named):
    assert worded("PH3") == "Children by household type"
    assert run_name("Draft", "20261122T101900Z-ab", "22 Nov 10:19", "20 trials") == "Draft, 22 Nov 10:19, 20 trials"
    choose_naming(Naming.CODES)
    assert worded("PH3") == "PH3"
    assert "20261122T101900Z-ab" in run_name("Draft", "20261122T101900Z-ab", "22 Nov 10:19", "20 trials")


def test_that_pasted_rows_may_be_spelled_either_way():
    assert {"ph3", "children by household type"} <= spellings("PH3")
