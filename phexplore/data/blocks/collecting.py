"""Records of blocks added up while they are read: memory holds filled cells, never records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.population import add_equal


class CellCounter:
    """Counts records by the number of their block and their cell, batch by batch."""

    def __init__(self, cells: int) -> None:
        self._cells = cells
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []

    def add(self, blocks: NDArray[np.int64], cells: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> None:
        """Count records.

        Args:
            blocks: ``blocks[n]``, number of the block of each record.
            cells: ``cells[n]``, cell of each record.
            counts: ``counts[n]``, how many equal records each stands for; None for one each.
        """
        if not len(blocks):
            return
        numbers, rows = _distinct(blocks)
        ones = np.ones(len(blocks), np.int64) if counts is None else counts
        rows, found, sums = add_equal(rows, cells, ones, self._cells)
        self._parts.append((numbers[rows], found, sums))

    def result(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return ``blocks[b]``, ascending, then sorted ``row[n]``, ``cell[n]`` and ``count[n]`` of the filled cells."""
        if not self._parts:
            empty = np.empty(0, np.int64)
            return empty, empty, empty, empty
        blocks, cells, counts = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        numbers, rows = _distinct(blocks)
        return numbers, *add_equal(rows, cells, counts, self._cells)


def _distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values, ascending, and the place of each value among them."""
    if (values[1:] >= values[:-1]).all():
        new = np.concatenate([[True], values[1:] != values[:-1]])
        return values[new], np.cumsum(new) - 1
    numbers, places = np.unique(values, return_inverse=True)
    return numbers, places.astype(np.int64)
