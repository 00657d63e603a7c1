from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.catalog.tables import queries
from phexplore.model.edits import EditRefusedError, apply_all, rename, set_field, set_item, step_label
from phexplore.model.fields import field_of
from phexplore.model.fingerprint import fingerprint
from phexplore.model.keys import QueryKey, TableId, parse_query
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.edits import (
    set_bounded_budget,
    set_budget,
    set_reader,
    set_states,
    set_target,
    set_threshold,
)

FIRST, SECOND = queries()[:2]


def test_that_an_edit_shares_everything_it_does_not_touch(us):
    edited = set_budget(us, FIRST, Fraction(1, 7))
    assert edited.method.budgets[FIRST] == Fraction(1, 7)
    assert us.method.budgets[FIRST] != Fraction(1, 7)
    assert all(edited.method.budgets[query] is us.method.budgets[query] for query in queries() if query != FIRST)
    assert edited.conventions is us.conventions


def test_that_a_bounded_budget_is_twice_the_unbounded_one(us):
    assert set_bounded_budget(us, FIRST, Fraction(1, 5)).method.budgets[FIRST] == Fraction(1, 10)


def test_that_a_locked_query_keeps_its_budget(us):
    locked = set_item(us, "locks", FIRST, value=True)
    with pytest.raises(EditRefusedError, match="locked"):
        set_budget(locked, FIRST, Fraction(1))
    assert set_budget(set_item(locked, "locks", FIRST, value=False), FIRST, Fraction(1)).method.budgets[FIRST] == 1


def test_that_a_derived_table_has_no_budget_of_its_own(us):
    with pytest.raises(EditRefusedError, match="PH5_num"):
        set_budget(us, parse_query("PH5_num/usa_*"), Fraction(1))


REFUSED = {
    "negative budget": lambda s: set_budget(s, FIRST, Fraction(-1)),
    "margin of zero": lambda s: set_target(s, FIRST, Fraction(0)),
    "threshold of zero": lambda s: set_threshold(s, TableId("PH3"), 0),
    "threshold of a unit table": lambda s: set_threshold(s, TableId("PH1_denom"), 5),
    "no state": lambda s: set_states(s, ()),
    "state twice": lambda s: set_states(s, ("44", "44")),
    "unknown reader": lambda s: set_reader(s, "xml"),
    "empty name": lambda s: rename(s, "  "),
    "name with #": lambda s: rename(s, "a#b"),
}


@pytest.mark.parametrize("edit", REFUSED.values(), ids=REFUSED.keys())
def test_that_an_impossible_edit_is_refused_with_a_remedy(us, edit):
    with pytest.raises(EditRefusedError) as caught:
        edit(us)
    assert caught.value.remedy


def test_that_several_edits_apply_in_order(us):
    edits = [lambda s: set_budget(s, FIRST, Fraction(1)), lambda s: set_budget(s, FIRST, Fraction(2))]
    assert apply_all(us, edits).method.budgets[FIRST] == 2


def test_that_the_fingerprint_follows_parameters_and_nothing_else(us):
    assert fingerprint(rename(us, "other")) == fingerprint(us)
    assert fingerprint(set_item(us, "locks", FIRST, value=True)) == fingerprint(us)
    assert fingerprint(set_budget(us, FIRST, Fraction(1, 7))) != fingerprint(us)
    assert fingerprint(set_threshold(us, TableId("PH3"), 7)) != fingerprint(us)


def test_that_the_fingerprint_is_stable_across_versions(us, puerto_rico):
    # Golden: a changed value would cut every approval and run from its scenario.
    assert fingerprint(us)[:16] == GOLDEN_US
    assert fingerprint(puerto_rico)[:16] == GOLDEN_PR


def test_that_a_scenario_crosses_a_process_border_unchanged(us):
    assert pickle.loads(pickle.dumps(us)) == us  # noqa: S301 - our own bytes


def test_that_budgets_cannot_be_written_through_the_value(us):
    with pytest.raises(TypeError):
        us.method.budgets[QueryKey(*FIRST)] = Fraction(1)


GOLDEN_US = "b449af605a2d91dc"
GOLDEN_PR = "20762a2cf52ec56a"


def test_that_budgets_are_changed_in_a_copy_and_only_they_are_checked(us):
    query, other = list(us.phsafe.budgets)[:2]
    before = us.phsafe.budgets[query]
    made = us.phsafe.with_entries("budgets", {query: Fraction(1, 7)})
    assert made == replace(us.phsafe, budgets={**us.phsafe.budgets, query: Fraction(1, 7)})
    assert hash(made) != hash(us.phsafe)
    assert list(made.budgets) == list(us.phsafe.budgets)
    assert us.phsafe.budgets[query] == before
    assert made.budgets[other] is us.phsafe.budgets[other]
    with pytest.raises(TypeError):
        made.budgets[query] = Fraction(1)
    for refused in (Fraction(-1), Fraction(10**80), Fraction(1, 10**80)):
        with pytest.raises(ValueError, match=query.text):
            us.phsafe.with_entries("budgets", {query: refused})


def test_that_any_declared_field_is_edited_checked_and_named(us):
    assert set_field(us, "note", "why").note == "why"
    assert set_field(us, "framework", PrivacyFramework.PURE_DP).method.framework is PrivacyFramework.PURE_DP
    locked = set_item(us, "locks", FIRST, value=True)
    assert locked.method.locks == {FIRST}
    assert set_item(locked, "locks", FIRST, value=False) == us
    aimed = set_item(us, "targets", FIRST, Fraction(20))
    assert aimed.method.targets[FIRST] == 20
    assert FIRST not in set_item(aimed, "targets", FIRST, None).method.targets
    for refused in (lambda: set_item(us, "budgets", FIRST, Fraction(-1)), lambda: set_item(us, "thresholds", "PH2", 0)):
        with pytest.raises(EditRefusedError) as caught:
            refused()
        assert caught.value.remedy
    budgets, locks = (field_of(type(us.method), name) for name in ("budgets", "locks"))
    assert step_label(budgets, Fraction(1, 3), FIRST) == "Set the budget of PH1_num/usa_* to 1/3"
    assert step_label(locks, True, FIRST) == "Lock the budget of PH1_num/usa_*"
