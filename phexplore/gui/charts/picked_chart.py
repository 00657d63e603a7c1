"""Pick one number: true, truncated, measured in every trial, with the margin of the noise around it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from phexplore.figures.figure import RowLabel
from phexplore.figures.table import grouped
from phexplore.figures.wording import people, signed_people
from phexplore.gui.charts.canvas import Canvas
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.charts.picked import PickedStory, picked_numbers, picked_summary, picked_title
from phexplore.gui.charts.pixels import Pixels
from phexplore.gui.charts.rows import RowAxis
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering

TRUE, TRUNCATED, MEASURED = 0, 1, 2.4
"""Heights of the three rows, downward."""
SPREAD = 0.75
"""How far the dots of trials are spread around their row."""
MOST_DOTS = 600
"""Dots drawn; a picture of more would be a bar of ink. The table has all."""
_GOLDEN = 0.6180339887498949

TEACHING = (
    "One published number appears here on its way from the true count over truncation to the measured counts. "
    "Choose a run, then table, region, group and cell above."
)


class PickedNumberChart(ChartFrame):
    """Three rows over one axis of people: the true count, the truncated count, the measured counts of all trials."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._story: PickedStory | None = None
        self._axis = RowAxis()
        canvas = Canvas(left=self._axis)
        super().__init__("One number", TEACHING, canvas, parent)
        canvas.set_grid(vertical=True, horizontal=False)
        canvas.bottom_axis.set_scale(lambda value: grouped(round(value)))
        canvas.set_axis_labels("count, people (or housing units, where the table counts them)", "")
        canvas.add_layer(self._draw)
        self._axis.set_labels(
            (RowLabel("", "true (confidential)"), RowLabel("", "truncated"), RowLabel("", "measured"))
        )

    def show_story(self, story: PickedStory | None, reason: str = "") -> None:
        """Show a number.

        Args:
            story: None shows the empty state.
            reason: why there is none, "" for the usual words.
        """
        self._story = story
        if story is None:
            self.show_empty(reason)
            return
        truth = "true (synthetic)" if story.synthetic else "true (confidential)"
        self._axis.set_labels((RowLabel("", truth), RowLabel("", "truncated"), RowLabel("", "measured")))
        self._axis.set_positions((TRUE, TRUNCATED, MEASURED))
        low, high = story.ends
        room = max((high - low) * 0.12, 2.0)
        self.canvas.show_range((low - room, high + room), (-MEASURED - 1.0, 0.7))
        self.show_finding(picked_title(story), picked_summary(story), partial(picked_numbers, story))
        self.canvas.refresh()

    def recolour(self, colours: Colours) -> None:
        super().recolour(colours)
        self._axis.fit()

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        story = self._story
        if story is None:
            return
        self._draw_band(painter, pixels, colours, story)
        true, truncated = pixels.x(story.true), pixels.x(story.truncated)
        if story.bias:
            painter.setPen(QPen(QColor(colours.attention), 2))
            painter.drawLine(QPointF(true, pixels.y(-TRUE)), QPointF(truncated, pixels.y(-TRUNCATED)))
            middle = QPointF((true + truncated) / 2 + 8, pixels.y(-(TRUE + TRUNCATED) / 2))
            draw_text(painter, middle, f"truncation {signed_people(story.bias)}", colours.attention)
        _draw_diamond(painter, QPointF(true, pixels.y(-TRUE)), QColor(colours.text))
        _draw_value(painter, pixels, colours, QPointF(true, pixels.y(-TRUE)), story.true)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.text))
        painter.drawRect(QRectF(truncated - 5, pixels.y(-TRUNCATED) - 5, 10, 10))
        _draw_value(painter, pixels, colours, QPointF(truncated, pixels.y(-TRUNCATED)), story.truncated)
        _draw_trials(painter, pixels, colours, story)

    @staticmethod
    def _draw_band(painter: QPainter, pixels: Pixels, colours: Colours, story: PickedStory) -> None:
        """Draw the margin around the truncated count, behind the trials."""
        left, right = pixels.x(story.truncated - story.margin), pixels.x(story.truncated + story.margin)
        top, bottom = pixels.y(-TRUNCATED - 0.35), pixels.area.bottom()
        painter.fillRect(QRectF(left, top, right - left, bottom - top), QColor(colours.accent_soft))
        painter.setPen(QPen(QColor(colours.text), 1.2, Qt.PenStyle.DashLine))
        for x in (left, right):
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))
        centre = pixels.x(story.truncated)
        painter.setPen(QPen(QColor(colours.muted), 1))
        painter.drawLine(QPointF(centre, top), QPointF(centre, bottom))
        words = f"±{people(story.margin)}: {story.confidence * 100:g} % margin of the noise"
        draw_text(painter, QPointF(centre, bottom - lettering().height * 0.8), words, colours.text, align=0.5)


def _draw_trials(painter: QPainter, pixels: Pixels, colours: Colours, story: PickedStory) -> None:
    """Draw a dot per trial, spread evenly up and down so that equal counts stay apart; rings outside the margin."""
    inside, outside = QColor(colours.accent_ink), QPen(QColor(colours.attention), 1.8)
    for place, value in enumerate(story.measured[-MOST_DOTS:]):
        offset = (place * _GOLDEN % 1 - 0.5) * SPREAD
        centre = QPointF(pixels.x(value), pixels.y(-MEASURED - offset))
        if abs(value - story.truncated) <= story.margin:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(inside)
            painter.drawEllipse(centre, 3.2, 3.2)
        else:
            painter.setPen(outside)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(centre, 3.6, 3.6)


def _draw_value(painter: QPainter, pixels: Pixels, colours: Colours, mark: QPointF, value: int) -> None:
    """Write a count beside its mark, on the side where there is room."""
    text = grouped(value)
    right = mark.x() + 12 + lettering(bold=True).width(text) < pixels.area.right()
    place = QPointF(mark.x() + (12 if right else -12), mark.y())
    draw_text(painter, place, text, colours.text, align=0 if right else 1, bold=True)


def _draw_diamond(painter: QPainter, centre: QPointF, ink: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    corners = (QPointF(0, -7), QPointF(7, 0), QPointF(0, 7), QPointF(-7, 0))
    painter.drawPolygon(QPolygonF([centre + corner for corner in corners]))
