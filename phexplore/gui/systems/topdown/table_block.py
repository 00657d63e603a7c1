"""Blocks of the table of shares as spreadsheet text, both ways: tab separated, all or nothing. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from phexplore.errors import PhexploreError
from phexplore.figures.wording import ABSENT, first_few, parse_people
from phexplore.gui.systems.phsafe.table_block import PasteRefusedError
from phexplore.gui.systems.topdown.scenario_view import TopDownShown
from phexplore.gui.systems.topdown.shares import (
    Edit,
    Key,
    Quantity,
    cell_of,
    exact,
    forbidden,
    parse_share,
    text,
)
from phexplore.model.numbers import parse_exact
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.edits import add_query, set_shares
from phexplore.systems.topdown.share_edits import level_share_for_budget, share_for_budget, share_for_margin
from phexplore.systems.topdown.wording import level_title, place_title, query_title

Grid = Sequence[Sequence[Key | None]]
"""Keys of a block of cells, row by row; None where a cell holds no share."""
_CORNER = "query group"
_LEVEL_NAMES = ("share of the level", "level")


@dataclass(frozen=True, slots=True)
class SharePaste:
    """What a paste will do, as one step.

    Attributes:
        label: name of the step.
        edit: all shares at once; what is not in the block rebalances.
        count: how many shares change.
    """

    label: str
    edit: Edit
    count: int


def shares_text(grid: Grid, quantity: Quantity, shown: TopDownShown, *, headers: bool) -> str:
    """Return cells as a spreadsheet takes them: exact numbers, tabs between.

    Args:
        grid: keys, row by row.
        quantity: what to write.
        shown: the version.
        headers: put the levels above and the query groups in front, so that the block can be pasted anywhere.
    """
    lines = []
    keys = [[key for key in row if key is not None] for row in grid]
    keys = [row for row in keys if row]
    if headers and keys:
        lines.append(["Query group", *(level_title(_level(key)) for key in keys[0])])
    for row in keys:
        front = [_row_name(row[0])] if headers else []
        lines.append([*front, *(exact(cell_of(shown, key), quantity, shown) for key in row)])
    return "\n".join("\t".join(line) for line in lines) + "\n"


def plan_share_paste(
    pasted: str, table: Grid, quantity: Quantity, shown: TopDownShown, *, row: int, column: int, selected: int = 1
) -> SharePaste:
    """Return what pasting a block does.

    A block whose first line names levels goes where its names say. Without names it goes down and right from the current
    cell; a single value fills the selected rows. Blank cells and cells that hold what is there already change nothing.

    Args:
        pasted: tab-separated lines.
        table: keys of all cells of the table.
        quantity: what the numbers are.
        shown: the version.
        row: of the current cell.
        column: of the current cell.
        selected: how many rows are selected downward from the current one.

    Raises:
        PasteRefusedError: the block does not fit, or a cell is not legal; it names the cell.
    """
    lines = [
        [cell.strip() for cell in line.split("\t")] for line in pasted.replace("\r\n", "\n").rstrip("\n").split("\n")
    ]
    if not any(cell for line in lines for cell in line):
        raise PasteRefusedError("There is nothing to paste.", "Copy cells first.")
    if lines[0][0].lower() == _CORNER:
        typed = _by_name(lines, table)
    else:
        if len(lines) == 1 and len(lines[0]) == 1:
            lines = lines * max(1, selected)
        typed = _by_position(lines, table, row, column)
    changes = {key: words for key, words in typed.items() if not _says_the_same(words, key, quantity, shown)}
    levels = {
        key: _share(key, words, quantity, shown, shown.method) for key, words in changes.items() if _is_level(key)
    }
    # A budget or a margin of a query is meant within the level as the block leaves it.
    method = _set(shown.scenario, levels).topdown
    queries = {k: _share(k, words, quantity, shown, method) for k, words in changes.items() if not _is_level(k)}
    wanted = {**levels, **queries}
    count = len(wanted)
    label = (
        f"Paste {count} share" + ("" if count == 1 else "s") + f": {first_few([place_title(key) for key in wanted])}"
    )
    return SharePaste(label, lambda scenario: _set(scenario, wanted), count)


def _by_name(lines: Sequence[Sequence[str]], table: Grid) -> dict[Key, str]:
    known = {(_row_name(key).lower(), level_title(_level(key)).lower()): key for row in table for key in row if key}
    known |= {(_LEVEL_NAMES[1], level): key for (name, level), key in known.items() if name == _LEVEL_NAMES[0]}
    found: dict[Key, str] = {}
    for number, line in enumerate(lines[1:], start=2):
        for level, words in zip(lines[0][1:], line[1:], strict=False):
            name = line[0].lower().replace(" * ", " × ")
            key = known.get((name, level.lower().replace("_", " ")))
            if key is None:
                raise PasteRefusedError(
                    f"Line {number} is for {line[0] or '?'} at {level or '?'}, which is not in the table.",
                    "Correct the names in the first line and the first column.",
                )
            found[key] = words
    return found


def _by_position(lines: Sequence[Sequence[str]], table: Grid, row: int, column: int) -> dict[Key, str]:
    found: dict[Key, str] = {}
    for down, line in enumerate(lines):
        for right, words in enumerate(line):
            place = (row + down, column + right)
            key = table[place[0]][place[1]] if place[0] < len(table) and place[1] < len(table[place[0]]) else None
            if key is None:
                raise PasteRefusedError(
                    f"The block of {len(lines)} × {max(map(len, lines))} cells reaches beyond the shares.",
                    "Choose a cell further up or left, or copy with headers.",
                )
            found[key] = words
    return found


def _says_the_same(words: str, key: Key, quantity: Quantity, shown: TopDownShown) -> bool:
    cell = cell_of(shown, key)
    return words in {"", ABSENT, "-", exact(cell, quantity, shown), text(cell, quantity, shown)}


def _is_level(key: Key) -> bool:
    return isinstance(key, str)


def _share(key: Key, words: str, quantity: Quantity, shown: TopDownShown, method: TopDown) -> Fraction:
    try:
        if reason := forbidden(cell_of(shown, key), quantity):
            raise _refused(key, words, reason)
        match quantity:
            case Quantity.BUDGET:
                budget = parse_exact(words)
                if isinstance(key, LevelQuery):
                    return share_for_budget(method, key, budget)
                return level_share_for_budget(method, budget)
            case Quantity.MARGIN if isinstance(key, LevelQuery):
                return share_for_margin(method, key, parse_people(words.lstrip("±")), shown.scenario.conventions)
            case _:
                return parse_share(words)
    except PasteRefusedError:
        raise
    except (ValueError, PhexploreError) as error:
        raise _refused(key, words, str(error)) from error


def _set(scenario: Scenario, wanted: Mapping[Key, Fraction]) -> Scenario:
    for key in wanted:
        if isinstance(key, LevelQuery) and key not in scenario.topdown.query_shares:
            scenario = add_query(scenario, key, Fraction(0))
    levels = {key: share for key, share in wanted.items() if isinstance(key, str)}
    queries = {key: share for key, share in wanted.items() if isinstance(key, LevelQuery)}
    try:
        return set_shares(scenario, levels, queries)
    except PhexploreError as error:
        raise PasteRefusedError(f"Nothing was pasted. {error.sentence}", error.remedy) from error


def _level(key: Key) -> str:
    return key.level if isinstance(key, LevelQuery) else key


def _row_name(key: Key) -> str:
    return query_title(key.query) if isinstance(key, LevelQuery) else _LEVEL_NAMES[0].capitalize()


def _refused(key: Key, words: str, reason: str) -> PasteRefusedError:
    return PasteRefusedError(
        f"Nothing was pasted. {words!r} for {place_title(key)}: {reason.rstrip('.')}.",
        "Correct this cell and paste again.",
    )
