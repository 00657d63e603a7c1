"""What can be chosen of a run's results, and how choices are worded: values, no widget."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from phexplore.catalog.races import iteration_levels
from phexplore.catalog.states import states
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
        query: table and level; None = the first there is.
        region: REGION_ID, where one number is wanted.
        code: ITERATION_CODE, where one number is wanted.
        cell: data-cell code; None = all cells, or the first where one number is wanted.
    """

    query: QueryKey | None = None
    region: str | None = None
    code: str | None = None
    cell: int | None = None


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

    def settled(self, choice: ResultChoice) -> ResultChoice:
        """Return the choice with everything this run does not offer replaced by the first it does.

        Without a query the first at state level is taken: its many numbers make a picture from the first trial on.
        """
        first = next((each for each in self.queries if each.level.region is Region.STATE), self.queries[0])
        query = choice.query if choice.query is not None and choice.query in self.queries else first
        regions = self.regions[query.level.region]
        codes = query.level.iteration.codes
        return ResultChoice(
            query,
            choice.region if choice.region in regions else regions[0],
            choice.code if choice.code in codes else codes[0],
            choice.cell if choice.cell in self.cells[query.table] else None,
        )


def region_words(region: str) -> str:
    """Return the name of a REGION_ID."""
    if region == NATION_ID:
        return "Nation"
    found = states().get(region)
    return found.name if found else region


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
    """Return the words of a data cell with the group it belongs to, e.g. ``Own child: In married couple family``."""
    parents: list[str] = []
    for each in product.cells:
        del parents[each.depth :]
        parents.append(each.label)
        if each.code == cell:
            return ": ".join(parents[1:] or parents)
    return str(cell)


def cell_label(query: QueryKey, cell: int | None) -> str:
    """Return the words of a choice of cells."""
    return "all cells" if cell is None else cell_words(tables()[query.table], cell)


def number_words(query: QueryKey, region: str, code: str, cell: int) -> str:
    """Return the words of one number, e.g. ``PH3, Texas, Asian alone, Grandchild``."""
    parts = (query.table, region_words(region), code_words(code), cell_words(tables()[query.table], cell))
    return ", ".join(part for part in parts if part)
