"""Reads the results of TopDown runs in a process beside the window; what was read stays read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.topdown.redistricting import LEAST_PEOPLE
from phexplore.metrics.topdown.reliability import reliable_from
from phexplore.runs.confidentiality import is_confidential
from phexplore.runs.store import TRUTH_FILE, load_spec, load_summary, state_of
from phexplore.systems.topdown.compare_reader import compared
from phexplore.systems.topdown.open_run import TopDownRun, TrialCache
from phexplore.systems.topdown.place_reader import labels_of, one_place, place_path
from phexplore.systems.topdown.plausible_reader import plausible
from phexplore.systems.topdown.run_contents import (
    ALL_SIZES,
    EVERY_QUERY,
    BiasContent,
    CompareContent,
    CriterionContent,
    ErrorsContent,
    LevelCriterion,
    LevelErrors,
    MapContent,
    MapShape,
    MapValue,
    PlausibleContent,
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
from phexplore.systems.topdown.shapes import Outline, read_outlines
from phexplore.systems.topdown.summary import MOST_NUMBERS

KEPT_RUNS = 8
"""Runs that stay open: those of a comparison, and some."""
MOST_WORST = 60
_TOO_MANY = (
    "{numbers:,} numbers per trial are too many to look at one by one here; choose a coarser query or a wider level. The "
    "distribution of all of them is on the tab “Distribution”."
)


class TopDownResultReader:
    """Answers requests; a few runs stay open."""

    def __init__(self) -> None:
        self._runs: OrderedDict[Path, TopDownRun] = OrderedDict()
        self._cache = TrialCache()
        self._outlines: tuple[str, tuple[Outline, ...]] = ("", ())

    def answer(self, request: TopDownRequest) -> TopDownAnswer:
        """Return what is asked, as far as it is there and a moment of reading allows; `waiting` says how many trials it lacks.

        Raises:
            PhexploreError: the run cannot be read.
        """
        spec, state = load_spec(request.directory), state_of(request.directory)
        if not (request.directory / TRUTH_FILE).exists():
            return TopDownAnswer(request, request, TopDownHeadline(spec, state, 0), None, None)
        for each in self._runs.values():
            each.waiting = 0
        run = self._run(request.directory)
        settled = replace(request, choice=_settled(run, request.choice, request.tab))
        choice = settled.choice
        queries = tuple(query.name for query in run.queries())
        if request.tab is TopDownTab.PATH:
            queries = (EVERY_QUERY, *queries)
        offer = TopDownOffer(run.levels, queries, run.sizes(choice.level))
        confidential = is_confidential(spec, load_summary(request.directory))
        headline = _headline(run, TopDownHeadline(spec, state, 0, confidential=confidential))
        content = self._content(run, settled) if headline.trials else None
        problems = tuple(run.problems)
        return TopDownAnswer(settled, request, headline, offer, content, problems, self._waiting(request))

    def _waiting(self, request: TopDownRequest) -> int:
        directories = {request.directory, *(request.choice.others if request.tab is TopDownTab.COMPARE else ())}
        return max(run.waiting for directory, run in self._runs.items() if directory in directories)

    def _run(self, directory: Path) -> TopDownRun:
        found = self._runs.get(directory)
        if found is None or found.spec.identity != load_spec(directory).identity:
            found = TopDownRun(directory, self._cache)
        self._runs[directory] = found
        self._runs.move_to_end(directory)
        while len(self._runs) > KEPT_RUNS:
            self._runs.popitem(last=False)
        found.refresh()
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
            TopDownTab.PLAUSIBLE: self._plausible,
            TopDownTab.COMPARE: self._compare,
            TopDownTab.MAP: self._map,
        }
        return contents[request.tab](run, choice)

    def _compare(self, run: TopDownRun, choice: TopDownChoice) -> CompareContent:
        others = [directory for directory in choice.others if directory != run.directory]
        return compared([run.directory, *others], self._run, choice)

    def _plausible(self, run: TopDownRun, choice: TopDownChoice) -> PlausibleContent:
        partner = choice.partner
        usable = partner is not None and partner != run.directory and (partner / TRUTH_FILE).exists()
        return plausible(run, self._run(partner) if usable and partner is not None else None)

    def _map(self, run: TopDownRun, choice: TopDownChoice) -> MapContent:
        if not choice.shapes:
            reason = "Choose a file of shapes (GeoJSON, also .gz) whose features carry block codes."
            return MapContent(choice.level, choice.value, (), 0, reason)
        if self._outlines[0] != choice.shapes:
            self._outlines = (choice.shapes, read_outlines(Path(choice.shapes)))
        values, tips, trials = _map_values(run, choice)
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
        return MapContent(choice.level, choice.value, tuple(shapes), trials, reason, len(seen))


def _settled(run: TopDownRun, choice: TopDownChoice, tab: TopDownTab | None) -> TopDownChoice:
    lowest = run.levels[max(0, len(run.levels) - 2)]
    level = first_of(choice.level, run.levels, lowest)
    queries = [query.name for query in run.queries()]
    otherwise = run.groups.name if run.groups is not None and tab in {TopDownTab.WORST, TopDownTab.PLACE} else "total"
    if tab is TopDownTab.PATH:
        queries, otherwise = [EVERY_QUERY, *queries], EVERY_QUERY
    query = first_of(choice.query, queries, otherwise)
    size = choice.size if choice.size in run.sizes(level) else ALL_SIZES
    return replace(choice, level=level, query=query, size=size)


def _headline(run: TopDownRun, headline: TopDownHeadline) -> TopDownHeadline:
    if not run.present:
        return headline
    level = next(
        (name for name in reversed(run.levels) if (run.people(name) >= LEAST_PEOPLE).sum() >= 20), run.levels[-1]
    )
    totals = run.totals(level)
    if not totals.trials:
        return headline
    shares = run.shares(level)
    count = {name: sum(_counted(each.get(name)) for each in run.metadata.values()) for name in ("failsafe", "families")}
    return replace(
        headline,
        trials=totals.trials,
        level=level,
        criterion=shares.meeting.coverage() if shares is not None else None,
        reliable=reliable_from(shares.meeting).people if shares is not None else None,
        error=totals.mean_size,
        largest=totals.largest,
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
    folds = [run.errors(level, query, choice.size) for level in run.levels]
    levels = tuple(LevelErrors(level, fold.units, fold.errors) for level, fold in zip(run.levels, folds, strict=True))
    sigmas = tuple(run.sigma(level, query) for level in run.levels)
    trials = min(fold.trials for fold in folds)
    return ErrorsContent(query.name, query.answers, levels, choice.level, trials, sigmas)


def _bias(run: TopDownRun, choice: TopDownChoice) -> BiasContent:
    query = run.query(choice.query)
    numbers = run.numbers(choice.level, query)
    if numbers > MOST_NUMBERS:
        return BiasContent(choice.level, query.name, None, 0, _TOO_MANY.format(numbers=numbers))
    fold = run.bias(choice.level, query)
    return BiasContent(choice.level, query.name, fold.bias, fold.trials)


def _criterion(run: TopDownRun, choice: TopDownChoice) -> CriterionContent:
    if run.groups is None:
        reason = f"The schema {run.schema.id} has no race and ethnicity groups to judge."
        return CriterionContent((), choice.level, "", 0, reason)
    found, trials = [], []
    for level in run.levels:
        shares = run.shares(level)
        if shares is None:
            continue
        meeting = shares.meeting
        reliable = reliable_from(meeting)
        by_size = tuple(meeting.by_size().items()) if level == choice.level else ()
        units = int(np.count_nonzero(meeting.people >= LEAST_PEOPLE))
        found.append(LevelCriterion(level, units, meeting.coverage(), reliable.people, reliable.lasting, by_size))
        trials.append(shares.trials)
    return CriterionContent(tuple(found), choice.level, run.groups.name, min(trials))


def _worst(run: TopDownRun, choice: TopDownChoice) -> WorstContent:
    query = run.query(choice.query)
    numbers = run.numbers(choice.level, query)
    if numbers > MOST_NUMBERS:
        return WorstContent(choice.level, query.name, choice.by, (), 0, _TOO_MANY.format(numbers=numbers))
    fold = run.worst(choice.level, query, choice.by)
    codes, labels = run.codes(choice.level), labels_of(query)
    places = tuple(
        WorstPlace(str(codes[each.unit]), each, each.sentence(str(codes[each.unit]) or choice.level, labels))
        for each in fold.tally.units(MOST_WORST)
    )
    return WorstContent(choice.level, query.name, choice.by, places, fold.trials)


def _map_values(run: TopDownRun, choice: TopDownChoice) -> tuple[NDArray[np.float64], list[str], int]:
    """Return the value of each unit, the mean over trials, its words, and the number of trials."""
    people = run.people(choice.level)
    codes = run.codes(choice.level).tolist()
    if choice.value is MapValue.SHARE and (shares := run.shares(choice.level)) is not None:
        points = shares.mean_errors * 100
        tips = [
            f"{code}: {count:,} people, share of the largest group off by {value:.1f} points"
            for code, count, value in zip(codes, people.tolist(), points.tolist(), strict=True)
        ]
        return points, tips, shares.trials
    totals = run.totals(choice.level)
    published = totals.published / max(totals.trials, 1)
    error = published - people
    tips = [
        f"{code}: {count:,} people, published {found:,.1f}"
        for code, count, found in zip(codes, people.tolist(), published.tolist(), strict=True)
    ]
    if choice.value is MapValue.RELATIVE:
        percent = np.divide(100 * error, people, out=np.full(len(people), np.nan), where=people > 0)
        return percent, tips, totals.trials
    return error, tips, totals.trials
