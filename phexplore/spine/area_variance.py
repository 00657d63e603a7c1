"""Exact variances of areas off the spine, from the same recursion as the variances on it.

Given the histogram x of a unit, an area's part of the unit has some mean R x and some covariance V. A unit inside the
area has R = I and V = 0, one outside R = 0 and V = 0. Of a unit's children, whose covariances from below are P with the
sum S, the parts add up to

    R = (sum of R P) S⁻¹,    V = sum of V + sum of R P R' - R S R'

so the covariances of all units with each other are used and none is written down (see `variance` for the source: spines
paper, equations 18 and 19). At the lowest unit that holds the whole area, the
variance is R C R' + V with C the unit's covariance given everything. Only units that the area cuts are looked at.

The sum of the variances of the units that make up an area (`added_variances`) leaves the covariances out; it is what
one would guess from the distance, shown beside the exact figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.spine.distance import composition
from phexplore.spine.geography import EntitySet
from phexplore.spine.tree import GeoTree
from phexplore.spine.variance import BlockCovariances, Kinds, Prediction

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs of areas and units of one level that have blocks in common, by area, then by unit.

    The pairs of the level below that belong to pair i are ``members[first[i]:first[i + 1]]``.
    """

    area: Ints
    unit: Ints
    blocks: Ints
    whole: NDArray[np.bool_]
    first: Ints
    members: Ints


def area_variances(prediction: Prediction, entities: EntitySet, kinds: Sequence[Kinds]) -> Floats:
    """Return variances of areas in people², ``float64[areas, answers]``, answers of all queries one after the other.

    An area without blocks has the variance 0; infinite variances stand where nothing determines a count.

    Args:
        prediction: covariances of the units, from `variance.predict` or `top_down.predict_top_down`.
        entities: the areas as lists of blocks.
        kinds: per query, the answers to give.
    """
    levels = _pairs(prediction, entities)
    top = _tops(levels, entities)
    answers = sum(len(each.answers) for each in kinds)
    total = np.zeros((entities.areas, answers))
    coordinates = prediction.coordinates(kinds)
    for blocks in prediction.covariances:
        for number, place in enumerate(blocks.places):
            vectors = coordinates[place]
            used = np.abs(vectors).max(axis=1) > 0
            if used.any():
                total[:, used] += _of_block(prediction, blocks, number, levels, top, vectors[used], entities.areas)
    return np.maximum(total, 0.0)


def added_variances(prediction: Prediction, entities: EntitySet, kinds: Sequence[Kinds]) -> Floats:
    """Return the variances of the units that make up each area, added as if they were independent.

    In people², ``float64[areas, answers]``; arguments as in `area_variances`. The units are those of
    `distance.composition`.
    """
    on_spine = prediction.variances(kinds)
    tree = prediction.shape.tree
    found = np.zeros((entities.areas, on_spine.shape[1]))
    for area in range(entities.areas):
        for part in composition(tree, entities, area):
            found[area] += on_spine[prediction.shape.structure.of_unit[part.level][part.unit]]
    return found


def _leaf_places(tree: GeoTree, entities: EntitySet) -> Ints:
    if tree.order is None:
        return entities.blocks
    place = np.empty(tree.blocks, np.int64)
    place[tree.order] = np.arange(tree.blocks)
    return place[entities.blocks]


def _pairs(prediction: Prediction, entities: EntitySet) -> tuple[_Pairs, ...]:
    """Return the touched units of every level of the recursion, the root's first."""
    structure = prediction.shape.structure
    sizes = [np.ones(len(structure.class_of_unit[-1]), np.int64)]
    for number in range(len(structure.parents) - 1, 0, -1):
        parent = structure.parents[number]
        units = len(structure.class_of_unit[number - 1])
        sizes.append(np.bincount(parent, weights=sizes[-1], minlength=units).astype(np.int64))
    sizes.reverse()
    area = np.repeat(np.arange(entities.areas), np.diff(entities.starts))
    unit = _leaf_places(prediction.shape.tree, entities)
    blocks = np.ones(len(unit), np.int64)
    found: list[_Pairs] = []
    for number in range(len(sizes) - 1, -1, -1):
        keys = area * len(sizes[number]) + unit
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([np.ones(min(1, len(keys)), bool), keys[1:] != keys[:-1]]))
        here_area, here_unit = np.divmod(keys[first], len(sizes[number]))
        counts = np.add.reduceat(blocks[order], first) if len(first) else blocks[:0]
        rows = np.append(first, len(keys)).astype(np.int64)
        found.append(_Pairs(here_area, here_unit, counts, counts == sizes[number][here_unit], rows, order))
        if number:
            area, unit, blocks = here_area, structure.parents[number][here_unit], counts
    return tuple(reversed(found))


def _tops(levels: Sequence[_Pairs], entities: EntitySet) -> tuple[Ints, Ints]:
    """Return level and pair of the lowest unit that holds each area; level -1 for an area without blocks."""
    members = np.diff(entities.starts)
    level = np.full(entities.areas, -1, np.int64)
    place = np.zeros(entities.areas, np.int64)
    for number, pairs in enumerate(levels):
        holds = pairs.blocks == members[pairs.area]
        level[pairs.area[holds]] = number
        place[pairs.area[holds]] = np.flatnonzero(holds)
    return level, place


def _of_block(
    prediction: Prediction,
    block: BlockCovariances,
    which: int,
    levels: Sequence[_Pairs],
    top: tuple[Ints, Ints],
    vectors: Floats,
    areas: int,
) -> Floats:
    """Return one block's part of the variances, ``float64[areas, answers]``."""
    from phexplore.spine import _kernels  # noqa: PLC0415 - numba takes half a second to load

    structure = prediction.shape.structure
    size = vectors.shape[1]
    known_below = np.ascontiguousarray(block.below[..., which])
    found = np.zeros((areas, len(vectors)))
    identity = np.eye(size)
    slope = np.empty((0, size, size))
    spread, finite = slope, np.empty(0, bool)
    below: _Pairs | None = None
    for number in range(len(levels) - 1, -1, -1):
        pairs = levels[number]
        count = len(pairs.area)
        next_slope = np.broadcast_to(identity, (count, size, size)).copy()
        next_spread, next_finite = np.zeros((count, size, size)), np.ones(count, bool)
        cut = np.flatnonzero(~pairs.whole)
        if below is not None and len(cut):
            rows, first = _rows_of(pairs, cut)
            units = pairs.unit[cut]
            start, child_class, child_count, children = _children(prediction, number, units)
            out_slope, out_spread = np.empty((len(cut), size, size)), np.empty((len(cut), size, size))
            out_finite = np.empty(len(cut), bool)
            _kernels.gather_areas(
                first,
                below.whole[rows],
                children,
                structure.class_of_unit[number + 1][below.unit[rows]],
                start,
                child_class,
                child_count,
                known_below,
                block.known,
                block.informed,
                size,
                slope[rows],
                spread[rows],
                finite[rows],
                out_slope,
                out_spread,
                out_finite,
            )
            next_slope[cut], next_spread[cut], next_finite[cut] = out_slope, out_spread, out_finite
        slope, spread, finite, below = next_slope, next_spread, next_finite, pairs
        here = np.flatnonzero(top[0] == number)
        if len(here):
            places = top[1][here]
            representative = structure.rep_of_unit[number][pairs.unit[places]]
            turned = np.einsum("qi,aij->aqj", vectors, slope[places])
            found[here] = np.einsum(
                "aqi,aij,aqj->aq", turned, block.result[representative][..., which], turned, optimize=True
            )
            found[here] += np.einsum("qi,aij,qj->aq", vectors, spread[places], vectors, optimize=True)
            found[here[~(finite[places] & block.finite[representative])]] = np.inf
    return found


def _rows_of(pairs: _Pairs, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the pairs below that belong to the chosen pairs, and where each one's begin among them."""
    counts = pairs.first[chosen + 1] - pairs.first[chosen]
    ends = np.cumsum(counts)
    rows = np.repeat(pairs.first[chosen] - (ends - counts), counts) + np.arange(int(ends[-1]))
    return pairs.members[rows], np.concatenate([[0], ends]).astype(np.int64)


def _children(prediction: Prediction, number: int, units: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the rows of units' children by class, and how many children each unit has."""
    structure = prediction.shape.structure
    kinds = structure.class_of_unit[number][units]
    parent = structure.parents[number + 1]
    children = np.bincount(parent, minlength=len(structure.class_of_unit[number]))[units]
    start = structure.child_start[kinds]
    counts = structure.child_start[kinds + 1] - start
    ends = np.cumsum(counts)
    rows = np.repeat(start - (ends - counts), counts) + np.arange(int(ends[-1]) if len(ends) else 0)
    first = np.concatenate([[0], ends]).astype(np.int64)
    return first, structure.child_class[rows], structure.child_count[rows], children.astype(np.int64)
