"""The redistricting tables P1 to P5 as counts of people by age, ethnicity and race; group quarters are a margin of them.

P1 counts everybody by race, P2 those who are not Hispanic, P3 and P4 the adults among them: with the 63 races of each, 252 cells per
area are exact. P5 counts group quarters by type and nothing else, so their people are taken out of the cells by one stated rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.data.blocks.reading import GROUPS
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

RACES = 63
_LEAVES_P1 = (*range(3, 9), *range(11, 26), *range(27, 47), *range(48, 63), *range(64, 70), 71)
LEAVES = {"P1": _LEAVES_P1, "P2": tuple(line + 2 for line in _LEAVES_P1)}
"""Lines of the tables that count one of the 63 races, in the order of CENRACE; of P5 one type of group quarters; of H1 vacant, then
occupied units."""
LEAVES |= {"P3": LEAVES["P1"], "P4": LEAVES["P2"], "P5": (3, 4, 5, 6, 8, 9, 10), "H1": (3, 2)}
TABLES = ("P1", "P2", "P3", "P4")

QUARTERS_RULE = (
    "Group quarters are known by type, not by age and race: their people were taken from the block's cells in proportion, in nursing "
    "facilities adults only, in prisons, colleges and barracks adults first, in juvenile facilities minors first. Counts by age, "
    "ethnicity and race, and people by type, are exact; where the two cross they are not known."
)
NO_QUARTERS = "The tables do not say who lives in group quarters (there is no P5)."
_ORDER = ((3, 1, True), (1, 1, False), (5, 1, False), (6, 1, False), (2, 0, False), (4, -1, False), (7, -1, False))
"""Type, age of those who are taken first (-1: all alike), and whether nobody else may be taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Contradiction(Exception):  # noqa: N818 - says what it is
    """Tables of one area that cannot all be true.

    Attributes:
        row: of the area.
        sentence: what is wrong, without the area.
    """

    row: int
    sentence: str


def cells_of(tables: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return people by voting age, Hispanic origin and race, ``int64[areas, 2, 2, 63]``.

    Args:
        tables: the 63 races of P1 to P4, ``int64[areas, 63]`` each.

    Raises:
        Contradiction: a part is larger than its whole.
    """
    everybody, others, adults, other_adults = (tables[name] for name in TABLES)
    grown = np.stack([other_adults, adults - other_adults], axis=1)
    people = np.stack([others, everybody - others], axis=1)
    cells = np.stack([people - grown, grown], axis=1)
    if cells.size and cells.min() < 0:
        row = int(np.argwhere(cells < 0)[0][0])
        raise Contradiction(
            row,
            "Tables P1 to P4 contradict each other: fewer people than adults or than non-Hispanic people of a race.",
        )
    return cells


def sixteen(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return people by voting age and group, ``int64[areas, 2, 8]``, groups as in block files.

    Args:
        cells: ``cells[areas, 2, 2, 63]``.
    """
    single, several = cells[:, :, 0, :6], cells[:, :, 0, 6:].sum(axis=2, keepdims=True)
    return np.concatenate([cells[:, :, 1].sum(axis=2)[:, :, None], single, several], axis=2)


def sixteen_names() -> tuple[str, ...]:
    """Return the names of the 16 cells, minors first: ``minor_hisp`` … ``adult_two``."""
    return tuple(f"{age}_{group}" for age in ("minor", "adult") for group in GROUPS)


class Blocks:
    """Blocks of several pieces of a file, collected into one population."""

    def __init__(self, *, quarters: bool) -> None:
        """Begin with nothing.

        Args:
            quarters: whether people in group quarters are known by type.
        """
        self._quarters = quarters
        self._blocks = 0
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
        self._codes: list[NDArray[np.str_]] = []
        self._units: list[NDArray[np.int64]] = []

    @property
    def empty(self) -> bool:
        """Whether no block was added."""
        return not self._blocks

    def add(
        self,
        geoids: NDArray[np.str_],
        cells: NDArray[np.int64],
        quarters: NDArray[np.int64] | None,
        housing: NDArray[np.int64] | None,
    ) -> None:
        """Add some blocks.

        Args:
            geoids: ``geoids[blocks]``, 15 digits.
            cells: ``cells[blocks, 2, 2, 63]``.
            quarters: ``quarters[blocks, 7]``, people by type; None where unknown.
            housing: ``housing[blocks, 2]``, vacant and occupied units; None where unknown.

        Raises:
            Contradiction: more people in group quarters than there are.
        """
        table = cells.reshape(len(cells), -1)
        row, cell = np.nonzero(table)
        count = table[row, cell]
        if quarters is not None and self._quarters:
            row, cell, count = _with_quarters(table, quarters, row, cell, count)
        self._parts.append((row + self._blocks, cell, count))
        self._codes.append(geoids)
        if housing is not None:
            self._units.append(housing)
        self._blocks += len(geoids)

    def population(
        self,
        places: Mapping[str, NDArray[np.str_]],
        remarks: Sequence[str],
        repeated: Callable[[str], Exception],
        seed: int = 0,
    ) -> BlockPopulation:
        """Return them as a population. Where group quarters are not known they are invented by the rule of expansion.

        Args:
            places: areas that the blocks lie in, ``U[blocks]`` by class, in the order they were added.
            remarks: to be said of it.
            repeated: makes the refusal of a block that stands twice.
            seed: of what is invented.

        Raises:
            Exception: what `repeated` makes.
        """
        geoids = np.concatenate(self._codes)
        order = np.argsort(geoids, kind="stable")
        ordered = geoids[order]
        if (twice := np.flatnonzero(ordered[1:] == ordered[:-1])).size:
            raise repeated(str(ordered[int(twice[0])]))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        rows, cells, counts = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        made = from_filled(
            load_schema("pl94_persons"),
            ordered,
            rows=place[rows],
            cells=cells,
            counts=counts,
            places={name: codes[order] for name, codes in places.items()},
            remarks=(*remarks, QUARTERS_RULE if self._quarters else NO_QUARTERS),
        )
        if not self._quarters:
            made = expand(made, seed)
        if len(self._units) < len(self._codes):
            return made
        known = () if self._quarters else ("Vacant and occupied housing units are those of H1.",)
        housing = np.concatenate(self._units)[order].astype(np.int32)
        return replace(made, housing=housing, remarks=(*made.remarks, *known))


def _with_quarters(
    table: NDArray[np.int64],
    quarters: NDArray[np.int64],
    row: NDArray[np.int64],
    cell: NDArray[np.int64],
    count: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return filled cells of the full schema: those of households, and those of each type of group quarters.

    Args:
        table: ``table[blocks, 252]``.
        quarters: ``quarters[blocks, 7]``.
        row: ``row[filled]``, block of each filled cell of `table`.
        cell: ``cell[filled]``.
        count: ``count[filled]``.
    """
    holding = np.flatnonzero(quarters.any(axis=1))
    plain = ~np.isin(row, holding)
    rows, cells, counts = [row[plain]], [cell[plain]], [count[plain]]
    adult = np.arange(table.shape[1]) // (2 * RACES)
    for block in holding.tolist():
        rest = table[block].copy()
        for kind, age, only in _ORDER:
            if wanted := int(quarters[block, kind - 1]):
                first = rest if age < 0 else np.where(adult == age, rest, 0)
                taken = _share(first, min(wanted, int(first.sum())))
                if (lacking := wanted - int(taken.sum())) and not only:
                    taken += _share(rest - taken, min(lacking, int((rest - taken).sum())))
                if int(taken.sum()) < wanted:
                    raise Contradiction(
                        block,
                        f"{wanted} people live in group quarters of type {kind}, more than there are to live in them.",
                    )
                rest -= taken
                at = np.flatnonzero(taken)
                rows.append(np.full(len(at), block))
                cells.append(at + kind * table.shape[1])
                counts.append(taken[at])
        at = np.flatnonzero(rest)
        rows.append(np.full(len(at), block))
        cells.append(at)
        counts.append(rest[at])
    return np.concatenate(rows), np.concatenate(cells), np.concatenate(counts)


def _share(counts: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """Return `wanted` people taken out of cells in proportion, remainders to the largest parts, equal ones in order."""
    total = int(counts.sum())
    if not wanted or not total:
        return np.zeros_like(counts)
    taken, part = np.divmod(counts * wanted, total)
    most = np.argsort(-part, kind="stable")[: wanted - int(taken.sum())]
    taken[most] += 1
    return taken
