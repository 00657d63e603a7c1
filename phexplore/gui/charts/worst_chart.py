"""Which numbers came out worst, and why: the worst first, truncation and noise as two bars."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.table import grouped
from phexplore.gui.charts.canvas import Canvas
from phexplore.gui.charts.colours import blended
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.charts.truncation_chart import draw_bias_bar
from phexplore.gui.charts.twin import NumbersTable
from phexplore.gui.charts.worst import WorstNumber, worst_numbers, worst_summary, worst_title
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP

TEACHING = (
    "The published numbers with the largest errors appear here, the worst first, each with its reason. "
    "Start a run on the page Runs."
)


class WorstNumbersChart(ChartFrame):
    """Rows of the worst numbers; opens as a table, because names matter most here.

    Signals:
        number_chosen: the `WorstNumber` the user moved to.
        number_activated: the `WorstNumber` to look into (Enter, double click).
    """

    number_chosen = Signal(object)
    number_activated = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._numbers: tuple[WorstNumber, ...] = ()
        self._chosen: int | None = None
        self._axis = RowAxis()
        canvas = Canvas(left=self._axis)
        self._view = RowView(canvas, self._axis, stretch=1.7)
        super().__init__("Worst numbers", TEACHING, canvas, parent, page=self._view)
        canvas.bottom_axis.set_scale(lambda value: grouped(round(value)))
        canvas.set_axis_labels("people: truncation bias (hatched) and mean noise", "")
        canvas.add_layer(self._draw_background, below=True)
        canvas.add_layer(self._draw)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        self.table_row_chosen.connect(self._choose)
        self.show_table(visible=True)

    @property
    def listed(self) -> tuple[WorstNumber, ...]:
        """What is shown, the worst first."""
        return self._numbers

    def show_worst(self, numbers: Sequence[WorstNumber], trials: int) -> None:
        """Show numbers, the worst first; none shows the empty state."""
        self._numbers = tuple(numbers)
        if not self._numbers:
            self._chosen = None
            self.show_empty()
            return
        if self._chosen is not None and self._chosen >= len(self._numbers):
            self._chosen = None
        labels = tuple(RowLabel(each.query.table, each.label) for each in self._numbers)
        largest = max(max(abs(each.bias), each.mean_noise) for each in self._numbers)
        self._view.set_rows(labels, partial(_with_room, largest))
        self.show_finding(
            worst_title(self._numbers),
            worst_summary(self._numbers, trials),
            partial(worst_numbers, self._numbers),
        )
        self.canvas.refresh()

    def table_made(self, table: NumbersTable) -> None:
        table.activated.connect(self._activate_index)

    def table_filled(self) -> None:
        self.choose_table_row(self._chosen)

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        if (row := self._view.row_at(point.y())) is not None:
            self._choose(row)

    def pointer_moved(self, point: QPointF) -> None:
        if (row := self._view.row_at(point.y())) is None:
            QToolTip.hideText()
            return
        each = self._numbers[row]
        text = f"{each.query.title}\n{each.label}\n{each.explanation}"
        QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), text, self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        QToolTip.hideText()

    def pointer_double_clicked(self, point: QPointF) -> None:
        if (row := self._view.row_at(point.y())) is not None:
            self._activate(row)

    def wheel_turned(self, steps: int) -> bool:
        return self._view.scroll_rows(steps)

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease:
            return False
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self._chosen is not None:
            self._activate(self._chosen)
            return True
        if (target := self._view.key_target(event, self._chosen)) is None:
            return False
        self._choose(target)
        return True

    def _choose(self, row: int) -> None:
        if not 0 <= row < len(self._numbers) or row == self._chosen:
            return
        self._chosen = self._axis.chosen = row
        self._axis.update()
        self._view.make_visible(row)
        self.table_filled()
        self.canvas.refresh()
        self.number_chosen.emit(self._numbers[row])

    def _activate_index(self, index: QModelIndex) -> None:
        self._activate(index.row())

    def _activate(self, row: int) -> None:
        if row < len(self._numbers):
            self.number_activated.emit(self._numbers[row])

    # Painting

    def _draw_background(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        if self._chosen is not None:
            top, bottom = pixels.y(-self._chosen + 0.5), pixels.y(-self._chosen - 0.5)
            area = QRectF(pixels.area.left(), top, pixels.area.width(), bottom - top)
            painter.fillRect(area, QColor(colours.accent_soft))

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        left = pixels.x(0)
        for row in self._view.rows_to_paint(pixels):
            each = self._numbers[row]
            top, middle, bottom = pixels.y(-row + 0.38), pixels.y(-row), pixels.y(-row - 0.38)
            cut, noise = pixels.x(abs(each.bias)), pixels.x(each.mean_noise)
            draw_bias_bar(painter, QRectF(QPointF(left, top), QPointF(cut, middle)), colours)
            painter.setBrush(QColor(blended(colours.accent_ink, colours.base, 0.55)))
            painter.drawRect(QRectF(QPointF(left, middle + 1), QPointF(noise, bottom)))
            draw_text(painter, QPointF(max(cut, noise) + GAP, middle), each.reason.value, colours.text)


def _with_room(largest: float, width: float) -> tuple[float, float]:
    words = min(lettering().width("unusually large noise") + 3 * GAP, 0.6 * width)
    return 0.0, max(largest, 1) * width / (width - words)
