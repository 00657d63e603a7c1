"""The table of goals as Qt shows it: targets and floors are typed, locks are ticked, the rest is read."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from phexplore.figures.wording import ABSENT, budget_text, parse_people, people, signed_budget
from phexplore.gui.targets.goal_rows import GoalRow
from phexplore.model.goals import Key
from phexplore.model.numbers import Unlimited, exact_text, parse_exact

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


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


Take = Callable[[Key, "Fraction | None"], bool]
"""Takes a typed number, None for nothing; returns whether it was accepted."""


class GoalTable(QAbstractTableModel):
    """Rows of goals. Edits are passed on; the rows change when the project does."""

    def __init__(
        self, take_target: Take, take_floor: Take, lock: Callable[[Key, bool], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._rows: tuple[GoalRow, ...] = ()
        self._take = {GoalColumn.TARGET: take_target, GoalColumn.FLOOR: take_floor}
        self._lock = lock

    @property
    def rows(self) -> tuple[GoalRow, ...]:
        """What is shown."""
        return self._rows

    def show_rows(self, rows: tuple[GoalRow, ...]) -> None:
        """Show other rows; the selection stays where the queries stay."""
        before, self._rows = self._rows, rows
        if [row.key for row in before] != [row.key for row in rows]:
            self.beginResetModel()
            self.endResetModel()
            return
        changed = [n for n, (old, new) in enumerate(zip(before, rows, strict=True)) if old != new]
        if changed:
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(GoalColumn) - 1))

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(GoalColumn)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[GoalColumn(section)].head
        if role == Qt.ItemDataRole.ToolTipRole:
            return _COLUMNS[GoalColumn(section)].tip or None
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.column() in self._take:
            flags |= Qt.ItemFlag.ItemIsEditable
        if index.column() == GoalColumn.LOCK:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], GoalColumn(index.column())
        answers: dict[int, Callable[[], Any]] = {
            Qt.ItemDataRole.DisplayRole: lambda: cell_text(row, column),
            Qt.ItemDataRole.EditRole: lambda: _typed(row, column),
            Qt.ItemDataRole.CheckStateRole: lambda: _tick(row) if column is GoalColumn.LOCK else None,
            Qt.ItemDataRole.TextAlignmentRole: lambda: None if _COLUMNS[column].is_words else _RIGHT,
            Qt.ItemDataRole.ToolTipRole: lambda: _COLUMNS[column].tip or row.title,
            Qt.ItemDataRole.AccessibleTextRole: lambda: _spoken(row, column),
        }
        found = answers.get(role)
        return found() if found is not None else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row, column = self._rows[index.row()], GoalColumn(index.column())
        if role == Qt.ItemDataRole.CheckStateRole and column is GoalColumn.LOCK:
            return self._lock(row.key, Qt.CheckState(value) is Qt.CheckState.Checked)
        if role != Qt.ItemDataRole.EditRole or column not in self._take:
            return False
        text = str(value).strip()
        try:
            number = parse_goal(text, column) if text else None
        except ValueError:
            return False
        return (number is None or number >= 0) and self._take[column](row.key, number)


_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


def _typed(row: GoalRow, column: GoalColumn) -> str:
    value = row.target if column is GoalColumn.TARGET else row.floor if column is GoalColumn.FLOOR else None
    return "" if value is None else exact_text(value)


def _tick(row: GoalRow) -> Qt.CheckState:
    return Qt.CheckState.Checked if row.locked else Qt.CheckState.Unchecked


def _spoken(row: GoalRow, column: GoalColumn) -> str:
    said = ("locked" if row.locked else "free") if column is GoalColumn.LOCK else cell_text(row, column)
    return f"{_COLUMNS[column].head}, {row.title}: {said or 'none'}"


def parse_goal(text: str, column: GoalColumn) -> Fraction:
    """Read a margin in people or a budget.

    Raises:
        ValueError: it is not a number.
    """
    return parse_people(text) if column is GoalColumn.TARGET else parse_exact(text)


def cell_text(row: GoalRow, column: GoalColumn) -> str:
    """Return the words of a cell."""
    return _COLUMNS[column].text(row)


def people_exactly(value: Fraction) -> str:
    """Return a target in people, exact, with thousands separated where it is whole."""
    return f"{value.numerator:,}" if value.denominator == 1 else exact_text(value)


def _change(row: GoalRow) -> str:
    if row.solved is None or isinstance(row.budget, Unlimited) or isinstance(row.solved.budget, Unlimited):
        return ""
    difference = row.solved.budget - row.budget
    return signed_budget(difference) if difference else "="


def _solved_margin(row: GoalRow) -> str:
    if row.solved is None:
        return ""
    return ABSENT if row.solved_margin is None else people(row.solved_margin)


@dataclass(frozen=True, slots=True)
class _Column:
    """What a column is called and says of a row; without a tip of its own it shows the query's title."""

    head: str
    text: Callable[[GoalRow], str]
    tip: str = ""
    is_words: bool = False


_COLUMNS = {
    GoalColumn.QUERY: _Column("Query", lambda row: row.title, is_words=True),
    GoalColumn.MARGIN: _Column(
        "MOE", lambda row: ABSENT if row.margin is None else people(row.margin), "Margin of error now, people"
    ),
    GoalColumn.TARGET: _Column(
        "MOE ≤",
        lambda row: "" if row.target is None else people_exactly(row.target),
        "The largest margin of error allowed, people. Type a number; empty asks for nothing.",
    ),
    GoalColumn.BUDGET: _Column("Budget", lambda row: budget_text(row.budget), "Budget now (PHSafe: unbounded)"),
    GoalColumn.SOLVED: _Column(
        "Solved",
        lambda row: "" if row.solved is None else budget_text(row.solved.budget),
        "The smallest budget that keeps all goals, rounded",
    ),
    GoalColumn.CHANGE: _Column("Change", _change),
    GoalColumn.SOLVED_MARGIN: _Column("MOE then", _solved_margin, "Margin of error with that budget, people"),
    GoalColumn.REASON: _Column(
        "By",
        lambda row: "" if row.solved is None else row.solved.reason.value,
        "What decided the solved budget",
        is_words=True,
    ),
    GoalColumn.FLOOR: _Column(
        "Budget ≥",
        lambda row: "" if row.floor is None else exact_text(row.floor),
        "The smallest budget allowed. Type a number; empty asks for nothing.",
    ),
    GoalColumn.TIE: _Column("Tie", lambda row: row.tie, "Queries with the same letter move together", is_words=True),
    GoalColumn.LOCK: _Column("Locked", lambda _: "", "A locked budget stays"),
}
