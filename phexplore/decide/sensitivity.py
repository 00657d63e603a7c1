"""What one parameter does to one target: leverage, and what leaving a level out frees and loses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from phexplore.accuracy.budget_model import LeftOut
from phexplore.model.goals import Key
from phexplore.model.numbers import Unlimited
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import budgets_of


@dataclass(frozen=True, slots=True)
class Leverage:
    """How a parameter moves a margin.

    Attributes:
        parameter: ``budget PH3/state_A-G`` or ``threshold PH3``.
        query: whose margin, a table at a level or a query of TopDown.
        margin: present, in people.
        per_percent: people by which it changes when the parameter grows by 1 % (a threshold: by one person).
    """

    parameter: str
    query: Key
    margin: float
    per_percent: float


def leverages(scenario: Scenario) -> tuple[Leverage, ...]:
    """Return, for every measured query with noise, what its budget and its threshold do to its margin, largest first."""
    system = budgets_of(scenario)
    found: list[Leverage] = []
    for key, budget in system.budgets.items():
        if isinstance(budget, Unlimited) or budget == 0:
            continue
        margin, more = system.margin(key, budget), system.margin(key, budget * Fraction(101, 100))
        found.append(Leverage(f"budget {key.text}", key, margin, more - margin))
        found += [Leverage(name, key, margin, each) for name, each in system.other_leverages(key, margin).items()]
    return tuple(sorted(found, key=lambda entry: -abs(entry.per_percent)))


def left_out_levels(scenario: Scenario) -> tuple[LeftOut, ...]:
    """Return what leaving out each level of all tables (TopDown: each geographic level) frees and loses, most freed first."""
    return tuple(sorted(budgets_of(scenario).leaving.by_level(), key=lambda entry: -entry.frees))


def left_out_queries(scenario: Scenario) -> tuple[LeftOut, ...]:
    """Return what leaving out each published query frees and loses, most freed first."""
    return tuple(sorted(budgets_of(scenario).leaving.by_query(), key=lambda entry: -entry.frees))


def leave_out(scenario: Scenario, queries: tuple[Key, ...]) -> Scenario:
    """Return the scenario without these queries; what they had is saved, not given to others.

    Args:
        scenario: to change.
        queries: to leave out.

    Raises:
        EditRefusedError: a query is locked, or nothing would be left.
    """
    return budgets_of(scenario).leaving.without(queries)


def reliable_from(margin: float, relative: Fraction) -> int:
    """Return the smallest count whose margin is at most this part of it, e.g. 1/20: "reliable from N people".

    Args:
        margin: half-width in people at the scenario's confidence.
        relative: largest margin as a part of the count, in (0, 1].

    Raises:
        ValueError: the part is not in (0, 1].
    """
    if not 0 < relative <= 1:
        raise ValueError(f"a relative margin lies in (0, 1], got {relative}")
    return max(1, math.ceil(Fraction(margin) / relative))
