"""Invariants that are totals over a product of axes: projection by averaging, no matrix.

Per axis there is a chain of partitions from "all levels together" to "every level by itself". Averaging over the blocks
of a partition is an orthogonal projection P_l; averages of nested partitions, and of different axes, commute. Totals
"by" some names are one choice l of a partition per axis, and the row space of several totals is the span of the images
of their P_l. With D_k = P_k − P_{k−1} per axis it is the sum of ⊗_a D_{t_a} over all t below one of the choices, hence

    Π_R = Σ_l m_l ⊗_a P_{l_a},    m_l whole numbers (Möbius inversion on the grid of choices),

and every figure about it is a sum over a handful of choices: nothing grows but the vectors themselves. Π_N = I − Π_R is
the projection of the subspace paper (Theorem 3.1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from phexplore.model.subspace import Axis, Totals
from phexplore.text.messages import Quoted, listed, msg
from phexplore.workload.subspace.exact import Exact, Integers, Rationals, integers, largest
from phexplore.workload.subspace.spaces import Floats, InvariantError, RowReport

Choice = tuple[int, ...]
"""One partition per axis, by its place in the axis' chain."""

_MOST_PAIR_KINDS = 100_000


class NotNestedError(InvariantError):
    """Two groupings of one axis of which neither refines the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """One way to put the levels of an axis together.

    Attributes:
        name: of the axis or grouping, "" for all levels together.
        block: ``int64[size]``, the block of each level, numbered from 0.
        blocks: how many there are.
        sizes: ``int64[blocks]``.
    """

    name: str
    block: Integers
    blocks: int
    sizes: Integers

    @classmethod
    def of(cls, name: str, block: Integers) -> Partition:
        """Return the partition with these blocks.

        Args:
            name: of the axis level or grouping.
            block: ``block[levels]``, the block of each level, numbered from 0 without gaps.
        """
        return cls(name, block, int(block.max()) + 1, np.bincount(block).astype(np.int64))

    def refines(self, other: Partition) -> bool:
        """Return whether every block lies in one block of the other."""
        return len(np.unique(np.stack([self.block, other.block]), axis=1)[0]) == self.blocks


class MarginSpace:
    """The null space of totals.

    Args:
        axes: of the histogram.
        totals: what is exact.

    Raises:
        InvariantError: a name is unknown, two names belong to one axis, or nothing is left to protect.
        NotNestedError: groupings of one axis cross each other.
    """

    def __init__(self, axes: Sequence[Axis], totals: Sequence[Totals]) -> None:
        self._shape = tuple(axis.size for axis in axes)
        used = {name for total in totals for name in total.by}
        self._chains = [_chain(axis, used) for axis in axes]
        self._totals = tuple(totals)
        self._choices = [_choice(total, axes, self._chains) for total in totals]
        self._covered = {
            component
            for component in itertools.product(*(range(len(chain)) for chain in self._chains))
            if any(_below(component, choice) for choice in self._choices)
        }
        self._terms = _moebius(self._covered)
        if self.rank >= self.size:
            raise InvariantError(
                msg("The invariants fix all {size:,} answers exactly, so nothing remains to protect.", size=self.size),
                msg("Remove an invariant, or publish the counts exactly and claim no privacy."),
            )

    @property
    def size(self) -> int:
        """Number of cells."""
        return math.prod(self._shape)

    @property
    def rank(self) -> int:
        """Number of independent totals."""
        return self._rank_of(self._covered)

    def _rank_of(self, components: set[Choice]) -> int:
        return sum(
            math.prod(self._dimension(axis, level) for axis, level in enumerate(component)) for component in components
        )

    def _dimension(self, axis: int, level: int) -> int:
        chain = self._chains[axis]
        return chain[level].blocks - (chain[level - 1].blocks if level else 0)

    @property
    def is_one_partition(self) -> bool:
        """Whether one of the totals implies all others, so that each cell belongs to one of its blocks."""
        return any(all(_below(other, choice) for other in self._choices) for choice in self._choices)

    def finest_blocks(self) -> Integers:
        """Return the block of each cell under the totals that imply all others: ``int64[n]``.

        Raises:
            InvariantError: no invariant implies all others.
        """
        for choice in self._choices:
            if all(_below(other, choice) for other in self._choices):
                return _block_numbers(self._chains, choice)
        raise InvariantError(
            msg("No invariant implies all others, so the cells do not form separate totals."),
            msg("Use only disjoint totals, or choose a projected mechanism."),
        )

    @cached_property
    def reports(self) -> tuple[RowReport, ...]:
        """What each total adds to those before it."""
        found: list[RowReport] = []
        before: set[Choice] = set()
        for number, (total, choice) in enumerate(zip(self._totals, self._choices, strict=True)):
            own = {component for component in self._covered if _below(component, choice)}
            rows = math.prod(chain[level].blocks for chain, level in zip(self._chains, choice, strict=True))
            added = self._rank_of(own - before)
            sources = [
                str(earlier)
                for earlier, other in zip(self._totals[:number], self._choices[:number], strict=True)
                if any(_below(component, other) for component in own)
            ]
            why = f"{rows - added:,} of its {rows:,} sums follow from: {', '.join(sources)}" if added < rows else ""
            found.append(RowReport(str(total), rows, added, why))
            before |= own
        return tuple(found)

    def _along(self, axis: int, values: Integers) -> Integers:
        return _along(values, axis, len(self._shape))

    def _block_size(self, choice: Choice) -> Exact:
        """Return the size of each cell's block: one number where all blocks are alike, else an array that broadcasts."""
        size: Exact = np.array(1, dtype=np.int64)
        for axis, level in enumerate(choice):
            partition = self._chains[axis][level]
            if (partition.sizes == partition.sizes[0]).all():
                size = size * partition.sizes[0]
            else:
                size = size * self._along(axis, partition.sizes[partition.block])
        return np.asarray(size)

    @cached_property
    def _denominators(self) -> Exact:
        found: Exact = np.array(1, dtype=np.int64)
        for choice, _ in self._terms:
            found = np.lcm(found, self._block_size(choice))
        return found

    @property
    def denominators(self) -> Exact:
        """Denominators of a projected whole vector."""
        found = self._denominators
        return found if found.ndim == 0 else np.broadcast_to(found, self._shape).reshape(-1)

    def _sums(self, values: Exact, choice: Choice) -> Exact:
        """Return the sums over the blocks of a choice, one axis after the other."""
        for axis, level in enumerate(choice):
            partition = self._chains[axis][level]
            if partition.blocks == 1:
                values = values.sum(axis=axis, keepdims=True)
            elif partition.blocks < self._shape[axis]:
                order = np.argsort(partition.block, kind="stable")
                starts = np.concatenate([[0], np.cumsum(partition.sizes)[:-1]])
                values = np.add.reduceat(np.take(values, order, axis=axis), starts, axis=axis)
        return values

    def _spread(self, sums: Exact, choice: Choice) -> Exact:
        """Give every cell the value of its block."""
        for axis, level in enumerate(choice):
            partition = self._chains[axis][level]
            if 1 < partition.blocks < self._shape[axis]:
                sums = np.take(sums, partition.block, axis=axis)
        return sums

    def project(self, noise: Integers) -> Rationals:
        """Return Π_N·noise exactly; ``noise[n]``."""
        denominators = self._denominators
        reach = largest(noise)
        # Every term is at most den/size × (size × reach): the bound needs no sums.
        bound = int(denominators.max()) * reach * (1 + sum(abs(weight) for _, weight in self._terms))
        values = integers(noise, max(bound, reach * self.size)).reshape(self._shape)
        total = values * denominators
        for choice, weight in self._terms:
            factors = denominators // self._block_size(choice) * weight
            total = total - self._spread(self._sums(values, choice), choice) * factors
        return Rationals(total.reshape(-1), self.denominators)

    def project_floats(self, values: Floats) -> Floats:
        """Return Π_N·values as ``float64[n]``; ``values[n]``."""
        grid = values.reshape(self._shape)
        total = grid.copy()
        for choice, weight in self._terms:
            sums = self._sums(grid, choice)
            total -= self._spread(sums, choice) * (weight / self._block_size(choice))
        return np.asarray(total.reshape(-1), dtype=np.float64)

    def unit_variances(self) -> Rationals:
        """Return 1 − Σ m_l / |block_l| per cell."""
        denominators = self._denominators
        numerators: Exact = denominators.copy()
        for choice, weight in self._terms:
            numerators = numerators - denominators // self._block_size(choice) * weight
        return Rationals(np.broadcast_to(numerators, self._shape).reshape(-1), self.denominators)

    def weights(self, answer: int) -> list[tuple[Fraction, int]]:
        """Return the distinct weights of a row of Π_N with how often each occurs, zeros left out.

        A cell's weight depends on how far it agrees with the answer on each axis.
        """
        place = tuple(int(level) for level in np.unravel_index(answer, self._shape))
        sizes = [
            [int(partition.sizes[partition.block[level]]) for partition in chain]
            for chain, level in zip(self._chains, place, strict=True)
        ]
        found: dict[Fraction, int] = {}
        for agreement in itertools.product(*(range(len(chain)) for chain in self._chains)):
            count = math.prod(
                own[level] - (own[level + 1] if level + 1 < len(own) else 0)
                for own, level in zip(sizes, agreement, strict=True)
            )
            weight = -self._row_weight(agreement, sizes)
            if all(level == len(chain) - 1 for level, chain in zip(agreement, self._chains, strict=True)):
                weight += 1
            if count and weight:
                found[weight] = found.get(weight, 0) + count
        return sorted(found.items())

    def _row_weight(self, agreement: Choice, sizes: Sequence[Sequence[int]]) -> Fraction:
        """Return Π_R[y, z] of cells that agree this far on each axis, y's blocks having these sizes."""
        total = Fraction(0)
        for choice, weight in self._terms:
            if _below(choice, agreement):
                total += Fraction(weight, math.prod(own[level] for own, level in zip(sizes, choice, strict=True)))
        return total

    def squared_sensitivity(self) -> Fraction:
        """Return max over pairs of Π_N[y,y] + Π_N[z,z] − 2Π_N[y,z]; by kinds of pairs, not pair by pair."""
        if self.size < 2:
            return Fraction(0)
        kinds = [list(_pair_kinds(chain)) for chain in self._chains]
        if math.prod(map(len, kinds)) > _MOST_PAIR_KINDS:
            return Fraction(2)
        last = tuple(len(chain) - 1 for chain in self._chains)
        most = Fraction(0)
        for pair in itertools.product(*kinds):
            agreement = tuple(level for level, _, _ in pair)
            if agreement == last:
                continue
            first, second = [one for _, one, _ in pair], [other for _, _, other in pair]
            own = 2 - self._row_weight(last, first) - self._row_weight(last, second)
            most = max(most, own + 2 * self._row_weight(agreement, first))
        return most

    def row_norm_bound(self) -> int:
        """Return the largest row sum of the sums' Gram matrix: block size × number of totals (Gershgorin)."""
        return (
            max(
                math.prod(int(chain[level].sizes.max()) for chain, level in zip(self._chains, choice, strict=True))
                for choice in self._choices
            )
            * len(self._choices)
            if self._choices
            else 1
        )

    def broken(self, released: Rationals, truth: Integers) -> int:
        """Return how many totals of `released` are not those of ``truth[n]``, as in `NullSpace.broken`."""
        failures = 0
        reach = max(largest(released.numerators), largest(truth))
        exact = integers(truth, reach * self.size)
        values = integers(released.numerators, reach * self.size)
        denominators = np.broadcast_to(released.denominators, values.shape)
        distinct = np.unique(denominators)
        for choice in self._choices:
            wanted = self._sums(exact.reshape(self._shape), choice)
            if len(distinct) == 1:
                found = self._sums(values.reshape(self._shape), choice)
                common = int(distinct[0])
                failures += int(np.count_nonzero(found.astype(object) != wanted.astype(object) * common))
                continue
            summed = np.zeros(wanted.shape, dtype=object)
            for denominator in distinct.tolist():
                part = np.where(denominators == denominator, values, 0).reshape(self._shape)
                summed = summed + self._sums(part, choice).astype(object) * Fraction(1, int(denominator))
            failures += int(np.count_nonzero(summed != wanted.astype(object)))
        return failures

    def determined(self) -> int:
        """Return how many cells have no noise at all."""
        return int(np.count_nonzero(self.unit_variances().numerators == 0))


def total_blocks(axes: Sequence[Axis], total: Totals) -> Integers:
    """Return the block of each cell under some totals: ``int64[cells]``.

    Args:
        axes: of the histogram.
        total: which names the sums keep apart.

    Raises:
        InvariantError: a name is unknown, or two names belong to one axis.
    """
    chains = [_chain(axis, set(total.by)) for axis in axes]
    return _block_numbers(chains, _choice(total, axes, chains))


def _block_numbers(chains: Sequence[Sequence[Partition]], choice: Choice) -> Integers:
    numbers = np.zeros([len(chain[0].block) for chain in chains], dtype=np.int64)
    for axis, level in enumerate(choice):
        partition = chains[axis][level]
        numbers = numbers * partition.blocks + _along(partition.block, axis, len(chains))
    return numbers.reshape(-1)


def _along(values: Integers, axis: int, axes: int) -> Integers:
    return values.reshape([-1 if place == axis else 1 for place in range(axes)])


def _chain(axis: Axis, used: set[str]) -> list[Partition]:
    """Return the partitions of an axis that matter, each refining the one before."""
    parts = [
        Partition.of(grouping.name, np.unique(np.array(grouping.groups), return_inverse=True)[1].astype(np.int64))
        for grouping in axis.groupings
        if grouping.name in used
    ]
    chain = [Partition.of("", np.zeros(axis.size, dtype=np.int64)), *sorted(parts, key=lambda part: part.blocks)]
    chain.append(Partition.of(axis.name, np.arange(axis.size, dtype=np.int64)))
    for coarse, fine in itertools.pairwise(chain):
        if not fine.refines(coarse):
            raise NotNestedError(
                msg(
                    "The groupings {coarse} and {fine} of {axis} overlap.",
                    coarse=Quoted(coarse.name),
                    fine=Quoted(fine.name),
                    axis=Quoted(axis.name),
                ),
                msg("Use totals by one of the groupings, or give the totals as rows of a matrix."),
            )
    return chain


def _choice(total: Totals, axes: Sequence[Axis], chains: Sequence[Sequence[Partition]]) -> Choice:
    wanted, places = list(total.by), []
    for axis, chain in zip(axes, chains, strict=True):
        own = [place for place, partition in enumerate(chain) if partition.name and partition.name in wanted]
        if len(own) > 1:
            names = " and ".join(chain[place].name for place in own)
            raise InvariantError(
                msg(
                    "The totals by {names} contain the axis {axis} twice.", names=Quoted(names), axis=Quoted(axis.name)
                ),
                msg("Use only {finest}, which is finer.", finest=Quoted(chain[own[-1]].name)),
            )
        places.append(own[0] if own else 0)
        for place in own:
            wanted.remove(chain[place].name)
    if wanted:
        known = [name for axis in axes for name in (axis.name, *(grouping.name for grouping in axis.groupings))]
        raise InvariantError(
            msg("No axis or grouping is called {wanted!r}.", wanted=wanted[0]),
            msg("Known: {known}.", known=listed(known)),
        )
    return tuple(places)


def _below(lower: Choice, upper: Choice) -> bool:
    return all(a <= b for a, b in zip(lower, upper, strict=True))


def _moebius(covered: set[Choice]) -> list[tuple[Choice, int]]:
    """Return (choice, m) of Π_R = Σ m ⊗P, from ⊗(P_t − P_{t−1}) over the covered components t."""
    weights: dict[Choice, int] = {}
    for component in covered:
        for drop in itertools.product((0, 1), repeat=len(component)):
            choice = tuple(level - less for level, less in zip(component, drop, strict=True))
            if min(choice, default=0) >= 0:
                weights[choice] = weights.get(choice, 0) + (-1) ** sum(drop)
    return sorted((choice, weight) for choice, weight in weights.items() if weight)


def _pair_kinds(chain: Sequence[Partition]) -> Iterator[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Yield what pairs of levels of an axis exist: how far they agree, and the block sizes of each along the chain."""
    table = np.stack([partition.sizes[partition.block] for partition in chain], axis=1)
    # Most axes have few profiles; the common one, a single profile, needs no sorting of rows.
    alike = bool((table == table[0]).all())
    distinct, numbers = (table[:1], np.zeros(len(table), dtype=np.int64)) if alike else _rows_of(table)
    profiles = [tuple(row) for row in distinct.tolist()]
    seen = {(len(chain) - 1, profile, profile) for profile in profiles}
    for level, (coarse, fine) in enumerate(itertools.pairwise(chain)):
        for kinds in _kinds_inside(coarse, fine, numbers, len(profiles)):
            for (one, count, block), (other, _, other_block) in itertools.product(kinds, repeat=2):
                if count > 1 if one == other else block != other_block or count > 1:
                    seen.add((level, profiles[one], profiles[other]))
    yield from seen


def _rows_of(table: Integers) -> tuple[Integers, Integers]:
    distinct, numbers = np.unique(table, axis=0, return_inverse=True)
    return distinct, numbers.reshape(-1)


def _kinds_inside(
    coarse: Partition, fine: Partition, numbers: Integers, profiles: int
) -> Iterator[list[tuple[int, int, int]]]:
    """Yield per coarse block its profiles with the number of their fine blocks and one of these; equal lists once."""
    firsts = np.unique(numbers * fine.blocks + fine.block, return_index=True)[1]
    places = coarse.block[firsts] * profiles + numbers[firsts]
    keys, first, counts = np.unique(places, return_index=True, return_counts=True)
    blocks, own = keys // profiles, keys % profiles
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    known: set[tuple[tuple[int, int], ...]] = set()
    for part in np.split(np.arange(len(keys)), starts[1:]):
        mark = tuple((int(own[key]), min(int(counts[key]), 2)) for key in part)
        # A list of single fine blocks may share them, so only lists whose blocks are many are known by their mark.
        if mark in known:
            continue
        if all(count > 1 for _, count in mark):
            known.add(mark)
        yield [(int(own[key]), int(counts[key]), int(fine.block[firsts[first[key]]])) for key in part]
