"""Do the margins hold? Observed against expected margins of a run, with Monte-Carlo intervals."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QComboBox, QStackedWidget, QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.scales import log_people, log_range, spread
from phexplore.figures.table import signed_tick
from phexplore.figures.wording import people
from phexplore.gui.charts.canvas import Canvas, log_axis
from phexplore.gui.charts.colours import ghost_on
from phexplore.gui.charts.controls import field_label
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.observed import (
    ObservedMargin,
    observed_numbers,
    observed_summary,
    observed_title,
    percent_range,
    signed_percent,
)
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.model.keys import QueryKey

DOT = 4.5
TEACHING = (
    "Observed margins of a simulated run appear here beside the expected ones. Start a run on the page Runs; "
    "the intervals shrink with every finished trial."
)


class ObservedKind(enum.Enum):
    """How margins are compared. The value is the word in the chooser."""

    DIFFERENCE = "Difference by table and level"
    DIAGONAL = "Observed against expected"


class ObservedMarginChart(ChartFrame):
    """Observed margins with error bars, as difference to the forecast in rows, or against it with the 1:1 line.

    Signals:
        query_selected: the `QueryKey` the user chose.
    """

    query_selected = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._margins: tuple[ObservedMargin, ...] = ()
        self._chosen: QueryKey | None = None
        self._axis = RowAxis()
        self._row_canvas = Canvas(left=self._axis)
        self._view = RowView(self._row_canvas, self._axis)
        self._plane_canvas = Canvas()
        self._pages = QStackedWidget()
        self._pages.addWidget(self._view)
        self._pages.addWidget(self._plane_canvas)
        super().__init__("Observed margins", TEACHING, self._row_canvas, parent, page=self._pages)
        self._plane_canvas.setAccessibleName("Observed margins, against expected")
        self._kind = QComboBox(self)
        self._kind.setAccessibleName("Kind of picture")
        for kind in ObservedKind:
            self._kind.addItem(kind.value, kind)
        self._kind.currentIndexChanged.connect(self._redraw)
        self.controls.addWidget(field_label("&Show as", self._kind))
        self.controls.addWidget(self._kind)
        self.controls.addStretch(1)
        self._row_canvas.set_axis_labels("observed margin compared with the expected one, percent", "")
        self._row_canvas.bottom_axis.set_scale(lambda value: f"{signed_tick(value)} %" if value else "as expected")
        log_axis(self._plane_canvas.bottom_axis, people)
        log_axis(self._plane_canvas.left_axis, people)
        self._plane_canvas.set_axis_labels("expected margin, people", "observed margin, people")
        self._row_canvas.add_layer(self._draw_backgrounds, below=True)
        self._row_canvas.add_layer(self._draw_rows)
        self._plane_canvas.add_layer(self._draw_plane)
        for canvas in (self._row_canvas, self._plane_canvas):
            canvas.setMouseTracking(True)
            canvas.set_handler(self)
        self.table_row_chosen.connect(self._choose_row)

    @property
    def margins(self) -> tuple[ObservedMargin, ...]:
        """What is shown, from top to bottom."""
        return self._margins

    def choose_kind(self, kind: ObservedKind) -> None:
        """Compare margins this way."""
        self._kind.setCurrentIndex(self._kind.findData(kind))

    def show_margins(self, margins: Sequence[ObservedMargin], confidence: Fraction, trials: int) -> None:
        """Show observed margins; none shows the empty state.

        Args:
            margins: one per published table and level, in the order of Table 10.
            confidence: of the margins.
            trials: how many the observed ones come from.
        """
        self._margins = tuple(margins)
        self._redraw()
        if self._margins:
            self.show_finding(
                observed_title(self._margins),
                observed_summary(self._margins, confidence, trials),
                partial(observed_numbers, self._margins),
            )
        else:
            self.show_empty()

    def select_query(self, query: QueryKey | None) -> None:
        """Show this query as chosen elsewhere."""
        if query != self._chosen:
            self._chosen = query
            self._mark_chosen()

    def recolour(self, colours: Colours) -> None:
        for canvas in (self._row_canvas, self._plane_canvas):
            canvas.recolour(colours)
        self._axis.fit()

    def table_filled(self) -> None:
        self.choose_table_row(self._row_of(self._chosen))

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        if (row := self._row_at(point)) is not None:
            self._choose_row(row)

    def pointer_moved(self, point: QPointF) -> None:
        if (row := self._row_at(point)) is None:
            QToolTip.hideText()
            return
        each = self._margins[row]
        text = (
            f"{each.query.title}\nobserved {people(each.observed.value)} people "
            f"({people(each.observed.low)}–{people(each.observed.high)})\nexpected {people(each.expected)}\n"
            f"{each.errors:,} errors"
        )
        QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), text, self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        QToolTip.hideText()

    def pointer_double_clicked(self, point: QPointF) -> None:
        self.pointer_pressed(point)

    def wheel_turned(self, steps: int) -> bool:
        return self.canvas is self._row_canvas and self._view.scroll_rows(steps)

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease:
            return False
        target = self._view.key_target(event, self._row_of(self._chosen))
        if target is not None:
            self._choose_row(target)
        return target is not None

    def _row_at(self, point: QPointF) -> int | None:
        if self.canvas is self._row_canvas:
            return self._view.row_at(point.y())
        pixels = self._plane_canvas.pixels
        near = [
            (abs(pixels.x(log_people(each.expected)) - point.x()) + abs(_y(pixels, each) - point.y()), row)
            for row, each in enumerate(self._margins)
        ]
        distance, row = min(near, default=(99.0, 0))
        return row if distance < 4 * DOT else None

    def _choose_row(self, row: int) -> None:
        if not 0 <= row < len(self._margins) or self._margins[row].query == self._chosen:
            return
        self._chosen = self._margins[row].query
        self._mark_chosen()
        self.query_selected.emit(self._chosen)

    def _mark_chosen(self) -> None:
        self._axis.chosen = self._row_of(self._chosen)
        self._axis.update()
        if self._axis.chosen is not None:
            self._view.make_visible(self._axis.chosen)
        self.table_filled()
        self.canvas.refresh()

    def _row_of(self, query: QueryKey | None) -> int | None:
        for row, each in enumerate(self._margins):
            if each.query == query:
                return row
        return None

    # Painting

    def _redraw(self) -> None:
        rows = self._kind.currentData() is ObservedKind.DIFFERENCE
        self.canvas = self._row_canvas if rows else self._plane_canvas
        self._pages.setCurrentWidget(self._view if rows else self._plane_canvas)
        if not self._margins:
            return
        reach = percent_range(self._margins)
        labels = tuple(RowLabel(each.query.table, each.query.level.title) for each in self._margins)
        self._view.set_rows(labels, (-reach, reach))
        values = [each.expected for each in self._margins]
        values += [value for each in self._margins for value in (each.observed.low, each.observed.high)]
        ends = log_range([value for value in values if value >= 0.5])
        self._plane_canvas.show_range(ends, ends)
        self.canvas.refresh()

    def _draw_backgrounds(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        tables = list(dict.fromkeys(each.query.table for each in self._margins))
        for row in self._view.rows_to_paint(pixels):
            each = self._margins[row]
            fill = colours.alternate if tables.index(each.query.table) % 2 else colours.base
            if each.query == self._chosen:
                fill = colours.accent_soft
            top, bottom = pixels.y(-row + 0.5), pixels.y(-row - 0.5)
            painter.fillRect(QRectF(pixels.area.left(), top, pixels.area.width(), bottom - top), QColor(fill))

    def _draw_rows(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        zero = pixels.x(0)
        painter.setPen(QPen(QColor(colours.text), 1.6))
        painter.drawLine(QPointF(zero, pixels.area.top()), QPointF(zero, pixels.area.bottom()))
        left, right = pixels.area.left() + DOT, pixels.area.right() - DOT
        for row in self._view.rows_to_paint(pixels):
            each, y = self._margins[row], pixels.y(-row)

            def at(value: float, each: ObservedMargin = each) -> float:
                off = each.percent_off(value)
                return min(max(pixels.x(min(max(off, -1e6), 1e6)), left), right)

            if each.compared is not None:
                painter.setPen(QPen(QColor(ghost_on(colours)), 1.4))
                painter.setBrush(QColor(colours.base))
                painter.drawEllipse(QPointF(at(each.compared), y), DOT, DOT)
            ink = QColor(colours.accent_ink if each.agrees else colours.attention)
            painter.setPen(QPen(ink, 2))
            painter.drawLine(QPointF(at(each.observed.low), y), QPointF(at(each.observed.high), y))
            _draw_mark(painter, QPointF(at(each.observed.value), y), ink, agrees=each.agrees)
            if not each.agrees:
                text = f"{people(each.observed.value)} against {people(each.expected)}"
                place = at(each.observed.high) + 2 * DOT
                if place + lettering().width(text) > right:
                    place = at(each.observed.low) - 2 * DOT - lettering().width(text)
                draw_text(painter, QPointF(place, y), text, colours.attention)

    def _draw_plane(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        if not self._margins:
            return
        painter.setPen(QPen(QColor(colours.muted), 1.4, Qt.PenStyle.DashLine))
        low, high = pixels.view.left(), pixels.view.right()
        painter.drawLine(QPointF(pixels.x(low), pixels.y(low)), QPointF(pixels.x(high), pixels.y(high)))
        middle = low + 0.62 * (high - low)
        below = QPointF(pixels.x(middle) + 14, pixels.y(middle) + lettering().height)
        draw_text(painter, below, "as expected (1 : 1)", colours.muted)
        for each in self._margins:
            x, ink = (
                pixels.x(log_people(each.expected)),
                QColor(colours.accent_ink if each.agrees else colours.attention),
            )
            painter.setPen(QPen(ink, 1.8))
            ends = [pixels.y(log_people(value)) for value in (each.observed.low, each.observed.high)]
            painter.drawLine(QPointF(x, ends[0]), QPointF(x, ends[1]))
            _draw_mark(painter, QPointF(x, _y(pixels, each)), ink, agrees=each.agrees)
        self._name_marks(painter, pixels, colours)

    def _name_marks(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        """Write beside the marks that do not agree, and the chosen one, what they are."""
        named = [each for each in self._margins if not each.agrees or each.query == self._chosen]
        gap = lettering().height
        places = spread([_y(pixels, each) for each in named], gap, pixels.area.top() + gap, pixels.area.bottom() - gap)
        for each, place in zip(named, places, strict=True):
            x = pixels.x(log_people(each.expected)) + 2.5 * DOT
            text = f"{each.query.title} {signed_percent(each.percent_off(each.observed.value))}"
            width = lettering(bold=True).width(text)
            left = x if x + width < pixels.area.right() else x - 5 * DOT - width
            draw_text(painter, QPointF(left, place), text, colours.text, bold=each.query == self._chosen)


def _y(pixels: Pixels, each: ObservedMargin) -> float:
    return pixels.y(log_people(each.observed.value))


def _draw_mark(painter: QPainter, centre: QPointF, ink: QColor, *, agrees: bool) -> None:
    """Paint a dot, or a diamond where the interval misses the forecast."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    if agrees:
        painter.drawEllipse(centre, DOT, DOT)
        return
    radius = DOT + 1.5
    corners = (QPointF(0, -radius), QPointF(radius, 0), QPointF(0, radius), QPointF(-radius, 0))
    painter.drawPolygon(QPolygonF([centre + corner for corner in corners]))
