"""Whole numbers on two spines as two histograms on one scale: hollow before, filled after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakMethod

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.table import Table, grouped
from phexplore.gui.charts.canvas import Canvas, Pixels
from phexplore.gui.charts.colours import categories_on, ghost_on
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP


@dataclass(frozen=True, slots=True, eq=False)
class PairedHistograms:
    """Two histograms as values.

    Attributes:
        edges: ``int64[bins + 1]``: bin i holds the numbers from ``edges[i]`` to ``edges[i + 1] - 1``.
        this: ``int64[bins]``, how many on the spine.
        other: ``int64[bins]`` on the one it is compared with, None where there is nothing to compare.
        means: of both, the second None without one.
        this_title: words for the spine.
        other_title: words for the other.
        axis: quantity and unit of the numbers.
        counted: what is counted, plural.
        title: the finding.
        summary: one sentence.
        numbers: the table twin.
    """

    edges: NDArray[np.int64]
    this: NDArray[np.int64]
    other: NDArray[np.int64] | None
    means: tuple[float, float | None]
    this_title: str
    other_title: str
    axis: str
    counted: str
    title: str
    summary: str
    numbers: Table


class SpineHistogramChart(ChartFrame):
    """Before and after, bar beside bar; arrow keys walk the bins."""

    def __init__(self, name: str, teaching: str, parent: QWidget | None = None) -> None:
        self._content: PairedHistograms | None = None
        self._bin: int | None = None
        canvas = Canvas()
        super().__init__(name, teaching, canvas, parent)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.set_grid(vertical=False, horizontal=True)
        canvas.left_axis.set_scale(lambda value: grouped(round(value)) if value == round(value) else "")
        canvas.add_layer(self._draw)

    def show_content(self, content: PairedHistograms) -> None:
        """Show other numbers."""
        self._content = content
        bins = len(content.this)
        self._bin = None if self._bin is None or self._bin >= bins else self._bin
        self.canvas.set_axis_labels(content.axis, content.counted)
        # Nothing an axis keeps may lead back to the chart: cycles of widgets are torn down in the wrong order.
        tick, ticks = WeakMethod(self._tick), WeakMethod(self._ticks)
        self.canvas.bottom_axis.set_scale(partial(_called, tick, ""), partial(_called, ticks, []))
        parts = [content.this] if content.other is None else [content.this, content.other]
        top = max(float(part.max(initial=1)) for part in parts)
        self.canvas.show_range((0.0, float(max(bins, 1))), (0.0, 1.22 * top))
        self.show_finding(content.title, content.summary, lambda: content.numbers)
        self.canvas.refresh()

    def _tick(self, value: float) -> str:
        content = self._content
        if content is None or not 0 <= value - 0.5 < len(content.this):
            return ""
        return self._range(int(value))

    def _range(self, number: int) -> str:
        content = self._content
        if content is None:
            return ""
        low, high = int(content.edges[number]), int(content.edges[number + 1]) - 1
        return grouped(low) if low == high else f"{grouped(low)}–{grouped(high)}"

    def _ticks(self, low: float, high: float) -> list[float]:
        """Return the middles of as many bins as have room for their words."""
        bins = len(self._content.this) if self._content is not None else 0
        widest = max((lettering().width(self._range(number)) for number in range(bins)), default=1.0) + 2 * GAP
        room = max(self.canvas.width() - 8 * GAP, 1.0)
        step = max(1, -(-int(bins * widest) // int(room)))
        return [number + 0.5 for number in range(0, bins, step) if low <= number + 0.5 <= high]

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        self._bin = self._bin_at(point)
        self.canvas.refresh()

    def pointer_moved(self, point: QPointF) -> None:
        found = self._bin_at(point)
        if found is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), self._words(found), self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        """Nothing is opened here."""

    def wheel_turned(self, steps: int) -> bool:  # noqa: ARG002 - the page around scrolls
        return False

    def key_used(self, event: QKeyEvent) -> bool:
        content = self._content
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.type() is QKeyEvent.Type.KeyRelease or content is None or event.key() not in steps:
            return False
        here = -1 if self._bin is None else self._bin
        self._bin = min(max(here + steps[Qt.Key(event.key())], 0), len(content.this) - 1)
        self.canvas.setAccessibleDescription(self._words(self._bin))
        self.canvas.refresh()
        return True

    def _bin_at(self, point: QPointF) -> int | None:
        content, pixels = self._content, self.canvas.pixels
        if content is None or not pixels.area.contains(point):
            return None
        found = int(pixels.value_x(point.x()))
        return found if 0 <= found < len(content.this) else None

    def _words(self, number: int) -> str:
        content = self._content
        if content is None:
            return ""
        now = f"{content.this_title}: {grouped(int(content.this[number]))} {content.counted}"
        if content.other is None:
            return f"{self._range(number)}: {now}"
        was = f"{content.other_title}: {grouped(int(content.other[number]))}"
        return f"{self._range(number)}: {was}; {now}"

    # Drawing

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        content = self._content
        if content is None:
            return
        ink, ghost = QColor(categories_on(colours)[0]), QColor(ghost_on(colours))
        width = pixels.per_x
        for number in range(len(content.this)):
            left = pixels.x(number)
            if content.other is not None:
                self._draw_bar(
                    painter, pixels, left + 0.1 * width, 0.38 * width, float(content.other[number]), ghost, hollow=True
                )
                self._draw_bar(painter, pixels, left + 0.52 * width, 0.38 * width, float(content.this[number]), ink)
            else:
                self._draw_bar(painter, pixels, left + 0.15 * width, 0.7 * width, float(content.this[number]), ink)
            if number == self._bin:
                painter.setPen(QPen(QColor(colours.text), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(left + 1, pixels.area.top() + 1, width - 2, pixels.area.height() - 2))
        self._draw_labels(painter, pixels, content, colours)

    @staticmethod
    def _draw_bar(
        painter: QPainter, pixels: Pixels, left: float, width: float, value: float, ink: QColor, *, hollow: bool = False
    ) -> None:
        if value <= 0:
            return
        top, bottom = min(pixels.y(value), pixels.y(0) - 1.5), pixels.y(0)
        painter.setPen(QPen(ink, 1.6) if hollow else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if hollow else ink)
        painter.drawRect(QRectF(left, top, max(width, 1.0), bottom - top))

    def _draw_labels(self, painter: QPainter, pixels: Pixels, content: PairedHistograms, colours: Colours) -> None:
        """Name both in the upper right corner, with their means."""
        height = lettering().height
        entries = [(content.this_title, content.means[0], QColor(categories_on(colours)[0]), False)]
        if content.other is not None and content.means[1] is not None:
            entries.insert(0, (content.other_title, content.means[1], QColor(ghost_on(colours)), True))
        y = pixels.area.top() + GAP + height / 2
        for title, mean, ink, hollow in entries:
            words = f"{title}, mean {mean:,.2f}"
            left = pixels.area.right() - lettering().width(words) - 2 * GAP - height
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.base))
            painter.drawRect(QRectF(left - GAP / 2, y - height / 2, pixels.area.right() - left, height))
            painter.setPen(QPen(ink, 1.6) if hollow else Qt.PenStyle.NoPen)
            painter.setBrush(Qt.BrushStyle.NoBrush if hollow else ink)
            painter.drawRect(QRectF(left, y - height / 3, 0.66 * height, 0.66 * height))
            draw_text(painter, QPointF(left + height, y), words, colours.text)
            y += height * 1.25


def _called(method: WeakMethod[Callable[..., Any]], otherwise: Any, *values: float) -> Any:
    """Return what a method gives while its object lives."""
    found = method()
    return otherwise if found is None else found(*values)
