"""How far areas are from a spine: the fewest units that must be added or subtracted to make up an area.

Source: Geographic spines in the 2020 DAS, section 4, equations 20 to 23 and Algorithm 1. A unit that an area does not touch
costs the area nothing and the area's complement one, so only pairs of areas and touched units are looked at: the work grows
with the blocks inside areas, not with areas times units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.spine.geography import EntitySet
from phexplore.spine.tree import GeoTree

Ints = NDArray[np.int64]

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """Off-spine distances of the areas of one class.

    Attributes:
        name: of the class.
        codes: ``U[areas]``.
        distance: ``int64[areas]``; 0 for an area without blocks.
    """

    name: str
    codes: NDArray[np.str_]
    distance: Ints

    @property
    def mean(self) -> float:
        """The mean distance."""
        return float(self.distance.mean()) if len(self.distance) else 0.0

    @property
    def largest(self) -> int:
        """The largest distance."""
        return int(self.distance.max()) if len(self.distance) else 0

    def quantiles(self, shares: Sequence[float] = QUANTILES) -> tuple[float, ...]:
        """Return quantiles: the smallest distance that at least this share of the areas does not exceed."""
        if not len(self.distance):
            return tuple(0.0 for _ in shares)
        found = np.quantile(self.distance, shares, method="inverted_cdf")
        return tuple(float(value) for value in found)

    def histogram(self) -> Ints:
        """Return how many areas have each distance, ``int64[largest + 1]``."""
        return np.bincount(self.distance, minlength=self.largest + 1).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """The pairs of areas and units of one level that have blocks in common, ordered by area, then by unit.

    Attributes:
        area: ``int64[pairs]``.
        unit: ``int64[pairs]``.
        cost: ``int64[pairs]``, fewest units that make up the area inside the unit.
        rest: ``int64[pairs]``, the same for the rest of the unit.
        added: ``int64[pairs]``, what adding up the children's parts costs.
        subtracted: ``int64[pairs]``, what adding up the children's rests costs.
    """

    area: Ints
    unit: Ints
    cost: Ints
    rest: Ints
    added: Ints
    subtracted: Ints


def distances(tree: GeoTree, entities: EntitySet) -> Distances:
    """Return the off-spine distance of every area (Algorithm 1).

    Args:
        tree: of the spine.
        entities: the areas as lists of blocks of this tree.
    """
    touched = _leaves(tree, entities)
    for number in range(len(tree.levels) - 2, -1, -1):
        touched = _parents(tree, number, touched)
    found = np.zeros(entities.areas, np.int64)
    found[touched.area] = touched.cost
    return Distances(entities.name, entities.codes, found)


def touched_levels(tree: GeoTree, entities: EntitySet) -> tuple[Touched, ...]:
    """Return the touched units of every level, the root's first.

    Args:
        tree: of the spine.
        entities: the areas as lists of blocks of this tree.
    """
    found = [_leaves(tree, entities)]
    for number in range(len(tree.levels) - 2, -1, -1):
        found.append(_parents(tree, number, found[-1]))
    return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class Part:
    """One unit of a composition.

    Attributes:
        sign: 1 if it is added, -1 if it is subtracted.
        level: place of its level in the tree.
        unit: its place in the level.
    """

    sign: int
    level: int
    unit: int


def composition(tree: GeoTree, entities: EntitySet, area: int) -> tuple[Part, ...]:
    """Return units that make up an area when added and subtracted, as few as its distance says.

    Where several compositions are equally short, the one that adds is taken.

    Args:
        tree: the spine.
        entities: with the area.
        area: its place among them.
    """
    first, last = int(entities.starts[area]), int(entities.starts[area + 1])
    if first == last:
        return ()
    one = EntitySet(
        entities.name,
        entities.codes[area : area + 1],
        np.array([0, last - first], np.int64),
        entities.blocks[first:last],
    )
    levels = touched_levels(tree, one)
    places = [{int(unit): place for place, unit in enumerate(level.unit)} for level in levels]
    parts: list[Part] = []
    # Each entry: compose the area's part of a unit (or the rest of it), with a sign.
    waiting = [(1, 0, 0, False)]
    while waiting:
        sign, number, unit, is_rest = waiting.pop()
        place = places[number].get(unit)
        touched = levels[number]
        if place is None:
            # Untouched: the area has nothing here, its rest is the whole unit.
            if is_rest:
                parts.append(Part(sign, number, unit))
            continue
        if number + 1 == len(levels):
            if is_rest == bool(touched.rest[place]):
                parts.append(Part(sign, number, unit))
            continue
        added, subtracted = int(touched.added[place]), int(touched.subtracted[place])
        direct, other = (subtracted, added) if is_rest else (added, subtracted)
        children = _children(tree, number, unit)
        if direct <= other + 1:
            waiting.extend((sign, number + 1, child, is_rest) for child in children)
        else:
            parts.append(Part(sign, number, unit))
            waiting.extend((-sign, number + 1, child, not is_rest) for child in children)
    return tuple(sorted(parts, key=lambda part: (part.level, part.unit)))


def _children(tree: GeoTree, number: int, unit: int) -> range:
    first_child = tree.levels[number].first_child
    if first_child is None:
        raise ValueError(f"{tree.levels[number].name} has no children")
    return range(int(first_child[unit]), int(first_child[unit + 1]))


def _leaves(tree: GeoTree, entities: EntitySet) -> Touched:
    area = np.repeat(np.arange(entities.areas), np.diff(entities.starts))
    leaf = entities.blocks
    if tree.order is not None:
        place = np.empty(tree.blocks, np.int64)
        place[tree.order] = np.arange(tree.blocks)
        leaf = place[leaf]
    keys = area * tree.blocks + leaf
    if (keys[1:] <= keys[:-1]).any():
        keys = np.sort(keys)
        if (keys[1:] == keys[:-1]).any():
            raise ValueError(f"an area of {entities.name} names a block twice")
        area, leaf = np.divmod(keys, tree.blocks)
    ones, zeros = np.ones(len(leaf), np.int64), np.zeros(len(leaf), np.int64)
    return Touched(area, leaf, ones, zeros, ones, zeros)


def _parents(tree: GeoTree, number: int, below: Touched) -> Touched:
    """Return the touched units of a level from those of the next one (equations 22 and 23)."""
    first_child = tree.levels[number].first_child
    if first_child is None:
        raise ValueError(f"{tree.levels[number].name} has no children")
    if not len(below.area):
        return below
    parent = np.repeat(np.arange(len(first_child) - 1), np.diff(first_child))[below.unit]
    new = np.concatenate([[True], (parent[1:] != parent[:-1]) | (below.area[1:] != below.area[:-1])])
    first = np.flatnonzero(new)
    area, unit = below.area[first], parent[first]
    added = np.add.reduceat(below.cost, first)
    touched = np.diff(np.append(first, len(parent)))
    # A child that is not touched adds one to the rest and nothing to the part.
    subtracted = np.add.reduceat(below.rest, first) + np.diff(first_child)[unit] - touched
    return Touched(area, unit, np.minimum(added, subtracted + 1), np.minimum(subtracted, added + 1), added, subtracted)
