"""How wrong will published numbers be? The errors of a run with the exact noise drawn over them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QComboBox, QStackedWidget, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.table import Table, grouped
from phexplore.figures.wording import people
from phexplore.gui.charts.canvas import Canvas
from phexplore.gui.charts.colours import blended
from phexplore.gui.charts.controls import field_label
from phexplore.gui.charts.distribution import (
    Box,
    Cumulated,
    ErrorPicture,
    Histogram,
    box_numbers,
    cumulated_numbers,
    distribution_summary,
    distribution_title,
    histogram_numbers,
)
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering

TEACHING = (
    "The errors of a simulated run appear here, with the exact distribution of the noise drawn over them. "
    "Start a run on the page Runs; the picture grows with every finished trial."
)
BOX_PART = 0.55
RANGE_OPACITY = 0.22


class DistributionKind(enum.Enum):
    """How the errors are drawn. The value is the word in the chooser."""

    HISTOGRAM = "Histogram"
    CUMULATED = "Cumulated share (ECDF)"
    BOXES = "Boxes by cell"


class ErrorDistributionChart(ChartFrame):
    """Histogram, cumulated share or boxes of noise errors, each with what the exact noise predicts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._errors: ErrorPicture | None = None
        self._boxes: tuple[Box, ...] = ()
        self._curve_canvas = Canvas()
        self._axis = RowAxis()
        self._box_canvas = Canvas(left=self._axis)
        self._view = RowView(self._box_canvas, self._axis, stretch=1.2)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._curve_canvas)
        self._pages.addWidget(self._view)
        super().__init__("Error distribution", TEACHING, self._curve_canvas, parent, page=self._pages)
        self._box_canvas.setAccessibleName("Error distribution, boxes")
        self._kind = QComboBox(self)
        self._kind.setAccessibleName("Kind of picture")
        for kind in DistributionKind:
            self._kind.addItem(kind.value, kind)
        self._kind.currentIndexChanged.connect(self._redraw)
        self.controls.addWidget(field_label("&Show as", self._kind))
        self.controls.addWidget(self._kind)
        self.controls.addStretch(1)
        for canvas in (self._curve_canvas, self._box_canvas):
            canvas.bottom_axis.set_scale(lambda value: grouped(round(value)))
        self._curve_canvas.add_layer(self._draw_curve)
        self._box_canvas.add_layer(self._draw_boxes)

    @property
    def kind(self) -> DistributionKind:
        """What is chosen."""
        return DistributionKind(self._kind.currentData())

    def choose_kind(self, kind: DistributionKind) -> None:
        """Draw the errors this way."""
        self._kind.setCurrentIndex(self._kind.findData(kind))

    def show_errors(self, errors: ErrorPicture | None, boxes: Sequence[Box] = ()) -> None:
        """Show errors.

        Args:
            errors: of the group chosen; None shows the empty state.
            boxes: of the parts it is compared with, one row each.
        """
        self._errors, self._boxes = errors, tuple(boxes)
        self._redraw()

    def recolour(self, colours: Colours) -> None:
        for canvas in (self._curve_canvas, self._box_canvas):
            canvas.recolour(colours)
        self._axis.fit()

    def _redraw(self) -> None:
        errors = self._errors
        if errors is None or (self.kind is DistributionKind.BOXES and not self._boxes):
            self.show_empty()
            return
        match self.kind:
            case DistributionKind.HISTOGRAM:
                numbers = self._show_histogram(errors.histogram)
            case DistributionKind.CUMULATED:
                numbers = self._show_cumulated(errors.cumulated)
            case DistributionKind.BOXES:
                numbers = self._show_boxes(errors.confidence)
        self.show_finding(distribution_title(errors), distribution_summary(errors), numbers)
        self.canvas.refresh()

    def _show_histogram(self, found: Histogram) -> Callable[[], Table]:
        peak = float(max(found.shares.max(), found.high.max() if found.high.size else 0.0, 1e-9))
        canvas = self._use(self._curve_canvas)
        canvas.left_axis.set_scale(lambda value: f"{value * 100:g} %")
        unit = "person" if found.width == 1 else f"{found.width} people"
        canvas.set_axis_labels("error, people", f"share of errors per {unit}")
        canvas.show_range((float(found.edges[0]), float(found.edges[-1])), (0.0, peak * 1.12))
        return partial(histogram_numbers, found)

    def _show_cumulated(self, found: Cumulated) -> Callable[[], Table]:
        canvas = self._use(self._curve_canvas)
        canvas.left_axis.set_scale(lambda value: f"{value * 100:.0f} %", lambda _low, _high: [0, 0.25, 0.5, 0.75, 1])
        canvas.set_axis_labels("error, people", "share of errors up to this value")
        canvas.show_range((float(found.values[0]), float(found.values[-1])), (-0.02, 1.14))
        return partial(cumulated_numbers, found)

    def _show_boxes(self, confidence: Fraction) -> Callable[[], Table]:
        canvas = self._use(self._box_canvas)
        canvas.set_axis_labels("error, people", "")
        reach = max(max(b.largest, -b.smallest, b.margin) for b in self._boxes)
        reach = max(reach, 1.0) * 1.06
        self._view.set_rows(tuple(RowLabel("", b.label) for b in self._boxes), (-reach, reach))
        return partial(box_numbers, self._boxes, confidence)

    def _use(self, canvas: Canvas) -> Canvas:
        self.canvas = canvas
        self._pages.setCurrentWidget(self._curve_canvas if canvas is self._curve_canvas else self._view)
        return canvas

    # Painting

    def _draw_curve(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        errors = self._errors
        if errors is None:
            return
        is_histogram = self.kind is DistributionKind.HISTOGRAM
        if is_histogram:
            _draw_histogram(painter, pixels, colours, errors.histogram)
        else:
            _draw_cumulated(painter, pixels, colours, errors.cumulated)
        _draw_margin(painter, pixels, colours, errors)
        observed = ("bar" if is_histogram else "thick line", "observed")
        exact = [("line", "exact noise"), ("range", f"95 % range of {grouped(errors.coverage.errors)} errors")]
        _draw_key(painter, pixels, colours, [observed, *(exact if errors.has_noise else [])])

    def _draw_boxes(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        for row in self._view.rows_to_paint(pixels):
            if row < len(self._boxes):
                _draw_box(painter, pixels, colours, row, self._boxes[row])


def _draw_histogram(painter: QPainter, pixels: Pixels, colours: Colours, found: Histogram) -> None:
    painter.setPen(QPen(QColor(colours.base), 1))
    painter.setBrush(QColor(blended(colours.accent_ink, colours.base, 0.55)))
    base = pixels.y(0)
    for left, right, share in zip(found.edges, found.edges[1:], found.shares, strict=False):
        if share:
            x, top = pixels.x(float(left)), pixels.y(float(share))
            painter.drawRect(QRectF(x, top, pixels.x(float(right)) - x, base - top))
    if found.expected.size:
        _draw_range(painter, pixels, colours, found)
        _draw_steps(painter, pixels, colours, found)


def _draw_range(painter: QPainter, pixels: Pixels, colours: Colours, found: Histogram) -> None:
    """Shade where an observed share lies 19 times out of 20 when the noise is what it should be."""
    shade = QColor(colours.text)
    shade.setAlphaF(RANGE_OPACITY)
    for left, right, low, high in zip(found.edges, found.edges[1:], found.low, found.high, strict=False):
        x, top = pixels.x(float(left)), pixels.y(float(high))
        painter.fillRect(QRectF(x, top, pixels.x(float(right)) - x, pixels.y(float(low)) - top), shade)


def _draw_steps(painter: QPainter, pixels: Pixels, colours: Colours, found: Histogram) -> None:
    points = []
    for left, right, share in zip(found.edges, found.edges[1:], found.expected, strict=False):
        y = pixels.y(float(share))
        points += [QPointF(pixels.x(float(left)), y), QPointF(pixels.x(float(right)), y)]
    painter.setPen(QPen(QColor(colours.text), 1.8))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(points))


def _draw_cumulated(painter: QPainter, pixels: Pixels, colours: Colours, found: Cumulated) -> None:
    if found.expected.size:
        shade = QColor(colours.text)
        shade.setAlphaF(RANGE_OPACITY)
        outline = QPainterPath(_curve(pixels, found.values, np.minimum(1, found.expected + found.band)))
        outline.connectPath(_curve(pixels, found.values, np.maximum(0, found.expected - found.band)).toReversed())
        painter.fillPath(outline, shade)
        painter.setPen(QPen(QColor(colours.text), 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(_curve(pixels, found.values, found.expected))
    painter.setPen(QPen(QColor(colours.accent_ink), 2.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(_curve(pixels, found.values, found.shares))


def _curve(pixels: Pixels, values: NDArray[np.float64], shares: NDArray[np.float64]) -> QPainterPath:
    xs, ys = pixels.left + values * pixels.per_x, pixels.bottom - shares * pixels.per_y
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]))
    return path


def _draw_margin(painter: QPainter, pixels: Pixels, colours: Colours, errors: ErrorPicture) -> None:
    """Draw the margin at both sides and name it."""
    painter.setPen(QPen(QColor(colours.text), 1.4, Qt.PenStyle.DashLine))
    for side in (-1, 1):
        x = pixels.x(side * errors.margin)
        painter.drawLine(QPointF(x, pixels.area.top() + 20), QPointF(x, pixels.area.bottom()))
    text = f"±{people(errors.margin)}: {float(errors.confidence) * 100:g} % margin"
    left = min(pixels.x(errors.margin) - 4, pixels.area.right() - lettering(bold=True).width(text) - 4)
    draw_text(painter, QPointF(left, pixels.area.top() + 10), text, colours.text, bold=True)


def _draw_key(painter: QPainter, pixels: Pixels, colours: Colours, entries: Sequence[tuple[str, str]]) -> None:
    """Name the marks in the empty upper left corner.

    Args:
        painter: of the canvas.
        pixels: its map.
        colours: of the theme.
        entries: kind of mark ("bar", "line", "thick line", "range") and its words.
    """
    x, y = pixels.area.left() + 8, pixels.area.top() + 10
    for kind, words in entries:
        swatch = QRectF(x, y - 5, 18, 10)
        shade = QColor(colours.text)
        shade.setAlphaF(RANGE_OPACITY)
        match kind:
            case "bar":
                painter.fillRect(swatch, QColor(blended(colours.accent_ink, colours.base, 0.55)))
            case "range":
                painter.fillRect(swatch, shade)
            case _:
                thick = kind == "thick line"
                painter.setPen(QPen(QColor(colours.accent_ink if thick else colours.text), 2.4 if thick else 1.6))
                painter.drawLine(QPointF(swatch.left(), y), QPointF(swatch.right(), y))
        draw_text(painter, QPointF(swatch.right() + 6, y), words, colours.text)
        y += lettering().height + 3


def _draw_box(painter: QPainter, pixels: Pixels, colours: Colours, row: int, found: Box) -> None:
    y, top, bottom = pixels.y(-row), pixels.y(-row + BOX_PART / 2), pixels.y(-row - BOX_PART / 2)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.alternate))
    left, right = pixels.x(-found.margin), pixels.x(found.margin)
    painter.drawRect(QRectF(left, pixels.y(-row + 0.5), right - left, pixels.y(-row - 0.5) - pixels.y(-row + 0.5)))
    painter.setPen(QPen(QColor(colours.text), 1.4, Qt.PenStyle.DashLine))
    for x in (left, right):
        painter.drawLine(QPointF(x, pixels.y(-row + 0.5)), QPointF(x, pixels.y(-row - 0.5)))
    ink = QColor(colours.accent_ink)
    painter.setPen(QPen(ink, 1.6))
    painter.drawLine(QPointF(pixels.x(found.low), y), QPointF(pixels.x(found.high), y))
    for value in (found.low, found.high):
        painter.drawLine(QPointF(pixels.x(value), top + 3), QPointF(pixels.x(value), bottom - 3))
    painter.setBrush(QColor(blended(colours.accent_ink, colours.base, 0.45)))
    painter.drawRect(QRectF(QPointF(pixels.x(found.lower), top), QPointF(pixels.x(found.upper), bottom)))
    painter.setPen(QPen(QColor(colours.text), 2.2))
    painter.drawLine(QPointF(pixels.x(found.middle), top), QPointF(pixels.x(found.middle), bottom))
    painter.setPen(QPen(ink, 1.4))
    painter.setBrush(QColor(colours.base))
    for value in (found.smallest, found.largest):
        painter.drawEllipse(QPointF(pixels.x(value), y), 2.6, 2.6)
