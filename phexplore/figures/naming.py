"""Figures as they are read: their texts with names instead of codes, where names are chosen. Keys and numbers stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from phexplore.catalog.names import Naming, chosen_naming, worded
from phexplore.figures.figure import Figure

_TEXTS = frozenset({"title", "summary", "text", "short", "name", "group", "columns", "room_for"})
"""Fields of figures and their parts that are read; others are keys, inks and numbers."""


def in_chosen_words(figure: Figure) -> Figure:
    """Return a figure with its texts as they are read."""
    return figure if chosen_naming() is Naming.CODES else _worded(figure)


def _worded(value: Any, *, is_read: bool = False) -> Any:
    """Return a part of a figure with its texts worded.

    Args:
        value: any part.
        is_read: whether a text in its place is read.
    """
    if isinstance(value, str):
        return worded(value) if is_read else value
    if isinstance(value, tuple):
        if names := getattr(value, "_fields", ()):
            return type(value)(*(_field(value, name) for name in names))
        return tuple(_worded(each, is_read=is_read) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed: Mapping[str, Any] = {
            part.name: new
            for part in fields(value)
            if part.init and (new := _field(value, part.name)) is not getattr(value, part.name)
        }
        return replace(value, **changed) if changed else value
    return value


def _field(value: Any, name: str) -> Any:
    own = getattr(value, name)
    is_part = isinstance(own, str | tuple) or is_dataclass(own)
    return _worded(own, is_read=name in _TEXTS) if is_part else own
