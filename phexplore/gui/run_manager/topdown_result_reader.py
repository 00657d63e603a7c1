"""Reads the results of TopDown runs trial by trial, in a process beside the window; what was read stays read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.accuracy.topdown_forecast import LevelQueryForecast, forecast_topdown
from phexplore.data.blocks.population import BlockPopulation
from phexplore.errors import PhexploreError
from phexplore.gui.run_manager.topdown_place_reader import labels_of, measured_units, one_place, place_path
from phexplore.gui.run_manager.topdown_results import (
    ALL_SIZES,
    EVERY_QUERY,
    BiasContent,
    CriterionContent,
    ErrorsContent,
    LevelCriterion,
    LevelErrors,
    MapContent,
    MapShape,
    MapValue,
    TopDownAnswer,
    TopDownChoice,
    TopDownContent,
    TopDownHeadline,
    TopDownOffer,
    TopDownRequest,
    TopDownTab,
    WorstContent,
    WorstPlace,
    first_of,
)
from phexplore.gui.run_manager.topdown_shapes import Outline, read_outlines
from phexplore.metrics.topdown.bias import bias_by_size
from phexplore.metrics.topdown.distribution import ErrorDistribution, distribution_of, merge
from phexplore.metrics.topdown.redistricting import (
    LEAST_PEOPLE,
    GroupShares,
    criterion_by_size,
    group_shares,
    redistricting_criterion,
)
from phexplore.metrics.topdown.reliability import reliable_from
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.metrics.topdown.worst import worst_units
from phexplore.model.topdown import LevelQuery
from phexplore.runs.spec import RunSpec
from phexplore.runs.store import TRUTH_FILE, RunUnreadableError, load_spec, present_trials, state_of, trial_file
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
KEPT_RUNS = 2
MOST_TRIALS = 40
"""Trials that are looked at in detail; a run of more shows its first ones here, its summary has all."""
MOST_WORST = 60
_TOO_MANY = (
    "{numbers:,} numbers per trial are too many to look at one by one here; choose a coarser query or a wider level. The "
    "distribution of all of them is on the tab “Distribution”."
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


class TopDownResultReader:
    """Answers requests; a few runs stay open."""

    def __init__(self) -> None:
        self._runs: OrderedDict[Path, TopDownRun] = OrderedDict()
        self._outlines: tuple[str, tuple[Outline, ...]] = ("", ())

    def answer(self, request: TopDownRequest) -> TopDownAnswer:
        """Return what is asked, as far as it is there.

        Raises:
            PhexploreError: the run cannot be read.
        """
        spec, state = load_spec(request.directory), state_of(request.directory)
        if not (request.directory / TRUTH_FILE).exists():
            return TopDownAnswer(request, request, TopDownHeadline(spec, state, 0), None, None)
        run = self._run(request.directory)
        run.refresh()
        settled = replace(request, choice=_settled(run, request.choice, request.tab))
        choice = settled.choice
        queries = tuple(query.name for query in run.queries())
        if request.tab is TopDownTab.PATH:
            queries = (EVERY_QUERY, *queries)
        offer = TopDownOffer(run.levels, queries, run.sizes(choice.level))
        headline = _headline(run, TopDownHeadline(spec, state, len(run.trials)))
        content = self._content(run, settled) if run.trials else None
        return TopDownAnswer(settled, request, headline, offer, content, tuple(run.problems))

    def _run(self, directory: Path) -> TopDownRun:
        found = self._runs.get(directory)
        if found is None or found.spec.identity != load_spec(directory).identity:
            found = TopDownRun(directory)
        self._runs[directory] = found
        self._runs.move_to_end(directory)
        while len(self._runs) > KEPT_RUNS:
            self._runs.popitem(last=False)
        return found

    def _content(self, run: TopDownRun, request: TopDownRequest) -> TopDownContent | None:
        choice = request.choice
        if request.tab is None:
            return None
        contents: dict[TopDownTab, Callable[[TopDownRun, TopDownChoice], TopDownContent]] = {
            TopDownTab.ERRORS: _errors,
            TopDownTab.SHAPE: _errors,
            TopDownTab.BIAS: _bias,
            TopDownTab.CRITERION: _criterion,
            TopDownTab.WORST: _worst,
            TopDownTab.PLACE: one_place,
            TopDownTab.PATH: place_path,
            TopDownTab.MAP: self._map,
        }
        return contents[request.tab](run, choice)

    def _map(self, run: TopDownRun, choice: TopDownChoice) -> MapContent:
        if not choice.shapes:
            reason = "Choose a file of shapes (GeoJSON, also .gz) whose features carry block codes."
            return MapContent(choice.level, choice.value, (), len(run.trials), reason)
        if self._outlines[0] != choice.shapes:
            self._outlines = (choice.shapes, read_outlines(Path(choice.shapes)))
        values, tips = _map_values(run, choice)
        codes = run.codes(choice.level)
        place = {str(code): number for number, code in enumerate(codes.tolist())}
        length = len(str(codes[0]))
        shapes, seen = [], set()
        for outline in self._outlines[1]:
            number = place.get(outline.code[:length])
            if number is None:
                shapes.append(MapShape(outline.code[:length], outline.rings, float("nan"), "not in the run"))
                continue
            seen.add(number)
            shapes.append(MapShape(str(codes[number]), outline.rings, float(values[number]), tips[number]))
        reason = "" if seen else "No shape of this file belongs to a unit of this run: the block codes differ."
        return MapContent(choice.level, choice.value, tuple(shapes), len(run.trials), reason, len(seen))


def _forecast(spec: RunSpec) -> tuple[LevelQueryForecast, ...]:
    return forecast_topdown(spec.scenario.topdown, spec.scenario.conventions).entries


def _settled(run: TopDownRun, choice: TopDownChoice, tab: TopDownTab | None) -> TopDownChoice:
    lowest = run.levels[max(0, len(run.levels) - 2)]
    level = first_of(choice.level, run.levels, lowest)
    queries = [query.name for query in run.queries()]
    if tab is TopDownTab.PATH:
        queries = [EVERY_QUERY, *queries]
    otherwise = GROUP_QUERIES.get(run.schema.id, "total") if tab in {TopDownTab.WORST, TopDownTab.PLACE} else "total"
    otherwise = EVERY_QUERY if tab is TopDownTab.PATH else otherwise
    query = first_of(choice.query, queries, otherwise)
    size = choice.size if choice.size in run.sizes(level) else ALL_SIZES
    return replace(choice, level=level, query=query, size=size)


def _headline(run: TopDownRun, headline: TopDownHeadline) -> TopDownHeadline:
    if not run.trials:
        return headline
    level = next(
        (name for name in reversed(run.levels) if (run.people(name) >= LEAST_PEOPLE).sum() >= 20), run.levels[-1]
    )
    query = total_query(run.schema)
    errors = run.estimates(level, query)[:, :, 0] - run.exact(level, query)[:, 0]
    shares = run.shares(level)
    criterion = redistricting_criterion(shares).coverage if shares is not None else None
    count = {name: sum(_counted(each.get(name)) for each in run.metadata.values()) for name in ("failsafe", "families")}
    return replace(
        headline,
        level=level,
        criterion=criterion,
        reliable=reliable_from(shares).people if shares is not None else None,
        error=float(np.abs(errors).mean()) if errors.size else None,
        largest=int(np.abs(errors).max(initial=0)),
        failsafe=count["failsafe"],
        families=count["families"],
    )


def _counted(value: object) -> int:
    """Return a count of a trial's file: a number, or numbers by level."""
    if isinstance(value, dict):
        return sum(int(each) for each in value.values())
    return value if isinstance(value, int) else 0


def _errors(run: TopDownRun, choice: TopDownChoice) -> ErrorsContent:
    query = run.query(choice.query)
    levels = []
    for level in run.levels:
        units, errors = run.distribution(level, query, choice.size)
        levels.append(LevelErrors(level, units, errors))
    sigmas = tuple(run.sigma(level, query) for level in run.levels)
    return ErrorsContent(query.name, query.answers, tuple(levels), choice.level, len(run.trials), sigmas)


def _bias(run: TopDownRun, choice: TopDownChoice) -> BiasContent:
    query, count = run.query(choice.query), len(run.trials)
    numbers = run.numbers(choice.level, query)
    if numbers * count > MOST_NUMBERS:
        return BiasContent(choice.level, query.name, None, count, _TOO_MANY.format(numbers=numbers))
    bias = bias_by_size(run.exact(choice.level, query), run.estimates(choice.level, query))
    return BiasContent(choice.level, query.name, bias, count)


def _criterion(run: TopDownRun, choice: TopDownChoice) -> CriterionContent:
    groups, count, found = GROUP_QUERIES.get(run.schema.id, ""), len(run.trials), []
    if not groups:
        reason = f"The schema {run.schema.id} has no race and ethnicity groups to judge."
        return CriterionContent((), choice.level, "", count, reason)
    for level in run.levels:
        shares = run.shares(level)
        if shares is None:
            continue
        result, reliable = redistricting_criterion(shares), reliable_from(shares)
        by_size = tuple(criterion_by_size(shares).items()) if level == choice.level else ()
        found.append(LevelCriterion(level, result.units, result.coverage, reliable.people, reliable.lasting, by_size))
    return CriterionContent(tuple(found), choice.level, groups, count)


def _worst(run: TopDownRun, choice: TopDownChoice) -> WorstContent:
    query, count = run.query(choice.query), len(run.trials)
    numbers = run.numbers(choice.level, query)
    if numbers * count > MOST_NUMBERS:
        reason = _TOO_MANY.format(numbers=numbers)
        return WorstContent(choice.level, query.name, choice.by, (), count, reason)
    truth, estimates = run.exact(choice.level, query), run.estimates(choice.level, query)
    codes, labels = run.codes(choice.level), labels_of(query)
    units = worst_units(truth, estimates, by=choice.by, count=MOST_WORST)
    places = tuple(
        WorstPlace(str(codes[each.unit]), each, each.sentence(str(codes[each.unit]) or choice.level, labels))
        for each in units
    )
    return WorstContent(choice.level, query.name, choice.by, places, count)


def _map_values(run: TopDownRun, choice: TopDownChoice) -> tuple[NDArray[np.float64], list[str]]:
    """Return the value of each unit, the mean over trials, and its words."""
    people = run.people(choice.level)
    total = total_query(run.schema)
    published = run.estimates(choice.level, total)[:, :, 0].mean(axis=0)
    error = published - people
    codes = run.codes(choice.level).tolist()
    if choice.value is MapValue.SHARE and (shares := run.shares(choice.level)) is not None:
        values = np.where(shares.comparable, shares.error, np.nan)
        mean = np.array([row[~np.isnan(row)].mean() if (~np.isnan(row)).any() else np.nan for row in values.T]) * 100
        tips = [
            f"{code}: {count:,} people, share of the largest group off by {value:.1f} points"
            for code, count, value in zip(codes, people.tolist(), mean.tolist(), strict=True)
        ]
        return mean, tips
    tips = [
        f"{code}: {count:,} people, published {found:,.1f}"
        for code, count, found in zip(codes, people.tolist(), published.tolist(), strict=True)
    ]
    if choice.value is MapValue.RELATIVE:
        percent = np.divide(100 * error, people, out=np.full(len(people), np.nan), where=people > 0)
        return percent, tips
    return error, tips
