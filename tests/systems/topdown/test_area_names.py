"""Towns by the names people call them: what was typed, the row, the place on the map, the margin before and the error after."""

from __future__ import annotations

import numpy as np
import pytest

from phexplore.catalog.names import typed_first
from phexplore.systems.topdown.area_names import Area, area_name, find_area, names_in
from phexplore.systems.topdown.areas_on_maps import holding

BLOCKS = """geoid,place,place_name,cousub,cousub_name,pop
440010301001000,,,4400105140,Barrington town,23
440070001011000,4459000,Providence city,4400759000,Providence city,17
440070001011001,4459000,Providence city,4400759000,Providence city,5
"""
OFFERED = {
    "County": ["44001", "44007"],
    "place": ["4459000"],
    "cousub": ["4400105140", "4400759000"],
    "zcta": ["44003"],
}


@pytest.fixture
def own(tmp_path):
    (tmp_path / "blocks.csv").write_text(BLOCKS, encoding="utf-8")
    return names_in(tmp_path / "blocks.csv")


def test_that_a_file_of_blocks_names_its_areas(own, tmp_path) -> None:
    assert own == {"4459000": "Providence city", "4400105140": "Barrington town", "4400759000": "Providence city"}
    (tmp_path / "bare.csv").write_text("geoid,place\n440010301001000,4459000\n", encoding="utf-8")
    assert names_in(tmp_path / "bare.csv") == {}
    assert names_in(tmp_path / "missing.csv") == {}


@pytest.mark.parametrize(
    ("typed", "kind", "code"),
    [
        ("barrington", "cousub", "4400105140"),
        ("Providence city", "place", "4459000"),
        ("city providence", "place", "4459000"),
        ("providence county", "County", "44007"),
        ("4400759000", "cousub", "4400759000"),
        ("44003", "zcta", "44003"),
    ],
)
def test_that_words_of_a_name_or_a_code_find_an_area(own, typed, kind, code) -> None:
    found = find_area(typed, OFFERED, own)
    assert found is not None
    assert (found.kind, found.code) == (kind, code)


def test_that_a_place_is_found_that_begins_with_what_is_typed_before_one_with_a_word_that_does() -> None:
    names = {"1": "New Shoreham", "2": "East Providence", "3": "Providence", "4": "Approvia", "5": "Central Falls"}
    assert typed_first("provi", names.values()) == ["Providence", "East Providence", "Approvia"]
    assert find_area("provi", {"place": names}, names) == Area("place", "3", "Providence")


def test_that_a_district_with_the_digits_of_a_county_is_not_called_like_it(own) -> None:
    assert find_area("Kent County", OFFERED, own) is None
    assert find_area("44003", OFFERED, own) == Area("zcta", "44003", "")
    assert find_area("  ", OFFERED, own) is None
    assert [find_area(word, OFFERED, own) for word in ("nowhere", "Providence nowhere")] == [None, None]


def test_that_areas_of_one_name_are_told_apart(tmp_path) -> None:
    """Of several one was taken without a word: a viewer saw the numbers of another town."""
    (tmp_path / "blocks.csv").write_text(
        "geoid,place,place_name,cousub,cousub_name,pop\n"
        "170010001001000,1772000,Springfield city,1700179345,Union township,5\n"
        "250130001001000,2567000,Springfield city,1700379345,Union township,5\n"
        "250130001001001,,,1700379346,Lake village,5\n"
        "250130001001002,,,1700379347,Lake village,5\n",
        encoding="utf-8",
    )
    own = names_in(tmp_path / "blocks.csv")
    assert list(own.values()) == [
        "Springfield city, Illinois",
        "Springfield city, Massachusetts",
        "Union township, Adams County, Illinois",
        "Union township, Alexander County, Illinois",
        "Lake village (1700379346)",
        "Lake village (1700379347)",
    ]
    assert find_area("springfield massachusetts", {"place": ["1772000", "2567000"]}, own) == Area(
        "place", "2567000", "Springfield city, Massachusetts"
    )


@pytest.mark.parametrize(
    ("leaves", "units", "partly", "words"),
    [
        ((0, 1, 2, 4), [0, 1], 1, "Outlined: the 2 block groups it lies in, 1 of them only in part."),
        ((5, 6, 7, 8, 3, 4), [2, 1], 0, "Outlined: the 2 block groups it lies in."),
        ((3,), [1], 1, "Outlined: the block group it lies in, which holds other areas, too."),
    ],
)
def test_that_a_map_outlines_every_unit_an_area_lies_in_the_fullest_first(leaves, units, partly, words) -> None:
    found = holding(np.array([0, 3, 5, 9]), np.array(leaves))
    assert (found.units.tolist(), found.partly) == (units, partly)
    assert found.words("Block_Group", len(units)) == words
    assert found.words("Block_Group", 0) == "It is not among the shapes of this file."
    if len(units) > 1:
        assert "; 1 without a shape in this file" in found.words("Block_Group", 1)


def test_that_an_area_that_nobody_names_is_called_by_its_class_and_number() -> None:
    assert area_name("place", "4400014", {}) == "place 00014, RI"
    assert area_name("cousub", "4400100010", {}) == "county subdivision 00010, Bristol County, RI"
    assert area_name("aiannh", "0002", {}) == "tribal area 0002"
    assert area_name("zcta", "02906", {}) == ""
    assert area_name("place", "4459000", {"4459000": "Providence city"}) == "Providence city"
