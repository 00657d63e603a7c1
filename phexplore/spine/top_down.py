"""Exact variances of estimates that are fitted level by level, as TopDown does, instead of all at once.

TopDown fixes a unit before it looks at the unit's children: they are fitted to their own measurements and to the sum that the parent's
estimate prescribes, and what is measured further down never improves what stands above (TopDown paper, section 7). With P the covariance
of a child's own measurements, S the sum over all children, K = P S⁻¹ and C the covariance of the parent's estimate, a child's estimate
has the covariance K (S - P) + K C Kᵀ. An only child copies its parent, whatever was measured at it (spines paper, Observation 1).

Where a level's first pass fits the total alone, the total is estimated from its own measurements only and the rest is fitted to it. That
is exact where the total is a block of the histogram by itself; in larger blocks the little that sums of other cells would tell about
a fixed total is left in.

This is what simulated errors agree with where counts are large; `variance.predict` is what the best linear estimate would reach.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.spine.measuring import Measured, measured
from phexplore.spine.variance import BlockCovariances, Prediction, Shape, precisions_of, shape_of
from phexplore.text.messages import msg
from phexplore.workload.queries import parse_query, total_query
from phexplore.workload.schema import Schema, load_schema
from phexplore.workload.schema_reduction import image_of

if TYPE_CHECKING:
    from phexplore.model.topdown import TopDown
    from phexplore.spine.tree import GeoTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def predict_top_down(tree: GeoTree, method: TopDown, onto: Schema | None = None) -> Prediction:
    """Return the covariances of estimates fitted level by level; arguments as in `predict`.

    Raises:
        PhexploreError: a unit is not measured in full, or parts of several states keep their totals together.
    """
    return top_down_again(shape_of(tree, method, onto), tree, method)


def top_down_again(shape: Shape, tree: GeoTree, method: TopDown) -> Prediction:
    """Return the same for other budgets on a shape that is known.

    Args:
        shape: of the measurements.
        tree: with the shares of its units.
        method: the parameters.

    Raises:
        PhexploreError: as `predict_top_down`.
    """
    names = [level.name for level in tree.levels]
    shape = replace(shape, measured=measured(method, names, shape.measured.schema))
    if any(unit.level < 0 for unit in shape.structure.types):
        raise PhexploreError(
            msg(
                "Areas that cross state lines retain their exact totals together, so level-by-level variances cannot be predicted."
            ),
            msg("Predict all levels at once, or each state separately, or a spine without tribal parts."),
        )
    precisions, apart = _own_precisions(shape, tree, method)
    found = []
    for place, matrices in enumerate(shape.matrices):
        own = _own_covariances(shape, place, matrices, precisions, apart)
        below, known = own
        informed, finite = (
            np.ones(count, bool) for count in (shape.structure.classes, shape.structure.representatives)
        )
        make = partial(_descend, shape, own)
        found.append(BlockCovariances((place,), below[..., None], known, informed, make, finite))
    return Prediction(shape, tuple(found))


def _own_precisions(shape: Shape, tree: GeoTree, method: TopDown) -> tuple[Floats, list[bool]]:
    """Return per measurement the precisions of the topmost unit that has budget, and whether its total is fitted alone.

    A node is a chain of only children; the topmost unit is fitted, the others copy it.
    """
    structure = shape.structure
    rows, apart = [], []
    # Only children have classes of their own, but no node: what was measured at them alone is not asked for.
    nodes = set(structure.measure[structure.rep_class].tolist())
    for number, measure in enumerate(structure.measures):
        top = min((structure.types[each] for each in measure), key=lambda unit: unit.level)
        level = tree.levels[top.level]
        if level.shares is None:
            raise ValueError(f"{level.name} has no shares per unit")
        share = level.shares.values[top.share]
        if share == 0 and number in nodes:
            raise PhexploreError(
                msg(
                    "{name} contains geographic units that have siblings but no budget, so a level-by-level fit does not determine them.",
                    name=level.name,
                ),
                msg("Give the level a share, or remove the level from the spine."),
            )
        rows.append(precisions_of(method.framework, method.total * share, shape.measured, level.name))
        apart.append(total_alone(method, level.name, shape.measured))
    return np.stack(rows), apart


def total_alone(method: TopDown, level: str, asked: Measured) -> bool:
    """Return whether a level's first pass of least squares fits the total and nothing else that is measured there.

    Args:
        method: the scenario with its passes.
        level: name of the level.
        asked: what is measured.
    """
    order = method.passes.get(level)
    total = total_query(asked.schema)
    if order is None or not order.least_squares or asked.shares[level].get(total, 0) == 0:
        return False
    source = load_schema(method.schema)
    first = {image_of(parse_query(source, name), asked.schema) for name in order.least_squares[0][0]}
    present = {query for query, share in asked.shares[level].items() if share > 0}
    return first & present == {total}


def _own_covariances(
    shape: Shape, place: int, matrices: Floats, precisions: Floats, apart: list[bool]
) -> tuple[Floats, Ints]:
    """Return P of every class, ``float64[classes, size, size]``, and how many coordinates are known of it."""
    size = matrices.shape[1]
    rank = shape.ranks[place][shape.structure.known]
    queries = shape.measured.queries
    total = queries.index(total_query(shape.measured.schema)) if any(apart) else -1
    own = np.zeros((len(precisions), size, size))
    for measure, row in enumerate(precisions):
        k = int(rank[measure])
        if k == size or not row.any():
            continue
        inside = (slice(k, None), slice(k, None))
        information = np.einsum("q,qij->ij", row, matrices)[inside]
        split = apart[measure] and k == 0 and matrices[total, 0, 0] > 0
        if split:
            information = information - row[total] * matrices[total][inside]
        values = np.linalg.eigvalsh(information)
        if values[0] <= 1e-13 * values[-1]:
            raise PhexploreError(
                msg("The measurements of some level do not determine its histograms."),
                msg("Measure `detailed` at every level with a share above 0."),
            )
        covariance = np.linalg.inv(information)
        if split:
            covariance = _refitted(covariance, 1.0 / float(row[total] * matrices[total, 0, 0]))
        own[measure][inside] = covariance
    kinds = shape.structure.measure
    return own[kinds], rank[kinds]


def _refitted(covariance: Floats, variance: float) -> Floats:
    """Return a covariance whose first coordinate has another variance and the others the same dependence on it."""
    slope = covariance[:, 0] / covariance[0, 0]
    found: Floats = covariance + np.outer(slope, slope) * (variance - covariance[0, 0])
    return found


def _descend(shape: Shape, own: tuple[Floats, Ints]) -> Floats:
    """Return ``float64[representatives, size, size, 1]``, generation by generation: representatives of one parent lie side by side."""
    structure, (below, known) = shape.structure, own
    size = below.shape[1]
    result = np.zeros((structure.representatives, size, size))
    result[0] = below[structure.rep_class[0]]
    start, end = 0, 1
    identity = np.eye(size)
    while start < end:
        parents = np.arange(start, end)
        kinds = structure.rep_class[parents]
        counts = structure.child_start[kinds + 1] - structure.child_start[kinds]
        parents, kinds, counts = parents[counts > 0], kinds[counts > 0], counts[counts > 0]
        if not len(parents):
            break
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        rows = np.repeat(structure.child_start[kinds] - first, counts) + np.arange(int(counts.sum()))
        child, many = structure.child_class[rows], structure.child_count[rows]
        total = np.add.reduceat(below[child] * many[:, None, None], first, axis=0)
        fewest = np.minimum.reduceat(known[child], first)
        # Coordinates known of every child need no fitting: a row of their own keeps the sum invertible.
        exact = np.arange(size)[None, :] < fewest[:, None]
        whole = np.where(exact[:, :, None] | exact[:, None, :], identity[None], total)
        parent = np.repeat(np.arange(len(parents)), counts)
        gain = np.swapaxes(np.linalg.solve(whole[parent], below[child]), 1, 2)
        others = total[parent] - below[child]
        fitted = gain @ others + gain @ result[parents][parent] @ np.swapaxes(gain, 1, 2)
        target = structure.rep_first[parents][parent] + rows - structure.child_start[kinds][parent]
        result[target] = 0.5 * (fitted + np.swapaxes(fitted, 1, 2))
        start, end = end, end + len(rows)
    return result[..., None]
