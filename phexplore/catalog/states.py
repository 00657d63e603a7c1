"""The 50 states, the District of Columbia and Puerto Rico: the areas a PHSafe run can publish."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from phexplore.errors import UnknownNameError
from phexplore.resources import resource

PUERTO_RICO = "72"
"""FIPS code of Puerto Rico, which always has a run of its own."""


FICTIONAL_STATE = "98"
"""Code of the state of the demonstration blocks. INCITS 38 assigns it to no state, and `states` does not list it."""


@dataclass(frozen=True, slots=True)
class State:
    """A state, the District of Columbia or Puerto Rico.

    Attributes:
        fips: two-digit code, as TABBLKST and REGION_ID spell it.
        postal: two-letter abbreviation.
        name: in English.
    """

    fips: str
    postal: str
    name: str


@lru_cache(maxsize=1)
def states() -> Mapping[str, State]:
    """Return all 52 by FIPS code, ascending (INCITS 38)."""
    with resource("tables/states.csv").open(encoding="utf-8", newline="") as file:
        return MappingProxyType({row["fips"]: State(**row) for row in csv.DictReader(file)})


def us_states() -> tuple[str, ...]:
    """Return the FIPS codes of a US run: the 50 states and the District of Columbia, ascending."""
    return tuple(fips for fips in states() if fips != PUERTO_RICO)


def state(text: str) -> State:
    """Return the state with this FIPS code, postal abbreviation or name, in any case.

    Raises:
        UnknownNameError: there is none; the remedy names the nearest.
    """
    wanted = text.strip().casefold()
    for candidate in states().values():
        if wanted in {candidate.fips, candidate.postal.casefold(), candidate.name.casefold()}:
            return candidate
    known = [word for candidate in states().values() for word in (candidate.fips, candidate.postal, candidate.name)]
    raise UnknownNameError("state", text, known)


def parse_states(text: str) -> tuple[str, ...] | None:
    """Return the FIPS codes of states named by code, abbreviation or name with commas between, None for none at all.

    Raises:
        UnknownNameError: one of them is no state.
    """
    return tuple(dict.fromkeys(state(name).fips for name in text.split(",") if name.strip())) or None
