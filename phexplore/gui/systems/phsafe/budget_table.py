"""The budget table as data: a row per query of Table 10, what each column shows and carries, and what it takes. No Qt."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from phexplore.catalog.names import spellings
from phexplore.catalog.tables import PEOPLE_OR_HOUSEHOLDS, counted_in, tables
from phexplore.errors import PhexploreError
from phexplore.figures.wording import (
    budget_text,
    first_few,
    margin_text,
    margin_word,
    parse_people,
    people,
    short_budget,
    signed_budget,
    signed_people,
    target_text,
)
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.systems.phsafe.summary import is_target_met
from phexplore.gui.tables.blocks import refused_entry
from phexplore.gui.tables.parameter_table import (
    Cell,
    Edit,
    Entry,
    Kind,
    ParameterColumn,
    ParameterTable,
    PlainRow,
    Step,
    Tone,
    parse_yes,
    plain,
)
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.edits import apply_all, set_item
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Unlimited, exact_text, parse_budget
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import ABSENT, percent
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold, set_published
from phexplore.systems.phsafe.edits import set_bounded_budget, set_budget, set_target
from phexplore.systems.phsafe.forecast import QueryForecast
from phexplore.systems.phsafe.shared import absurd_query


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
    MARGIN_CHANGE = "margin change"
    SHARE = "share"
    BUDGET_CHANGE = "budget change"
    LOCK = "lock"


COLUMNS = tuple(Column)
CONVENTION_COLUMNS = {
    Column.MARGIN_EXACT: MarginConvention.EXACT,
    Column.MARGIN_NORMAL: MarginConvention.NORMAL,
    Column.MARGIN_PAPER: MarginConvention.PAPER,
}
"""Side by side on demand."""
_QUIET = (Column.SHARE, Column.THRESHOLD, *CONVENTION_COLUMNS)
_BUDGETS = frozenset({Column.BUDGET, Column.BOUNDED})
_NOISE = (*_BUDGETS, Column.MARGIN)
_TYPED = (Column.THRESHOLD, Column.TARGET, *_NOISE)
_ORDER = (Column.THRESHOLD, Column.BUDGET, Column.BOUNDED, Column.TARGET, Column.MARGIN, Column.PUBLISHED, Column.LOCK)
"""Edits of a block are made in this order: what others are computed from comes first."""


@dataclass(frozen=True, slots=True)
class Row(PlainRow):
    """Everything a row shows. Equal rows look equal, so a table redraws only the rows that differ.

    Attributes:
        key: the query.
        entry: its forecast.
        share: of the scenario's total, exact; None when that total is 0 or unlimited.
        target: margin aimed at, in people.
        is_met: whether the margin keeps the target.
        is_locked: the budget must not be changed.
        conventions: what the margins mean.
        framework: decides between ρ and ε.
        before: its forecast in the reference, None when there is no comparable one.
    """

    key: QueryKey
    entry: QueryForecast
    share: Fraction | None
    target: Fraction | None
    is_met: bool
    is_locked: bool
    conventions: Conventions
    framework: PrivacyFramework
    before: QueryForecast | None

    @property
    def title(self) -> str:
        """The query in words."""
        return self.key.title

    @property
    def group(self) -> str:
        """The queries of a table stand together."""
        return self.key.table

    @property
    def is_published(self) -> bool:
        """Whether the query has a budget."""
        return self.entry.budget != 0

    @property
    def remark(self) -> str:
        """What is to be said of a budget or margin that is hardly meant, "" for nothing."""
        return absurd_query(self.entry, self.before, self.conventions)

    def moved(self, before: Row) -> tuple[Column, ...]:
        """Return the columns that may look different: every budget moves the shares of all rows."""
        if before.entry is self.entry and before == self:
            return ()
        return (Column.SHARE,) if _looks(before) == _looks(self) else COLUMNS

    def margin(self, convention: MarginConvention | None = None) -> float | None:
        """Return the margin in people by the scenario's or another convention."""
        chosen = convention or self.conventions.margin
        if self.entry.margins is None:
            return None
        if convention is MarginConvention.PAPER and self.entry.margins.paper is None:
            return None
        return self.entry.margins.by(chosen)


def _looks(row: Row) -> tuple[object, ...]:
    """Return what a row looks like but for its share."""
    entry, reference = row.entry, id(row.before)
    return entry.budget, entry.threshold, row.target, row.is_locked, reference, row.framework, row.conventions


def row_of(shown: ScenarioView, query: QueryKey) -> Row:
    """Return the row of one query."""
    return _row(shown, shown.figures.query(query), _before(shown).get(query))


def budget_table(shown: ScenarioView) -> ParameterTable[Row]:
    """Return the table of a version, in the order of Table 10."""
    before, scenario = _before(shown), shown.scenario
    return ParameterTable(
        budget_columns(scenario.phsafe.framework, scenario.conventions),
        tuple(_row(shown, entry, before.get(entry.query)) for entry in shown.figures.queries),
        _plan,
        Column.LEVEL,
        Column.MARGIN,
    )


def _before(shown: ScenarioView) -> Mapping[QueryKey, QueryForecast]:
    """Return the entries of the reference, none when its budgets mean something else."""
    reference = shown.reference
    if reference is None or reference.scenario.phsafe.framework is not shown.scenario.phsafe.framework:
        return {}
    found: Mapping[QueryKey, QueryForecast] = reference.figures.by_query
    return found


def _row(shown: ScenarioView, entry: QueryForecast, before: QueryForecast | None) -> Row:
    scenario, method = shown.scenario, shown.scenario.phsafe
    target = method.targets.get(entry.query)
    return Row(
        entry.query,
        entry,
        shown.figures.share(entry.budget),
        target,
        target is None or is_target_met(entry, target, scenario),
        entry.query in method.locks,
        scenario.conventions,
        method.framework,
        before,
    )


@lru_cache(maxsize=8)
def budget_columns(framework: PrivacyFramework, conventions: Conventions) -> tuple[ParameterColumn[Row], ...]:
    """Return the columns.

    Args:
        framework: decides between ρ and ε.
        conventions: what the margins mean.
    """
    symbol, confidence = framework.symbol, percent(conventions.confidence, places=None)
    grouping = "1,000 is one thousand, 0,25 a quarter"
    column, margin = _column, _margin_column
    return (
        column(
            Column.TABLE,
            "Table",
            "The table that is measured",
            "PH5_denom",
            lambda row: str(row.key.table),
            row_names=lambda row: spellings(row.key.table),
            names=("table",),
        ),
        column(
            Column.LEVEL,
            "Level",
            "Geographic level and race or ethnicity iteration",
            "Nation, Unattributed",
            lambda row: row.key.level.title,
            row_names=lambda row: {row.key.level.text.lower(), *spellings(row.key.level.title)},
            names=("level", "population group level", "geographic level and iteration"),
        ),
        column(
            Column.PUBLISHED,
            "Publ.",
            "Whether anything is published; a budget of 0 means no",
            "Publ.",
            step=_set_published,
            names=("publ.", "published"),
        ),
        column(
            Column.THRESHOLD,
            "τ",
            "Truncation threshold τ: most people counted per household (one value per table)",
            "99",
            lambda row: ABSENT if row.entry.threshold is None else str(row.entry.threshold),
            absent="This table counts households, families or homes: nobody is left out of it, so it has no threshold.",
            step=_set_threshold,
            names=("τ", "tau", "threshold"),
        ),
        column(
            Column.TARGET,
            "Target",
            f"Margin of error the committee aims at, in {PEOPLE_OR_HOUSEHOLDS}; the budget stays, Targets solves for it. "
            + grouping,
            "9,999",
            lambda row: target_text(row.target),
            exact=lambda row: "" if row.target is None else exact_text(row.target),
            step=_set_target,
            names=("target", "moe target", "target moe"),
        ),
        margin(
            Column.MARGIN,
            f"MOE\n{confidence}",
            f"{confidence} margin of error of one cell, in {PEOPLE_OR_HOUSEHOLDS} ({margin_word(conventions.margin)} convention); "
            f"the budget follows, the target stays. {grouping}",
            "99,999",
            step=_set_margin,
            follows=tuple(_BUDGETS),
            names=("moe", "margin", "margin of error", "moe *"),
        ),
        margin(Column.MARGIN_EXACT, "exact", f"{confidence} margin, exact quantile of the discrete noise", "1,000.0"),
        margin(
            Column.MARGIN_NORMAL,
            "normal",
            f"{confidence} margin, z σ with z = {exact_text(conventions.z)} at 90 %",
            "1,000.0",
        ),
        margin(Column.MARGIN_PAPER, "paper", "90 % margin as the PHSafe paper prints it, ⌊1.64 σ⌋", "1,000.0"),
        column(
            Column.BUDGET,
            symbol,
            f"Privacy-loss budget {symbol} of the query, unbounded neighbors",
            "0.000000",
            lambda row: short_budget(row.entry.budget),
            exact=lambda row: exact_text(row.entry.budget),
            step=_set_budget,
            names=("ρ", "rho", "ε", "epsilon", "budget"),
        ),
        column(
            Column.BOUNDED,
            f"Bounded\n{symbol}",
            f"Bounded {symbol}: twice the unbounded one, as the committee was shown it",
            "0.000000",
            lambda row: short_budget(row.entry.bounded_budget),
            exact=lambda row: exact_text(row.entry.bounded_budget),
            step=_set_bounded,
            names=("bounded ρ", "bounded rho", "bounded ε", "bounded epsilon", "bounded"),
        ),
        column(
            Column.MARGIN_CHANGE,
            "Δ\nMOE",
            f"Margin minus the reference's margin, in {PEOPLE_OR_HOUSEHOLDS}",
            "−99,999",
            _margin_change,
            names=("δ *",),
        ),
        column(
            Column.SHARE,
            "Share",
            f"Share of the total {symbol}",
            "> 99.9 %",
            lambda row: percent(row.share) if row.is_published else ABSENT,
            exact=lambda row: "" if row.share is None else f"{float(100 * row.share):.10g} %",
        ),
        column(
            Column.BUDGET_CHANGE,
            f"Δ bounded\n{symbol}",
            f"Bounded {symbol} minus the reference's",
            "+0.000000",
            _budget_change,
        ),
        column(
            Column.LOCK,
            "Lock",
            "A locked budget is not changed by any edit",
            "Lock",
            step=_set_lock,
            names=("lock", "locked"),
        ),
    )


def column_of(row: Row, column: Column) -> ParameterColumn[Row]:
    """Return a column as it is for a row."""
    return budget_columns(row.framework, row.conventions)[COLUMNS.index(column)]


_KINDS = {
    Column.TABLE: Kind.WORDS,
    Column.LEVEL: Kind.WORDS,
    Column.PUBLISHED: Kind.TICK,
    Column.LOCK: Kind.LOCK,
}


def _column(
    key: Column, header: str, about: str, sample: str, text: Callable[[Row], str] = lambda _row: "", **more: Any
) -> ParameterColumn[Row]:
    return ParameterColumn(
        key,
        header,
        about,
        sample,
        _KINDS.get(key, Kind.NUMBER),
        partial(_cell, key, text),
        tip=partial(_tip, key, about),
        forbidden=partial(forbidden, key),
        repeats=key is Column.TABLE,
        **more,
    )


def _margin_column(key: Column, header: str, about: str, sample: str, **more: Any) -> ParameterColumn[Row]:
    """Return a column of margins.

    A copy carries them as shown: a margin is what a rounded budget gives, 500.041 people where 500 are meant and shown.
    """
    convention = CONVENTION_COLUMNS.get(key)

    def text(row: Row) -> str:
        return _margin_text(row, convention)

    def exact(row: Row) -> str:
        margin = row.margin(convention)
        return "" if margin is None else f"{margin:.6g}"

    return _column(key, header, about, sample, text, exact=exact, copied=lambda row: plain(text(row)), **more)


def _margin_text(row: Row, convention: MarginConvention | None = None) -> str:
    margin, is_judged = row.margin(convention), convention in {None, row.conventions.margin}
    if margin is None:
        return ABSENT
    return margin_text(margin, row.target if is_judged and not row.is_met else None)


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


def _cell(column: Column, text: Callable[[Row], str], row: Row) -> Cell:
    was, now = row.before, row.entry
    is_changed = was is not None and (was.bounded_budget, was.threshold) != (now.bounded_budget, now.threshold)
    return Cell(
        text(row),
        _tone(column, row),
        is_bold=column is Column.TABLE or (is_changed and column in _NOISE),
        is_shaded=row.is_locked and column in _TYPED,
        is_checked=row.is_locked if column is Column.LOCK else row.is_published,
        is_open=column in _ORDER and not forbidden(column, row),
    )


def _tone(column: Column, row: Row) -> Tone:
    is_missed = column in (Column.TARGET, Column.MARGIN) and not row.is_met
    if is_missed or (column in _NOISE and row.remark):
        return Tone.ATTENTION
    if column in _QUIET or (not row.is_published and column is not Column.TABLE):
        return Tone.QUIET
    return Tone.CHANGE if column in (Column.BUDGET_CHANGE, Column.MARGIN_CHANGE) else Tone.PLAIN


def _tip(column: Column, about: str, row: Row) -> str:
    body = about
    match column:
        case Column.TABLE | Column.LEVEL:
            product = tables()[row.key.table]
            return f"{row.title}: {product.title}\nUniverse: {product.universe}"
        case Column.BUDGET | Column.BOUNDED:
            budget = row.entry.budget if column is Column.BUDGET else row.entry.bounded_budget
            body = "Not published: the budget is 0" if budget == 0 else f"Exactly {exact_text(budget)}"
        case Column.TARGET if row.target is None:
            body = "No target"
        case Column.TARGET | Column.MARGIN if not row.is_met and row.target is not None:
            body = (
                f"Wider than the target of {target_text(row.target)} {counted_in(row.key.table)}: {_margin_text(row)}"
            )
        case Column.BUDGET_CHANGE | Column.MARGIN_CHANGE:
            return _change_sentence(row)
    if row.remark and column in _NOISE:
        body = f"{body}\nLooks like a slip: {row.remark}"
    reason = forbidden(column, row) if column in _ORDER else ""
    return f"{body}\n{reason}" if reason else body


def _change_sentence(row: Row) -> str:
    if row.before is None:
        return "There is nothing to compare with"
    symbol = row.framework.symbol
    was = "not published" if row.before.margins is None else people(row.before.margins.by(row.conventions.margin))
    now = "not published" if row.entry.margins is None else people(row.entry.margins.by(row.conventions.margin))
    budgets = f"bounded {symbol} {budget_text(row.before.bounded_budget)} → {budget_text(row.entry.bounded_budget)}"
    return f"{row.title}: MOE {was} → {now} {counted_in(row.key.table)}, {budgets}"


def forbidden(column: Column, row: Row) -> str:
    """Return why a cell takes no entry, "" when it does."""
    if column is Column.LOCK:
        return ""
    if column is Column.THRESHOLD:
        return "" if row.entry.threshold is not None else "Tables that count housing units are not truncated."
    return "The row is locked. Unlock it first." if row.is_locked else ""


def parse_threshold(typed: str) -> int:
    """Read a truncation threshold.

    Raises:
        ValueError: not a whole number of at least 1.
    """
    value = parse_people(typed)
    if value.denominator != 1 or value < 1:
        raise ValueError(f"a threshold is a whole number of people from 1, got {typed.strip()}")
    return value.numerator


def _set_published(row: Row, typed: str) -> Step:
    published = parse_yes(typed)
    label = f"Publish {row.title}" if published else f"Leave out {row.title}"
    return label, lambda scenario: set_published(scenario, row.key, published=published)


def _set_lock(row: Row, typed: str) -> Step:
    locked = parse_yes(typed)
    label = f"{'Lock' if locked else 'Unlock'} {row.title}"
    return label, lambda scenario: set_item(scenario, "locks", row.key, value=locked)


def _set_budget(row: Row, typed: str) -> Step:
    budget = parse_budget(typed)
    label = f"Set unbounded {row.framework.symbol} of {row.title} to {exact_text(budget)}"
    return f"Leave out {row.title}" if budget == 0 else label, lambda scenario: set_budget(scenario, row.key, budget)


def _set_bounded(row: Row, typed: str) -> Step:
    bounded = parse_budget(typed)
    label = f"Set bounded {row.framework.symbol} of {row.title} to {exact_text(bounded)}"
    return label, lambda scenario: set_bounded_budget(scenario, row.key, bounded)


def _set_target(row: Row, typed: str) -> Step:
    if not typed.strip():
        return f"Remove the target of {row.title}", lambda scenario: set_target(scenario, row.key, None)
    target = parse_people(typed)
    label = f"Set the target of {row.title} to {target_text(target)} {counted_in(row.key.table)}"
    return label, lambda scenario: set_target(scenario, row.key, target)


def _set_margin(row: Row, typed: str) -> Step:
    margin = parse_people(typed)
    label = f"Set the margin of {row.title} to {target_text(margin)} {counted_in(row.key.table)}"
    return label, lambda scenario: edit_margin(scenario, row.key, margin)


def _set_threshold(row: Row, typed: str) -> Step:
    table, threshold = row.key.table, parse_threshold(typed)
    return f"Set the threshold of {table} to {threshold}", lambda scenario: edit_threshold(scenario, table, threshold)


def _plan(entries: Sequence[Entry]) -> Step:
    """Return one step for all entries of a pasted block; in a row the margin follows from the budget."""
    by_row: dict[QueryKey, dict[Column, Entry]] = {}
    for entry in entries:
        by_row.setdefault(entry.row.key, {})[Column(entry.column.key)] = entry
    _agree_on_thresholds(entries)
    edits = [edit for cells in by_row.values() for edit in _row_edits(cells)]
    ordered = [edit for _, edit in sorted(edits, key=lambda pair: pair[0])]
    values = f"{len(ordered)} value" + ("" if len(ordered) == 1 else "s")
    label = f"Paste {values}: {first_few([query.title for query in by_row])}"
    return label, lambda scenario: apply_all(scenario, ordered)


def _row_edits(cells: Mapping[Column, Entry]) -> list[tuple[int, Edit]]:
    _agree_on_budget(cells)
    edits = []
    for column, entry in cells.items():
        if column is Column.PUBLISHED and not cells.keys().isdisjoint(_NOISE):
            continue
        if column is Column.BOUNDED and Column.BUDGET in cells:
            continue
        is_unlocking = column is Column.LOCK and entry.row.is_locked  # comes before everything
        edits.append((-1 if is_unlocking else _ORDER.index(column), _guarded(entry, cells)))
    return edits


def _agree_on_budget(cells: Mapping[Column, Entry]) -> None:
    if not cells.keys() >= _BUDGETS:
        return
    try:
        budget, bounded = (parse_budget(cells[column].typed) for column in (Column.BUDGET, Column.BOUNDED))
    except ValueError as error:
        raise refused_entry(cells[Column.BUDGET], str(error)) from error
    if isinstance(budget, Unlimited) or isinstance(bounded, Unlimited):
        is_twice = budget is bounded
    else:
        is_twice = 2 * budget == bounded
    if not is_twice:
        raise refused_entry(cells[Column.BOUNDED], "it is not twice the budget in the same row")


def _agree_on_thresholds(entries: Sequence[Entry]) -> None:
    seen: dict[str, str] = {}
    for entry in entries:
        if entry.column.key is Column.THRESHOLD and seen.setdefault(entry.row.group, entry.typed) != entry.typed:
            raise refused_entry(entry, f"{entry.row.group} has one threshold for all its levels")


def _guarded(entry: Entry, cells: Mapping[Column, Entry]) -> Edit:
    """Return the edit of one cell, with its name in whatever it raises."""
    row = replace(entry.row, is_locked=False) if Column.LOCK in cells else entry.row

    def edit(scenario: Scenario) -> Scenario:
        try:
            _, change = entry.column.enter(row, entry.typed)
            return change(scenario)
        except (ValueError, PhexploreError) as error:
            raise refused_entry(entry, str(error)) from error

    return edit
