"""Groups shaped like the paper's taxi data: 13,282 taxis in a city of 6 boroughs and 263 zones, sizes in the thousands.

The real data (New York, 2014) are not shipped. Of them the paper says the number of groups and leaves, 24,489,743
pickups, and three levels (section 11). A group lies in one zone here, as the problem asks; sizes are log-normal, most
zones have few taxis. No figure describes a real taxi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.marks import MARK_COLUMN, SYNTHETIC
from phexplore.data.blocks.whole_file import whole_file
from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.data.regions.region_tree import tree_of_paths

if TYPE_CHECKING:
    from pathlib import Path

LEVELS = ("City", "Borough", "Zone")
ZONES = {"Bronx": 43, "Brooklyn": 61, "EWR": 1, "Manhattan": 69, "Queens": 69, "Staten Island": 20}
"""Taxi zones of each borough (NYC Taxi and Limousine Commission)."""

GROUPS = 13_282
INDIVIDUALS = 24_489_743
LARGEST = 13_282
"""N as the paper gives it."""

_WEIGHTS = {"Bronx": 1.0, "Brooklyn": 3.0, "EWR": 0.2, "Manhattan": 30.0, "Queens": 8.0, "Staten Island": 0.2}
"""Taxis of a zone of each borough, about, relative to the others; an assumption."""

_SPREAD = 0.6
"""Standard deviation of the logarithm of sizes; an assumption."""


def taxi_shaped(seed: int, groups: int = GROUPS, largest: int = LARGEST) -> GroupSizeTable:
    """Return groups with the paper's numbers of groups, regions and levels, and its mean size.

    Args:
        seed: equal seeds make equal tables.
        groups: how many.
        largest: N; larger sizes are drawn again as N.

    Raises:
        ValueError: fewer than 1 group or size.
    """
    if groups < 1 or largest < 1:
        raise ValueError(f"there is at least 1 group and 1 size, got {groups} and {largest}")
    random = np.random.default_rng(seed)
    paths = [(borough, f"{borough} {number:02}") for borough, count in ZONES.items() for number in range(1, count + 1)]
    tree = tree_of_paths(LEVELS, paths, {"": "New York City"})
    # The tree is in the order of its codes, which the zones follow.
    weights = np.array([_WEIGHTS[code.partition("/")[0]] for code in tree.codes[-1]])
    weights *= random.lognormal(0.0, 1.0, len(weights))
    zones = random.choice(len(weights), groups, p=weights / weights.sum())
    mean = INDIVIDUALS / GROUPS
    drawn = random.lognormal(np.log(mean) - _SPREAD**2 / 2, _SPREAD, groups)
    sizes = np.clip(np.rint(drawn), 1, largest).astype(np.int64)
    counts = np.zeros((len(weights), largest), np.int64)
    np.add.at(counts, (zones, sizes - 1), 1)
    remark = f"Drawn with seed {seed} in the shape of the paper's taxi data; no group is a real one."
    return GroupSizeTable(tree, counts, "Taxis by pickups, synthetic", (remark,), synthetic=True)


def write_size_counts(table: GroupSizeTable, path: Path) -> None:
    """Write a made-up table as ``region,size,count`` with the mark of synthetic data, as `group_size_reading.read_size_counts` reads.

    Zeros are left out, but for one line of every region that would have none.

    Args:
        table: the groups.
        path: of the file, replaced as a whole.

    Raises:
        PhexploreError: it cannot be written.
    """
    shown = table.counts > 0
    shown[:, 0] |= ~shown.any(axis=1)
    regions, sizes = np.nonzero(shown)
    with whole_file(path) as file:
        file.write(f"region,size,count,{MARK_COLUMN}\n".encode())
        for region, size in zip(regions.tolist(), sizes.tolist(), strict=True):
            line = f"{table.tree.codes[-1][region]},{size + 1},{table.counts[region, size]},{SYNTHETIC}\n"
            file.write(line.encode())
