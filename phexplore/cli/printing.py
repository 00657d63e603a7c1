"""Printing for people and for programs: aligned text tables, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


def print_json(value: Any) -> None:
    """Print JSON with stable layout; numbers that must stay exact are text already."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    print()


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Print an aligned table.

    Args:
        header: column names.
        rows: text cells.
        right: indices of columns aligned right (numbers).
    """
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [
            str(c).rjust(w) if i in right else str(c).ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def say(text: str) -> None:
    """Tell a person something without disturbing output that a program reads."""
    print(text, file=sys.stderr)
