"""The trees the solvers work on: group sizes above regions (the paper's modified hierarchy, Figure 3), and regions alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.data.regions.region_tree import RegionTree

Ints = NDArray[np.int64]
Numbers = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SizeTree:
    """A top that stands for all groups, below it one copy of the region tree for every size.

    Nodes are numbered level by level; in a level, size by size; among one size, region by region. A node's children are
    neighbours, and so are the leaves of one region of the level above.

    Attributes:
        regions: the hierarchy.
        sizes: N.
        first: ``int64[inner nodes + 1]``: the children of node i are `first[i]` to `first[i + 1]`.
    """

    regions: RegionTree
    sizes: int
    first: Ints

    def flattened(self, levels: Sequence[Numbers], dtype: type = np.int64) -> NDArray[Any]:
        """Return one value per node, ``dtype[nodes]``; the top's is 0.

        Args:
            levels: ``levels[i][regions, N]``, widest level first.
            dtype: of the result.
        """
        return np.concatenate([np.zeros(1, dtype), *(np.asarray(level, dtype).T.ravel() for level in levels)])

    def unflattened(self, values: Ints) -> list[Ints]:
        """Return ``values[nodes]`` as ``int64[regions, N]`` per level, widest first."""
        found, start = [], 1
        for width in self.regions.widths:
            behind = start + width * self.sizes
            found.append(np.ascontiguousarray(values[start:behind].reshape(self.sizes, width).T))
            start = behind
        return found


def size_tree(regions: RegionTree, sizes: int) -> SizeTree:
    """Return the size tree of a hierarchy.

    Args:
        regions: the hierarchy.
        sizes: N, the largest group size.
    """
    parts, start = [np.array([1], np.int64)], 1
    for width, first in zip(regions.widths, regions.first_child, strict=False):
        start += width * sizes
        below = len(first) and int(first[-1])
        parts.append((start + below * np.arange(sizes)[:, None] + first[:-1]).ravel())
    behind = 1 + sizes * sum(regions.widths)
    return SizeTree(regions, sizes, np.concatenate([*parts, [behind]]).astype(np.int64))


def region_nodes(regions: RegionTree) -> Ints:
    """Return ``first[inner + 1]``: the first child of every inner region, level by level, and the number of regions."""
    parts, start = [], 0
    for width, first in zip(regions.widths, regions.first_child, strict=False):
        start += width
        parts.append(start + first[:-1])
    return np.concatenate([*parts, [sum(regions.widths)]]).astype(np.int64)
