"""The marks of synthetic data inside a file: a column of every row, a line in front of the header, or a code of every record.

A mark is a statement of the file. The program cannot verify it, so every result names it as the source.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from phexplore.data.blocks.census_1940_layout import SYNTHETIC_DATANUM, YEAR
from phexplore.data.blocks.delimited import read_batches, read_header, readable

if TYPE_CHECKING:
    from phexplore.data.blocks.delimited import Header

MARK_COLUMN = "provenance"
SYNTHETIC = "synthetic"
MARK_LINE = ("Provenance", SYNTHETIC)
"""Name and value of the line in front of the header of microdata."""


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
    header = read_header(path)
    return f"{MARK_LINE[0]}: {MARK_LINE[1]}" in header.metadata or _every_row_has_mark(header)


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
