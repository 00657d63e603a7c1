"""The report of a TopDown run: does everything hold that must, how far off is what, whom does it serve."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.catalog.names import preset_name
from phexplore.errors import PhexploreError
from phexplore.figures.figure import Figure
from phexplore.figures.style import Chart
from phexplore.figures.table_files import table_csv
from phexplore.figures.to_matplotlib import chart_of
from phexplore.figures.wording import CONVERTED, people_text, significant
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.conventions import Conversion
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import ABSENT, Toward, epsilon_bound, percent, rounded_up
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
from phexplore.report.provenance import Section
from phexplore.report.run_report import RunReport
from phexplore.report.run_sections import (
    check_entries,
    noise_caution,
    run_document_of,
    seconds_section,
    specification_section,
    unfinished_warning,
)
from phexplore.runs.summary_shape import failed_checks
from phexplore.systems.run_pictures import run_figures
from phexplore.systems.run_results import Choice
from phexplore.systems.topdown.confidence import NOTES, Comparison, comparisons
from phexplore.systems.topdown.results import NamedUnit, TopDownResults
from phexplore.systems.topdown.run_options import Mechanism, topdown_options
from phexplore.systems.topdown.spine_words import TARGETS
from phexplore.systems.topdown.system import TOPDOWN
from phexplore.systems.topdown.wording import counted, level_title, query_title, schema_title

Entry = Mapping[str, Any]
"""An entry of ``metrics`` or ``redistricting`` of a summary."""

_ERRORS = "Errors are published minus true counts, in people (housing units for the unit schema), over units, answers and trials."
_WORST = 5


def run_report(run: Path, now: datetime, choices: Mapping[str, Choice] | None = None) -> RunReport:
    """Return what the results of a run are written from.

    Args:
        run: a run directory, complete or not.
        now: printed in the report, with its zone.
        choices: for its pictures, as on the page of results.

    Raises:
        PhexploreError: the run holds no trial, or a file cannot be read.
    """
    results = TopDownResults.open(run)
    if not results.trials:
        raise PhexploreError("The run has no finished trial yet.", "Wait for the first one, or resume the run.")
    pictures = cache(lambda: run_figures(TOPDOWN.results, run, choices))
    charts = cache(lambda: tuple(map(chart_of, pictures())))
    return RunReport(
        document=lambda: run_document(results, charts(), now),
        charts=charts,
        table=lambda: figures_csv(results.metrics),
        tables=lambda: csv_files(results, pictures()),
    )


def csv_files(results: TopDownResults, pictures: Iterable[Figure]) -> Iterable[tuple[str, bytes]]:
    """Yield every table of a run under its file name, last those of its pictures.

    Args:
        results: of the run.
        pictures: of the run.
    """
    yield "figures.csv", figures_csv(results.metrics)
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
                (level, query, error, count)
                for level, query, errors in results.distributions()
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
    yield from ((f"picture-{figure.id}.csv", table_csv(figure.table)) for figure in pictures)


def figures_csv(metrics: Sequence[Entry]) -> bytes:
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
    return csv_bytes([header, *rows], lineterminator="\n")


def run_document(results: TopDownResults, charts: tuple[Chart, ...], now: datetime) -> Document:
    """Return the report: pictures, tables, then checks, specification and method.

    Args:
        results: of the run.
        charts: its pictures.
        now: printed in the report, with its zone.
    """
    parts = (
        Part("pictures", "What the run shows", charts=charts),
        Part("tables", "The figures", (_ERRORS,), tables=_tables(results)),
        _confidence(results),
        Part("method", "Checks, specification and method", _cautions(results), sections=_sections(results)),
    )
    keywords = ("TopDown", "P.L. 94-171", "differential privacy")
    subtitle, warning = "Simulated run of TopDown", _warning(results)
    tiles, trials = _tiles(results), len(results.trials)
    return run_document_of(results.spec, now, subtitle, tiles, parts, trials=trials, warning=warning, keywords=keywords)


def _confidence(results: TopDownResults) -> Part:
    """Return how far figures of the program agree with the Bureau's."""
    found = comparisons((), (results.run,))
    missed = sum(each.verdict == "misses" for each in found)
    compared = sum(each.verdict != "not compared" for each in found)
    table = table_of(
        "confidence", f"{missed} of {compared} figures miss; misses first", _CONFIDENCE, found, " ".join(NOTES[2:4])
    )
    return Part("confidence", "Confidence in these numbers", NOTES[:2], tables=(table,))


def _warning(results: TopDownResults) -> str:
    sentences = [*unfinished_warning(results.state, len(results.trials))]
    if not results.spec.data.is_open:
        sentences.insert(
            0,
            "This report contains errors computed from the exact counts of the data. It does not protect them.",
        )
    return " ".join(sentences)


def _cautions(results: TopDownResults) -> tuple[str, ...]:
    options, cautions = topdown_options(results.spec), [noise_caution(results.spec)]
    if options.mechanism is Mechanism.BLOCK_BY_BLOCK:
        cautions.append(
            "Block by block: all of the budget was spent at the blocks, and nothing holds the totals above."
        )
    if options.is_pooled:
        cautions.append(
            "Pooled estimator: the same noisy answers, estimated in another way than the Census Bureau did."
        )
    return (*cautions, *_data_remarks(results))


def _data_remarks(results: TopDownResults) -> tuple[str, ...]:
    """Return what was invented or assumed of the data, where the summary says it."""
    return tuple((results.summary or {}).get("data", {}).get("remarks", ()))


def _tiles(results: TopDownResults) -> tuple[Tile, ...]:
    tiles = [Tile("Trials", people_text(len(results.trials)), results.state.value)]
    if (summary := results.summary) is not None:
        failed = failed_checks(summary["checks"])
        tiles.append(
            Tile(
                "Checks",
                "all passed" if not failed else f"{len(failed)} failed",
                "sums, invariants, non-negativity" if not failed else ", ".join(failed).replace("_", " "),
                attention=bool(failed),
            )
        )
        tiles.append(
            Tile(
                "Areas repaired",
                people_text(summary["failsafe"]),
                "could not be rounded at once",
                attention=summary["failsafe"] > 0,
            )
        )
    for level in ("Block_Group", "Block"):
        entry = next((e for e in results.metrics if (e["level"], e["query"]) == (level, "total")), None)
        if entry is not None:
            figure = entry["total"]["mae"]["value"]
            tiles.append(
                Tile(
                    f"{level_title(level)} total",
                    people_text(figure, 2),
                    f"mean absolute error, {counted(results.spec.scenario.topdown.schema)}",
                )
            )
    return tuple(tiles)


def _tables(results: TopDownResults) -> tuple[TableView, ...]:
    errors = table_of(
        "figures",
        "Errors of every measured query at every level",
        _FIGURES,
        results.metrics,
        "MAPE: where the truth is 0, an estimate above 0 counts as 200 %. Largest: mean over trials of the largest error."
        + _reported(results),
    )
    totals = [entry for entry in results.metrics if entry["query"] == "total"]
    classes = [(entry["level"], *each) for entry in totals for each in entry.get("by_size", {}).items()]
    sizes = table_of("sizes", "Errors of the total population by the size of the unit", _SIZES, classes)
    redistricting = table_of(
        "redistricting",
        "The redistricting criterion",
        _REDISTRICTING,
        results.redistricting,
        "The group with the largest published count is to keep its share within 5 percentage points in 95 % of the units with at "
        "least 500 people (TopDown paper, section 8.1); marked where it is missed. Spine units stand for places here.",
    )
    worst = table_of(
        "worst",
        "Units whose total is farthest off, on average over the trials",
        _WORST_UNITS,
        results.worst(_WORST),
    )
    return (errors, sizes, *((redistricting,) if redistricting.rows else ()), worst)


def _reported(results: TopDownResults) -> str:
    """Return which figures production itself reports, "" where its list is not known."""
    told = (results.summary or {}).get("production_metrics")
    if not told:
        return ""
    unknown = f" How it counts {', '.join(told['unknown'])} is not published." if told["unknown"] else ""
    return f" Production reports above blocks: {', '.join(told['queries'])}.{unknown}"


def _level(entry: Entry) -> str:
    return _level_name(str(entry["level"]))


def _level_name(level: str) -> str:
    return TARGETS.get(level, level_title(level))


def _total(name: str) -> Callable[[Entry], Any]:
    return lambda entry: entry["total"].get(name, {}).get("value")


_FIGURES: tuple[Column[Entry], ...] = (
    heading("Level", _level, spans=True),
    words("Query", lambda entry: query_title(str(entry["query"]))),
    figures("Numbers", lambda entry: entry["numbers"]),
    figures("MAE", _total("mae"), 2),
    figures("RMSE", _total("rmse"), 2),
    figures("Mean\nerror", _total("me"), 3),
    figures("MAPE\n%", _total("mape"), 1),
    figures("off by\n> 5 %", lambda entry: percent(_total("off-over-5")(entry), toward=Toward.UP)),
    figures("Largest,\nmean", _total("abs-max")),
)

_SIZES: tuple[Column[tuple[str, str, Entry]], ...] = (
    heading("Level", lambda each: _level_name(each[0]), spans=True),
    words("True total", lambda each: each[1], whole=True),
    figures("Units", lambda each: each[2]["numbers"]),
    figures("MAE", lambda each: each[2]["mae"]["value"], 2),
    figures("Mean\nerror", lambda each: each[2]["me"]["value"], 2),
    figures("MAPE\n%", lambda each: each[2]["mape"]["value"], 1),
    figures("off by\n> 5 %", lambda each: percent(each[2]["off-over-5"]["value"], toward=Toward.UP)),
)


def _is_missed(entry: Entry) -> bool:
    return entry["criterion"]["share"]["value"] is not None and not entry["criterion"]["met"]


def _wilson(entry: Entry) -> str:
    share = entry["criterion"]["share"]
    return ABSENT if share["value"] is None else f"{percent(share['low'])} to {percent(share['high'])}"


_REDISTRICTING: tuple[Column[Entry], ...] = (
    heading("Level", _level),
    figures("Units with\n≥ 500 people", lambda entry: entry["criterion"]["units"]),
    figures(
        "within\n5 points",
        lambda entry: percent(entry["criterion"]["share"]["value"], places=2, toward=Toward.DOWN),
        attention=_is_missed,
    ),
    figures("95 % Wilson\ninterval", _wilson),
    figures("Trials\nmet", lambda entry: entry["criterion"]["trials_met"]),
    figures("Reliable from\npeople", lambda entry: entry["reliable"]["people"]),
)


def _interval(each: Comparison) -> str:
    return "–" if each.low is None or each.high is None else f"{each.low:.2f} to {each.high:.2f}"


_CONFIDENCE: tuple[Column[Comparison], ...] = (
    heading("Verdict", lambda each: each.verdict, spans=True),
    words("Compared with", lambda each: each.kind, whole=True),
    words("Place", lambda each: preset_name(each.place)),
    words("Figure", lambda each: each.figure),
    figures("Ours", lambda each: each.ours, 3),
    figures("Published", lambda each: each.published, 3),
    figures("Ratio", lambda each: each.ratio, 3, attention=lambda each: each.verdict == "misses"),
    figures("90 %\ninterval", _interval),
    words("Ours comes from", lambda each: each.basis),
)

_WORST_UNITS: tuple[Column[NamedUnit], ...] = (
    heading("Level", lambda unit: _level_name(unit.level)),
    words("Unit", lambda unit: unit.title, whole=True),
    figures("True\ntotal", lambda unit: unit.worst.truth),
    figures("Published", lambda unit: unit.worst.estimate, 1),
    figures("off by", lambda unit: unit.worst.error, 1),
    words("What it is about", lambda unit: unit.sentence),
)


def _sections(results: TopDownResults) -> tuple[Section, ...]:
    options, summary = topdown_options(results.spec), results.summary
    specification = specification_section(
        results.spec,
        len(results.trials),
        ("Expansion seed", "none" if options.expand is None else str(options.expand)),
        ("Mechanism", options.mechanism.value),
        ("Estimator", options.estimator.value),
        ("Rounder target", options.target.value),
    )
    if summary is None:
        return (specification,)
    checks = (
        *check_entries(summary["checks"]),
        (
            "areas whose parts could not be rounded at once, and were repaired (failsafe)",
            people_text(summary["failsafe"]),
        ),
        ("parents whose bounds contradict each other", people_text(summary["relaxed"])),
        *(
            (
                f"totals of {level_title(level)} that are off",
                f"{counts['broken']:,} of {counts['units'] * counts['trials']:,}",
            )
            for level, counts in summary["broken_totals"].items()
        ),
    )
    design = summary["design"]
    images = (
        f"{query_title(entry['query'])} at {entry['level']} → {query_title(entry['image'])}"
        for entry in design["images"]
    )
    made = (
        ("Schema", " → ".join(dict.fromkeys(map(schema_title, (design["scenario_schema"], design["schema"]))))),
        ("Queries that became others", "; ".join(images) or "none"),
        ("Remarks", " ".join(design["remarks"]) or "none"),
    )
    return (
        Section("Checks", checks),
        *_facility_repair(summary),
        Section("Privacy", _privacy(results, summary["privacy"])),
        Section("What the data made of the scenario", made),
        *seconds_section(summary, "Seconds per phase, summed over threads"),
        specification,
    )


def _facility_repair(summary: Mapping[str, Any]) -> tuple[Section, ...]:
    """Return what the repair of facility types did at each level, where there was one."""
    words = "{moves:,} moves, {ages:,} of them with another age; {broken:,} bounds were broken, {remaining:,} still are"
    entries = tuple((_level(entry), words.format(**entry)) for entry in summary.get("facility_repair", ()))
    return (Section("Repair of facility types", entries),) if entries else ()


def _release(summary: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield the earlier release a run stands on, and what both cost together."""
    release = summary.get("redistricting_release")
    if not release:
        return
    yield "Stands on the redistricting counts of", release["source"] or f"{release['preset']}, drawn in the same trial"
    if release["joint"]:
        joint = release["joint"]
        yield (
            "Both releases together",
            f"ρ = {significant(Fraction(joint['rho']))}, ε = {epsilon_bound(joint['epsilon'])} at δ = 10⁻¹⁰",
        )


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
        entries.append(("ε of what was spent", f"{rounded_up(value, 4)} at δ = 10⁻¹⁰ ({CONVERTED})"))
    return (*entries, *_release(results.summary or {}))
