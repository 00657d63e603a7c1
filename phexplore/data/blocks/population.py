"""Block-level populations: a sparse histogram over a schema for every census block, with the codes of its places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, GeocodeLayout
from phexplore.workload.schema import Schema

_KEYS_BELOW = 2**62
"""Products of a place and a cell below this are sorted as one number."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockPopulation:
    """Exact counts of every block. Confidential where the records are.

    The histogram is in compressed rows: the filled cells of block i are ``cells[starts[i]:starts[i + 1]]`` with
    ``counts`` beside them, ascending, no zeros. Blocks ascend by code. A result of a run has the same shape.

    Attributes:
        schema: what a cell is.
        geoids: public codes of the leaves (blocks: 15 digits), ``U[blocks]``, ascending and unique.
        starts: ``int64[blocks + 1]``.
        cells: ``int32[filled]``.
        counts: ``int32[filled]``, all positive.
        facilities: ``int32[blocks, types]`` units per type of the schema's facility bounds (housing units first); None
            where the input has none.
        housing: ``int32[blocks, 2]`` vacant and occupied housing units; None where unknown.
        places: codes of other areas a block lies in, by class (``place``, ``cousub``, ...), "" = none.
        remarks: what was assumed on the way, in words.
        layout: what the characters of the codes mean.
    """

    schema: Schema
    geoids: NDArray[np.str_]
    starts: NDArray[np.int64]
    cells: NDArray[np.int32]
    counts: NDArray[np.int32]
    facilities: NDArray[np.int32] | None = None
    housing: NDArray[np.int32] | None = None
    places: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    layout: GeocodeLayout = CENSUS_BLOCKS

    def __post_init__(self) -> None:
        """Check shapes and make the arrays read-only."""
        blocks = len(self.geoids)
        if len(self.starts) != blocks + 1 or self.starts[-1] != len(self.cells) or len(self.cells) != len(self.counts):
            raise ValueError(f"the rows of {blocks} blocks do not fit {len(self.cells)} cells")
        if blocks and not (self.geoids[1:] > self.geoids[:-1]).all():
            raise ValueError("blocks must ascend by code without repetition")
        if len(self.counts) and self.counts.min() < 1:
            raise ValueError(f"a filled cell counts at least 1, got {self.counts.min()}")
        if len(self.cells) and not 0 <= self.cells.min() <= self.cells.max() < self.schema.cells:
            raise ValueError(
                f"cells lie between 0 and {self.schema.cells - 1}, got {self.cells.min()}, {self.cells.max()}"
            )
        for name in ("facilities", "housing"):
            value = getattr(self, name)
            if value is not None and len(value) != blocks:
                raise ValueError(f"{name} has {len(value)} rows for {blocks} blocks")
        object.__setattr__(self, "places", MappingProxyType(dict(self.places)))
        for array in (self.geoids, self.starts, self.cells, self.counts, self.facilities, self.housing):
            if array is not None:
                array.flags.writeable = False

    def __reduce__(self) -> tuple[object, ...]:
        """Let the read-only mapping of places cross a process border."""
        return (
            BlockPopulation,
            (
                self.schema,
                self.geoids,
                self.starts,
                self.cells,
                self.counts,
                self.facilities,
                self.housing,
                dict(self.places),
                self.remarks,
                self.layout,
            ),
        )

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self.geoids)

    @property
    def total(self) -> int:
        """All records."""
        return int(self.counts.sum(dtype=np.int64))

    @property
    def states(self) -> tuple[str, ...]:
        """State codes present, ascending."""
        return tuple(np.unique(self.geoids.astype("U2")).tolist())

    def geocodes(self) -> NDArray[np.str_]:
        """Return the codes that units of all levels are prefixes of (blocks: 16 digits), ``U[blocks]``."""
        return self.layout.geocodes(self.geoids)

    def totals(self) -> NDArray[np.int64]:
        """Return the records of each block, ``int64[blocks]``."""
        sums = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        totals: NDArray[np.int64] = sums[self.starts[1:]] - sums[self.starts[:-1]]
        return totals

    def rows(self) -> NDArray[np.int64]:
        """Return the block of each filled cell, ``int64[filled]``."""
        return np.repeat(np.arange(self.blocks), np.diff(self.starts))

    def dense(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the full histogram of the blocks ``first:last``, ``int64[last - first, cells of the schema]``.

        Args:
            first: first block.
            last: behind the last.
        """
        rows = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
        inside = slice(int(self.starts[first]), int(self.starts[last]))
        table = np.zeros((last - first, self.schema.cells), np.int64)
        table[rows, self.cells[inside]] = self.counts[inside]
        return table

    def part(self, first: int, last: int) -> BlockPopulation:
        """Return the blocks ``first:last`` as a population of their own.

        Args:
            first: first block.
            last: behind the last.
        """
        inside = slice(int(self.starts[first]), int(self.starts[last]))
        return BlockPopulation(
            self.schema,
            self.geoids[first:last],
            self.starts[first : last + 1] - self.starts[first],
            self.cells[inside],
            self.counts[inside],
            None if self.facilities is None else self.facilities[first:last],
            None if self.housing is None else self.housing[first:last],
            {kind: codes[first:last] for kind, codes in self.places.items()},
            self.remarks,
            self.layout,
        )


def from_dense(schema: Schema, geoids: NDArray[np.str_], table: NDArray[np.integer], **extra: Any) -> BlockPopulation:
    """Return a population from a full table ``[blocks, cells]``; blocks in any order.

    Args:
        schema: what a cell is.
        geoids: ``geoids[blocks]``, public codes.
        table: ``table[blocks, cells]``, counts of 0 or more.
        extra: further attributes of the population, in the order of `geoids`.

    Raises:
        ValueError: a block is repeated, or a count is negative.
    """
    if len(table) and table.min() < 0:
        raise ValueError(f"a count is 0 or more, got {table.min()}")
    layout = extra.get("layout", CENSUS_BLOCKS)
    ascending = bool((geoids[1:] > geoids[:-1]).all())
    order = slice(None) if ascending else np.argsort(geoids, kind="stable")
    table = table[order]
    rows, cells = np.nonzero(table)
    places = {kind: codes[order] for kind, codes in extra.pop("places", {}).items()}
    ordered: dict[str, Any] = {
        name: value[order] if isinstance(value, np.ndarray) else value for name, value in extra.items()
    }
    return BlockPopulation(
        schema,
        geoids[order].astype(f"U{layout.public_length}"),
        _starts(rows, len(table)),
        cells.astype(np.int32),
        table[rows, cells].astype(np.int32),
        places=places,
        **ordered,
    )


def from_filled(
    schema: Schema,
    geoids: NDArray[np.str_],
    *,
    rows: NDArray[np.integer],
    cells: NDArray[np.integer],
    counts: NDArray[np.integer],
    **extra: Any,
) -> BlockPopulation:
    """Return a population from a list of filled cells in any order; equal ones are added, zeros dropped.

    Args:
        schema: what a cell is.
        geoids: ``geoids[blocks]``, public codes, ascending and unique.
        rows: ``rows[entries]``, an index of `geoids` each.
        cells: ``cells[entries]``.
        counts: ``counts[entries]``, 0 or more.
        extra: further attributes of the population, in the order of `geoids`.

    Raises:
        ValueError: a count is negative, or the codes do not ascend.
    """
    if len(counts) and counts.min() < 0:
        raise ValueError(f"a count is 0 or more, got {counts.min()}")
    rows, cells, counts = add_equal(
        rows.astype(np.int64), cells.astype(np.int64), counts.astype(np.int64), schema.cells
    )
    kept = counts > 0
    return BlockPopulation(
        schema,
        geoids,
        _starts(rows[kept], len(geoids)),
        cells[kept].astype(np.int32),
        counts[kept].astype(np.int32),
        **extra,
    )


def add_equal(
    rows: NDArray[np.int64], cells: NDArray[np.int64], counts: NDArray[np.int64], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return entries sorted by row and cell, equal ones added.

    Args:
        rows: ``rows[entries]``, 0 or more.
        cells: ``cells[entries]``, between 0 and `width` - 1.
        counts: ``counts[entries]``, to be added.
        width: cells of one row.
    """
    if not len(rows):
        return rows, cells, counts
    if (int(rows.max()) + 1) * width < _KEYS_BELOW:
        keys = rows * width + cells
        if (keys[1:] < keys[:-1]).any():
            order = np.argsort(keys, kind="stable")
            keys, counts = keys[order], counts[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        rows, cells = np.divmod(keys[first], width)
        return rows, cells, np.add.reduceat(counts, first)
    order = np.lexsort((cells, rows))
    rows, cells, counts = rows[order], cells[order], counts[order]
    new = (rows[1:] != rows[:-1]) | (cells[1:] != cells[:-1])
    first = np.flatnonzero(np.concatenate([[True], new]))
    return rows[first], cells[first], np.add.reduceat(counts, first)


def _starts(rows: NDArray[np.integer], blocks: int) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=blocks))]).astype(np.int64)
