"""The columns of the S-DHC input files as production reads them: order, type, legal values.

Source: PHSafe 3.0.0, input validation, phases 1 and 2. ``int`` columns are whole numbers; ``text`` columns are codes
of a fixed number of digits whose leading zeros count.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Frame = Literal["persons", "units", "geo"]
"""The three inputs, by the stem of their files."""

FRAMES: tuple[Frame, ...] = ("persons", "units", "geo")

SMALLEST_MAFID, LARGEST_MAFID = 100_000_001, 899_999_999


class Kind(enum.Enum):
    """How a value is written."""

    INTEGER = "int"
    TEXT = "str"


_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
"""Longer ones are legal nowhere, and Python refuses to convert texts of thousands of digits."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of an input file.

    Attributes:
        name: as in the header.
        kind: whole number, or text of digits.
        legal: the legal codes as inclusive ranges.
        width: digits of a text code, 0 for whole numbers.
    """

    name: str
    kind: Kind
    legal: tuple[tuple[int, int], ...]
    width: int = 0

    def code_of(self, text: str) -> int | None:
        """Return the code of a value as written in a CSV file, or None when it is not legal."""
        if not _WHOLE.fullmatch(text):
            return None
        if self.kind is Kind.TEXT and (len(text) != self.width or not text.isdigit()):
            return None
        code = int(text)
        return code if self.is_legal(code) else None

    def is_legal(self, code: int) -> bool:
        """Return whether a code lies in the legal ranges."""
        return any(low <= code <= high for low, high in self.legal)

    def text(self, code: int) -> str:
        """Return a code as production writes it."""
        return f"{code:0{self.width}d}" if self.width else str(code)

    @property
    def legal_text(self) -> str:
        """The legal values in words, e.g. ``20 to 38``."""
        parts = [
            self.text(low) if low == high else f"{self.text(low)} to {self.text(high)}" for low, high in self.legal
        ]
        words = ", ".join(parts)
        return f"{words} ({self.width} digits, leading zeros kept)" if self.width > 1 else words


def _text(name: str, width: int, *ranges: tuple[int, int]) -> Column:
    return Column(name, Kind.TEXT, ranges or ((0, 10**width - 1),), width)


def _integer(name: str, *ranges: tuple[int, int]) -> Column:
    return Column(name, Kind.INTEGER, ranges)


_MAFID = _integer("MAFID", (SMALLEST_MAFID, LARGEST_MAFID))

LAYOUT: Mapping[Frame, tuple[Column, ...]] = MappingProxyType(
    {
        "persons": (
            _text("RTYPE", 1, (3, 3), (5, 5)),
            _MAFID,
            _integer("QAGE", (0, 115)),
            _text("CENHISP", 1, (1, 2)),
            _text("CENRACE", 2, (1, 63)),
            _text("RELSHIP", 2, (20, 38)),
        ),
        "units": (
            _text("RTYPE", 1, (2, 2), (4, 4)),
            _MAFID,
            _integer("FINAL_POP", (0, 99_999)),
            _integer("NPF", (0, 0), (2, 97)),
            _text("HHSPAN", 1, (0, 2)),
            _text("HHRACE", 2, (0, 63)),
            _text("TEN", 1, (0, 4)),
            _text("HHT", 1, (0, 7)),
            _text("HHT2", 2, (0, 12)),
            _text("CPLT", 1, (0, 5)),
        ),
        # Production checks the remaining geography by pattern only: any digits of the right width.
        "geo": (
            _text("RTYPE", 1, (2, 2), (4, 4)),
            _MAFID,
            _text("TABBLKST", 2),
            _text("TABBLKCOU", 3),
            _text("TABTRACTCE", 6),
            _text("TABBLK", 4),
            _text("TABBLKGRPCE", 1),
            _text("REGIONCE", 1, (1, 4), (9, 9)),
            _text("DIVISIONCE", 1),
            _text("PLACEFP", 5),
            _text("AIANNHCE", 4),
        ),
    }
)
"""The columns of each file, in the order production demands."""


def position(frame: Frame, name: str) -> int:
    """Return the 1-based place of a column in its file.

    Args:
        frame: which of the three files.
        name: production's name of the column.
    """
    return 1 + [column.name for column in LAYOUT[frame]].index(name)
