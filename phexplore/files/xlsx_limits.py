"""Workbooks that are too much: an XLSX is a ZIP of XML, and a few kilobytes of it can unpack to gigabytes."""

from __future__ import annotations

import contextlib
import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from typing import IO
from xml.parsers import expat

from phexplore.model.issues import InputProblemsError, Issue

LARGEST_FILE = 32 * 2**20
LARGEST_CONTENT = 128 * 2**20
MOST_PARTS = 512
_PIECE = 1 << 16
_RANGE = re.compile(r"\$?([A-Za-z]{1,9})\$?([0-9]{1,9}):\$?([A-Za-z]{1,9})\$?([0-9]{1,9})")
MOST_CELLS = 50_000
"""Of a sheet, from its first cell to its last: one number in the last corner of a sheet asks for seventeen billion."""
LARGEST_RATIO = 200
"""Spreadsheets of numbers compress about ten times; a bomb a thousand times."""


def refuse_bombs(content: bytes, name: str) -> None:
    """Pass a workbook whose parts, unpacked, are of a size somebody could have typed; nothing is unpacked to find out.

    Macros, links to other files and embedded objects are refused too: parameters need none of them.

    Args:
        content: the file.
        name: for messages.

    Raises:
        InputProblemsError: it is too large, or holds what a table of parameters does not.
    """
    remedy = "Save the table alone as XLSX, or as CSV."
    if len(content) > LARGEST_FILE:
        raise _refusal(name, f"The workbook has {len(content) // 2**20} MB.", remedy)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
            _refuse_sizes(parts, len(content), name)
            _refuse_definitions(archive, parts, name)
    except (zipfile.BadZipFile, zlib.error, ValueError, OSError, RuntimeError, EOFError) as error:
        raise _refusal(name, f"The workbook cannot be opened: {error}.", "Save it as XLSX again.") from error
    for part in parts:
        lowered = part.filename.lower()
        if lowered.endswith("vbaproject.bin") or "externallinks/" in lowered or "embeddings/" in lowered:
            raise _refusal(name, f"The workbook holds {part.filename}: macros, links or embedded files.", remedy)


def _refuse_sizes(parts: Sequence[zipfile.ZipInfo], size: int, name: str) -> None:
    unpacked = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or unpacked > LARGEST_CONTENT or unpacked > LARGEST_RATIO * max(size, 4096):
        raise _refusal(
            name, f"The workbook would unpack to {unpacked // 2**20} MB in {len(parts)} parts from "
            f"{max(1, size // 2**10)} kB.", "Save the table alone as XLSX, or as CSV.",
        )  # fmt: skip


def _refuse_definitions(archive: zipfile.ZipFile, parts: Sequence[zipfile.ZipInfo], name: str) -> None:
    """Refuse XML that defines entities: no spreadsheet program writes any, and a few lines of them grow without end."""
    for part in parts:
        if part.filename.lower().endswith((".xml", ".rels", ".vml")):
            with archive.open(part) as file:
                if _defines_entities(file):
                    sentence = f"{part.filename} in the workbook begins with a document type definition."
                    raise _refusal(name, sentence, "Save the table with a spreadsheet program.")
            with archive.open(part) as file:
                if (cells := _merged_cells(file)) > MOST_CELLS:
                    sentence = f"{part.filename} in the workbook joins {cells:,} cells into one."
                    raise _refusal(name, sentence, "Copy the table into a new workbook.")


def _defines_entities(file: IO[bytes]) -> bool:
    """Return whether a document type stands before the first element; what comes after it is not read."""
    parser, found = expat.ParserCreate(), list[bool]()
    parser.StartDoctypeDeclHandler = lambda *_: found.append(True)
    parser.StartElementHandler = lambda *_: found.append(False)
    try:
        while not found and (piece := file.read(_PIECE)):
            parser.Parse(piece)
    except (expat.ExpatError, LookupError, ValueError):
        return bool(found and found[0])  # no XML: whoever reads it says so
    return bool(found and found[0])


def _merged_cells(file: IO[bytes]) -> int:
    """Return how many cells the joined ranges of a sheet cover: its reader makes an object of each."""
    parser, total = expat.ParserCreate(), 0

    def begin(element: str, attributes: dict[str, str]) -> None:
        nonlocal total
        if element.rpartition(":")[2] == "mergeCell" and (match := _RANGE.fullmatch(attributes.get("ref", ""))):
            left, top, right, bottom = match.groups()
            columns = abs(_column(right) - _column(left)) + 1
            total += columns * (abs(int(bottom) - int(top)) + 1)

    parser.StartElementHandler = begin
    with contextlib.suppress(expat.ExpatError, LookupError, ValueError):  # no XML: whoever reads it says so
        while piece := file.read(_PIECE):
            parser.Parse(piece)
    return total


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def _refusal(name: str, sentence: str, remedy: str) -> InputProblemsError:
    return InputProblemsError([Issue((name,), sentence, remedy)])
