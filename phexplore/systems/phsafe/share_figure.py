"""Where does the privacy go? One bar per table, one segment per published level, the finding, as a figure.

Args:
    bars: of the picture.
    figures: the forecast.
    budget: unbounded.
    neighbours: of the headline.
    bar: of a table.
    segment: of a level.
    symbol: of the budget, ρ or ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from phexplore.figures.axis import Axis
from phexplore.figures.figure import ROWS, Figure, KeyEntry, nothing
from phexplore.figures.marks import Box, Fill, Mark
from phexplore.figures.table import Table
from phexplore.figures.wording import budget_text
from phexplore.model.conventions import Neighbours
from phexplore.model.keys import LEVELS, Iteration, PopulationGroupLevel, QueryKey, Region, TableId
from phexplore.model.numbers import Unlimited, exact_sum
from phexplore.model.rounded import percent
from phexplore.systems.phsafe.forecast import Forecast


@dataclass(frozen=True, slots=True)
class Segment:
    """The part one query has in the privacy loss.

    Attributes:
        query: which one.
        budget: unbounded, exact.
        total: of the scenario.
        first: where it starts in its bar, in percent of the total, for drawing.
        last: where it ends.
    """

    query: QueryKey
    budget: Fraction
    total: Fraction
    first: float
    last: float

    @property
    def share(self) -> Fraction:
        """Of the scenario's total, exact."""
        return self.budget / self.total

    @property
    def label(self) -> str:
        """Its share in percent, one decimal."""
        return f"{self.last - self.first:.1f} %"


@dataclass(frozen=True, slots=True)
class Bar:
    """The part one table has in the privacy loss.

    Attributes:
        table: which one.
        segments: its published levels, in the order of Table 10.
        budget: unbounded, exact.
        total: of the scenario.
    """

    table: TableId
    segments: tuple[Segment, ...]
    budget: Fraction
    total: Fraction

    @property
    def share(self) -> Fraction:
        """Of the scenario's total, exact."""
        return self.budget / self.total


def share_bars(figures: Forecast) -> tuple[Bar, ...]:
    """Return one bar per published table, largest first; empty when the total is 0 or unlimited."""
    total = figures.privacy.total
    if isinstance(total, Unlimited) or total == 0:
        return ()
    entries: dict[TableId, list[tuple[QueryKey, Fraction]]] = {}
    for entry in figures.queries:
        if entry.noise is not None and not isinstance(entry.budget, Unlimited):
            entries.setdefault(entry.query.table, []).append((entry.query, entry.budget))
    return tuple(
        sorted(
            (_bar(table, parts, total) for table, parts in entries.items()), key=lambda bar: bar.budget, reverse=True
        )
    )


def _bar(table: TableId, parts: list[tuple[QueryKey, Fraction]], total: Fraction) -> Bar:
    segments, first = [], 0.0
    for query, budget in parts:
        # The quotient as a float, in whole numbers: fifty of them are asked for in every frame.
        last = first + budget.numerator * total.denominator / (budget.denominator * total.numerator) * 100
        segments.append(Segment(query, budget, total, first, last))
        first = last
    return Bar(table, tuple(segments), exact_sum(budget for _, budget in parts), total)


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
    """Return one sentence: the total, over how many queries, and the largest single one.

    Args:
        bars: of the picture, at least one.
        figures: the forecast.
    """
    parts = [segment for bar in bars for segment in bar.segments]
    largest = max(parts, key=lambda segment: float(segment.budget))
    side = figures.conventions.neighbours
    total = budget_text(figures.headline)
    return (
        f"{side.value.capitalize()} {figures.privacy.framework.symbol} {total} is spent on {len(parts)} queries of "
        f"{len(bars)} tables; the largest single one is {largest.query.title} with {percent(largest.share)}."
    )


def share_numbers(bars: Sequence[Bar], figures: Forecast) -> Table:
    """Return the data table, one row per segment in the order of the picture.

    Args:
        bars: of the picture.
        figures: the forecast.
    """
    symbol = figures.privacy.framework.symbol
    headers = ("Table", "Level", "Share, %", "Table's share, %", f"{symbol} (unbounded)", f"{symbol} (bounded)")
    return Table(
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
    """Return an unbounded budget under the scenario's neighbours (PHSafe paper, Table 10: bounded is twice it).

    Args:
        budget: unbounded ρ or ε.
        neighbours: of the scenario.
    """
    return 2 * budget if neighbours is Neighbours.BOUNDED else budget


def segment_explanation(bar: Bar, segment: Segment, symbol: str) -> str:
    """Return the lines shown while the pointer rests on a segment.

    Args:
        bar: of the table.
        segment: of the level.
        symbol: of the budget, ρ or ε.
    """
    return "\n".join(
        (
            segment.query.title,
            f"{percent(segment.share)} of the privacy loss, {percent(segment.share / bar.share)} of its table's",
            f"{symbol} {budget_text(segment.budget)} unbounded, {budget_text(2 * segment.budget)} bounded",
        )
    )


def shares_figure(figures: Forecast) -> Figure:
    """Return one stacked bar per published table, largest first; keys are queries."""
    bars = share_bars(figures)
    if not bars:
        return nothing("shares", no_shares_reason(figures))
    symbol, neighbours = figures.privacy.framework.symbol, figures.conventions.neighbours
    marks = [mark for row, bar in enumerate(bars) for mark in _bar_marks(row, bar, symbol, neighbours)]
    used = frozenset(segment.query.level for bar in bars for segment in bar.segments)
    return Figure(
        "shares",
        share_title(bars),
        share_summary(bars, figures),
        Axis(f"share of the scenario's {symbol}, percent", is_round=True, most_value=100.0),
        ROWS,
        tuple(marks),
        partial(share_numbers, bars, figures),
        key=_key(used),
        stretch=1.5,
    )


@lru_cache(maxsize=16)
def _key(used: frozenset[PopulationGroupLevel]) -> tuple[KeyEntry, ...]:
    return tuple(KeyEntry(Box(0, 1, -0.4, 0.4, level, _fill(level)), level.title) for level in LEVELS if level in used)


def _fill(level: PopulationGroupLevel) -> Fill:
    """Return how a level is filled: states carry a hatch, so that the region shows without colour."""
    return Fill.HATCHED if level.region is Region.STATE else Fill.SOLID


def _code(level: PopulationGroupLevel) -> str:
    """Return the shortest name of a level that still tells them apart, e.g. ``US A-G``, ``St all``."""
    region = "US" if level.region is Region.NATION else "St"
    return f"{region} {'all' if level.iteration is Iteration.ALL else level.iteration.title}"


def _bar_marks(row: int, bar: Bar, symbol: str, neighbours: Neighbours) -> list[Mark]:
    marks = []
    total = f"{percent(bar.share)}   {symbol} {budget_text(headline_budget(bar.budget, neighbours))}"
    for segment in bar.segments:
        level = segment.query.level
        code = _code(level)
        box = Box(segment.first, segment.last, 0.36, -0.36, level, _fill(level), f"{code}  {segment.label}", code)
        marks.append(
            Mark(
                segment.query,
                (box,),
                bar.table,
                "",
                total if segment is bar.segments[-1] else "",
                partial(segment_explanation, bar, segment, symbol),
                row=row,
            )
        )
    return marks
