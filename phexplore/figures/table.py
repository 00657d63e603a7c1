"""The numbers behind a picture as plain values: what its data table shows, what a copy or a file carries."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from phexplore.figures.wording import bound_text, mean_text, people, signed_budget
from phexplore.files.spreadsheet import safe_cell
from phexplore.model.numbers import exact_text
from phexplore.model.rounded import epsilon_bound, percent

Value = str | int | float | Fraction | None
"""One number or word of a table twin. None: there is none here."""

ABSENT = "–"
UNTOUCHED = "·"
"""Stands where a number was left as it was."""
SIGNIFICANT = 5
"""Digits shown of a real number; a copy carries all of them."""
_MOST_ALIGNED = 500
"""Rows of a table whose columns have one number of decimals each; of longer ones every cell is written when it is seen."""
_LEAST_DIGITS = 2
"""Significant digits that are left of the smallest number of a column."""


class AtMost(float):
    """A bound from above: it is shown rounded up, so that what is read is never less than it."""


class Epsilon(AtMost):
    """An ε: two decimals, as everywhere."""


class Loss(Fraction):
    """A privacy loss: with the decimals of budgets, never less than it is, as everywhere."""


class SignedLoss(Fraction):
    """A difference of privacy losses, with its sign."""


class Share(Fraction):
    """A part of a budget: in percent with two decimals, as in the table one edits."""


class People(float):
    """People: as everywhere, whole from 100 up."""


class Mean(float):
    """A mean of whole numbers, or its difference to one: with the decimals that let both be added up as they are read."""


_AS_EVERYWHERE: Mapping[type, Callable[[Any], str]] = {
    Epsilon: epsilon_bound,
    Loss: bound_text,
    SignedLoss: signed_budget,
    People: people,
    Mean: mean_text,
    Share: partial(percent, places=2),
}


class AtLeast(float):
    """A bound from below: it is shown rounded down."""


class Look(enum.Enum):
    """How a cell looks when it is not like the others."""

    MUTED = "muted"
    BOLD = "bold"
    GOOD = "good"
    ATTENTION = "attention"
    REFUSED = "refused"


Place = tuple[int, int]
"""Row and column of a cell."""


@dataclass(frozen=True, slots=True)
class Table:
    """The table twin of a picture.

    Attributes:
        headers: names of the columns with their units.
        rows: as many values per row as there are headers.
        looks: of the cells that are not like the others.
        details: all there is to say of a cell, where that is more than it shows.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...] = ()
    looks: Mapping[Place, Look] = field(default_factory=dict, hash=False)
    details: Mapping[Place, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse ragged rows."""
        for row in self.rows:
            if len(row) != len(self.headers):
                raise ValueError(f"a row has {len(self.headers)} values {self.headers}, got {row}")

    def column(self, header: str) -> tuple[Value, ...]:
        """Return all values of one column.

        Raises:
            ValueError: no such column.
        """
        index = self.headers.index(header)
        return tuple(row[index] for row in self.rows)

    def beside(self, other: Table, whose: str) -> Table:
        """Return the table with the numbers of another one of the same kind behind its own, by the words of each row.

        Args:
            other: its columns have the same headers; rows that it has not stay empty.
            whose: what its columns are called, e.g. "other run".
        """
        words = [n for n in range(len(self.headers)) if all(isinstance(row[n], str) for row in self.rows)]
        numbers = [n for n in range(len(self.headers)) if n not in words]
        theirs = {tuple(row[n] for n in words): [row[n] for n in numbers] for row in other.rows}
        nothing: list[Value] = [None] * len(numbers)
        rows = tuple((*row, *theirs.get(tuple(row[n] for n in words), nothing)) for row in self.rows)
        headers = (*self.headers, *(f"{self.headers[n]}, {whose}" for n in numbers))
        return replace(self, headers=headers, rows=rows)

    def explained(self, reasons: Mapping[str, str]) -> Table:
        """Return the table with why a cell holds nothing, where that is not said yet.

        Args:
            reasons: by header of the column.
        """
        empty = {
            (row, column): reasons[header]
            for column, header in enumerate(self.headers)
            if header in reasons
            for row, values in enumerate(self.rows)
            if values[column] in {None, "", ABSENT}
        }
        return replace(self, details=empty | dict(self.details))

    def tab_separated(self) -> str:
        """Return headers and rows as text a spreadsheet takes: tabs between, full precision, decimal point."""
        lines = [tuple(map(plain, self.headers)), *([safe_cell(plain(value)) for value in row] for row in self.rows)]
        return "\n".join("\t".join(line) for line in lines) + "\n"


def is_number(value: Value) -> bool:
    """Return whether the value is aligned to the right."""
    return isinstance(value, int | float | Fraction)


def shown(value: Value, places: int | None = None) -> str:
    """Return the text a person reads: thousands separated, five significant digits, – for nothing.

    Args:
        value: any.
        places: decimals of a real number where its column has one number of them, see `common_places`.
    """
    if value is None:
        return ABSENT
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return grouped(value)
    if (written := _AS_EVERYWHERE.get(type(value))) is not None:
        return written(value)
    side = (
        ROUND_CEILING if isinstance(value, AtMost) else ROUND_FLOOR if isinstance(value, AtLeast) else ROUND_HALF_EVEN
    )
    return _real(float(value), side, places)


def common_places(values: Sequence[Value]) -> int | None:
    """Return how many decimals all real numbers of a column get, None where each has its own: few digits would be left of small ones."""
    real = [value for value in values if type(value) in {float, AtMost, AtLeast} and isinstance(value, float)]
    sizes = [math.floor(math.log10(abs(value))) for value in real if value and math.isfinite(value)]
    if not sizes or len(values) > _MOST_ALIGNED or any(type(value) in _AS_EVERYWHERE for value in values):
        return None
    own = max(len(shown(value).partition(".")[2]) for value in real)
    places = min(own, max(0, SIGNIFICANT - 1 - max(sizes)))
    return places if places + min(sizes) >= _LEAST_DIGITS - 1 else None


def plain(value: Value) -> str:
    """Return the text a copy carries: exact, without grouping, empty for nothing."""
    if value is None:
        return ""
    if isinstance(value, Fraction):
        return exact_text(value)
    return str(value).replace("\t", " ").replace("\n", " ")


def grouped(value: int) -> str:
    """Return a whole number with its thousands separated, e.g. ``12,688``."""
    return f"{value:,}".replace("-", "−")


def signed_tick(value: float) -> str:
    """Return a tick of an axis around 0, with a true minus sign."""
    return f"{value:+g}".replace("-", "−") if value else "0"


def shortened(text: str, most: int = 36) -> str:
    """Return the text, cut with … where it is longer; no number is cut, its first digits would be another number.

    Args:
        text: any.
        most: longest length, characters.
    """
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    if text[most - 1].isdigit() or (text[most - 1] in ".," and text[most : most + 1].isdigit()):
        kept = kept.rstrip("0123456789.,")
    return kept.rstrip(" ,;") + "…"


def _real(value: float, direction: str, common: int | None = None) -> str:
    if math.isnan(value):
        return ABSENT
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size < -SIGNIFICANT or size > 15:
        rounded = Decimal(value).quantize(Decimal(1).scaleb(size + 2 - SIGNIFICANT), direction)
        return f"{float(rounded):.{SIGNIFICANT - 1}g}".replace("-", "−")
    places = max(0, SIGNIFICANT - 1 - size) if common is None else common
    # A bound is rounded from the shortest decimal that names it, as everywhere: 0.1 is at most 0.1.
    exact = Decimal(value) if direction == ROUND_HALF_EVEN else Decimal(repr(value))
    text = f"{exact.quantize(Decimal(1).scaleb(-places), direction):,.{places}f}"
    return (text.rstrip("0").rstrip(".") if places and common is None else text).replace("-", "−")
