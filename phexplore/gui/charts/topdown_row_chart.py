"""Draws rows with intervals, dots and ticks; the same picture for every result that comes level by level or place by place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.gui.charts.canvas import Canvas, Pixels
from phexplore.gui.charts.colours import categories_on, ghost_on
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.charts.topdown_rows import MarkRow, RowsContent, axis_ticks, position, row_range, tick_text
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP

_DOT, _SMALL_DOT = 4.5, 2.2
_CAP = 4.0
_CROSS = 3.0


class TopDownRowChart(ChartFrame):
    """A picture of rows.

    Signals:
        key_selected: the key of the row the user chose.
        key_activated: the key to look into (Enter, double click).
    """

    key_selected = Signal(object)
    key_activated = Signal(object)

    def __init__(self, name: str, teaching: str, parent: QWidget | None = None, *, stretch: float = 1.2) -> None:
        self._axis = RowAxis()
        self._content: RowsContent | None = None
        self._chosen: object = None
        canvas = Canvas(left=self._axis)
        self._view = RowView(canvas, self._axis, stretch=stretch)
        super().__init__(name, teaching, canvas, parent, page=self._view)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.add_layer(self._draw)
        self.table_row_chosen.connect(self._choose_row)

    @property
    def rows(self) -> tuple[MarkRow, ...]:
        """What is shown."""
        return self._content.rows if self._content is not None else ()

    def show_content(self, content: RowsContent) -> None:
        """Show other rows."""
        self._content = content
        if not content.rows:
            self.show_empty(content.summary)
            return
        scale = content.scale
        self.canvas.bottom_axis.set_scale(
            partial(tick_text, scale=scale), partial(axis_ticks, scale=scale), partial(position, scale=scale)
        )
        self.canvas.set_axis_labels(content.axis, "")
        low, high = row_range(content)
        self._view.set_rows(
            tuple(RowLabel(row.group, row.name) for row in content.rows), partial(self._range, low, high)
        )
        self.show_finding(content.title, content.summary, lambda: content.numbers)
        self._mark()

    def select_key(self, key: object) -> None:
        """Show this row as chosen elsewhere; nothing is announced."""
        if key != self._chosen:
            self._chosen = key
            self._mark()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        row = self._view.row_at(point.y())
        if row is not None:
            self._choose_row(row)

    def pointer_moved(self, point: QPointF) -> None:
        row = self._view.row_at(point.y())
        if row is None or not self.rows[row].tip:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), self.rows[row].tip, self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        row = self._view.row_at(point.y())
        if row is not None and self.rows[row].key is not None:
            self.key_activated.emit(self.rows[row].key)

    def wheel_turned(self, steps: int) -> bool:
        return self._view.scroll_rows(steps)

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease or not self.rows:
            return False
        row = self._row()
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and row is not None:
            self.key_activated.emit(self.rows[row].key)
            return True
        target = self._view.key_target(event, row)
        if target is None:
            return False
        self._view.make_visible(target)
        self._choose_row(target)
        return True

    def _choose_row(self, row: int) -> None:
        key = self.rows[row].key if row < len(self.rows) else None
        if key is not None and key != self._chosen:
            self._chosen = key
            self._mark()
            self.key_selected.emit(key)

    def _row(self) -> int | None:
        keys = [row.key for row in self.rows]
        return keys.index(self._chosen) if isinstance(self._chosen, str) and self._chosen in keys else None

    def _mark(self) -> None:
        self._axis.chosen = self._row()
        self._axis.update()
        self.canvas.refresh()

    def _range(self, low: float, high: float, width: float) -> tuple[float, float]:
        """Return the range, further out at the right where the longest words need it."""
        words = max((lettering(bold=True).width(row.text) for row in self.rows), default=0.0)
        room = min(words + 2 * GAP, 0.45 * width) if words else 0.0
        return low, low + (high - low) * width / max(width - room, 1.0)

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        content = self._content
        if content is None:
            return
        if content.guide is not None:
            x = pixels.x(position(content.guide, content.scale))
            painter.setPen(QPen(QColor(colours.muted), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, pixels.area.top()), QPointF(x, pixels.area.bottom()))
        for number in self._view.rows_to_paint(pixels):
            self._draw_row(painter, pixels, content, number, colours)

    def _draw_row(self, painter: QPainter, pixels: Pixels, content: RowsContent, number: int, colours: Colours) -> None:
        row, y = content.rows[number], pixels.y(-number)

        def x(value: float) -> float:
            return pixels.x(position(value, content.scale))

        ink = QColor(
            colours.attention if row.is_warned else categories_on(colours)[row.series % len(categories_on(colours))]
        )
        self._draw_lines(painter, row, y, x, ink)
        if content.is_linked and row.tick is not None and row.value is not None:
            painter.setPen(QPen(ink, 1.5))
            painter.drawLine(QPointF(x(row.tick), y), QPointF(x(row.value), y))
        painter.setPen(Qt.PenStyle.NoPen)
        soft = QColor(ink)
        soft.setAlphaF(0.55)
        painter.setBrush(soft)
        for dot in row.dots:
            painter.drawEllipse(QPointF(x(dot), y), _SMALL_DOT, _SMALL_DOT)
        painter.setPen(QPen(QColor(colours.text), 1.2))
        for cross in row.crosses:
            left, right = x(cross) - _CROSS, x(cross) + _CROSS
            painter.drawLine(QPointF(left, y - _CROSS), QPointF(right, y + _CROSS))
            painter.drawLine(QPointF(left, y + _CROSS), QPointF(right, y - _CROSS))
        if row.tick is not None:
            painter.setPen(QPen(QColor(ghost_on(colours)), 2.5))
            painter.drawLine(QPointF(x(row.tick), y - 8), QPointF(x(row.tick), y + 8))
        if row.value is not None:
            painter.setPen(QPen(QColor(colours.base), 1.5))
            painter.setBrush(ink)
            painter.drawEllipse(QPointF(x(row.value), y), _DOT, _DOT)
        if row.text:
            end = max((x(value) for value in row.reach), default=x(0.0))
            bold = self._axis.chosen == number
            words = lettering(bold=bold).elided(row.text, max(pixels.area.right() - end - GAP, 0.0))
            draw_text(painter, QPointF(end + GAP, y), words, colours.text, bold=bold)

    @staticmethod
    def _draw_lines(painter: QPainter, row: MarkRow, y: float, x: Callable[[float], float], ink: QColor) -> None:
        """Draw the thin and the thick interval."""
        if row.low is not None and row.high is not None:
            painter.setPen(QPen(ink, 1.5))
            painter.drawLine(QPointF(x(row.low), y), QPointF(x(row.high), y))
            for end in (row.low, row.high):
                painter.drawLine(QPointF(x(end), y - _CAP), QPointF(x(end), y + _CAP))
        if row.inner_low is not None and row.inner_high is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            left, right = x(row.inner_low), x(row.inner_high)
            painter.drawRect(QRectF(left, y - _CAP, max(right - left, 1.0), 2 * _CAP))
