"""The parts the program is shipped with and their licences."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from phexplore.resources import resource


@dataclass(frozen=True, slots=True)
class Part:
    """One library the program is shipped with.

    Attributes:
        name: of the distribution.
        version: it was listed at.
        licence: as its makers state it.
        home: web address, "" when none is stated.
    """

    name: str
    version: str
    licence: str
    home: str


@cache
def parts() -> tuple[Part, ...]:
    """Return the parts in alphabetical order (``resources/licences.csv``, derived by ``packaging/derive_licences.py``)."""
    with resource("licences.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Part(row["part"], row["version"], row["licence"], row["home"]) for row in csv.DictReader(file))
