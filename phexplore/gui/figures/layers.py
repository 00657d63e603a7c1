"""The layers of a figure on a canvas: backgrounds of rows, marks, what is chosen or dragged, and the key above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from phexplore.figures.axis import Axis
from phexplore.figures.figure import Figure, KeyEntry
from phexplore.figures.marks import AnyMark, Path
from phexplore.figures.table import Table
from phexplore.gui.figures.canvas import Canvas, Layer
from phexplore.gui.figures.choice import Choice, HandleDrag
from phexplore.gui.figures.map_painter import MapPictures, paint_map
from phexplore.gui.figures.painter import FigurePainter
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.figures.viewport import Viewport
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP, HALF

_KEY_FIGURE = Figure("key", "", "", Axis(), Axis(), (), Table(()))
"""Signs of a key are drawn in a plane from 0 to 1 across and around 0 upward."""
_SIGN = 18.0
"""Width of a sign in pixels."""


class FigureLayers:
    """Paints the figure of a choice; holds nothing that leads back to the widget around the canvas."""

    def __init__(self, canvas: Canvas, viewport: Viewport, choice: Choice, drag: HandleDrag) -> None:
        """Hang the layers into a canvas.

        Args:
            canvas: paints them.
            viewport: says which rows are seen.
            choice: the figure, and what is chosen and hovered in it.
            drag: marks the value a handle is held at.
        """
        self._canvas, self._viewport, self._choice, self._drag = canvas, viewport, choice, drag
        self._by_row: Mapping[int, Sequence[AnyMark]] = {}
        self._key: tuple[KeyEntry, ...] = ()
        self._pictures = MapPictures(canvas)
        canvas.set_layer(Layer.BELOW, self._paint_backgrounds)
        canvas.set_layer(Layer.ABOVE, self._paint)
        canvas.set_layer(Layer.HEAD, self._paint_key)

    def use(self, figure: Figure) -> None:
        """Paint another figure."""
        found: dict[int, list[AnyMark]] = {}
        for row, mark in zip(figure.row_numbers, figure.marks, strict=True):
            found.setdefault(row, []).append(mark)
        self._by_row = found
        if figure.key != self._key:
            self._key = figure.key
            self._canvas.update()
            self.fit_key()

    def fit_key(self) -> None:
        """Make room for the key."""
        places = self._key_places()
        self._canvas.leave_free(head=round(places[-1].y() + _line_of_key() / 2) if places else 0)

    def _paint_backgrounds(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        figure, choice = self._choice.figure, self._choice
        if figure is None or not figure.has_rows or figure.cells:
            return
        stripes: dict[str, int] = {}
        if figure.is_striped:
            stripes = {
                group: number % 2 for number, group in enumerate(dict.fromkeys(row.group for row in figure.rows))
            }
        hovered = None if choice.hovered is None else choice.items.rows[choice.hovered]
        chosen = choice.row
        for row in self._viewport.rows_to_paint(pixels):
            fill = colours.alternate if stripes and stripes[figure.rows[row].group] else ""
            if row == chosen:
                fill = colours.accent_soft
            elif row == hovered:
                fill = colours.hover
            if fill:
                top, bottom = pixels.y(-row + 0.5), pixels.y(-row - 0.5)
                painter.fillRect(QRectF(pixels.area.left(), top, pixels.area.width(), bottom - top), QColor(fill))

    def _paint(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        figure, choice = self._choice.figure, self._choice
        if figure is None:
            return
        brush = FigurePainter(painter, pixels, figure, colours)
        brush.paint_parts(figure.under)
        if figure.patches:
            paint_map(painter, pixels, figure, choice.outlines, choice.chosen_key, colours, self._pictures)
        elif figure.has_rows:
            seen, chosen = self._viewport.rows_to_paint(pixels), choice.row
            for cell in figure.cells:
                if cell.row in seen:
                    brush.paint_cell(cell)
            for row in seen:
                for mark in self._by_row.get(row, ()):
                    brush.paint_mark(mark, row, is_chosen=row == chosen)
        else:
            for mark in figure.marks:
                brush.paint_parts(mark.parts)
            brush.paint_line_names(figure.marks)
        crowd = sum(len(each.x) for each in figure.points)
        for points in figure.points:
            brush.paint_points(points, crowd=crowd)
        brush.paint_parts(figure.over)
        self._paint_chosen(painter, pixels, figure, colours)

    def _paint_chosen(self, painter: QPainter, pixels: Pixels, figure: Figure, colours: Colours) -> None:
        """Outline the chosen mark where its row does not show it, draw a curve again and thicker, name it in a plane, and mark what is dragged."""
        here = self._choice.here
        if here is None or figure.patches:
            return
        painter.setPen(QPen(QColor(colours.text), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self._drag.value is not None:  # the figure of the edit follows a moment later
            x, y = pixels.x(figure.x.position(self._drag.value)), pixels.y(-self._choice.items.rows[here])
            painter.drawLine(QPointF(x, y - 9), QPointF(x, y + 9))
        several = figure.has_rows and len(figure.rows) < len(figure.marks)
        if figure.has_rows and not figure.cells and not several:
            return
        mark = self._choice.mark_of(self._choice.items.keys[here])
        if mark is not None and (curves := [part for part in mark.parts if isinstance(part, Path)]):
            thick = tuple(replace(part, width=2 * part.width, lows=()) for part in curves)
            FigurePainter(painter, pixels, figure, colours).paint_parts(thick)
            return
        left, right, bottom, top = self._choice.items.box(here)
        area = QRectF(QPointF(pixels.x(left), pixels.y(top)), QPointF(pixels.x(right), pixels.y(bottom)))
        if several:
            painter.drawRect(area.adjusted(0, 0.14 * area.height(), 0, -0.14 * area.height()))
        elif figure.cells:
            painter.drawRect(area.adjusted(1, 1, -1, -1))
        elif area.width() < 1 and area.height() < 1:
            painter.drawEllipse(area.center(), 8.0, 8.0)
            _paint_tip(painter, area.center(), self._choice.words.split("\n")[0], pixels, colours)
        else:
            painter.drawRect(area.adjusted(-4, -4, 4, 4))

    # Key

    def _key_places(self) -> list[QPointF]:
        found: list[QPointF] = []
        figure, line = self._choice.figure, _line_of_key()
        x, y = float(GAP), line / 2
        for entry in figure.key if figure is not None else ():
            needed = lettering().width(entry.text) + 5 * GAP
            if x > GAP and x + needed > self._canvas.room.width():
                x, y = float(GAP), y + line
            found.append(QPointF(x, y))
            x += needed
        return found

    def _paint_key(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        figure = self._choice.figure
        for entry, at in zip(figure.key if figure is not None else (), self._key_places(), strict=True):
            room = QRectF(at.x(), at.y() - 6, _SIGN, 12)
            unit = Pixels(pixels.view, room, at.x(), _SIGN, at.y(), -12.0, room.top(), room.bottom())
            FigurePainter(painter, unit, _KEY_FIGURE, colours).paint_parts((entry.sign,))
            left = max(self._canvas.room.width() - at.x() - 4 * GAP, 0.0)
            draw_text(painter, at + QPointF(_SIGN + HALF, 0), lettering().elided(entry.text, left), colours.text)


def _line_of_key() -> float:
    height: float = lettering().height
    return height + HALF


def _paint_tip(painter: QPainter, at: QPointF, words: str, pixels: Pixels, colours: Colours) -> None:
    """Name what is chosen beside it."""
    letters = lettering(bold=True)
    width = letters.width(words)
    left = min(max(at.x() + 3 * GAP, pixels.area.left() + GAP), pixels.area.right() - width - GAP)
    y = at.y() + letters.height * (-1 if at.y() > pixels.area.top() + 2 * letters.height else 1)
    painter.fillRect(QRectF(left - 3, y - letters.height / 2, width + 6, letters.height), QColor(colours.base))
    draw_text(painter, QPointF(left, y), words, colours.text, bold=True)
