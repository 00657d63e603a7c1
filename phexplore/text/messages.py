"""Messages: sentences as values, each a template in expert English with named arguments.

A message is a string, its expert English, so that logs, exceptions and files hold it as it is. It also retains its template and
its arguments, and a `Reader` renders it anew for a member or in another language. An operation on the string (an f-string, a
slice, ``+``) returns a plain string, which no reader can render: combine messages with `msg`, `series` or a tuple argument.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias

from phexplore.text.escapes import visible_lines

LIST_PAIR = "{first} and {last}"
LIST_MIDDLE = "{first}, {next}"
LIST_LAST = "{first}, and {last}"
LIST_MORE = "{n:,} more"
"""Patterns of lists, messages of the catalogs as others are."""


class Quoted(str):
    """Text that a person or a file supplied: rendered as it is, its control characters escaped, and never translated."""

    __slots__ = ()


class Number(str):
    """A number written with a decimal point and commas between thousands; a reader writes it in its own style."""

    __slots__ = ()


class Code(str):
    """A code of a table, level, iteration, query, area or preset; a reader shows its name, the code or both.

    Args:
        code: as production writes it.
        kind: what it is, e.g. ``table``; "" where the code alone tells.
    """

    __slots__ = ("kind",)
    kind: str

    def __new__(cls, code: str, kind: str = "") -> Self:
        """Return a code of a kind."""
        made = super().__new__(cls, code)
        made.kind = kind
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes an equal code in another process."""
        return Code, (str(self), self.kind)


Scalar: TypeAlias = "str | int | float | Fraction"
Argument: TypeAlias = "Scalar | tuple[Scalar, ...]"
"""A message, a `Quoted`, `Number` or `Code` text, a number with a format in the template, or a tuple, rendered as a list."""


class Piece(NamedTuple):
    """A part of a template: words, then a placeholder ("" for none) with its format."""

    words: str
    name: str
    form: str
    is_quoted: bool
    """Whether the argument stands in quotation marks (``!r``), as it was typed."""


class Message(str):
    """A sentence with its template and arguments. The string is the expert English.

    Example:
        >>> found = msg("{table} at {level}: margin {margin:,.1f}", table=Code("PH3"), level=Code("State"), margin=1250.25)
        >>> print(found)
        PH3 at State: margin 1,250.2
        >>> found.template
        '{table} at {level}: margin {margin:,.1f}'
    """

    __slots__ = ("args", "one", "template")
    template: str
    args: Mapping[str, Argument]
    one: str
    """The template where its number is one; "" where the template has no plural."""

    def __new__(cls, template: str, args: Mapping[str, Argument], one: str = "") -> Self:
        """Return a message of a template."""
        pattern = one if one and args["n"] == 1 else template
        made = super().__new__(
            cls,
            "".join([words + _plain(args, name, form, is_quoted) for words, name, form, is_quoted in pieces(pattern)]),
        )
        made.template = template
        made.args = MappingProxyType(dict(args))
        made.one = one
        return made

    def __eq__(self, other: object) -> bool:
        """Return whether another text reads the same for every reader; a plain string is compared with the expert English."""
        if str.__eq__(self, other) is not True:
            return False
        if type(other) is not Message:
            return True
        return self.template == other.template and all(
            type(own) is type(other.args[name]) and own == other.args[name] for name, own in self.args.items()
        )

    def __ne__(self, other: object) -> bool:
        """Return whether another text reads otherwise for some reader."""
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes an equal message in another process."""
        return Message, (self.template, dict(self.args), self.one)


class Series(str):
    """Messages one after the other, e.g. the sentences of a paragraph or the clauses of a line."""

    __slots__ = ("between", "parts")
    parts: tuple[str, ...]
    between: str

    def __new__(cls, parts: Iterable[str], between: str) -> Self:
        """Return a series of the parts that are not empty."""
        shown = tuple(part for part in parts if part)
        made = super().__new__(cls, between.join(shown))
        made.parts = shown
        made.between = between
        return made

    def __eq__(self, other: object) -> bool:
        """Return whether another text reads the same for every reader; a plain string is compared with the expert English."""
        return str.__eq__(self, other) is True and (type(other) is not Series or self.parts == other.parts)

    def __ne__(self, other: object) -> bool:
        """Return whether another text reads otherwise for some reader."""
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes an equal series in another process."""
        return Series, (self.parts, self.between)


TEXTS = (Message, Series, Quoted, Number, Code)
"""Texts that a reader renders by their type."""


def msg(template: str, /, **args: Argument) -> Message:
    """Return a message.

    Args:
        template: a whole sentence or label in expert English, its placeholders as in ``str.format``: ``{areas:,}``.
        **args: by placeholder. A number needs a format, a text one of the types of this module.

    Raises:
        KeyError: a placeholder without an argument.
    """
    return Message(template, args)


def plural(one: str, other: str, /, n: int, **args: Argument) -> Message:
    """Return a message whose template depends on a number.

    Args:
        one: template for 1, e.g. ``{n} area``.
        other: template for every other number, e.g. ``{n:,} areas``; the key of catalogs.
        n: the number, also an argument.
        **args: by placeholder.
    """
    return Message(other, {"n": n, **args}, one)


def listed(items: Iterable[Scalar], most: int | None = None) -> tuple[Scalar, ...]:
    """Return items as an argument that is rendered as a list: ``a, b, and 3 more``.

    Args:
        items: messages, codes, quotations or numbers.
        most: how many are named; None for all.
    """
    named = tuple(items)
    if most is None or len(named) <= most:
        return named
    return (*named[:most], msg(LIST_MORE, n=len(named) - most))


def series(*parts: str, between: str = " ") -> Series:
    """Return texts one after the other, without the empty ones.

    Args:
        *parts: messages or other texts of this module.
        between: what separates them: a space between sentences, ``"; "`` between clauses, a line break between lines.
    """
    return Series(parts, between)


@lru_cache(maxsize=8192)
def pieces(template: str) -> tuple[Piece, ...]:
    """Return the parts of a template.

    Raises:
        ValueError: a placeholder that is no name.
    """
    found = []
    for words, name, form, conversion in string.Formatter().parse(template):
        if name is not None and not name.isidentifier():
            raise ValueError(f"{template!r}: a placeholder must be a name (got {name!r})")
        found.append(Piece(words, name or "", form or "", conversion == "r"))
    return tuple(found)


def _plain(args: Mapping[str, Argument], name: str, form: str, is_quoted: bool) -> str:  # noqa: FBT001 - a field of a piece
    """Return an argument in expert English, "" where a piece has no placeholder."""
    if not name:
        return ""
    value = args[name]
    if is_quoted:
        return repr(str(value))
    if isinstance(value, tuple):
        return joined([_text(item, form) for item in value], str)
    return _text(value, form)


def _text(value: Scalar, form: str) -> str:
    if type(value) is Quoted:
        return visible_lines(value)
    return format(value, form) if form or not isinstance(value, str) else str(value)


def joined(texts: list[str], pattern: Any) -> str:
    """Return texts as a list of a language.

    Args:
        texts: as they are read.
        pattern: returns the translation of a pattern of lists.
    """
    if len(texts) < 2:
        return "".join(texts)
    if len(texts) == 2:
        return str(pattern(LIST_PAIR)).format(first=texts[0], last=texts[1])
    made = texts[0]
    for text in texts[1:-1]:
        made = str(pattern(LIST_MIDDLE)).format(first=made, next=text)
    return str(pattern(LIST_LAST)).format(first=made, last=texts[-1])
