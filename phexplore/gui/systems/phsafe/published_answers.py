"""A published release read back for the pictures: numbers by table and cell, coverage by room. No Qt."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phexplore.catalog.races import iteration_levels
from phexplore.catalog.states import states
from phexplore.catalog.tables import tables
from phexplore.figures.figure import Figure, bar_figure
from phexplore.figures.marks import Bar
from phexplore.figures.table import Table
from phexplore.systems.phsafe.published_figure import PublishedNumber

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
            wide = 50 * (part["high"] - part["low"])
            text = f"{share:.1f} % of {part['of']:,}"
            tip = (
                f"{entry['table']}, truth {words} from a limit: {part['held']:,} of {part['of']:,} intervals hold it "
                f"(± {wide:.1f} points by simulation)."
            )
            bars.append(Bar(None, entry["table"], words, share, 90.0, text, tip))
            rows.append((entry["table"], words, part["held"], part["of"], part["share"], part["low"], part["high"]))
    far = [part for entry in coverage for part in entry["by_room"] if part["to_sigma"] is None]
    held, counted = sum(part["held"] for part in far), sum(part["of"] for part in far)
    title = "No number of this release is far from its limits"
    if counted:
        title = f"Six standard deviations from a limit and more, {held / counted:.1%} of intervals hold the truth"
    return bar_figure(
        "coverage-bars",
        tuple(bars),
        "intervals that hold the truth, percent",
        title,
        "By how far the truth is from a limit (0 for counts; of sums, that of the smallest part), in standard deviations σ of "
        "the noise. The tick is 90 %.",
        Table(("Table", "Distance", "Held", "Of", "Share", "Low", "High"), tuple(rows)),
    )


def _room_words(part: Mapping[str, Any]) -> str:
    if part["to_sigma"] is None:
        return f"from {part['from_sigma']:g} σ on"
    return (
        f"below {part['to_sigma']:g} σ"
        if not part["from_sigma"]
        else f"{part['from_sigma']:g} to {part['to_sigma']:g} σ"
    )
