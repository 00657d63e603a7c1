"""Several TopDown runs in one picture: one scale for all, one figure per run and group, differences trial by trial. No Qt."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phexplore.errors import PhexploreError
from phexplore.figures.axis import Axis, Scale, number_text, signed_text
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import people, signed_people, with_interval
from phexplore.lazy import lazy
from phexplore.metrics.coverage import error_between_trials, over_trials
from phexplore.metrics.topdown.shapes import Floats
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.model.fingerprint import fingerprint
from phexplore.model.rounded import percent
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.store import started_words
from phexplore.systems.topdown.error_pictures import trials_words
from phexplore.systems.topdown.folds import ALL_SIZES, AreaErrorsFold, ErrorsFold, TrialError
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.run_choice import MOST_RUNS, CompareBy, CompareFigure, TopDownChoice, state_words
from phexplore.systems.topdown.run_options import Mechanism, topdown_options
from phexplore.systems.topdown.spine_words import TARGETS
from phexplore.systems.topdown.wording import heading, level_title, query_title

_presets = lazy("phexplore.systems.registry", "presets")

NOTHING_TO_COMPARE = (
    "Choose the runs to compare with this one at “Compare with…”. Runs with the same seed on the same data draw common random "
    "numbers, so that their difference shows the scenarios."
)
NO_AREAS = "The block data of this run name no towns, places or districts, or are not where they were. Put them back, or compare by level."
_MOST_PLACES = 12
_CLEAR = 2.0
"""A difference of more than so many Monte-Carlo errors is said to be one."""


class _Compared(NamedTuple):
    """The statistic of one run in one group.

    Attributes:
        mean: over trials.
        error: Monte Carlo standard error of the mean; infinite with one trial.
        numbers: errors in one trial.
        difference: mean of its differences from the baseline, trial by trial; None for the baseline, or where the runs have no
            trial or not the same numbers in common.
        difference_error: Monte Carlo standard error of the difference.
        better: share of the units with smaller errors than in the baseline, on average over trials; None as `difference`, or for
            a single unit.
        worse: share of those with larger errors.
    """

    mean: float
    error: float
    numbers: int
    difference: float | None = None
    difference_error: float = math.inf
    better: float | None = None
    worse: float | None = None


def compare_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return one row per group and run.

    Args:
        run: the one looked at; level, query and size are its own.
        choice: the other runs, what the groups are, and what is compared.
    """
    runs = _baseline_first([run, *(other for other in choice.others if other is not run)][:MOST_RUNS])
    if len(runs) < 2:
        return nothing("compare", NOTHING_TO_COMPARE)
    if choice.compare is CompareBy.AREA and not run.areas:
        return nothing("compare", NO_AREAS)
    names = _names(runs)
    groups = _groups(run, choice)
    folds = [[_fold(each, *_cell(choice, group)) for each in runs] for group in groups]
    figures = [[_compared(fold, row[0], choice.figure) for fold in row] for row in folds]
    titles = [_group_title(choice.compare, group) for group in groups]
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for title, line in zip(titles, figures, strict=True):
        for place, (name, figure) in enumerate(zip(names, line, strict=True)):
            rows.append(_row(title, name, place, figure, run.unit))
            table.append(_cells(title, name, figure))
    trials = [
        max((fold.trials for row in folds if (fold := row[place]) is not None), default=0) for place in range(len(runs))
    ]
    is_mean = choice.figure is CompareFigure.MEAN
    return row_figure(
        "compare",
        tuple(rows),
        Axis(
            f"{choice.figure.value.lower()}, {run.unit}",
            Scale.SIGNED_LOG if is_mean else Scale.COUNT,
            text=signed_text if is_mean else number_text,
        ),
        _title(choice, names, groups, figures, run.unit),
        _summary(choice, runs, names, trials),
        Table(
            (
                choice.compare.value.capitalize(),
                "Run",
                f"{choice.figure.value}, {run.unit}",
                "Monte-Carlo error",
                "Numbers per trial",
                "Difference from baseline",
                "Its Monte-Carlo error",
                "Units nearer than in baseline",
                "Units farther than in baseline",
            ),
            tuple(table),
        ),
        guide=0.0 if is_mean else None,
    )


def _baseline_first(runs: list[TopDownRun]) -> list[TopDownRun]:
    """Return the runs, the base of every difference first: a run of the baseline's parameters, else the first chosen at “Compare with…”.

    Args:
        runs: the one looked at, then those it is compared with.
    """
    others = [*runs[1:], runs[0]]
    first = next((each for each in others if _is_baseline(each)), others[0])
    return [first, *(each for each in runs if each is not first)]


def _is_baseline(run: TopDownRun) -> bool:
    scenario, options = run.spec.scenario, topdown_options(run.spec)
    if options.is_pooled or options.mechanism is Mechanism.BLOCK_BY_BLOCK:
        return False
    origin = _presets().get(scenario.baseline)
    return origin is not None and fingerprint(origin.scenario) == fingerprint(scenario)


def are_common(one: RunSpec, other: RunSpec) -> bool:
    """Return whether two runs share their noise: the same noisy answers, or seed, data, tree and what is measured agree.

    Args:
        one: a run.
        other: another one.
    """
    mine, theirs = topdown_options(one), topdown_options(other)
    answers = {options.measured_identity or spec.identity for spec, options in ((one, mine), (other, theirs))}
    return len(answers) == 1 or (
        one.seed is not None
        and one.seed == other.seed
        and one.mode is other.mode is RunMode.PRIVATE
        and one.data.sha256 == other.data.sha256
        and (mine.expand, mine.mechanism) == (theirs.expand, theirs.mechanism)
        and one.scenario.topdown.spine == other.scenario.topdown.spine
        and one.scenario.topdown.schema == other.scenario.topdown.schema
        and one.scenario.topdown.framework is other.scenario.topdown.framework
    )


def _groups(run: TopDownRun, choice: TopDownChoice) -> tuple[str, ...]:
    match choice.compare:
        case CompareBy.LEVEL:
            return run.levels
        case CompareBy.QUERY:
            return tuple(query.name for query in run.queries)
        case CompareBy.SIZE:
            return run.sizes(choice.level)
        case CompareBy.PLACE:
            largest = np.argsort(-run.people(choice.level), kind="stable")[:_MOST_PLACES]
            return tuple(run.codes(choice.level)[largest].tolist())
        case CompareBy.AREA:
            return tuple(run.areas)


def _cell(choice: TopDownChoice, name: str) -> tuple[str, str, str, str]:
    """Return level, query, size and unit of a group."""
    match choice.compare:
        case CompareBy.LEVEL:
            return name, choice.query, choice.size, ""
        case CompareBy.AREA:
            return name, choice.query, ALL_SIZES, ""
        case CompareBy.QUERY:
            return choice.level, name, choice.size, ""
        case CompareBy.SIZE:
            return choice.level, choice.query, name, ""
        case CompareBy.PLACE:
            return choice.level, choice.query, ALL_SIZES, name


def _fold(run: TopDownRun, level: str, query: str, size: str, unit: str) -> ErrorsFold | None:
    """Return the errors of a run in a group, None where it has no such level, query, size or unit."""
    if level not in run.levels and level in run.areas:
        return run.folded(AreaErrorsFold, level, run.query(query))
    if level not in run.levels or (size != ALL_SIZES and size not in TENS.labels):
        return None
    try:
        asked = run.query(query)
    except PhexploreError:
        return None  # another schema, which cannot ask this
    if not unit:
        return run.folded(ErrorsFold, level, asked, size)
    places = np.flatnonzero(run.codes(level) == unit)
    return run.folded(ErrorsFold, level, asked, size, int(places[0])) if len(places) else None


def _compared(fold: ErrorsFold | None, first: ErrorsFold | None, figure: CompareFigure) -> _Compared | None:
    if fold is None or not fold.figures:
        return None
    values = {index: _value(each, figure) for index, each in fold.figures.items()}
    metric = "rmse" if figure is CompareFigure.SQUARE else ""
    mean, error = over_trials(metric, np.array(list(values.values())))
    own = _Compared(mean, error, 0 if fold.errors is None else fold.errors.total // len(values))
    shared = [] if first is None or first is fold else sorted(set(values) & set(first.figures))
    if first is None or not shared or fold.units != first.units:
        return own
    mine = np.array([values[index] for index in shared])
    theirs = np.array([_value(first.figures[index], figure) for index in shared])
    difference, difference_error = _difference(mine, theirs) if metric else over_trials("", mine - theirs)
    better, worse = _shares(fold, first)
    return own._replace(difference=difference, difference_error=difference_error, better=better, worse=worse)


def _difference(mine: Floats, theirs: Floats) -> tuple[float, float]:
    """Return by how much a root mean square over trials differs from another of the same trials, with its Monte-Carlo error."""
    roots = [over_trials("rmse", each)[0] for each in (mine, theirs)]
    error = error_between_trials(mine**2 - theirs**2)
    return roots[0] - roots[1], error / sum(roots) if any(roots) else error


def _shares(fold: ErrorsFold, first: ErrorsFold) -> tuple[float | None, float | None]:
    """Return the share of units that are off by less and by more than in the first run; the others are off by as much."""
    if fold.off is None or first.off is None or fold.units < 2:
        return None, None
    mine, theirs = fold.off * len(first.figures), first.off * len(fold.figures)
    return float((mine < theirs).mean()), float((mine > theirs).mean())


def _value(errors: TrialError, figure: CompareFigure) -> float:
    return {CompareFigure.SIZE: errors.size, CompareFigure.MEAN: errors.mean, CompareFigure.SQUARE: errors.square}[
        figure
    ]


def _row(group: str, name: str, place: int, figure: _Compared | None, unit: str) -> Row:
    if figure is None:
        return Row(None, group, name, text="no such numbers", series=place)
    known = math.isfinite(figure.error)
    reach = 2 * figure.error if known else 0.0
    words = with_interval(figure.mean, reach) if known else people(figure.mean)
    short, mean = words, words.partition(", ")[0]
    if figure.difference is not None:
        words += f"   {_difference_words(figure)}"
        # The whiskers show the run's own error; beside them stands what only words can say.
        short = f"{mean}   {_difference_words(figure)}"
    return Row(
        None,
        group,
        name,
        value=figure.mean,
        low=figure.mean - reach if known else None,
        high=figure.mean + reach if known else None,
        text=short,
        tip=f"{name}\n{words} {unit}\n{figure.numbers:,} numbers per trial",
        series=place,
    )


def _difference_words(figure: _Compared) -> str:
    if figure.difference is None:
        return ""
    reach = 2 * figure.difference_error
    known = math.isfinite(reach)
    words = with_interval(figure.difference, reach, is_signed=True) if known else signed_people(figure.difference)
    if figure.better is None or figure.worse is None:
        return f"({words} from the baseline)"
    return f"({words}; {percent(figure.better, places=0)} nearer, {percent(figure.worse, places=0)} farther)"


def _cells(group: str, name: str, figure: _Compared | None) -> tuple[Value, ...]:
    if figure is None:
        return (group, name, *(None for _ in range(7)))
    return (
        group,
        name,
        figure.mean,
        figure.error if math.isfinite(figure.error) else None,
        figure.numbers,
        figure.difference,
        figure.difference_error if math.isfinite(figure.difference_error) else None,
        figure.better,
        figure.worse,
    )


def _names(runs: list[TopDownRun]) -> list[str]:
    """Return what the runs are called; those of one name also by their start, those of one minute by their folder."""
    plain = list(map(_name, runs))
    dated = [
        f"{name}, {started_words(run.directory)}".rstrip(", ") if plain.count(name) > 1 else name
        for name, run in zip(plain, runs, strict=True)
    ]
    return [
        f"{name} ({run.directory.name})" if dated.count(name) > 1 else name
        for name, run in zip(dated, runs, strict=True)
    ]


def _name(run: TopDownRun) -> str:
    name, options = run.spec.scenario.name, topdown_options(run.spec)
    if options.mechanism is Mechanism.BLOCK_BY_BLOCK:
        name = f"Block by block, {name}"
    elif options.is_pooled:
        name = f"Pooled, {name}"
    return f"{name}, {state_words(run.state)} alone" if run.state else name


def _group_title(by: CompareBy, name: str) -> str:
    match by:
        case CompareBy.LEVEL:
            return level_title(name)
        case CompareBy.QUERY:
            return query_title(name)
        case CompareBy.SIZE:
            return f"{name} people"
        case CompareBy.PLACE:
            return name
        case CompareBy.AREA:
            return TARGETS.get(name, name)


def _title(
    choice: TopDownChoice, names: list[str], groups: tuple[str, ...], figures: list[list[_Compared | None]], unit: str
) -> str:
    """Return what differs most clearly from the baseline."""
    found = [
        (abs(figure.difference) / figure.difference_error, group, place, figure.difference)
        for group, line in zip(groups, figures, strict=True)
        for place, figure in enumerate(line)
        if figure is not None
        and figure.difference is not None
        and math.isfinite(figure.difference_error)
        and figure.difference_error > 0
    ]
    what = choice.figure.value.lower()
    if not found:
        return f"{names[0]} and {len(names) - 1} more: {what}"
    clarity, name, place, difference = max(found)
    group = query_title(name) if choice.compare is CompareBy.QUERY else _group_title(choice.compare, name).lower()
    if clarity < _CLEAR:
        return f"No run differs from {names[0]} in {what} by more than two Monte Carlo standard errors"
    more = "larger" if difference > 0 else "smaller"
    amount = people(abs(difference))
    return f"{names[place]}: the {what} is {amount} {unit} {more} than in {names[0]} at {group}"


def _summary(choice: TopDownChoice, runs: list[TopDownRun], names: list[str], trials: list[int]) -> str:
    counted = ", ".join(f"{name}: {trials_words(count)}" for name, count in zip(names, trials, strict=True))
    query, level = heading(query_title(choice.query)), level_title(choice.level)
    looked = {
        CompareBy.LEVEL: f"{query}, {choice.size_words}",
        CompareBy.QUERY: f"{level}, {choice.size_words}",
        CompareBy.SIZE: f"{query} at {level.lower()}",
        CompareBy.PLACE: f"{query} at {level.lower()}, the places with most people",
        CompareBy.AREA: f"{query} in areas that blocks make up",
    }[choice.compare]
    first = runs[0]
    common = [name for name, run in zip(names[1:], runs[1:], strict=True) if are_common(first.spec, run.spec)]
    noise = (
        f"Common random numbers with the baseline: {', '.join(common)}. Differences are computed trial by trial."
        if common
        else "The runs draw different random numbers; the same seed on the same data would make their difference sharper."
    )
    same = len({(run.spec.data.sha256, run.schema.id, run.state) for run in runs}) == 1
    data = "" if same else " Attention: not all runs have the same data."
    nearer = (
        ""
        if choice.compare is CompareBy.PLACE
        else " Nearer, farther: units with smaller or larger errors than in the baseline."
    )
    return (
        f"{looked}. Baseline: {names[0]}. {counted}. Whiskers: two Monte Carlo standard errors. {noise}{nearer}{data}"
    )
