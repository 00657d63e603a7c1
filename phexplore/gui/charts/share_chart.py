"""Where does the privacy go? One stacked bar per table, sorted; click a segment to edit it."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.scales import nice_at_least
from phexplore.figures.wording import budget_text, percent
from phexplore.gui.charts.canvas import Canvas
from phexplore.gui.charts.colours import ink_on, level_code, level_mark
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.level_key import LevelKey, paint_mark
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.charts.share_bars import (
    Bar,
    Segment,
    headline_budget,
    no_shares_reason,
    segment_explanation,
    share_bars,
    share_numbers,
    share_summary,
    share_title,
)
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP
from phexplore.model.conventions import Neighbours
from phexplore.model.keys import QueryKey
from phexplore.systems.phsafe.forecast import Forecast

BAR_PART = 0.68
"""Height of a bar as a part of its row."""
_FINENESS = 4
"""Ends of segments are compared to a quarter of a pixel."""
SEPARATION = 1.0
"""Pixels of background between segments."""

TEACHING = "Where the privacy loss goes appears here as soon as a level has a budget above 0: enter one in the table."


class PrivacyShareChart(ChartFrame):
    """Horizontal stacked bars of the shares of the privacy loss, by table and level.

    Signals:
        query_selected: the `QueryKey` of the segment the user chose.
        query_activated: the `QueryKey` to edit (Enter, double click).
        query_hovered: the `QueryKey` under the pointer, or None.
    """

    query_selected = Signal(object)
    query_activated = Signal(object)
    query_hovered = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._axis = RowAxis()
        self._bars: tuple[Bar, ...] = ()
        self._numbers_at_bars: tuple[str, ...] = ()
        self._painted: tuple[object, ...] = ()
        self._symbol = "ρ"
        self._neighbours = Neighbours.BOUNDED
        self._chosen: QueryKey | None = None
        self._hovered: QueryKey | None = None
        canvas = Canvas(left=self._axis)
        self._view = RowView(canvas, self._axis, stretch=1.35)
        super().__init__("Privacy loss by table", TEACHING, canvas, parent, page=self._view)
        self._key = LevelKey(self)
        self.controls.addWidget(self._key, 1)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.bottom_axis.set_scale(lambda value: f"{value:g} %")
        canvas.set_axis_labels("share of the scenario's privacy loss, percent", "")
        canvas.add_layer(self._draw_bars)
        self.table_row_chosen.connect(self._choose_table_row)

    @property
    def bars(self) -> tuple[Bar, ...]:
        """The bars from top to bottom."""
        return self._bars

    def show_forecast(self, figures: Forecast) -> None:
        """Show the shares of a forecast."""
        self._bars = share_bars(figures)
        self._symbol = figures.privacy.framework.symbol
        self._neighbours = figures.conventions.neighbours
        self._key.setVisible(bool(self._bars))
        if not self._bars:
            self.show_empty(no_shares_reason(figures))
            return
        self._numbers_at_bars = tuple(map(self._number, self._bars))
        labels = tuple(RowLabel(bar.table, "") for bar in self._bars)
        unmoved = self._view.set_rows(labels, self._range)
        self._refresh_changed(all_of_them=not unmoved)
        self.show_finding(
            share_title(self._bars),
            share_summary(self._bars, figures),
            partial(share_numbers, self._bars, figures),
        )
        self._axis.chosen = self._chosen_row()

    def select_query(self, query: QueryKey | None) -> None:
        """Show this query as chosen elsewhere; nothing is announced."""
        if query != self._chosen:
            self._chosen = query
            self._mark_chosen()
            if (place := self._place_of(query)) is not None:
                self._view.make_visible(place[0])

    def table_filled(self) -> None:
        queries = [segment.query for bar in self._bars for segment in bar.segments]
        self.choose_table_row(queries.index(self._chosen) if self._chosen in queries else None)

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        if (found := self._segment_at(point)) is not None:
            self._choose(found[1].query)

    def pointer_moved(self, point: QPointF) -> None:
        found = self._segment_at(point)
        query = found[1].query if found else None
        if query != self._hovered:
            self._hovered = query
            self.canvas.refresh()
            self.query_hovered.emit(query)
        self.canvas.setCursor(Qt.CursorShape.PointingHandCursor if found else Qt.CursorShape.ArrowCursor)
        if found is None:
            QToolTip.hideText()
            return
        text = segment_explanation(*found, self._symbol)
        QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), text, self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        """Nothing is dragged here."""

    def pointer_left(self) -> None:
        if self._hovered is not None:
            self._hovered = None
            self.canvas.refresh()
            self.query_hovered.emit(None)

    def pointer_double_clicked(self, point: QPointF) -> None:
        if (found := self._segment_at(point)) is not None:
            self.query_activated.emit(found[1].query)

    def wheel_turned(self, steps: int) -> bool:
        return self._view.scroll_rows(steps)

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease or not self._bars:
            return False
        place = self._place_of(self._chosen)
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and place is not None:
            self.query_activated.emit(self._chosen)
            return True
        row, column = place or (0, 0)
        if event.key() in {Qt.Key.Key_Left, Qt.Key.Key_Right}:
            column += 1 if event.key() == Qt.Key.Key_Right else -1
            if place is None:
                column = 0
        elif (target := self._view.key_target(event, None if place is None else row)) is not None:
            row = target
        else:
            return False
        segments = self._bars[row].segments
        self._view.make_visible(row)
        self._choose(segments[min(max(column, 0), len(segments) - 1)].query)
        return True

    # Selection

    def _choose(self, query: QueryKey) -> None:
        if query == self._chosen:
            return
        self._chosen = query
        self._mark_chosen()
        self.query_selected.emit(query)

    def _choose_table_row(self, row: int) -> None:
        queries = [segment.query for bar in self._bars for segment in bar.segments]
        if row < len(queries):
            self._choose(queries[row])

    def _mark_chosen(self) -> None:
        self.table_filled()
        self._axis.chosen = self._chosen_row()
        self._axis.update()
        self.canvas.refresh()

    def _chosen_row(self) -> int | None:
        place = self._place_of(self._chosen)
        return place[0] if place else None

    def _refresh_changed(self, *, all_of_them: bool) -> None:
        """Paint the bars that look different: an edit moves every share, but few of them by a pixel or a digit."""
        pixels, before = self.canvas.pixels, self._painted
        self._painted = tuple(
            (
                self._numbers_at_bars[row],
                tuple((each.query, each.label, round(_FINENESS * pixels.x(each.last))) for each in bar.segments),
            )
            for row, bar in enumerate(self._bars)
        )
        if all_of_them or len(before) != len(self._painted):
            self.canvas.refresh()
            return
        for row, (was, now) in enumerate(zip(before, self._painted, strict=True)):
            if was != now:
                self._view.refresh_row(row)

    def _place_of(self, query: QueryKey | None) -> tuple[int, int] | None:
        for row, bar in enumerate(self._bars):
            for column, segment in enumerate(bar.segments):
                if segment.query == query:
                    return row, column
        return None

    def _segment_at(self, point: QPointF) -> tuple[Bar, Segment] | None:
        row = self._view.row_at(point.y())
        if row is None:
            return None
        pixels = self.canvas.pixels
        for segment in self._bars[row].segments:
            if self._rectangle(pixels, row, segment).contains(point):
                return self._bars[row], segment
        return None

    # Painting

    def _range(self, width: float) -> tuple[float, float]:
        """Return an axis with a round end, further out where the number at the longest bar needs it."""
        largest = self._bars[0].segments[-1].last
        text = min(lettering(bold=True).width(self._numbers_at_bars[0]) + 2 * GAP, 0.6 * width)
        step = nice_at_least(largest / 10)
        return 0.0, max(step * math.ceil(largest / step), largest * width / (width - text))

    def _number(self, bar: Bar) -> str:
        return f"{percent(bar.share)}   {self._symbol} {budget_text(headline_budget(bar.budget, self._neighbours))}"

    @staticmethod
    def _rectangle(pixels: Pixels, row: int, segment: Segment) -> QRectF:
        left, right = pixels.x(segment.first), pixels.x(segment.last)
        top, bottom = pixels.y(-row + BAR_PART / 2), pixels.y(-row - BAR_PART / 2)
        return QRectF(left, top, max(right - left, 1.0), bottom - top)

    def _draw_bars(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        for row in self._view.rows_to_paint(pixels):
            bar = self._bars[row]
            for segment in bar.segments:
                self._draw_segment(painter, self._rectangle(pixels, row, segment), segment, colours)
            place = QPointF(pixels.x(bar.segments[-1].last) + GAP, pixels.y(-row))
            draw_text(painter, place, self._numbers_at_bars[row], colours.text, bold=self._axis.chosen == row)

    def _draw_segment(self, painter: QPainter, area: QRectF, segment: Segment, colours: Colours) -> None:
        mark = level_mark(segment.query.level, colours)
        inside = area.adjusted(0, 0, -SEPARATION if area.width() > 3 * SEPARATION else 0, 0)
        paint_mark(painter, inside, mark)
        if segment.query in {self._chosen, self._hovered}:
            painter.setPen(QPen(QColor(colours.text), 2.5 if segment.query == self._chosen else 1.2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(inside.adjusted(0, -2, 0, 2))
        letters, room = lettering(), inside.width() - GAP
        if room < letters.width("St"):
            return
        code = level_code(segment.query.level)
        for text in (f"{code}  {segment.label}", code):
            width = letters.width(text)
            if width < room:
                back = QRectF(0, 0, width + GAP, letters.height)
                back.moveCenter(inside.center())
                painter.fillRect(back, QColor(mark.fill))
                draw_text(painter, inside.center(), text, ink_on(mark.fill), align=0.5)
                return
