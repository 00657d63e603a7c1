"""What an HTML or PDF report holds: headline tiles, parts with pictures, tables and sentences. Text only, no numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Generic, TypeVar

from phexplore import __version__
from phexplore.figures.style import Chart
from phexplore.figures.wording import CONVERTED, people_text
from phexplore.model.moments import zoned_text
from phexplore.model.provenance import Provenance
from phexplore.model.rounded import epsilon_bound, rounded_up
from phexplore.report.provenance import Section

Item = TypeVar("Item")
_LONGEST_GROUP, _PART = 15, 8
"""Rows below one name; of more, every part of so many has the name again, so that it stands on every page."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One headline figure.

    Attributes:
        label: what it is.
        value: the figure with its unit.
        detail: what it means or compares with.
        attention: whether it is worth a decision; the detail then says why.
    """

    label: str
    value: str
    detail: str = ""
    attention: bool = False


def epsilon_tile(proven: float | None, converted: float, how: str) -> Tile:
    """Return ε of a report's first line as the headline says it: what is proven leads.

    Args:
        proven: bound, None where nothing is proven.
        converted: from ρ.
        how: δ, and what else the figure holds for.
    """
    if proven is None:
        return Tile(f"ε, {CONVERTED}", epsilon_bound(converted), how)
    return Tile("Proven ε", f"≤ {rounded_up(proven, 3)}", f"{how}; {epsilon_bound(converted)} {CONVERTED}")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: as shown.
        number: figures stand right-aligned.
        heading: whether it names its row.
        lines: rows it spans.
        attention: worth a decision; the text says why or the note below the table does.
        whole: kept on one line, as figures always are.
    """

    text: str
    number: bool = False
    heading: bool = False
    lines: int = 1
    attention: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """The head of a column.

    Attributes:
        text: quantity and unit; above figures a line feed starts a new line and nothing else does.
        number: whether its cells are figures.
    """

    text: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as it is printed.

    Attributes:
        id: anchor.
        caption: what it shows.
        headers: one per column.
        rows: cells; a row after one that spans it leaves that cell out.
        note: a sentence below, "" for none.
    """

    id: str
    caption: str
    headers: tuple[Header, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A chapter.

    Attributes:
        id: anchor.
        title: its heading.
        paragraphs: sentences at its start.
        findings: sentences of a list.
        charts: pictures, each under its finding.
        tables: after the pictures.
        sections: names and what is said of them.
    """

    id: str
    title: str
    paragraphs: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[TableView, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def is_bare(self) -> bool:
        """Whether nothing stands below its heading."""
        return not (self.paragraphs or self.findings or self.charts or self.tables or self.sections)


@dataclass(frozen=True, slots=True)
class Document:
    """A report.

    Attributes:
        title: of the document.
        subtitle: what kind of report it is.
        colophon: when and by which program it was made, and the identity of what it shows.
        made: when, in ISO 8601.
        warning: what every reader must know first, e.g. that figures are confidential; "" for nothing.
        origin: the provenance of the data of a run, on every page; None where no data were read.
        tiles: headline figures.
        parts: chapters, pictures before tables before method.
    """

    title: str
    subtitle: str
    colophon: str
    tiles: tuple[Tile, ...]
    parts: tuple[Part, ...]
    made: str
    warning: str = ""
    origin: Provenance | None = None
    keywords: tuple[str, ...] = ("differential privacy",)


@dataclass(frozen=True, slots=True)
class Column(Generic[Item]):
    """A column of a table: its head, and what an item shows in it.

    Attributes:
        header: quantity and unit.
        value: text as it is shown; a number, or None where there is none.
        places: decimals of a number.
        number: whether its cells are figures.
        heading: whether it names the row.
        whole: whether its cells stay on one line.
        spans: whether it stands once for consecutive items that show the same in the first such column, in long groups again.
        attention: whether an item's cell is marked.
    """

    header: str
    value: Callable[[Item], str | float | None]
    places: int = 0
    number: bool = False
    heading: bool = False
    whole: bool = False
    spans: bool = False
    attention: Callable[[Item], bool] | None = None

    def text(self, item: Item) -> str:
        """Return what an item shows."""
        value = self.value(item)
        return value if isinstance(value, str) else people_text(value, self.places)

    def cell(self, item: Item, lines: int) -> Cell:
        """Return the cell of an item, over several lines where the column spans them.

        Args:
            item: of the row.
            lines: how many lines the item has.
        """
        marked = self.attention is not None and self.attention(item)
        return Cell(self.text(item), self.number, self.heading, lines if self.spans else 1, marked, self.whole)


def heading(header: str, value: Callable[[Item], str | float | None], *, spans: bool = False) -> Column[Item]:
    """Return a column that names the rows; `spans` as in `Column`.

    Args:
        header: of the column.
        value: of an item; None leaves the cell empty.
        spans: as in `Column`.
    """
    return Column(header, value, heading=True, spans=spans)


def words(header: str, value: Callable[[Item], str | float | None], *, whole: bool = False) -> Column[Item]:
    """Return a column of text; `whole` as in `Column`.

    Args:
        header: of the column.
        value: of an item; None leaves the cell empty.
        whole: as in `Column`.
    """
    return Column(header, value, whole=whole)


def figures(
    header: str,
    value: Callable[[Item], str | float | None],
    places: int = 0,
    attention: Callable[[Item], bool] | None = None,
) -> Column[Item]:
    """Return a right-aligned column of figures; the arguments as in `Column`.

    Args:
        header: of the column.
        value: of an item; None leaves the cell empty.
        places: digits behind the point.
        attention: which items to mark.
    """
    return Column(header, value, places, number=True, attention=attention)


def table_of(
    anchor: str, caption: str, columns: Sequence[Column[Item]], items: Iterable[Item], note: str = ""
) -> TableView:
    """Return a table with a row per item.

    Args:
        anchor: in the page.
        caption: what it shows.
        columns: what is shown of an item.
        items: the rows.
        note: a sentence below, "" for none.
    """
    first = next((column for column in columns if column.spans), None)
    found = [[item] for item in items] if first is None else [list(group) for _, group in groupby(items, first.text)]
    groups = [part for group in found for part in _parts(group)]
    rows = tuple(
        tuple(column.cell(item, len(group)) for column in columns if place == 0 or not column.spans)
        for group in groups
        for place, item in enumerate(group)
    )
    return TableView(anchor, caption, tuple(Header(column.header, column.number) for column in columns), rows, note)


def _parts(group: list[Item]) -> Iterator[list[Item]]:
    """Yield a long group in parts of about the same length."""
    count = 1 if len(group) <= _LONGEST_GROUP else -(-len(group) // _PART)
    for part in range(count):
        yield group[part * len(group) // count : (part + 1) * len(group) // count]


def colophon(now: datetime, what: str) -> str:
    """Return when and by which program a document was made, and the identity of what it shows, e.g. ``run 3fa…``.

    Args:
        now: when the document was made.
        what: identity of what it shows.
    """
    return f"{zoned_text(now)} · phexplore {__version__} · {what}"
