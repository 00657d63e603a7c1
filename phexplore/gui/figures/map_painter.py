"""Paints the polygons of a map, finds the one under the pointer, and draws the scale of its colours."""

from __future__ import annotations

import struct
import time
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QDataStream, QLineF, QObject, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from phexplore.figures.figure import Figure, Tint
from phexplore.figures.map import STEPS, outer_edges, scale_words, tint_of
from phexplore.figures.marks import Patch
from phexplore.gui.figures.painter import blended, colour_of
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DIRECTLY = 500
"""So many polygons are painted within a frame; more come from a picture that is made beside the frames."""
_BORDERS = 16
"""So many outlines are kept of a map."""
_REST_MS, _SLICE_SECONDS = 90, 0.012
"""After so long without another view the picture of the last one is made, in slices of so much time."""


class MapOutlines:
    """The outlines of a map, made once for all values they are coloured by."""

    def __init__(self) -> None:
        self.paths: list[QPainterPath] = []
        self.boxes: NDArray[np.float64] | None = None
        self._outlines: tuple[int, ...] = ()
        self._borders: dict[frozenset[Hashable], list[QLineF]] = {}

    def use(self, patches: Sequence[Patch]) -> None:
        """Make the outlines, unless they are those made last."""
        outlines = tuple(id(patch.rings[0]) if patch.rings else 0 for patch in patches)
        if outlines == self._outlines and len(self.paths) == len(patches):
            return
        import numpy as np  # late: the first picture of the window has no map

        self._outlines, self.paths, self._borders = outlines, [], {}
        self.boxes = np.full((len(patches), 4), np.nan)
        for place, patch in enumerate(patches):
            path = QPainterPath()
            path.setFillRule(Qt.FillRule.OddEvenFill)
            for ring in patch.rings:
                path.addPolygon(_polygon(ring))
            self.paths.append(path)
            if patch.rings:
                every = np.concatenate(patch.rings)
                self.boxes[place] = [*every.min(axis=0), *every.max(axis=0)]

    def around(self, figure: Figure, keys: frozenset[Hashable]) -> list[QLineF]:
        """Return the lines around the polygons of some keys taken together; those looked at last are kept."""
        if keys not in self._borders:
            if len(self._borders) >= _BORDERS:
                self._borders.clear()
            border = outer_edges(ring for patch in figure.patches if patch.key in keys for ring in patch.rings)
            self._borders[keys] = [QLineF(*line) for line in border.reshape(-1, 4).tolist()]
        return self._borders[keys]

    def at(self, figure: Figure, x: float, y: float) -> Hashable:
        """Return the key of the polygon that holds a place, None where there is none."""
        place = QPointF(x, y)
        for number in self.seen(QRectF(place, place)):
            if self.paths[number].contains(place):
                key: Hashable = figure.patches[number].key
                return key
        return None

    def seen(self, view: QRectF) -> list[int]:
        """Return the numbers of the polygons whose boxes touch a part of the map."""
        if self.boxes is None:
            return []
        left, bottom, right, top = self.boxes.T
        touching = (left <= view.right()) & (right >= view.left()) & (bottom <= view.bottom()) & (top >= view.top())
        numbers: list[int] = touching.nonzero()[0].tolist()
        return numbers


def _polygon(ring: NDArray[np.float32]) -> QPolygonF:
    """Return a ring ``float32[points, 2]`` as Qt reads it from bytes: a thousand times faster than point by point."""
    content = struct.pack(">i", len(ring)) + ring.astype(">f8").tobytes()
    polygon = QPolygonF()
    stream = QDataStream(QByteArray(content))
    stream >> polygon
    return polygon


class MapPictures(QObject):
    """Pictures of large maps: gestures move the last ones, and the picture of a new view is made when they rest.

    A frame of a gesture costs two drawn images, however many polygons there are.
    """

    def __init__(self, canvas: QWidget) -> None:
        """Begin without a picture.

        Args:
            canvas: is painted again when a picture is ready.
        """
        super().__init__(canvas)
        self._canvas = canvas
        self._held: dict[bool, tuple[Hashable, QRectF, QImage]] = {}
        self._state: Hashable = None
        self._work: Iterator[None] | None = None
        self._wanted: tuple[Figure, MapOutlines, Pixels, Colours] | None = None
        self._rest, self._slices = QTimer(self), QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._begin)
        self._slices.timeout.connect(self._go_on)

    def paint(self, painter: QPainter, pixels: Pixels, figure: Figure, outlines: MapOutlines, colours: Colours) -> None:
        """Paint the polygons: those of the view itself where they are few or have a picture, else the last pictures, moved.

        Args:
            painter: to paint with.
            pixels: the map of the plot area.
            figure: of patches.
            outlines: of its patches.
            colours: of the theme.
        """
        numbers = outlines.seen(pixels.view)
        if len(numbers) <= _DIRECTLY or not isinstance(painter.device(), QWidget):
            for _ in polygons(painter, pixels, figure, outlines, colours, numbers):
                pass
            return
        state, view = (id(figure), id(colours)), _view_of(pixels)
        if state != self._state:
            self._state, self._held, self._work = state, {}, None
            image = self._blank(pixels, colours)
            self._make(image, pixels, figure, outlines, colours, numbers)
            self._keep(view, pixels, image)
        exact = next((image for known, _, image in self._held.values() if known == view), None)
        if exact is not None:
            painter.drawImage(pixels.area.topLeft(), exact)
            return
        for _, area, image in sorted(self._held.values(), key=lambda held: -held[1].width()):
            target = QRectF(
                QPointF(pixels.x(area.left()), pixels.y(area.bottom())),
                QPointF(pixels.x(area.right()), pixels.y(area.top())),
            )
            painter.drawImage(target, image)
        self._wanted, self._work = (figure, outlines, pixels, colours), None
        self._slices.stop()
        self._rest.start()

    def _blank(self, pixels: Pixels, colours: Colours) -> QImage:
        ratio = self._canvas.devicePixelRatioF()
        image = QImage(
            max(1, round(pixels.area.width() * ratio)),
            max(1, round(pixels.area.height() * ratio)),
            QImage.Format.Format_RGB32,
        )
        image.setDevicePixelRatio(ratio)
        image.fill(QColor(colours.base))
        return image

    def _make(
        self,
        image: QImage,
        pixels: Pixels,
        figure: Figure,
        outlines: MapOutlines,
        colours: Colours,
        numbers: Sequence[int],
    ) -> None:
        painter = _brush_on(image, pixels)
        for _ in polygons(painter, pixels, figure, outlines, colours, numbers):
            pass
        painter.end()

    def _keep(self, view: Hashable, pixels: Pixels, image: QImage) -> None:
        """Keep a picture: the widest one, and the last one."""
        widest = self._held.get(True)
        if widest is None or pixels.view.width() >= widest[1].width():
            self._held[True] = (view, QRectF(pixels.view), image)
        self._held[False] = (view, QRectF(pixels.view), image)

    def _begin(self) -> None:
        if self._wanted is not None:
            self._work = self._pieces(*self._wanted)
            self._slices.start(0)

    def _pieces(self, figure: Figure, outlines: MapOutlines, pixels: Pixels, colours: Colours) -> Iterator[None]:
        image = self._blank(pixels, colours)
        numbers = outlines.seen(pixels.view)
        for first in range(0, len(numbers), _DIRECTLY // 4):
            self._make(image, pixels, figure, outlines, colours, numbers[first : first + _DIRECTLY // 4])
            yield
        self._keep(_view_of(pixels), pixels, image)

    def _go_on(self) -> None:
        end = time.monotonic() + _SLICE_SECONDS
        while self._work is not None and time.monotonic() < end:
            if next(self._work, self) is self:
                self._work = None
                self._slices.stop()
                self._canvas.update()


def _view_of(pixels: Pixels) -> Hashable:
    view, area = pixels.view, pixels.area
    return (view.left(), view.top(), view.width(), view.height(), area.width(), area.height())


def _brush_on(image: QImage, pixels: Pixels) -> QPainter:
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(-pixels.area.left(), -pixels.area.top())
    return painter


def polygons(
    painter: QPainter,
    pixels: Pixels,
    figure: Figure,
    outlines: MapOutlines,
    colours: Colours,
    numbers: Sequence[int],
) -> Iterator[None]:
    """Paint some polygons one by one.

    Args:
        painter: to paint with.
        pixels: the map of the plot area.
        figure: of patches.
        outlines: of its patches.
        colours: of the theme.
        numbers: of the polygons.
    """
    tint = figure.tint
    if tint is None:
        return
    painter.save()
    painter.translate(pixels.left, pixels.bottom)
    painter.scale(pixels.per_x, -pixels.per_y)
    edge = QPen(QColor(colours.border), 0)
    known: dict[tuple[int, float] | None, QColor] = {}
    for number in numbers:
        found = tint_of(tint, figure.patches[number].value)
        colour = known.get(found)
        if colour is None:
            colour = known[found] = QColor(_colour_of(found, colours))
        painter.fillPath(outlines.paths[number], colour)
        painter.strokePath(outlines.paths[number], edge)
        yield
    painter.restore()


def paint_map(
    painter: QPainter,
    pixels: Pixels,
    figure: Figure,
    outlines: MapOutlines,
    chosen: Hashable,
    colours: Colours,
    pictures: MapPictures,
) -> None:
    """Paint all polygons and the scale.

    Args:
        painter: to paint with.
        pixels: the map of the plot area.
        figure: of patches.
        outlines: of its patches.
        chosen: key that is outlined.
        colours: of the theme.
        pictures: of large maps.
    """
    tint = figure.tint
    if tint is None:
        return
    pictures.paint(painter, pixels, figure, outlines, colours)
    if figure.outlined or chosen is not None:
        painter.save()
        painter.translate(pixels.left, pixels.bottom)
        painter.scale(pixels.per_x, -pixels.per_y)
        pen = QPen(QColor(colours.text), 2)
        pen.setCosmetic(True)
        painter.setPen(pen)
        painter.drawLines(outlines.around(figure, figure.outlined))
        if chosen is not None and chosen not in figure.outlined:
            painter.drawLines(outlines.around(figure, frozenset({chosen})))
        painter.restore()
    if tint.unit:
        _paint_scale(painter, pixels, tint, colours)


def _colour(tint: Tint, value: float, colours: Colours) -> str:
    return _colour_of(tint_of(tint, value), colours)


def _colour_of(found: tuple[int, float] | None, colours: Colours) -> str:
    if found is None:
        return colours.grid
    series, strength = found
    return blended(colour_of(series, colours), colours.alternate, strength)


def _paint_scale(painter: QPainter, pixels: Pixels, tint: Tint, colours: Colours) -> None:
    """Draw the scale of the colours in the corner."""
    low = -tint.limit if tint.is_signed else 0.0
    boxes = 2 * STEPS if tint.is_signed else STEPS
    width, height, words = 16.0, lettering().height, scale_words(tint)
    room = max(boxes * width, lettering().width(words)) + 2 * GAP
    area = QRectF(pixels.area.left() + GAP, pixels.area.bottom() - 3 * height - GAP, room, 2.6 * height)
    painter.fillRect(area, QColor(colours.base))
    for number in range(boxes):
        value = low + (number + 0.5) * (tint.limit - low) / boxes
        box = QRectF(area.left() + GAP + number * width, area.top() + 4, width - 1, height)
        painter.fillRect(box, QColor(_colour(tint, value, colours)))
    draw_text(painter, QPointF(area.left() + GAP, area.bottom() - height / 2 - 2), words, colours.text)
