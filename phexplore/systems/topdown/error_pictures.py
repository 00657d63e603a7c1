"""The pictures of a TopDown run: errors by level, size and place, as functions of the run and what is looked at. No Qt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.axis import Axis, Scale, signed_text
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.histogram import curve_of, error_histogram
from phexplore.figures.map import map_figure
from phexplore.figures.marks import Patch, Row
from phexplore.figures.table import Table, Value, grouped
from phexplore.figures.wording import people, signed_people, with_interval, with_unit
from phexplore.metrics.coverage import Coverage, Judgement
from phexplore.metrics.topdown.bias import BiasBySize
from phexplore.metrics.topdown.distribution import ErrorDistribution
from phexplore.metrics.topdown.redistricting import LEAST_PEOPLE, REQUIRED, MeetingCounts
from phexplore.metrics.topdown.reliability import LEAST_UNITS, reliable_from
from phexplore.metrics.topdown.worst import WorstBy
from phexplore.model.rounded import Toward, percent
from phexplore.systems.topdown.folds import BiasFold, ErrorsFold, SharesFold, TotalsFold, WorstFold
from phexplore.systems.topdown.open_run import TopDownRun, numbers_of, tabulated_noise, written_sigma
from phexplore.systems.topdown.run_choice import BY_WORDS, MapValue, TopDownChoice
from phexplore.systems.topdown.shapes import read_outlines
from phexplore.systems.topdown.summary import MOST_NUMBERS
from phexplore.systems.topdown.wording import UNITS_OF_RESULTS, heading, level_title, plural_level, query_title
from phexplore.workload.queries import MarginalQuery

_BINS = 61
_MOST_WORST = 60
_TOO_MANY = (
    "{numbers:,} numbers per trial are too many to look at one by one here; choose a coarser query or a wider level. The "
    "distribution of all of them is on the tab “Distribution”."
)

_outlines = lru_cache(maxsize=1)(read_outlines)


def trials_words(trials: int) -> str:
    """Return how many trials in words."""
    return f"{trials} trial" + ("" if trials == 1 else "s")


def answer_labels(query: MarginalQuery) -> tuple[str, ...]:
    """Return the words of a query's answers."""
    if not query.factors:
        return ("all",)
    return tuple(", ".join(query.answer_labels(answer)) for answer in range(query.answers))


class LevelSpread(NamedTuple):
    """The errors of one level: quantiles and means, people.

    Attributes:
        level: its name.
        units: of the level.
        numbers: errors, of all trials.
        quantiles: at 5, 25, 50, 75 and 95 %; none where no unit is of the size.
        mean: of the errors.
        mean_size: of their sizes.
        square: root mean square.
        sigma: of the noise of one answer as measured, None where it is not measured.
    """

    level: str
    units: int
    numbers: int
    quantiles: tuple[float, ...] = ()
    mean: float = math.nan
    mean_size: float = math.nan
    square: float = math.nan
    sigma: float | None = None


def error_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return one row per level: median, middle half and 90 % of the errors, all trials together.

    Args:
        run: the one looked at.
        choice: query, size of the units, and the level of the title.
    """
    query = run.query(choice.query)
    folds = [run.folded(ErrorsFold, level, query, choice.size) for level in run.levels]
    spreads = []
    for level, fold in zip(run.levels, folds, strict=True):
        errors, numbers = fold.errors, 0 if fold.errors is None else fold.errors.total
        if errors is None or not numbers:
            spreads.append(LevelSpread(level, fold.units, 0))
            continue
        quantiles = tuple(errors.interpolated(p) for p in (0.05, 0.25, 0.5, 0.75, 0.95))
        means = (errors.mean, errors.mean_absolute, errors.root_mean_square)
        spreads.append(
            LevelSpread(
                level, fold.units, numbers, quantiles, *means, written_sigma(tabulated_noise(run, level, query))
            )
        )
    trials = min(fold.trials for fold in folds)
    return spread_figure(spreads, (choice.level, choice.query), choice.size_words, trials, run.unit)


def spread_figure(spreads: Sequence[LevelSpread], shown: tuple[str, str], which: str, trials: int, unit: str) -> Figure:
    """Return one row per level: median, middle half and 90 % of the errors.

    Args:
        spreads: of the levels, widest first.
        shown: level of the title, and query.
        which: the units in words.
        trials: how many.
        unit: what is counted.
    """
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for each in spreads:
        title = level_title(each.level)
        if not each.quantiles:
            rows.append(Row(each.level, "", title, text="no unit of this size", tip=f"{title}: {_units(each.units)}"))
            continue
        low, inner_low, middle, inner_high, high = each.quantiles
        rows.append(
            Row(
                each.level,
                "",
                title,
                value=middle,
                low=low,
                high=high,
                inner_low=inner_low,
                inner_high=inner_high,
                text=f"off by {people(each.mean_size)} on average",
                tip=f"{title}: {_units(each.units)}, {each.numbers:,} errors\n"
                f"90 % between {signed_people(low)} and {signed_people(high)}, half between {signed_people(inner_low)} and "
                f"{signed_people(inner_high)}\nmean {signed_people(each.mean)}, mean size {people(each.mean_size)}, root mean "
                f"square {people(each.square)}"
                + (f"\nnoise of one answer as measured: σ {people(each.sigma)}" if each.sigma is not None else ""),
            )
        )
        found = (each.mean, each.mean_size, each.square, low, middle, high, each.sigma)
        table.append((title, each.units, each.numbers, *found))
    return row_figure(
        "errors",
        tuple(rows),
        Axis(f"published − true, {unit}", Scale.SIGNED_LOG, text=signed_text),
        _errors_title(spreads, shown, unit),
        f"{heading(query_title(shown[1]))}, {which}, {trials_words(trials)}: thick lines "
        f"hold half of the errors, thin lines 90 %. {UNITS_OF_RESULTS}",
        Table(
            (
                "Level",
                "Units",
                "Errors",
                "Mean",
                "Mean size",
                "Root mean square",
                "5 %",
                "Median",
                "95 %",
                "σ of a measurement",
            ),
            tuple(table),
        ).explained({"σ of a measurement": "The run does not measure this for units of the tabulation."}),
        guide=0.0,
    )


def _units(count: int) -> str:
    return f"{count:,} unit{'' if count == 1 else 's'}"


def _errors_title(spreads: Sequence[LevelSpread], shown: tuple[str, str], unit: str) -> str:
    found = [each for each in spreads if each.quantiles]
    if not found:
        return "No unit is of this size"
    wanted = next((each for each in found if each.level == shown[0]), found[-1])
    name = "The total" if shown[1] == "total" else heading(query_title(shown[1]))
    return f"{name} is off by {with_unit(wanted.mean_size, unit)} on average at {level_title(wanted.level).lower()}"


def distribution_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return the histogram of the errors of one level.

    Args:
        run: the one looked at.
        choice: level, query and size of the units.
    """
    query = run.query(choice.query)
    fold = run.folded(ErrorsFold, choice.level, query, choice.size)
    if fold.errors is None or not fold.errors.total:
        return nothing("shape", "No unit of this level is of this size, or its numbers are too many to split by size.")
    errors = _without_tails(fold.errors)
    edges, counts = errors.histogram(_BINS)
    shares = 100 * counts / fold.errors.total
    left_out, exact = fold.errors.total - errors.total, fold.errors.within(0)
    tails = f" {left_out:,} errors lie further out." if left_out else ""
    noise = tabulated_noise(run, choice.level, query)
    curve = "" if noise is None else "; the curve is the noise of one answer before post-processing"
    summary = (
        f"{heading(query_title(query.name))} at {level_title(choice.level).lower()}, {choice.size_words}, "
        f"{trials_words(fold.trials)}: {fold.errors.total:,} errors.{tails} Bars are shares of the errors{curve}."
    )
    return error_histogram(
        "shape",
        (edges, shares),
        None if noise is None else curve_of(noise),
        run.unit,
        (
            f"{percent(exact, places=0, toward=Toward.DOWN)} of the numbers are published as they are; the mean error (bias) is {signed_people(fold.errors.mean)}",
            summary,
        ),
        Table(
            ("From", "To", "Share, %"),
            tuple(
                (math.ceil(low), math.floor(high), float(share))
                for low, high, share in zip(edges[:-1].tolist(), edges[1:].tolist(), shares.tolist(), strict=True)
            ),
        ),
    )


def _without_tails(errors: ErrorDistribution) -> ErrorDistribution:
    """Return the errors without the outermost 0.2 %, where they stretch the picture to more than three times the rest."""
    low, high = errors.quantile(0.001), errors.quantile(0.999)
    reach = max(abs(low), abs(high), 1)
    if max(abs(int(errors.errors[0])), abs(int(errors.errors[-1]))) <= 3 * reach:
        return errors
    kept = np.abs(errors.errors) <= reach
    return ErrorDistribution(errors.errors[kept], errors.counts[kept])


def _too_many(identity: str, run: TopDownRun, choice: TopDownChoice) -> Figure | None:
    numbers = numbers_of(run, choice.level, run.query(choice.query))
    return nothing(identity, _TOO_MANY.format(numbers=numbers)) if numbers > MOST_NUMBERS else None


def bias_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return one row per class of true counts: the mean error with its Monte-Carlo error, and the spread.

    Args:
        run: the one looked at.
        choice: level and query.
    """
    if (refused := _too_many("bias", run, choice)) is not None:
        return refused
    fold = run.folded(BiasFold, choice.level, run.query(choice.query))
    bias = fold.bias
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for place, label in enumerate(bias.labels):
        mean, error, spread = (
            float(bias.bias[place]),
            float(bias.error_between_trials[place]),
            float(bias.spread[place]),
        )
        known = math.isfinite(error)
        low, high = (mean - 2 * error, mean + 2 * error) if known else (mean, mean)
        rows.append(
            Row(
                None,
                "",
                label,
                value=mean,
                low=mean - spread,
                high=mean + spread,
                inner_low=low,
                inner_high=high,
                text=f"{percent(bias.raised[place], places=0)} raised, {percent(bias.lowered[place], places=0)} lowered",
                tip=f"True counts {label}: {int(bias.numbers[place]):,} numbers per trial\n"
                "mean error "
                + (
                    f"{with_interval(mean, 2 * error, is_signed=True)} (two standard errors)"
                    if known
                    else signed_people(mean)
                )
                + f", standard deviation {people(spread)}",
                is_warned=known and abs(mean) > 4 * error and abs(mean) >= 0.5,
            )
        )
        table.append(
            (label, int(bias.numbers[place]), mean, error if known else None, spread, float(bias.raised[place]))
        )
    return row_figure(
        "bias",
        tuple(rows),
        Axis(f"published − true, {run.unit}", Scale.SIGNED_LOG, text=signed_text),
        _bias_title(bias, run.unit),
        f"{heading(query_title(choice.query))} at {level_title(choice.level).lower()} by the true count, "
        f"{trials_words(fold.trials)}. Thin lines: one standard deviation; thick: two Monte Carlo standard errors of the mean. "
        "Amber: the mean is more than twice that from 0.",
        Table(
            ("True count", "Numbers per trial", "Mean error", "Monte-Carlo error", "Spread", "Share raised"),
            tuple(table),
        ),
        guide=0.0,
    )


_LEAST_SHOWN = 0.005
"""People, or whatever is counted: less is written as 0."""


def _bias_title(bias: BiasBySize, unit: str) -> str:
    if not len(bias.labels):
        return "No count"
    error = bias.error_between_trials
    known = np.isfinite(error)
    clear = ~known | (np.abs(bias.bias) > 2 * np.where(known, error, 0.0))
    if not clear.any():
        return "No class of counts is raised or lowered by more than two Monte Carlo standard errors"
    small, value = bias.labels[0], float(bias.bias[0])
    if value > 0 and small == "0" and clear[0]:
        others = float(np.average(bias.bias[1:], weights=bias.numbers[1:])) if bias.numbers[1:].any() else 0.0
        paid = f", all others lowered by {people(-others)}" if others <= -_LEAST_SHOWN else ""
        return f"Counts of 0 are raised by {with_unit(value, unit)} on average{paid}"
    worst = int(np.where(clear, np.abs(bias.bias), 0.0).argmax())
    word = "raised" if bias.bias[worst] > 0 else "lowered"
    return f"Counts of {bias.labels[worst]} are {word} most: by {with_unit(abs(float(bias.bias[worst])), unit)}"


def criterion_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return one row per level, then one per size class of the chosen level: the share within five points.

    Args:
        run: the one looked at.
        choice: the level whose classes of size are shown.
    """
    if run.groups is None:
        return nothing(
            "criterion", f"The records of this run ({run.schema.title}) have no race and ethnicity groups to judge."
        )
    folds = {level: run.folded(SharesFold, level, run.groups) for level in run.levels}
    judged = [
        Judged(level, level_title(level), fold.meeting.coverage(), _level_tip(level_title(level), fold.meeting))
        for level, fold in folds.items()
    ]
    group = f"{level_title(choice.level)} by people"
    for label, coverage in folds[choice.level].meeting.by_size().items():
        tip = f"{label} people: {coverage.held:,} of {coverage.errors:,}"
        judged.append(Judged(None, label, coverage, tip, group))
    meeting = folds[choice.level].meeting
    found = reliable_from(meeting)
    title = criterion_title(level_title(choice.level), found.people, found.coverage, len(meeting.people))
    return judged_figure(judged, title, query_title(run.groups.name), min(fold.trials for fold in folds.values()))


class Judged(NamedTuple):
    """Units whose largest group was judged.

    Attributes:
        level: they are of, None for a class of size.
        name: of the level or the class.
        coverage: how often the group's share was within five points.
        tip: more words.
        group: what they are a part of.
    """

    level: str | None
    name: str
    coverage: Coverage
    tip: str
    group: str = "Units of 500 or more"


def judged_figure(judged: Sequence[Judged], title: str, groups: str, trials: int) -> Figure:
    """Return one row per set of units: the share within five points.

    Args:
        judged: the units.
        title: of the picture.
        groups: the groups in words.
        trials: how many.
    """
    rows, table = [], []
    for each in judged:
        rows.append(_coverage_row(each.level, each.group, each.name, each.coverage, each.tip))
        cells = (each.group, each.name) if each.level is None else ("500 or more people", each.name)
        table.append(_coverage_cells(*cells, each.coverage))
    return row_figure(
        "criterion",
        tuple(rows),
        Axis("share of units whose largest group is within 5 points, percent", domain=(0.0, 100.0)),
        title,
        f"Groups: {groups}. {trials_words(trials).capitalize()}; whiskers are Wilson intervals at 95 %, the dashed line is "
        "the 95 % that the redistricting criterion requires. Amber: the whole interval is below it.",
        Table(("Units", "Class", "Within", "Judged", "Share, %", "Low, %", "High, %"), tuple(table)),
        guide=float(REQUIRED * 100),
    )


def _coverage_row(key: str | None, group: str, name: str, coverage: Coverage, tip: str) -> Row:
    if not coverage.errors:
        return Row(key, group, name, text="none", tip="No unit of this size.")
    share = coverage.share
    return Row(
        key,
        group,
        name,
        value=share.value * 100,
        low=share.low * 100,
        high=share.high * 100,
        text=f"{percent(share.value, toward=Toward.DOWN)} of {grouped(coverage.errors)}",
        tip=tip,
        is_warned=coverage.judge(REQUIRED) is Judgement.NOT_MET,
    )


def _coverage_cells(group: str, name: str, coverage: Coverage) -> tuple[Value, ...]:
    if not coverage.errors:
        return (group, name, 0, 0, None, None, None)
    share = coverage.share
    return (group, name, coverage.held, coverage.errors, share.value * 100, share.low * 100, share.high * 100)


def _level_tip(title: str, meeting: MeetingCounts) -> str:
    words = f"{title}: {int(np.count_nonzero(meeting.people >= LEAST_PEOPLE)):,} units with 500 people or more"
    found = reliable_from(meeting)
    if found.people is None:
        return f"{words}\n{criterion_title(title, None, found.coverage, len(meeting.people))}."
    kept = "not kept" if found.lasting is None else f"kept for good from {found.lasting:,}"
    more = "" if found.lasting == found.people else f"; lost again above, {kept}"
    start = "any size" if found.people == 0 else with_unit(found.people, "people")
    return f"{words}\nReliable from {start}{more}"


def criterion_title(name: str, reliable: int | None, coverage: Coverage, units: int) -> str:
    """Return in words from how many people on the units of a level are reliable.

    Args:
        name: of the level, for people.
        reliable: people, 0 for any size, None for no size.
        coverage: of the units of that size and larger ones.
        units: of the level, of every size.
    """
    if reliable == 0:
        share = percent(coverage.share.value, toward=Toward.DOWN)
        return f"{name}: {share} of the units of all sizes together are within five points"
    if units < LEAST_UNITS:
        return f"{name}: too few units ({units}) to say from how many people on 95 % are within five points"
    if reliable is None:
        return f"{name}: in no class of size are 95 % of the units within five points"
    start = with_unit(reliable, "people")
    return f"{name}: reliable from {start}, all units of at least that size together"


def worst_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return one row per unit, the worst first.

    Args:
        run: the one looked at.
        choice: level, the query that explains the error, and what units are worst in.
    """
    if (refused := _too_many("worst", run, choice)) is not None:
        return refused
    query, level = run.query(choice.query), level_title(choice.level)
    fold = run.folded(WorstFold, choice.level, query, choice.by)
    codes, labels = run.codes(choice.level), answer_labels(query)
    symbol = {WorstBy.RELATIVE: " %", WorstBy.LARGEST_GROUP: " points"}.get(choice.by, "")
    factor = 100.0 if choice.by is WorstBy.LARGEST_GROUP else 1.0
    measure = {WorstBy.RELATIVE: "percent", WorstBy.LARGEST_GROUP: "percentage points"}.get(choice.by, run.unit)
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    title = ""
    for unit in fold.tally.units(_MOST_WORST):
        code = str(codes[unit.unit])
        sentence, error = unit.sentence(code or choice.level, labels, run.unit), unit.error * factor
        title, reason = title or sentence, sentence.partition(": ")[2] or sentence
        rows.append(
            Row(
                code or choice.level,
                "",
                code or level,
                value=error,
                inner_low=0.0,
                inner_high=error,
                text=f"{people(error)}{symbol}: {unit.brief(labels, run.unit)}",
                tip=f"{sentence}\nEnter or double click shows this place.",
            )
        )
        table.append((code, error, unit.truth, unit.estimate, reason))
    if not rows:
        return nothing("worst", "No unit is off.")
    return row_figure(
        "worst",
        tuple(rows),
        # No tick beyond the longest bar: what follows is room for the reasons.
        Axis(f"{BY_WORDS[choice.by].lower()}, {measure}", most_value=max(row.inner_high or 0.0 for row in rows)),
        title,
        f"{level}, the {len(rows)} units farthest off: mean size of the error over {trials_words(fold.trials)}, then the true count and the "
        f"mean of those published. The words say where most of the error in {query_title(query.name)} lies.",
        Table(("Unit", f"Error, {measure}", "True", "Published", "Reason"), tuple(table)),
    )


def map_of_errors(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return the units of a level coloured by how far they are off, the mean over trials.

    Args:
        run: the one looked at.
        choice: level, what is coloured, and the file of shapes.

    Raises:
        InputProblemsError: the file of shapes cannot be read.
    """
    if not choice.shapes:
        return nothing(
            "map", "Choose shapes of the areas: a shapefile (ZIP), a GeoPackage or GeoJSON with the codes of areas."
        )
    outlines = _outlines(Path(choice.shapes))
    found, tips, trials = _map_values(run, choice)
    codes = run.codes(choice.level).tolist()
    place, length = {str(code): number for number, code in enumerate(codes)}, len(str(codes[0]))
    patches, is_synthetic = [], run.spec.provenance.is_synthetic
    for outline in outlines:
        code = outline.code[:length]
        number = place.get(code)
        value, tip = (
            (math.nan, f"{level_title(choice.level)} {code}: not in the run")
            if number is None
            else (float(found[number]), tips[number])
        )
        patches.append(
            Patch(code, outline.rings, value, f"{outline.name}, {tip}" if outline.name and not is_synthetic else tip)
        )
    if not any(patch.key in place for patch in patches):
        return nothing(
            "map",
            "No shape of this file belongs to a unit of this run: the codes differ, or are of wider areas than the level.",
        )
    values = {patch.key: patch.value for patch in patches if math.isfinite(patch.value)}
    if not values:
        return nothing("map", "")
    words = {MapValue.ERROR: run.unit, MapValue.RELATIVE: "%", MapValue.SHARE: "points"}[choice.value]
    worst = max(values, key=lambda code: abs(values[code]))
    level, what, units = level_title(choice.level).lower(), choice.value.value, plural_level(choice.level, len(values))
    mean = sum(abs(value) for value in values.values()) / len(values)
    is_told = len(values) > 1 and values[worst]
    most = f", most at {level} {worst} ({signed_people(values[worst])})" if is_told else ""
    signed = choice.value is not MapValue.SHARE
    return map_figure(
        "map",
        tuple(patches),
        words,
        (
            f"{what}: {people(mean)} {words} on average{most}",
            f"{len(values):,} {units} with shapes ({percent(sum(patch.key in place for patch in patches) / len(patches), places=0)} of the "
            f"shapes), mean over {trials_words(trials)}{', in which too high and too low cancel' if signed and trials > 1 else ''}."
            + (" Blue: published too high. Orange: too low." if signed else ""),
        ),
        Table((level_title(choice.level), f"{what}, {words}"), tuple(values.items())),
        is_signed=signed,
    )


def _map_values(run: TopDownRun, choice: TopDownChoice) -> tuple[NDArray[np.float64], list[str], int]:
    """Return the value of each unit, the mean over trials, its words, and the number of trials."""
    population = run.people(choice.level)
    codes, level = run.codes(choice.level).tolist(), level_title(choice.level)
    if choice.value is MapValue.SHARE and run.groups is not None:
        shares = run.folded(SharesFold, choice.level, run.groups)
        points = shares.mean_errors * 100
        tips = [
            f"{level} {code}: {with_unit(count, 'people')}, share of the largest group off by {value:.1f} points"
            for code, count, value in zip(codes, population.tolist(), points.tolist(), strict=True)
        ]
        return points, tips, shares.trials
    totals = run.folded(TotalsFold, choice.level)
    published = totals.published / max(totals.trials, 1)
    error = published - population
    tips = [
        f"{level} {code}: {with_unit(count, 'people')}, published {mean:,.1f}"
        for code, count, mean in zip(codes, population.tolist(), published.tolist(), strict=True)
    ]
    if choice.value is MapValue.RELATIVE:
        error = np.divide(100 * error, population, out=np.full(len(population), np.nan), where=population > 0)
    return error, tips, totals.trials
