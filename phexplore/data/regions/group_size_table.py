"""How many groups of each size there are in every region: what the mechanisms of group sizes publish."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from phexplore.data.regions.region_tree import RegionTree

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class GroupSizeTable:
    """Exact numbers of groups by region and size.

    Attributes:
        tree: the regions.
        counts: ``int64[leaves, N]``: groups of size 1 to N in every region of the last level.
        title: what the data are, for people.
        remarks: what was left out, derived, drawn or assumed, in sentences.
        synthetic: whether no group is a real one.
        open_ended: whether size N stands for N or more.
    """

    tree: RegionTree
    counts: Ints
    title: str
    remarks: tuple[str, ...] = ()
    synthetic: bool = False
    open_ended: bool = False

    @property
    def largest(self) -> int:
        """N, the largest size."""
        return int(self.counts.shape[1])

    @property
    def groups(self) -> int:
        """G, the number of groups: public and published exactly."""
        return int(self.counts.sum())

    @property
    def individuals(self) -> int:
        """The sum of all sizes."""
        return int(self.counts.sum(axis=0) @ np.arange(1, self.largest + 1))

    def by_level(self) -> list[Ints]:
        """Return the counts of every level, ``int64[regions, N]`` each, widest first."""
        return self.tree.sums(self.counts)

    def resized(self, largest: int) -> GroupSizeTable:
        """Return the table with another largest size; groups above it count there, and a remark says how many.

        Raises:
            ValueError: a largest size below 1.
        """
        if largest < 1:
            raise ValueError(f"the largest size is at least 1, got {largest}")
        if largest == self.largest:
            return self
        counts = np.zeros((len(self.counts), largest), np.int64)
        kept = min(largest, self.largest)
        counts[:, :kept] = self.counts[:, :kept]
        if largest > self.largest:
            if self.open_ended:
                raise ValueError(f"size {self.largest} stands for {self.largest} or more; larger sizes need a tail")
            return replace(self, counts=counts)
        above = self.counts[:, largest:].sum(axis=1)
        counts[:, -1] += above
        if not above.any():
            return replace(self, counts=counts)
        remark = f"{int(above.sum()):,} groups of more than {largest:,} count as groups of {largest:,}."
        return replace(self, counts=counts, remarks=(*self.remarks, remark), open_ended=True)
