"""Block-level populations: a sparse histogram over a schema for every census block, with the codes of its places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from phexplore.workload.schema import Schema

GEOID_LENGTHS: Mapping[str, int] = MappingProxyType(
    {"US": 0, "State": 2, "County": 5, "Tract": 11, "Block_Group": 12, "Block": 16}
)
"""Characters of the 16-digit block code that name the unit of a level; the 12th is the first digit of the block."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockPopulation:
    """Exact counts of every block. Confidential where the records are.

    The histogram is in compressed rows: the filled cells of block i are ``cells[starts[i]:starts[i + 1]]`` with
    ``counts`` beside them, ascending, no zeros. Blocks ascend by code.

    Attributes:
        schema: what a cell is.
        geoids: public 15-digit block codes, ``U15[blocks]``, ascending and unique.
        starts: ``int64[blocks + 1]``.
        cells: ``int32[filled]``.
        counts: ``int32[filled]``, all positive.
        facilities: ``int32[blocks, types]`` units per type of the schema's facility bounds (housing units first); None
            where the input has none.
        housing: ``int32[blocks, 2]`` vacant and occupied housing units; None where unknown.
        places: codes of other areas a block lies in, by class (``place``, ``cousub``, ...), "" = none.
        remarks: what was assumed on the way, in words.
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

    def __post_init__(self) -> None:
        """Check shapes and make the arrays read-only."""
        blocks = len(self.geoids)
        if len(self.starts) != blocks + 1 or self.starts[-1] != len(self.cells) or len(self.cells) != len(self.counts):
            raise ValueError(f"the rows of {blocks} blocks do not fit {len(self.cells)} cells")
        if blocks and not (self.geoids[1:] > self.geoids[:-1]).all():
            raise ValueError("blocks must ascend by code without repetition")
        if len(self.counts) and self.counts.min() < 1:
            raise ValueError(f"a filled cell counts at least 1, got {self.counts.min()}")
        for name in ("facilities", "housing"):
            value = getattr(self, name)
            if value is not None and len(value) != blocks:
                raise ValueError(f"{name} has {len(value)} rows for {blocks} blocks")
        object.__setattr__(self, "places", MappingProxyType(dict(self.places)))
        for array in (self.geoids, self.starts, self.cells, self.counts, self.facilities, self.housing):
            if array is not None:
                array.flags.writeable = False

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self.geoids)

    @property
    def total(self) -> int:
        """All records."""
        return int(self.counts.sum())

    @property
    def states(self) -> tuple[str, ...]:
        """State codes present, ascending."""
        return tuple(np.unique(self.geoids.astype("U2")).tolist())

    def geocodes(self) -> NDArray[np.str_]:
        """Return the 16-digit codes with the block group's digit inserted, ``U16[blocks]``."""
        return geocode16(self.geoids)

    def totals(self) -> NDArray[np.int64]:
        """Return the records of each block, ``int64[blocks]``."""
        sums = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        totals: NDArray[np.int64] = sums[self.starts[1:]] - sums[self.starts[:-1]]
        return totals

    def dense(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the full histogram of the blocks ``first:last``, ``int64[last - first, cells of the schema]``."""
        rows = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
        inside = slice(int(self.starts[first]), int(self.starts[last]))
        table = np.zeros((last - first, self.schema.cells), np.int64)
        table[rows, self.cells[inside]] = self.counts[inside]
        return table


def geocode16(geoids: NDArray[np.str_]) -> NDArray[np.str_]:
    """Insert the block group (first digit of the block) into 15-digit codes (formats, section 7)."""
    letters = np.ascontiguousarray(geoids.astype("U15")).view("U1").reshape(-1, 15)
    return np.concatenate([letters[:, :12], letters[:, 11:]], axis=1).view("U16").reshape(-1)


def from_dense(
    schema: Schema, geoids: NDArray[np.str_], table: NDArray[np.integer], **extra: object
) -> BlockPopulation:
    """Return a population from a full table ``[blocks, cells]``; blocks in any order.

    Raises:
        ValueError: a block is repeated, or a count is negative.
    """
    if len(table) and table.min() < 0:
        raise ValueError(f"a count is 0 or more, got {table.min()}")
    order = np.argsort(geoids, kind="stable")
    table = table[order]
    rows, cells = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(table)))]).astype(np.int64)
    sorted_extra = {name: value[order] if isinstance(value, np.ndarray) else value for name, value in extra.items()}
    places = {
        name: codes[order]
        for name, codes in dict(sorted_extra.pop("places", {}) or {}).items()  # type: ignore[call-overload]
    }
    return BlockPopulation(
        schema,
        geoids[order].astype("U15"),
        starts,
        cells.astype(np.int32),
        table[rows, cells].astype(np.int32),
        places=places,
        **sorted_extra,  # type: ignore[arg-type]
    )
