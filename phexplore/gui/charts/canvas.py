"""The plot area all live charts share: themed axes, layers painted in pixels, no zoom that would break equal scales.

What a chart draws is painted by the view itself, below and above the scene, not by items in it: nothing of ours can be
torn down in an order that the binding or the scene does not expect, painting takes about a millisecond, and vector
exports come out right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakMethod, ref

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from phexplore.gui.charts.scales import linear_ticks, log_ticks
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.metrics import HALF

TICK_LENGTH = -4


@dataclass(frozen=True, slots=True)
class Pixels:
    """The linear map between the values of the axes and the pixels of the plot area.

    Attributes:
        view: visible range in axis values; y grows upward.
        area: plot area in pixels of the canvas; y grows downward.
        left: pixel of the axis value 0, horizontally.
        per_x: pixels per unit of the horizontal axis.
        bottom: pixel of the axis value 0, vertically.
        per_y: pixels per unit of the vertical axis.
        top: uppermost pixel that has to be painted.
        end: lowest pixel that has to be painted.
    """

    view: QRectF
    area: QRectF
    left: float
    per_x: float
    bottom: float
    per_y: float
    top: float
    end: float

    @classmethod
    def between(cls, view: QRectF, area: QRectF, exposed: QRectF | None = None) -> Pixels:
        """Return the map from a range of axis values to an area of pixels.

        Args:
            view: range.
            area: in pixels.
            exposed: what has to be painted of it, everything by default.
        """
        per_x = area.width() / (view.width() or 1.0)
        per_y = area.height() / (view.height() or 1.0)
        seen = exposed or area
        return cls(
            view,
            area,
            area.left() - view.left() * per_x,
            per_x,
            area.bottom() + view.top() * per_y,
            per_y,
            seen.top(),
            seen.bottom(),
        )

    def x(self, value: float) -> float:
        """Return the horizontal pixel of an axis value."""
        return self.left + value * self.per_x

    def y(self, value: float) -> float:
        """Return the vertical pixel of an axis value."""
        return self.bottom - value * self.per_y

    def value_x(self, pixel: float) -> float:
        """Return the axis value at a horizontal pixel."""
        return (pixel - self.left) / self.per_x

    def value_y(self, pixel: float) -> float:
        """Return the axis value at a vertical pixel."""
        return (self.bottom - pixel) / self.per_y


Draw = Callable[[QPainter, Pixels, Colours], None]
"""Paints one layer in pixels of the view; the painter is clipped to the plot area."""


def pixels_of(box: Any, exposed: QRectF | None = None) -> Pixels:
    """Return the current map of a view box; its scene has the pixels of the widget as coordinates."""
    return Pixels.between(QRectF(box.viewRect()), QRectF(box.sceneBoundingRect()), exposed)


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


class ValueAxis(pg.AxisItem):
    """An axis with round ticks chosen by functions of the visible range, not by pyqtgraph's guesses."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self._ticks: Callable[[float, float], list[float]] = linear_ticks
        self._position: Callable[[float], float] = float
        self._text: Callable[[float], str] = str
        self.enableAutoSIPrefix(enable=False)

    def set_scale(
        self,
        text: Callable[[float], str],
        ticks: Callable[[float, float], list[float]] = linear_ticks,
        position: Callable[[float], float] = float,
    ) -> None:
        """Say which values get a tick, where they are on the axis, and how they are written.

        Args:
            text: value → label.
            ticks: visible range in axis coordinates → values.
            position: value → axis coordinate.
        """
        self._ticks, self._position, self._text = ticks, position, text
        self.picture = None
        self.update()

    def tickValues(self, first: float, last: float, size: float) -> list[tuple[None, list[float]]]:
        """Return one level of ticks; part of pyqtgraph's interface."""
        _ = size
        low, high = sorted((first, last))
        self._labels = {self._position(value): self._text(value) for value in self._ticks(low, high)}
        return [(None, list(self._labels))]

    def tickStrings(self, values: list[float], scale: float, spacing: float | None) -> list[str]:
        """Return the labels of the ticks; part of pyqtgraph's interface."""
        _ = scale, spacing
        return [self._labels.get(value, "") for value in values]


class Canvas(pg.GraphicsView):
    """A plot that shows what it is given, themed, without mouse zoom: equal scales stay equal.

    Pointer and keys go to the `handler`, if there is one. Keyboard focus is accepted so that a chart can be walked with
    the arrow keys.
    """

    resized = Signal()

    def __init__(self, *, left: Any = None, parent: QWidget | None = None) -> None:
        super().__init__(parent, background=QColor(appearance().colours.base))
        self.bottom_axis = ValueAxis("bottom")
        self.left_axis = left or ValueAxis("left")
        self._handler: ref[Handler] | None = None
        self._below: list[WeakMethod[Draw]] = []
        self._above: list[WeakMethod[Draw]] = []
        self.box = pg.ViewBox(enableMouse=False, enableMenu=False, defaultPadding=0)
        self.box.disableAutoRange()
        self._arrange()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(240, 140)
        self.setCacheMode(self.CacheModeFlag.CacheNone)
        self._grid_lines = (True, True)
        self._labels = ("", "")
        self.recolour(appearance().colours)

    def _arrange(self) -> None:
        """Put plot area and axes together. A whole `PlotItem` would bring 60 hidden widgets for its own menus along."""
        layout = pg.GraphicsLayout(border=None)
        layout.setContentsMargins(0, HALF + 2, 2, 2)  # the topmost tick label reaches above the plot area
        layout.setSpacing(0)
        layout.addItem(self.left_axis, row=0, col=0)
        layout.addItem(self.box, row=0, col=1)
        layout.addItem(self.bottom_axis, row=1, col=1)
        for axis in (self.left_axis, self.bottom_axis):
            axis.linkToView(self.box)
        self.keep_axes(kept=True)
        layout.layout.setRowStretchFactor(0, 1)
        layout.layout.setColumnStretchFactor(1, 1)
        self.setCentralItem(layout)

    def keep_axes(self, *, kept: bool) -> None:
        """Keep pictures of the axes, which seldom change; not while a file is drawn that must stay sharp."""
        modes = pg.QtWidgets.QGraphicsItem.CacheMode
        for axis in (self.left_axis, self.bottom_axis):
            for item in (axis, *axis.childItems()):
                item.setCacheMode(modes.DeviceCoordinateCache if kept else modes.NoCache)

    @property
    def pixels(self) -> Pixels:
        """The current map between values and pixels."""
        return pixels_of(self.box)

    def add_layer(self, draw: Draw, *, below: bool = False) -> None:
        """Paint with this method whenever the canvas is drawn.

        Args:
            draw: a bound method; it is not kept alive, because a chart that is part of a cycle is torn down in an
                order the Qt binding does not survive.
            below: under grid and curves instead of over them.
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
        """Paint again at the next occasion: everything, or a strip of the plot area between two vertical pixels."""
        if top is None or bottom is None:
            self.viewport().update()
            return
        area = self.pixels.area
        self.viewport().update(QRectF(area.left(), top, area.width(), bottom - top).toAlignedRect())

    def show_range(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Show exactly these ranges; nothing is painted when they are shown already."""
        if self.box.viewRange() == [list(x), list(y)]:
            return
        self.box.setRange(xRange=x, yRange=y, padding=0, update=True, disableAutoRange=True)

    def set_axis_labels(self, bottom: str, left: str) -> None:
        """Name quantity and unit of both axes; "" leaves an axis unnamed."""
        if (bottom, left) == self._labels:
            return
        self._labels = (bottom, left)
        self._show_labels(appearance().colours)

    def set_grid(self, *, vertical: bool, horizontal: bool) -> None:
        """Choose which grid lines are drawn."""
        self._grid_lines = (vertical, horizontal)
        self.refresh()

    def recolour(self, colours: Colours) -> None:
        """Use the colours and the text size of the theme."""
        self.setBackground(QColor(colours.base))
        for axis in (self.bottom_axis, self.left_axis):
            axis.setPen(pg.mkPen(colours.border))
            axis.setTextPen(pg.mkPen(colours.muted))
            axis.setStyle(tickFont=appearance().font(), tickLength=TICK_LENGTH)
        self._show_labels(colours)
        self.refresh()

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
        self.refresh()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        super().drawBackground(painter, QRectF(rect))
        pixels = pixels_of(self.box, QRectF(rect))
        self._paint(painter, pixels, self._below)
        if pixels.area.isEmpty():
            return
        painter.save()
        self._draw_grid(painter, pixels, appearance().colours)
        painter.restore()

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        super().drawForeground(painter, QRectF(rect))
        self._paint(painter, pixels_of(self.box, QRectF(rect)), self._above)
        if self.hasFocus():
            painter.setPen(QPen(QColor(appearance().colours.accent_ink), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.pixels.area.adjusted(0.5, 0.5, -0.5, -0.5))

    @staticmethod
    def _paint(painter: QPainter, pixels: Pixels, layers: list[WeakMethod[Draw]]) -> None:
        if pixels.area.isEmpty():
            return
        painter.save()
        painter.setClipRect(
            pixels.area.toAlignedRect(), Qt.ClipOperation.IntersectClip
        )  # a rectangle of whole pixels: others clip span by span
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for layer in layers:
            if (draw := layer()) is not None:
                draw(painter, pixels, appearance().colours)
        painter.restore()

    def _show_labels(self, colours: Colours) -> None:
        style = {"color": colours.muted, "font-size": f"{appearance().font().pointSizeF():.1f}pt"}
        for axis, text in zip((self.bottom_axis, self.left_axis), self._labels, strict=True):
            axis.setLabel(text or None, **style)
            axis.showLabel(bool(text))

    def _draw_grid(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        painter.setPen(QPen(QColor(colours.grid), 1))
        area = pixels.area
        vertical, horizontal = self._grid_lines
        if vertical:
            for value in _tick_positions(self.bottom_axis, pixels.view.left(), pixels.view.right()):
                x = round(pixels.x(value)) + 0.5
                painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if horizontal:
            for value in _tick_positions(self.left_axis, pixels.view.top(), pixels.view.bottom()):
                y = round(pixels.y(value)) + 0.5
                painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))


def _tick_positions(axis: Any, low: float, high: float) -> list[float]:
    return [value for _spacing, values in axis.tickValues(low, high, 1.0) for value in values]


def log_axis(axis: ValueAxis, text: Callable[[float], str], *, most: int = 12) -> None:
    """Let an axis whose coordinates are log10 of a value show the values."""
    from math import log10

    axis.set_scale(text, lambda low, high: log_ticks(low, high, most), log10)
