"""How a row of the margin chart is painted: its number line of baseline, conventions, target and dot."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from phexplore.figures.scales import log_people
from phexplore.figures.wording import people
from phexplore.gui.charts.colours import blended, ghost_on
from phexplore.gui.charts.margin_rows import MarginRow, Standing
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering

DOT = 5.5
"""Radius of a dot, in pixels."""
REACH = 11.0
"""Distance between a dot and its number, and how near the pointer must be to take the dot, in pixels."""


def margin_pixel(pixels: Pixels, people_count: float) -> float:
    """Return the pixel of a margin; what is left of the axis (no noise) sits at its edge, its number beside it."""
    edge: float = pixels.area.left() + DOT + 2
    return max(pixels.x(log_people(people_count)), edge)


def number_words(row: MarginRow) -> str:
    """Return the number beside a dot, with what it is above its target."""
    if row.standing is Standing.MISSED:
        return f"{people(row.margin)}  +{people(row.excess)}"
    return people(row.margin) + (" (no noise)" if row.margin == 0 else "")


class MarginPainter:
    """Paints rows with pens and brushes made once per picture."""

    def __init__(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        self._painter, self._pixels, self._colours = painter, pixels, colours
        self._edge = pixels.area.left() + DOT + 2
        self._ghost = QPen(QColor(ghost_on(colours)), 1.4)
        self._tick = QPen(QColor(colours.text), 2)
        self._ring = QPen(QColor(colours.accent_ink), 2)
        self._halo = QPen(QColor(colours.base), 1)
        self._base, self._accent = QColor(colours.base), QColor(colours.accent_ink)
        self._attention = QColor(colours.attention)
        self._band = QColor(blended(colours.accent_ink, colours.base, 0.4))

    def paint(self, row: MarginRow, y: float, *, chosen: bool, dragged: int | None) -> None:
        """Paint one row.

        Args:
            row: what to paint.
            y: its middle, in pixels.
            chosen: whether its number is bold.
            dragged: people where its dot is being held; the target goes with it.
        """
        if dragged is not None:
            self._paint_dragged(row, y, dragged)
            return
        x = self._x(row.margin)
        baseline = None if row.baseline is None else self._x(row.baseline)
        target = None if row.target is None else self._x(float(row.target))
        if baseline is not None:
            self._paint_baseline(baseline, x, y)
        low, high = row.band
        self._paint_band(self._x(low), self._x(high), y)
        if target is not None:
            self._paint_target(target, y)
        self._paint_dot(QPointF(x, y), row.standing)
        text, ink = self._number(row)
        marks = [mark for mark in (baseline, target) if mark is not None]
        width = lettering(bold=chosen).width(text)
        left = _beside(x, marks, width, (self._edge, self._pixels.area.right() - 1))
        draw_text(self._painter, QPointF(left, y), text, ink, bold=chosen)

    def _x(self, people_count: float) -> float:
        return max(self._pixels.x(log_people(people_count)), self._edge)

    def _paint_dragged(self, row: MarginRow, y: float, people_count: int) -> None:
        x = self._x(people_count)
        if row.baseline is not None:
            self._paint_baseline(self._x(row.baseline), x, y)
        self._paint_target(x, y)
        self._paint_dot(QPointF(x, y), Standing.MET)
        draw_text(self._painter, QPointF(x + REACH, y), people(people_count), self._colours.text, bold=True)

    def _paint_baseline(self, baseline: float, x: float, y: float) -> None:
        """Paint a hollow ghost with a line to the dot; nothing where the dot covers it."""
        if abs(baseline - x) < 1:
            return
        self._painter.setPen(self._ghost)
        if abs(baseline - x) > DOT:
            self._painter.drawLine(QPointF(baseline, y), QPointF(x, y))
        self._painter.setBrush(self._base)
        self._painter.drawEllipse(QPointF(baseline, y), DOT, DOT)

    def _paint_band(self, low: float, high: float, y: float) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(self._band)
        self._painter.drawRect(QRectF(low - 1, y - DOT - 2, max(high - low, 1) + 2, 2 * DOT + 4))

    def _paint_target(self, x: float, y: float) -> None:
        self._painter.setPen(self._tick)
        self._painter.drawLine(QPointF(x, y - DOT - 3), QPointF(x, y + DOT + 3))

    def _paint_dot(self, centre: QPointF, standing: Standing) -> None:
        """Paint the dot: circle = target met, diamond in amber = missed, ring = nothing aimed at."""
        painter = self._painter
        match standing:
            case Standing.MISSED:
                radius = DOT + 1.5
                painter.setPen(self._halo)
                painter.setBrush(self._attention)
                corners = (QPointF(0, -radius), QPointF(radius, 0), QPointF(0, radius), QPointF(-radius, 0))
                painter.drawPolygon(QPolygonF([centre + corner for corner in corners]))
            case Standing.MET:
                painter.setPen(self._halo)
                painter.setBrush(self._accent)
                painter.drawEllipse(centre, DOT, DOT)
            case Standing.NO_TARGET:
                painter.setPen(self._ring)
                painter.setBrush(self._base)
                painter.drawEllipse(centre, DOT - 1, DOT - 1)

    def _number(self, row: MarginRow) -> tuple[str, str]:
        return number_words(row), self._colours.attention if row.standing is Standing.MISSED else self._colours.text


def _beside(dot: float, marks: Sequence[float], width: float, room: tuple[float, float]) -> float:
    """Return where the number of a dot starts: right of it, or left where a mark, its line or the edge is in the way.

    Where neither side has room it lies over the line, inside the picture: cut off it would be another number.
    """
    in_the_way = [mark for mark in marks if mark > dot + DOT]
    first, last = room
    right = max([dot, *in_the_way]) + REACH
    if not in_the_way and right + width <= last:
        return right
    left = dot - REACH - width
    if left > first and all(mark > dot - DOT for mark in marks):
        return left
    if right + width <= last:
        return right
    beyond = min([dot, *marks]) - REACH - width
    return beyond if beyond > first else max(last - width, first)
