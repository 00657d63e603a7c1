"""The cells of the table of shares as values: what stands in a cell, what typing into it does. No Qt."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from phexplore.errors import PhexploreError
from phexplore.figures.wording import (
    ABSENT,
    budget_text,
    margin_word,
    parse_people,
    people,
    percent,
    share_percent,
    significant,
)
from phexplore.gui.systems.topdown.scenario_view import TopDownShown
from phexplore.model.edits import set_item
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.edits import add_query, remove_query, set_level_share, set_query_share
from phexplore.systems.topdown.forecast import LevelQueryForecast, query_of
from phexplore.systems.topdown.share_edits import level_share_for_budget, share_for_budget, share_for_margin
from phexplore.systems.topdown.wording import counted, level_title, place_title, query_sentence, share_exact
from phexplore.workload.queries import catalogue
from phexplore.workload.schema import load_schema

RULE = (
    "The unlocked shares of the column keep their proportions and share what is left, in millionths; the largest takes "
    "the remainder, so that the column adds to exactly 1."
)
"""The rule of rebalancing, as it stands beside the table."""

Key = LevelQuery | str
"""A share: of a query group in its level, or of a level in the total."""
Edit = Callable[[Scenario], Scenario]


class Quantity(enum.Enum):
    """What the cells show. The value is the word for it."""

    SHARE = "Share, percent"
    FRACTION = "Share, exact"
    OF_TOTAL = "Share of all"
    BUDGET = "Budget"
    SIGMA = "Noise σ"
    MARGIN = "Margin of error"


TYPED = frozenset({Quantity.SHARE, Quantity.FRACTION, Quantity.BUDGET, Quantity.MARGIN})
"""Quantities that can be typed; noise follows from them."""


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
    spelled = {_canonical(schema, name): name for name in measured}
    ordered = [spelled.pop(name) for name in offered if name in spelled]
    return (*ordered, *(name for name in measured if name in spelled.values()))


def offered_queries(method: TopDown) -> tuple[str, ...]:
    """Return the query groups of the catalogue that are measured nowhere."""
    known = {_canonical(method.schema, key.query) for key in method.query_shares}
    return tuple(query.name for query in catalogue(load_schema(method.schema)) if query.name not in known)


def _canonical(schema: str, name: str) -> str:
    try:
        return query_of(schema, name).name
    except PhexploreError:
        return name


def cell_of(shown: TopDownShown, key: Key) -> ShareCell:
    """Return a cell."""
    method, reference = shown.method, shown.reference
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


def text(cell: ShareCell, quantity: Quantity, shown: TopDownShown) -> str:
    """Return what a cell shows."""
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


def exact(cell: ShareCell, quantity: Quantity, shown: TopDownShown) -> str:
    """Return what an editor starts with and what a copy carries."""
    if cell.share is None:
        return ""
    match quantity:
        case Quantity.SHARE | Quantity.FRACTION:
            return share_exact(cell.share)
        case Quantity.OF_TOTAL:
            return exact_text(cell.of_total)
        case Quantity.BUDGET:
            return exact_text(cell.budget)
        case Quantity.SIGMA:
            return "" if cell.entry is None or cell.entry.sigma is None else repr(cell.entry.sigma)
        case Quantity.MARGIN:
            margin = margin_of(cell, shown)
            return "" if margin is None else f"{margin:g}"


def margin_of(cell: ShareCell, shown: TopDownShown) -> float | None:
    """Return the margin of one answer in the scenario's convention, None for a level or without a budget."""
    if cell.entry is None or cell.entry.margins is None:
        return None
    return cell.entry.margins.by(shown.scenario.conventions.margin)


def heading(quantity: Quantity, shown: TopDownShown) -> str:
    """Return what the cells mean, with the unit."""
    method, conventions = shown.method, shown.scenario.conventions
    symbol = method.framework.symbol
    match quantity:
        case Quantity.SHARE | Quantity.FRACTION:
            return f"share of the level's {symbol}"
        case Quantity.OF_TOTAL:
            return f"share of the whole {symbol}"
        case Quantity.BUDGET:
            return symbol
        case Quantity.SIGMA:
            return f"σ of one answer, {counted(method.schema)}"
        case Quantity.MARGIN:
            words = f"{percent(conventions.confidence, places=0)}, {margin_word(conventions.margin)}"
            return f"margin of one answer, {counted(method.schema)} ({words})"


def tip(cell: ShareCell, shown: TopDownShown) -> str:
    """Return everything about a cell, for the pointer that rests on it."""
    symbol, title = shown.method.framework.symbol, place_title(cell.key)
    if cell.share is None:
        return f"{title}\nNot measured. Type a share to measure it (25, 25 % or 0.25), or press Space."
    lines = [title, f"Share {share_exact(cell.share)} = {share_percent(cell.share)}"]
    lines.append(
        f"{symbol} {budget_text(cell.budget)} = {exact_text(cell.budget)}, {percent(cell.of_total, places=2)} of all"
    )
    if cell.entry is not None and cell.entry.sigma is not None:
        margin = margin_of(cell, shown)
        word = counted(shown.method.schema)
        lines.append(
            f"σ {people(cell.entry.sigma)}, margin ±{people(margin or 0)} {word}, {cell.entry.cells:,} answers"
        )
    if cell.is_changed and cell.before is not None and shown.reference is not None:
        lines.append(f"Was {share_exact(cell.before)} = {share_percent(cell.before)} in {shown.reference.title}")
    if cell.is_locked:
        lines.append("Locked: edits of other shares leave it alone")
    if isinstance(cell.key, LevelQuery):
        lines.append(query_sentence(shown.method.schema, cell.key.query))
    return "\n".join(lines)


def forbidden(cell: ShareCell, quantity: Quantity) -> str:
    """Return why a cell cannot be typed into, "" when it can."""
    if quantity not in TYPED:
        return "It follows from the shares: show shares, budgets or margins to edit."
    if cell.is_locked:
        return "Locked: unlock it first."
    if quantity is Quantity.MARGIN and isinstance(cell.key, str):
        return "A level has no margin of its own: its queries have."
    return ""


def parse_share(typed: str) -> Fraction:
    """Read a share: ``0.25``, ``25 %``, ``25``, ``1/4`` or ``3773/4097``.

    The column shows percentages, so a number above 1 is one; 1 is the whole.

    Raises:
        ValueError: not a number from 0 to 1, nor a percentage.
    """
    share = parse_exact(typed)
    if 1 < share <= 100 and "%" not in typed:
        return share / 100
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1 (0 % and 100 %), got {typed.strip()}")
    return share


def edit_of(cell: ShareCell, quantity: Quantity, typed: str, shown: TopDownShown) -> tuple[str, Edit]:
    """Return name and edit of what was typed into a cell.

    Raises:
        ValueError: not a legal number.
        PhexploreError: it cannot be reached.
    """
    if reason := forbidden(cell, quantity):
        raise ValueError(reason.rstrip("."))
    method, key = shown.method, cell.key
    match quantity:
        case Quantity.BUDGET:
            wanted = parse_exact(typed)
            share = (
                share_for_budget(method, key, wanted)
                if isinstance(key, LevelQuery)
                else level_share_for_budget(method, wanted)
            )
            label = f"Give {place_title(key)} {method.framework.symbol} {typed.strip()}"
        case Quantity.MARGIN if isinstance(key, LevelQuery):
            margin = parse_people(typed.strip().lstrip("±"))
            share = share_for_margin(method, key, margin, shown.scenario.conventions)
            label = f"Set the margin of {place_title(key)} to {exact_text(margin)} {counted(method.schema)}"
        case _:
            share = parse_share(typed)
            label = f"Set the share of {place_title(key)} to {typed.strip()}"
    return label, share_edit(shown, key, share)


def share_edit(shown: TopDownShown, key: Key, share: Fraction) -> Edit:
    """Return the edit that gives a key this share; a query group that is not measured becomes measured."""
    if isinstance(key, str):
        return lambda scenario: set_level_share(scenario, key, share)
    if key in shown.method.query_shares:
        return lambda scenario: set_query_share(scenario, key, share)
    return lambda scenario: add_query(scenario, key, share)


def measured_edit(shown: TopDownShown, key: LevelQuery, *, measured: bool) -> tuple[str, Edit]:
    """Return name and edit that measure a query group at a level, or no longer; a new one takes the reference's share.

    Without a reference that measures it, it takes one hundredth of the level.
    """
    if not measured:
        return f"Stop measuring {place_title(key)}", lambda scenario: remove_query(scenario, key)
    before = cell_of(shown, key).before
    share = before or Fraction(1, 100)
    return f"Measure {place_title(key)}", lambda scenario: add_query(scenario, key, share)


def lock_edit(keys: Sequence[Key], *, locked: bool) -> tuple[str, Edit]:
    """Return name and edit that lock or unlock shares, as one step."""

    def edit(scenario: Scenario) -> Scenario:
        for key in keys:
            if isinstance(key, str):
                scenario = set_item(scenario, "locked_levels", key, value=locked)
            else:
                scenario = set_item(scenario, "locked_queries", key, value=locked)
        return scenario

    what = f"the share of {place_title(keys[0])}" if len(keys) == 1 else f"{len(keys)} shares"
    return f"{'Lock' if locked else 'Unlock'} {what}", edit


def sum_text(shown: TopDownShown, level: str | None) -> tuple[str, bool]:
    """Return the sum of a column (None: of the levels) and whether it is exactly 1."""
    method = shown.method
    if level is None:
        total = sum(method.level_shares.values(), Fraction(0))
    else:
        total = sum((share for key, share in method.query_shares.items() if key.level == level), Fraction(0))
    return ("1" if total == 1 else exact_text(total)), total == 1


def column_title(level: str) -> str:
    """Return the heading of a level's column."""
    return level_title(level)
