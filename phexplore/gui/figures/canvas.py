"""The plot area all live charts share: themed axes, layers painted in pixels, no zoom that would break equal scales.

A canvas is one widget that paints itself, and only what is exposed: one edit changes a row or a line. Files get the same
strokes and letters as the screen.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from weakref import WeakMethod

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from phexplore.figures.axis import Axis as ScaleAxis
from phexplore.gui.figures.axes import Axis, BottomAxis, LeftValueAxis
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import HALF

LEAST_WIDTH, LEAST_HEIGHT = 240, 140
"""In pixels; the height at normal text size."""
MOST_MAGNIFIED = 2.0
"""How many times as large letters and strokes of few rows become on a large screen, to be read from the back of a room."""
_NARROWEST = 560
"""Pixels that a magnified picture is wide at least: names and numbers keep their room."""
_MOST_PARTS = 6
"""Exposed parts that are painted one by one; more are painted as one."""


class Layer(enum.Enum):
    """Where something is painted."""

    BELOW = "below the grid"
    ABOVE = "above the grid"
    HEAD = "above the plot area"


Draw = Callable[[QPainter, Pixels, Colours], None]
"""Paints one layer in pixels of the canvas; the painter is clipped to the plot area."""


Take = Callable[[QEvent], bool]
"""Uses an event of pointer, wheel or keys; returns whether it did."""


class Canvas(QWidget):
    """A plot that shows what it is given, themed.

    Keyboard focus is accepted so that a chart can be walked with the arrow keys.

    Signals:
        resized: the widget has another size.

    Attributes:
        view: what is seen, in places on the axes.
        magnified: how many pixels of the screen one of the picture takes.
    """

    resized = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.bottom_axis = BottomAxis()
        self._left_values = LeftValueAxis()
        self._left: Axis = self._left_values
        self.view = QRectF(0, 0, 1, 1)
        self._grid_lines = (True, True)
        self._head = self._foot = 0
        self.magnified = 1.0
        self._known: tuple[tuple[object, ...], QRectF] | None = None
        """Size and letters, and the plot area with them, which is asked for many times in a frame; None when it may be another."""
        self._take: WeakMethod[Take] | None = None
        self._layers: dict[Layer, WeakMethod[Draw]] = {}
        for axis in (self.bottom_axis, self._left):
            axis.attach(self._repaint)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.recolour()
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    @property
    def room(self) -> QRectF:
        """The whole canvas in pixels of the picture, which are as large as it is magnified."""
        return QRectF(0, 0, self.width() / self.magnified, self.height() / self.magnified)

    @property
    def area(self) -> QRectF:
        """The plot area, in whole pixels of the picture; not to be changed."""
        with_these = (self.width(), self.height(), lettering())
        if self._known is None or self._known[0] != with_these:
            view = self.view
            left, top = self._left.extent(view.top(), view.bottom()), HALF + 2 + self._head
            if self._left is self._left_values:  # the topmost label reaches above the plot area
                top = max(top, self._head + round(lettering().height / 2))
            width = self.bottom_axis.length = max(self.width() / self.magnified - left - HALF, 0)
            top += self.bottom_axis.rise(view.left(), view.right())
            bottom = self.height() / self.magnified - self.bottom_axis.extent(view.left(), view.right()) - self._foot
            self._known = (with_these, QRectF(left, top, width, max(bottom - top, 0)))
        return self._known[1]

    @property
    def pixels(self) -> Pixels:
        """The current map between values and pixels."""
        return Pixels.between(self.view, self.area)

    def use_axes(
        self,
        x: ScaleAxis,
        y: ScaleAxis,
        rows: Axis | None,
        *,
        vertical: bool,
        horizontal: bool,
        names_above: bool = False,
    ) -> None:
        """Show these axes.

        Args:
            x: below.
            y: at the left.
            rows: stands at the left instead of `y`.
            vertical: grid lines at the ticks of `x` are drawn.
            horizontal: grid lines at the ticks of `y` are drawn.
            names_above: the words of the ticks of `x` stand above, as those of the columns of a table.
        """
        self.bottom_axis.use(x)
        self.bottom_axis.names_above = names_above
        self._left_values.use(y)
        self._left = rows or self._left_values
        self._left.attach(self._repaint)
        self._grid_lines = (vertical, horizontal)
        self._repaint()

    def leave_free(self, *, head: int | None = None, most: float | None = None, least: float = 0.0) -> None:
        """Leave room around the plot area; what is not named stays.

        Args:
            head: pixels above it, where layers of the head paint.
            most: pixels it may be high: what is left magnifies it, and stays free below its axis where that is too much.
            least: pixels of the picture it stays wide when it is magnified.
        """
        before = self._head, self._foot, self.magnified
        if head is not None:
            self._head = head
        if most is not None:
            self._foot, self.magnified = 0, 1.0
            if most < self.height():
                self._known = None
                needed, narrowest = most + self.height() - self.area.height(), max(least, _NARROWEST)
                self.magnified = max(1.0, min(self.height() / needed, self.width() / narrowest, MOST_MAGNIFIED))
                self._known = None
                self._foot = max(0, round(self.area.height() - most))
                self._known = None
        if (self._head, self._foot, self.magnified) != before:
            self._repaint()

    def set_layer(self, layer: Layer, draw: Draw) -> None:
        """Paint with this method whenever the canvas is drawn.

        Args:
            layer: where.
            draw: a bound method; it is not kept alive, because a chart that is part of a cycle is torn down in an
                order the Qt binding does not survive.
        """
        self._layers[layer] = WeakMethod(draw)

    def set_handler(self, take: Take) -> None:
        """Give events to this method first; it is not kept alive."""
        self._take = WeakMethod(take)

    def event(self, event: QEvent) -> bool:
        take = self._take() if self._take is not None else None
        if take is not None and take(event):
            event.accept()
            return True
        return super().event(event)

    def refresh(self, *parts: QRectF) -> None:
        """Paint again at the next occasion: the plot area, or parts of it in pixels of the picture."""
        area, scale = self.area, self.magnified
        for part in parts or (area,):
            seen = part.intersected(area)
            self.update(QRectF(seen.topLeft() * scale, seen.size() * scale).toAlignedRect())

    def show_range(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Show exactly these ranges; nothing is painted when they are shown already."""
        view = QRectF(x[0], y[0], x[1] - x[0], y[1] - y[0])
        if view != self.view:
            self.view = view
            self._repaint()

    def recolour(self, _colours: Colours | None = None) -> None:
        """Use the colours and the text size of the theme."""
        self.setMinimumSize(LEAST_WIDTH, LEAST_HEIGHT * appearance().scale // 100)
        self._repaint()

    def sizeHint(self) -> QSize:
        return QSize(480, 320)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        region = event.region()
        parts: list[QRect] = list(region)  # type: ignore[call-overload]  # the stubs leave its iterator out
        painter = QPainter(self)
        painter.scale(self.magnified, self.magnified)
        for part in parts if len(parts) <= _MOST_PARTS else [region.boundingRect()]:
            exposed = QRectF(QPointF(part.topLeft()) / self.magnified, QSizeF(part.size()) / self.magnified)
            painter.setClipRect(exposed)
            self._paint(painter, exposed)
        if self.hasFocus():
            painter.setClipping(False)
            painter.setPen(QPen(QColor(appearance().colours.accent_ink), 1))
            painter.drawRect(self.area.toAlignedRect().adjusted(0, 0, -1, -1))
        painter.end()

    def paint_on(self, painter: QPainter) -> None:
        """Paint everything, top left corner at the painter's origin, for pictures and files."""
        painter.save()
        painter.scale(self.magnified, self.magnified)
        self._paint(painter, self.room)
        painter.restore()

    def _repaint(self) -> None:
        """Paint everything again, within a plot area measured anew."""
        self._known = None
        self.update()

    def _paint(self, painter: QPainter, exposed: QRectF) -> None:
        colours, area = appearance().colours, self.area
        painter.fillRect(exposed, QColor(colours.base))
        if area.isEmpty():
            return
        seen = exposed.intersected(area)
        if not seen.isEmpty():
            pixels = Pixels.between(self.view, area, seen)
            painter.save()
            painter.setClipRect(area.toRect(), Qt.ClipOperation.IntersectClip)
            self._paint_layer(painter, pixels, Layer.BELOW)
            vertical, horizontal = self._grid_lines
            axes = self.bottom_axis if vertical else None, self._left_values if horizontal else None
            _paint_grid(painter, pixels, colours, *axes)
            self._paint_layer(painter, pixels, Layer.ABOVE)
            painter.restore()
        if exposed.left() < area.left() or exposed.bottom() > area.bottom() or exposed.top() < area.top():
            self._paint_axes(painter, exposed, Pixels.between(self.view, area), colours)

    def _paint_axes(self, painter: QPainter, exposed: QRectF, pixels: Pixels, colours: Colours) -> None:
        area = pixels.area
        painter.save()
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.drawLine(QPointF(area.left() - 0.5, area.bottom() + 0.5), QPointF(area.right(), area.bottom() + 0.5))
        painter.drawLine(QPointF(area.left() - 0.5, area.top()), QPointF(area.left() - 0.5, area.bottom() + 0.5))
        if exposed.left() < area.left():
            self._left.paint(painter, QRectF(0, 0, area.left(), self.room.height()), pixels)
        if exposed.top() < area.top():
            if self._head:
                self._paint_layer(painter, pixels, Layer.HEAD)
            self.bottom_axis.paint_above(painter, QRectF(0, 0, self.room.width(), area.top()), pixels)
        if exposed.bottom() > area.bottom():
            below = QRectF(0, area.bottom(), self.room.width(), self.room.height() - area.bottom())
            self.bottom_axis.paint(painter, below, pixels)
        painter.restore()

    def _paint_layer(self, painter: QPainter, pixels: Pixels, layer: Layer) -> None:
        held = self._layers.get(layer)
        if held is not None and (draw := held()) is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw(painter, pixels, appearance().colours)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_grid(
    painter: QPainter, pixels: Pixels, colours: Colours, across: BottomAxis | None, up: LeftValueAxis | None
) -> None:
    painter.setPen(QPen(QColor(colours.grid), 1))
    area, view = pixels.area, pixels.view
    for tick in across.ticks(view.left(), view.right()) if across is not None else ():
        x = round(pixels.x(tick.position)) + 0.5
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
    for tick in up.ticks(view.top(), view.bottom()) if up is not None else ():
        y = round(pixels.y(tick.position)) + 0.5
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
