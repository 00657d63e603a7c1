"""The steps of the project as an item model: every step, undone ones included, the current one marked."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

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


class HistoryList(QAbstractListModel):
    """One row per step, oldest first. Steps after the current one are undone and can be gone back to."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._labels: tuple[str, ...] = session.project.labels
        self._cursor = session.project.cursor
        session.updated.connect(self._on_updated)
        appearance().changed.connect(self._on_appearance)

    @property
    def cursor(self) -> int:
        """Row of the current step."""
        return self._cursor

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._labels)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        number = index.row()
        is_current = number == self._cursor
        is_undone = number > self._cursor
        state = ", current" if is_current else ", undone" if is_undone else ""
        answer: Any = None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                answer = localised(self._words(number))
            case Qt.ItemDataRole.ToolTipRole:
                answer = f"{localised(self._words(number))}\n{self._time(number)}".strip()
            case Qt.ItemDataRole.AccessibleTextRole:
                answer = localised(f"Step {number + 1}: {self._words(number)}{state}")
            case Qt.ItemDataRole.ForegroundRole if is_undone:
                answer = QColor(appearance().colours.muted)
            case Qt.ItemDataRole.FontRole:
                answer = _font(is_current=is_current, is_undone=is_undone)
            case _ if role == IS_CURRENT_ROLE:
                answer = is_current
            case _ if role == TIME_ROLE:
                answer = self._time(number)
        return answer

    def _words(self, number: int) -> str:
        """Return the name of a step, and what was said with it."""
        steps = self._session.project.steps
        new = new_comments(steps[number - 1].value, steps[number].value) if 0 < number < len(steps) else ()
        return ": ".join((self._labels[number], *(comment.text for comment in new)))

    def _time(self, number: int) -> str:
        at = self._session.project.steps[number].at
        if not at:
            return ""
        try:
            moment = datetime.fromisoformat(at).astimezone()
        except ValueError:
            return at
        return minute_text(moment)

    def _on_updated(self) -> None:
        project = self._session.project
        labels, cursor = project.labels, project.cursor
        same = 0
        while same < min(len(labels), len(self._labels)) and labels[same] == self._labels[same]:
            same += 1
        if len(labels) == len(self._labels):
            self._labels = labels
        else:
            self._replace_tail(labels, same)
        first = min(self._cursor, cursor, same)
        self._cursor = cursor
        self.dataChanged.emit(self.index(max(0, min(first, len(labels) - 1))), self.index(len(labels) - 1))

    def _replace_tail(self, labels: tuple[str, ...], same: int) -> None:
        if same < len(self._labels):
            self.beginRemoveRows(QModelIndex(), same, len(self._labels) - 1)
            self._labels = self._labels[:same]
            self.endRemoveRows()
        if same < len(labels):
            self.beginInsertRows(QModelIndex(), same, len(labels) - 1)
            self._labels = labels
            self.endInsertRows()

    def _on_appearance(self) -> None:
        if self._labels:
            self.dataChanged.emit(self.index(0), self.index(len(self._labels) - 1))


def _font(*, is_current: bool, is_undone: bool) -> QFont:
    font = appearance().font(bold=is_current)
    font.setItalic(is_undone)
    return font
