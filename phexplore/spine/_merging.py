"""The compiled loop of Algorithm 2 over the pairs of groups of one county."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


@kernel
def distance(added: int, subtracted: int, above_added: Ints, above_subtracted: Ints) -> int:
    """Return the distance at the root from a county's sums and the sums of its ancestors without it.

    Args:
        added: sum of the distances of the area within the county's children.
        subtracted: sum of the distances of the area's complement within them.
        above_added: ``above_added[levels]``, that sum in each ancestor without this county, nearest first.
        above_subtracted: ``above_subtracted[levels]``, the same for the complement.
    """
    cost, rest = min(added, subtracted + 1), min(subtracted, added + 1)
    for level in range(len(above_added)):
        x, y = above_added[level] + cost, above_subtracted[level] + rest
        cost, rest = min(x, y + 1), min(y, x + 1)
    return cost


@kernel
def sweep(
    group: Ints,
    added: Ints,
    subtracted: Ints,
    above_added: Ints,
    above_subtracted: Ints,
    most: int,
    equal: bool,
) -> int:
    """Merge pairs of groups; return how many. A merged group has the number of its first member.

    Args:
        group: ``int64[tracts]``, the group of each tract, changed in place.
        added: ``int64[areas, tracts]``, sum of the tracts' costs per group (columns of vanished groups mean nothing).
        subtracted: ``int64[areas, tracts]``, sum of the tracts' rests.
        above_added: ``int64[areas, levels]``, sums of the ancestors without this county.
        above_subtracted: the same for rests.
        most: tracts in a group.
        equal: whether a merge that changes no sorted list is made.
    """
    areas, tracts = added.shape
    size = np.zeros(tracts, np.int64)
    for tract in range(tracts):
        size[group[tract]] += 1
    x, y, now = np.zeros(areas, np.int64), np.zeros(areas, np.int64), np.zeros(areas, np.int64)
    for area in range(areas):
        for each in range(tracts):
            if size[each] > 0:
                x[area] += min(added[area, each], subtracted[area, each] + 1)
                y[area] += min(subtracted[area, each], added[area, each] + 1)
        now[area] = distance(x[area], y[area], above_added[area], above_subtracted[area])
    new_x, new_y, new = np.zeros(areas, np.int64), np.zeros(areas, np.int64), np.zeros(areas, np.int64)
    merged = 0
    for u in range(tracts):
        if size[u] == 0:
            continue
        for v in range(u + 1, tracts):
            if size[v] == 0 or size[u] + size[v] > most:
                continue
            for area in range(areas):
                a, b = added[area, u], subtracted[area, u]
                c, d = added[area, v], subtracted[area, v]
                both, rest = a + c, b + d
                new_x[area] = x[area] - min(a, b + 1) - min(c, d + 1) + min(both, rest + 1)
                new_y[area] = y[area] - min(b, a + 1) - min(d, c + 1) + min(rest, both + 1)
                new[area] = now[area]
                if new_x[area] != x[area] or new_y[area] != y[area]:
                    new[area] = distance(new_x[area], new_y[area], above_added[area], above_subtracted[area])
            # The largest distance that one of the lists has more often than the other decides.
            largest, balance = -1, 0
            for area in range(areas):
                if new[area] != now[area]:
                    largest = max(largest, new[area], now[area])
            while largest >= 0:
                balance, following = 0, -1
                for area in range(areas):
                    if new[area] != now[area]:
                        if new[area] == largest:
                            balance += 1
                        elif new[area] < largest:
                            following = max(following, new[area])
                        if now[area] == largest:
                            balance -= 1
                        elif now[area] < largest:
                            following = max(following, now[area])
                if balance != 0:
                    break
                largest = following
            if balance < 0 or (balance == 0 and equal):
                for area in range(areas):
                    added[area, u] += added[area, v]
                    subtracted[area, u] += subtracted[area, v]
                    x[area], y[area], now[area] = new_x[area], new_y[area], new[area]
                size[u] += size[v]
                size[v] = 0
                for tract in range(tracts):
                    if group[tract] == v:
                        group[tract] = u
                merged += 1
    return merged
