"""Edits of PHSafe's parameters, each of one thing; margins that budgets follow are in `budget_edits`.

Args:
    scenario: to edit.
    query: table and level.
    budget: ρ or ε.
    margin: in people, None for no target.
    table: that is truncated.
    people: τ.
    states: FIPS codes.
    reader: of production: ``csv`` or ``cef``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from phexplore.catalog.tables import counted_in, tables
from phexplore.model.edits import EditRefusedError
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.numbers import Budget, Unlimited
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario

_USUAL_THRESHOLD = 10


def _unlocked(scenario: Scenario, query: QueryKey) -> PhSafe:
    method = scenario.phsafe
    if query not in method.budgets:
        raise EditRefusedError(
            f"{query.title} has no budget of its own.", "Edit the table it is derived from, or choose a measured table."
        )
    if query in method.locks:
        raise EditRefusedError(f"{query.title} is locked.", "Unlock the row first.")
    return method


def set_budget(scenario: Scenario, query: QueryKey, budget: Budget) -> Scenario:
    """Give `query` this budget (ρ unbounded, or ε under pure DP). 0 = not published.

    Args:
        scenario: to change.
        query: that is measured.
        budget: 0 or more.

    Raises:
        EditRefusedError: locked, derived, or negative.
    """
    method = _unlocked(scenario, query)
    if not isinstance(budget, Unlimited) and budget < 0:
        raise EditRefusedError(f"A budget is 0 or more, got {budget}.", "Enter 0 to leave the query unpublished.")
    return replace(scenario, method=method.with_entries("budgets", {query: budget}))


def set_bounded_budget(scenario: Scenario, query: QueryKey, budget: Budget) -> Scenario:
    """Give `query` this bounded budget: twice the unbounded one (PHSafe paper, Table 10).

    Args:
        scenario: to change.
        query: that is measured.
        budget: bounded ρ or ε, 0 or more.
    """
    unbounded = budget if isinstance(budget, Unlimited) else budget / 2
    return set_budget(scenario, query, unbounded)


def set_target(scenario: Scenario, query: QueryKey, margin: Fraction | None) -> Scenario:
    """Set the margin of error aimed at, in people, None for none. Budgets and margins stay: no other edit moves a target.

    Args:
        scenario: to change.
        query: that is measured.
        margin: in people, above 0; None for no target.

    Raises:
        EditRefusedError: locked, derived, or the margin is not positive.
    """
    method = _unlocked(scenario, query)
    if margin is not None and margin <= 0:
        raise EditRefusedError(
            f"A margin of error is more than 0 {counted_in(query.table)}, got {margin}.", "Enter a positive number."
        )
    targets = {key: value for key, value in method.targets.items() if key != query}
    if margin is not None:
        targets[query] = margin
    return replace(scenario, method=replace(method, targets=targets))


def set_threshold(scenario: Scenario, table: TableId, people: int) -> Scenario:
    """Set τ, the largest number of people counted per household. Budgets stay; margins follow.

    Args:
        scenario: to change.
        table: a truncated table.
        people: τ, at least 1.

    Raises:
        EditRefusedError: below 1, or the table is not truncated.
    """
    method = scenario.phsafe
    if table not in method.thresholds:
        raise EditRefusedError(f"{table} is not truncated.", "Tables that count housing units have no threshold.")
    if people < 1:
        raise EditRefusedError(f"A threshold keeps at least 1 person, got {people}.", "Enter a whole number from 1.")
    return replace(scenario, method=replace(method, thresholds={**method.thresholds, table: people}))


def add_table(scenario: Scenario, table: TableId) -> Scenario:
    """Add a table of the user's library: published at no level yet, and truncated as the table that keeps most.

    Args:
        scenario: to change.
        table: one that the catalogue has and the scenario has not.
    """
    method, product = scenario.phsafe, tables()[table]
    budgets = {**method.budgets, **{query: Fraction(0) for query in product.queries if query not in method.budgets}}
    people = max(method.thresholds.values(), default=_USUAL_THRESHOLD)
    thresholds = {**({table: people} if product.truncated else {}), **method.thresholds}
    return replace(scenario, method=replace(method, budgets=budgets, thresholds=thresholds))


def set_states(scenario: Scenario, states: tuple[str, ...]) -> Scenario:
    """Choose the states of the run.

    Args:
        scenario: to change.
        states: FIPS codes of two digits, each once.

    Raises:
        EditRefusedError: empty, or repeated.
    """
    if not states or len(set(states)) != len(states):
        raise EditRefusedError("The list of states is empty or names a state twice.", "Name each state once.")
    return replace(scenario, method=replace(scenario.phsafe, states=states))


def set_reader(scenario: Scenario, reader: str) -> Scenario:
    """Choose how production reads its input: "csv" or "cef".

    Args:
        scenario: to change.
        reader: ``csv`` or ``cef``.
    """
    if reader not in {"csv", "cef"}:
        raise EditRefusedError(f"Production has no reader {reader!r}.", "Choose csv or cef.")
    return replace(scenario, method=replace(scenario.phsafe, reader=reader))
