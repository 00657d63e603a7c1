"""The trade-off as a curve: the smallest weighted margin for every total, and where the scenario stands beside it."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.decide.frontier import Frontier, FrontierPoint
from phexplore.figures.table import Table
from phexplore.figures.wording import people, percent
from phexplore.gui.charts.canvas import Canvas, Pixels, log_axis
from phexplore.gui.charts.colours import categories_on
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP
from phexplore.model.numbers import parse_exact

TEACHING = (
    "The smallest margins that every privacy loss can buy appear here as soon as something is published with noise."
)
_NEAR = 14.0
"""Pixels around a point in which it is hit."""
_RADIUS = 5.0


class FrontierChart(ChartFrame):
    """Points of the trade-off on logarithmic axes. Arrow keys walk along them; Enter or a double click loads one.

    Signals:
        point_chosen: the `FrontierPoint` the user looks at.
        point_activated: the `FrontierPoint` to be loaded as a scenario.
    """

    point_chosen = Signal(object)
    point_activated = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._found: Frontier | None = None
        self._chosen: int | None = None
        canvas = Canvas()
        super().__init__("Trade-off", TEACHING, canvas, parent)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        log_axis(canvas.bottom_axis, lambda value: f"{value:g}", most=8)
        log_axis(canvas.left_axis, people, most=8)
        canvas.add_layer(self._draw)
        self.table_row_chosen.connect(self._choose)

    @property
    def points(self) -> tuple[FrontierPoint, ...]:
        """The points, by total."""
        return self._found.points if self._found is not None else ()

    @property
    def chosen(self) -> FrontierPoint | None:
        """The point under inspection."""
        return None if self._chosen is None else self.points[self._chosen]

    def show_frontier(self, found: Frontier, loss: str) -> None:
        """Show a trade-off.

        Args:
            found: the curve.
            loss: what the horizontal axis counts, e.g. "bounded ρ".
        """
        self._found = found
        if self._chosen is not None and self._chosen >= len(found.points):
            self._chosen = None
        if not found.points:
            self.show_empty("Locks leave no room for other totals. Unlock some budgets to see the trade-off.")
            return
        self.canvas.set_axis_labels(f"{loss} (logarithmic)", "weighted margin of error, people")
        xs = [math.log10(float(point.headline)) for point in found.points]
        ys = [point.weighted_margin for point in found.points] + [found.present_margin, found.best_margin]
        logs = [math.log10(max(value, 1e-9)) for value in ys]
        self.canvas.show_range(_padded(min(xs), max(xs)), _padded(min(logs), max(logs)))
        self.show_finding(frontier_title(found), frontier_summary(), partial(frontier_numbers, found, loss))
        self.canvas.refresh()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        if (number := self._at(point)) is not None:
            self._choose(number)

    def pointer_moved(self, point: QPointF) -> None:
        number = self._at(point)
        self.canvas.setCursor(Qt.CursorShape.ArrowCursor if number is None else Qt.CursorShape.PointingHandCursor)
        if number is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), point_words(self.points[number]), self.canvas)

    def pointer_released(self, _point: QPointF) -> None:
        """Nothing is dragged."""

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        if (number := self._at(point)) is not None:
            self.point_activated.emit(self.points[number])

    def wheel_turned(self, _steps: int) -> bool:
        return False

    def key_used(self, event: QKeyEvent) -> bool:
        if event.type() is QKeyEvent.Type.KeyRelease or not self.points:
            return False
        last = len(self.points) - 1
        here = self._chosen
        moves: dict[int, int] = {
            Qt.Key.Key_Right: 0 if here is None else here + 1,
            Qt.Key.Key_Left: last if here is None else here - 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and here is not None:
            self.point_activated.emit(self.points[here])
            return True
        if (target := moves.get(event.key())) is None:
            return False
        self._choose(min(max(target, 0), last))
        return True

    def position_of(self, number: int) -> QPointF:
        """Return where a point is, in pixels of the canvas."""
        point, pixels = self.points[number], self.canvas.pixels
        return QPointF(pixels.x(math.log10(float(point.headline))), pixels.y(math.log10(point.weighted_margin)))

    def _choose(self, number: int) -> None:
        if 0 <= number < len(self.points) and number != self._chosen:
            self._chosen = number
            self.choose_table_row(number)
            self.canvas.refresh()
            self.point_chosen.emit(self.points[number])

    def _at(self, point: QPointF) -> int | None:
        """Return the point under the pointer."""
        distances = [
            (math.hypot(place.x() - point.x(), place.y() - point.y()), number)
            for number, place in enumerate(map(self.position_of, range(len(self.points))))
        ]
        distance, number = min(distances, default=(math.inf, 0))
        return number if distance <= _NEAR else None

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        found = self._found
        if found is None or not found.points:
            return
        ink = QColor(categories_on(colours)[0])
        places = [self.position_of(number) for number in range(len(found.points))]
        painter.setPen(QPen(ink, 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(places)
        for number, place in enumerate(places):
            is_chosen = number == self._chosen
            painter.setPen(QPen(QColor(colours.text if is_chosen else colours.base), 2 if is_chosen else 1))
            painter.setBrush(ink)
            painter.drawEllipse(place, _RADIUS + 2 * is_chosen, _RADIUS + 2 * is_chosen)
        self._draw_present(painter, pixels, colours, found)

    def _draw_present(self, painter: QPainter, pixels: Pixels, colours: Colours, found: Frontier) -> None:
        """Draw the scenario as a diamond with its name, and how far below it the curve is."""
        ratio = float(found.points[-1].headline) / float(found.points[-1].total)
        x = pixels.x(math.log10(float(found.present_total) * ratio))
        y, best = (pixels.y(math.log10(value)) for value in (found.present_margin, found.best_margin))
        painter.setPen(QPen(QColor(colours.attention), 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, y), QPointF(x, best))
        painter.setPen(QPen(QColor(colours.base), 1))
        painter.setBrush(QColor(colours.attention))
        reach = _RADIUS + 3
        painter.drawPolygon(
            QPolygonF([QPointF(x - reach, y), QPointF(x, y - reach), QPointF(x + reach, y), QPointF(x, y + reach)])
        )
        words = "this scenario"
        fits = x + reach + GAP + lettering(bold=True).width(words) <= pixels.area.right()
        place = QPointF(x + reach + GAP if fits else x - reach - GAP, y - lettering().height * 0.7)
        draw_text(painter, place, words, colours.text, bold=True, align=0.0 if fits else 1.0)


def _padded(low: float, high: float) -> tuple[float, float]:
    width = max(high - low, 0.3)
    return low - 0.08 * width, high + 0.08 * width


def frontier_title(found: Frontier) -> str:
    """Return how much the scenario could save at the same weighted margin."""
    if found.waste < 5e-4:
        return "With these weights no other budgets are better: every query has the same marginal price"
    share = percent(parse_exact(f"{found.waste:.6f}"))
    return f"With these weights the same margins could be had for {share} less"


def frontier_summary() -> str:
    """Return one sentence: what the axes and marks are."""
    return (
        "The curve is the smallest weighted margin for every total; the diamond is this scenario. One per cent more of the "
        "total always buys half a per cent less margin along the curve. Enter or a double click loads a point as a scenario."
    )


def point_words(point: FrontierPoint) -> str:
    """Return a point in words."""
    return (
        f"ρ {float(point.headline):.6g}, ε {point.epsilon:.3f} at δ = 10⁻¹⁰\n"
        f"Weighted margin {people(point.weighted_margin)} people\nDouble click loads it as a scenario"
    )


def frontier_numbers(found: Frontier, loss: str) -> Table:
    """Return the table twin."""
    return Table(
        (loss, "ε at δ = 10⁻¹⁰", "Weighted margin, people"),
        tuple((point.headline, point.epsilon, point.weighted_margin) for point in found.points),
    )
