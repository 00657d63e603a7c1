from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.accuracy.margins import MarginError, budget_for_margin
from phexplore.catalog.tables import queries
from phexplore.model.conventions import AS_IN_2020, Conventions, MarginConvention
from phexplore.model.edits import EditRefusedError, set_field, set_item
from phexplore.model.keys import TableId, parse_query
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.budget_edits import (
    Keep,
    edit_margin,
    edit_threshold,
    reset_query,
    set_published,
    solved_budget,
)
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast

STATE_CHILDREN = parse_query("PH3/state_A-G")


@pytest.mark.parametrize("query", queries(), ids=lambda query: query.text)
def test_that_all_46_published_budgets_follow_from_their_targets(us, query):
    scenario = set_field(us, "conventions", AS_IN_2020)
    assert solved_budget(scenario, query, us.method.targets[query]) == us.method.budgets[query]


def test_that_rounding_up_changes_27_of_the_46(us):
    changed = [q for q in queries() if solved_budget(us, q, us.method.targets[q]) != us.method.budgets[q]]
    assert len(changed) == 27
    assert all(solved_budget(us, q, us.method.targets[q]) > us.method.budgets[q] for q in changed)


CONVENTIONS = st.sampled_from([MarginConvention.NORMAL, MarginConvention.EXACT, MarginConvention.PAPER])


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 5000), st.sampled_from([2, 14, 22, 42]), CONVENTIONS, st.sampled_from(PrivacyFramework))
def test_that_a_budget_rounded_up_keeps_the_margin_and_one_step_less_does_not(margin, reach, convention, framework):
    if framework is PrivacyFramework.PURE_DP and convention is MarginConvention.PAPER:
        convention = MarginConvention.EXACT
    conventions = Conventions(margin=convention)
    budget = budget_for_margin(Fraction(margin), reach, framework, conventions)
    assert _margin(budget, reach, framework, conventions) <= margin
    less = budget - conventions.rounding_step
    if convention is not MarginConvention.PAPER and less > 0:  # the paper's formula is sufficient, not minimal
        assert _margin(less, reach, framework, conventions) > margin


def _margin(budget, reach, framework, conventions):
    from phexplore.accuracy.margins import margins_of
    from phexplore.noise.distributions import noise_for

    noise = noise_for(framework, sensitivity=reach, budget=budget)
    return Fraction(margins_of(noise, 1, conventions.confidence, conventions.z).by(conventions.margin)) - Fraction(
        1, 10**9
    )


@pytest.mark.defect("M1")
def test_that_editing_the_margin_moves_the_budget_and_leaves_the_target(us):
    edited = edit_margin(us, STATE_CHILDREN, Fraction(25))
    entry = forecast(edited).query(STATE_CHILDREN)
    assert edited.method.targets == us.method.targets
    assert entry.margins.normal <= 25
    assert entry.budget == Fraction("0.424305")
    others = [q for q in queries() if q != STATE_CHILDREN]
    assert all(edited.method.budgets[q] is us.method.budgets[q] for q in others)


def test_that_a_margin_too_wide_for_the_step_is_refused_not_unpublished(us):
    scenario = set_field(us, "conventions", replace(AS_IN_2020, rounding_step=Fraction(1, 100)))
    with pytest.raises(MarginError, match="not published"):
        edit_margin(scenario, STATE_CHILDREN, Fraction(10**6))


@pytest.mark.parametrize("margin", [Fraction(0), Fraction(-3)])
def test_that_a_margin_must_be_positive(us, margin):
    with pytest.raises(MarginError, match="more than 0"):
        edit_margin(us, STATE_CHILDREN, margin)


def test_that_whole_number_conventions_need_at_least_one_person(us):
    scenario = set_field(us, "conventions", Conventions(margin=MarginConvention.PAPER))
    with pytest.raises(MarginError, match="below 1"):
        edit_margin(scenario, STATE_CHILDREN, Fraction(1, 2))


def test_that_a_new_threshold_keeps_budgets_or_margins(us):
    table = TableId("PH3")
    before = forecast(us).query(STATE_CHILDREN)
    kept_budget = edit_threshold(us, table, 9)
    assert forecast(kept_budget).query(STATE_CHILDREN).margins.normal == pytest.approx(before.margins.normal * 20 / 14)
    kept_margin = edit_threshold(us, table, 9, Keep.MARGINS)
    assert forecast(kept_margin).query(STATE_CHILDREN).margins.normal <= 20
    assert kept_margin.method.budgets[STATE_CHILDREN] > us.method.budgets[STATE_CHILDREN]
    locked = edit_threshold(set_item(us, "locks", STATE_CHILDREN, value=True), table, 9, Keep.MARGINS)
    assert locked.method.budgets[STATE_CHILDREN] == us.method.budgets[STATE_CHILDREN]


def test_that_leaving_out_and_publishing_again_restores_the_target(us):
    out = set_published(us, STATE_CHILDREN, published=False)
    assert out.method.budgets[STATE_CHILDREN] == 0
    back = set_published(out, STATE_CHILDREN, published=True)
    assert forecast(back).query(STATE_CHILDREN).margins.normal <= 20
    assert set_published(us, STATE_CHILDREN, published=True) is us


def test_that_publishing_without_any_hint_is_refused(us):
    bare = replace(us, baseline="", method=replace(us.method, targets={}))
    bare = set_budget(bare, STATE_CHILDREN, Fraction(0))
    with pytest.raises(EditRefusedError, match="should be"):
        set_published(bare, STATE_CHILDREN, published=True)
    again = set_published(replace(bare, baseline="sdhc-2020-us"), STATE_CHILDREN, published=True)
    assert again.method.budgets[STATE_CHILDREN] == us.method.budgets[STATE_CHILDREN]


def test_that_a_query_can_be_reset_to_another_scenario(us):
    edited = edit_margin(us, STATE_CHILDREN, Fraction(99))
    assert reset_query(edited, STATE_CHILDREN, us) == us
