"""The tree of geographic units under a set of blocks: contiguous children at every level.

`tree_of` gives the standard spine of some block codes. Every other spine is built by
`phexplore.spine.building.build_spine` from a `Geography`; `phexplore.spine.allocation.allocation_of` turns it into a
`GeoTree` for a scenario, with two more things:

* `GeoTree.order`: its leaves are the blocks ``order[0], order[1], ...`` of the population, because a spine that is not the
  standard one puts blocks side by side that are not neighbours by code. None means the blocks' own order.
* `TreeLevel.shares`: what share of the total budget each unit has after bypassing, exactly. None means every unit has its
  level's share. A unit whose share is 0 is not measured: an only child copies its parent.

The sum of the shares along every path from the root to a leaf is the same, exactly (spines paper, section 5):
`GeoTree.check_paths` proves it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, GeocodeLayout
from phexplore.errors import BudgetMismatchError, PhexploreError, UnknownNameError
from phexplore.text.messages import listed, msg

ROOT_LEVELS = ("US", "Nation")
"""Names of the level above the states."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitShares:
    """Exact shares of the total budget for many units: few different ones, each unit names its own.

    Attributes:
        values: the different shares.
        of_unit: ``int32[units]``, places in `values`.
    """

    values: tuple[Fraction, ...]
    of_unit: NDArray[np.int32]

    def share(self, unit: int) -> Fraction:
        """Return the share of one unit."""
        return self.values[int(self.of_unit[unit])]

    def spent(self) -> NDArray[np.bool_]:
        """Return which units have a share above 0, ``bool[units]``."""
        positive: NDArray[np.bool_] = np.array([value > 0 for value in self.values], bool)[self.of_unit]
        return positive


@dataclass(frozen=True, slots=True, eq=False)
class TreeLevel:
    """The units of one level, in ascending code order.

    Attributes:
        name: of the level.
        codes: ``U[units]``, one code per unit ("" for the nation).
        first_block: ``int64[units + 1]``, the blocks of unit u are ``first_block[u]:first_block[u + 1]``.
        first_child: ``int64[units + 1]``, the same for its children in the next level; the blocks' level has none.
        shares: of the total budget, per unit; None where every unit has its level's share.
    """

    name: str
    codes: NDArray[np.str_]
    first_block: NDArray[np.int64]
    first_child: NDArray[np.int64] | None
    shares: UnitShares | None = None

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class GeoTree:
    """Levels from the root (one unit) to the blocks.

    Attributes:
        levels: widest first; every unit's children are neighbours in the next level.
        dropped: levels of the parameters that the tree does not have; their budget stays unspent.
        order: ``int64[blocks]``, the place in the population of each leaf; None where it is the leaf's own.
    """

    levels: tuple[TreeLevel, ...]
    dropped: tuple[str, ...]
    order: NDArray[np.int64] | None = None

    @property
    def blocks(self) -> int:
        """The number of leaves."""
        return self.levels[-1].units

    def check_paths(self, total: Fraction) -> None:
        """Prove that every path from the root to a leaf carries the same share of the budget.

        Args:
            total: the share that the levels of the tree have together.

        Raises:
            BudgetMismatchError: a path carries another share.
            ValueError: a level has no shares.
        """
        # Different sums are few: a path is the pair of the sum above it and its unit's own share.
        sums, place = [Fraction(0)], np.zeros(self.levels[0].units, np.int64)
        for number, level in enumerate(self.levels):
            if level.shares is None:
                raise ValueError(f"{level.name} has no shares per unit")
            values = level.shares.values
            pairs, place = np.unique(place * len(values) + level.shares.of_unit, return_inverse=True)
            sums = [sums[pair // len(values)] + values[pair % len(values)] for pair in pairs.tolist()]
            if number + 1 < len(self.levels):
                if level.first_child is None:
                    raise ValueError(f"{level.name} has no children")
                place = np.repeat(place, np.diff(level.first_child))
        wrong = [carried for carried in sums if carried != total]
        if wrong:
            raise BudgetMismatchError(
                msg(
                    "A path of the spine carries {path} of the budget; the levels together have {total}.",
                    path=wrong[0],
                    total=total,
                ),
                msg("This is an error of the program. Do not use the spine, and report the error."),
            )


def tree_of(geocodes: NDArray[np.str_], levels: tuple[str, ...], layout: GeocodeLayout = CENSUS_BLOCKS) -> GeoTree:
    """Return the standard spine over these leaves: every unit is what its code says.

    Leaves of one state have that state as their root: levels above it are dropped.

    Args:
        geocodes: ``geocodes[leaves]``, codes of the leaves as `GeocodeLayout.geocodes` returns them, ascending.
        levels: of the parameters, widest first; the last one is the leaves'.
        layout: what the characters of the codes mean.

    Raises:
        PhexploreError: a level has no place in the codes, the order is another one, or the leaves have no common root.
    """
    lengths = [_length(level, layout) for level in levels]
    if lengths != sorted(set(lengths)) or not levels or lengths[-1] != layout.length(layout.leaf):
        raise PhexploreError(
            msg("The levels {levels} are not a spine over {title}.", levels=listed(levels), title=layout.title),
            msg("Name the levels from the widest to the last, {leaf}.", leaf=layout.leaf),
        )
    one_state = len(np.unique(geocodes.astype(f"U{layout.length('State')}"))) == 1
    kept = [(level, n) for level, n in zip(levels, lengths, strict=True) if not (one_state and n == 0)]
    starts = [_starts(geocodes, length) for _, length in kept]
    if len(starts[0]) != 1:
        raise PhexploreError(
            msg(
                "The blocks lie in {units} geographic units of {level}, and the spine has no level above them.",
                units=len(starts[0]),
                level=kept[0][0],
            ),
            msg("Give the blocks of one state, or parameters with a national level."),
        )
    found = []
    for number, ((level, length), start) in enumerate(zip(kept, starts, strict=True)):
        codes = geocodes[start].astype(f"U{length}") if length else np.array([""])
        ends = np.append(start, len(geocodes)).astype(np.int64)
        children = None
        if number + 1 < len(kept):
            children = np.searchsorted(starts[number + 1], ends).astype(np.int64)
        found.append(TreeLevel(level, codes, ends, children))
    names = [level for level, _ in kept]
    return GeoTree(tuple(found), tuple(level for level in levels if level not in names))


def _length(level: str, layout: GeocodeLayout) -> int:
    """Return the characters that name a unit of a level.

    Raises:
        PhexploreError: the codes have no such level.
    """
    try:
        return layout.length(level)
    except UnknownNameError as error:
        names = ", ".join(
            level.name for level in sorted((*layout.levels, *layout.further), key=lambda each: each.length)
        )
        raise PhexploreError(
            msg(
                "A code of {length} characters does not contain the level {level}: {title}.",
                length=layout.length(layout.leaf),
                level=level,
                title=layout.title,
            ),
            msg(
                "Use the levels of the standard spine ({names}). Other spines can be forecast, not simulated.",
                names=names,
            ),
        ) from error


def _starts(geocodes: NDArray[np.str_], length: int) -> NDArray[np.int64]:
    """Return the first block of each unit."""
    if length == 0:
        return np.zeros(1, np.int64)
    prefix = geocodes.astype(f"U{length}")
    return np.flatnonzero(np.concatenate([[True], prefix[1:] != prefix[:-1]])).astype(np.int64)
