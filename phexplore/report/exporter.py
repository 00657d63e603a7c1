"""One format of a value: the type the tables of formats are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class Exporter(Generic[Shown]):
    """One format. `write` is pure: the same value gives the same bytes.

    Attributes:
        id: as the command line and menus take it.
        suffix: of the file, with its dot.
        title: for people.
        write: value to bytes; raises a `PhexploreError` when it cannot.
    """

    id: str
    suffix: str
    title: str
    write: Callable[[Shown], bytes]
