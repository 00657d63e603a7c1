"""Caps on a proven ε: kept by the solution itself, evaluated again, and spent nearly to the end."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.accuracy.proven_caps import proven_under
from phexplore.accuracy.proven_loss import epsilon_bracket
from phexplore.accuracy.solving_caps import cap_total
from phexplore.accuracy.solving_conflict import InfeasibleError
from phexplore.accuracy.solving_separable import solve
from phexplore.decide.goals import goals_of
from phexplore.decide.rule_evaluation import judge
from phexplore.errors import PhexploreError
from phexplore.files.goals_file import goals_json, read_goals
from phexplore.model.conventions import Neighbours
from phexplore.model.goals import Cap, CapOn, GoalError, Goals
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rules import Bound, Measure, Outcome, Rule
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import budgets_of, forecast, preset
from phexplore.systems.topdown.solving_spine import on_spine
from phexplore.systems.topdown.uniform_spine import uniform_spine

BLOCKS = {LevelQuery("Block", "total"): Fraction(4), LevelQuery("Tract", "detailed"): Fraction(12)}


def proven(scenario, cap):
    """Return both ends of the scenario's own figure, not of what the solver had in mind."""
    return epsilon_bracket(forecast(scenario).noise[cap.neighbours], cap.delta)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_that_spending_reaches_the_cap_but_keeps_it(us, neighbours):
    cap = Cap(CapOn.PROVEN, Fraction(17), neighbours=neighbours)
    solved = solve(budgets_of(us), Goals(caps=(cap,)), spend=True)
    found = proven(solved.scenario, cap)
    assert found.high <= 17
    assert found.low > 17 - 1e-4
    assert solved.caps[0][2] > cap_total(cap, PrivacyFramework.ZCDP)
    assert proven_under(budgets_of(solved.scenario), cap, budgets_of(solved.scenario).budgets) == found.high


@pytest.mark.parametrize("is_joint", [False, True])
def test_that_topdown_makes_way_for_a_proven_cap(is_joint):
    scenario = preset("pl94-2020-persons-us").scenario
    model, cap = budgets_of(scenario), Cap(CapOn.PROVEN, Fraction(10))
    joint = on_spine(model, uniform_spine(scenario.topdown)) if is_joint else None
    solved = solve(model, Goals(BLOCKS, caps=(cap,)), spend=True, joint=joint)
    found = forecast(solved.scenario).proven(cap.delta)
    assert 10 - 1e-3 < found <= 10
    # On the nominal path alone it would be less: units of this spine give budgets away.
    assert proven(solved.scenario, cap).high < found
    after = budgets_of(solved.scenario)
    assert proven_under(after, cap, after.budgets) == found


def test_that_a_solution_under_a_proven_cap_keeps_the_rule_of_the_same_limit():
    scenario = preset("pl94-2020-persons-us").scenario
    cap = Cap(CapOn.PROVEN, Fraction(16))
    solved = solve(budgets_of(scenario), Goals(BLOCKS, caps=(cap,)), spend=True).scenario
    (verdict,) = judge((Rule(Measure.PROVEN, Bound.AT_MOST, cap.limit),), solved, None)
    assert verdict.outcome is Outcome.PASS


def test_that_a_cap_counts_some_queries_alone():
    scenario = preset("pl94-2020-persons-us").scenario
    counted = frozenset(key for key in scenario.topdown.query_shares if key.level == "Block")
    cap = Cap(CapOn.PROVEN, Fraction("2.5"), counted)
    solved = solve(budgets_of(scenario), Goals({LevelQuery("Block", "total"): Fraction(6)}, caps=(cap,)))
    blocks = tuple(
        part
        for key, budget in budgets_of(solved.scenario).budgets.items()
        if key in counted
        for part in budgets_of(solved.scenario).noise({key: budget}, Neighbours.BOUNDED).parts
    )
    assert epsilon_bracket(blocks, cap.delta).high <= 2.5


def test_that_a_cap_is_kept_between_the_proven_epsilon_and_the_published_one(us):
    """The published targets fit under a cap that no conversion of ρ keeps, and do not fit below what is proven."""
    solved = solve(budgets_of(us))
    high = Fraction(forecast(solved.scenario).proven())
    assert solve(budgets_of(us), Goals(caps=(Cap(CapOn.PROVEN, high),))).scenario == solved.scenario
    with pytest.raises(InfeasibleError):
        solve(budgets_of(us), Goals(caps=(Cap(CapOn.EPSILON, high),)))
    with pytest.raises(InfeasibleError) as caught:
        solve(budgets_of(us), Goals(caps=(Cap(CapOn.PROVEN, high - Fraction(1, 1000)),)))
    assert caught.value.needed > caught.value.allowed


def test_that_pure_dp_and_queries_without_noise_have_the_cap_of_their_budgets(us):
    pure = preset("ddp-2019-persons-us").scenario
    cap = Cap(CapOn.PROVEN, Fraction(2))
    assert proven_under(budgets_of(pure), cap, budgets_of(pure).budgets) is None
    assert cap_total(cap, PrivacyFramework.PURE_DP, doubles=False) == 2
    assert proven_under(budgets_of(us), replace(cap, on=CapOn.EPSILON), budgets_of(us).budgets) is None
    margins = {LevelQuery("Block", "detailed"): Fraction(90)}
    solved = solve(budgets_of(pure), Goals(margins, caps=(cap,)), spend=True)
    assert 2 - Fraction(1, 100) < solved.scenario.topdown.total <= 2
    locks = frozenset(key for key in pure.topdown.query_shares if key.level == "State")
    with pytest.raises(InfeasibleError):
        solve(budgets_of(pure), Goals(margins, caps=(replace(cap, limit=Fraction(1, 100)),), locks=locks))


@pytest.mark.parametrize("limit", [Fraction(0), Fraction(-1)])
def test_that_a_cap_nothing_can_keep_is_refused(limit):
    with pytest.raises(GoalError):
        Cap(CapOn.PROVEN, limit)
    with pytest.raises(GoalError):
        goals_of("", "", {"proven_epsilon": str(limit)}, preset("sdhc-2020-pr").scenario)


@pytest.mark.parametrize("text", ["nan", "inf", "1/0", "1e400", "three"])
def test_that_a_cap_that_is_no_number_is_refused(text):
    with pytest.raises(PhexploreError):
        goals_of("", "", {"proven_epsilon": text}, preset("sdhc-2020-pr").scenario)


@pytest.mark.parametrize("name", ["sdhc-2020-pr", "pl94-2020-persons-pr", "dhc-2020-units-pr"])
def test_that_puerto_rico_and_locked_budgets_keep_a_proven_cap(name):
    scenario = preset(name).scenario
    model = budgets_of(scenario)
    first, *_, locked, last = model.budgets
    cap = Cap(CapOn.PROVEN, Fraction(30), delta=Fraction(1, 10**6))
    goals = Goals({first: Fraction(200), last: Fraction(150)}, caps=(cap,), locks=frozenset([locked]))
    solved = solve(model, goals, spend=True)
    assert proven(solved.scenario, cap).high <= 30
    assert budgets_of(solved.scenario).budgets[locked] == model.budgets[locked]


def test_that_a_proven_cap_goes_to_a_file_and_back(us):
    goals = Goals(caps=(Cap(CapOn.PROVEN, Fraction("16.3"), None, Neighbours.UNBOUNDED, Fraction(1, 10**8)),))
    content = json.dumps(dict(goals_json(goals)))
    assert '"proven_epsilon"' in content
    assert "conversion" not in content
    assert read_goals(content.encode(), "goals.json", tuple(budgets_of(us).budgets)).caps == goals.caps
