"""Declared fields: parameters are described once, and everything that handles them reads the description.

A class of parameters or of options is declared like this::

    @declared
    class Counts(Declared):
        '''Counts per place.'''  # and what it says of its attributes documents the fields

        file_kind: ClassVar[str] = "counts"  # the word in files; left out by parts of other classes

        epsilon: Fraction = parameter(Exact(above=0), title="privacy loss", symbol="ε")
        places: int = parameter(Whole(1), default=1, title="number of places")

It is a frozen dataclass whose values are checked, whose mappings cannot be changed, which can be hashed and pickled, and which has

- a form in files: `encode`, `decode` (every problem at its place) and `read` (the first problem raised);
- a description for people and other programs: `describe`, a JSON Schema;
- a form that fingerprints are taken of: `Declared.canonical`;
- its fields: `declared_fields`. Differences, edits with their labels, form rows and command-line options are made of it.

Options of the command line: for every ``field`` of ``declared_fields(Options)`` the flag is ``field.option``, its help ``field.doc``, its
default ``field.default`` (`MISSING` when it is needed), and ``field.kind.parse(text)`` reads what was typed; a `Flag` takes no text, a
`Choice` has its words in ``field.kind.options``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from phexplore.model.kinds import (
    Entries,
    Kind,
    Listing,
    Members,
    Place,
    Problems,
    Schema,
    Shared,
    listed,
    object_of,
    object_schema,
)

_DECLARED = "declared"


@dataclass(frozen=True, slots=True)
class Column:
    """A field that stands in a table of a file: a list of objects, one for every value of the table's first field.

    Attributes:
        table: name of the list in the file.
        name: of the field's value in every object.
        pair: makes a key of an object's name and an entry's; for mappings with such keys, whose entries are divided.
    """

    table: str
    name: str
    pair: Callable[[Any, str], Any] | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Field:
    """A declared field. Two are equal when differences and logs call them by the same word.

    Attributes:
        name: of the attribute.
        kind: of its values.
        default: its value when nothing is said, `MISSING` when something has to be.
        word: in differences and logs; of a mapping or set, the word for one entry. The name where nothing is stated.
        title: for people, within a sentence: ``total budget``; the name where nothing is stated.
        symbol: of the quantity, "" without one.
        doc: one sentence about it; what the docstring of the class says of the attribute where nothing is stated.
        file_name: in files; the name where nothing is stated.
        option: of the command line, e.g. ``--keep-measurements``; "" when there is none.
        unless: name of a field that leaves this one no say unless it has its default, "" for none.
        said: what is said of a run where this is not the default, with ``{}`` for the value; "" for title and value.
        column: where it stands in files, if not by its own name.
        absent: what a file without it means; its default where nothing is stated.
        is_identity: whether it decides results: fingerprints cover it.
        is_parameter: whether it alters a number; names, notes and locks do not.
        is_omitted: whether files leave it out while it has its default.
        whole: of shares by key: what an entry is a part of; the shares of one whole add to exactly 1. None for other fields.
        locks: of shares: name of the field with the keys whose share stays.
    """

    name: str
    kind: Kind
    default: Any
    word: str = ""
    title: str = ""
    symbol: str = ""
    doc: str = ""
    file_name: str = ""
    option: str = ""
    unless: str = ""
    said: str = ""
    column: Column | None = None
    absent: Any
    is_identity: bool = True
    is_parameter: bool = True
    is_omitted: bool = False
    whole: Callable[[Any], Any] | None = None
    locks: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Field) and self.word == other.word

    def __hash__(self) -> int:
        return hash(self.word)

    @property
    def phrase(self) -> str:
        """The field as the beginning of a sentence: ``the total budget``, or a letter alone: ``ε``."""
        return self.title if len(self.title) == 1 else f"the {self.title}"


def parameter(kind: Kind, *, default: Any = MISSING, **stated: Any) -> Any:
    """Declare a field of a `declared` class.

    Args:
        kind: of its values.
        default: its value when nothing is said.
        stated: further attributes of `Field`, by their names.
    """
    metadata = {_DECLARED: {"kind": kind, **stated}}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def declared_fields(cls: type[Any]) -> tuple[Field, ...]:
    """Return the fields of a declared class, in their order."""
    return _layout(cls).all


def logged_fields(cls: type[Any]) -> tuple[Field, ...]:
    """Return the fields of a declared class in the order in which differences and logs state them."""
    return _layout(cls).logged


def field_of(cls: type[Any], name: str) -> Field:
    """Return a declared field by the name of its attribute.

    Raises:
        KeyError: there is none.
    """
    return _layout(cls).fields[name]


def _said(cls: type[Any]) -> dict[str, str]:
    """Return what the docstring of a class says of each attribute, as sentences."""
    found: dict[str, str] = {}
    _, _, section = inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")
    for line in section.splitlines():
        name, colon, text = line.strip().partition(": ")
        if colon and line.startswith("    ") and not line.startswith("     "):
            found[name] = text[:1].upper() + text[1:] if text[:1].isascii() else text
        elif found:
            found[next(reversed(found))] += f" {line.strip()}"
    return {name: text if text.endswith(".") else f"{text}." for name, text in found.items()}


def _fields(cls: type[Any]) -> dict[str, Field]:
    found, said = {}, _said(cls)
    for part in fields(cls):
        stated, plain = dict(part.metadata[_DECLARED]), part.name.replace("_", " ")
        for name, usual in (("word", plain), ("title", plain), ("file_name", part.name)):
            stated.setdefault(name, usual)
        stated = {"doc": said.get(part.name, ""), "absent": MISSING, **stated}
        default = part.default if part.default_factory is MISSING else part.default_factory()
        found[part.name] = Field(name=part.name, default=default, **stated)
    return found


class Declared:
    """What every declared class can do.

    Attributes:
        file_kind: the word of these parameters in files, "" for a part of others.
        file_order: names of all fields in the order of files; empty when it is their order here. A table stands where its
            first field does.
        canonical_form: of a part: ``object``, ``list`` of its values, or ``bare`` for the value of its only field.
        log_order: names of the fields that differences and logs state first; the others follow: mappings, sets, values.
    """

    __slots__ = ("_hash",)
    _hash: int
    __dataclass_fields__: ClassVar[dict[str, Any]]
    file_kind: ClassVar[str] = ""
    file_order: ClassVar[tuple[str, ...]] = ()
    canonical_form: ClassVar[str] = "object"
    log_order: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Refuse impossible values and freeze the mappings."""
        for part in declared_fields(type(self)):
            value = getattr(self, part.name)
            part.kind.check(value, part.phrase)
            if (held := part.kind.held(value)) is not value:
                object.__setattr__(self, part.name, held)
        self.agree()

    def agree(self) -> None:
        """Refuse values that contradict each other.

        Raises:
            ValueError: they do.
        """

    def with_entries(self, name: str, entries: Mapping[Any, Any]) -> Self:
        """Return the value with other entries of one mapping.

        Only these are checked, the others were when they came: an edit and a step of a log cost what they change.

        Args:
            name: of the mapping's field.
            entries: that get another value, or are new.

        Raises:
            ValueError: one of them is out of range, or contradicts the rest.
        """
        part = field_of(type(self), name)
        part.kind.check(entries, part.phrase)
        made = object.__new__(type(self))
        for each in declared_fields(type(self)):
            object.__setattr__(made, each.name, getattr(self, each.name))
        object.__setattr__(made, name, MappingProxyType(getattr(self, name) | entries))
        made.agree()
        return made

    def __hash__(self) -> int:
        """Hash by content, once: a forecast looks its parameters up many times."""
        try:
            return self._hash
        except AttributeError:
            values = [getattr(self, part.name) for part in declared_fields(type(self)) if part.is_identity]
            made = hash(tuple([frozenset(v.items()) if isinstance(v, MappingProxyType) else v for v in values]))
            object.__setattr__(self, "_hash", made)
            return made

    def __reduce__(self) -> tuple[object, ...]:
        """Let read-only mappings cross a process border."""
        values = (getattr(self, part.name) for part in declared_fields(type(self)))
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)

    def canonical(self) -> Any:
        """Return what a fingerprint is taken of, in plain values; its form never changes."""
        parts = [part for part in declared_fields(type(self)) if part.is_identity and not _is_left_out(part, self)]
        values = {part.file_name: part.kind.canonical(getattr(self, part.name)) for part in parts}
        if self.canonical_form == "object":
            return {**({"method": self.file_kind} if self.file_kind else {}), **values}
        return list(values.values()) if self.canonical_form == "list" else next(iter(values.values()))


Made = TypeVar("Made", bound="Declared")


@dataclass_transform(frozen_default=True, field_specifiers=(parameter,))
def declared(cls: type[Made]) -> type[Made]:
    """Make a class of declared fields: a frozen dataclass that checks, freezes, hashes and pickles its values."""
    cls.__hash__ = Declared.__hash__  # type: ignore[method-assign]
    return dataclass(frozen=True, slots=True)(cls)


def encode(value: Declared) -> dict[str, Any]:
    """Return parameters or a part of them as plain JSON, in the order of files."""
    content: dict[str, Any] = {"kind": value.file_kind} if value.file_kind else {}
    for part in _in_file(type(value)):
        if isinstance(part, _Table):
            content[part.name] = part.encode(value)
        elif not _is_left_out(part, value):
            content[part.file_name] = part.kind.encode(getattr(value, part.name))
    return content


def _is_left_out(part: Field, value: Declared) -> bool:
    return part.is_omitted and getattr(value, part.name) == part.default


def decode(cls: type[Made], holder: Mapping[str, Any], problems: Problems, place: Place) -> Made | None:
    """Read what `encode` returned.

    Args:
        cls: the declared class.
        holder: the object of the file.
        problems: takes what is wrong, all of it.
        place: where the object stands.

    Returns:
        The value, None when something was wrong.
    """
    before = len(problems.issues)
    values: dict[str, Any] = {}
    for part in _in_file(cls):
        name = part.name if isinstance(part, _Table) else part.file_name
        if name not in holder:
            if isinstance(part, _Table) or (part.default is MISSING and part.absent is MISSING):
                problems.report((*place, name), f"{name!r} is missing")
            elif part.absent is not MISSING:
                values[part.name] = part.absent
        elif isinstance(part, _Table):
            values |= part.collect(holder[name], problems, (*place, name))
        else:
            values[part.name] = part.kind.collect(holder[name], problems, (*place, name))
    if len(problems.issues) > before:
        return None
    return problems.parsed(values, lambda known: cls(**known), place)  # type: ignore[no-any-return]


def read(cls: type[Made], value: Any) -> Made:
    """Read what `encode` returned, all of it or nothing.

    Args:
        cls: the declared class.
        value: the object of the file.

    Raises:
        ValueError, TypeError, PhexploreError: it cannot be read; the first problem is named.
    """
    holder, parts = object_of(value), _in_file(cls)
    known = {part.name if isinstance(part, _Table) else part.file_name for part in parts}
    if unknown := sorted(holder.keys() - known - ({"kind"} if cls.file_kind else set())):
        raise ValueError(f"{', '.join(sorted(known))} may stand here, not {unknown[0]!r}")
    problems = Problems(())
    made = decode(cls, holder, problems, ())
    if problems.issues:
        raise ValueError(problems.issues[0].sentence.removesuffix("."))
    assert made is not None  # noqa: S101 - without a problem there is a value
    return made


def describe(cls: type[Declared], shared: Shared) -> Schema:
    """Return a reference to the JSON Schema of a declared class, which is added to `shared`."""
    name = cls.__name__
    if name not in shared:
        shared[name] = {}  # a place is taken before the parts are described
        stated: dict[str, Schema] = {"kind": {"const": cls.file_kind, "type": "string"}} if cls.file_kind else {}
        needed = list(stated)
        for part in _in_file(cls):
            if isinstance(part, _Table):
                stated[part.name] = {"type": "array", "items": part.describe(name, shared)}
                needed.append(part.name)
                continue
            stated[part.file_name] = _noted(part.kind.describe(shared), part.doc)
            if not part.is_omitted:
                needed.append(part.file_name)
        shared[name] = object_schema((cls.__doc__ or "").partition("\n")[0], stated, needed)
    return {"$ref": f"#/$defs/{name}"}


@dataclass(frozen=True, slots=True)
class Record(Kind):
    """A value of a declared class.

    Attributes:
        cls: the class.
        is_bare: whether files hold the value of its only field, without a name.
    """

    cls: type[Declared]
    is_bare: bool = False

    def encode(self, value: Any) -> Any:
        """Return an object, or the value of the only field."""
        content = encode(value)
        return next(iter(content.values())) if self.is_bare else content

    def read(self, value: Any) -> Any:
        """Return the value of the class."""
        return read(self.cls, {declared_fields(self.cls)[0].file_name: value} if self.is_bare else value)

    def canonical(self, value: Any) -> Any:
        """Return its own form."""
        return value.canonical()

    def describe(self, shared: Shared) -> Schema:
        """Return a JSON Schema."""
        if self.is_bare:
            return declared_fields(self.cls)[0].kind.describe(shared)
        return describe(self.cls, shared)


@dataclass(frozen=True, slots=True)
class _Table:
    """Fields that stand together in a list of objects; the first names the objects."""

    name: str
    parts: tuple[Field, ...]

    def encode(self, value: Declared) -> list[dict[str, Any]]:
        first, *others = self.parts
        rows = getattr(value, first.name)
        columns = {_column(part).name: _divided(part, getattr(value, part.name), rows) for part in others}
        return [
            {_column(first).name: _cell(first).encode(row), **{name: cells[n] for name, cells in columns.items()}}
            for n, row in enumerate(rows)
        ]

    def collect(self, value: Any, problems: Problems, place: Place) -> dict[str, Any]:
        found: dict[str, list[Any]] = {part.name: [] for part in self.parts}
        before = len(problems.issues)
        for number, entry in enumerate(problems.parsed(value, listed, place) or ()):
            at = (*place, str(number))
            holder = problems.parsed(entry, object_of, at)
            if holder is None:
                continue
            for part in self.parts:
                name = _column(part).name
                if name in holder:
                    found[part.name].append(_cell(part).collect(holder[name], problems, (*at, name)))
                else:
                    problems.report(at, f"{name!r} is missing")
        if len(problems.issues) > before:
            return {}
        rows = found[self.parts[0].name]
        return {part.name: _joined(part, found[part.name], rows) for part in self.parts}

    def describe(self, owner: str, shared: Shared) -> Schema:
        stated = {_column(part).name: _noted(_cell(part).describe(shared), part.doc) for part in self.parts}
        name = f"{owner}{self.name.capitalize()}"
        shared[name] = object_schema(f"One of the {self.name}.", stated, list(stated))
        return {"$ref": f"#/$defs/{name}"}


def _noted(schema: Schema, doc: str) -> Schema:
    return {**schema, "description": doc} if doc else schema


def _column(part: Field) -> Column:
    assert part.column is not None  # noqa: S101 - a table is made of fields with a column
    return part.column


def _cell(part: Field) -> Kind:
    """Return the kind of a field's value in one row."""
    if isinstance(part.kind, Listing):
        return part.kind.item
    assert isinstance(part.kind, Entries)  # noqa: S101 - nothing else can be divided into rows
    return Entries(part.kind.value) if _column(part).pair else part.kind.value


def _divided(part: Field, value: Any, rows: tuple[Any, ...]) -> list[Any]:
    """Return what stands in every row, as JSON."""
    cell, pair = _cell(part), _column(part).pair
    if isinstance(part.kind, Listing):
        return [cell.encode(each) for each in value]
    if pair is None:
        return [cell.encode(value[row]) for row in rows]
    own: dict[Any, dict[str, Any]] = {row: {} for row in rows}
    for (row, name), each in value.items():
        if row in own:
            own[row][name] = each
    return [cell.encode(own[row]) for row in rows]


def _joined(part: Field, cells: list[Any], rows: list[Any]) -> Any:
    """Return the value whose parts stand in the rows."""
    pair = _column(part).pair
    if isinstance(part.kind, Listing):
        return tuple(cells)
    if pair is None:
        return dict(zip(rows, cells, strict=True))
    return {pair(row, name): each for row, own in zip(rows, cells, strict=True) for name, each in own.items()}


@dataclass(frozen=True, slots=True)
class _Layout:
    """The fields of a class by attribute, what stands in its object in a file, and the order of differences."""

    all: tuple[Field, ...]
    fields: dict[str, Field]
    in_file: tuple[Field | _Table, ...]
    logged: tuple[Field, ...]


_LAYOUTS: dict[type[Any], _Layout] = {}


def _layout(cls: type[Any]) -> _Layout:
    if (known := _LAYOUTS.get(cls)) is None:
        parts = _fields(cls)
        placed: dict[str, Field | _Table] = {}
        for part in (parts[name] for name in cls.file_order or parts):
            if part.column is None:
                placed[part.name] = part
            elif part.column.table not in placed:  # a table stands where the first of its fields does
                rows = [each for each in parts.values() if each.column and each.column.table == part.column.table]
                placed[part.column.table] = _Table(part.column.table, tuple(rows))
        first = {name: place for place, name in enumerate(cls.log_order, start=-len(cls.log_order))}
        logged = sorted(parts.values(), key=lambda part: first.get(part.name, _log_group(part.kind)))
        known = _LAYOUTS[cls] = _Layout(tuple(parts.values()), parts, tuple(placed.values()), tuple(logged))
    return known


def _log_group(kind: Kind) -> int:
    return 2 if kind.keys is None else 1 if isinstance(kind, Members) else 0


def _in_file(cls: type[Any]) -> tuple[Field | _Table, ...]:
    return _layout(cls).in_file
