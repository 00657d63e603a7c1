"""Exact counts of the S-DHC tables: the value a tabulation returns and a release starts from.

The queries are those of the PHSafe paper, section 2.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from phexplore.catalog.tables import TableCell, table
from phexplore.data.classification import Mode
from phexplore.model.keys import QueryKey, Region, TableId

if TYPE_CHECKING:
    from numpy.typing import NDArray

NATION_ID = "1"
"""REGION_ID of the nation."""


@dataclass(frozen=True, slots=True, eq=False)
class Tabulation:
    """Exact counts by table and population-group level.

    All arrays of a query are ``int64[regions, codes, cells]``: `regions` of the level in order, the codes of its
    iteration in order, and `cells` by code. Nothing here is protected: a tabulation must not leave as a release.

    Attributes:
        mode: private = what the run measures (basis cells, truncated); non-private = exact output with totals.
        states: FIPS codes present in the geography, ascending.
        thresholds: τ per truncated table; empty in non-private mode.
        counts: per table and level, derived tables included.
        records: of non-private tables that sum a column: the number of records summed; a row exists where it is not 0.
        dropped: private mode: persons cut by truncation, per table that is truncated. What would have been counted
            without truncation is ``counts + dropped``.
        household_sizes: private mode, per truncated table: ``int64[1001]``, households in the universe by the number
            of their persons the table counts; the last place also holds larger households.
        geo_multiplicity: the most often a MAFID occurs in the geography; 1 in clean data.
    """

    mode: Mode
    states: tuple[int, ...]
    thresholds: Mapping[TableId, int]
    counts: Mapping[QueryKey, NDArray[np.int64]]
    records: Mapping[QueryKey, NDArray[np.int64]]
    dropped: Mapping[QueryKey, NDArray[np.int64]]
    household_sizes: Mapping[TableId, NDArray[np.int64]]
    geo_multiplicity: int

    def __post_init__(self) -> None:
        """Freeze the mappings."""
        for name in ("thresholds", "counts", "records", "dropped", "household_sizes"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[object, ...]:
        """Let the read-only mappings cross a process border."""
        return Tabulation, (
            self.mode,
            self.states,
            dict(self.thresholds),
            dict(self.counts),
            dict(self.records),
            dict(self.dropped),
            dict(self.household_sizes),
            self.geo_multiplicity,
        )

    def regions(self, region: Region) -> tuple[str, ...]:
        """Return the REGION_IDs of a region level, in the order of the arrays."""
        return region_ids(region, self.states)

    def cells(self, table_id: TableId) -> tuple[TableCell, ...]:
        """Return the cells of a table, in the order of the arrays."""
        return tabulated_cells(table_id, self.mode)

    def untruncated(self, query: QueryKey) -> NDArray[np.int64]:
        """Return the counts of a query as they would be without truncation, ``int64[regions, codes, cells]``."""
        return self.counts[query] + self.dropped[query] if query in self.dropped else self.counts[query]


def region_ids(region: Region, states: tuple[int, ...]) -> tuple[str, ...]:
    """Return the REGION_IDs of a region level for the states present; none at all without geography.

    Args:
        region: nation or states.
        states: codes of the states present, ascending.
    """
    if region is Region.NATION:
        return (NATION_ID,) if states else ()
    return tuple(f"{code:02d}" for code in states)


def tabulated_cells(table_id: TableId, mode: Mode) -> tuple[TableCell, ...]:
    """Return the cells a mode writes for a table.

    Args:
        table_id: which table.
        mode: private tabulations hold basis cells, the others all.
    """
    product = table(table_id)
    return product.basis_cells if mode is Mode.PRIVATE else product.cells
