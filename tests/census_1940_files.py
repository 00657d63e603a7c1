"""Synthetic files of the 1940 full count: households H with their persons P, in the layout `census_1940_reading` reads.

Rough shapes of 1940: enumeration districts of some 900 people, 3.7 people per household, one district in six with quarters, 90 %
White and 10 % Black with county-wide variation, few of other races, one in sixteen adults no citizen. No record describes anybody.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.census_1940_layout import (
    DATANUM,
    GEOCODE_FIELDS,
    H_FIELDS,
    P_FIELDS,
    SYNTHETIC_DATANUM,
    YEAR,
    Field,
    H,
    P,
    Record,
)
from phexplore.data.blocks.whole_file import whole_file

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

PEOPLE_PER_DISTRICT, SPREAD = 850, 0.5
"""Median of a district, and the standard deviation of its logarithm."""

PERSONS_PER_HOUSEHOLD = 3.7
DISTRICTS_PER_SUPERVISOR, SUPERVISORS_PER_COUNTY = 12, 2.0
QUARTERS = 0.16
"""Share of the districts that have quarters."""

_QUARTERS_GQTYPE = np.array([2, 3, 4, 6, 7, 8, 9])
_QUARTERS_SHARES = np.array([0.06, 0.04, 0.10, 0.05, 0.10, 0.45, 0.20])
_RACES = np.array([0.897, 0.097, 0.0025, 0.0006, 0.001, 0.0019])


@dataclass(frozen=True, slots=True, eq=False)
class Census1940Records:
    """Records H and P, persons in the order of their households.

    Attributes:
        geocode: ``int64[households, 4]``: state, county, supervisor's district, enumeration district.
        quarters: ``int64[households, 2]``: GQ, GQTYPE.
        size: ``int64[households]``, people, at least 1.
        persons: ``int64[persons, 5]``: SEX, AGE, RACE, HISPAN, CITIZEN.
    """

    geocode: Integers
    quarters: Integers
    size: Integers
    persons: Integers


def synthesize_census_1940(districts: int, seed: int, states: Sequence[str] = ("44",)) -> Census1940Records:
    """Return synthetic records of so many enumeration districts, spread over the states.

    Args:
        districts: at least one per state.
        seed: any whole number of 0 or more; equal arguments give equal records.
        states: codes of two digits.
    """
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(districts, YEAR))))
    place = _places(districts, sorted({int(state) for state in states}), rng)
    people = np.ceil(rng.lognormal(np.log(PEOPLE_PER_DISTRICT), SPREAD, districts)).astype(np.int64)
    households = np.maximum(1, people // 4)
    district = np.repeat(np.arange(districts), households)
    size = 1 + rng.poisson(PERSONS_PER_HOUSEHOLD - 1, len(district))
    kinds = np.zeros((len(district), 2), np.int64)
    kinds[:, 0] = 1
    has = np.flatnonzero(rng.random(districts) < QUARTERS)
    district = np.concatenate([district, has])
    kind = rng.choice(_QUARTERS_GQTYPE, len(has), p=_QUARTERS_SHARES)
    kinds = np.concatenate([kinds, np.stack([np.where(kind < 5, 3, 4), kind], axis=1)])
    size = np.concatenate([size, rng.geometric(1 / 40, len(has))])
    order = np.argsort(district, kind="stable")
    district, kinds, size = district[order], kinds[order], size[order]
    return Census1940Records(place[district], kinds, size, _persons(district, kinds[:, 1], size, place[:, 1], rng))


def _places(districts: int, states: Sequence[int], rng: np.random.Generator) -> Integers:
    """Return state, county, supervisor's and enumeration district of every district, ascending, ``int64[districts, 4]``."""
    state = np.sort(np.arange(districts) % len(states))
    supervisor = np.cumsum(rng.random(districts) < 1 / DISTRICTS_PER_SUPERVISOR)
    county = np.cumsum((rng.random(districts) < 1 / SUPERVISORS_PER_COUNTY) & (np.diff(supervisor, prepend=0) > 0))
    new = np.concatenate([[True], state[1:] != state[:-1]])
    first = np.maximum.accumulate(np.where(new, np.arange(districts), 0))
    # IPUMS codes of counties are ten times the historical number.
    counties = 10 * (1 + county - county[first])
    supervisors = 1 + supervisor - supervisor[first]
    number = 1 + np.arange(districts) - first
    return np.stack([np.array(states)[state], counties, supervisors, number], axis=1).astype(np.int64)


def _persons(
    district: Integers, gqtype: Integers, size: Integers, county: Integers, rng: np.random.Generator
) -> Integers:
    home = np.repeat(np.arange(len(size)), size)
    first = np.zeros(len(home), bool)
    first[np.cumsum(size) - size] = True
    adult = first | (rng.random(len(home)) < 0.55) | (gqtype[home] > 0)
    age = np.where(adult, 18 + np.minimum(rng.gamma(2.2, 10.0, len(home)), 90).astype(np.int64), 0)
    age = np.where(adult, age, rng.integers(0, 18, len(home)))
    # A household is of one race; shares vary from county to county.
    counties, of_district = np.unique(county, return_inverse=True)
    shares = rng.dirichlet(_RACES * 12, len(counties))
    drawn = rng.random(len(size))
    race = 1 + (drawn[:, None] > np.cumsum(shares, axis=1)[of_district[district]]).sum(axis=1)
    race = np.minimum(race, 6)[home]
    hispanic = np.where(rng.random(len(size)) < 0.014, 1, 0)[home]
    # CITIZEN: 0 not applicable, 1 born abroad of American parents, 2 naturalised, 3 not a citizen, 4 not but has first papers.
    citizen = rng.choice(5, len(home), p=[0.90, 0.005, 0.045, 0.035, 0.015])
    sex = rng.integers(1, 3, len(home))
    return np.stack([sex, age, race, hispanic, np.where(adult, citizen, 0)], axis=1).astype(np.int64)


def write_census_1940(records: Census1940Records, path: Path, *, delimited: bool = False) -> int:
    """Write records H, each followed by its P, and return how many persons there are.

    Args:
        records: to be written.
        path: of the file, gzip-compressed when its name ends in ``.gz``.
        delimited: with bars between the values instead of fixed width.
    """
    serial = 1 + np.arange(len(records.size))
    year = np.full(len(serial), YEAR)
    home = np.repeat(serial, records.size)
    households = _lines(H, (*H_FIELDS, *GEOCODE_FIELDS), [year, serial, *records.quarters.T, *records.geocode.T])
    persons = _lines(P, P_FIELDS, [home, *records.persons.T])
    if delimited:
        households = _between_bars(H, (*H_FIELDS, *GEOCODE_FIELDS), households)
        persons = _between_bars(P, P_FIELDS, persons)
    lines = [b""] * (len(households) + len(persons))
    starts = np.cumsum(records.size + 1) - records.size - 1
    for place, line in zip(starts.tolist(), households, strict=True):
        lines[place] = line
    following = (
        np.repeat(starts + 1, records.size)
        + np.arange(len(home))
        - np.repeat(np.cumsum(records.size) - records.size, records.size)
    )
    for place, line in zip(following.tolist(), persons, strict=True):
        lines[place] = line
    content = b"".join(lines)
    with whole_file(path) as file:
        file.write(gzip.compress(content, 3, mtime=0) if path.suffix == ".gz" else content)
    return len(persons)


def _lines(record: Record, fields: Sequence[Field], columns: Sequence[Integers]) -> list[bytes]:
    """Return lines of fixed width, zeros where nothing is said."""
    letters = np.full((len(columns[0]), record.width + 1), ord("0"), np.uint8)
    letters[:, 0], letters[:, -1] = ord(record.letter), ord("\n")
    letters[:, 1:7] = np.frombuffer(f"{YEAR}{SYNTHETIC_DATANUM}".encode(), np.uint8)
    for field, column in zip(fields, columns, strict=True):
        rest = column.copy()
        for place in range(field.last - 1, field.first - 1, -1):
            rest, digit = np.divmod(rest, 10)
            letters[:, place] = digit + ord("0")
    return letters.reshape(-1).view(f"S{record.width + 1}").tolist()


def _between_bars(record: Record, fields: Sequence[Field], lines: Sequence[bytes]) -> list[bytes]:
    values = [b"0"] * record.values
    values[0], values[1] = record.letter.encode(), str(YEAR).encode()
    values[DATANUM] = str(SYNTHETIC_DATANUM).encode()
    found = []
    for line in lines:
        for field in fields:
            values[field.place] = line[field.first : field.last]
        found.append(b"|".join(values) + b"\n")
    return found
