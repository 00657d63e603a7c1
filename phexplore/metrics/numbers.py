"""The published numbers of a run as columns: one row per number, in the order of its files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from phexplore.model.keys import Iteration, PopulationGroupLevel, QueryKey, Region, TableId

Text = NDArray[np.str_]
Rows = NDArray[np.intp]

REGION_TYPES = {Region.NATION: "USA", Region.STATE: "STATE"}
"""The spelling of REGION_TYPE in production's output."""

_REGIONS = {text: region for region, text in REGION_TYPES.items()}
_ITERATIONS = {code: iteration for iteration in Iteration for code in iteration.codes}


@dataclass(frozen=True, slots=True, eq=False)
class NumberKeys:
    """What each number is, as equally long columns, read-only.

    Attributes:
        table: table id, e.g. ``PH1_num``.
        region_type: ``USA`` or ``STATE``.
        region_id: ``1`` or the two digits of the state.
        iteration_code: ``*``, ``A`` … ``I``; ``*`` too for tables that are not iterated.
        cell: ``int64[numbers]``, data-cell code.
    """

    table: Text
    region_type: Text
    region_id: Text
    iteration_code: Text
    cell: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Refuse unequal lengths and make the columns read-only.

        Raises:
            ValueError: the lengths differ.
        """
        lengths = {field.name: len(getattr(self, field.name)) for field in fields(self)}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns of numbers have one length, got {lengths}")
        for field in fields(self):
            view = getattr(self, field.name).view()
            view.flags.writeable = False
            object.__setattr__(self, field.name, view)

    def __len__(self) -> int:
        """Return how many numbers there are."""
        return len(self.cell)


@dataclass(frozen=True, slots=True, eq=False)
class CellGroup:
    """The numbers of one cell over all regions of a type: the pool of PHSafe's accuracy report.

    Attributes:
        table: table id.
        region_type: ``USA`` or ``STATE``.
        iteration_code: ``*``, ``A`` … ``I``.
        cell: data-cell code.
        rows: of these numbers, ascending.
    """

    table: TableId
    region_type: str
    iteration_code: str
    cell: int
    rows: Rows

    @property
    def query(self) -> QueryKey:
        """The table and population-group level the cell belongs to."""
        return QueryKey(self.table, level_of(self.region_type, self.iteration_code))


@dataclass(frozen=True, slots=True, eq=False)
class LevelGroup:
    """The numbers of one table at one population-group level.

    Attributes:
        query: table and level; the table may be a derived one.
        rows: of these numbers, ascending.
        cells: the same numbers by cell and code.
    """

    query: QueryKey
    rows: Rows
    cells: tuple[CellGroup, ...]


def level_of(region_type: str, iteration_code: str) -> PopulationGroupLevel:
    """Return the population-group level of a number.

    Args:
        region_type: ``USA`` or ``STATE``.
        iteration_code: ``*`` or ``A`` … ``I``.

    Raises:
        KeyError: no such region type or iteration code.
    """
    return PopulationGroupLevel(_REGIONS[region_type], _ITERATIONS[iteration_code])


@lru_cache(maxsize=8)
def cell_groups(keys: NumberKeys) -> tuple[CellGroup, ...]:
    """Return the groups of the accuracy report, in the order of their first number; remembered, as keys never change."""
    found: dict[tuple[str, str, str, int], list[int]] = {}
    columns = (keys.table, keys.region_type, keys.iteration_code, keys.cell)
    for row, key in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        found.setdefault(key, []).append(row)
    return tuple(
        CellGroup(TableId(table), region_type, iteration_code, cell, np.array(rows, dtype=np.intp))
        for (table, region_type, iteration_code, cell), rows in found.items()
    )


def level_groups(groups: tuple[CellGroup, ...]) -> tuple[LevelGroup, ...]:
    """Return the groups joined over the cells and codes of each table and level, in the order of their first cell."""
    found: dict[QueryKey, list[CellGroup]] = {}
    for group in groups:
        found.setdefault(group.query, []).append(group)
    return tuple(
        LevelGroup(query, np.sort(np.concatenate([cell.rows for cell in cells])), tuple(cells))
        for query, cells in found.items()
    )
