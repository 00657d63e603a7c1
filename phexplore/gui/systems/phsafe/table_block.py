"""Blocks of the budget table as spreadsheet text, both ways: tab separated, all or nothing. Pure functions, no Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from phexplore.errors import PhexploreError
from phexplore.figures.wording import ABSENT, first_few
from phexplore.gui.systems.phsafe.budget_row import (
    CHECKED,
    COLUMNS,
    TYPED,
    Column,
    Edit,
    Row,
    column_name,
    copied,
    edit_of,
    exact,
    forbidden,
    text,
)
from phexplore.model.edits import apply_all
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Unlimited, parse_budget
from phexplore.model.scenario import Scenario


class PasteRefusedError(PhexploreError):
    """A block that cannot be pasted; nothing was changed."""


@dataclass(frozen=True, slots=True)
class PastePlan:
    """What a paste will do, as one step.

    Attributes:
        label: name of the step.
        edit: all changes in one; raises `PasteRefusedError` naming the cell that is refused.
        count: how many cells change.
    """

    label: str
    edit: Edit
    count: int


_NAMES = {
    Column.TABLE: ("table",),
    Column.LEVEL: ("level", "population group level", "geographic level and iteration"),
    Column.PUBLISHED: ("publ.", "published"),
    Column.THRESHOLD: ("τ", "tau", "threshold"),
    Column.TARGET: ("target", "moe target", "target moe"),
    Column.MARGIN: ("moe", "margin", "margin of error"),
    Column.BUDGET: ("ρ", "rho", "ε", "epsilon", "budget"),
    Column.BOUNDED: ("bounded ρ", "bounded rho", "bounded ε", "bounded epsilon", "bounded"),
    Column.LOCK: ("lock", "locked"),
}
_DECIDING = (Column.BUDGET, Column.BOUNDED)
"""The margin follows from these: where one of them is in the block, it is not read."""
_ORDER = (Column.THRESHOLD, Column.BUDGET, Column.BOUNDED, Column.TARGET, Column.MARGIN, Column.PUBLISHED, Column.LOCK)
"""Edits are made in this order: what others are computed from comes first."""


def block_text(rows: Sequence[Row], columns: Sequence[Column], *, headers: bool) -> str:
    """Return cells as a spreadsheet takes them: exact budgets, margins as shown, decimal point, tabs between.

    Args:
        rows: in their order.
        columns: in their order.
        headers: put a line of headers before and table and level in front, so that the block can be pasted anywhere.
    """
    lines: list[list[str]] = []
    if headers:
        columns = [Column.TABLE, Column.LEVEL, *(c for c in columns if c not in {Column.TABLE, Column.LEVEL})]
        if rows:
            lines.append([column_name(column, rows[0].framework, rows[0].conventions) for column in columns])
    lines += [[copied(column, row) for column in columns] for row in rows]
    return "\n".join("\t".join(line) for line in lines) + "\n"


def plan_paste(
    pasted: str, rows: Sequence[Row], columns: Sequence[Column], *, row: int, column: int, selected: int = 1
) -> PastePlan:
    """Return what pasting a block does.

    A block with headers goes where its headers (and its table and level, if it has them) say. Without headers it goes
    down and right from the current cell; a single value fills all selected rows. Blank cells and cells that show what is
    already there change nothing: what differs from the table is what was edited in the spreadsheet. In one row the margin
    follows from the budget and is read only where the block has no budget. A target is set as it stands and moves neither.

    Args:
        pasted: tab-separated lines.
        rows: the rows on screen, in order.
        columns: the columns on screen, in order.
        row: index of the current row.
        column: index of the current column.
        selected: how many rows are selected downwards from the current one.

    Raises:
        PasteRefusedError: the block does not fit, or a cell is not legal; it names the cell.
    """
    grid = _grid(pasted)
    heads = _header_columns(grid[0], rows)
    if heads is not None:
        cells = _by_header(grid[1:], heads, rows, row)
    else:
        if len(grid) == 1 and len(grid[0]) == 1:
            grid = grid * max(1, selected)
        cells = _by_position(grid, rows, columns, row, column)
    given = {place: typed for place, typed in cells.items() if not _says_nothing(typed)}
    changes = {
        (key, col): typed
        for (key, col), typed in given.items()
        if not _says_the_same(typed, col, key, rows)
        and not (col is Column.MARGIN and any((key, decides) in given for decides in _DECIDING))
    }
    return _plan(changes, {entry.query: entry for entry in rows}, skip_computed=heads is not None)


def _grid(pasted: str) -> list[list[str]]:
    lines = pasted.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    grid = [[cell.strip() for cell in line.split("\t")] for line in lines]
    if not any(cell for line in grid for cell in line):
        raise PasteRefusedError("There is nothing to paste.", "Copy cells first.")
    return grid


def _header_columns(line: Sequence[str], rows: Sequence[Row]) -> list[Column | None] | None:
    """Return the column of each header, None for headers of computed columns; None when this is no header line."""
    known = {name: column for column, names in _NAMES.items() for name in names}
    if rows:
        for column in COLUMNS:
            known.setdefault(column_name(column, rows[0].framework, rows[0].conventions).lower(), column)
    found: list[Column | None] = []
    for cell in line:
        name = cell.lower()
        named = known.get(name) or (Column.MARGIN if name.startswith("moe ") else None)
        if named is None and not name.startswith("δ"):  # columns of differences are skipped
            return None
        found.append(named)
    return found


def _by_header(
    grid: Sequence[Sequence[str]], heads: Sequence[Column | None], rows: Sequence[Row], row: int
) -> dict[tuple[QueryKey, Column], str]:
    keyed = Column.TABLE in heads and Column.LEVEL in heads
    cells: dict[tuple[QueryKey, Column], str] = {}
    for number, line in enumerate(grid):
        if not any(line):
            continue
        if len(line) > len(heads):
            raise PasteRefusedError(
                f"Line {number + 2} has more cells than there are headers.", "Copy the block again."
            )
        key = _named_row(line, heads, rows, number) if keyed else _nth_row(rows, row + number, len(grid))
        for cell, column in zip(line, heads, strict=False):
            if column is not None and column not in {Column.TABLE, Column.LEVEL}:
                cells[key, column] = cell
    return cells


def _named_row(line: Sequence[str], heads: Sequence[Column | None], rows: Sequence[Row], number: int) -> QueryKey:
    named = dict(zip(heads, line, strict=False))
    table, level = named.get(Column.TABLE, ""), named.get(Column.LEVEL, "")
    for candidate in rows:
        query = candidate.query
        names = {query.level.title.lower(), query.level.text.lower()}
        if query.table.lower() == table.lower() and level.lower() in names:
            return query
    raise PasteRefusedError(
        f"Line {number + 2} is for {table or '?'} ({level or '?'}), which is not among the rows shown.",
        "Clear the filter, or correct the table and level.",
    )


def _nth_row(rows: Sequence[Row], index: int, wanted: int) -> QueryKey:
    if index >= len(rows):
        raise PasteRefusedError(
            f"The block has {wanted} rows, more than there are from the current row down.",
            "Choose a row further up, or copy fewer rows.",
        )
    return rows[index].query


def _by_position(
    grid: Sequence[Sequence[str]], rows: Sequence[Row], columns: Sequence[Column], row: int, column: int
) -> dict[tuple[QueryKey, Column], str]:
    width = max(len(line) for line in grid)
    if column + width > len(columns):
        raise PasteRefusedError(
            f"The block has {width} columns, more than there are from the current column on.",
            "Choose a column further left, or copy with headers.",
        )
    cells = {}
    for number, line in enumerate(grid):
        key = _nth_row(rows, row + number, len(grid))
        for offset, cell in enumerate(line):
            cells[key, columns[column + offset]] = cell
    return cells


def _says_nothing(typed: str) -> bool:
    return typed in {"", ABSENT, "-"}


def _says_the_same(typed: str, column: Column, key: QueryKey, rows: Sequence[Row]) -> bool:
    row = next(candidate for candidate in rows if candidate.query == key)
    return typed in {exact(column, row), text(column, row), copied(column, row)}


def _plan(
    changes: Mapping[tuple[QueryKey, Column], str], rows: Mapping[QueryKey, Row], *, skip_computed: bool
) -> PastePlan:
    by_row: dict[QueryKey, dict[Column, str]] = {}
    for (key, column), typed in changes.items():
        if column not in TYPED | CHECKED:
            if skip_computed:
                continue
            raise _refused(rows[key], column, typed, forbidden(column, rows[key]))
        by_row.setdefault(key, {})[column] = typed
    edits: list[tuple[int, Edit]] = []
    for key, cells in by_row.items():
        edits += _row_edits(rows[key], cells)
    _agree_on_thresholds(by_row, rows)
    ordered = [edit for _, edit in sorted(edits, key=lambda pair: pair[0])]
    count = len(ordered)
    label = f"Paste {count} value" + ("" if count == 1 else "s") + f": {first_few([key.title for key in by_row])}"
    return PastePlan(label, lambda scenario: apply_all(scenario, ordered), count)


def _row_edits(row: Row, cells: Mapping[Column, str]) -> list[tuple[int, Edit]]:
    _agree_on_budget(row, cells)
    edits = []
    for column, typed in cells.items():
        if column is Column.PUBLISHED and {*_DECIDING, Column.MARGIN} & cells.keys():
            continue
        if column is Column.BOUNDED and Column.BUDGET in cells:
            continue
        order = _ORDER.index(column)
        if column is Column.LOCK and row.is_locked:
            order = -1  # unlocking comes before everything
        edits.append((order, _named(row, column, typed, cells)))
    return edits


def _agree_on_budget(row: Row, cells: Mapping[Column, str]) -> None:
    if Column.BUDGET not in cells or Column.BOUNDED not in cells:
        return
    try:
        budget, bounded = parse_budget(cells[Column.BUDGET]), parse_budget(cells[Column.BOUNDED])
    except ValueError as error:
        raise _refused(row, Column.BUDGET, cells[Column.BUDGET], str(error)) from error
    same = (
        budget is bounded if isinstance(budget, Unlimited) or isinstance(bounded, Unlimited) else 2 * budget == bounded
    )
    if not same:
        raise _refused(row, Column.BOUNDED, cells[Column.BOUNDED], "it is not twice the budget in the same row")


def _agree_on_thresholds(by_row: Mapping[QueryKey, Mapping[Column, str]], rows: Mapping[QueryKey, Row]) -> None:
    seen: dict[str, str] = {}
    for key, cells in by_row.items():
        if (typed := cells.get(Column.THRESHOLD)) is None:
            continue
        if seen.setdefault(key.table, typed) != typed:
            raise _refused(rows[key], Column.THRESHOLD, typed, f"{key.table} has one threshold for all its levels")


def _named(row: Row, column: Column, typed: str, cells: Mapping[Column, str]) -> Edit:
    """Return the edit of one cell, with its name in whatever it raises."""
    unlocked = row.is_locked and Column.LOCK in cells

    def edit(scenario: Scenario) -> Scenario:
        try:
            _, change = edit_of(column, _unlocked(row) if unlocked else row, typed)
            return change(scenario)
        except (ValueError, PhexploreError) as error:
            raise _refused(row, column, typed, str(error)) from error

    return edit


def _unlocked(row: Row) -> Row:
    return replace(row, is_locked=False)


def _refused(row: Row, column: Column, typed: str, reason: str) -> PasteRefusedError:
    name = column_name(column, row.framework, row.conventions)
    return PasteRefusedError(
        f"Nothing was pasted. {typed!r} for {name} of {row.query.title}: {reason.rstrip('.')}.",
        "Correct this cell and paste again.",
    )
