"""The report of a run: is the noise as stated, what does truncation cost, what was worst, and can it be run again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from phexplore.metrics.coverage import Interval
from phexplore.model.fingerprint import fingerprint
from phexplore.model.keys import QueryKey
from phexplore.report.document import (
    Cell,
    Document,
    Header,
    Part,
    TableView,
    Tile,
    heading_cell,
    number_cell,
    people_text,
)
from phexplore.report.provenance import Section, conventions_section
from phexplore.runs.disclosure import LEFT_OUT
from phexplore.runs.spec import RunMode
from phexplore.runs.states import RunState
from phexplore.systems.phsafe.forecast_charts import confidence_text, convention_name
from phexplore.systems.phsafe.provenance import method_sections, privacy_section
from phexplore.systems.phsafe.run_charts import cut_share, run_charts, share_text
from phexplore.systems.phsafe.run_snapshot import LevelResult, QueryResult, RunSnapshot

_MODES = {
    RunMode.PRIVATE: "private: basis cells with noise",
    RunMode.NO_NOISE: "no noise: basis cells exactly as truncated",
    RunMode.NON_PRIVATE: "non-private: all cells exactly, nothing truncated",
}


def run_document(snapshot: RunSnapshot) -> Document:
    """Return the report: pictures, tables, then checks, specification and method."""
    parts = (
        Part("pictures", "What the run shows", charts=run_charts(snapshot)),
        Part("tables", "The figures", _reading(snapshot), tables=_tables(snapshot)),
        Part(
            "method",
            "Checks, specification and method",
            _cautions(snapshot),
            sections=(
                *_checks(snapshot),
                _specification(snapshot),
                privacy_section(snapshot.forecast.privacy),
                conventions_section(snapshot.forecast.conventions, snapshot.spec.scenario.phsafe.framework),
                *method_sections(),
            ),
        ),
    )
    return Document(
        title=snapshot.spec.scenario.name,
        subtitle="Simulated run of the S-DHC",
        colophon=(
            f"{snapshot.now.strftime('%Y-%m-%d %H:%M')} {snapshot.now.tzname() or ''} · phexplore {snapshot.version} · "
            f"run {snapshot.spec.identity}"
        ),
        tiles=_tiles(snapshot),
        parts=parts,
        made=snapshot.now.isoformat(timespec="seconds"),
        warning=_warning(snapshot),
    )


def _warning(snapshot: RunSnapshot) -> str:
    sentences = []
    if snapshot.is_confidential:
        sentences.append(f"{LEFT_OUT} What is shown is the noise, which tells nothing about the records.")
    if snapshot.state is not RunState.COMPLETE:
        sentences.append(f"The run is not complete ({snapshot.state.value}): {snapshot.trials} of its trials are here.")
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


def _cautions(snapshot: RunSnapshot) -> tuple[str, ...]:
    spec = snapshot.spec
    if spec.mode is not RunMode.PRIVATE:
        return ("No noise was added: these counts protect nobody and must not leave as a release.",)
    if spec.seed is not None:
        return (f"The noise was drawn from the seed {spec.seed}, so anyone can draw it again: not fit for a release.",)
    return ("The noise came from the operating system and cannot be drawn again.",)


def _tiles(snapshot: RunSnapshot) -> tuple[Tile, ...]:
    tiles = [Tile("Trials", people_text(snapshot.trials), snapshot.state.value)]
    if snapshot.overall is not None:
        error = snapshot.error_between_trials
        if not math.isfinite(error):
            error = snapshot.overall.standard_error
        far = abs(snapshot.overall.share.value - snapshot.overall_expected) > 4 * error
        tiles.append(
            Tile(
                "Coverage of the margins",
                f"{snapshot.overall.share.value * 100:.2f} ± {share_text(error, 2)}",
                f"exactly {share_text(snapshot.overall_expected, 2)}; ± is the Monte-Carlo error",
                attention=far,
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
        most = max(snapshot.truncation, key=cut_share)
        tiles.append(
            Tile("Cut by truncation, at most", share_text(cut_share(most), 2), f"of the persons of {most['table']}")
        )
    return tuple(tiles)


def _tables(snapshot: RunSnapshot) -> tuple[TableView, ...]:
    found = []
    if snapshot.queries:
        found.append(_query_table(snapshot))
    found.append(_level_table(snapshot))
    if snapshot.truncation:
        found.append(_truncation_table(snapshot))
    if snapshot.worst:
        found.append(_worst_table(snapshot))
    if snapshot.most_biased:
        found.append(_bias_table(snapshot))
    return tuple(found)


def _grouped(
    results: Sequence[Any], query: Callable[[Any], QueryKey], cells: Callable[[Any], tuple[Cell, ...]]
) -> tuple[tuple[Cell, ...], ...]:
    """Return a row per result, with the table named once and the level in every row."""
    lines: list[tuple[Cell, ...]] = []
    for table, group in groupby(results, key=lambda result: query(result).table):
        members = list(group)
        for place, result in enumerate(members):
            head = (heading_cell(table, len(members)),) if place == 0 else ()
            lines.append((*head, Cell(query(result).level.title, whole=True), *cells(result)))
    return tuple(lines)


def _query_table(snapshot: RunSnapshot) -> TableView:
    headers = (
        Header("Table"),
        Header("Level"),
        Header("Errors", number=True),
        Header("Margin", number=True),
        Header("Exact\nmargin", number=True),
        Header("Observed\nmargin", number=True),
        Header("95 % Monte-\nCarlo interval", number=True),
        Header("Coverage", number=True),
        Header("95 % Monte-\nCarlo interval", number=True),
        Header("Exact\ncoverage", number=True),
    )
    note = "Marked: the exact coverage lies outside the Monte-Carlo interval; one in twenty does by chance."
    caption = "Noise: observed margins and coverage beside the exact ones, measured queries"
    return TableView("noise", caption, headers, _grouped(snapshot.queries, _query_of, _query_cells), note)


def _query_of(result: QueryResult | LevelResult) -> QueryKey:
    return result.query


def _query_cells(result: QueryResult) -> tuple[Cell, ...]:
    share = result.coverage.share
    return (
        number_cell(people_text(result.coverage.errors)),
        number_cell(people_text(result.margin, 2)),
        number_cell(people_text(result.exact_margin)),
        number_cell(people_text(result.observed_margin.value, 1)),
        number_cell(_interval(result.observed_margin, people_text)),
        number_cell(share_text(share.value, 2), attention=not result.is_expected),
        number_cell(_interval(share, lambda value: f"{value * 100:.1f}")),
        number_cell(share_text(result.expected_coverage, 2)),
    )


def _interval(interval: Interval, text: Callable[[float], str]) -> str:
    return f"{text(interval.low)} to {text(interval.high)}"


def _level_table(snapshot: RunSnapshot) -> TableView:
    headers = (
        Header("Table"),
        Header("Level"),
        Header("Numbers", number=True),
        Header("Noise\nRMSE", number=True),
        Header("Noise\nmean", number=True),
        Header("Bias\nmean", number=True),
        Header("Bias\nRMSE", number=True),
        Header("Total\nMAE", number=True),
        Header("Total\nRMSE", number=True),
        Header("Total\nmean", number=True),
    )

    def cells(result: LevelResult) -> tuple[Cell, ...]:
        values = (
            result.noise_rmse,
            result.noise_mean,
            result.bias_mean,
            result.bias_rmse,
            result.total_mae,
            result.total_rmse,
            result.total_me,
        )
        return (number_cell(people_text(result.numbers)), *(number_cell(_figure(value)) for value in values))

    caption = "Noise and truncation apart, every table and level, people (housing units for denominators)"
    note = (
        "RMSE: root mean square, MAE: mean size, over areas, groups, cells and trials. Truncation bias is the same in every "
        "trial. PH5_num and PH8_num repeat the noise of PH4 and PH7."
    )
    return TableView("levels", caption, headers, _grouped(snapshot.levels, _query_of, cells), note)


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else people_text(value, 2)


def _truncation_table(snapshot: RunSnapshot) -> TableView:
    headers = (
        Header("Table"),
        Header("τ", number=True),
        Header("Households", number=True),
        Header("larger\nthan τ", number=True),
        Header("Persons", number=True),
        Header("cut", number=True),
        Header("share cut", number=True),
    )
    lines = []
    for entry in snapshot.truncation:
        sizes: Sequence[Mapping[str, Any]] = entry["sizes"]
        tau = int(entry["tau"])
        figures = (
            tau,
            sum(int(row["households"]) for row in sizes),
            sum(int(row["households"]) for row in sizes if int(row["size"]) > tau),
            sum(int(row["persons"]) for row in sizes),
            sum(int(row["cut"]) for row in sizes),
        )
        cells = (number_cell(people_text(figure)) for figure in figures)
        lines.append((heading_cell(str(entry["table"])), *cells, number_cell(share_text(cut_share(entry), 3))))
    caption = "What truncation cuts, households with at least one person the table counts"
    return TableView("truncation", caption, headers, tuple(lines))


def _worst_table(snapshot: RunSnapshot) -> TableView:
    headers = (
        Header("Table"),
        Header("Area"),
        Header("Group"),
        Header("Cell"),
        Header("Exact\ncount", number=True),
        Header("Truncation\nbias", number=True),
        Header("Margin of\nthe noise", number=True),
        Header("Mean size\nof the error", number=True),
        Header("Largest\nerror", number=True),
        Header("in trial", number=True),
    )
    lines = tuple(
        (
            heading_cell(worst.table),
            Cell(worst.region),
            Cell(worst.iteration_code),
            Cell(f"{worst.cell}: {worst.label}"),
            number_cell(people_text(worst.non_private)),
            number_cell(people_text(worst.bias)),
            number_cell(people_text(worst.margin, 1)),
            number_cell(people_text(worst.mean_absolute, 1)),
            number_cell(people_text(worst.largest)),
            number_cell(str(worst.trial)),
        )
        for worst in snapshot.worst
    )
    caption = "Worst numbers: largest total error on average over the trials"
    return TableView("worst", caption, headers, lines, "Trials are counted from 0.")


def _bias_table(snapshot: RunSnapshot) -> TableView:
    headers = (
        Header("Table"),
        Header("Area"),
        Header("Group"),
        Header("Cell"),
        Header("Count without\ntruncation", number=True),
        Header("Truncation\nbias", number=True),
        Header("of the\ncount", number=True),
        Header("Margin of\nthe noise", number=True),
    )
    lines = tuple(
        (
            heading_cell(number.table),
            Cell(number.region),
            Cell(number.iteration_code),
            Cell(f"{number.cell}: {number.label}"),
            number_cell(people_text(number.untruncated)),
            number_cell(people_text(number.bias), attention=abs(number.bias) > number.margin),
            number_cell(share_text(number.bias / number.untruncated, 2).replace("-", "−")),
            number_cell(people_text(number.margin, 1)),
        )
        for number in snapshot.most_biased
    )
    caption = "Largest truncation bias: the same in every trial, and in no margin of error"
    return TableView("most-biased", caption, headers, lines, "Marked: the bias is larger than the margin of the noise.")


def _checks(snapshot: RunSnapshot) -> tuple[Section, ...]:
    found = []
    if snapshot.summary is not None:
        checks: Mapping[str, Any] = snapshot.summary.get("checks") or {}
        seconds: Mapping[str, Any] = snapshot.summary.get("seconds") or {}
        if checks:
            found.append(
                Section("Checks", tuple((name.replace("_", " "), _check_text(v)) for name, v in checks.items()))
            )
        if seconds:
            found.append(Section("Seconds per phase", tuple((name, f"{value:.2f}") for name, value in seconds.items())))
    if snapshot.problems:
        problems = tuple((issue.place, f"{issue.sentence} {issue.remedy}") for issue in snapshot.problems)
        found.append(Section("Parts that could not be read", problems))
    return tuple(found)


def _check_text(value: Any) -> str:
    match value:
        case True:
            return "passed"
        case False:
            return "failed"
        case dict():
            return "; ".join(f"{name.replace('_', ' ')}: {_check_text(part)}" for name, part in value.items())
        case _:
            return str(value)


def _specification(snapshot: RunSnapshot) -> Section:
    spec = snapshot.spec
    seed = "none: entropy of the operating system" if spec.seed is None else str(spec.seed)
    synthetic = "synthetic" if spec.data.synthetic else "not marked as synthetic"
    entries = (
        ("Identity of the run (SHA-256)", spec.identity),
        ("Parameters (SHA-256)", fingerprint(spec.scenario)),
        ("Data", f"{spec.data.path}, {spec.data.size_bytes:,} bytes, {synthetic}"),
        ("Data (SHA-256)", spec.data.sha256),
        ("Mode", _MODES[spec.mode]),
        ("Trials", f"{snapshot.trials} here, {spec.trials} asked for"),
        ("Seed", seed),
        ("Program of the run", f"phexplore {spec.code_version}"),
    )
    return Section("Specification", entries)
