"""The one reader of the files of a run: anybody may have changed them, so nothing about them is believed.

Each file is a regular one, each column has the type it was written with and a value in every row, and whatever else is
wrong inside becomes one sentence that names the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from phexplore.files.atomic_files import read_text
from phexplore.files.json_text import plain_values
from phexplore.model.issues import InputProblemsError
from phexplore.opening import refuse_irregular
from phexplore.runs.simulation import TrialFigures
from phexplore.runs.store import REMEDY, RunUnreadableError

MARK = b"phexplore"
"""Under this name stands in the metadata of a file what this program wrote about it."""

FOLDER_MARK = "_trial.json"
"""The same of a folder with one file per state; readers of Parquet pass over names that begin with a low line."""

_ROWS_PER_BYTE, _ALWAYS_ROWS = 4, 100_000
"""Places and answers do not repeat; a column of one value says millions in some bytes."""

_SHAPE = (
    pa.ArrowException,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What goes wrong when a value is of another kind, or not where it should be."""

Kind = Callable[[Any], bool]
"""Tells whether a column of this Arrow type is of a kind."""

integers: Kind = pa.types.is_integer
decimals: Kind = pa.types.is_floating


def texts(of: Any) -> bool:
    """Return whether a column holds texts, written out or as places in a list of words."""
    return bool(pa.types.is_string(of) or words(of))


def words(of: Any) -> bool:
    """Return whether a column holds places in a list of words."""
    return bool(pa.types.is_dictionary(of) and pa.types.is_string(of.value_type))


def whole_numbers(of: Any) -> bool:
    """Return whether a column holds whole numbers, also those of more than 64 bits, which are written as texts."""
    return bool(pa.types.is_integer(of) or pa.types.is_string(of))


def lists_of_integers(of: Any) -> bool:
    """Return whether a column holds a list of whole numbers per row."""
    return bool((pa.types.is_list(of) or pa.types.is_fixed_size_list(of)) and pa.types.is_integer(of.value_type))


@contextmanager
def reading(path: Path, remedy: str = REMEDY) -> Iterator[None]:
    """Read a file of a run: what goes wrong because of its content is one sentence with its name.

    Args:
        path: of the file; a pipe or a device is refused before anything is opened.
        remedy: what to do.

    Raises:
        RunUnreadableError: it is missing, no regular file, or not as this program wrote it.
    """
    try:
        refuse_irregular(path)
        with as_written(path, remedy):
            yield
    except InputProblemsError as error:
        raise RunUnreadableError(f"{path} cannot be read. {error.issues[0].sentence}", remedy) from error
    except (OSError, MemoryError) as error:
        raise RunUnreadableError(f"{path} cannot be read ({_start(error)}).", remedy) from error


@contextmanager
def as_written(path: Path, remedy: str = REMEDY) -> Iterator[None]:
    """Use what was read from a file of a run: a value of another kind or place than this program writes is one sentence.

    Args:
        path: of the file.
        remedy: what to do when it cannot be read.

    Raises:
        RunUnreadableError: the content has another shape.
    """
    try:
        yield
    except _SHAPE as error:
        raise RunUnreadableError(
            f"{path} cannot be read: it is not as this program wrote it ({type(error).__name__}: {_start(error)}).",
            remedy,
        ) from error


def _start(error: BaseException) -> str:
    """Return the first line of what a library says of a file, without its end: it may quote the file at length."""
    return (str(error).splitlines() or [""])[0][:200]


def read_mark(path: Path, remedy: str = REMEDY) -> dict[str, Any]:
    """Return what this program wrote about a Parquet file into it.

    Args:
        path: of a Parquet file, or of a folder with one per state, whose mark is a file of its own.
        remedy: what to do when it cannot be read.

    Raises:
        RunUnreadableError: the file is missing, no Parquet, or not of this program.
    """
    if path.is_dir():
        mark = path / FOLDER_MARK
        with reading(mark, remedy):
            content = plain_values(read_text(mark), mark.name, remedy)
            if not isinstance(content, dict):
                raise TypeError("its mark is no object")
            return content
    with reading(path, remedy):
        return mark_of(pq.read_schema(path))


def mark_of(schema: Any) -> dict[str, Any]:
    """Return what this program wrote about a file, from its Arrow schema.

    Raises:
        ValueError, KeyError, RecursionError: it wrote nothing, or somebody changed it.
    """
    content = json.loads((schema.metadata or {})[MARK])
    if not isinstance(content, dict):
        raise TypeError("its mark is no object")
    return content


def check_columns(schema: Any, kinds: Mapping[str, Kind]) -> None:
    """Pass a file that has all of these columns, each of its kind.

    Args:
        schema: of a Parquet file.
        kinds: per column, whether a type is the right one.

    Raises:
        KeyError, TypeError: a column is missing or of another kind.
    """
    for name, is_kind in kinds.items():
        if schema.get_field_index(name) < 0:
            raise LookupError(f"it has no column {name}")
        if not is_kind(found := schema.field(name).type):
            raise TypeError(f"column {name} holds {found}")


def check_filled(table: Any) -> None:
    """Pass columns with a value in every row.

    Raises:
        ValueError: a value is missing.
    """
    if empty := [name for name, column in zip(table.column_names, table.columns, strict=True) if column.null_count]:
        raise ValueError(f"column {empty[0]} has rows without a value")


def check_rows(file: Any, path: Path, rows: int | None) -> None:
    """Pass an open Parquet file before any of its columns is read: it announces no more rows than it should have.

    Args:
        file: whose metadata is read.
        path: of the file.
        rows: that it should have; None when nothing else knows them: then each takes some space.

    Raises:
        ValueError: it announces others.
    """
    found = file.metadata.num_rows
    if rows is not None and found != rows:
        raise ValueError(f"it has {found:,} rows, not {rows:,}")
    if rows is None and found > _ROWS_PER_BYTE * path.stat().st_size + _ALWAYS_ROWS:
        raise ValueError(f"it announces {found:,} rows in {path.stat().st_size:,} bytes")


def read_columns(path: Path, kinds: Mapping[str, Kind], *, rows: int | None = None) -> Any:
    """Return columns of a Parquet file as a table, each of its kind and without gaps; call it inside `reading`.

    Args:
        path: of the file.
        kinds: of the columns, by name.
        rows: see `check_rows`.

    Raises:
        ValueError, LookupError, TypeError, OSError: they are not as this program writes them.
    """
    # One thread: small files, and several of them may be read at once.
    with pq.ParquetFile(path) as file:
        check_rows(file, path, rows)
        check_columns(file.schema_arrow, kinds)
        table = file.read(columns=list(kinds), use_threads=False)
    check_filled(table)
    return table


def read_trial_figures(path: Path) -> TrialFigures:
    """Return what the file of a trial says of it.

    Raises:
        RunUnreadableError: the file is damaged.
    """
    mark = read_mark(path)
    with as_written(path):
        return TrialFigures(int(mark["covered"]), int(mark["numbers"]), mark.get("watched"))
