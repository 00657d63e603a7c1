"""From what was read of a TopDown run to what its pictures show: findings, rows, words. No Qt."""

from __future__ import annotations

import math

import numpy as np

from phexplore.figures.axis import Axis, Scale, signed_text
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.histogram import error_histogram
from phexplore.figures.map import map_figure
from phexplore.figures.marks import Patch, Row
from phexplore.figures.table import Table, grouped
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import people, signed_people
from phexplore.metrics.coverage import Coverage
from phexplore.metrics.topdown.distribution import ErrorDistribution
from phexplore.metrics.topdown.redistricting import REQUIRED
from phexplore.metrics.topdown.worst import WorstBy
from phexplore.runs.spec import RunMode
from phexplore.systems.topdown.run_contents import (
    ALL_SIZES,
    BiasContent,
    CriterionContent,
    ErrorsContent,
    LevelCriterion,
    MapContent,
    MapValue,
    TopDownChoice,
    TopDownHeadline,
    WorstContent,
)
from phexplore.systems.topdown.wording import counted, heading, level_title, query_title

_BINS = 61

BY_WORDS = {
    WorstBy.TOTAL: "Error of the total",
    WorstBy.RELATIVE: "Error of the total, percent",
    WorstBy.CELLS: "Sum over the cells",
    WorstBy.LARGEST_GROUP: "Share of the largest group",
}
"""What units can be worst in, for the chooser."""


def trials_words(trials: int) -> str:
    """Return how many trials in words."""
    return f"{trials} trial" + ("" if trials == 1 else "s")


def error_rows(content: ErrorsContent, choice: TopDownChoice, unit: str) -> Figure:
    """Return one row per level: median, middle half and 90 % of the errors, all trials together."""
    rows, table = [], []
    for found, sigma in zip(content.levels, content.sigma, strict=True):
        title = level_title(found.level)
        if found.errors is None or not found.errors.total:
            rows.append(Row(found.level, "", title, text="no unit of this size", tip=f"{title}: {found.units} units"))
            continue
        errors = found.errors
        low, inner_low, middle, inner_high, high = (errors.interpolated(p) for p in (0.05, 0.25, 0.5, 0.75, 0.95))
        mean = errors.mean_absolute
        rows.append(
            Row(
                found.level,
                "",
                title,
                value=middle,
                low=low,
                high=high,
                inner_low=inner_low,
                inner_high=inner_high,
                text=f"mean size {people(mean)}",
                tip=f"{title}: {found.units:,} units, {errors.total:,} errors\n"
                f"90 % between {signed_people(low)} and {signed_people(high)}, half between {signed_people(inner_low)} and "
                f"{signed_people(inner_high)}\nmean {signed_people(errors.mean)}, mean size {people(mean)}, root mean "
                f"square {people(errors.root_mean_square)}"
                + (f"\nnoise of one answer as measured: σ {people(sigma)}" if sigma is not None else ""),
            )
        )
        table.append(
            (title, found.units, errors.total, errors.mean, mean, errors.root_mean_square, low, middle, high, sigma)
        )
    return row_figure(
        "error-rows",
        tuple(rows),
        Axis(f"published − true, {unit}", Scale.SIGNED_LOG, text=signed_text),
        _errors_title(content, unit),
        f"{heading(query_title(content.query))}, {_size_words(choice)}, {trials_words(content.trials)}: thick lines hold half of the "
        f"errors, thin lines 90 %. {UNITS_OF_RESULTS}",
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
        ),
        guide=0.0,
    )


UNITS_OF_RESULTS = (
    "Results are those of tabulated units; a forecast margin is that of the spine's own units, which an optimised spine forms "
    "differently, e.g. its block groups."
)


def _errors_title(content: ErrorsContent, unit: str) -> str:
    means = [
        (level.level, level.errors.mean_absolute)
        for level in content.levels
        if level.errors is not None and level.errors.total
    ]
    if not means:
        return "No unit is of this size"
    chosen = next((pair for pair in means if pair[0] == content.chosen), means[-1])
    name = "The total" if content.query == "total" else heading(query_title(content.query))
    return f"{name} is off by {people(chosen[1])} {unit} on average at {level_title(chosen[0]).lower()}"


def _size_words(choice: TopDownChoice) -> str:
    return "units of all sizes" if choice.size == ALL_SIZES else f"units of {choice.size} people"


def histogram(content: ErrorsContent, choice: TopDownChoice, unit: str) -> Figure:
    """Return the histogram of the errors of the chosen level."""
    place = next(number for number, level in enumerate(content.levels) if level.level == content.chosen)
    found = content.levels[place]
    if found.errors is None or not found.errors.total:
        return nothing("shape", "No unit of this level is of this size, or its numbers are too many to split by size.")
    errors = _without_tails(found.errors)
    edges, counts = errors.histogram(_BINS)
    shares = 100 * counts / found.errors.total
    left_out = found.errors.total - errors.total
    exact = found.errors.within(0)
    tails = f" {left_out:,} errors lie further out." if left_out else ""
    return error_histogram(
        "shape",
        (edges, shares),
        content.sigma[place],
        unit,
        (
            f"{exact:.0%} of the numbers are published as they are; the mean error is {signed_people(found.errors.mean)}",
            (
                f"{heading(query_title(content.query))} at {level_title(found.level).lower()}, {_size_words(choice)}, "
                f"{trials_words(content.trials)}: {found.errors.total:,} errors.{tails}"
            ),
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


def bias_rows(content: BiasContent, unit: str) -> Figure:
    """Return one row per class of true counts: the mean error with its Monte-Carlo error, and the spread."""
    bias = content.bias
    if bias is None:
        return nothing("bias-rows", content.reason)
    rows, table = [], []
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
                text=f"{bias.raised[place]:.0%} raised, {bias.lowered[place]:.0%} lowered",
                tip=f"True counts {label}: {int(bias.numbers[place]):,} numbers per trial\n"
                f"mean error {signed_people(mean)}"
                + (f" ± {people(2 * error)} (two standard errors)" if known else "")
                + f", spread ± {people(spread)}",
                is_warned=known and abs(mean) > 4 * error and abs(mean) >= 0.5,
            )
        )
        table.append(
            (label, int(bias.numbers[place]), mean, error if known else None, spread, float(bias.raised[place]))
        )
    return row_figure(
        "bias-rows",
        tuple(rows),
        Axis(f"published − true, {unit}", Scale.SIGNED_LOG, text=signed_text),
        _bias_title(content, unit),
        f"{heading(query_title(content.query))} at {level_title(content.level).lower()} by the true count, "
        f"{trials_words(content.trials)}. Thin lines: one standard deviation; thick: two Monte-Carlo errors of the mean.",
        Table(
            ("True count", "Numbers per trial", "Mean error", "Monte-Carlo error", "Spread", "Share raised"),
            tuple(table),
        ),
        guide=0.0,
    )


def _bias_title(content: BiasContent, unit: str) -> str:
    bias = content.bias
    if bias is None or not len(bias.labels):
        return "No count"
    error = bias.error_between_trials
    known = np.isfinite(error)
    clear = ~known | (np.abs(bias.bias) > 2 * np.where(known, error, 0.0))
    if not clear.any():
        return "No class of counts is raised or lowered by more than two Monte-Carlo errors"
    small, value = bias.labels[0], float(bias.bias[0])
    if value > 0 and small == "0" and clear[0]:
        return f"Counts of 0 are raised by {value:.2g} {unit} on average; larger ones pay for them"
    worst = int(np.where(clear, np.abs(bias.bias), 0.0).argmax())
    word = "raised" if bias.bias[worst] > 0 else "lowered"
    return f"Counts of {bias.labels[worst]} are {word} most: by {people(abs(float(bias.bias[worst])))} {unit}"


def criterion_rows(content: CriterionContent) -> Figure:
    """Return one row per level, then one per size class of the chosen level: the share within five points."""
    if not content.levels:
        return nothing("criterion-rows", content.reason)
    rows, table = [], []
    for level in content.levels:
        title = level_title(level.level)
        rows.append(_coverage_row(level.level, "Units of 500 or more", title, level.coverage, _level_tip(level)))
        table.append(_coverage_cells("500 or more people", title, level.coverage))
    chosen = next((level for level in content.levels if level.level == content.chosen), content.levels[-1])
    group = f"{level_title(chosen.level)} by people"
    for label, coverage in chosen.by_size:
        rows.append(
            _coverage_row(None, group, label, coverage, f"{label} people: {coverage.held:,} of {coverage.errors:,}")
        )
        table.append(_coverage_cells(group, label, coverage))
    return row_figure(
        "criterion-rows",
        tuple(rows),
        Axis("share of units whose largest group is within 5 points, percent", domain=(0.0, 100.0)),
        _criterion_title(chosen),
        f"Groups: {query_title(content.groups)}. {trials_words(content.trials).capitalize()}; whiskers are Wilson intervals at "
        "95 %, the dashed line is the 95 % that redistricting asks for.",
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
        text=f"{share.value:.1%} of {grouped(coverage.errors)}",
        tip=tip,
        is_warned=coverage.held < REQUIRED * coverage.errors,
    )


def _coverage_cells(group: str, name: str, coverage: Coverage) -> tuple[str | int | float | None, ...]:
    if not coverage.errors:
        return (group, name, 0, 0, None, None, None)
    share = coverage.share
    return (group, name, coverage.held, coverage.errors, share.value * 100, share.low * 100, share.high * 100)


def _level_tip(level: LevelCriterion) -> str:
    words = f"{level_title(level.level)}: {level.units:,} units with 500 people or more"
    if level.reliable is None:
        return f"{words}\nFrom no number of people on are 95 % within five points."
    more = "" if level.lasting == level.reliable else f"; lost again above, kept for good from {level.lasting}"
    start = "any size" if level.reliable == 0 else f"{level.reliable:,} people"
    return f"{words}\nReliable from {start}{more}"


def _criterion_title(chosen: LevelCriterion) -> str:
    name = level_title(chosen.level)
    if chosen.reliable == 0:
        return f"{name}: 95 % of the units of any size are within five points"
    if chosen.reliable is None:
        return f"{name}: in no class of size are 95 % of the units within five points"
    return f"{name}: reliable from {chosen.reliable:,} people"


def worst_rows(content: WorstContent, unit: str) -> Figure:
    """Return one row per unit, the worst first."""
    if not content.places:
        return nothing("worst-rows", content.reason or "No unit is off.")
    percent = content.by in {WorstBy.RELATIVE, WorstBy.LARGEST_GROUP}
    factor = 100.0 if content.by is WorstBy.LARGEST_GROUP else 1.0
    measure = {WorstBy.RELATIVE: "percent", WorstBy.LARGEST_GROUP: "percentage points"}.get(content.by, unit)
    rows = tuple(
        Row(
            place.code or content.level,
            "",
            place.code or level_title(content.level),
            value=place.unit.error * factor,
            inner_low=0.0,
            inner_high=place.unit.error * factor,
            text=f"{people(place.unit.error * factor)}{' %' if percent else ''}: {place.sentence.partition(': ')[2] or place.sentence}",
            tip=f"{place.sentence}\nEnter or double click shows this place.",
        )
        for place in content.places
    )
    first = content.places[0]
    return row_figure(
        "worst-rows",
        rows,
        f"{BY_WORDS[content.by].lower()}, {measure}",
        first.sentence,
        f"{level_title(content.level)}, the {len(rows)} units farthest off, mean over {trials_words(content.trials)}. The reason "
        f"is what explains most of the error in {query_title(content.query)}.",
        Table(
            ("Unit", f"Error, {measure}", "True", "Published", "Reason"),
            tuple(
                (place.code, place.unit.error * factor, place.unit.truth, place.unit.estimate, place.sentence)
                for place in content.places
            ),
        ),
    )


def map_picture(content: MapContent, unit: str) -> Figure:
    """Return the map, with the finding."""
    pieces = tuple(Patch(shape.code, shape.rings, shape.value, shape.tip) for shape in content.shapes)
    values = {shape.code: shape.value for shape in content.shapes if math.isfinite(shape.value)}
    if not values:
        return nothing("map", content.reason)
    words = {
        MapValue.ERROR: unit,
        MapValue.RELATIVE: "%",
        MapValue.SHARE: "points",
    }[content.value]
    worst = max(values, key=lambda code: abs(values[code]))
    level = level_title(content.level).lower()
    mean = sum(abs(value) for value in values.values()) / len(values)
    return map_figure(
        "map",
        pieces,
        words,
        (
            f"{content.value.value}: {people(mean)} {words} on average, most at {level} {worst} ({signed_people(values[worst])})",
            f"{len(values):,} units of the level {level} with shapes, mean over {trials_words(content.trials)}. Blue is too many, "
            "the other colour too few."
            if content.value is not MapValue.SHARE
            else f"{len(values):,} units of the level {level} with shapes, mean over {trials_words(content.trials)}.",
        ),
        Table((level_title(content.level), f"{content.value.value}, {words}"), tuple(values.items())),
        is_signed=content.value is not MapValue.SHARE,
    )


# The tiles above the pictures


def criterion_tile(run: TopDownHeadline) -> TileContent:
    """Return the share of units that redistricting can use."""
    caption = "Within 5 points, units of 500+"
    if run.criterion is None or not run.criterion.errors:
        why = "No trial yet." if not run.trials else "The schema has no groups to judge, or no unit is that large."
        return TileContent(caption, "–", "", why)
    share = run.criterion.share
    met = run.criterion.held >= REQUIRED * run.criterion.errors
    return TileContent(
        caption,
        f"{share.value:.1%}",
        f"{level_title(run.level).lower()}, {share.low:.1%} to {share.high:.1%}",
        "meets the 95 % of redistricting" if met else "below the 95 % of redistricting",
        Tone.GOOD if met else Tone.ATTENTION,
    )


def reliable_tile(run: TopDownHeadline) -> TileContent:
    """Return from how many people on units are reliable."""
    caption = "Reliable from"
    if run.criterion is None:
        return TileContent(caption, "–", "", "No trial yet." if not run.trials else "The schema has no groups.")
    if run.reliable is None:
        return TileContent(caption, "nowhere", level_title(run.level).lower(), "No size keeps 95 %", Tone.ATTENTION)
    place = level_title(run.level).lower()
    if run.reliable == 0:
        return TileContent(caption, "any size", place, "95 % of all units are within 5 points", Tone.GOOD)
    return TileContent(caption, f"{run.reliable:,}", f"people, {place}", "95 % of such units are within 5 points")


def error_tile(run: TopDownHeadline) -> TileContent:
    """Return the mean error of a total."""
    unit = counted(run.spec.scenario.topdown.schema)
    if run.error is None:
        return TileContent("Mean error of a total", "–", unit, "No trial yet.")
    return TileContent(
        "Mean error of a total",
        people(run.error),
        f"{unit}, {level_title(run.level).lower()}",
        f"largest {run.largest:,}" if run.largest is not None else "",
    )


def topdown_trials_tile(run: TopDownHeadline) -> TileContent:
    """Return how far the run is."""
    change, tone = "", Tone.NEUTRAL
    if run.failsafe:
        change, tone = f"{run.failsafe:,} of {run.families:,} families needed the failsafe", Tone.ATTENTION
    elif run.families:
        change = f"{run.families:,} families, none needed the failsafe"
    beside = f"of {run.spec.trials:,}, {run.state.value}"
    if run.spec.mode is RunMode.NO_NOISE:
        beside += ", without noise"
    return TileContent("Trials", f"{run.trials:,}", beside, change, tone)


def topdown_headline_tile(run: TopDownHeadline) -> TileContent:
    """Return the figure of the newest run for the top of the window."""
    if run.criterion is not None and run.criterion.errors:
        content = criterion_tile(run)
        return TileContent("Last run: within 5 points", content.value, content.beside, content.change, content.tone)
    content = error_tile(run)
    return TileContent("Last run: mean error", content.value, content.beside, content.change, content.tone)
