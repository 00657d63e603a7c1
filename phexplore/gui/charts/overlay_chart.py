"""Draws several scenarios over each other: a row per query, a mark per scenario, one logarithmic scale for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.scales import log_people, log_range
from phexplore.figures.wording import people
from phexplore.gui.charts.canvas import Canvas, log_axis
from phexplore.gui.charts.colours import categories_on
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.overlay_rows import OverlayContent, OverlayRow
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP, HALF, MARGIN

_SIZE = 4.6
"""Half the width of a mark, in pixels."""
_MOST_KEY = 30
"""Letters of a name in the key; the whole name is in the table."""

Shape = Callable[[QPointF, float], QPolygonF]


def _polygon(*corners: tuple[float, float]) -> Shape:
    def shape(at: QPointF, size: float) -> QPolygonF:
        return QPolygonF([QPointF(at.x() + x * size, at.y() + y * size) for x, y in corners])

    return shape


_SHAPES: tuple[Shape | None, ...] = (
    None,  # a disc
    _polygon((-1, -1), (1, -1), (1, 1), (-1, 1)),
    _polygon((0, -1.3), (1.2, 0.9), (-1.2, 0.9)),
    _polygon((0, -1.4), (1.2, 0), (0, 1.4), (-1.2, 0)),
    _polygon((0, 1.3), (1.2, -0.9), (-1.2, -0.9)),
    _polygon((-0.5, -1.3), (0.5, -1.3), (0.5, 1.3), (-0.5, 1.3)),
    _polygon((-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5)),
)
"""A shape per series, so that colour is never the only sign."""


def paint_series(painter: QPainter, at: QPointF, number: int, colours: Colours, size: float = _SIZE) -> None:
    """Paint the mark of a series."""
    inks = categories_on(colours)
    painter.setPen(QPen(QColor(colours.base), 1))
    painter.setBrush(QColor(inks[number % len(inks)]))
    shape = _SHAPES[number % len(_SHAPES)]
    if shape is None:
        painter.drawEllipse(at, size, size)
    else:
        painter.drawPolygon(shape(at, size))


class SeriesKey(QWidget):
    """The names of the series with their marks, in as many lines as they need."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        appearance().changed.connect(self._follow_theme)

    def show_series(self, names: Sequence[str]) -> None:
        """Show these names."""
        self._names = tuple(name if len(name) <= _MOST_KEY else name[: _MOST_KEY - 1] + "…" for name in names)
        self.setAccessibleName("Key: " + ", ".join(names))
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        places = self._places(width)
        return round((places[-1].y() if places else 0) + self._line() / 2) + 2

    def sizeHint(self) -> QSize:
        return QSize(320, self.heightForWidth(max(self.width(), 320)))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, round(self._line()))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, colours = QPainter(self), appearance().colours
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, (name, at) in enumerate(zip(self._names, self._places(self.width()), strict=True)):
            paint_series(painter, at, number, colours)
            room = max(self.width() - at.x() - 2 * GAP, 0.0)
            draw_text(painter, at + QPointF(GAP + HALF, 0), lettering().elided(name, room), colours.text)
        painter.end()

    def _line(self) -> float:
        return lettering().height + HALF

    def _places(self, width: int) -> list[QPointF]:
        found, x, y = [], float(GAP), self._line() / 2
        for name in self._names:
            needed = lettering().width(name) + 2 * GAP + MARGIN
            if x > GAP and x + needed > width:
                x, y = float(GAP), y + self._line()
            found.append(QPointF(x, y))
            x += needed
        return found

    def _follow_theme(self, _colours: object) -> None:
        self.updateGeometry()
        self.update()


class OverlayChart(ChartFrame):
    """Margins of several scenarios on one scale.

    Signals:
        key_selected: the key of the row the user chose.
    """

    key_selected = Signal(object)

    def __init__(self, name: str, teaching: str, parent: QWidget | None = None) -> None:
        self._axis = RowAxis()
        self._content: OverlayContent | None = None
        self._chosen: str | None = None
        canvas = Canvas(left=self._axis)
        self._view = RowView(canvas, self._axis)
        super().__init__(name, teaching, canvas, parent, page=self._view)
        self._key = SeriesKey(self)
        self._key.hide()
        self.controls.addWidget(self._key, 1)
        log_axis(canvas.bottom_axis, people)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.add_layer(self._draw)
        self.table_row_chosen.connect(self._choose_row)

    @property
    def rows(self) -> tuple[OverlayRow, ...]:
        """What is shown."""
        return self._content.rows if self._content is not None else ()

    def show_content(self, content: OverlayContent) -> None:
        """Show other rows."""
        self._content = content
        self._key.setVisible(bool(content.rows))
        if not content.rows:
            self.show_empty(content.summary)
            return
        self._key.show_series(content.series)
        self.canvas.set_axis_labels(content.axis, "")
        values = [value for row in content.rows for value in row.values if value is not None]
        self._view.set_rows(tuple(RowLabel(row.group, row.name) for row in content.rows), log_range(values))
        self.show_finding(content.title, content.summary, lambda: content.numbers)
        self._mark()

    def select_key(self, key: object) -> None:
        """Show this row as chosen elsewhere; nothing is announced."""
        if key != self._chosen:
            self._chosen = key if isinstance(key, str) else None
            self._mark()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        row = self._view.row_at(point.y())
        if row is not None:
            self._choose_row(row)

    def pointer_moved(self, point: QPointF) -> None:
        row = self._view.row_at(point.y())
        if row is None or not self.rows[row].tip:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), self.rows[row].tip, self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        """A row leads nowhere else."""

    def wheel_turned(self, steps: int) -> bool:
        return self._view.scroll_rows(steps)

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease or not self.rows:
            return False
        target = self._view.key_target(event, self._row())
        if target is None:
            return False
        self._view.make_visible(target)
        self._choose_row(target)
        return True

    def _choose_row(self, row: int) -> None:
        if row < len(self.rows) and self.rows[row].key != self._chosen:
            self._chosen = self.rows[row].key
            self._mark()
            self.key_selected.emit(self._chosen)

    def _row(self) -> int | None:
        keys = [row.key for row in self.rows]
        return keys.index(self._chosen) if self._chosen in keys else None

    def _mark(self) -> None:
        self._axis.chosen = self._row()
        self._axis.update()
        self.canvas.refresh()

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        content = self._content
        if content is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number in self._view.rows_to_paint(pixels):
            self._draw_row(painter, pixels, content.rows[number], pixels.y(-number), colours)

    def _draw_row(self, painter: QPainter, pixels: Pixels, row: OverlayRow, y: float, colours: Colours) -> None:
        if row.key == self._chosen:
            band = QColor(colours.accent_soft)
            height = lettering().height
            painter.fillRect(QRectF(pixels.area.left(), y - height / 2, pixels.area.width(), height), band)
        places = [(n, pixels.x(log_people(value))) for n, value in enumerate(row.values) if value is not None]
        if len(places) > 1:
            painter.setPen(QPen(QColor(colours.ghost), 1.5, Qt.PenStyle.SolidLine))
            ends = [x for _, x in places]
            painter.drawLine(QPointF(min(ends), y), QPointF(max(ends), y))
        # The first one last: what the others are compared with stays in sight.
        for number, x in reversed(places):
            paint_series(painter, QPointF(x, y), number, colours)
