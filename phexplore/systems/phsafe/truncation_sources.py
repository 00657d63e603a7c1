"""What a study of truncation starts from: households of the synthetic population, of a run or of a file, and a query of a scenario.

Args:
    summary: of a run.
    query: table and level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from phexplore.accuracy.margins import margin_by
from phexplore.catalog.states import PUERTO_RICO, states
from phexplore.catalog.tables import own_tables, table
from phexplore.data.synthetic.counted_members import households_by_members
from phexplore.data.synthetic.tables import puerto_rico_figures, state_figures
from phexplore.data.synthetic.targets import OPEN_CLASS
from phexplore.files.atomic_files import read_text
from phexplore.model.keys import Iteration, QueryKey, Region, TableId
from phexplore.model.numbers import Unlimited
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import noise_for
from phexplore.runs.confidentiality import is_confidential_run
from phexplore.runs.store import load_summary
from phexplore.systems.phsafe.budget_edits import Keep
from phexplore.systems.phsafe.budget_model import reach_of
from phexplore.systems.phsafe.truncation_study import (
    HouseholdSizes,
    StudyError,
    TruncationStudy,
    read_sizes,
    scaled,
    sizes_of_run,
    study,
)

NATION = ""
"""Stands for all states together."""
_LARGEST = 20
"""Thresholds up to this one are studied, and the scenario's."""

_COUNTED: Mapping[TableId, str] = MappingProxyType({
    TableId("PH1_num"): "people",
    TableId("PH2"): "people",
    TableId("PH3"): "children under 18",
    TableId("PH4"): "members of the householder's family",
    TableId("PH6"): "own children under 18 of the householder",
    TableId("PH7"): "people",
})  # fmt: skip


def counted_words(table_id: TableId) -> str:
    """Return whom a truncated table counts in a household, in words."""
    return _COUNTED.get(table_id) or f"“{table(table_id).universe}”"


def synthetic_sizes(table_id: TableId, state: str = NATION) -> HouseholdSizes:
    """Return households by the number of members a table counts, as many as in 2010.

    Args:
        table_id: a truncated table.
        state: FIPS code, NATION for the 50 states and the District of Columbia together.

    Raises:
        StudyError: the table is the user's own: the members of synthetic households are known by the ages of production's tables.
        KeyError: no such table or state.
    """
    if own_tables([table_id]):
        raise StudyError(
            f"Households of the synthetic population are not known by the members that {table_id} counts.",
            "Choose a run or a file.",
        )
    if state == NATION:
        chosen, place = list(state_figures().values()), "United States"
    else:
        chosen = [puerto_rico_figures() if state == PUERTO_RICO else state_figures()[state]]
        place = states()[state].name
    counts = np.sum([households_by_members(figures, table_id) for figures in chosen], axis=0)
    words = f"{counted_words(table_id)} per household, synthetic population after the 2010 Census, {place}"
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
    if counted_words(table_id) != "people":
        raise StudyError(
            f"{table_id} counts {counted_words(table_id)}, but the published sizes count everybody in a household.",
            "Choose the synthetic population, a run or a file.",
        )
    chosen = list(state_figures().values()) if state == NATION else [state_figures()[state]]
    counts = {size: sum(figures.sizes[size - 1] for figures in chosen) for size in range(1, OPEN_CLASS + 1)}
    place = "United States" if state == NATION else states()[state].name
    return HouseholdSizes(counts, f"people per household, 2010 Census, {place}, 7 stands for 7 and more", is_open=True)


def average_share(query: QueryKey) -> Fraction:
    """Return the share of a table's people in an area that the average number of a query counts: one by the numbers there."""
    return Fraction(1, len(table(query.table).basis_cells) * len(query.level.iteration.codes))


def average_words(query: QueryKey, share: Fraction) -> str:
    """Return which number an average share studies, "" for another share.

    Args:
        query: that is studied.
        share: of the truncated people that the number counts.
    """
    if not share == average_share(query) != 1:
        return ""
    text = f"What is shown is the average of the {round(1 / share)} numbers of an area; the largest of them lose more people."
    if query.level.iteration is Iteration.ETHNICITY:
        text += (
            " Some people are neither Hispanic nor White alone, so these numbers lose less on average than is shown."
        )
    return text


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


@dataclass(frozen=True, slots=True)
class SizeSource:
    """Where households come from: the synthetic population or the published sizes of a state, a run, or a file.

    Attributes:
        state: FIPS code, NATION for all.
        is_published: the sizes published in 2010, not the synthetic population.
        run: directory of a run; or
        file: of household sizes.
    """

    state: str = NATION
    is_published: bool = False
    run: Path | None = None
    file: Path | None = None

    @property
    def title(self) -> str:
        """The source in words."""
        if self.run is not None:
            return f"Data of the run {self.run.name}"
        if self.file is not None:
            return f"File {self.file.name}"
        place = "United States" if self.state == NATION else states()[self.state].name
        return f"{'2010, 7 or more open' if self.is_published else 'Synthetic population'}: {place}"

    @property
    def is_confidential(self) -> bool:
        """Whether the data of the run are treated as confidential."""
        return self.run is not None and is_confidential_run(self.run)

    def sizes(self, query: QueryKey) -> HouseholdSizes:
        """Return the households by the number of members that the query's table counts.

        Raises:
            PhexploreError: they cannot be read.
        """
        if self.file is not None:
            return read_sizes(read_text(self.file), self.file.name)
        if self.run is not None:
            return sizes_of_run((load_summary(self.run) or {}).get("truncation", ()), query.table)
        return (published_sizes if self.is_published else synthetic_sizes)(query.table, self.state)

    def average(self, query: QueryKey) -> Fraction:
        """Return the part of these households that an average area of a query has.

        Raises:
            PhexploreError: the run cannot be read.
        """
        if self.run is not None:
            return average_area(query, states_in_run(load_summary(self.run) or {}, query))
        is_nation = self.file is None and self.state == NATION
        return average_area(query, len(state_figures())) if is_nation else Fraction(1)


@dataclass(frozen=True, slots=True)
class StudyRequest:
    """What is studied.

    Attributes:
        scenario: of the S-DHC.
        query: a truncated one.
        source: of the households.
        part: of these households the number is counted over.
        share: of the truncated people that the number counts.
        keep: what stays when the threshold changes.
    """

    scenario: Scenario
    query: QueryKey
    source: SizeSource
    part: Fraction = Fraction(1)
    share: Fraction = Fraction(1)
    keep: Keep = Keep.BUDGETS

    @property
    def present(self) -> int:
        """The scenario's threshold."""
        return self.scenario.phsafe.thresholds[self.query.table]


def study_of(request: StudyRequest) -> TruncationStudy:
    """Return the study of the thresholds of one query.

    Raises:
        PhexploreError: the households cannot be read, or the query has no noise.
    """
    scenario, query = request.scenario, request.query
    method = scenario.phsafe
    budget = method.budgets[query]
    if isinstance(budget, Unlimited) or budget == 0:
        raise StudyError(
            f"{query.title} is published without noise or not at all.", "Choose another, or give it a budget."
        )
    sizes = request.source.sizes(query)
    if request.part != 1:
        sizes = scaled(sizes, request.part)
    margin: Fraction | None = None
    if request.keep is Keep.MARGINS:
        noise = noise_for(method.framework, sensitivity=reach_of(method, query), budget=budget)
        margin = method.targets.get(query) or Fraction(margin_by(noise, scenario.conventions))
    return study(
        sizes,
        method.framework,
        scenario.conventions,
        budget=budget if margin is None else None,
        margin=margin,
        share=request.share,
        thresholds=sorted({*range(1, min(sizes.largest + 1, _LARGEST) + 1), request.present}),
    )
