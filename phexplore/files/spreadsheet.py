"""Text for programs that take a cell for a formula: names and notes come from people, and files of them go to others."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def safe_text(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: a leading = + - @ or control character gets a ' before it."""
    return f"'{text}" if text.startswith(_DANGEROUS) else text


def safe_cell(text: str) -> str:
    """Return the text of a cell that may be a plain number, which stays as it is."""
    return text if _NUMBER.fullmatch(text) is not None else safe_text(text)


def csv_bytes(rows: Iterable[Iterable[object]], **options: Any) -> bytes:
    """Return lines as CSV, RFC 4180 in UTF-8, every text through `safe_cell`.

    Args:
        rows: cells, the header first.
        options: those of `csv.writer`, e.g. another end of line.
    """
    text = io.StringIO()
    writer = csv.writer(text, **options)
    writer.writerows([safe_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue().encode()
