from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phexplore.metrics.topdown.plausibility import (
    UnitFigures,
    figures_of_ages,
    figures_of_housing,
    figures_of_persons,
    plausibility,
    with_housing,
)

COMPUTED = {1, 2, 3, 4, 5, 18, 19, 21, 22, 23}


def unit(household=(0, 0), quarters=(0, 0), kind=1, facilities=(0, 0), housing=(0, 0)):
    """One unit: minors and adults of households and of one type of quarters; (adult, other) facilities; (vacant, occupied)."""
    table = np.zeros((8, 2), np.int64)
    table[0], table[kind] = household, quarters
    by_type = np.zeros(8, np.int64)
    by_type[[1, 2]] = facilities
    return table.ravel(), by_type, np.array(housing)


def figures(*units):
    table, facilities, housing = (np.stack(column) for column in zip(*units, strict=True))
    return figures_of_persons(table, facilities, housing)


def check(number, level, truth, published):
    (result,) = [found for found in plausibility({level: truth}, {level: published}) if found.number == number]
    assert not result.missing
    return (result.applies_truth, result.found_truth, result.applies_published, result.found_published)


EMPTY = unit()
FINE = unit(household=(10, 20), housing=(1, 12))


@pytest.mark.parametrize(
    ("number", "level", "odd", "applies"),
    [
        (2, "Tract", unit(household=(0, 3), housing=(0, 4)), 3),
        (3, "Block", unit(household=(0, 3), housing=(0, 4)), 2),
        (3, "Block", unit(household=(0, 0), quarters=(0, 9), housing=(0, 1)), 2),
        (4, "Block", unit(household=(0, 1), housing=(3, 0)), 2),
        (5, "Block", unit(quarters=(0, 5), housing=(0, 1)), 2),
        (18, "Block", unit(household=(2, 0), housing=(0, 1)), 2),
        (19, "Block", unit(household=(1, 20), housing=(0, 2)), 2),
        (21, "Tract", unit(quarters=(1, 4), facilities=(1, 0)), 1),
    ],
)
def test_that_an_odd_unit_is_found_in_truth_and_published_data(number, level, odd, applies):
    calm, strange = figures(FINE, EMPTY, EMPTY), figures(FINE, EMPTY, odd)
    before = check(number, level, calm, calm)
    assert before[1] == before[3] == 0
    assert check(number, level, strange, calm)[:2] == (applies, 1)
    assert check(number, level, calm, strange)[2:] == (applies, 1)


@pytest.mark.parametrize(
    ("number", "level", "normal"),
    [
        (2, "Tract", unit(household=(0, 4), housing=(0, 4))),
        (3, "Block", unit(household=(0, 4), housing=(0, 4))),
        (4, "Block", unit(quarters=(0, 9))),
        (18, "Block", unit(household=(2, 0), quarters=(0, 1))),
        (18, "Block", unit(household=(2, 1))),
        (19, "Block", unit(household=(0, 20), housing=(0, 2))),
        (21, "Tract", unit(quarters=(1, 4), facilities=(1, 1))),
        (21, "Tract", unit(household=(3, 3), quarters=(0, 4), facilities=(1, 0))),
    ],
)
def test_that_a_unit_at_the_border_is_not_odd(number, level, normal):
    found = check(number, level, figures(normal), figures(normal))
    assert (found[1], found[3]) == (0, 0)


def test_that_totals_of_states_are_compared():
    truth, published = figures(FINE, FINE), figures(FINE, unit(household=(10, 21)))
    assert check(1, "State", truth, published) == (2, None, 2, 1)
    assert check(1, "State", truth, truth) == (2, None, 2, 0)


@pytest.mark.parametrize(
    ("truth", "published", "full", "empty"),
    [
        ((1, 9), (0, 10), 1, 0),
        ((0, 10), (0, 10), 0, 0),
        ((9, 1), (10, 0), 0, 1),
        ((10, 0), (10, 0), 0, 0),
        ((10, 0), (0, 10), 1, 0),
        ((0, 0), (0, 0), 0, 0),
    ],
)
def test_that_falsely_full_and_falsely_vacant_blocks_are_found(truth, published, full, empty):
    one, other = figures(unit(housing=truth)), figures(unit(housing=published))
    assert check(22, "Block", one, other)[3] == full
    assert check(23, "Block", one, other)[3] == empty
    assert check(22, "Block", one, other)[0] == int(sum(truth) > 0)


def test_that_all_checks_are_named_and_those_without_data_say_what_they_need():
    levels = {level: figures(FINE) for level in ("State", "Tract", "Block")}
    found = plausibility(levels, levels)
    assert [result.number for result in found] == list(range(1, 24))
    assert {result.number for result in found if not result.missing} == COMPUTED
    for result in found:
        assert (result.applies_published is None) == bool(result.missing)
        if result.missing:
            assert "which runs do not keep" in result.missing


def test_that_sixteen_cells_answer_what_they_can():
    bare = UnitFigures(people=np.array([3, 0, 5]), minors=np.array([3, 0, 2]))
    found = {
        result.number: result for result in plausibility({"Block": bare, "State": bare}, {"Block": bare, "State": bare})
    }
    assert {number for number, result in found.items() if not result.missing} == {1, 18}
    assert (found[18].applies_truth, found[18].found_truth) == (2, 1)
    assert "not left out" in found[18].note
    assert "this run does not have" in found[4].missing
    assert found[2].missing == "the run has no level Tract"


def test_that_figures_of_the_full_schema_are_added_up():
    table = np.arange(16).reshape(1, 16)
    facilities = np.arange(8).reshape(1, 8)
    found = figures_of_persons(table, facilities, np.array([[4, 6]]))
    assert (found.people.item(), found.minors.item()) == (120, sum(range(0, 16, 2)))
    assert (found.household_people.item(), found.quarters_people.item()) == (1, 119)
    assert found.quarters_minors.item() == sum(range(2, 16, 2))
    assert (found.adult_quarters.item(), found.other_quarters.item()) == (1 + 3 + 6, 2 + 4 + 5 + 7)
    assert (found.vacant.item(), found.occupied.item()) == (4, 6)
    with pytest.raises(ValueError, match="16 answers"):
        figures_of_persons(table[:, :8], None, None)


def test_that_other_units_are_refused():
    one = figures(FINE)
    with pytest.raises(ValueError, match="same units, not so at Block"):
        plausibility({"Block": one}, {"Block": replace(one, people=np.array([1, 2]))})


def test_that_the_odd_units_are_named():
    calm, strange = figures(FINE, EMPTY, EMPTY), figures(FINE, EMPTY, unit(household=(2, 0), housing=(0, 1)))
    found = {each.number: each for each in plausibility({"Block": calm}, {"Block": strange})}
    assert found[18].odd_truth.tolist() == [False, False, False]
    assert found[18].odd_published.tolist() == [False, False, True]
    assert found[22].odd_truth is None  # compares the two
    assert found[6].odd_published is None


def test_that_ages_alone_and_housing_alone_answer_only_their_checks():
    ages = figures_of_ages(np.array([[3, 0], [1, 4]]))
    computed = {
        each.number
        for each in plausibility({"State": ages, "Block": ages}, {"State": ages, "Block": ages})
        if not each.missing
    }
    assert computed == {1, 18}
    housing = figures_of_housing(np.array([0, 2]), np.array([4, 0]))
    levels = {"State": housing, "Tract": housing, "Block": housing}
    assert {each.number for each in plausibility(levels, levels) if not each.missing} == {22, 23}
    both = with_housing(ages, housing.vacant, housing.occupied)
    assert {each.number for each in plausibility({"Block": both}, {"Block": both}) if not each.missing} == {18, 22, 23}
    with pytest.raises(ValueError, match="2 answers"):
        figures_of_ages(np.zeros((2, 3), np.int64))
