"""The table of shares as an item model over the session: a row per query group, a column per level."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor

from phexplore.errors import PhexploreError
from phexplore.gui.binding.scenario_view import Update
from phexplore.gui.binding.session import Refusal
from phexplore.gui.systems.phsafe.budget_table import REFUSAL_ROLE, STYLE_ROLE
from phexplore.gui.systems.topdown.scenario_view import TopDownShown
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.systems.topdown.shares import (
    Key,
    Quantity,
    ShareCell,
    cell_of,
    column_title,
    edit_of,
    exact,
    forbidden,
    heading,
    query_rows,
    sum_text,
    text,
    tip,
)
from phexplore.gui.theme.appearance import appearance
from phexplore.model.topdown import LevelQuery
from phexplore.systems.topdown.forecast import query_of
from phexplore.systems.topdown.wording import query_sentence, query_title

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
KEY_ROLE = STYLE_ROLE + 1
"""The `Key` of a cell, None in names and sums."""
NAME_COLUMNS = 2
"""Name and number of answers stand before the levels."""
LEVEL_ROW = 0
"""The shares of the levels stand above the query groups; the sums below them."""
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_FLAGS = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


@dataclass(frozen=True, slots=True)
class ShareStyle:
    """All a delegate needs to draw a cell.

    Attributes:
        text: shown text.
        ink: its colour.
        paper: background, None for the table's.
        bold: bold face.
        alignment: Qt's flags.
        is_locked: a lock stands at the left.
        starts_group: a stronger line above: levels, queries and sums are three groups.
        flags: what can be done with the cell.
    """

    text: str
    ink: QColor
    paper: QColor | None
    bold: bool
    alignment: int
    is_locked: bool
    starts_group: bool
    flags: Qt.ItemFlag


class ShareTable(QAbstractTableModel):
    """Shows one quantity of every share. A refused entry stays in its cell, with the reason, and changes nothing.

    Signals:
        quantity_changed: the `Quantity` now shown.
    """

    quantity_changed = Signal(object)

    def __init__(self, session: TopDownSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._quantity = Quantity.SHARE
        self._shown: TopDownShown = session.shown
        self._rows: tuple[str, ...] = query_rows(self._shown.method)
        self._looks: dict[tuple[int, int], ShareStyle] = {}
        self._refusals: dict[Key, Refusal] = {}
        session.updated.connect(self._on_updated)
        appearance().changed.connect(self._on_appearance)

    @property
    def quantity(self) -> Quantity:
        """What the cells show."""
        return self._quantity

    @property
    def queries(self) -> tuple[str, ...]:
        """The query groups, in the order of the rows below the levels."""
        return self._rows

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels, in the order of the columns."""
        return self._shown.method.levels

    def look(self, row: int, column: int) -> ShareStyle:
        """Return how a cell is drawn."""
        return self._look(row, column)

    def show_quantity(self, quantity: Quantity) -> None:
        """Show another quantity in the cells."""
        if quantity is not self._quantity:
            self._quantity = quantity
            self._refusals.clear()
            self._announce_all()
            self.quantity_changed.emit(quantity)

    def key_at(self, row: int, column: int) -> Key | None:
        """Return the share at a place, None for names and sums."""
        level = column - NAME_COLUMNS
        if not 0 <= level < len(self.levels) or not 0 <= row <= len(self._rows):
            return None
        name = self.levels[level]
        return name if row == LEVEL_ROW else LevelQuery(name, self._rows[row - 1])

    def place_of(self, key: Key) -> tuple[int, int] | None:
        """Return row and column of a share, None where it has none."""
        level, query = (key.level, key.query) if isinstance(key, LevelQuery) else (key, None)
        if level not in self.levels or (query is not None and query not in self._rows):
            return None
        return (0 if query is None else self._rows.index(query) + 1), self.levels.index(level) + NAME_COLUMNS

    def cell_at(self, row: int, column: int) -> ShareCell | None:
        """Return the cell at a place, None for names and sums."""
        key = self.key_at(row, column)
        return None if key is None else cell_of(self._shown, key)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows) + 2

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else NAME_COLUMNS + len(self.levels)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section == 0 else _RIGHT
        if role not in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return None
        if section < NAME_COLUMNS:
            return ("Query group", "Answers")[section]
        return column_title(self.levels[section - NAME_COLUMNS])

    def flags(self, index: Index) -> Qt.ItemFlag:
        return self._look(index.row(), index.column()).flags if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == STYLE_ROLE:
            return self._look(index.row(), index.column())
        key = self.key_at(index.row(), index.column())
        if role == KEY_ROLE:
            return key
        if role == REFUSAL_ROLE:
            return self._refusals.get(key) if key is not None else None
        return self._answer(index.row(), index.column(), role)

    def _answer(self, row: int, column: int, role: int) -> Any:
        answers: dict[int, Callable[[int, int], Any]] = {
            int(Qt.ItemDataRole.DisplayRole): self._words,
            int(Qt.ItemDataRole.EditRole): self._editable,
            int(Qt.ItemDataRole.ToolTipRole): self._tip,
            int(Qt.ItemDataRole.AccessibleTextRole): self._spoken,
        }
        answer = answers.get(role)
        return answer(row, column) if answer else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        key = self.key_at(index.row(), index.column()) if index.isValid() else None
        if key is None:
            return False
        if role == REFUSAL_ROLE and value is None:
            self._forget(key)
            return True
        return role == Qt.ItemDataRole.EditRole and self._type(key, str(value))

    def _type(self, key: Key, typed: str) -> bool:
        cell = cell_of(self._shown, key)
        refusal = None if typed.strip() == exact(cell, self._quantity, self._shown) else self._enter(cell, typed)
        if refusal is None:
            self._forget(key)
            return True
        self._refusals[key] = refusal
        self._announce(key)
        return False

    def _enter(self, cell: ShareCell, typed: str) -> Refusal | None:
        try:
            label, edit = edit_of(cell, self._quantity, typed, self._shown)
        except PhexploreError as error:
            return Refusal(typed, error.sentence, error.remedy)
        except ValueError as error:
            return Refusal(typed, str(error))
        refusal = self._session.edit(label, edit)
        return replace(refusal, text=typed) if refusal else None

    def _forget(self, key: Key) -> None:
        if self._refusals.pop(key, None) is not None:
            self._announce(key)

    def _announce(self, key: Key) -> None:
        place = self.place_of(key)
        if place is not None:
            self._looks.pop(place, None)
            cell = self.index(*place)
            self.dataChanged.emit(cell, cell)

    def _announce_all(self) -> None:
        self._looks.clear()
        self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))

    def _on_updated(self, update: Update[TopDownShown]) -> None:
        before, after = update.before, update.after
        rows = query_rows(after.method)
        if before is None or rows != self._rows or after.method.levels != self._shown.method.levels:
            self.beginResetModel()
            self._shown, self._rows = after, rows
            self._looks.clear()
            self._refusals.clear()
            self.endResetModel()
            return
        was, self._shown = self._shown, after
        refused = set()
        if after.method is not was.method:
            refused = {key.level if isinstance(key, LevelQuery) else key for key in self._refusals}
            self._refusals.clear()
        changed = [
            number for number, level in enumerate(self.levels) if level in refused or _has_changed(level, was, after)
        ]
        self._looks = {place: look for place, look in self._looks.items() if place[1] - NAME_COLUMNS not in changed}
        if changed:
            first, last = changed[0] + NAME_COLUMNS, changed[-1] + NAME_COLUMNS
            self.dataChanged.emit(self.index(0, first), self.index(self.rowCount() - 1, last))

    def _on_appearance(self) -> None:
        self._announce_all()

    def _look(self, row: int, column: int) -> ShareStyle:
        if (found := self._looks.get((row, column))) is None:
            cell = self.cell_at(row, column)
            found = self._name_look(row, column) if cell is None else self._share_look(cell, row)
            self._looks[row, column] = found
        return found

    def _share_look(self, cell: ShareCell, row: int) -> ShareStyle:
        colours, refusal = appearance().colours, self._refusals.get(cell.key)
        ink, paper = colours.text, None
        if refusal is not None:
            ink, paper = colours.refused, QColor(colours.refused_soft)
        elif cell.share is None:
            ink = colours.muted
        elif tint := _tint(cell):
            paper = QColor(colours.accent_soft)
            paper.setAlphaF(tint)
        return ShareStyle(
            refusal.text if refusal else text(cell, self._quantity, self._shown),
            QColor(ink),
            paper,
            cell.is_changed,
            _RIGHT,
            cell.is_locked,
            row == LEVEL_ROW + 1,
            _FLAGS if forbidden(cell, self._quantity) else _FLAGS | Qt.ItemFlag.ItemIsEditable,
        )

    def _name_look(self, row: int, column: int) -> ShareStyle:
        colours = appearance().colours
        words, is_sound = self._name(row, column)
        ink = colours.muted if row > len(self._rows) or column == 1 else colours.text
        return ShareStyle(
            words,
            QColor(ink if is_sound else colours.attention),
            None if is_sound else QColor(colours.attention_soft),
            row == LEVEL_ROW and column == 0,
            _LEFT if column == 0 else _RIGHT,
            is_locked=False,
            starts_group=row in {LEVEL_ROW + 1, len(self._rows) + 1},
            flags=_FLAGS,
        )

    def _name(self, row: int, column: int) -> tuple[str, bool]:
        """Return the words of a cell that holds no share, and whether they are as they should be."""
        if row == LEVEL_ROW:
            return ("Share of the level" if column == 0 else "", True)
        if row > len(self._rows):
            if column == 0:
                return "Sum of the query shares", True
            return sum_text(self._shown, self.levels[column - NAME_COLUMNS]) if column >= NAME_COLUMNS else ("", True)
        query = self._rows[row - 1]
        if column == 0:
            return query_title(query), True
        try:
            return f"{query_of(self._shown.method.schema, query).answers:,}", True
        except PhexploreError:
            return "?", False

    def _words(self, row: int, column: int) -> str:
        return self._look(row, column).text

    def _editable(self, row: int, column: int) -> str:
        cell = self.cell_at(row, column)
        if cell is None:
            return self._words(row, column)
        refusal = self._refusals.get(cell.key)
        return refusal.text if refusal else exact(cell, self._quantity, self._shown)

    def _tip(self, row: int, column: int) -> str:
        cell = self.cell_at(row, column)
        if cell is None:
            if LEVEL_ROW < row <= len(self._rows):
                return query_sentence(self._shown.method.schema, self._rows[row - 1])
            return self._words(row, column)
        refusal = self._refusals.get(cell.key)
        return refusal.full if refusal else tip(cell, self._shown)

    def _spoken(self, row: int, column: int) -> str:
        cell = self.cell_at(row, column)
        if cell is None:
            return self._words(row, column)
        where = self._name(row, 0)[0] + ", " + column_title(self.levels[column - NAME_COLUMNS])
        refusal = self._refusals.get(cell.key)
        words = f"{refusal.text}, refused: {refusal.reason}" if refusal else self._words(row, column)
        locked = ", locked" if cell.is_locked else ""
        return f"{where}, {heading(self._quantity, self._shown)}: {words}{locked}"


def _has_changed(level: str, was: TopDownShown, now: TopDownShown) -> bool:
    """Return whether a column may look different: a share moves its column, total and reference move them all."""
    before, after = was.method, now.method
    same = (
        before.total is after.total
        and before.framework is after.framework
        and was.reference is now.reference
        and was.scenario.conventions is now.scenario.conventions
        and before.level_shares[level] is after.level_shares[level]
        and before.locked_levels == after.locked_levels
        and before.locked_queries == after.locked_queries
    )
    if not same:
        return True
    mine = [key for key in after.query_shares if key.level == level]
    return len(mine) != len(before.queries_at(level)) or any(
        before.query_shares.get(key) is not after.query_shares[key] for key in mine
    )


def _tint(cell: ShareCell) -> float:
    """Return how strongly a cell is tinted: by the root of its share of all, so that small ones are seen."""
    return min(1.0, math.sqrt(cell.of_total) * 1.6)
