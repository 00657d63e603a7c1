"""Counties of 2010 with their population by voting age and race, as `counties_2010.csv` and `states_2010.csv` hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.regions.table_file import BLANK, TableFile

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

GROUPS = ("white", "black", "aian", "asian", "nhpi", "other", "two", "hisp")
"""The eight disjoint race and ethnicity groups of P.L. 94-171 tables P2 and P4 (all but the last: not Hispanic)."""

_REMEDY = "The table needs fips, state_name, name, pop, pop_* and vap_* for the eight groups, households and gq_pop."


@dataclass(frozen=True, slots=True, eq=False)
class Counties:
    """Counts of counties, ascending by code.

    Attributes:
        fips: ``U5[counties]``, state (2) and county (3).
        names: of the counties.
        state_names: of the states they lie in.
        population: ``int64[counties]``, everybody.
        groups: ``int64[counties, 2, 8]``: under 18 and 18 or over, by `GROUPS`; sums to the population.
        households: ``int64[counties]``, occupied units, `BLANK` (-1) where unknown.
        group_quarters: ``int64[counties]``, persons in group quarters, `BLANK` where unknown.
    """

    fips: NDArray[np.str_]
    names: tuple[str, ...]
    state_names: tuple[str, ...]
    population: NDArray[np.int64]
    groups: NDArray[np.int64]
    households: NDArray[np.int64]
    group_quarters: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of counties."""
        return len(self.fips)

    @property
    def states(self) -> NDArray[np.str_]:
        """``U2[counties]``, the state of each county."""
        return self.fips.astype("U2")

    def of_state(self, state: str) -> NDArray[np.intp]:
        """Return the rows of a state's counties, ``intp[counties]``; none when no state has these two digits."""
        return np.flatnonzero(self.states == state)


def read_counties_2010(path: Path) -> Counties:
    """Read all counties of a table like ``counties_2010.csv``, of any states.

    Raises:
        InputProblemsError: every bad field with its line and column: codes that are not five digits or stand twice,
            counts that are none, groups that do not add up to the population, more adults than persons.
    """
    people = [f"pop_{group}" for group in GROUPS]
    adults = [f"vap_{group}" for group in GROUPS]
    table = TableFile(
        path, ["fips", "state_name", "name", "pop", *people, "vap", *adults, "households", "gq_pop"], _REMEDY
    )
    fips = table.codes("fips", 5)
    table.refuse_repeated("fips", "county")
    names, state_names = table.texts("name", empty=False), table.texts("state_name", empty=False)
    population, voting_age = table.counts("pop"), table.counts("vap")
    everybody = np.stack([table.counts(name) for name in people], axis=1)
    grown = np.stack([table.counts(name) for name in adults], axis=1)
    households, quarters = table.counts("households", blank=True), table.counts("gq_pop", blank=True)
    if not table.failed:
        _refuse_sums(table, "pop", population, everybody.sum(axis=1))
        _refuse_sums(table, "vap", voting_age, grown.sum(axis=1))
        for place, group in enumerate(GROUPS):
            _refuse_more(table, f"vap_{group}", grown[:, place], everybody[:, place])
        _refuse_more(table, "gq_pop", quarters, population)
    table.finish()
    order = np.argsort(fips, kind="stable")
    return Counties(
        fips[order].astype("U5"),
        tuple(names[order].tolist()),
        tuple(state_names[order].tolist()),
        population[order],
        np.stack([everybody - grown, grown], axis=1)[order],
        households[order],
        quarters[order],
    )


def _refuse_sums(table: TableFile, column: str, total: NDArray[np.int64], parts: NDArray[np.int64]) -> None:
    table.refuse(
        total != parts,
        column,
        f"{column} is not the sum of its eight groups.",
        "Correct the total or the groups.",
    )


def _refuse_more(table: TableFile, column: str, part: NDArray[np.int64], whole: NDArray[np.int64]) -> None:
    table.refuse(
        part > whole,
        column,
        f"{column} is more than the persons it is part of.",
        "Correct one of the two.",
    )


__all__ = ["BLANK", "GROUPS", "Counties", "read_counties_2010"]
