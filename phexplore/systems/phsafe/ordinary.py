"""S-DHC parameters whose figures certainly can be computed, told without computing them."""

from __future__ import annotations

from functools import lru_cache

from phexplore.catalog.tables import queries, truncated_tables
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget, Unlimited
from phexplore.model.scenario import Scenario

_ORDINARY_PEOPLE = 10_000
_ORDINARY_POWER = 20
"""Powers of two from 1. With 10,000 people per household σ² lies between 2^-20 and 2^50, b between 2^-20 and 2^36:
noises are refused beyond 2^-96 and 2^96."""
_ORDINARY_BITS = 256


def _is_ordinary_budget(budget: Budget) -> bool:
    if isinstance(budget, Unlimited) or not budget.numerator:
        return True
    above, below = budget.numerator.bit_length(), budget.denominator.bit_length()
    return abs(above - below) < _ORDINARY_POWER and max(above, below) <= _ORDINARY_BITS


def is_ordinary(scenario: Scenario) -> bool:
    """Return whether budgets and thresholds are complete and far from where noise cannot be drawn."""
    method = scenario.phsafe
    return (
        all(_is_ordinary_budget(budget) for budget in method.budgets.values())
        and all(people <= _ORDINARY_PEOPLE for people in method.thresholds.values())
        and method.budgets.keys() == _measured()
        and all(table.id in method.thresholds for table in truncated_tables())
    )


@lru_cache(maxsize=1)
def _measured() -> frozenset[QueryKey]:
    return frozenset(queries())
