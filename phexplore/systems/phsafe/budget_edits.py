"""Edits that keep ρ, bounded ρ and margin together: change one, the others follow by the scenario's convention.

Args:
    scenario: to edit.
    query: table and level.
    margin: in people.
    table: that is truncated.
    people: τ.
    keep: what stays: budgets or margins.
    published: whether it gets a budget.
    source: scenario whose values are taken.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from fractions import Fraction

from phexplore.accuracy.margins import budget_for_margin
from phexplore.catalog.tables import counted_in, sensitivity, tables
from phexplore.model.edits import EditRefusedError
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.numbers import Budget
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.edits import set_budget, set_threshold
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.presets import phsafe_presets


class Keep(enum.Enum):
    """What stays when a truncation threshold changes."""

    BUDGETS = "budgets"
    """Margins follow."""
    MARGINS = "margins"
    """Budgets follow, so that each margin is kept. Locked rows keep their budget."""


def solved_budget(scenario: Scenario, query: QueryKey, margin: Fraction) -> Fraction:
    """Return the budget of `query` that gives this margin in people, by the scenario's convention and rounding.

    Args:
        scenario: with its thresholds and conventions.
        query: that is measured.
        margin: in people, above 0.

    Raises:
        MarginError: no positive budget gives it.
    """
    method = scenario.phsafe
    reach = sensitivity(tables()[query.table], method.thresholds.get(query.table))
    return budget_for_margin(margin, reach, method.framework, scenario.conventions, counted_in(query.table))


def edit_margin(scenario: Scenario, query: QueryKey, margin: Fraction) -> Scenario:
    """Give a query this margin: the budget follows, the target stays what the committee wishes.

    Args:
        scenario: to change.
        query: that is measured.
        margin: in people, above 0.

    Raises:
        EditRefusedError: the query is locked or has no budget of its own.
        MarginError: no positive budget gives the margin.
    """
    return set_budget(scenario, query, solved_budget(scenario, query, margin))


def edit_threshold(scenario: Scenario, table: TableId, people: int, keep: Keep = Keep.BUDGETS) -> Scenario:
    """Change τ of a table, keeping either its budgets or its margins.

    Args:
        scenario: to change.
        table: a truncated table.
        people: τ, at least 1.
        keep: budgets or margins.

    Raises:
        EditRefusedError: below 1, or the table is not truncated.
    """
    edited = set_threshold(scenario, table, people)
    if keep is Keep.BUDGETS:
        return edited
    figures = forecast(scenario)
    for query in scenario.phsafe.published:
        if query.table != table or query in scenario.phsafe.locks:
            continue
        if (margins := figures.query(query).margins) is None:
            continue
        margin, target = Fraction(margins.by(scenario.conventions.margin)), scenario.phsafe.targets.get(query)
        if target is not None and round(margin) == target:
            margin = target  # a rounded budget makes 500.04 people of the 500 that are meant
        if margin:
            edited = set_budget(edited, query, solved_budget(edited, query, margin))
    return edited


def set_published(scenario: Scenario, query: QueryKey, *, published: bool) -> Scenario:
    """Publish a query or leave it out.

    Leaving out sets the budget to 0 and keeps the target. Publishing solves the budget from the target; without one the
    budget of the baseline preset is taken.

    Args:
        scenario: to change.
        query: that is measured.
        published: whether it is to be published.

    Raises:
        EditRefusedError: locked, or neither a target nor a baseline says what the budget should be.
    """
    if not published:
        return set_budget(scenario, query, Fraction(0))
    if scenario.phsafe.budgets.get(query, Fraction(1)) != 0:
        return scenario
    if (target := scenario.phsafe.targets.get(query)) is not None:
        return set_budget(scenario, query, solved_budget(scenario, query, target))
    if (budget := _baseline_budget(scenario, query)) is None:
        raise EditRefusedError(
            f"Nothing says what the budget of {query.title} should be.", "Enter a margin of error or a budget instead."
        )
    return set_budget(scenario, query, budget)


def _baseline_budget(scenario: Scenario, query: QueryKey) -> Budget | None:
    baseline = phsafe_presets().get(scenario.baseline)
    budget = baseline.scenario.phsafe.budgets.get(query) if baseline else None
    return budget or None


def reset_query(scenario: Scenario, query: QueryKey, source: Scenario) -> Scenario:
    """Take budget and target of one query from another scenario.

    Args:
        scenario: to change.
        query: that is measured.
        source: scenario to take budget and target from.

    Raises:
        EditRefusedError: the query is locked.
    """
    edited = set_budget(scenario, query, source.phsafe.budgets[query])
    targets = {key: value for key, value in edited.phsafe.targets.items() if key != query}
    if (target := source.phsafe.targets.get(query)) is not None:
        targets[query] = target
    return replace(edited, method=replace(edited.phsafe, targets=targets))
