"""Areas that need not follow the tree (towns, places, districts) on a map: the units of a level that hold one, and what is said of them. No Qt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.systems.topdown.wording import plural_level


class Holding(NamedTuple):
    """The units of a level that hold an area.

    Attributes:
        units: their numbers, ``int64[units]``, the one with most of the area's leaves first.
        partly: how many of them hold leaves of other areas, too.
    """

    units: NDArray[np.int64]
    partly: int

    def words(self, level: str, shown: int) -> str:
        """Return what a map outlines, as a sentence.

        Args:
            level: of the units.
            shown: how many of them have shapes.
        """
        count = len(self.units)
        if not shown:
            return "It is not among the shapes of this file."
        shared = "which holds other areas, too" if count == 1 else f"{self.partly:,} of them only in part"
        return (
            f"Outlined: the {f'{count:,} ' if count > 1 else ''}{plural_level(level, count)} it lies in"
            + (f", {shared}" if self.partly else "")
            + (f"; {count - shown:,} without a shape in this file" if shown < count else "")
            + "."
        )


def holding(first_block: NDArray[np.int64], leaves: NDArray[np.int64]) -> Holding:
    """Return which units hold some leaves.

    Args:
        first_block: the first leaf of each unit and the end of the last, ``int64[units + 1]``.
        leaves: of the area, ``int64[leaves]``, at least one.
    """
    found, blocks = np.unique(np.searchsorted(first_block, leaves, side="right") - 1, return_counts=True)
    partly = int(np.count_nonzero(np.diff(first_block)[found] > blocks))
    return Holding(found[np.argsort(-blocks, kind="stable")], partly)
