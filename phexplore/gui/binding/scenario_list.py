"""The scenarios of the project as an item model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from phexplore.gui.binding.scenario_view import ScenarioView, Update
from phexplore.gui.binding.session import Session
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.number_style import localised
from phexplore.model.edits import rename
from phexplore.model.workbook import Workbook, activate, replace_active

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
NAME_ROLE = int(Qt.ItemDataRole.UserRole)


class ScenarioList(QAbstractListModel):
    """One row per scenario; editing a row renames it."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._workbook = session.shown.workbook
        session.updated.connect(self._on_updated)
        appearance().changed.connect(self._on_appearance)

    def row_of(self, name: str) -> int:
        """Return the row of a scenario, -1 when there is none."""
        names = self._workbook.names
        return names.index(name) if name in names else -1

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._workbook.scenarios)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        name = self._workbook.names[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return localised(name)
            case Qt.ItemDataRole.EditRole:
                return name
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                return localised(name + self._roles(name))
            case Qt.ItemDataRole.FontRole:
                return self._font(name)
        return name if role == NAME_ROLE else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if not index.isValid() or role != Qt.ItemDataRole.EditRole:
            return False
        old, new = self._workbook.names[index.row()], str(value)
        if old == new.strip():
            return True
        return self._session.report(
            self._session.edit_workbook(f"Rename {old} to {new}", lambda b: renamed(b, old, new))
        )

    def _roles(self, name: str) -> str:
        words = [
            word
            for word, holds in (
                ("being edited", name == self._workbook.active),
                ("reference", name == self._workbook.comparison),
            )
            if holds
        ]
        return f" ({', '.join(words)})" if words else ""

    def _font(self, name: str) -> QFont:
        return appearance().font(bold=name == self._workbook.active)

    def _on_updated(self, update: Update[ScenarioView]) -> None:
        old, self_names = self._workbook, update.after.workbook.names
        if old.names == self_names:
            self._workbook = update.after.workbook
            if (old.active, old.comparison) != (self._workbook.active, self._workbook.comparison):
                self._on_appearance()
            return
        self.beginResetModel()
        self._workbook = update.after.workbook
        self.endResetModel()

    def _on_appearance(self) -> None:
        self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))


def renamed(workbook: Workbook, old: str, new: str) -> Workbook:
    """Return the workbook with one scenario renamed; what is compared with it follows.

    Raises:
        EditRefusedError: the name is empty, taken, or holds a #.
    """
    target = activate(workbook, old)
    after = replace_active(target, rename(target.scenario, new))
    name = after.active
    comparison = name if workbook.comparison == old else workbook.comparison
    active = name if workbook.active == old else workbook.active
    return replace(after, active=active, comparison=comparison)
