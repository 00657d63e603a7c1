"""The report of a run: is the noise as stated, what does truncation cost, what was worst, and can it be run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from phexplore.figures.style import Chart
from phexplore.figures.wording import people_text
from phexplore.metrics.coverage import Interval
from phexplore.model.keys import TableId
from phexplore.model.rounded import Toward, percent
from phexplore.report.document import (
    Column,
    Document,
    Part,
    TableView,
    Tile,
    figures,
    heading,
    table_of,
    words,
)
from phexplore.report.provenance import Section, conventions_section
from phexplore.report.run_report import RunReport
from phexplore.report.run_sections import (
    check_entries,
    noise_caution,
    run_document_of,
    seconds_section,
    specification_section,
    unfinished_warning,
)
from phexplore.runs.spec import RunMode
from phexplore.systems.phsafe.provenance import (
    KEYWORDS,
    confidence_text,
    convention_name,
    method_sections,
    privacy_section,
)
from phexplore.systems.phsafe.results import RunResults
from phexplore.systems.phsafe.run_csv import run_csv_files, run_metrics_csv
from phexplore.systems.phsafe.run_snapshot import (
    LevelResult,
    NumberResult,
    QueryResult,
    RunSnapshot,
    run_snapshot,
)
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.phsafe.truncation_figures import TableTruncation, sizes_of
from phexplore.systems.run_pictures import run_charts
from phexplore.systems.run_results import Choice

_MODES = {
    RunMode.PRIVATE: "private: basis cells with noise",
    RunMode.NO_NOISE: "no noise: basis cells exactly as truncated",
    RunMode.NON_PRIVATE: "non-private: all cells exactly, nothing truncated",
}


def run_report(run: Path, now: datetime, choices: Mapping[str, Choice] | None = None) -> RunReport:
    """Return what the results of a run are written from.

    Args:
        run: a run directory, complete or not.
        now: printed in the report, with its zone.
        choices: for its pictures, as on the page of results.

    Raises:
        PhexploreError: not a run, or nothing is counted yet.
    """
    results = RunResults.open(run)
    snapshot = run_snapshot(results, now)
    charts = cache(lambda: run_charts(PHSAFE, run, choices))
    return RunReport(
        document=lambda: run_document(snapshot, charts()),
        charts=charts,
        table=lambda: run_metrics_csv(snapshot),
        tables=lambda: run_csv_files(results, snapshot),
    )


def run_document(snapshot: RunSnapshot, charts: tuple[Chart, ...] = ()) -> Document:
    """Return the report: pictures, tables, then checks, specification and method.

    Args:
        snapshot: the figures of the run.
        charts: its pictures.
    """
    spec = snapshot.spec
    # One table says little of the whole: the first page says in words whether all margins held.
    found = tuple(chart.finding for chart in charts if chart.id == "coverage")
    parts = (
        Part("pictures", "What the run shows", findings=found, charts=charts),
        Part("tables", "The figures", _reading(snapshot), tables=_tables(snapshot)),
        Part(
            "method",
            "Checks, specification and method",
            (noise_caution(spec),),
            sections=(
                *_checks(snapshot),
                specification_section(spec, snapshot.trials, ("Mode", _MODES[spec.mode])),
                privacy_section(snapshot.forecast),
                conventions_section(snapshot.forecast.conventions, spec.scenario.phsafe.framework),
                *method_sections(),
            ),
        ),
    )
    subtitle, warning = "Simulated run of the S-DHC", _warning(snapshot)
    tiles, trials = _tiles(snapshot), snapshot.trials
    return run_document_of(
        spec, snapshot.now, subtitle, tiles, parts, trials=trials, warning=warning, keywords=KEYWORDS
    )


def _warning(snapshot: RunSnapshot) -> str:
    sentences = [*unfinished_warning(snapshot.state, snapshot.trials)]
    if snapshot.problems:
        sentences.append("Some parts of the run could not be read; they are listed under checks.")
    return " ".join(sentences)


def _reading(snapshot: RunSnapshot) -> tuple[str, ...]:
    conventions = snapshot.forecast.conventions
    kinds = (
        "Noise is released minus truncated count, truncation bias is truncated minus untruncated count, the total error "
        "is released minus production's non-private count. They are never added up silently."
    )
    margins = (
        f"Margins are those of the scenario at {confidence_text(conventions)} ({convention_name(conventions)}); "
        "they speak of noise alone."
    )
    return kinds, margins


def _tiles(snapshot: RunSnapshot) -> tuple[Tile, ...]:
    tiles = [Tile("Trials", people_text(snapshot.trials), snapshot.state.value)]
    if (overall := snapshot.overall) is not None:
        held, error = overall.coverage.share.value, overall.doubt
        tiles.append(
            Tile(
                "Coverage of the margins",
                percent(held, places=2),
                f"exactly {percent(overall.expected, places=2)}; Monte Carlo standard error {percent(error, places=2, toward=Toward.UP)}",
                attention=abs(held - overall.expected) > 4 * error,
            )
        )
        outside = sum(not query.is_expected for query in snapshot.queries)
        tiles.append(
            Tile(
                "Queries as expected",
                f"{len(snapshot.queries) - outside} of {len(snapshot.queries)}",
                "coverage within its 95 % Monte-Carlo interval",
            )
        )
    if snapshot.truncation:
        most = max(map(_truncated, snapshot.truncation), key=lambda found: found.share)
        tiles.append(
            Tile(
                "Cut by truncation, at most",
                most.share_text,
                f"of the persons of {most.table}",
            )
        )
    return tuple(tiles)


def _tables(snapshot: RunSnapshot) -> tuple[TableView, ...]:
    tables = (
        table_of(
            "noise",
            "Noise: observed margins and coverage beside the exact ones, measured queries",
            _NOISE,
            snapshot.queries,
            "Marked: the exact coverage lies outside the Monte-Carlo interval; one in twenty does by chance.",
        ),
        table_of(
            "levels",
            "Noise and truncation apart, every table and level, people (housing units for denominators)",
            _LEVELS,
            snapshot.levels,
            "RMSE: root mean square, MAE: mean size, over areas, groups, cells and trials. Truncation bias is the same in every "
            "trial. PH5_num and PH8_num repeat the noise of PH4 and PH7.",
        ),
        table_of(
            "truncation",
            "What truncation cuts, households with at least one person the table counts",
            _TRUNCATION,
            map(_truncated, snapshot.truncation),
        ),
        table_of(
            "worst",
            "Worst numbers: largest total error on average over the trials",
            _WORST,
            snapshot.worst,
            "Trials are counted from 0.",
        ),
        table_of(
            "most-biased",
            "Largest truncation bias: the same in every trial, and in no margin of error",
            _BIASED,
            snapshot.most_biased,
            "Marked: the bias is larger than the margin of the noise.",
        ),
    )
    return tuple(table for table in tables if table.rows or table.id == "levels")


def _interval(interval: Interval, text: Callable[[float], str]) -> str:
    return f"{text(interval.low)} to {text(interval.high)}"


_NOISE: tuple[Column[QueryResult], ...] = (
    heading("Table", lambda result: result.query.table, spans=True),
    words("Level", lambda result: result.query.level.title, whole=True),
    figures("Errors", lambda result: result.coverage.errors),
    figures("Margin", lambda result: result.margin, 2),
    figures("Exact\nmargin", lambda result: result.exact_margin),
    figures("Observed\nmargin", lambda result: result.observed.value, 1),
    figures("95 % Monte-\nCarlo interval", lambda result: _interval(result.observed, people_text)),
    figures(
        "Coverage",
        lambda result: percent(result.coverage.share.value, places=2),
        attention=lambda result: not result.is_expected,
    ),
    figures(
        "95 % Monte-\nCarlo interval",
        lambda result: _interval(result.coverage.share, lambda value: f"{value * 100:.1f}"),
    ),
    figures("Exact\ncoverage", lambda result: percent(result.expected_coverage, places=2)),
)

_LEVELS: tuple[Column[LevelResult], ...] = (
    heading("Table", lambda result: result.query.table, spans=True),
    words("Level", lambda result: result.query.level.title, whole=True),
    figures("Numbers", lambda result: result.numbers),
    figures("Noise\nRMSE", lambda result: result.noise_rmse, 2),
    figures("Noise\nmean", lambda result: result.noise_mean, 2),
    figures("Bias\nmean", lambda result: result.bias_mean, 2),
    figures("Bias\nRMSE", lambda result: result.bias_rmse, 2),
    figures("Total\nMAE", lambda result: result.total_mae, 2),
    figures("Total\nRMSE", lambda result: result.total_rmse, 2),
    figures("Total\nmean", lambda result: result.total_me, 2),
)


def _truncated(entry: Mapping[str, Any]) -> TableTruncation:
    return sizes_of(entry, TableId(entry["table"]))


_TRUNCATION: tuple[Column[TableTruncation], ...] = (
    heading("Table", lambda found: found.table),
    figures("τ", lambda found: found.threshold),
    figures("Households", lambda found: sum(each.households for each in found.sizes)),
    figures(
        "larger\nthan τ", lambda found: sum(each.households for each in found.sizes if each.size > found.threshold)
    ),
    figures("Persons", lambda found: found.persons),
    figures("cut", lambda found: found.cut),
    figures("share cut", lambda found: found.share_text),
)

_WORST: tuple[Column[NumberResult], ...] = (
    heading("Table", lambda worst: worst.query.table),
    words("Area", lambda worst: worst.region),
    words("Group", lambda worst: worst.group or "everybody"),
    words("Cell", lambda worst: worst.cell_line),
    figures("Exact\ncount", lambda worst: worst.non_private),
    figures("Truncation\nbias", lambda worst: worst.bias),
    figures("Margin of\nthe noise", lambda worst: worst.margin, 1),
    figures("Mean size\nof the error", lambda worst: worst.mean_error, 1),
    figures("Largest\nerror", lambda worst: worst.largest_error),
    figures("in trial", lambda worst: str(worst.trial)),
)

_BIASED: tuple[Column[NumberResult], ...] = (
    heading("Table", lambda number: number.query.table),
    words("Area", lambda number: number.region),
    words("Group", lambda number: number.group or "everybody"),
    words("Cell", lambda number: number.cell_line),
    figures("Count without\ntruncation", lambda number: number.untruncated),
    figures("Truncation\nbias", lambda number: number.bias, attention=lambda number: abs(number.bias) > number.margin),
    figures("of the\ncount", lambda number: percent(number.bias / number.untruncated, places=2)),
    figures("Margin of\nthe noise", lambda number: number.margin, 1),
)


def _checks(snapshot: RunSnapshot) -> tuple[Section, ...]:
    found: list[Section] = []
    if snapshot.summary is not None:
        if checks := snapshot.summary.get("checks"):
            found.append(Section("Checks", check_entries(checks)))
        found += seconds_section(snapshot.summary)
    if snapshot.problems:
        problems = tuple((issue.place, f"{issue.sentence} {issue.remedy}") for issue in snapshot.problems)
        found.append(Section("Parts that could not be read", problems))
    return tuple(found)
