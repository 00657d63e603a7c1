"""A target that is met leaves its budget alone: solving and applying changes only what was asked."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.accuracy.margins import equals_target, is_met
from phexplore.accuracy.solving_separable import solve
from phexplore.decide.solving import SolveRequest, answer, applied, goals_of, with_targets
from phexplore.model.diff import diff, parameters_only
from phexplore.model.goals import Cap, CapOn, Goals
from phexplore.model.numbers import Rounding
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.changes import change_sentences, visible_changes
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.registry import budgets_of, presets
from phexplore.systems.topdown.solving_estimates import solve_estimates
from phexplore.systems.topdown.spine_forecast import Fit

US = presets()["sdhc-2020-us"].scenario


def wish(scenario, old, new):
    """Return the workbook after one target of 20 people, by race in the states, was moved and solved for."""
    key = next(key for key, target in scenario.phsafe.targets.items() if target == old and key.text == "PH3/state_A-G")
    book = with_targets(Workbook((scenario,), scenario.name), {key: Fraction(new)})
    found = answer(SolveRequest(book.scenario, goals_of(book)))
    assert found.solved is not None
    return key, applied(book, found.solved).scenario


@pytest.mark.parametrize("rounding", [Rounding.UP, Rounding.NEAREST])
def test_that_one_wish_is_two_changes(us, rounding):
    start = replace(us, conventions=replace(us.conventions, rounding=rounding))
    key, after = wish(start, 20, 30)
    changes = parameters_only(diff(start, after))
    assert sorted((change.word, change.key) for change in changes) == [("budget", key), ("target", key)]
    # ρ = z²Δ²/(2m²) of the wider margin, by hand: 4/9 of the unrounded budget of 20 people, to six decimals
    exact = budgets_of(start).need(key, Fraction(30))
    assert 0 <= abs(after.phsafe.budgets[key] - exact) < Fraction(1, 10**6)


def test_that_solving_what_is_met_returns_the_scenario(us):
    found = answer(SolveRequest(us, Goals()))
    assert found.solved is not None
    assert found.solved.scenario == us
    assert "met" in {entry.reason.value for entry in found.solved.queries}


def test_that_budgets_of_a_redistricting_scenario_stay_when_their_targets_are_met():
    start = presets()["pl94-2020-persons-us"].scenario
    model = budgets_of(start)
    key = next(key for key, budget in model.budgets.items() if budget)
    margin = Fraction(model.margin(key, model.budgets[key]))
    found = solve(model, Goals(margins={key: margin}), keeps_met=True)
    assert found.scenario == start


def test_that_a_cap_derives_budgets_that_exceed_their_need(us):
    key = next(iter(us.phsafe.targets))
    budgets = {**us.phsafe.budgets, key: us.phsafe.budgets[key] + Fraction(1, 10**7)}
    more = replace(us, method=replace(us.phsafe, budgets=budgets))
    cap = 2 * sum(budget for budget in us.phsafe.budgets.values())
    assert solve(budgets_of(more), keeps_met=True).scenario == more
    capped = replace(more, conventions=replace(more.conventions, rounding=Rounding.NEAREST))
    found = solve(budgets_of(capped), Goals(caps=(Cap(CapOn.BOUNDED, cap),)), keeps_met=True)
    assert found.scenario.phsafe.budgets == us.phsafe.budgets


@pytest.mark.parametrize(
    ("margin", "target", "met", "equal"),
    [(500.0413, 500, True, True), (500.6, 500, False, False), (19.98, 20, True, True), (19.9, 20, True, False),
     (20.4, 20, True, False), (2.5, 3, True, False), (499.4, 500, True, False)],
)  # fmt: skip
def test_that_met_and_equal_follow_the_digits_shown(margin, target, met, equal):
    assert is_met(margin, Fraction(target)) is met
    assert equals_target(margin, Fraction(target)) is equal


def test_that_changes_are_sorted_by_effect_and_those_not_shown_are_one_line(us):
    key, after = wish(us, 20, 30)
    factor = 1 + Fraction(1, 10**9)
    budgets = {query: budget * (factor if query != key else 1) for query, budget in after.phsafe.budgets.items()}
    after = replace(after, method=replace(after.phsafe, budgets=budgets))
    changes, before, now = parameters_only(diff(us, after)), forecast(us), forecast(after)
    visible, hidden = visible_changes(changes, before, now)
    assert {(change.word, change.key) for change in visible} == {("budget", key), ("target", key)}
    assert hidden == 45
    assert change_sentences(changes, before, now)[-1] == "45 budgets adjusted, margins unchanged"


@settings(max_examples=25, deadline=None)
@given(
    wishes=st.dictionaries(st.sampled_from(sorted(US.phsafe.targets, key=str)), st.integers(2, 3000), max_size=6),
    rounding=st.sampled_from(Rounding),
    spread=st.integers(0, 30),
    is_as_in_2020=st.booleans(),
)
def test_that_solving_twice_changes_nothing(wishes, rounding, spread, is_as_in_2020):
    """For all modes of rounding, from budgets that are met, missed and far off."""
    budgets = {
        key: budget * (1 + Fraction(number % (spread + 1), 10)) if isinstance(budget, Fraction) else budget
        for number, (key, budget) in enumerate(US.phsafe.budgets.items())
    }
    start = replace(
        US, conventions=replace(US.conventions, rounding=rounding), method=replace(US.phsafe, budgets=budgets)
    )
    book = with_targets(Workbook((start,), start.name), {key: Fraction(value) for key, value in wishes.items()})
    first = answer(SolveRequest(book.scenario, goals_of(book), as_in_2020=is_as_in_2020))
    assert first.solved is not None
    once = applied(book, first.solved)
    second = answer(SolveRequest(once.scenario, goals_of(once), as_in_2020=is_as_in_2020))
    assert second.solved is not None
    assert applied(once, second.solved).scenario == once.scenario
    if not is_as_in_2020:
        model, after = budgets_of(book.scenario), once.scenario.phsafe
        for key, target in after.targets.items():
            before = book.scenario.phsafe.budgets[key]
            if before and equals_target(model.margin(key, before), target):
                assert after.budgets[key] == before


@pytest.mark.parametrize("fit", Fit)
def test_that_solving_after_least_squares_twice_changes_nothing(fit):
    start = presets()["pl94-2020-persons-us"].scenario
    model = budgets_of(start)
    keys = [key for key, budget in model.budgets.items() if budget][::9]
    asked = {key: Fraction(max(1, round(model.margin(key, model.budgets[key])))) for key in keys}
    once, _ = solve_estimates(start, Goals(margins=asked), None, spend=False, fit=fit.value)
    again, _ = solve_estimates(once.scenario, Goals(margins=asked), None, spend=False, fit=fit.value)
    assert once.scenario != start
    assert again.scenario == once.scenario
