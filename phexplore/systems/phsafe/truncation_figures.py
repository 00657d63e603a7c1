"""What does truncation cost? People cut per household size, bias per cell beside the noise margin, as figures.

Args:
    query: table and level.
    cells: with bias and margin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from phexplore.catalog.tables import PEOPLE_OR_HOUSEHOLDS, counted_in
from phexplore.figures.axis import Axis, Scale, whole_text
from phexplore.figures.figure import ROWS, Figure, KeyEntry, nothing
from phexplore.figures.marks import Box, Dot, Fill, Mark, Part, Role, Shape, Span
from phexplore.figures.table import Table, grouped, shortened
from phexplore.figures.wording import people, signed_people
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.rounded import Toward, percent
from phexplore.systems.phsafe.run_snapshot import LevelResult


@dataclass(frozen=True, slots=True)
class SizeCut:
    """Households of one size, counted by the people the table counts.

    Attributes:
        size: people of the table's universe in the household.
        households: how many there are.
        persons: people in them.
        cut: people truncation leaves out.
    """

    size: int
    households: int
    persons: int
    cut: int


@dataclass(frozen=True, slots=True)
class TableTruncation:
    """What a threshold costs one table.

    Attributes:
        table: which one.
        threshold: τ, people kept per household.
        sizes: by household size, ascending; only sizes that occur.
        or_larger: the last size also stands for larger households, whose loss is then at least the figure given.
    """

    table: TableId
    threshold: int
    sizes: tuple[SizeCut, ...]
    or_larger: int

    @property
    def cut(self) -> int:
        """People left out in all."""
        return sum(each.cut for each in self.sizes)

    @property
    def persons(self) -> int:
        """People before truncation."""
        return sum(each.persons for each in self.sizes)

    @property
    def share(self) -> float:
        """The share of them that is left out."""
        return self.cut / self.persons if self.persons else 0.0

    @property
    def share_text(self) -> str:
        """The share for reading, never less than it is."""
        return percent(self.share, places=3, toward=Toward.UP)

    @property
    def cut_households(self) -> int:
        """Households that lose anybody."""
        return sum(each.households for each in self.sizes if each.cut)

    @property
    def rows(self) -> tuple[tuple[str, SizeCut], ...]:
        """What is drawn: all uncut sizes together, then each size above the threshold with its words."""
        whole = [each for each in self.sizes if not each.cut]
        rows = []
        if whole:
            together = SizeCut(
                self.threshold, sum(each.households for each in whole), sum(each.persons for each in whole), 0
            )
            rows.append((f"1 to {self.threshold} people", together))
        for each in self.sizes:
            if each.cut:
                more = " or more" if each.size == self.or_larger else ""
                rows.append((f"{each.size}{more} people", each))
        return tuple(rows)


@dataclass(frozen=True, slots=True)
class CellBias:
    """What truncation and noise do to one cell.

    Attributes:
        label: words of the cell.
        mean_bias: truncated − untruncated, mean over the published numbers of the cell, people.
        largest_bias: the one farthest from 0.
        true_mean: untruncated count, mean over these numbers.
        margin: of the noise, people, at the scenario's confidence.
        numbers: how many published numbers.
    """

    label: str
    mean_bias: float
    largest_bias: int
    true_mean: float
    margin: float
    numbers: int


def bias_words(value: float) -> str:
    """Return a bias with its sign; what is not 0 never reads 0."""
    words = signed_people(value)
    if words != "0" or value == 0:
        return words
    return ("+" if value > 0 else "−") + f"{abs(value):.1g}"


def size_title(tables: Sequence[TableTruncation]) -> str:
    """Return the finding: how many people of how many households are left out, in the table that loses most."""
    found = max(tables, key=lambda each: each.share)
    if not found.cut:
        return (
            f"{found.table}: a threshold of {found.threshold} leaves nobody out"
            if len(tables) == 1
            else "Nobody is left out"
        )
    least = "at least " if any(each.cut and each.size == found.or_larger for each in found.sizes) else ""
    return (
        f"{found.table}: a threshold of {found.threshold} leaves out {least}{grouped(found.cut)} people "
        f"({found.share_text}) of {grouped(found.cut_households)} households"
    )


def size_summary(tables: Sequence[TableTruncation]) -> str:
    """Return one sentence: whom the tables count and who is cut."""
    largest = max((each.size for found in tables for each in found.sizes), default=0)
    counted = "; ".join(
        f"{grouped(found.persons)} people that {found.table} counts, at most {found.threshold} per household"
        for found in tables
    )
    return (
        f"{counted}: by the number of them in a household (up to {largest}); larger households are counted up to the threshold. Noise is "
        "not part of this picture."
    )


def size_numbers(tables: Sequence[TableTruncation]) -> Table:
    """Return the data table, one row per row of the picture."""
    headers = ("Table", "Household", "Households", "People", "Left out, people", "Left out, %")
    return Table(
        headers,
        tuple(
            (found.table, label, each.households, each.persons, each.cut, 100 * each.cut / max(1, each.persons))
            for found in tables
            for label, each in found.rows
        ),
    )


def bias_title(query: QueryKey, cells: Sequence[CellBias]) -> str:
    """Return the finding: the largest mean bias against the margin of the noise.

    Args:
        query: whose cells.
        cells: with bias and margin.
    """
    worst = max(cells, key=lambda cell: abs(cell.mean_bias))
    if not any(cell.largest_bias for cell in cells):
        return f"{query.title}: truncation changes no number"
    return (
        f"{query.title}: truncation takes {bias_words(abs(worst.mean_bias)).lstrip('+')} people on average from {shortened(worst.label)}; "
        f"the noise margin is ±{people(worst.margin)}"
    )


def bias_summary(query: QueryKey, cells: Sequence[CellBias]) -> str:
    """Return one sentence: what the two bars are and how many cells lose more than the noise hides.

    Args:
        query: whose cells.
        cells: with bias and margin.
    """
    larger = sum(1 for cell in cells if abs(cell.mean_bias) > cell.margin)
    return (
        f"Truncation bias (the same in every trial) and margin of the noise, side by side for {len(cells)} "
        f"{'cell' if len(cells) == 1 else 'cells'} of {query.title}; in {larger or 'none'} of them the bias is the larger one."
    )


def bias_numbers(cells: Sequence[CellBias]) -> Table:
    """Return the data table."""
    headers = (
        "Cell",
        "Numbers",
        "True count, mean",
        "Truncation bias, mean people",
        "Truncation bias, largest",
        "Noise margin, ± people",
    )
    return Table(
        headers,
        tuple(
            (cell.label, cell.numbers, cell.true_mean, cell.mean_bias, cell.largest_bias, cell.margin) for cell in cells
        ),
    )


NOT_TRUNCATED = "This table counts housing units: it has no truncation threshold and no truncation bias."
_BIAS = KeyEntry(Box(0, 1, -0.4, 0.4, Role.MISSED, Fill.HATCHED), "truncation, the same in every trial")
_NOISE = KeyEntry(Box(0, 1, -0.4, 0.4, Role.MAIN, Fill.SOFT), "margin of the noise")


def sizes_figure(tables: Sequence[TableTruncation], identity: str = "sizes") -> Figure:
    """Return the people thresholds leave out, by household size.

    Args:
        tables: none where a table has no threshold.
        identity: short name for files.
    """
    if not tables:
        return nothing(identity, NOT_TRUNCATED)
    marks = []
    for found in tables:
        for label, each in found.rows:
            homes = f"{grouped(each.households)} {'household' if each.households == 1 else 'households'}"
            text = f"{grouped(each.cut)} of {grouped(each.persons)} people, {homes}" if each.cut else f"nobody, {homes}"
            parts = (Box(0.0, each.cut, 0.3, -0.3, Role.MISSED, Fill.HATCHED),) if each.cut else ()
            group = found.table if len(tables) > 1 else ""
            marks.append(Mark(parts=parts, group=group, name=label, text=text, tip=f"{label}: {text}"))
    largest = max((each.cut for found in tables for each in found.sizes), default=0)
    return Figure(
        identity,
        size_title(tables),
        size_summary(tables),
        Axis("people left out", domain=(0.0, float(max(largest, 1))), text=whole_text),
        ROWS,
        tuple(marks),
        partial(size_numbers, tables),
        stretch=1.7 if len(tables) == 1 else 1.2,
        is_striped=len(tables) > 1,
    )


def sizes_of(entry: Mapping[str, Any], table: TableId) -> TableTruncation:
    """Return what a threshold costs a table, of an entry of the run's files.

    Args:
        entry: see `metrics.summary.truncation_by_size`.
        table: as it is called; a derived table has the entry of its source.
    """
    sizes = tuple(SizeCut(row["size"], row["households"], row["persons"], row["cut"]) for row in entry["sizes"])
    return TableTruncation(table, entry["tau"], sizes, entry["or_larger"])


def levels_figure(levels: Sequence[LevelResult]) -> Figure:
    """Return truncation bias and noise of every truncated query, both as root mean squares; keys are queries.

    Args:
        levels: of measured tables with a threshold; none gives an empty figure.
    """
    if not levels:
        return nothing("bias-by-level", NOT_TRUNCATED)
    larger = [level for level in levels if level.noise_size < level.bias_rmse]
    title = f"Noise outweighs truncation bias in all {len(levels)} truncated queries"
    if larger:
        worst = max(larger, key=lambda level: level.bias_rmse / max(level.noise_size, 1e-9))
        title = (
            f"Truncation costs more than noise in {len(larger)} of {len(levels)} truncated queries, most of all "
            f"{worst.query.title}: {people(worst.bias_rmse)} against {people(worst.noise_size)}"
        )
    return Figure(
        "bias-by-level",
        title,
        "Root mean square over areas, groups and cells of truncation bias (square) and noise (dot). Truncation is the same in every "
        "trial and no margin of error covers it.",
        Axis(f"{PEOPLE_OR_HOUSEHOLDS}, root mean square", Scale.LOG, text=people, floor=0.1, most=12),
        ROWS,
        tuple(_level_mark(level) for level in levels),
        Table(
            ("Table", "Level", "Counted", "Truncation bias", "Noise"),
            tuple(
                (
                    each.query.table,
                    each.query.level.title,
                    counted_in(each.query.table),
                    each.bias_rmse,
                    each.noise_size,
                )
                for each in levels
            ),
        ),
        key=(KeyEntry(_NOISE_DOT, "noise"), KeyEntry(_BIAS_DOT, "truncation bias")),
        stretch=1.0,
        is_striped=True,
    )


_NOISE_DOT = Dot(0.5, ink=Role.MAIN)
_BIAS_DOT = Dot(0.5, ink=Role.MISSED, shape=Shape.SQUARE)


def _level_mark(level: LevelResult) -> Mark:
    bias, noise = level.bias_rmse, level.noise_size
    parts = (Span(noise, bias, ink=Role.REFERENCE), replace(_NOISE_DOT, x=noise), replace(_BIAS_DOT, x=bias))
    tip = f"{level.query.title}: truncation bias {people(bias)}, noise {people(noise)} {counted_in(level.query.table)}"
    text = "" if bias else "no truncation bias"
    return Mark(tuple(level.query.text.split("/")), parts, level.query.table, level.query.level.title, text, tip)


def cells_figure(query: QueryKey, cells: Sequence[CellBias]) -> Figure:
    """Return truncation bias and margin of the noise as two bars per cell.

    Args:
        query: table and level.
        cells: one row each; none gives an empty figure.
    """
    if not cells:
        return nothing("bias", "")
    largest = max(max(abs(cell.mean_bias), abs(cell.largest_bias), cell.margin) for cell in cells)
    return Figure(
        "bias",
        bias_title(query, cells),
        bias_summary(query, cells),
        Axis("people", domain=(0.0, max(largest, 1.0)), text=whole_text),
        ROWS,
        tuple(_cell_mark(cell) for cell in cells),
        partial(bias_numbers, tuple(cells)),
        key=(_BIAS, _NOISE),
        stretch=1.7,
    )


def _cell_mark(cell: CellBias) -> Mark:
    words = f"truncation {bias_words(cell.mean_bias)}"
    if cell.numbers > 1 and cell.largest_bias:
        words += f", at most {signed_people(cell.largest_bias)}"
    parts: list[Part] = [
        Box(0.0, abs(cell.mean_bias), 0.0, -0.38, Role.MISSED, Fill.HATCHED),
        Box(0.0, cell.margin, 0.38, 0.03, Role.MAIN, Fill.SOFT),
    ]
    if abs(cell.largest_bias) > abs(cell.mean_bias):
        parts.append(Span(abs(cell.mean_bias), abs(cell.largest_bias), -0.19, Role.MISSED, cap=4.0))
    text = f"{words}; noise ±{people(cell.margin)}"
    return Mark(parts=tuple(parts), name=cell.label, text=text, tip=f"{cell.label}: {text}")
