"""The 63 census race codes and the race and ethnicity iterations made of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType

from phexplore.catalog.tables import CODE_LIMIT, Condition, parse_codes
from phexplore.model.keys import Iteration
from phexplore.resources import resource

MAJOR_RACES: Mapping[str, str] = MappingProxyType(
    {
        "W": "White",
        "B": "Black or African American",
        "I": "American Indian and Alaska Native",
        "A": "Asian",
        "N": "Native Hawaiian and Other Pacific Islander",
        "S": "Some Other Race",
    }
)
"""The six major races, by a letter, in the order that numbers the race codes."""

RACES: Mapping[int, tuple[str, ...]] = MappingProxyType(
    dict(enumerate((c for size in range(1, 7) for c in combinations(MAJOR_RACES, size)), start=1))
)
"""The letters of the major races behind each code 1-63 (CENRACE, HHRACE): one race, two, … all six."""


def race_label(code: int) -> str:
    """Return the words for a race code, e.g. ``White, Asian``; ``None`` for 0, which a unit without householder has."""
    return ", ".join(MAJOR_RACES[letter] for letter in RACES[code]) if code else "None"


@dataclass(frozen=True, slots=True)
class IterationCode:
    """One ITERATION_CODE of the output.

    Attributes:
        code: as written, ``*`` or ``A`` to ``I``.
        level: the iteration it belongs to.
        label: the words of the paper.
        race: the race codes that belong to it.
        hispanic: the codes of Hispanic origin that belong to it.
    """

    code: str
    level: Iteration
    label: str
    race: Condition
    hispanic: Condition

    def holds(self, race: int, hispanic: int) -> bool:
        """Return whether a person or householder with these codes belongs to it."""
        return self.race.holds(race) and self.hispanic.holds(hispanic)


@dataclass(frozen=True, slots=True)
class IterationLevel:
    """How the codes of one iteration divide the population.

    Attributes:
        iteration: which one.
        codes: its codes, in output order; no record belongs to two of them.
        complete: every record must belong to one of them: a private run of production stops at one that does not.
        otherwise: the code that non-private production gives a record that belongs to none, "" = it is left out.
    """

    iteration: Iteration
    codes: tuple[IterationCode, ...]
    complete: bool
    otherwise: str

    def place(self, race: int, hispanic: int, *, private: bool) -> int | None:
        """Return the position among `codes` of a record, or None when it belongs to none."""
        for position, code in enumerate(self.codes):
            if code.holds(race, hispanic):
                return position
        if private or not self.otherwise:
            return None
        return [code.code for code in self.codes].index(self.otherwise)


@lru_cache(maxsize=1)
def iteration_levels() -> Mapping[Iteration, IterationLevel]:
    """Return the three levels, in the order of the model."""
    entry = tomllib.loads(resource("tables/iterations.toml").read_text(encoding="utf-8"))
    codes = [
        IterationCode(
            code=item["code"],
            level=Iteration(item["level"]),
            label=item["label"],
            race=Condition("RACE", _codes(item.get("race"))),
            hispanic=Condition("HISPANIC", _codes(item.get("hispanic"))),
        )
        for item in entry["iterations"]
    ]
    levels = {
        Iteration(item["level"]): IterationLevel(
            iteration=Iteration(item["level"]),
            codes=tuple(code for code in codes if code.level.value == item["level"]),
            complete=item["complete"],
            otherwise=item.get("otherwise", ""),
        )
        for item in entry["levels"]
    }
    for iteration, level in levels.items():
        if tuple(code.code for code in level.codes) != iteration.codes:
            raise ValueError(f"iterations.toml and the model disagree about the codes of {iteration.value}")
    return MappingProxyType({iteration: levels[iteration] for iteration in Iteration})


def _codes(text: str | None) -> tuple[tuple[int, int], ...]:
    return ((0, CODE_LIMIT - 1),) if text is None else parse_codes(text)
