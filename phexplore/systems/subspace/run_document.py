"""The report of a subspace run: is every total exact, are errors as the formula says, what is not protected."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from phexplore import __version__
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.figures.look import Chart, FigureFormat, chart_bytes, sheet_bytes
from phexplore.files.atomic_files import write_atomically
from phexplore.files.spreadsheet import GuardedWriter
from phexplore.report.document import Document, Header, Part, TableView, Tile, heading_cell, number_cell
from phexplore.report.provenance import Section
from phexplore.runs.spec import RunMode
from phexplore.systems.subspace.charts import by_size_chart, distribution_chart, root_mean
from phexplore.systems.subspace.errors import expected_squared_error, variances
from phexplore.systems.subspace.results import ReleaseErrors, SubspaceResults

FORMATS = {"html": ".html", "pdf": ".pdf", "csv": ".csv", "png": ".png", "svg": ".svg"}
_WORST = 20


def write_subspace_report(run: Path, form: str, out: Path, now: datetime) -> list[Path]:
    """Write a report of a run and return the files.

    ``csv`` is one file with a line per answer; ``png`` and ``svg`` fill a folder with one picture per figure unless `out` ends like
    a file; ``html`` and ``pdf`` are one file, in a directory under the name ``report``.

    Raises:
        UnknownNameError: no such format.
        PhexploreError: the run holds no trial, or a file cannot be read or written.
    """
    if (suffix := FORMATS.get(form)) is None:
        raise UnknownNameError("format", form, list(FORMATS))
    results = SubspaceResults.open(run)
    if not results.trials:
        raise PhexploreError("The run has no finished trial yet.", "Wait for the first one, or resume the run.")
    errors = results.errors()
    if form in {"png", "svg"} and (out.is_dir() or out.suffix != suffix):
        return list(_write_pictures(results, errors, FigureFormat(form), out))
    target = out / f"report{suffix}" if out.is_dir() else out
    write_atomically(target, _content(results, errors, form, now))
    return [target]


def _write_pictures(
    results: SubspaceResults, errors: tuple[ReleaseErrors, ...], form: FigureFormat, out: Path
) -> Iterator[Path]:
    for chart in run_charts(results, errors):
        path = out / f"{chart.id}.{form.value}"
        write_atomically(path, chart_bytes(chart, form))
        yield path


def _content(results: SubspaceResults, errors: tuple[ReleaseErrors, ...], form: str, now: datetime) -> bytes:
    match form:
        case "csv":
            return answers_csv(errors)
        case "html" | "pdf":
            from phexplore.report.html import document_html  # noqa: PLC0415 - each format loads what it needs

            html = document_html(run_document(results, errors, now))
            if form == "html":
                return html
            from phexplore.report.pdf import pdf_from_html  # noqa: PLC0415 - as above

            return pdf_from_html(html, now)
        case _:
            return sheet_bytes(run_charts(results, errors), FigureFormat(form))


def answers_csv(errors: tuple[ReleaseErrors, ...]) -> bytes:
    """Return a line per answer: exact value, errors over the trials, variance by the formula. RFC 4180, UTF-8."""
    text = io.StringIO()
    writer = GuardedWriter(text)
    writer.writerow(
        [
            "RELEASE",
            "NUMBER",
            "ANSWER",
            "TRUE",
            "TRIALS",
            "MEAN_ERROR",
            "RMSE",
            "LOWEST",
            "HIGHEST",
            "EXPECTED_VARIANCE",
        ]
    )
    for release in errors:
        expected = variances(release.plan)
        mean, square = release.errors.mean(axis=0), np.sqrt((release.errors**2).mean(axis=0))
        low, high = release.errors.min(axis=0), release.errors.max(axis=0)
        for number in range(len(release.truth)):
            values = (mean[number], square[number], low[number], high[number], expected[number])
            writer.writerow(
                [
                    release.plan.name,
                    number,
                    release.names[number] if release.names else "",
                    f"{release.truth[number]:.12g}",
                    len(release.trials),
                    *(f"{value:.6f}" for value in values),
                ]
            )
    return text.getvalue().encode()


def run_charts(results: SubspaceResults, errors: tuple[ReleaseErrors, ...]) -> tuple[Chart, ...]:
    """Return the figures of a run, two per release.

    Raises:
        PhexploreError: nothing was added, so there is nothing to draw.
    """
    if results.spec.mode is not RunMode.PRIVATE:
        raise PhexploreError("There is nothing to draw: the run has no noise.", "Choose csv, which holds its answers.")
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
    """Return the report."""
    spec, summary = results.spec, results.summary() or {}
    method = spec.scenario.subspace
    noisy = spec.mode is RunMode.PRIVATE
    checks: dict[str, Any] = dict(summary.get("checks", {}))  # type: ignore[call-overload]
    privacy: dict[str, Any] = dict(summary.get("privacy", {}))  # type: ignore[call-overload]
    parts = [
        Part(
            "privacy",
            "What is protected, and what is not",
            (*privacy.get("protected", ()), *privacy.get("not_protected", ())),
        ),
        Part("tables", "The figures", tables=(_release_table(errors), *(_worst_table(each) for each in errors))),
        Part("checks", "Checks and specification", sections=(_checks(checks), _specification(results))),
    ]
    if noisy:
        parts.insert(1, Part("pictures", "What the run shows", charts=run_charts(results, errors)))
    warning = (
        "" if spec.data.synthetic else "The exact answers in this report are those of the data, without any protection."
    )
    return Document(
        title=spec.scenario.name,
        subtitle="Simulated run under subspace privacy",
        colophon=f"{now.strftime('%Y-%m-%d %H:%M')} {now.tzname() or ''} · phexplore {__version__} · run {spec.identity}",
        tiles=(
            Tile("Trials", f"{len(results.trials):,}", results.state.value),
            Tile("ε", f"{float(method.epsilon):g}", f"δ = {float(method.delta):g}, replace one record"),
            Tile(
                "Exact totals broken",
                "–"
                if not checks
                else "0"
                if checks.get("invariants_exact") is True
                else f"{checks['invariants_exact']:,}",
                "compared as fractions, to the last bit",
                attention=bool(checks) and checks.get("invariants_exact") is not True,
            ),
        ),
        parts=tuple(parts),
        made=now.isoformat(timespec="seconds"),
        warning=warning,
        keywords=("subspace differential privacy", "invariants"),
    )


def _release_table(errors: tuple[ReleaseErrors, ...]) -> TableView:
    rows = []
    for each in errors:
        squared, expected = (each.errors**2).sum(axis=1), expected_squared_error(each.plan)
        error = float(np.std(squared, ddof=1) / math.sqrt(len(squared))) if len(squared) > 1 else float("nan")
        rows.append(
            (
                heading_cell(each.plan.name),
                heading_cell(each.plan.release.mechanism.title),
                number_cell(f"{each.plan.space.size:,}"),
                number_cell(f"{each.plan.space.rank:,}"),
                number_cell(f"{each.errors.mean():+.3f}"),
                number_cell(f"{np.sqrt((each.errors**2).mean()):,.3f}"),
                number_cell(f"{squared.mean():,.1f}" + ("" if math.isnan(error) else f" ± {error:,.1f}")),
                number_cell(f"{expected:,.1f}"),
            )
        )
    headers = (
        Header("Release"),
        Header("Mechanism"),
        Header("Answers", number=True),
        Header("Exact sums", number=True),
        Header("Mean error,\npeople", number=True),
        Header("RMSE,\npeople", number=True),
        Header("Squared error,\npeople²", number=True),
        Header("by the formula", number=True),
    )
    return TableView(
        "releases", "Errors of each release", headers, tuple(rows), "± is the Monte-Carlo error over trials."
    )


def _worst_table(each: ReleaseErrors) -> TableView:
    size = np.abs(each.errors).max(axis=0)
    worst = np.argsort(-size, kind="stable")[:_WORST]
    rows = tuple(
        (
            heading_cell(each.names[place] if each.names else str(place)),
            number_cell(f"{each.truth[place]:,.6g}"),
            number_cell(f"{each.errors[:, place].mean():+,.2f}"),
            number_cell(f"{size[place]:,.2f}"),
        )
        for place in worst.tolist()
    )
    headers = (
        Header("Answer"),
        Header("True count", number=True),
        Header("Mean error", number=True),
        Header("Largest error", number=True),
    )
    return TableView(f"worst-{each.plan.name}", f"Largest errors of {each.plan.name}", headers, rows)


def _checks(checks: dict[str, Any]) -> Section:
    entries = [
        (name.replace("_", " "), "holds" if value is True else f"{value:,} failures") for name, value in checks.items()
    ]
    return Section("Checks", tuple(entries) or (("Checks", "not yet: the run is not complete"),))


def _specification(results: SubspaceResults) -> Section:
    spec = results.spec
    entries = [
        ("Run", spec.identity),
        ("Data", f"{spec.data.path}, SHA-256 {spec.data.sha256}"),
        ("Seed", "none: noise of the operating system" if spec.seed is None else str(spec.seed)),
        *((f"Release {name}", str(release)) for name, release in spec.scenario.subspace.releases.items()),
    ]
    return Section("Specification", tuple(entries))
