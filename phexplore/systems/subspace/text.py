"""Exact sums, linear answers and axes as text a person types and copies: one line each. No Qt.

``total by state × size`` fixes the sums over all cells that agree in these axes or groupings, ``total`` the grand total.
``north = #0 + 2*#5 - 1/3*#7`` is a weighted sum; # numbers the cells of the histogram, or the answers of a linear query, from 0.

Args:
    text: as typed.
    before: axes that keep their labels.
    size: of the histogram, cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from phexplore.errors import UnknownNameError
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.subspace import Axis, Histogram, Invariant, LinearCount, LinearQuery, Query, Totals

TOTAL = "total"
_TERM = re.compile(r"\s*([+\-−]?)\s*(?:([0-9][0-9./eE\-]*)\s*[*·]\s*)?#([0-9]+)\s*")
_AXIS = re.compile(r"(.+?)\s+([0-9][0-9,]*)")


class TextRefusedError(ValueError):
    """A line that says nothing the program understands; the message names the line and what to write."""


def invariant_text(invariants: Sequence[Invariant]) -> str:
    """Return exact sums as text, one line each."""
    return "\n".join(_total(each) if isinstance(each, Totals) else _sum(each) for each in invariants)


def parse_invariants(text: str, names: Sequence[str]) -> tuple[Invariant, ...]:
    """Read exact sums.

    Args:
        text: one per line; empty lines count for nothing.
        names: of axes and groupings.

    Raises:
        TextRefusedError: a line cannot be read.
    """
    found: list[Invariant] = []
    for number, line in _lines(text):
        if "=" in line:
            found.append(_parse_sum(number, line))
        else:
            found.append(_parse_total(number, line, names))
    return tuple(found)


def query_text(query: Query) -> str:
    """Return a linear query as text, one answer per line; "" for the histogram."""
    return "" if isinstance(query, Histogram) else "\n".join(_sum(answer) for answer in query.answers)


def parse_query(text: str) -> Query:
    """Read a query: empty text is the histogram.

    Raises:
        TextRefusedError: a line cannot be read.
    """
    answers = tuple(_parse_sum(number, line) for number, line in _lines(text))
    return LinearQuery(answers) if answers else Histogram()


def axes_text(axes: Sequence[Axis]) -> str:
    """Return the shape of a histogram, e.g. ``place 14, hour 24``."""
    return ", ".join(f"{axis.name} {axis.size}" for axis in axes)


def parse_axes(text: str, before: Sequence[Axis]) -> tuple[Axis, ...]:
    """Read the shape of a histogram; labels and groupings of an axis stay while its name and size do.

    Raises:
        TextRefusedError: it cannot be read.
    """
    known = {(axis.name, axis.size): axis for axis in before}
    found: list[Axis] = []
    for part in re.split(r"[,;×\n](?!\d)", text):
        if not part.strip():
            continue
        match = _AXIS.fullmatch(part.strip())
        if match is None:
            raise TextRefusedError(
                f"{part.strip()!r} is no axis: write its name and how many levels it has, e.g. county 102"
            )
        name, size = match[1].strip(), int(match[2].replace(",", ""))
        if size < 1:
            raise TextRefusedError(f"The axis {name} has at least 1 level, got {size}")
        found.append(known.get((name, size)) or Axis(name, size))
    if not found:
        raise TextRefusedError("A histogram has at least one axis: write for example county 102")
    if len({axis.name for axis in found}) != len(found):
        raise TextRefusedError("Two axes have the same name: give each its own")
    return tuple(found)


def matrix_rows(text: str, size: int) -> tuple[LinearCount, ...]:
    """Read a matrix of exact sums: one row per line, weights of all cells with commas, semicolons, tabs or blanks between.

    Raises:
        TextRefusedError: a row has another number of weights, a weight is no number, or a row is 0.
    """
    found: list[LinearCount] = []
    for number, line in _lines(text):
        parts = [part for part in re.split(r"[,;\t ]+", line.strip()) if part]
        if len(parts) != size:
            raise TextRefusedError(f"Line {number} has {len(parts):,} weights, but there are {size:,} cells")
        weights = [(cell, _weight(number, part)) for cell, part in enumerate(parts)]
        kept = tuple((cell, weight) for cell, weight in weights if weight)
        if not kept:
            raise TextRefusedError(f"Line {number} has only weights of 0: take it out")
        found.append(LinearCount(f"row {len(found) + 1}", kept))
    if not found:
        raise TextRefusedError("The file holds no row")
    return tuple(found)


def _lines(text: str) -> list[tuple[int, str]]:
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _total(totals: Totals) -> str:
    return f"{TOTAL} by {' × '.join(totals.by)}" if totals.by else TOTAL


def _sum(count: LinearCount) -> str:
    words = []
    for place, (cell, weight) in enumerate(count.coefficients):
        sign = "−" if weight < 0 else "+" if place else ""
        size = "" if abs(weight) == 1 else f"{exact_text(abs(weight))}*"
        words.append(f"{sign} {size}#{cell}" if place else f"{sign}{size}#{cell}")
    return f"{count.name} = {' '.join(words)}"


def _parse_total(number: int, line: str, names: Sequence[str]) -> Totals:
    if line == TOTAL:
        return Totals()
    head, by, rest = line.partition(" by ")
    if head.strip() != TOTAL or not by:
        raise TextRefusedError(
            f"Line {number} cannot be read: write total, total by {names[0]}, or a sum such as a = #0 + #1"
        )
    wanted = tuple(part.strip() for part in re.split(r"[×,]| x ", rest) if part.strip())
    for name in wanted:
        if name not in names:
            error = UnknownNameError("axis or grouping", name, list(names))
            raise TextRefusedError(f"Line {number}: {error.sentence} {error.remedy}")
    return Totals(wanted)


def _parse_sum(number: int, line: str) -> LinearCount:
    name, _, terms = line.partition("=")
    place = 0
    found: list[tuple[int, Fraction]] = []
    while place < len(terms):
        match = _TERM.match(terms, place)
        if match is None or (found and not match[1]):
            raise TextRefusedError(
                f"Line {number} cannot be read at {terms[place:].strip()[:20]!r}: write a = #0 + 2*#5 - 1/3*#7"
            )
        weight = _weight(number, match[2]) if match[2] else Fraction(1)
        found.append((int(match[3]), -weight if match[1] in {"-", "−"} else weight))
        place = match.end()
    try:
        return LinearCount(name.strip(), tuple(found))
    except ValueError as error:
        raise TextRefusedError(f"Line {number}: {error}") from error


def _weight(number: int, text: str) -> Fraction:
    try:
        return parse_exact(text)
    except ValueError as error:
        raise TextRefusedError(f"Line {number}: {error}") from error
