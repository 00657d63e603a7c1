"""The tables of the S-DHC against the paper's table shells and production's output size."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.catalog.races import iteration_levels
from phexplore.catalog.tables import (
    Condition,
    Counted,
    RaceOf,
    config_tables,
    counted_in,
    counted_together,
    parse_codes,
    queries,
    sensitivity,
    table,
    tables,
    truncated_tables,
)
from phexplore.errors import UnknownNameError
from phexplore.model.keys import Iteration, Region

SHARED = Path(__file__).parents[3] / "shared"

PERSON = {
    "RTYPE": (3, 5),
    "QAGE": (0, 3, 4, 5, 6, 11, 12, 17, 18, 115),
    "RELSHIP": tuple(range(20, 39)),
}
UNIT = {
    "RTYPE": (2, 4),
    "HHT": tuple(range(8)),
    "HHT2": tuple(range(13)),
    "CPLT": tuple(range(6)),
    "TEN": tuple(range(5)),
}

persons = st.fixed_dictionaries({column: st.sampled_from(codes) for column, codes in PERSON.items()})
units = st.fixed_dictionaries({column: st.sampled_from(codes) for column, codes in UNIT.items()})


def test_that_the_eleven_tables_stand_in_the_order_of_the_paper():
    assert list(tables()) == (
        ["PH1_num", "PH1_denom", "PH2", "PH3", "PH4", "PH5_num", "PH5_denom", "PH6", "PH7", "PH8_num", "PH8_denom"]
    )


def test_that_a_full_us_run_has_the_rows_production_writes():
    """52 geographies; ten iterations where iterated (paper, section 2.4): 12 688 rows, 10 608 of them measured."""
    rows = {
        product.id: 52 * sum(len(i.codes) for i in product.iterations) * len(product.basis_cells)
        for product in tables().values()
    }
    assert list(rows.values()) == [1040, 520, 416, 3640, 1040, 1040, 520, 832, 1560, 1040, 1040]
    assert sum(rows.values()) == 12688
    assert sum(rows[product.id] for product in config_tables()) == 10608


@pytest.mark.skipif(not SHARED.exists(), reason="needs the folder of facts beside the checkout")
def test_that_queries_and_orders_are_those_of_the_production_configuration():
    config = json.loads((SHARED / "presets" / "phsafe.json").read_text())["us"]
    assert [product.id for product in config_tables()] == list(config["privacy_budget"])
    assert [product.id for product in truncated_tables()] == list(config["tau"])
    assert len(queries()) == 46
    assert {query.text for query in queries()} == {
        f"{name}/{level}" for name, levels in config["privacy_budget"].items() for level in levels
    }


def test_that_queries_follow_table_10_of_the_paper():
    assert [query.text for query in queries()[:8]] == [
        "PH1_num/usa_*",
        "PH1_num/usa_A-G",
        "PH1_num/usa_H,I",
        "PH1_num/state_*",
        "PH1_num/state_A-G",
        "PH1_num/state_H,I",
        "PH1_denom/usa_*",
        "PH1_denom/usa_A-G",
    ]
    assert {level.region for level in table("PH2").levels} == set(Region)
    assert {level.iteration for level in table("PH2").levels} == {Iteration.ALL}


def test_that_totals_are_the_sums_the_table_shells_show():
    sums = {
        (product.id, cell.code): cell.sum_of
        for product in tables().values()
        for cell in product.totals
        if cell.code != 1
    }
    assert sums == {
        ("PH2", 2): (3, 4),
        ("PH2", 5): (6, 7),
        ("PH2", 8): (9, 10),
        ("PH2", 11): (12, 13),
        ("PH3", 3): (4, 5, 6, 7),
        ("PH3", 8): (9, 10),
        ("PH6", 2): (3, 4, 5, 6),
        ("PH6", 7): (8, 9, 10, 11),
        ("PH6", 12): (13, 14, 15, 16),
        ("PH6", 17): (18, 19, 20, 21),
    }
    for product in tables().values():
        if any(cell.sum_of for cell in product.cells):
            assert product.cell(1).sum_of == tuple(cell.code for cell in product.basis_cells)


def test_that_denominators_repeat_their_count_in_non_private_output():
    for name in ("PH1_denom", "PH5_denom"):
        assert [cell.code for cell in table(name).basis_cells] == [1]
        assert [cell.copy_of for cell in table(name).cells] == [None, 1, 1]
    assert [cell.copy_of for cell in table("PH8_denom").cells] == [None, None, None]


def test_that_only_ph3_follows_the_race_of_the_person():
    assert {product.id for product in tables().values() if product.iteration_source is RaceOf.PERSON} == {"PH3"}
    assert {product.id for product in tables().values() if not product.iterated} == {"PH2", "PH6"}


def test_that_derived_tables_name_their_source():
    assert {product.id: product.derived_from for product in tables().values() if not product.measured} == {
        "PH5_num": "PH4",
        "PH8_num": "PH7",
    }
    assert [cell.sources for cell in table("PH8_num").basis_cells] == [(2, 3), (4,)]
    assert not table("PH8_num").queries


def test_that_modes_differ_where_production_does():
    differing = {
        p.id
        for p in tables().values()
        if (p.private.universe, p.private.counted) != (p.non_private.universe, p.non_private.counted)
    }
    assert differing == {"PH1_num", "PH4", "PH5_num", "PH8_num"}
    assert table("PH8_num").non_private.weight == "FINAL_POP"
    assert table("PH8_num").non_private.counted is Counted.UNITS


@pytest.mark.parametrize("name", tables())
@given(person=persons, unit=units)
def test_that_no_record_belongs_to_two_basis_cells(name, person, unit):
    product = table(name)
    matching = [cell.code for cell in product.basis_cells if cell.where.holds(person, unit)]
    assert len(matching) <= 1


@pytest.mark.parametrize("name", tables())
@given(person=persons, unit=units)
def test_that_a_record_of_a_sum_belongs_to_the_total_as_well(name, person, unit):
    product = table(name)
    for cell in product.totals:
        if any(product.cell(code).where.holds(person, unit) for code in cell.sum_of):
            assert cell.where.holds(person, unit)


@given(person=persons, unit=units)
def test_that_ph6_counts_the_own_children_of_ph3(person, unit):
    """Both place own children under 18 by family type; the cells of PH6 split those of PH3 by age."""
    ph3, ph6 = table("PH3"), table("PH6")
    for child, total in zip((4, 5, 6, 7), (2, 7, 12, 17), strict=True):
        in_ph3 = ph3.private.universe.holds(person, unit) and ph3.cell(child).where.holds(person, unit)
        in_ph6 = ph6.private.universe.holds(person, unit) and any(
            ph6.cell(code).where.holds(person, unit) for code in ph6.cell(total).sum_of
        )
        assert in_ph3 == (in_ph6 and person["RTYPE"] == 3)


def test_that_cell_columns_are_written_in_capitals():
    assert [p.cell_column for p in tables().values()][:3] == [
        "PH1_NUM_DATA_CELL",
        "PH1_DENOM_DATA_CELL",
        "PH2_DATA_CELL",
    ]


def test_that_sensitivity_is_that_of_the_paper():
    assert [sensitivity(p, 10) for p in truncated_tables()] == [22] * 6
    assert sensitivity(table("PH3"), 6) == 14
    assert sensitivity(table("PH8_num"), 10) == 22
    assert {sensitivity(p, None) for p in config_tables() if not p.truncated} == {2}


def test_that_repeated_geography_multiplies_the_units_part_of_the_sensitivity():
    assert sensitivity(table("PH7"), 10, geo_multiplicity=3) == 62
    assert sensitivity(table("PH8_denom"), None, geo_multiplicity=3) == 6


@pytest.mark.parametrize("tau", [None, 0, -1])
def test_that_a_truncated_table_without_a_threshold_has_no_sensitivity(tau):
    with pytest.raises(ValueError, match=f"got {tau}"):
        sensitivity(table("PH2"), tau)


def test_that_an_impossible_multiplicity_is_refused():
    with pytest.raises(ValueError, match="got 0"):
        sensitivity(table("PH2"), 3, geo_multiplicity=0)


def test_that_sets_of_codes_are_read_as_inclusive_ranges():
    assert parse_codes("20-24, 34 , 36") == ((20, 24), (34, 34), (36, 36))
    assert Condition("QAGE", parse_codes("18-")).holds(255)
    assert not Condition("QAGE", parse_codes("18-")).holds(17)


@pytest.mark.parametrize("text", ["", "a", "-3", "5-2", "256", "1,,2", "1-x"])
def test_that_a_set_of_codes_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="codes"):
        parse_codes(text)


def test_that_an_unknown_table_or_cell_names_the_nearest():
    with pytest.raises(UnknownNameError) as caught:
        table("PH1_nun")
    assert caught.value.remedy == "Did you mean 'PH1_num'?"
    with pytest.raises(UnknownNameError, match="'99'"):
        table("PH2").cell(99)


@given(race=st.integers(0, 255), hispanic=st.integers(0, 3))
def test_that_a_person_belongs_to_at_most_one_code_of_each_level(race, hispanic):
    for level in iteration_levels().values():
        held = [code.code for code in level.codes if code.holds(race, hispanic)]
        assert len(held) <= 1
        if level.complete and 1 <= race <= 63:
            assert len(held) == 1


def test_that_iterations_are_those_of_the_paper():
    def code(race, hispanic, iteration, *, private=True):
        level = iteration_levels()[iteration]
        place = level.place(race, hispanic, private=private)
        return None if place is None else level.codes[place].code

    races = [code(race, 1, Iteration.MAJOR_RACES) for race in (1, 2, 3, 4, 5, 6, 7, 63)]
    assert "".join(races) == "ABCDEFGG"
    assert [code(race, hisp, Iteration.ETHNICITY) for race, hisp in ((4, 2), (1, 2), (1, 1), (2, 1))] == [
        "H",
        "H",
        "I",
        None,
    ]
    assert code(0, 1, Iteration.MAJOR_RACES) is None
    assert code(0, 1, Iteration.MAJOR_RACES, private=False) == "G"
    assert code(0, 0, Iteration.ETHNICITY, private=False) is None


def test_that_a_number_is_worded_in_what_its_table_counts():
    of_units = {"PH1_denom": "households", "PH5_denom": "families", "PH8_denom": "occupied housing units"}
    for product in tables().values():
        assert product.counted_in == counted_in(product.id) == of_units.get(product.id, "people")
        asked = [product.private.universe, *(cell.where for cell in product.cells)]
        assert any(each.person for each in asked) <= (product.counted_in == "people")
        assert product.truncated == (product.counted_in == "people")
    assert counted_in("gone") == "people or households"


@pytest.mark.parametrize(
    ("units", "word"),
    [
        (("families", "families"), "families"),
        (("people", "families"), "people or households"),
        (("people or households", "households"), "people or households"),
        (("households", "families"), "housing units"),
    ],
)
def test_that_numbers_of_several_tables_are_worded_in_what_holds_for_each(units, word):
    assert counted_together(units) == word
