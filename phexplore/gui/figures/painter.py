"""Paints the strokes of a figure in pixels of a canvas: rows, planes, heat tables and maps with one set of strokes.

The colours of marks come from the theme: every mark keeps 3 : 1 against the background, every label 4.5 : 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from phexplore.figures.axis import Scale
from phexplore.figures.figure import Figure
from phexplore.figures.marks import (
    AnyMark,
    Box,
    Cell,
    Dash,
    Dot,
    Fill,
    Ink,
    Part,
    Path,
    Points,
    Role,
    Rule,
    Shape,
    Span,
    Stroke,
    Words,
    shape_of,
)
from phexplore.figures.scales import spread
from phexplore.figures.style import LEVEL_COLOURS
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.colours import Colours, contrast
from phexplore.gui.theme.lettering import Lettering, lettering, solid
from phexplore.gui.theme.metrics import GAP
from phexplore.model.keys import Iteration, PopulationGroupLevel, Region

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from phexplore.figures.marks import Floats

MARK_CONTRAST = 3.0
"""Least contrast of a mark with its background (WCAG 2.2, success criterion 1.4.11)."""

_DARK_LEVELS = {
    PopulationGroupLevel(Region.NATION, Iteration.ALL): "#b5dcf5",
    PopulationGroupLevel(Region.NATION, Iteration.MAJOR_RACES): "#56b4e9",
    PopulationGroupLevel(Region.NATION, Iteration.ETHNICITY): "#2a86bd",
    PopulationGroupLevel(Region.STATE, Iteration.ALL): "#f9d9a0",
    PopulationGroupLevel(Region.STATE, Iteration.MAJOR_RACES): "#e69f00",
    PopulationGroupLevel(Region.STATE, Iteration.ETHNICITY): "#b97a05",
}
CROWD = 400
"""Points from which on they are drawn faint and without edges, so that many on each other show as one dark place."""
_DASHES = {Dash.DASHED: [6.0, 3.0], Dash.DOTTED: [2.0, 2.0]}
"""Lengths of strokes and gaps in widths of the line. Long ones with flat ends: Qt's own take twice the time to paint."""
_DARKNESSES = 4
"""Dots on each other that are told apart by how dark they are."""
_SOFT, _FAINT = 0.55, 0.22
_TILE = QSize(512, 64)
_DARKEST = 0.86
"""Of the accent in the darkest cell of a heat table."""
_CORNERS = {
    Shape.SQUARE: ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    Shape.TRIANGLE: ((0, -1.3), (1.2, 0.9), (-1.2, 0.9)),
    Shape.DIAMOND: ((0, -1.4), (1.3, 0), (0, 1.4), (-1.3, 0)),
    Shape.POINTED_DOWN: ((0, 1.3), (1.2, -0.9), (-1.2, -0.9)),
    Shape.UPRIGHT: ((-0.5, -1.3), (0.5, -1.3), (0.5, 1.3), (-0.5, 1.3)),
    Shape.FLAT: ((-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5)),
}


def level_colour(level: PopulationGroupLevel, colours: Colours) -> str:
    """Return the colour of a level in this theme."""
    return (_DARK_LEVELS if colours.name == "dark" else LEVEL_COLOURS)[level]


@lru_cache(maxsize=64)
def ink_on(fill: str) -> str:
    """Return black or white, whichever is easier to read on this fill."""
    return "#000000" if contrast("#000000", fill) >= contrast("#ffffff", fill) else "#ffffff"


@lru_cache(maxsize=8)
def categories_on(colours: Colours) -> tuple[str, ...]:
    """Return the categories of the theme that keep `MARK_CONTRAST` on the background of charts, in their order."""
    return tuple(colour for colour in colours.categories if contrast(colour, colours.base) >= MARK_CONTRAST)


@lru_cache(maxsize=8)
def ghost_on(colours: Colours) -> str:
    """Return the colour of baseline marks: the ghost of the theme, or its secondary text where that is too faint."""
    return colours.ghost if contrast(colours.ghost, colours.base) >= MARK_CONTRAST else colours.muted


@lru_cache(maxsize=64)
def blended(front: str, back: str, share: float) -> str:
    """Return `front` laid over `back` with this opacity: bands that stay the same colour in every export."""
    mixed = (round(int(front[i : i + 2], 16) * share + int(back[i : i + 2], 16) * (1 - share)) for i in (1, 3, 5))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


@lru_cache(maxsize=256)
def _pen_of(colour: str, width: float, dash: Dash) -> QPen:
    pen = QPen(QColor(colour), width)
    if dash is not Dash.SOLID:
        pen.setDashPattern(_DASHES[dash])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def colour_of(ink: Ink, colours: Colours) -> str:
    """Return the colour of an ink in this theme."""
    match ink:
        case int():
            inks = categories_on(colours)
            return inks[ink % len(inks)]
        case Role():
            return _roles(colours)[ink]
        case _:
            return level_colour(ink, colours)


@lru_cache(maxsize=8)
def _roles(colours: Colours) -> dict[Role, str]:
    return {
        Role.MAIN: colours.accent_ink,
        Role.MISSED: colours.attention,
        Role.REFUSED: colours.refused,
        Role.MET: colours.good,
        Role.REFERENCE: ghost_on(colours),
        Role.TEXT: colours.text,
        Role.MUTED: colours.muted,
        Role.BASE: colours.base,
        Role.CHOSEN: colours.accent_soft,
        Role.STRIPE: colours.alternate,
    }


def paint_dot(painter: QPainter, at: QPointF, dot: Dot, colours: Colours) -> None:
    """Paint a dot of this look at a pixel, half as much larger as the text is: words begin eight pixels from its middle."""
    size = dot.size * (100 + appearance().scale) / 200
    ink = solid(colour_of(dot.ink, colours))
    if dot.opacity < 1:
        ink = QColor(ink)
        ink.setAlphaF(dot.opacity)
    if dot.shape is Shape.CROSS:
        painter.setPen(QPen(ink, 1.2))
        x, y, r = at.x(), at.y(), size
        painter.drawLine(QPointF(x - r, y - r), QPointF(x + r, y + r))
        painter.drawLine(QPointF(x - r, y + r), QPointF(x + r, y - r))
        return
    if dot.is_hollow:
        painter.setPen(QPen(ink, 1.6))
        painter.setBrush(solid(colours.base))
    else:
        painter.setPen(QPen(QColor(colours.base), 1) if size > 3 and dot.opacity == 1 else Qt.PenStyle.NoPen)
        painter.setBrush(ink)
    paint_shape(painter, at, dot.shape, size)


def paint_shape(painter: QPainter, at: QPointF, shape: Shape, size: float) -> None:
    """Paint an outline with the pen and brush of the painter.

    Args:
        painter: to paint with.
        at: its middle, in pixels.
        shape: outline.
        size: half its width, in pixels.
    """
    corners = _CORNERS.get(shape)
    if corners is None:
        painter.drawEllipse(at, size, size)
    else:
        painter.drawPolygon(QPolygonF([QPointF(at.x() + x * size, at.y() + y * size) for x, y in corners]))


class FigurePainter:
    """Paints parts of one figure with one painter."""

    def __init__(self, painter: QPainter, pixels: Pixels, figure: Figure, colours: Colours) -> None:
        self._painter, self._pixels, self._figure, self._colours = painter, pixels, figure, colours
        self._has_rows = figure.has_rows
        self._edge = pixels.area.left() + 7
        self._is_linear = figure.x.scale is Scale.LINEAR
        # Asked of every end of every stroke: what is painted far outside costs, so it ends near the area.
        self._near_left, self._near_right = pixels.area.left() - 50.0, pixels.area.right() + 50.0
        self._is_floored = figure.x.scale is Scale.LOG
        self._rules = [self.x(part.x) for part in figure.under if isinstance(part, Rule) and part.x is not None]
        self._is_screen: bool | None = None
        self._faces = {bold: lettering(bold=bold) for bold in (False, True)}
        self._letters = self._faces[False]

    def x(self, value: float) -> float:
        """Return the pixel of a value; what lies left of a logarithmic axis stands at its edge."""
        pixel: float = self._pixels.x(value if self._is_linear else self._figure.x.position(value))
        return max(pixel, self._edge) if self._is_floored and value <= self._figure.x.floor else pixel

    def y(self, value: float, row: int = 0) -> float:
        """Return the pixel of a vertical value, or of a place in a row."""
        pixel: float = self._pixels.y(-row - value if self._has_rows else self._figure.y.position(value))
        return pixel

    def paint_mark(self, mark: AnyMark, row: int, *, is_chosen: bool) -> None:
        """Paint the strokes of a mark and its text."""
        self.paint_parts(mark.parts, row)
        if mark.text and self._has_rows:
            self._paint_text(mark, row, is_bold=is_chosen)

    def paint_line_names(self, marks: Sequence[AnyMark]) -> None:
        """Write the names of lines at their ends, moved apart where the lines are close."""
        named = [(mark, path) for mark in marks if mark.text for path in mark.parts if isinstance(path, Path)]
        if not named:
            return
        area, gap = self._pixels.area, self._letters.height + 3
        ends = [(self.x(path.xs[-1]), self.y(path.ys[-1])) for _, path in named]
        places = spread([y for _, y in ends], gap, area.top() + gap / 2, area.bottom() - gap / 2)
        for (mark, path), (x, y), place in zip(named, ends, places, strict=True):
            self._pen(path.ink, 1)
            self._painter.drawLine(QPointF(x, y), QPointF(x + 2 * GAP, place))
            words = self._letters.elided(mark.text, max(area.right() - x - 2 * GAP - 4, 0.0))
            self._letters.draw(self._painter, QPointF(x + 2 * GAP + 4, place), words, self._colours.text)

    def paint_parts(self, parts: Iterable[Part], row: int = 0) -> None:
        """Paint strokes in their order."""
        for part in parts:
            match part:
                case Dot():
                    paint_dot(self._painter, QPointF(self.x(part.x), self.y(part.y, row)), part, self._colours)
                case Span():
                    self._span(part, row)
                case Stroke():
                    x, y = self.x(part.x), self.y(part.y, row)
                    self._pen(part.ink, part.width, part.dash)
                    self._painter.drawLine(QPointF(x, y - part.reach), QPointF(x, y + part.reach))
                case Box():
                    self._box(part, row)
                case Path():
                    self._path(part, row)
                case Rule():
                    self._rule(part)
                case Words():
                    self._words(part, row)

    def paint_points(self, points: Points, *, crowd: int) -> None:
        """Paint a series of points; of more than there are pixels one per pixel.

        Args:
            points: the series.
            crowd: points of all series together.
        """
        x, y, inside = places_of(points, self._figure, self._pixels)
        ink = QColor(colour_of(points.series, self._colours))
        if crowd > CROWD:
            area = self._pixels.area
            image = crowd_image(
                x[inside] - area.left(),
                y[inside] - area.top(),
                area.size().toSize(),
                (shape_of(points.series), points.size),
                ink,
            )
            self._painter.drawImage(area.topLeft(), image)
            return
        ink.setAlphaF(0.8)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(ink)
        # Marks of several series that fall on each other are seen inside each other.
        size = points.size + 0.9 * (len(self._figure.points) - 1 - points.series)
        for across, up in zip(x[inside].tolist(), y[inside].tolist(), strict=True):
            paint_shape(self._painter, QPointF(across, up), shape_of(points.series), size)

    def paint_cell(self, cell: Cell) -> None:
        """Paint a cell of a heat table: the darker, the more; its number in it where there is room."""
        pixels = self._pixels
        area = QRectF(pixels.x(cell.column), pixels.y(-cell.row + 0.5), pixels.per_x, pixels.per_y).adjusted(
            1, 1, -1, -1
        )
        painter, colours = self._painter, self._colours
        if cell.strength is None:
            painter.setPen(QPen(QColor(colours.grid), 1))
            painter.drawLine(area.bottomLeft(), area.topRight())
            return
        fill = blended(colours.accent_ink, colours.base, 0.03 + _DARKEST * cell.strength)
        painter.fillRect(area, QColor(fill))
        if self._faces[cell.is_changed].width(cell.text) + 4 < area.width():
            self._faces[cell.is_changed].draw(painter, area.center(), cell.text, ink_on(fill), 0.5)

    # One stroke each

    def _pen(self, ink: Ink, width: float, dash: Dash = Dash.SOLID) -> None:
        self._painter.setPen(_pen_of(colour_of(ink, self._colours), width, dash))

    def _span(self, part: Span, row: int) -> None:
        left, right, y = self._inside(self.x(part.low)), self._inside(self.x(part.high)), self.y(part.y, row)
        if part.width > 4:
            box = QRectF(left, y - part.width / 2, max(right - left, 1.0), part.width)
            self._painter.fillRect(box, solid(colour_of(part.ink, self._colours)))
            return
        self._pen(part.ink, part.width, part.dash)
        self._painter.drawLine(QPointF(left, y), QPointF(right, y))
        if part.cap:
            for x in (left, right):
                self._painter.drawLine(QPointF(x, y - part.cap), QPointF(x, y + part.cap))

    def _inside(self, x: float) -> float:
        return min(max(x, self._near_left), self._near_right)

    def _box(self, part: Box, row: int) -> None:
        left, right = self._inside(self.x(part.low)), self._inside(self.x(part.high))
        top, bottom = self.y(part.top, row), self.y(part.bottom, row)
        width = max(abs(right - left), 1.0)
        area = QRectF(min(left, right), min(top, bottom), width, abs(bottom - top))
        painter, colours = self._painter, self._colours
        ink = colour_of(part.ink, colours)
        if part.fill is Fill.HOLLOW:
            painter.setPen(QPen(QColor(ink), 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(area)
        elif part.fill is Fill.FAINT:
            shade = QColor(ink)
            shade.setAlphaF(_FAINT)
            painter.fillRect(area, shade)
        else:
            fill = blended(ink, colours.base, _SOFT) if part.fill is Fill.SOFT else ink
            painter.fillRect(area, solid(fill))
            if part.fill is Fill.HATCHED and width > 3:
                self._hatch(area, fill)
            self._box_text(part, area, fill)

    def _hatch(self, area: QRectF, fill: str) -> None:
        """Hatch what is filled: on the screen with a copied picture, because a pattern costs six times as much."""
        painter = self._painter
        if self._is_screen is None:
            is_of_pixels = isinstance(painter.device(), QWidget | QPixmap | QImage)
            self._is_screen = is_of_pixels and not painter.deviceTransform().isScaling()
        if not self._is_screen:
            painter.fillRect(area, _hatching(fill))
            return
        left, top = math.ceil(area.left()), math.ceil(area.top())
        inside = QRect(left, top, math.floor(area.right()) - left, math.floor(area.bottom()) - top)
        painter.drawTiledPixmap(inside, _hatched_tile(fill), inside.topLeft())

    def _box_text(self, part: Box, area: QRectF, fill: str) -> None:
        room = area.width() - GAP
        if room <= 0:
            return
        letters = self._letters
        for text in filter(None, (part.text, part.short)):
            if (width := letters.width(text)) < room:
                if part.fill is Fill.HATCHED:
                    back = QRectF(0, 0, width + GAP, letters.height)
                    back.moveCenter(area.center())
                    self._painter.fillRect(back, solid(fill))
                letters.draw(self._painter, area.center(), text, ink_on(fill), 0.5)
                return

    def _path(self, part: Path, row: int) -> None:
        xs, ys = [self.x(x) for x in part.xs], [self.y(y, row) for y in part.ys]
        if part.is_stepped:
            xs, ys = [x for x in xs for _ in (0, 1)][1:], [y for y in ys for _ in (0, 1)][:-1]
        points = [QPointF(x, y) for x, y in zip(xs, ys, strict=True) if math.isfinite(x) and math.isfinite(y)]
        painter = self._painter
        if part.lows:
            lows = [self.y(y, row) for y in part.lows]
            if part.is_stepped:
                lows = [y for y in lows for _ in (0, 1)][:-1]
            back = [QPointF(x, y) for x, y in zip(reversed(xs), reversed(lows), strict=True)]
            shade = QColor(colour_of(part.ink, self._colours))
            shade.setAlphaF(_FAINT)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(shade)
            painter.drawPolygon(QPolygonF(points + back))
            return
        self._pen(part.ink, part.width, part.dash)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))

    def _rule(self, part: Rule) -> None:
        area, painter = self._pixels.area, self._painter
        self._pen(part.ink, part.width, part.dash)
        colour = colour_of(part.ink, self._colours)
        if part.x is not None:
            x = self.x(part.x)
            top = area.top() + (self._letters.height if part.text else 0)
            painter.drawLine(QPointF(x, top), QPointF(x, area.bottom()))
            if part.text:
                half = self._letters.width(part.text) / 2
                middle = min(max(x, area.left() + half + 2), area.right() - half - 2)
                self._letters.draw(
                    painter, QPointF(middle, area.top() + self._letters.height / 2), part.text, colour, 0.5
                )
        elif part.y is not None:
            y = self.y(part.y)
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            if part.text:
                above = y - self._letters.height * 0.6
                self._letters.draw(painter, QPointF(area.right() - GAP, above), part.text, colour, 1)

    def _words(self, part: Words, row: int) -> None:
        letters, area = self._faces[part.is_bold], self._pixels.area
        x = self.x(part.x) + part.shift
        width = letters.width(part.text)
        if part.align == 0.0 and x + width > area.right() - 2:
            x -= 2 * part.shift + width
        left = min(max(x - part.align * width, area.left() + 2), area.right() - width - 2)
        y = min(max(self.y(part.y, row) - part.rise * letters.height, area.top() + letters.height / 2),
                area.bottom() - letters.height / 2)  # fmt: skip
        letters.draw(self._painter, QPointF(left, y), part.text, colour_of(part.ink, self._colours))

    def _paint_text(self, mark: AnyMark, row: int, *, is_bold: bool) -> None:
        letters, area = self._faces[is_bold], self._pixels.area
        colour = colour_of(mark.ink, self._colours)
        ends = [self.x(value) for value in mark.reach]
        if mark.anchor is not None:
            width = letters.width(mark.text)
            dot = self.x(mark.anchor)
            left = _beside(dot, ends, width, (self._edge, area.right() - 1))
            middle = self.y(0.0, row)
            hides_a_dot = any(left - _DOT < end < left + width - _DOT for end in ends)
            if min(ends) < left and left + width < max(ends) + 2 and not hides_a_dot:
                # A line through words strikes them out.
                plate = QRectF(left - 2, middle - letters.height / 2, width + 4, letters.height)
                self._painter.fillRect(plate, self._ground(is_chosen=is_bold))
            self._write(letters, QPointF(left, middle), mark.text, colour, is_chosen=is_bold)
            return
        end = max(ends, default=self._pixels.x(0.0))
        text = letters.elided(mark.text, max(area.right() - end - GAP, 0.0))
        self._write(letters, QPointF(end + GAP, self.y(0.0, row)), text, colour, is_chosen=is_bold)

    def _write(self, letters: Lettering, at: QPointF, text: str, colour: str, *, is_chosen: bool) -> None:
        """Write a number; a line across the whole figure is broken at it, as one through a digit makes another number."""
        for rule in self._rules:
            if -2 < rule - at.x() < letters.width(text) + 2:
                gap = QRectF(rule - 2, at.y() - letters.height / 2, 4, letters.height)
                self._painter.fillRect(gap, self._ground(is_chosen=is_chosen))
        letters.draw(self._painter, at, text, colour)

    def _ground(self, *, is_chosen: bool) -> QColor:
        """Return the colour a row lies on."""
        return solid(self._colours.accent_soft if is_chosen else self._colours.base)


def places_of(points: Points, figure: Figure, pixels: Pixels) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the pixels of points and which of them are seen: ``float64[points]`` twice, ``bool[points]``."""
    x = pixels.left + figure.x.positions(points.x) * pixels.per_x
    y = pixels.bottom - figure.y.positions(points.y) * pixels.per_y
    area, slack = pixels.area, points.size
    inside = (x >= area.left() - slack) & (x <= area.right() + slack)
    inside &= (y >= area.top() - slack) & (y <= area.bottom() + slack)
    if figure.y.scale is Scale.LOG:
        inside &= points.y > 0
    return x, y, inside


def crowd_image(x: Floats, y: Floats, size: QSize, look: tuple[Shape, float], ink: QColor) -> QImage:
    """Return many dots as an image, the darker the more lie on each other: one stroke each would take ten times as long.

    Args:
        x: ``float64[points]``, pixels from the left of the image.
        y: ``float64[points]``, pixels from its top.
        size: of the image.
        look: shape of a dot and half its width in pixels.
        ink: colour.
    """
    import numpy as np

    shape, radius = look
    width, height, reach = max(size.width(), 1), max(size.height(), 1), math.ceil(radius)
    counts = np.zeros((height + 2 * reach + 1, width + 2 * reach + 1), dtype=np.uint8)
    across = np.clip(np.rint(x).astype(np.int64), 0, width - 1) + reach
    up = np.clip(np.rint(y).astype(np.int64), 0, height - 1) + reach
    flat, stride = counts.ravel(), counts.shape[1]
    places, found = np.unique(up * stride + across, return_counts=True)
    many = np.minimum(found, _DARKNESSES).astype(np.uint8)  # 49 neighbours of 4 each stay below 256
    for down in range(-reach, reach + 1):
        for right in range(-reach, reach + 1):
            if _is_inside(shape, right, down, radius):
                flat[places + down * stride + right] += many
    seen = np.ascontiguousarray(np.minimum(counts[reach : reach + height, reach : reach + width], _DARKNESSES))
    image = QImage(seen.tobytes(), width, height, width, QImage.Format.Format_Indexed8)
    rgb = ink.rgb() & 0xFFFFFF
    image.setColorTable([0, *((min(255, 120 + 45 * step) << 24) | rgb for step in range(_DARKNESSES))])
    return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


def _is_inside(shape: Shape, right: int, down: int, radius: float) -> bool:
    """Return whether a pixel beside the middle of a dot belongs to it."""
    match shape:
        case Shape.SQUARE:
            return max(abs(right), abs(down)) <= 0.85 * radius
        case Shape.DIAMOND:
            return abs(right) + abs(down) <= radius
        case Shape.TRIANGLE:
            return 2 * abs(right) <= down + radius
        case Shape.POINTED_DOWN:
            return 2 * abs(right) <= radius - down
        case _:
            return right * right + down * down <= radius * radius


@lru_cache(maxsize=32)
def _hatching(fill: str) -> QBrush:
    ink = QColor(ink_on(fill))
    ink.setAlphaF(0.28)
    return QBrush(ink, Qt.BrushStyle.BDiagPattern)


@lru_cache(maxsize=32)
def _hatched_tile(fill: str) -> QPixmap:
    """Return hatching on its colour, of some periods of the pattern."""
    tile = QPixmap(_TILE)
    tile.fill(QColor(fill))
    painter = QPainter(tile)
    painter.fillRect(tile.rect(), _hatching(fill))
    painter.end()
    return tile


_DOT, _REACH, _NEAR = 5.5, 11.0, 7.0
"""Radius of a dot, the distance between it and its number, and how near a mark is one with it, in pixels."""


def _beside(dot: float, ends: list[float], width: float, room: tuple[float, float]) -> float:
    """Return where the number of a dot starts: right of it, or left where a mark, its line or the edge is in the way.

    Where the edge is too near for that, it lies over the line, before the mark that is in the way. Where neither side has room it lies over the line, inside the picture: cut off it would be another number.
    """
    near = [dot, *(end for end in ends if abs(end - dot) <= _NEAR)]
    marks = [end for end in ends if abs(end - dot) > _NEAR]
    in_the_way = [mark for mark in marks if mark > dot + _DOT]
    first, last = room
    right = max([*near, *in_the_way]) + _REACH
    if not in_the_way and right + width <= last:
        return right
    left = min(near) - _REACH - width
    if left > first and all(mark > dot - _DOT for mark in marks):
        return left
    between = max(near) + _REACH
    if in_the_way and between + width + _REACH <= min(in_the_way):
        return between  # beyond what is in the way it would be read as the number of that
    if right + width <= last:
        return right
    beyond = min([dot, *marks]) - _REACH - width
    if beyond > first:
        return beyond
    over = max(last - width, first)
    under = [end for end in ends if over - _DOT < end < over + width - _DOT]
    aside = min(under, default=0.0) - _REACH - width
    return aside if under and aside > first else over
