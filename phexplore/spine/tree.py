"""The tree of geographic units under a set of blocks: contiguous children at every level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError

CODE_LENGTHS = {"US": 0, "Nation": 0, "State": 2, "County": 5, "Tract": 11, "Block_Group": 12, "Block": 16}
"""Leading characters of the 16-digit block code that name a unit (formats, section 4)."""

ROOT_LEVELS = ("US", "Nation")


@dataclass(frozen=True, slots=True, eq=False)
class TreeLevel:
    """The units of one level, in ascending code order.

    Attributes:
        name: of the level.
        codes: ``U[units]``, one code per unit ("" for the nation).
        first_block: ``int64[units + 1]``, the blocks of unit u are ``first_block[u]:first_block[u + 1]``.
        first_child: ``int64[units + 1]``, the same for its children in the next level; the blocks' level has none.
    """

    name: str
    codes: NDArray[np.str_]
    first_block: NDArray[np.int64]
    first_child: NDArray[np.int64] | None

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class GeoTree:
    """Levels from the root (one unit) to the blocks.

    Attributes:
        levels: widest first; every unit's children are neighbours in the next level.
        dropped: levels of the parameters above the data's root.
    """

    levels: tuple[TreeLevel, ...]
    dropped: tuple[str, ...]

    @property
    def blocks(self) -> int:
        """The number of leaves."""
        return self.levels[-1].units


def tree_of(geocodes: NDArray[np.str_], levels: tuple[str, ...]) -> GeoTree:
    """Return the standard spine over these blocks.

    Blocks of one state have that state as their root: levels above it are dropped.

    Args:
        geocodes: 16-digit codes, ascending.
        levels: of the parameters, widest first; the last one is the blocks'.

    Raises:
        PhexploreError: a level has no place in a block code, or the blocks have no common root.
    """
    unknown = [level for level in levels if level not in CODE_LENGTHS]
    if unknown:
        raise PhexploreError(
            f"The level {unknown[0]} has no place in a 16-digit block code.",
            f"The standard spine has {', '.join(dict.fromkeys(CODE_LENGTHS))}; other spines are forecast, not simulated.",
        )
    one_state = len(np.unique(geocodes.astype("U2"))) == 1
    kept = tuple(level for level in levels if not (one_state and level in ROOT_LEVELS))
    starts = [_starts(geocodes, CODE_LENGTHS[level]) for level in kept]
    if len(starts[0]) != 1:
        raise PhexploreError(
            f"The blocks lie in {len(starts[0])} units of {kept[0]}, and no level stands above them.",
            "Give the blocks of one state, or parameters with a national level.",
        )
    found = []
    for number, (level, start) in enumerate(zip(kept, starts, strict=True)):
        codes = geocodes[start].astype(f"U{max(1, CODE_LENGTHS[level])}") if CODE_LENGTHS[level] else np.array([""])
        ends = np.append(start, len(geocodes)).astype(np.int64)
        children = None
        if number + 1 < len(kept):
            children = np.searchsorted(starts[number + 1], ends).astype(np.int64)
        found.append(TreeLevel(level, codes, ends, children))
    return GeoTree(tuple(found), tuple(level for level in levels if level not in kept))


def _starts(geocodes: NDArray[np.str_], length: int) -> NDArray[np.int64]:
    """Return the first block of each unit."""
    if length == 0:
        return np.zeros(1, np.int64)
    prefix = geocodes.astype(f"U{length}")
    return np.flatnonzero(np.concatenate([[True], prefix[1:] != prefix[:-1]])).astype(np.int64)
