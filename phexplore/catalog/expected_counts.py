"""Typical counts behind the published averages, so that their margins can be shown before any data are loaded."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from phexplore.model.keys import PopulationGroupLevel, TableId, parse_level
from phexplore.resources import resource


@dataclass(frozen=True, slots=True)
class RatioCell:
    """One cell of an average.

    Attributes:
        table: the average as published, e.g. ``PH1``.
        cell: data-cell code.
        label: what it is the average of.
        numerator: measured table and the basis cells added in the numerator.
        denominator: the same for the denominator.
    """

    table: str
    cell: int
    label: str
    numerator: tuple[str, tuple[int, ...]]
    denominator: tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class ExpectedCounts:
    """Counts a ratio cell typically has at a level: the median over its areas and groups.

    Attributes:
        numerator: people.
        denominator: households or families.
        of: what the median was taken over, in words.
    """

    numerator: float
    denominator: float
    of: str


RATIO_CELLS: tuple[RatioCell, ...] = (
    RatioCell("PH1", 1, "Average household size", ("PH1_num", (2, 3)), ("PH1_denom", (1,))),
    RatioCell("PH1", 2, "Average household size, under 18", ("PH1_num", (2,)), ("PH1_denom", (1,))),
    RatioCell("PH1", 3, "Average household size, 18 and over", ("PH1_num", (3,)), ("PH1_denom", (1,))),
    RatioCell("PH5", 1, "Average family size", ("PH4", (2, 3)), ("PH5_denom", (1,))),
    RatioCell("PH5", 2, "Average family size, under 18", ("PH4", (2,)), ("PH5_denom", (1,))),
    RatioCell("PH5", 3, "Average family size, 18 and over", ("PH4", (3,)), ("PH5_denom", (1,))),
    RatioCell("PH8", 1, "Average household size, all tenures", ("PH7", (2, 3, 4)), ("PH8_denom", (2, 3))),
    RatioCell("PH8", 2, "Average household size, owner occupied", ("PH7", (2, 3)), ("PH8_denom", (2,))),
    RatioCell("PH8", 3, "Average household size, renter occupied", ("PH7", (4,)), ("PH8_denom", (3,))),
)
"""The nine averages of the S-DHC and what they are made of (PHSafe paper, §3.2 and §6.4.1)."""

AVERAGES: Mapping[str, tuple[TableId, TableId]] = {
    cell.table: (TableId(cell.numerator[0]), TableId(cell.denominator[0])) for cell in RATIO_CELLS
}
"""The measured tables whose noise every published average needs."""


@lru_cache(maxsize=1)
def expected_counts() -> Mapping[tuple[str, int, PopulationGroupLevel], ExpectedCounts]:
    """Return the shipped typical counts by (average, cell, level); see ``expected_counts.md`` beside the file."""
    with resource("tables/expected_counts.csv").open(encoding="utf-8", newline="") as file:
        return MappingProxyType(
            {
                (row["table"], int(row["cell"]), parse_level(row["level"])): ExpectedCounts(
                    float(row["numerator"]), float(row["denominator"]), row["of"]
                )
                for row in csv.DictReader(file)
            }
        )
