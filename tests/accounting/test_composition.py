from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.accounting.composition import bounded_epsilon, confirm_spent, spent
from phexplore.errors import BudgetMismatchError
from phexplore.model.numbers import UNLIMITED

BUDGETS = st.lists(st.integers(0, 10**7).map(lambda n: Fraction(n, 999_999)), max_size=12)


def test_that_the_budgets_of_2020_add_up_to_the_published_totals(us, puerto_rico):
    assert spent(us.method.budgets.values()) == Fraction("1.257281")
    assert spent(puerto_rico.method.budgets.values()) == Fraction("1.226649")


def test_that_ten_tenths_are_one():
    assert spent([Fraction("0.1")] * 10) == 1
    assert spent([]) == 0


def test_that_one_unlimited_query_makes_the_sum_unlimited():
    assert spent([Fraction(1), UNLIMITED, Fraction(0)]) is UNLIMITED


def test_that_a_negative_budget_is_refused_with_its_value():
    with pytest.raises(ValueError, match="got -1/3"):
        spent([Fraction(1), Fraction(-1, 3)])


@given(BUDGETS)
def test_that_what_was_spent_is_confirmed_in_any_order(budgets):
    confirm_spent(spent(budgets), reversed(budgets))


@given(BUDGETS, st.integers(10**29, 10**30).map(lambda n: Fraction(1, n)), st.booleans())
def test_that_the_least_difference_is_refused_in_either_direction(budgets, least, too_much):
    declared = spent(budgets) + (-least if too_much and spent(budgets) > least else least)
    with pytest.raises(BudgetMismatchError):
        confirm_spent(declared, budgets)


def test_that_a_mismatch_names_the_exact_values_and_the_way_out():
    with pytest.raises(BudgetMismatchError, match=r"0\.3, but .* 0\.30001, which is 0\.00001 more") as failure:
        confirm_spent(Fraction("0.3"), [Fraction("0.1"), Fraction("0.20001")])
    assert "Do not release" in failure.value.remedy
    with pytest.raises(BudgetMismatchError, match=r"1/3, but .* 0\.25, which is 1/12 less"):
        confirm_spent(Fraction(1, 3), [Fraction(1, 4)])


def test_that_unlimited_and_limited_budgets_are_not_the_same():
    confirm_spent(UNLIMITED, [Fraction(1), UNLIMITED])
    for declared, budgets in ((UNLIMITED, [Fraction(1)]), (Fraction(1), [UNLIMITED])):
        with pytest.raises(BudgetMismatchError, match="Infinity"):
            confirm_spent(declared, budgets)


def test_that_replacing_a_record_costs_pure_dp_twice():
    assert bounded_epsilon(Fraction("22.96")) == Fraction("45.92")
    with pytest.raises(ValueError, match="got -1"):
        bounded_epsilon(Fraction(-1))
