"""What a study of truncation can start from without a file: members that a table counts, per household of the synthetic population.

Args:
    summary: of a run.
    query: table and level.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from phexplore.catalog.states import PUERTO_RICO, states
from phexplore.catalog.tables import table
from phexplore.data.synthetic.counted_members import households_by_members
from phexplore.data.synthetic.tables import puerto_rico_figures, state_figures
from phexplore.data.synthetic.targets import OPEN_CLASS
from phexplore.model.keys import QueryKey, Region, TableId
from phexplore.systems.phsafe.truncation_study import HouseholdSizes, StudyError

NATION = ""
"""Stands for all states together."""

COUNTED: Mapping[TableId, str] = MappingProxyType({
    TableId("PH1_num"): "people",
    TableId("PH2"): "people",
    TableId("PH3"): "children under 18",
    TableId("PH4"): "members of the householder's family",
    TableId("PH6"): "own children under 18 of the householder",
    TableId("PH7"): "people",
})  # fmt: skip
"""Whom a truncated table counts in a household, in words."""


def synthetic_sizes(table_id: TableId, state: str = NATION) -> HouseholdSizes:
    """Return households by the number of members a table counts, as many as in 2010.

    Args:
        table_id: a truncated table.
        state: FIPS code, NATION for the 50 states and the District of Columbia together.

    Raises:
        KeyError: no such table or state.
    """
    if state == NATION:
        chosen, place = list(state_figures().values()), "United States"
    else:
        chosen = [puerto_rico_figures() if state == PUERTO_RICO else state_figures()[state]]
        place = states()[state].name
    counts = np.sum([households_by_members(figures, table_id) for figures in chosen], axis=0)
    words = f"{COUNTED[table_id]} per household, synthetic population after the 2010 Census, {place}"
    return HouseholdSizes({size: round(number) for size, number in enumerate(counts.tolist()) if size}, words)


def published_sizes(table_id: TableId, state: str = NATION) -> HouseholdSizes:
    """Return households by size as published in 2010 (table H13), seven or more as an open class at 7.

    Args:
        table_id: a table that truncates all people of a household.
        state: FIPS code, NATION for the 50 states and the District of Columbia together.

    Raises:
        StudyError: the table counts some people of a household only, whom no published table counts.
        KeyError: no figures of that state.
    """
    if COUNTED[table_id] != "people":
        raise StudyError(
            f"{table_id} counts {COUNTED[table_id]}, but the published sizes count everybody in a household.",
            "Choose the synthetic population, a run or a file.",
        )
    chosen = list(state_figures().values()) if state == NATION else [state_figures()[state]]
    counts = {size: sum(figures.sizes[size - 1] for figures in chosen) for size in range(1, OPEN_CLASS + 1)}
    place = "United States" if state == NATION else states()[state].name
    return HouseholdSizes(counts, f"people per household, 2010 Census, {place}, 7 stands for 7 and more", is_open=True)


def average_share(query: QueryKey) -> Fraction:
    """Return the share of a table's people in an area that the average number of a query counts: one by the numbers there."""
    return Fraction(1, len(table(query.table).basis_cells) * len(query.level.iteration.codes))


def average_area(query: QueryKey, areas: int) -> Fraction:
    """Return the part of all households that one area of a query has on average.

    Args:
        query: its level says whether an area is the nation or a state.
        areas: states that the households are spread over, at least 1.
    """
    return Fraction(1, areas) if query.level.region is Region.STATE else Fraction(1)


def states_in_run(summary: Mapping[str, Any], query: QueryKey) -> int:
    """Return how many areas of a query a run counted, from its summary; 1 where it does not say.

    Args:
        summary: of the run, plain JSON.
        query: whose areas to count.
    """
    numbers = sum(
        int(entry["numbers"])
        for entry in summary.get("metrics", ())
        if (entry.get("table"), entry.get("level")) == (query.table, query.level.text)
    )
    return max(1, round(numbers * average_share(query)))
