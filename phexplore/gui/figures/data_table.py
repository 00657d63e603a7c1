"""The table twin of a picture: the same numbers, reachable by keyboard, copied with their headers."""

from __future__ import annotations

import operator
from collections.abc import Hashable
from textwrap import wrap
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QStackedWidget, QTableView, QWidget

from phexplore.figures.figure import Figure
from phexplore.figures.table import UNTOUCHED, Look, Table, common_places, is_number, plain, shown
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, ROW_PADDING
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.cell_text import CellText, WrappedText
from phexplore.gui.widgets.labels import describe
from phexplore.gui.widgets.menus import offer
from phexplore.gui.widgets.when_seen import WhenSeen

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_LOOKED_AT = 20
"""Rows that tell whether a column holds numbers: the first may have none."""
_ONE_LINE = 12
"""Letters of a header over numbers that stand in one line."""
_LINE = 30
"""Letters of a line of a header over words, and of one over numbers that needs more than two."""
_FIRST = 0.42
"""Of the width, that the first column has where the table scrolls sideways."""
_LETTERS = (*range(90, 25, -1), 34)
"""Of names, from the longest to the shortest they are cut to where the width does not hold all, and where it never does; the whole
name is in the tip."""


def in_lines(header: str) -> str:
    """Return a header in two lines where it is wider than what stands below it, broken next to its middle; a sentence in three."""
    if len(header) > 2 * _LINE:
        return "\n".join(wrap(header, _LINE, break_long_words=False, max_lines=3, placeholder=" …"))
    spaces = [place for place, letter in enumerate(header) if letter == " "]
    if len(header) <= _ONE_LINE or not spaces:
        return header
    middle = min(spaces, key=lambda place: abs(2 * place - len(header)))
    return f"{header[:middle]}\n{header[middle + 1 :]}"


def _look(look: Look | None, role: int) -> Any:
    colours = appearance().colours
    match look, role:
        case Look.BOLD | Look.ATTENTION, Qt.ItemDataRole.FontRole:
            return appearance().font(bold=True)
        case Look.MUTED | Look.GOOD | Look.ATTENTION | Look.REFUSED, Qt.ItemDataRole.ForegroundRole:
            return QColor(getattr(colours, look.value))
        case Look.ATTENTION, Qt.ItemDataRole.BackgroundRole:
            return QColor(colours.attention_soft)
        case _:
            return None


def _letters_of(numbers: Table) -> list[int]:
    """Return the length of the longest text of each column, in the rows that tell what it holds."""
    columns = zip(*numbers.rows[:_LOOKED_AT], strict=True)
    return [max((len(each) for each in column if isinstance(each, str)), default=0) for column in columns]


class NumbersModel(QAbstractTableModel):
    """Read-only rows and columns of `numbers`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.numbers = Table(())
        self._places: dict[int, int | None] = {}

    def set_numbers(self, numbers: Table) -> None:
        """Show other numbers; the selection stays where the shape stays."""
        before, same_shape = self.numbers, self._same_shape(numbers)
        if numbers == before:
            return
        places, self._places = self._places, {}
        if not same_shape:
            self.beginResetModel()
            self.numbers = numbers
            self.endResetModel()
            return
        self.numbers = numbers
        same_look = (before.looks, before.details) == (numbers.looks, numbers.details)
        pairs = enumerate(zip(before.rows, numbers.rows, strict=True))
        is_rewritten = not same_look or any(self._decimals(column) != found for column, found in places.items())
        changed = [row for row, (old, new) in pairs if old != new or is_rewritten]
        if changed:
            last = len(numbers.headers) - 1
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], last))

    def holds_numbers(self, column: int) -> bool:
        """Return whether a column holds numbers: they stand beside each other and leave the rest of the width free."""
        return any(is_number(row[column]) for row in self.numbers.rows[:_LOOKED_AT])

    def _decimals(self, column: int) -> int | None:
        if column not in self._places:
            self._places[column] = common_places([row[column] for row in self.numbers.rows])
        return self._places[column]

    def _same_shape(self, numbers: Table) -> bool:
        return numbers.headers == self.numbers.headers and len(numbers.rows) == len(self.numbers.rows)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.numbers.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.numbers.headers)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        value = self.numbers.rows[index.row()][index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return localised(shown(value, self._decimals(index.column())))
            case Qt.ItemDataRole.ToolTipRole:
                return localised(self._detail(index) or plain(value))
            case Qt.ItemDataRole.TextAlignmentRole:
                is_right = is_number(value) or value is None or value == UNTOUCHED
                side = Qt.AlignmentFlag.AlignRight if is_right else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.AccessibleTextRole:
                words = self._detail(index) or localised(shown(value))
                header = plain(self.numbers.headers[index.column()])
                return localised(f"{header}: {words}" if header else words)
        return _look(self.numbers.looks.get((index.row(), index.column())), role)

    def _detail(self, index: Index) -> str:
        return self.numbers.details.get((index.row(), index.column()), "")

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation == Qt.Orientation.Horizontal:
            side = Qt.AlignmentFlag.AlignRight if self.holds_numbers(section) else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role not in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole}:
            return None
        if orientation == Qt.Orientation.Vertical:
            return str(section + 1)
        if section >= len(self.numbers.headers):
            return None
        header = localised(self.numbers.headers[section])
        is_seen = role == Qt.ItemDataRole.DisplayRole
        is_wide = self.holds_numbers(section) or len(header) > _LINE
        return in_lines(header) if is_seen and is_wide else header


class NumbersTable(QTableView):
    """Shows a `NumbersModel`; Ctrl+C copies the selected block with its headers.

    Signals:
        row_chosen: the row (int) the user moved to.
    """

    row_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None, *, is_wrapped: bool = False) -> None:
        """Make the table.

        Args:
            parent: owner.
            is_wrapped: whether a long name goes on in another line instead of being cut; for a few rows.
        """
        super().__init__(parent)
        self._following = False
        self._is_held_back = False
        self._is_wrapped = is_wrapped
        self._wanted: list[int] = []
        self._model = NumbersModel(self)
        self.setModel(self._model)
        self.setAlternatingRowColors(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setItemDelegate(WrappedText(self) if is_wrapped else CellText(self))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names of a table differ at their end
        self.verticalHeader().setVisible(False)
        self.horizontalHeader().setHighlightSections(False)
        offer(self, {"Copy with headers": self.copy, "Copy the whole table": self.copy_all})
        self._model.modelReset.connect(self._fit_columns)
        self._seen = WhenSeen(self, self._fit_columns)
        appearance().changed.connect(self._follow_text_size)
        self._follow_text_size()
        self.selectionModel().currentRowChanged.connect(self._announce)

    @property
    def numbers(self) -> Table:
        """What is shown."""
        return self._model.numbers

    def set_numbers(self, numbers: Table) -> None:
        """Show other numbers; names that are longer than those before them have their columns measured anew."""
        before = self.numbers
        self._model.set_numbers(numbers)
        if numbers.headers == before.headers and any(map(operator.gt, _letters_of(numbers), _letters_of(before))):
            self._seen.request()

    def choose_row(self, row: int | None) -> None:
        """Move to a row without announcing it; a row that is not there yet is left for later."""
        if row is not None and row >= self._model.rowCount():
            return
        if row == (self.currentIndex().row() if self.currentIndex().isValid() else None):
            return
        self._following = True
        if row is None:
            self.selectionModel().clear()
        else:
            self.selectRow(row)
        self._following = False

    def selected_numbers(self) -> Table:
        """Return the selected block with its headers, everything when one cell or none is selected."""
        chosen = self.selectionModel().selection()
        if chosen.count() == 0 or len(chosen.indexes()) == 1:
            return self.numbers
        block = chosen.first()
        columns = slice(block.left(), block.right() + 1)
        rows = self.numbers.rows[block.top() : block.bottom() + 1]
        return Table(self.numbers.headers[columns], tuple(row[columns] for row in rows))

    def hold_back(self, reason: str) -> None:
        """Let nothing be copied, for a reason; "" lets it again."""
        self._is_held_back = bool(reason)
        self.setStatusTip(reason)
        for action in self.actions():
            action.setEnabled(not reason)

    def copy(self) -> None:
        """Put the selected block on the clipboard, unless it is held back."""
        self._put(self.selected_numbers())

    def copy_all(self) -> None:
        """Put all numbers on the clipboard, unless they are held back."""
        self._put(self.numbers)

    def _put(self, numbers: Table) -> None:
        if not self._is_held_back:
            QGuiApplication.clipboard().setText(numbers.tab_separated())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width anew: a page that was not laid out yet had another."""
        super().resizeEvent(event)
        self._share_width()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy with headers: the view itself would copy the one current cell."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            event.accept()
        else:
            super().keyPressEvent(event)

    def _announce(self, current: QModelIndex) -> None:
        if current.isValid() and not self._following:
            self.row_chosen.emit(current.row())

    def _follow_text_size(self, _colours: object = None) -> None:
        self.verticalHeader().setDefaultSectionSize(QFontMetrics(appearance().font()).height() + ROW_PADDING)
        if self._model.rowCount():
            self._seen.request()

    def _fit_columns(self) -> None:
        """Measure once per shape: measuring on every change costs more than the picture (desktop.md, section 2)."""
        self.setWordWrap(False)
        self.resizeColumnsToContents()
        # A number is short, but a column of numbers can be called like a member who has a name of 300 letters.
        most = self.fontMetrics().averageCharWidth() * _LETTERS[-1]
        columns = range(self._model.columnCount())
        widths = [
            min(self.columnWidth(c), most) if self._model.holds_numbers(c) else self.columnWidth(c) for c in columns
        ]
        self._wanted = [width + GRID for width in widths]
        self._share_width()
        self.horizontalHeader().setStretchLastSection(not self._model.holds_numbers(self._model.columnCount() - 1))

    def _share_width(self) -> None:
        """Give every column its width; where not all fits, names are cut, the longest first: numbers stand behind them."""
        letter, widths = self.fontMetrics().averageCharWidth(), list(self._wanted)
        names = [column for column in range(len(widths)) if not self._model.holds_numbers(column)]
        for letters in _LETTERS:
            if sum(widths) <= self.viewport().width():
                break
            for column in names:
                widths[column] = min(self._wanted[column], letter * letters)
        if sum(widths) > (
            room := self.viewport().width()
        ):  # the first column tells rows apart; what scrolls away can wait
            widths[:1] = [min(self._wanted[0], max(widths[0], int(_FIRST * room)))]
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width)
        if self._is_wrapped:
            self._fit_rows(is_cut=any(width < wanted for width, wanted in zip(widths, self._wanted, strict=True)))

    def _fit_rows(self, *, is_cut: bool) -> None:
        """Give every row the lines that its names need.

        Args:
            is_cut: whether a name is wider than its column.
        """
        self.setWordWrap(is_cut)
        one = self.verticalHeader().defaultSectionSize()
        for row in range(self._model.rowCount()):
            wanted = self.sizeHintForRow(row) + HALF if is_cut else one
            self.setRowHeight(row, max(one, wanted))


class TableTwin(QObject):
    """The data table of a figure, made when somebody first looks at it, filled when somebody looks again.

    Signals:
        key_chosen: key of the mark whose row the user moved to.
        key_activated: key of the mark whose row was opened.
    """

    key_chosen = Signal(object)
    key_activated = Signal(object)

    def __init__(self, name: str, stack: QStackedWidget) -> None:
        """Begin without a table.

        Args:
            name: of the table, for screen readers.
            stack: gets the table when it is made, and owns both.
        """
        super().__init__(stack)
        self._name, self._stack = name, stack
        self._figure: Figure | None = None
        self._description = self._held_back = ""
        self._chosen: Hashable = None
        self._table: NumbersTable | None = None
        self._is_filled = False

    @property
    def table(self) -> NumbersTable:
        """The table with the numbers of the figure."""
        if self._table is None:
            table = self._table = NumbersTable(self._stack)
            table.setAccessibleName(self._name)
            table.row_chosen.connect(self._choose_row)
            table.activated.connect(self._activate)
            self._stack.addWidget(table)
            self.hold_back(self._held_back)
        self.fill()
        return self._table

    def use(self, figure: Figure | None, description: str) -> None:
        """Follow another figure.

        Args:
            figure: None for none.
            description: of the figure, for screen readers.
        """
        self._figure, self._description, self._is_filled = figure, description, False
        if self._table is not None and figure is None:
            self.fill()

    def fill(self) -> None:
        """Bring the table up to the figure; the place of the choice in it stays."""
        if self._table is not None and not self._is_filled:
            self._is_filled = True
            describe(self._table, more=self._description)
            self._table.set_numbers(Table(()) if self._figure is None else self._figure.table)
            self.choose(self._chosen)

    def choose(self, key: Hashable) -> None:
        """Move to the row of a mark without announcing it."""
        self._chosen = key
        keys = self._keys()
        if self._table is not None and key is not None and key in keys:
            self._table.choose_row(keys.index(key))

    def hold_back(self, reason: str) -> None:
        """Let nothing be copied, for a reason; "" lets it again."""
        self._held_back = reason
        if self._table is not None:
            self._table.hold_back(reason)

    def _keys(self) -> list[Hashable]:
        """Return the key of the mark of every row; empty where there is no table or it has other rows."""
        if self._table is None or self._figure is None or len(self._figure.marks) != len(self._table.numbers.rows):
            return []
        return [mark.key for mark in self._figure.marks]

    def _choose_row(self, row: int) -> None:
        keys = self._keys()
        if row < len(keys) and keys[row] is not None:
            self.key_chosen.emit(keys[row])

    def _activate(self, index: QModelIndex) -> None:
        keys = self._keys()
        if index.row() < len(keys) and keys[index.row()] is not None:
            self.key_activated.emit(keys[index.row()])
