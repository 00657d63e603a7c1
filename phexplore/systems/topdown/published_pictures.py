"""The published record in the window: errors of published tables beside a run, and how far the program's figures agree with the Bureau's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from phexplore.catalog.names import learn_areas
from phexplore.figures.figure import Figure, bar_figure
from phexplore.figures.marks import Bar
from phexplore.figures.stated_origin import with_origin
from phexplore.figures.table import Table, Value
from phexplore.model.fields import read
from phexplore.model.provenance import Provenance, ProvenanceKind
from phexplore.systems.experiments import Experiment, Found, Given, Parameter, Picture
from phexplore.systems.topdown.spine_findings import noun
from phexplore.systems.topdown.wording import level_title

_RUN = Parameter("run", "Run beside", "", hint="a run folder, or a file in it", is_file=True)
_UNIT = "mean absolute error, people"
_SMALL = 10


def experiments() -> tuple[Experiment, ...]:
    """Return what TopDown offers."""
    return ERRORS, CONFIDENCE


def _errors_command(_out: Path, given: Given) -> list[str]:
    return ["published", "errors", given["file"], "--json", *_beside(given)]


def _confidence_command(_out: Path, given: Given) -> list[str]:
    return ["published", "confidence", *([given["file"]] if given["file"].strip() else []), "--json", *_beside(given)]


def _beside(given: Given) -> Sequence[str]:
    return ["--run", given["run"].strip()] if given["run"].strip() else []


def error_pictures(found: Found, _folder: Path | None = None) -> list[Picture]:
    """Return the pictures of published errors: by level, then by size and by group at every level.

    Args:
        found: the JSON of ``published errors``.
    """
    notes = (*found["differences"], *found["notes"])
    levels: Sequence[Mapping[str, Any]] = found["levels"]
    bars = [_bar("", _words(each), each["mae_total"], each.get("run_mae_total")) for each in levels]
    beside = "; the stroke is the run beside" if "run" in found else ""
    worst = max(levels, key=lambda each: each["mae_total"])
    title = f"Published totals are off by {_number(worst['mae_total'])} on average at the level {worst['level']}"
    if len(levels) == 1:
        title = f"Published totals of {worst['areas']:,} areas ({worst['level']}) are off by {_number(worst['mae_total'])} on average"
    whole = bar_figure(
        "published-errors",
        tuple(bars),
        _UNIT,
        title,
        f"Error of the total population by level{beside}.",
        _level_table(levels),
    )
    pictures = [Picture("Errors by level", whole, notes)]
    for each in levels:
        pictures.append(Picture(f"{each['level']}: by size", _sizes(each, beside), notes))
        pictures.append(Picture(f"{each['level']}: by group", _groups(each, beside), notes))
        if each["worst"]:
            pictures.append(Picture(f"{each['level']}: farthest off", _farthest(each, beside), notes))
    if "run" not in found:
        return pictures
    origins = (Provenance(ProvenanceKind.PUBLISHED, found["title"]), read(Provenance, found["run_provenance"]))
    return [replace(each, content=with_origin(each.content, *origins)) for each in pictures]


def _words(level: Mapping[str, Any]) -> str:
    return f"{level['level']} ({level['areas']:,})"


def _number(value: float) -> str:
    return f"{value:,.3f}" if value < _SMALL else f"{value:,.1f}"


def _bar(group: str, name: str, value: float, run: float | None) -> Bar:
    tip = f"{name}: published {value:,.3f}" + ("" if run is None else f"; the run {run:,.3f}")
    text = _number(value) + ("" if run is None else f" (run {_number(run)})")
    return Bar(None, group, name, value, run, text, tip)


def _level_table(levels: Sequence[Mapping[str, Any]]) -> Table:
    names = ("mae_total", "rmse_total", "mean_total", "largest_total", "exact_total", "mae_cells")
    titles = (
        "Mean |error| of the total",
        "Root mean square error",
        "Mean error",
        "Largest",
        "Areas with exact total",
        "Mean |error| of a cell",
    )
    beside = names if any("run_mae_total" in each for each in levels) else ()
    rows: list[tuple[Value, ...]] = [
        (each["level"], each["areas"], *(each[name] for name in names), *(each.get(f"run_{name}") for name in beside))
        for each in levels
    ]
    return Table(("Level", "Areas", *titles, *(f"Run: {title}" for title in titles[: len(beside)])), tuple(rows))


def _sizes(level: Mapping[str, Any], beside: str) -> Figure:
    own = {each["size"]: each for each in level.get("run_by_size", ())}
    bars, rows = [], list[tuple[Value, ...]]()
    for each in level["by_size"]:
        run = own.get(each["size"])
        bars.append(_bar("People", f"{each['size']} ({each['areas']:,})", each["mae_total"], run and run["mae_total"]))
        rows.append((each["size"], each["areas"], each["mae_total"], run and run["mae_total"]))
    largest = level["by_size"][-1]
    return bar_figure(
        f"published-sizes-{level['level']}",
        tuple(bars),
        _UNIT,
        f"{level['level']}: areas of {largest['size']} people are off by {_number(largest['mae_total'])} on average",
        f"Error of the total population by the true population of the area{beside}.",
        Table(("True population", "Areas", "Published: mean |error|", "Run: mean |error|"), tuple(rows)),
    )


def _groups(level: Mapping[str, Any], beside: str) -> Figure:
    own = {each["group"]: each for each in level.get("run_groups", ())}
    bars, rows = [], list[tuple[Value, ...]]()
    for each in level["groups"]:
        run = own.get(each["group"])
        bars.append(_bar("", each["title"], each["mae"], run and run["mae"]))
        rows.append((each["title"], each["mae"], each["mean"], run and run["mae"], run and run["mean"]))
    worst = max(level["groups"], key=lambda each: each["mae"])
    return bar_figure(
        f"published-groups-{level['level']}",
        tuple(bars),
        _UNIT,
        f"{level['level']}: the largest mean error, {_number(worst['mae'])}, is that of “{worst['title']}”",
        f"Error of every published count by group{beside}.",
        Table(("Group", "Published: mean |error|", "Mean error", "Run: mean |error|", "Run: mean error"), tuple(rows)),
    )


def _farthest(level: Mapping[str, Any], beside: str) -> Figure:
    """Return the areas whose totals are farthest off, by name where the file or the program knows one."""
    learn_areas(level["level"], {each["code"]: each["name"] for each in level["worst"]})
    bars, rows = [], list[tuple[Value, ...]]()
    for each in level["worst"]:
        area = f"{level_title(noun(level['level'], 1))} {each['code']}"
        bars.append(_bar("", area, abs(each["error"]), each["run_mae_total"]))
        rows.append((area, each["name"], each["true"], each["error"], each["run_mae_total"]))
    first = level["worst"][0]
    return bar_figure(
        f"published-farthest-{level['level']}",
        tuple(bars),
        "absolute error, people",
        f"{level['level']}: farthest off is the total of {rows[0][0]}, by {_number(abs(first['error']))}",
        f"The {len(bars)} areas whose total population is farthest off{beside}.",
        Table(("Area", "Name in the file", "True population", "Published: error", "Run: mean |error|"), tuple(rows)),
    )


def confidence_pictures(found: Found, _folder: Path | None = None) -> list[Picture]:
    """Return the pictures of what agrees: misses first.

    Args:
        found: the JSON of ``published confidence``.
    """
    notes = tuple(found["notes"])
    rows: Sequence[Mapping[str, Any]] = found["comparisons"]
    parts = [("Confidence in these numbers", rows)]
    parts += [
        (kind, [row for row in rows if row["kind"] == kind]) for kind in dict.fromkeys(row["kind"] for row in rows)
    ]
    return [Picture(title, confidence_figure(title, part), notes) for title, part in parts]


def confidence_figure(title: str, rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Return ratios of our figures to the published ones, misses first and marked.

    Args:
        title: of the part.
        rows: comparisons as JSON values.
    """
    bars = []
    for row in rows:
        if row["ratio"] is not None:
            interval = "" if row["low"] in {None, row["ratio"]} else f" ({row['low']:.2f} to {row['high']:.2f})"
            tip = f"{row['place']}, {row['figure']}: ours {row['ours']:,.4g}, published {row['published']:,.4g}; {row['basis']}"
            is_missed = row["verdict"] == "misses"
            words = f"{row['ratio']:.3f}{interval}{', misses' if is_missed else ''}"
            bars.append(Bar(None, row["place"], row["figure"], row["ratio"], 1.0, words, tip, is_marked=is_missed))
    missed, compared = sum(row["verdict"] == "misses" for row in rows), len(bars)
    heading = f"{title}: {missed} of {compared} figures miss" if missed else f"{title}: all {compared} figures agree"
    return bar_figure(
        f"confidence-{title.split(' ', maxsplit=1)[0].lower()}",
        tuple(bars),
        "our figure / the published one",
        heading,
        "Ratio of our figure to the Bureau's, misses first; the stroke is 1. In brackets the 90 % Monte-Carlo interval of the ratio. "
        f"{len(rows) - compared} figures have none of ours beside them: the table says why.",
        confidence_table(rows),
    )


def confidence_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return all comparisons as a table.

    Args:
        rows: comparisons as JSON values.
    """
    names = ("verdict", "kind", "place", "figure", "ours", "published", "ratio", "low", "high", "basis")
    titles = (
        "Verdict",
        "Compared with",
        "Place",
        "Figure",
        "Ours",
        "Published",
        "Ratio",
        "From",
        "To",
        "Ours comes from",
    )
    return Table(titles, tuple(tuple(row[name] for name in names) for row in rows))


ERRORS = Experiment(
    "published-errors",
    "Published beside simulated",
    "A published file with true and published columns: its errors by level, size, group and area, beside those of a run on the same areas.",
    (Parameter("file", "Published file", "", hint="e.g. an NHGIS demonstration table", is_file=True), _RUN),
    _errors_command,
    "Some seconds.",
    error_pictures,
)
CONFIDENCE = Experiment(
    "confidence",
    "Confidence in these numbers",
    "The program's figures beside the Bureau's own reruns, its GLS standard deviations and the signed certificates; misses first.",
    (
        Parameter("file", "Reruns or GLS file", "", hint="the seven cells that came with the program", is_file=True),
        _RUN,
    ),
    _confidence_command,
    "Some seconds.",
    confidence_pictures,
)
