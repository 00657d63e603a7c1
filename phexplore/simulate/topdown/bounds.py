"""Lower and upper bounds of every unit, from what is published exactly (topdown.md, section 4).

With n facilities of a type, at least l and at most `most` people in each: l n ≤ x ≤ most n; 0 where n = 0. Where the
total of a unit is kept, one type leaves room for the fewest people of the others, and holds everybody when it is the
only one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phexplore.optimize.least_squares import UNBOUNDED
from phexplore.simulate.topdown.design import LevelDesign
from phexplore.workload.queries import total_query
from phexplore.workload.schema import FacilityBounds

Ints = NDArray[np.int64]


def unit_bounds(
    level: LevelDesign, units: int, facilities: NDArray[np.integer] | None, totals: Ints | None
) -> tuple[Ints, Ints]:
    """Return the bounds of the units of a level, ``int64[units, bounds]`` each, in the order of the plan's bounded queries.

    Args:
        level: what is kept at this level.
        units: how many.
        facilities: ``int[units, types]``; None where facilities are not bounded.
        totals: ``int64[units]``, exact; None where they are not kept.
    """
    lower = np.zeros((units, level.plan.bounds), np.int64)
    upper = np.full((units, level.plan.bounds), UNBOUNDED, np.int64)
    starts = level.plan.bound_start
    total = total_query(level.plan.schema)
    for query, start in starts.items():
        if query == total:
            # Without exact totals of their own the units share those of their groups, and each alone is unbounded.
            if totals is not None:
                lower[:, start] = upper[:, start] = totals
        elif facilities is not None and level.plan.schema.facility_bounds is not None:
            inside = slice(start, start + query.answers)
            least, most = facility_bounds(level.plan.schema.facility_bounds, facilities.astype(np.int64), totals)
            if level.least:
                lower[:, inside] = least
            if level.most:
                upper[:, inside] = most
    return lower, upper


def facility_bounds(bounds: FacilityBounds, facilities: Ints, totals: Ints | None) -> tuple[Ints, Ints]:
    """Return the fewest and most people per type of facility, ``int64[units, types]`` each.

    Args:
        bounds: least and most people in a facility.
        facilities: ``facilities[units, types]``, how many there are.
        totals: ``totals[units]``, exact totals of people, None where they are not kept.
    """
    least = facilities * np.array(bounds.least_per_unit, np.int64)
    most = facilities * bounds.most_per_unit
    if totals is None:
        return least, most
    others = least.sum(axis=1, keepdims=True) - least
    room = np.where(facilities > 0, totals[:, None] - others, 0)
    alone = (facilities > 0) & ((facilities > 0).sum(axis=1, keepdims=True) == 1)
    return np.where(alone, totals[:, None], least), np.minimum(most, room)
