from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.model.issues import InputProblemsError, Severity
from phexplore.spine.building import build_spine
from phexplore.spine.geography import codes_of_texts, entity_set, geography_of
from phexplore.spine.geography_reading import read_geography
from phexplore.spine.settings import spine_preset

HEADER = (
    "OIDTB|TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|AIANNHCE|COUSUBFP|PLACEFP|SDUNILEA|SDELMLEA|SDSECLEA|COUSUBFS|PLACEFS"
)
ROWS = [
    "1|44|001|030100|1000|9999|05140|99999|00030|99999|99999|A|S",
    "2|44|001|030100|1001|2415|05140|03520|00030|99999|99999|A|B",
    "3|44|003|020500|2000|9999|00000|99999|99999|00065|00420|F|A",
    "4|09|001|010101|1000|9999|04720|12345|99999|99999|99999|S|A",
]


def crosswalk(path, rows, header=HEADER):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def problems(path):
    with pytest.raises(InputProblemsError) as error:
        read_geography(path)
    return {(issue.line, issue.column): f"{issue.sentence} {issue.remedy}" for issue in error.value.issues}


def areas(geography, name):
    area = geography.areas[name]
    return ["" if place < 0 else str(area.codes[place]) for place in area.of_block.tolist()]


def test_that_a_crosswalk_gives_public_codes_in_the_order_of_the_blocks(tmp_path):
    found = read_geography(crosswalk(tmp_path / "grfc_tab20_44.txt", ROWS))
    assert found.geoids.tolist() == ["090010101011000", "440010301001000", "440010301001001", "440030205002000"]
    assert areas(found, "place") == ["0912345", "", "4403520", ""]
    assert areas(found, "cousub") == ["0900104720", "4400105140", "4400105140", ""]
    assert areas(found, "aiannh") == ["", "", "2415", ""]
    assert areas(found, "school_dist") == ["", "4400030", "4400030", "4400065"]
    assert areas(found, "secondary_sd") == ["", "", "", "4400420"]
    assert found.governed.tolist() == [False, True, True, False]
    assert found.incorporated.tolist() == [True, False, True, True]
    assert found.quarters is None
    assert found.warnings == ()
    assert found.source == "grfc_tab20_44.txt"


def test_that_a_crosswalk_of_the_real_blocks_is_the_block_file(real_data, rhode_island, tmp_path):
    rows = []
    with gzip.open(real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz", "rt", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file)):
            parts = [str(number), row["state"], row["county"], row["tract"], row["block"], row["aiannh"][:4] or "9999"]
            parts += [row["cousub"][5:], row["place"][2:] or "99999", row["school_dist"][2:] or "99999", "99999"]
            rows.append("|".join([*parts, row["secondary_sd"][2:] or "99999", "A", "A"]))
    found = read_geography(crosswalk(tmp_path / "x.txt", rows))
    direct = read_geography(real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz")
    assert len(direct.warnings) == 4
    assert {issue.severity for issue in direct.warnings} == {Severity.WARNING}
    for name in ("place", "cousub", "aiannh", "school_dist", "secondary_sd"):
        for other in (direct, rhode_island):
            assert found.areas[name].codes.tolist() == other.areas[name].codes.tolist()
            assert (found.areas[name].of_block == other.areas[name].of_block).all()
    assert found.geoids.tolist() == rhode_island.geoids.tolist()


def test_that_every_problem_of_a_crosswalk_has_its_row_and_column(tmp_path):
    rows = [
        *ROWS,
        "2|44|001|030200|1001|9999|05140|99999|00030|99999|99999|A|B",  # the identifier of line 3, in another tract
        "7|44|001|030100|1000|9999|05140|03520|00030|99999|99999|A|B",  # line 2 once more, in a place
        "8|44|003|020500|2000|9999|00000|99999|99999|00065|00420|F|A",  # line 4 once more
        "9|44|1|030300|1000||05140|3520|00030|99999|99999|A|B",
        "10|99|001|030400|1000|99X9|05140|99999|00030|99999|99999|A|B",
    ]
    found = problems(crosswalk(tmp_path / "bad.txt", rows))
    assert "Block 2 has two codes: 44001030100 on line 3 and 44001030200 on this line." in found[6, 4]
    assert "PLACEFP overlap" in found[7, 8]
    assert "none on line 2 and in 4403520 on this line" in found[7, 8]
    assert "Block 440030205002000 is a duplicate of line 4" in found[8, 5]
    assert "TABBLKCOU must be a code of 3 digits (got 1)" in found[9, 3]
    assert "AIANNHCE is missing" in found[9, 6]
    assert "state first (got 3520)" in found[9, 8]
    assert "99, which is not the code of a state" in found[10, 2]
    assert "(got 99X9)" in found[10, 6]
    assert len(found) == 8


def test_that_a_block_in_two_kinds_of_school_district_is_listed_and_read(tmp_path):
    row = "1|44|001|030100|1000|9999|05140|99999|00030|00065|99999|A|S"
    found = read_geography(crosswalk(tmp_path / "x.txt", [row]))
    assert [(issue.line, issue.column) for issue in found.warnings] == [(2, 10)]
    assert "4400030" in found.warnings[0].sentence
    assert areas(found, "school_dist") == ["4400030"]


def test_that_missing_columns_and_empty_files_are_named(tmp_path):
    header = HEADER.replace("TABBLK|", "")
    assert "'TABBLK' is missing" in problems(crosswalk(tmp_path / "a.txt", [], header))[1, 0]
    assert "no blocks" in problems(crosswalk(tmp_path / "b.txt", []))[1, 0]
    with pytest.raises(InputProblemsError, match="cannot be read"):
        read_geography(tmp_path / "none.txt")


def test_that_a_block_file_needs_no_counts_and_its_parts_must_agree(tmp_path):
    path = tmp_path / "blocks.csv"
    path.write_text(
        "geoid,tract,place,cousub,aiannh,sldu\n"
        "440010301001000,030100,,4400105140,,44032\n"
        "440010301001001,030100,4403520,05140,2415R,032\n"
    )
    found = read_geography(path)
    assert areas(found, "place") == ["", "4403520"]
    assert areas(found, "cousub") == ["4400105140"] * 2
    assert areas(found, "aiannh") == ["", "2415"]
    assert areas(found, "sldu") == ["44032", "44032"]
    path.write_text(
        "geoid,tract,place\n440010301001000,030200,\n44001030100100,030100,44035\n440010301001002,030100,0903520\n"
        "440010301001003,030100,4403520\n440010301001003,030100,4403521\n"
    )
    wrong = problems(path)
    assert "tract is 030200, but geoid 440010301001000 contains 030100" in wrong[2, 2]
    assert "must be a code of 15 digits (got 44001030100100)" in wrong[3, 1]
    assert "4403520 on line 5 and in 4403521 on this line" in wrong[6, 3]


def test_that_areas_of_another_state_are_read_and_listed(tmp_path):
    path = tmp_path / "blocks.csv"
    path.write_text("geoid,place\n440010301001000,0903520\n")
    found = read_geography(path)
    assert areas(found, "place") == ["0903520"]
    assert "0903520 begins with 09, but the block lies in 44" in found.warnings[0].sentence
    assert found.warnings[0].line == 2


def test_that_microdata_tell_where_group_quarters_are(real_data):
    found = read_geography(real_data / "blocks" / "ppmf_perry_al_20210428_eps12-2.csv.gz")
    assert found.blocks == 511
    assert found.areas == {}
    tree = build_spine(found, spine_preset("pl94-2020").settings).tree
    assert tree.levels[0].name == "State"
    assert tree.blocks == 511


def test_that_facilities_become_types_of_group_quarters(real_data):
    from phexplore.data.blocks.facilities import assume_facilities
    from phexplore.data.blocks.source import read_population

    people = read_population(real_data / "blocks" / "ppmf_perry_al_20210428_eps12-2.csv.gz")
    assert geography_of(people).quarters is None
    found = geography_of(assume_facilities(people)).quarters
    facilities = assume_facilities(people).facilities
    for block in range(people.blocks):
        assert found[block] == sum(1 << kind for kind in range(7) if facilities[block, kind + 1] > 0)
    assert found.max() > 0


def test_that_leaves_of_1940_are_no_blocks():
    from phexplore.data.blocks.geocodes import ENUMERATION_DISTRICTS_1940
    from phexplore.data.blocks.population import from_dense
    from phexplore.workload.schema import load_schema

    schema = load_schema("pl94_reduced16")
    table = np.zeros((1, schema.cells), np.int64)
    people = from_dense(schema, np.array(["4400100100001"]), table, layout=ENUMERATION_DISTRICTS_1940)
    with pytest.raises(PhexploreError, match="not census blocks"):
        geography_of(people)


def test_that_areas_are_lists_of_blocks_and_unknown_classes_are_named(rhode_island):
    places = entity_set(rhode_island, "place")
    assert sum(len(places.blocks[a:b]) for a, b in zip(places.starts, places.starts[1:], strict=False)) == len(
        places.blocks
    )
    for number in (0, 17, 35):
        members = places.blocks[places.starts[number] : places.starts[number + 1]]
        assert (rhode_island.areas["place"].of_block[members] == number).all()
        assert (np.diff(members) > 0).all()
    assert entity_set(rhode_island, "county").areas == 5
    with pytest.raises(UnknownNameError, match="pleace") as error:
        entity_set(rhode_island, "pleace")
    assert "place" in error.value.remedy


def test_that_texts_become_areas_with_none_apart():
    found = codes_of_texts(np.array(["b", "", "a", "b"]))
    assert found.codes.tolist() == ["a", "b"]
    assert found.of_block.tolist() == [1, -1, 0, 1]
    assert codes_of_texts(np.array(["x", "x"])).of_block.tolist() == [0, 0]
    assert codes_of_texts(np.array(["", ""])).areas == 0
