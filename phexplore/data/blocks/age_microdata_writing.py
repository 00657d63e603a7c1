"""Writing microdata with single years of age: persons of the 2010 demonstration data, and of its run on the census of 1940.

Columns as production's converter wrote them (formats, sections 2.5 and 2.6). What was not produced has production's
fillers: EPNUM 999999999, RELSHIP 99, LIVE_ALONE 9. The layout of 1940 has no citizenship; whoever needs it takes the
list of cells.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, ENUMERATION_DISTRICTS_1940, GeocodeLayout
from phexplore.data.blocks.layouts import DEMONSTRATION_2010_PERSONS
from phexplore.data.blocks.microdata_writing import SCHEMA_BUILD_ID, Metadata
from phexplore.data.blocks.whole_file import whole_file

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from phexplore.data.blocks.population import BlockPopulation

EPNUM, RELSHIP, LIVE_ALONE = "999999999", "99", "9"
_BLOCKS_AT_ONCE = 4096
_COMPRESSION = 3


@dataclass(frozen=True, slots=True)
class AgeLayout:
    """A layout of persons with their ages.

    Attributes:
        schema: whose cells it writes.
        geography: of the codes.
        columns: in their order.
        parts: which characters of the public code stand in the columns of the geography.
        citizen: whether citizenship is written.
    """

    schema: str
    geography: GeocodeLayout
    columns: tuple[str, ...]
    parts: tuple[tuple[int, int], ...]
    citizen: bool


AGE_LAYOUTS = {
    layout.schema: layout
    for layout in (
        AgeLayout(
            "demonstration_2010_persons",
            CENSUS_BLOCKS,
            DEMONSTRATION_2010_PERSONS.columns,
            ((0, 2), (2, 5), (5, 11), (11, 12), (11, 15)),
            citizen=True,
        ),
        AgeLayout(
            "census_1940",
            ENUMERATION_DISTRICTS_1940,
            (
                *(
                    "SCHEMA_TYPE_CODE",
                    "SCHEMA_BUILD_ID",
                    "TABBLKST",
                    "TABBLKCOU",
                    "SUPDIST",
                    "ENUMDIST",
                    "EPNUM",
                    "RTYPE",
                ),
                *("GQTYPE", "RELSHIP", "QSEX", "QAGE", "CENHISP", "CENRACE", "LIVE_ALONE"),
            ),
            ((0, 2), (2, 6), (6, 9), (9, 13)),
            citizen=False,
        ),
    )
}
"""Layouts by the schema they write."""


def write_persons_with_ages(persons: BlockPopulation, path: Path, metadata: Metadata = ()) -> int:
    """Write one record per person, ascending by leaf and cell; gzip-compressed when the name ends in ``.gz``.

    Args:
        persons: over a schema that has a layout with ages.
        path: of the file, replaced as a whole.
        metadata: (name, value) lines written before the header.

    Returns:
        How many records.

    Raises:
        ValueError: no layout has the population's attributes.
        PhexploreError: the file cannot be written.
    """
    layout = AGE_LAYOUTS.get(persons.schema.id)
    if layout is None or persons.layout != layout.geography:
        raise ValueError(f"no layout with ages holds {persons.schema.id} of {persons.layout.id}")
    used, place = np.unique(persons.cells, return_inverse=True)
    endings = _endings(persons, layout, used)
    with whole_file(path) as plain:
        file = gzip.GzipFile("", "wb", _COMPRESSION, plain, mtime=0) if path.suffix == ".gz" else plain
        lines = [f"# {name}: {value}".replace("\n", " ") for name, value in metadata]
        file.write(("\n".join([*lines, "|".join(layout.columns)]) + "\n").encode())
        for first in range(0, persons.blocks, _BLOCKS_AT_ONCE):
            last = min(first + _BLOCKS_AT_ONCE, persons.blocks)
            inside = slice(int(persons.starts[first]), int(persons.starts[last]))
            rows = np.repeat(np.arange(first, last), np.diff(persons.starts[first : last + 1])).tolist()
            fronts = [_front(code, layout) for code in persons.geoids[first:last].tolist()]
            text = [
                (fronts[row - first] + endings[cell]) * count
                for row, cell, count in zip(rows, place[inside].tolist(), persons.counts[inside].tolist(), strict=True)
            ]
            file.write("".join(text).encode())
        if file is not plain:
            file.close()
    return persons.total


def _front(code: str, layout: AgeLayout) -> str:
    return "|".join(["MPD", SCHEMA_BUILD_ID, *(code[low:high] for low, high in layout.parts), EPNUM]) + "|"


def _endings(persons: BlockPopulation, layout: AgeLayout, used: NDArray[np.int32]) -> list[str]:
    """Return what follows EPNUM in a record of each cell that is used."""
    levels = np.stack(np.unravel_index(used, persons.schema.shape), axis=1).tolist()
    found = []
    for quarters, sex, age, hispanic, race, citizen in levels:
        kind = f"{quarters}01" if quarters else "000"
        tail = [2 - citizen] if layout.citizen else []
        values = [5 if quarters else 3, kind, RELSHIP, sex + 1, age, hispanic + 1, f"{race + 1:02d}", *tail, LIVE_ALONE]
        found.append("|".join(map(str, values)) + "\n")
    return found
