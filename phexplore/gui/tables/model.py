"""A table of parameters as Qt's item model over a session: edits are steps of the history, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from phexplore.gui.binding.scenario_view import Update
from phexplore.gui.binding.session import Refusal, entered
from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.tables.parameter_table import Cell, Kind, ParameterColumn, ParameterTable, Tone
from phexplore.gui.theme.number_style import localised
from phexplore.model.rounded import ABSENT

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
REFUSAL_ROLE = int(Qt.ItemDataRole.UserRole)
"""The `Refusal` of the last entry into a cell, None when it was taken. Setting it to None shows the value again."""
_FLAGS = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren


def alignment(kind: Kind) -> Qt.AlignmentFlag:
    """Return how cells of a kind stand in their column."""
    if kind.is_checked:
        return Qt.AlignmentFlag.AlignCenter
    side = Qt.AlignmentFlag.AlignLeft if kind is Kind.WORDS else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter


class ParameterModel(QAbstractTableModel):
    """Shows the rows of a table that the user wants to see.

    A refused entry stays visible in its cell, with the reason in its tool tip, until the cell is edited again or another
    entry of its row changes; the scenario is not touched.
    """

    def __init__(
        self, session: SystemSession[Any], build: Callable[[Any], ParameterTable[Any]], parent: QObject | None = None
    ) -> None:
        """Follow a session.

        Args:
            session: what is shown and edited.
            build: makes the table of a version.
            parent: owner.
        """
        super().__init__(parent)
        self._session, self._build = session, build
        self._accepts: Callable[[Any], bool] = lambda _row: True
        self._is_paused = self._is_stale = self._is_new = False
        self._refusals: dict[tuple[Hashable, Hashable], Refusal] = {}
        self._table: ParameterTable[Any] = build(session.shown)
        self._rows: tuple[Any, ...] = self._table.rows
        self._cells: list[dict[int, Cell]] = [{} for _ in self._rows]
        session.updated.connect(self._on_updated)

    @property
    def table(self) -> ParameterTable[Any]:
        """All that could be shown."""
        return self._table

    @property
    def rows(self) -> tuple[Any, ...]:
        """The rows that are shown, in order."""
        return self._rows

    def cell(self, row: int, column: int) -> Cell:
        """Return how a cell is drawn."""
        cells = self._cells[row]
        if (found := cells.get(column)) is None:
            line, head = self._rows[row], self._table.columns[column]
            found = head.cell(line)
            if refusal := self._refusals.get((line.key, head.key)):
                found = replace(found, text=refusal.text, tone=Tone.REFUSED)
            cells[column] = found
        return found

    def pause(self) -> None:
        """Let updates wait, because nobody looks at the table."""
        self._is_paused = True

    def resume(self) -> None:
        """Catch up with what was missed, as one update."""
        self._is_paused = False
        if self._is_stale:
            self._take(self._build(self._session.shown), anew=self._is_new)
        self._is_stale = self._is_new = False

    def rebuild(self) -> None:
        """Show another side of the same version."""
        self._take(self._build(self._session.shown))

    def show_only(self, accepts: Callable[[Any], bool]) -> None:
        """Show the rows that are accepted. A row that no longer fits stays: it must not vanish under the cursor."""
        self._accepts = accepts
        self.beginResetModel()
        self._take_all(self._table)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._table.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return localised(self._rows[section].title) if role == Qt.ItemDataRole.AccessibleTextRole else None
        column = self._table.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return localised(column.header)
            case Qt.ItemDataRole.AccessibleTextRole:
                return localised(column.name)
            case Qt.ItemDataRole.ToolTipRole:
                return localised(column.about)
            case Qt.ItemDataRole.TextAlignmentRole:
                return alignment(column.kind)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if not self.cell(index.row(), index.column()).is_open:
            return _FLAGS
        is_checked = self._table.columns[index.column()].kind.is_checked
        return _FLAGS | (Qt.ItemFlag.ItemIsUserCheckable if is_checked else Qt.ItemFlag.ItemIsEditable)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        answer = _ANSWERS.get(role)
        if answer is None:
            return None
        row, column = self._rows[index.row()], self._table.columns[index.column()]
        return answer(row, column, self.cell(index.row(), index.column()), self._refusals.get((row.key, column.key)))

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if not index.isValid():
            return False
        row, column = self._rows[index.row()], self._table.columns[index.column()]
        if role == REFUSAL_ROLE and value is None:
            self._say(index, None)
            return True
        if column.step is None or role not in {Qt.ItemDataRole.EditRole, Qt.ItemDataRole.CheckStateRole}:
            return False
        if column.kind.is_checked:
            is_checked = Qt.CheckState(value) is Qt.CheckState.Checked
            return self._session.report(
                entered(self._session, lambda: column.enter(row, "yes" if is_checked else "no"))
            )
        typed = str(value)
        is_same = typed.strip() == column.started(row)
        refusal = None if is_same else entered(self._session, lambda: column.enter(row, typed))
        self._say(index, refusal and replace(refusal, text=typed))
        return refusal is None

    def _say(self, index: Index, refusal: Refusal | None) -> None:
        """Show a refusal in a cell, or its value again."""
        key = self._rows[index.row()].key, self._table.columns[index.column()].key
        if self._refusals.get(key) == refusal:
            return
        self._refusals.pop(key, None)
        if refusal is not None:
            self._refusals[key] = refusal
        self._cells[index.row()].pop(index.column(), None)
        cell = self.index(index.row(), index.column())
        self.dataChanged.emit(cell, cell)

    def _on_updated(self, update: Update[Any]) -> None:
        if self._is_paused:
            self._is_stale = True
            self._is_new |= update.before is None
        else:
            self._take(self._build(update.after), anew=update.before is None)

    def _take(self, table: ParameterTable[Any], *, anew: bool = False) -> None:
        was = self._table
        if anew or _keys(table) != _keys(was):
            self.beginResetModel()
            self._refusals.clear()
            self._take_all(table)
            self.endResetModel()
            return
        fresh = {row.key: row for row in table.rows}
        old, self._table = self._rows, table
        self._rows = tuple(fresh[row.key] for row in old)
        if table.columns is was.columns:
            self._announce(old)
            return
        self._cells = [{} for _ in old]
        self._refusals.clear()
        if old:
            self.dataChanged.emit(self.index(0, 0), self.index(len(old) - 1, len(table.columns) - 1))
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(table.columns) - 1)

    def _take_all(self, table: ParameterTable[Any]) -> None:
        self._table = table
        self._rows = tuple(row for row in table.rows if self._accepts(row))
        self._cells = [{} for _ in self._rows]

    def _announce(self, before: tuple[Any, ...]) -> None:
        """Have the cells drawn that look different: one block for all rows in which the same columns moved."""
        columns = self._table.columns
        numbers = {column.key: number for number, column in enumerate(columns)}
        blocks: dict[tuple[int, int], list[int]] = {}
        for number, (was, now) in enumerate(zip(before, self._rows, strict=True)):
            keys = now.moved(was)
            moved = [*range(len(columns))] if keys is None else [numbers[key] for key in keys]
            if any(columns[column].step is not None for column in moved):
                for key in [key for key in self._refusals if key[0] == now.key]:
                    self._cells[number].pop(numbers[key[1]], None)
                    moved.append(numbers[key[1]])
                    del self._refusals[key]
            looked = {column: self._cells[number].pop(column, None) for column in moved}
            different = [column for column, cell in looked.items() if cell is None or cell != self.cell(number, column)]
            if different:
                blocks.setdefault((min(different), max(different)), []).append(number)
        for (first, last), rows in blocks.items():
            self.dataChanged.emit(self.index(rows[0], first), self.index(rows[-1], last))


def _keys(table: ParameterTable[Any]) -> tuple[list[Hashable], list[Hashable]]:
    return [row.key for row in table.rows], [column.key for column in table.columns]


def _check_state(column: ParameterColumn[Any], cell: Cell) -> Qt.CheckState | None:
    if not column.kind.is_checked:
        return None
    return Qt.CheckState.Checked if cell.is_checked else Qt.CheckState.Unchecked


def _spoken(_row: Any, column: ParameterColumn[Any], cell: Cell, refusal: Refusal | None) -> str:
    said = f"no number. {column.absent}" if cell.text == ABSENT else cell.text
    if column.kind.is_checked:
        said = "yes" if cell.is_checked else "no"
    elif refusal is not None:
        said = f"{refusal.text}, refused: {refusal.reason}"
    # The row's name is its header, which a reader says where the row changes: in every cell it came nine times a row.
    return localised(f"{column.spoken or column.name}: {said}") + (", locked" if cell.is_locked else "")


_ANSWERS: dict[int, Callable[[Any, ParameterColumn[Any], Cell, Refusal | None], Any]] = {
    int(Qt.ItemDataRole.DisplayRole): lambda _row, _column, cell, _refusal: cell.text,
    int(Qt.ItemDataRole.EditRole): lambda row, column, _, refusal: refusal.text if refusal else column.started(row),
    int(Qt.ItemDataRole.CheckStateRole): lambda _row, column, cell, _refusal: _check_state(column, cell),
    int(Qt.ItemDataRole.ToolTipRole): lambda row, column, _, refusal: localised(
        refusal.full if refusal else column.told(row)
    ),
    int(Qt.ItemDataRole.TextAlignmentRole): lambda _row, column, _cell, _refusal: alignment(column.kind),
    int(Qt.ItemDataRole.AccessibleTextRole): _spoken,
    REFUSAL_ROLE: lambda _row, _column, _cell, refusal: refusal,
}
