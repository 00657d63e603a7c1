"""The marks of synthetic data inside a file: a column of every row, a line in front of the header, or a code of every record.

Parquet files of a run have the mark in their metadata. A mark is a statement of the file. The program cannot verify it, so every
result names it as the source. A file's name is never a mark.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore.data.blocks.census_1940_layout import SYNTHETIC_DATANUM, YEAR
from phexplore.data.blocks.delimited import read_batches, read_head, read_header, readable
from phexplore.data.provenance import PROVENANCE_FILE, mark_file
from phexplore.errors import PhexploreError
from phexplore.opening import read_bytes

if TYPE_CHECKING:
    from phexplore.data.blocks.delimited import Header

MARK_COLUMN = "provenance"
_ABOVE = 4
"""Folders above a file whose ``provenance.json`` is looked at: tables of a trial lie three below it."""
SYNTHETIC = "synthetic"
MARK_NAME = "Provenance"
MARK_LINE = (MARK_NAME, SYNTHETIC)
"""Name and value of the line in front of the header of microdata."""


def stated_kinds(path: Path) -> set[str]:
    """Return the kinds of provenance that a file states in front of its header or in the metadata of Parquet, none for others.

    Args:
        path: of a file, or of a member of an archive.

    Raises:
        InputProblemsError: it cannot be read as a table.
    """
    if not read_head(path).startswith(b"PAR1"):
        return {line.partition(": ")[2] for line in read_header(path).metadata if line.startswith(f"{MARK_NAME}: ")}
    content = own_metadata(path)
    stated = content.get(MARK_COLUMN)
    kind = stated.get("kind") if isinstance(stated, dict) else content.get(MARK_NAME)
    return set() if kind is None else {str(kind)}


def own_metadata(path: Path) -> dict[str, object]:
    """Return what this program wrote into the metadata of a Parquet file, empty for any other file."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - the command line starts without it

    with suppress(ValueError, OSError, RecursionError):
        content = json.loads((pq.read_schema(path).metadata or {}).get(b"phexplore", b"{}"))
        return content if isinstance(content, dict) else {}
    return {}


def mark_of_output(path: Path) -> dict[str, object] | None:
    """Return what is stated of a file that a run or an export wrote: in its metadata, or in a ``provenance.json`` beside or above it.

    A ``provenance.json`` speaks only for the bytes whose SHA-256 it lists, under whatever name. No confidential data are freed by it.

    Args:
        path: of a file; None is returned for any other.
    """
    content = own_metadata(path) if path.is_file() else {}
    if isinstance(content.get(MARK_COLUMN), dict):
        return {"label": content.get("label", ""), MARK_COLUMN: content[MARK_COLUMN]}
    for folder in path.absolute().parents[:_ABOVE] if path.is_file() else ():
        listed = _listing(folder)
        if listed and mark_file(path, 0).sha256 in listed["files"].values():
            stated = {name: listed[name] for name in ("kind", "source")}
            return {"label": f"Written with {PROVENANCE_FILE}, which lists it.", MARK_COLUMN: stated}
    return None


def _listing(folder: Path) -> dict[str, Any] | None:
    """Return the content of a folder's ``provenance.json``, None where there is none that can be read."""
    with suppress(ValueError, OSError, RecursionError, PhexploreError):
        listed = json.loads(read_bytes(folder / PROVENANCE_FILE, limit=2**24))
        if isinstance(listed, dict) and isinstance(listed.get("files"), dict) and {"kind", "source"} <= listed.keys():
            return listed
    return None


def has_synthetic_mark(path: Path, *, is_1940: bool) -> bool:
    """Return whether a file marks all of itself as synthetic; a single row without the mark takes it away.

    Args:
        path: of a readable file of blocks or records.
        is_1940: whether it holds records of the 1940 layout, which have a code instead of a column.

    Raises:
        InputProblemsError: it cannot be read as a table.
    """
    if is_1940:
        return _every_record_has_code(path)
    return _every_row_has_mark(read_header(path))


def _every_row_has_mark(header: Header) -> bool:
    column = next((name for name in header.names if name.lower() == MARK_COLUMN), None)
    if column is None:
        return False
    texts = [text for batch in read_batches(header, [column]) for text in batch.columns[column].texts]
    return set(texts) == {SYNTHETIC}


def _every_record_has_code(path: Path) -> bool:
    starts = tuple(f"{letter}{YEAR}{SYNTHETIC_DATANUM}".encode() for letter in "HP")
    delimited = tuple(f"{letter}|{YEAR}|{SYNTHETIC_DATANUM}|".encode() for letter in "HP")
    with readable(path) as file:
        return all(line.startswith(starts + delimited) for line in file if line.strip())
