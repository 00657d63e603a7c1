"""A table of parameters on screen: selection, clipboard and keyboard as people know them from a spreadsheet."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHideEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.tables.cells import CellDelegate, CellPainter
from phexplore.gui.tables.commands import TableCommands
from phexplore.gui.tables.model import REFUSAL_ROLE, ParameterModel
from phexplore.gui.tables.parameter_table import ParameterColumn
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, ROW_PADDING
from phexplore.gui.theme.number_style import localised

Index = QModelIndex | QPersistentModelIndex
_LEAST_ROWS = 4
"""That a table shows; a page lower than that scrolls."""
_WIDEST = 40 * GRID
"""Of a column at normal text size."""
_NARROWEST = 0.6
"""Of its width, that the stretched column keeps: its words end in … before other columns go out of sight."""
_NARROWEST_REPEATED = 0.8
"""Of its width, that a column keeps whose words are said once for several rows; it gives before the stretched one does."""


class ColumnWidths:
    """Fits rows and columns of a view to the font, once: never to the contents."""

    def __init__(self, view: QTableView, model: ParameterModel, *, is_whole: bool) -> None:
        self._view, self._model, self._is_whole = view, model, is_whole
        self._widths: list[int] = []
        self.measure()

    def measure(self) -> None:
        """Measure headers and samples."""
        normal, bold = QFontMetrics(appearance().font()), QFontMetrics(appearance().font(bold=True))
        self._view.verticalHeader().setDefaultSectionSize(normal.height() + ROW_PADDING)
        self._widths, most = [], _WIDEST * appearance().scale // 100
        for number, column in enumerate(self._model.table.columns):
            texts = [normal.horizontalAdvance(line) for line in localised(column.header).split("\n")]
            if column.row_names is not None:  # names of rows differ with the style, and do not change with an edit
                texts += [bold.horizontalAdvance(localised(text)) for text in self._row_texts(column)]
            widest = min(max(bold.horizontalAdvance(localised(column.sample)), *texts), most)
            self._widths.append(widest + 2 * GRID - 3)
            self._view.setColumnWidth(number, self._widths[number])
        self.fill()

    def _row_texts(self, column: ParameterColumn[Any]) -> set[str]:
        return {column.cell(row).text for row in self._model.table.rows}

    def fill(self) -> None:
        """Let the column that is stretched take what is left over, or give what is missing before the table scrolls."""
        view, table = self._view, self._model.table
        shown, stretched = self._shown(), table.number(table.stretched)
        repeated = [number for number in shown if table.columns[number].repeats]
        others = sum(view.columnWidth(number) for number in shown if number not in {stretched, *repeated})
        whole, wanted = view.viewport().width(), self._widths[stretched]
        room = whole - others
        for number in repeated:
            needed = self._widths[number]
            width = min(needed, max(int(_NARROWEST_REPEATED * needed), room - wanted))
            view.setColumnWidth(number, width)
            room -= width
        least = int(_NARROWEST * wanted)
        # Where a cut does not save the table from scrolling, both stay readable; names alone take half of it at most.
        scrolled = wanted if repeated else max(least, min(wanted, whole // 2))
        view.setColumnWidth(stretched, room if room >= least else scrolled)
        if self._is_whole:
            bar = view.horizontalScrollBar().sizeHint().height() if room < least else 0
            rows = len(self._model.rows) * view.verticalHeader().defaultSectionSize()
            view.setFixedHeight(view.horizontalHeader().sizeHint().height() + rows + bar + 2 * view.frameWidth())

    def whole(self) -> int:
        """Return how wide the view has to be to show every column without scrolling, at most a repeated one cut, in pixels."""
        columns, view = self._model.table.columns, self._view
        return sum(
            int(_NARROWEST_REPEATED * self._widths[number]) if columns[number].repeats else self._widths[number]
            for number in self._shown()
        ) + (view.verticalScrollBar().sizeHint().width() + 2 * view.frameWidth())

    def _shown(self) -> list[int]:
        return [number for number in range(len(self._widths)) if not self._view.isColumnHidden(number)]


class ParameterView(QTableView):
    """Shows a table and shares its cursor with the session. It catches up with what it missed when it is shown."""

    def __init__(
        self,
        session: SystemSession[Any],
        model: ParameterModel,
        name: str,
        description: str,
        *,
        is_whole: bool = False,
        tells_choice: bool = True,
    ) -> None:
        """Make the view.

        Args:
            session: what is edited, and whose selection the cursor follows.
            model: what is shown.
            name: for people who do not see it.
            description: its keys.
            is_whole: as high as all its rows, on a page that scrolls.
            tells_choice: whether the row under the cursor is what the session has under inspection.
        """
        super().__init__()
        self._session, self._model, self._tells_choice = session, model, tells_choice
        self._is_following = False
        self.setModel(model)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(name)
        self.setAccessibleDescription(description)
        self.cells = CellDelegate(self.viewport())
        self.cells.submitted.connect(self._move_on)
        self.setItemDelegate(self.cells)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed | triggers.AnyKeyPressed)
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
        self.commands = TableCommands(session, self, model)
        self.widths = ColumnWidths(self, model, is_whole=is_whole)
        appearance().changed.connect(self._on_appearance)
        model.modelReset.connect(self._on_reset)
        session.selected.connect(self.show_place)
        self.show_place(session.selection)
        model.pause()  # until it is shown

    def minimumSizeHint(self) -> QSize:
        """Return the room of a few rows: where there is less, the page around the table scrolls."""
        rows = _LEAST_ROWS * self.verticalHeader().defaultSectionSize()
        return QSize(super().minimumSizeHint().width(), self.horizontalHeader().sizeHint().height() + rows)

    @property
    def place(self) -> Any:
        """The parameter under the cursor, None where there is none."""
        return self._place(self.currentIndex())

    @property
    def current_column(self) -> Any:
        """The key of the column under the cursor."""
        here = self.currentIndex()
        return self._model.table.columns[here.column()].key if here.isValid() else None

    def index_of(self, place: Hashable, column: Hashable = None) -> QModelIndex:
        """Return where a parameter is shown, an invalid index where it is not.

        Args:
            place: the parameter.
            column: key of the column to look at first; the one under the cursor where it is left out.
        """
        table, here = self._model.table, self.currentIndex()
        first = here.column() if column is None and here.isValid() else table.number(column or table.home)
        for number in (first, *range(len(table.columns))):
            key = table.columns[number].key
            for line, row in enumerate(self._model.rows):
                if row.place(key) == place:
                    return self._model.index(line, number)
        return QModelIndex()

    def show_place(self, place: Hashable) -> None:
        """Put the cursor on a parameter, in the column it is in."""
        if place is None or place == self.place:
            return
        self._is_following = True
        if (found := self.index_of(place)).isValid():
            self.setCurrentIndex(found)
        self._is_following = False

    def show_columns(self, columns: Collection[Hashable], *, shown: bool) -> None:
        """Show or hide columns."""
        for column in columns:
            self.setColumnHidden(self._model.table.number(column), not shown)
        self.widths.fill()

    def selected_places(self) -> list[Any]:
        """Return the parameters in the selected cells, row by row."""
        indexes = self.selectedIndexes() or [self.currentIndex()]
        ordered = sorted(indexes, key=lambda index: (index.row(), index.column()))
        return list(dict.fromkeys(place for index in ordered if (place := self._place(index)) is not None))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        here = self.currentIndex()
        if self.commands.run_key(event):
            return
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._step(1, 0)
        elif event.key() == Qt.Key.Key_Escape and here.data(REFUSAL_ROLE) is not None:
            self._model.setData(here, None, REFUSAL_ROLE)
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
        model, heads = self._model, self._model.table.columns
        first, last = self.rowAt(area.top()), self.rowAt(area.bottom())
        if first < 0:
            return
        columns = [
            (number, left, width)
            for number in range(len(heads))
            if not self.isColumnHidden(number)
            and (left := self.columnViewportPosition(number)) <= area.right()
            and left + (width := self.columnWidth(number)) > area.left()
        ]
        here = self.currentIndex() if self.hasFocus() else QModelIndex()
        selection = self.selectionModel().selection()
        chosen = [
            (block.top(), block.bottom(), block.left(), block.right())
            for block in (selection.at(number) for number in range(selection.count()))
        ]
        for number in range(first, (len(model.rows) if last < 0 else last + 1)):
            top, height = self.rowViewportPosition(number), self.rowHeight(number)
            starts = number > 0 and model.rows[number - 1].group != model.rows[number].group
            for column, left, width in columns:
                if (number, column) in drawn:
                    continue
                drawn.add((number, column))
                cells.paint(
                    QRect(left, top, width, height),
                    model.cell(number, column),
                    heads[column].kind,
                    starts=starts,
                    repeated=heads[column].repeats and number > 0 and not starts,
                    first=number == 0,
                    selected=any(a <= number <= b and c <= column <= d for a, b, c, d in chosen),
                    focused=number == here.row() and column == here.column(),
                )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.widths.fill()

    def showEvent(self, event: QShowEvent) -> None:
        self._model.resume()
        super().showEvent(event)
        self.scrollTo(self.currentIndex())

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._model.pause()

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and self._tells_choice and not self._is_following:
            self._session.select(self._place(current))

    def _place(self, index: Index) -> Any:
        if not index.isValid():
            return None
        return self._model.rows[index.row()].place(self._model.table.columns[index.column()].key)

    def _move_on(self, key: int) -> None:
        steps = {int(Qt.Key.Key_Tab): (0, 1), int(Qt.Key.Key_Backtab): (0, -1)}
        self._step(*steps.get(key, (1, 0)))

    def _step(self, down: int, right: int) -> None:
        here = self.currentIndex()
        column = here.column() + right
        while 0 <= column < self._model.columnCount() and self.isColumnHidden(column):
            column += right
        target = here.sibling(here.row() + down, column) if here.isValid() else here
        if target.isValid():
            self.setCurrentIndex(target)

    def _on_reset(self) -> None:
        self.widths.measure()
        self.show_place(self._session.selection)

    def _on_appearance(self, _colours: object) -> None:
        self.widths.measure()
        self.viewport().update()
