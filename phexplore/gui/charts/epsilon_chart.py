"""What does that ρ mean? ε against δ under the named conversions, δ = 10⁻¹⁰ marked."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from phexplore.figures.scales import nice_at_least, spread
from phexplore.gui.charts.canvas import Canvas, Pixels
from phexplore.gui.charts.colours import categories_on
from phexplore.gui.charts.epsilon_curves import (
    LARGEST_EXPONENT,
    SMALLEST_EXPONENT,
    EpsilonCurve,
    epsilon_curves,
    epsilon_numbers,
    epsilon_summary,
    epsilon_title,
)
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.numbers import Unlimited
from phexplore.systems.phsafe.forecast import Forecast

MARK = -10.0
LABEL_PART = 0.62
"""Most of the width the labels may take."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_STYLES = {
    Conversion.ZCDP_OPTIMAL_ALPHA: Qt.PenStyle.SolidLine,
    Conversion.BUN_STEINKE: Qt.PenStyle.DashLine,
    Conversion.GAUSSIAN_CONTINUOUS: Qt.PenStyle.DotLine,
    None: Qt.PenStyle.SolidLine,
}
TEACHING = "What the privacy loss means as (ε, δ) appears here as soon as a level has a budget above 0."
UNLIMITED = (
    "Without a limit on the budget there is no (ε, δ) guarantee. Give every published level a finite budget to see it."
)


class EpsilonDeltaChart(ChartFrame):
    """Lines of ε over δ, the smaller δ to the right; every line says whose ρ and which conversion."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._curves: tuple[EpsilonCurve, ...] = ()
        self._labels: tuple[str, ...] = ()
        self._main = Neighbours.BOUNDED
        canvas = Canvas()
        super().__init__("Privacy curve", TEACHING, canvas, parent)
        canvas.bottom_axis.set_scale(
            lambda exponent: "10" + str(-round(exponent)).translate(_SUPERSCRIPTS),
            lambda _low, _high: [2, 6, 10, 14, 18],
        )
        canvas.left_axis.set_scale(lambda value: f"{value:g}")
        canvas.set_axis_labels("δ, the chance that the guarantee does not hold (smaller to the right)", "ε")
        canvas.add_layer(self._draw)
        canvas.resized.connect(self._fit)

    @property
    def curves(self) -> tuple[EpsilonCurve, ...]:
        """The lines, those of the scenario's neighbours first."""
        return self._curves

    def show_forecast(self, figures: Forecast) -> None:
        """Show the privacy curves of a forecast."""
        self._curves = epsilon_curves(figures)
        self._main = figures.conventions.neighbours
        if not self._curves:
            unlimited = isinstance(figures.privacy.total, Unlimited)
            self.show_empty(UNLIMITED if unlimited else TEACHING)
            return
        self._fit()
        self.show_finding(
            epsilon_title(self._curves, figures), epsilon_summary(self._curves), partial(epsilon_numbers, self._curves)
        )
        self.canvas.refresh()

    def _fit(self) -> None:
        """Leave room at the right end for the labels; the axis counts −log10 δ."""
        if not self._curves:
            return
        width = max(float(self.canvas.area.width()), 200.0)
        self._labels = tuple(curve.label for curve in self._curves)
        if max(map(lettering(bold=True).width, self._labels)) > (LABEL_PART * width):
            self._labels = tuple(curve.short_label for curve in self._curves)
        words = max(map(lettering(bold=True).width, self._labels)) + 5 * GAP
        part = min(words / width, LABEL_PART)
        length = LARGEST_EXPONENT - SMALLEST_EXPONENT
        highest = max(max(curve.epsilons) for curve in self._curves)
        top = nice_at_least(highest / 10) * math.ceil(highest / nice_at_least(highest / 10))
        self.canvas.show_range(
            (-float(LARGEST_EXPONENT), -LARGEST_EXPONENT + length / (1 - part)), (0.0, float(top) * 1.04)
        )

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        x = pixels.x(-MARK)
        painter.setPen(QPen(QColor(colours.muted), 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, pixels.area.top() + lettering().height), QPointF(x, pixels.area.bottom()))
        draw_text(
            painter, QPointF(x, pixels.area.top() + lettering().height / 2), "δ = 10⁻¹⁰", colours.muted, align=0.5
        )
        end = pixels.x(-float(SMALLEST_EXPONENT))
        ends = [pixels.y(curve.epsilons[-1]) for curve in self._curves]
        gap = lettering().height + 3
        places = spread(ends, gap, pixels.area.top() + gap / 2, pixels.area.bottom() - gap / 2)
        for curve, label, y, place in zip(self._curves, self._labels, ends, places, strict=True):
            self._draw_curve(painter, pixels, colours, curve)
            ink = self._ink(colours, curve)
            painter.setPen(QPen(QColor(ink), 1))
            painter.drawLine(QPointF(end, y), QPointF(end + 2 * GAP, place))
            bold = curve.neighbours is self._main and curve.conversion is not Conversion.GAUSSIAN_CONTINUOUS
            draw_text(painter, QPointF(end + 2 * GAP + 4, place), label, colours.text, bold=bold)

    def _draw_curve(self, painter: QPainter, pixels: Pixels, colours: Colours, curve: EpsilonCurve) -> None:
        xs = [pixels.left - exponent * pixels.per_x for exponent in curve.exponents]
        ys = [pixels.bottom - value * pixels.per_y for value in curve.epsilons]
        ink = QColor(self._ink(colours, curve))
        painter.setPen(QPen(ink, 2.4 if curve.neighbours is self._main else 1.6, _STYLES[curve.conversion]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline([QPointF(x, y) for x, y in zip(xs, ys, strict=True)])
        painter.setPen(QPen(QColor(colours.base), 1))
        painter.setBrush(ink)
        painter.drawEllipse(QPointF(pixels.x(-MARK), pixels.y(curve.marked)), 4.5, 4.5)

    def _ink(self, colours: Colours, curve: EpsilonCurve) -> str:
        first, second = categories_on(colours)[:2]
        return first if curve.neighbours is self._main else second
