"""The shares of TopDown as cells: what each is, costs and buys, beside the reference. No Qt."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol

from phexplore.errors import PhexploreError
from phexplore.figures.wording import budget_text, people, share_percent, significant
from phexplore.model.numbers import exact_text
from phexplore.model.rounded import ABSENT, percent
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.forecast import LevelQueryForecast, TopDownForecast, query_of
from phexplore.systems.topdown.wording import counted, place_title, query_sentence, share_exact
from phexplore.workload.queries import catalogue
from phexplore.workload.schema import load_schema


class Quantity(enum.Enum):
    """What the cells show. The value is the word for it."""

    SHARE = "Share, percent"
    FRACTION = "Share, exact"
    OF_TOTAL = "Share of all"
    BUDGET = "Budget"
    SIGMA = "Noise σ"
    MARGIN = "Margin of error"


Key = LevelQuery | str
"""A share: of a query group in its level, or of a level in the total."""


class Version(Protocol):
    """Parameters with what is known of them: what the window shows, or a `TopDownReference`."""

    @property
    def scenario(self) -> Scenario:
        """The parameters."""

    @property
    def figures(self) -> TopDownForecast:
        """Their forecast."""

    @property
    def entries(self) -> Mapping[LevelQuery, LevelQueryForecast]:
        """The figures by level and query."""

    @property
    def reference(self) -> TopDownReference | None:
        """What they are compared with, None for nothing."""


@dataclass(frozen=True, eq=False)
class TopDownReference:
    """Parameters and their forecast by themselves, or what others are compared with.

    Attributes:
        title: for people.
        scenario: its parameters.
        figures: its forecast.
        reference: what it is compared with itself, None for nothing.
    """

    title: str
    scenario: Scenario
    figures: TopDownForecast
    reference: TopDownReference | None = None

    @cached_property
    def entries(self) -> dict[LevelQuery, LevelQueryForecast]:
        """The figures by level and query."""
        return {entry.key: entry for entry in self.figures.entries}


@dataclass(frozen=True, slots=True)
class ShareCell:
    """One share with everything that is said about it.

    Attributes:
        key: which one.
        share: of its column, exact; None where a query group is not measured at the level.
        of_total: of the whole budget, exact.
        budget: ρ or ε, exact.
        entry: its forecast, None for a level and where it is not measured.
        before: the share in the reference, None where there is none.
        is_locked: whether edits of other shares leave it alone.
    """

    key: Key
    share: Fraction | None
    of_total: Fraction
    budget: Fraction
    entry: LevelQueryForecast | None
    before: Fraction | None
    is_locked: bool

    @property
    def is_changed(self) -> bool:
        """Whether the reference has another share."""
        if self.before is None or self.share is None or self.before is self.share:
            return False
        return self.before != self.share


def query_rows(method: TopDown) -> tuple[str, ...]:
    """Return the query groups of the table: those of the schema's catalogue first, then others that are measured."""
    return _ordered(method.schema, tuple(dict.fromkeys(key.query for key in method.query_shares)))


@lru_cache(maxsize=64)
def _ordered(schema: str, measured: tuple[str, ...]) -> tuple[str, ...]:
    try:
        offered = [query.name for query in catalogue(load_schema(schema))]
    except PhexploreError:
        offered = []
    spelled = {canonical(schema, name): name for name in measured}
    ordered = [spelled.pop(name) for name in offered if name in spelled]
    return (*ordered, *(name for name in measured if name in spelled.values()))


def canonical(schema: str, name: str) -> str:
    """Return how a schema spells a query group, the name itself where it has no such one or it is of another histogram.

    Every cell of the unit histogram that is measured inside a product of households is not every cell of that product.

    Args:
        schema: id.
        name: of the query group, its factors in any order.
    """
    try:
        query = query_of(schema, name)
        return query.name if query.schema == load_schema(schema) else name
    except PhexploreError:
        return name


def cell_of(shown: Version, key: Key) -> ShareCell:
    """Return a cell.

    Args:
        shown: the version.
        key: which share.
    """
    method, reference = shown.scenario.topdown, shown.reference
    other = reference.scenario.topdown if reference is not None else None
    if isinstance(key, str):
        share = method.level_shares[key]
        before = other.level_shares.get(key) if other else None
        return ShareCell(key, share, share, method.total * share, None, before, key in method.locked_levels)
    before = other.query_shares.get(key) if other else None
    entry = shown.entries.get(key)
    if entry is None:
        return ShareCell(key, None, Fraction(0), Fraction(0), None, before, is_locked=False)
    return ShareCell(key, entry.share, entry.share_of_total, entry.budget, entry, before, key in method.locked_queries)


def text(cell: ShareCell, quantity: Quantity, shown: Version) -> str:
    """Return what a cell shows.

    Args:
        cell: the share.
        quantity: what the cells show.
        shown: the version.
    """
    if cell.share is None:
        return ABSENT
    match quantity:
        case Quantity.SHARE:
            found = share_percent(cell.share)
        case Quantity.FRACTION:
            found = share_exact(cell.share)
        case Quantity.OF_TOTAL:
            found = percent(cell.of_total, places=2)
        case Quantity.BUDGET:
            found = significant(cell.budget)
        case Quantity.SIGMA:
            found = ABSENT if cell.entry is None or cell.entry.sigma is None else people(cell.entry.sigma)
        case Quantity.MARGIN:
            margin = margin_of(cell, shown)
            found = ABSENT if margin is None else f"±{people(margin)}"
    return found


def margin_of(cell: ShareCell, shown: Version) -> float | None:
    """Return the margin of one answer in the scenario's convention, None for a level or without a budget.

    Args:
        cell: the share.
        shown: the version.
    """
    if cell.entry is None or cell.entry.margins is None:
        return None
    return cell.entry.margins.by(shown.scenario.conventions.margin)


def tip(cell: ShareCell, shown: Version) -> str:
    """Return everything about a cell, for the pointer that rests on it.

    Args:
        cell: the share.
        shown: the version.
    """
    symbol, title = shown.scenario.topdown.framework.symbol, place_title(cell.key)
    if cell.share is None:
        return f"{title}\nNot measured. To measure it, type a share (25 % or 1/4) or press Space."
    lines = [title, f"Share {share_exact(cell.share)} = {share_percent(cell.share)}"]
    rounded = budget_text(cell.budget)
    exact = f" = {exact_text(cell.budget)}" if "…" in rounded else ""
    lines.append(f"{symbol} {rounded}{exact}, {percent(cell.of_total, places=2)} of all")
    if cell.entry is not None and cell.entry.sigma is not None:
        margin = margin_of(cell, shown)
        word = counted(shown.scenario.topdown.schema)
        lines.append(
            f"σ {people(cell.entry.sigma)}, margin ±{people(margin or 0)} {word}, {cell.entry.cells:,} answer{'s' if cell.entry.cells != 1 else ''}"
        )
    if cell.is_changed and cell.before is not None and shown.reference is not None:
        lines.append(f"Was {share_exact(cell.before)} = {share_percent(cell.before)} in {shown.reference.title}")
    if cell.is_locked:
        lines.append("Locked: edits of other shares leave it alone")
    if isinstance(cell.key, LevelQuery):
        lines.append(query_sentence(shown.scenario.topdown.schema, cell.key.query))
    return "\n".join(lines)


def cost_text(cell: ShareCell, shown: Version) -> str:
    """Return what a share costs and buys, "" where nothing is measured.

    Args:
        cell: the share.
        shown: the version.
    """
    if cell.share is None:
        return ""
    words = f"{shown.scenario.topdown.framework.symbol} {significant(cell.budget)}"
    margin = margin_of(cell, shown)
    return words if margin is None else f"{words}, ±{people(margin)}"
