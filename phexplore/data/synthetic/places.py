"""Geographic codes for synthetic units: real counties by their share of households, made-up tracts and blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.synthetic.tables import StateFigures, apportion, county_households

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.writing import CodeColumns

UNITS_PER_BLOCK, BLOCKS_PER_GROUP, GROUPS_PER_TRACT = 40, 10, 4
_NO_PLACE, _NO_AREA = 99999, 9999


def county_ends(figures: StateFigures, units: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ``codes[counties]`` and ``ends[counties]``, how many units lie in each county and all before it.

    Args:
        figures: of the state.
        units: how many units the state gets.
    """
    counties = county_households()[figures.fips]
    codes = np.array([int(code) for code in counties])
    return codes, np.cumsum(apportion(np.array(list(counties.values()), np.int64), units))


def place_units(
    figures: StateFigures, counties: tuple[NDArray[np.int64], NDArray[np.int64]], first: int, rtype: NDArray[np.uint8]
) -> CodeColumns:
    """Return the geographic columns of consecutive units (all but MAFID).

    Units are numbered through the state; each county holds a run of numbers, cut into blocks of 40 units, block
    groups of 10 blocks and tracts of 4 groups. No unit lies in a place (PLACEFP 99999) or a tribal area (9999).

    Args:
        figures: the state.
        counties: from `county_ends`.
        first: number of the first unit in its state.
        rtype: ``uint8[n]``, 2 or 4.
    """
    codes, ends = counties
    number = np.arange(first, first + len(rtype))
    county = np.searchsorted(ends, number, side="right")
    block = (number - (ends - np.diff(ends, prepend=0))[county]) // UNITS_PER_BLOCK
    group = block // BLOCKS_PER_GROUP
    group_digit = group % GROUPS_PER_TRACT + 1

    def constant(code: int) -> NDArray[np.int64]:
        return np.full(len(rtype), code)

    return {
        "RTYPE": rtype,
        "TABBLKST": constant(int(figures.fips)),
        "TABBLKCOU": codes[county],
        "TABTRACTCE": (group // GROUPS_PER_TRACT + 1) * 100,
        "TABBLK": group_digit * 1000 + block % BLOCKS_PER_GROUP + 1,
        "TABBLKGRPCE": group_digit,
        "REGIONCE": constant(figures.region),
        "DIVISIONCE": constant(figures.division),
        "PLACEFP": constant(_NO_PLACE),
        "AIANNHCE": constant(_NO_AREA),
    }
