"""Budgets from targets: the published table, minimality against brute force, ties, floors, locks, caps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.margins import budget_for_margin
from phexplore.accuracy.solving_caps import cap_total
from phexplore.accuracy.solving_conflict import InfeasibleError
from phexplore.accuracy.solving_separable import Reason, rounded_as_in_2020, solve
from phexplore.catalog.tables import queries
from phexplore.model.conventions import Conversion, MarginConvention, Neighbours
from phexplore.model.edits import set_field, set_item
from phexplore.model.goals import Cap, CapOn, GoalError, Goals, Tie, TiedBy
from phexplore.model.keys import Region, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.budget_model import reach_of
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.registry import budgets_of

CHILDREN = parse_query("PH3/state_A-G")
TENURE = parse_query("PH7/state_A-G")
UNITS = parse_query("PH8_denom/state_A-G")


def emptied(scenario):
    return replace(
        scenario, method=replace(scenario.phsafe, budgets=dict.fromkeys(scenario.phsafe.budgets, Fraction(0)))
    )


def as_in_2020(scenario):
    return set_field(scenario, "conventions", rounded_as_in_2020(scenario.conventions))


def total(scenario):
    return sum(scenario.phsafe.budgets.values())


def test_that_the_published_table_follows_from_its_targets_alone(us):
    solved = solve(budgets_of(as_in_2020(emptied(us))))
    assert dict(solved.scenario.phsafe.budgets) == dict(us.phsafe.budgets)
    assert total(solved.scenario) == Fraction("1.257281")
    assert solved.changed_by_direction == ()


def test_that_puerto_rico_follows_from_its_targets_and_keeps_its_nation_levels_unpublished(puerto_rico):
    assert solve(budgets_of(as_in_2020(puerto_rico))).scenario.phsafe.budgets == puerto_rico.phsafe.budgets


def test_that_rounding_up_lists_the_27_it_changes_and_its_tax(us):
    solved = solve(budgets_of(us))
    assert len(solved.changed_by_direction) == 27
    assert {q.budget - q.nearest for q in solved.changed_by_direction} == {Fraction(1, 10**6)}
    assert 0 < solved.rounding_tax < 46 * Fraction(1, 10**6)
    assert solved.rounding_tax == total(solved.scenario) - sum(q.exact for q in solved.queries)


KINDS = [
    (convention, framework)
    for convention in MarginConvention
    for framework in PrivacyFramework
    if (convention, framework) != (MarginConvention.PAPER, PrivacyFramework.PURE_DP)
]


@pytest.mark.parametrize(("convention", "framework"), KINDS)
def test_that_every_budget_alone_is_the_one_the_margin_editor_gives(us, convention, framework):
    scenario = replace(
        us,
        method=replace(us.phsafe, framework=framework),
        conventions=replace(us.conventions, margin=convention),
    )
    for entry in solve(budgets_of(scenario)).queries:
        assert entry.budget == budget_for_margin(
            entry.target, reach_of(us.phsafe, entry.query), framework, scenario.conventions
        )


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(queries()), st.integers(5, 2000), min_size=1))
def test_that_solved_budgets_keep_every_margin_and_one_step_less_does_not(us, margins):
    scenario = replace(us, method=replace(us.phsafe, targets={}))
    solved = solve(budgets_of(scenario), Goals(margins={query: Fraction(m) for query, m in margins.items()}))
    step = us.conventions.rounding_step
    for entry in solved.queries:
        if entry.query in margins:
            assert budgets_of(scenario).margin(entry.query, entry.budget) <= margins[entry.query] * (1 + 1e-12)
            if entry.budget > step:
                assert budgets_of(scenario).margin(entry.query, entry.budget - step) > margins[entry.query] * (
                    1 - 1e-12
                )
        else:
            assert entry.reason is Reason.KEPT
            assert entry.budget == us.phsafe.budgets[entry.query]


def test_that_a_target_of_an_unpublished_query_waits(us):
    scenario = set_budget(us, CHILDREN, Fraction(0))
    assert solve(budgets_of(scenario)).scenario.phsafe.budgets[CHILDREN] == 0
    asked = solve(budgets_of(scenario), Goals(margins={CHILDREN: Fraction(20)}))
    assert asked.scenario.phsafe.budgets[CHILDREN] == Fraction("0.662977")


def test_that_a_floor_raises_a_budget_and_nothing_else(us):
    solved = solve(budgets_of(us), Goals(floors={UNITS: Fraction(1, 3)}))
    by_query = {entry.query: entry for entry in solved.queries}
    assert by_query[UNITS].budget == Fraction("0.333334")
    assert by_query[UNITS].reason is Reason.FLOOR
    plain = solve(budgets_of(us)).scenario.phsafe.budgets
    assert {q for q, b in solved.scenario.phsafe.budgets.items() if b != plain[q]} == {UNITS}


def test_that_a_lock_keeps_a_budget_that_reaches_its_target(us):
    locked = set_item(us, "locks", CHILDREN, value=True)
    entry = next(entry for entry in solve(budgets_of(locked)).queries if entry.query == CHILDREN)
    assert (entry.budget, entry.reason) == (Fraction("0.662976"), Reason.LOCK)


def test_that_a_query_without_noise_stays_so_when_locked(us):
    scenario = set_item(set_budget(us, CHILDREN, UNLIMITED), "locks", CHILDREN, value=True)
    assert solve(budgets_of(scenario)).scenario.phsafe.budgets[CHILDREN] is UNLIMITED
    with pytest.raises(GoalError, match="without noise, so no cap"):
        solve(budgets_of(scenario), Goals(caps=(Cap(CapOn.BOUNDED, Fraction(2)),)))


def test_that_queries_tied_by_margin_share_the_narrowest_and_those_tied_by_budget_the_largest(us):
    nation = tuple(query for query in queries() if query.level.region is Region.NATION)
    goals = Goals(margins={parse_query("PH2/usa_*"): Fraction(100)}, ties=(Tie(nation),))
    budgets = solve(budgets_of(us), goals).scenario.phsafe.budgets
    for query in nation:
        assert budgets_of(us).margin(query, budgets[query]) == pytest.approx(100, abs=0.4)
        assert budgets_of(us).margin(query, budgets[query]) <= 100
    alike = solve(budgets_of(us), Goals(ties=(Tie(nation, TiedBy.BUDGET),))).scenario.phsafe.budgets
    assert {alike[query] for query in nation} == {Fraction("0.002619") + Fraction(1, 10**6)}


def test_that_a_tie_alone_takes_the_most_accurate_as_its_example(us):
    scenario = replace(us, method=replace(us.phsafe, targets={}))
    solved = solve(budgets_of(scenario), Goals(ties=(Tie((CHILDREN, TENURE), TiedBy.BUDGET),)))
    assert solved.scenario.phsafe.budgets[TENURE] == us.phsafe.budgets[CHILDREN]


def test_that_a_tie_to_a_locked_query_follows_the_lock(us):
    scenario = set_item(replace(us, method=replace(us.phsafe, targets={})), "locks", CHILDREN, value=True)
    solved = solve(budgets_of(scenario), Goals(ties=(Tie((CHILDREN, TENURE), TiedBy.BUDGET),)))
    assert solved.scenario.phsafe.budgets[TENURE] == us.phsafe.budgets[CHILDREN]


@pytest.mark.parametrize(
    ("cap", "rho"),
    [
        (Cap(CapOn.UNBOUNDED, Fraction(1)), Fraction(1)),
        (Cap(CapOn.BOUNDED, Fraction(1)), Fraction(1, 2)),
    ],
)
def test_that_a_cap_on_a_budget_is_exact(cap, rho):
    assert cap_total(cap, PrivacyFramework.ZCDP) == rho


@settings(max_examples=30, deadline=None)
@given(
    st.fractions(Fraction(1, 10), 40, max_denominator=100),
    st.sampled_from(Conversion),
    st.sampled_from(Neighbours),
)
def test_that_a_cap_on_epsilon_is_never_exceeded_and_nearly_reached(limit, conversion, neighbours):
    cap = Cap(CapOn.EPSILON, limit, neighbours=neighbours, conversion=conversion)
    rho = cap_total(cap, PrivacyFramework.ZCDP) * (2 if neighbours is Neighbours.BOUNDED else 1)
    assert limit * Fraction(999999999, 10**9) < epsilon(rho, cap.delta, conversion) <= limit


def test_that_spending_the_rest_reaches_the_cap_but_keeps_it(us):
    cap = Cap(CapOn.BOUNDED, Fraction(3))
    solved = solve(budgets_of(us), Goals(caps=(cap,)), spend=True)
    ((_, allowed, spent),) = solved.caps
    assert allowed - Fraction(46 + 3, 10**6) < spent <= allowed
    for entry in solved.queries:
        assert budgets_of(us).margin(entry.query, entry.budget) < float(entry.target)
    with pytest.raises(GoalError, match="Without a cap"):
        solve(budgets_of(us), spend=True)


@pytest.mark.parametrize(
    ("goals", "sentence"),
    [
        (lambda: Goals(margins={CHILDREN: Fraction(0)}), "more than 0, got 0"),
        (lambda: Goals(floors={CHILDREN: Fraction(-1)}), "A floor is 0 or more"),
        (lambda: Goals(ties=(Tie((CHILDREN,)),)), "at least two"),
        (lambda: Goals(ties=(Tie((CHILDREN, TENURE)), Tie((TENURE, UNITS)))), "tied twice"),
        (lambda: Goals(ties=(Tie((CHILDREN, CHILDREN)),)), "tied twice"),
        (lambda: Cap(CapOn.BOUNDED, Fraction(0)), "more than 0"),
    ],
)
def test_that_a_goal_that_contradicts_itself_is_refused(goals, sentence):
    with pytest.raises(GoalError, match=sentence):
        goals()


def test_that_unknown_queries_and_empty_wishes_are_refused(us):
    with pytest.raises(GoalError, match="PH9/state_A-G is not a measured query"):
        solve(budgets_of(us), Goals(margins={CHILDREN._replace(table="PH9"): Fraction(1)}))
    with pytest.raises(GoalError, match="nothing to solve"):
        solve(budgets_of(replace(us, method=replace(us.phsafe, targets={}))))


def minimum_by_brute_force(us, margins, tie):
    """Try every pair of budgets on a coarse grid: an independent look at minimality under a tie."""
    step = Fraction(1, 1000)
    scenario = replace(us, conventions=replace(us.conventions, rounding_step=step))
    best = None
    for first, second in product(range(1, 60), repeat=2):
        pair = {CHILDREN: first * step, TENURE: second * step}
        if tie and pair[CHILDREN] != pair[TENURE]:
            continue
        if all(budgets_of(scenario).margin(q, b) <= margins[q] for q, b in pair.items()):
            best = min(best or 10, sum(pair.values()))
    solved = solve(
        budgets_of(replace(scenario, method=replace(us.phsafe, targets={}))),
        Goals(margins=margins, ties=(Tie((CHILDREN, TENURE), TiedBy.BUDGET),) if tie else ()),
    )
    return best, sum(solved.scenario.phsafe.budgets[q] for q in (CHILDREN, TENURE))


@pytest.mark.parametrize("tie", [False, True])
@pytest.mark.parametrize("margins", [(90, 150), (200, 120), (75, 300)])
def test_that_the_solution_is_the_smallest_on_its_grid(us, margins, tie):
    best, found = minimum_by_brute_force(us, dict(zip((CHILDREN, TENURE), map(Fraction, margins), strict=True)), tie)
    assert best == found


def test_that_infeasible_goals_do_not_come_back_as_a_scenario(us):
    with pytest.raises(InfeasibleError):
        solve(budgets_of(us), Goals(caps=(Cap(CapOn.BOUNDED, Fraction(2)),)))


def test_that_a_goal_beyond_every_budget_is_a_sentence(us):
    with pytest.raises(GoalError, match="larger than 1e75") as caught:
        solve(budgets_of(us), Goals(margins={queries()[0]: Fraction(1, 10**74)}))
    assert caught.value.remedy


@pytest.mark.parametrize("digits", [13, 26, 400])
def test_that_a_confidence_that_a_computer_takes_for_certainty_is_refused(us, digits):
    with pytest.raises(ValueError, match="closer to 1 than 1e-12"):
        replace(us.conventions, confidence=1 - Fraction(1, 10**digits))
    assert replace(us.conventions, confidence=1 - Fraction(1, 10**12)).confidence < 1
