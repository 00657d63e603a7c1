"""A published release: how far each number is from the truth before and after, and how often intervals hold the truth.

Args:
    name: of what is published.
    rows: numbers before and after.
    table: that is published.
    cell: its code.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from phexplore.catalog.races import iteration_levels
from phexplore.catalog.states import states
from phexplore.catalog.tables import tables
from phexplore.figures.axis import Axis
from phexplore.figures.figure import ROWS, Figure, KeyEntry, bar_figure, nothing
from phexplore.figures.marks import Bar, Dash, Dot, Mark, Part, Role, Rule, Shape, Span
from phexplore.figures.table import Table, signed_tick
from phexplore.model.rounded import Toward, percent

_WIDEST_QUANTILE = 0.98
_ROOM = 1.05
"""Of the axis beyond what it reaches to: marks at its ends are seen whole."""


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """One number before and after statistical post-processing, in people or people per household.

    Attributes:
        group: e.g. a state.
        name: e.g. an iteration.
        noisy: as measured.
        estimate: as published.
        low: of the 90 % interval.
        high: of the 90 % interval.
        truth: exact truncated number.
    """

    group: str
    name: str
    noisy: float
    estimate: float
    low: float
    high: float
    truth: float

    @property
    def is_held(self) -> bool:
        """Whether the interval holds the truth."""
        return self.low <= self.truth <= self.high


def published_figure(name: str, unit: str, rows: Sequence[PublishedNumber]) -> Figure:
    """Return a row per number; the truth is the line in the middle, what is left of it is too small.

    Args:
        name: what they are, e.g. "PH1: average household size".
        unit: of their values.
        rows: in order; none gives an empty figure.
    """
    if not rows:
        return nothing("published", "")
    reach = _reach(rows)
    return Figure(
        "published",
        published_title(name, rows),
        published_summary(rows, reach),
        Axis(f"distance from the truth, {unit}", domain=(-_ROOM * reach, _ROOM * reach), text=signed_tick),
        ROWS,
        tuple(_mark(row, reach) for row in rows),
        partial(published_numbers, tuple(rows)),
        under=(Rule(x=0.0, ink=Role.TEXT, width=1.2, dash=Dash.SOLID),),
        key=(
            KeyEntry(Dot(0.5, ink=Role.MUTED, shape=Shape.DIAMOND, is_hollow=True), "as measured"),
            KeyEntry(Dot(0.5, ink=Role.MAIN), "as published, with its 90 % interval"),
        ),
        stretch=1.0,
    )


def _mark(row: PublishedNumber, reach: float) -> Mark:
    def at(value: float) -> float:
        return min(max(value - row.truth, -reach), reach)

    ink = Role.REFERENCE if row.is_held else Role.MISSED
    parts: list[Part] = [Span(at(row.low), at(row.high), ink=ink, width=8.0)]
    if not math.isnan(row.noisy):
        parts.append(Dot(at(row.noisy), ink=Role.MUTED, shape=Shape.DIAMOND, is_hollow=True))
    parts.append(Dot(at(row.estimate), ink=Role.MAIN, size=4.0))
    text = "" if row.is_held else "✗"
    return Mark(None, tuple(parts), row.group, row.name, text, number_words(row), anchor=at(row.high), ink=Role.MISSED)


def _reach(rows: Sequence[PublishedNumber]) -> float:
    """Return how far the axis goes either way: all intervals, and nearly all noisy numbers."""
    ends = [max(abs(row.low - row.truth), abs(row.high - row.truth), abs(row.estimate - row.truth)) for row in rows]
    noisy = sorted(abs(row.noisy - row.truth) for row in rows if math.isfinite(row.noisy))
    ends += noisy[: math.ceil(_WIDEST_QUANTILE * len(noisy))]
    ordered = sorted(ends)
    return 1.05 * max(ordered[min(len(ordered) - 1, math.ceil(_WIDEST_QUANTILE * len(ordered)))], 1e-6)


def _rms(values: Sequence[float]) -> float:
    return math.sqrt(sum(value * value for value in values) / len(values)) if values else math.nan


def published_title(name: str, rows: Sequence[PublishedNumber]) -> str:
    """Return the finding: how many intervals hold the truth, and what publishing does to the error.

    Args:
        name: of the table.
        rows: its numbers.
    """
    held = sum(row.is_held for row in rows)
    before = _rms([row.noisy - row.truth for row in rows if math.isfinite(row.noisy)])
    after = _rms([row.estimate - row.truth for row in rows])
    return (
        f"{name}: {percent(held / len(rows), toward=Toward.DOWN)} of {len(rows):,} intervals hold the truth; error {_digits(before, 3)} noisy, "
        f"{_digits(after, 3)} published"
    )


def published_summary(rows: Sequence[PublishedNumber], reach: float) -> str:
    """Return one sentence: what the marks are.

    Args:
        rows: the numbers.
        reach: of the axis either way; what is farther off stands there.
    """
    outside = sum(not row.is_held for row in rows)
    beyond = sum(abs(row.noisy - row.truth) > reach for row in rows)
    edge = f" Diamonds at an edge are farther off ({beyond:,})." if beyond else ""
    return (
        "Diamond: as measured. Dot with bar: as published, with its 90 % interval. The line in the middle is the truth of the "
        f"simulated data; {outside:,} bars do not reach it (✗).{edge} Errors are root mean squares."
    )


def number_words(row: PublishedNumber) -> str:
    """Return one number in words."""
    held = "holds" if row.is_held else "does not hold"
    return (
        f"{row.group} {row.name}: measured {_digits(row.noisy)}, published {_digits(row.estimate)}, interval {_digits(row.low)} to "
        f"{_digits(row.high)} {held} the truth {_digits(row.truth)}"
    )


def _digits(value: float, digits: int = 4) -> str:
    """Return an average with so many digits, a count with all of them."""
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:,.{digits}g}"


def published_numbers(rows: Sequence[PublishedNumber]) -> Table:
    """Return the data table."""
    headers = ("Area", "Group", "Measured", "Published", "5 %", "95 %", "Truth", "Held")
    return Table(
        headers,
        tuple(
            (r.group, r.name, r.noisy, r.estimate, r.low, r.high, r.truth, "yes" if r.is_held else "no") for r in rows
        ),
    )


NEAR_A_LIMIT = (
    "Near a limit the intervals cannot hold 90 %: a count known not to be below 0 has an interval from the 5 % to the 95 % "
    "quantile of a normal cut at 0. A true 0 is left out as soon as that 5 % quantile reaches 1, and a count a little above 0 is "
    "held more often. Averaged over all counts that the flat prior allows it is 90 %; from six standard deviations on it "
    "holds for every count."
)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedRelease:
    """One trial as it would be published.

    Attributes:
        numbers: by table and cell, nation first, then states by name; none where the truth is treated as confidential.
        coverage: per table, as the command line prints it.
    """

    numbers: Mapping[tuple[str, int], tuple[PublishedNumber, ...]]
    coverage: Sequence[Mapping[str, Any]]

    @property
    def tables(self) -> tuple[str, ...]:
        """Published tables."""
        return tuple(sorted({table for table, _ in self.numbers}))

    def cells(self, table: str) -> tuple[int, ...]:
        """Cells of a table."""
        return tuple(sorted(cell for name, cell in self.numbers if name == table))


def read_release(request: tuple[Path, str]) -> PublishedRelease:
    """Read what ``phexplore publish`` wrote into a folder, and printed.

    Args:
        request: the folder, and the printed JSON.
    """
    folder, printed = request
    if not (folder / "comparison.csv").exists() and any(folder.glob("*/estimates")):
        return PublishedRelease({}, json.loads(printed))
    found: dict[tuple[str, int], list[tuple[tuple[str, ...], PublishedNumber]]] = {}
    with (folder / "comparison.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="|"):
            number = PublishedNumber(
                _area(row["REGION_TYPE"], row["REGION_ID"]),
                _group(row["ITERATION_CODE"]),
                *(float(row[name]) for name in ("NOISY", "PRED", "PRED_LO", "PRED_HI", "TRUTH")),
            )
            order = ("0" if row["REGION_TYPE"] == "USA" else "1", number.group, row["ITERATION_CODE"])
            found.setdefault((row["TABLE"], int(row["DATA_CELL"])), []).append((order, number))
    numbers = {
        place: tuple(number for _, number in sorted(those, key=lambda pair: pair[0])) for place, those in found.items()
    }
    return PublishedRelease(numbers, json.loads(printed))


def _area(kind: str, region: str) -> str:
    if kind == "USA":
        return "Nation"
    known = states().get(region)
    return known.name if known else region


def _group(code: str) -> str:
    if code == "*":
        return "all people"
    for level in iteration_levels().values():
        for each in level.codes:
            if each.code == code:
                return each.label
    return code


def cell_words(table: str, cell: int) -> str:
    """Return the words of a cell of a published table."""
    product = tables().get(table) or tables().get(f"{table}_num")  # type: ignore[call-overload]
    for each in product.cells if product is not None else ():
        if each.code == cell:
            return str(each.label)
    return f"cell {cell}" if cell != 1 else "all"


def coverage_bars(coverage: Sequence[Mapping[str, Any]]) -> Figure:
    """Return one bar per table and class of rooms; the tick is 90 %."""
    bars, rows = [], []
    for entry in coverage:
        for part in entry["by_room"]:
            words = _room_words(part)
            share = 100 * part["share"]
            text = f"{percent(part['share'], toward=Toward.DOWN)} of {part['of']:,}"
            tip = (
                f"{entry['table']}, truth {words} from a limit: {part['held']:,} of {part['of']:,} intervals contain it "
                f"(Monte Carlo interval {percent(part['low'])} to {percent(part['high'])})."
            )
            bars.append(Bar(None, entry["table"], words, share, 90.0, text, tip))
            rows.append((entry["table"], words, part["held"], part["of"], part["share"], part["low"], part["high"]))
    far = [part for entry in coverage for part in entry["by_room"] if part["to_sigma"] is None]
    held, counted = sum(part["held"] for part in far), sum(part["of"] for part in far)
    title = "No number of this release is far from its limits"
    if counted:
        title = f"Six standard deviations from a limit and more, {percent(held / counted, toward=Toward.DOWN)} of intervals hold the truth"
    return bar_figure(
        "coverage-bars",
        tuple(bars),
        "intervals that hold the truth, percent",
        title,
        "By how far the truth is from a limit (0 for counts; of sums, that of the smallest part), in standard deviations σ of "
        "the noise. The tick is 90 %.",
        Table(("Table", "Distance", "Held", "Of", "Share", "Low", "High"), tuple(rows)),
        most=100.0,
    )


def _room_words(part: Mapping[str, Any]) -> str:
    if part["to_sigma"] is None:
        return f"from {part['from_sigma']:g} σ on"
    return (
        f"below {part['to_sigma']:g} σ"
        if not part["from_sigma"]
        else f"{part['from_sigma']:g} to {part['to_sigma']:g} σ"
    )
