"""Where are the errors? Counties, tracts or blocks coloured by how far they are off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.table import Table
from phexplore.gui.charts.canvas import Canvas, Pixels
from phexplore.gui.charts.colours import blended, categories_on
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP

_STEPS = 7
"""Colours on each side of 0."""


@dataclass(frozen=True, slots=True, eq=False)
class MapPiece:
    """One coloured polygon.

    Attributes:
        code: of the unit it belongs to.
        rings: ``float32[points, 2]`` each, longitude and latitude.
        value: NaN for nothing known.
        tip: while the pointer rests on it.
    """

    code: str
    rings: tuple[NDArray[np.float32], ...]
    value: float
    tip: str


@dataclass(frozen=True, slots=True, eq=False)
class MapPicture:
    """A map as values.

    Attributes:
        pieces: all polygons.
        unit: of the values; "" where they only tell neighbours apart: no scale, and a colour of its own for each.
        is_signed: below and above 0 mean different things.
        title: the finding.
        summary: one sentence.
        numbers: the table twin.
    """

    pieces: tuple[MapPiece, ...]
    unit: str
    is_signed: bool
    title: str
    summary: str
    numbers: Table


class TopDownMapChart(ChartFrame):
    """A choropleth of units; blocks of one unit share its colour.

    Signals:
        unit_selected: the code of the unit the user clicked.
        unit_activated: the code of the unit to look into.
    """

    unit_selected = Signal(object)
    unit_activated = Signal(object)

    def __init__(self, name: str, teaching: str, parent: QWidget | None = None) -> None:
        self._picture: MapPicture | None = None
        self._paths: list[QPainterPath] = []
        self._drawn: object = None
        self._limit = 1.0
        self._aspect = 1.0
        self._chosen = ""
        canvas = Canvas()
        super().__init__(name, teaching, canvas, parent)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.set_grid(vertical=False, horizontal=False)
        canvas.bottom_axis.set_scale(lambda value: f"{abs(value / self._aspect):.2f}° {'W' if value < 0 else 'E'}")
        canvas.left_axis.set_scale(lambda value: f"{abs(value):.2f}° {'N' if value > 0 else 'S'}")
        canvas.add_layer(self._draw)
        canvas.resized.connect(self._fit)

    def show_picture(self, picture: MapPicture) -> None:
        """Show another map."""
        before = self._picture
        self._picture = picture
        if not picture.pieces:
            self.show_empty(picture.summary)
            return
        values = np.array([abs(piece.value) for piece in picture.pieces if math.isfinite(piece.value)])
        self._limit = max(float(np.quantile(values, 0.98)) if len(values) else 1.0, 1e-9)
        if before is None or _outlines(before) != _outlines(picture):
            self._make_paths(picture.pieces)
        self._drawn = None
        self.show_finding(picture.title, picture.summary, lambda: picture.numbers)
        self._fit()

    def select_unit(self, code: str) -> None:
        """Mark a unit chosen elsewhere."""
        if code != self._chosen:
            self._chosen = code
            self.canvas.refresh()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        piece = self._piece_at(point)
        if piece is not None:
            self._chosen = piece.code
            self.canvas.refresh()
            self.unit_selected.emit(piece.code)

    def pointer_moved(self, point: QPointF) -> None:
        piece = self._piece_at(point)
        if piece is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), piece.tip, self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        piece = self._piece_at(point)
        if piece is not None:
            self.unit_activated.emit(piece.code)

    def wheel_turned(self, steps: int) -> bool:  # noqa: ARG002 - the map has one size
        return False

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease or self._picture is None or not self._picture.pieces:
            return False
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self._chosen:
            self.unit_activated.emit(self._chosen)
            return True
        if event.key() not in {Qt.Key.Key_Left, Qt.Key.Key_Right}:
            return False
        codes = list(dict.fromkeys(piece.code for piece in self._picture.pieces))
        here = codes.index(self._chosen) if self._chosen in codes else -1
        step = 1 if event.key() == Qt.Key.Key_Right else -1
        self._chosen = codes[(here + step) % len(codes)]
        self.canvas.refresh()
        self.unit_selected.emit(self._chosen)
        return True

    def _make_paths(self, pieces: Sequence[MapPiece]) -> None:
        latitude = float(np.mean([ring[:, 1].mean() for piece in pieces for ring in piece.rings]))
        self._aspect = max(math.cos(math.radians(latitude)), 0.05)
        self._paths = []
        for piece in pieces:
            path = QPainterPath()
            path.setFillRule(Qt.FillRule.OddEvenFill)
            for ring in piece.rings:
                points = [QPointF(float(x) * self._aspect, float(y)) for x, y in ring]
                path.addPolygon(QPolygonF(points))
            self._paths.append(path)

    def _fit(self) -> None:
        """Show everything with degrees of equal length both ways."""
        if not self._paths or self._picture is None or not self._picture.pieces:
            return
        box = QRectF(self._paths[0].boundingRect())
        for path in self._paths[1:]:
            box = box.united(path.boundingRect())
        area = self.canvas.pixels.area
        width, height = max(area.width(), 1.0), max(area.height(), 1.0)
        scale = max(box.width() / width, box.height() / height) * 1.03
        middle = box.center()
        self.canvas.show_range(
            (middle.x() - scale * width / 2, middle.x() + scale * width / 2),
            (middle.y() - scale * height / 2, middle.y() + scale * height / 2),
        )
        self.canvas.refresh()

    def _piece_at(self, point: QPointF) -> MapPiece | None:
        if self._picture is None:
            return None
        pixels = self.canvas.pixels
        place = QPointF(pixels.value_x(point.x()), pixels.value_y(point.y()))
        for piece, path in zip(self._picture.pieces, self._paths, strict=False):
            if path.boundingRect().contains(place) and path.contains(place):
                return piece
        return None

    def _colour(self, value: float, colours: Colours) -> QColor:
        if not math.isfinite(value):
            return QColor(colours.grid)
        inks = categories_on(colours)
        if self._picture is not None and not self._picture.unit:
            return QColor(blended(inks[int(value) % len(inks)], colours.alternate, 0.5))
        up, down = inks[:2]
        part = min(abs(value) / self._limit, 1.0)
        step = math.ceil(part * _STEPS) / _STEPS
        signed = self._picture is not None and self._picture.is_signed
        ink = down if signed and value < 0 else up
        return QColor(blended(ink, colours.alternate, 0.9 * step))

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        picture = self._picture
        if picture is None or not picture.pieces:
            return
        painter.save()
        painter.translate(pixels.left, pixels.bottom)
        painter.scale(pixels.per_x, -pixels.per_y)
        edge = QPen(QColor(colours.border), 0)
        for piece, path in zip(picture.pieces, self._paths, strict=True):
            painter.fillPath(path, self._colour(piece.value, colours))
            painter.strokePath(path, edge)
        if self._chosen:
            painter.setPen(QPen(QColor(colours.text), 0))
            for piece, path in zip(picture.pieces, self._paths, strict=True):
                if piece.code == self._chosen:
                    painter.strokePath(path, QPen(QColor(colours.text), 2 / max(pixels.per_x, 1e-9)))
        painter.restore()
        self._draw_key(painter, pixels, colours)

    def _draw_key(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        """Draw the scale of the colours in the corner."""
        picture = self._picture
        if picture is None or not picture.unit:
            return
        low = -self._limit if picture.is_signed else 0.0
        boxes = 2 * _STEPS if picture.is_signed else _STEPS
        width, height = 16.0, lettering().height
        words = (
            f"{low:+,.3g} to {self._limit:+,.3g} {picture.unit}"
            if picture.is_signed
            else f"0 to {self._limit:,.3g} {picture.unit}"
        )
        room = max(boxes * width, lettering().width(words)) + 2 * GAP
        area = QRectF(pixels.area.left() + GAP, pixels.area.bottom() - 3 * height - GAP, room, 2.6 * height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.base))
        painter.drawRect(area)
        for number in range(boxes):
            value = low + (number + 0.5) * (self._limit - low) / boxes
            painter.setBrush(self._colour(value, colours))
            painter.drawRect(QRectF(area.left() + GAP + number * width, area.top() + 4, width - 1, height))
        draw_text(painter, QPointF(area.left() + GAP, area.bottom() - height / 2 - 2), words, colours.text)


def _outlines(picture: MapPicture) -> tuple[int, ...]:
    return tuple(id(piece.rings[0]) if piece.rings else 0 for piece in picture.pieces)
