"""Writing populations in production's layout, as CSV and as Parquet, a part at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from phexplore.data.layout import FRAMES, LAYOUT, Column, Frame, Kind
from phexplore.data.provenance import PROVENANCE_FILE, PopulationMark, mark_file, read_provenance, write_provenance
from phexplore.data.source import Storage
from phexplore.model.issues import InputProblemsError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path
    from types import TracebackType

    import pyarrow as pa
    from numpy.typing import NDArray

CodeColumns = Mapping[str, "NDArray[np.integer[Any]]"]
"""All columns of a file by production name, as integer codes of equal length."""


@dataclass(frozen=True, slots=True, eq=False)
class PopulationPart:
    """All columns of some rows of the three files."""

    persons: CodeColumns
    units: CodeColumns
    geo: CodeColumns


class PopulationWriter:
    """Writes consecutive parts of a population into a directory; nothing is seen under its final name until `close`.

    Use it as a context manager: leaving it by an exception removes what was begun.
    """

    def __init__(self, directory: Path, storages: Collection[Storage]) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._earlier = _files_of_earlier_mark(directory)
        self._files = [_open(directory, frame, storage) for storage in storages for frame in FRAMES]

    def write(self, part: PopulationPart) -> None:
        """Append a part."""
        for frame in FRAMES:
            columns: CodeColumns = getattr(part, frame)
            wanted = [file for file in self._files if file.frame == frame]
            batch = _batch(frame, columns)
            for file in wanted:
                file.write(batch)

    def close(self, provenance: PopulationMark) -> PopulationMark:
        """Give the files their names, then write the mark with their hashes; return it.

        Files of the other storage that an earlier mark names are removed: they belong to the population replaced.
        """
        (self._directory / PROVENANCE_FILE).unlink(missing_ok=True)
        marks = {}
        for file in self._files:
            file.close()
            file.part_path.replace(file.path)
            marks[file.path.name] = mark_file(file.path, file.rows)
        for name in self._earlier - set(marks):
            (self._directory / name).unlink(missing_ok=True)
        complete = replace(provenance, files=marks)
        write_provenance(self._directory, complete)
        self._files = []
        return complete

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what was not closed."""
        for file in self._files:
            file.close()
            file.part_path.unlink(missing_ok=True)


def _files_of_earlier_mark(directory: Path) -> set[str]:
    try:
        earlier = read_provenance(directory)
    except InputProblemsError:
        return set()  # not ours; nothing of it is removed
    ours = {f"{frame}.{storage.value}" for frame in FRAMES for storage in Storage}
    return ours & set(earlier.files) if earlier is not None else set()


@dataclass(slots=True)
class _File:
    """One file being written."""

    frame: Frame
    path: Path
    part_path: Path
    writer: Any
    storage: Storage
    rows: int = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self.writer.write_batch(_as_text(batch, self.frame) if self.storage is Storage.CSV else batch)
        self.rows += batch.num_rows

    def close(self) -> None:
        self.writer.close()


def _open(directory: Path, frame: Frame, storage: Storage) -> _File:
    from pyarrow import csv, parquet  # noqa: PLC0415 - the command line starts without it

    path = directory / f"{frame}.{storage.value}"
    part = path.with_name(path.name + ".part")
    schema = _schema(frame)
    match storage:
        case Storage.CSV:
            text = _text_schema(frame)
            header = ",".join(text.names) + "\n"
            sink = part.open("wb")
            sink.write(header.encode())
            options = csv.WriteOptions(include_header=False, quoting_style="none")
            writer = _Closing(csv.CSVWriter(sink, text, write_options=options), sink)
        case Storage.PARQUET:
            codes = [column.name for column in LAYOUT[frame] if column.name != "MAFID"]
            # Identifiers ascend by small steps, which delta coding stores in a few bits each.
            writer = parquet.ParquetWriter(
                part,
                schema,
                compression="zstd",
                use_dictionary=codes,
                write_page_checksum=True,
                column_encoding={"MAFID": "DELTA_BINARY_PACKED"},
            )
    return _File(frame, path, part, writer, storage)


@dataclass(slots=True)
class _Closing:
    """A CSV writer together with the file it does not own."""

    writer: Any
    sink: Any

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self.writer.write_batch(batch)

    def close(self) -> None:
        self.writer.close()
        self.sink.close()


def _schema(frame: Frame) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

    text = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([(c.name, text if c.kind is Kind.TEXT else pa.int64()) for c in LAYOUT[frame]])


def _text_schema(frame: Frame) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

    return pa.schema([(c.name, pa.string() if c.kind is Kind.TEXT else pa.int64()) for c in LAYOUT[frame]])


def _batch(frame: Frame, columns: CodeColumns) -> pa.RecordBatch:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

    arrays = [_array(column, columns[column.name]) for column in LAYOUT[frame]]
    return pa.RecordBatch.from_arrays(arrays, schema=_schema(frame))


def _array(column: Column, codes: NDArray[np.integer[Any]]) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

    if column.kind is Kind.INTEGER:
        return pa.array(codes.astype(np.int64, copy=False))
    # Codes of up to six digits: the dictionary holds those in use only.
    counts = np.bincount(codes)
    used = np.flatnonzero(counts)
    position = np.zeros(len(counts), np.int32)
    position[used] = np.arange(len(used), dtype=np.int32)
    texts = pa.array([column.text(int(code)) for code in used], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(position[codes]), texts)


def _as_text(batch: pa.RecordBatch, frame: Frame) -> pa.RecordBatch:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

    schema = _text_schema(frame)
    arrays = [array.cast(kind) for array, kind in zip(batch.columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
