"""Exact variances of TopDown's estimates before any run: generalised least squares by recursion over the tree.

The estimate is the best linear unbiased one from all measurements of a scenario, given the counts that are exact. Its variance
depends on the spine, the budgets and the exact counts only, not on any data. What it does not see: that counts are not negative,
that they are whole, and that TopDown goes down level by level instead of fitting everything at once. Structural zeros are not seen
either. Where counts are large these matter little; where most cells are empty, non-negativity makes true errors smaller.

Sources: Geographic spines in the 2020 DAS, equations 18 and 19; the recursion is Gaussian belief propagation on the tree, exact
because a tree has no cycles. Each block of `components.Decomposition` is worked through alone, each class of `structure` once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.model.phsafe import PrivacyFramework
from phexplore.spine.components import Decomposition
from phexplore.spine.measuring import Measured, known_steps, measured, noise_variance
from phexplore.spine.structure import Groups, Structure, structure_of
from phexplore.workload.queries import MarginalQuery

if TYPE_CHECKING:
    from phexplore.model.topdown import TopDown
    from phexplore.spine.tree import GeoTree
    from phexplore.workload.schema import Schema

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNSEEN = (
    "Predicted variances are those of unrestricted least squares: that counts are not negative, whole, and fitted level by "
    "level is not in them, nor are structural zeros and bounds by facilities. A simulated run shows the difference."
)
"""What every view of predicted variances says."""

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
        numbers: places of the blocks that are one number and have nothing exact.
        blocks: places of the others.
    """

    tree: GeoTree
    measured: Measured
    decomposition: Decomposition
    structure: Structure
    ranks: tuple[Ints, ...]
    matrices: tuple[Floats, ...]
    numbers: tuple[int, ...]
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BlockCovariance:
    """One block's matrices.

    Attributes:
        below: ``float64[classes, size, size]``, covariance by what is measured in a node and below.
        known: ``int64[classes]``, coordinates known from below.
        informed: ``bool[classes]``, whether `below` is finite.
        result: ``float64[representatives, size, size]``, covariance given everything.
        finite: ``bool[representatives]``, whether it is.
    """

    below: Floats
    known: Ints
    informed: NDArray[np.bool_]
    result: Floats
    finite: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Covariances of every representative; variances of queries come from them.

    Attributes:
        shape: of the recursion.
        covariances: per block of the decomposition.
    """

    shape: Shape
    covariances: tuple[BlockCovariance, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was left out, in words."""
        return self.shape.measured.remarks

    def kinds(self, query: MarginalQuery) -> Kinds:
        """Return the answers of a query that may differ in variance."""
        return Kinds(query, *self.shape.decomposition.answers(query))

    def coordinates(self, kinds: Sequence[Kinds]) -> tuple[Floats, ...]:
        """Return coordinates of answers, one after the other, per block ``float64[answers, size]``."""
        rows = [
            self.shape.decomposition.coordinates(each.query, answer)
            for each in kinds
            for answer in each.answers.tolist()
        ]
        return tuple(np.stack(columns) for columns in zip(*rows, strict=True))

    def variances(self, kinds: Sequence[Kinds]) -> Floats:
        """Return variances in people², ``float64[representatives, answers]``, answers of all queries one after the other."""
        total = np.zeros((self.shape.structure.representatives, sum(len(each.answers) for each in kinds)))
        for block, vectors in zip(self.covariances, self.coordinates(kinds), strict=True):
            used = np.abs(vectors).max(axis=1) > 0
            if not used.any():
                continue
            size = vectors.shape[1]
            factors = (vectors[used][:, :, None] * vectors[used][:, None, :]).reshape(-1, size * size)
            part = block.result.reshape(len(total), size * size) @ factors.T
            part[~block.finite] = np.inf
            total[:, used] += part
        return np.maximum(total, 0.0)

    def at_level(self, number: int, variances: Floats) -> Floats:
        """Return the rows of `variances` for the units of a level of the tree, ``float64[units, answers]``."""
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

    Raises:
        PhexploreError: queries too intricate, or exact counts that cannot be predicted together.
    """
    names = [level.name for level in tree.levels]
    asked = measured(method, names, onto)
    steps, kept = known_steps(asked.exact)
    groups = _groups(tree, names, kept)
    known = [0 if groups is not None and groups.level == number else kept[name] for number, name in enumerate(names)]
    decomposition = Decomposition(asked.schema, asked.queries, steps)
    structure = structure_of(tree, known, groups)
    information = [decomposition.information(query) for query in asked.queries]
    matrices = tuple(np.stack(column) for column in zip(*information, strict=True))
    ranks = tuple(np.array(block.ranks, np.int64) for block in decomposition.blocks)
    plain = [n for n, block in enumerate(decomposition.blocks) if block.size == 1 and not ranks[n].any()]
    rest = [n for n in range(len(ranks)) if n not in set(plain)]
    return Shape(tree, asked, decomposition, structure, ranks, matrices, tuple(plain), tuple(rest))


def _groups(tree: GeoTree, names: Sequence[str], kept: dict[str, int]) -> Groups | None:
    """Return the states whose two parts keep an exact count together (topdown, section 4)."""
    if "State" not in names or not kept["State"]:
        return None
    number = names.index("State")
    codes = tree.levels[number].codes
    if number == 0 or not len(codes) or len(str(codes[0])) < AIAN_STATE_CODE:
        return None
    states = np.array([str(code)[1:AIAN_STATE_CODE] for code in codes.tolist()])
    return Groups(number, np.unique(states, return_inverse=True)[1].astype(np.int64), kept["State"])


def refreshed(shape: Shape, tree: GeoTree, method: TopDown) -> Prediction:
    """Return covariances for other budgets on the same shape.

    Args:
        shape: of a tree that differs from `tree` in the values of its shares only.
        tree: with the shares.
        method: with the budgets of the queries; it asks the same queries at the same levels.

    Raises:
        PhexploreError: the budgets do not determine the histograms.
    """
    from phexplore.spine import _kernels  # noqa: PLC0415 - numba takes half a second to load

    structure = shape.structure
    precisions = _precisions(shape, tree, method)
    leaf = structure.leaf
    all_measured = bool((precisions[structure.measure[leaf]] > 0).any(axis=1).all())
    numbers = shape.numbers if all_measured else ()
    found: list[BlockCovariance | None] = [None] * len(shape.ranks)
    if numbers:
        _fill_numbers(shape, precisions, found)
    zeros = np.zeros(structure.classes, np.int64)
    for place in range(len(shape.ranks)):
        if found[place] is not None:
            continue
        size = shape.matrices[place].shape[1]
        information = np.einsum("mq,qij->mij", precisions, shape.matrices[place], optimize=True)
        block = BlockCovariance(
            np.empty((structure.classes, size, size)),
            zeros.copy(),
            np.zeros(structure.classes, bool),
            np.empty((structure.representatives, size, size)),
            np.zeros(structure.representatives, bool),
        )
        shared = (
            structure.measure,
            structure.child_start,
            structure.child_class,
            structure.child_count,
            shape.ranks[place][structure.known],
            np.ascontiguousarray(information),
            size,
            block.below,
            block.known,
            block.informed,
        )
        failed = _kernels.sweep_up(*shared)
        if failed >= 0:
            raise _undetermined(shape, failed)
        outside = np.empty_like(block.result)
        failed = _kernels.sweep_down(
            *shared,
            structure.rep_class,
            structure.rep_first,
            block.result,
            block.finite,
            outside,
            np.zeros(structure.representatives, np.int64),
        )
        if failed >= 0:
            raise _undetermined(shape, int(structure.rep_class[failed]))
        found[place] = block
    return Prediction(shape, tuple(block for block in found if block is not None))


def _fill_numbers(shape: Shape, precisions: Floats, found: list[BlockCovariance | None]) -> None:
    from phexplore.spine import _kernels  # noqa: PLC0415 - numba takes half a second to load

    structure = shape.structure
    information = precisions @ np.stack([shape.matrices[place][:, 0, 0] for place in shape.numbers], axis=1)
    leaves = np.unique(structure.measure[structure.leaf])
    if not (information[leaves] > 0).all():
        wrong = leaves[(information[leaves] <= 0).any(axis=1)][0]
        raise _undetermined(shape, int(np.flatnonzero(structure.leaf & (structure.measure == wrong))[0]))
    below = np.empty((structure.classes, len(shape.numbers)))
    result = np.empty((structure.representatives, len(shape.numbers)))
    _kernels.sweep_numbers(
        structure.measure,
        structure.child_start,
        structure.child_class,
        structure.child_count,
        information,
        structure.rep_class,
        structure.rep_first,
        below,
        result,
        np.empty_like(result),
    )
    known = np.zeros(structure.classes, np.int64)
    informed, finite = np.ones(structure.classes, bool), np.ones(structure.representatives, bool)
    for column, place in enumerate(shape.numbers):
        found[place] = BlockCovariance(
            below[:, column].reshape(-1, 1, 1), known, informed, result[:, column].reshape(-1, 1, 1), finite
        )


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
    """Return the precision (inverse variance) of each measured query in a unit with this budget, 0 where it is not asked."""
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
        f"What is measured at {names[-1] if names else 'the lowest level'} does not determine its histograms.",
        "Measure `detailed` there with a share above 0; without it least squares has many solutions.",
    )
