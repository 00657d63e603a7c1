"""Do the margins hold? Observed margins of a run with their Monte-Carlo intervals against the forecast, as figures.

Args:
    margins: of measured queries, in the order of Table 10.
    confidence: of the margins.
    trials: of the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

from phexplore.catalog.tables import PEOPLE_OR_HOUSEHOLDS, counted_in, tables
from phexplore.figures.axis import Axis, Scale, percent_text
from phexplore.figures.figure import ROWS, Figure, nothing, row_figure
from phexplore.figures.marks import Dash, Dot, Mark, Part, Path, Role, Row, Rule, Shape, Span, Words
from phexplore.figures.scales import log_range
from phexplore.figures.table import Table, Value, signed_tick
from phexplore.figures.wording import people
from phexplore.metrics.coverage import INTERVAL_CONFIDENCE
from phexplore.model.rounded import Toward, percent
from phexplore.systems.phsafe.run_snapshot import Overall, QueryResult


def observed_title(margins: Sequence[QueryResult]) -> str:
    """Return the finding: how many observed margins agree with the forecast, and how many would miss by chance."""
    agreeing = sum(1 for each in margins if each.agrees)
    chance = len(margins) * (1 - INTERVAL_CONFIDENCE)
    if agreeing == len(margins):
        endless = sum(1 for each in margins if not math.isfinite(each.observed.high))
        doubt = f"; trials are too few to bound {endless} of them from above" if endless else ""
        return f"All {agreeing} observed margins agree with the forecast{doubt}"
    return (
        f"{agreeing} of {len(margins)} observed margins agree with the forecast "
        f"(about {max(1, round(chance))} would miss by chance)"
    )


def observed_summary(margins: Sequence[QueryResult], confidence: Fraction, trials: int) -> str:
    """Return one sentence: what is compared, over how many trials, and the largest difference.

    Args:
        margins: observed beside forecast.
        confidence: of the margins.
        trials: how many the run has.
    """
    finite = [each for each in margins if math.isfinite(each.percent_off(each.observed.value))]
    text = (
        f"Observed {float(confidence) * 100:g} % margins of the noise over {trials:,} "
        f"{'trial' if trials == 1 else 'trials'}, with 95 % Monte-Carlo intervals"
    )
    if finite:
        worst = max(finite, key=lambda each: abs(each.percent_off(each.observed.value)))
        text += (
            f"; the largest difference is {signed_percent(worst.percent_off(worst.observed.value))} at "
            f"{worst.query.title} ({people(worst.observed.value)} against {people(worst.margin)} {counted_in(worst.query.table)})"
        )
    return text + "."


def observed_numbers(margins: Sequence[QueryResult]) -> Table:
    """Return the data table."""
    compared = any(each.compared is not None for each in margins)
    headers = (
        "Table",
        "Level",
        "Counted",
        "Expected",
        "Observed",
        "95 % interval from",
        "to",
        "Difference, %",
        "Agrees",
        "Errors",
        *(("Other run",) if compared else ()),
    )
    return Table(
        headers,
        tuple(
            (
                each.query.table,
                each.query.level.title,
                counted_in(each.query.table),
                each.margin,
                each.observed.value,
                each.observed.low,
                each.observed.high,
                each.percent_off(each.observed.value),
                "yes" if each.agrees else "no",
                each.coverage.errors,
                *((each.compared,) if compared else ()),
            )
            for each in margins
        ),
    )


def signed_percent(value: float) -> str:
    """Return a difference in percent with its sign."""
    return ("+" if value > 0 else "−" if value < 0 else "") + f"{abs(value):.1f} %"


def percent_range(margins: Sequence[QueryResult]) -> float:
    """Return how many percent the axis reaches to each side: all intervals where they are sensible, 1 to 100."""
    ends = [
        abs(each.percent_off(value))
        for each in margins
        for value in (each.observed.low, each.observed.high, each.observed.value)
    ]
    finite = [end for end in ends if math.isfinite(end)]
    return min(100.0, max(1.0, 1.1 * max(finite, default=1.0)))


def difference_figure(margins: Sequence[QueryResult], confidence: Fraction, trials: int) -> Figure:
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


def _row(each: QueryResult, reach: float) -> Mark:
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
        "; ".join(_beside(each, reach)),
        _told(each),
        anchor=at(each.observed.high),
        ink=Role.MISSED,
    )


def _beside(each: QueryResult, reach: float) -> Iterator[str]:
    """Yield what stands beside a row: both margins where they differ, and where an interval ends that leaves the picture."""
    if not each.agrees:
        yield f"{people(each.observed.value)} against {people(each.margin)}"
    if (end := each.percent_off(each.observed.high)) > reach:
        yield f"interval to {signed_percent(end)} →" if math.isfinite(end) else "interval without an end →"


def _told(each: QueryResult) -> str:
    return (
        f"{each.query.title}\nobserved {people(each.observed.value)} {counted_in(each.query.table)} "
        f"({people(each.observed.low)}–{people(each.observed.high)})\nexpected {people(each.margin)}\n{each.coverage.errors:,} errors"
    )


def diagonal_figure(margins: Sequence[QueryResult], confidence: Fraction, trials: int) -> Figure:
    """Return observed margins against expected ones with the 1 : 1 line; keys are queries.

    Args:
        margins: in the order of Table 10; none gives an empty figure.
        confidence: of the margins.
        trials: how many the observed ones come from.
    """
    if not margins:
        return nothing("observed-against-expected", "")
    values = [
        value for each in margins for value in (each.margin, each.observed.low, each.observed.high) if value >= 0.5
    ]
    low, high = (10**end for end in log_range(values))
    middle = low * (high / low) ** 0.55
    return Figure(
        "observed-against-expected",
        observed_title(margins),
        observed_summary(margins, confidence, trials),
        Axis(f"expected margin, {PEOPLE_OR_HOUSEHOLDS}", Scale.LOG, (low, high), people, most=12),
        Axis(f"observed margin, {PEOPLE_OR_HOUSEHOLDS}", Scale.LOG, (low, high), people, most=12),
        tuple(_point(each, high) for each in margins),
        partial(observed_numbers, tuple(margins)),
        under=(
            Path((low, high), (low, high), Role.MUTED, 1.4, Dash.DASHED),
            Words(middle, middle, "as expected (1 : 1)", Role.MUTED, shift=14, rise=-1.0),
        ),
    )


def _point(each: QueryResult, top: float) -> Mark:
    ink = Role.MAIN if each.agrees else Role.MISSED
    x = each.margin
    parts: list[Part] = [
        Path((x, x), (each.observed.low, min(each.observed.high, top)), ink, 1.8),
        Dot(x, each.observed.value, ink, Shape.DISC if each.agrees else Shape.DIAMOND),
    ]
    if not each.agrees:
        words = f"{each.query.title} {signed_percent(each.percent_off(each.observed.value))}"
        parts.append(Words(x, each.observed.value, words, shift=11))
    return Mark(tuple(each.query.text.split("/")), tuple(parts), tip=_told(each))


def coverage_figure(margins: Sequence[QueryResult], confidence: Fraction, overall: Overall) -> Figure:
    """Return how often every margin held with its Monte-Carlo interval, and a stroke where it does exactly; keys are queries.

    Args:
        margins: in the order of Table 10.
        confidence: of the margins.
        overall: coverage of all of them together.
    """
    rows, table = list[Row](), list[tuple[Value, ...]]()
    for each in margins:
        share = each.coverage.share
        within, low, high = (percent(part, places=2) for part in (share.value, share.low, share.high))
        tip = f"{each.query.title}: {within} ({low} to {high}), exactly {percent(each.expected_coverage, places=2)}"
        key, level = tuple(each.query.text.split("/")), each.query.level.title
        rows.append(
            Row(
                key, each.query.table, level, share.value, share.low, share.high, tick=each.expected_coverage,
                text="" if each.is_expected else within, tip=tip, is_warned=not each.is_expected,
            )
        )  # fmt: skip
        percents = (100 * value for value in (share.value, share.low, share.high, each.expected_coverage))
        table.append((each.query.table, level, *percents, each.coverage.errors))
    outside = sum(row.is_warned for row in rows)
    held, doubt = overall.coverage.share.value, overall.doubt
    lowest = math.floor(10 * min(min(each.coverage.share.low, each.expected_coverage) for each in margins)) / 10
    derived = ", ".join(f"{each.id} from {each.derived_from}" for each in tables().values() if each.derived_from)
    sound = abs(held - overall.expected) <= 4 * doubt
    return row_figure(
        "coverage",
        tuple(rows),
        Axis("share of the noise within the margin", domain=(lowest, 1.0), text=percent_text),
        f"The {float(confidence) * 100:g} % margins contained {percent(held, places=2)} of the noise (standard error {percent(doubt, places=2, toward=Toward.UP)}), "
        + (
            f"as they should ({percent(overall.expected, places=2)})"
            if sound
            else f"but should hold {percent(overall.expected, places=2)}"
        ),
        f"Dot with its 95 % Monte-Carlo interval, the exact share as a stroke. Outside their interval{' (amber)' if outside else ''}: {outside or 'none'}; about "
        f"{len(rows) * (1 - INTERVAL_CONFIDENCE):.0f} are to be expected by chance. "
        f"Numbers that are computed from others ({derived}) have no noise of their own and are not counted.",
        Table(
            ("Table", "Level", "Within the margin, %", "95 % interval from", "to", "Exactly, %", "Errors"), tuple(table)
        ),
    )
