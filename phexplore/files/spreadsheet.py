"""Text for programs that take a cell for a formula: names and notes come from people, and files of them go to others."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import IO, Any

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def safe_text(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: a leading = + - @ or control character gets a ' before it."""
    return f"'{text}" if text.startswith(_DANGEROUS) else text


def safe_cell(text: str) -> str:
    """Return the text of a cell that may be a plain number, which stays as it is."""
    return text if _NUMBER.fullmatch(text) is not None else safe_text(text)


class GuardedWriter:
    """Writes CSV as the standard library does, every text through `safe_cell`."""

    def __init__(self, file: IO[str], **options: Any) -> None:
        """Write to a file; the options are those of `csv.writer`."""
        self._writer = csv.writer(file, **options)

    def writerow(self, row: Iterable[object]) -> None:
        """Write one line."""
        self._writer.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in row])

    def writerows(self, rows: Iterable[Iterable[object]]) -> None:
        """Write lines."""
        for row in rows:
            self.writerow(row)
