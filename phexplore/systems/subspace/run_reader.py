"""Reads the results of runs under exact sums trial by trial, in a process beside the window; what was read stays read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.accounting.subspace_noise import noise_plans
from phexplore.errors import PhexploreError
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.histogram import error_histogram
from phexplore.figures.marks import Row
from phexplore.figures.scatter import Series, scatter_figure
from phexplore.figures.table import Table, Value
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import people
from phexplore.model.numbers import exact_text
from phexplore.runs.run_files import read_trial_figures
from phexplore.runs.spec import RunMode
from phexplore.runs.store import TRUTH_FILE, load_spec, present_trials, trial_file
from phexplore.systems.run_results import Chooser, Option, RunRequest, Shown, WholeRunReader
from phexplore.systems.subspace.errors import expected_squared_error, variances
from phexplore.systems.subspace.run_files import read_answers
from phexplore.systems.subspace.simulation import names_of
from phexplore.workload.subspace.exact import Rationals

Floats = NDArray[np.float64]

BINS = 60
MOST_POINTS = 4_000
"""Points of a scatter picture; of more, evenly spread ones by true size."""
_LEANING = 4.0
"""Standard errors from which on a slope is not chance: 1 in 16,000."""
MOST_KEPT = 2_000_000
"""Errors of a release that are kept one by one."""


@dataclass(slots=True)
class _Release:
    """What was found of one release.

    Attributes:
        truth: ``float64[n]``.
        errors: ``float64[n]`` per trial, as many as are kept.
        squared: Σ error² per trial.
        total: ``float64[n]``, Σ error over trials.
        negative: numbers below 0, per trial.
        broken: exact sums that do not hold, per trial.
    """

    truth: Floats
    total: Floats
    errors: list[Floats] = field(default_factory=list)
    squared: list[float] = field(default_factory=list)
    negative: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)


class ReleaseRun:
    """One open run.

    Attributes:
        spec: what it does.
        trials: readable ones.
        problems: why others are not.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.spec = load_spec(directory)
        method = self.spec.scenario.subspace
        self.names = names_of(method)
        self.plans = {plan.name: plan for plan in noise_plans(method)}
        self._truth = read_answers(directory / TRUTH_FILE, self.names)
        self.releases = {name: _Release(own.values, np.zeros(len(own.values))) for name, own in self._truth.items()}
        self.trials: list[int] = []
        self.problems: list[str] = []
        self.covered: list[tuple[int, int]] = []
        self._seen: set[int] = set()

    def refresh(self) -> None:
        """Read trials that are new."""
        for index in present_trials(self.directory):
            if index in self._seen:
                continue
            self._seen.add(index)
            path = self.directory / trial_file(index)
            try:
                released, figures = read_answers(path, self.names), read_trial_figures(path)
            except PhexploreError as error:
                self.problems.append(error.sentence)
                continue
            self.trials.append(index)
            self.covered.append((figures.covered, figures.numbers))
            for name, found in self.releases.items():
                self._add(found, name, released[name])

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the names of a release's answers; empty for very large runs."""
        start = 0
        for each, count in self.names.releases.items():
            if each == name:
                return self.names.texts[start : start + count] if self.names.texts else ()
            start += count
        return ()

    def _add(self, found: _Release, name: str, released: Rationals) -> None:
        truth = self._truth[name]
        left = released.numerators.astype(object) * truth.denominators
        right = truth.numerators.astype(object) * released.denominators
        errors = np.asarray((left - right) / (released.denominators * truth.denominators), dtype=np.float64)
        found.squared.append(float((errors**2).sum()))
        found.total += errors
        found.negative.append(int((released.numerators < 0).sum()))
        found.broken.append(_broken(self.plans[name].space, released, truth))
        if (len(found.errors) + 1) * len(errors) <= MOST_KEPT:
            found.errors.append(errors)


def _broken(space: Any, released: Rationals, truth: Rationals) -> int:
    """Return how many exact sums differ, compared as fractions."""
    scale = truth.denominators
    if scale.ndim:  # answers with several denominators: bring them to one
        common = math.lcm(*map(int, scale.tolist()))
        truth = Rationals(truth.numerators.astype(object) * (common // scale.astype(object)), np.asarray(common))
        scale = truth.denominators
    whole = int(scale)
    if whole == 1:
        return int(space.broken(released, truth.numerators, 1))
    return int(
        space.broken(Rationals(released.numerators.astype(object) * whole, released.denominators), truth.numerators, 1)
    )


def release_run_reader() -> WholeRunReader[ReleaseRun]:
    """Return what reads runs under exact sums."""
    return WholeRunReader(ReleaseRun, show_releases)


def show_releases(run: ReleaseRun, request: RunRequest) -> Shown:
    """Return what is asked of a run.

    Args:
        run: with what is there of it.
        request: the first release where it names none.
    """
    names = tuple(run.releases)
    name = chosen if (chosen := request.chosen("release")) in names else names[0]
    chooser = Chooser("release", "Re&lease", "Release", tuple(Option(each, each) for each in names), name, letters=12)
    pictures: dict[str, Callable[[], Figure]] = {
        "errors": lambda: _by_release(run),
        "shape": lambda: _shape(run, name),
        "truth": lambda: _by_truth(run, name),
        "promises": lambda: _promises(run),
    }
    choosers = () if request.tab in {"errors", "promises"} else (chooser,)
    return Shown(_tiles(run), _headline(run), choosers, pictures.get(request.tab))


def _is_private(run: ReleaseRun) -> bool:
    return run.spec.mode is RunMode.PRIVATE


def _tiles(run: ReleaseRun) -> tuple[TileContent, ...]:
    method = run.spec.scenario.subspace
    budget = f"ε = {exact_text(method.epsilon)}"
    delta = f"δ = {exact_text(method.delta)}" if method.delta else "each trial"
    spent = (
        TileContent("Privacy spent", budget, delta, "equal to the declared budget, added up as fractions", Tone.GOOD)
        if _is_private(run)
        else TileContent("Privacy spent", "none", "", "exact answers: not protected", Tone.ATTENTION)
    )
    answers = sum(len(found.truth) for found in run.releases.values())
    trials = TileContent("Trials", f"{len(run.trials):,}", f"of {run.spec.trials:,}", f"{answers:,} answers each")
    if not run.trials:
        return (
            TileContent("Error of an answer", "–", "", "The first trial shows it."),
            TileContent("Exact sums broken", "–", "", "The first trial shows them."),
            spent,
            trials,
        )
    squared = sum(float(np.mean(found.squared)) for found in run.releases.values())
    expected = sum(expected_squared_error(plan) for plan in run.plans.values())
    rms, formula = math.sqrt(squared / answers), math.sqrt(expected / answers)
    words = f"forecast {people(formula)}" if _is_private(run) else "no noise"
    error = TileContent("Error of an answer", people(rms), "root mean square", words)
    broken = sum(sum(found.broken) for found in run.releases.values())
    sums = sum(plan.space.rank for plan in run.plans.values())
    kept = TileContent(
        "Exact sums broken",
        f"{broken:,}",
        "",
        f"all {sums:,} hold to the last bit in every trial" if not broken else "must not be released",
        Tone.GOOD if not broken else Tone.REFUSED,
    )
    return error, kept, spent, trials


def _headline(run: ReleaseRun) -> TileContent:
    error, kept, *_ = _tiles(run)
    return TileContent(
        "Last run", error.value, error.beside, f"{kept.value} exact sums broken; {error.change}", kept.tone
    )


def _by_release(run: ReleaseRun) -> Figure:
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for name, found in run.releases.items():
        size = len(found.truth)
        each = tuple(math.sqrt(value / size) for value in found.squared)
        formula = math.sqrt(expected_squared_error(run.plans[name]) / size) if _is_private(run) else None
        observed = math.sqrt(float(np.mean(found.squared)) / size)
        error = float(np.std(found.squared, ddof=1)) / math.sqrt(len(found.squared)) if len(found.squared) > 1 else None
        text = f"{people(observed)}" + ("" if formula is None else f", forecast {people(formula)}")
        rows.append(Row(name, "", name, value=observed, dots=each, tick=formula, text=text, tip=f"{name}: {text}"))
        table.append(
            (
                name,
                run.plans[name].release.mechanism.title,
                size,
                observed,
                formula,
                float(np.mean(found.squared)),
                error,
            )
        )
    held = sum(covered for covered, _ in run.covered)
    numbers = sum(count for _, count in run.covered)
    aimed = float(run.spec.scenario.conventions.confidence)
    coverage = (
        f" {held / numbers:.1%} of the answers are within their margins, forecast {aimed:.0%}." if numbers else ""
    )
    return row_figure(
        "by-release",
        tuple(rows),
        "root mean square error of an answer, people",
        f"An answer of {rows[0].name} is {people(rows[0].value or 0.0)} people off"
        + ("" if rows[0].tick is None else f", {people(rows[0].tick)} by the forecast"),
        f"One dot per trial, the large one all of them, the stroke the formula.{coverage}",
        Table(
            (
                "Release",
                "Mechanism",
                "Answers",
                "RMS error, people",
                "Forecast",
                "Squared error, people²",
                "Its standard error",
            ),
            tuple(table),
        ),
    )


def _shape(run: ReleaseRun, name: str) -> Figure:
    found = run.releases[name]
    if not found.errors:
        return _too_many(len(found.truth))
    errors = np.concatenate(found.errors)
    reach = float(np.quantile(np.abs(errors), 0.9995)) or 1.0
    edges = np.linspace(-reach, reach, BINS + 1)
    counts, _ = np.histogram(errors, bins=edges)
    shares = 100 * counts / len(errors)
    sigma = math.sqrt(float(variances(run.plans[name]).mean())) if _is_private(run) else None
    rows = tuple(
        (float(a), float(b), float(share)) for a, b, share in zip(edges[:-1], edges[1:], shares.tolist(), strict=True)
    )
    return error_histogram(
        "shape",
        (np.asarray(edges, np.float64), np.asarray(shares, np.float64)),
        sigma,
        "people",
        (
            f"Half of the errors of {name} are within ±{people(float(np.quantile(np.abs(errors), 0.5)))} people",
            (
                f"{len(errors):,} errors of {len(found.errors):,} trials; the 0.05 % farthest off are not drawn. The curve is normal with the "
                "same spread: Laplace noise is more peaked."
            ),
        ),
        Table(("From, people", "To, people", "Share, percent"), rows),
    )


def _too_many(answers: int) -> Figure:
    return nothing("too-many", f"{answers:,} answers per trial are too many to look at one by one here.")


def _by_truth(run: ReleaseRun, name: str) -> Figure:
    found = run.releases[name]
    if not found.errors:
        return _too_many(len(found.truth))
    kept = found.errors[: max(1, min(10, len(found.errors)))]
    labels = run.labels(name)
    order = np.argsort(found.truth, kind="stable")
    step = max(1, -(-len(order) * len(kept) // MOST_POINTS))
    chosen = order[::step]
    x = np.concatenate([found.truth[chosen]] * len(kept))
    y = np.concatenate([errors[chosen] for errors in kept])
    texts = tuple(labels[place] for place in chosen.tolist()) * len(kept) if labels else ()
    mean = found.total / len(run.trials)
    slope = _slope(found.truth, mean)
    rows = tuple(
        (
            labels[place] if labels else str(place),
            float(found.truth[place]),
            float(mean[place]),
            *(float(e[place]) for e in kept),
        )
        for place in chosen.tolist()
    )
    leans = slope is not None and abs(slope[1]) >= _LEANING
    title = (
        f"Errors go with the size: {slope[0]:+,.2f} people per unit of ln count"
        if leans and slope is not None
        else "Errors do not go with the size: small and large counts get the same noise"
    )
    return scatter_figure(
        "by-truth",
        (Series(run.plans[name].release.mechanism.title, np.maximum(x, 0), y, texts),),
        ("true count, people", "released − true, people"),
        title,
        f"{len(kept)} trials, {len(chosen):,} of {len(order):,} answers."
        + ("" if step == 1 else " Evenly spread by size."),
        Table(
            ("Answer", "True count", "Mean error", *(f"Trial {index + 1}" for index in run.trials[: len(kept)])), rows
        ),
    )


def _slope(truth: Floats, mean: Floats) -> tuple[float, float] | None:
    """Return the slope of mean errors on ln of the true count, and how many standard errors it is from 0."""
    usable = truth > 0
    if usable.sum() < 5 or float(np.ptp(truth[usable])) == 0:
        return None
    x = np.log(truth[usable])
    centred = x - x.mean()
    weight = float((centred**2).sum())
    slope = float((centred * mean[usable]).sum()) / weight
    rest = mean[usable] - mean[usable].mean() - slope * centred
    error = math.sqrt(float((rest**2).sum()) / max(1, len(x) - 2) / weight)
    return slope, slope / error if error else 0.0


def _promises(run: ReleaseRun) -> Figure:
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    trials = len(run.trials)
    for name, found in run.releases.items():
        spread = np.sqrt(variances(run.plans[name]) / trials) if _is_private(run) else np.zeros(len(found.truth))
        moved = np.abs(found.total / trials)[spread > 0] / spread[spread > 0]
        bias = float(moved.max()) if moved.size else 0.0
        limit = 6 + math.sqrt(2 * math.log(max(2, len(found.truth))))
        checks = (
            (
                "Exact sums hold",
                "sums that differ, compared as fractions",
                tuple(map(float, found.broken)),
                any(found.broken),
            ),
            ("No bias", f"largest mean error in standard errors, at most {limit:.1f}", (bias,), bias > limit),
            (
                "Below 0",
                "released numbers below 0: allowed, it keeps them unbiased",
                tuple(map(float, found.negative)),
                False,
            ),
        )
        for title, what, values, failed in checks:
            mean = float(np.mean(values))
            text = (
                "always"
                if title == "Exact sums hold" and not failed
                else f"{mean:,.3g} {what.split(',')[0].split(':')[0]}"
            )
            rows.append(
                Row(
                    None,
                    name if len(run.releases) > 1 else "",
                    title,
                    value=mean,
                    dots=values,
                    text=text,
                    tip=what,
                    is_warned=failed,
                )
            )
            table.append((name, title, what, mean, "broken" if failed else "kept"))
    broken = sum(row.is_warned for row in rows)
    method = run.spec.scenario.subspace
    delta = f", δ = {exact_text(method.delta)}" if method.delta else ""
    spent = f"ε = {exact_text(method.epsilon)}{delta} spent in every trial, equal to the declared budget."
    return row_figure(
        "promises",
        tuple(rows),
        Axis("count per trial, or standard errors", Scale.COUNT),
        "Every release keeps its promises" if not broken else f"{broken} promises are broken",
        spent if _is_private(run) else "Exact answers: nothing was spent and nothing is protected.",
        Table(("Release", "Promise", "Counted", "Value", "Verdict"), tuple(table)),
    )
