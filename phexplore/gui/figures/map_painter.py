"""Paints the polygons of a map, finds the one under the pointer, and draws the scale of its colours."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from phexplore.figures.figure import Figure, Tint
from phexplore.figures.map import STEPS, tint_of
from phexplore.figures.marks import Patch
from phexplore.gui.figures.painter import blended, colour_of
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP


class MapOutlines:
    """The outlines of a map, made once for all values they are coloured by."""

    def __init__(self) -> None:
        self.paths: list[QPainterPath] = []
        self._outlines: tuple[int, ...] = ()

    def use(self, patches: Sequence[Patch]) -> None:
        """Make the outlines, unless they are those made last."""
        outlines = tuple(id(patch.rings[0]) if patch.rings else 0 for patch in patches)
        if outlines == self._outlines and len(self.paths) == len(patches):
            return
        self._outlines, self.paths = outlines, []
        for patch in patches:
            path = QPainterPath()
            path.setFillRule(Qt.FillRule.OddEvenFill)
            for ring in patch.rings:
                path.addPolygon(QPolygonF([QPointF(x, y) for x, y in ring.tolist()]))
            self.paths.append(path)

    def at(self, figure: Figure, x: float, y: float) -> Hashable:
        """Return the key of the polygon that holds a place, None where there is none."""
        place = QPointF(x, y)
        for patch, path in zip(figure.patches, self.paths, strict=False):
            if path.boundingRect().contains(place) and path.contains(place):
                return patch.key
        return None


def paint_map(
    painter: QPainter, pixels: Pixels, figure: Figure, outlines: MapOutlines, chosen: Hashable, colours: Colours
) -> None:
    """Paint all polygons and the scale.

    Args:
        painter: to paint with.
        pixels: the map of the plot area.
        figure: of patches.
        outlines: of its patches.
        chosen: key that is outlined.
        colours: of the theme.
    """
    tint = figure.tint
    if tint is None:
        return
    painter.save()
    painter.translate(pixels.left, pixels.bottom)
    painter.scale(pixels.per_x, -pixels.per_y)
    edge = QPen(QColor(colours.border), 0)
    seen = QRectF(pixels.view)
    for patch, path in zip(figure.patches, outlines.paths, strict=True):
        if path.boundingRect().intersects(seen):
            painter.fillPath(path, QColor(_colour(tint, patch.value, colours)))
            painter.strokePath(path, edge)
    pen = QPen(QColor(colours.text), 2)
    pen.setCosmetic(True)
    for patch, path in zip(figure.patches, outlines.paths, strict=True):
        if chosen is not None and patch.key == chosen:
            painter.strokePath(path, pen)
    painter.restore()
    if tint.unit:
        _paint_scale(painter, pixels, tint, colours)


def _colour(tint: Tint, value: float, colours: Colours) -> str:
    found = tint_of(tint, value)
    if found is None:
        return colours.grid
    series, strength = found
    return blended(colour_of(series, colours), colours.alternate, strength)


def _paint_scale(painter: QPainter, pixels: Pixels, tint: Tint, colours: Colours) -> None:
    """Draw the scale of the colours in the corner."""
    low = -tint.limit if tint.is_signed else 0.0
    boxes = 2 * STEPS if tint.is_signed else STEPS
    width, height = 16.0, lettering().height
    words = f"0 to {tint.limit:,.3g} {tint.unit}"
    if tint.is_signed:
        words = f"{low:+,.3g} to {tint.limit:+,.3g} {tint.unit}"
    room = max(boxes * width, lettering().width(words)) + 2 * GAP
    area = QRectF(pixels.area.left() + GAP, pixels.area.bottom() - 3 * height - GAP, room, 2.6 * height)
    painter.fillRect(area, QColor(colours.base))
    for number in range(boxes):
        value = low + (number + 0.5) * (tint.limit - low) / boxes
        box = QRectF(area.left() + GAP + number * width, area.top() + 4, width - 1, height)
        painter.fillRect(box, QColor(_colour(tint, value, colours)))
    draw_text(painter, QPointF(area.left() + GAP, area.bottom() - height / 2 - 2), words, colours.text)
