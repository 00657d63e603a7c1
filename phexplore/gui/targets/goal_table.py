"""The table of goals: targets and floors are typed, locks are ticked, the rest is read."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QObject, Signal

from phexplore.accuracy.budget_model import margin_of
from phexplore.accuracy.margins import is_met
from phexplore.accuracy.solving_separable import SolvedGoals, SolvedQuery
from phexplore.catalog.names import spellings
from phexplore.figures.wording import budget_text, letter, margin_text, parse_people, signed_budget, target_text
from phexplore.gui.binding.scenario_view import Update
from phexplore.gui.binding.session import Refusal, Session
from phexplore.gui.tables.parameter_table import (
    Cell,
    Kind,
    ParameterColumn,
    ParameterTable,
    PlainRow,
    Tone,
    parse_yes,
    plain_plan,
)
from phexplore.gui.targets.goal_edits import set_floors, set_locks, set_targets
from phexplore.model.goals import Goals, Key
from phexplore.model.numbers import Budget, Unlimited, exact_text, parse_exact
from phexplore.model.rounded import ABSENT, percent
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import budgets_of, system_of


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

    @property
    def is_missed(self) -> bool:
        """Whether the margin now is wider than the one asked for."""
        return self.target is not None and self.margin is not None and not is_met(self.margin, self.target)


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
    system, of = budgets_of(scenario), system_of(scenario)
    locks = system.locks | goals.locks
    letters = {key: letter(number) for number, tie in enumerate(goals.ties) for key in tie.queries}
    own = system.targets
    found = {entry.query: entry for entry in solved.queries} if solved is not None else {}
    return tuple(
        GoalRow(
            key,
            of.place_name(key.text).title,
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


Rows = tuple[GoalRow, ...]


class GoalColumn(enum.IntEnum):
    """The columns, in order."""

    QUERY = 0
    MARGIN = 1
    TARGET = 2
    BUDGET = 3
    SOLVED = 4
    CHANGE = 5
    SOLVED_MARGIN = 6
    REASON = 7
    FLOOR = 8
    TIE = 9
    LOCK = 10


class GoalSession(QObject):
    """The session as the table of goals sees it: rows of goals are shown, and edits are edits of the workbook.

    Signals:
        updated: `Update` of the rows.
        selected: never sent, for the rows chosen are not what the inspector explains.
    """

    updated = Signal(object)
    selected = Signal(object)
    selection: Any = None

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.shown: Rows = ()
        self.report, self.done = session.report, session.done

    def show_rows(self, rows: Rows) -> None:
        """Show other rows; the selection stays where the queries stay."""
        before, self.shown = self.shown, rows
        self.updated.emit(Update(before, rows))

    def edit(self, label: str, change: Callable[[Workbook], Workbook], **_merging: object) -> Refusal | None:
        """Edit the workbook as one named step; return why not, or None."""
        return self._session.edit_workbook(label, change)


def parse_goal(text: str, column: GoalColumn) -> Fraction | None:
    """Read a margin in people or a budget; None for an empty text.

    Raises:
        ValueError: it is not a number of 0 or more.
    """
    if not text.strip():
        return None
    value = parse_people(text) if column is GoalColumn.TARGET else parse_exact(text)
    if value < 0:
        raise ValueError(f"a goal is 0 or more, got {text.strip()}")
    return value


def goal_table(rows: Rows) -> ParameterTable[GoalRow]:
    """Return the table of goals."""
    longest = max((row.title for row in rows), key=len, default="")
    return ParameterTable(_columns(longest), rows, plain_plan, GoalColumn.QUERY, GoalColumn.TARGET)


def _change(row: GoalRow) -> str:
    if row.solved is None or isinstance(row.budget, Unlimited) or isinstance(row.solved.budget, Unlimited):
        return ""
    difference = row.solved.budget - row.budget
    return signed_budget(difference) if difference else "="


def goals_words(scenario: Scenario, rows: Rows) -> str:
    """Return how many goals are met now, and what their margins count.

    Args:
        scenario: whose margins they are.
        rows: of its table of goals.
    """
    # What is published without noise meets every goal; what is not published meets none and misses none.
    asked = [
        row for row in rows if row.target is not None and (row.margin is not None or isinstance(row.budget, Unlimited))
    ]
    missed = sum(row.is_missed for row in asked)
    of = system_of(scenario)
    *others, last = dict.fromkeys(of.counted(scenario, row.key) for row in rows)
    units = f"{', '.join(others)} or {last}" if others else last
    counted = (
        f"{len(asked) - missed} of {len(asked)} goals are met now{f', {missed} missed' if missed else ''}. "
        if asked
        else ""
    )
    return f"{counted}Margins at {percent(scenario.conventions.confidence, places=None)}, in {units}."


def _margin_now(row: GoalRow) -> str:
    if isinstance(row.budget, Unlimited):
        return "0 (no noise)"
    return f"missed {_people(row.margin, row.target)}" if row.is_missed else _people(row.margin)


def _people(margin: float | None, missed: Fraction | None = None) -> str:
    return ABSENT if margin is None else margin_text(margin, missed)


_SAMPLES = (
    dict.fromkeys((GoalColumn.TARGET, GoalColumn.SOLVED_MARGIN), "100,000")
    | {GoalColumn.MARGIN: "missed 1,000"}
    | dict.fromkeys((GoalColumn.BUDGET, GoalColumn.SOLVED, GoalColumn.CHANGE), "+0.000000…")
    | {GoalColumn.REASON: "made way", GoalColumn.FLOOR: "0.000000"}
)


@lru_cache(maxsize=4)
def _columns(longest: str) -> tuple[ParameterColumn[GoalRow], ...]:
    def column(
        key: GoalColumn, header: str, tip: str, text: Callable[[GoalRow], str], kind: Kind = Kind.NUMBER, **more: Any
    ) -> ParameterColumn[GoalRow]:
        """Return a column; without a tip of its own it shows the query's title."""
        is_open, sample = "step" in more, longest if key is GoalColumn.QUERY else _SAMPLES.get(key, header)

        def cell(row: GoalRow) -> Cell:
            is_marked = row.is_missed and key in {GoalColumn.MARGIN, GoalColumn.TARGET}
            tone = Tone.ATTENTION if is_marked else Tone.PLAIN
            return Cell(text(row), tone, is_open=is_open, is_checked=kind is Kind.LOCK and row.locked)

        return ParameterColumn(
            key, header, tip or header, sample, kind, cell, None if tip else lambda row: row.title, **more
        )

    of, words = GoalColumn, Kind.WORDS
    return (
        column(
            of.QUERY,
            "Query",
            "",
            lambda row: row.title,
            words,
            row_names=lambda row: spellings(row.title) | {row.key.text.lower()},
        ),
        column(of.MARGIN, "MOE", "Margin of error now", _margin_now),
        column(
            of.TARGET,
            "MOE ≤",
            "The largest margin of error allowed. Type a number; empty asks for nothing.",
            lambda row: target_text(row.target),
            exact=lambda row: "" if row.target is None else exact_text(row.target),
            step=lambda row, typed: set_targets((row.key,), parse_goal(typed, of.TARGET)),
        ),
        column(of.BUDGET, "Budget", "Budget now (PHSafe: unbounded)", lambda row: budget_text(row.budget)),
        column(
            of.SOLVED,
            "Solved",
            "The smallest budget that keeps all goals, rounded",
            lambda row: "" if row.solved is None else budget_text(row.solved.budget),
        ),
        column(of.CHANGE, "Change", "", _change),
        column(
            of.SOLVED_MARGIN,
            "MOE then",
            "Margin of error with that budget",
            lambda row: "" if row.solved is None else _people(row.solved_margin),
        ),
        column(
            of.REASON,
            "By",
            "What decided the solved budget",
            lambda row: "" if row.solved is None else row.solved.reason.value,
            words,
        ),
        column(
            of.FLOOR,
            "Budget ≥",
            "The smallest budget allowed. Type a number; empty asks for nothing.",
            lambda row: "" if row.floor is None else exact_text(row.floor),
            step=lambda row, typed: set_floors((row.key,), parse_goal(typed, of.FLOOR)),
        ),
        column(of.TIE, "Tie", "Queries with the same letter move together", lambda row: row.tie, words),
        column(
            of.LOCK,
            "Locked",
            "A locked budget stays",
            lambda _row: "",
            Kind.LOCK,
            step=lambda row, typed: set_locks((row.key,), locked=parse_yes(typed)),
        ),
    )
