"""Reads the results of runs of group sizes trial by trial, in a process beside the window; what was read stays read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.axis import Axis, Scale, signed_text
from phexplore.figures.figure import Figure, row_figure
from phexplore.figures.histogram import NoiseCurve, beyond, curve_of, error_histogram
from phexplore.figures.marks import Row
from phexplore.figures.table import Table, Value
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import people, signed_people
from phexplore.metrics.topdown.distribution import ErrorDistribution, distribution_of, merge
from phexplore.model.numbers import exact_text
from phexplore.model.rounded import Toward, percent
from phexplore.runs.spec import RunMode
from phexplore.runs.store import TRUTH_FILE
from phexplore.simulate.group_sizes.release import ConsistencyChecks, consistency_checks_of
from phexplore.systems.group_sizes.forecast import forecast_group_sizes
from phexplore.systems.group_sizes.run_files import read_sizes, read_tree
from phexplore.systems.run_results import Chooser, Option, RunRequest, Shown, WholeRun, WholeRunReader

Ints = NDArray[np.int64]

BINS = 60
MOST_SIZES = 20
"""Group sizes with a row of their own; larger ones in powers of two together."""
_CLASSES = (0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
"""Least true counts of the classes of "Against true size"."""


@dataclass(slots=True)
class _Level:
    """What was found at one level.

    Attributes:
        l1: per trial, groups.
        absolute: ``float64[N]``, Σ |error| over trials and regions.
        signed: ``float64[N]``, Σ error.
        classes: the errors by class of the true count.
    """

    absolute: NDArray[np.float64]
    signed: NDArray[np.float64]
    l1: list[int] = field(default_factory=list)
    classes: dict[int, ErrorDistribution] = field(default_factory=dict)

    def add(self, errors: Ints, places: NDArray[np.intp]) -> None:
        """Count one trial.

        Args:
            errors: ``int64[regions, N]``.
            places: ``intp[regions, N]``, classes of the true counts.
        """
        absolute = np.abs(errors)
        self.l1.append(int(absolute.sum()))
        self.absolute += absolute.sum(axis=0)
        self.signed += errors.sum(axis=0)
        for number in np.unique(places).tolist():
            found = distribution_of(errors[places == number])
            self.classes[number] = merge([self.classes[number], found]) if number in self.classes else found

    @property
    def mean(self) -> float:
        """L1 error over trials."""
        return float(np.mean(self.l1))

    @property
    def deviation(self) -> float | None:
        """The standard deviation over trials, None with one."""
        return float(np.std(self.l1, ddof=1)) if len(self.l1) > 1 else None


class SizeRun(WholeRun):
    """One open run.

    Attributes:
        tree: the regions.
        largest: size.
        exact: ``int64[regions, N]`` per level, true numbers of groups.
        groups: of all sizes.
        levels: errors per level.
        promises: what was broken in each trial.
    """

    def __init__(self, directory: Path) -> None:
        """Read the exact counts.

        Raises:
            RunUnreadableError: they are not there, or damaged.
        """
        super().__init__(directory)
        self.tree, self.largest = read_tree(directory / TRUTH_FILE)
        self.exact = read_sizes(directory / TRUTH_FILE, self.tree, self.largest)
        self.groups = int(self.exact[0].sum())
        self.levels = [_Level(np.zeros(self.largest), np.zeros(self.largest)) for _ in self.exact]
        self._places = [np.searchsorted(_CLASSES, level, side="right") - 1 for level in self.exact]
        self.promises: list[ConsistencyChecks] = []

    def read_trial(self, path: Path) -> None:
        """Read a trial; see `WholeRun.read_trial`."""
        released = read_sizes(path, self.tree, self.largest)
        self.promises.append(consistency_checks_of(released, self.tree, self.groups))
        for level, values, exact, places in zip(self.levels, released, self.exact, self._places, strict=True):
            level.add(values - exact, places)

    def noise(self, number: int) -> NoiseCurve | None:
        """Return the noise of one size at a level before post-processing, None without noise."""
        if self.spec.mode is not RunMode.PRIVATE:
            return None
        method = self.spec.scenario.group_sizes
        figures = forecast_group_sizes(method, self.spec.scenario.conventions)
        noise = figures.levels[number].noise.noise
        if method.mechanism.is_cumulative:
            return curve_of(noise, 2, "the difference of two noisy answers alone")
        return curve_of(noise)


def size_run_reader() -> WholeRunReader[SizeRun]:
    """Return what reads runs of group sizes."""
    return WholeRunReader(SizeRun, show_sizes)


def show_sizes(run: SizeRun, request: RunRequest) -> Shown:
    """Return what is asked of a run.

    Args:
        run: with what is there of it.
        request: the lowest level where it names none.
    """
    levels = run.tree.levels
    level = chosen if (chosen := request.chosen("level")) in levels else levels[-1]
    number = levels.index(level)
    chooser = Chooser(
        "level", "Le&vel", "Level", tuple(Option(each, each) for each in levels), level, letters=12, is_reported=True
    )
    pictures: dict[str, Callable[[], Figure]] = {
        "errors": lambda: _by_level(run),
        "shape": lambda: _shape(run, number),
        "truth": lambda: _by_truth(run, number),
        "sizes": lambda: _by_size(run, number),
        "promises": lambda: _promises(run),
    }
    choosers = () if request.tab in {"errors", "promises"} else (chooser,)
    return Shown(_tiles(run), _headline(run), choosers, pictures.get(request.tab))


def _tiles(run: SizeRun) -> tuple[TileContent, ...]:
    method, wanted = run.spec.scenario.group_sizes, run.spec.trials
    budget = f"{method.framework.symbol} = {exact_text(method.total)}"
    spent = (
        TileContent(
            "Privacy spent", budget, "each trial", "equal to the declared budget, added up as fractions", Tone.GOOD
        )
        if run.spec.mode is RunMode.PRIVATE
        else TileContent("Privacy spent", "none", "", "exact counts without noise: not protected", Tone.ATTENTION)
    )
    trials = TileContent(
        "Trials", f"{len(run.trials):,}", f"of {wanted:,}", f"{run.groups:,} groups in {run.tree.leaves:,} regions"
    )
    if not run.trials:
        nothing = TileContent("Broken sums", "–", "", "The first trial shows them.")
        return TileContent("Error", "–", "", "The first trial shows it."), nothing, spent, trials
    lowest = run.levels[-1]
    mean, deviation = lowest.mean, lowest.deviation
    share = mean / (2 * run.groups) if run.groups else 0.0
    error = TileContent(
        f"L1 error (sum of errors), {run.tree.levels[-1]}",
        f"{round(mean):,}",
        "groups",
        ("" if deviation is None else f"standard deviation {round(deviation):,} between trials; ")
        + f"{percent(share, places=2, toward=Toward.UP)} of the largest possible, two for every group",
    )
    broken = float(np.mean([each.consistency for each in run.promises]))
    failed = sum(each.validity + each.faithfulness for each in run.promises)
    if broken == 0 and failed == 0:
        kept = TileContent(
            "Broken sums", "0", "", "consistent, 0 or more, the number of groups exact in every trial", Tone.GOOD
        )
    else:
        more = f", {failed:,} other promises broken" if failed else ""
        kept = TileContent(
            "Broken sums", people(broken), "per trial", f"regions and sizes that do not add up{more}", Tone.ATTENTION
        )
    return error, kept, spent, trials


def _headline(run: SizeRun) -> TileContent:
    error, kept, *_ = _tiles(run)
    change = f"{kept.value} broken sums" + (f" {kept.beside}" if kept.beside else "")
    where = f"at the level {run.tree.levels[-1]}"
    return TileContent("Last run: sum of errors", error.value, error.beside, f"{where}; {change}", kept.tone)


def _by_level(run: SizeRun) -> Figure:
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for name, width, level in zip(run.tree.levels, run.tree.widths, run.levels, strict=True):
        mean, deviation = level.mean, level.deviation
        text = f"{round(mean):,}" + ("" if deviation is None else f" (SD {round(deviation):,})")
        tip = f"{name}: {text} groups over {len(level.l1):,} trials"
        rows.append(Row(name, "", name, value=mean, dots=tuple(map(float, level.l1)), text=text, tip=tip))
        table.append((name, width, len(level.l1), mean, deviation, mean / (width * run.largest)))
    return row_figure(
        "by-level",
        tuple(rows),
        Axis("L1 error (sum of errors), groups: a group in another size counts twice", Scale.COUNT),
        f"A release is {rows[-1].text} groups off at the level {run.tree.levels[-1]}, {rows[0].text} at {run.tree.levels[0]}",
        f"One dot per trial, the large one their mean.{run.coverage_sentence('all numbers')}",
        Table(
            (
                "Level",
                "Regions",
                "Trials",
                "Mean L1 error (sum of errors), groups",
                "Standard deviation",
                "Mean error of a number",
            ),
            tuple(table),
        ),
    )


def _shape(run: SizeRun, number: int) -> Figure:
    level, name = run.levels[number], run.tree.levels[number]
    # Regions without groups of a size would hide everything else.
    filled = [found for place, found in level.classes.items() if place]
    whole = merge(filled) if filled else level.classes[0]
    empty = level.classes[0].within(0) if 0 in level.classes else 1.0
    low, high = whole.quantile(0.0005), whole.quantile(0.9995)
    width = max(1, -(-(high - low + 1) // BINS))
    edges = low - 0.5 + width * np.arange(-(-(high - low + 1) // width) + 1)
    counts, _ = np.histogram(whole.errors, bins=edges, weights=whole.counts)
    shares = 100 * counts / whole.total
    zero = whole.within(0)
    rows = tuple(
        (float(a), float(b), float(share)) for a, b, share in zip(edges[:-1], edges[1:], shares.tolist(), strict=True)
    )
    return error_histogram(
        "shape",
        (np.asarray(edges, np.float64), np.asarray(shares, np.float64)),
        run.noise(number),
        "groups",
        (
            f"{name}: numbers with groups are {whole.mean_absolute:.3g} groups off on average, {percent(zero, toward=Toward.DOWN)} are exact",
            (
                f"Sizes and regions with groups, {len(run.trials):,} trials{beyond(whole.total - int(counts.sum()))}. Of empty sizes "
                f"{percent(empty, places=2, toward=Toward.DOWN)} stay empty."
            ),
        ),
        Table(("From", "To", "Share, percent"), rows),
    )


def _by_truth(run: SizeRun, number: int) -> Figure:
    level, name = run.levels[number], run.tree.levels[number]
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for place in sorted(level.classes):
        found = level.classes[place]
        label = _class_name(place)
        low, inner_low, middle, inner_high, high = (found.quantile(q) for q in (0.05, 0.25, 0.5, 0.75, 0.95))
        text = f"mean {signed_people(found.mean)}"
        tip = f"True count {label}: {found.total:,} numbers, mean error {found.mean:+.3g}, half between {inner_low:+,} and {inner_high:+,}"
        rows.append(
            Row(
                label,
                "",
                label,
                float(middle),
                float(low),
                float(high),
                float(inner_low),
                float(inner_high),
                found.mean,
                text=text,
                tip=tip,
            )
        )
        table.append((label, found.total, found.mean, found.mean_absolute, low, inner_low, middle, inner_high, high))
    biased = max(level.classes.items(), key=lambda pair: abs(pair[1].mean))
    return row_figure(
        "by-truth",
        tuple(rows),
        Axis("released − true, groups", Scale.SIGNED_LOG, text=signed_text),
        f"{name}: true counts of {_class_name(biased[0])} are released {_off_words(biased[1].mean)} on average",
        f"Level {name}: thin line 90 %, thick half of the errors, dot the median, stroke the mean, by the true number of groups.",
        Table(
            ("True count", "Numbers", "Mean error", "Mean absolute error", "5 %", "25 %", "Median", "75 %", "95 %"),
            tuple(table),
        ),
        guide=0.0,
    )


def _off_words(mean: float) -> str:
    return f"{people(abs(mean))} groups too {'low' if mean < 0 else 'high'}" if mean else "right"


def _class_name(place: int) -> str:
    low = _CLASSES[place]
    if low == 0:
        return "0"
    if place + 1 == len(_CLASSES):
        return f"{low:,} or more"
    return f"{low:,} to {_CLASSES[place + 1] - 1:,}"


def _by_size(run: SizeRun, number: int) -> Figure:
    level, name, trials = run.levels[number], run.tree.levels[number], len(run.trials)
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for low, high in _size_classes(run.largest):
        label = f"{low:,}" if high == low else f"{low:,} to {high:,}"
        part = slice(low - 1, high)
        absolute, signed = float(level.absolute[part].sum()) / trials, float(level.signed[part].sum()) / trials
        true = int(run.exact[number][:, part].sum())
        tip = (
            f"Size {label}: {true:,} groups, error {people(absolute)} summed over regions, {signed_people(signed)} net"
        )
        rows.append(
            Row(label, "", f"size {label}", value=absolute, low=0.0, high=absolute, text=people(absolute), tip=tip)
        )
        table.append((label, true, absolute, signed))
    worst = max(rows, key=lambda row: row.value or 0.0)
    return row_figure(
        "by-size",
        tuple(rows),
        Axis("L1 error (sum of errors) over regions, groups per trial", Scale.COUNT),
        f"{name}: groups of size {worst.key}{' together' if ' to ' in str(worst.key) else ''} are farthest off: {worst.text} groups, summed over regions",
        f"Level {name}, mean of {trials:,} trials.",
        Table(("Size", "True groups", "L1 error (sum of errors), groups", "Net error, groups"), tuple(table)),
    )


def _size_classes(largest: int) -> list[tuple[int, int]]:
    found = [(size, size) for size in range(1, min(MOST_SIZES, largest) + 1)]
    low = MOST_SIZES + 1
    while low <= largest:
        high = min(2 * (low - 1), largest)
        found.append((low, high))
        low = high + 1
    return found


def _promises(run: SizeRun) -> Figure:
    checks = (
        (
            "Regions add up",
            "sums of subregions that differ from their region",
            [each.consistency for each in run.promises],
        ),
        ("0 or more", "negative numbers", [each.validity for each in run.promises]),
        (
            "Number of groups exact",
            "levels whose groups do not add up to their number",
            [each.faithfulness for each in run.promises],
        ),
    )
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for title, what, counts in checks:
        mean = float(np.mean(counts))
        text = "always kept" if not any(counts) else f"{people(mean)} broken per trial"
        rows.append(
            Row(
                title,
                "",
                title,
                value=mean,
                dots=tuple(map(float, counts)),
                text=text,
                tip=f"{title}: {text}",
                is_warned=any(counts),
            )
        )
        table.append((title, what, mean, max(counts), len(counts)))
    budget = run.spec.scenario.group_sizes
    broken = sum(any(counts) for _, _, counts in checks)
    spent = (
        f"{budget.framework.symbol} = {exact_text(budget.total)} spent in every trial, equal to the declared budget."
    )
    return row_figure(
        "promises",
        tuple(rows),
        Axis("broken promises per trial", Scale.COUNT),
        "Every release keeps all promises"
        if not broken
        else f"{broken} of {len(checks)} promises {'is' if broken == 1 else 'are'} broken",
        spent if run.spec.mode is RunMode.PRIVATE else "Exact counts: nothing was spent and nothing is protected.",
        Table(("Promise", "Counted", "Broken per trial", "Most", "Trials"), tuple(table)),
    )
