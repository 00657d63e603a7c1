"""Noisy against published: how far each number is from the truth before and after, and whether its interval holds it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.table import Table, signed_tick
from phexplore.gui.charts.canvas import Canvas
from phexplore.gui.charts.colours import blended
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.charts.rows import RowAxis, RowView
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text
from phexplore.gui.theme.metrics import GAP

TEACHING = "Noisy and published numbers of a simulated release appear here, each with its interval and the truth."
_WIDEST_QUANTILE = 0.98


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """One number before and after statistical post-processing, in people or people per household.

    Attributes:
        group: e.g. a state.
        name: e.g. an iteration.
        noisy: as measured.
        estimate: as published.
        low: of the 90 % interval.
        high: of the 90 % interval.
        truth: exact truncated number.
    """

    group: str
    name: str
    noisy: float
    estimate: float
    low: float
    high: float
    truth: float

    @property
    def is_held(self) -> bool:
        """Whether the interval holds the truth."""
        return self.low <= self.truth <= self.high


class PublishedChart(ChartFrame):
    """A row per number; the truth is the line in the middle, what is left of it is too small."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._axis = RowAxis()
        self._rows: tuple[PublishedNumber, ...] = ()
        self._chosen: int | None = None
        canvas = Canvas(left=self._axis)
        self._view = RowView(canvas, self._axis)
        super().__init__("Noisy and published", TEACHING, canvas, parent, page=self._view)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.bottom_axis.set_scale(signed_tick)
        canvas.add_layer(self._draw)

    @property
    def rows(self) -> tuple[PublishedNumber, ...]:
        """The numbers from top to bottom."""
        return self._rows

    def show_numbers(self, name: str, unit: str, rows: Sequence[PublishedNumber]) -> None:
        """Show numbers.

        Args:
            name: what they are, e.g. "PH1: average household size".
            unit: of their values.
            rows: in order.
        """
        self._rows, self._chosen = tuple(rows), None
        if not rows:
            self.show_empty()
            return
        self.canvas.set_axis_labels(f"distance from the truth, {unit}", "")
        reach = _reach(self._rows)
        self._view.set_rows(tuple(RowLabel(row.group, row.name) for row in self._rows), (-reach, reach))
        self.show_finding(
            published_title(name, self._rows), published_summary(self._rows), partial(published_numbers, self._rows)
        )
        self.canvas.refresh()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        if (row := self._view.row_at(point.y())) is not None:
            self._choose(row)

    def pointer_moved(self, point: QPointF) -> None:
        row = self._view.row_at(point.y())
        if row is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), number_words(self._rows[row]), self.canvas)

    def pointer_released(self, _point: QPointF) -> None:
        """Nothing is dragged."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, _point: QPointF) -> None:
        """Nothing is behind a row."""

    def wheel_turned(self, steps: int) -> bool:
        return self._view.scroll_rows(steps)

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease or not self._rows:
            return False
        if (target := self._view.key_target(event, self._chosen)) is None:
            return False
        self._choose(target)
        return True

    def _choose(self, row: int) -> None:
        self._chosen = row
        self._view.make_visible(row)
        self._axis.chosen = row
        self._axis.update()
        self.canvas.setAccessibleDescription(number_words(self._rows[row]))
        self.canvas.refresh()

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        middle = pixels.x(0)
        painter.setPen(QPen(QColor(colours.text), 1.2))
        painter.drawLine(QPointF(middle, pixels.area.top()), QPointF(middle, pixels.area.bottom()))
        band = QColor(blended(colours.accent_ink, colours.base, 0.35))
        missed = QColor(blended(colours.attention, colours.base, 0.55))
        left, right = pixels.area.left(), pixels.area.right()
        for index in self._view.rows_to_paint(pixels):
            row, y = self._rows[index], pixels.y(-index)
            low, high = (min(max(pixels.x(end - row.truth), left), right) for end in (row.low, row.high))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(band if row.is_held else missed)
            painter.drawRect(QRectF(QPointF(low, y - 4), QPointF(max(high, low + 1), y + 4)))
            self._draw_marks(painter, pixels, colours, row, y)
            if not row.is_held:
                draw_text(painter, QPointF(right - GAP, y), "✗", colours.attention, align=1, bold=True)

    @staticmethod
    def _draw_marks(painter: QPainter, pixels: Pixels, colours: Colours, row: PublishedNumber, y: float) -> None:
        """Draw the noisy number as a hollow diamond, the published one as a dot."""
        if not math.isnan(row.noisy):
            x = min(max(pixels.x(row.noisy - row.truth), pixels.area.left() + 5), pixels.area.right() - 5)
            painter.setPen(QPen(QColor(colours.muted), 1.4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPolygon(QPolygonF([QPointF(x - 5, y), QPointF(x, y - 5), QPointF(x + 5, y), QPointF(x, y + 5)]))
        painter.setPen(QPen(QColor(colours.base), 1))
        painter.setBrush(QColor(colours.accent_ink))
        painter.drawEllipse(QPointF(pixels.x(row.estimate - row.truth), y), 4.0, 4.0)


def _reach(rows: Sequence[PublishedNumber]) -> float:
    """Return how far the axis goes either way: all intervals, and nearly all noisy numbers."""
    ends = [max(abs(row.low - row.truth), abs(row.high - row.truth), abs(row.estimate - row.truth)) for row in rows]
    noisy = sorted(abs(row.noisy - row.truth) for row in rows if math.isfinite(row.noisy))
    ends += noisy[: math.ceil(_WIDEST_QUANTILE * len(noisy))]
    ordered = sorted(ends)
    return 1.05 * max(ordered[min(len(ordered) - 1, math.ceil(_WIDEST_QUANTILE * len(ordered)))], 1e-6)


def _rms(values: Sequence[float]) -> float:
    return math.sqrt(sum(value * value for value in values) / len(values)) if values else math.nan


def published_title(name: str, rows: Sequence[PublishedNumber]) -> str:
    """Return the finding: how many intervals hold the truth, and what publishing does to the error."""
    held = sum(row.is_held for row in rows)
    before = _rms([row.noisy - row.truth for row in rows if math.isfinite(row.noisy)])
    after = _rms([row.estimate - row.truth for row in rows])
    return (
        f"{name}: {held / len(rows):.1%} of {len(rows):,} intervals hold the truth; error {before:.3g} noisy, "
        f"{after:.3g} published"
    )


def published_summary(rows: Sequence[PublishedNumber]) -> str:
    """Return one sentence: what the marks are."""
    outside = sum(not row.is_held for row in rows)
    return (
        "Diamond: as measured. Dot with bar: as published, with its 90 % interval. The line in the middle is the truth of the "
        f"simulated data; {outside:,} bars do not reach it (✗). Errors are root mean squares."
    )


def number_words(row: PublishedNumber) -> str:
    """Return one number in words."""
    held = "holds" if row.is_held else "does not hold"
    return (
        f"{row.group} {row.name}: measured {row.noisy:,.4g}, published {row.estimate:,.4g}, interval {row.low:,.4g} to "
        f"{row.high:,.4g} {held} the truth {row.truth:,.4g}"
    )


def published_numbers(rows: Sequence[PublishedNumber]) -> Table:
    """Return the table twin."""
    headers = ("Area", "Group", "Measured", "Published", "5 %", "95 %", "Truth", "Held")
    return Table(
        headers,
        tuple(
            (r.group, r.name, r.noisy, r.estimate, r.low, r.high, r.truth, "yes" if r.is_held else "no") for r in rows
        ),
    )
