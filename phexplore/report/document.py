"""What an HTML or PDF report holds: headline tiles, parts with pictures, tables and sentences. Text only, no numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from phexplore.figures.look import Chart
from phexplore.report.provenance import Section


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


@dataclass(frozen=True, slots=True)
class Document:
    """A report.

    Attributes:
        title: of the document.
        subtitle: what kind of report it is.
        colophon: when and by which program it was made, and the identity of what it shows.
        made: when, in ISO 8601.
        warning: what every reader must know first, e.g. that figures are confidential; "" for nothing.
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
    keywords: tuple[str, ...] = field(default=("S-DHC", "PHSafe", "differential privacy"))


def number_cell(text: str, *, attention: bool = False) -> Cell:
    """Return a right-aligned cell."""
    return Cell(text, number=True, attention=attention)


def heading_cell(text: str, lines: int = 1) -> Cell:
    """Return a cell that names its row or rows."""
    return Cell(text, heading=True, lines=lines)


def people_text(value: float | None, places: int = 0) -> str:
    """Return a figure with thousands separated, a dash for none."""
    return "–" if value is None else f"{value:,.{places}f}".replace("-", "−")
