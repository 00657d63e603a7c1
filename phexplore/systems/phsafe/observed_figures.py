"""Do the margins hold? Observed margins of a run with their Monte-Carlo intervals against the forecast, as figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import ROWS, Figure, nothing
from phexplore.figures.marks import Dash, Dot, Mark, Part, Path, Role, Rule, Shape, Span, Words
from phexplore.figures.scales import log_range
from phexplore.figures.table import Table, signed_tick
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
    """Return the data table."""
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


def difference_figure(margins: Sequence[ObservedMargin], confidence: Fraction, trials: int) -> Figure:
    """Return observed margins as differences to the forecast, one row per published query; keys are queries.

    Args:
        margins: in the order of Table 10; none gives an empty figure.
        confidence: of the margins.
        trials: how many the observed ones come from.
    """
    if not margins:
        return nothing("observed", "")
    reach = percent_range(margins)
    return Figure(
        "observed",
        observed_title(margins),
        observed_summary(margins, confidence, trials),
        Axis("observed margin compared with the expected one, percent", domain=(-reach, reach), text=_off_text),
        ROWS,
        tuple(_row(each, reach) for each in margins),
        partial(observed_numbers, tuple(margins)),
        under=(Rule(x=0.0, ink=Role.TEXT, width=1.6, dash=Dash.SOLID),),
        stretch=1.0,
        is_striped=True,
    )


def _off_text(value: float) -> str:
    return f"{signed_tick(value)} %" if value else "as expected"


def _row(each: ObservedMargin, reach: float) -> Mark:
    def at(value: float) -> float:
        return min(max(each.percent_off(value), -reach), reach)

    ink = Role.MAIN if each.agrees else Role.MISSED
    parts: list[Part] = []
    if each.compared is not None:
        parts.append(Dot(at(each.compared), ink=Role.REFERENCE, is_hollow=True))
    parts.append(Span(at(each.observed.low), at(each.observed.high), ink=ink, width=2.0))
    parts.append(Dot(at(each.observed.value), ink=ink, shape=Shape.DISC if each.agrees else Shape.DIAMOND))
    return Mark(
        tuple(each.query.text.split("/")),
        tuple(parts),
        each.query.table,
        each.query.level.title,
        "" if each.agrees else f"{people(each.observed.value)} against {people(each.expected)}",
        _told(each),
        anchor=at(each.observed.high),
        ink=Role.MISSED,
    )


def _told(each: ObservedMargin) -> str:
    return (
        f"{each.query.title}\nobserved {people(each.observed.value)} people "
        f"({people(each.observed.low)}–{people(each.observed.high)})\nexpected {people(each.expected)}\n{each.errors:,} errors"
    )


def diagonal_figure(margins: Sequence[ObservedMargin], confidence: Fraction, trials: int) -> Figure:
    """Return observed margins against expected ones with the 1 : 1 line; keys are queries.

    Args:
        margins: in the order of Table 10; none gives an empty figure.
        confidence: of the margins.
        trials: how many the observed ones come from.
    """
    if not margins:
        return nothing("observed-against-expected", "")
    values = [
        value for each in margins for value in (each.expected, each.observed.low, each.observed.high) if value >= 0.5
    ]
    low, high = (10**end for end in log_range(values))
    middle = low * (high / low) ** 0.55
    return Figure(
        "observed-against-expected",
        observed_title(margins),
        observed_summary(margins, confidence, trials),
        Axis("expected margin, people", Scale.LOG, (low, high), people, most=12),
        Axis("observed margin, people", Scale.LOG, (low, high), people, most=12),
        tuple(_point(each) for each in margins),
        partial(observed_numbers, tuple(margins)),
        under=(
            Path((low, high), (low, high), Role.MUTED, 1.4, Dash.DASHED),
            Words(middle, middle, "as expected (1 : 1)", Role.MUTED, shift=14, rise=-1.0),
        ),
    )


def _point(each: ObservedMargin) -> Mark:
    ink = Role.MAIN if each.agrees else Role.MISSED
    x = each.expected
    parts: list[Part] = [
        Path((x, x), (each.observed.low, each.observed.high), ink, 1.8),
        Dot(x, each.observed.value, ink, Shape.DISC if each.agrees else Shape.DIAMOND),
    ]
    if not each.agrees:
        words = f"{each.query.title} {signed_percent(each.percent_off(each.observed.value))}"
        parts.append(Words(x, each.observed.value, words, shift=11))
    return Mark(tuple(each.query.text.split("/")), tuple(parts), tip=_told(each))
