"""What the truncation chart shows, as values: people cut per household size, bias per cell beside the noise margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """Return the table twin, one row per row of the picture."""
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
    """Return the table twin."""
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
