"""Rows with an interval, a dot and a tick, as values: one picture for errors by level, bias by size, shares and places."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from phexplore.figures.scales import linear_ticks, nice_at_least
from phexplore.figures.table import Table, grouped, signed_tick


class RowScale(enum.Enum):
    """How values become positions on the axis."""

    LINEAR = "linear"
    """As they are."""
    SIGNED_LOG = "signed log"
    """sign(v) log10(1 + |v|): errors of one person and of a thousand in one picture, 0 in the middle."""
    COUNT = "count"
    """log10(1 + v): counts from 0 up."""


@dataclass(frozen=True, slots=True)
class MarkRow:
    """One row.

    Attributes:
        key: what a click selects, None for nothing.
        group: written once for neighbours that share it.
        name: of the row.
        value: the dot, None for none.
        low: end of the thin line.
        high: other end of the thin line.
        inner_low: end of the thick line.
        inner_high: other end of the thick line.
        tick: a vertical stroke: the truth, the noise as it is measured.
        dots: small ones, e.g. one per trial.
        crosses: small ones, e.g. what was measured in each trial.
        text: at the right end of what is drawn.
        tip: while the pointer rests on it.
        is_warned: drawn in the colour of attention.
        series: which of the categories' colours it has; the name says the same in words.
    """

    key: str | None
    group: str
    name: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    inner_low: float | None = None
    inner_high: float | None = None
    tick: float | None = None
    dots: tuple[float, ...] = ()
    crosses: tuple[float, ...] = ()
    text: str = ""
    tip: str = ""
    is_warned: bool = False
    series: int = 0

    @property
    def reach(self) -> tuple[float, ...]:
        """All values that are drawn."""
        ends = (self.value, self.low, self.high, self.inner_low, self.inner_high, self.tick)
        return (*(end for end in ends if end is not None and math.isfinite(end)), *self.dots, *self.crosses)


@dataclass(frozen=True, slots=True)
class RowsContent:
    """A picture of rows as values.

    Attributes:
        rows: from top to bottom.
        axis: quantity and unit.
        title: the finding.
        summary: one sentence.
        numbers: the table twin.
        scale: of the axis.
        guide: value of a vertical line through all rows, None for none.
        is_percent: the axis is in percent from 0 to 100.
        is_linked: a thin line joins tick and dot.
    """

    rows: tuple[MarkRow, ...]
    axis: str
    title: str
    summary: str
    numbers: Table
    scale: RowScale = RowScale.LINEAR
    guide: float | None = None
    is_percent: bool = False
    is_linked: bool = False


def position(value: float, scale: RowScale) -> float:
    """Return the place of a value on the axis."""
    if scale is RowScale.LINEAR:
        return value
    return math.copysign(math.log10(1 + abs(value)), value)


def axis_ticks(low: float, high: float, scale: RowScale) -> list[float]:
    """Return the values that get a tick between two positions."""
    if scale is RowScale.LINEAR:
        return linear_ticks(low, high)
    reach = max(abs(low), abs(high))
    powers = [10.0**power for power in range(math.ceil(reach) + 1) if math.log10(1 + 10.0**power) <= reach]
    while len(powers) > 4:
        powers = powers[1::2] if len(powers) % 2 == 0 else powers[::2]
    found = [0.0, *powers]
    if scale is RowScale.SIGNED_LOG:
        found = [*(-power for power in reversed(powers)), *found]
    return [value for value in found if low - 1e-9 <= position(value, scale) <= high + 1e-9]


def tick_text(value: float, scale: RowScale) -> str:
    """Return the words of a tick."""
    if scale is RowScale.SIGNED_LOG:
        return signed_tick(value) if abs(value) < 1000 else ("+" if value > 0 else "−") + grouped(round(abs(value)))
    return grouped(round(value)) if value == round(value) else f"{value:g}"


def row_range(content: RowsContent) -> tuple[float, float]:
    """Return the range of positions that holds everything that is drawn, with some room."""
    if content.is_percent:
        return 0.0, 100.0
    values = [position(value, content.scale) for row in content.rows for value in row.reach]
    if content.guide is not None:
        values.append(position(content.guide, content.scale))
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    if content.scale is RowScale.SIGNED_LOG:
        reach = max(abs(low), abs(high), 0.3)
        return -1.06 * reach, 1.06 * reach
    if content.scale is RowScale.COUNT:
        return min(-0.03 * max(high, 0.3), 1.04 * low), 1.04 * max(high, 0.3)
    room = (high - low or nice_at_least(max(abs(high), 1.0))) * 0.06
    return min(low - room, 0.0) if low >= 0 else low - room, high + room
