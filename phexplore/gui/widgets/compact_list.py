"""A short list of lines with a figure at the right, in a panel: it is as high as its lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QSizePolicy, QTableWidget, QTableWidgetItem

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import GRID, ROW_PADDING
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.cell_text import CellText

_MOST_LINES = 9


class CompactList(QTableWidget):
    """Two columns, the second right-aligned.

    Signals:
        chosen: index of the line the user chose.
    """

    chosen = Signal(object)

    def __init__(self, name: str, *, is_stacked: bool = False, is_wrapped: bool = False) -> None:
        """Make the list.

        Args:
            name: for people who do not see it.
            is_stacked: whether the figure of a line stands below its text, where both are words.
            is_wrapped: whether a long text goes on in a second line instead of being cut.
        """
        super().__init__(0, 2)
        self._is_stacked, self._is_wrapped = is_stacked, is_wrapped
        self.setColumnHidden(1, is_stacked)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(is_wrapped)
        self.setItemDelegate(CellText(self))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names of a table differ at their end
        self.setTabKeyNavigation(False)
        self.horizontalHeader().hide()
        self.verticalHeader().hide()
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
        self.cellActivated.connect(self._choose)
        self.cellClicked.connect(self._choose)
        appearance().changed.connect(self._measure)
        self._lines: tuple[tuple[str, str], ...] = ()
        self._shape: tuple[int, ...] = ()

    def show_lines(self, lines: Sequence[tuple[str, str]]) -> None:
        """Show text and figure of each line."""
        before, self._lines = self._lines, tuple(lines)
        if self._lines == before:
            return
        if len(before) != len(lines):
            self.setRowCount(len(lines))
            self.setVisible(bool(lines))
        for number, line in enumerate(lines):
            if number >= len(before) or before[number] != line:
                self._fill(number, line)
        self._measure()

    def rewrite(self) -> None:
        """Show the same lines again, after another style of numbers or names was chosen."""
        for number, line in enumerate(self._lines):
            self._fill(number, line)

    def sizeHint(self) -> QSize:
        return QSize(30 * GRID, sum(self._shape[:_MOST_LINES]) + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(10 * GRID, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break long texts anew."""
        super().resizeEvent(event)
        if self._is_wrapped:
            self._measure()

    def _fill(self, number: int, line: tuple[str, str]) -> None:
        for place, words in enumerate(("\n".join(line), "") if self._is_stacked else line):
            if (item := self.item(number, place)) is None:
                item = QTableWidgetItem()
                if place:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(number, place, item)
            if item.text() != (shown := localised(words)):
                item.setText(shown)
            item.setToolTip(localised("  ".join(line)))

    def _choose(self, row: int, _column: int) -> None:
        self.chosen.emit(row)

    def _row_height(self) -> int:
        return round(lettering().height) * (2 if self._is_stacked else 1) + ROW_PADDING

    def _measure(self) -> None:
        widest = max((lettering().width(figure) for _, figure in self._lines), default=0.0)
        width = min(round(widest) + 3 * GRID, 28 * GRID)
        if not self._is_stacked and width != self.columnWidth(1):
            self.setColumnWidth(1, width)
        if self._row_height() != self.verticalHeader().defaultSectionSize():
            self.verticalHeader().setDefaultSectionSize(self._row_height())
        if self._is_wrapped:
            for line in range(len(self._lines)):
                wanted = self.sizeHintForRow(line)
                self.setRowHeight(line, wanted + GRID if wanted > self._row_height() else self._row_height())
        shape = tuple(map(self.rowHeight, range(len(self._lines))))
        if shape != self._shape:  # the same height needs no new layout
            self._shape = shape
            self.updateGeometry()
