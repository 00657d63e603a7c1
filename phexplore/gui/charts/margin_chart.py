"""How wide is every margin? One row per published query; drag a dot and the target moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.scales import log_people, nice_at_least, nice_at_most, whole_people_near
from phexplore.figures.wording import people
from phexplore.gui.charts.canvas import Canvas, log_axis
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.margin_painting import REACH, MarginPainter, margin_pixel
from phexplore.gui.charts.margin_rows import (
    MarginRow,
    margin_numbers,
    margin_rows,
    margin_summary,
    margin_title,
    row_explanation,
)
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import lettering
from phexplore.model.keys import QueryKey, TableId
from phexplore.systems.phsafe.forecast import Forecast

_LABEL_SAMPLE = "1,000"
"""A number as wide as most beside the dots: room for it is kept at the right end; wider ones go left of their dots."""
_MOST_LABEL_PART = 0.3
"""Most of the width that is kept free for it."""

TEACHING = (
    "Margins of error appear here as soon as a level is published: give it a target or a budget in the table, "
    "then drag its dot."
)


class MarginChart(ChartFrame):
    """Dot plot of the margins of all published queries on a logarithmic axis of people.

    Signals:
        query_selected: the `QueryKey` the user chose.
        query_activated: the `QueryKey` to edit (Enter, double click).
        query_hovered: the `QueryKey` under the pointer, or None.
        margin_dragged: `QueryKey` and whole people (int), for every new value while a dot moves; merge these edits.
        margin_released: `QueryKey`; the drag ended, close the merged step.
        drag_cancelled: `QueryKey`; Escape was pressed, undo the merged step.
    """

    query_selected = Signal(object)
    query_activated = Signal(object)
    query_hovered = Signal(object)
    margin_dragged = Signal(object, object)
    margin_released = Signal(object)
    drag_cancelled = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._axis = RowAxis()
        self._rows: tuple[MarginRow, ...] = ()
        self._stripes: dict[TableId, int] = {}
        self._symbol = "ρ"
        self._chosen: QueryKey | None = None
        self._hovered: int | None = None
        self._dragged: QueryKey | None = None
        self._drag_people: int | None = None
        self._drag_moved = False
        canvas = Canvas(left=self._axis)
        self._view = RowView(canvas, self._axis, self._draw_backgrounds)
        super().__init__("Margins of error", TEACHING, canvas, parent, page=self._view)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        log_axis(canvas.bottom_axis, people)
        canvas.add_layer(self._draw_rows)
        self.table_row_chosen.connect(self._choose_row)

    # What is shown

    @property
    def rows(self) -> tuple[MarginRow, ...]:
        """The rows of the picture, from top to bottom."""
        return self._rows

    def show_forecast(
        self,
        figures: Forecast,
        targets: Mapping[QueryKey, Fraction],
        baseline: Forecast | None = None,
        locked: AbstractSet[QueryKey] = frozenset(),
    ) -> None:
        """Show the margins of a forecast.

        Args:
            figures: the current forecast.
            targets: margins aimed at, in people.
            baseline: forecast of the scenario compared with; drawn as ghost dots.
            locked: queries whose dots cannot be dragged.
        """
        before, self._rows = self._rows, margin_rows(figures, targets, baseline, locked, self._rows)
        self._symbol = figures.privacy.framework.symbol
        if not self._rows:
            self._hovered = None
            self.show_empty()
            return
        percent = f"{float(figures.conventions.confidence) * 100:g} %"
        self.canvas.set_axis_labels(f"margin of error at {percent}, people (logarithmic)", "")
        self._stripes = {table: n % 2 for n, table in enumerate(dict.fromkeys(row.query.table for row in self._rows))}
        labels = tuple(RowLabel(row.query.table, row.query.level.title, row.locked) for row in self._rows)
        unmoved = self._view.set_rows(labels, self._range)
        self._refresh_changed(before if unmoved else ())
        self.show_finding(
            margin_title(self._rows),
            margin_summary(self._rows, figures.conventions),
            partial(margin_numbers, self._rows, figures.conventions, self._symbol),
        )
        self._axis.chosen = self._row_of(self._chosen)

    def select_query(self, query: QueryKey | None) -> None:
        """Show this query as chosen elsewhere; nothing is announced."""
        if query == self._chosen:
            return
        self._chosen = query
        self._mark_chosen()
        if (row := self._row_of(query)) is not None and self._dragged is None:
            self._view.make_visible(row)

    def position_of(self, query: QueryKey) -> QPointF:
        """Return where the dot of a query is, in pixels of the canvas.

        Raises:
            KeyError: it is not published.
        """
        if (index := self._row_of(query)) is None:
            raise KeyError(query)
        pixels = self.canvas.pixels
        return QPointF(margin_pixel(pixels, self._rows[index].margin), pixels.y(-index))

    def table_filled(self) -> None:
        self.choose_table_row(self._axis.chosen)

    def recolour(self, colours: Colours) -> None:
        super().recolour(colours)
        self._axis.fit()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        row = self._view.row_at(point.y())
        if row is None:
            return
        self._choose_row(row)
        entry = self._rows[row]
        if abs(margin_pixel(self.canvas.pixels, entry.margin) - point.x()) > REACH:
            return
        if entry.locked:
            self._tell(point, f"{entry.query.title} is locked. Unlock the row first.")
            return
        self._dragged, self._drag_moved, self._drag_people = entry.query, False, None
        self.canvas.setCursor(Qt.CursorShape.SizeHorCursor)

    def pointer_moved(self, point: QPointF) -> None:
        if self._dragged is not None:
            self._drag_to(point.x())
            return
        row = self._view.row_at(point.y())
        if row != self._hovered:
            for changed in (self._hovered, row):
                if changed is not None:
                    self._view.refresh_row(changed)
            self._hovered = row
            self.query_hovered.emit(None if row is None else self._rows[row].query)
        if row is None:
            QToolTip.hideText()
            self.canvas.unsetCursor()
            return
        entry = self._rows[row]
        near = abs(margin_pixel(self.canvas.pixels, entry.margin) - point.x()) <= REACH
        self.canvas.setCursor(Qt.CursorShape.SizeHorCursor if near and not entry.locked else Qt.CursorShape.ArrowCursor)
        self._tell(point, row_explanation(entry, self._symbol))

    def pointer_released(self, _point: QPointF) -> None:
        self._end_drag(cancelled=False)

    def pointer_left(self) -> None:
        if self._hovered is not None:
            self._hovered = None
            self._refresh()
            self.query_hovered.emit(None)

    def pointer_double_clicked(self, point: QPointF) -> None:
        if (row := self._view.row_at(point.y())) is not None:
            self.query_activated.emit(self._rows[row].query)

    def wheel_turned(self, steps: int) -> bool:
        return self._view.scroll_rows(steps)

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease:
            return self._key_up(event)
        if event.key() == Qt.Key.Key_Escape and self._dragged is not None:
            self._end_drag(cancelled=True)
            return True
        row = self._row_of(self._chosen)
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and row is not None:
            self.query_activated.emit(self._rows[row].query)
            return True
        if event.key() in {Qt.Key.Key_Left, Qt.Key.Key_Right} and row is not None:
            return self._nudge(self._rows[row], event)
        if (target := self._view.key_target(event, row)) is None:
            return False
        self._choose_row(target)
        return True

    def _nudge(self, row: MarginRow, event: QKeyEvent) -> bool:
        """Move the chosen dot by the smallest sensible step, ten times it with Shift."""
        if row.locked:
            return False
        start = row.margin if self._drag_people is None else self._drag_people
        # The same step within a decade, so that back and forth meet the same values: 1 below 100, 5 from 100, 50 from 1,000.
        step = max(1, 10 ** math.floor(math.log10(max(start, 1.0))) // 20)
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            step *= 10
        sign = 1 if event.key() == Qt.Key.Key_Right else -1
        self._dragged = row.query
        self._drag_value(max(1, round(start / step + sign) * step))
        return True

    def _key_up(self, event: QKeyEvent) -> bool:
        if event.isAutoRepeat() or event.key() not in {Qt.Key.Key_Left, Qt.Key.Key_Right}:
            return False
        self._end_drag(cancelled=False)
        return True

    # Dragging

    def _drag_to(self, x_pixel: float) -> None:
        pixels = self.canvas.pixels
        inside = min(max(x_pixel, pixels.area.left()), pixels.area.right())
        wanted = 10 ** pixels.value_x(inside)
        resolution = wanted - 10 ** pixels.value_x(inside - 1)
        self._drag_value(whole_people_near(wanted, resolution))

    def _drag_value(self, value: int) -> None:
        if self._dragged is None or value == self._drag_people:
            return
        self._drag_people, self._drag_moved = value, True
        QToolTip.hideText()
        if (row := self._row_of(self._dragged)) is not None:
            self._view.refresh_row(row)
        self.margin_dragged.emit(self._dragged, value)

    def _end_drag(self, *, cancelled: bool) -> None:
        query, moved = self._dragged, self._drag_moved
        self._dragged, self._drag_people, self._drag_moved = None, None, False
        self.canvas.unsetCursor()
        if query is None or not moved:
            return
        if self._rows:
            self._view.set_rows(self._axis.labels, self._range)
        self._refresh()
        (self.drag_cancelled if cancelled else self.margin_released).emit(query)

    # Selection

    def _choose_row(self, row: int) -> None:
        if not 0 <= row < len(self._rows):
            return
        query = self._rows[row].query
        self._view.make_visible(row)
        if query == self._chosen:
            return
        self._chosen = query
        self._mark_chosen()
        self.query_selected.emit(query)

    def _mark_chosen(self) -> None:
        self._axis.chosen = self._row_of(self._chosen)
        self._axis.update()
        self.choose_table_row(self._axis.chosen)
        self._refresh()

    def _row_of(self, query: QueryKey | None) -> int | None:
        for index, row in enumerate(self._rows):
            if row.query == query:
                return index
        return None

    def _tell(self, point: QPointF, text: str) -> None:
        QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), text, self.canvas)

    def _refresh_changed(self, before: tuple[MarginRow, ...]) -> None:
        """Paint the rows that differ from what was shown: one edit changes one row, and a repaint of all costs 5 ms."""
        if [row.query for row in before] != [row.query for row in self._rows]:
            self._refresh()
            return
        for index, (old, new) in enumerate(zip(before, self._rows, strict=True)):
            if old is not new and old != new:
                self._view.refresh_row(index)

    def _refresh(self) -> None:
        self.canvas.refresh()

    # Painting

    def _range(self, width: float) -> tuple[float, float]:
        """Return a range that stays put under small edits and never moves under a dragged dot.

        Args:
            width: of the plot area, in pixels; numbers beside the dots need a part of it.
        """
        if self._dragged is not None:
            return self._view.x_range
        values = [row.margin for row in self._rows]
        values += [float(row.target) for row in self._rows if row.target is not None]
        values += [row.baseline for row in self._rows if row.baseline is not None]
        seen = [value for value in values if value >= 0.5] or [1.0, 100.0]
        low, high = log_people(nice_at_most(min(seen) * 0.9)), log_people(nice_at_least(max(seen) * 1.1))
        room = min(lettering(bold=True).width(_LABEL_SAMPLE) + REACH, _MOST_LABEL_PART * width)
        return low, low + max(high - low, 0.5) * width / (width - room)

    def _draw_backgrounds(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        chosen = self._row_of(self._chosen)
        painter.setPen(Qt.PenStyle.NoPen)
        for index in self._view.rows_to_paint(pixels):
            row = self._rows[index]
            fill = colours.alternate if self._stripes[row.query.table] else colours.base
            if index == chosen:
                fill = colours.accent_soft
            elif index == self._hovered:
                fill = colours.hover
            painter.setBrush(QColor(fill))
            top, bottom = pixels.y(-index + 0.5), pixels.y(-index - 0.5)
            painter.drawRect(QRectF(pixels.area.left(), top, pixels.area.width(), bottom - top))

    def _draw_rows(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        rows = MarginPainter(painter, pixels, colours)
        for index in self._view.rows_to_paint(pixels):
            row = self._rows[index]
            dragged = self._drag_people if row.query == self._dragged else None
            rows.paint(row, pixels.y(-index), chosen=row.query == self._chosen, dragged=dragged)
