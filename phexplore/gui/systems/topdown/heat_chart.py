"""Where does the privacy go, and what does it buy? Query groups by levels, one hue, numbers in the cells."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.gui.charts.canvas import Canvas, Pixels
from phexplore.gui.charts.colours import blended, ink_on
from phexplore.gui.charts.controls import field_label
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.systems.topdown.heat import QUANTITIES, HeatCell, HeatTable, heat_numbers, heat_table
from phexplore.gui.systems.topdown.scenario_view import TopDownShown
from phexplore.gui.systems.topdown.shares import Quantity, cell_of, tip
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.widgets.buttons import Chooser
from phexplore.model.topdown import LevelQuery
from phexplore.systems.topdown.wording import counted, query_title, short_level

TEACHING = "What every measurement costs and buys appears here as soon as a query group is measured: enter a share."
_DARKEST = 0.86
"""Of the accent in the darkest cell."""


class TopDownHeatChart(ChartFrame):
    """A heat table of query groups by levels.

    Signals:
        place_selected: the `LevelQuery` the user chose.
        place_activated: the `LevelQuery` to edit (Enter, double click).
    """

    place_selected = Signal(object)
    place_activated = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._axis = RowAxis()
        self._heat = HeatTable((), (), (), "", "")
        self._shown: TopDownShown | None = None
        self._chosen: object = None
        canvas = Canvas(left=self._axis)
        self._view = RowView(canvas, self._axis, stretch=1.0)
        super().__init__("Measurements by level and query", TEACHING, canvas, parent, page=self._view)
        self.quantity = Chooser("What the heat table shows")
        for quantity in QUANTITIES:
            self.quantity.addItem(quantity.value, quantity)
        self.quantity.currentIndexChanged.connect(self._show_again)
        self.controls.addWidget(field_label("Sho&w", self.quantity))
        self.controls.addWidget(self.quantity)
        self.controls.addStretch(1)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.set_grid(vertical=False, horizontal=False)
        canvas.bottom_axis.set_scale(self._level_at, self._level_ticks)
        canvas.add_layer(self._draw)

    @property
    def heat(self) -> HeatTable:
        """What is shown."""
        return self._heat

    def show_figures(self, shown: TopDownShown) -> None:
        """Show the measurements of a version."""
        self._shown = shown
        quantity: Quantity = self.quantity.currentData()
        before, self._heat = self._heat, heat_table(shown, quantity)
        heat = self._heat
        if not heat.queries:
            self.show_empty()
            return
        if (heat.levels, heat.queries) != (before.levels, before.queries):
            self.canvas.bottom_axis.set_scale(self._level_at, self._level_ticks)
        self.canvas.set_axis_labels(_axis(quantity, shown), "")
        self._view.set_rows(tuple(RowLabel("", query_title(query)) for query in heat.queries), (0, len(heat.levels)))
        self.show_finding(heat.title, heat.summary, partial(heat_numbers, shown))
        self._mark()

    def select_place(self, place: object) -> None:
        """Show this place as chosen elsewhere; nothing is announced."""
        if place != self._chosen:
            self._chosen = place
            self._mark()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        if (cell := self._cell_at(point)) is not None:
            self._choose(cell.key)

    def pointer_moved(self, point: QPointF) -> None:
        cell = self._cell_at(point)
        self.canvas.setCursor(Qt.CursorShape.PointingHandCursor if cell else Qt.CursorShape.ArrowCursor)
        if cell is None or self._shown is None:
            QToolTip.hideText()
        else:
            words = tip(cell_of(self._shown, cell.key), self._shown)
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), words, self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        if (cell := self._cell_at(point)) is not None:
            self.place_activated.emit(cell.key)

    def wheel_turned(self, steps: int) -> bool:
        return self._view.scroll_rows(steps)

    def key_used(self, event: QKeyEvent) -> bool:
        heat = self._heat
        if event.type() is QKeyEvent.Type.KeyRelease or not heat.queries:
            return False
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and isinstance(self._chosen, LevelQuery):
            self.place_activated.emit(self._chosen)
            return True
        row, column = self._place() or (0, 0)
        moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() in moves:
            column += moves[Qt.Key(event.key())]
        elif (target := self._view.key_target(event, row if self._place() else None)) is not None:
            row = target
        else:
            return False
        column = min(max(column, 0), len(heat.levels) - 1)
        self._view.make_visible(row)
        self._choose(LevelQuery(heat.levels[column], heat.queries[row]))
        return True

    def _choose(self, key: LevelQuery) -> None:
        if key != self._chosen:
            self._chosen = key
            self._mark()
            self.place_selected.emit(key)

    def _show_again(self) -> None:
        if self._shown is not None:
            self.show_figures(self._shown)

    def _mark(self) -> None:
        place = self._place()
        self._axis.chosen = place[0] if place is not None else None
        self._axis.update()
        self.canvas.refresh()

    def _place(self) -> tuple[int, int] | None:
        key, heat = self._chosen, self._heat
        if not isinstance(key, LevelQuery) or key.level not in heat.levels or key.query not in heat.queries:
            return None
        return heat.queries.index(key.query), heat.levels.index(key.level)

    def _cell_at(self, point: QPointF) -> HeatCell | None:
        row = self._view.row_at(point.y())
        column = int(self.canvas.pixels.value_x(point.x()))
        if row is None or not 0 <= column < len(self._heat.levels):
            return None
        return self._heat.cells[row][column]

    def _level_ticks(self, _low: float, _high: float) -> list[float]:
        return [column + 0.5 for column in range(len(self._heat.levels))]

    def _level_at(self, value: float) -> str:
        column = int(value)
        if not 0 <= column < len(self._heat.levels):
            return ""
        return lettering().elided(short_level(self._heat.levels[column]), self.canvas.pixels.per_x - 4)

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        for row in self._view.rows_to_paint(pixels):
            for column, cell in enumerate(self._heat.cells[row]):
                area = QRectF(
                    pixels.x(column), pixels.y(-row + 0.5), pixels.per_x, pixels.y(-row - 0.5) - pixels.y(-row + 0.5)
                ).adjusted(1, 1, -1, -1)
                self._draw_cell(painter, area, cell, colours)
        place = self._place()
        if place is not None:
            row, column = place
            area = QRectF(pixels.x(column), pixels.y(-row + 0.5), pixels.per_x, pixels.per_y)
            painter.setPen(QPen(QColor(colours.text), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(area.adjusted(1, 1, -1, -1))

    @staticmethod
    def _draw_cell(painter: QPainter, area: QRectF, cell: HeatCell | None, colours: Colours) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        if cell is None:
            painter.setPen(QPen(QColor(colours.grid), 1))
            painter.drawLine(area.bottomLeft(), area.topRight())
            return
        fill = blended(colours.accent_ink, colours.base, 0.03 + _DARKEST * cell.strength)
        painter.setBrush(QColor(fill))
        painter.drawRect(area)
        if lettering(bold=cell.is_changed).width(cell.text) + 4 < area.width():
            draw_text(painter, area.center(), cell.text, ink_on(fill), align=0.5, bold=cell.is_changed)


def _axis(quantity: Quantity, shown: TopDownShown) -> str:
    if quantity is Quantity.OF_TOTAL:
        return f"share of the whole {shown.method.framework.symbol}, percent"
    word = counted(shown.method.schema)
    return f"σ of one answer, {word}" if quantity is Quantity.SIGMA else f"margin of one answer, {word}"
