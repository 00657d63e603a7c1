"""Printing for people and for programs: aligned text tables, JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import Any


_HIDDEN = re.compile(r"[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]")
"""What JSON lets stand and a terminal obeys: control characters above ASCII, directions of writing, half characters."""


def print_json(value: Any) -> None:
    """Print JSON with stable layout; numbers that must stay exact are text already."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    print(_HIDDEN.sub(lambda sign: f"\\u{ord(sign.group()):04x}", text))


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
