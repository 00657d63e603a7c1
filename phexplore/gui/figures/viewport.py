"""What is seen of a figure: everything, a part of it, or the rows that fit. Row i lies at y = −i."""

from __future__ import annotations

import math
from collections.abc import Collection

from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtWidgets import QScrollBar

from phexplore.figures.figure import Figure
from phexplore.figures.map import equal_degrees
from phexplore.gui.figures.axes import RowAxis
from phexplore.gui.figures.canvas import Canvas
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import GAP

Range = tuple[float, float]
DEEPEST = 1e-4
"""Smallest part of the whole range that can be seen."""
MOST_GROWTH = 2.5
"""How much higher than it needs to be a row may become."""


class Viewport(QObject):
    """The ranges a canvas shows of a figure, moved by zoom, pan and a scroll bar of rows.

    Signals:
        zoomed: whether less than all is seen (bool), whenever ranges are shown.

    Attributes:
        is_held: the horizontal range stays while a handle is dragged.
    """

    zoomed = Signal(bool)

    def __init__(self, canvas: Canvas, axis: RowAxis, bar: QScrollBar, parent: QObject) -> None:
        """Begin with no figure.

        Args:
            canvas: shows the ranges.
            axis: of the labels of rows.
            bar: scrolls rows, hidden where all fit.
            parent: owner.
        """
        super().__init__(parent)
        self.is_held = False
        self._canvas, self._axis, self._bar = canvas, axis, bar
        self._figure: Figure | None = None
        self._zoom: tuple[Range, Range] | None = None
        self._whole_x: tuple[float, Range] = (-1.0, (0.0, 1.0))
        bar.valueChanged.connect(self._show)

    @property
    def is_zoomed(self) -> bool:
        """Whether less than all is seen."""
        return self._zoom is not None

    def use(self, figure: Figure, *, is_other: bool) -> bool:
        """Show another figure; return whether labels and horizontal range are what they were.

        Args:
            figure: to be shown.
            is_other: not the next state of the same picture: all of it is shown again.
        """
        labels, seen, was = self._axis.labels, self._seen()[0], self._figure
        self._figure, self._whole_x = figure, (-1.0, self._whole_x[1])
        if is_other:
            self._zoom = None
        self._axis.set_labels(figure.rows)
        if was is None or is_other or self._axis.labels is not labels or _room_of(was) != _room_of(figure):
            self.fit()
        else:
            self._show()
        return labels == self._axis.labels and seen == self._seen()[0]

    # Zoom

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Show more (factor above 1) or less around a pixel, by default the middle of the plot."""
        pixels = self._canvas.pixels
        at = at if at is not None else pixels.area.center()
        (low, high), (bottom, top) = self._seen()
        x, y = pixels.value_x(at.x()), pixels.value_y(at.y())
        self._see(
            (x - (x - low) * factor, x + (high - x) * factor), (y - (y - bottom) * factor, y + (top - y) * factor)
        )

    def pan(self, across: float, up: float) -> None:
        """Move what is seen by parts of its width and height."""
        (low, high), (bottom, top) = self._seen()
        right, rise = across * (high - low), up * (top - bottom)
        self._see((low + right, high + right), (bottom + rise, top + rise))

    def show_all(self) -> None:
        """Show everything again."""
        self._zoom = None
        self._show()
        self._canvas.refresh()

    # Rows

    def rows_to_paint(self, pixels: Pixels) -> range:
        """Return the rows that touch what has to be painted.

        Their middle is in the plot area: vector files do not clip what sticks out.
        """
        first = max(0, math.ceil(-pixels.view.bottom()), math.ceil(-pixels.value_y(pixels.top) - 0.5))
        last = min(self._count - 1, math.floor(-pixels.view.top()), math.floor(-pixels.value_y(pixels.end) + 0.5))
        return range(first, last + 1)

    def refresh_rows(self, rows: Collection[int]) -> None:
        """Paint rows again, and what their marks may reach of their neighbours."""
        if rows:
            pixels = self._canvas.pixels
            area = pixels.area
            self._canvas.refresh(
                *(QRectF(area.left(), pixels.y(-row + 0.6), area.width(), 1.2 * pixels.per_y) for row in rows)
            )

    def make_visible(self, row: int) -> None:
        """Scroll so that the row can be seen."""
        first, page = self._bar.value(), self.page
        if row < first:
            self._bar.setValue(row)
        elif row >= first + page:
            self._bar.setValue(row - page + 1)

    @property
    def has_hidden_rows(self) -> bool:
        """Whether there is anything to scroll."""
        return self._bar.maximum() > 0

    def scroll(self, rows: int) -> bool:
        """Scroll by rows; return whether anything moved: at its end the page around the picture scrolls on."""
        before = self._bar.value()
        self._bar.setValue(before + rows)
        return self._bar.value() != before

    @property
    def page(self) -> int:
        """Rows that are seen at once."""
        return self._page(self._canvas.area.height())

    def _page(self, height: float) -> int:
        return max(1, min(self._count, int(height / self._row_height)))

    def fit(self) -> None:
        """Follow the size of the canvas and of letters."""
        self._whole_x = (-1.0, self._whole_x[1])
        # Few rows do not grow into bars as high as the window: letters grow with them, and what is left stays free below.
        has_rows = self._figure is not None and self._figure.has_rows
        most = math.ceil(self._count * self._row_height * MOST_GROWTH) if has_rows else math.inf
        self._canvas.leave_free(most=most, least=self._axis.least_room)
        page = self.page
        self._bar.setRange(0, max(0, self._count - page))
        self._bar.setPageStep(page)
        self._bar.setVisible(self.has_hidden_rows)
        self._axis.set_room(self._canvas.room.width())
        self._show()

    @property
    def _count(self) -> int:
        return len(self._axis.labels)

    @property
    def _row_height(self) -> float:
        """Pixels a row takes at least."""
        return lettering().height * (self._figure.stretch if self._figure is not None else 1.0) + 6

    # Ranges

    def _seen(self) -> tuple[Range, Range]:
        view = self._canvas.view
        return (view.left(), view.right()), (view.top(), view.bottom())

    def _see(self, x: Range, y: Range) -> None:
        """Show these ranges, held inside the whole."""
        if self._figure is not None:
            whole_x, whole_y = self._whole(self._figure)
            x, y = _held(x, whole_x), _held(y, whole_y)
            self._zoom = None if x == whole_x and (self._figure.has_rows or y == whole_y) else (x, y)
            self._show()

    def _whole(self, figure: Figure) -> tuple[Range, Range]:
        """Return what is shown of everything, the horizontal range measured once per width."""
        area = self._canvas.area
        width = max(area.width(), 100.0)
        if figure.patches:
            return equal_degrees(figure, width, area.height())
        if self._whole_x[0] != width:
            self._whole_x = (width, figure.x_range_in(width, lettering(bold=True).width, GAP))
        return self._whole_x[1], (0.0, 1.0) if figure.has_rows else figure.y_range

    def _show(self, _value: int = 0) -> None:
        figure = self._figure
        if figure is None:
            return
        x, y = self._zoom or self._whole(figure)
        if figure.has_rows:
            first = self._bar.value()
            height = self._canvas.area.height()
            seen = max(self._page(height), round(height / (self._row_height * MOST_GROWTH)))
            x, y = self._seen()[0] if self.is_held else x, (-(first + seen) + 0.5, -first + 0.5)
        self._canvas.show_range(x, y)
        self.zoomed.emit(self.is_zoomed)


def _room_of(figure: Figure) -> tuple[object, ...]:
    """Return what the room for the plot area, and for its rows, follows from besides their labels."""
    return figure.stretch, figure.x.caption, figure.x.ticks, bool(figure.cells), figure.key


def _held(seen: Range, whole: Range) -> Range:
    """Return a range of the same width inside the whole, not narrower than can be seen."""
    length = whole[1] - whole[0]
    width = max(seen[1] - seen[0], DEEPEST * length)
    if width >= length * (1 - 1e-9):
        return whole
    middle = (seen[0] + seen[1]) / 2
    low = min(max(middle - width / 2, whole[0]), whole[1] - width)
    return low, low + width
