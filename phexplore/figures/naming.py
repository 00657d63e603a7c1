"""Figures as they are read: their texts with names instead of codes, where names are chosen. Keys and numbers stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar

from phexplore.catalog.names import Naming, chosen_naming, in_words, synthetic_areas, worded
from phexplore.figures.figure import Figure
from phexplore.text.escapes import visible_lines

_TEXTS = frozenset({"title", "summary", "text", "short", "name", "group", "columns", "room_for"})
"""Fields of figures and their parts that are read; others are keys, inks and numbers."""
_POINTED_AT = _TEXTS | {"tip", "tips", "reason", "words", "caption", "beside", "change"}
"""Fields that are read of everything a reader of runs answers."""
_OF_AREA = re.compile(r"\d{4}|State \d\d")
"""What a text with the code of an area holds; other texts are worded where they are drawn."""
Part = TypeVar("Part")


def in_chosen_words(figure: Figure) -> Figure:
    """Return a figure with its texts as they are read, control characters as escapes."""
    read: Figure = _Wording(lambda text: visible_lines(worded(text)), _TEXTS).of(figure)
    return read


def of_synthetic_areas(value: Part) -> Part:
    """Return what was read of a run on synthetic data, with its areas named as such: whoever draws it knows only their codes."""
    named: Part = _Wording(partial(_synthetic, naming=chosen_naming()), _POINTED_AT).of(value)
    return named


def synthetic_cell(value: Any) -> Any:
    """Return a cell of a table of synthetic areas: the code of an area with its name, where names are read."""
    is_shown = isinstance(value, str) and chosen_naming() is not Naming.CODES
    return _synthetic(value, Naming.BOTH) if is_shown else value


def _synthetic(text: str | Callable[[], str], naming: Naming) -> Any:
    """Return a text with its areas named as synthetic, or what makes one."""
    if not isinstance(text, str):
        return partial(_made, text, naming)
    if not _OF_AREA.search(text):
        return text
    with synthetic_areas(is_synthetic=True):
        return in_words(text, naming)


def _made(make: Callable[[], str], naming: Naming) -> Any:
    with synthetic_areas(is_synthetic=True):
        return _synthetic(make(), naming)


class _Wording:
    """Words the texts of values; keys and numbers stay.

    Args:
        word: returns a text as it is read.
        texts: names of the fields that are read.
    """

    def __init__(self, word: Callable[[Any], Any], texts: frozenset[str]) -> None:
        self._word, self._texts = word, texts

    def of(self, value: Any, *, is_read: bool = False) -> Any:
        """Return a part with its texts worded.

        Args:
            value: any part.
            is_read: whether a text in its place is read.
        """
        if isinstance(value, str):
            return self._word(value) if is_read else value
        if isinstance(value, tuple):
            if names := getattr(value, "_fields", ()):
                return type(value)(*(self._field(value, name) for name in names))
            return tuple(self.of(each, is_read=is_read) for each in value)
        if is_dataclass(value) and not isinstance(value, type):
            changed: Mapping[str, Any] = {
                part.name: new
                for part in fields(value)
                if part.init and (new := self._field(value, part.name)) is not getattr(value, part.name)
            }
            return replace(value, **changed) if changed else value
        return value

    def _field(self, value: Any, name: str) -> Any:
        own, is_read = getattr(value, name), name in self._texts
        if name == "tip" and is_read and callable(own):
            return self._word(own)
        is_part = isinstance(own, str | tuple) or is_dataclass(own)
        return self.of(own, is_read=is_read) if is_part else own
