"""The records of the 1940 full count (IPUMS extract): where each value stands (formats, section 6)."""

from __future__ import annotations

from typing import NamedTuple

YEAR = 1940
SYNTHETIC_DATANUM = 99
"""DATANUM of every synthetic record; the full count has 1 or 2."""
DATANUM = 2
"""Place of DATANUM between bars; in fixed width it follows the year."""


class Field(NamedTuple):
    """Where a value stands: characters ``first:last`` in a line of fixed width, or a place between bars."""

    name: str
    first: int
    last: int
    place: int


class Record(NamedTuple):
    """One kind of record.

    Attributes:
        letter: the first character of its lines.
        characters: a line of fixed width needs at least these.
        values: a delimited line has exactly these.
        width: characters of a whole line of fixed width.
    """

    letter: str
    characters: int
    values: int
    width: int


H = Record("H", 131, 53, 159)
P = Record("P", 118, 102, 273)
H_FIELDS = (
    Field("YEAR", 1, 5, 1),
    Field("SERIAL", 7, 15, 3),
    Field("GQ", 93, 94, 27),
    Field("GQTYPE", 94, 95, 28),
)
GEOCODE_FIELDS = (
    Field("STATEFIP", 53, 55, 14),
    Field("COUNTY", 55, 59, 15),
    Field("SUPDIST", 128, 131, 44),
    Field("ENUMDIST", 124, 128, 43),
)
P_FIELDS = (
    Field("SERIAL", 7, 15, 3),
    Field("SEX", 72, 73, 29),
    Field("AGE", 73, 76, 30),
    Field("RACE", 84, 85, 36),
    Field("HISPAN", 88, 89, 38),
    Field("CITIZEN", 117, 118, 47),
)
