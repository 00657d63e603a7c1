"""What does a threshold cost? Two bars per τ, the people cut away and the noise, and the root mean square as a line."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.table import Table
from phexplore.figures.wording import people, percent
from phexplore.gui.charts.canvas import Canvas, Pixels, log_axis
from phexplore.gui.charts.colours import blended
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.truncation_chart import draw_bias_bar
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP
from phexplore.model.numbers import parse_exact
from phexplore.systems.phsafe.truncation_study import ThresholdPoint, TruncationStudy

TEACHING = "Bias and noise of every truncation threshold appear here once a query with a budget and household sizes are chosen."
_FLOOR = 0.1
"""People at the lower end of the axis: what is smaller has no bar."""


class ThresholdChart(ChartFrame):
    """Bars by threshold on a logarithmic axis of people. Arrow keys choose a threshold; Enter or a double click takes it.

    Signals:
        threshold_chosen: τ the user looks at (int).
        threshold_activated: τ to be made a parameter (int).
    """

    threshold_chosen = Signal(object)
    threshold_activated = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._study: TruncationStudy | None = None
        self._present = 0
        self._chosen: int | None = None
        canvas = Canvas()
        super().__init__("Truncation thresholds", TEACHING, canvas, parent)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.bottom_axis.set_scale(lambda value: f"{round(value)}", _whole_ticks)
        log_axis(canvas.left_axis, people, most=9)
        canvas.set_grid(vertical=False, horizontal=True)
        canvas.set_axis_labels("truncation threshold τ, people counted per household", "people (logarithmic)")
        canvas.add_layer(self._draw)
        self.table_row_chosen.connect(self._choose_row)

    @property
    def points(self) -> tuple[ThresholdPoint, ...]:
        """What is shown, by threshold."""
        return self._study.points if self._study is not None else ()

    @property
    def chosen(self) -> ThresholdPoint | None:
        """The threshold under inspection."""
        return None if self._chosen is None or self._study is None else self._study.point(self._chosen)

    def show_study(self, found: TruncationStudy, name: str, present: int) -> None:
        """Show a study.

        Args:
            found: bias and noise by threshold.
            name: of what was studied.
            present: the scenario's threshold.
        """
        self._study, self._present = found, present
        if self._chosen not in {point.threshold for point in found.points}:
            self._chosen = None
        values = [max(abs(point.bias), point.deviation, point.rmse) for point in found.points]
        low, high = math.log10(_FLOOR), math.log10(max(*values, 10.0)) + 0.35
        first, last = found.points[0].threshold, found.points[-1].threshold
        self.canvas.show_range((first - 0.7, last + 0.7), (low, high))
        self.show_finding(study_title(found, name, present), study_summary(found), partial(study_numbers, found))
        self.canvas.refresh()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        if (threshold := self._at(point)) is not None:
            self._choose(threshold)

    def pointer_moved(self, point: QPointF) -> None:
        threshold = self._at(point)
        if threshold is None or self._study is None:
            QToolTip.hideText()
        else:
            words = point_words(self._study.point(threshold))
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), words, self.canvas)

    def pointer_released(self, _point: QPointF) -> None:
        """Nothing is dragged."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        if (threshold := self._at(point)) is not None:
            self.threshold_activated.emit(threshold)

    def wheel_turned(self, _steps: int) -> bool:
        return False

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease or not self.points:
            return False
        known = [point.threshold for point in self.points]
        here = known.index(self._chosen) if self._chosen in known else None
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and here is not None:
            self.threshold_activated.emit(known[here])
            return True
        moves: dict[int, int] = {
            Qt.Key.Key_Right: 0 if here is None else here + 1,
            Qt.Key.Key_Left: len(known) - 1 if here is None else here - 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: len(known) - 1,
        }
        if (target := moves.get(event.key())) is None:
            return False
        self._choose(known[min(max(target, 0), len(known) - 1)])
        return True

    def _choose_row(self, row: int) -> None:
        if 0 <= row < len(self.points):
            self._choose(self.points[row].threshold)

    def _choose(self, threshold: int) -> None:
        if threshold != self._chosen:
            self._chosen = threshold
            self.choose_table_row([point.threshold for point in self.points].index(threshold))
            self.canvas.refresh()
            self.threshold_chosen.emit(threshold)

    def _at(self, point: QPointF) -> int | None:
        nearest = round(self.canvas.pixels.value_x(point.x()))
        return nearest if nearest in {each.threshold for each in self.points} else None

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        found = self._study
        if found is None:
            return
        floor = pixels.y(math.log10(_FLOOR))
        noise = QColor(blended(colours.accent_ink, colours.base, 0.55))
        for point in found.points:
            middle = pixels.x(point.threshold)
            half = max(pixels.per_x * 0.4, 2.0)
            if point.threshold == self._chosen:
                area = QRectF(middle - half - 3, pixels.area.top(), 2 * half + 6, pixels.area.height())
                painter.fillRect(area, QColor(colours.accent_soft))
            for value, left, is_bias in ((abs(point.bias), middle - half, True), (point.deviation, middle, False)):
                if value < _FLOOR:
                    continue
                bar = QRectF(QPointF(left, pixels.y(math.log10(value))), QPointF(left + half - 1, floor))
                if is_bias:
                    draw_bias_bar(painter, bar, colours)
                else:
                    painter.fillRect(bar, noise)
        line = [QPointF(pixels.x(p.threshold), pixels.y(math.log10(max(p.rmse, _FLOOR)))) for p in found.points]
        painter.setPen(QPen(QColor(colours.text), 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(line)
        painter.setBrush(QColor(colours.base))
        for place in line:
            painter.drawEllipse(place, 3.0, 3.0)
        self._mark(painter, pixels, colours, found)

    def _mark(self, painter: QPainter, pixels: Pixels, colours: Colours, found: TruncationStudy) -> None:
        """Name the best and the present threshold above their bars."""
        names: dict[int, list[str]] = {}
        names.setdefault(found.best, []).append("best")
        if self._present in {point.threshold for point in found.points}:
            names.setdefault(self._present, []).append("now")
        for number, (threshold, words) in enumerate(names.items()):
            point, x = found.point(threshold), pixels.x(threshold)
            highest = max(point.rmse, abs(point.bias), point.deviation)
            y = pixels.y(math.log10(max(highest, _FLOOR))) - GAP - lettering().height * (0.6 + 0.9 * (number % 2))
            draw_text(painter, QPointF(x, y), ", ".join(words), colours.text, align=0.5, bold=True)


def _whole_ticks(low: float, high: float) -> list[float]:
    first, last = math.ceil(low), math.floor(high)
    return [float(value) for value in range(first, last + 1)]


def study_title(found: TruncationStudy, name: str, present: int) -> str:
    """Return the finding: the best threshold, and what the present one costs beside it."""
    best = found.point(found.best)
    known = {point.threshold: point for point in found.points}
    if present == found.best or present not in known:
        return f"{name}: τ = {found.best} has the smallest error, ±{people(best.rmse)} people (root mean square)"
    now = known[present]
    return (
        f"{name}: τ = {found.best} would have the smallest error, ±{people(best.rmse)} people; "
        f"τ = {present} has ±{people(now.rmse)}"
    )


def study_summary(found: TruncationStudy) -> str:
    """Return one sentence: what the bars are, and over whom."""
    words = (
        "Hatched: people truncation cuts away, always the same. Plain: standard deviation of the noise. Line: both together, root "
        f"mean square. Over {found.sizes.households:,} households with {found.sizes.people:,} people ({found.sizes.of})."
    )
    return words + (" The largest size is open: the true loss is larger than shown." if found.sizes.is_open else "")


def point_words(point: ThresholdPoint) -> str:
    """Return one threshold in words."""
    return (
        f"τ = {point.threshold}: bias {people(point.bias)} people, noise ±{people(point.deviation)} (σ), margin "
        f"{people(point.margin)}, root mean square {people(point.rmse)}.\n"
        f"It cuts {_share(point.people_cut)} of the people and {_share(point.households_cut)} of the households."
    )


def _share(value: float) -> str:
    return percent(parse_exact(f"{value:.9f}"), places=3)


def study_numbers(found: TruncationStudy) -> Table:
    """Return the table twin."""
    headers = ("τ", "Bias, people", "Noise σ, people", "Margin, people", "RMSE, people", "People cut, share",
               "Households cut, share", "Budget")  # fmt: skip
    return Table(
        headers,
        tuple(
            (p.threshold, p.bias, p.deviation, p.margin, p.rmse, p.people_cut, p.households_cut, p.budget)
            for p in found.points
        ),
    )
