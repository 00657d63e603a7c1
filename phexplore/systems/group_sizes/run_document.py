"""The report of a run of group sizes: promises, errors by level and size, what is protected and what is not."""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from phexplore import __version__
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.figures.look import Chart, FigureFormat, chart_bytes, sheet_bytes
from phexplore.files.atomic_files import write_atomically
from phexplore.files.spreadsheet import GuardedWriter
from phexplore.report.document import Document, Header, Part, TableView, Tile, heading_cell, number_cell
from phexplore.report.provenance import Section
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.store import load_spec, load_summary
from phexplore.systems.group_sizes.charts import errors_by_level_chart, errors_by_size_chart

FORMATS = {"html": ".html", "pdf": ".pdf", "csv": ".csv", "png": ".png", "svg": ".svg"}

Summary = Mapping[str, Any]


def write_group_sizes_report(run: Path, form: str, out: Path, now: datetime) -> list[Path]:
    """Write a report of a run and return the files.

    ``csv`` is one file with a line per level and size; ``png`` and ``svg`` fill a folder with one picture per figure unless `out`
    ends like a file; ``html`` and ``pdf`` are one file, in a directory under the name ``report``.

    Raises:
        UnknownNameError: no such format.
        PhexploreError: the run is not complete, or a file cannot be written.
    """
    if (suffix := FORMATS.get(form)) is None:
        raise UnknownNameError("format", form, list(FORMATS))
    spec, summary = load_spec(run), load_summary(run)
    if summary is None:
        raise PhexploreError("The run is not complete yet.", "Wait for its end, or start it again: it is resumed.")
    if form in {"png", "svg"} and (out.is_dir() or out.suffix != suffix):
        written = []
        for chart in run_charts(spec, summary):
            path = out / f"{chart.id}.{form}"
            write_atomically(path, chart_bytes(chart, FigureFormat(form)))
            written.append(path)
        return written
    target = out / f"report{suffix}" if out.is_dir() else out
    write_atomically(target, _content(spec, summary, form, now))
    return [target]


def _content(spec: RunSpec, summary: Summary, form: str, now: datetime) -> bytes:
    match form:
        case "csv":
            return errors_csv(summary)
        case "html" | "pdf":
            from phexplore.report.html import document_html  # noqa: PLC0415 - each format loads what it needs

            html = document_html(run_document(spec, summary, now))
            if form == "html":
                return html
            from phexplore.report.pdf import pdf_from_html  # noqa: PLC0415 - as above

            return pdf_from_html(html, now)
        case _:
            return sheet_bytes(run_charts(spec, summary), FigureFormat(form))


def errors_csv(summary: Summary) -> bytes:
    """Return a line per level, and per level and size: L1 error and mean error, over the trials. RFC 4180, UTF-8."""
    text = io.StringIO()
    writer = GuardedWriter(text)
    writer.writerow(["LEVEL", "REGIONS", "SIZE", "TRIALS", "L1", "L1_SD", "MEAN_ERROR"])
    for level in summary["metrics"]:
        own = [level["level"], level["regions"]]
        spread = level["l1"]["sd"]
        cells = level["me"] * level["regions"] * summary["data"]["largest"]
        writer.writerow(
            [
                *own,
                "*",
                level["trials"],
                f"{level['l1']['mean']:.6f}",
                "" if spread is None else f"{spread:.6f}",
                f"{cells:.6f}",
            ]
        )
        for size in level["sizes"]:
            writer.writerow([*own, size["size"], level["trials"], f"{size['l1']:.6f}", "", f"{size['me']:.6f}"])
    return text.getvalue().encode()


def run_charts(spec: RunSpec, summary: Summary) -> tuple[Chart, ...]:
    """Return the figures of a run.

    Raises:
        PhexploreError: nothing was added, so there is nothing to draw.
    """
    if spec.mode is not RunMode.PRIVATE:
        raise PhexploreError("There is nothing to draw: the run has no noise.", "Choose csv, which holds its figures.")
    return errors_by_level_chart(summary["metrics"]), errors_by_size_chart(summary["metrics"])


def run_document(spec: RunSpec, summary: Summary, now: datetime) -> Document:
    """Return the report."""
    method = spec.scenario.group_sizes
    privacy: Mapping[str, Any] = summary.get("privacy", {})
    parts = [
        Part("tables", "Errors", tables=(_levels(summary), _sizes(summary))),
        Part("data", "The groups", findings=tuple(summary["data"]["remarks"]), sections=(_data(summary),)),
        Part("checks", "Checks and specification", sections=(_checks(summary), _specification(spec))),
    ]
    if spec.mode is RunMode.PRIVATE:
        parts.insert(0, Part("pictures", "What the run shows", charts=run_charts(spec, summary)))
        sentences = (*privacy.get("protected", ()), *privacy.get("not_protected", ()))
        parts.insert(0, Part("privacy", "What is protected, and what is not", sentences))
    violations = summary["violations"]["mean"]
    return Document(
        title=spec.scenario.name,
        subtitle="Simulated run of hierarchical group sizes",
        colophon=f"{now.strftime('%Y-%m-%d %H:%M')} {now.tzname() or ''} · phexplore {__version__} · run {spec.identity}",
        tiles=(
            Tile("Trials", f"{summary['trials']:,}", f"mechanism {method.mechanism.value}"),
            Tile(method.framework.symbol, f"{float(method.total):g}", "one individual of a group more or less"),
            Tile(
                "Sums broken per trial",
                f"{violations:,.0f}",
                "regions and sizes whose subregions do not add up",
                attention=violations > 0,
            ),
        ),
        parts=tuple(parts),
        made=now.isoformat(timespec="seconds"),
        warning=""
        if spec.data.synthetic
        else "Errors are differences to the exact counts, which are as confidential as the data.",
        keywords=("group sizes", "differential privacy"),
    )


def _levels(summary: Summary) -> TableView:
    headers = (
        Header("Level"),
        Header("Regions", number=True),
        Header("L1 error,\ngroups", number=True),
        Header("Standard\ndeviation", number=True),
        Header("RMSE of\na size", number=True),
        Header("Mean error\nof a size", number=True),
        Header("Largest", number=True),
        Header("Individuals\nmoved", number=True),
    )
    rows = tuple(
        (
            heading_cell(level["level"]),
            number_cell(f"{level['regions']:,}"),
            number_cell(f"{level['l1']['mean']:,.1f}"),
            number_cell("–" if level["l1"]["sd"] is None else f"{level['l1']['sd']:,.1f}"),
            number_cell(f"{level['rmse']:,.4f}"),
            number_cell(f"{level['me']:+,.5f}"),
            number_cell(f"{level['largest']:,}"),
            number_cell(f"{level['individuals_moved']['mean']:,.0f}"),
        )
        for level in summary["metrics"]
    )
    note = "L1 error: sum of absolute errors over regions and sizes. Individuals moved: to be added or taken away to undo the errors."
    return TableView("levels", "Errors of every level, mean over trials", headers, rows, note)


def _sizes(summary: Summary) -> TableView:
    levels = summary["metrics"]
    headers = (Header("Size"), *(Header(f"{level['level']},\nL1 error", number=True) for level in levels))
    rows = tuple(
        (
            heading_cell(str(entry["size"])),
            *(number_cell(f"{level['sizes'][place]['l1']:,.1f}") for level in levels),
        )
        for place, entry in enumerate(levels[0]["sizes"])
    )
    return TableView("sizes", "Errors by size, summed over the regions of a level, mean over trials", headers, rows)


def _data(summary: Summary) -> Section:
    data = summary["data"]
    entries = [
        ("Groups", f"{data['groups']:,}, published exactly"),
        ("Individuals", f"{data['individuals']:,}"),
        ("Sizes", f"1 to {data['largest']:,}"),
        *((level["level"], f"{level['regions']:,} regions") for level in data["levels"]),
    ]
    return Section(data["title"], tuple(entries))


def _checks(summary: Summary) -> Section:
    entries = tuple(
        (name.replace("_", " "), "holds" if value is True else f"{value:,} failures")
        for name, value in summary["checks"].items()
    )
    return Section("Checks over all trials", entries)


def _specification(spec: RunSpec) -> Section:
    entries = (
        ("Run", spec.identity),
        ("Data", f"{spec.data.path}, SHA-256 {spec.data.sha256}"),
        ("Seed", "none: noise of the operating system" if spec.seed is None else str(spec.seed)),
    )
    return Section("Specification", entries)
