"""The budget table on screen: selection, clipboard and keyboard as people know them from a spreadsheet."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionRange, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from phexplore.gui.binding.session import Refusal
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.budget_row import COLUMNS, CONVENTION_COLUMNS, TYPED, Column, Row, forbidden
from phexplore.gui.systems.phsafe.budget_table import COLUMN_ROLE, REFUSAL_ROLE, ROW_ROLE, BudgetFilter
from phexplore.gui.systems.phsafe.cell_delegate import CellDelegate
from phexplore.gui.systems.phsafe.cell_painting import CellPainter
from phexplore.gui.systems.phsafe.table_block import PasteRefusedError, block_text, plan_paste
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, ROW_PADDING
from phexplore.model.keys import QueryKey
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.edits import set_target

Index = QModelIndex | QPersistentModelIndex
_SAMPLES = {
    Column.TABLE: "PH5_denom",
    Column.LEVEL: "Nation, Unattributed",
    Column.PUBLISHED: "Publ.",
    Column.THRESHOLD: "99",
    Column.TARGET: "9,999",
    Column.MARGIN: "9,999",
    Column.MARGIN_EXACT: "1,000.0",
    Column.MARGIN_NORMAL: "1,000.0",
    Column.MARGIN_PAPER: "1,000.0",
    Column.BUDGET: "0.000000",
    Column.BOUNDED: "0.000000",
    Column.SHARE: "< 0.1 %",
    Column.MARGIN_CHANGE: "+999",
    Column.BUDGET_CHANGE: "+0.000000",
    Column.LOCK: "Lock",
}
"""Texts as wide as what a column usually holds: measuring every cell on every edit would cost 100 ms."""


class BudgetView(QTableView):
    """Shows the filtered budget table.

    Signals:
        query_entered: the `QueryKey` of the row the cursor came to.
    """

    query_entered = Signal(object)

    def __init__(self, session: PlainSession, rows: BudgetFilter) -> None:
        super().__init__()
        self._session = session
        self._widths: dict[int, int] = {}
        self._rows_model = rows
        self.setModel(rows)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Budgets")
        self.setAccessibleDescription(
            "One row per table and level. Type to edit, Enter to commit, Escape to restore, Space to tick."
        )
        self.cells = CellDelegate(self.viewport())
        self.cells.submitted.connect(self._move_on)
        self.setItemDelegate(self.cells)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self.setWordWrap(False)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.setCornerButtonEnabled(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        heads = self.horizontalHeader()
        heads.setHighlightSections(False)
        heads.setSectionsMovable(False)
        heads.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        heads.setMinimumSectionSize(3 * GRID)
        for column in CONVENTION_COLUMNS:
            self.setColumnHidden(COLUMNS.index(column), True)
        appearance().changed.connect(self._measure)
        self._measure()

    @property
    def current_column(self) -> Column | None:
        """The column under the cursor."""
        found = self.currentIndex().data(COLUMN_ROLE)
        return found if isinstance(found, Column) else None

    def show_query(self, query: QueryKey | None) -> None:
        """Put the cursor on the row of a query, in the column it is in."""
        here = self.currentIndex()
        if query is None or (here.isValid() and here.data(ROW_ROLE).query == query):
            return
        column = here.column() if here.isValid() else COLUMNS.index(Column.MARGIN)
        for number in range(self.model().rowCount()):
            cell = self.model().index(number, column)
            if cell.data(ROW_ROLE).query == query:
                self.setCurrentIndex(cell)
                return

    def show_columns(self, columns: frozenset[Column], *, shown: bool) -> None:
        """Show or hide columns."""
        for column in columns:
            self.setColumnHidden(COLUMNS.index(column), not shown)
        self._fill_width()

    def queries(self) -> list[QueryKey]:
        """Return the queries on screen, in order."""
        return [self._row(number).query for number in range(self.model().rowCount())]

    def selected_queries(self) -> list[QueryKey]:
        """Return the queries of the selected rows, in the order on screen."""
        numbers = sorted({index.row() for index in self.selectedIndexes()})
        return [self._row(number).query for number in numbers]

    def copy(self, *, headers: bool = False) -> None:
        """Copy the block around the selected cells: exact numbers, tab separated."""
        indexes = self.selectedIndexes() or [self.currentIndex()]
        if not indexes[0].isValid():
            return
        numbers = sorted({index.row() for index in indexes})
        chosen = {COLUMNS[index.column()] for index in indexes}
        columns = [column for column in self._columns() if column in chosen]
        rows = [self._row(number) for number in numbers]
        QGuiApplication.clipboard().setText(block_text(rows, columns, headers=headers))

    def paste(self) -> bool:
        """Paste a block, as one step or not at all; return whether it was taken."""
        here = self._corner()
        if not here.isValid():
            return self._session.report(Refusal("", "No cell is chosen.", "Click the first cell of the block."))
        pasted = QGuiApplication.clipboard().text()
        rows = [self._row(number) for number in range(self.model().rowCount())]
        columns = self._columns()
        selected = len({index.row() for index in self.selectedIndexes()})
        try:
            plan = plan_paste(
                pasted, rows, columns, row=here.row(), column=columns.index(COLUMNS[here.column()]), selected=selected
            )
        except PasteRefusedError as error:
            return self._session.report(Refusal("", error.sentence, error.remedy))
        if plan.count == 0:
            return True
        return self._session.report(self._session.edit(plan.label, plan.edit))

    def fill_down(self) -> bool:
        """Repeat the first selected row's values in the rows below it, as one step."""
        numbers = sorted({index.row() for index in self.selectedIndexes()})
        chosen = {COLUMNS[index.column()] for index in self.selectedIndexes()} & TYPED
        if len(numbers) < 2 or not chosen:
            return self._session.report(
                Refusal("", "There is nothing to fill down.", "Select a value and the cells below it.")
            )
        columns = [column for column in self._columns() if column in chosen]
        first = block_text([self._row(numbers[0])], columns, headers=False).rstrip("\n")
        rows = [self._row(number) for number in numbers[1:]]
        try:
            plan = plan_paste("\n".join([first] * len(rows)), rows, columns, row=0, column=0)
        except PasteRefusedError as error:
            return self._session.report(Refusal("", error.sentence, error.remedy))
        return plan.count == 0 or self._session.report(self._session.edit("Fill down", plan.edit))

    def clear_targets(self) -> None:
        """Remove the targets of the selected rows, as one step."""
        rows = [self._row(number) for number in sorted({index.row() for index in self.selectedIndexes()})]
        queries = [row.query for row in rows if row.target is not None and not forbidden(Column.TARGET, row)]
        if queries:
            count = len(queries)
            label = f"Remove {count} target" + ("" if count == 1 else "s")
            self._session.report(self._session.edit(label, lambda scenario: _without_targets(scenario, queries)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        here = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        elif event.key() == Qt.Key.Key_Delete and self.current_column is Column.TARGET:
            self.clear_targets()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._step(here, 1, 0)
        elif event.key() == Qt.Key.Key_Escape and here.data(REFUSAL_ROLE) is not None:
            self.model().setData(here, None, REFUSAL_ROLE)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cells that need it from their looks: Qt would ask the model a dozen questions for each of them."""
        viewport, canvas = self.viewport(), QPainter(self.viewport())
        paper = QColor(appearance().colours.base)
        cells = CellPainter(canvas)
        drawn: set[tuple[int, int]] = set()
        areas: list[QRect] = list(event.region())  # type: ignore[call-overload]  # the stubs leave its iterator out
        for area in areas:
            canvas.fillRect(area, paper)
        for area in areas:
            self._paint_area(cells, area.intersected(viewport.rect()), drawn)
        canvas.end()

    def _paint_area(self, cells: CellPainter, area: QRect, drawn: set[tuple[int, int]]) -> None:
        first, last = self.rowAt(area.top()), self.rowAt(area.bottom())
        if first < 0:
            return
        if last < 0:
            last = self.model().rowCount() - 1
        rows = self._rows_model.source_rows(max(first - 1, 0), last)
        above = rows.pop(0) if first else -1
        columns = self._columns_in(area)
        here = self.currentIndex() if self.hasFocus() else QModelIndex()
        chosen = [(block.top(), block.bottom(), block.left(), block.right()) for block in self._blocks()]
        for number, row in enumerate(rows, start=first):
            top, height = self.rowViewportPosition(number), self.rowHeight(number)
            table = self._rows_model.source.look(row, Column.TABLE).table
            starts = above >= 0 and self._rows_model.source.look(above, Column.TABLE).table != table
            above = row
            for column, left, width in columns:
                if (number, column) in drawn:
                    continue
                drawn.add((number, column))
                cells.paint(
                    QRect(left, top, width, height),
                    self._rows_model.source.look(row, COLUMNS[column]),
                    starts=starts,
                    first=number == 0,
                    selected=any(a <= number <= b and c <= column <= d for a, b, c, d in chosen),
                    focused=number == here.row() and column == here.column(),
                )

    def _blocks(self) -> list[QItemSelectionRange]:
        selection = self.selectionModel().selection()
        return [selection.at(number) for number in range(selection.count())]

    def _columns_in(self, area: QRect) -> list[tuple[int, int, int]]:
        """Return index, left edge and width of the columns that touch an area."""
        found = []
        for column in range(len(COLUMNS)):
            if self.isColumnHidden(column):
                continue
            left, width = self.columnViewportPosition(column), self.columnWidth(column)
            if left <= area.right() and left + width > area.left():
                found.append((column, left, width))
        return found

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fill_width()

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid():
            self.query_entered.emit(current.data(ROW_ROLE).query)

    def _move_on(self, key: int) -> None:
        steps = {int(Qt.Key.Key_Tab): (0, 1), int(Qt.Key.Key_Backtab): (0, -1)}
        down, right = steps.get(key, (1, 0))
        self._step(self.currentIndex(), down, right)

    def _step(self, index: QModelIndex, down: int, right: int) -> None:
        column = index.column() + right
        while 0 <= column < len(COLUMNS) and self.isColumnHidden(column):
            column += right
        target = index.siblingAtColumn(column).sibling(index.row() + down, column) if index.isValid() else index
        if target.isValid():
            self.setCurrentIndex(target)

    def _corner(self) -> QModelIndex:
        indexes = self.selectedIndexes()
        if not indexes:
            return self.currentIndex()
        return self.model().index(min(i.row() for i in indexes), min(i.column() for i in indexes))

    def _columns(self) -> list[Column]:
        return [column for number, column in enumerate(COLUMNS) if not self.isColumnHidden(number)]

    def _row(self, number: int) -> Row:
        row = self.model().index(number, 0).data(ROW_ROLE)
        if not isinstance(row, Row):
            raise TypeError(f"row {number} of the table holds {row!r}")
        return row

    def _measure(self) -> None:
        """Fit rows and columns to the font, once: never to the contents."""
        normal, bold = QFontMetrics(appearance().font()), QFontMetrics(appearance().font(bold=True))
        self.verticalHeader().setDefaultSectionSize(normal.height() + ROW_PADDING)
        for number, column in enumerate(COLUMNS):
            heading = str(self.model().headerData(number, Qt.Orientation.Horizontal)).split("\n")
            widest = max(bold.horizontalAdvance(_SAMPLES[column]), *map(normal.horizontalAdvance, heading))
            self._widths[number] = widest + 2 * GRID - 3
            self.setColumnWidth(number, self._widths[number])
        self._fill_width()

    def _fill_width(self) -> None:
        """Give room that is left over to the names of the levels."""
        level = COLUMNS.index(Column.LEVEL)
        others = sum(self.columnWidth(n) for n in range(len(COLUMNS)) if n != level and not self.isColumnHidden(n))
        self.setColumnWidth(level, max(self._widths[level], self.viewport().width() - others))


def _without_targets(scenario: Scenario, queries: list[QueryKey]) -> Scenario:
    for query in queries:
        scenario = set_target(scenario, query, None)
    return scenario
