"""An automatic search as a picture: the share of areas that met the criterion, setting by setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.table import Table
from phexplore.gui.charts.canvas import Canvas, Pixels
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text
from phexplore.gui.theme.metrics import GAP

TEACHING = (
    "Every simulated setting appears here with the share of areas that meet the criterion. Choose block data and a starting "
    "strategy and press Start; the search can be paused and gone on with at any time."
)
_RADIUS = 4.5


@dataclass(frozen=True, slots=True)
class ProbeMark:
    """One setting.

    Attributes:
        value: share of areas, 0 to 1.
        meets: whether that is enough.
        words: all about it.
    """

    value: float
    meets: bool
    words: str


class ProbeChart(ChartFrame):
    """Dots by setting with the line of the criterion; filled where it is met, hollow where it is missed.

    Signals:
        mark_chosen: number of the setting the user looks at (int).
    """

    mark_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._marks: tuple[ProbeMark, ...] = ()
        self._limit = 0.95
        self._chosen: int | None = None
        canvas = Canvas()
        super().__init__("Search", TEACHING, canvas, parent)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.bottom_axis.set_scale(lambda value: f"{value:g}" if value == round(value) else "")
        canvas.left_axis.set_scale(lambda value: f"{value:g}")
        canvas.set_axis_labels("simulated setting", "areas that meet the criterion, percent")
        canvas.add_layer(self._draw)
        self.table_row_chosen.connect(self._choose)

    @property
    def marks(self) -> tuple[ProbeMark, ...]:
        """The settings in order."""
        return self._marks

    def show_marks(self, marks: Sequence[ProbeMark], limit: float, numbers: Table) -> None:
        """Show a search so far.

        Args:
            marks: settings in order.
            limit: of the criterion, 0 to 1.
            numbers: the table twin.
        """
        self._marks, self._limit = tuple(marks), limit
        if self._chosen is not None and self._chosen >= len(marks):
            self._chosen = None
        if not marks:
            self.show_empty()
            return
        lowest = min(limit, *(mark.value for mark in marks)) * 100
        self.canvas.show_range((0.3, max(len(marks), 10) + 0.7), (max(0.0, lowest - 8), 104.0))
        met = sum(mark.meets for mark in marks)
        title = f"{len(marks)} settings simulated, {met} meet the criterion"
        summary = f"The line is the criterion ({limit:.1%}). Filled dots meet it, hollow ones miss it."
        self.show_finding(title, summary, partial(_same, numbers))
        self.canvas.refresh()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        if (number := self._at(point)) is not None:
            self._choose(number)

    def pointer_moved(self, point: QPointF) -> None:
        number = self._at(point)
        if number is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), self._marks[number].words, self.canvas)

    def pointer_released(self, _point: QPointF) -> None:
        """Nothing is dragged."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, _point: QPointF) -> None:
        """Nothing is behind a dot."""

    def wheel_turned(self, _steps: int) -> bool:
        return False

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease or not self._marks:
            return False
        last, here = len(self._marks) - 1, self._chosen
        moves: dict[int, int] = {
            Qt.Key.Key_Right: 0 if here is None else here + 1,
            Qt.Key.Key_Left: last if here is None else here - 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if (target := moves.get(event.key())) is None:
            return False
        self._choose(min(max(target, 0), last))
        return True

    def _choose(self, number: int) -> None:
        if 0 <= number < len(self._marks) and number != self._chosen:
            self._chosen = number
            self.choose_table_row(number)
            self.canvas.setAccessibleDescription(self._marks[number].words)
            self.canvas.refresh()
            self.mark_chosen.emit(number)

    def _at(self, point: QPointF) -> int | None:
        number = round(self.canvas.pixels.value_x(point.x())) - 1
        return number if 0 <= number < len(self._marks) else None

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        y = pixels.y(self._limit * 100)
        painter.setPen(QPen(QColor(colours.muted), 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(pixels.area.left(), y), QPointF(pixels.area.right(), y))
        draw_text(painter, QPointF(pixels.area.right() - GAP, y - 9), "criterion", colours.muted, align=1)
        for number, mark in enumerate(self._marks):
            place = QPointF(pixels.x(number + 1), pixels.y(mark.value * 100))
            if number == self._chosen:
                painter.fillRect(QRectF(place.x() - 6, pixels.area.top(), 12, pixels.area.height()),
                                 QColor(colours.accent_soft))  # fmt: skip
            ink = QColor(colours.good if mark.meets else colours.attention)
            painter.setPen(QPen(ink, 1.8))
            painter.setBrush(ink if mark.meets else QColor(colours.base))
            painter.drawEllipse(place, _RADIUS, _RADIUS)


def _same(numbers: Table) -> Table:
    return numbers
