"""The parts the program and its options need, and their licences."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from phexplore.resources import resource


@dataclass(frozen=True, slots=True)
class Part:
    """One library the program needs.

    Attributes:
        name: of the distribution.
        version: it was listed at.
        licence: as its makers state it.
        home: web address, "" when none is stated.
        option: of the program that needs it (``pdf``, ``cluster``), "" where the program itself does.
    """

    name: str
    version: str
    licence: str
    home: str
    option: str


@cache
def parts() -> tuple[Part, ...]:
    """Return the parts in alphabetical order (``resources/licences.csv``, derived by ``packaging/derive_licences.py``)."""
    with resource("licences.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Part(row["part"], row["version"], row["licence"], row["home"], row["option"])
            for row in csv.DictReader(file)
        )
