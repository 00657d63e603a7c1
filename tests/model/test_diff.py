from __future__ import annotations

from fractions import Fraction

from generators import SCENARIOS
from hypothesis import given, settings

from phexplore.catalog.tables import queries
from phexplore.model.diff import ChangedField, apply, diff, parameters_only
from phexplore.model.edits import set_budget


@settings(max_examples=40, deadline=None)
@given(SCENARIOS, SCENARIOS)
def test_that_applying_a_difference_leads_from_one_scenario_to_the_other(a, b):
    assert apply(diff(a, b), a) == b


@settings(max_examples=20, deadline=None)
@given(SCENARIOS)
def test_that_equal_scenarios_have_no_difference(a):
    assert diff(a, a) == ()


def test_that_one_edit_is_one_change_with_both_values(us):
    query = queries()[0]
    (change,) = diff(us, set_budget(us, query, Fraction(1, 3)))
    assert (change.field, change.key, change.after) == (ChangedField.BUDGET, query, Fraction(1, 3))
    assert change.before == us.method.budgets[query]
    assert change.path == "budget PH1_num/usa_*"


def test_that_names_and_notes_are_no_parameters(us, puerto_rico):
    fields = {change.field for change in parameters_only(diff(us, puerto_rico))}
    assert ChangedField.NAME not in fields
    assert {ChangedField.STATES, ChangedField.BUDGET, ChangedField.TARGET} == fields
