"""The parameter-and-MOE table read back: thresholds, targets and budgets from CSV or XLSX, every problem with its cell.

Args:
    path: of the file.
    like: scenario the table is laid over.
    entries: lines of the table.
    name: of the new scenario, or of the file.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from phexplore.catalog.tables import config_tables, tables
from phexplore.errors import PhexploreError
from phexplore.files.sheet_grids import PRECISION_OF_A_CELL, Grid, GridCell, sheet_grids, unambiguous
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.keys import LEVELS, PopulationGroupLevel, QueryKey, TableId
from phexplore.model.numbers import Budget, Unlimited, exact_text, parse_budget, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.opening import read_bytes
from phexplore.systems.phsafe.table10 import EXACT_HEADER, NOT_APPLICABLE, PAPER_HEADERS

_SEARCHED_LINES = 40
"""The header stands among the first lines, under whatever title a person put above it."""


_ZIP_START = b"PK\x03\x04"

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")

Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class Table10Entry:
    """What one line of the file says.

    Attributes:
        query: the table at its population-group level.
        target: margin aimed at, in people, None when the cell is empty.
        threshold: τ in people per household, None for tables that count units.
        budget: ρ unbounded (ε under pure DP), exact; 0 = not published.
    """

    query: QueryKey
    target: Fraction | None
    threshold: int | None
    budget: Budget


def read_table10(content: bytes, name: str = "Table 10") -> list[Table10Entry]:
    """Read the lines of a parameter table, as exported by this program or typed from the paper.

    Columns are found by their header, in any order; columns that are not in the paper's table are ignored. An empty
    table or threshold cell repeats the one above it, as in print. Levels are read as ``(Nation, A-G)`` or ``usa_A-G``.
    The unbounded, the exact and the bounded privacy loss say the same or leave cells empty.

    Args:
        content: the file: XLSX, or CSV in UTF-8 with comma, semicolon or tab.
        name: of the file, for messages.

    Raises:
        InputProblemsError: everything that is wrong, each with its cell; nothing is returned then.
    """
    is_workbook = content.startswith(_ZIP_START)
    grids = [grid for _, grid in sheet_grids(content, name)] if is_workbook else [_csv_grid(content, name)]
    for grid in grids:
        if (header := _find_header(grid)) is not None:
            return _Lines(grid, *header).read()
    raise InputProblemsError(
        [
            Issue(
                (name,),
                f"no line holds the column headers {PAPER_HEADERS[0]!r}, {PAPER_HEADERS[2]!r} and a privacy loss",
                "Export a table from phexplore and edit that, or type the headers of the paper's Table 10.",
            )
        ]
    )


def _csv_grid(content: bytes, name: str) -> Grid:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        issue = Issue((name,), "the file is not UTF-8 text", "Save it as CSV UTF-8, or as XLSX.", line=line)
        raise InputProblemsError([issue]) from error
    delimiter = _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    grid: Grid = []
    try:
        for row in reader:
            line = reader.line_num
            cells = [GridCell(cell.strip(), (name,), line, column) for column, cell in enumerate(row, start=1)]
            # Where semicolons separate cells, a comma is the decimal sign.
            grid.append([(_with_point if delimiter == ";" else unambiguous)(cell) for cell in cells])
    except csv.Error as error:
        issue = Issue((name,), f"the line is not CSV: {error}", "Close every quoted cell.", line=reader.line_num)
        raise InputProblemsError([issue]) from error
    return grid


def _with_point(cell: GridCell) -> GridCell:
    return replace(cell, text=cell.text.replace(",", ".")) if _DECIMAL_COMMA.fullmatch(cell.text) else cell


def _delimiter(text: str) -> str:
    """Return the separator of the header line: spreadsheets of half the world write semicolons."""
    for line in text.splitlines()[:_SEARCHED_LINES]:
        if PAPER_HEADERS[2].casefold() in line.casefold():
            return max(",;\t", key=line.count)
    return ","


_BUDGET_HEADERS = (PAPER_HEADERS[4], EXACT_HEADER, PAPER_HEADERS[5])


def _find_header(grid: Grid) -> tuple[int, dict[str, int]] | None:
    """Return the line of the header and the place of each known column."""
    known = {header.casefold(): header for header in (*PAPER_HEADERS, EXACT_HEADER)}
    for number, line in enumerate(grid[:_SEARCHED_LINES]):
        places: dict[str, int] = {}
        for place, cell in enumerate(line):
            header = known.get(" ".join(cell.text.split()).casefold())
            if header is not None:
                places.setdefault(header, place)
        needed = PAPER_HEADERS[0] in places and PAPER_HEADERS[2] in places
        if needed and any(header in places for header in _BUDGET_HEADERS):
            return number, places
    return None


_LEVELS = {
    spelling: level
    for level in LEVELS
    for spelling in (
        level.text.casefold(),
        level.title.casefold(),
        f"{level.region.title}, {level.iteration.value}".casefold(),
    )
}


@dataclass(slots=True)
class _Lines:
    """Reads the lines below a header and collects what is wrong with them."""

    grid: Grid
    header: int
    places: dict[str, int]
    issues: list[Issue] = field(default_factory=list)

    def read(self) -> list[Table10Entry]:
        entries: dict[QueryKey, Table10Entry] = {}
        thresholds: dict[TableId, int] = {}
        table, threshold = GridCell("", ()), GridCell("", ())
        for line in self.grid[self.header + 1 :]:
            if not any(cell.text for cell in line):
                continue
            named, own = self.cell(line, PAPER_HEADERS[0]), self.cell(line, PAPER_HEADERS[1])
            if named.text:
                table = named
            if named.text or own.text:
                threshold = own
            entry = self.entry(line, table, threshold)
            if entry is None:
                continue
            self.confirm_new(line, entry, entries, thresholds, threshold)
            entries[entry.query] = entry
        if not self.issues and not entries:
            self.report(self.grid[self.header][0], "no line follows the headers", "Enter at least one query.")
        if self.issues:
            raise InputProblemsError(self.issues)
        return list(entries.values())

    def cell(self, line: Sequence[GridCell], header: str) -> GridCell:
        place = self.places.get(header)
        if place is None or place >= len(line):
            last = line[-1] if line else GridCell("", ())
            return GridCell("", last.path, last.line)
        return line[place]

    def report(self, cell: GridCell, sentence: str, remedy: str) -> None:
        self.issues.append(Issue(cell.path, sentence, remedy, line=cell.line, column=cell.column))

    def entry(self, line: Sequence[GridCell], table_cell: GridCell, threshold_cell: GridCell) -> Table10Entry | None:
        before = len(self.issues)
        query = self.query(table_cell, self.cell(line, PAPER_HEADERS[2]))
        threshold = self.threshold(query, threshold_cell)
        target = self.target(self.cell(line, PAPER_HEADERS[3]))
        budget = self.budget([self.cell(line, header) for header in _BUDGET_HEADERS])
        if query is None or budget is None or len(self.issues) > before:
            return None
        return Table10Entry(query, target, threshold, budget)

    def query(self, table_cell: GridCell, level_cell: GridCell) -> QueryKey | None:
        measured = [product.id for product in config_tables()]
        table, level = TableId(table_cell.text), self.level(level_cell)
        if table not in measured:
            self.report(
                table_cell, f"{table or 'an empty cell'!r} is not a measured table", f"Known: {_list(measured)}."
            )
            return None
        if level is None:
            return None
        if level not in tables()[table].levels:
            remedy = (
                f"Remove the line; {table} has the levels {_list(known.title for known in tables()[table].levels)}."
            )
            self.report(level_cell, f"{table} is not published at {level.title}", remedy)
            return None
        return QueryKey(table, level)

    def level(self, cell: GridCell) -> PopulationGroupLevel | None:
        text = " ".join(cell.text.removeprefix("(").removesuffix(")").split()).casefold()
        if (level := _LEVELS.get(text)) is None:
            known = _list(f"({level.title})" for level in LEVELS)
            self.report(cell, f"{cell.text!r} is not a population-group level", f"Known: {known}.")
        return level

    def threshold(self, query: QueryKey | None, cell: GridCell) -> int | None:
        if query is None:
            return None
        truncated, text = tables()[query.table].truncated, cell.text
        if not truncated:
            if text and text.casefold() not in {NOT_APPLICABLE.casefold(), "n/a"}:
                self.report(
                    cell, f"{query.table} is not truncated, got a threshold of {text}", f"Enter {NOT_APPLICABLE}."
                )
            return None
        number = self.number(cell, parse_exact) if text else None
        if number is not None and number.denominator == 1 and number >= 1:
            return int(number)
        if not text or number is not None:
            self.report(
                cell, f"{query.table} needs a truncation threshold, got {text!r}", "Enter a whole number from 1."
            )
        return None

    def target(self, cell: GridCell) -> Fraction | None:
        if not cell.text and not cell.trouble:
            return None
        target = self.number(cell, parse_exact)
        if target is not None and target <= 0:
            self.report(cell, f"a margin of error is more than 0, got {cell.text}", "Enter a positive number.")
        return target

    def budget(self, cells: Sequence[GridCell]) -> Budget | None:
        """Return the one budget that the unbounded, the exact and the bounded cell state."""
        stated: list[tuple[GridCell, Budget]] = []
        for cell, header in zip(cells, _BUDGET_HEADERS, strict=True):
            is_bounded = header == PAPER_HEADERS[5]
            if (not cell.text and not cell.trouble) or (is_bounded and cell.trouble and not cell.text):
                # A bounded cell without a saved value is our own formula, written by a program that does not compute.
                continue
            value = self.number(cell, parse_budget)
            if value is None:
                return None
            stated.append((cell, value / 2 if is_bounded and not isinstance(value, Unlimited) else value))
        if not stated:
            self.report(cells[0], "the query has no privacy loss", "Enter one, or 0 to leave it unpublished.")
            return None
        # The exact text comes last in precision but first in trust: a number cell may only round it.
        best = next((value for cell, value in stated if not cell.rounded), stated[0][1])
        for cell, value in stated:
            if not _agrees(cell, value, best):
                said = " and ".join(sorted({exact_text(value) for _, value in stated}))
                self.report(
                    cell,
                    f"the cells of the line state different unbounded privacy losses: {said}",
                    "Correct one of them, or leave only one filled.",
                )
                return None
        return best

    def number(self, cell: GridCell, parse: Callable[[str], Parsed]) -> Parsed | None:
        if cell.trouble:
            self.report(cell, cell.trouble, "Enter it as plain text like 1000, 0.25 or 1/3.")
            return None
        try:
            return parse(cell.text.removeprefix("'"))
        except (ValueError, PhexploreError) as error:
            self.report(cell, str(error), "Correct the cell.")
            return None

    def confirm_new(
        self,
        line: Sequence[GridCell],
        entry: Table10Entry,
        entries: dict[QueryKey, Table10Entry],
        thresholds: dict[TableId, int],
        cell: GridCell,
    ) -> None:
        """Report a query that comes twice, and a table with two thresholds."""
        table = entry.query.table
        if entry.query in entries:
            level = self.cell(line, PAPER_HEADERS[2])
            self.report(level, f"{entry.query.title} comes twice", "Keep one of the lines.")
        if entry.threshold is not None and thresholds.setdefault(table, entry.threshold) != entry.threshold:
            sentence = f"{table} has two truncation thresholds, {thresholds[table]} and {entry.threshold}"
            self.report(cell, sentence, "A table has one threshold; make its lines agree.")


def _agrees(cell: GridCell, value: Budget, best: Budget) -> bool:
    if value == best:
        return True
    if not cell.rounded or isinstance(value, Unlimited) or isinstance(best, Unlimited):
        return False
    return abs(value - best) <= best * PRECISION_OF_A_CELL


def _list(names: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(names)


def load_table(path: Path, like: Scenario) -> Scenario:
    """Lay the table of a file over a scenario; see `with_table`.

    Args:
        path: of the CSV or XLSX file.
        like: scenario to lay it over.
    """
    return with_table(like, read_table10(read_bytes(path), path.name), path.stem)


def with_table(like: Scenario, entries: Sequence[Table10Entry], name: str) -> Scenario:
    """Return the scenario with what the lines of a parameter table say; queries they do not name stay as they are.

    Args:
        like: scenario to lay the lines over.
        entries: lines of the table.
        name: of the new scenario.
    """
    method = like.phsafe
    budgets, thresholds, targets = dict(method.budgets), dict(method.thresholds), dict(method.targets)
    for entry in entries:
        budgets[entry.query] = entry.budget
        if entry.threshold is not None:
            thresholds[entry.query.table] = entry.threshold
        targets.pop(entry.query, None)
        if entry.target is not None:
            targets[entry.query] = entry.target
    edited = replace(method, budgets=budgets, thresholds=thresholds, targets=targets)
    return replace(like, name=name.replace("#", "-"), method=edited, source_text="")
