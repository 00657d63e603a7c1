"""The axes of a figure: how values become places along it, which of them get a tick, and how those are written."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from phexplore.figures.scales import linear_ticks, log_ticks, nice_at_least
from phexplore.figures.table import grouped, signed_tick

if TYPE_CHECKING:
    from phexplore.figures.marks import Floats

PADDING = 0.06
"""Part of the range left free at each end of an axis without a domain."""


class Scale(enum.Enum):
    """How values become places along an axis."""

    LINEAR = "linear"
    """As they are."""
    LOG = "logarithmic"
    """log10(v): what is below the floor of the axis stands at its edge, because 0 has no logarithm."""
    SIGNED_LOG = "logarithmic on both sides of 0"
    """sign(v) log10(1 + |v|): errors of one person and of a thousand in one picture, 0 in the middle."""
    COUNT = "logarithmic from 0"
    """log10(1 + v): counts from 0 up."""
    LATITUDE = "latitude"
    """Degrees of the sine, upward on a map whose areas are true."""
    ROWS = "rows"
    """Row i stands at −i: named rows from top to bottom."""


def number_text(value: float) -> str:
    """Return a value of an axis as people write it."""
    return grouped(round(value)) if value == round(value) else f"{value:g}".replace("-", "−")


def whole_text(value: float) -> str:
    """Return whole values only; ticks between them stay unnamed."""
    return grouped(round(value)) if value == round(value) else ""


def signed_text(value: float) -> str:
    """Return a value of an axis around 0 with its sign."""
    if abs(value) < 1000:
        return signed_tick(value)
    return ("+" if value > 0 else "−") + grouped(round(abs(value)))


def percent_text(value: float) -> str:
    """Return a share of 1 in percent."""
    return f"{value * 100:g} %"


@dataclass(frozen=True, slots=True)
class Tick:
    """A named place on an axis.

    Attributes:
        value: where it stands, as a value of the axis.
        text: its label.
    """

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a figure.

    Attributes:
        title: quantity and unit, without its scale; "" leaves it unnamed.
        scale: how values become places.
        domain: values at both ends; None for what holds all marks.
        text: writes the value of a tick; a function of a module, so that a figure can be compared and sent.
        ticks: fixed ticks with their words; none for round values that follow the visible range.
        floor: of a logarithmic axis: the value at its edge that stands for everything smaller.
        most: ticks at once.
        is_round: the upper end without a domain is a round number.
        most_value: no tick stands beyond it, e.g. 100 of a share, where labels need more room.
    """

    title: str = ""
    scale: Scale = Scale.LINEAR
    domain: tuple[float, float] | None = None
    text: Callable[[float], str] = number_text
    ticks: tuple[Tick, ...] = ()
    floor: float = 0.05
    most: int = 7
    is_round: bool = False
    most_value: float = math.inf

    @property
    def caption(self) -> str:
        """The title, which says of a scale that is bent how it is."""
        is_bent = self.scale in {Scale.LOG, Scale.SIGNED_LOG, Scale.COUNT}
        return f"{self.title} ({self.scale.value})" if self.title and is_bent else self.title

    def position(self, value: float) -> float:
        """Return the place of a value along the axis."""
        match self.scale:
            case Scale.LINEAR:
                return value
            case Scale.LOG:
                return math.log10(max(value, self.floor))
            case Scale.ROWS:
                return -value
            case Scale.LATITUDE:
                return math.degrees(math.sin(math.radians(value)))
            case _:
                return math.copysign(math.log10(1 + abs(value)), value)

    def positions(self, values: Floats) -> Floats:
        """Return the places of many values along the axis: ``float64[n]`` of ``values[n]``."""
        import numpy as np  # noqa: PLC0415 - the window starts without it

        match self.scale:
            case Scale.LINEAR:
                return values
            case Scale.LOG:
                return np.asarray(np.log10(np.maximum(values, self.floor)))
            case Scale.ROWS:
                return -values
            case Scale.LATITUDE:
                return np.asarray(np.degrees(np.sin(np.radians(values))))
            case _:
                return np.asarray(np.copysign(np.log10(1 + np.abs(values)), values))

    def value(self, position: float) -> float:
        """Return the value at a place along the axis."""
        match self.scale:
            case Scale.LINEAR:
                return position
            case Scale.LOG:
                return float(10.0**position)
            case Scale.ROWS:
                return -position
            case Scale.LATITUDE:
                return math.degrees(math.asin(min(max(math.radians(position), -1.0), 1.0)))
            case _:
                return math.copysign(10 ** abs(position) - 1, position)

    def values_between(self, low: float, high: float) -> list[float]:
        """Return the values that get a tick between two places.

        Args:
            low: first place.
            high: last place.
        """
        if self.ticks:
            return [tick.value for tick in self.ticks if low - 1e-9 <= self.position(tick.value) <= high + 1e-9]
        match self.scale:
            case Scale.LINEAR:
                return [value for value in linear_ticks(low, high, self.most) if value <= self.most_value + 1e-9]
            case Scale.LOG:
                found = log_ticks(low, high, max(self.most, 2))
                return found if len(found) > 1 else _linear_between(low, high)
            case Scale.ROWS:
                return []
            case Scale.LATITUDE:
                return linear_ticks(self.value(low), self.value(high), self.most)
            case _:
                return _powers_between(low, high, is_signed=self.scale is Scale.SIGNED_LOG)

    def label(self, value: float) -> str:
        """Return the words of a tick."""
        for tick in self.ticks:
            if tick.value == value:
                return tick.text
        return self.text(value)

    def range_of(self, values: Sequence[float]) -> tuple[float, float]:
        """Return the range of places the axis shows: its domain, else what holds all values with some room.

        Args:
            values: everything that is drawn; what is not finite is left out.
        """
        if self.domain is not None:
            low, high = (self.position(end) for end in self.domain)
            return (low, high) if high > low else (low, low + 1.0)
        finite = [value for value in values if math.isfinite(value)]
        if not finite:
            return 0.0, 1.0
        return self._padded(*sorted((self.position(min(finite)), self.position(max(finite)))))

    def _padded(self, low: float, high: float) -> tuple[float, float]:
        """Return a range of places with the room each scale leaves around what it holds."""
        match self.scale:
            case Scale.SIGNED_LOG:
                reach = max(abs(low), abs(high), 0.3)
                return -1.06 * reach, 1.06 * reach
            case Scale.COUNT:
                return min(-0.03 * max(high, 0.3), 1.04 * low), 1.04 * max(high, 0.3)
            case Scale.LOG:
                missing = max(0.0, 1.0 - (high - low)) / 2
                low, high = low - missing, high + missing
                return low - 0.08 * (high - low), high + 0.08 * (high - low)
        if self.is_round:
            step = nice_at_least(max(high, 1e-12) / 10)
            return 0.0, step * math.ceil(high / step - 1e-9) or 1.0
        room = (high - low or nice_at_least(max(abs(high), 1.0))) * PADDING
        return min(low - room, 0.0) if low >= 0 else low - room, high + room


def _powers_between(low: float, high: float, *, is_signed: bool) -> list[float]:
    reach = max(abs(low), abs(high))
    powers = [10.0**power for power in range(math.ceil(reach) + 1) if math.log10(1 + 10.0**power) <= reach]
    while len(powers) > 4:
        powers = powers[1::2] if len(powers) % 2 == 0 else powers[::2]
    found = [0.0, *powers]
    if is_signed:
        found = [*(-power for power in reversed(powers)), *found]
    inside = [value for value in found if low - 1e-9 <= math.copysign(math.log10(1 + abs(value)), value) <= high + 1e-9]
    return inside if len(inside) > 2 else _between_signed(low, high)  # 0 and 1 alone leave the rest unsaid


def _linear_between(low: float, high: float) -> list[float]:
    """Return round values between two logarithmic places less than a decade apart."""
    return [value for value in linear_ticks(10**low, 10**high, 5) if value > 0]


def _between_signed(low: float, high: float) -> list[float]:
    ends = [math.copysign(10 ** abs(place) - 1, place) for place in (low, high)]
    return linear_ticks(ends[0], ends[1], 5)
