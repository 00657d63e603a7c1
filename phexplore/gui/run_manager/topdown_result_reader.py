"""Reads the results of TopDown runs trial by trial, in a process beside the window; what was read stays read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.gui.run_manager.topdown_open_run import GROUP_QUERIES, TopDownRun
from phexplore.gui.run_manager.topdown_place_reader import labels_of, one_place, place_path
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
from phexplore.metrics.topdown.redistricting import (
    LEAST_PEOPLE,
    criterion_by_size,
    redistricting_criterion,
)
from phexplore.metrics.topdown.reliability import reliable_from
from phexplore.metrics.topdown.worst import worst_units
from phexplore.runs.store import TRUTH_FILE, load_spec, state_of
from phexplore.runs.topdown_summary import MOST_NUMBERS
from phexplore.workload.queries import total_query

Integers = NDArray[np.int64]

KEPT_RUNS = 2
MOST_WORST = 60
_TOO_MANY = (
    "{numbers:,} numbers per trial are too many to look at one by one here; choose a coarser query or a wider level. The "
    "distribution of all of them is on the tab “Distribution”."
)


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
