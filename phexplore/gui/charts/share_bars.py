"""What the privacy-share chart shows, as values: one bar per table, one segment per published level, the finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from phexplore.accuracy.forecast import Forecast
from phexplore.gui.charts.numbers import Numbers, percent, shown
from phexplore.model.conventions import Neighbours
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.numbers import Budget, Unlimited


@dataclass(frozen=True, slots=True)
class Segment:
    """The part one query has in the privacy loss.

    Attributes:
        query: which one.
        share: of the scenario's total, exact.
        budget: unbounded, exact.
        start: sum of the shares left of it in its bar.
    """

    query: QueryKey
    share: Fraction
    budget: Fraction
    start: Fraction


@dataclass(frozen=True, slots=True)
class Bar:
    """The part one table has in the privacy loss.

    Attributes:
        table: which one.
        segments: its published levels, in the order of Table 10.
    """

    table: TableId
    segments: tuple[Segment, ...]

    @property
    def share(self) -> Fraction:
        """Of the scenario's total, exact."""
        return sum((segment.share for segment in self.segments), Fraction(0))

    @property
    def budget(self) -> Fraction:
        """Unbounded, exact."""
        return sum((segment.budget for segment in self.segments), Fraction(0))


def share_bars(figures: Forecast) -> tuple[Bar, ...]:
    """Return one bar per published table, largest first; empty when the total is 0 or unlimited."""
    segments: dict[TableId, list[Segment]] = {}
    for entry in figures.queries:
        if not entry.share or isinstance(entry.budget, Unlimited):
            continue
        before = segments.setdefault(entry.query.table, [])
        start = before[-1].start + before[-1].share if before else Fraction(0)
        before.append(Segment(entry.query, entry.share, entry.budget, start))
    bars = [Bar(table, tuple(parts)) for table, parts in segments.items()]
    return tuple(sorted(bars, key=lambda bar: -bar.share))


def no_shares_reason(figures: Forecast) -> str:
    """Return why there is no picture: nothing published, or an unlimited budget."""
    unlimited = [entry.query.title for entry in figures.queries if isinstance(entry.budget, Unlimited)]
    if unlimited:
        more = f" and {len(unlimited) - 1} more" if len(unlimited) > 1 else ""
        return (
            f"Shares cannot be given: the budget of {unlimited[0]}{more} is unlimited. "
            "Give it a finite budget to see where the privacy loss goes."
        )
    return "Where the privacy loss goes appears here as soon as a level has a budget above 0: enter one in the table."


def share_title(bars: Sequence[Bar]) -> str:
    """Return the finding: the fewest tables that together take more than half."""
    taken, named = Fraction(0), []
    for bar in bars:
        taken += bar.share
        named.append(bar.table)
        if taken > Fraction(1, 2):
            break
    if len(named) > 3:
        return f"{len(named)} of {len(bars)} tables take {percent(taken)} of the privacy loss"
    words = f"{', '.join(named[:-1])} and {named[-1]} take" if len(named) > 1 else f"{named[0]} takes"
    return f"{words} {percent(taken)} of the privacy loss"


def share_summary(bars: Sequence[Bar], figures: Forecast) -> str:
    """Return one sentence: the total, over how many queries, and the largest single one."""
    parts = [segment for bar in bars for segment in bar.segments]
    largest = max(parts, key=lambda segment: segment.share)
    side = figures.conventions.neighbours
    total = shown_budget(figures.headline)
    return (
        f"{side.value.capitalize()} {figures.privacy.framework.symbol} {total} is spent on {len(parts)} queries of "
        f"{len(bars)} tables; the largest single one is {largest.query.title} with {percent(largest.share)}."
    )


def share_numbers(bars: Sequence[Bar], figures: Forecast) -> Numbers:
    """Return the table twin, one row per segment in the order of the picture."""
    symbol = figures.privacy.framework.symbol
    headers = ("Table", "Level", "Share, %", "Table's share, %", f"{symbol} (unbounded)", f"{symbol} (bounded)")
    return Numbers(
        headers,
        tuple(
            (
                bar.table,
                segment.query.level.title,
                segment.share * 100,
                bar.share * 100,
                segment.budget,
                2 * segment.budget,
            )
            for bar in bars
            for segment in bar.segments
        ),
    )


def headline_budget(budget: Fraction, neighbours: Neighbours) -> Fraction:
    """Return an unbounded budget under the scenario's neighbours (PHSafe paper, Table 10: bounded is twice it)."""
    return 2 * budget if neighbours is Neighbours.BOUNDED else budget


def shown_budget(budget: Budget) -> str:
    """Return a budget as a label, six decimals at most."""
    if isinstance(budget, Unlimited):
        return "unlimited"
    text = f"{float(budget):,.6f}".rstrip("0").rstrip(".")
    return shown(budget) if budget and float(text.replace(",", "")) == 0 else text


def segment_explanation(bar: Bar, segment: Segment, symbol: str) -> str:
    """Return the lines shown while the pointer rests on a segment."""
    return "\n".join(
        (
            segment.query.title,
            f"{percent(segment.share)} of the privacy loss, {percent(segment.share / bar.share)} of its table's",
            f"{symbol} {shown_budget(segment.budget)} unbounded, {shown_budget(2 * segment.budget)} bounded",
        )
    )
