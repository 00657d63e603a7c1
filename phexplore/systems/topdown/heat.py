"""What the heat table of a TopDown forecast shows, as values: a cell per query group and level, and the finding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from phexplore.figures.axis import Axis, Tick
from phexplore.figures.figure import ROWS, Figure, RowLabel, nothing
from phexplore.figures.marks import Cell
from phexplore.figures.table import Share, Table
from phexplore.figures.wording import bound_text, margin_word, people
from phexplore.model.rounded import percent
from phexplore.model.topdown import LevelQuery
from phexplore.systems.topdown.share_cells import (
    Quantity,
    ShareCell,
    Version,
    cell_of,
    margin_of,
    query_rows,
    text,
    tip,
)
from phexplore.systems.topdown.wording import counted, heading, level_title, place_title, query_title

QUANTITIES = (Quantity.OF_TOTAL, Quantity.MARGIN, Quantity.SIGMA)
"""What the heat table can show."""


def heat_figure(shown: Version, quantity: Quantity) -> Figure:
    """Return the heat table of a version: a cell per query group and level.

    Args:
        shown: the version.
        quantity: what the numbers and tints are.
    """
    method = shown.scenario.topdown
    queries = query_rows(method)
    if not queries:
        return nothing("heat", "")
    found = [[cell_of(shown, LevelQuery(level, query)) for level in method.levels] for query in queries]
    measured = [cell for row in found for cell in row if cell.entry is not None and cell.entry.sigma is not None]
    scale = _scale(measured, quantity)
    return Figure(
        "heat",
        _title(measured, quantity, shown),
        _summary(measured, shown),
        Axis(
            _axis(quantity, shown),
            domain=(0.0, float(len(method.levels))),
            ticks=tuple(Tick(column + 0.5, level_title(level)) for column, level in enumerate(method.levels)),
        ),
        ROWS,
        (),
        partial(heat_numbers, shown),
        cells=tuple(
            _heat(cell, (row, column), quantity, shown, scale)
            for row, line in enumerate(found)
            for column, cell in enumerate(line)
        ),
        labels=tuple(RowLabel("", query_title(query)) for query in queries),
        columns=tuple(level_title(level) for level in method.levels),
        stretch=1.0,
    )


def heat_numbers(shown: Version) -> Table:
    """Return the table twin: one row per measured query group and level."""
    symbol, word = shown.scenario.topdown.framework.symbol, counted(shown.scenario.topdown.schema)
    headers = (
        "Level",
        "Query group",
        "Answers",
        "Share of the level",
        "Share of all",
        symbol,
        f"σ, {word}",
        f"Margin, {word}",
    )
    convention = shown.scenario.conventions.margin
    return Table(
        headers,
        tuple(
            (
                entry.key.level,
                entry.key.query,
                entry.cells,
                Share(entry.share),
                Share(entry.share_of_total),
                entry.budget,
                entry.sigma,
                None if entry.margins is None else entry.margins.by(convention),
            )
            for entry in shown.figures.entries
        ),
    )


def _value(cell: ShareCell, quantity: Quantity) -> float:
    if quantity is Quantity.OF_TOTAL:
        return math.sqrt(cell.of_total)
    return math.log(max(cell.entry.sigma, 1e-3)) if cell.entry is not None and cell.entry.sigma else 0.0


def _scale(measured: Sequence[ShareCell], quantity: Quantity) -> tuple[float, float]:
    values = [_value(cell, quantity) for cell in measured]
    if not values:
        return 0.0, 1.0
    low = 0.0 if quantity is Quantity.OF_TOTAL else min(values)
    return low, max(*values, low + 1e-9)


def _heat(
    cell: ShareCell, place: tuple[int, int], quantity: Quantity, shown: Version, scale: tuple[float, float]
) -> Cell:
    if cell.share is None or not isinstance(cell.key, LevelQuery):
        return Cell(cell.key, *place, "", None)
    low, high = scale
    strength = (_value(cell, quantity) - low) / (high - low) if cell.share else 0.0
    words = _percent_text(cell) if quantity is Quantity.OF_TOTAL else text(cell, quantity, shown).lstrip("±")
    return Cell(cell.key, *place, words, min(max(strength, 0.0), 1.0), tip(cell, shown), cell.is_changed)


def _axis(quantity: Quantity, shown: Version) -> str:
    if quantity is Quantity.OF_TOTAL:
        return f"share of the whole {shown.scenario.topdown.framework.symbol}, percent"
    word = counted(shown.scenario.topdown.schema)
    return f"σ of one answer, {word}" if quantity is Quantity.SIGMA else f"margin of one answer, {word}"


def _percent_text(cell: ShareCell) -> str:
    """Return a share of all in few letters: three digits, and never 0 for what is not 0."""
    percent_of_all = 100.0 * float(cell.of_total)
    if 0 < percent_of_all < 0.01:
        return "<.01"
    return f"{percent_of_all:.{1 if percent_of_all >= 10 else 2}f}"


def _title(measured: Sequence[ShareCell], quantity: Quantity, shown: Version) -> str:
    if not measured:
        return "Nothing is measured"
    if quantity is Quantity.OF_TOTAL:
        largest = max(measured, key=lambda cell: cell.of_total)
        return f"{heading(place_title(largest.key))} takes {percent(largest.of_total)} of the privacy loss"
    margins = [(margin_of(cell, shown) or 0.0, cell) for cell in measured]
    narrow, wide = min(margins, key=lambda pair: pair[0]), max(margins, key=lambda pair: pair[0])
    return (
        f"Margins run from ±{people(narrow[0])} ({place_title(narrow[1].key)}) to ±{people(wide[0])} "
        f"({place_title(wide[1].key)})"
    )


def _summary(measured: Sequence[ShareCell], shown: Version) -> str:
    symbol = shown.scenario.topdown.framework.symbol
    conventions = shown.scenario.conventions
    return (
        f"{symbol} {bound_text(shown.figures.total)} is spent on {len(measured)} measurements. Margins are those of one "
        f"answer at {percent(conventions.confidence, places=None)}, {margin_word(conventions.margin)} convention, before "
        "post-processing."
    )
