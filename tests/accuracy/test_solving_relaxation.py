"""What is said when goals cannot be kept: smallest conflicts against brute force, ways out that work."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.accuracy.margins import MarginError
from phexplore.accuracy.solving_conflict import ConflictKind, InfeasibleError, RelaxationKind
from phexplore.accuracy.solving_separable import solve
from phexplore.catalog.tables import queries
from phexplore.model.edits import EditRefusedError, set_item
from phexplore.model.goals import Cap, CapOn, Goals, Tie, TiedBy
from phexplore.model.keys import parse_query
from phexplore.model.numbers import Rounding
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.edits import set_budget, set_target
from phexplore.systems.registry import budgets_of, preset

CHILDREN = parse_query("PH3/state_A-G")
TENURE = parse_query("PH7/state_A-G")


def bare(us):
    return replace(us, method=replace(us.phsafe, targets={}, budgets=dict.fromkeys(us.phsafe.budgets, Fraction(0))))


def conflict_of(scenario, goals):
    with pytest.raises(InfeasibleError) as caught:
        solve(budgets_of(scenario), goals)
    return caught.value


def targets_in(error):
    return {part.query for part in error.conflict if part.kind is ConflictKind.TARGET}


def feasible(scenario, margins, caps):
    if not margins:
        return True
    try:
        solve(budgets_of(scenario), Goals(margins=margins, caps=caps))
    except InfeasibleError:
        return False
    return True


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(queries()), min_size=2, max_size=5, unique=True),
    st.lists(st.integers(30, 400), min_size=5, max_size=5),
    st.floats(0.2, 0.95),
)
def test_that_the_conflict_is_a_smallest_one(us, chosen, margins, part):
    scenario = bare(us)
    goals = {query: Fraction(m) for query, m in zip(chosen, margins, strict=False)}
    whole = sum(solve(budgets_of(scenario), Goals(margins=goals)).scenario.phsafe.budgets.values())
    caps = (Cap(CapOn.UNBOUNDED, whole * Fraction(part)),)
    found = targets_in(conflict_of(scenario, Goals(margins=goals, caps=caps)))
    sizes = [
        size
        for size in range(1, len(goals) + 1)
        for names in combinations(goals, size)
        if not feasible(scenario, {q: goals[q] for q in names}, caps)
    ]
    assert len(found) == min(sizes)
    assert not feasible(scenario, {q: goals[q] for q in found}, caps)
    for query in found:
        assert feasible(scenario, {q: goals[q] for q in found - {query}}, caps)


@pytest.mark.parametrize("bounded", ["2.5", "2.2", "1.5", "0.9", "0.01"])
def test_that_every_way_out_keeps_the_cap_and_none_is_wider_than_needed(us, bounded):
    caps = (Cap(CapOn.BOUNDED, Fraction(bounded)),)
    error = conflict_of(us, Goals(caps=caps))
    assert error.needed > error.allowed == Fraction(bounded) / 2
    assert error.relaxations
    before = sum(solve(budgets_of(us)).scenario.phsafe.budgets.values())
    for way in error.relaxations:
        new = {query: margin for query, (_, margin) in way.margins.items()}
        eased = _with_margins(us, new)
        solved = solve(budgets_of(eased), Goals(caps=caps)).scenario
        assert way.frees == before - sum(solved.phsafe.budgets.values())
        if way.kind in {RelaxationKind.ONE_TARGET, RelaxationKind.LEVEL}:
            assert not _keeps(_with_margins(us, {query: margin - 1 for query, margin in new.items()}), caps)


def _with_margins(us, margins):
    targets, budgets = dict(us.phsafe.targets), dict(us.phsafe.budgets)
    for query, margin in margins.items():
        if margin is None:
            del targets[query]
            budgets[query] = Fraction(0)
        else:
            targets[query] = margin
    return replace(us, method=replace(us.phsafe, targets=targets, budgets=budgets))


def _keeps(scenario, caps):
    try:
        solve(budgets_of(scenario), Goals(caps=caps))
    except InfeasibleError:
        return False
    return True


def test_that_a_slightly_low_cap_is_cured_by_one_level_in_people(us):
    error = conflict_of(us, Goals(caps=(Cap(CapOn.BOUNDED, Fraction("2.5")),)))
    assert error.relaxations[0].text == "State, A-G in 6 tables 68 → 69 frees bounded ρ 0.024654"
    assert "need a bounded ρ of 2.514616, but bounded budget ≤ 2.5 allows 2.5." in error.sentence
    assert error.remedy.startswith("Suggested resolutions: State, A-G in 6 tables 68 → 69")


def test_that_the_joint_way_with_the_fewest_people_beats_a_common_factor(us):
    ways = {way.kind: way for way in conflict_of(us, Goals(caps=(Cap(CapOn.BOUNDED, Fraction(1)),))).relaxations}
    assert ways[RelaxationKind.FEWEST_PEOPLE].people < ways[RelaxationKind.IN_PROPORTION].people


def test_that_a_lock_against_a_target_is_named_with_the_margin_it_gives(us):
    locked = set_item(set_budget(us, CHILDREN, Fraction("0.4")), "locks", CHILDREN, value=True)
    error = conflict_of(locked, Goals())
    assert {part.kind for part in error.conflict} == {ConflictKind.LOCK, ConflictKind.TARGET}
    assert (
        "PH3 (State, A-G) has the target 20 people, but PH3 (State, A-G) is locked, which gives 25.7 people."
        in error.sentence
    )
    accepted = error.relaxations[0].margins[CHILDREN][1]
    assert accepted == 26
    solve(budgets_of(_with_margins(locked, {CHILDREN: accepted})))


def test_that_a_locked_unpublished_query_cannot_have_a_target(us):
    locked = set_item(set_budget(us, CHILDREN, Fraction(0)), "locks", CHILDREN, value=True)
    error = conflict_of(locked, Goals(margins={CHILDREN: Fraction(20)}))
    assert "not published" in error.sentence
    assert error.relaxations[0].kind is RelaxationKind.UNLOCK


def test_that_locks_floors_and_ties_that_disagree_are_named(us):
    both = set_item(set_item(us, "locks", CHILDREN, value=True), "locks", TENURE, value=True)
    error = conflict_of(both, Goals(ties=(Tie((CHILDREN, TENURE), TiedBy.BUDGET),)))
    assert [part.kind for part in error.conflict] == [ConflictKind.LOCK, ConflictKind.LOCK, ConflictKind.TIE]
    one = set_item(us, "locks", CHILDREN, value=True)
    error = conflict_of(one, Goals(floors={CHILDREN: Fraction(1)}))
    assert [part.kind for part in error.conflict] == [ConflictKind.LOCK, ConflictKind.FLOOR]


def test_that_locked_budgets_above_a_cap_are_named_without_targets(us):
    locked = us
    for query in us.phsafe.budgets:
        locked = set_item(locked, "locks", query, value=True)
    error = conflict_of(locked, Goals(caps=(Cap(CapOn.UNBOUNDED, Fraction("0.7")),)))
    assert [part.kind for part in error.conflict] == [ConflictKind.LOCK, ConflictKind.LOCK, ConflictKind.CAP]
    assert error.remedy == "Raise the cap, unlock a query, or leave a query unpublished."


def test_that_a_cap_on_some_queries_counts_only_those(us):
    tenure = frozenset(query for query in queries() if query.table == "PH7")
    caps = (Cap(CapOn.UNBOUNDED, Fraction("0.15"), tenure),)
    error = conflict_of(us, Goals(caps=caps))
    assert all(query.table == "PH7" for query in targets_in(error))
    assert solve(budgets_of(us), Goals(caps=(Cap(CapOn.UNBOUNDED, Fraction("0.2"), tenure),))).caps[0][2] < Fraction(
        "0.2"
    )


def test_that_several_caps_are_all_kept_by_every_way_out(us):
    state = frozenset(query for query in queries() if query.level.text == "state_A-G")
    caps = (Cap(CapOn.UNBOUNDED, Fraction("1.2")), Cap(CapOn.UNBOUNDED, Fraction("1.0"), state))
    for way in conflict_of(us, Goals(caps=caps)).relaxations:
        new = {query: margin for query, (_, margin) in way.margins.items()}
        solve(budgets_of(_with_margins(us, new)), Goals(caps=caps))


def test_that_a_relaxed_margin_is_the_margin_of_the_solved_budget(us):
    error = conflict_of(us, Goals(caps=(Cap(CapOn.BOUNDED, Fraction(2)),)))
    (query, (_, new)), *_ = error.relaxations[0].margins.items()
    solved = solve(budgets_of(_with_margins(us, {query: new})), Goals(caps=(Cap(CapOn.BOUNDED, Fraction(2)),))).scenario
    assert budgets_of(us).margin(query, solved.phsafe.budgets[query]) <= new


@pytest.mark.parametrize("equal", list(TiedBy))
def test_that_a_tie_without_targets_that_exceeds_a_cap_is_the_conflict(us, equal):
    """Nothing but the tie is asked: the most accurate of its queries leads, and raises the other one above the cap."""
    scenario = set_budget(set_budget(bare(us), CHILDREN, Fraction(1, 2)), TENURE, Fraction(1, 100))
    tie = Tie((CHILDREN, TENURE), equal)
    error = conflict_of(scenario, Goals(ties=(tie,), caps=(Cap(CapOn.UNBOUNDED, Fraction(51, 100)),)))
    assert [part.text for part in error.conflict if part.kind is ConflictKind.TIE] == [tie.title]
    assert error.needed > error.allowed == Fraction(51, 100)


HOUSEHOLDS, FAMILIES = parse_query("PH1_denom/state_A-G"), parse_query("PH5_denom/state_A-G")


def texts_of(scenario, margins, cap):
    """Return the conflict in words, and the ways out in words by their kind."""
    error = conflict_of(scenario, Goals(margins=margins, caps=(Cap(CapOn.UNBOUNDED, Fraction(cap)),)))
    return error.sentence, {way.kind: way.text for way in error.relaxations}


def test_that_goals_in_conflict_are_worded_in_what_each_table_counts(us):
    sentence, _ = texts_of(bare(us), {HOUSEHOLDS: Fraction(3), FAMILIES: Fraction(3)}, "1")
    assert "PH1_denom (State, A-G) at most 3 households and PH5_denom (State, A-G) at most 3 families." in sentence
    assert "PH3 (State, A-G) at most 9 people." in texts_of(bare(us), {CHILDREN: Fraction(9)}, "0.1")[0]


@pytest.mark.parametrize(
    ("tables", "unit"),
    [
        ({"PH3"}, "people"),
        ({"PH1_denom"}, "households"),
        ({"PH1_denom", "PH5_denom"}, "housing units"),
        ({"PH1_denom", "PH3"}, "people or households"),
    ],
)
def test_that_a_joint_way_out_counts_what_its_targets_count(us, tables, unit):
    goals = {query: Fraction(9) for query in queries() if query.table in tables}
    _, ways = texts_of(bare(us), goals, "0.1")
    assert f" {unit} together" in ways[RelaxationKind.IN_PROPORTION]
    assert ways.get(RelaxationKind.FEWEST_PEOPLE, f"the fewest {unit} in all (").startswith(
        f"the fewest {unit} in all ("
    )


@pytest.mark.parametrize(("what", "unit"), [("persons", "people"), ("units", "housing units")])
def test_that_goals_of_a_census_are_worded_in_what_its_schema_counts(what, unit):
    scenario = preset(f"pl94-2020-{what}-us").scenario
    goals = dict.fromkeys(budgets_of(scenario).budgets, Fraction(3))
    sentence, ways = texts_of(scenario, goals, "0.1")
    assert f" at most 3 {unit}." in sentence
    assert f" {unit} together" in ways[RelaxationKind.IN_PROPORTION]


def test_that_a_lock_and_a_missing_budget_name_what_is_counted(us):
    locked = set_item(set_budget(us, HOUSEHOLDS, Fraction("0.0001")), "locks", HOUSEHOLDS, value=True)
    error = conflict_of(locked, Goals(margins={HOUSEHOLDS: Fraction(2)}))
    assert "PH1_denom (State, A-G) has the target 2 households, but" in error.sentence
    us = replace(us, conventions=replace(us.conventions, rounding=Rounding.NEAREST))
    with pytest.raises(MarginError, match="a margin of error of 100000000 households needs a budget below"):
        solve(budgets_of(bare(us)), Goals(margins={HOUSEHOLDS: Fraction(10**8)}))
    for refused, words in ((Fraction(0), "more than 0 households"), (Fraction(-1), "got -1")):
        with pytest.raises(EditRefusedError, match=words):
            set_target(us, HOUSEHOLDS, refused)
    with pytest.raises(MarginError, match="A margin of error of 100000000 families needs"):
        edit_margin(us, FAMILIES, Fraction(10**8))
