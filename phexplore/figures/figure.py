"""One picture as one value: the screen, the report, files and the data table are made of the same `Figure`.

A figure is built by a pure function from data, in the room of the mechanism it belongs to, and holds no Qt and no
matplotlib. Its title states the finding; its table holds the same numbers exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.marks import AnyMark, Bar, Cell, Mark, Part, Patch, Points, Role, Row, Rule, extent
from phexplore.figures.table import Table

if TYPE_CHECKING:
    from phexplore.figures.marks import Floats


ROWS = Axis(scale=Scale.ROWS)
_MOST_TEXT = 0.7
"""Most of the width of a plot that texts beside marks may take: a number cut off is lost, a shorter bar is not."""
_PARTS = 32
"""Room for texts grows by this part of the range: the axis stands still while the texts beside it change a little."""


class RowLabel(NamedTuple):
    """The two words in front of a row.

    Attributes:
        group: written once for neighbours that share it, e.g. the table.
        name: e.g. the level.
        locked: a small lock stands before the name.
    """

    group: str
    name: str
    locked: bool = False


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """What a sign of the figure means.

    Attributes:
        sign: a stroke drawn as the sign, at the origin.
        text: its meaning.
    """

    sign: Part
    text: str


@dataclass(frozen=True, slots=True)
class Tint:
    """The scale of colours of a map.

    Attributes:
        unit: of the values; "" where they only tell neighbours apart.
        limit: size of the value in the strongest colour.
        is_signed: below and above 0 mean different things.
    """

    unit: str
    limit: float
    is_signed: bool


@dataclass(frozen=True)
class Figure:
    """A picture.

    Attributes:
        id: short name for files and anchors.
        title: the finding, as a sentence.
        summary: what the picture shows, for people who do not see it too.
        x: horizontal axis.
        y: vertical axis; named rows by default.
        marks: what can be pointed at, from top to bottom or from left to right.
        numbers: the same numbers as a table, or what makes them when somebody asks.
        points: series of many points.
        cells: of a heat table.
        patches: of a map.
        outlined: keys of patches that belong together and stand out, e.g. those of a town.
        labels: of the rows, where the marks do not say them.
        columns: names of the columns of cells.
        under: strokes behind the marks, in values of the axes.
        over: strokes before the marks.
        key: what the signs mean, empty where the axes say it.
        tint: scale of the colours of a map.
        stretch: height of a row as a multiple of a line of text.
        is_striped: neighbouring groups of rows have different backgrounds.
        room_for: text that has room right of the longest mark, where texts stand beside anchors.
        explain: more about the figure: how it is computed and where that is published; "" for nothing.
    """

    id: str
    title: str
    summary: str
    x: Axis
    y: Axis
    marks: tuple[AnyMark, ...]
    numbers: Table | Callable[[], Table]
    points: tuple[Points, ...] = ()
    cells: tuple[Cell, ...] = ()
    patches: tuple[Patch, ...] = ()
    outlined: frozenset[str] = frozenset()
    labels: tuple[RowLabel, ...] = ()
    columns: tuple[str, ...] = ()
    under: tuple[Part, ...] = ()
    over: tuple[Part, ...] = ()
    key: tuple[KeyEntry, ...] = ()
    tint: Tint | None = None
    stretch: float = 1.2
    is_striped: bool = False
    room_for: str = ""
    explain: str = ""

    @property
    def table(self) -> Table:
        """The same numbers as a table."""
        return self.numbers if isinstance(self.numbers, Table) else self.numbers()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is drawn; the summary says why."""
        return not (self.marks or self.patches or self.cells or any(len(each.x) for each in self.points))

    def explained(self, chosen: str = "") -> str:
        """Return what the figure shows, its axes, its signs and the chosen mark, in words."""
        lines = [self.summary]
        lines += [f"{way}: {axis.caption}." for way, axis in (("Across", self.x), ("Upward", self.y)) if axis.title]
        if self.key:
            lines.append("Signs: " + "; ".join(entry.text for entry in self.key) + ".")
        lines += [each for each in (self.explain, chosen and f"Chosen: {chosen}") if each]
        return "\n\n".join(lines)

    @property
    def has_rows(self) -> bool:
        """Whether the vertical axis consists of named rows."""
        return self.y.scale is Scale.ROWS

    @cached_property
    def row_numbers(self) -> tuple[int, ...]:
        """The row of every mark."""
        return tuple(number if mark.row is None else mark.row for number, mark in enumerate(self.marks))

    @cached_property
    def rows(self) -> tuple[RowLabel, ...]:
        """The labels of the rows from top to bottom."""
        if self.labels:
            return self.labels
        if not self.has_rows:
            return ()
        found: dict[int, RowLabel] = {}
        for number, mark in zip(self.row_numbers, self.marks, strict=True):
            if number not in found:
                found[number] = RowLabel(mark.group, mark.name, mark.is_locked)
        return tuple(found[number] for number in sorted(found))

    def brief(self, most: int) -> Figure:
        """Return the figure with its first rows only; those its title names or that miss a target replace the last of them."""
        rows = self.rows
        missed = {row for row, mark in zip(self.row_numbers, self.marks, strict=True) if mark.ink is Role.MISSED}
        named = [number for number, label in enumerate(rows) if _names(self.title, label)]
        kept = list(dict.fromkeys((*named, *sorted(missed), *range(len(rows)))))[:most]
        places = {row: place for place, row in enumerate(sorted(kept))}
        marks = [
            replace(mark, row=places[row]) if isinstance(mark, Mark) and mark.row is not None else mark
            for row, mark in zip(self.row_numbers, self.marks, strict=True)
            if row in places
        ]
        cells = [replace(cell, row=places[cell.row]) for cell in self.cells if cell.row in places]
        labels = [label for number, label in enumerate(self.labels) if number in places]
        return replace(self, marks=tuple(marks), cells=tuple(cells), labels=tuple(labels))

    @cached_property
    def x_range(self) -> tuple[float, float]:
        """The places the horizontal axis shows, before texts get their room."""
        if self.x.domain is not None:
            return self.x.range_of(())
        values = [value for mark in self.marks for value in mark.reach]
        values += [value for each in self.points for value in _ends(each.x)]
        values += [value for part in (*self.under, *self.over) for value in extent(part)[0]]
        return self.x.range_of(values)

    @cached_property
    def y_range(self) -> tuple[float, float]:
        """The places the vertical axis of a plane shows."""
        if self.y.domain is not None:
            return self.y.range_of(())
        values = [value for mark in self.marks for part in mark.parts for value in extent(part)[1]]
        values += [value for each in self.points for value in _ends(each.y)]
        values += [value for part in (*self.under, *self.over) for value in extent(part)[1]]
        return self.y.range_of(values)

    def x_range_in(self, width: float, measure: Callable[[str], float], gap: float = 8.0) -> tuple[float, float]:
        """Return the places the horizontal axis shows when the texts beside the marks are to fit.

        Args:
            width: of the plot area, in pixels.
            measure: gives the width of a line of bold text, in pixels.
            gap: pixels left free before and behind a text.
        """
        low, high = self.x_range
        if self.room_for:
            room = min(measure(self.room_for) + 2 * gap, 0.3 * width)
            return low, low + (high - low) * width / (width - room)
        wanted = high
        for mark in self.marks:
            if mark.text and mark.anchor is None:
                room = min(measure(mark.text) + (2 if self.has_rows else 4) * gap, _MOST_TEXT * width)
                end = self.x.position(max(mark.reach)) if mark.reach else low
                wanted = max(wanted, low + (end - low) * width / (width - room))
        grown = math.ceil((wanted - low) / (high - low) * _PARTS - 1e-9)
        return low, max(high, low + (high - low) * grown / _PARTS)


def _names(title: str, label: RowLabel) -> bool:
    """Return whether a title speaks of a row, e.g. of "PH3 (State, A-G)"."""
    whole = f"{label.group} ({label.name})" if label.group else label.name
    found = title.find(whole) if whole else -1
    beside = title[found - 1 : found] + title[found + len(whole) : found + len(whole) + 1]
    return found >= 0 and not any(letter.isalnum() for letter in beside)


def _ends(values: Floats) -> tuple[float, ...]:
    finite = [value for value in values.tolist() if math.isfinite(value)]
    return (min(finite), max(finite)) if finite else ()


def nothing(identity: str, reason: str) -> Figure:
    """Return a figure that shows nothing.

    Args:
        identity: short name of the picture that is not there.
        reason: why, in a sentence.
    """
    return Figure(identity, "", reason, Axis(), ROWS, (), Table(()))


def row_figure(
    identity: str,
    rows: Sequence[Row],
    axis: Axis | str,
    title: str,
    summary: str,
    table: Table,
    *,
    guide: float | None = None,
) -> Figure:
    """Return a figure of rows.

    Args:
        identity: short name for files.
        rows: from top to bottom.
        axis: of the values, or its quantity and unit.
        title: the finding.
        summary: one sentence.
        table: the same numbers.
        guide: value of a line through all rows, None for none.
    """
    across = axis if isinstance(axis, Axis) else Axis(axis)
    under = () if guide is None else (Rule(x=guide),)
    return Figure(identity, title, summary, across, ROWS, tuple(rows), table, under=under)


def bar_figure(
    identity: str, bars: Sequence[Bar], axis: str, title: str, summary: str, table: Table, *, most: float = math.inf
) -> Figure:
    """Return a figure of horizontal bars on an axis from 0 to a round number.

    Args:
        identity: short name for files.
        bars: from top to bottom.
        axis: quantity and unit.
        title: the finding.
        summary: one sentence.
        table: the same numbers.
        most: no tick stands beyond it.
    """
    return Figure(identity, title, summary, Axis(axis, is_round=True, most_value=most), ROWS, tuple(bars), table)
