"""The report of a run of group sizes: promises, errors by level and size, what is protected and what is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.figures.style import Chart
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.group_sizes import SIZE_MECHANISMS
from phexplore.model.numbers import exact_text
from phexplore.report.document import Column, Document, Part, TableView, Tile, figures, heading, table_of
from phexplore.report.provenance import Section
from phexplore.report.run_report import RunReport
from phexplore.report.run_sections import check_entries, noise_caution, run_document_of, specification_section
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.store import load_spec, load_summary
from phexplore.runs.summary_shape import failed_checks
from phexplore.systems.group_sizes.system import GROUP_SIZES
from phexplore.systems.run_pictures import run_charts
from phexplore.systems.run_results import Choice

Summary = Mapping[str, Any]
_PROMISES = "promises"
"""The picture of what every release keeps."""


def run_report(run: Path, now: datetime, choices: Mapping[str, Choice] | None = None) -> RunReport:
    """Return what the results of a run are written from.

    Args:
        run: a run directory.
        now: printed in the report, with its zone.
        choices: for its pictures, as on the page of results.

    Raises:
        PhexploreError: the run is not complete, or a file cannot be read.
    """
    spec, summary = load_spec(run), load_summary(run)
    if summary is None:
        raise PhexploreError("The run is not complete yet.", "Wait for its end, or start it again: it is resumed.")
    charts = cache(lambda: run_charts(GROUP_SIZES, run, choices) if spec.mode is RunMode.PRIVATE else ())
    return RunReport(
        document=lambda: run_document(spec, summary, charts(), now),
        charts=charts,
        table=lambda: errors_csv(summary),
    )


def errors_csv(summary: Summary) -> bytes:
    """Return a line per level, and per level and size: L1 error and mean error, over the trials. RFC 4180, UTF-8."""
    return csv_bytes([["LEVEL", "REGIONS", "SIZE", "TRIALS", "L1", "L1_SD", "MEAN_ERROR"], *_error_lines(summary)])


def _error_lines(summary: Summary) -> Iterator[list[object]]:
    for level in summary["metrics"]:
        own, deviation = [level["level"], level["regions"]], level["l1"]["sd"]
        error = level["me"] * level["regions"] * summary["data"]["largest"]
        shown = "" if deviation is None else f"{deviation:.6f}"
        yield [*own, "*", level["trials"], f"{level['l1']['mean']:.6f}", shown, f"{error:.6f}"]
        for size in level["sizes"]:
            yield [*own, size["size"], level["trials"], f"{size['l1']:.6f}", "", f"{size['me']:.6f}"]


def run_document(spec: RunSpec, summary: Summary, charts: tuple[Chart, ...], now: datetime) -> Document:
    """Return the report.

    Args:
        spec: of the run.
        summary: of the run.
        charts: its pictures.
        now: printed in the report, with its zone.
    """
    method = spec.scenario.group_sizes
    privacy: Mapping[str, Any] = summary.get("privacy", {})
    sections = (
        Section("Checks over all trials", check_entries(summary["checks"])),
        specification_section(spec, summary["trials"]),
    )
    parts = [
        Part("tables", "Errors", tables=(_levels(summary), _sizes(summary))),
        Part("data", "The groups", findings=tuple(summary["data"]["remarks"]), sections=(_data(summary),)),
        Part("checks", "Checks and specification", (noise_caution(spec),), sections=sections),
    ]
    if spec.mode is RunMode.PRIVATE:
        # A picture of promises that were all kept is three dots at 0: the checks say it.
        shown = tuple(chart for chart in charts if chart.id != _PROMISES or failed_checks(summary["checks"]))
        parts.insert(0, Part("pictures", "What the run shows", charts=shown))
        sentences = (*privacy.get("protected", ()), *privacy.get("not_protected", ()))
        parts.insert(0, Part("privacy", "What is protected, and what is not", sentences))
    violations = summary["violations"]["mean"]
    tiles = (
        Tile("Trials", f"{summary['trials']:,}", f"mechanism: {SIZE_MECHANISMS[method.mechanism]}"),
        Tile(method.framework.symbol, exact_text(method.total), "one individual of a group more or less"),
        Tile(
            "Sums broken per trial",
            f"{violations:,.0f}",
            "regions and sizes whose subregions do not add up",
            attention=violations > 0,
        ),
    )
    subtitle, keywords = "Simulated run of hierarchical group sizes", ("group sizes", "differential privacy")
    trials = summary["trials"]
    return run_document_of(spec, now, subtitle, tiles, parts, trials=trials, keywords=keywords)


_LEVELS: tuple[Column[Mapping[str, Any]], ...] = (
    heading("Level", lambda level: level["level"]),
    figures("Regions", lambda level: level["regions"]),
    figures("L1 error,\ngroups", lambda level: level["l1"]["mean"], 1),
    figures("Standard\ndeviation", lambda level: level["l1"]["sd"], 1),
    figures("RMSE of\na size", lambda level: level["rmse"], 4),
    figures("Mean error\nof a size", lambda level: f"{level['me']:+,.5f}"),
    figures("Largest of\nall trials", lambda level: level["largest"]),
    figures("Individuals\nmoved", lambda level: level["individuals_moved"]["mean"]),
)


def _levels(summary: Summary) -> TableView:
    note = "L1 error: sum of absolute errors over regions and sizes. Individuals moved: to be added or taken away to undo the errors."
    return table_of(
        "levels", "Errors of every level, mean over trials except the largest", _LEVELS, summary["metrics"], note
    )


def _sizes(summary: Summary) -> TableView:
    levels = summary["metrics"]

    def column(place: int, name: str) -> Column[tuple[Mapping[str, Any], ...]]:
        return figures(f"{name},\nL1 error", lambda size: size[place]["l1"], 1)

    columns = (
        heading("Size", lambda size: str(size[0]["size"])),
        *(column(place, level["level"]) for place, level in enumerate(levels)),
    )
    sizes = zip(*(level["sizes"] for level in levels), strict=True)
    return table_of("sizes", "Errors by size, summed over the regions of a level, mean over trials", columns, sizes)


def _data(summary: Summary) -> Section:
    data = summary["data"]
    entries = [
        ("Groups", f"{data['groups']:,}, published exactly"),
        ("Individuals", f"{data['individuals']:,}"),
        ("Sizes", f"1 to {data['largest']:,}"),
        *((level["level"], f"{level['regions']:,} regions") for level in data["levels"]),
    ]
    return Section(data["title"], tuple(entries))
