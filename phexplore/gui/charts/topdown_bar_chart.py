"""Horizontal bars with a tick for the reference; the ends of bars that stand for shares can be dragged."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.scales import nice_at_least
from phexplore.gui.charts.canvas import Canvas, Pixels
from phexplore.gui.charts.colours import categories_on, ghost_on
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.charts.topdown_bars import BarsContent, ValueBar
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP

BAR_PART = 0.62
"""Height of a bar as a part of its row."""
_GRIP = 7.0
"""Pixels around the end of a bar in which it can be taken."""


class TopDownBarChart(ChartFrame):
    """Bars of one quantity.

    Signals:
        key_selected: the key of the bar the user chose.
        key_activated: the key to edit (Enter, double click).
        bar_dragged: key and new value, while the end of a bar is dragged.
        bar_released: the drag ended.
        drag_cancelled: Esc was pressed while dragging.
    """

    key_selected = Signal(object)
    key_activated = Signal(object)
    bar_dragged = Signal(object, object)
    bar_released = Signal()
    drag_cancelled = Signal()

    def __init__(self, name: str, teaching: str, parent: QWidget | None = None, *, draggable: bool = False) -> None:
        self._axis = RowAxis()
        self._bars: tuple[ValueBar, ...] = ()
        self._chosen: object = None
        self._dragged: int | None = None
        self._draggable = draggable
        canvas = Canvas(left=self._axis)
        self._view = RowView(canvas, self._axis, stretch=1.2)
        super().__init__(name, teaching, canvas, parent, page=self._view)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.bottom_axis.set_scale(lambda value: f"{value:g}")
        canvas.add_layer(self._draw)

    @property
    def bars(self) -> tuple[ValueBar, ...]:
        """The bars from top to bottom."""
        return self._bars

    def show_content(self, content: BarsContent) -> None:
        """Show other bars."""
        self._bars = content.bars
        if not content.bars:
            self.show_empty()
            return
        self.canvas.set_axis_labels(content.axis, "")
        labels = tuple(RowLabel(bar.group, bar.name, bar.is_locked) for bar in content.bars)
        if self._dragged is None:
            self._view.set_rows(labels, self._range)
        self.show_finding(content.title, content.summary, lambda: content.numbers)
        self._mark()

    def select_key(self, key: object) -> None:
        """Show this bar as chosen elsewhere; nothing is announced."""
        if key != self._chosen:
            self._chosen = key
            self._mark()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        row = self._view.row_at(point.y())
        if row is None:
            return
        self._choose(row)
        if self._end_at(point) == row:
            self._dragged = row

    def pointer_moved(self, point: QPointF) -> None:
        if self._dragged is not None:
            value = self.canvas.pixels.value_x(point.x())
            self.bar_dragged.emit(self._bars[self._dragged].key, max(value, 0.0))
            return
        row = self._view.row_at(point.y())
        grips = self._end_at(point) is not None
        self.canvas.setCursor(Qt.CursorShape.SizeHorCursor if grips else Qt.CursorShape.ArrowCursor)
        if row is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), self._bars[row].tip, self.canvas)

    def pointer_released(self, _point: QPointF) -> None:
        if self._dragged is not None:
            self._dragged = None
            self.bar_released.emit()
            self._view.set_rows(self._axis.labels, self._range)

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        row = self._view.row_at(point.y())
        if row is not None and self._bars[row].key is not None:
            self.key_activated.emit(self._bars[row].key)

    def wheel_turned(self, steps: int) -> bool:
        return self._view.scroll_rows(steps)

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease or not self._bars:
            return False
        if event.key() == Qt.Key.Key_Escape and self._dragged is not None:
            self._dragged = None
            self.drag_cancelled.emit()
            return True
        row = self._row()
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and row is not None and self._bars[row].key:
            self.key_activated.emit(self._bars[row].key)
            return True
        target = self._view.key_target(event, row)
        if target is None:
            return False
        self._view.make_visible(target)
        self._choose(target)
        return True

    def _choose(self, row: int) -> None:
        key = self._bars[row].key
        if key is not None and key != self._chosen:
            self._chosen = key
            self._mark()
            self.key_selected.emit(key)

    def _row(self) -> int | None:
        keys = [bar.key for bar in self._bars]
        return keys.index(self._chosen) if self._chosen is not None and self._chosen in keys else None

    def _mark(self) -> None:
        self._axis.chosen = self._row()
        self._axis.update()
        self.canvas.refresh()

    def _end_at(self, point: QPointF) -> int | None:
        """Return the row whose bar ends under the pointer."""
        row = self._view.row_at(point.y())
        if not self._draggable or row is None or self._bars[row].key is None or self._bars[row].is_locked:
            return None
        return row if abs(self.canvas.pixels.x(self._bars[row].value) - point.x()) <= _GRIP else None

    def _range(self, width: float) -> tuple[float, float]:
        """Return an axis with a round end, further out where the number at the longest bar needs it."""
        longest = max(max(bar.value, bar.before or 0.0) for bar in self._bars) or 1.0
        room = min(max(lettering(bold=True).width(bar.text) for bar in self._bars) + 2 * GAP, 0.6 * width)
        step = nice_at_least(longest / 10)
        return 0.0, max(step * math.ceil(longest / step), longest * width / max(width - room, 1.0))

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        fill = QColor(categories_on(colours)[0])
        for row in self._view.rows_to_paint(pixels):
            bar = self._bars[row]
            top, bottom = pixels.y(-row + BAR_PART / 2), pixels.y(-row - BAR_PART / 2)
            end = pixels.x(bar.value)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fill)
            painter.drawRect(QRectF(pixels.x(0), top, max(end - pixels.x(0), 1.0), bottom - top))
            if bar.before is not None:
                x = pixels.x(bar.before)
                painter.setPen(QPen(QColor(ghost_on(colours)), 2))
                painter.drawLine(QPointF(x, top - 3), QPointF(x, bottom + 3))
            start = max(end, pixels.x(bar.before) if bar.before is not None else end)
            is_chosen = self._axis.chosen == row
            draw_text(painter, QPointF(start + GAP, pixels.y(-row)), bar.text, colours.text, bold=is_chosen)
