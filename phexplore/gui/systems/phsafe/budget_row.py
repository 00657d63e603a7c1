"""One row of the budget table: what each column shows, copies and takes. Pure functions, no Qt."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from phexplore.catalog.tables import tables
from phexplore.figures.wording import (
    ABSENT,
    budget_text,
    margin_word,
    parse_people,
    people,
    percent,
    signed_budget,
    signed_people,
)
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.systems.phsafe.tiles import is_target_met
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.edits import EditRefusedError, set_item
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget, Unlimited, exact_text, parse_budget
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold, set_published
from phexplore.systems.phsafe.edits import set_bounded_budget, set_budget, set_target
from phexplore.systems.phsafe.forecast import QueryForecast
from phexplore.systems.phsafe.shared import absurd_query

Edit = Callable[[Scenario], Scenario]


class Column(enum.Enum):
    """The columns, in their order."""

    TABLE = "table"
    LEVEL = "level"
    PUBLISHED = "published"
    THRESHOLD = "threshold"
    TARGET = "target"
    MARGIN = "margin"
    MARGIN_EXACT = "margin exact"
    MARGIN_NORMAL = "margin normal"
    MARGIN_PAPER = "margin paper"
    BUDGET = "budget"
    BOUNDED = "bounded"
    SHARE = "share"
    MARGIN_CHANGE = "margin change"
    BUDGET_CHANGE = "budget change"
    LOCK = "lock"


COLUMNS = tuple(Column)
CONVENTION_COLUMNS = {
    Column.MARGIN_EXACT: MarginConvention.EXACT,
    Column.MARGIN_NORMAL: MarginConvention.NORMAL,
    Column.MARGIN_PAPER: MarginConvention.PAPER,
}
"""ScenarioView side by side on demand."""
CHECKED = frozenset({Column.PUBLISHED, Column.LOCK})
TYPED = frozenset({Column.THRESHOLD, Column.TARGET, Column.MARGIN, Column.BUDGET, Column.BOUNDED})
"""Columns that take typed text."""
TEXT = frozenset({Column.TABLE, Column.LEVEL})
"""Columns aligned to the left."""


@dataclass(frozen=True, slots=True)
class Row:
    """Everything a row shows. Equal rows look equal, so a table redraws only the rows that differ.

    Attributes:
        query: which one.
        entry: its forecast.
        target: margin aimed at, in people.
        is_met: whether the margin keeps the target.
        is_locked: the budget must not be changed.
        conventions: what the margins mean.
        framework: decides between ρ and ε.
        before: its forecast in the reference, None when there is no comparable one.
    """

    query: QueryKey
    entry: QueryForecast
    target: Fraction | None
    is_met: bool
    is_locked: bool
    conventions: Conventions
    framework: PrivacyFramework
    before: QueryForecast | None

    @property
    def is_published(self) -> bool:
        """Whether the query has a budget."""
        return self.entry.budget != 0

    @property
    def remark(self) -> str:
        """What is to be said of a budget or margin that is hardly meant, "" for nothing."""
        return absurd_query(self.entry, self.before, self.conventions)

    def margin(self, convention: MarginConvention | None = None) -> float | None:
        """Return the margin in people by the scenario's or another convention."""
        chosen = convention or self.conventions.margin
        if self.entry.margins is None:
            return None
        if convention is MarginConvention.PAPER and self.entry.margins.paper is None:
            return None
        return self.entry.margins.by(chosen)


def differs_only_in_share(first: Row, second: Row) -> bool:
    """Return whether two rows of one query show the same, except for the share, which every budget moves."""
    was, now = first.entry, second.entry
    return (
        was.budget == now.budget
        and was.threshold == now.threshold
        and first.target == second.target
        and first.is_locked == second.is_locked
        and first.before is second.before
        and first.framework is second.framework
        and first.conventions == second.conventions
    )


def row_of(shown: ScenarioView, query: QueryKey) -> Row:
    """Return the row of one query."""
    return _row(shown, shown.figures.query(query), _before(shown).get(query))


def rows_of(shown: ScenarioView) -> dict[QueryKey, Row]:
    """Return all rows in the order of Table 10."""
    before = _before(shown)
    return {entry.query: _row(shown, entry, before.get(entry.query)) for entry in shown.figures.queries}


def _before(shown: ScenarioView) -> Mapping[QueryKey, QueryForecast]:
    """Return the entries of the reference, none when its budgets mean something else."""
    reference = shown.reference
    if reference is None or reference.scenario.phsafe.framework is not shown.scenario.phsafe.framework:
        return {}
    return {entry.query: entry for entry in reference.figures.queries}


def _row(shown: ScenarioView, entry: QueryForecast, before: QueryForecast | None) -> Row:
    scenario = shown.scenario
    target = scenario.phsafe.targets.get(entry.query)
    return Row(
        entry.query,
        entry,
        target,
        target is None or is_target_met(entry, target, scenario),
        entry.query in scenario.phsafe.locks,
        scenario.conventions,
        scenario.phsafe.framework,
        before,
    )


def header(column: Column, framework: PrivacyFramework, conventions: Conventions) -> str:
    """Return the header of a column, in one or two lines."""
    symbol = framework.symbol
    return {
        Column.TABLE: "Table",
        Column.LEVEL: "Level",
        Column.PUBLISHED: "Publ.",
        Column.THRESHOLD: "τ",
        Column.TARGET: "Target",
        Column.MARGIN: f"MOE\n{percent(conventions.confidence, places=0)}",
        Column.MARGIN_EXACT: "exact",
        Column.MARGIN_NORMAL: "normal",
        Column.MARGIN_PAPER: "paper",
        Column.BUDGET: symbol,
        Column.BOUNDED: f"Bounded\n{symbol}",
        Column.SHARE: "Share",
        Column.MARGIN_CHANGE: "Δ\nMOE",
        Column.BUDGET_CHANGE: f"Δ bounded\n{symbol}",
        Column.LOCK: "Lock",
    }[column]


def column_name(column: Column, framework: PrivacyFramework, conventions: Conventions) -> str:
    """Return the header of a column in one line, as copies carry it."""
    return header(column, framework, conventions).replace("\n", " ")


def header_tip(column: Column, framework: PrivacyFramework, conventions: Conventions) -> str:
    """Return the long name of a column."""
    symbol = framework.symbol
    convention = margin_word(conventions.margin)
    confidence = percent(conventions.confidence, places=0)
    return {
        Column.TABLE: "The table that is measured",
        Column.LEVEL: "Geographic level and race or ethnicity iteration",
        Column.PUBLISHED: "Whether anything is published; a budget of 0 means no",
        Column.THRESHOLD: "Truncation threshold τ: most people counted per household (one value per table)",
        Column.TARGET: "Margin of error the committee aims at, in people; the budget stays, Targets solves for it. 1,000 is one thousand, 0,25 a quarter",
        Column.MARGIN: f"{confidence} margin of error of one cell, in people ({convention} convention); the budget follows, the target stays. 1,000 is one thousand, 0,25 a quarter",
        Column.MARGIN_EXACT: f"{confidence} margin, exact quantile of the discrete noise",
        Column.MARGIN_NORMAL: f"{confidence} margin, z σ with z = {exact_text(conventions.z)} at 90 %",
        Column.MARGIN_PAPER: "90 % margin as the PHSafe paper prints it, ⌊1.64 σ⌋",
        Column.BUDGET: f"Privacy-loss budget {symbol} of the query, unbounded neighbours",
        Column.BOUNDED: f"Bounded {symbol}: twice the unbounded one, as the committee was shown it",
        Column.SHARE: f"Share of the total {symbol}",
        Column.MARGIN_CHANGE: "Margin minus the reference's margin, in people",
        Column.BUDGET_CHANGE: f"Bounded {symbol} minus the reference's",
        Column.LOCK: "A locked budget is not changed by any edit",
    }[column]


def text(column: Column, row: Row) -> str:
    """Return what a cell shows."""
    if (convention := CONVENTION_COLUMNS.get(column)) is not None:
        return _people_or_absent(row.margin(convention))
    return _TEXTS[column](row)


def _people_or_absent(margin: float | None) -> str:
    return ABSENT if margin is None else people(margin)


def _margin_change(row: Row) -> str:
    if row.before is None or row.before.margins is None or row.entry.margins is None:
        return "" if row.before is None or (row.before.margins is None) == (row.entry.margins is None) else ABSENT
    convention = row.conventions.margin
    change = signed_people(row.entry.margins.by(convention) - row.before.margins.by(convention))
    return "" if change == "0" else change


def _budget_change(row: Row) -> str:
    if row.before is None or row.before.bounded_budget == row.entry.bounded_budget:
        return ""
    now, then = row.entry.bounded_budget, row.before.bounded_budget
    if isinstance(now, Unlimited) or isinstance(then, Unlimited):
        return "∞"
    return signed_budget(now - then)


def exact(column: Column, row: Row) -> str:
    """Return what an editor starts with: exact, without grouping, decimal point."""
    if column is Column.MARGIN or column in CONVENTION_COLUMNS:
        margin = row.margin(CONVENTION_COLUMNS.get(column))
        return "" if margin is None else f"{margin:.6g}"
    if (spelled := _EXACT.get(column)) is not None:
        return spelled(row)
    shown = text(column, row)
    return "" if shown == ABSENT else shown.replace("−", "-").replace(",", "")


def copied(column: Column, row: Row) -> str:
    """Return what a copy carries: budgets and targets exactly, margins as the cell shows them, without grouping.

    A margin is what a rounded budget gives: 500.041 people where 500 are meant and shown.
    """
    if column is Column.MARGIN or column in CONVENTION_COLUMNS:
        shown = text(column, row)
        return "" if shown == ABSENT else shown.replace(",", "")
    return exact(column, row)


_TEXTS: dict[Column, Callable[[Row], str]] = {
    Column.TABLE: lambda row: str(row.query.table),
    Column.LEVEL: lambda row: row.query.level.title,
    Column.PUBLISHED: lambda _: "",
    Column.THRESHOLD: lambda row: ABSENT if row.entry.threshold is None else str(row.entry.threshold),
    Column.TARGET: lambda row: "" if row.target is None else people(row.target),
    Column.MARGIN: lambda row: _people_or_absent(row.margin()),
    Column.BUDGET: lambda row: budget_text(row.entry.budget),
    Column.BOUNDED: lambda row: budget_text(row.entry.bounded_budget),
    Column.SHARE: lambda row: percent(row.entry.share) if row.is_published else ABSENT,
    Column.MARGIN_CHANGE: _margin_change,
    Column.BUDGET_CHANGE: _budget_change,
    Column.LOCK: lambda _: "",
}
_EXACT: dict[Column, Callable[[Row], str]] = {
    Column.PUBLISHED: lambda row: "yes" if row.is_published else "no",
    Column.LOCK: lambda row: "yes" if row.is_locked else "no",
    Column.LEVEL: lambda row: row.query.level.title,
    Column.TARGET: lambda row: "" if row.target is None else exact_text(row.target),
    Column.BUDGET: lambda row: exact_text(row.entry.budget),
    Column.BOUNDED: lambda row: exact_text(row.entry.bounded_budget),
    Column.SHARE: lambda row: "" if row.entry.share is None else f"{float(row.entry.share):.10g}",
}


def tip(column: Column, row: Row) -> str:
    """Return what is said when the pointer rests on a cell."""
    reason = forbidden(column, row)
    match column:
        case Column.TABLE | Column.LEVEL:
            product = tables()[row.query.table]
            return f"{row.query.title}: {product.title}\nUniverse: {product.universe}"
        case Column.BUDGET | Column.BOUNDED:
            budget = row.entry.budget if column is Column.BUDGET else row.entry.bounded_budget
            body = "Not published: the budget is 0" if budget == 0 else f"Exactly {exact_text(budget)}"
        case Column.TARGET if row.target is None:
            body = "No target"
        case Column.TARGET | Column.MARGIN if not row.is_met and row.target is not None:
            body = f"Wider than the target of {people(row.target)} people: {_people_or_absent(row.margin())}"
        case Column.BUDGET_CHANGE | Column.MARGIN_CHANGE:
            body = _change_sentence(row)
        case _:
            body = header_tip(column, row.framework, row.conventions)
    if row.remark and column in {Column.BUDGET, Column.BOUNDED, Column.MARGIN}:
        body = f"{body}\nLooks like a slip: {row.remark}"
    return f"{body}\n{reason}" if reason and column in TYPED | CHECKED else body


def _change_sentence(row: Row) -> str:
    if row.before is None:
        return "There is nothing to compare with"
    symbol = row.framework.symbol
    was = "not published" if row.before.margins is None else people(row.before.margins.by(row.conventions.margin))
    now = "not published" if row.entry.margins is None else people(row.entry.margins.by(row.conventions.margin))
    budgets = f"bounded {symbol} {budget_text(row.before.bounded_budget)} → {budget_text(row.entry.bounded_budget)}"
    return f"{row.query.title}: MOE {was} → {now} people, {budgets}"


def forbidden(column: Column, row: Row) -> str:
    """Return why a cell takes no entry, "" when it does."""
    if column is Column.LOCK:
        return ""
    if column is Column.THRESHOLD:
        return "" if row.entry.threshold is not None else "Tables that count housing units are not truncated."
    if column not in TYPED | CHECKED:
        return "This column is computed."
    return "The row is locked. Unlock it first." if row.is_locked else ""


def edit_of(column: Column, row: Row, typed: str) -> tuple[str, Edit]:
    """Return the name of the step and the edit that a typed text asks for.

    Raises:
        ValueError, PhexploreError: what is typed cannot be taken; the message is for the user.
    """
    if reason := forbidden(column, row):
        raise EditRefusedError(reason)
    if column in CHECKED:
        return check_edit(column, row, checked=parse_yes(typed))
    return _TYPED_EDITS[column](row, typed)


def check_edit(column: Column, row: Row, *, checked: bool) -> tuple[str, Edit]:
    """Return the name of the step and the edit that a tick asks for.

    Raises:
        EditRefusedError: the row is locked.
    """
    query, title = row.query, row.query.title
    if column is Column.LOCK:
        label = f"{'Lock' if checked else 'Unlock'} {title}"
        return label, lambda scenario: set_item(scenario, "locks", query, value=checked)
    if reason := forbidden(column, row):
        raise EditRefusedError(reason)
    label = f"Publish {title}" if checked else f"Leave out {title}"
    return label, lambda scenario: set_published(scenario, query, published=checked)


def parse_threshold(typed: str) -> int:
    """Read a truncation threshold.

    Raises:
        ValueError: not a whole number of at least 1.
    """
    value = parse_people(typed)
    if value.denominator != 1 or value < 1:
        raise ValueError(f"a threshold is a whole number of people from 1, got {typed.strip()}")
    return value.numerator


def parse_yes(typed: str) -> bool:
    """Read yes or no.

    Raises:
        ValueError: neither.
    """
    word = typed.strip().lower()
    if word in {"yes", "y", "true", "1", "x"}:
        return True
    if word in {"no", "n", "false", "0", ""}:
        return False
    raise ValueError(f"{typed.strip()!r} is neither yes nor no")


def _budget_label(row: Row, budget: Budget) -> str:
    if budget == 0:
        return f"Leave out {row.query.title}"
    return f"Set {row.framework.symbol} of {row.query.title} to {exact_text(budget)}"


def _edit_budget(row: Row, typed: str) -> tuple[str, Edit]:
    query, budget = row.query, parse_budget(typed)
    return _budget_label(row, budget), lambda scenario: set_budget(scenario, query, budget)


def _edit_bounded(row: Row, typed: str) -> tuple[str, Edit]:
    query, bounded = row.query, parse_budget(typed)
    label = f"Set bounded {row.framework.symbol} of {query.title} to {exact_text(bounded)}"
    return label, lambda scenario: set_bounded_budget(scenario, query, bounded)


def _edit_target(row: Row, typed: str) -> tuple[str, Edit]:
    query = row.query
    if not typed.strip():
        return f"Remove the target of {query.title}", lambda scenario: set_target(scenario, query, None)
    target = parse_people(typed)
    label = f"Set the target of {query.title} to {exact_text(target)} people"
    return label, lambda scenario: set_target(scenario, query, target)


def _edit_margin(row: Row, typed: str) -> tuple[str, Edit]:
    query, margin = row.query, parse_people(typed)
    label = f"Set the margin of {query.title} to {exact_text(margin)} people"
    return label, lambda scenario: edit_margin(scenario, query, margin)


def _edit_threshold(row: Row, typed: str) -> tuple[str, Edit]:
    table, people_counted = row.query.table, parse_threshold(typed)
    return f"Set τ of {table} to {people_counted}", lambda scenario: edit_threshold(scenario, table, people_counted)


_TYPED_EDITS: dict[Column, Callable[[Row, str], tuple[str, Edit]]] = {
    Column.BUDGET: _edit_budget,
    Column.BOUNDED: _edit_bounded,
    Column.TARGET: _edit_target,
    Column.MARGIN: _edit_margin,
    Column.THRESHOLD: _edit_threshold,
}
