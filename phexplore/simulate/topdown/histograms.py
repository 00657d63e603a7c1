"""Sparse histograms of all units of a level, and their sums up a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.population import BlockPopulation
from phexplore.spine.tree import GeoTree

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """Counts of many units in compressed rows.

    Attributes:
        starts: ``int64[units + 1]``; unit u has the filled cells ``cells[starts[u]:starts[u + 1]]``.
        cells: ``int32[filled]``, ascending in each unit.
        counts: ``int64[filled]``, all positive.
    """

    starts: Ints
    cells: NDArray[np.int32]
    counts: Ints

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.starts) - 1

    @property
    def total(self) -> int:
        """All records."""
        return int(self.counts.sum())

    def totals(self) -> Ints:
        """Return the records of each unit, ``int64[units]``."""
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts)])
        totals: Ints = sums[self.starts[1:]] - sums[self.starts[:-1]]
        return totals

    def part(self, first: int, last: int) -> Histograms:
        """Return the units ``first:last``.

        Args:
            first: first unit.
            last: behind the last.
        """
        begin, end = int(self.starts[first]), int(self.starts[last])
        return Histograms(self.starts[first : last + 1] - begin, self.cells[begin:end], self.counts[begin:end])

    def ordered(self, order: NDArray[np.integer]) -> Histograms:
        """Return the units ``order[0], order[1], ...``."""
        counts = np.diff(self.starts)[order]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        rows = np.repeat(self.starts[:-1][order] - starts[:-1], counts) + np.arange(int(starts[-1]))
        return Histograms(starts, self.cells[rows], self.counts[rows])

    def answers(self, answer_of: NDArray[np.int32], answers: int) -> Ints:
        """Return a query's answers, ``int64[units, answers]``.

        Args:
            answer_of: ``int32[cells of the schema]``, -1 where the query omits the cell.
            answers: of the query.
        """
        from phexplore.simulate.topdown import kernels  # noqa: PLC0415 - numba takes half a second to load

        out = np.zeros((self.units, answers), np.int64)
        kernels.add_answers(self.starts, self.cells, self.counts, 0, answer_of[None], np.zeros(1, np.int64), out)
        return out

    def summed(self, child_start: Ints, width: int) -> Histograms:
        """Return the histograms of the parents.

        Args:
            child_start: ``int64[parents + 1]``; the children of parent p are ``child_start[p]:child_start[p + 1]``.
            width: cells of the schema.
        """
        from phexplore.simulate.topdown import kernels  # noqa: PLC0415 - numba takes half a second to load

        cells, counts = np.empty_like(self.cells), np.empty_like(self.counts)
        starts = kernels.merge_children(self.starts, self.cells, self.counts, child_start, width, cells, counts)
        return Histograms(starts, cells[: starts[-1]].copy(), counts[: starts[-1]].copy())

    def differences(self, other: Histograms) -> int:
        """Return in how many cells of all units two sets of histograms differ.

        Raises:
            ValueError: they have different units.
        """
        from phexplore.simulate.topdown import kernels  # noqa: PLC0415 - numba takes half a second to load

        if self.units != other.units:
            raise ValueError(f"{self.units} and {other.units} units cannot be compared")
        return int(
            kernels.count_differences(self.starts, self.cells, self.counts, other.starts, other.cells, other.counts)
        )


def joined(parts: list[Histograms]) -> Histograms:
    """Return the units of several parts as one, in their order."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(len(part.cells) for part in parts)])
    starts = [np.zeros(1, np.int64), *(part.starts[1:] + end for part, end in zip(parts, ends[:-1], strict=True))]
    return Histograms(
        np.concatenate(starts),
        np.concatenate([np.empty(0, np.int32), *(part.cells for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.counts for part in parts)]),
    )


def histograms_of(population: BlockPopulation) -> Histograms:
    """Return the histograms of the leaves of a population."""
    return Histograms(population.starts, population.cells, population.counts.astype(np.int64))


def sums_up(leaves: Histograms, tree: GeoTree, width: int) -> tuple[Histograms, ...]:
    """Return the histograms of every level of a tree, the root first.

    Args:
        leaves: of the lowest level.
        tree: over these leaves.
        width: cells of the schema.

    Raises:
        ValueError: the tree has other leaves.
    """
    if tree.blocks != leaves.units:
        raise ValueError(f"the tree has {tree.blocks} leaves, the histograms {leaves.units}")
    found = [leaves]
    for level in tree.levels[-2::-1]:
        if level.first_child is None:
            raise ValueError(f"the level {level.name} has no children")
        found.append(found[-1].summed(level.first_child, width))
    return tuple(reversed(found))
