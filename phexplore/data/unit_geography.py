"""Units joined to the public geography: the housing units a PHSafe run sees, each with its state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.mafid_index import MafidIndex

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from phexplore.data.population import Codes, Identifiers, SdhcGeo, SdhcUnits

GROUP_QUARTERS_RTYPES = (4, 5)
"""Rows of the geography with these record types are dropped before anything is joined."""


@dataclass(frozen=True, slots=True, eq=False)
class LocatedUnits:
    """One row per unit and row of the geography that share a MAFID; one per unit in clean data.

    Attributes:
        unit: ``int64[n]``: row of the unit in the units frame, ascending.
        mafid: ``int64[n]``.
        state: ``uint8[n]``: FIPS code.
        states: FIPS codes present in the geography, ascending, also where no unit joined.
        geo_multiplicity: the most often a MAFID occurs in the geography, 1 in clean data; 0 when it is empty.
    """

    unit: NDArray[np.int64]
    mafid: Identifiers
    state: Codes
    states: tuple[int, ...]
    geo_multiplicity: int


def locate(units: SdhcUnits, geo: SdhcGeo, states: Collection[int] | None = None) -> LocatedUnits:
    """Join the units to the geography of the given states (None = all), without group quarters.

    PHSafe 3.0.0: the state filter and the group quarters apply to the geography; units without a row left vanish.

    Args:
        units: of the population.
        geo: the public geography.
        states: FIPS codes to keep; None for all.
    """
    kept = ~np.isin(geo.rtype, GROUP_QUARTERS_RTYPES)
    if states is not None:
        kept &= np.isin(geo.tabblkst, list(states))
    geo_mafid, geo_state = (geo.mafid, geo.tabblkst) if kept.all() else (geo.mafid[kept], geo.tabblkst[kept])
    present = tuple(int(code) for code in np.flatnonzero(np.bincount(geo_state, minlength=1)))
    if np.array_equal(units.mafid, geo_mafid) and (np.diff(geo_mafid) > 0).all():
        return LocatedUnits(np.arange(len(units)), units.mafid, geo_state, present, min(len(geo_mafid), 1))
    index = MafidIndex(geo_mafid)
    found = index.rows(units.mafid)
    unit = np.flatnonzero(found >= 0)
    place = found[unit]
    unit_parts, place_parts = [unit], [place]
    while len(index.following) and len(unit):
        place = index.following[place]
        unit, place = unit[place >= 0], place[place >= 0]
        unit_parts.append(unit)
        place_parts.append(place)
    unit, place = np.concatenate(unit_parts), np.concatenate(place_parts)
    if len(unit_parts) > 1:
        order = np.argsort(unit, kind="stable")
        unit, place = unit[order], place[order]
    return LocatedUnits(unit, units.mafid[unit], geo_state[place], present, index.multiplicity)
