"""A table of parameters as data: what its cells show and carry, and what typing into them does. No Qt.

A room describes its table as rows and columns. A row is any value with a key, a title and a group; it says which
parameter stands at a column, and which columns may look different from an earlier version of it. A column says of a row
how its cell looks (`Cell`), what an editor begins with, what a copy carries, why it takes no entry, and which step of the
history an entry asks for. `plan` turns the entries of a pasted block into one step. From these follow, once for all
rooms, the item model (`model.py`), the view with keys, selection and clipboard (`view.py`), the drawing and editing of
cells (`cells.py`), and blocks of spreadsheets (`blocks.py`, `commands.py`). A number with a slider is a `SliderLine`. A room that needs
another table writes columns; nothing here knows a system.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from phexplore.model.edits import EditRefusedError, apply_all, step_label
from phexplore.model.fields import Field
from phexplore.model.rounded import ABSENT
from phexplore.model.scenario import Scenario

Edit = Callable[[Scenario], Scenario]
Step = tuple[str, Edit]
"""Name of a step of the history, and its edit."""


class Kind(enum.Enum):
    """What the cells of a column are."""

    WORDS = "words"
    NUMBER = "number"
    TICK = "tick"
    LOCK = "lock"

    @property
    def is_checked(self) -> bool:
        """Whether cells are ticked and not typed into."""
        return self in {Kind.TICK, Kind.LOCK}


class Tone(enum.Enum):
    """How a cell speaks. The value names the colour of its text."""

    PLAIN = "text"
    QUIET = "muted"
    CHANGE = "accent_ink"
    ATTENTION = "attention"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Cell:
    """How a cell looks. Equal cells look equal, so only cells that differ are drawn again.

    Attributes:
        text: shown text.
        tone: of the text, and of what lies behind it where that calls for attention.
        tint: strength of the accent behind the text, from 0 to 1.
        is_bold: bold face.
        is_shaded: drawn on the alternate paper.
        is_checked: whether a tick or lock is set.
        is_locked: a small lock stands at the left.
        is_open: takes an entry.
    """

    text: str
    tone: Tone = Tone.PLAIN
    tint: float = 0.0
    is_bold: bool = False
    is_shaded: bool = False
    is_checked: bool = False
    is_locked: bool = False
    is_open: bool = False


class ParameterRow(Protocol):
    """What a table asks of a row, whatever else the room keeps in it."""

    @property
    def key(self) -> Hashable:
        """What the row stands for: rows of two versions with equal keys are one row."""

    @property
    def title(self) -> str:
        """The row in words."""

    @property
    def group(self) -> Hashable:
        """Rows of one group stand together; a stronger line parts groups."""

    def place(self, column: Any) -> Hashable:
        """Return the parameter at the column with this key, None where there is none."""

    def title_at(self, column: ParameterColumn[Any]) -> str:
        """Return what stands at a column, as a refusal names it."""

    def moved(self, before: Self) -> Iterable[Hashable] | None:
        """Return keys of all columns in which the row may look different from an earlier version of it, None for all."""


class PlainRow:
    """What rows have in common that are about one parameter, whatever the column, and look different as a whole or not at all."""

    @property
    def group(self) -> Hashable:
        """All rows stand together."""
        return None

    def place(self: ParameterRow, _column: Any) -> Hashable:
        """Return the parameter."""
        return self.key

    def title_at(self: ParameterRow, column: ParameterColumn[Any]) -> str:
        """Return what stands at a column, as a refusal names it."""
        return f"{column.name} of {self.title}"

    def moved(self, before: Any) -> Iterable[Hashable] | None:
        """Return no column where the row is the same, None for all where it is not."""
        return () if before == self else None


@dataclass(frozen=True)
class CellRow(PlainRow):
    """A row made of its cells.

    Attributes:
        key: the parameter.
        title: the row in words.
        cells: by column.
    """

    key: Any
    title: str
    cells: Mapping[str, Cell]


RowT = TypeVar("RowT", bound=ParameterRow)


def plain(text: str) -> str:
    """Return a shown number without grouping, "" for nothing."""
    return "" if text == ABSENT else text.replace("−", "-").replace(",", "")


def _always(_row: object) -> str:
    return ""


@dataclass(frozen=True)
class ParameterColumn(Generic[RowT]):
    """One column.

    Attributes:
        key: which one.
        header: in one or two lines.
        about: the long name.
        sample: a text as wide as what usually stands in it: measuring every cell on every edit would cost 100 ms.
        kind: what its cells are.
        cell: how a cell looks.
        tip: what is said when the pointer rests on a cell, where that is not the long name.
        exact: what an editor begins with where that is not the text of the cell: exact, decimal point.
        copied: what a copy carries where that is not what an editor begins with.
        forbidden: why a cell with a parameter takes no entry now, "" when it does.
        step: step of the history that an entry asks for; ticks are asked for as yes and no. None where all is computed.
        names: how blocks of spreadsheets name the column, in lower case, ``*`` for anything.
        row_names: how blocks name a row in this column, in lower case; None where the column names no row.
        follows: keys of columns that decide this one: it is not read where a block gives one of them.
        repeats: whether all rows of a group say the same in it: only the first says it aloud.
        spoken: the column for people who do not see its header, "" for the header.
        absent: why a cell has no number, where it has none.
    """

    key: Hashable
    header: str
    about: str
    sample: str
    kind: Kind
    cell: Callable[[RowT], Cell]
    tip: Callable[[RowT], str] | None = None
    exact: Callable[[RowT], str] | None = None
    copied: Callable[[RowT], str] | None = None
    forbidden: Callable[[RowT], str] = _always
    step: Callable[[RowT, str], Step] | None = None
    names: tuple[str, ...] = ()
    row_names: Callable[[RowT], Collection[str]] | None = None
    follows: tuple[Hashable, ...] = ()
    repeats: bool = False
    spoken: str = ""
    absent: str = "Not published, so there is no number."

    @property
    def name(self) -> str:
        """The header in one line, as copies carry it."""
        return self.header.replace("\n", " ")

    def told(self, row: RowT) -> str:
        """Return what is said when the pointer rests on a cell: first why it has no number, or words the column may have cut."""
        told = self.about if self.tip is None else self.tip(row)
        text = self.cell(row).text
        if text == ABSENT:
            return f"{self.absent}\n{told}"
        return told if self.kind is not Kind.WORDS or text in told else f"{text}\n{told}".rstrip()

    def started(self, row: RowT) -> str:
        """Return what an editor begins with; yes or no for a tick."""
        if self.kind.is_checked:
            return "yes" if self.cell(row).is_checked else "no"
        if self.exact is None or row.place(self.key) is None:
            text = self.cell(row).text
            return text if self.kind is Kind.WORDS and text != ABSENT else plain(text)
        return self.exact(row)

    def carried(self, row: RowT) -> str:
        """Return what a copy carries."""
        return self.started(row) if self.copied is None else self.copied(row)

    def refusal(self, row: RowT) -> str:
        """Return why a cell takes no entry, "" when it does."""
        is_computed = self.step is None or row.place(self.key) is None
        return "This column is computed." if is_computed else self.forbidden(row)

    def enter(self, row: RowT, typed: str) -> Step:
        """Return the step that a typed text asks for.

        Args:
            row: what is typed into.
            typed: as it was typed; yes or no for a tick.

        Raises:
            ValueError, PhexploreError: what is typed cannot be taken; the message is for the user.
        """
        reason = self.refusal(row)
        if self.step is None or reason:
            raise EditRefusedError(reason)
        return self.step(row, typed)


def parse_yes(typed: str) -> bool:
    """Read yes or no.

    Raises:
        ValueError: neither.
    """
    word = typed.strip().lower()
    if word in {"yes", "y", "true", "1", "x"}:
        return True
    if word in {"no", "n", "false", "0", ""}:
        return False
    raise ValueError(f"{typed.strip()!r} is neither yes nor no")


def declared_step(part: Field, key: Any, typed: str, change: Callable[[Scenario, Any], Scenario]) -> Step:
    """Return the step that a text typed for an entry of a declared field asks for.

    Args:
        part: reads the text and names the step.
        key: of the entry.
        typed: as it was typed.
        change: from a scenario and the value to the next scenario.

    Raises:
        EditRefusedError: it is no such value.
    """
    kind = part.kind.entry
    try:
        value = kind.parse(typed)
    except ValueError as error:
        raise EditRefusedError(str(error), kind.remedy) from error
    return step_label(part, value, key), lambda scenario: change(scenario, value)


def cell_column(header: str, about: str, sample: str, kind: Kind = Kind.WORDS, **more: Any) -> ParameterColumn[CellRow]:
    """Return a column of rows that are made of their cells; its header is its key.

    Args:
        header: in one or two lines.
        about: the long name.
        sample: a text as wide as what usually stands in it.
        kind: what its cells are.
        more: of the column.
    """
    return ParameterColumn(
        header, header, about, sample, kind, lambda row: row.cells[header], lambda row: f"{row.title}: {about}", **more
    )


class Entry(NamedTuple):
    """What a block of a spreadsheet has for one cell."""

    row: Any
    column: ParameterColumn[Any]
    typed: str


def plain_plan(entries: Sequence[Entry]) -> Step:
    """Return one step for entries that have nothing to do with each other."""
    steps = [entry.column.enter(entry.row, entry.typed) for entry in entries]
    label = steps[0][0] if len(steps) == 1 else f"Paste {len(steps)} values"
    return label, lambda scenario: apply_all(scenario, [edit for _, edit in steps])


@dataclass(frozen=True)
class ParameterTable(Generic[RowT]):
    """A table at one moment.

    Attributes:
        columns: in their order; the same tuple as before while their cells look the same for the same rows.
        rows: in their order.
        plan: turns entries of a pasted block that change something into one step, all or nothing.
        stretched: key of the column that takes the room left over.
        home: key of the column the cursor goes to when it comes from elsewhere.
    """

    columns: tuple[ParameterColumn[RowT], ...]
    rows: tuple[RowT, ...]
    plan: Callable[[Sequence[Entry]], Step]
    stretched: Hashable
    home: Hashable

    @property
    def naming(self) -> list[ParameterColumn[RowT]]:
        """The columns that together name a row."""
        return [column for column in self.columns if column.row_names is not None]

    def number(self, key: Hashable) -> int:
        """Return the index of a column.

        Raises:
            ValueError: no such column.
        """
        return [column.key for column in self.columns].index(key)
