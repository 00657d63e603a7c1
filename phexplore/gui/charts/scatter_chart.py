"""Draws points against a logarithmic size: errors of one mechanism, or of several told apart by shape and colour."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.scales import linear_ticks
from phexplore.figures.table import grouped
from phexplore.gui.binding.wording import people, signed_people
from phexplore.gui.charts.canvas import Canvas, Pixels, log_axis
from phexplore.gui.charts.colours import categories_on
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.scatter import SMALLEST, ScatterContent, log_place, ranges
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP

_MARK = 3.6
_NEAR = 14.0
"""Pixels within which a point answers to the pointer."""


class ScatterChart(ChartFrame):
    """Points with a name that the pointer or the arrow keys bring up.

    Signals:
        point_selected: (number of the series, number of the point).
    """

    point_selected = Signal(object)

    def __init__(self, name: str, teaching: str, parent: QWidget | None = None) -> None:
        self._content: ScatterContent | None = None
        self._order: tuple[tuple[int, int], ...] = ()
        self._chosen: int | None = None
        canvas = Canvas()
        super().__init__(name, teaching, canvas, parent)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.add_layer(self._draw)

    def show_content(self, content: ScatterContent) -> None:
        """Show other points."""
        if not content.series or not any(len(series.x) for series in content.series):
            self._content = None
            self.show_empty(content.summary)
            return
        self._content, self._chosen = content, None
        places = [(float(x), s, p) for s, series in enumerate(content.series) for p, x in enumerate(series.x.tolist())]
        self._order = tuple((s, p) for _x, s, p in sorted(places))
        self.canvas.set_axis_labels(content.x_axis, content.y_axis)
        log_axis(self.canvas.bottom_axis, lambda value: grouped(round(value)) if value >= 1 else f"{value:g}")
        if content.is_log:
            log_axis(self.canvas.left_axis, people)
        else:
            self.canvas.left_axis.set_scale(lambda value: signed_people(value) if value else "0", linear_ticks, float)
        x, y = ranges(content)
        self.canvas.show_range(x, y)
        self.show_finding(content.title, content.summary, lambda: content.numbers)
        self.canvas.refresh()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        self._choose(self._near(point))

    def pointer_moved(self, point: QPointF) -> None:
        near = self._near(point)
        if near is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), self.words(near), self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        QToolTip.hideText()

    def pointer_double_clicked(self, point: QPointF) -> None:
        """Nothing is opened here."""

    def wheel_turned(self, steps: int) -> bool:  # noqa: ARG002 - the page around scrolls
        return False

    def key_used(self, event: QKeyEvent) -> bool:
        steps = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Home: -len(self._order),
            Qt.Key.Key_End: len(self._order),
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None or not self._order or event.type() is QKeyEvent.Type.KeyRelease:
            return False
        start = self._chosen if self._chosen is not None else (-1 if step > 0 else len(self._order))
        self._choose(min(max(start + step, 0), len(self._order) - 1))
        return True

    def words(self, place: int) -> str:
        """Return what a point is, by its place from left to right."""
        if self._content is None:
            return ""
        number, point = self._order[place]
        series = self._content.series[number]
        label = f"{series.labels[point]}, " if series.labels else ""
        value = float(series.y[point])
        shown = people(value) if self._content.is_log else signed_people(value)
        return f"{label}{series.name}: {shown} at {grouped(round(float(series.x[point])))}"

    def _choose(self, place: int | None) -> None:
        if place != self._chosen:
            self._chosen = place
            if place is not None:
                self.canvas.setAccessibleDescription(self.words(place))
                self.point_selected.emit(self._order[place])
            self.canvas.refresh()

    def _near(self, point: QPointF) -> int | None:
        if self._content is None:
            return None
        pixels, best = self.canvas.pixels, (_NEAR, -1)
        for place, (number, item) in enumerate(self._order):
            series = self._content.series[number]
            at = self._at(pixels, float(series.x[item]), float(series.y[item]))
            distance = math.hypot(at.x() - point.x(), at.y() - point.y())
            if distance < best[0]:
                best = (distance, place)
        return best[1] if best[1] >= 0 else None

    def _at(self, pixels: Pixels, x: float, y: float) -> QPointF:
        height = log_place(y) if self._content is not None and self._content.is_log else y
        if self._content is not None and self._content.is_log and 0 < y < SMALLEST:
            height = math.log10(y)
        return QPointF(pixels.x(log_place(x)), pixels.y(height))

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        content = self._content
        if content is None:
            return
        if not content.is_log:
            y = pixels.y(0)
            painter.setPen(QPen(QColor(colours.muted), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(pixels.area.left(), y), QPointF(pixels.area.right(), y))
        inks = categories_on(colours)
        crowded = sum(len(series.x) for series in content.series) > 400
        for number, series in enumerate(content.series):
            ink = QColor(inks[number % len(inks)])
            soft = QColor(ink)
            soft.setAlphaF(0.35 if crowded else 0.8)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(soft)
            # Marks of several that fall on each other are seen inside each other.
            radius = _MARK + (0.9 * (len(content.series) - 1 - number) if not crowded else 0.0)
            for x, y in zip(series.x.tolist(), series.y.tolist(), strict=True):
                if not content.is_log or y > 0:
                    _mark(painter, self._at(pixels, x, y), number, radius)
            if series.line is not None:
                self._draw_line(painter, pixels, series.line, ink)
        self._draw_names(painter, pixels, colours, content)
        if self._chosen is not None:
            self._draw_chosen(painter, pixels, colours)

    def _draw_line(self, painter: QPainter, pixels: Pixels, line: tuple[float, float], ink: QColor) -> None:
        slope, intercept = line
        places = np.linspace(pixels.view.left(), pixels.view.right(), 2)
        points = [QPointF(pixels.x(float(p)), pixels.y(intercept + slope * float(p) * math.log(10))) for p in places]
        painter.setPen(QPen(ink, 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))

    @staticmethod
    def _draw_names(painter: QPainter, pixels: Pixels, colours: Colours, content: ScatterContent) -> None:
        inks = categories_on(colours)
        entries = [(number, series.name) for number, series in enumerate(content.series)]
        entries += [(number, series.line_name) for number, series in enumerate(content.series) if series.line_name]
        if len(entries) < 2:
            return
        height = lettering().height
        left, top = pixels.area.left() + 2 * GAP, pixels.area.top() + height
        width = max(lettering().width(name) for _number, name in entries)
        painter.fillRect(
            QRectF(left - GAP, top - height, width + 4 * GAP, height * (len(entries) + 0.6)), QColor(colours.base)
        )
        for row, (number, name) in enumerate(entries):
            y = top + row * height
            ink = QColor(inks[number % len(inks)])
            if row < len(content.series):
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(ink)
                _mark(painter, QPointF(left, y), number, _MARK + 0.6)
            else:
                painter.setPen(QPen(ink, 2))
                painter.drawLine(QPointF(left - 5, y), QPointF(left + 5, y))
            draw_text(painter, QPointF(left + 1.5 * GAP, y), name, colours.text)

    def _draw_chosen(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        if self._content is None or self._chosen is None:
            return
        number, item = self._order[self._chosen]
        series = self._content.series[number]
        at = self._at(pixels, float(series.x[item]), float(series.y[item]))
        painter.setPen(QPen(QColor(colours.text), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(at, _MARK + 4, _MARK + 4)
        words = self.words(self._chosen)
        width = lettering(bold=True).width(words)
        left = min(max(at.x() + 3 * GAP, pixels.area.left() + GAP), pixels.area.right() - width - GAP)
        y = (
            at.y() - lettering().height
            if at.y() > pixels.area.top() + 2 * lettering().height
            else at.y() + lettering().height
        )
        painter.fillRect(
            QRectF(left - 3, y - lettering().height / 2, width + 6, lettering().height), QColor(colours.base)
        )
        draw_text(painter, QPointF(left, y), words, colours.text, bold=True)


def _mark(painter: QPainter, at: QPointF, number: int, radius: float) -> None:
    """Paint a dot, a square, a triangle or a diamond: shape as well as colour tells series apart."""
    match number % 4:
        case 0:
            painter.drawEllipse(at, radius, radius)
        case 1:
            painter.drawRect(QRectF(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius))
        case 2:
            r = radius * 1.3
            painter.drawPolygon(
                QPolygonF(
                    [QPointF(at.x(), at.y() - r), QPointF(at.x() + r, at.y() + r), QPointF(at.x() - r, at.y() + r)]
                )
            )
        case _:
            r = radius * 1.4
            corners = ((0, -r), (r, 0), (0, r), (-r, 0))
            painter.drawPolygon(QPolygonF([QPointF(at.x() + x, at.y() + y) for x, y in corners]))
