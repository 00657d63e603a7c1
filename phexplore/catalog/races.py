"""The 63 census race codes and the race and ethnicity iterations made of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from phexplore.catalog.tables import CODE_LIMIT, Condition, parse_codes
from phexplore.model.keys import Iteration
from phexplore.resources import resource


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
        """Return whether a person or householder with these codes belongs to it.

        Args:
            race: CENRACE, 1 to 63.
            hispanic: CENHISP.
        """
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
        """Return the position among `codes` of a record, or None when it belongs to none.

        Args:
            race: CENRACE, 1 to 63.
            hispanic: CENHISP.
            private: whether the private mode asks, which has no code for the others.
        """
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
