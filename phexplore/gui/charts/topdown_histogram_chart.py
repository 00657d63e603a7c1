"""How wrong are published numbers? A histogram of all errors with the noise of one measurement drawn over it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from phexplore.figures.table import Table, signed_tick
from phexplore.gui.charts.canvas import Canvas, Pixels
from phexplore.gui.charts.colours import blended, categories_on
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text
from phexplore.gui.theme.metrics import GAP


@dataclass(frozen=True, slots=True, eq=False)
class HistogramContent:
    """A histogram as values.

    Attributes:
        edges: ``float64[bins + 1]``.
        shares: ``float64[bins]``, percent of all errors.
        sigma: of one noisy answer, None where the query is not measured: the curve.
        unit: of the errors.
        title: the finding.
        summary: one sentence.
        numbers: the table twin.
    """

    edges: NDArray[np.float64]
    shares: NDArray[np.float64]
    sigma: float | None
    unit: str
    title: str
    summary: str
    numbers: Table


class TopDownHistogramChart(ChartFrame):
    """A histogram and the normal curve of the noise before post-processing."""

    def __init__(self, name: str, teaching: str, parent: QWidget | None = None) -> None:
        self._content: HistogramContent | None = None
        canvas = Canvas()
        super().__init__(name, teaching, canvas, parent)
        canvas.set_handler(self)
        canvas.bottom_axis.set_scale(signed_tick)
        canvas.left_axis.set_scale(lambda value: f"{value:g} %")
        canvas.add_layer(self._draw)

    def show_content(self, content: HistogramContent) -> None:
        """Show other errors."""
        self._content = content
        self.canvas.set_axis_labels(f"published − true, {content.unit}", "share of the numbers")
        reach = max(abs(float(content.edges[0])), abs(float(content.edges[-1])))
        if content.sigma is not None:
            reach = max(reach, min(3 * content.sigma, 3 * reach))
        top = float(content.shares.max())
        if content.sigma is not None:
            top = max(top, min(self._curve(0.0, content), 1.3 * top))
        self.canvas.show_range((-1.04 * reach, 1.04 * reach), (0.0, max(top * 1.08, 1e-6)))
        self.show_finding(content.title, content.summary, lambda: content.numbers)
        self.canvas.refresh()

    # A Handler of the canvas: the picture takes no input

    def pointer_pressed(self, point: QPointF) -> None:
        """Nothing is chosen here."""

    def pointer_moved(self, point: QPointF) -> None:
        """Nothing follows the pointer."""

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        """Nothing is opened here."""

    def wheel_turned(self, steps: int) -> bool:  # noqa: ARG002 - the page around scrolls
        return False

    def key_used(self, event: QKeyEvent) -> bool:  # noqa: ARG002 - no keys are used
        return False

    @staticmethod
    def _curve(value: float, content: HistogramContent) -> float:
        """Return the height of the noise's normal curve over a bin, percent."""
        if content.sigma is None or content.sigma <= 0:
            return 0.0
        width = float(content.edges[1] - content.edges[0])
        density = math.exp(-0.5 * (value / content.sigma) ** 2) / (content.sigma * math.sqrt(2 * math.pi))
        return 100 * width * density

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        content = self._content
        if content is None:
            return
        ink = categories_on(colours)[0]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(blended(ink, colours.base, 0.75)))
        for left, right, share in zip(content.edges[:-1], content.edges[1:], content.shares, strict=True):
            area = QRectF(pixels.x(float(left)), pixels.y(float(share)), 0, 0)
            area.setRight(pixels.x(float(right)))
            area.setBottom(pixels.y(0))
            painter.drawRect(area.adjusted(0.5, 0, -0.5, 0) if area.width() > 3 else area)
        x = pixels.x(0)
        painter.setPen(QPen(QColor(colours.muted), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, pixels.area.top()), QPointF(x, pixels.area.bottom()))
        if content.sigma is not None:
            self._draw_curve(painter, pixels, content, colours)

    def _draw_curve(self, painter: QPainter, pixels: Pixels, content: HistogramContent, colours: Colours) -> None:
        values = np.linspace(pixels.view.left(), pixels.view.right(), 160)
        points = [QPointF(pixels.x(float(v)), pixels.y(self._curve(float(v), content))) for v in values]
        painter.setPen(QPen(QColor(categories_on(colours)[1]), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))
        place = QPointF(pixels.area.left() + GAP, pixels.area.top() + 2 * GAP)
        words = f"line: one noisy answer alone, σ = {content.sigma:,.1f}"
        draw_text(painter, place, words, categories_on(colours)[1])
