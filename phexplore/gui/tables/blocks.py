"""Blocks of a table as spreadsheet text, both ways: tab separated, all or nothing. No Qt."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.gui.tables.parameter_table import Entry, ParameterColumn, ParameterRow, ParameterTable
from phexplore.model.numbers import parse_exact
from phexplore.model.rounded import ABSENT

Columns = Sequence[ParameterColumn[Any]]
Rows = Sequence[ParameterRow]
_NOTHING = frozenset({"", ABSENT, "-"})
_ROUNDED = re.compile(r"-?\d+[.,](\d{2,})\s?%")
"""A percentage as a spreadsheet copies it: rounded to the decimals of its format, two by default."""
_Cells = dict[tuple[Hashable, Hashable], Entry]
"""What is given for a row and a column, by their keys; what stands last counts."""


class PasteRefusedError(PhexploreError):
    """A block that cannot be pasted; nothing was changed."""


def refused_entry(entry: Entry, reason: str) -> PasteRefusedError:
    """Return the refusal of a whole block for the sake of one cell, which it names."""
    return PasteRefusedError(
        f"Nothing was pasted. {entry.typed!r} for {entry.row.title_at(entry.column)}: {reason.rstrip('.')}.",
        "Correct this cell and paste again.",
    )


def block_text(table: ParameterTable[Any], rows: Rows, columns: Columns, *, headers: bool) -> str:
    """Return cells as a spreadsheet takes them: exact numbers, decimal point, tabs between.

    Args:
        table: what they are cells of.
        rows: in their order.
        columns: in their order.
        headers: put a line of headers before and the names of the rows in front, so that the block can be pasted anywhere.
    """
    lines: list[list[str]] = []
    if headers:
        columns = [*table.naming, *(column for column in columns if column.row_names is None)]
        lines.append([column.name for column in columns])
    lines += [[column.carried(row) for column in columns] for row in rows]
    return "\n".join("\t".join(line) for line in lines) + "\n"


def read_block(
    pasted: str, table: ParameterTable[Any], rows: Rows, columns: Columns, *, row: int, column: int, selected: int = 1
) -> list[Entry]:
    """Return the entries of a pasted block that change something.

    A block with headers goes where its headers, and its names of rows if it has them, say. Without headers it goes down
    and right from the current cell; a single value fills all selected rows. Blank cells and cells that show what is
    already there change nothing: what differs from the table is what was edited in the spreadsheet. A column that
    follows from others is read only where the block has none of them.

    Args:
        pasted: tab-separated lines.
        table: what it is pasted into.
        rows: the rows on screen, in order.
        columns: the columns on screen, in order.
        row: index of the current row.
        column: index of the current column.
        selected: how many rows are selected downwards from the current one.

    Raises:
        PasteRefusedError: the block does not fit, or a cell takes nothing; it names the cell.
    """
    grid = _grid(pasted)
    heads = _header_columns(grid[0], table.columns)
    if heads is not None:
        cells = _by_header(grid[1:], heads, table.naming, rows, row)
    else:
        if len(grid) == 1 and len(grid[0]) == 1:
            grid = grid * max(1, selected)
        cells = _by_position(grid, rows, columns, row, column)
    given = {place: entry for place, entry in cells.items() if entry.typed not in _NOTHING}
    return [
        entry
        for (key, _), entry in given.items()
        if not _says_the_same(entry)
        and not any((key, decisive) in given for decisive in entry.column.follows)
        and _is_taken(entry, by_header=heads is not None)
    ]


def _says_the_same(entry: Entry) -> bool:
    row, column, typed = entry
    known = (column.started(row), column.cell(row).text, column.carried(row))
    if typed in known or (number := _number(typed)) is None:
        return typed in known
    exact = [*map(_number, known[::2])]
    return number in exact or _is_rounding(typed, exact[1])


def _is_rounding(typed: str, carried: tuple[Fraction, bool] | None) -> bool:
    """Return whether a spreadsheet that was given the carried percentage copies this text."""
    match = _ROUNDED.fullmatch(typed)
    if match is None or carried is None or not carried[1]:
        return False
    return abs(parse_exact(typed) - carried[0]) <= Fraction(
        f"5e-{len(match[1]) + 3}"
    )  # half a unit of the last decimal


def _number(typed: str) -> tuple[Fraction, bool] | None:
    """Return a number as a spreadsheet may write it anew, and whether it is a percentage; None of other text."""
    try:
        return parse_exact(typed), "%" in typed
    except ValueError:
        return None


def _is_taken(entry: Entry, *, by_header: bool) -> bool:
    if entry.column.step is not None and entry.row.place(entry.column.key) is not None:
        return True
    if not by_header:
        raise refused_entry(entry, entry.column.refusal(entry.row))
    return False  # computed columns of a copied table


def _grid(pasted: str) -> list[list[str]]:
    lines = pasted.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    grid = [[cell.strip() for cell in line.split("\t")] for line in lines]
    if not any(cell for line in grid for cell in line):
        raise PasteRefusedError("There is nothing to paste.", "Copy cells first.")
    return grid


def _header_columns(line: Sequence[str], columns: Columns) -> list[ParameterColumn[Any]] | None:
    """Return the column of each header, None when this is no line of headers.

    Raises:
        PasteRefusedError: it begins with the header of a name, and another one is not known.
    """
    heads = [_named_column(cell.lower(), columns) for cell in line]
    if None in heads and heads[0] is not None and heads[0].row_names is not None:
        raise PasteRefusedError(
            f"The column {line[heads.index(None)]!r} of the first line is not in the table.", "Correct the first line."
        )
    found = [head for head in heads if head is not None]
    return found if len(found) == len(line) else None


def _named_column(name: str, columns: Columns) -> ParameterColumn[Any] | None:
    exact = (column for column in columns if name == column.name.lower() or name in column.names)
    alike = (column for column in columns if any(fnmatchcase(name, pattern) for pattern in column.names))
    return next(exact, next(alike, None))


def _by_header(grid: Sequence[Sequence[str]], heads: Columns, naming: Columns, rows: Rows, row: int) -> _Cells:
    is_named = all(column in heads for column in naming)
    cells: _Cells = {}
    for number, line in enumerate(grid):
        if not any(line):
            continue
        if len(line) > len(heads):
            raise PasteRefusedError(
                f"Line {number + 2} has more cells than there are headers.", "Copy the block again."
            )
        target = _named_row(line, heads, rows, number) if is_named else _nth_row(rows, row + number, len(grid))
        for cell, head in zip(line, heads, strict=False):
            if head.row_names is None:
                cells[target.key, head.key] = Entry(target, head, cell)
    return cells


def _named_row(line: Sequence[str], heads: Columns, rows: Rows, number: int) -> ParameterRow:
    names = [(head.row_names, cell) for head, cell in zip(heads, line, strict=False) if head.row_names is not None]
    for row in rows:
        if all(cell.lower() in spellings(row) for spellings, cell in names):
            return row
    raise PasteRefusedError(
        f"Line {number + 2} is for {', '.join(cell or '?' for _, cell in names)}, which is not among the rows shown.",
        "Clear the filter, or correct the names in front of the line.",
    )


def _nth_row(rows: Rows, index: int, wanted: int) -> ParameterRow:
    if index >= len(rows):
        raise PasteRefusedError(
            f"The block has {wanted} rows, more than there are from the current row down.",
            "Choose a row further up, or copy fewer rows.",
        )
    return rows[index]


def _by_position(grid: Sequence[Sequence[str]], rows: Rows, columns: Columns, row: int, column: int) -> _Cells:
    width = max(len(line) for line in grid)
    if column + width > len(columns):
        raise PasteRefusedError(
            f"The block has {width} columns, more than there are from the current column on.",
            "Choose a column further left, or copy with headers.",
        )
    cells: _Cells = {}
    for number, line in enumerate(grid):
        target = _nth_row(rows, row + number, len(grid))
        for head, cell in zip(columns[column:], line, strict=False):
            cells[target.key, head.key] = Entry(target, head, cell)
    return cells
