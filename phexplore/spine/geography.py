"""Where census blocks lie: their codes and the areas they belong to, as one immutable value.

Nothing in it is confidential: which block lies in which area is public, and a spine must not depend on anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, characters, numbers_of_texts
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.model.issues import Issue
from phexplore.model.provenance import UNMARKED, Provenance
from phexplore.spine.settings import AIAN_RANGES, BLOCK_GROUP
from phexplore.text.messages import msg

if TYPE_CHECKING:
    from phexplore.data.blocks.population import BlockPopulation

NOWHERE = -1
"""Stands for a block that lies in no area of a class."""

TABULATION = ("county", "tract", BLOCK_GROUP)
"""Classes that every block's code tells."""


@dataclass(frozen=True, slots=True, eq=False)
class AreaCodes:
    """The area of one class that each block lies in.

    Attributes:
        codes: ``U[areas]``, ascending.
        of_block: ``int32[blocks]``, places in `codes`, `NOWHERE` where the block lies in none.
    """

    codes: NDArray[np.str_]
    of_block: NDArray[np.int32]

    @property
    def areas(self) -> int:
        """The number of areas."""
        return len(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class EntitySet:
    """Any areas, overlapping or not, as lists of blocks (the off-spine entities of the paper, section 4).

    Attributes:
        name: of the class, or whatever the areas are called together.
        codes: ``U[areas]``.
        starts: ``int64[areas + 1]``: area i consists of ``blocks[starts[i]:starts[i + 1]]``.
        blocks: ``int64[members]``, places in the geography, each at most once per area.
    """

    name: str
    codes: NDArray[np.str_]
    starts: NDArray[np.int64]
    blocks: NDArray[np.int64]

    @property
    def areas(self) -> int:
        """The number of areas."""
        return len(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class Geography:
    """Blocks with the areas they lie in.

    Attributes:
        geoids: ``U15[blocks]``, ascending and unique.
        areas: by class, e.g. ``place``.
        quarters: ``int32[blocks]``, bit i set where the block holds group quarters of type i + 1; None where unknown.
        incorporated: ``bool[blocks]``: the block's place is one for which estimates are made (PLACEFS A, B, F); None where
            unknown.
        governed: ``bool[blocks]``: the block's county has active county subdivisions (COUSUBFS A, B, C); None where unknown.
        source: where it was read.
        warnings: what is odd but was accepted.
        provenance: of the file of blocks.
    """

    geoids: NDArray[np.str_]
    areas: Mapping[str, AreaCodes] = field(default_factory=dict)
    quarters: NDArray[np.int32] | None = None
    incorporated: NDArray[np.bool_] | None = None
    governed: NDArray[np.bool_] | None = None
    source: str = ""
    warnings: tuple[Issue, ...] = ()
    provenance: Provenance = UNMARKED

    def __post_init__(self) -> None:
        """Check shapes and make the arrays read-only."""
        if len(self.geoids) and not (self.geoids[1:] > self.geoids[:-1]).all():
            raise ValueError("blocks must ascend by code without repetition")
        for name, area in self.areas.items():
            if len(area.of_block) != self.blocks:
                raise ValueError(f"{name} has {len(area.of_block)} rows for {self.blocks} blocks")
            if self.blocks and not -1 <= area.of_block.min() <= area.of_block.max() < max(1, area.areas):
                raise ValueError(f"{name} names an area that does not exist")
            area.of_block.flags.writeable = False
        for name in ("quarters", "incorporated", "governed"):
            value = getattr(self, name)
            if value is not None and len(value) != self.blocks:
                raise ValueError(f"{name} has {len(value)} rows for {self.blocks} blocks")
        object.__setattr__(self, "areas", MappingProxyType(dict(self.areas)))
        self.geoids.flags.writeable = False

    def __reduce__(self) -> tuple[object, ...]:
        """Let the read-only mapping cross a process border."""
        return (
            Geography,
            (
                self.geoids,
                dict(self.areas),
                self.quarters,
                self.incorporated,
                self.governed,
                self.source,
                self.warnings,
                self.provenance,
            ),
        )

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self.geoids)

    def geocodes(self) -> NDArray[np.str_]:
        """Return the 16-digit codes, ``U16[blocks]``."""
        return CENSUS_BLOCKS.geocodes(self.geoids)

    def numbers(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the digits ``first:last`` of the 16-digit codes as numbers, ``int64[blocks]``.

        Args:
            first: first digit, from 0.
            last: one past the last digit.
        """
        letters = characters(self.geocodes(), 16)[:, first:last]
        return numbers_of_texts(np.ascontiguousarray(letters).view(f"U{last - first}").reshape(-1), last - first)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of areas that distances can be asked of: those read, then those the codes tell."""
        return (*self.areas, *TABULATION)

    def area(self, name: str) -> AreaCodes:
        """Return the areas of a class.

        Raises:
            UnknownNameError: the geography has no such class.
        """
        if name in self.areas:
            return self.areas[name]
        if name in TABULATION:
            length = {"county": 5, "tract": 11, BLOCK_GROUP: 12}[name]
            return codes_of_texts(CENSUS_BLOCKS.geocodes(self.geoids).astype(f"U{length}"))
        raise UnknownNameError(msg("class of areas in these blocks"), name, list(self.classes))

    def aian(self, classes: Sequence[str]) -> NDArray[np.bool_]:
        """Return which blocks lie in a tribal area of these classes, ``bool[blocks]`` (topdown, section 10)."""
        inside = np.zeros(self.blocks, bool)
        if not classes or "aiannh" not in self.areas:
            return inside
        area = self.areas["aiannh"]
        numbers = np.array([aian_number(code) for code in area.codes.tolist()], np.int64)
        chosen = np.zeros(area.areas, bool)
        for name in classes:
            low, high = AIAN_RANGES[name]
            chosen |= (numbers >= low) & (numbers <= high)
        named = area.of_block >= 0
        inside[named] = chosen[area.of_block[named]]
        return inside


def aian_number(code: str) -> int:
    """Return the number of an AIANNHCE code, whatever stands behind its four digits (R reservation, T trust land)."""
    return int(code[:4])


def codes_of_texts(texts: NDArray[np.str_], *, none: str = "") -> AreaCodes:
    """Return the areas that texts name, one text per block.

    Args:
        texts: ``U[blocks]``.
        none: the text of a block in no area.
    """
    codes, of_block = np.unique(texts, return_inverse=True)
    index = of_block.astype(np.int32)
    place = int(np.searchsorted(codes, none))
    if place < len(codes) and codes[place] == none:
        codes = np.delete(codes, place)
        index = np.where(index == place, NOWHERE, np.where(index > place, index - 1, index)).astype(np.int32)
    return AreaCodes(codes, index)


def entity_set(geography: Geography, name: str) -> EntitySet:
    """Return the areas of a class as lists of blocks.

    Args:
        geography: the blocks and their areas.
        name: of the class, e.g. ``place``.

    Raises:
        UnknownNameError: the geography has no such class.
    """
    return entities_of(name, geography.area(name))


def entities_of(name: str, area: AreaCodes) -> EntitySet:
    """Return the areas of a partition as lists of blocks, blocks ascending.

    Args:
        name: of the class.
        area: the area of each block, or `NOWHERE`.
    """
    inside = np.flatnonzero(area.of_block >= 0)
    order = inside[np.argsort(area.of_block[inside], kind="stable")]
    starts = np.searchsorted(area.of_block[order], np.arange(area.areas + 1)).astype(np.int64)
    return EntitySet(name, area.codes, starts, order.astype(np.int64))


def geography_of(population: BlockPopulation, source: str = "") -> Geography:
    """Return where the blocks of a population lie; its facilities tell which group quarters a block holds.

    Args:
        population: over census blocks.
        source: where it was read, for the record.

    Raises:
        PhexploreError: its leaves are not census blocks.
    """
    if population.layout is not CENSUS_BLOCKS:
        raise PhexploreError(
            msg("The leaves of the data are {leaves}, not census blocks.", leaves=population.layout.title),
            msg(
                "Use block data. Spines are built over census blocks; other data have the standard spine of their codes."
            ),
        )
    areas = {}
    for name, texts in population.places.items():
        found = texts.astype("U4") if name == "aiannh" else texts
        areas[name] = codes_of_texts(found)
    quarters = None
    if population.facilities is not None and population.schema.record == "person":
        quarters = quarters_of(population.facilities)
    return Geography(population.geoids, areas, quarters, source=source)


def quarters_of(facilities: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return which types of group quarters each block holds, ``int32[blocks]``: bit i is set where it holds type i + 1.

    Args:
        facilities: ``[blocks, types]``, how many of each, housing units first.
    """
    present = facilities[:, 1:] > 0
    bits: NDArray[np.int32] = present.astype(np.int32) << np.arange(present.shape[1], dtype=np.int32)
    return np.asarray(bits.sum(1, dtype=np.int32))
