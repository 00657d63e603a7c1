from dataclasses import replace
from fractions import Fraction

import pytest
from topdown_worlds import PERSONS, UNITS, blocks, full, world_of

from phexplore.model.topdown import LevelQuery
from phexplore.simulate.topdown.design import DesignError
from phexplore.workload.schema_reduction import NoImageError


def design_of(population, method=PERSONS):
    return world_of(population, method).design


def test_that_all_of_the_budget_is_spent_or_said_to_be_unspent():
    for population, method in ((blocks(), PERSONS), (full(), PERSONS)):
        design = design_of(population, method)
        assert design.spent + design.unspent == method.total
        assert design.dropped == (("US", method.total * method.level_shares["US"]),)


def test_that_budgets_of_the_full_schema_are_those_of_the_scenario():
    design = design_of(full())
    for level in design.levels:
        for query, budget in zip(level.plan.measured, level.measuring.budgets, strict=True):
            assert budget == PERSONS.budget(LevelQuery(level.name, query.name))


def test_that_equal_images_are_merged_and_their_budgets_added():
    block = design_of(blocks()).levels[-1]
    budgets = {query.name: budget for query, budget in zip(block.plan.measured, block.measuring.budgets, strict=True)}
    shares = {key.query: share for key, share in PERSONS.query_shares.items() if key.level == "Block"}
    block_budget = PERSONS.total * PERSONS.level_shares["Block"]
    # Facility types are absent; race without Hispanic origin says only how many there are.
    into_detailed = ("hhinstlevels", "hhgq", "votingage * hispanic * cenrace", "detailed")
    assert budgets["detailed"] == block_budget * sum(shares[name] for name in into_detailed)
    assert budgets["race_ethnicity"] == block_budget * shares["hispanic * cenrace"]
    assert sum(budgets.values()) == block_budget


def test_that_what_the_data_cannot_express_is_said():
    remarks = " ".join(design_of(blocks()).remarks)
    assert "nurse_nva_0" in remarks
    assert "Facility bounds are left out" in remarks
    assert "US" in remarks


def test_that_state_totals_hold_at_the_state_only():
    exact = {level.name: level.exact_total for level in design_of(full()).levels}
    assert exact == {"State": True, "County": False, "Tract": False, "Block_Group": False, "Block": False}


def test_that_constraints_of_blocks_hold_at_every_level():
    for level in design_of(full()).levels:
        assert (level.least, level.most, level.zeros) == (True, True, ("nurse_nva_0",))


def test_that_units_keep_their_number_everywhere():
    from phexplore.systems.topdown.run_data import units_of_persons

    design = design_of(units_of_persons(None, full()), UNITS)
    assert all(level.exact_total for level in design.levels)


def test_that_a_level_without_detailed_is_refused():
    shares = dict(PERSONS.query_shares)
    key, other = LevelQuery("Tract", "detailed"), LevelQuery("Tract", "total")
    shares[other] += shares[key]
    shares[key] = Fraction(0)
    with pytest.raises(DesignError, match="detailed query is not measured at Tract"):
        design_of(full(), replace(PERSONS, query_shares=shares))


def test_that_a_level_without_budget_is_refused():
    shares = dict(PERSONS.level_shares)
    shares["County"] += shares["Tract"]
    shares["Tract"] = Fraction(0)
    with pytest.raises(DesignError, match="Tract has no budget"):
        design_of(full(), replace(PERSONS, level_shares=shares))


def test_that_an_unknown_constraint_is_refused():
    constraints = {**PERSONS.constraints, "Block": ("nurse_nva_1",)}
    with pytest.raises(DesignError, match="nurse_nva_1"):
        design_of(full(), replace(PERSONS, constraints=constraints))


def test_that_data_of_an_unrelated_schema_are_refused():
    with pytest.raises(NoImageError):
        design_of(blocks(), UNITS)


def test_that_outer_passes_need_a_rounder_each_and_the_schema_of_the_scenario():
    order = PERSONS.passes["Tract"]
    passes = {**PERSONS.passes, "Tract": replace(order, least_squares=order.least_squares * 2)}
    with pytest.raises(DesignError, match="without a rounder of their own"):
        design_of(full(), replace(PERSONS, passes=passes))
    with pytest.raises(DesignError, match="2 outer passes, and the data are in pl94_reduced16"):
        design_of(blocks(), replace(PERSONS, passes=passes))


def test_that_a_level_without_passes_is_estimated_at_once():
    plan = design_of(full(), replace(PERSONS, passes={})).levels[2].plan
    assert len(plan.passes) == 1
    assert [query.name for query in plan.rounding[0]] == ["detailed"]
