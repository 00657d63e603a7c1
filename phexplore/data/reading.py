"""Reading persons, units and geo from CSV or Parquet into compact codes, a batch at a time.

Reading finds the problems of the first three phases: files and columns, types, legal values. A problem never stops at
the first row: all of them go to the log, with line and column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.csv_diagnosis import CsvLines, diagnose, header_problems, is_header_only
from phexplore.data.layout import LARGEST_MAFID, LAYOUT, SMALLEST_MAFID, Column, Frame, Kind
from phexplore.data.population import SdhcGeo, SdhcPersons, SdhcUnits
from phexplore.data.problems import Phase, Place, ProblemLog, Rule, report
from phexplore.data.source import DataSource, Storage
from phexplore.model.issues import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

BATCH_ROWS = 1 << 18
"""Rows of a Parquet batch: small enough that a batch with all its codes takes some 50 MB, large enough to be fast."""
ROWS_PER_BYTE, ALWAYS_ROWS = 4, 100_000
"""Numbers of units do not repeat and take a byte or more each; a column of one value says millions in some bytes."""
BLOCK_BYTES = 1 << 24
"""Bytes of a CSV block, about half a million persons."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_ILLEGAL, _MISTYPED = -1, -2

KEPT: Mapping[Frame, Mapping[str, type[np.generic]]] = {
    "persons": SdhcPersons.DTYPES,
    "units": SdhcUnits.DTYPES,
    "geo": SdhcGeo.DTYPES,
}
"""The columns that become arrays, in lower case. The rest of the geography is checked and left out: no table uses it."""


@dataclass(slots=True)
class Table:
    """Rows of one file as codes.

    Attributes:
        columns: lower-case names to arrays of the types of `phexplore.data.population`; codes that were not legal
            hold an arbitrary value, and the log says so.
        place: where the rows stand.
    """

    columns: dict[str, NDArray[Any]]
    place: Place

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.columns["mafid"])

    def kept(self, rows: NDArray[np.int64]) -> Table:
        """Return ``rows[n]`` of the table, in the order given."""
        return Table({name: values[rows] for name, values in self.columns.items()}, self.place.kept(rows))

    def part(self, first: int, last: int) -> Table:
        """Return the rows of a half-open range, without copying.

        Args:
            first: first row.
            last: behind the last.
        """
        place = self.place
        records = None if place.records is None else place.records[first:last]
        moved = Place(place.frame, place.file, place.line_of, records, place.first + first)
        return Table({name: values[first:last] for name, values in self.columns.items()}, moved)


def read_table(source: DataSource, frame: Frame, log: ProblemLog) -> Table:
    """Return a whole file as codes.

    Args:
        source: the directory or files of the population.
        frame: persons, units or geography.
        log: receives the problems.
    """
    return join_tables(list(read_batches(source, frame, log)), source, frame)


def join_tables(tables: Sequence[Table], source: DataSource, frame: Frame) -> Table:
    """Return consecutive tables as one; an empty one when there are none.

    Args:
        tables: of one file, in order.
        source: the directory or files of the population.
        frame: persons, units or geography.
    """
    if len(tables) == 1:
        return tables[0]
    if not tables:
        return Table({name: np.empty(0, dtype) for name, dtype in KEPT[frame].items()}, _place(source, frame))
    columns = {name: np.concatenate([table.columns[name] for table in tables]) for name in KEPT[frame]}
    place = tables[0].place
    if any(table.place.records is not None for table in tables):
        records = np.concatenate([_records(table) for table in tables])
        place = Place(place.frame, place.file, place.line_of, records)
    return Table(columns, place)


def _records(table: Table) -> NDArray[np.int64]:
    if table.place.records is not None:
        return table.place.records
    return np.arange(table.place.first, table.place.first + len(table), dtype=np.int64)


def read_batches(source: DataSource, frame: Frame, log: ProblemLog) -> Iterator[Table]:
    """Yield consecutive parts of a file as codes.

    Problems of the phases FILES, TYPES and VALUES go to the log. After a problem with the file itself the iteration
    ends: what was yielded is then not the whole file.

    Args:
        source: the directory or files of the population.
        frame: persons, units or geography.
        log: receives the problems.
    """
    match source.storage:
        case Storage.CSV:
            batches = _csv_batches(source, frame, log)
        case Storage.PARQUET:
            batches = _parquet_batches(source, frame, log)
    decoders = [_Decoder(column) for column in LAYOUT[frame]]
    lines, first = _place(source, frame).line_of, 0
    for batch in batches:
        place = Place(frame, source.file_name(frame), lines, None, first)
        columns = {}
        for decoder in decoders:
            values = batch.column(batch.schema.get_field_index(decoder.column.name))
            codes = decoder.codes(values, place, log)
            if (name := decoder.column.name.lower()) in KEPT[frame]:
                columns[name] = codes.astype(KEPT[frame][name])
        yield Table(columns, place)
        first += batch.num_rows


def _place(source: DataSource, frame: Frame) -> Place:
    lines = CsvLines(source.files[frame][0]) if source.storage is Storage.CSV else _record_lines
    return Place(frame, source.file_name(frame), lines)


def _record_lines(records: Sequence[int]) -> list[int]:
    # A Parquet file has no lines; its records are numbered from 1.
    return [record + 1 for record in records]


def _file_problem(log: ProblemLog, file: str, sentence: str, remedy: str) -> None:
    log.add(Phase.FILES, "file", [Issue((file,), sentence, remedy)])


def _csv_batches(source: DataSource, frame: Frame, log: ProblemLog) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    from pyarrow import csv  # noqa: PLC0415

    (path,), name = source.files[frame], source.file_name(frame)
    if problems := header_problems(path, frame):
        log.add(Phase.FILES, "header", problems)
        return
    text = pa.dictionary(pa.int32(), pa.string())
    types = {column.name: pa.int64() if column.name == "MAFID" else text for column in LAYOUT[frame]}
    try:
        reader = csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
            convert_options=csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=False),
        )
        yield from reader
    except (pa.ArrowException, OSError):
        # Arrow stops at the first fault of a block. The slow look at every line finds them all.
        found = diagnose(path, frame)
        for phase, issues in found.items():
            log.forget(phase, (name,))
            log.add(phase, "lines", issues)
        if not any(found.values()) and not is_header_only(path):
            _file_problem(log, name, f"{name} cannot be read as CSV.", "Write the file again as plain CSV.")


def _parquet_batches(source: DataSource, frame: Frame, log: ProblemLog) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    from pyarrow import parquet  # noqa: PLC0415

    texts = [column.name for column in LAYOUT[frame] if column.kind is Kind.TEXT]
    for path in source.files[frame]:
        name = source.file_name(frame) if len(source.files[frame]) == 1 else f"{source.file_name(frame)}/{path.name}"
        try:
            if not _schema_is_right(parquet.read_schema(path), frame, name, log):
                return
            with parquet.ParquetFile(path, read_dictionary=texts, page_checksum_verification=True) as file:
                missing = file.metadata.num_rows
                size = path.stat().st_size
                if missing > ROWS_PER_BYTE * size + ALWAYS_ROWS:
                    sentence = f"{name} announces {missing:,} rows in {size:,} bytes, which no population does."
                    _file_problem(log, name, sentence, "Every unit has a number of its own; write the file again.")
                    return
                for batch in file.iter_batches(BATCH_ROWS, columns=[column.name for column in LAYOUT[frame]]):
                    # Arrow trusts what it decodes; in a damaged file indices may point outside their dictionary.
                    batch.validate(full=True)
                    missing -= batch.num_rows
                    yield batch
                if missing:
                    raise pa.ArrowInvalid(f"{missing:+,} rows more are announced than found")
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
            _file_problem(
                log,
                name,
                f"{name} cannot be read as Parquet{reason}.",
                "The file is cut off, damaged, or not Parquet; write or copy it again.",
            )
            return


def _schema_is_right(schema: pa.Schema, frame: Frame, file: str, log: ProblemLog) -> bool:
    """Check names and types. The order of Parquet columns does not matter: they are found by name."""
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

    wanted = {column.name: column for column in LAYOUT[frame]}
    issues, types = [], []
    for place, name in enumerate(schema.names, start=1):
        if name not in wanted:
            sentence, remedy = (
                f"Column {name!r} is not expected.",
                f"Leave it out; the columns are {', '.join(wanted)}.",
            )
            issues.append(Issue((file,), sentence, remedy, column=place))
        elif schema.names.count(name) > 1:
            issues.append(Issue((file,), f"Column {name!r} occurs twice.", "Keep one of them.", column=place))
            continue
        else:
            kind = schema.field(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
            if not (pa.types.is_integer(kind) or (is_text and wanted[name].kind is Kind.TEXT)):
                sentence = f"Column {name} holds {kind}, not {wanted[name].kind.value}."
                remedy = "Store codes as text with leading zeros (whole numbers are read too) and counts as int64."
                types.append(Issue((file,), sentence, remedy, column=place))
    missing = [name for name in wanted if name not in schema.names]
    remedy = f"The columns are {', '.join(wanted)}."
    issues += [Issue((file,), f"Column {name} is missing.", remedy) for name in missing]
    log.add(Phase.FILES, "columns", issues)
    log.add(Phase.TYPES, "column types", types)
    return not issues and not types


@dataclass(slots=True)
class _Decoder:
    """Turns the values of one column into codes, remembering the texts it has met."""

    column: Column
    known: dict[str | None, int] = field(default_factory=dict)

    def codes(self, values: pa.Array, place: Place, log: ProblemLog) -> NDArray[np.int64]:
        """Return ``int64[n]`` codes of a batch; rows whose value is wrong go to the log and hold 0."""
        import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

        if pa.types.is_integer(values.type):
            codes = self._of_integers(values)
        else:
            codes = self._of_texts(values if pa.types.is_dictionary(values.type) else values.dictionary_encode())
        if codes.min(initial=0) < 0:
            self._report(codes, place, log)
            codes = np.maximum(codes, 0)
        return codes

    def _of_integers(self, values: pa.Array) -> NDArray[np.int64]:
        numbers = _integers(values)
        if self.column.name == "MAFID":
            legal = (numbers >= SMALLEST_MAFID) & (numbers <= LARGEST_MAFID)
        else:
            legal = np.logical_or.reduce([(numbers >= low) & (numbers <= high) for low, high in self.column.legal])
        codes: NDArray[np.int64] = np.where(legal, numbers, _ILLEGAL)
        return codes

    def _of_texts(self, values: pa.DictionaryArray) -> NDArray[np.int64]:
        entries = values.dictionary.to_pylist()
        if values.dictionary.type in _integer_types():
            table = [entry if entry is not None and self.column.is_legal(entry) else _ILLEGAL for entry in entries]
        else:
            table = [self._of_text(entry) for entry in entries]
        indices = values.indices
        if indices.null_count:
            indices = indices.fill_null(len(entries))
        lookup: NDArray[np.int64] = np.array([*table, _ILLEGAL], dtype=np.int64)
        codes: NDArray[np.int64] = lookup[indices.to_numpy(zero_copy_only=False)]
        return codes

    def _of_text(self, text: str | None) -> int:
        if text not in self.known:
            code = None if text is None else self.column.code_of(text)
            if code is None:
                wrong_type = self.column.kind is Kind.INTEGER and bool(text) and not _INTEGER.fullmatch(str(text))
                code = _MISTYPED if wrong_type else _ILLEGAL
            self.known[text] = code
        return self.known[text]

    def _report(self, codes: NDArray[np.int64], place: Place, log: ProblemLog) -> None:
        name = self.column.name
        report(
            log,
            Rule(f"type of {name}", Phase.TYPES, name, "Write a whole number."),
            place,
            codes == _MISTYPED,
            sentence=f"{name} is not a whole number.",
        )
        report(
            log,
            Rule(f"values of {name}", Phase.VALUES, name, f"Legal: {self.column.legal_text}."),
            place,
            codes == _ILLEGAL,
            sentence=f"{name} is not a legal value.",
        )


def _integers(values: pa.Array) -> NDArray[np.int64]:
    """Return integers as int64, those that are null or do not fit as the illegal value."""
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

    if values.type == pa.uint64():
        values = values.cast(pa.int64(), safe=False)
    elif values.type != pa.int64():
        values = values.cast(pa.int64())
    if values.null_count:
        values = values.fill_null(_ILLEGAL)
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)


def _integer_types() -> set[pa.DataType]:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

    return {pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()}
