from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.data.blocks.geocodes import (
    CENSUS_BLOCKS,
    ENUMERATION_DISTRICTS_1940,
    GEOCODE_LAYOUTS,
    GeocodeLayout,
    GeographicLevel,
    GeographyError,
    digits,
    layout_of,
    numbers_of_texts,
    read_layout,
    texts_of_numbers,
)
from phexplore.errors import UnknownNameError
from phexplore.workload.schema import load_schema, schema_ids

BLOCK = "440010301002001"


@given(st.lists(st.integers(0, 10**15 - 1), max_size=30))
def test_that_numbers_and_codes_of_fifteen_digits_are_the_same(numbers):
    texts = texts_of_numbers(np.array(numbers, np.int64), 15)
    assert texts.tolist() == [f"{number:015d}" for number in numbers]
    assert numbers_of_texts(texts, 15).tolist() == numbers


@pytest.mark.parametrize("number", [-1, 1000])
def test_that_a_number_without_room_is_refused(number):
    with pytest.raises(ValueError, match="do not fit 3 digits"):
        texts_of_numbers(np.array([5, number]), 3)


@pytest.mark.parametrize("text", ["12a", "1 2", "١٢٣"])
def test_that_other_characters_than_digits_are_refused(text):
    with pytest.raises(ValueError, match="consist of digits"):
        numbers_of_texts(np.array([text]), 3)


def test_that_digits_have_zeros_in_front():
    assert digits(np.array([7, 120]), 4).tobytes() == b"00070120"


def test_that_the_block_group_is_the_first_digit_of_the_block():
    assert CENSUS_BLOCKS.geocodes(np.array([BLOCK])).tolist() == ["4400103010022001"]


def test_that_a_district_of_1940_has_one_code():
    codes = np.array(["4400101200034"])
    assert ENUMERATION_DISTRICTS_1940.geocodes(codes) is codes


@pytest.mark.parametrize(
    ("level", "code"),
    [
        ("US", "US"),
        ("State", "44"),
        ("County", "44001"),
        ("Tract", "44001030100"),
        ("Block_Group", "440010301002"),
        ("Block", BLOCK),
    ],
)
def test_that_the_unit_of_a_block_is_named_at_every_level(level, code):
    assert CENSUS_BLOCKS.prefixes(np.array([BLOCK, BLOCK]), level).tolist() == [code, code]


@pytest.mark.parametrize(
    ("level", "code"), [("Nation", "Nation"), ("State", "44"), ("County", "440010"), ("Supdist", "440010120")]
)
def test_that_the_unit_of_a_district_is_named_at_every_level(level, code):
    assert ENUMERATION_DISTRICTS_1940.prefixes(np.array(["4400101200034"]), level).tolist() == [code]


def test_that_an_unknown_level_is_answered_with_the_nearest_one():
    with pytest.raises(UnknownNameError) as caught:
        CENSUS_BLOCKS.length("Blok")
    assert caught.value.remedy == "Did you mean 'Block'?"


def test_that_levels_that_do_not_nest_are_refused():
    with pytest.raises(ValueError, match="longer"):
        GeocodeLayout("x", "x", (GeographicLevel("A", 2), GeographicLevel("B", 2)), 2)
    with pytest.raises(ValueError, match="4 characters"):
        GeocodeLayout("x", "x", (GeographicLevel("A", 2), GeographicLevel("B", 4)), 5)


def test_that_every_layout_is_listed_by_its_id():
    assert {layout.id for layout in GEOCODE_LAYOUTS.values()} == set(GEOCODE_LAYOUTS)
    assert CENSUS_BLOCKS.leaf == "Block"
    assert ENUMERATION_DISTRICTS_1940.names == ("Nation", "State", "County", "Supdist", "Enumdist")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "entry 'id' is missing"),
        ("id = ", "Invalid value"),
        (
            'id = "x"\ntitle = "x"\npublic_length = 4\nlevels = [{name = "A", length = 4}, {name = "B", length = 2}]',
            "longer",
        ),
        (
            'id = "x"\ntitle = "x"\npublic_length = 4\nlevels = [{name = "A", length = 4}]\nfurther = [{name = "A", length = 1}]',
            "name of its own",
        ),
        (
            'id = "x"\ntitle = "x"\npublic_length = 4\nlevels = [{name = "A", length = 4}]\nfurther = [{name = "B", length = 4}]',
            "wider than the leaf",
        ),
    ],
)
def test_that_a_wrong_geography_file_is_named_with_what_is_wrong(tmp_path, text, said):
    (tmp_path / "x.toml").write_text(text, "utf-8")
    with pytest.raises(GeographyError, match=said) as caught:
        read_layout(tmp_path / "x.toml")
    assert "x.toml" in caught.value.sentence


def test_that_every_schema_has_a_geography():
    for name in schema_ids():
        assert layout_of(load_schema(name)).leaf in {"Block", "Enumdist"}
    assert layout_of(load_schema("census_1940")) is ENUMERATION_DISTRICTS_1940
