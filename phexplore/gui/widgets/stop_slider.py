"""A slider over exact stops: a position is an index, a value is a fraction, nothing passes through a float."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from weakref import ref

from PySide6.QtCore import QPointF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAccessible, QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.widgets.labels import describe
from phexplore.gui.widgets.speech import SpokenNumber, speak_as


class StopSlider(QSlider):
    """A horizontal slider over ascending exact stops.

    Attributes:
        stops: the values it stands on, ascending.
        exact: what it stands for, which may lie between two stops; None for nothing.
        value_words: the same with its unit.
        per: what 1 is in that unit: 100 for percent.

    Signals:
        moved: the stop under the handle, while it is dragged or stepped by the user.
        released: the user let go; what was moved since the last release is one step.
        taken: it has the focus now.
    """

    moved = Signal(object)
    released = Signal()
    taken = Signal()

    def __init__(
        self, name: str, stops: Sequence[Fraction], words: Callable[[Fraction], str], parent: QWidget | None = None
    ) -> None:
        """Make a slider.

        Args:
            name: says what it moves.
            stops: the values it stands on, ascending.
            words: gives a value with its unit, for people who do not see the slider; its position says nothing.
            parent: its owner.
        """
        super().__init__(Qt.Orientation.Horizontal, parent)
        speak_as(StopSlider, _Spoken)
        self.stops = tuple(stops)
        self._words, self._safe_words, self.value_words = words, "", ""
        self.per = 1
        self.exact: Fraction | None = None
        self._mark: Fraction | None = None
        self._safe: tuple[Fraction | None, Fraction | None] | None = None
        describe(self, name=name)
        self.setRange(0, len(self.stops) - 1)
        self.setPageStep(12)
        self.setMinimumSize(120, 22)
        self.valueChanged.connect(self._on_value)
        self.sliderReleased.connect(self.released)
        appearance().changed.connect(self.update)

    def set_value(self, value: Fraction | None) -> None:
        """Put the handle on the stop next to `value`, without telling anybody; None = the left end."""
        self.exact = value
        self._describe("" if value is None else self._words(value))
        position = 0 if value is None else self.nearest(value)
        if self.isSliderDown() or position == self.value():
            return
        with QSignalBlocker(self):
            self.setValue(position)

    def nearest(self, value: Fraction) -> int:
        """Return the position of the stop next to a value."""
        position = min(bisect_left(self.stops, value), len(self.stops) - 1)
        return position - 1 if position and self._is_nearer(position - 1, value) else position

    def set_mark(self, value: Fraction | None) -> None:
        """Draw a tick at `value`: the reference."""
        if value != self._mark:
            self._mark = value
            self.update()

    def set_safe_range(self, safe: tuple[Fraction | None, Fraction | None] | None, words: str = "") -> None:
        """Draw a band below the groove where values are safe; an open end is None, no band at all is None.

        Args:
            safe: from and to.
            words: the same for people who do not see it.
        """
        if safe != self._safe:
            self._safe = safe
            self._safe_words = words
            self._describe(self.value_words)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._safe is not None or self._mark is not None:
            painter, pixel = QPainter(self), self._pixels()
            if self._safe is not None:
                self._paint_safe_range(painter, pixel, *self._safe)
            if self._mark is not None:
                painter.setPen(QPen(QColor(appearance().colours.ghost), 2))
                x, middle = pixel(self._mark), self.rect().center().y()
                painter.drawLine(QPointF(x, middle - 8), QPointF(x, middle + 8))
            painter.end()
        super().paintEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the wheel scrolls the page; it must not change a budget

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.taken.emit()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        super().keyReleaseEvent(event)
        if not event.isAutoRepeat():
            self.released.emit()

    def _is_nearer(self, position: int, value: Fraction) -> bool:
        """Whether the stop is nearer on the logarithmic scale than the next one."""
        return value * value < self.stops[position] * self.stops[position + 1]

    def _describe(self, value: str) -> None:
        self.value_words = value
        description = ". ".join(part for part in (value, self._safe_words) if part)
        if description != self.accessibleDescription():
            self.setAccessibleDescription(description)

    def _on_value(self, position: int) -> None:
        self.exact = self.stops[position]
        self._describe(self._words(self.exact))
        self.moved.emit(self.exact)

    def _paint_safe_range(
        self, painter: QPainter, pixel: Callable[[Fraction], float], low: Fraction | None, high: Fraction | None
    ) -> None:
        start = pixel(self.stops[0] if low is None else low)
        end = pixel(self.stops[-1] if high is None else high)
        painter.setPen(QPen(QColor(appearance().colours.good), 3))
        y = self.height() - 3.0
        painter.drawLine(QPointF(start, y), QPointF(max(end, start + 1), y))
        for place, given in ((start, low), (end, high)):
            if given is not None:
                painter.drawLine(QPointF(place, y - 4), QPointF(place, y))

    def _pixels(self) -> Callable[[Fraction], float]:
        """Return where values lie: a function, because the style is asked long."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        groove = self.style().subControlRect(
            QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderGroove, self
        )
        handle = self.style().pixelMetric(QStyle.PixelMetric.PM_SliderLength, option, self)
        room, last = groove.width() - handle, len(self.stops) - 1

        def pixel(value: Fraction) -> float:
            position = min(bisect_left(self.stops, value), last)
            return groove.left() + handle / 2 + QStyle.sliderPositionFromValue(0, last, position, room)

        return pixel


class _Spoken(SpokenNumber):
    """A slider to a screen reader: people or budget, where Qt tells the position of the handle."""

    def __init__(self, slider: StopSlider) -> None:
        super().__init__(slider, QAccessible.Role.Slider)
        self._slider = ref(slider)

    def words(self) -> str:
        return "" if (slider := self._slider()) is None else slider.value_words

    def number(self) -> float:
        slider = self._slider()
        return 0.0 if slider is None else self._said(slider.stops[0] if slider.exact is None else slider.exact)

    def span(self) -> tuple[float, float]:
        slider = self._slider()
        return (0.0, 0.0) if slider is None else (self._said(slider.stops[0]), self._said(slider.stops[-1]))

    def take(self, number: float) -> None:
        if (slider := self._slider()) is not None:
            slider.setValue(slider.nearest(Fraction(number) / slider.per))
            slider.released.emit()

    def _said(self, value: Fraction) -> float:
        """Return a value in the unit of its words, in as many digits as a person follows."""
        slider = self._slider()
        return float(f"{float(value * (1 if slider is None else slider.per)):.7g}")
