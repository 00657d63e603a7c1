"""Noisy against published: how far each number is from the truth before and after, and whether its interval holds it.

Args:
    name: of what is published.
    rows: numbers before and after.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from phexplore.figures.axis import Axis
from phexplore.figures.figure import ROWS, Figure, KeyEntry, nothing
from phexplore.figures.marks import Dash, Dot, Mark, Part, Role, Rule, Shape, Span
from phexplore.figures.table import Table, signed_tick

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


def published_figure(name: str, unit: str, rows: Sequence[PublishedNumber]) -> Figure:
    """Return a row per number; the truth is the line in the middle, what is left of it is too small.

    Args:
        name: what they are, e.g. "PH1: average household size".
        unit: of their values.
        rows: in order; none gives an empty figure.
    """
    if not rows:
        return nothing("published", "")
    reach = _reach(rows)
    return Figure(
        "published",
        published_title(name, rows),
        published_summary(rows),
        Axis(f"distance from the truth, {unit}", domain=(-reach, reach), text=signed_tick),
        ROWS,
        tuple(_mark(row, reach) for row in rows),
        partial(published_numbers, tuple(rows)),
        under=(Rule(x=0.0, ink=Role.TEXT, width=1.2, dash=Dash.SOLID),),
        key=(
            KeyEntry(Dot(0.5, ink=Role.MUTED, shape=Shape.DIAMOND, is_hollow=True), "as measured"),
            KeyEntry(Dot(0.5, ink=Role.MAIN), "as published, with its 90 % interval"),
        ),
        stretch=1.0,
    )


def _mark(row: PublishedNumber, reach: float) -> Mark:
    def at(value: float) -> float:
        return min(max(value - row.truth, -reach), reach)

    ink = Role.REFERENCE if row.is_held else Role.MISSED
    parts: list[Part] = [Span(at(row.low), at(row.high), ink=ink, width=8.0)]
    if not math.isnan(row.noisy):
        parts.append(Dot(at(row.noisy), ink=Role.MUTED, shape=Shape.DIAMOND, is_hollow=True))
    parts.append(Dot(at(row.estimate), ink=Role.MAIN, size=4.0))
    text = "" if row.is_held else "✗"
    return Mark(None, tuple(parts), row.group, row.name, text, number_words(row), anchor=at(row.high), ink=Role.MISSED)


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
    """Return the finding: how many intervals hold the truth, and what publishing does to the error.

    Args:
        name: of the table.
        rows: its numbers.
    """
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
    """Return the data table."""
    headers = ("Area", "Group", "Measured", "Published", "5 %", "95 %", "Truth", "Held")
    return Table(
        headers,
        tuple(
            (r.group, r.name, r.noisy, r.estimate, r.low, r.high, r.truth, "yes" if r.is_held else "no") for r in rows
        ),
    )
