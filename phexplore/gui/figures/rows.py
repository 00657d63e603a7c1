"""A picture with one row per item that scrolls by rows while its axis stays: shared by the charts of queries."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.gui.figures.axes import Axis
from phexplore.gui.figures.canvas import Canvas
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import pixmap
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP, HALF

LOCK_SIZE = 12
MOST_GROWTH = 1.8
"""How much higher than it needs to be a row may become."""
LABEL_PART = 0.42
"""Most of the width that names may take."""
GROUP_PART = 0.3
"""Most of the width that the words of groups may take."""


class RowAxis(Axis):
    """The labels of rows: a bold group at its first visible row, a name at every row."""

    def __init__(self) -> None:
        super().__init__()
        self._width = 0
        self._labels: tuple[RowLabel, ...] = ()
        self._room = 1000.0
        self._shown: tuple[str, ...] = ()
        self._groups: dict[str, str] = {}
        self.chosen: int | None = None

    @property
    def labels(self) -> tuple[RowLabel, ...]:
        """What stands before the rows."""
        return self._labels

    def set_room(self, pixels: float) -> None:
        """Say how wide the picture is; long names are shortened so that labels leave most of it to the rows."""
        if pixels != self._room:
            self._room = pixels
            self.fit()

    def set_labels(self, labels: tuple[RowLabel, ...]) -> None:
        """Show these rows and make room for the longest label."""
        if labels != self._labels:
            self._labels = labels
            self.fit()

    def fit(self) -> None:
        """Make room for the longest label in the current font."""
        plain, bold = lettering(), lettering(bold=True)
        room = self._room * GROUP_PART
        self._groups = {label.group: bold.elided(label.group, room) for label in self._labels}
        groups = max(map(bold.width, self._groups.values()), default=0)
        most = max(self._room * LABEL_PART - groups, 8 * plain.height)
        metrics = QFontMetricsF(plain.font)
        self._shown = tuple(metrics.elidedText(each.name, Qt.TextElideMode.ElideRight, most) for each in self._labels)
        names = max((plain.width(name) for name in self._shown), default=0)
        around = (LOCK_SIZE if any(label.locked for label in self._labels) else 0) + (4 * GAP if names else 2 * GAP)
        self._width = round(groups + names + around)
        self.update()

    def extent(self, _low: float, _high: float) -> int:
        return self._width

    def paint(self, painter: QPainter, room: QRectF, pixels: Pixels) -> None:
        """Draw the labels of the visible rows."""
        colours, area = appearance().colours, pixels.area
        left, right, shown_group = room.left() + HALF, room.right() - GAP, ""
        first = max(0, math.floor(-pixels.value_y(area.top())) - 1)
        last = math.ceil(-pixels.value_y(area.bottom())) + 1
        for index in range(first, min(last + 1, len(self._labels))):
            label, y = self._labels[index], pixels.y(-index)
            if not area.top() <= y <= area.bottom():
                continue
            chosen = index == self.chosen
            if label.group != shown_group:
                shown_group = label.group
                draw_text(painter, QPointF(left, y), self._groups[label.group], colours.text, bold=True)
            ink = colours.accent_ink if chosen else colours.text
            name = self._shown[index]
            draw_text(painter, QPointF(right, y), name, ink, align=1, bold=chosen)
            if label.locked:
                width = lettering(bold=chosen).width(name)
                mark = pixmap("locked", colours.muted, 2 * LOCK_SIZE)
                place = QRectF(right - width - LOCK_SIZE - HALF, y - LOCK_SIZE / 2, LOCK_SIZE, LOCK_SIZE)
                painter.drawPixmap(place, mark, QRectF(mark.rect()))


class RowView(QWidget):
    """A canvas of rows with a scroll bar; row i lies at y = −i."""

    def __init__(self, canvas: Canvas, axis: RowAxis, *, stretch: float = 1.0) -> None:
        """Put a canvas and a scroll bar side by side.

        Args:
            canvas: with `axis` on its left.
            axis: of the row labels.
            stretch: height of a row as a multiple of a line of text.
        """
        super().__init__()
        self._stretch = stretch
        self.canvas, self.axis = canvas, axis
        self._count = 0
        self._range_for: Callable[[float], tuple[float, float]] = lambda _width: (0.0, 1.0)
        self._bar = QScrollBar(Qt.Orientation.Vertical)
        self._bar.setAccessibleName("Scroll the rows")
        self._bar.valueChanged.connect(self._show)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(canvas, 1)
        layout.addWidget(self._bar)
        canvas.resized.connect(self._fit)
        canvas.set_grid(vertical=True, horizontal=False)

    @property
    def x_range(self) -> tuple[float, float]:
        """The horizontal range, in axis values."""
        view = self.canvas.pixels.view
        return view.left(), view.right()

    @property
    def row_height(self) -> float:
        """Pixels a row takes at least."""
        return lettering().height * self._stretch + 6

    def set_rows(
        self, labels: tuple[RowLabel, ...], x_range: tuple[float, float] | Callable[[float], tuple[float, float]]
    ) -> bool:
        """Show rows; where labels and range stay, nothing is painted: `refresh_row` is for that.

        Args:
            labels: one per row, from top to bottom.
            x_range: horizontal range in axis values, or what gives it from the width of the plot area in pixels.

        Returns:
            Whether labels and range are what they were.
        """
        before = self.axis.labels, self.x_range
        self._count = len(labels)
        self._range_for = x_range if callable(x_range) else lambda _width: x_range
        self.axis.set_labels(labels)
        self._fit()
        return before == (self.axis.labels, self.x_range)

    def row_at(self, y_pixel: float) -> int | None:
        """Return the row under a vertical pixel of the plot area."""
        row = round(-self.canvas.pixels.value_y(y_pixel))
        return row if 0 <= row < self._count else None

    def rows_to_paint(self, pixels: Pixels) -> range:
        """Return the rows that touch what has to be painted.

        Their middle is in the plot area: vector files do not clip what sticks out.
        """
        first = max(0, math.ceil(-pixels.view.bottom()), math.ceil(-pixels.value_y(pixels.top) - 0.5))
        last = min(self._count - 1, math.floor(-pixels.view.top()), math.floor(-pixels.value_y(pixels.end) + 0.5))
        return range(first, last + 1)

    def refresh_row(self, row: int) -> None:
        """Paint one row again, and what its marks may reach of its neighbours."""
        pixels = self.canvas.pixels
        self.canvas.refresh(pixels.y(-row + 0.6), pixels.y(-row - 0.6))

    def make_visible(self, row: int) -> None:
        """Scroll so that the row can be seen."""
        first, page = self._bar.value(), self._page()
        if row < first:
            self._bar.setValue(row)
        elif row >= first + page:
            self._bar.setValue(row - page + 1)

    def scroll_rows(self, rows: int) -> bool:
        """Scroll by rows; return whether there is anything to scroll."""
        if self._bar.maximum() == 0:
            return False
        self._bar.setValue(self._bar.value() + rows)
        return True

    def key_target(self, event: QKeyEvent, current: int | None) -> int | None:
        """Return the row an arrow or page key leads to, None for other keys."""
        if not self._count:
            return None
        here = -1 if current is None else current
        moves: dict[int, int] = {
            Qt.Key.Key_Up: here - 1 if here > 0 else 0,
            Qt.Key.Key_Down: here + 1,
            Qt.Key.Key_PageUp: here - self._page(),
            Qt.Key.Key_PageDown: here + self._page(),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: self._count - 1,
        }
        target = moves.get(event.key())
        return None if target is None else min(max(target, 0), self._count - 1)

    def _page(self) -> int:
        height = self.canvas.area.height()
        return max(1, min(self._count, int(height / self.row_height)))

    def _fit(self) -> None:
        page = self._page()
        self._bar.setRange(0, max(0, self._count - page))
        self._bar.setPageStep(page)
        self._bar.setVisible(self._bar.maximum() > 0)
        self.axis.set_room(self.canvas.width())
        self._show()

    def _show(self, _value: int = 0) -> None:
        first, page = self._bar.value(), self._page()
        # Few rows do not grow into bars as high as the window: what is left stays free below them.
        page = max(page, int(self.canvas.area.height() / (self.row_height * MOST_GROWTH)))
        width = self.canvas.area.width()
        self.canvas.show_range(self._range_for(max(width, 100.0)), (-(first + page) + 0.5, -first + 0.5))
