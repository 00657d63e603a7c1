"""TopDown's shares from margins: minimal, exact, in production's form; what gives way and what does not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.accuracy.solving_conflict import InfeasibleError
from phexplore.accuracy.solving_separable import Reason, solve
from phexplore.model.conventions import MarginConvention
from phexplore.model.edits import set_item
from phexplore.model.goals import Cap, CapOn, Goals, Tie
from phexplore.model.issues import has_errors
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import budgets_of, check, preset
from phexplore.systems.topdown.budget_model import with_budgets
from phexplore.systems.topdown.forecast import forecast_topdown
from phexplore.systems.topdown.ini_writing import exact_scale, write_ini

PERSONS = preset("pl94-2020-persons-us").scenario
TOTAL = {level: LevelQuery(level, "total") for level in PERSONS.topdown.levels if level != "US"}
KEYS = tuple(PERSONS.topdown.query_shares)


def margins(scenario):
    found = forecast_topdown(scenario.topdown, scenario.conventions).entries
    return {entry.key: entry.margins.by(scenario.conventions.margin) for entry in found if entry.margins}


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), st.integers(2, 200), min_size=1, max_size=8))
def test_that_solved_shares_keep_every_margin_and_change_nothing_else(wanted):
    solved = solve(budgets_of(PERSONS), Goals(margins={key: Fraction(m) for key, m in wanted.items()}))
    found = margins(solved.scenario)
    step = PERSONS.conventions.rounding_step
    for entry in solved.queries:
        if entry.query in wanted:
            assert found[entry.query] <= wanted[entry.query]
            assert budgets_of(PERSONS).margin(entry.query, entry.budget - step) > wanted[entry.query]
        else:
            assert entry.budget == entry.before
    method = solved.scenario.topdown
    assert sum(method.level_shares.values()) == 1
    for level in method.levels:
        assert sum(share for key, share in method.query_shares.items() if key.level == level) == 1
    assert method.total - sum(e.budget for e in solved.queries) <= method.total / 10**6
    assert not has_errors(check(solved.scenario))


@pytest.mark.parametrize("convention", MarginConvention)
def test_that_every_convention_is_kept(convention):
    scenario = replace(PERSONS, conventions=replace(PERSONS.conventions, margin=convention))
    solved = solve(budgets_of(scenario), Goals(margins={TOTAL["Tract"]: Fraction(7)}))
    assert margins(solved.scenario)[TOTAL["Tract"]] <= 7


def test_that_what_nobody_asks_for_makes_room_under_a_cap_in_proportion():
    cap = Cap(CapOn.UNBOUNDED, PERSONS.topdown.total)
    solved = solve(budgets_of(PERSONS), Goals(margins={TOTAL["Block_Group"]: Fraction(2)}, caps=(cap,)))
    assert solved.scenario.topdown.total <= cap.limit
    shrunk = [e for e in solved.queries if e.reason is Reason.MADE_WAY]
    assert len(shrunk) == len(KEYS) - 1
    ratios = [float(e.budget / e.before) for e in shrunk]
    assert max(ratios) - min(ratios) < 0.01
    assert margins(solved.scenario)[TOTAL["Block_Group"]] <= 2


def test_that_locked_levels_keep_their_budget():
    locked = set_item(PERSONS, "locked_levels", "State", value=True)
    cap = Cap(CapOn.UNBOUNDED, PERSONS.topdown.total)
    solved = solve(budgets_of(locked), Goals(margins={TOTAL["Block_Group"]: Fraction(2)}, caps=(cap,)))
    for entry in solved.queries:
        if entry.query.level == "State":
            assert entry.budget == entry.before


@pytest.mark.parametrize("is_wish", [True, False])
def test_that_the_scenario_of_a_solution_keeps_locked_budgets_to_the_last_digit(is_wish):
    """The total takes a form of production's files; the largest query took the difference, also where it was locked."""
    key = TOTAL["State"]
    start = PERSONS if is_wish else set_item(PERSONS, "locked_queries", key, value=True)
    goals = Goals(margins={TOTAL["County"]: Fraction(3)}, locks=frozenset({key} if is_wish else ()))
    solved = solve(budgets_of(start), goals)
    assert solved.scenario.topdown.budget(key) == PERSONS.topdown.budget(key)
    assert margins(solved.scenario)[TOTAL["County"]] <= 3


def test_that_targets_alone_above_a_cap_are_named_with_ways_out():
    wanted = {TOTAL["Block_Group"]: Fraction(2), TOTAL["Tract"]: Fraction(3)}
    with pytest.raises(InfeasibleError) as caught:
        solve(budgets_of(PERSONS), Goals(margins=wanted, caps=(Cap(CapOn.UNBOUNDED, Fraction(1, 2)),)))
    assert "Block_Group: total at most 2 people" in caught.value.sentence
    way = caught.value.relaxations[0]
    eased = {key: way.margins[key][1] if key in way.margins else margin for key, margin in wanted.items()}
    solve(budgets_of(PERSONS), Goals(margins=eased, caps=(Cap(CapOn.UNBOUNDED, Fraction(1, 2)),)))


def test_that_ties_over_levels_share_the_narrowest_margin():
    solved = solve(
        budgets_of(PERSONS), Goals(margins={TOTAL["Tract"]: Fraction(4)}, ties=(Tie(tuple(TOTAL.values())),))
    )
    assert {round(margins(solved.scenario)[key], 3) for key in TOTAL.values()} == {
        round(margins(solved.scenario)[TOTAL["Tract"]], 3)
    }


def test_that_the_result_can_be_handed_over():
    solved = solve(budgets_of(PERSONS), Goals(margins={TOTAL["Tract"]: Fraction(4)}))
    write_ini(solved.scenario)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=len(KEYS), max_size=len(KEYS)).filter(any))
def test_that_budgets_become_shares_and_back_exactly(values):
    values = [Fraction(value, 10**6) for value in values]
    budgets = dict(zip(KEYS, values, strict=True))
    method = with_budgets(PERSONS.topdown, budgets)
    assert exact_scale(method.total) is not None
    surplus = method.total - sum(values)
    assert 0 <= surplus <= sum(values) / 10**6
    largest = max(budgets, key=lambda key: budgets[key])
    for key, budget in budgets.items():
        assert method.budget(key) == budget + (surplus if key == largest else 0)


def test_that_a_cap_without_room_gets_the_sum_itself():
    budgets = dict.fromkeys(KEYS, Fraction(1, 7))
    whole = sum(budgets.values())
    assert with_budgets(PERSONS.topdown, budgets, cap=whole).total == whole
