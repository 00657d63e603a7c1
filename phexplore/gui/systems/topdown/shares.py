"""The table of shares as data: a row per query group, a column per level, and what typing into a cell does. No Qt."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial

from phexplore.errors import PhexploreError
from phexplore.figures.wording import first_few
from phexplore.gui.systems.topdown.session import TopDownShown
from phexplore.gui.tables.blocks import PasteRefusedError, refused_entry
from phexplore.gui.tables.parameter_table import Cell, Entry, Kind, ParameterColumn, ParameterTable, Step, Tone
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.edits import add_query, set_shares
from phexplore.systems.topdown.forecast import query_of
from phexplore.systems.topdown.share_cells import Key, Quantity, ShareCell, cell_of, query_rows, text, tip
from phexplore.systems.topdown.share_typing import begun, edit_of, exact, forbidden, heading, share_of, sum_text
from phexplore.systems.topdown.wording import level_title, place_title, query_sentence, query_title


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
    queries = {
        name: {level: cell_of(shown, LevelQuery(level, name)) for level in method.levels} for name in query_rows(method)
    }
    rows = (
        ShareRow(Part.LEVELS, "", {level: cell_of(shown, level) for level in method.levels}, {}, shown),
        *(ShareRow(Part.QUERIES, name, cells, {}, shown) for name, cells in queries.items()),
        ShareRow(Part.SUMS, "", {}, summed, shown),
    )
    longest = max((row.title for row in rows), key=len)
    columns = _columns(method.levels, quantity, heading(quantity, shown), longest)
    return ParameterTable(columns, rows, partial(_plan, quantity), "name", method.levels[0])


@lru_cache(maxsize=16)
def _columns(
    levels: tuple[str, ...], quantity: Quantity, meaning: str, longest: str
) -> tuple[ParameterColumn[ShareRow], ...]:
    about = "How many numbers a query group has in one unit"
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
        ParameterColumn("answers", "Answers", about, "1,227,744", Kind.NUMBER, _answers, _about_row),
        *(_level_column(level, quantity, meaning) for level in levels),
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


def _level_column(level: str, quantity: Quantity, meaning: str) -> ParameterColumn[ShareRow]:
    def cell(row: ShareRow) -> Cell:
        if row.part is Part.SUMS:
            words, is_sound = sum_text(row.shown, level)
            words = "100 %" if is_sound and quantity is Quantity.SHARE else words
            return Cell(words, Tone.QUIET if is_sound else Tone.ATTENTION)
        share = row.cells[level]
        return Cell(
            text(share, quantity, row.shown),
            Tone.QUIET if share.share is None else Tone.PLAIN,
            # Tinted by the root of its share of all, so that small ones are seen.
            min(1.0, math.sqrt(share.of_total) * 1.6),
            is_bold=share.is_changed,
            is_locked=share.is_locked,
            is_open=not forbidden(share, quantity),
        )

    def told(row: ShareRow) -> str:
        return sum_text(row.shown, level)[0] if row.part is Part.SUMS else tip(row.cells[level], row.shown)

    title, name = level_title(level), level.lower()
    return ParameterColumn(
        level,
        title,
        title,
        "1,234/4,099",
        Kind.NUMBER,
        cell,
        told,
        exact=lambda row: begun(row.cells[level], quantity, row.shown),
        copied=lambda row: exact(row.cells[level], quantity, row.shown) if row.cells else cell(row).text,
        forbidden=lambda row: forbidden(row.cells[level], quantity),
        step=lambda row, typed: edit_of(row.cells[level], quantity, typed, row.shown),
        names=(name, name.replace("_", " ")),
        spoken=f"{title}, {meaning}",
        absent="Not measured.",
    )


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
        return share_of(key, quantity, entry.typed, entry.row.shown, method)
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
