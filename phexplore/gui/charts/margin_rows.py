"""What the margin chart shows, as values: one row per published query, its standing against the target, the finding."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction

from phexplore.accuracy.margins import Margins, keeps_target
from phexplore.figures.table import Table, shown
from phexplore.figures.wording import budget_text, people, signed_people
from phexplore.model.conventions import Conventions
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget, Unlimited
from phexplore.systems.phsafe.forecast import Forecast, QueryForecast


class Standing(enum.Enum):
    """How a margin compares with its target. The value is the word in the table."""

    MET = "met"
    MISSED = "missed"
    NO_TARGET = "no target"


@dataclass(frozen=True, slots=True)
class MarginRow:
    """One published query.

    Attributes:
        query: which one.
        margin: in people, by the scenario's convention.
        conventions: the margins there are, by name: exact, normal, paper.
        target: in people, None when nothing was aimed at.
        baseline: margin of the same query in the scenario compared with, None when not published there.
        budget: ρ or ε.
        locked: the budget must not be changed.
        standing: against the target.
        source: the margins it was made from.
    """

    query: QueryKey
    margin: float
    conventions: Mapping[str, float]
    target: Fraction | None
    baseline: float | None
    budget: Budget
    locked: bool
    standing: Standing
    source: Margins | None = None

    def shows(
        self, entry: QueryForecast, margin: float, target: Fraction | None, baseline: float | None, *, locked: bool
    ) -> bool:
        """Return whether a row made from these would be this one."""
        return (
            self.source is entry.margins
            and self.budget is entry.budget
            and self.margin == margin
            and self.target == target
            and self.baseline == baseline
            and self.locked is locked
        )

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
    shown_before: Sequence[MarginRow] = (),
) -> tuple[MarginRow, ...]:
    """Return the rows of all published queries, in the order of Table 10.

    Args:
        figures: the current forecast.
        targets: margins aimed at, in people.
        baseline: forecast of the scenario compared with.
        locked: queries whose budget must not be changed.
        shown_before: rows shown last; those that stay what they are are returned again.
    """
    before = {entry.query: entry for entry in baseline.queries} if baseline else {}
    last = {row.query: row for row in shown_before}
    rows = []
    for entry in figures.queries:
        margin = shown_margin(entry, figures.conventions)
        if margin is None or entry.margins is None:
            continue
        target, old, known = targets.get(entry.query), before.get(entry.query), last.get(entry.query)
        then = shown_margin(old, figures.conventions) if old else None
        is_locked = entry.query in locked
        if known is not None and known.shows(entry, margin, target, then, locked=is_locked):
            rows.append(known)
            continue
        margins = {"exact": entry.margins.exact, "normal": entry.margins.normal, "paper": entry.margins.paper}
        rows.append(
            MarginRow(
                entry.query,
                margin,
                {name: float(value) for name, value in margins.items() if value is not None},
                target,
                then,
                entry.budget,
                is_locked,
                _standing(margin, target),
                entry.margins,
            )
        )
    return tuple(rows)


def shown_margin(entry: QueryForecast, conventions: Conventions) -> float | None:
    """Return the margin of a query by the scenario's convention, None when it is not published."""
    return None if entry.margins is None else entry.margins.by(conventions.margin)


def _standing(margin: float, target: Fraction | None) -> Standing:
    if target is None:
        return Standing.NO_TARGET
    return Standing.MET if keeps_target(margin, target) else Standing.MISSED


def margin_title(rows: Sequence[MarginRow]) -> str:
    """Return the finding: how many targets are met, and the widest miss in people."""
    aimed = [row for row in rows if row.target is not None]
    missed = [row for row in aimed if row.standing is Standing.MISSED]
    if not aimed:
        low, high = _extremes(rows)
        return f"Margins run from {people(low.margin)} to {people(high.margin)} people"
    if not missed:
        return f"All {len(aimed)} targets are met" if len(aimed) > 1 else "The one target is met"
    worst = max(missed, key=lambda row: row.excess)
    kept = len(aimed) - len(missed)
    return f"{kept} of {len(aimed)} targets met; widest miss {worst.query.title}, +{people(worst.excess)} people"


def margin_summary(rows: Sequence[MarginRow], conventions: Conventions) -> str:
    """Return one sentence: what is shown, at which confidence, from narrowest to widest, and what changed."""
    low, high = _extremes(rows)
    percent = f"{float(conventions.confidence) * 100:g} %"
    text = (
        f"Margins of error at {percent} of {len(rows)} published queries, from {people(low.margin)} people "
        f"({low.query.title}) to {people(high.margin)} ({high.query.title})"
    )
    wider = sum(1 for row in rows if row.baseline is not None and row.margin > row.baseline)
    narrower = sum(1 for row in rows if row.baseline is not None and row.margin < row.baseline)
    if wider or narrower:
        text += f"; {wider} wider and {narrower} narrower than the baseline"
    return text + "."


def margin_numbers(rows: Sequence[MarginRow], conventions: Conventions, symbol: str) -> Table:
    """Return the table twin, one row per row of the picture."""
    percent = f"{float(conventions.confidence) * 100:g} %"
    headers = (
        "Table",
        "Level",
        f"Margin, people, {percent}",
        "Target, people",
        "Against target",
        "Baseline, people",
        "Exact, people",
        "Normal, people",
        "Paper, people",
        f"{symbol} (unbounded)",
        "Locked",
    )
    return Table(headers, tuple(_numbers_row(row) for row in rows))


def _numbers_row(row: MarginRow) -> tuple[str | int | float | Fraction | None, ...]:
    return (
        row.query.table,
        row.query.level.title,
        row.margin,
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
    """Return the lines shown while the pointer rests on a row."""
    lines = [row.query.title, f"margin {people(row.margin)} people"]
    lines.append(" · ".join(f"{name} {shown(value)}" for name, value in row.conventions.items()))
    if row.target is not None:
        lines.append(f"target {people(float(row.target))}: {row.standing.value}")
    if row.baseline is not None:
        lines.append(f"baseline {people(row.baseline)} ({signed_people(row.margin - row.baseline)})")
    budget = "unlimited, no noise" if isinstance(row.budget, Unlimited) else budget_text(row.budget)
    lines.append(f"{symbol} {budget}" + (" · locked" if row.locked else ""))
    return "\n".join(lines)


def _extremes(rows: Sequence[MarginRow]) -> tuple[MarginRow, MarginRow]:
    return min(rows, key=lambda row: row.margin), max(rows, key=lambda row: row.margin)
