"""Rows by MAFID: the joins of persons, units and geography, in one pass without sorting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.population import Identifiers

    Rows = NDArray[np.int32]

NO_ROW = -1
"""Stands for "there is no such row"."""

_DENSE_SPAN = 8
"""MAFIDs are addressed directly while their span is at most this many times their number: 4 bytes of table each."""

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads consecutive keys over the table (Knuth, 6.4)


class MafidIndex:
    """Finds the rows that carry a MAFID, in time proportional to the number of look-ups.

    Attributes:
        following: ``int32[n]``: the next row with the same MAFID, -1 after the last; empty when all are different.
        multiplicity: the most often one MAFID occurs, 0 when there are no rows.
    """

    following: Rows
    multiplicity: int

    def __init__(self, mafid: Identifiers) -> None:
        self._mafid = mafid
        count = len(mafid)
        self._base = int(mafid.min()) if count else 0
        span = int(mafid.max()) - self._base + 1 if count else 0
        self._dense = span <= _DENSE_SPAN * count + 1024
        following = np.empty(count, np.int32)
        if self._dense:
            self._table = np.full(span, NO_ROW, np.int32)
            repeats = _build_dense(mafid, self._base, self._table, following)
        else:
            self._table = np.full(1 << max(4, (2 * count - 1).bit_length()), NO_ROW, np.int32)
            repeats = _build_hashed(mafid, self._table, following)
        self.multiplicity = _longest_chain(following) if repeats else min(count, 1)
        self.following = following if repeats else np.empty(0, np.int32)

    def rows(self, mafid: Identifiers) -> Rows:
        """Return, for each MAFID, the first row that carries it, or -1: ``int32[n]``."""
        found = np.empty(len(mafid), np.int32)
        if self._dense:
            _find_dense(mafid, self._base, self._table, found)
        else:
            _find_hashed(mafid, self._mafid, self._table, found)
        return found


@kernel
def _build_dense(mafid: Identifiers, base: int, table: Rows, following: Rows) -> bool:
    repeats = False
    for row in range(len(mafid) - 1, -1, -1):
        place = mafid[row] - base
        following[row] = table[place]
        repeats |= table[place] >= 0
        table[place] = row
    return repeats


@kernel
def _find_dense(mafid: Identifiers, base: int, table: Rows, found: Rows) -> None:
    for row in range(len(mafid)):
        place = mafid[row] - base
        found[row] = table[place] if 0 <= place < len(table) else -1


@kernel
def _build_hashed(mafid: Identifiers, table: Rows, following: Rows) -> bool:
    repeats = False
    mask = len(table) - 1
    for row in range(len(mafid) - 1, -1, -1):
        place = np.int64((np.uint64(mafid[row]) * _MIX) >> np.uint64(32)) & mask
        while table[place] >= 0 and mafid[table[place]] != mafid[row]:
            place = (place + 1) & mask
        following[row] = table[place]
        repeats |= table[place] >= 0
        table[place] = row
    return repeats


@kernel
def _find_hashed(mafid: Identifiers, keys: Identifiers, table: Rows, found: Rows) -> None:
    mask = len(table) - 1
    for row in range(len(mafid)):
        place = np.int64((np.uint64(mafid[row]) * _MIX) >> np.uint64(32)) & mask
        while table[place] >= 0 and keys[table[place]] != mafid[row]:
            place = (place + 1) & mask
        found[row] = table[place]


@kernel
def _longest_chain(following: Rows) -> int:
    # Rows are chained in ascending order, so a backward pass sees the length of the rest of every chain.
    length = np.ones(len(following), np.int32)
    longest = 1
    for row in range(len(following) - 1, -1, -1):
        if following[row] >= 0:
            length[row] = length[following[row]] + 1
            longest = max(longest, length[row])
    return longest
