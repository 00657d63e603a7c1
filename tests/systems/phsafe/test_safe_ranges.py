from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.accuracy.margins import is_met
from phexplore.model.goals import Cap, CapOn, Goals
from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED, total_budget
from phexplore.model.workbook import Workbook, set_goals
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.safe_ranges import safe_range
from phexplore.systems.registry import budgets_of


@pytest.fixture
def query():
    return parse_query("PH3/state_A-G")


def _book(scenario, goals=None):
    book = Workbook((scenario,), scenario.name)
    return book if goals is None else set_goals(book, "phsafe", goals)


def test_that_the_ends_keep_target_and_cap_and_a_step_beyond_does_not(us, query) -> None:
    generous = set_budget(us, query, Fraction(1))
    total = total_budget(list(generous.phsafe.budgets.values()))
    goals = Goals(caps=(Cap(CapOn.BOUNDED, 2 * total + Fraction(1, 10)),))
    found = safe_range(_book(generous, goals), query)
    low, high = found.budgets
    target = us.phsafe.targets[query]
    assert is_met(budgets_of(generous).margin(query, low / 2), target)
    assert not is_met(budgets_of(generous).margin(query, low / 2 * Fraction(9, 10)), target)
    assert high == 2 * (1 + Fraction(1, 20))
    assert found.margins[1] == target
    assert float(found.margins[0]) == budgets_of(generous).margin(query, high / 2)


def test_that_nothing_is_drawn_where_nothing_bounds_or_nothing_is_safe(us, query) -> None:
    free = replace(us, method=replace(us.phsafe, targets={}))
    assert safe_range(_book(free), query) is None
    assert safe_range(_book(set_budget(us, query, Fraction(0))), query) is None
    assert safe_range(_book(set_budget(us, query, UNLIMITED)), query) is None
    assert safe_range(_book(us, Goals(caps=(Cap(CapOn.BOUNDED, Fraction(1, 10**6)),))), query) is None


def test_that_a_range_ends_where_a_target_or_the_cap_would_break(us, query) -> None:
    found = safe_range(_book(us, Goals(caps=(Cap(CapOn.UNBOUNDED, Fraction("1.26")),))), query)
    left = us.phsafe.budgets[query] + Fraction("1.26") - sum(us.phsafe.budgets.values())
    assert found.budgets == (2 * Fraction("0.662977"), 2 * left)  # rounded upward
    assert safe_range(_book(us, Goals(caps=(Cap(CapOn.UNBOUNDED, Fraction("1.2")),))), query) is None
    assert safe_range(_book(us), query).budgets[1] is None


def test_that_words_say_the_same(us, query) -> None:
    words = safe_range(_book(us), query).words
    assert words.startswith("Safe from 1.325954")
    assert "within 20 people" in words
