"""The table of goals as values: what every query is asked, has, and would get. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from phexplore.accuracy.budget_model import margin_of
from phexplore.accuracy.solving_separable import SolvedGoals, SolvedQuery
from phexplore.figures.wording import letter
from phexplore.gui.tables.parameter_table import PlainRow
from phexplore.model.goal_edits import restricted
from phexplore.model.goals import Goals, Key, title_of
from phexplore.model.numbers import Budget
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook, system_name
from phexplore.systems.registry import budgets_of


@dataclass(frozen=True, slots=True)
class GoalRow(PlainRow):
    """One query.

    Attributes:
        key: which one.
        title: for people.
        target: margin asked for, in people; None when none is.
        is_own: the target is the scenario's own, not one of the project's goals.
        floor: smallest budget, None without one.
        tie: letter of the tie it is in, "" for none.
        locked: its budget stays.
        budget: it has now.
        margin: in people, of that budget; None where nothing is published or nothing is added.
        solved: what solving gives it; None before solving.
        solved_margin: in people; None likewise.
    """

    key: Key
    title: str
    target: Fraction | None
    is_own: bool
    floor: Fraction | None
    tie: str
    locked: bool
    budget: Budget
    margin: float | None
    solved: SolvedQuery | None = None
    solved_margin: float | None = None


def goals_of(workbook: Workbook) -> Goals:
    """Return what the project asks of the active scenario, beside its own targets and locks."""
    scenario = workbook.scenario
    known = budgets_of(scenario).budgets
    return restricted(workbook.goals.get(system_name(scenario), Goals()), known)


def goal_rows(
    scenario: Scenario,
    goals: Goals,
    solved: SolvedGoals | None = None,
    margins: Mapping[Key, float] | None = None,
) -> tuple[GoalRow, ...]:
    """Return a row per measured query, in the scenario's order.

    Args:
        scenario: the parameters.
        goals: what the project asks.
        solved: what solving gave; None before.
        margins: of the estimates then, in people, where least squares counts; empty where every query counts by itself.
    """
    after = margins or {}
    system = budgets_of(scenario)
    locks = system.locks | goals.locks
    letters = {key: letter(number) for number, tie in enumerate(goals.ties) for key in tie.queries}
    own = system.targets
    found = {entry.query: entry for entry in solved.queries} if solved is not None else {}
    return tuple(
        GoalRow(
            key,
            title_of(key),
            goals.margins.get(key, own.get(key)),
            key not in goals.margins,
            goals.floors.get(key),
            letters.get(key, ""),
            key in locks,
            budget,
            margin_of(system, key, budget),
            found.get(key),
            after.get(key) if after else margin_of(system, key, found[key].budget) if key in found else None,
        )
        for key, budget in system.budgets.items()
    )
