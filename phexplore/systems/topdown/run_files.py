"""The Parquet files of a TopDown run: one row per leaf, `geoid`, then one whole number per cell of the schema.

Schemas of more than `MOST_COLUMNS` cells (single years of age) have too many for columns: there every row has two lists, `cells`, the
numbers of the filled cells, ascending, and `counts`. A cell's number is that of its levels in the order of the attributes, the last one
fastest; `shape` in the metadata has the number of levels of each.

A trial, the truth and every reader share the order of rows and columns. Digests of the leaves and of the counts stand in the
metadata, so that a changed bit never gives another number.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from phexplore.runs.run_files import (
    as_written,
    check_columns,
    check_filled,
    check_rows,
    integers,
    lists_of_integers,
    read_columns,
    read_mark,
    reading,
    texts,
)
from phexplore.runs.store import RunUnreadableError
from phexplore.simulate.topdown.histograms import Histograms, joined
from phexplore.workload.schema import Schema, load_schema

ROWS_AT_ONCE = 1 << 13
"""Leaves per row group: with 2,016 cells of four bytes 66 MB at a time."""

MOST_COLUMNS = 1 << 13
"""Cells of a schema up to which each has a column: production's 2,016 do."""

_REMEDY = "Resume the run to draw it again, or take the directory from a backup."


def cell_names(schema: Schema) -> tuple[str, ...]:
    """Return the column of each cell: attributes with the number of their level, e.g. ``hhgq0_votingage1_hispanic0_cenrace05``."""
    widths = [len(str(levels - 1)) for levels in schema.shape]
    places = np.stack(np.unravel_index(np.arange(schema.cells), schema.shape), axis=1)
    names = [attribute.name for attribute in schema.attributes]
    return tuple(
        "_".join(f"{name}{level:0{width}d}" for name, level, width in zip(names, row, widths, strict=True))
        for row in places.tolist()
    )


@dataclass(frozen=True, slots=True, eq=False)
class LeafFiles:
    """Writes and reads the files of one run.

    Attributes:
        schema: of the counts.
        geoids: public codes of the leaves, ``U[leaves]``, in the order of the rows.
        is_listed: whether rows have lists of filled cells whatever the schema: of runs that are estimated by state.
    """

    schema: Schema
    geoids: NDArray[np.str_]
    is_listed: bool = False

    @property
    def digest(self) -> str:
        """64 hexadecimal digits that are equal exactly for equal rows and columns."""
        digest = hashlib.sha256(f"{self.schema.id}\n".encode())
        digest.update("\n".join(self.geoids.tolist()).encode())
        return digest.hexdigest()

    def write(
        self,
        path: Path,
        counts: Histograms,
        metadata: Mapping[str, Any],
        checkpoint: Callable[[], None] = lambda: None,
        beside: Histograms | None = None,
    ) -> None:
        """Write the counts of all leaves, some rows at a time.

        Args:
            path: of the file.
            counts: in the order of the leaves.
            metadata: JSON values kept in the file.
            checkpoint: called between rows; may raise to stop.
            beside: unit histograms of the same leaves, written as lists behind; only schemas with too many cells have them.

        Raises:
            ValueError: other leaves.
            OSError: the system refuses.
        """
        if counts.units != len(self.geoids):
            raise ValueError(f"{counts.units} histograms do not fit {len(self.geoids)} leaves")
        largest = int(counts.counts.max(initial=0))
        number = pa.int64() if largest > np.iinfo(np.int32).max else pa.int32()
        content = {"leaves": self.digest, "counts": counts_digest(counts), "schema": self.schema.id, **metadata}
        if self.schema.cells > MOST_COLUMNS or self.is_listed:
            self._write_lists(path, counts, {"shape": list(self.schema.shape), **content}, number, beside)
            return
        schema = pa.schema(
            [("geoid", pa.string()), *((name, number) for name in cell_names(self.schema))],
            metadata={"phexplore": json.dumps(content, ensure_ascii=True)},
        )
        with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False, write_statistics=False) as writer:
            for first in range(0, max(1, counts.units), ROWS_AT_ONCE):
                checkpoint()
                last = min(first + ROWS_AT_ONCE, counts.units)
                rows = by_cell(counts.part(first, last), self.schema.cells, np.dtype(number.to_pandas_dtype()))
                columns = [pa.array(self.geoids[first:last].tolist(), pa.string()), *map(pa.array, rows)]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))

    def _write_lists(
        self,
        path: Path,
        counts: Histograms,
        content: dict[str, Any],
        number: pa.DataType,
        beside: Histograms | None,
    ) -> None:
        lists = [("", counts)] if beside is None else [("", counts), ("unit_", beside)]
        if beside is not None:
            content["unit_counts"] = counts_digest(beside)
        schema = pa.schema(
            [
                ("geoid", pa.string()),
                *(
                    (f"{prefix}{name}", pa.list_(kind))
                    for prefix, _ in lists
                    for name, kind in (("cells", pa.int32()), ("counts", number))
                ),
            ],
            metadata={"phexplore": json.dumps(content, ensure_ascii=True)},
        )
        with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False, write_statistics=False) as writer:
            for first in range(0, max(1, counts.units), ROWS_AT_ONCE):
                columns = [pa.array(self.geoids[first : first + ROWS_AT_ONCE].tolist(), pa.string())]
                for _, whole in lists:
                    part = whole.part(first, min(first + ROWS_AT_ONCE, whole.units))
                    offsets = pa.array(part.starts.astype(np.int32))
                    columns += [
                        pa.ListArray.from_arrays(offsets, pa.array(part.cells, pa.int32())),
                        pa.ListArray.from_arrays(offsets, pa.array(part.counts.astype(number.to_pandas_dtype()))),
                    ]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))

    def read(self, path: Path) -> Histograms:
        """Return the counts of a file of this run.

        Raises:
            RunUnreadableError: it cannot be read, was altered, or holds other leaves.
        """
        metadata = read_mark(path, _REMEDY)
        if metadata.get("leaves") != self.digest:
            raise RunUnreadableError(f"{path} holds other places than the rest of its run.", _REMEDY)
        read = _read_lists if "shape" in metadata else _read_counts
        with reading(path, _REMEDY):
            found = read(path, len(self.geoids), self.schema.cells)
        if metadata.get("counts") != counts_digest(found):
            raise RunUnreadableError(f"{path} was altered: its counts are not as they were written.", _REMEDY)
        return found


def read_units(path: Path, leaves: int, cells: int) -> Histograms:
    """Return the unit histograms behind the counts of a trial.

    Args:
        path: of the trial.
        leaves: how many there are.
        cells: of the unit histogram.

    Raises:
        RunUnreadableError: it has none, cannot be read, or was altered.
    """
    metadata = read_mark(path, _REMEDY)
    with reading(path, _REMEDY):
        found = _read_lists(path, leaves, cells, "unit_")
    if metadata.get("unit_counts") != counts_digest(found):
        raise RunUnreadableError(f"{path} was altered: its unit counts are not as they were written.", _REMEDY)
    return found


def schema_of(path: Path) -> Schema:
    """Return the schema of the counts in a file of a run.

    Raises:
        RunUnreadableError: it cannot be read, or names none.
    """
    if path.is_dir():
        path /= f"{next(iter(states_of(path)), '')}.parquet"
    mark = read_mark(path, _REMEDY)
    with as_written(path, _REMEDY):
        name = str(mark["schema"])
    return load_schema(name)


@dataclass(frozen=True, slots=True, eq=False)
class StateFiles:
    """Reads the folders of a run that was estimated by state, whole or some states of them.

    Attributes:
        states: readers by code, ascending.
    """

    states: Mapping[str, LeafFiles]

    @property
    def geoids(self) -> NDArray[np.str_]:
        """Public codes of the leaves, ``U[leaves]``."""
        return np.concatenate([files.geoids for files in self.states.values()])

    def read(self, path: Path) -> Histograms:
        """Return the counts of these states.

        Args:
            path: folder.

        Raises:
            RunUnreadableError: a file cannot be read, was altered, or holds other leaves.
        """
        return joined([files.read(path / f"{code}.parquet") for code, files in self.states.items()])


def states_of(path: Path) -> tuple[str, ...]:
    """Return the codes of the states that a folder of a run has a file of; none where it is a file."""
    return tuple(sorted(each.stem for each in path.glob("*.parquet"))) if path.is_dir() else ()


def open_leaf_files(path: Path, schema: Schema, states: Sequence[str] = ()) -> LeafFiles | StateFiles:
    """Return the reader of all files that have the leaves of this one.

    Args:
        path: file, or folder with one per state.
        schema: id.
        states: of a folder, those that are wanted; empty for all.

    Raises:
        RunUnreadableError: it cannot be read.
    """
    if path.is_dir():
        wanted = states or states_of(path)
        return StateFiles({code: _open_leaf_file(path / f"{code}.parquet", schema) for code in wanted})
    return _open_leaf_file(path, schema)


def _open_leaf_file(path: Path, schema: Schema) -> LeafFiles:
    with reading(path, _REMEDY):
        return LeafFiles(
            schema, np.array(read_columns(path, {"geoid": texts}).column("geoid").to_pylist(), dtype=np.str_)
        )


def _read_counts(path: Path, leaves: int, cells: int) -> Histograms:
    parts: list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]] = []
    first = 0
    with pq.ParquetFile(path) as file:
        check_rows(file, path, leaves)
        _, *names = file.schema_arrow.names
        if len(names) != cells:
            raise ValueError(f"it has {len(names):,} cells, not {cells:,}")
        check_columns(file.schema_arrow, dict.fromkeys(names, integers))
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, use_threads=False)
            check_filled(table)
            for cell, column in enumerate(table.columns[1:]):
                values = column.to_numpy()
                rows = np.flatnonzero(values)
                if len(rows):
                    parts.append((rows + first, np.full(len(rows), cell, np.int32), values[rows].astype(np.int64)))
            first += table.num_rows
    rows, places, counts = (
        (np.concatenate(column) for column in zip(*parts, strict=True))
        if parts
        else (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
    )
    order = np.lexsort((places, rows))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(rows, minlength=leaves))]).astype(np.int64)
    return Histograms(starts, places[order], counts[order])


def _read_lists(path: Path, leaves: int, cells: int, prefix: str = "") -> Histograms:
    names = [f"{prefix}cells", f"{prefix}counts"]
    starts, places, counts = [np.zeros(1, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    end = 0
    with pq.ParquetFile(path) as file:
        check_rows(file, path, leaves)
        check_columns(file.schema_arrow, dict.fromkeys(names, lists_of_integers))
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=names, use_threads=False)
            check_filled(table)
            filled, numbers = (column.combine_chunks() for column in table.columns)
            if filled.values.null_count or numbers.values.null_count or not filled.offsets.equals(numbers.offsets):
                raise RunUnreadableError(f"{path} was altered: its lists of cells and counts do not fit.", _REMEDY)
            starts.append(end + filled.offsets.to_numpy()[1:].astype(np.int64))
            places.append(filled.values.to_numpy().astype(np.int32))
            counts.append(numbers.values.to_numpy().astype(np.int64))
            end = int(starts[-1][-1]) if len(starts[-1]) else end
    found = Histograms(np.concatenate(starts), np.concatenate(places), np.concatenate(counts))
    if found.cells.size and not 0 <= found.cells.min() <= found.cells.max() < cells:
        raise ValueError("a count is of a cell there is not")
    return found


def by_cell(counts: Histograms, cells: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Yield the counts of all units cell by cell, ``dtype[units]``; cells that nobody fills share one array.

    Args:
        counts: histograms.
        cells: of the schema.
        dtype: of the arrays.
    """
    order = np.argsort(counts.cells, kind="stable")
    units = np.repeat(np.arange(counts.units), np.diff(counts.starts))[order]
    filled = counts.counts[order]
    edges = np.searchsorted(counts.cells[order], np.arange(cells + 1)).tolist()
    nobody = np.zeros(counts.units, dtype)
    for first, last in pairwise(edges):
        if first == last:
            yield nobody
            continue
        column = np.zeros(counts.units, dtype)
        column[units[first:last]] = filled[first:last]
        yield column


def counts_digest(counts: Histograms) -> str:
    """Return 64 hexadecimal digits that are equal exactly for equal counts."""
    digest = hashlib.sha256()
    for array in (counts.starts.astype(np.int64), counts.cells.astype(np.int32), counts.counts.astype(np.int64)):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
