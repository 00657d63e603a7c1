"""The numbers a run got most wrong, as values, each with the reason: truncation, noise, or both."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from phexplore.figures.axis import Axis, whole_text
from phexplore.figures.figure import ROWS, Figure, nothing
from phexplore.figures.marks import Box, Fill, Mark, Role
from phexplore.figures.table import Table, shortened
from phexplore.figures.wording import people, signed_people
from phexplore.model.keys import QueryKey


class Reason(enum.Enum):
    """Why a number is off. The value is the word in the table."""

    TRUNCATION = "truncation"
    BOTH = "truncation and noise"
    NOISE = "noise"
    UNUSUAL_NOISE = "unusually large noise"


@dataclass(frozen=True, slots=True)
class WorstNumber:
    """A published number and its errors, kinds apart.

    Attributes:
        query: table and level.
        region: name of the nation or state.
        group: words of the race or ethnicity group, "" for everybody.
        cell: words of the cell.
        key: region id, iteration code and cell code, to find it again.
        true: count without truncation and noise.
        bias: truncated − untruncated, people.
        mean_noise: mean size of the noise over trials, people.
        largest_error: total error farthest from 0, people.
        mean_error: mean size of the total error, people.
        margin: of the noise, people.
    """

    query: QueryKey
    region: str
    group: str
    cell: str
    key: tuple[str, str, int]
    true: int
    bias: int
    mean_noise: float
    largest_error: int
    mean_error: float
    margin: float

    @property
    def label(self) -> str:
        """Where it is published, in short."""
        return ", ".join(part for part in (self.region, self.group, self.cell) if part)

    @property
    def reason(self) -> Reason:
        """What made it wrong: the part that makes up most of the mean error, or noise beyond its margin on average."""
        if abs(self.bias) > 2 * self.mean_noise:
            return Reason.TRUNCATION
        if abs(self.bias) > self.mean_noise / 2:
            return Reason.BOTH
        return Reason.UNUSUAL_NOISE if self.mean_noise > self.margin else Reason.NOISE

    @property
    def explanation(self) -> str:
        """The reason with its numbers."""
        noise = f"noise {people(self.mean_noise)} people on average, margin ±{people(self.margin)}"
        match self.reason:
            case Reason.TRUNCATION:
                return f"truncation {signed_people(self.bias)} people in every trial; {noise}"
            case Reason.BOTH:
                return f"truncation {signed_people(self.bias)} people, and {noise}"
            case _:
                return noise + (f"; truncation {signed_people(self.bias)}" if self.bias else "; no truncation")


def worst_title(numbers: Sequence[WorstNumber]) -> str:
    """Return the finding: the worst number and why."""
    first = numbers[0]
    place = f"{first.query.table}, {first.region}" + (f", {shortened(first.group, 28)}" if first.group else "")
    return f"Worst: {place}, off by {people(first.mean_error)} people on average ({first.reason.value})"


def worst_summary(numbers: Sequence[WorstNumber], trials: int) -> str:
    """Return one sentence: how many are listed and how many of them truncation put there."""
    cut = sum(1 for each in numbers if each.reason in {Reason.TRUNCATION, Reason.BOTH})
    return (
        f"The {len(numbers)} published numbers with the largest mean error over {trials:,} "
        f"{'trial' if trials == 1 else 'trials'}, against production's exact count; truncation has a part in "
        f"{cut or 'none'} of them."
    )


def worst_numbers(numbers: Sequence[WorstNumber]) -> Table:
    """Return the data table, the worst first."""
    headers = (
        "Table",
        "Level",
        "Region",
        "Group",
        "Cell",
        "True count",
        "Mean error, people",
        "Truncation bias, people",
        "Mean noise, people",
        "Largest error, people",
        "Noise margin, ± people",
        "Reason",
    )
    return Table(
        headers,
        tuple(
            (
                each.query.table,
                each.query.level.title,
                each.region,
                each.group or "everybody",
                each.cell,
                each.true,
                each.mean_error,
                each.bias,
                each.mean_noise,
                each.largest_error,
                each.margin,
                each.reason.value,
            )
            for each in numbers
        ),
    )


def worst_figure(numbers: Sequence[WorstNumber], trials: int) -> Figure:
    """Return the worst numbers, the worst first, truncation and noise as two bars; keys are the numbers.

    Args:
        numbers: the worst first; none gives an empty figure.
        trials: how many the mean errors come from.
    """
    if not numbers:
        return nothing("worst", "")
    largest = max(max(abs(each.bias), each.mean_noise) for each in numbers)
    return Figure(
        "worst",
        worst_title(numbers),
        worst_summary(numbers, trials),
        Axis("people: truncation bias (hatched) and mean noise", domain=(0.0, max(largest, 1.0)), text=whole_text),
        ROWS,
        tuple(
            Mark(
                (*each.query.text.split("/"), *map(str, each.key)),
                (
                    Box(0.0, abs(each.bias), 0.0, -0.38, Role.MISSED, Fill.HATCHED),
                    Box(0.0, each.mean_noise, 0.38, 0.03, Role.MAIN, Fill.SOFT),
                ),
                each.query.table,
                each.label,
                each.reason.value,
                f"{each.query.title}\n{each.label}\n{each.explanation}",
            )
            for each in numbers
        ),
        partial(worst_numbers, tuple(numbers)),
        stretch=1.7,
    )
