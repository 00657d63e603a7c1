"""The kinds of values a parameter can hold: how each is written, read, checked, described and said.

A kind is one frozen value. It writes to plain JSON and reads it back, says what is wrong with a value, describes itself
as JSON Schema, and gives the form that fingerprints are taken of. Numbers that decide privacy are text in files: most
readers take JSON numbers as binary floating point.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.numbers import Unlimited, exact_text, is_bounded, parse_budget, parse_exact, require_bounded
from phexplore.text.quoted import quote

Place = tuple[str, ...]
Schema = dict[str, Any]
Shared = dict[str, Schema]
"""Descriptions of objects that stand in several places of a schema, by name."""

NUMBER = r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)"
_LONGEST_SHOWN = 60
_MOST_DIGITS = 20
_WHOLE = re.compile(r"-?([0-9]+|[0-9]{1,3}(,[0-9]{3})+)")


def shown(value: Any) -> str:
    """Return a value of a file for a message, shortened."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "…"


class Problems:
    """Collects what is wrong with the values of a file, each at its place.

    Attributes:
        path: where the first value stands.
        issues: what was found.
    """

    REMEDY = "Correct the value in the file, or open an earlier copy of the project."

    def __init__(self, path: Place) -> None:
        self.path = path
        self.issues: list[Issue] = []

    def report(self, place: Place, sentence: str) -> None:
        """Record a problem.

        Args:
            place: keys that lead to the value below `path`.
            sentence: what is wrong.
        """
        self.issues.append(Issue((*self.path, *place), sentence, self.REMEDY))

    def parsed(self, value: Any, parse: Callable[[Any], Any], place: Place, default: Any = None) -> Any:
        """Return the parsed value; on a problem record it and return the default.

        Args:
            value: plain JSON.
            parse: makes the value, or raises.
            place: keys that lead to it.
            default: returned on a problem.
        """
        try:
            return parse(value)
        except (ValueError, TypeError, AttributeError, PhexploreError) as error:
            self.report(place, str(error))
        except KeyError as error:
            self.report(place, f"{error} is missing")
        return default

    def finish(self) -> None:
        """Raise if anything was wrong.

        Raises:
            InputProblemsError: with all of it.
        """
        if self.issues:
            raise InputProblemsError(self.issues)


@dataclass(frozen=True, slots=True)
class Kind:
    """What all kinds have in common; by itself, any plain JSON value."""

    @property
    def remedy(self) -> str:
        """What to enter instead of a value that is refused."""
        return "Enter another value."

    @property
    def keys(self) -> Kind | None:
        """The kind of the keys, where entries differ and are edited one by one; None for a value that changes as a whole."""
        return None

    @property
    def entry(self) -> Kind:
        """The kind of one entry's value; of a value that changes as a whole, itself."""
        return self

    def encode(self, value: Any) -> Any:
        """Return a value as plain JSON."""
        return value

    def read(self, value: Any) -> Any:
        """Return the value that plain JSON stands for.

        Raises:
            ValueError, TypeError, PhexploreError: it stands for none.
        """
        return value

    def collect(self, value: Any, problems: Problems, place: Place) -> Any:
        """Return the value that plain JSON stands for; every problem is recorded at its place, and then None returned.

        Args:
            value: plain JSON.
            problems: receives what is wrong.
            place: keys that lead to the value.
        """
        return problems.parsed(value, self.read, place)

    def parse(self, text: str) -> Any:
        """Return the value that people write so, on the command line or in a field.

        Raises:
            ValueError, TypeError, PhexploreError: it is none.
        """
        return self.read(text)

    def words(self, value: Any) -> str:
        """Return a value as people read and write it."""
        return str(value)

    def canonical(self, value: Any) -> Any:
        """Return what a fingerprint is taken of; its form never changes."""
        return self.encode(value)

    def check(self, value: Any, what: str) -> None:
        """Pass a value that may be held.

        Args:
            value: of this kind.
            what: it is, as the beginning of a sentence.

        Raises:
            ValueError: it is out of range.
        """

    def held(self, value: Any) -> Any:
        """Return a value as parameters hold it: nobody can change it."""
        return value

    def describe(self, shared: Shared) -> Schema:
        """Return a JSON Schema; descriptions of objects are added to `shared`."""
        return {}


@dataclass(frozen=True, slots=True)
class Text(Kind):
    """Text.

    Attributes:
        pattern: regular expression for its description; readers do not use it.
        doc: what it says, for its description.
    """

    pattern: str = ""
    doc: str = ""

    def read(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(f"text is expected, got {shown(value)}")
        return value

    def describe(self, shared: Shared) -> Schema:
        pattern = {"pattern": self.pattern} if self.pattern else {}
        return {"type": "string", **pattern, **({"description": self.doc} if self.doc else {})}


@dataclass(frozen=True, slots=True)
class Supplied(Text):
    """Text in the words of a person or a file: shown as it is, never rewritten."""

    def held(self, value: Any) -> Any:
        quote(value)
        return value


@dataclass(frozen=True, slots=True)
class Flag(Kind):
    """True or false."""

    def read(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise TypeError(f"true or false is expected, got {shown(value)}")
        return value

    def parse(self, text: str) -> bool:
        if text not in {"yes", "no"}:
            raise ValueError(f"yes or no is expected, got {text!r}")
        return text == "yes"

    def words(self, value: Any) -> str:
        return "yes" if value else "no"

    def describe(self, shared: Shared) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Whole(Kind):
    """A whole number.

    Attributes:
        low: the smallest, None for no limit.
        high: the largest.
    """

    low: int | None = None
    high: int | None = None

    @property
    def example(self) -> str:
        """What a field shows before anything is typed."""
        return "1"

    @property
    def remedy(self) -> str:
        return "Enter a whole number" + ("" if self.low is None else f" from {self.low}") + "."

    def read(self, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"a whole number is expected, got {shown(value)}")
        return value

    def parse(self, text: str) -> int:
        body = text.strip()
        if not _WHOLE.fullmatch(body) or len(body) > _MOST_DIGITS:
            raise ValueError(f"a whole number is expected, got {shown(body)}")
        return int(body.replace(",", ""))

    def check(self, value: int, what: str) -> None:
        if self.low is not None and value < self.low and self.high is None:
            raise ValueError(f"{what} is at least {self.low}, got {value}")
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            raise ValueError(f"{what} lies between {self.low} and {self.high}, got {value}")

    def describe(self, shared: Shared) -> Schema:
        low = {} if self.low is None else {"minimum": self.low}
        return {"type": "integer", **low, **({} if self.high is None else {"maximum": self.high})}


@dataclass(frozen=True, slots=True)
class Exact(Kind):
    """An exact number, in files as text.

    Attributes:
        above: it is larger than this.
        low: it is at least this.
        below: it is smaller than this.
        high: it is at most this.
        unlimited: whether ``Infinity`` is a value: a budget without noise.
    """

    above: int | None = None
    low: int | None = None
    below: int | None = None
    high: int | None = None
    unlimited: bool = False

    @property
    def remedy(self) -> str:
        if self.above == 0 and self.below is None and self.high is None:
            return "Enter a positive number."
        return f"Enter a number {self._range}." if self._range else "Enter a number."

    @property
    def _range(self) -> str:
        """The range in words."""
        if (self.low, self.high) == (0, 1) or (self.above, self.below) == (0, 1):
            return "between 0 and 1"
        limits = {"above": self.above, "at least": self.low, "below": self.below, "at most": self.high}
        return " and ".join(f"{word} {limit}" for word, limit in limits.items() if limit is not None)

    def encode(self, value: Any) -> str:
        return exact_text(value)

    def read(self, value: Any) -> Any:
        if not isinstance(value, str):
            raise TypeError(f"text is expected, got {shown(value)}")
        return parse_budget(value) if self.unlimited else parse_exact(value)

    def words(self, value: Any) -> str:
        return exact_text(value)

    def check(self, value: Any, what: str) -> None:
        if isinstance(value, Unlimited):
            return
        over, under = value.numerator, value.denominator  # whole numbers: an edit checks a hundred of them
        inside = (
            (self.above is None or over > self.above * under)
            and (self.low is None or over >= self.low * under)
            and (self.below is None or over < self.below * under)
            and (self.high is None or over <= self.high * under)
        )
        if not inside and self._range.startswith("between"):
            raise ValueError(f"{what} lies {self._range}, got {value}")
        if not inside:
            raise ValueError(f"{what} is {'positive' if self._range == 'above 0' else self._range}, got {value}")
        if not is_bounded(value):
            require_bounded(value, what)

    def describe(self, shared: Shared) -> Schema:
        also = (
            ', or "Infinity" for no noise at all'
            if self.unlimited
            else ': a decimal ("0.25", "1e-10") or a fraction ("1/3")'
        )
        pattern = f"^({NUMBER}|Infinity)$" if self.unlimited else f"^{NUMBER}$"
        return {"type": "string", "pattern": pattern, "description": f"An exact number as text{also}."}


@dataclass(frozen=True, slots=True)
class Choice(Kind):
    """One of the members of an enumeration, in files and on the command line its value.

    Attributes:
        options: the enumeration.
        titles: of members for people, where the value is no word for them.
    """

    options: type[enum.Enum]
    titles: Mapping[Any, str] = field(default_factory=dict, hash=False)

    @property
    def remedy(self) -> str:
        return f"Choose one of {', '.join(str(each.value) for each in self.options)}."

    def encode(self, value: Any) -> Any:
        return value.value

    def read(self, value: Any) -> Any:
        for member in self.options:
            if member.value == value:
                return member
        known = ", ".join(str(each.value) for each in self.options)
        raise ValueError(f"one of {known} is expected, got {shown(value)}")

    def words(self, value: Any) -> str:
        return self.titles.get(value) or str(value.value)

    def describe(self, shared: Shared) -> Schema:
        name, words = self.options.__name__, [member.value for member in self.options]
        stated = {"description": self.options.__doc__ or "", "enum": words, "type": "string"}
        return {"$ref": f"#/$defs/{name}"} if shared.setdefault(name, stated) == stated else stated


@dataclass(frozen=True, slots=True)
class Switch(Choice):
    """A choice; on the command line a flag without text for every member but the first, called by its value."""


@dataclass(frozen=True, slots=True)
class RunDirectory(Text):
    """The directory of another run, "" for none."""

    def words(self, value: Any) -> str:
        return PurePath(value).name


@dataclass(frozen=True, slots=True)
class Optional(Kind):
    """A value or None, in files ``null``.

    Attributes:
        kind: of the value.
    """

    kind: Kind

    @property
    def remedy(self) -> str:
        return self.kind.remedy

    def encode(self, value: Any) -> Any:
        return None if value is None else self.kind.encode(value)

    def read(self, value: Any) -> Any:
        return None if value is None else self.kind.read(value)

    def collect(self, value: Any, problems: Problems, place: Place) -> Any:
        return None if value is None else self.kind.collect(value, problems, place)

    def parse(self, text: str) -> Any:
        return self.kind.parse(text) if text.strip() else None

    def words(self, value: Any) -> str:
        """Return the value's words, "" for None."""
        return "" if value is None else self.kind.words(value)

    def canonical(self, value: Any) -> Any:
        return None if value is None else self.kind.canonical(value)

    def check(self, value: Any, what: str) -> None:
        if value is not None:
            self.kind.check(value, what)

    def describe(self, shared: Shared) -> Schema:
        return {"anyOf": [self.kind.describe(shared), {"type": "null"}]}


@dataclass(frozen=True, slots=True)
class Listing(Kind):
    """Values in order, a tuple; in files a list.

    Attributes:
        item: their kind.
        is_ordered: whether the order decides anything; where not, the fingerprint is taken of the sorted values.
        least: how many there are at least, for its description.
    """

    item: Kind
    is_ordered: bool = True
    least: int = 0

    def encode(self, value: Any) -> list[Any]:
        return [self.item.encode(each) for each in value]

    def read(self, value: Any) -> Any:
        return tuple([self.item.read(each) for each in listed(value)])

    def collect(self, value: Any, problems: Problems, place: Place) -> Any:
        if not isinstance(value, list):
            return problems.parsed(value, self.read, place)
        return tuple([self.item.collect(each, problems, (*place, str(n))) for n, each in enumerate(value)])

    def words(self, value: Any) -> str:
        return ", ".join(map(self.item.words, value))

    def canonical(self, value: Any) -> list[Any]:
        made = [self.item.canonical(each) for each in value]
        return made if self.is_ordered else sorted(made)

    def check(self, value: Any, what: str) -> None:
        for each in value:
            self.item.check(each, f"every part of {what}")

    def describe(self, shared: Shared) -> Schema:
        least = {"minItems": self.least} if self.least else {}
        return {"type": "array", "items": self.item.describe(shared), **least}


@dataclass(frozen=True, slots=True)
class Members(Listing):
    """Values without order, a frozen set; in files a sorted list. An entry is whether a value is in it."""

    @property
    def keys(self) -> Kind | None:
        return self.item

    @property
    def entry(self) -> Kind:
        return Flag()

    def encode(self, value: Any) -> list[Any]:
        return sorted(self.item.encode(each) for each in value)

    def read(self, value: Any) -> Any:
        return frozenset([self.item.read(each) for each in listed(value)])

    def collect(self, value: Any, problems: Problems, place: Place) -> Any:
        return problems.parsed(value, self.read, place)

    def canonical(self, value: Any) -> list[Any]:
        return self.encode(value)


@dataclass(frozen=True, slots=True)
class Name(Text):
    """A value with a text of its own, in files that text; also the keys of objects.

    Attributes:
        reads: makes the value of the text; raises ValueError or PhexploreError.
        writes: makes the text of the value.
    """

    reads: Callable[[str], Any] = str
    writes: Callable[[Any], str] = str

    def encode(self, value: Any) -> str:
        return self.writes(value)

    def read(self, value: Any) -> Any:
        return self.reads(Text.read(self, value))

    def words(self, value: Any) -> str:
        return self.writes(value)


@dataclass(frozen=True, slots=True)
class Entries(Kind):
    """Values by key, a read-only mapping; in files an object.

    Attributes:
        value: the kind of the values.
        key: the kind of the keys.
    """

    value: Kind
    key: Kind = Name()

    @property
    def keys(self) -> Kind | None:
        return self.key

    @property
    def entry(self) -> Kind:
        return self.value

    def encode(self, value: Any) -> dict[str, Any]:
        return {self.key.encode(key): self.value.encode(each) for key, each in value.items()}

    def read(self, value: Any) -> Any:
        key, item = self.key.read, self.value.read
        return {key(name): item(each) for name, each in object_of(value).items()}

    def collect(self, value: Any, problems: Problems, place: Place) -> Any:
        try:
            return self.read(value)
        except (ValueError, TypeError, PhexploreError) as error:
            if not isinstance(value, dict):
                problems.report(place, str(error))
                return None
        for name, each in value.items():
            problems.parsed(name, self.key.read, (*place, name))
            self.value.collect(each, problems, (*place, name))
        return None

    def words(self, value: Any) -> str:
        return ", ".join(f"{self.key.words(key)} {self.value.words(each)}" for key, each in value.items())

    def canonical(self, value: Any) -> dict[str, Any]:
        return {self.key.canonical(key): self.value.canonical(each) for key, each in value.items()}

    def check(self, value: Any, what: str) -> None:
        for key, each in value.items():
            try:
                self.value.check(each, what)
            except ValueError:  # names are made for the refused alone: an edit checks a hundred entries
                self.value.check(each, f"{what} of {self.key.words(key)}")

    def held(self, value: Any) -> Any:
        return MappingProxyType(value.copy() if isinstance(value, dict | MappingProxyType) else dict(value))

    def describe(self, shared: Shared) -> Schema:
        names = self.key.describe(shared)
        named = {"propertyNames": names} if len(names) > 1 else {}
        return {"type": "object", **named, "additionalProperties": self.value.describe(shared)}


@dataclass(frozen=True, slots=True)
class Pairs(Entries):
    """A tuple of pairs whose first parts are unique, in files an object.

    Attributes:
        make: makes a pair of its two parts.
        is_ordered: whether the order decides anything; where not, the fingerprint is taken of the sorted pairs.
    """

    make: Callable[[Any, Any], Any] = lambda first, second: (first, second)
    is_ordered: bool = True

    @property
    def keys(self) -> Kind | None:
        return None

    @property
    def entry(self) -> Kind:
        return self

    def encode(self, value: Any) -> dict[str, Any]:
        return Entries.encode(self, dict(map(_parts, value)))

    def read(self, value: Any) -> Any:
        return tuple(self.make(*each) for each in Entries.read(self, value).items())

    def canonical(self, value: Any) -> Any:
        made = [[key, self.value.canonical(each)] for key, each in map(_parts, value)]
        return made if self.is_ordered else sorted(made)

    def words(self, value: Any) -> str:
        return Entries.words(self, dict(map(_parts, value)))

    def check(self, value: Any, what: str) -> None:
        Entries.check(self, dict(map(_parts, value)), what)

    def held(self, value: Any) -> Any:
        return value


def _parts(pair: Any) -> tuple[Any, Any]:
    first, second = pair if isinstance(pair, tuple) else (getattr(pair, part.name) for part in fields(pair))
    return first, second


@dataclass(frozen=True, slots=True)
class OneOf(Kind):
    """A value of one of several kinds, told apart by its class and, in files, by its form.

    Attributes:
        kinds: the kind of every class.
        choose: the class that plain JSON stands for; raises ValueError or TypeError where it stands for none.
    """

    kinds: Mapping[type[Any], Kind] = field(hash=False)
    choose: Callable[[Any], type[Any]] = field(hash=False)

    def encode(self, value: Any) -> Any:
        return self.kinds[type(value)].encode(value)

    def read(self, value: Any) -> Any:
        return self.kinds[self.choose(value)].read(value)

    def canonical(self, value: Any) -> Any:
        return self.kinds[type(value)].canonical(value)

    def check(self, value: Any, what: str) -> None:
        self.kinds[type(value)].check(value, what)

    def describe(self, shared: Shared) -> Schema:
        return {"anyOf": [kind.describe(shared) for kind in self.kinds.values()]}


def listed(value: Any) -> list[Any]:
    """Return a list of a file.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, list):
        raise TypeError(f"a list is expected, got {shown(value)}")
    return value


def object_of(value: Any) -> dict[str, Any]:
    """Return an object of a file.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, dict):
        raise TypeError(f"an object is expected, got {shown(value)}")
    return value


def object_schema(about: str, parts: Mapping[str, Schema], needed: Sequence[str], *, is_open: bool = False) -> Schema:
    """Return the JSON Schema of an object.

    Args:
        about: what it is, in a sentence.
        parts: the schema of every part.
        needed: names of the parts that may not be left out.
        is_open: whether it may hold more than these parts.
    """
    stated: Schema = {"description": about, "type": "object", "properties": dict(parts), "required": list(needed)}
    return stated if is_open else {**stated, "additionalProperties": False}


def typed_value(kind: Kind, text: str, phrase: str) -> Any:
    """Return the value that a person typed, in a field or behind a flag.

    Args:
        kind: of the value.
        text: typed.
        phrase: what it is, as the beginning of a sentence.

    Raises:
        ValueError: it is none; the message says what to enter.
    """
    try:
        value = kind.parse(text)
        kind.check(value, phrase)
    except (ValueError, TypeError, PhexploreError) as error:
        said = str(error).rstrip(".")
        raise ValueError(f"{said[:1].upper()}{said[1:]}. {kind.remedy}") from error
    return value
