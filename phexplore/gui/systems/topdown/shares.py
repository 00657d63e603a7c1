"""The table of shares as data: a row per query group, a column per level, and what typing into a cell does. No Qt."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial

from phexplore.errors import PhexploreError
from phexplore.figures.wording import (
    first_few,
    margin_word,
    parse_people,
    percent,
)
from phexplore.gui.systems.topdown.scenario_view import TopDownShown
from phexplore.gui.tables.blocks import PasteRefusedError, refused_entry
from phexplore.gui.tables.parameter_table import (
    Cell,
    Edit,
    Entry,
    Kind,
    ParameterColumn,
    ParameterTable,
    Step,
    Tone,
)
from phexplore.model.edits import set_item
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.edits import add_query, remove_query, set_level_share, set_query_share, set_shares
from phexplore.systems.topdown.forecast import query_of
from phexplore.systems.topdown.share_cells import (
    Key,
    Quantity,
    ShareCell,
    canonical,
    cell_of,
    margin_of,
    query_rows,
    text,
    tip,
)
from phexplore.systems.topdown.share_edits import level_share_for_budget, share_for_budget, share_for_margin
from phexplore.systems.topdown.wording import (
    counted,
    level_title,
    place_title,
    query_sentence,
    query_title,
    share_exact,
)
from phexplore.workload.queries import catalogue
from phexplore.workload.schema import load_schema

RULE = (
    "The unlocked shares of the column keep their proportions and share what is left, in millionths; the largest takes "
    "the remainder, so that the column adds to exactly 1."
)
"""The rule of rebalancing, as it stands beside the table."""

TYPED = frozenset({Quantity.SHARE, Quantity.FRACTION, Quantity.BUDGET, Quantity.MARGIN})
"""Quantities that can be typed; noise follows from them."""


def offered_queries(method: TopDown) -> tuple[str, ...]:
    """Return the query groups of the catalogue that are measured nowhere."""
    known = {canonical(method.schema, key.query) for key in method.query_shares}
    return tuple(query.name for query in catalogue(load_schema(method.schema)) if query.name not in known)


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


def edit_of(cell: ShareCell, quantity: Quantity, typed: str, shown: TopDownShown) -> Step:
    """Return name and edit of what was typed into a cell.

    Args:
        cell: what is typed into.
        quantity: what the cells show, which says what is typed.
        typed: as it was typed.
        shown: the version.

    Raises:
        ValueError: not a legal number.
        PhexploreError: it cannot be reached.
    """
    if reason := forbidden(cell, quantity):
        raise ValueError(reason.rstrip("."))
    method, key = shown.method, cell.key
    share = _share_of(key, quantity, typed, shown, method)
    label = f"Set the share of {place_title(key)} to {typed.strip()}"
    if quantity is Quantity.BUDGET:
        label = f"Give {place_title(key)} {method.framework.symbol} {typed.strip()}"
    elif quantity is Quantity.MARGIN:
        label = f"Set the margin of {place_title(key)} to {exact_text(_margin(typed))} {counted(method.schema)}"
    return label, share_edit(shown, key, share)


def _share_of(key: Key, quantity: Quantity, typed: str, shown: TopDownShown, method: TopDown) -> Fraction:
    """Return the share that gives a typed quantity, with total and levels of a method."""
    if quantity is Quantity.BUDGET:
        budget = parse_exact(typed)
        if isinstance(key, LevelQuery):
            return share_for_budget(method, key, budget)
        return level_share_for_budget(method, budget)
    if quantity is Quantity.MARGIN and isinstance(key, LevelQuery):
        return share_for_margin(method, key, _margin(typed), shown.scenario.conventions)
    return parse_share(typed)


def _margin(typed: str) -> Fraction:
    return parse_people(typed.strip().lstrip("±"))


def share_edit(shown: TopDownShown, key: Key, share: Fraction) -> Edit:
    """Return the edit that gives a key this share; a query group that is not measured becomes measured."""
    if isinstance(key, str):
        return lambda scenario: set_level_share(scenario, key, share)
    if key in shown.method.query_shares:
        return lambda scenario: set_query_share(scenario, key, share)
    return lambda scenario: add_query(scenario, key, share)


def measured_edit(shown: TopDownShown, key: LevelQuery, *, measured: bool) -> Step:
    """Return name and edit that measure a query group at a level, or no longer; a new one takes the reference's share.

    Without a reference that measures it, it takes one hundredth of the level.
    """
    if not measured:
        return f"Stop measuring {place_title(key)}", lambda scenario: remove_query(scenario, key)
    before = cell_of(shown, key).before
    share = before or Fraction(1, 100)
    return f"Measure {place_title(key)}", lambda scenario: add_query(scenario, key, share)


def lock_edit(keys: Sequence[Key], *, locked: bool) -> Step:
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


def sum_text(shown: TopDownShown, level: str) -> tuple[str, bool]:
    """Return the sum of the query shares of a level and whether it is exactly 1."""
    total = sum((share for key, share in shown.method.query_shares.items() if key.level == level), Fraction(0))
    return ("1" if total == 1 else exact_text(total)), total == 1


class Part(enum.Enum):
    """The three groups of rows. The value is the title of those that stand alone."""

    LEVELS = "Share of the level"
    QUERIES = ""
    SUMS = "Sum of the query shares"


@dataclass(frozen=True)
class ShareRow:
    """The shares of the levels, of a query group at every level, or their sums.

    Attributes:
        part: which of them.
        query: the query group, "" for none.
        cells: by level; empty for sums.
        summed: shares that are summed, by level; empty but for sums.
        shown: the version; rows of two versions with equal cells are equal.
    """

    part: Part
    query: str
    cells: Mapping[str, ShareCell]
    summed: Mapping[str, Sequence[Fraction]]
    shown: TopDownShown = field(compare=False, repr=False)

    @property
    def key(self) -> tuple[Part, str]:
        """The part and the query group."""
        return self.part, self.query

    @property
    def title(self) -> str:
        """The row in words."""
        return self.part.value or query_title(self.query)

    @property
    def group(self) -> Part:
        """Levels, query groups and sums are three groups."""
        return self.part

    def place(self, column: str) -> Key | None:
        """Return the share at a level, None in names and sums."""
        cell = self.cells.get(column)
        return None if cell is None else cell.key

    def title_at(self, column: ParameterColumn[ShareRow]) -> str:
        """Return what stands at a column, as a refusal names it."""
        key = self.place(str(column.key))
        return f"{column.name} of {self.title}" if key is None else place_title(key)

    def moved(self, before: ShareRow) -> list[str]:
        """Return the levels whose share, budget, margin or reference is another one."""
        if self.shown.scenario.conventions != before.shown.scenario.conventions:
            return [*self.cells]
        return [
            *(level for level, cell in self.cells.items() if cell != before.cells[level]),
            *(level for level, shares in self.summed.items() if shares != before.summed[level]),
        ]


def share_table(shown: TopDownShown, quantity: Quantity) -> ParameterTable[ShareRow]:
    """Return the table of shares of a version.

    Args:
        shown: the version.
        quantity: what the cells show.
    """
    method = shown.method
    summed: dict[str, list[Fraction]] = {level: [] for level in method.levels}
    for key, share in method.query_shares.items():
        summed[key.level].append(share)
    rows = (
        ShareRow(Part.LEVELS, "", {level: cell_of(shown, level) for level in method.levels}, {}, shown),
        *(
            ShareRow(
                Part.QUERIES,
                name,
                {level: cell_of(shown, LevelQuery(level, name)) for level in method.levels},
                {},
                shown,
            )
            for name in query_rows(method)
        ),
        ShareRow(Part.SUMS, "", {}, summed, shown),
    )
    longest = max((row.title for row in rows), key=len)
    columns = _columns(method.levels, quantity, heading(quantity, shown), longest)
    return ParameterTable(columns, rows, partial(_plan, quantity), "name", method.levels[0])


@lru_cache(maxsize=16)
def _columns(
    levels: tuple[str, ...], quantity: Quantity, meaning: str, longest: str
) -> tuple[ParameterColumn[ShareRow], ...]:
    return (
        ParameterColumn(
            "name",
            "Query group",
            "What is measured",
            longest,
            Kind.WORDS,
            lambda row: Cell(
                row.title, Tone.QUIET if row.part is Part.SUMS else Tone.PLAIN, is_bold=row.part is Part.LEVELS
            ),
            _about_row,
            row_names=lambda row: _SPELLINGS.get(row.part, {query_title(row.query).lower(), row.query.lower()}),
        ),
        ParameterColumn(
            "answers",
            "Answers",
            "How many numbers a query group has in one unit",
            "1,227,744",
            Kind.NUMBER,
            _answers,
            _about_row,
        ),
        *(
            ParameterColumn(
                level,
                level_title(level),
                level_title(level),
                "1,234/4,099",
                Kind.NUMBER,
                partial(_cell, level, quantity),
                partial(_tip, level),
                exact=partial(_exact, level, quantity),
                forbidden=partial(_forbidden, level, quantity),
                step=partial(_step, level, quantity),
                names=(level.lower(), level.lower().replace("_", " ")),
                spoken=f"{level_title(level)}, {meaning}",
            )
            for level in levels
        ),
    )


_SPELLINGS = {Part.LEVELS: {"share of the level", "level"}, Part.SUMS: {"sum of the query shares"}}


def _about_row(row: ShareRow) -> str:
    return query_sentence(row.shown.method.schema, row.query) if row.part is Part.QUERIES else row.title


def _answers(row: ShareRow) -> Cell:
    if row.part is not Part.QUERIES:
        return Cell("")
    try:
        return Cell(f"{query_of(row.shown.method.schema, row.query).answers:,}", Tone.QUIET)
    except PhexploreError:
        return Cell("?", Tone.ATTENTION)


def _cell(level: str, quantity: Quantity, row: ShareRow) -> Cell:
    if row.part is Part.SUMS:
        words, is_sound = sum_text(row.shown, level)
        return Cell(words, Tone.QUIET if is_sound else Tone.ATTENTION)
    cell = row.cells[level]
    return Cell(
        text(cell, quantity, row.shown),
        Tone.QUIET if cell.share is None else Tone.PLAIN,
        # Tinted by the root of its share of all, so that small ones are seen.
        min(1.0, math.sqrt(cell.of_total) * 1.6),
        is_bold=cell.is_changed,
        is_locked=cell.is_locked,
        is_open=not forbidden(cell, quantity),
    )


def _exact(level: str, quantity: Quantity, row: ShareRow) -> str:
    return exact(row.cells[level], quantity, row.shown)


def _tip(level: str, row: ShareRow) -> str:
    return sum_text(row.shown, level)[0] if row.part is Part.SUMS else tip(row.cells[level], row.shown)


def _forbidden(level: str, quantity: Quantity, row: ShareRow) -> str:
    return forbidden(row.cells[level], quantity)


def _step(level: str, quantity: Quantity, row: ShareRow, typed: str) -> Step:
    return edit_of(row.cells[level], quantity, typed, row.shown)


def _plan(quantity: Quantity, entries: Sequence[Entry]) -> Step:
    """Return one step that sets all pasted shares at once; what is not in the block rebalances."""
    shown: TopDownShown = entries[0].row.shown
    given: dict[Key, Entry] = {entry.row.place(entry.column.key): entry for entry in entries}
    shares: dict[Key, Fraction] = {
        key: _pasted(key, entry, quantity, shown.method) for key, entry in given.items() if isinstance(key, str)
    }
    # A budget or a margin of a query is meant within the level as the block leaves it.
    method = _set(shown.scenario, shares).topdown
    shares |= {key: _pasted(key, entry, quantity, method) for key, entry in given.items() if key not in shares}
    count = len(shares)
    label = (
        f"Paste {count} share" + ("" if count == 1 else "s") + f": {first_few([place_title(key) for key in shares])}"
    )
    return label, lambda scenario: _set(scenario, shares)


def _pasted(key: Key, entry: Entry, quantity: Quantity, method: TopDown) -> Fraction:
    if reason := entry.column.forbidden(entry.row):
        raise refused_entry(entry, reason)
    try:
        return _share_of(key, quantity, entry.typed, entry.row.shown, method)
    except (ValueError, PhexploreError) as error:
        raise refused_entry(entry, str(error)) from error


def _set(scenario: Scenario, shares: Mapping[Key, Fraction]) -> Scenario:
    for key in shares:
        if isinstance(key, LevelQuery) and key not in scenario.topdown.query_shares:
            scenario = add_query(scenario, key, Fraction(0))
    levels = {key: share for key, share in shares.items() if isinstance(key, str)}
    queries = {key: share for key, share in shares.items() if isinstance(key, LevelQuery)}
    try:
        return set_shares(scenario, levels, queries)
    except PhexploreError as error:
        raise PasteRefusedError(f"Nothing was pasted. {error.sentence}", error.remedy) from error
