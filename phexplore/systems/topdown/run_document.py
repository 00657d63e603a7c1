"""The report of a TopDown run: does everything hold that must, how far off is what, whom does it serve."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore import __version__
from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.figures.look import Chart, FigureFormat, chart_bytes, sheet_bytes
from phexplore.files.atomic_files import write_atomically
from phexplore.files.spreadsheet import GuardedWriter
from phexplore.model.conventions import Conversion
from phexplore.model.fingerprint import fingerprint
from phexplore.model.phsafe import PrivacyFramework
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
from phexplore.report.provenance import Section
from phexplore.runs.confidentiality import is_confidential
from phexplore.runs.spec import RunMode
from phexplore.runs.states import RunState
from phexplore.runs.topdown_options import Mechanism, TopDownOptions
from phexplore.systems.topdown.results import MOST_TRIALS, TopDownResults
from phexplore.systems.topdown.run_charts import (
    LevelDistribution,
    bias_chart,
    distributions_chart,
    redistricting_chart,
    sizes_chart,
)

FORMATS = {"html": ".html", "pdf": ".pdf", "csv": ".csv", "png": ".png", "svg": ".svg"}

_SHOWN_QUERIES = (
    "total",
    "votingage",
    "hispanic",
    "race_ethnicity",
    "hispanic * cenrace",
    "detailed",
)
"""Queries with a distribution of their own, where they are measured."""

_LEFT_OUT = (
    "True counts of units, their classes by size and the worst units were left out: the records carry no mark of synthetic or "
    "published origin and are treated as confidential. Nothing in this report is protected by noise."
)

_FIGURES = ("mae", "rmse", "me", "mape", "off-over-5", "abs-max")
_WORST = 5


def write_topdown_report(run: Path, form: str, out: Path, now: datetime) -> list[Path]:
    """Write a report of a run and return the files.

    ``csv``, ``png`` and ``svg`` write one file if `out` ends like one (``figures.csv``), else a folder: figures, size classes,
    distributions and the redistricting criterion; or one picture per figure. ``html`` and ``pdf`` are one file, in a directory
    under the name ``report``.

    Raises:
        UnknownNameError: no such format.
        PhexploreError: the run holds no trial, or a file cannot be read or written.
    """
    if (suffix := FORMATS.get(form)) is None:
        raise UnknownNameError("format", form, list(FORMATS))
    results = TopDownResults.open(run)
    if not results.trials:
        raise PhexploreError("The run has no finished trial yet.", "Wait for the first one, or resume the run.")
    if form in {"csv", "png", "svg"} and (out.is_dir() or out.suffix != suffix):
        files = csv_files(results) if form == "csv" else _pictures(results, FigureFormat(form))
        written = []
        for name, content in files:
            write_atomically(out / name, content)
            written.append(out / name)
        return written
    target = out / f"report{suffix}" if out.is_dir() else out
    write_atomically(target, _content(results, form, now))
    return [target]


def _content(results: TopDownResults, form: str, now: datetime) -> bytes:
    if form == "csv":
        return figures_csv(results.metrics)
    if form in {"png", "svg"}:
        return sheet_bytes(run_charts(results), FigureFormat(form))
    from phexplore.report.html import document_html  # noqa: PLC0415 - each format loads what it needs

    text = document_html(run_document(results, now))
    if form == "html":
        return text
    from phexplore.report.pdf import pdf_from_html  # noqa: PLC0415 - as above

    return pdf_from_html(text, now)


def _pictures(results: TopDownResults, form: FigureFormat) -> Iterable[tuple[str, bytes]]:
    for chart in run_charts(results):
        yield f"{chart.id}.{form.value}", chart_bytes(chart, form)


def run_charts(results: TopDownResults) -> tuple[Chart, ...]:
    """Return the figures of a run, most asked for first; those that would say nothing are left out."""
    charts = [distributions_chart(distributions(results), min(len(results.trials), MOST_TRIALS))]
    if not _is_confidential(results):
        charts.append(sizes_chart(results.metrics, "total"))
    charts.append(bias_chart(results.metrics, "detailed"))
    if not _is_confidential(results) and any(entry["criterion"]["units"] for entry in results.redistricting):
        charts.append(redistricting_chart(results.redistricting))
    return tuple(charts)


def distributions(results: TopDownResults) -> list[LevelDistribution]:
    """Return the errors of the shown queries at every level, over the trials that are read."""
    return [
        LevelDistribution(tally.level, query.name, tally.distribution(query))
        for tally in results.tallies
        for query in sorted(tally.queries, key=lambda query: query.answers)
        if query.name in _SHOWN_QUERIES
    ]


def csv_files(results: TopDownResults) -> Iterable[tuple[str, bytes]]:
    """Yield every table of a run under its file name."""
    yield "figures.csv", figures_csv(results.metrics)
    if _is_confidential(results):
        yield "left-out.txt", f"{_LEFT_OUT}\n".encode()
        return
    yield (
        "sizes.csv",
        _csv(
            ("level", "query", "true_count", "numbers", "figure", "value", "monte_carlo_error"),
            (
                (entry["level"], entry["query"], label, figures["numbers"], name, figure["value"], figure["error"])
                for entry in results.metrics
                for label, figures in entry.get("by_size", {}).items()
                for name, figure in figures.items()
                if name != "numbers"
            ),
        ),
    )
    yield (
        "distributions.csv",
        _csv(
            ("level", "query", "error", "numbers"),
            (
                (tally.level, query.name, error, count)
                for tally in results.tallies
                for query in tally.queries
                for errors in (tally.distribution(query),)
                for error, count in zip(errors.errors.tolist(), errors.counts.tolist(), strict=True)
            ),
        ),
    )
    yield (
        "redistricting.csv",
        _csv(
            ("level", "query", "least_people", "units", "share", "low", "high", "required", "met", "reliable_from"),
            (
                (
                    entry["level"],
                    entry["query"],
                    entry["criterion"]["least_people"],
                    entry["criterion"]["units"],
                    *(entry["criterion"]["share"][name] for name in ("value", "low", "high")),
                    entry["criterion"]["required"],
                    entry["criterion"]["met"],
                    entry["reliable"]["people"],
                )
                for entry in results.redistricting
            ),
        ),
    )


def figures_csv(metrics: Sequence[Mapping[str, Any]]) -> bytes:
    """Return every figure of every level and query, a line each."""
    return _csv(
        ("level", "query", "units", "numbers", "figure", "value", "monte_carlo_error"),
        (
            (entry["level"], entry["query"], entry["units"], entry["numbers"], name, figure["value"], figure["error"])
            for entry in metrics
            for name, figure in entry["total"].items()
        ),
    )


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    writer = GuardedWriter(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    return text.getvalue().encode()


def run_document(results: TopDownResults, now: datetime) -> Document:
    """Return the report: pictures, tables, then checks, specification and method."""
    spec = results.spec
    parts = (
        Part("pictures", "What the run shows", charts=run_charts(results)),
        Part("tables", "The figures", _reading(results), tables=_tables(results)),
        Part("method", "Checks, specification and method", _cautions(results), sections=_sections(results)),
    )
    return Document(
        title=spec.scenario.name,
        subtitle="Simulated run of TopDown",
        colophon=f"{now.strftime('%Y-%m-%d %H:%M')} {now.tzname() or ''} · phexplore {__version__} · run {spec.identity}",
        tiles=_tiles(results),
        parts=parts,
        made=now.isoformat(timespec="seconds"),
        warning=_warning(results),
        keywords=("TopDown", "P.L. 94-171", "differential privacy"),
    )


def _warning(results: TopDownResults) -> str:
    sentences = []
    if _is_confidential(results):
        sentences.append(_LEFT_OUT)
    elif not results.spec.data.synthetic:
        sentences.append(
            "This report is computed from exact counts of blocks that are not marked as synthetic. Nothing in it is protected."
        )
    if results.state is not RunState.COMPLETE:
        sentences.append(
            f"The run is not complete ({results.state.value}): {len(results.trials)} of its trials are here."
        )
    return " ".join(sentences)


def _reading(results: TopDownResults) -> tuple[str, ...]:
    found = [
        "Errors are published minus true counts, in people (housing units for the unit schema), over units, answers and trials."
    ]
    if results.summary is None or len(results.trials) > MOST_TRIALS:
        found.append(f"Distributions and worst units are taken from the first {MOST_TRIALS} trials.")
    return tuple(found)


def _cautions(results: TopDownResults) -> tuple[str, ...]:
    spec = results.spec
    found = []
    if spec.mode is not RunMode.PRIVATE:
        found.append("The measurements were exact: these counts protect nobody and must not leave as a release.")
    elif spec.seed is not None:
        found.append(
            f"The noise was drawn from the seed {spec.seed}, so anyone can draw it again: not fit for a release."
        )
    else:
        found.append("The noise came from the operating system and cannot be drawn again.")
    if (spec.topdown or TopDownOptions()).mechanism is Mechanism.BLOCK_BY_BLOCK:
        found.append("Block by block: all of the budget was spent at the blocks, and nothing holds the totals above.")
    return tuple(found)


def _tiles(results: TopDownResults) -> tuple[Tile, ...]:
    tiles = [Tile("Trials", people_text(len(results.trials)), results.state.value)]
    if (summary := results.summary) is not None:
        failed = [name for name, value in summary["checks"].items() if value is not True]
        tiles.append(
            Tile(
                "Checks",
                "all passed" if not failed else f"{len(failed)} failed",
                "sums, invariants, non-negativity" if not failed else ", ".join(failed).replace("_", " "),
                attention=bool(failed),
            )
        )
        tiles.append(Tile("Failsafe", people_text(summary["failsafe"]), "parents", attention=summary["failsafe"] > 0))
    for level in ("Block_Group", "Block"):
        entry = next((e for e in results.metrics if (e["level"], e["query"]) == (level, "total")), None)
        if entry is not None:
            figure = entry["total"]["mae"]["value"]
            tiles.append(
                Tile(f"{level.replace('_', ' ')} total", people_text(figure, 2), "mean absolute error, people")
            )
    return tuple(tiles)


def _tables(results: TopDownResults) -> tuple[TableView, ...]:
    found = [_figure_table(results.metrics)]
    if _is_confidential(results):
        return tuple(found)
    found.append(_size_table(results.metrics))
    if results.redistricting:
        found.append(_redistricting_table(results.redistricting))
    found.append(_worst_table(results))
    return tuple(found)


def _is_confidential(results: TopDownResults) -> bool:
    return is_confidential(results.spec, results.summary)


def _figure_table(metrics: Sequence[Mapping[str, Any]]) -> TableView:
    headers = (
        Header("Level"),
        Header("Query"),
        Header("Numbers", number=True),
        Header("MAE", number=True),
        Header("RMSE", number=True),
        Header("Mean\nerror", number=True),
        Header("MAPE\n%", number=True),
        Header("off by\n> 5 %", number=True),
        Header("Largest", number=True),
    )
    lines: list[tuple[Cell, ...]] = []
    levels = list(dict.fromkeys(str(entry["level"]) for entry in metrics))
    for level in levels:
        members = [entry for entry in metrics if entry["level"] == level]
        for place, entry in enumerate(members):
            head = (heading_cell(level.replace("_", " "), len(members)),) if place == 0 else ()
            values = [entry["total"].get(name, {}).get("value") for name in _FIGURES]
            mae, rmse, me, mape, over, largest = values
            lines.append(
                (
                    *head,
                    Cell(str(entry["query"]), whole=True),
                    number_cell(people_text(entry["numbers"])),
                    number_cell(people_text(mae, 2)),
                    number_cell(people_text(rmse, 2)),
                    number_cell(people_text(me, 3)),
                    number_cell(people_text(mape, 1)),
                    number_cell("–" if over is None else f"{over:.1%}"),
                    number_cell(people_text(largest)),
                )
            )
    note = "MAPE: where the truth is 0, an estimate above 0 counts as 200 %. Largest: mean over trials of the largest error."
    return TableView("figures", "Errors of every measured query at every level", headers, tuple(lines), note)


def _size_table(metrics: Sequence[Mapping[str, Any]]) -> TableView:
    headers = (
        Header("Level"),
        Header("True total"),
        Header("Units", number=True),
        Header("MAE", number=True),
        Header("Mean\nerror", number=True),
        Header("MAPE\n%", number=True),
        Header("off by\n> 5 %", number=True),
    )
    lines: list[tuple[Cell, ...]] = []
    for entry in metrics:
        classes = entry.get("by_size", {}) if entry["query"] == "total" else {}
        for place, (label, figures) in enumerate(classes.items()):
            head = (heading_cell(str(entry["level"]).replace("_", " "), len(classes)),) if place == 0 else ()
            lines.append(
                (
                    *head,
                    Cell(label, whole=True),
                    number_cell(people_text(figures["numbers"])),
                    number_cell(people_text(figures["mae"]["value"], 2)),
                    number_cell(people_text(figures["me"]["value"], 2)),
                    number_cell(people_text(figures["mape"]["value"], 1)),
                    number_cell(f"{figures['off-over-5']['value']:.1%}"),
                )
            )
    return TableView("sizes", "Errors of the total population by the size of the unit", headers, tuple(lines))


def _redistricting_table(entries: Sequence[Mapping[str, Any]]) -> TableView:
    headers = (
        Header("Level"),
        Header("Units with\n≥ 500 people", number=True),
        Header("within\n5 points", number=True),
        Header("95 % Wilson\ninterval", number=True),
        Header("Trials\nmet", number=True),
        Header("Reliable from\npeople", number=True),
    )
    lines = []
    for entry in entries:
        criterion, share = entry["criterion"], entry["criterion"]["share"]
        has = share["value"] is not None
        lines.append(
            (
                heading_cell(str(entry["level"]).replace("_", " ")),
                number_cell(people_text(criterion["units"])),
                number_cell(f"{share['value']:.2%}" if has else "–", attention=has and not criterion["met"]),
                number_cell(f"{share['low']:.1%} to {share['high']:.1%}" if has else "–"),
                number_cell(people_text(criterion["trials_met"])),
                number_cell(people_text(entry["reliable"]["people"])),
            )
        )
    note = (
        "The group with the largest published count is to keep its share within 5 percentage points in 95 % of the units with at "
        "least 500 people (TopDown paper, section 8.1); marked where it is missed. Spine units stand for places here."
    )
    return TableView("redistricting", "The redistricting criterion", headers, tuple(lines), note)


def _worst_table(results: TopDownResults) -> TableView:
    headers = (
        Header("Level"),
        Header("Unit"),
        Header("True\ntotal", number=True),
        Header("Published", number=True),
        Header("off by", number=True),
        Header("What it is about"),
    )
    lines = tuple(
        (
            heading_cell(unit.level.replace("_", " ")),
            Cell(unit.code, whole=True),
            number_cell(people_text(unit.worst.truth)),
            number_cell(people_text(unit.worst.estimate, 1)),
            number_cell(people_text(unit.worst.error, 1)),
            Cell(unit.sentence),
        )
        for unit in results.worst(_WORST)
    )
    return TableView("worst", "Units whose total is farthest off, on average over the trials read", headers, lines)


def _sections(results: TopDownResults) -> tuple[Section, ...]:
    found = []
    summary, spec = results.summary, results.spec
    if summary is not None:
        checks = [(name.replace("_", " "), _check_text(value)) for name, value in summary["checks"].items()]
        checks.append(("parents taken over by the failsafe", people_text(summary["failsafe"])))
        checks.append(("parents whose bounds contradict each other", people_text(summary["relaxed"])))
        checks += [
            (
                f"totals of {level.replace('_', ' ')} that are off",
                f"{counts['broken']:,} of {counts['units'] * counts['trials']:,}",
            )
            for level, counts in summary["broken_totals"].items()
        ]
        found.append(Section("Checks", tuple(checks)))
        found.append(Section("Privacy", _privacy(results, summary["privacy"])))
        design = summary["design"]
        images = (f"{entry['query']} at {entry['level']} → {entry['image']}" for entry in design["images"])
        found.append(
            Section(
                "What the data made of the scenario",
                (
                    ("Schema", f"{design['scenario_schema']} → {design['schema']}"),
                    ("Queries that became others", "; ".join(images) or "none"),
                    ("Remarks", " ".join(design["remarks"]) or "none"),
                ),
            )
        )
        seconds = tuple((name, f"{value:.2f}") for name, value in summary["seconds"].items())
        found.append(Section("Seconds per phase, summed over threads", seconds))
    options = spec.topdown or TopDownOptions()
    found.append(
        Section(
            "Specification",
            (
                ("Identity of the run (SHA-256)", spec.identity),
                ("Parameters (SHA-256)", fingerprint(spec.scenario)),
                ("Data", f"{spec.data.path}, {spec.data.size_bytes:,} bytes"),
                ("Data (SHA-256)", spec.data.sha256),
                ("Expansion seed", "none" if options.expand is None else str(options.expand)),
                ("Mechanism", options.mechanism.value),
                ("Rounder target", options.target.value),
                ("Trials", f"{len(results.trials)} here, {spec.trials} asked for"),
                ("Seed", "none: entropy of the operating system" if spec.seed is None else str(spec.seed)),
                ("Program of the run", f"phexplore {spec.code_version}"),
            ),
        )
    )
    return tuple(found)


def _privacy(results: TopDownResults, privacy: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    method = results.spec.scenario.topdown
    entries = [
        (
            "Declared",
            f"{privacy['declared']} ({'ρ' if method.framework is PrivacyFramework.ZCDP else 'ε'}, replace one record)",
        ),
        ("Spent by one trial", str(privacy["budget"])),
        ("Unspent, of dropped levels", str(privacy["unspent"])),
    ]
    if method.framework is PrivacyFramework.ZCDP and privacy["budget"] != "unlimited":
        value = epsilon(Fraction(privacy["budget"]), HEADLINE_DELTA, Conversion.ZCDP_OPTIMAL_ALPHA)
        entries.append(("ε of what was spent", f"{value:.4f} at δ = 1e-10 (tightest conversion)"))
    return tuple(entries)


def _check_text(value: object) -> str:
    return "passed" if value is True else f"{value} failures"
