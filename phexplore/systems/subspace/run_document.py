"""The report of a subspace run: is every total exact, are errors as the formula says, what is not protected."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from phexplore.errors import PhexploreError
from phexplore.figures.style import Chart
from phexplore.files.spreadsheet import csv_bytes
from phexplore.report.document import Column, Document, Part, TableView, Tile, figures, heading, table_of
from phexplore.report.provenance import Section
from phexplore.report.run_report import RunReport
from phexplore.report.run_sections import check_entries, noise_caution, run_document_of, specification_section
from phexplore.runs.spec import RunMode
from phexplore.systems.subspace.charts import by_size_chart, distribution_chart, root_mean
from phexplore.systems.subspace.errors import expected_squared_error, variances
from phexplore.systems.subspace.results import ReleaseErrors, SubspaceResults

_WORST = 20


def run_report(run: Path, now: datetime) -> RunReport:
    """Return what the results of a run are written from.

    Args:
        run: a run directory, complete or not.
        now: printed in the report, with its zone.

    Raises:
        PhexploreError: the run holds no trial, or a file cannot be read.
    """
    results = SubspaceResults.open(run)
    if not results.trials:
        raise PhexploreError("The run has no finished trial yet.", "Wait for the first one, or resume the run.")
    errors = results.errors()
    return RunReport(
        document=lambda: run_document(results, errors, now),
        charts=lambda: run_charts(results, errors),
        table=lambda: answers_csv(errors),
    )


_ANSWER_COLUMNS = ("RELEASE", "NUMBER", "ANSWER", "TRUE", "TRIALS", "MEAN_ERROR", "RMSE", "LOWEST", "HIGHEST",
                   "EXPECTED_VARIANCE")  # fmt: skip


def answers_csv(errors: tuple[ReleaseErrors, ...]) -> bytes:
    """Return a line per answer: exact value, errors over the trials, variance by the formula. RFC 4180, UTF-8."""
    return csv_bytes([_ANSWER_COLUMNS, *(line for release in errors for line in _answer_lines(release))])


def _answer_lines(release: ReleaseErrors) -> Iterator[list[object]]:
    expected = variances(release.plan)
    mean, square = release.errors.mean(axis=0), np.sqrt((release.errors**2).mean(axis=0))
    low, high = release.errors.min(axis=0), release.errors.max(axis=0)
    for number in range(len(release.truth)):
        name = release.names[number] if release.names else ""
        values = (mean[number], square[number], low[number], high[number], expected[number])
        texts = (f"{value:.6f}" for value in values)
        yield [release.plan.name, number, name, f"{release.truth[number]:.12g}", len(release.trials), *texts]


def run_charts(results: SubspaceResults, errors: tuple[ReleaseErrors, ...]) -> tuple[Chart, ...]:
    """Return the figures of a run, two per release; none where nothing was added.

    Args:
        results: of the run.
        errors: of its releases.
    """
    if results.spec.mode is not RunMode.PRIVATE:
        return ()
    charts: list[Chart] = []
    for place, release in enumerate(errors):
        label = f"{release.plan.name}, {release.plan.release.mechanism.title}"
        mark = f"-{place + 1}" if len(errors) > 1 else ""
        charts += [
            replace(chart, id=chart.id + mark)
            for chart in (
                by_size_chart(release.truth, release.errors, label),
                distribution_chart(release.errors, root_mean(variances(release.plan)), label),
            )
        ]
    return tuple(charts)


def run_document(results: SubspaceResults, errors: tuple[ReleaseErrors, ...], now: datetime) -> Document:
    """Return the report.

    Args:
        results: of the run.
        errors: of its releases.
        now: printed in the report, with its zone.
    """
    spec, summary = results.spec, results.summary or {}
    method = spec.scenario.subspace
    checks: dict[str, Any] = summary.get("checks", {})
    privacy: dict[str, Any] = summary.get("privacy", {})
    outcomes = check_entries(checks) or (("Checks", "not yet: the run is not complete"),)
    releases = ((f"Release {name}", str(release)) for name, release in method.releases.items())
    sections = (Section("Checks", outcomes), specification_section(spec, len(results.trials), *releases))
    protected = (*privacy.get("protected", ()), *privacy.get("not_protected", ()))
    parts = [
        Part("privacy", "What is protected, and what is not", protected),
        Part("tables", "The figures", tables=(_release_table(errors), *(_worst_table(each) for each in errors))),
        Part("checks", "Checks and specification", (noise_caution(spec),), sections=sections),
    ]
    if charts := run_charts(results, errors):
        parts.insert(1, Part("pictures", "What the run shows", charts=charts))
    broken = checks.get("invariants_exact")
    count = "–" if broken is None else "0" if broken is True else f"{broken:,}"
    is_broken = broken is not None and broken is not True
    tiles = (
        Tile("Trials", f"{len(results.trials):,}", results.state.value),
        Tile("ε", f"{float(method.epsilon):g}", f"δ = {float(method.delta):g}, replace one record"),
        Tile("Exact totals broken", count, "compared as fractions, to the last bit", attention=is_broken),
    )
    exact = "The exact answers in this report are those of the data, without any protection."
    subtitle, warning = "Simulated run under subspace privacy", "" if spec.data.synthetic else exact
    keywords = ("subspace differential privacy", "invariants")
    return run_document_of(spec, now, subtitle, tiles, parts, warning=warning, keywords=keywords)


def _squared_error(each: ReleaseErrors) -> str:
    squared = (each.errors**2).sum(axis=1)
    if len(squared) < 2:
        return f"{squared.mean():,.1f}"
    return f"{squared.mean():,.1f} ± {float(np.std(squared, ddof=1) / math.sqrt(len(squared))):,.1f}"


_RELEASES: tuple[Column[ReleaseErrors], ...] = (
    heading("Release", lambda each: each.plan.name),
    heading("Mechanism", lambda each: each.plan.release.mechanism.title),
    figures("Answers", lambda each: each.plan.space.size),
    figures("Exact sums", lambda each: each.plan.space.rank),
    figures("Mean error,\npeople", lambda each: f"{each.errors.mean():+.3f}"),
    figures("RMSE,\npeople", lambda each: float(np.sqrt((each.errors**2).mean())), 3),
    figures("Squared error,\npeople²", _squared_error),
    figures("by the formula", lambda each: float(expected_squared_error(each.plan)), 1),
)


def _release_table(errors: tuple[ReleaseErrors, ...]) -> TableView:
    note = "± is the Monte-Carlo error over trials."
    return table_of("releases", "Errors of each release", _RELEASES, errors, note)


def _worst_table(each: ReleaseErrors) -> TableView:
    size = np.abs(each.errors).max(axis=0)
    columns: tuple[Column[int], ...] = (
        heading("Answer", lambda place: each.names[place] if each.names else str(place)),
        figures("True count", lambda place: f"{each.truth[place]:,.6g}"),
        figures("Mean error", lambda place: f"{each.errors[:, place].mean():+,.2f}"),
        figures("Largest error", lambda place: float(size[place]), 2),
    )
    worst = np.argsort(-size, kind="stable")[:_WORST].tolist()
    return table_of(f"worst-{each.plan.name}", f"Largest errors of {each.plan.name}", columns, worst)
