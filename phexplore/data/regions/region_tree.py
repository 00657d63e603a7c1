"""A hierarchy of regions: every level divides the one above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

SEPARATOR = "/"
"""Between the names of a region and of the one inside it, in a path such as ``01/01001``."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionTree:
    """Regions by level; the children of a region are neighbours in the next level.

    Attributes:
        levels: names of the levels, widest first; the first has one region.
        codes: per level, one path per region, ascending; "" for the root.
        first_child: per level but the last, ``int64[regions + 1]``: the children of region i are those from `[i]` to `[i + 1]`.
        names: per level, what people call each region.
    """

    levels: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    first_child: tuple[Ints, ...]
    names: tuple[tuple[str, ...], ...]

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of regions of each level."""
        return tuple(len(codes) for codes in self.codes)

    @property
    def leaves(self) -> int:
        """The number of regions of the last level."""
        return len(self.codes[-1])

    def sums(self, leaves: Ints) -> list[Ints]:
        """Return the sums of every level's regions, widest first; the last is `leaves` itself.

        Args:
            leaves: ``int64[leaves, ...]``.
        """
        found = [leaves]
        for first in reversed(self.first_child):
            found.append(np.add.reduceat(found[-1], first[:-1], axis=0))
        return found[::-1]


def tree_of_paths(
    levels: Sequence[str], leaves: Sequence[Sequence[str]], names: dict[str, str] | None = None
) -> RegionTree:
    """Return the tree over leaves given by the codes on their way from below the root.

    Args:
        levels: names, the root's first.
        leaves: per leaf, one code for every level below the root; in any order, none twice.
        names: of regions by path; others are called by their last code.

    Raises:
        ValueError: a leaf has another number of codes, or stands twice.
    """
    depth = len(levels)
    known = names or {}
    ordered = sorted(tuple(leaf) for leaf in leaves)
    for leaf in ordered:
        if len(leaf) != depth - 1:
            raise ValueError(
                f"the region {SEPARATOR.join(leaf)} has {len(leaf)} codes, the levels below {levels[0]} {depth - 1}"
            )
    if len(set(ordered)) < len(ordered):
        raise ValueError("a region stands twice")
    codes = [list(dict.fromkeys(leaf[:length] for leaf in ordered)) for length in range(depth)]
    first_child = []
    for level in range(depth - 1):
        parents = {code: place for place, code in enumerate(codes[level])}
        counts = np.bincount([parents[code[:level]] for code in codes[level + 1]], minlength=len(parents))
        first_child.append(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    paths = tuple(tuple(SEPARATOR.join(code) for code in level) for level in codes)
    called = tuple(
        tuple(known.get(path, path.rpartition(SEPARATOR)[2] or levels[0]) for path in level) for level in paths
    )
    return RegionTree(tuple(levels), paths, tuple(first_child), called)
