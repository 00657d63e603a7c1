"""A TopDown run opened for reading: what was counted, and the trials that are there, at every level of the tabulation."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.accuracy.topdown_forecast import LevelQueryForecast, forecast_topdown
from phexplore.data.blocks.population import BlockPopulation
from phexplore.errors import PhexploreError
from phexplore.gui.run_manager.topdown_results import (
    ALL_SIZES,
)
from phexplore.metrics.topdown.distribution import ErrorDistribution, distribution_of, merge
from phexplore.metrics.topdown.redistricting import (
    GroupShares,
    group_shares,
)
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.model.topdown import LevelQuery
from phexplore.runs.spec import RunSpec
from phexplore.runs.store import TRUTH_FILE, RunUnreadableError, load_spec, present_trials, trial_file
from phexplore.runs.topdown_files import LeafFiles, open_leaf_files, read_metadata
from phexplore.runs.topdown_summary import MOST_NUMBERS, shares_together, sparse_distribution
from phexplore.runs.topdown_units import MeasuredUnits
from phexplore.simulate.topdown.histograms import Histograms, sums_up
from phexplore.spine.tree import GeoTree, tree_of
from phexplore.workload.queries import MarginalQuery, catalogue, parse_query, total_query
from phexplore.workload.schema import Schema, load_schema

Integers = NDArray[np.int64]

GROUP_QUERIES = {"pl94_persons": "hispanic * cenrace_7lev_two_comb", "pl94_reduced16": "race_ethnicity"}
"""The query whose answers are the groups of the redistricting criterion, by schema."""
MOST_TRIALS = 40
"""Trials that are looked at in detail; a run of more shows its first ones here, its summary has all."""
NOT_KEPT = (
    "The noisy answers of this run were not kept. Tick “Keep the noisy answers” in the form of a new run, and every measurement on "
    "the way from the root to a place is shown here beside the true and the published count."
)


class TopDownRun:
    """One run directory, read lazily."""

    def __init__(self, directory: Path) -> None:
        """Open a run whose data are counted.

        Raises:
            RunUnreadableError: the exact counts are not there yet, or cannot be read.
        """
        self.directory = directory
        self.spec: RunSpec = load_spec(directory)
        path = directory / TRUTH_FILE
        self.schema: Schema = load_schema(str(read_metadata(path)["schema"]))
        self.files: LeafFiles = open_leaf_files(path, self.schema)
        leaves = self.files.read(path)
        population = BlockPopulation(
            self.schema, self.files.geoids, leaves.starts, leaves.cells, leaves.counts.astype(np.int32)
        )
        self.tree: GeoTree = tree_of(population.geocodes(), self.spec.scenario.topdown.levels)
        self.truth = sums_up(leaves, self.tree, self.schema.cells)
        self._trials: OrderedDict[int, tuple[Histograms, ...]] = OrderedDict()
        self.metadata: dict[int, dict[str, object]] = {}
        self.problems: list[str] = []
        self._sparse: dict[tuple[str, str, int], ErrorDistribution] = {}
        self.figures = {entry.key: entry for entry in _forecast(self.spec)}

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials that were read."""
        return tuple(self._trials)

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels of the tree, widest first."""
        return tuple(level.name for level in self.tree.levels)

    def refresh(self) -> None:
        """Read the trials written since."""
        for index in present_trials(self.directory)[:MOST_TRIALS]:
            if index in self._trials:
                continue
            path = self.directory / trial_file(index)
            try:
                leaves = self.files.read(path)
                self.metadata[index] = read_metadata(path)
            except RunUnreadableError as error:
                if error.sentence not in self.problems:
                    self.problems.append(error.sentence)
                continue
            self._trials[index] = sums_up(leaves, self.tree, self.schema.cells)

    @cached_property
    def measured(self) -> MeasuredUnits | str:
        """The units whose noisy answers were kept, or why there are none."""
        return measured_units(self)

    def leaves(self, trial: int) -> Histograms:
        """Return the published histograms of the blocks."""
        return self._trials[trial][-1]

    def place(self, level: str) -> int:
        """Return the number of a level."""
        return self.levels.index(level)

    def queries(self) -> tuple[MarginalQuery, ...]:
        """Return the query groups worth looking at: the total, what was measured, and the groups of redistricting."""
        found = [total_query(self.schema), *catalogue(self.schema)]
        if self.schema.id in GROUP_QUERIES:
            found.append(parse_query(self.schema, GROUP_QUERIES[self.schema.id]))
        return tuple(sorted(dict.fromkeys(found), key=lambda query: query.answers))

    def query(self, name: str) -> MarginalQuery:
        """Return a query group of the run's schema."""
        return parse_query(self.schema, name)

    def numbers(self, level: str, query: MarginalQuery) -> int:
        """Return how many numbers a query has at a level."""
        return self.truth[self.place(level)].units * query.answers

    def exact(self, level: str, query: MarginalQuery) -> Integers:
        """Return the true answers, ``int64[units, answers]``."""
        return self.truth[self.place(level)].answers(query.cell_map(), query.answers)

    def estimates(self, level: str, query: MarginalQuery) -> Integers:
        """Return the published answers, ``int64[trials, units, answers]``."""
        place = self.place(level)
        answers = [each[place].answers(query.cell_map(), query.answers) for each in self._trials.values()]
        return np.stack(answers) if answers else np.empty((0, self.truth[place].units, query.answers), np.int64)

    def published(self, level: str, unit: int, query: MarginalQuery) -> Integers:
        """Return the published answers of one unit, ``int64[trials, answers]``."""
        place, cells = self.place(level), query.cell_map()
        return np.stack(
            [each[place].part(unit, unit + 1).answers(cells, query.answers)[0] for each in self._trials.values()]
        )

    def people(self, level: str) -> Integers:
        """Return the true population of each unit."""
        return self.truth[self.place(level)].totals()

    def codes(self, level: str) -> NDArray[np.str_]:
        """Return the codes of the units; blocks have their public ones."""
        place = self.place(level)
        codes = self.tree.levels[place].codes
        if place == len(self.levels) - 1 and len(codes) == len(self.files.geoids):
            return self.files.geoids
        return codes

    def distribution(self, level: str, query: MarginalQuery, size: str) -> tuple[int, ErrorDistribution | None]:
        """Return how many units are of a size, and the distribution of their errors over all trials."""
        people = self.people(level)
        chosen = np.ones(len(people), bool) if size == ALL_SIZES else self._of_size(people, size)
        count = int(chosen.sum())
        if not count or not self._trials:
            return count, None
        if self.numbers(level, query) > MOST_NUMBERS:
            if size != ALL_SIZES:
                return count, None
            return count, merge([self._sparsely(level, query, index) for index in self._trials])
        truth, place = self.exact(level, query)[chosen], self.place(level)
        parts = [
            distribution_of(each[place].answers(query.cell_map(), query.answers)[chosen] - truth)
            for each in self._trials.values()
        ]
        return count, merge(parts)

    def _sparsely(self, level: str, query: MarginalQuery, index: int) -> ErrorDistribution:
        key = (level, query.name, index)
        if key not in self._sparse:
            place = self.place(level)
            self._sparse[key] = sparse_distribution(self.truth[place], self._trials[index][place], query)
        return self._sparse[key]

    @staticmethod
    def _of_size(people: Integers, size: str) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = TENS.class_of(people) == TENS.labels.index(size)
        return found

    def sizes(self, level: str) -> tuple[str, ...]:
        """Return the labels of the classes of population that have units."""
        return tuple(TENS.labels[place] for place in np.unique(TENS.class_of(self.people(level))).tolist())

    def shares(self, level: str) -> GroupShares | None:
        """Return the largest groups' shares of a level, None where the schema has no groups or there is no trial."""
        name = GROUP_QUERIES.get(self.schema.id, "")
        if not name or not self._trials:
            return None
        query, place = self.query(name), self.place(level)
        truth = self.exact(level, query)
        return shares_together(
            [
                group_shares(truth, each[place].answers(query.cell_map(), query.answers))
                for each in self._trials.values()
            ]
        )

    def sigma(self, level: str, query: MarginalQuery) -> float | None:
        """Return σ of one answer of a query as it is measured at a level, None where it is not measured there."""
        for key, entry in self.figures.items():
            if key.level == level and self._same(key, query):
                return entry.sigma
        return None

    def _same(self, key: LevelQuery, query: MarginalQuery) -> bool:
        try:
            return parse_query(self.schema, key.query) == query
        except PhexploreError:
            return False  # the data are of a smaller schema, which cannot ask this query


def measured_units(run: TopDownRun) -> MeasuredUnits | str:
    """Return the units whose noisy answers a run kept or post-processes, or why there are none."""
    options = run.spec.topdown
    if options is None or not (options.keep_measurements or options.measurements):
        return NOT_KEPT
    directory = Path(options.measurements) if options.measurements else run.directory
    try:
        return MeasuredUnits(directory)
    except RunUnreadableError as error:
        return f"{error.sentence} {error.remedy}"


def _forecast(spec: RunSpec) -> tuple[LevelQueryForecast, ...]:
    return forecast_topdown(spec.scenario.topdown, spec.scenario.conventions).entries
