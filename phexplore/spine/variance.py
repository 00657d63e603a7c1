"""Exact variances of TopDown's estimates before any run: generalised least squares by recursion over the tree.

The estimate is the best linear unbiased one from all measurements of a scenario, given the counts that are exact. Its variance
depends on the spine, the budgets and the exact counts only, not on any data. What it does not see: that counts are not negative,
that they are whole, and that TopDown goes down level by level instead of fitting everything at once. Structural zeros are not seen
either. Where counts are large these matter little; where most cells are empty, non-negativity makes true errors smaller.

Sources: Geographic spines in the 2020 DAS, equations 18 and 19; the recursion is Gaussian belief propagation on the tree, exact
because a tree has no cycles. Each block of `components.Decomposition` is worked through alone, each class of `structure` once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.model.phsafe import PrivacyFramework
from phexplore.spine.components import Decomposition, Known
from phexplore.spine.measuring import Measured, known_steps, measured, noise_variance
from phexplore.spine.structure import Groups, Structure, structure_of
from phexplore.text.messages import msg
from phexplore.workload.queries import MarginalQuery
from phexplore.workload.schema import Schema

if TYPE_CHECKING:
    from phexplore.model.topdown import TopDown
    from phexplore.spine.tree import GeoTree
    from phexplore.workload.schema import Schema

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNSEEN = msg(
    "Predicted variances are those of unrestricted least squares. They omit nonnegativity, rounding, level-by-level estimation, structural zeros, and facility bounds. A simulation run shows the difference."
)
"""What every view of predicted variances says."""

UNSEEN_TOP_DOWN = msg(
    "Predicted variances are those of level-by-level least squares, in which each parent is fixed before its children, as in TopDown. They omit nonnegativity, rounding, structural zeros, and facility bounds. A simulation run shows the difference, which is small where counts are large."
)
"""The same for estimates fitted level by level."""

_WIDEST = 16
"""Blocks that run together: two vectors of the widest registers."""

_SINGULAR = 1e-13
"""Smallest eigenvalue over the largest below which a matrix counts as singular."""

_MOST_OPERATIONS, _MOST_GIGABYTES = 5e11, 3.0
"""Some minutes of one core, and the memory of a desktop."""

_MOST_FACTORS = 1 << 24
"""Products of coordinates that are held at once."""

AIAN_STATE_CODE = 3
"""Characters of a state's code where tribal parts stand apart: the bit and the two digits (topdown, section 10)."""


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Answers of a query that differ in variance.

    Attributes:
        query: the query.
        answers: ``int64[kinds]``, one answer of each kind.
        alike: ``int64[kinds]``, how many answers are of the kind.
    """

    query: MarginalQuery
    answers: Ints
    alike: Ints

    def labels(self, kind: int) -> tuple[str, ...]:
        """Return the words of the kind's answer."""
        return self.query.answer_labels(int(self.answers[kind]))


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """All that does not change when budgets do: reuse it while a slider moves.

    Attributes:
        tree: with shares per unit.
        measured: which queries are asked at which level.
        decomposition: of the histogram.
        structure: of the tree.
        ranks: per block, known coordinates after each set of exact counts.
        matrices: per block, ``float64[queries, size, size]`` information of each query at precision 1.
        together: places of the blocks without exact counts, those of one size together.
        alone: places of the others.
    """

    tree: GeoTree
    measured: Measured
    decomposition: Decomposition
    structure: Structure
    ranks: tuple[Ints, ...]
    matrices: tuple[Floats, ...]
    together: tuple[tuple[int, ...], ...]
    alone: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class BlockCovariances:
    """The matrices of some blocks of one size.

    Few queries need all blocks: what takes longest of one is made when a query first needs it.

    Attributes:
        places: of the blocks in the decomposition.
        below: ``float64[classes, size, size, blocks]``, covariance by what is measured in a node and below.
        known: ``int64[classes]``, coordinates known from below.
        informed: ``bool[classes]``, whether `below` is finite.
        make: of `result`.
        finite: ``bool[representatives]``, whether `result` is.
    """

    places: tuple[int, ...]
    below: Floats
    known: Ints
    informed: NDArray[np.bool_]
    make: Callable[[], Floats]
    finite: NDArray[np.bool_]

    @cached_property
    def result(self) -> Floats:
        """``float64[representatives, size, size, blocks]``, covariance given everything."""
        return self.make()


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Covariances of every representative; variances of queries come from them.

    Attributes:
        shape: of the recursion.
        covariances: of all blocks.
    """

    shape: Shape
    covariances: tuple[BlockCovariances, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was left out, in words."""
        return self.shape.measured.remarks

    def kinds(self, query: MarginalQuery) -> Kinds:
        """Return the answers of a query that may differ in variance."""
        return Kinds(query, *self.shape.decomposition.answers(query))

    def coordinates(self, kinds: Sequence[Kinds]) -> tuple[Floats, ...]:
        """Return coordinates of answers, one after the other, per block ``float64[answers, size]``."""
        rows = [self.shape.decomposition.coordinates(each.query, each.answers) for each in kinds]
        return tuple(np.concatenate(columns) for columns in zip(*rows, strict=True))

    def variances(self, kinds: Sequence[Kinds]) -> Floats:
        """Return variances in people², ``float64[representatives, answers]``, answers of all queries one after the other."""
        total = np.zeros((self.shape.structure.representatives, sum(len(each.answers) for each in kinds)))
        coordinates = self.coordinates(kinds)
        for blocks in self.covariances:
            vectors = np.stack([coordinates[place] for place in blocks.places], axis=-1)
            used = np.flatnonzero(np.abs(vectors).max(axis=(1, 2)) > 0)
            if not len(used):
                continue
            results = blocks.result.reshape(len(total), -1)
            answers = max(1, _MOST_FACTORS // results.shape[1])
            for start in range(0, len(used), answers):
                chosen = used[start : start + answers]
                factors = vectors[chosen][:, :, None, :] * vectors[chosen][:, None, :, :]
                part = results @ factors.reshape(len(chosen), -1).T
                part[~blocks.finite] = np.inf
                total[:, chosen] += part
        return np.maximum(total, 0.0)

    def at_level(self, number: int, variances: Floats) -> Floats:
        """Return the variances of the units of a level of the tree, ``float64[units, answers]``.

        Args:
            number: of the level, 0 for the root's.
            variances: ``variances[representatives, answers]``.
        """
        return variances[self.shape.structure.of_unit[number]]


def predict(tree: GeoTree, method: TopDown, onto: Schema | None = None) -> Prediction:
    """Return the covariances of a scenario on a tree.

    Args:
        tree: with shares per unit, as `allocation.allocation_of` returns it.
        method: the parameters.
        onto: a smaller schema of the data.

    Raises:
        PhexploreError: the scenario does not determine the histograms, or asks for what cannot be predicted.
    """
    return refreshed(shape_of(tree, method, onto), tree, method)


def shape_of(tree: GeoTree, method: TopDown, onto: Schema | None = None) -> Shape:
    """Return what stays while only budgets change.

    Args:
        tree: of the spine; its shares do not matter here.
        method: the scenario: its queries, invariants and constraints.
        onto: a smaller schema of the data, None for the scenario's own.

    Raises:
        PhexploreError: queries too intricate.
    """
    names = [level.name for level in tree.levels]
    asked = measured(method, names, onto)
    steps, kept = known_steps(asked.exact)
    groups = _groups(tree, names, kept)
    known = [0 if groups is not None and groups.level == number else kept[name] for number, name in enumerate(names)]
    decomposition = _decomposed(asked.schema, asked.queries, steps)
    structure = structure_of(tree, known, groups)
    _refuse_work(decomposition.sizes, structure)
    information = [decomposition.information(query) for query in asked.queries]
    matrices = tuple(np.stack(column) for column in zip(*information, strict=True))
    ranks = tuple(np.array(block.ranks, np.int64) for block in decomposition.blocks)
    plain: dict[int, list[int]] = {}
    for place, block in enumerate(decomposition.blocks):
        if not ranks[place].any():
            plain.setdefault(block.size, []).append(place)
    together = tuple(
        tuple(places[start : start + _WIDEST]) for places in plain.values() for start in range(0, len(places), _WIDEST)
    )
    alone = tuple(place for place in range(len(ranks)) if ranks[place].any())
    return Shape(tree, asked, decomposition, structure, ranks, matrices, together, alone)


@lru_cache(maxsize=4)
def _decomposed(schema: Schema, queries: tuple[MarginalQuery, ...], known: tuple[Known, ...]) -> Decomposition:
    """Return the histogram in blocks: that of the DHC takes seconds, and neither the spine nor a budget alters it."""
    return Decomposition(schema, queries, known)


def _refuse_work(sizes: Sequence[int], structure: Structure) -> None:
    """Refuse what would take many minutes or more memory than a desktop has, before it begins.

    Raises:
        PhexploreError: with the estimate.
    """
    nodes = structure.representatives + structure.classes
    operations = 8.0 * nodes * sum(size**3 for size in sizes)
    gigabytes = 16.0 * nodes * sum(size**2 for size in sizes) / 2**30
    if operations > _MOST_OPERATIONS or gigabytes > _MOST_GIGABYTES:
        raise PhexploreError(
            msg(
                "The queries split the histogram into {blocks:,} blocks of up to {rows} rows, to be solved for {nodes:,} distinct geographic units: about {operations:,.0f} billion operations and {gigabytes:,.1f} GB.",
                blocks=len(sizes),
                rows=max(sizes),
                nodes=nodes,
                operations=operations / 1000000000.0,
                gigabytes=gigabytes,
            ),
            msg("Predict a part of the blocks (a county), or simulate the scenario."),
        )


def _groups(tree: GeoTree, names: Sequence[str], kept: dict[str, int]) -> Groups | None:
    """Return the states whose two parts keep an exact count together (topdown, section 4); None where each keeps its own."""
    if "State" not in names or not kept["State"]:
        return None
    number = names.index("State")
    if any(kept[name] >= kept["State"] for name in names[number + 1 :]):
        return None
    codes = tree.levels[number].codes
    if number == 0 or not len(codes) or len(str(codes[0])) < AIAN_STATE_CODE:
        return None
    states = np.array([str(code)[1:AIAN_STATE_CODE] for code in codes.tolist()])
    if len(np.unique(states)) == len(states):
        return None
    return Groups(number, np.unique(states, return_inverse=True)[1].astype(np.int64), kept["State"])


def refreshed(shape: Shape, tree: GeoTree, method: TopDown) -> Prediction:
    """Return covariances for other budgets on the same shape.

    Args:
        shape: of a tree that differs from `tree` in the values of its shares only.
        tree: with the shares.
        method: with the budgets of the queries; it asks the same queries at the same levels.

    Raises:
        PhexploreError: the budgets do not determine the histograms.
        ValueError: it asks other queries.
    """
    names = [level.name for level in tree.levels]
    asked = measured(method, names, shape.measured.schema)
    if asked.queries != shape.measured.queries:
        raise ValueError("other queries are asked than the shape was made for")
    shape = replace(shape, measured=asked)
    structure = shape.structure
    precisions = _precisions(shape, tree, method)
    # Where a leaf or the root is not measured at all, matrices without an inverse occur: those go the careful way.
    ends = [*np.unique(structure.measure[structure.leaf]).tolist(), int(structure.measure[structure.rep_class[0]])]
    full = bool((precisions[ends] > 0).any(axis=1).all())
    found: list[BlockCovariances] = []
    for places in shape.together:
        information = _information(shape, places, precisions)
        if full:
            _require_definite(shape, information, ends)
            found.append(_together(shape, places, information))
        else:
            found.extend(_alone(shape, place, information[..., n]) for n, place in enumerate(places))
    found.extend(_alone(shape, place, _information(shape, (place,), precisions)[..., 0]) for place in shape.alone)
    return Prediction(shape, tuple(found))


def _information(shape: Shape, places: tuple[int, ...], precisions: Floats) -> Floats:
    """Return H of every measurement, ``float64[measures, size, size, blocks]``."""
    matrices = np.stack([shape.matrices[place] for place in places], axis=-1)
    flat = precisions @ matrices.reshape(len(matrices), -1)
    return flat.reshape(len(precisions), *matrices.shape[1:])


def _require_definite(shape: Shape, information: Floats, ends: list[int]) -> None:
    """Refuse leaves and roots whose measurements leave something open."""
    for measure in ends:
        values = np.linalg.eigvalsh(np.moveaxis(information[measure], -1, 0))
        if (values[:, 0] <= _SINGULAR * values[:, -1]).any():
            raise _undetermined(shape, int(np.flatnonzero(shape.structure.measure == measure)[0]))


def _together(shape: Shape, places: tuple[int, ...], information: Floats) -> BlockCovariances:
    from phexplore.spine import _kernels  # noqa: PLC0415 - numba takes half a second to load

    structure = shape.structure
    below = np.empty((structure.classes, *information.shape[1:]))
    result = np.empty((structure.representatives, *information.shape[1:]))
    _kernels.sweep_together(
        structure.measure,
        structure.child_start,
        structure.child_class,
        structure.child_count,
        information,
        structure.rep_class,
        structure.rep_first,
        information.shape[1],
        below,
        result,
        np.empty_like(result),
    )
    known = np.zeros(structure.classes, np.int64)
    informed, finite = np.ones(structure.classes, bool), np.ones(structure.representatives, bool)
    return BlockCovariances(places, below, known, informed, lambda: result, finite)


def _alone(shape: Shape, place: int, information: Floats) -> BlockCovariances:
    from phexplore.spine import _kernels  # noqa: PLC0415 - numba takes half a second to load

    structure = shape.structure
    size = information.shape[1]
    below = np.empty((structure.classes, size, size))
    result = np.empty((structure.representatives, size, size))
    known, informed = np.zeros(structure.classes, np.int64), np.zeros(structure.classes, bool)
    finite = np.zeros(structure.representatives, bool)
    shared = (
        structure.measure,
        structure.child_start,
        structure.child_class,
        structure.child_count,
        shape.ranks[place][structure.known],
        np.ascontiguousarray(information),
        size,
        below,
        known,
        informed,
    )
    failed = _kernels.sweep_up(*shared)
    if failed >= 0:
        raise _undetermined(shape, failed)
    failed = _kernels.sweep_down(
        *shared,
        structure.rep_class,
        structure.rep_first,
        result,
        finite,
        np.empty_like(result),
        np.zeros(structure.representatives, np.int64),
    )
    if failed >= 0:
        raise _undetermined(shape, int(structure.rep_class[failed]))
    return BlockCovariances((place,), below[..., None], known, informed, lambda: result[..., None], finite)


def _precisions(shape: Shape, tree: GeoTree, method: TopDown) -> Floats:
    """Return the precision of every query at nodes of every measurement, ``float64[measures, queries]``."""
    queries = shape.measured.queries
    of_type = np.zeros((len(shape.structure.types), len(queries)))
    for row, unit in enumerate(shape.structure.types):
        if unit.level < 0:
            continue
        level = tree.levels[unit.level]
        if level.shares is None:
            raise ValueError(f"{level.name} has no shares per unit")
        share = level.shares.values[unit.share]
        of_type[row] = precisions_of(method.framework, method.total * share, shape.measured, level.name)
    return np.stack([of_type[list(measure)].sum(axis=0) for measure in shape.structure.measures])


def precisions_of(framework: PrivacyFramework, budget: Fraction, asked: Measured, level: str) -> Floats:
    """Return the precision (inverse variance) per measured query, ``float64[queries]``, 0 where it is not asked.

    Args:
        framework: of the budget.
        budget: ρ or ε of the unit, at least 0.
        asked: the queries and their shares.
        level: name of the unit's level.
    """
    shares = asked.shares[level]
    found = np.zeros(len(asked.queries))
    if budget > 0:
        for place, query in enumerate(asked.queries):
            if shares.get(query, 0) > 0:
                found[place] = 1.0 / noise_variance(framework, budget * shares[query])
    return found


def _undetermined(shape: Shape, kind: int) -> PhexploreError:
    structure = shape.structure
    types = [structure.types[each] for each in structure.measures[int(structure.measure[kind])]]
    names = [shape.tree.levels[each.level].name for each in types if each.level >= 0]
    return PhexploreError(
        msg("The measurements of {level} do not determine its histograms.", level=names[-1])
        if names
        else msg("The measurements of the lowest level do not determine its histograms."),
        msg("Measure `detailed` at this level with a share above 0; otherwise, least squares has many solutions."),
    )
