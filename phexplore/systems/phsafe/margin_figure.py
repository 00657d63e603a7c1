"""How wide is every margin? One row per published query, its standing against the target, the finding, as a figure.

Args:
    entry: a query of the forecast.
    rows: of the picture.
    row: of the picture.
    conventions: of the scenario.
    symbol: of the budget, ρ or ε.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from phexplore.accuracy.margins import is_met
from phexplore.catalog.tables import PEOPLE_OR_HOUSEHOLDS, counted_in
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import ROWS, Figure, KeyEntry, nothing
from phexplore.figures.marks import Box, Dot, Fill, Handle, Mark, Part, Role, Shape, Span, Stroke
from phexplore.figures.scales import nice_at_least, nice_at_most
from phexplore.figures.table import Table, shown
from phexplore.figures.wording import budget_text, margin_text, people, signed_people, target_text
from phexplore.model.conventions import Conventions
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget, Unlimited
from phexplore.systems.phsafe.forecast import Forecast, QueryForecast


class Standing(enum.Enum):
    """How a margin compares with its target. The value is the word in the table."""

    MET = "met"
    MISSED = "missed"
    NO_TARGET = "no target"


TEACHING = (
    "Margins of error appear here as soon as a level is published: give it a target or a budget in the table, "
    "then drag its dot."
)
_DOTS = {
    Standing.MISSED: partial(Dot, ink=Role.MISSED, shape=Shape.DIAMOND, size=5.0),
    Standing.MET: partial(Dot, ink=Role.MAIN, size=5.5),
    Standing.NO_TARGET: partial(Dot, ink=Role.MAIN, is_hollow=True, size=4.5),
}
_MARGIN = KeyEntry(Dot(0.5, ink=Role.MAIN), "margin")
_MISSED = KeyEntry(Dot(0.5, ink=Role.MISSED, shape=Shape.DIAMOND), "above its target")
_TARGET = KeyEntry(Stroke(0.5, ink=Role.TEXT, reach=7.0, width=2.0), "target")
_BEFORE = KeyEntry(Dot(0.5, ink=Role.REFERENCE, is_hollow=True), "reference")


@dataclass(frozen=True, slots=True, eq=False)
class MarginRow:
    """One published query. Compared by identity: the same numbers give the same row.

    Attributes:
        query: which one.
        margin: in people, by the scenario's convention.
        conventions: the margins there are, by name: exact, normal, paper.
        target: in people, None when nothing was aimed at.
        baseline: margin of the same query in the scenario compared with, None when not published there.
        budget: ρ or ε.
        locked: the budget must not be changed.
        standing: against the target.
    """

    query: QueryKey
    margin: float
    conventions: Mapping[str, float]
    target: Fraction | None
    baseline: float | None
    budget: Budget
    locked: bool
    standing: Standing

    @property
    def band(self) -> tuple[float, float]:
        """Smallest and largest of the three conventions, in people."""
        return min(self.conventions.values()), max(self.conventions.values())

    @property
    def excess(self) -> float:
        """People above the target; 0 where it is met or there is none."""
        if self.target is None or self.standing is not Standing.MISSED:
            return 0.0
        return self.margin - float(self.target)


def margin_rows(
    figures: Forecast,
    targets: Mapping[QueryKey, Fraction],
    baseline: Forecast | None = None,
    locked: AbstractSet[QueryKey] = frozenset(),
) -> tuple[MarginRow, ...]:
    """Return the rows of all published queries, in the order of Table 10.

    Args:
        figures: the current forecast.
        targets: margins aimed at, in people.
        baseline: forecast of the scenario compared with.
        locked: queries whose budget must not be changed.
    """
    before = baseline.by_query if baseline else {}
    rows = []
    for entry in figures.queries:
        query, is_locked = entry.query, entry.query in locked
        known = (entry, before.get(query), targets.get(query), figures.conventions)
        made = (*known, is_locked)
        kept = _KEPT.get(query)
        if kept is None or not all(now is then for now, then in zip(made, kept[0], strict=True)):
            kept = _KEPT[query] = made, _margin_row(*known, locked=is_locked)
        if kept[1] is not None:
            rows.append(kept[1])
    return tuple(rows)


_KEPT: dict[QueryKey, tuple[tuple[object, ...], MarginRow | None]] = {}
"""The row last made of every query, and of what: an edit changes one of fifty, and what it did not touch is the same object."""


def _margin_row(
    entry: QueryForecast, old: QueryForecast | None, target: Fraction | None, conventions: Conventions, *, locked: bool
) -> MarginRow | None:
    margin, found = shown_margin(entry, conventions), entry.margins
    if margin is None or found is None:
        return None
    then = shown_margin(old, conventions) if old else None
    margins = {"exact": found.exact, "normal": found.normal, "paper": found.paper}
    each = {name: float(value) for name, value in margins.items() if value is not None}
    return MarginRow(entry.query, margin, each, target, then, entry.budget, locked, _standing(margin, target))


def margins_figure(
    figures: Forecast,
    targets: Mapping[QueryKey, Fraction],
    baseline: Forecast | None = None,
    locked: AbstractSet[QueryKey] = frozenset(),
) -> Figure:
    """Return the margins of all published queries on a logarithmic axis; dots can be dragged; keys are queries.

    Args:
        figures: the current forecast.
        targets: margins aimed at, in people.
        baseline: forecast of the scenario compared with; drawn as hollow dots.
        locked: queries whose dots cannot be dragged.
    """
    rows = margin_rows(figures, targets, baseline, locked)
    if not rows:
        return nothing("margins", TEACHING)
    symbol = figures.privacy.framework.symbol
    percent = f"{float(figures.conventions.confidence) * 100:g} %"
    return Figure(
        "margins",
        margin_title(rows),
        margin_summary(rows, figures.conventions),
        Axis(
            f"margin of error at {percent}, {PEOPLE_OR_HOUSEHOLDS}",
            Scale.LOG,
            _domain(rows),
            people,
            most=12,
        ),
        ROWS,
        tuple(_mark(row, symbol) for row in rows),
        partial(margin_numbers, rows, figures.conventions, symbol),
        key=_key(rows),
        stretch=1.0,
        is_striped=True,
        room_for="1,000",
        explain="A margin of error is the half width of the interval that holds the noise of one published number with this "
        "confidence. Normal: z σ; paper: ⌊1.64 σ⌋; exact: the quantile of the discrete Gaussian noise.",
    )


def _key(rows: Sequence[MarginRow]) -> tuple[KeyEntry, ...]:
    """Return what the signs mean, of those that occur."""
    found = [_MARGIN]
    if any(row.standing is Standing.MISSED for row in rows):
        found.append(_MISSED)
    if any(row.target is not None for row in rows):
        found.append(_TARGET)
    if any(row.baseline is not None and row.baseline != row.margin for row in rows):
        found.append(_BEFORE)
    return tuple(found)


def _domain(rows: Sequence[MarginRow]) -> tuple[float, float]:
    """Return a range that stays put under small edits."""
    values = [row.margin for row in rows]
    values += [float(row.target) for row in rows if row.target is not None]
    values += [row.baseline for row in rows if row.baseline is not None]
    seen = [value for value in values if value >= 0.5] or [1.0, 100.0]
    low, high = nice_at_most(min(seen) * 0.9), nice_at_least(max(seen) * 1.1)
    return low, max(high, low * 10**0.5)


@lru_cache(maxsize=512)
def _mark(row: MarginRow, symbol: str) -> Mark:
    parts: list[Part] = []
    if row.baseline is not None and abs(row.baseline - row.margin) > 1e-9 * row.margin:
        parts.append(Span(row.baseline, row.margin, ink=Role.REFERENCE, width=1.4))
        parts.append(Dot(row.baseline, ink=Role.REFERENCE, is_hollow=True, size=5.5))
    parts.append(Box(*row.band, 0.36, -0.36, Role.MAIN, Fill.SOFT))
    if row.target is not None:
        parts.append(Stroke(float(row.target), ink=Role.TEXT, reach=8.5, width=2.0))
    parts.append(_DOTS[row.standing](row.margin))
    return Mark(
        row.query,
        tuple(parts),
        row.query.table,
        row.query.level.title,
        number_words(row),
        row_explanation(row, symbol),
        anchor=row.margin,
        ink=Role.MISSED if row.standing is Standing.MISSED else Role.TEXT,
        is_locked=row.locked,
        handle=None if row.locked else Handle(row.margin, step_at(row.margin), is_whole=True, least=1.0),
    )


def step_at(margin: float) -> int:
    """Return the smallest step of a key: the same within a decade, so that back and forth meet the same values."""
    return max(1, int(10 ** math.floor(math.log10(max(margin, 1.0)))) // 20)


def number_words(row: MarginRow) -> str:
    """Return the number beside a dot, with what it is above its target."""
    if row.standing is Standing.MISSED:
        return f"{margin_text(row.margin, row.target)}  +{people(row.excess)}"
    return people(row.margin) + (" (no noise)" if row.margin == 0 else "")


def shown_margin(entry: QueryForecast, conventions: Conventions) -> float | None:
    """Return the margin of a query by the scenario's convention, None when it is not published.

    Args:
        entry: of the forecast.
        conventions: of the scenario.
    """
    return None if entry.margins is None else entry.margins.by(conventions.margin)


def _standing(margin: float, target: Fraction | None) -> Standing:
    if target is None:
        return Standing.NO_TARGET
    return Standing.MET if is_met(margin, target) else Standing.MISSED


def margin_title(rows: Sequence[MarginRow]) -> str:
    """Return the finding: how many targets are met, and the widest miss in people."""
    aimed = [row for row in rows if row.target is not None]
    missed = [row for row in aimed if row.standing is Standing.MISSED]
    if not aimed:
        low, high = _extremes(rows)
        return f"Margins run from {people(low.margin)} to {people(high.margin)} {PEOPLE_OR_HOUSEHOLDS}"
    if not missed:
        return f"All {len(aimed)} targets are met" if len(aimed) > 1 else "The one target is met"
    worst = max(missed, key=lambda row: row.excess)
    kept = len(aimed) - len(missed)
    return f"{kept} of {len(aimed)} targets met; widest miss {worst.query.title}, +{people(worst.excess)} {counted_in(worst.query.table)}"


def margin_summary(rows: Sequence[MarginRow], conventions: Conventions) -> str:
    """Return one sentence: what is shown, at which confidence, from narrowest to widest, and what changed.

    Args:
        rows: of the picture, at least one.
        conventions: of the scenario.
    """
    low, high = _extremes(rows)
    percent = f"{float(conventions.confidence) * 100:g} %"
    text = (
        f"Margins of error at {percent} of {len(rows)} published queries, from {people(low.margin)} {counted_in(low.query.table)} "
        f"({low.query.title}) to {people(high.margin)} {counted_in(high.query.table)} ({high.query.title})"
    )
    wider = sum(1 for row in rows if row.baseline is not None and row.margin > row.baseline)
    narrower = sum(1 for row in rows if row.baseline is not None and row.margin < row.baseline)
    if wider or narrower:
        text += f"; {wider} wider and {narrower} narrower than the reference"
    return text + "."


def margin_numbers(rows: Sequence[MarginRow], conventions: Conventions, symbol: str) -> Table:
    """Return the data table, one row per row of the picture.

    Args:
        rows: of the picture.
        conventions: of the scenario.
        symbol: of the budget, ρ or ε.
    """
    percent = f"{float(conventions.confidence) * 100:g} %"
    headers = (
        "Table",
        "Level",
        f"Margin, {percent}",
        "Counted",
        "Target",
        "Against target",
        "Reference",
        "Exact",
        "Normal",
        "Paper",
        f"{symbol} (unbounded)",
        "Locked",
    )
    return Table(headers, tuple(_numbers_row(row) for row in rows))


def _numbers_row(row: MarginRow) -> tuple[str | int | float | Fraction | None, ...]:
    return (
        row.query.table,
        row.query.level.title,
        row.margin,
        counted_in(row.query.table),
        row.target,
        row.standing.value,
        row.baseline,
        row.conventions.get("exact"),
        row.conventions.get("normal"),
        row.conventions.get("paper"),
        "unlimited" if isinstance(row.budget, Unlimited) else row.budget,
        "locked" if row.locked else "",
    )


def row_explanation(row: MarginRow, symbol: str) -> str:
    """Return the lines shown while the pointer rests on a row.

    Args:
        row: of the picture.
        symbol: of the budget, ρ or ε.
    """
    missed = row.target if row.standing is Standing.MISSED else None
    lines = [row.query.title, f"margin {margin_text(row.margin, missed)} {counted_in(row.query.table)}"]
    lines.append(" · ".join(f"{name} {shown(value)}" for name, value in row.conventions.items()))
    if row.target is not None:
        lines.append(f"target {target_text(row.target)}: {row.standing.value}")
    if row.baseline is not None:
        lines.append(f"reference {people(row.baseline)} ({signed_people(row.margin - row.baseline)})")
    budget = "unlimited, no noise" if isinstance(row.budget, Unlimited) else budget_text(2 * row.budget)
    lines.append(f"bounded {symbol} {budget}" + (" · locked" if row.locked else ""))
    return "\n".join(lines)


def _extremes(rows: Sequence[MarginRow]) -> tuple[MarginRow, MarginRow]:
    return min(rows, key=lambda row: row.margin), max(rows, key=lambda row: row.margin)
