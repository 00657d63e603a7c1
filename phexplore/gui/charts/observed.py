"""What the observed-margin chart shows, as values: simulated margins with their Monte-Carlo error against the forecast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from phexplore.figures.table import Table
from phexplore.figures.wording import people
from phexplore.metrics.coverage import INTERVAL_CONFIDENCE, Interval
from phexplore.model.keys import QueryKey


@dataclass(frozen=True, slots=True)
class ObservedMargin:
    """One published table and level of a run.

    Attributes:
        query: which one.
        expected: the forecast's margin by the scenario's convention, people.
        band: smallest and largest of the three conventions, people.
        observed: quantile of the noise errors' sizes with its Monte-Carlo interval, people.
        errors: how many errors it comes from.
        compared: the same figure of the run compared with, None without one.
    """

    query: QueryKey
    expected: float
    band: tuple[float, float]
    observed: Interval
    errors: int
    compared: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether the Monte-Carlo interval meets the band of the conventions."""
        return self.observed.low <= self.band[1] and self.observed.high >= self.band[0]

    def percent_off(self, value: float) -> float:
        """Return how far a margin is from the expected one, in percent of it; 0 where both are 0."""
        if self.expected == 0:
            return 0.0 if value == 0 else math.inf
        return (value / self.expected - 1) * 100


def observed_title(margins: Sequence[ObservedMargin]) -> str:
    """Return the finding: how many observed margins agree with the forecast, and how many would miss by chance."""
    agreeing = sum(1 for each in margins if each.agrees)
    chance = len(margins) * (1 - INTERVAL_CONFIDENCE)
    if agreeing == len(margins):
        return f"All {agreeing} observed margins agree with the forecast"
    return (
        f"{agreeing} of {len(margins)} observed margins agree with the forecast "
        f"(about {max(1, round(chance))} would miss by chance)"
    )


def observed_summary(margins: Sequence[ObservedMargin], confidence: Fraction, trials: int) -> str:
    """Return one sentence: what is compared, over how many trials, and the largest difference."""
    finite = [each for each in margins if math.isfinite(each.percent_off(each.observed.value))]
    text = (
        f"Observed {float(confidence) * 100:g} % margins of the noise over {trials:,} "
        f"{'trial' if trials == 1 else 'trials'}, with 95 % Monte-Carlo intervals"
    )
    if finite:
        worst = max(finite, key=lambda each: abs(each.percent_off(each.observed.value)))
        text += (
            f"; the largest difference is {signed_percent(worst.percent_off(worst.observed.value))} at "
            f"{worst.query.title} ({people(worst.observed.value)} against {people(worst.expected)} people)"
        )
    return text + "."


def observed_numbers(margins: Sequence[ObservedMargin]) -> Table:
    """Return the table twin."""
    compared = any(each.compared is not None for each in margins)
    headers = (
        "Table",
        "Level",
        "Expected, people",
        "Observed, people",
        "95 % interval from",
        "to",
        "Difference, %",
        "Agrees",
        "Errors",
        *(("Other run, people",) if compared else ()),
    )
    return Table(
        headers,
        tuple(
            (
                each.query.table,
                each.query.level.title,
                each.expected,
                each.observed.value,
                each.observed.low,
                each.observed.high,
                each.percent_off(each.observed.value),
                "yes" if each.agrees else "no",
                each.errors,
                *((each.compared,) if compared else ()),
            )
            for each in margins
        ),
    )


def signed_percent(value: float) -> str:
    """Return a difference in percent with its sign."""
    return ("+" if value > 0 else "−" if value < 0 else "") + f"{abs(value):.1f} %"


def percent_range(margins: Sequence[ObservedMargin]) -> float:
    """Return how many percent the axis reaches to each side: all intervals where they are sensible, 1 to 100."""
    ends = [
        abs(each.percent_off(value))
        for each in margins
        for value in (each.observed.low, each.observed.high, each.observed.value)
    ]
    finite = [end for end in ends if math.isfinite(end)]
    return min(100.0, max(1.0, 1.1 * max(finite, default=1.0)))
