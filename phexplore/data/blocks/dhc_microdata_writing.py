"""Writing microdata of the DHC in production's layouts: 16 columns per person, 27 per unit (formats, sections 2.3 and 2.4).

In every block households come first, then vacant units, then group quarters. Households know whether their home is owned with a
mortgage, owned clear or not owned; those not owned become rented until the block's unit histogram has no rented unit left, then
occupied without payment, as in production.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.household_cells import type_columns
from phexplore.data.blocks.layouts import DHC_PERSONS, DHC_UNITS, FACILITY_CODES
from phexplore.data.blocks.microdata_writing import SCHEMA_BUILD_ID, Metadata
from phexplore.data.blocks.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from phexplore.data.blocks.population import BlockPopulation

_PARTS = ((0, 2), (2, 5), (5, 11), (11, 12), (11, 15))
_COMPRESSION = 3
_HOUSEHOLD_LEVELS, _INSTITUTIONAL = 18, 33
_RENTED, _NOT_PAID, _FIRST_VACANT, _FIRST_FACILITY = 2, 3, 4, 11
_NOT_OWNED = 2
_CHILDREN = (4, 1, 2, 3)
"""PAOC and PAC by none, under 6, 6 to 17, both."""


def write_dhc_persons(persons: BlockPopulation, path: Path, metadata: Metadata = ()) -> int:
    """Write one record per person, gzip-compressed when the name ends in ``.gz``; return how many.

    Args:
        persons: in the schema ``dhc_persons``.
        path: of the file, replaced as a whole.
        metadata: (name, value) lines written before the header.

    Raises:
        ValueError: the population is in another schema.
        PhexploreError: the file cannot be written.
    """
    _check(persons, "dhc_persons")
    used, place = np.unique(persons.cells, return_inverse=True)
    endings = _person_endings(np.stack(np.unravel_index(used, persons.schema.shape), axis=1))

    def lines() -> Iterator[str]:
        number = 0
        for block, geoid in enumerate(persons.geoids.tolist()):
            front = _front("MPD", geoid)
            inside = slice(int(persons.starts[block]), int(persons.starts[block + 1]))
            for cell, count in zip(place[inside].tolist(), persons.counts[inside].tolist(), strict=True):
                for _ in range(count):
                    yield f"{front}{number}|{endings[cell]}\n"
                    number += 1

    _write(path, DHC_PERSONS.columns, metadata, lines())
    return persons.total


def _person_endings(levels: NDArray[np.int64]) -> list[str]:
    """Return what follows EPNUM in a record of each cell."""
    found = []
    for relgq, sex, age, hispanic, race in levels.tolist():
        if relgq < _HOUSEHOLD_LEVELS:
            kind, relation, quarters, alone = 3, max(20, 19 + relgq), "000", 1 if relgq == 0 else 2
        else:
            relation = 37 if relgq < _INSTITUTIONAL else 38
            kind, quarters, alone = 5, FACILITY_CODES[relgq - _HOUSEHOLD_LEVELS], 0
        found.append(f"{kind}|{quarters}|{relation}|{sex + 1}|{age}|{hispanic + 1}|{race + 1:02d}|{alone}")
    return found


def write_dhc_units(households: BlockPopulation, path: Path, metadata: Metadata = ()) -> int:
    """Write one record per housing unit and facility, gzip-compressed when the name ends in ``.gz``; return how many.

    Args:
        households: in the schema ``dhc_households``; its facilities are the unit histogram of every block.
        path: of the file, replaced as a whole.
        metadata: (name, value) lines written before the header.

    Raises:
        ValueError: the population is in another schema, or has no unit histogram.
        PhexploreError: the file cannot be written.
    """
    _check(households, "dhc_households")
    if households.facilities is None:
        raise ValueError("the unit histogram is not known")
    used, place = np.unique(households.cells, return_inverse=True)
    levels = np.stack(np.unravel_index(used, households.schema.shape), axis=1)
    endings, tenures = _household_endings(levels), levels[:, 5].tolist()
    nothing = "|0|0|00|0|0|0|0|0|00|0|0|0|0|0|0|0"
    units = households.facilities.astype(np.int64)

    def lines() -> Iterator[str]:
        for block, geoid in enumerate(households.geoids.tolist()):
            front, rented = _front("MUD", geoid), int(units[block, _RENTED])
            inside = slice(int(households.starts[block]), int(households.starts[block + 1]))
            for cell, count in zip(place[inside].tolist(), households.counts[inside].tolist(), strict=True):
                for _ in range(count):
                    tenure = tenures[cell] + 1
                    if tenures[cell] == _NOT_OWNED:
                        tenure = _RENTED + 1 if rented > 0 else _NOT_PAID + 1
                        rented -= 1
                    yield f"{front}2|000|{tenure}|0|{endings[cell]}\n"
            for kind in range(_FIRST_VACANT, _FIRST_FACILITY):
                yield from [f"{front}2|000|0|{kind - _NOT_PAID}{nothing}\n"] * int(units[block, kind])
            for kind in range(_FIRST_FACILITY, units.shape[1]):
                code = FACILITY_CODES[kind - _FIRST_FACILITY]
                yield from [f"{front}4|{code}|0|0{nothing}\n"] * int(units[block, kind])

    _write(path, DHC_UNITS.columns, metadata, lines())
    return int(units.sum())


def _household_endings(levels: NDArray[np.int64]) -> list[str]:
    """Return what follows VACS in a record of each cell of households."""
    found = []
    types = type_columns()
    for sex, age, hispanic, race, elderly, _tenure, kind in levels.tolist():
        size, generations, couple, own, others, relatives, minors = types[kind].tolist()
        values = [
            size,
            _household_type(sex, size, couple, relatives),
            f"{_detailed_type(sex, size, couple, own, relatives):02d}",
            0 if size == 1 else couple or 5,
            0 if size == 1 else _unmarried(sex, couple),
            0 if size <= _NOT_OWNED else 1 + generations,
            age + 1,
            hispanic + 1,
            f"{race + 1:02d}",
            _CHILDREN[own],
            minors,
            *(int(elderly >= least) for least in (1, 2, 3)),
            _CHILDREN[others],
            sex + 1,
        ]
        found.append("|".join(map(str, values)))
    return found


def _household_type(sex: int, size: int, couple: int, relatives: int) -> int:
    """Return HHT: married; other families; alone or not, by sex."""
    if couple in {1, 2}:
        return 1
    if relatives:
        return 2 + sex
    return 4 + 2 * sex + (size > 1)


def _detailed_type(sex: int, size: int, couple: int, own: int, relatives: int) -> int:
    """Return HHT2: couples by children; women 5 to 8 and men 9 to 12: alone, own children, relatives, others."""
    if couple:
        return (1 if couple in {1, 2} else 3) + (not own)
    first = 5 if sex else 9
    if size == 1:
        return first
    return first + (1 if relatives and own else 2 if relatives else 3)


def _unmarried(sex: int, couple: int) -> int:
    """Return UPART: partners by their sexes, 5 for none."""
    if couple not in {3, 4}:
        return 5
    same = couple == 4
    return (3 if same else 4) if sex else (1 if same else 2)


def _check(population: BlockPopulation, schema: str) -> None:
    if population.schema.id != schema or population.layout.id != "census-blocks":
        raise ValueError(f"the layout holds {schema} of census blocks, got {population.schema.id}")


def _front(kind: str, geoid: str) -> str:
    return "|".join([kind, SCHEMA_BUILD_ID, *(geoid[low:high] for low, high in _PARTS)]) + "|"


def _write(path: Path, columns: tuple[str, ...], metadata: Metadata, lines: Iterator[str]) -> None:
    with whole_file(path) as plain:
        file = gzip.GzipFile("", "wb", _COMPRESSION, plain, mtime=0) if path.suffix == ".gz" else plain
        head = [f"# {name}: {value}".replace("\n", " ") for name, value in metadata]
        file.write(("\n".join([*head, "|".join(columns)]) + "\n").encode())
        batch: list[str] = []
        for line in lines:
            batch.append(line)
            if len(batch) == 1 << 16:
                file.write("".join(batch).encode())
                batch.clear()
        file.write("".join(batch).encode())
        if file is not plain:
            file.close()
