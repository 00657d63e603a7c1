"""Delimited text files as columns of codes, streamed; what is wrong is collected with line and column.

Every column is read as text with a dictionary: each distinct text of a batch is judged once, whatever the number of
rows.
"""

from __future__ import annotations

import csv as plain
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from phexplore.data.archives import open_content
from phexplore.model.issues import InputProblemsError, Issue

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

MOST_COLUMNS = 4096
LONGEST_FIELD = 1000
"""Characters of a value: codes have sixteen, names of places a hundred. Arrays of texts are as wide as the longest."""
LONGEST_LINE = 1 << 20
MOST_COUNTED = 100_000
"""Lines that cannot be read are counted up to here: more of them say nothing new, and looking for them takes its time."""
MOST_LISTED = 1000
"""Problems listed one by one; further ones are counted."""

BATCH_BYTES = 1 << 24
_HEAD_BYTES = 1 << 16
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a delimited file.

    Attributes:
        path: of the file.
        delimiter: between the values.
        names: of the columns, in order.
        line: of the header, from 1; lines before it are metadata.
        metadata: the lines before the header without their ``# ``.
        encoding: of the text behind the header.
    """

    path: Path
    delimiter: str
    names: tuple[str, ...]
    line: int
    metadata: tuple[str, ...] = ()
    encoding: str = "utf8"

    def column(self, name: str) -> int:
        """Return the place of a column, from 1."""
        return self.names.index(name) + 1


@dataclass(slots=True)
class Problems:
    """What is wrong with a file: the first ones with their places, the rest counted."""

    path: Path
    issues: list[Issue] = field(default_factory=list)
    unlisted: int = 0

    @property
    def any(self) -> bool:
        """Whether something was reported."""
        return bool(self.issues)

    def add(self, sentence: str, remedy: str, *, line: int = 0, column: int = 0) -> None:
        """Report one problem.

        Args:
            sentence: what is wrong.
            remedy: what to do.
            line: from 1, 0 for the whole file.
            column: from 1, 0 for the whole line.
        """
        if len(self.issues) < MOST_LISTED:
            self.issues.append(Issue((self.path.name,), sentence, remedy, line=line, column=column))
        else:
            self.unlisted += 1

    def room(self, found: int) -> int:
        """Return how many of some further problems can be listed, and count the others."""
        listed = min(found, MOST_LISTED - len(self.issues))
        self.unlisted += found - listed
        return listed

    def finish(self) -> None:
        """Raise if anything was wrong.

        Raises:
            InputProblemsError: all problems; the last one says how many are not listed.
        """
        if not self.issues:
            return
        ordered = sorted(self.issues, key=lambda issue: (issue.line, issue.column))
        if self.unlisted:
            ordered.append(
                Issue(
                    (self.path.name,),
                    f"{self.unlisted:,} further problems are not listed.",
                    "Correct those above first; many problems of one kind often have one cause.",
                )
            )
        raise InputProblemsError(ordered)


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """One column of some rows.

    Attributes:
        texts: the distinct texts.
        index: ``int32[rows]``, which of the texts stands in each row.
    """

    texts: tuple[str, ...]
    index: NDArray[np.int32]

    def numbers(self, number_of: Callable[[str], int | None]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return ``numbers[rows]``, 0 where a text stands for none, and ``wrong[rows]``, where that is so."""
        found = [number_of(text) for text in self.texts]
        values = np.array([0 if number is None else number for number in found], np.int64)
        wrong = np.array([number is None for number in found], bool)
        if not len(values):
            return np.zeros(len(self.index), np.int64), np.zeros(len(self.index), bool)
        return values[self.index], wrong[self.index]

    def strings(self) -> NDArray[np.str_]:
        """Return the texts as ``U[rows]``, surrounding blanks removed."""
        stripped = np.array([text.strip() for text in self.texts] or [""])
        return stripped[self.index] if len(self.index) else np.empty(0, "U1")

    def text(self, row: int) -> str:
        """Return the text of a row."""
        return self.texts[int(self.index[row])]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some consecutive rows.

    Attributes:
        first: number of its first row in the file, from 0; blank lines are no rows.
        rows: how many.
        columns: by name.
        identifiers: columns whose texts hardly repeat, without a dictionary: pyarrow string arrays by name.
    """

    first: int
    rows: int
    columns: dict[str, CodedColumn]
    identifiers: dict[str, Any] = field(default_factory=dict)


def read_header(path: Path) -> Header:
    """Return the header of a delimited file (comma, bar, semicolon or tabulator), behind any lines that begin with ``#``.

    Raises:
        InputProblemsError: the file cannot be read, is not text, or names a column twice.
    """
    metadata: list[str] = []
    for number, content in enumerate(read_head(path).removeprefix(_MARK).splitlines(), start=1):
        if content.startswith(b"#"):
            metadata.append(content.removeprefix(b"#").strip().decode("utf-8", "replace"))
        elif content.strip():
            try:
                return _header(path, content.decode(), number, tuple(metadata))
            except UnicodeDecodeError as error:
                raise unreadable(path, "its first line is not UTF-8 text") from error
    raise InputProblemsError(
        [Issue((path.name,), "The file is empty.", "Check that it is the right one; it may have been cut off.", line=1)]
    )


_SUMMARY_FILE = re.compile(r"(PLST|uPL)\s*[|,]|(PLST|uPL)\s+[A-Z]{2}\d")
"""Segments since 2000 and the header of 2020 have delimiters, older headers fixed columns; none has a line of names."""


def _header(path: Path, line: str, number: int, metadata: tuple[str, ...]) -> Header:
    if _SUMMARY_FILE.match(line):
        sentence = "This is a legacy summary file of the P.L. 94-171 redistricting data: its geographic header or a data segment."
        remedy = "Name the folder or the archive that holds the header and all its segments."
        raise InputProblemsError([Issue((path.name,), sentence, remedy, line=number)])
    delimiter = max(",|;\t", key=line.count)
    if line.count(delimiter) >= MOST_COLUMNS:
        sentence = f"The first line names {line.count(delimiter) + 1:,} columns or more."
        remedy = "This is no table of the census; check that it is the right file."
        raise InputProblemsError([Issue((path.name,), sentence, remedy, line=number)])
    try:
        names = tuple(name.strip() for name in next(plain.reader([line], delimiter=delimiter)))
    except plain.Error as error:
        issue = Issue((path.name,), f"The first line cannot be split into names: {error}.", "Correct it.", line=number)
        raise InputProblemsError([issue]) from error
    repeated = {name for name, times in Counter(names).items() if times > 1 and name}
    if repeated and sum(name.replace(".", "").isdecimal() for name in names) > len(names) // 2:
        sentence = "The first line contains values, not column names."
        raise InputProblemsError([Issue((path.name,), sentence, "Put the header in front.", line=number)])
    if repeated:
        raise InputProblemsError(
            [
                Issue(
                    (path.name,),
                    "Two columns have the same name.",
                    "Remove one of them.",
                    line=number,
                    column=len(names) - names[::-1].index(name),
                )
                for name in sorted(repeated)
            ]
        )
    return Header(path, delimiter, names, number, metadata)


def read_head(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked.

    Raises:
        InputProblemsError: it cannot be read.
    """
    with readable(path) as file:
        return file.read(_HEAD_BYTES)


class readable:  # noqa: N801 - used like the function open
    """Opens a file for reading bytes, unpacked if compressed; failures of reading become problems of the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def __enter__(self) -> IO[bytes]:
        """Open the file."""
        try:
            self._file = open_content(self._path)
        except OSError as error:
            raise unreadable(self._path, error.strerror or str(error)) from error
        return self._file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Close the file and translate what went wrong inside."""
        if self._file is not None:
            self._file.close()
        if isinstance(error, OSError):
            raise unreadable(self._path, error.strerror or str(error)) from error


def numbered_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, numbered from 1; of a line that is too long, the beginning."""
    number = 0
    while content := file.readline(LONGEST_LINE):
        number += 1
        yield number, content
        while len(content) == LONGEST_LINE and not content.endswith(b"\n"):
            content = file.readline(LONGEST_LINE)


def unreadable(path: Path, reason: str) -> InputProblemsError:
    """Return the problem of a file that cannot be read at all.

    Args:
        path: of the file.
        reason: words that complete "The file cannot be read".
    """
    return InputProblemsError(
        [Issue((path.name,), f"The file cannot be read: {reason}.", "Check its name, its rights and its content.")]
    )


def read_batches(header: Header, names: Sequence[str], identifiers: Sequence[str] = ()) -> Iterator[Batch]:
    """Yield the rows of a file in batches, the named columns only.

    Args:
        header: of the file.
        names: columns whose texts repeat.
        identifiers: columns whose texts do not.

    Raises:
        InputProblemsError: lines with another number of values, or bytes that are not text; every one of them.
    """
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    from pyarrow import csv  # noqa: PLC0415 - as above

    coded = pa.dictionary(pa.int32(), pa.string())
    first = 0
    with readable(header.path) as file:
        try:
            reader = csv.open_csv(
                file,
                read_options=csv.ReadOptions(
                    column_names=list(header.names),
                    skip_rows=header.line,
                    block_size=BATCH_BYTES,
                    encoding=header.encoding,
                ),
                parse_options=csv.ParseOptions(delimiter=header.delimiter),
                convert_options=csv.ConvertOptions(
                    include_columns=[*names, *identifiers],
                    column_types={**dict.fromkeys(names, coded), **dict.fromkeys(identifiers, pa.string())},
                    null_values=[],
                    strings_can_be_null=False,
                ),
            )
            for batch in reader:
                _refuse_long_fields(header, batch, (*names, *identifiers), first)
                yield _batch(batch, names, identifiers, first)
                first += batch.num_rows
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):
                return
            raise InputProblemsError(_bad_lines(header)) from error
    _refuse_quoted_lines(header, first)


def _refuse_quoted_lines(header: Header, rows: int) -> None:
    """Refuse a file in which a quotation mark swallowed lines: they would be missing from every count without a word.

    Raises:
        InputProblemsError: fewer rows were read than there are lines; every line with an open quotation mark.
    """
    with readable(header.path) as file:
        if not any(b'"' in piece for piece in iter(lambda: file.read(BATCH_BYTES), b"")):
            return
    problems, lines, opened = Problems(header.path), 0, []
    with readable(header.path) as file:
        for number, content in enumerate(file, start=1):
            if number <= header.line or not content.strip(b"\r\n"):
                continue
            lines += 1
            if content.count(b'"') % 2:
                before = content[: content.rindex(b'"')]
                opened.append((number, before.count(header.delimiter.encode()) + 1))
    if lines == rows:
        return
    for number, column in opened[: problems.room(len(opened))]:
        problems.add(
            "A quotation mark is opened and not closed on its line, so the lines behind it would be lost.",
            'Write " twice inside of quoted text, or leave it out; a value stands on one line.',
            line=number,
            column=column,
        )
    if not opened:
        problems.add(
            f"The file has {lines:,} lines, {rows:,} of them can be told apart.", "Correct its quotation marks."
        )
    problems.finish()


def _refuse_long_fields(header: Header, batch: pa.RecordBatch, names: Sequence[str], first: int) -> None:
    """Raise where a value is longer than any code or name.

    Raises:
        InputProblemsError: the first such value of every column.
    """
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    from pyarrow import compute  # noqa: PLC0415 - as above

    issues = []
    for name in names:
        column = batch.column(name)
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        if not len(texts) or (compute.max(compute.binary_length(texts)).as_py() or 0) <= LONGEST_FIELD:
            continue
        long = compute.greater(compute.binary_length(column.cast(pa.string())), LONGEST_FIELD)
        row = compute.index(long, True).as_py()
        sentence = f"The value has more than {LONGEST_FIELD:,} characters."
        remedy = "Close every quoted value; no code or name is that long."
        line = lines_of(header, [first + row])[0]
        issues.append(Issue((header.path.name,), sentence, remedy, line=line, column=header.column(name)))
    if issues:
        raise InputProblemsError(issues)


def _batch(batch: pa.RecordBatch, names: Sequence[str], identifiers: Sequence[str], first: int) -> Batch:
    columns = {}
    for name in names:
        column = batch.column(name)
        columns[name] = CodedColumn(tuple(column.dictionary.to_pylist()), column.indices.to_numpy(zero_copy_only=False))
    return Batch(first, batch.num_rows, columns, {name: batch.column(name) for name in identifiers})


def digit_codes(texts: Any, width: int) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
    """Return texts of exactly `width` ASCII digits, surrounding blanks removed, and where there is none.

    Args:
        texts: pyarrow string array.
        width: digits of a code.

    Returns:
        ``U[rows]``, zeros where there is no code, and ``bool[rows]``, true there.
    """
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    from pyarrow import compute  # noqa: PLC0415 - as above

    trimmed = compute.ascii_trim_whitespace(texts)
    right = compute.and_(compute.equal(compute.binary_length(trimmed), width), compute.ascii_is_decimal(trimmed))
    if not compute.all(right).as_py():
        trimmed = compute.if_else(right, trimmed, "0" * width)
    wrong = ~right.to_numpy(zero_copy_only=False).astype(bool)
    if not len(texts):
        return np.empty(0, f"U{width}"), wrong
    letters = np.frombuffer(trimmed.cast(pa.binary(width)).buffers()[1], np.uint8, len(texts) * width)
    return letters.astype(np.uint32).view(f"U{width}"), wrong


def lines_of(header: Header, rows: Sequence[int]) -> list[int]:
    """Return the lines (from 1) of some rows (from 0); blank lines are no rows. Reads the file once more.

    Args:
        header: of the file.
        rows: numbers of rows below the header.
    """
    wanted = sorted(set(rows))
    found: dict[int, int] = {}
    row = -1
    with readable(header.path) as file:
        for number, content in numbered_lines(file):
            if number <= header.line or not content.strip(b"\r\n"):
                continue
            row += 1
            if row == wanted[len(found)]:
                found[row] = number
                if len(found) == len(wanted):
                    break
    # A line of quoted text may hold several: then the row is not found by counting, and the first line of data is named.
    return [found.get(row, header.line + 1) for row in rows]


def refuse(
    problems: Problems,
    header: Header,
    wrong: NDArray[np.bool_],
    *,
    column: str,
    sentence: str | Callable[[int], str],
    remedy: str = "Correct the line, or leave it out.",
    first: int = 0,
) -> None:
    """Report the rows where `wrong` holds.

    Args:
        problems: takes the problems.
        header: of the file.
        wrong: ``bool[rows]``.
        column: the column to look at.
        sentence: what is wrong; of published files a function of the row (its place in `wrong`), which may quote a value.
        remedy: what to do.
        first: number in the file of the first row.
    """
    rows = np.flatnonzero(wrong)
    listed = rows[: problems.room(len(rows))].tolist()
    if not listed:
        return
    for row, line in zip(listed, lines_of(header, [first + row for row in listed]), strict=True):
        problems.issues.append(
            Issue(
                (header.path.name,),
                sentence if isinstance(sentence, str) else sentence(row),
                remedy,
                line=line,
                column=header.column(column),
            )
        )


def missing_columns(header: Header, needed: Sequence[str], remedy: str) -> None:
    """Raise if columns are missing.

    Args:
        header: of the file.
        needed: names that have to be there.
        remedy: sentence that says which columns the file needs.

    Raises:
        InputProblemsError: one problem per missing column.
    """
    missing = [name for name in needed if name not in header.names]
    if missing:
        raise InputProblemsError(
            [
                Issue((header.path.name,), f"The column {name!r} is missing.", remedy, line=header.line)
                for name in missing
            ]
        )


def _bad_lines(header: Header) -> list[Issue]:
    """Find the lines with another number of values and those that are no text; the parser names only the first."""
    problems = Problems(header.path)
    width = len(header.names)
    with readable(header.path) as file:
        for number, content in numbered_lines(file):
            bare = content.rstrip(b"\r\n")
            if number <= header.line or not bare:
                continue
            if len(content) == LONGEST_LINE:
                sentence = f"The line has {LONGEST_LINE:,} bytes or more."
                problems.add(sentence, "Correct the line; no record is that long.", line=number, column=1)
                continue
            try:
                values = next(plain.reader(io.StringIO(bare.decode(header.encoding)), delimiter=header.delimiter))
            except UnicodeDecodeError as error:
                problems.add(
                    f"Byte {error.start + 1} of the line is not UTF-8 text.",
                    "Save the file as UTF-8.",
                    line=number,
                    column=bare[: error.start].count(header.delimiter.encode()) + 1,
                )
                continue
            except plain.Error as error:
                problems.add(
                    f"The line cannot be split into values: {error}.", "Correct the line.", line=number, column=1
                )
                continue
            if problems.unlisted >= MOST_COUNTED:
                break
            if len(values) != width:
                problems.add(
                    f"The line has {len(values)} values, the header {width}.",
                    "Give every column one value; an unfinished last line means the file was cut off.",
                    line=number,
                    column=min(len(values), width),
                )
    if not problems.any:
        problems.add("The file is not a delimited table.", "Save it as comma separated text.")
    try:
        problems.finish()
    except InputProblemsError as error:
        return list(error.issues)
    return []
