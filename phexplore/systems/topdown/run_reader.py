"""What is shown of TopDown runs: choosers, tiles and figures of what was read, in a process beside the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from phexplore.errors import PhexploreError
from phexplore.figures.figure import Figure
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import one_of, people
from phexplore.metrics.coverage import Coverage, Judgement, coverage_of
from phexplore.metrics.topdown.redistricting import LEAST_PEOPLE, REQUIRED
from phexplore.metrics.topdown.reliability import reliable_from
from phexplore.model.rounded import Toward, percent
from phexplore.runs.run_files import read_mark
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.store import TRUTH_FILE, load_spec, load_summary, present_trials, state_of, trial_file
from phexplore.systems.run_results import (
    COUNTING,
    Choice,
    Jump,
    OpenRuns,
    RunAnswer,
    RunRequest,
    is_counted,
    without_trials,
)
from phexplore.systems.topdown.areas_on_maps import Holding, holding
from phexplore.systems.topdown.compare_pictures import compare_figure
from phexplore.systems.topdown.error_pictures import (
    bias_figure,
    criterion_figure,
    distribution_figure,
    error_figure,
    map_of_errors,
    worst_figure,
)
from phexplore.systems.topdown.folds import SharesFold, TotalsFold
from phexplore.systems.topdown.group_pictures import groups_figure
from phexplore.systems.topdown.nation_pictures import (
    criterion_of_nation,
    judged_level,
    nation_choosers,
    spread_of_nation,
)
from phexplore.systems.topdown.open_run import UNCOUNTED, UNCOUNTED_REMEDY, TopDownRun, TrialCache
from phexplore.systems.topdown.place_pictures import ERROR_WORDS, path_figure, place_figure
from phexplore.systems.topdown.plausible_pictures import plausible_figure
from phexplore.systems.topdown.run_choice import ALL_STATES, NATION_TABS, TopDownChoice, choosers, settled, state_words
from phexplore.systems.topdown.run_files import states_of
from phexplore.systems.topdown.table_pictures import tables_figure
from phexplore.systems.topdown.wording import counted, level_title, plural_level


def _where(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return the place that was looked for, or those farthest off: in a list, or on a map."""
    if not choice.on_map:
        return place_figure(run, choice) if choice.unit else worst_figure(run, choice)
    figure = map_of_errors(run, choice)
    if not choice.unit or figure.is_empty:
        return figure
    place = place_figure(run, choice)
    if place.is_empty:  # nothing is called like that: no map could show it
        return place
    found = _held_by(run, choice)
    codes = (choice.unit,) if found is None else tuple(map(str, run.codes(choice.level)[found.units]))
    shown = frozenset(codes) & {patch.key for patch in figure.patches}
    where = "" if found is None and shown else f" {(found or _ALONE).words(choice.level, len(shown))}"
    outlined = frozenset() if found is None else shown
    error = ERROR_WORDS if ERROR_WORDS in place.summary else ""
    return replace(figure, title=place.title, summary=f"{figure.summary}{where}{error}", outlined=outlined)


def _held_by(run: TopDownRun, choice: TopDownChoice) -> Holding | None:
    """Return the units of the map that hold the area somebody looks for; None where it is a unit itself."""
    if not choice.area:
        return None
    return holding(run.tree.levels[run.place(choice.level)].first_block, run.areas[choice.area].leaves(choice.unit))


def _unit_on_map(run: TopDownRun, choice: TopDownChoice) -> str | None:
    """Return the unit that is chosen on the map, where the keyboard begins: of an area the one with most of its blocks."""
    found = _held_by(run, choice)
    return choice.unit or None if found is None else str(run.codes(choice.level)[found.units[0]])


PICTURES: Mapping[str, Callable[[TopDownRun, TopDownChoice], Figure]] = {
    "errors": error_figure,
    "shape": distribution_figure,
    "bias": bias_figure,
    "groups": groups_figure,
    "tables": tables_figure,
    "criterion": criterion_figure,
    "worst": _where,
    "place": place_figure,
    "path": path_figure,
    "plausible": plausible_figure,
    "compare": compare_figure,
    "map": _where,
}
"""The pictures of a run by tab: of the window, of the report and of files."""
ESTIMATED = frozenset({"tables", "place"})
"""Pictures that show the estimates of a run whose true counts are not known."""
_ALONE = Holding(np.zeros(1, np.int64), 0)
KEPT_RUNS = 8
"""Runs that stay open: those of a comparison, and some."""
_JUMPS = {
    "errors": Jump(("level",), "shape"),
    "criterion": Jump(("level",), "shape"),
    "worst": Jump(("unit",), "place"),
    "map": Jump(("unit",), "place"),
    "plausible": Jump(("level", "unit"), "place"),
}


class TopDownRunReader:
    """Answers what the page of results asks; a few runs stay open."""

    def __init__(self) -> None:
        self._state: dict[Path, str] = {}
        cache = TrialCache()
        self._runs = OpenRuns(lambda directory: TopDownRun(directory, cache, self._state_of(directory)), KEPT_RUNS)
        self._specs: dict[Path, RunSpec] = {}

    def answer(self, request: RunRequest) -> RunAnswer:
        """Return what is asked, as far as it is there and a moment of reading allows; `waiting` says how many trials it lacks.

        Raises:
            PhexploreError: the run cannot be read.
        """
        directory, tab = request.directory, request.tab
        spec = load_spec(directory)
        is_estimated = not is_counted(directory)
        if is_estimated and load_summary(directory) is None:
            tiles, headline = tiles_of(spec, directory, None)
            return RunAnswer(request, 0, tiles, headline, reason=without_trials(directory))
        for each in self._runs.opened():
            each.waiting = 0
        if (state := request.chosen("state")) and state != ALL_STATES:
            self._state[directory] = state
        if tab in {"", *NATION_TABS} and state in {"", ALL_STATES} and (states := states_of(directory / TRUTH_FILE)):
            summary = load_summary(directory)
            if summary is not None:
                return _answer_of_nation(request, spec, summary, states)
        run = self.open(directory)
        if is_estimated and tab not in ESTIMATED:
            tiles, headline = _tiles_of_estimates(spec, run)
            reason = f"{UNCOUNTED} {UNCOUNTED_REMEDY}" if tab else ""
            return RunAnswer(request, len(run.present), tiles, headline, reason=reason)
        partners = self._partners(request) if tab == "plausible" else []
        asked = replace(request, choices=self._first_choices(request, partners) | dict(request.choices))
        choice = self._with_runs(asked, settled(run, asked))
        tiles, headline = _tiles_of_estimates(spec, run) if is_estimated else tiles_of(spec, directory, run)
        trials = run.folded(TotalsFold, _judged_level(run)).trials if run.present else 0
        picture = _of_its_state(PICTURES[tab](run, choice), run) if tab and trials else None
        return RunAnswer(
            request,
            trials,
            tiles,
            headline,
            choosers(run, choice, asked, partners),
            picture,
            COUNTING if trials else without_trials(directory),
            choice.level if tab in {"errors", "criterion"} else _unit_on_map(run, choice) if choice.on_map else None,
            _JUMPS.get(tab),
            problems=tuple(run.problems),
            waiting=max(each.waiting for each in (run, *choice.others)),
        )

    def open(self, directory: Path) -> TopDownRun:
        """Return a run with the trials that are there.

        Raises:
            PhexploreError: it cannot be read.
        """
        run = self._runs.get(directory)
        if run.state != self._state_of(directory):
            self._runs.close(directory)
            run = self._runs.get(directory)
        run.refresh()
        return run

    def _state_of(self, directory: Path) -> str:
        """Return the state that is looked at of a run that was estimated by state: one at a time is read."""
        states = states_of(directory / TRUTH_FILE)
        chosen = self._state.get(directory, "")
        return chosen if chosen in states else next(iter(states), "")

    def _first_choices(self, request: RunRequest, partners: list[Path]) -> dict[str, Choice]:
        """Return which other runs are looked at where nobody chose: the newest one, and one of the other records."""
        partner = next(iter(self._same_data(request, partners)), "")
        return {"others": tuple(map(str, request.others[:1])), "partner": str(partner)}

    def _with_runs(self, request: RunRequest, choice: TopDownChoice) -> TopDownChoice:
        """Return the choice with the runs beside the one looked at, as far as the picture shows them."""
        if request.tab == "compare":
            others = request.choices["others"]
            directories = [Path(each) for each in others if not isinstance(others, str)]
            runs = (self._beside(each, request) for each in directories if each != request.directory)
            return replace(choice, others=tuple(runs))
        if request.tab == "plausible" and (chosen := request.chosen("partner")):
            partner = Path(chosen)
            if partner != request.directory and is_counted(partner):
                return replace(choice, partner=self._beside(partner, request))
        return choice

    def _beside(self, directory: Path, request: RunRequest) -> TopDownRun:
        """Return a run beside the one looked at, of the same state where it has it."""
        self._state[directory] = self._state_of(request.directory)
        return self.open(directory)

    def _partners(self, request: RunRequest) -> list[Path]:
        """Return the other runs that count the other records: housing units beside people, and the other way round."""
        mine = counted(self._spec(request.directory).scenario.topdown.schema)
        found = []
        for directory in request.others:
            try:
                other = counted(self._spec(directory).scenario.topdown.schema)
            except PhexploreError:
                continue  # a run that was removed meanwhile is no choice
            if other != mine:
                found.append(directory)
        return found

    def _same_data(self, request: RunRequest, partners: Iterable[Path]) -> Iterable[Path]:
        mine = self._spec(request.directory).data.sha256
        return (each for each in partners if self._spec(each).data.sha256 == mine)

    def _spec(self, directory: Path) -> RunSpec:
        if directory not in self._specs:
            self._specs[directory] = load_spec(directory)
        return self._specs[directory]


def _of_its_state(picture: Figure, run: TopDownRun) -> Figure:
    """Return a picture that says of which state it is: where it is saved, no chooser of states stands above it.

    Args:
        picture: any.
        run: looked at whole, or in one state.
    """
    if not run.state or picture.is_empty:
        return picture
    return replace(picture, summary=f"{state_words(run.state)} alone. {picture.summary}")


# The tiles above the pictures


def _judged_level(run: TopDownRun) -> str:
    """Return the lowest level with units of 500 people, on which redistricting looks."""
    large = (name for name in reversed(run.levels) if (run.people(name) >= LEAST_PEOPLE).sum() >= 20)
    return next(large, run.levels[-1])


def tiles_of(spec: RunSpec, directory: Path, run: TopDownRun | None) -> tuple[tuple[TileContent, ...], TileContent]:
    """Return four figures of a whole run, and its figure for the top of the window.

    Args:
        spec: what the run does.
        directory: of the run.
        run: open; None before its data are counted.
    """
    unit, state = counted(spec.scenario.topdown.schema), state_of(directory)
    error = TileContent(_ERROR, "–", unit, "No trial yet.")
    if run is None or not run.present or not (totals := run.folded(TotalsFold, _judged_level(run))).trials:
        none = (TileContent(caption, "–", "", "No trial yet.") for caption in (_CRITERION, _RELIABLE))
        return (*none, error, _trials_tile(spec, state.value, (), 0)), replace(error, caption=_LAST_ERROR)
    level = _judged_level(run)
    place = level_title(level).lower()
    if run.state:
        place = f"{place} of {state_words(run.state)}"
    error = replace(
        error, value=people(totals.mean_size), beside=f"{unit}, {place}", change=f"largest {totals.largest:,}"
    )
    meeting = None if run.groups is None else run.folded(SharesFold, level, run.groups).meeting
    coverage = None if meeting is None else meeting.coverage()
    reliable = None if meeting is None else reliable_from(meeting).people
    judged = (_criterion_tile(coverage, place), _reliable_tile(reliable, place, has_groups=meeting is not None))
    return _with_headline(
        level, judged, error, _trials_tile(spec, state.value, run.metadata.values(), totals.trials), coverage
    )


def _tiles_of_estimates(spec: RunSpec, run: TopDownRun) -> tuple[tuple[TileContent, ...], TileContent]:
    """Return four figures of a run whose true counts are not known, and its figure for the top of the window."""
    unknown = (
        TileContent(caption, "–", "", "The true counts are not known.") for caption in (_CRITERION, _RELIABLE, _ERROR)
    )
    counted_units = run.folded(TotalsFold, run.levels[0])
    total = int(counted_units.published.sum()) / max(1, counted_units.trials)
    headline = TileContent("Last run: estimated total", people(total), run.unit, "from published noisy measurements")
    trials = _trials_tile(spec, state_of(run.directory).value, run.metadata.values(), counted_units.trials)
    return (*unknown, trials), headline


def _with_headline(
    level: str,
    judged: tuple[TileContent, TileContent],
    error: TileContent,
    trials: TileContent,
    coverage: Coverage | None,
) -> tuple[tuple[TileContent, ...], TileContent]:
    if coverage is not None and coverage.errors:
        beside = f"of {plural_level(level, 2)} of 500+ people"  # the interval stands with the results
        return (*judged, error, trials), replace(judged[0], caption="Last run: within 5 points", beside=beside)
    return (*judged, error, trials), replace(error, caption=_LAST_ERROR)


def _answer_of_nation(
    request: RunRequest, spec: RunSpec, summary: Mapping[str, Any], states: Sequence[str]
) -> RunAnswer:
    """Return the picture of all states of a complete run that was estimated by state, from its summary."""
    unit, query = counted(spec.scenario.topdown.schema), request.chosen("query", "total")
    picture = None
    if request.tab:
        picture = spread_of_nation(summary, query, unit) if request.tab == "errors" else criterion_of_nation(summary)
    level = judged_level(summary)
    place = f"{level_title(level).lower()} of all states"
    entry = next((each for each in summary.get("redistricting", ()) if each["level"] == level), None)
    coverage = None if entry is None else coverage_of(*(entry["criterion"]["share"][name] for name in ("held", "of")))
    reliable = None if entry is None else entry["reliable"]["people"]
    judged = (_criterion_tile(coverage, place), _reliable_tile(reliable, place, has_groups=entry is not None))
    totals: Mapping[str, Any] = next(
        (each["total"] for each in summary["metrics"] if (each["level"], each["query"]) == (level, "total")), {}
    )
    error = TileContent(_ERROR, "–", unit)
    if totals:
        size, largest = totals["mae"]["value"], totals["abs-max"]["value"]
        error = replace(
            error, value=people(size), beside=f"{unit}, {place}", change=f"largest {largest:,.0f}, mean over trials"
        )
    marks = [read_mark(request.directory / trial_file(index)) for index in present_trials(request.directory)]
    state = state_of(request.directory).value
    tiles, headline = _with_headline(level, judged, error, _trials_tile(spec, state, marks, len(marks)), coverage)
    return RunAnswer(
        request,
        len(marks),
        tiles,
        headline,
        nation_choosers(summary, request.tab, query, states),
        picture,
        marked=level,
    )


_ERROR, _CRITERION, _RELIABLE, _LAST_ERROR = (
    "Mean absolute error of a total",
    "Within 5 points, units of 500+",
    "Reliable from",
    "Last run: mean absolute error",
)


def _criterion_tile(coverage: Coverage | None, place: str) -> TileContent:
    if coverage is None:
        return TileContent(_CRITERION, "–", "", "The schema has no groups to judge.")
    if not coverage.errors:
        return TileContent(_CRITERION, "–", "", f"No {place} has 500 people.")
    share, judgement = coverage.share, coverage.judge(REQUIRED)
    return TileContent(
        _CRITERION,
        percent(share.value, toward=Toward.DOWN),
        f"{place}, {percent(share.low)} to {percent(share.high)}",
        f"redistricting criterion (95 %): {judgement.value}; {coverage.errors:,} areas over all trials",
        {Judgement.MET: Tone.GOOD, Judgement.NOT_MET: Tone.ATTENTION}.get(judgement, Tone.NEUTRAL),
    )


def _reliable_tile(reliable: int | None, place: str, *, has_groups: bool) -> TileContent:
    if not has_groups:
        return TileContent(_RELIABLE, "–", "", "The schema has no groups.")
    if reliable is None:
        return TileContent(
            _RELIABLE, "no size", f"at {place}", "no class of size has 95 % within 5 points", Tone.ATTENTION
        )
    if reliable == 0:
        return TileContent(_RELIABLE, "any size", f"at {place}", "95 % of all units are within 5 points", Tone.GOOD)
    unit = one_of("people") if reliable == 1 else "people"
    return TileContent(_RELIABLE, f"{reliable:,}", f"{unit}, {place}", "95 % of such units are within 5 points")


def _trials_tile(spec: RunSpec, state: str, marks: Iterable[Mapping[str, object]], trials: int) -> TileContent:
    """Return how far the run is, and how many families the failsafe took over, by what the trials say of themselves."""
    marks = tuple(marks)
    failsafe, families = (sum(_counted(mark.get(name)) for mark in marks) for name in ("failsafe", "families"))
    change, tone = "", Tone.NEUTRAL
    if failsafe:
        change, tone = f"{failsafe:,} of {families:,} families could not be rounded at once", Tone.ATTENTION
    elif families:
        change = f"{families:,} families, all rounded at once"
    beside = f"of {spec.trials:,}, {state}" + (", without noise" if spec.mode is RunMode.NO_NOISE else "")
    beside += f", {spec.provenance.words}"
    return TileContent("Trials", f"{trials:,}", beside, change, tone)


def _counted(value: object) -> int:
    """Return a count of a trial's file: a number, or numbers by level."""
    if isinstance(value, dict):
        return sum(int(each) for each in value.values())
    return value if isinstance(value, int) else 0
