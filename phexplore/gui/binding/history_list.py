"""The steps of the project as an item model, undone ones included, the current one marked; decisions stand where they were made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from phexplore.document.decided_versions import step_decided
from phexplore.gui.binding.session import Session
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.number_style import localised
from phexplore.model.comments import new_comments
from phexplore.model.moments import minute_text

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
IS_CURRENT_ROLE = int(Qt.ItemDataRole.UserRole)
TIME_ROLE = IS_CURRENT_ROLE + 1
"""Time of the step as text in the local zone, "" when unknown."""
STEP_ROLE = TIME_ROLE + 1
"""Number of the step that a row shows, or that was decided about."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A step, or a decision about the step before it: then `decided` says so in words."""

    step: int
    label: str
    at: str
    decided: str = ""


class HistoryList(QAbstractListModel):
    """One row per step and per decision, oldest first. Steps after the current one are undone and can be gone back to."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._rows = self._read()
        self._cursor = self._current(self._rows)
        session.updated.connect(self._on_updated)
        session.saved.connect(self._on_updated)
        appearance().changed.connect(self._on_appearance)

    @property
    def cursor(self) -> int:
        """Row of the current step."""
        return self._cursor

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        number = index.row()
        is_current = number == self._cursor
        shown = self._rows[number]
        is_undone = shown.step > self._session.project.cursor
        state = ", current" if is_current else ", undone" if is_undone else ""
        answer: Any = None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                answer = localised(self._words(number))
            case Qt.ItemDataRole.ToolTipRole:
                answer = f"{localised(self._words(number))}\n{self._time(number)}".strip()
            case Qt.ItemDataRole.AccessibleTextRole:
                place = "" if shown.decided else f"Step {shown.step + 1}: "
                answer = localised(f"{place}{self._words(number)}{state}")
            case Qt.ItemDataRole.ForegroundRole if is_undone:
                answer = QColor(appearance().colours.muted)
            case Qt.ItemDataRole.FontRole:
                answer = _font(is_current=is_current, is_undone=is_undone)
            case _ if role == IS_CURRENT_ROLE:
                answer = is_current
            case _ if role == TIME_ROLE:
                answer = self._time(number)
            case _ if role == STEP_ROLE:
                answer = shown.step
        return answer

    def _read(self) -> tuple[_Row, ...]:
        project, rows = self._session.project, list[_Row]()
        decided = [(step_decided(project.steps, decision), decision) for decision in project.decisions]
        for number, step in enumerate(project.steps):
            rows.append(_Row(number, step.label, step.at))
            for place, one in decided:
                if place == number:
                    words = f"{one.status.title} by {one.who}, {one.role}: {one.scenario}"
                    rows.append(_Row(number, step.label, one.at, words))
        return tuple(rows)

    def _current(self, rows: tuple[_Row, ...]) -> int:
        cursor = self._session.project.cursor
        return next(place for place, row in enumerate(rows) if row.step == cursor)

    def _words(self, number: int) -> str:
        """Return the name of a step and what was said with it, or a decision."""
        steps, row = self._session.project.steps, self._rows[number]
        if row.decided:
            return row.decided
        new = new_comments(steps[row.step - 1].value, steps[row.step].value) if 0 < row.step < len(steps) else ()
        return ": ".join((row.label, *(comment.text for comment in new)))

    def _time(self, number: int) -> str:
        at = self._rows[number].at
        if not at:
            return ""
        try:
            moment = datetime.fromisoformat(at).astimezone()
        except ValueError:
            return at
        return minute_text(moment)

    def _on_updated(self, _change: object = None) -> None:
        rows = self._read()
        cursor = self._current(rows)
        same = 0
        while same < min(len(rows), len(self._rows)) and rows[same] == self._rows[same]:
            same += 1
        if len(rows) == len(self._rows):
            self._rows = rows
        else:
            self._replace_tail(rows, same)
        first = min(self._cursor, cursor, same)
        self._cursor = cursor
        self.dataChanged.emit(self.index(max(0, min(first, len(rows) - 1))), self.index(len(rows) - 1))

    def _replace_tail(self, rows: tuple[_Row, ...], same: int) -> None:
        if same < len(self._rows):
            self.beginRemoveRows(QModelIndex(), same, len(self._rows) - 1)
            self._rows = self._rows[:same]
            self.endRemoveRows()
        if same < len(rows):
            self.beginInsertRows(QModelIndex(), same, len(rows) - 1)
            self._rows = rows
            self.endInsertRows()

    def _on_appearance(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))


def _font(*, is_current: bool, is_undone: bool) -> QFont:
    font = appearance().font(bold=is_current)
    font.setItalic(is_undone)
    return font
