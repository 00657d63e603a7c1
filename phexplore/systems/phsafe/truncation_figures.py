"""What does truncation cost? People cut per household size, bias per cell beside the noise margin, as figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from phexplore.figures.axis import Axis, whole_text
from phexplore.figures.figure import ROWS, Figure, KeyEntry, nothing
from phexplore.figures.marks import Box, Fill, Mark, Part, Role, Span
from phexplore.figures.table import Table, grouped, shortened
from phexplore.figures.wording import people, signed_people
from phexplore.model.keys import QueryKey, TableId


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


def size_title(found: TableTruncation) -> str:
    """Return the finding: how many people of how many households are left out."""
    if not found.cut:
        return f"{found.table}: τ = {found.threshold} leaves nobody out"
    share = found.cut / found.persons * 100
    least = "at least " if any(each.cut and each.size == found.or_larger for each in found.sizes) else ""
    return (
        f"{found.table}: τ = {found.threshold} leaves out {least}{grouped(found.cut)} people "
        f"({share:.2g} %) of {grouped(found.cut_households)} households"
    )


def size_summary(found: TableTruncation) -> str:
    """Return one sentence: whom the table counts and who is cut."""
    largest = max((each.size for each in found.sizes), default=0)
    return (
        f"{grouped(found.persons)} people that {found.table} counts, by the number of them in a household (up to "
        f"{largest}); households above τ = {found.threshold} keep {found.threshold}. Noise is not part of this picture."
    )


def size_numbers(found: TableTruncation) -> Table:
    """Return the data table, one row per row of the picture."""
    headers = ("Household", "Households", "People", "Left out, people", "Left out, %")
    return Table(
        headers,
        tuple(
            (label, each.households, each.persons, each.cut, each.cut / each.persons * 100 if each.persons else 0.0)
            for label, each in found.rows
        ),
    )


def bias_title(query: QueryKey, cells: Sequence[CellBias]) -> str:
    """Return the finding: the largest mean bias against the margin of the noise."""
    worst = max(cells, key=lambda cell: abs(cell.mean_bias))
    if not any(cell.largest_bias for cell in cells):
        return f"{query.title}: truncation changes no number"
    return (
        f"{query.title}: truncation takes {bias_words(abs(worst.mean_bias)).lstrip('+')} people on average from {shortened(worst.label)}; "
        f"the noise margin is ±{people(worst.margin)}"
    )


def bias_summary(query: QueryKey, cells: Sequence[CellBias]) -> str:
    """Return one sentence: what the two bars are and how many cells lose more than the noise hides."""
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


def sizes_figure(found: TableTruncation | None) -> Figure:
    """Return the people a threshold leaves out, by household size; none for a table without a threshold."""
    if found is None:
        return nothing("sizes", NOT_TRUNCATED)
    marks = []
    for label, each in found.rows:
        homes = f"{grouped(each.households)} {'household' if each.households == 1 else 'households'}"
        text = f"{grouped(each.cut)} of {grouped(each.persons)} people, {homes}" if each.cut else f"nobody, {homes}"
        parts = (Box(0.0, each.cut, 0.3, -0.3, Role.MISSED, Fill.HATCHED),) if each.cut else ()
        marks.append(Mark(parts=parts, name=label, text=text, tip=f"{label}: {text}"))
    largest = max((each.cut for each in found.sizes), default=0)
    return Figure(
        "sizes",
        size_title(found),
        size_summary(found),
        Axis("people left out", domain=(0.0, float(max(largest, 1))), text=whole_text),
        ROWS,
        tuple(marks),
        partial(size_numbers, found),
        stretch=1.7,
    )


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
