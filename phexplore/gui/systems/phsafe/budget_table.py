"""The budget table as an item model over the session: 46 rows, edits are steps of the history, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QColor, QFont

from phexplore.errors import PhexploreError
from phexplore.gui.binding.scenario_view import ScenarioView, Update
from phexplore.gui.binding.session import Refusal
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.budget_row import (
    CHECKED,
    COLUMNS,
    CONVENTION_COLUMNS,
    TEXT,
    TYPED,
    Column,
    Row,
    check_edit,
    column_name,
    differs_only_in_share,
    edit_of,
    exact,
    forbidden,
    header,
    header_tip,
    rows_of,
    text,
    tip,
)
from phexplore.gui.theme.appearance import appearance
from phexplore.model.keys import QueryKey

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
"""The `Row` behind a cell."""
REFUSAL_ROLE = ROW_ROLE + 1
"""The `Refusal` of the last entry into a cell, None when it was taken. Setting it to None shows the value again."""
COLUMN_ROLE = ROW_ROLE + 2
"""The `Column` of a cell."""
STYLE_ROLE = ROW_ROLE + 3
"""The `CellStyle` of a cell: all a delegate needs to draw it, in one question."""
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


@dataclass(frozen=True, slots=True)
class CellStyle:
    """How a cell is drawn.

    Attributes:
        column: which one.
        table: of the row, which begins a group where it differs from the row above.
        text: shown text.
        ink: its colour.
        paper: background, None for the table's.
        bold: bold face.
        alignment: Qt's flags.
        checked: whether it is ticked, None when it has no tick.
        flags: what can be done with the cell.
    """

    column: Column
    table: str
    text: str
    ink: QColor
    paper: QColor | None
    bold: bool
    alignment: int
    checked: bool | None
    flags: Qt.ItemFlag


class BudgetTable(QAbstractTableModel):
    """Shows the queries of the active scenario.

    A refused entry stays visible in its cell, with the reason in its tool tip, until the cell is edited again or the
    query changes; the scenario is not touched.
    """

    def __init__(self, session: PlainSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._rows: list[Row] = list(rows_of(session.shown).values())
        self._looks: list[dict[Column, CellStyle]] = [{} for _ in self._rows]
        self._refusals: dict[tuple[QueryKey, Column], Refusal] = {}
        self._is_paused = False
        self._missed: Update[ScenarioView] | None = None
        session.updated.connect(self._on_updated)
        appearance().changed.connect(self._on_appearance)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows in order."""
        return tuple(self._rows)

    def row_of(self, query: QueryKey) -> int:
        """Return the index of a query, -1 when it is not shown."""
        return next((number for number, row in enumerate(self._rows) if row.query == query), -1)

    def pause(self) -> None:
        """Let updates wait, because nobody looks at the table."""
        self._is_paused = True

    def resume(self) -> None:
        """Catch up with what was missed, as one update."""
        self._is_paused = False
        missed, self._missed = self._missed, None
        if missed is not None:
            self._on_updated(missed)

    def look(self, row: int, column: Column) -> CellStyle:
        """Return how a cell is drawn."""
        return self._look(row, column)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return self._rows[section].query.title if role == Qt.ItemDataRole.AccessibleTextRole else None
        column, scenario = COLUMNS[section], self._session.scenario
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return header(column, scenario.phsafe.framework, scenario.conventions)
            case Qt.ItemDataRole.AccessibleTextRole:
                return column_name(column, scenario.phsafe.framework, scenario.conventions)
            case Qt.ItemDataRole.ToolTipRole:
                return header_tip(column, scenario.phsafe.framework, scenario.conventions)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return self._look(index.row(), COLUMNS[index.column()]).flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        column, row = COLUMNS[index.column()], self._rows[index.row()]
        if role == STYLE_ROLE:
            return self._look(index.row(), column)
        if role == COLUMN_ROLE:
            return column
        refusal = self._refusals.get((row.query, column))
        if role == REFUSAL_ROLE:
            return refusal
        answer = _ANSWERS.get(role)
        return answer(column, row, refusal) if answer else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if not index.isValid():
            return False
        column, row = COLUMNS[index.column()], self._rows[index.row()]
        if role == Qt.ItemDataRole.CheckStateRole and column in CHECKED:
            return self._set_checked(column, row, checked=Qt.CheckState(value) == Qt.CheckState.Checked)
        if role == REFUSAL_ROLE and value is None:
            self._forget((row.query, column))
            return True
        return role == Qt.ItemDataRole.EditRole and column in TYPED and self._type(index, str(value))

    def _type(self, index: Index, typed: str) -> bool:
        column, row = COLUMNS[index.column()], self._rows[index.row()]
        refusal = None if typed.strip() == exact(column, row) else self._enter(column, row, typed)
        if refusal is None:
            self._forget((row.query, column))
            return True
        self._refusals[row.query, column] = refusal
        self._looks[index.row()].pop(column, None)
        self.dataChanged.emit(index, index)
        return False

    def _enter(self, column: Column, row: Row, typed: str) -> Refusal | None:
        try:
            label, edit = edit_of(column, row, typed)
        except (ValueError, PhexploreError) as error:
            return Refusal(typed, str(error), getattr(error, "remedy", ""))
        refusal = self._session.edit(label, edit)
        return replace(refusal, text=typed) if refusal else None

    def _set_checked(self, column: Column, row: Row, *, checked: bool) -> bool:
        try:
            label, edit = check_edit(column, row, checked=checked)
        except PhexploreError as error:
            return self._session.report(Refusal("", error.sentence, error.remedy))
        return self._session.report(self._session.edit(label, edit))

    def _forget(self, key: tuple[QueryKey, Column]) -> None:
        if self._refusals.pop(key, None) is not None:
            self._looks[self.row_of(key[0])].pop(key[1], None)
            cell = self.index(self.row_of(key[0]), COLUMNS.index(key[1]))
            self.dataChanged.emit(cell, cell)

    def _on_updated(self, update: Update[ScenarioView]) -> None:
        if self._is_paused:
            # From where the table stands to the newest; another project in between stays one.
            self._missed = update if self._missed is None else Update(_first(self._missed, update), update.after)
            return
        rows = list(rows_of(update.after).values())
        before = update.before
        if before is None or [row.query for row in rows] != [row.query for row in self._rows]:
            self.beginResetModel()
            self._rows = rows
            self._looks = [{} for _ in rows]
            self._refusals.clear()
            self.endResetModel()
            return
        old, self._rows = self._rows, rows
        self._emit_changes(old, rows)
        after = update.after.scenario
        if (before.scenario.conventions, before.scenario.phsafe.framework) != (
            after.conventions,
            after.phsafe.framework,
        ):
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(COLUMNS) - 1)

    def _emit_changes(self, old: list[Row], new: list[Row]) -> None:
        """Announce the rows that differ; the shares of all others as one block, because one budget moves them all."""
        moved = []
        for number, (was, now) in enumerate(zip(old, new, strict=True)):
            if was.entry is now.entry and was == now:
                continue
            if differs_only_in_share(was, now):
                if was.entry.share != now.entry.share and self._take_share(number, was, now):
                    moved.append(number)
                continue
            self._looks[number] = {}
            for key in [key for key in self._refusals if key[0] == now.query]:
                del self._refusals[key]
            self.dataChanged.emit(self.index(number, 0), self.index(number, len(COLUMNS) - 1))
        if moved:
            share = COLUMNS.index(Column.SHARE)
            self.dataChanged.emit(self.index(moved[0], share), self.index(moved[-1], share))

    def _take_share(self, number: int, was: Row, now: Row) -> bool:
        """Take the new share of a row; return whether it reads differently."""
        look = self._looks[number].get(Column.SHARE)
        words = text(Column.SHARE, now)
        if words == (text(Column.SHARE, was) if look is None else look.text):
            return False
        if look is not None:
            self._looks[number][Column.SHARE] = replace(look, text=words)
        return True

    def _look(self, number: int, column: Column) -> CellStyle:
        looks = self._looks[number]
        if (found := looks.get(column)) is None:
            row = self._rows[number]
            refusal = self._refusals.get((row.query, column))
            checked = None if column not in CHECKED else _is_checked(column, row)
            found = CellStyle(
                column,
                row.query.table,
                _shown(column, row, refusal),
                _ink(column, row, refusal),
                _paper(column, row, refusal),
                _is_bold(column, row),
                _alignment(column),
                checked,
                _flags(column, row),
            )
            looks[column] = found
        return found

    def _on_appearance(self) -> None:
        self._looks = [{} for _ in self._rows]
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(COLUMNS) - 1))


def _first(earlier: Update[ScenarioView], later: Update[ScenarioView]) -> ScenarioView | None:
    return None if later.before is None else earlier.before


def _flags(column: Column, row: Row) -> Qt.ItemFlag:
    flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
    if forbidden(column, row):
        return flags
    return flags | (Qt.ItemFlag.ItemIsEditable if column in TYPED else Qt.ItemFlag.ItemIsUserCheckable)


def _shown(column: Column, row: Row, refusal: Refusal | None) -> str:
    return refusal.text if refusal else text(column, row)


def _editable(column: Column, row: Row, refusal: Refusal | None) -> str:
    return refusal.text if refusal else exact(column, row)


def _checked(column: Column, row: Row, _: Refusal | None) -> Qt.CheckState | None:
    if column not in CHECKED:
        return None
    return Qt.CheckState.Checked if _is_checked(column, row) else Qt.CheckState.Unchecked


def _is_checked(column: Column, row: Row) -> bool:
    return row.is_published if column is Column.PUBLISHED else row.is_locked


def _tip(column: Column, row: Row, refusal: Refusal | None) -> str:
    return refusal.full if refusal else tip(column, row)


def _spoken(column: Column, row: Row, refusal: Refusal | None) -> str:
    name = column_name(column, row.framework, row.conventions)
    if column in CHECKED:
        return f"{row.query.title}, {name}: {'yes' if _is_checked(column, row) else 'no'}"
    shown = f"{refusal.text}, refused: {refusal.reason}" if refusal else text(column, row)
    return f"{row.query.title}, {name}: {shown}"


def _alignment(column: Column) -> int:
    if column in TEXT:
        return _LEFT
    return _CENTRE if column in CHECKED else _RIGHT


def _ink(column: Column, row: Row, refusal: Refusal | None) -> QColor:
    colours = appearance().colours
    quiet = {Column.SHARE, Column.THRESHOLD, *CONVENTION_COLUMNS}
    if refusal is not None:
        return QColor(colours.refused)
    if _needs_attention(column, row):
        return QColor(colours.attention)
    if column in quiet or (not row.is_published and column is not Column.TABLE):
        return QColor(colours.muted)
    if column in {Column.BUDGET_CHANGE, Column.MARGIN_CHANGE}:
        return QColor(colours.accent_ink)
    return QColor(colours.text)


def _paper(column: Column, row: Row, refusal: Refusal | None) -> QColor | None:
    colours = appearance().colours
    if refusal is not None:
        return QColor(colours.refused_soft)
    if _needs_attention(column, row):
        return QColor(colours.attention_soft)
    if row.is_locked and column in TYPED:
        return QColor(colours.alternate)
    return None


def _needs_attention(column: Column, row: Row) -> bool:
    if column in {Column.TARGET, Column.MARGIN} and not row.is_met:
        return True
    return column in {Column.BUDGET, Column.BOUNDED, Column.MARGIN} and bool(row.remark)


def _is_bold(column: Column, row: Row) -> bool:
    changed = row.before is not None and (
        row.before.bounded_budget != row.entry.bounded_budget or row.before.threshold != row.entry.threshold
    )
    return column is Column.TABLE or (changed and column in {Column.BUDGET, Column.BOUNDED, Column.MARGIN})


def _font(column: Column, row: Row, _: Refusal | None) -> QFont | None:
    return appearance().font(bold=True) if _is_bold(column, row) else None


_ANSWERS: dict[int, Callable[[Column, Row, Refusal | None], Any]] = {
    int(Qt.ItemDataRole.DisplayRole): _shown,
    int(Qt.ItemDataRole.EditRole): _editable,
    int(Qt.ItemDataRole.CheckStateRole): _checked,
    int(Qt.ItemDataRole.ToolTipRole): _tip,
    int(Qt.ItemDataRole.TextAlignmentRole): lambda column, _row, _refusal: _alignment(column),
    int(Qt.ItemDataRole.ForegroundRole): _ink,
    int(Qt.ItemDataRole.BackgroundRole): _paper,
    int(Qt.ItemDataRole.FontRole): _font,
    int(Qt.ItemDataRole.AccessibleTextRole): _spoken,
    ROW_ROLE: lambda _column, row, _refusal: row,
}


class BudgetFilter(QSortFilterProxyModel):
    """The rows of the budget table that the user wants to see."""

    def __init__(self, table: BudgetTable, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.source = table
        self._table = ""
        self._level = ""
        self._words: tuple[str, ...] = ()
        self._subset = ""
        # A row that no longer fits stays until the filter is set again: it must not vanish under the cursor.
        self.setDynamicSortFilter(False)
        self.setSourceModel(table)

    def show_only(self, *, table: str = "", level: str = "", words: str = "", subset: str = "") -> None:
        """Show the rows that match everything given.

        Args:
            table: id of a table, "" for all.
            level: spelling of a level in config.json, "" for all.
            words: each must occur in the title of the query or its table.
            subset: "published", "changed", "missed", "locked", or "" for all.
        """
        self._table, self._level, self._subset = table, level, subset
        self._words = tuple(words.lower().split())
        self.invalidate()

    def source_rows(self, first: int, last: int) -> list[int]:
        """Return the rows of the whole table that are shown as these rows, both included."""
        return [self.mapToSource(self.index(row, 0)).row() for row in range(first, last + 1)]

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        row = self.sourceModel().data(self.sourceModel().index(source_row, 0, source_parent), ROW_ROLE)
        query = row.query
        if self._table and query.table != self._table:
            return False
        if self._level and query.level.text != self._level:
            return False
        spoken = f"{query.title} {query.text}".lower()
        return all(word in spoken for word in self._words) and _in_subset(row, self._subset)


def _in_subset(row: Row, subset: str) -> bool:
    match subset:
        case "published":
            return row.is_published
        case "changed":
            return row.before is not None and replace(row.before, share=row.entry.share) != row.entry
        case "missed":
            return not row.is_met
        case "locked":
            return row.is_locked
    return True
