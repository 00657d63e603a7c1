"""The report of a subspace run: is every total exact, are errors as the formula says, what is not protected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from phexplore.errors import PhexploreError
from phexplore.figures.style import Chart
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.numbers import exact_text
from phexplore.report.document import Column, Document, Part, TableView, Tile, figures, heading, table_of
from phexplore.report.provenance import Section
from phexplore.report.run_report import RunReport
from phexplore.report.run_sections import check_entries, noise_caution, run_document_of, specification_section
from phexplore.runs.store import RunUnreadableError, load_summary, present_trials, state_of
from phexplore.systems.run_pictures import run_charts
from phexplore.systems.run_results import Choice
from phexplore.systems.subspace.errors import expected_squared_error, variances
from phexplore.systems.subspace.release_errors import ReleaseErrors
from phexplore.systems.subspace.run_reader import ReleaseRun
from phexplore.systems.subspace.system import SUBSPACE

_WORST = 20


def run_report(run: Path, now: datetime, choices: Mapping[str, Choice] | None = None) -> RunReport:
    """Return what the results of a run are written from.

    Args:
        run: a run directory, complete or not.
        now: printed in the report, with its zone.
        choices: for its pictures, as on the page of results.

    Raises:
        PhexploreError: the run holds no trial, or a file cannot be read.
    """
    if not present_trials(run):
        raise PhexploreError("The run has no finished trial yet.", "Wait for the first one, or resume the run.")
    opened = ReleaseRun(run)
    opened.refresh()
    if opened.problems:
        raise RunUnreadableError(opened.problems[0], "Resume the run to make this part again.")
    errors = tuple(opened.releases.values())
    charts = cache(lambda: run_charts(SUBSPACE, run, choices) if opened.is_private else ())
    return RunReport(
        document=lambda: run_document(opened, charts(), now),
        charts=charts,
        table=lambda: answers_csv(errors),
    )


_ANSWER_COLUMNS = ("RELEASE", "NUMBER", "ANSWER", "TRUE", "TRIALS", "MEAN_ERROR", "RMSE", "LOWEST", "HIGHEST",
                   "EXPECTED_VARIANCE")  # fmt: skip


def answers_csv(errors: tuple[ReleaseErrors, ...]) -> bytes:
    """Return a line per answer: exact value, errors over the trials, variance by the formula. RFC 4180, UTF-8."""
    return csv_bytes([_ANSWER_COLUMNS, *(line for release in errors for line in _answer_lines(release))])


def _answer_lines(release: ReleaseErrors) -> Iterator[list[object]]:
    expected, square = variances(release.plan), np.sqrt(release.squares / release.trials)
    for number, mean in enumerate(release.mean.tolist()):
        name = release.names[number] if release.names else ""
        values = (mean, square[number], release.lowest[number], release.highest[number], expected[number])
        texts = (f"{value:.6f}" for value in values)
        yield [release.plan.name, number, name, f"{release.truth[number]:.12g}", release.trials, *texts]


def run_document(run: ReleaseRun, charts: Sequence[Chart], now: datetime) -> Document:
    """Return the report.

    Args:
        run: with all its trials.
        charts: its pictures.
        now: printed in the report, with its zone.
    """
    spec, summary, errors = run.spec, load_summary(run.directory) or {}, tuple(run.releases.values())
    method = spec.scenario.subspace
    checks: dict[str, Any] = summary.get("checks", {})
    privacy: dict[str, Any] = summary.get("privacy", {})
    outcomes = check_entries(checks) or (("Checks", "not yet: the run is not complete"),)
    releases = ((f"Release {name}", str(release)) for name, release in method.releases.items())
    sections = (Section("Checks", outcomes), specification_section(spec, len(run.trials), *releases))
    protected = (*privacy.get("protected", ()), *privacy.get("not_protected", ()))
    parts = [
        Part("privacy", "What is protected, and what is not", protected),
        Part(
            "tables",
            "The figures",
            tables=(_release_table(errors), *(_worst_table(each, run.labels(each.plan.name)) for each in errors)),
        ),
        Part("checks", "Checks and specification", (noise_caution(spec),), sections=sections),
    ]
    if charts:
        parts.insert(1, Part("pictures", "What the run shows", charts=tuple(charts)))
    broken = checks.get("invariants_exact")
    count = "–" if broken is None else "0" if broken is True else f"{broken:,}"
    is_broken = broken is not None and broken is not True
    tiles = (
        Tile("Trials", f"{len(run.trials):,}", state_of(run.directory).value),
        Tile("ε", exact_text(method.epsilon), f"δ = {float(method.delta):g}, replace one record"),
        Tile("Exact totals broken", count, "compared as fractions, to the last bit", attention=is_broken),
    )
    subtitle, keywords = "Simulated run under subspace privacy", ("subspace differential privacy", "invariants")
    trials = len(run.trials)
    return run_document_of(spec, now, subtitle, tiles, parts, trials=trials, keywords=keywords)


def _squared_error(each: ReleaseErrors) -> str:
    mean, doubt = float(np.mean(each.squared)), each.squared_error_doubt
    return f"{mean:,.1f}" if doubt is None else f"{mean:,.1f} (SE {doubt:,.1f})"


_RELEASES: tuple[Column[ReleaseErrors], ...] = (
    heading("Release", lambda each: each.plan.name),
    heading("Mechanism", lambda each: each.plan.release.mechanism.title),
    figures("Answers", lambda each: each.plan.space.size),
    figures("Exact sums", lambda each: each.plan.space.rank),
    figures("Mean error,\npeople", lambda each: f"{each.mean.mean():+.3f}"),
    figures("RMSE,\npeople", lambda each: each.root_mean_square, 3),
    figures("Squared error,\npeople²", _squared_error),
    figures("by the formula", lambda each: float(expected_squared_error(each.plan)), 1),
)


def _release_table(errors: tuple[ReleaseErrors, ...]) -> TableView:
    note = "SE is the Monte Carlo standard error over trials."
    return table_of("releases", "Errors of each release", _RELEASES, errors, note)


def _worst_table(each: ReleaseErrors, labels: tuple[str, ...]) -> TableView:
    size = np.maximum(-each.lowest, each.highest)
    columns: tuple[Column[int], ...] = (
        heading("Answer", lambda place: labels[place] if labels else str(place)),
        figures("True count", lambda place: f"{each.truth[place]:,.15g}"),
        figures("Mean error", lambda place: f"{each.mean[place]:+,.2f}"),
        figures("Largest error", lambda place: float(size[place]), 2),
    )
    worst = np.argsort(-size, kind="stable")[:_WORST].tolist()
    return table_of(f"worst-{each.plan.name}", f"Largest errors of {each.plan.name}", columns, worst)
