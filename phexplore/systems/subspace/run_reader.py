"""What is shown of runs under exact sums: tiles and pictures of what was read."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from phexplore.accounting.subspace_noise import noise_plans
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.histogram import beyond, error_histogram, normal_curve
from phexplore.figures.marks import Row
from phexplore.figures.scatter import Series, scatter_figure
from phexplore.figures.table import Table, Value
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import counted, people
from phexplore.model.numbers import exact_text
from phexplore.model.subspace import Histogram, Mechanism, Subspace
from phexplore.runs.spec import RunMode
from phexplore.runs.store import TRUTH_FILE, RunUnreadableError
from phexplore.systems.run_results import Chooser, Option, RunRequest, Shown, WholeRun, WholeRunReader
from phexplore.systems.subspace.errors import expected_squared_error, variances
from phexplore.systems.subspace.release_errors import ReleaseErrors
from phexplore.systems.subspace.run_files import read_answers
from phexplore.systems.subspace.simulation import names_of
from phexplore.workload.subspace.spaces import Floats

BINS = 60
MOST_POINTS = 4_000
"""Points of a scatter picture; of more, evenly spread ones by true size."""
_LEANING = 4.0
"""Standard errors from which on a slope is not chance: 1 in 16,000."""


class ReleaseRun(WholeRun):
    """One open run: releases of one histogram.

    Attributes:
        releases: errors by name.
    """

    def __init__(self, directory: Path) -> None:
        """Read the exact answers.

        Raises:
            RunUnreadableError: the directory holds no run of a subspace scenario, or they cannot be read.
        """
        super().__init__(directory)
        method = self.spec.scenario.method
        if not isinstance(method, Subspace):
            raise RunUnreadableError(
                f"{directory} is no run of a subspace scenario.", "Name a directory that such a run has written."
            )
        self._names = names_of(method)
        self._counts_counties = [axis.name for axis in method.axes] == ["county"]
        exact = read_answers(directory / TRUTH_FILE, self._names)
        starts = np.cumsum([0, *self._names.releases.values()]).tolist()
        self.releases = {
            plan.name: ReleaseErrors(plan, self._names.texts[start : start + plan.space.size], exact[plan.name])
            for plan, start in zip(noise_plans(method), starts, strict=False)
        }

    @property
    def is_private(self) -> bool:
        """Whether noise was added."""
        return self.spec.mode is RunMode.PRIVATE

    def labels(self, name: str) -> tuple[str, ...]:
        """Return what the answers of a release are called where they are read; empty for very large releases.

        Args:
            name: of the release.
        """
        found = self.releases[name]
        is_county = self._counts_counties and isinstance(found.plan.release.query, Histogram)
        return tuple(f"County {code}" for code in found.names) if is_county else found.names

    def read_trial(self, path: Path) -> None:
        """Read a trial; see `WholeRun.read_trial`."""
        released = read_answers(path, self._names)
        for name, release in self.releases.items():
            release.add(released[name])


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
    chooser = Chooser(
        "release",
        "Re&lease",
        "Release",
        tuple(Option(each, each) for each in names),
        name,
        letters=12,
        is_reported=True,
    )
    pictures: dict[str, Callable[[], Figure]] = {
        "errors": lambda: _by_release(run),
        "shape": lambda: _shape(run, name),
        "truth": lambda: _by_truth(run, name),
        "promises": lambda: _promises(run),
    }
    choosers = () if request.tab in {"errors", "promises"} else (chooser,)
    return Shown(_tiles(run), _headline(run), choosers, pictures.get(request.tab))


def _tiles(run: ReleaseRun) -> tuple[TileContent, ...]:
    method = run.spec.scenario.subspace
    budget = f"ε = {exact_text(method.epsilon)}"
    delta = f"δ = {exact_text(method.delta)}" if method.delta else "each trial"
    spent = (
        TileContent("Privacy spent", budget, delta, "equal to the declared budget, added up as fractions", Tone.GOOD)
        if run.is_private
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
    expected = sum(expected_squared_error(found.plan) for found in run.releases.values())
    rms, formula = math.sqrt(squared / answers), math.sqrt(expected / answers)
    words = f"forecast {people(formula)}" if run.is_private else "no noise"
    error = TileContent("Error of an answer", people(rms), "people, root mean square", words)
    broken = sum(sum(found.broken) for found in run.releases.values())
    sums = sum(found.plan.space.rank for found in run.releases.values())
    kept = TileContent(
        "Exact sums broken",
        f"{broken:,}",
        "",
        f"{'the one holds' if sums == 1 else f'all {sums:,} hold'} to the last bit in every trial"
        if not broken
        else "must not be released",
        Tone.GOOD if not broken else Tone.REFUSED,
    )
    return error, kept, spent, trials


def _headline(run: ReleaseRun) -> TileContent:
    error, kept, *_ = _tiles(run)
    return TileContent(
        "Last run: error of an answer",
        error.value,
        error.beside,
        f"{kept.value} exact sums broken; {error.change}",
        kept.tone,
    )


_RELEASE_HEADERS = ("Release", "Mechanism", "Answers", "RMS error, people", "Forecast", "Squared error, people²",
                    "Its standard error")  # fmt: skip


def _by_release(run: ReleaseRun) -> Figure:
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for name, found in run.releases.items():
        size, observed = len(found.truth), found.root_mean_square
        each = tuple(math.sqrt(value / size) for value in found.squared)
        formula = math.sqrt(expected_squared_error(found.plan) / size) if run.is_private else None
        text = f"{people(observed)}" + ("" if formula is None else f", forecast {people(formula)}")
        rows.append(Row(name, "", name, value=observed, dots=each, tick=formula, text=text, tip=f"{name}: {text}"))
        mechanism, squared = found.plan.release.mechanism.title, float(np.mean(found.squared))
        table.append((name, mechanism, size, observed, formula, squared, found.squared_error_doubt))
    return row_figure(
        "by-release",
        tuple(rows),
        "root mean square error of an answer, people",
        f"Answers of {rows[0].name} are off by {people(rows[0].value or 0.0)} people"
        + ("" if rows[0].tick is None else f" (forecast {people(rows[0].tick)})"),
        f"One dot per trial, the large one all of them, the stroke the formula.{run.coverage_sentence('the answers')}",
        Table(_RELEASE_HEADERS, tuple(table)),
    )


def _about_curve(mechanism: Mechanism) -> str:
    if mechanism.is_gaussian:
        return " The curve is the noise of this mechanism."
    other = "K-norm noise has another shape" if mechanism is Mechanism.K_NORM else "Laplace noise is more peaked"
    return f" The curve is normal with the same spread: {other}."


def _shape(run: ReleaseRun, name: str) -> Figure:
    found = run.releases[name]
    if not found.errors:
        return _too_many(len(found.truth))
    errors = np.concatenate(found.errors)
    reach = float(np.quantile(np.abs(errors), 0.9995)) or 1.0
    edges = np.linspace(-reach, reach, BINS + 1)
    counts, _ = np.histogram(errors, bins=edges)
    shares = 100 * counts / len(errors)
    sigma = math.sqrt(float(variances(found.plan).mean())) if run.is_private else None
    rows = tuple(
        (float(a), float(b), float(share)) for a, b, share in zip(edges[:-1], edges[1:], shares.tolist(), strict=True)
    )
    return error_histogram(
        "shape",
        (np.asarray(edges, np.float64), np.asarray(shares, np.float64)),
        None if sigma is None else normal_curve(sigma, "normal noise of this spread alone"),
        "people",
        (
            f"Half of the errors of {name} are within ±{people(float(np.quantile(np.abs(errors), 0.5)))} people",
            f"{len(errors):,} errors of {len(found.errors):,} trials{beyond(len(errors) - int(counts.sum()))}."
            + ("" if sigma is None else _about_curve(found.plan.release.mechanism)),
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
    mean = found.mean
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
        else "Errors do not depend on size: small and large counts get the same noise"
    )
    return scatter_figure(
        "by-truth",
        (Series(found.plan.release.mechanism.title, np.maximum(x, 0), y, texts),),
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
        spread = np.sqrt(variances(found.plan) / trials) if run.is_private else np.zeros(len(found.truth))
        moved = np.abs(found.mean)[spread > 0] / spread[spread > 0]
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
        "Every release keeps its promises"
        if not broken
        else f"{counted(broken, 'promise')} {'is' if broken == 1 else 'are'} broken",
        spent if run.is_private else "Exact answers: nothing was spent and nothing is protected.",
        Table(("Release", "Promise", "Counted", "Value", "Verdict"), tuple(table)),
    )
