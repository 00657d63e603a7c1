"""The numbers a run got most wrong, as values, each with the reason: truncation, noise, or both.

Args:
    numbers: the worst first.
    trials: of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from phexplore.catalog.tables import PEOPLE_OR_HOUSEHOLDS, counted_in
from phexplore.figures.axis import Axis, whole_text
from phexplore.figures.figure import ROWS, Figure, nothing
from phexplore.figures.marks import Box, Fill, Mark, Role
from phexplore.figures.table import Table, shortened
from phexplore.figures.wording import with_unit
from phexplore.systems.phsafe.run_snapshot import NumberResult, Reason


def worst_title(numbers: Sequence[NumberResult]) -> str:
    """Return the finding: the worst number and why."""
    first = numbers[0]
    place = f"{first.query.table}, {first.region}" + (f", {shortened(first.group, 28)}" if first.group else "")
    return f"Worst: {place}, off by {with_unit(first.mean_error, counted_in(first.query.table))} on average ({first.reason.value})"


def worst_summary(numbers: Sequence[NumberResult], trials: int) -> str:
    """Return one sentence: how many are listed and how many of them truncation put there.

    Args:
        numbers: the worst ones.
        trials: how many the run has.
    """
    cut = sum(1 for each in numbers if each.reason in {Reason.TRUNCATION, Reason.BOTH})
    why = (
        f"truncation makes up much of the error of {cut} of them" if cut else "truncation explains none of these errors"
    )
    return (
        f"The {len(numbers)} published numbers with the largest mean absolute error over {trials:,} {'trial' if trials == 1 else 'trials'}, "
        f"against production's exact count; a number that several tables repeat is listed once; {why}."
    )


def worst_numbers(numbers: Sequence[NumberResult], others: Sequence[float | None] = ()) -> Table:
    """Return the data table, the worst first; `others` are the mean absolute errors of the same numbers in another run, if any."""
    beside: list[tuple[float | None, ...]] = [(each,) for each in others] or [()] * len(numbers)
    headers = (
        "Table",
        "Mean absolute error",
        *(("Mean absolute error, other run",) if others else ()),
        "Counted",
        "Reason",  # with what is counted next to the error: the columns behind it scroll out of a narrow window
        "Region",
        "Group",
        "Cell",
        "True count",
        "Truncation bias",
        "Mean absolute noise",
        "Largest error",
        "Noise margin, ±",
        "Level",  # region and group say it: it stands last, where it takes no room from their names
    )
    return Table(
        headers,
        tuple(
            (
                each.query.table,
                each.mean_error,
                *theirs,
                counted_in(each.query.table),
                each.reason.value,
                each.region,
                each.group or "everybody",
                each.cell,
                each.untruncated,
                each.bias,
                each.mean_noise,
                each.largest_error,
                each.margin,
                each.query.level.title,
            )
            for each, theirs in zip(numbers, beside, strict=True)
        ),
    )


def worst_figure(numbers: Sequence[NumberResult], trials: int, others: Sequence[float | None] = ()) -> Figure:
    """Return the worst numbers, the worst first, truncation and noise as two bars; keys are the numbers.

    Args:
        numbers: the worst first; none gives an empty figure.
        trials: how many the mean errors come from.
        others: mean errors of the same numbers in the run that is compared with, none without one.
    """
    if not numbers:
        return nothing("worst", "")
    largest = max(max(abs(each.bias), each.mean_noise) for each in numbers)
    return Figure(
        "worst",
        worst_title(numbers),
        worst_summary(numbers, trials),
        Axis(
            f"{PEOPLE_OR_HOUSEHOLDS}: truncation bias (hatched) and mean noise",
            domain=(0.0, max(largest, 1.0)),
            text=whole_text,
        ),
        ROWS,
        tuple(
            Mark(
                each.key,
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
        partial(worst_numbers, tuple(numbers), tuple(others)),
        stretch=1.7,
    )
