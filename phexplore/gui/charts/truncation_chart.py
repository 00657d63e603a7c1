"""What does truncation cost? People cut per household size, or bias per cell beside the margin of the noise."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen
from PySide6.QtWidgets import QComboBox, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.table import grouped
from phexplore.figures.wording import people, signed_people
from phexplore.gui.charts.canvas import Canvas
from phexplore.gui.charts.colours import blended
from phexplore.gui.charts.controls import field_label
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.charts.truncation import (
    CellBias,
    SizeCut,
    TableTruncation,
    bias_numbers,
    bias_summary,
    bias_title,
    bias_words,
    size_numbers,
    size_summary,
    size_title,
)
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP
from phexplore.model.keys import QueryKey

TEACHING = (
    "What the truncation thresholds cost appears here once a run has counted its data. Start a run on the page Runs."
)
NOT_TRUNCATED = "This table counts housing units: it has no truncation threshold and no truncation bias."


class TruncationKind(enum.Enum):
    """What is shown. The value is the word in the chooser."""

    SIZES = "People left out, by household size"
    CELLS = "Bias and noise, by cell"


class TruncationBiasChart(ChartFrame):
    """Bars of people left out by household size; or, per cell, truncation bias and noise margin as two bars."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._sizes: TableTruncation | None = None
        self._query: QueryKey | None = None
        self._cells: tuple[CellBias, ...] = ()
        self._axis = RowAxis()
        canvas = Canvas(left=self._axis)
        self._view = RowView(canvas, self._axis, stretch=1.7)
        super().__init__("Truncation bias", TEACHING, canvas, parent, page=self._view)
        self._kind = QComboBox(self)
        self._kind.setAccessibleName("Kind of picture")
        for kind in TruncationKind:
            self._kind.addItem(kind.value, kind)
        self._kind.currentIndexChanged.connect(self._redraw)
        self.controls.addWidget(field_label("&Show", self._kind))
        self.controls.addWidget(self._kind)
        self.controls.addStretch(1)
        canvas.bottom_axis.set_scale(lambda value: grouped(round(value)))
        canvas.add_layer(self._draw)

    def choose_kind(self, kind: TruncationKind) -> None:
        """Show this side of truncation."""
        self._kind.setCurrentIndex(self._kind.findData(kind))

    def show_truncation(self, query: QueryKey | None, sizes: TableTruncation | None, cells: Sequence[CellBias]) -> None:
        """Show what truncation does to one table and level.

        Args:
            query: which one, None shows the empty state.
            sizes: by household size; None for a table without a threshold.
            cells: bias per cell.
        """
        self._query, self._sizes, self._cells = query, sizes, tuple(cells)
        self._redraw()

    def _redraw(self) -> None:
        if self._query is None:
            self.show_empty()
        elif self._sizes is None:
            self.show_empty(NOT_TRUNCATED)
        elif self._kind.currentData() is TruncationKind.SIZES:
            self._show_sizes(self._sizes)
        elif self._cells:
            self._show_cells(self._query)
        else:
            self.show_empty()

    def _show_sizes(self, found: TableTruncation) -> None:
        self.canvas.set_axis_labels("people left out", "")
        largest = max((each.cut for each in found.sizes), default=0)
        self._view.set_rows(tuple(RowLabel("", label) for label, _ in found.rows), partial(_with_room, largest))
        self.show_finding(size_title(found), size_summary(found), partial(size_numbers, found))
        self.canvas.refresh()

    def _show_cells(self, query: QueryKey) -> None:
        self.canvas.set_axis_labels("people", "")
        largest = max(max(abs(cell.mean_bias), abs(cell.largest_bias), cell.margin) for cell in self._cells)
        self._view.set_rows(tuple(RowLabel("", cell.label) for cell in self._cells), partial(_with_room, largest))
        self.show_finding(
            bias_title(query, self._cells), bias_summary(query, self._cells), partial(bias_numbers, self._cells)
        )
        self.canvas.refresh()

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        if self._kind.currentData() is TruncationKind.SIZES and self._sizes is not None:
            rows = self._sizes.rows
            for row in self._view.rows_to_paint(pixels):
                _draw_size(painter, pixels, colours, row, rows[row][1])
        elif self._kind.currentData() is TruncationKind.CELLS:
            for row in self._view.rows_to_paint(pixels):
                _draw_cell(painter, pixels, colours, row, self._cells[row])


def _with_room(largest: float, width: float) -> tuple[float, float]:
    """Return an axis with room for the words at the longest bar."""
    words = min(lettering().width("truncation −9,999.9, at most −99,999") + 2 * GAP, 0.6 * width)
    return 0.0, max(largest, 1) * width / (width - words)


def _draw_size(painter: QPainter, pixels: Pixels, colours: Colours, row: int, each: SizeCut) -> None:
    left, right, y = pixels.x(0), pixels.x(each.cut), pixels.y(-row)
    draw_bias_bar(painter, QRectF(QPointF(left, pixels.y(-row + 0.3)), QPointF(right, pixels.y(-row - 0.3))), colours)
    homes = f"{grouped(each.households)} {'household' if each.households == 1 else 'households'}"
    text = f"{grouped(each.cut)} of {grouped(each.persons)} people, {homes}" if each.cut else f"nobody, {homes}"
    draw_text(painter, QPointF(right + GAP, y), text, colours.text if each.cut else colours.muted)


def _draw_cell(painter: QPainter, pixels: Pixels, colours: Colours, row: int, cell: CellBias) -> None:
    """Draw the size of the bias above, the margin of the noise below, never added up."""
    left = pixels.x(0)
    top, middle, bottom = pixels.y(-row + 0.42), pixels.y(-row), pixels.y(-row - 0.42)
    end = pixels.x(abs(cell.mean_bias))
    draw_bias_bar(painter, QRectF(QPointF(left, top), QPointF(end, middle)), colours)
    farthest = pixels.x(abs(cell.largest_bias))
    painter.setPen(QPen(QColor(colours.attention), 1.4))
    if farthest - end > 2:
        painter.drawLine(QPointF(end, (top + middle) / 2), QPointF(farthest, (top + middle) / 2))
        painter.drawLine(QPointF(farthest, top + 2), QPointF(farthest, middle - 2))
    words = f"truncation {bias_words(cell.mean_bias)}"
    if cell.numbers > 1 and cell.largest_bias:
        words += f", at most {signed_people(cell.largest_bias)}"
    draw_text(painter, QPointF(max(end, farthest) + GAP, (top + middle) / 2), words, colours.text)
    noise = pixels.x(cell.margin)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(blended(colours.accent_ink, colours.base, 0.55)))
    painter.drawRect(QRectF(QPointF(left, middle + 1), QPointF(noise, bottom)))
    draw_text(painter, QPointF(noise + GAP, (middle + bottom) / 2), f"noise ±{people(cell.margin)}", colours.muted)


def draw_bias_bar(painter: QPainter, area: QRectF, colours: Colours) -> None:
    """Fill a bar of truncation: amber and hatched, so that it is told from noise without colour."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.attention))
    painter.drawRect(area)
    painter.setBrush(QBrush(QColor(colours.attention_soft), Qt.BrushStyle.BDiagPattern))
    painter.drawRect(area)
