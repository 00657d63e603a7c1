"""What can be chosen of a run's results, and how choices are worded: values, no widget.

Args:
    product: a table.
    query: table and level.
    region: REGION_ID.
    code: ITERATION_CODE.
    cell: data-cell code; None for all cells.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from phexplore.catalog.names import has_synthetic_areas, heading, place
from phexplore.catalog.races import iteration_levels
from phexplore.catalog.tables import TableProduct, tables
from phexplore.model.keys import QueryKey, Region

NATION_ID = "1"


class ResultTab(enum.Enum):
    """A picture of results."""

    DISTRIBUTION = "errors"
    OBSERVED = "observed"
    TRUNCATION = "truncation"
    NUMBER = "number"
    WORST = "worst"


@dataclass(frozen=True, slots=True)
class ResultChoice:
    """Which numbers are looked at.

    Attributes:
        query: table and level.
        region: REGION_ID, where one number is wanted.
        code: ITERATION_CODE, where one number is wanted.
        cell: data-cell code; None = all cells, or the first where one number is wanted.
    """

    query: QueryKey
    region: str
    code: str
    cell: int | None


@dataclass(frozen=True, slots=True)
class Choices:
    """What a run offers.

    Attributes:
        queries: tables and levels with numbers, in the order of the run, derived tables included.
        regions: REGION_IDs per region type.
        cells: data-cell codes with numbers, per table.
    """

    queries: tuple[QueryKey, ...]
    regions: Mapping[Region, tuple[str, ...]]
    cells: Mapping[str, tuple[int, ...]]

    def settled(self, table: str, level: str, region: str, code: str, cell: str) -> ResultChoice:
        """Return which numbers are looked at, what this run does not offer replaced by the first it does.

        A table is shown by its states: their many numbers make a picture from the first trial on.

        Args:
            table: id; "" leaves a field open.
            level: text of a population-group level.
            region: REGION_ID.
            code: ITERATION_CODE.
            cell: data-cell code.
        """
        queries = [query for query in self.queries if query.table == table] or list(self.queries)
        levels = [query for query in queries if query.level.text == level]
        states = [query for query in queries if query.level.region is Region.STATE]
        query = [*levels, *states, *queries][0]
        regions, codes = self.regions[query.level.region], query.level.iteration.codes
        number = int(cell) if cell.isdecimal() else None
        return ResultChoice(
            query,
            region if region in regions else regions[0],
            code if code in codes else codes[0],
            number if number in self.cells[query.table] else None,
        )


def region_words(region: str) -> str:
    """Return the name of a REGION_ID."""
    if region == NATION_ID:
        return "Synthetic nation" if has_synthetic_areas() else "Nation"
    return heading(place(region)) or region


def code_words(code: str) -> str:
    """Return the words of an ITERATION_CODE, "" for everybody."""
    if code == "*":
        return ""
    for level in iteration_levels().values():
        for each in level.codes:
            if each.code == code:
                return each.label
    return code


def cell_words(product: TableProduct, cell: int) -> str:
    """Return the words of a data cell with the group it belongs to, e.g. ``Own child: In married couple family``.

    Args:
        product: the table.
        cell: its number.
    """
    parents: list[str] = []
    for each in product.cells:
        del parents[each.depth :]
        parents.append(each.label)
        if each.code == cell:
            return ": ".join(parents[1:] or parents)
    return str(cell)


def cell_label(query: QueryKey, cell: int | None) -> str:
    """Return the words of a choice of cells.

    Args:
        query: whose cells.
        cell: its number, None for all.
    """
    return "all cells" if cell is None else cell_words(tables()[query.table], cell)


def number_words(query: QueryKey, region: str, code: str, cell: int) -> str:
    """Return the words of one number, e.g. ``PH3, Texas, Asian alone, Grandchild``.

    Args:
        query: of the number.
        region: its id.
        code: of the iteration.
        cell: its number.
    """
    parts = (query.table, region_words(region), code_words(code), cell_words(tables()[query.table], cell))
    return ", ".join(part for part in parts if part)
