"""Microdata in columns: production's records of persons and units as Parquet, much smaller than the text."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.geocodes import CENSUS_BLOCKS
from phexplore.data.blocks.layouts import PL94_PERSONS, PL94_UNITS
from phexplore.data.blocks.microdata_writing import (
    PARTS,
    SCHEMA_BUILD_ID,
    UNIT_KINDS,
    Metadata,
    unit_table,
)
from phexplore.data.blocks.whole_file import whole_file
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from phexplore.data.blocks.population import BlockPopulation

RECORDS_AT_ONCE = 1 << 20


def write_columns(population: BlockPopulation, path: Path, metadata: Metadata = ()) -> int:
    """Write one row per person, or per housing unit and group quarters, with the columns and values of the text layout; return how many.

    Args:
        population: in the schema ``pl94_persons`` or ``pl94_units``.
        path: of the file, replaced as a whole.
        metadata: (name, value) pairs kept in the file.

    Raises:
        ValueError: the population is in another schema.
        PhexploreError: the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    names = {"pl94_persons": PL94_PERSONS.columns, "pl94_units": PL94_UNITS.columns}.get(population.schema.id, ())
    if not names or population.layout != CENSUS_BLOCKS:
        raise ValueError(f"the layouts hold persons or units of census blocks, got {population.schema.id}")
    columns = _person_columns if "EPNUM" in names else _unit_columns
    words = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [(name, pa.int64() if name == "EPNUM" else words) for name in names],
        metadata={"phexplore": json.dumps(dict(metadata), ensure_ascii=True)},
    )
    ends = np.cumsum(population.totals())
    edges = np.searchsorted(ends, np.arange(RECORDS_AT_ONCE, population.total, RECORDS_AT_ONCE), side="left") + 1
    blocks = sorted({0, population.blocks, *edges.tolist()})
    written = 0
    options = {
        "compression": "zstd",
        "write_statistics": False,
        "use_dictionary": [name for name in names if name != "EPNUM"],
        "column_encoding": {name: "DELTA_BINARY_PACKED" for name in names if name == "EPNUM"},
    }
    with whole_file(path) as file, pq.ParquetWriter(file, schema, **options) as writer:
        for first, last in pairwise(blocks):
            table = pa.Table.from_arrays(columns(population.part(first, last), written), schema=schema)
            writer.write_table(table)
            written += table.num_rows
    return written


def _person_columns(part: BlockPopulation, first: int) -> list[pa.Array]:
    import pyarrow as pa  # noqa: PLC0415 - as above

    block = np.repeat(part.rows(), part.counts)
    cell = np.repeat(part.cells, part.counts)
    quarters, adult, hispanic, race = np.unravel_index(np.arange(part.schema.cells), load_schema("pl94_persons").shape)
    of_cell = (
        np.where(quarters > 0, "5", "3"),
        quarters.astype(str),
        (adult + 1).astype(str),
        (hispanic + 1).astype(str),
        np.char.zfill((race + 1).astype(str), 2),
    )
    return [
        *_beginnings(part, block, "MPD"),
        pa.array(np.arange(first, first + len(block))),
        *(_words(values, cell) for values in of_cell),
    ]


def _unit_columns(part: BlockPopulation, _first: int) -> list[pa.Array]:
    table = unit_table(part)
    rows, kinds = np.nonzero(table)
    block, kind = (np.repeat(each, table[rows, kinds]) for each in (rows, kinds))
    return [*_beginnings(part, block, "MUD"), *(_words(np.array(each), kind) for each in zip(*UNIT_KINDS, strict=True))]


def _beginnings(part: BlockPopulation, block: NDArray[np.integer], kind: str) -> list[pa.Array]:
    nothing = np.zeros(len(block), np.int64)
    return [
        _words(np.array([kind]), nothing),
        _words(np.array([SCHEMA_BUILD_ID]), nothing),
        *(_words(_cut(part.geoids, low, high), block) for low, high in PARTS),
    ]


def _cut(texts: NDArray[np.str_], low: int, high: int) -> NDArray[np.str_]:
    letters = texts.view("U1").reshape(len(texts), -1)[:, low:high]
    return np.ascontiguousarray(letters).view(f"U{high - low}").reshape(-1)


def _words(values: NDArray[np.str_], of_row: NDArray[np.integer]) -> pa.DictionaryArray:
    """Return the value of each row as its place among the different ones."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    distinct, place = np.unique(values, return_inverse=True)
    return pa.DictionaryArray.from_arrays(pa.array(place[of_row].astype(np.int32)), pa.array(distinct.tolist()))
