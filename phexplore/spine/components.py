"""The histogram of a unit split into parts that no measured query mixes.

Every query group sums cells over a product of partitions, one per attribute. Along one attribute a partition p acts on
vectors of levels by the matrix M with ones where two levels are in the same group (the identity where levels are kept
apart, all ones where the attribute is summed over, zero rows for levels left out). Three kinds of vectors are never
mixed by these matrices:

* contrasts inside an atom (levels that every partition but the identity treats alike): the identity keeps them, all else gives 0;
* contrasts between atoms of one size that every partition treats alike: each partition multiplies them by one number;
* sums over such atoms: a small matrix remains.

So an attribute splits into one block and some numbers with multiplicities, a histogram into the products of these, and
the information of a unit into a few small matrices. For persons of P.L. 94-171 they are eight numbers and eight 3 by 3
matrices instead of one matrix of 2,016 rows. Nothing is approximated: the equations are those of the spines paper (18
and 19).

Counts that are known exactly span a subspace of each block. The basis of a block begins with it, so that "known" always
means "the first k coordinates"; the total comes first even where it is not known, which keeps it accurate to the last
digits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.text.messages import msg
from phexplore.workload.queries import OMITTED, MarginalQuery
from phexplore.workload.schema import Schema

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Partition = tuple[int, ...] | None
"""Group of each level, `OMITTED` outside; None where the attribute is summed over."""

LARGEST_BLOCK = 600
"""Rows of a block that can still be worked with."""

_RANK_TOLERANCE = 1e-9
_ROUNDING = 1e-12


class Part(NamedTuple):
    """One part of an attribute.

    Attributes:
        size: rows of its matrices.
        matrices: per partition, ``float64[size, size]``.
        basis: ``float64[size, levels]`` orthonormal rows of a block; None for contrasts.
        contrasts: for contrasts, orthogonal projections as pairs (finer, coarser) of level groupings whose difference
            it is.
    """

    size: int
    matrices: Mapping[Partition, Floats]
    basis: Floats | None
    contrasts: tuple[tuple[Floats, Floats], ...] = ()

    def coordinates(self, vector: Floats) -> Floats:
        """Return the coordinates ``float64[size]`` of ``vector[levels]``; for contrasts its length inside the part."""
        if self.basis is not None:
            return self.basis @ vector
        squared = sum(
            float(((finer @ vector) ** 2).sum() - ((coarser @ vector) ** 2).sum()) for finer, coarser in self.contrasts
        )
        # Indicators of levels have either nothing or at least about 1 / levels in a part: less is rounding.
        return np.array([math.sqrt(squared) if squared > _ROUNDING * float(vector @ vector) else 0.0])


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One part of a histogram.

    Attributes:
        parts: which part of each attribute, in the schema's order.
        size: rows of its matrices.
        rotation: ``float64[size, size]`` orthonormal; columns are the basis vectors, known ones first.
        ranks: how many coordinates are known when the first 0, 1, 2, ... sets of known queries are.
    """

    parts: tuple[int, ...]
    size: int
    rotation: Floats
    ranks: tuple[int, ...]


class Known(NamedTuple):
    """Queries whose answers are exact; a later set contains the earlier ones.

    Attributes:
        queries: of the set.
    """

    queries: tuple[MarginalQuery, ...]


class Decomposition:
    """A schema split for some queries.

    Args:
        schema: of the histograms.
        queries: everything measured or known.
        known: sets of exactly known queries, each containing the one before it.

    Raises:
        PhexploreError: a block is too large to work with, or the known queries do not contain each other.
    """

    def __init__(self, schema: Schema, queries: Sequence[MarginalQuery], known: Sequence[Known] = ()) -> None:
        self.schema = schema
        self.known = tuple(known)
        every = [*queries, *(query for step in known for query in step.queries)]
        self._partitions = [
            {_partition(query, attribute.name) for query in every} | {None} for attribute in schema.attributes
        ]
        self._parts = [
            _parts(attribute.levels, sorted(found, key=repr))
            for attribute, found in zip(schema.attributes, self._partitions, strict=True)
        ]
        self.blocks: tuple[Block, ...] = tuple(
            self._block(choice) for choice in itertools.product(*(range(len(parts)) for parts in self._parts))
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows of each block."""
        return tuple(block.size for block in self.blocks)

    def information(self, query: MarginalQuery) -> tuple[Floats, ...]:
        """Return the matrix ``float64[size, size]`` of a query at precision 1 per block, in the block's basis."""
        found = []
        for block in self.blocks:
            matrix = self._product(block, query)
            found.append(block.rotation.T @ matrix @ block.rotation)
        return tuple(found)

    def answers(self, query: MarginalQuery) -> tuple[Ints, Ints]:
        """Return answers of a query that may differ in variance, and how many others each stands for.

        Returns:
            ``int64[kinds]`` answers, ``int64[kinds]`` how many answers are alike.
        """
        kinds_per_factor = []
        for factor_place, answers in enumerate(query.shape):
            vectors = _indicators(query, factor_place, answers)
            attribute = self.schema.position(_attribute_name(query, factor_place))
            signatures: dict[bytes, list[int]] = {}
            for answer in range(answers):
                rows = [part.coordinates(vectors[answer]) for part in self._parts[attribute]]
                signature = np.round(np.concatenate(rows), 12) + 0.0
                signatures.setdefault(signature.tobytes(), []).append(answer)
            kinds_per_factor.append([(members[0], len(members)) for members in signatures.values()])
        chosen, alike = [], []
        for combination in itertools.product(*kinds_per_factor):
            places = tuple(answer for answer, _ in combination)
            chosen.append(int(np.ravel_multi_index(places, query.shape)) if places else 0)
            alike.append(math.prod(count for _, count in combination))
        order = np.argsort(chosen, kind="stable")
        return np.array(chosen, np.int64)[order], np.array(alike, np.int64)[order]

    def coordinates(self, query: MarginalQuery, answers: Ints) -> tuple[Floats, ...]:
        """Return coordinates ``y[answers, size]`` in every block: the variance of an answer is the sum of yᵀ C y over the blocks.

        Args:
            query: over the same schema.
            answers: ``int64[answers]``, each below ``query.answers``.
        """
        places = np.unravel_index(answers, query.shape) if query.shape else ()
        factor_of = {self.schema.position(_attribute_name(query, factor)): factor for factor in range(len(places))}
        per_part: list[list[Floats]] = []
        for number, attribute in enumerate(self.schema.attributes):
            vectors, chosen = np.ones((1, attribute.levels)), np.zeros(len(answers), np.int64)
            if (factor := factor_of.get(number)) is not None:
                vectors, chosen = _indicators(query, factor, query.shape[factor]), places[factor]
            used, which = np.unique(chosen, return_inverse=True)
            per_part.append(
                [np.stack([part.coordinates(vectors[each]) for each in used])[which] for part in self._parts[number]]
            )
        found = []
        for block in self.blocks:
            product: Floats = np.ones((len(answers), 1))
            for number, place in enumerate(block.parts):
                product = (product[:, :, None] * per_part[number][place][:, None]).reshape(len(answers), -1)
            turned = product @ block.rotation
            least = _ROUNDING * np.abs(turned).max(axis=1, initial=0.0, keepdims=True)
            found.append(np.where(np.abs(turned) > least, turned, 0.0))
        return tuple(found)

    def _product(self, block: Block, query: MarginalQuery) -> Floats:
        product: Floats = np.ones((1, 1))
        for number, attribute in enumerate(self.schema.attributes):
            part = self._parts[number][block.parts[number]]
            product = np.asarray(np.kron(product, part.matrices[_partition(query, attribute.name)]), np.float64)
        return product

    def _block(self, choice: tuple[int, ...]) -> Block:
        size = math.prod(self._parts[number][place].size for number, place in enumerate(choice))
        if size > LARGEST_BLOCK:
            raise PhexploreError(
                msg(
                    "The queries of this scenario split the histogram into blocks of up to {size:,} rows. Exact variances are computed for at most {limit:,} rows.",
                    size=size,
                    limit=LARGEST_BLOCK,
                ),
                msg("Simulate the scenario instead, or remove queries over recodes."),
            )
        plain = Block(choice, size, np.eye(size), (0,))
        spans = [np.zeros((size, 0))]
        for step in self.known:
            matrices = [self._product(plain, query) for query in step.queries]
            spans.append(_span(np.concatenate([spans[-1], *matrices], axis=1)))
        ranks = tuple(span.shape[1] for span in spans)
        total = _span(self._product(plain, MarginalQuery(self.schema, ())))
        columns = np.zeros((size, 0))
        first = next((span for span in spans if span.shape[1]), total)
        if total.shape[1] and np.linalg.norm(total - first @ (first.T @ total)) < _RANK_TOLERANCE:
            columns = total
        for span in [*spans, np.eye(size)]:
            columns = _extended(columns, span)
        return Block(choice, size, columns, ranks)


def _extended(columns: Floats, further: Floats) -> Floats:
    """Return orthonormal columns that begin with the given ones and span the further ones too."""
    for vector in further.T:
        rest = vector - columns @ (columns.T @ vector)
        rest -= columns @ (columns.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > _RANK_TOLERANCE * max(1.0, float(np.linalg.norm(vector))):
            columns = np.concatenate([columns, (rest / length)[:, None]], axis=1)
    return columns


def _span(matrix: Floats) -> Floats:
    """Return an orthonormal basis of the columns' span."""
    if not matrix.size:
        return np.zeros((len(matrix), 0))
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    kept = values > _RANK_TOLERANCE * max(1.0, float(values[0]))
    return np.ascontiguousarray(left[:, kept])


def _attribute_name(query: MarginalQuery, factor: int) -> str:
    from phexplore.workload.schema import Recode  # noqa: PLC0415 - beside its only use

    found = query.factors[factor]
    return found.attribute if isinstance(found, Recode) else found.name


def _indicators(query: MarginalQuery, factor: int, answers: int) -> Floats:
    """Return which levels each answer of a factor counts, ``float64[answers, levels]``."""
    axis = query.axis_map(_attribute_name(query, factor))
    if axis is None:
        raise ValueError("a factor has a map")
    counted: Floats = (axis[None, :] == np.arange(answers)[:, None]).astype(np.float64)
    return counted


def _partition(query: MarginalQuery, attribute: str) -> Partition:
    axis = query.axis_map(attribute)
    return None if axis is None else tuple(axis.tolist())


def _is_identity(partition: tuple[int, ...]) -> bool:
    return OMITTED not in partition and len(set(partition)) == len(partition)


def _groups(partition: Partition, levels: int) -> Floats:
    """Return which levels each group of a partition holds, ``float64[groups, levels]``."""
    if partition is None:
        return np.ones((1, levels))
    groups = np.array(partition)
    held: Floats = (groups[None, :] == np.unique(groups[groups != OMITTED])[:, None]).astype(np.float64)
    return held


def _within(classes: Floats, partition: Partition) -> Floats:
    """Return the matrix of a partition in a basis of orthonormal rows."""
    sums = classes @ _groups(partition, classes.shape[1]).T
    matrix: Floats = sums @ sums.T
    return matrix


def _normal_indicators(labels: Ints) -> Floats:
    """Return the groups of some labels as orthonormal rows, ``float64[groups, items]``; label -1 is in none."""
    rows = (labels[None, :] == np.unique(labels[labels >= 0])[:, None]).astype(np.float64)
    scaled: Floats = rows / np.sqrt(rows.sum(axis=1, keepdims=True))
    return scaled


def _parts(levels: int, partitions: Sequence[Partition]) -> tuple[Part, ...]:
    """Split one attribute: its block first, then contrasts, those that every partition treats alike together."""
    coarse = [partition for partition in partitions if partition is not None and not _is_identity(partition)]
    signatures = list(zip(*coarse, strict=True)) if coarse else [()] * levels
    atom_of_level = _labels(signatures)
    sizes = np.bincount(atom_of_level)
    first = np.unique(atom_of_level, return_index=True)[1]
    keys = [_kinds(each, first) for each in coarse]
    kinds = _labels(list(zip(sizes.tolist(), *keys, strict=True)))
    atoms = _normal_indicators(atom_of_level)
    classes = _normal_indicators(kinds) @ atoms
    parts = [Part(len(classes), {each: _within(classes, each) for each in partitions}, classes)]
    contrasts: dict[tuple[float, ...], list[tuple[Floats, Floats]]] = {}
    if len(sizes) < levels:
        numbers = tuple(1.0 if each is not None and _is_identity(each) else 0.0 for each in partitions)
        contrasts.setdefault(numbers, []).append((np.eye(levels), atoms))
    for kind in range(int(kinds.max()) + 1):
        members = np.flatnonzero(kinds == kind)
        if len(members) > 1:
            alone: dict[Partition, bool] = {
                each: key[members[0]] == _ALONE for each, key in zip(coarse, keys, strict=True)
            }
            numbers = tuple(_of_contrast(each, alone, int(sizes[members[0]])) for each in partitions)
            contrasts.setdefault(numbers, []).append((atoms[members], classes[kind : kind + 1]))
    for numbers, spaces in contrasts.items():
        matrices = {each: np.array([[number]]) for each, number in zip(partitions, numbers, strict=True)}
        parts.append(Part(1, matrices, None, tuple(spaces)))
    return tuple(parts)


_ALONE = -2
"""Stands for the group of an atom that has no other atom in it."""


def _of_contrast(partition: Partition, alone: Mapping[Partition, bool], size: int) -> float:
    """Return what a partition multiplies contrasts between alike atoms with."""
    if partition is None:
        return 0.0
    if _is_identity(partition):
        return 1.0
    return float(size) if alone[partition] else 0.0


def _kinds(partition: tuple[int, ...], first: Ints) -> list[int]:
    """Return per atom what alike atoms have in common in a partition: the group, `_ALONE`, or `OMITTED`.

    Args:
        partition: group of each level.
        first: the first level of each atom.
    """
    groups = np.array(partition)
    atoms_in = np.bincount(groups[first][groups[first] >= 0], minlength=int(groups.max()) + 1)
    group = groups[first]
    found: list[int] = np.where(group == OMITTED, OMITTED, np.where(atoms_in[group] == 1, _ALONE, group)).tolist()
    return found


def _labels(keys: Sequence[object]) -> Ints:
    """Return numbers of keys in the order of their first appearance."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
