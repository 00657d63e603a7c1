"""The plot area all live charts share: themed axes, layers painted in pixels, no zoom that would break equal scales.

A canvas is one widget that paints itself, and only what is exposed: one edit changes a row or a line. Files get the same
strokes and letters as the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from weakref import WeakMethod, ref

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from phexplore.gui.figures.axes import Axis, BottomAxis, LeftValueAxis, ValueAxis
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import HALF

__all__ = ["Canvas", "Draw", "Handler", "Pixels"]

LEAST_WIDTH, LEAST_HEIGHT = 240, 140
"""In pixels; the height at normal text size."""
_MOST_PARTS = 6
"""Exposed parts that are painted one by one; more are painted as one."""

Draw = Callable[[QPainter, Pixels, Colours], None]
"""Paints one layer in pixels of the canvas; the painter is clipped to the plot area."""


class Handler(Protocol):
    """What a chart does with pointer and keys; positions are pixels of the canvas."""

    def pointer_pressed(self, point: QPointF) -> None: ...
    def pointer_moved(self, point: QPointF) -> None: ...
    def pointer_released(self, point: QPointF) -> None: ...
    def pointer_left(self) -> None: ...
    def pointer_double_clicked(self, point: QPointF) -> None: ...

    def wheel_turned(self, steps: int) -> bool:
        """Take wheel steps, positive downward; return whether they were used."""

    def key_used(self, event: QKeyEvent) -> bool:
        """Take a key that went down or up; return whether it was used."""


class Canvas(QWidget):
    """A plot that shows what it is given, themed.

    Pointer and keys go to the `handler`, if there is one. Keyboard focus is accepted so that a chart can be walked with
    the arrow keys.

    Signals:
        resized: the widget has another size.
    """

    resized = Signal()

    def __init__(self, *, left: Axis | None = None, parent: QWidget | None = None) -> None:
        """Make the canvas.

        Args:
            left: the axis at the left, one of values by default.
            parent: owner.
        """
        super().__init__(parent)
        self.bottom_axis = BottomAxis()
        self._left_values = LeftValueAxis()
        self._left: Axis = left or self._left_values
        self._view = QRectF(0, 0, 1, 1)
        self._grid_lines = (True, True)
        self._head = 0
        self._handler: ref[Handler] | None = None
        self._below: list[WeakMethod[Draw]] = []
        self._above: list[WeakMethod[Draw]] = []
        self._head_layer: WeakMethod[Draw] | None = None
        for axis in (self.bottom_axis, self._left):
            axis.attach(self._repaint)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._fit_text()
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    @property
    def left_axis(self) -> ValueAxis:
        """The axis of values at the left, which is not shown where rows have names."""
        return self._left_values

    @property
    def area(self) -> QRectF:
        """The plot area, in whole pixels of the canvas."""
        view = self._view
        left, top = self._left.extent(view.top(), view.bottom()), HALF + 2 + self._head
        if self._left is self._left_values:  # the topmost label reaches above the plot area
            top = max(top, self._head + round(lettering().height / 2))
        bottom = self.height() - self.bottom_axis.extent(view.left(), view.right())
        return QRectF(left, top, max(self.width() - left - HALF, 0), max(bottom - top, 0))

    @property
    def pixels(self) -> Pixels:
        """The current map between values and pixels."""
        return Pixels.between(self._view, self.area)

    def use_left(self, axis: Axis | None) -> None:
        """Show another axis at the left; None for the axis of values."""
        chosen = axis or self._left_values
        if chosen is not self._left:
            self._left = chosen
            chosen.attach(self._repaint)
            self.update()

    def set_head(self, height: int) -> None:
        """Leave so many pixels free above the plot area; layers of the head paint there."""
        if height != self._head:
            self._head = height
            self.update()

    def set_head_layer(self, draw: Draw) -> None:
        """Paint the room above the plot area with this method, which is not kept alive."""
        self._head_layer = WeakMethod(draw)

    def add_layer(self, draw: Draw, *, below: bool = False) -> None:
        """Paint with this method whenever the canvas is drawn.

        Args:
            draw: a bound method; it is not kept alive, because a chart that is part of a cycle is torn down in an
                order the Qt binding does not survive.
            below: under the grid instead of over it.
        """
        (self._below if below else self._above).append(WeakMethod(draw))

    def set_handler(self, handler: Handler) -> None:
        """Give pointer and keys to this object; it is not kept alive."""
        self._handler = ref(handler)

    @property
    def handler(self) -> Handler | None:
        """Who takes pointer and keys."""
        return self._handler() if self._handler is not None else None

    def refresh(self, top: float | None = None, bottom: float | None = None) -> None:
        """Paint again at the next occasion: the plot area, or a strip of it between two vertical pixels."""
        area = self.area
        if top is not None and bottom is not None:
            area = QRectF(area.left(), top, area.width(), bottom - top).intersected(area)
        self.update(area.toAlignedRect())

    def show_range(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Show exactly these ranges; nothing is painted when they are shown already."""
        view = QRectF(x[0], y[0], x[1] - x[0], y[1] - y[0])
        if view != self._view:
            self._view = view
            self.update()

    def set_axis_labels(self, bottom: str, left: str) -> None:
        """Name quantity and unit of both axes; "" leaves an axis unnamed."""
        for axis, text in ((self.bottom_axis, bottom), (self._left_values, left)):
            if axis.label != text:
                axis.label = text
                self.update()

    def set_grid(self, *, vertical: bool, horizontal: bool) -> None:
        """Choose which grid lines are drawn."""
        self._grid_lines = (vertical, horizontal)
        self.update()

    def recolour(self, _colours: Colours) -> None:
        """Use the colours and the text size of the theme."""
        self._fit_text()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(480, 320)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if self.handler is not None and event.button() is Qt.MouseButton.LeftButton:
            self.handler.pointer_pressed(event.position())
            event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.handler is not None:
            self.handler.pointer_moved(event.position())
            event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.handler is not None and event.button() is Qt.MouseButton.LeftButton:
            self.handler.pointer_released(event.position())
            event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.handler is not None:
            self.handler.pointer_double_clicked(event.position())
            event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self.handler is not None:
            self.handler.pointer_left()

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = -round(event.angleDelta().y() / 40)
        if self.handler is None or not self.handler.wheel_turned(steps):
            event.ignore()  # lets the page around the chart scroll
        else:
            event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.handler is None or not self.handler.key_used(event):
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if self.handler is None or not self.handler.key_used(event):
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        region = event.region()
        parts: list[QRect] = list(region)  # type: ignore[call-overload]  # the stubs leave its iterator out
        painter = QPainter(self)
        for part in parts if len(parts) <= _MOST_PARTS else [region.boundingRect()]:
            painter.setClipRect(part)
            self._paint(painter, QRectF(part))
        if self.hasFocus():
            painter.setClipping(False)
            painter.setPen(QPen(QColor(appearance().colours.accent_ink), 1))
            painter.drawRect(self.area.toAlignedRect().adjusted(0, 0, -1, -1))
        painter.end()

    def paint_on(self, painter: QPainter) -> None:
        """Paint everything, top left corner at the painter's origin, for pictures and files."""
        painter.save()
        self._paint(painter, QRectF(self.rect()))
        painter.restore()

    def _fit_text(self) -> None:
        self.setMinimumSize(LEAST_WIDTH, LEAST_HEIGHT * appearance().scale // 100)

    def _repaint(self) -> None:
        self.update()

    def _paint(self, painter: QPainter, exposed: QRectF) -> None:
        colours, area = appearance().colours, self.area
        painter.fillRect(exposed, QColor(colours.base))
        if area.isEmpty():
            return
        seen = exposed.intersected(area)
        if not seen.isEmpty():
            pixels = Pixels.between(self._view, area, seen)
            painter.save()
            painter.setClipRect(area.toRect(), Qt.ClipOperation.IntersectClip)
            self._paint_layers(painter, pixels, self._below)
            self._paint_grid(painter, pixels, colours)
            self._paint_layers(painter, pixels, self._above)
            painter.restore()
        if exposed.left() < area.left() or exposed.bottom() > area.bottom() or exposed.top() < area.top():
            self._paint_axes(painter, exposed, Pixels.between(self._view, area), colours)

    def _paint_axes(self, painter: QPainter, exposed: QRectF, pixels: Pixels, colours: Colours) -> None:
        area = pixels.area
        painter.save()
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.drawLine(QPointF(area.left() - 0.5, area.bottom() + 0.5), QPointF(area.right(), area.bottom() + 0.5))
        painter.drawLine(QPointF(area.left() - 0.5, area.top()), QPointF(area.left() - 0.5, area.bottom() + 0.5))
        if exposed.left() < area.left():
            self._left.paint(painter, QRectF(0, 0, area.left(), self.height()), pixels)
        if self._head and exposed.top() < area.top() and self._head_layer is not None:
            self._paint_layers(painter, pixels, [self._head_layer])
        if exposed.bottom() > area.bottom():
            below = QRectF(0, area.bottom(), self.width(), self.height() - area.bottom())
            self.bottom_axis.paint(painter, below, pixels)
        painter.restore()

    @staticmethod
    def _paint_layers(painter: QPainter, pixels: Pixels, layers: list[WeakMethod[Draw]]) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for layer in layers:
            if (draw := layer()) is not None:
                draw(painter, pixels, appearance().colours)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_grid(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        painter.setPen(QPen(QColor(colours.grid), 1))
        area, view = pixels.area, pixels.view
        vertical, horizontal = self._grid_lines
        if vertical:
            for tick in self.bottom_axis.ticks(view.left(), view.right()):
                x = round(pixels.x(tick.position)) + 0.5
                painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if horizontal:
            for tick in self._left_values.ticks(view.top(), view.bottom()):
                y = round(pixels.y(tick.position)) + 0.5
                painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
