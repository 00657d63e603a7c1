"""How wrong will published numbers be? The errors of a run with the exact noise over them, as figures.

Args:
    sample: the errors.
    other: errors of the same numbers in the run that is compared with, None for none.
    points: of the grid.
    noise: the exact one.
    values: whole numbers x, ``int[values]``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.tables import PEOPLE_OR_HOUSEHOLDS, counted_in
from phexplore.figures.axis import Axis, Tick, percent_text, whole_text
from phexplore.figures.figure import ROWS, Figure, KeyEntry, RowLabel
from phexplore.figures.marks import Box, Dash, Dot, Fill, Mark, Part, Path, Role, Rule, Span, Stroke, Words
from phexplore.figures.scales import nice_at_least
from phexplore.figures.table import Table, Value, grouped
from phexplore.figures.wording import people
from phexplore.metrics.coverage import INTERVAL_CONFIDENCE, Coverage, coverage_of
from phexplore.model.keys import LEVELS, QueryKey
from phexplore.model.rounded import percent
from phexplore.noise.distributions import Noise, NoNoise

_OTHER_INK = 1
"""A series of its own: the grey of a reference is lost before the grey of the 95 % range."""
BINS_PER_SIGMA = 4
REACH_SIGMAS = 3.6
"""How far the axis reaches at least, in σ of the noise: 0.03 % of the errors lie beyond."""
_MOST_WIDENED = 3.0
"""How many times as far the axis reaches for another run: what is looked at stays readable."""

Errors = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ErrorSample:
    """The noise errors of one group of published numbers: noisy − truncated, truncation bias not included.

    Attributes:
        query: the measured table and level.
        label: which cells, e.g. "all cells" or the words of one cell.
        errors: ``int64[n]``, in people, pooled over regions, iterations and trials; n > 0.
        noise: exact distribution of each error; None when the run added none.
        margin: in people, by the scenario's convention.
        confidence: of that margin.
        trials: how many trials the errors come from.
    """

    query: QueryKey
    label: str
    errors: Errors
    noise: Noise | None
    margin: float
    confidence: Fraction
    trials: int

    @property
    def name(self) -> str:
        """Words for headings, e.g. ``PH3 (State, A-G), all cells``."""
        return f"{self.query.title}, {self.label}"

    @property
    def unit(self) -> str:
        """What the errors count, e.g. people or families."""
        return counted_in(self.query.table)

    @property
    def largest(self) -> int:
        """Size of the error farthest from 0."""
        return int(np.max(np.abs(self.errors)))

    @property
    def coverage(self) -> Coverage:
        """How many errors lie within the margin."""
        return coverage_of(int(np.count_nonzero(np.abs(self.errors) <= self.margin)), len(self.errors))

    @property
    def expected_coverage(self) -> float:
        """Exact probability of the margin; whole numbers make it differ from the confidence."""
        return float(self.confidence) if self.noise is None else self.noise.coverage(math.floor(self.margin))

    @property
    def quantiles(self) -> list[float]:
        """Smallest, low, lower quartile, median, upper quartile, high, largest; low and high compare with the margin."""
        tail = float((1 - self.confidence) / 2)
        found: list[float] = np.quantile(self.errors, [0, tail, 0.25, 0.5, 0.75, 1 - tail, 1]).tolist()
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Shares of errors in bins of whole people, symmetric around 0.

    Attributes:
        edges: ``float64[bins + 1]``; bin i holds the integers between edge i and edge i + 1, which end in ½.
        shares: ``float64[bins]``, observed.
        expected: ``float64[bins]``, of the exact noise; empty without noise.
        low: ``float64[bins]``; lower end of the 95 % range of an observed share.
        high: ``float64[bins]``; upper end.
        others: ``float64[bins]``, observed in the other run; empty without one.
    """

    edges: NDArray[np.float64]
    shares: NDArray[np.float64]
    expected: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    others: NDArray[np.float64]

    @property
    def width(self) -> int:
        """Whole people per bin, odd."""
        return round(float(self.edges[1] - self.edges[0]))


@dataclass(frozen=True, slots=True, eq=False)
class Cumulated:
    """Share of errors up to a value, observed and exact, on a grid of values.

    Attributes:
        values: ``float64[points]``, in people.
        shares: ``float64[points]``, observed P(error ≤ value).
        expected: ``float64[points]``, of the exact noise; empty without noise.
        band: half-width of the 95 % band around the expected curve (Dvoretzky, Kiefer, Wolfowitz; Massart 1990).
        others: ``float64[points]``, observed in the other run; empty without one.
    """

    values: NDArray[np.float64]
    shares: NDArray[np.float64]
    expected: NDArray[np.float64]
    band: float
    others: NDArray[np.float64]


def histogram(sample: ErrorSample, other: ErrorSample | None = None) -> Histogram:
    """Return the histogram of a sample; its bins depend on the noise, so they stay while trials arrive."""
    edges = bin_edges(sample, other)
    counts, _ = np.histogram(sample.errors, edges)
    total = len(sample.errors)
    shares, nothing = counts / total, np.empty(0)
    others = nothing if other is None else np.histogram(other.errors, edges)[0] / len(other.errors)
    if sample.noise is None:
        return Histogram(edges, shares, nothing, nothing, nothing, others)
    below = cumulated_noise(sample.noise, [int(edge - 0.5) for edge in edges])
    expected = np.diff(below)
    reach = NormalDist().inv_cdf((1 + INTERVAL_CONFIDENCE) / 2) * np.sqrt(expected * (1 - expected) / total)
    return Histogram(edges, shares, expected, np.maximum(0, expected - reach), expected + reach, others)


def bin_edges(sample: ErrorSample, other: ErrorSample | None = None) -> NDArray[np.float64]:
    """Return ``float64[bins + 1]`` edges halfway between whole numbers, symmetric around 0, bins of an odd width.

    Errors of the other run that are very much larger lie outside.
    """
    sigma = _spread(sample)
    width = 2 * int(nice_at_least(max(sigma / BINS_PER_SIGMA, 1.0)) // 2) + 1
    reach = _reach(sample)
    if other is not None:
        reach = max(reach, min(_reach(other), _MOST_WIDENED * reach))
    half = math.ceil(reach / width)
    return np.asarray((np.arange(-half, half + 2) - 0.5) * width, dtype=np.float64)


def _reach(sample: ErrorSample) -> float:
    sigma = _spread(sample)
    far = min(sample.largest, 2 * REACH_SIGMAS * max(sigma, 1.0))
    return max(REACH_SIGMAS * sigma, far, 1.2 * sample.margin, 1.0)


def cumulated(sample: ErrorSample, other: ErrorSample | None = None, points: int = 160) -> Cumulated:
    """Return observed and exact cumulated shares on a grid of whole people."""
    edges = bin_edges(sample, other)
    values = np.unique(np.rint(np.linspace(edges[0], edges[-1], points)))
    total = len(sample.errors)
    shares = _shares_up_to(values, sample)
    others = np.empty(0) if other is None else _shares_up_to(values, other)
    expected = np.empty(0)
    if sample.noise is not None:
        expected = cumulated_noise(sample.noise, [int(value) for value in values])
    band = math.sqrt(math.log(2 / (1 - INTERVAL_CONFIDENCE)) / (2 * total))
    return Cumulated(values, shares, expected, band, others)


def _shares_up_to(values: NDArray[np.float64], sample: ErrorSample) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.searchsorted(np.sort(sample.errors), values, side="right") / len(sample.errors)
    return found


def cumulated_noise(noise: Noise, values: Sequence[int]) -> NDArray[np.float64]:
    """Return P(X ≤ x) of the exact noise, ``float64[n]``, from its coverage and its symmetry around 0.

    Args:
        noise: distribution of X.
        values: whole numbers x.
    """
    return np.array(
        [(1 + noise.coverage(value)) / 2 if value >= 0 else (1 - noise.coverage(-value - 1)) / 2 for value in values],
        dtype=np.float64,
    )


def _spread(sample: ErrorSample) -> float:
    if sample.noise is not None and not isinstance(sample.noise, NoNoise):
        return math.sqrt(sample.noise.variance())
    return float(np.std(sample.errors))


def distribution_title(sample: ErrorSample) -> str:
    """Return the finding: the share of errors within the margin, with its Monte-Carlo error, against what is exact."""
    if not sample.largest:
        return f"{sample.name}: every error is 0, no noise was added"
    found = sample.coverage
    points = found.standard_error * 100
    error = f"; standard error {points:.{'1f' if points >= 0.05 else '1g'}}" if points else ""
    return (
        f"{sample.name}: {found.share.value * 100:.1f} % of {len(sample.errors):,} errors lie within ±{people(sample.margin)} {sample.unit}"
        f" (expected {sample.expected_coverage * 100:.1f} %{error})"
    )


def distribution_summary(sample: ErrorSample, other: ErrorSample | None = None) -> str:
    """Return whose noise errors, how many, their mean and largest size, and how many of the other run's are within its margin."""
    compared = ""
    if other is not None:
        compared = (
            f" Other run: {other.coverage.share.value * 100:.1f} % of {len(other.errors):,} errors within "
            f"±{people(other.margin)}, largest {people(other.largest)}."
        )
    return (
        f"Noise errors of {sample.name}: {len(sample.errors):,} errors from {sample.trials:,} "
        f"{'trial' if sample.trials == 1 else 'trials'}, mean {_signed(float(np.mean(sample.errors)))}, "
        f"largest {people(sample.largest)} {sample.unit}; truncation is not included.{compared}"
    )


def _signed(value: float) -> str:
    return ("+" if value > 0 else "−" if value < 0 else "") + f"{abs(value):.3g}"


def histogram_numbers(found: Histogram, unit: str) -> Table:
    """Return the data table of a histogram of errors.

    Args:
        found: of the picture.
        unit: what the errors count.
    """
    headers = (f"Error from, {unit}", f"Error to, {unit}", "Observed, %", "Expected, %", "95 % range from", "to")
    compared = found.others.size > 0
    rows: list[tuple[Value, ...]] = []
    for index, share in enumerate(found.shares):
        expected = found.expected.size > 0
        rows.append(
            (
                int(found.edges[index] + 0.5),
                int(found.edges[index + 1] - 0.5),
                float(share * 100),
                float(found.expected[index] * 100) if expected else None,
                float(found.low[index] * 100) if expected else None,
                float(found.high[index] * 100) if expected else None,
                *((float(found.others[index] * 100),) if compared else ()),
            )
        )
    return Table((*headers, *((_OTHER_COLUMN,) if compared else ())), tuple(rows))


def cumulated_numbers(found: Cumulated, unit: str) -> Table:
    """Return the data table of a cumulated distribution of errors.

    Args:
        found: of the picture.
        unit: what the errors count.
    """
    columns = {"Observed, %": found.shares, "Expected, %": found.expected}
    if found.others.size:
        columns[_OTHER_COLUMN] = found.others
    shares = [(100 * each).tolist() if each.size else [None] * len(found.values) for each in columns.values()]
    rows = zip(map(int, found.values), *shares, strict=True)
    return Table((f"Error up to, {unit}", *columns), tuple(rows))


def box_numbers(samples: Sequence[ErrorSample], others: Mapping[str, ErrorSample] | None = None) -> Table:
    """Return the data table of boxes.

    Args:
        samples: one row each.
        others: of the other run by label.
    """
    tail = float((1 - samples[0].confidence) / 2) * 100
    units = {each.unit for each in samples}
    unit = units.pop() if len(units) == 1 else PEOPLE_OR_HOUSEHOLDS
    people_of = (f"Smallest, {unit}", f"{tail:g} %", "25 %", "Median", "75 %", f"{100 - tail:g} %", f"Largest, {unit}")
    headers: tuple[str, ...] = ("Cells", "Errors", *people_of, f"Margin, {unit}")
    rows: list[tuple[Value, ...]] = [(each.label, len(each.errors), *each.quantiles, each.margin) for each in samples]
    if others:
        headers += tuple(f"Other run: {head}" for head in headers[1:])
        blank = (None,) * (len(rows[0]) - 1)
        theirs = {label: (len(each.errors), *each.quantiles, each.margin) for label, each in others.items()}
        rows = [(*row, *theirs.get(each.label, blank)) for row, each in zip(rows, samples, strict=True)]
    return Table(headers, tuple(rows))


def errors_figure(sample: ErrorSample, other: ErrorSample | None = None) -> Figure:
    """Return the histogram of errors with the exact noise, its 95 % range, and the margin."""
    found = histogram(sample, other)
    edges, shares = found.edges.tolist(), found.shares.tolist()
    peak = max(*shares, *found.high.tolist(), *found.others.tolist(), 1e-9)
    over: list[Part] = []
    for left, right, low, high in zip(edges, edges[1:], found.low.tolist(), found.high.tolist(), strict=False):
        over.append(Box(left, right, low, high, Role.TEXT, Fill.FAINT))
    if found.expected.size:
        expected = (*found.expected.tolist(), float(found.expected[-1]))
        over.append(Path(tuple(edges), expected, Role.TEXT, 1.8, is_stepped=True))
    if found.others.size:
        others = (*found.others.tolist(), float(found.others[-1]))
        over.append(Path(tuple(edges), others, _OTHER_INK, 2.2, Dash.DASHED, is_stepped=True))
    return Figure(
        "errors",
        distribution_title(sample),
        distribution_summary(sample, other),
        Axis(f"error, {sample.unit}", domain=(edges[0], edges[-1]), text=whole_text),
        Axis("share of errors", domain=(0.0, 1.12 * peak), text=percent_text),
        tuple(
            Mark(
                parts=(Box(left, right, 0.0, share, Role.MAIN, Fill.SOFT),),
                tip=f"{left + 0.5:,.0f} to {right - 0.5:,.0f} {sample.unit}: ".replace("-", "−")
                + percent(share, places=2),
            )
            for left, right, share in zip(edges, edges[1:], shares, strict=False)
            if share
        ),
        partial(histogram_numbers, found, sample.unit),
        over=(*over, *_margin_rules(sample, other)),
        key=(*_key(_OBSERVED, _range_words(sample, ", darker over the bars")), *_other_key(other)),
    )


def cumulated_figure(sample: ErrorSample, other: ErrorSample | None = None) -> Figure:
    """Return the cumulated share of errors with the exact one and its 95 % band."""
    found = cumulated(sample, other)
    values = tuple(found.values.tolist())
    over: list[Part] = []
    if found.expected.size:
        upper = tuple(np.minimum(1, found.expected + found.band).tolist())
        lower = tuple(np.maximum(0, found.expected - found.band).tolist())
        over += [
            Path(values, upper, Role.TEXT, lows=lower),
            Path(values, tuple(found.expected.tolist()), Role.TEXT, 1.6),
        ]
    if found.others.size:
        over.append(Path(values, tuple(found.others.tolist()), _OTHER_INK, 2.2, Dash.DASHED))
    line = Path(values, tuple(found.shares.tolist()), Role.MAIN, 2.4)
    return Figure(
        "cumulated-errors",
        distribution_title(sample),
        distribution_summary(sample, other),
        Axis(f"error, {sample.unit}", domain=(values[0], values[-1]), text=whole_text),
        Axis(
            "share of errors up to this value",
            domain=(-0.02, 1.14),
            ticks=tuple(Tick(part / 4, f"{part * 25} %") for part in range(5)),
        ),
        (Mark(parts=(line,), tip=distribution_title(sample)),),
        partial(cumulated_numbers, found, sample.unit),
        over=(*over, *_margin_rules(sample, other)),
        key=(
            *_key(KeyEntry(Path((0.0, 1.0), (0.0, 0.0), Role.MAIN, 2.4), "observed"), _range_words(sample)),
            *_other_key(other),
        ),
    )


def boxes_figure(
    chosen: ErrorSample, samples: Sequence[ErrorSample], others: Mapping[str, ErrorSample] | None = None
) -> Figure:
    """Return a box per group of cells with its margin.

    Args:
        chosen: the group chosen, for the words.
        samples: one row each.
        others: of the other run by label; a line below the box.
    """
    theirs = others or {}
    middle = f"the middle {float(chosen.confidence) * 100:g} % of its errors"
    reach = 1.06 * max(*(max(each.largest, each.margin) for each in (*samples, *theirs.values())), 1.0)
    return Figure(
        "error-boxes",
        distribution_title(chosen),
        distribution_summary(chosen, theirs.get(chosen.label)),
        Axis(f"error, {chosen.unit}", domain=(-reach, reach), text=whole_text),
        ROWS,
        tuple(_box_mark(each, theirs.get(each.label)) for each in samples),
        partial(box_numbers, tuple(samples), theirs),
        key=(KeyEntry(Span(0, 1, ink=_OTHER_INK, width=2.0), f"other run: {middle} and median"),) if theirs else (),
    )


def _box_mark(each: ErrorSample, other: ErrorSample | None) -> Mark:
    smallest, low, lower, middle, upper, high, largest = each.quantiles
    theirs: tuple[Part, ...] = ()
    compared = ""
    if other is not None:
        _, their_low, _, their_middle, _, their_high, _ = other.quantiles
        theirs = (
            Span(their_low, their_high, 0.4, _OTHER_INK, 2.0, cap=3.0),
            Stroke(their_middle, 0.4, _OTHER_INK, reach=4.0, width=2.2),
        )
        compared = f"\nOther run: median {people(their_middle)}, margin ±{people(other.margin)}"
    band = Box(-each.margin, each.margin, 0.5, -0.5, Role.MUTED, Fill.FAINT)
    ends = tuple(
        Stroke(end, ink=Role.TEXT, reach=12.0, width=1.4, dash=Dash.DASHED) for end in (-each.margin, each.margin)
    )
    return Mark(
        parts=(
            band,
            *ends,
            Span(low, high, ink=Role.MAIN, cap=6.0),
            Box(lower, upper, 0.27, -0.27, Role.MAIN, Fill.SOFT),
            Stroke(middle, ink=Role.TEXT, width=2.2),
            *(Dot(value, ink=Role.MAIN, is_hollow=True, size=2.6) for value in (smallest, largest)),
            *theirs,
        ),
        name=each.label,
        tip=f"{each.label}: median {people(middle)}, middle half {people(lower)} to {people(upper)}, "
        f"margin ±{people(each.margin)}, {len(each.errors):,} errors{compared}",
    )


def _margin_rules(sample: ErrorSample, other: ErrorSample | None) -> tuple[Part, ...]:
    words = f"±{people(sample.margin)}: {float(sample.confidence) * 100:g} % margin"
    theirs = () if other is None or other.margin == sample.margin else (-other.margin, other.margin)
    return (
        *(Rule(x=end, ink=_OTHER_INK, width=1.4) for end in theirs),
        Rule(x=-sample.margin, ink=Role.TEXT, width=1.4),
        Rule(x=sample.margin, ink=Role.TEXT, width=1.4, text=words),
    )


_OTHER_COLUMN = "Other run, %"
_OBSERVED = KeyEntry(Box(0, 1, -0.4, 0.4, Role.MAIN, Fill.SOFT), "observed")


def _range_words(sample: ErrorSample, where: str = "") -> str:
    return "" if sample.noise is None else f"95 % range of {grouped(len(sample.errors))} errors{where}"


def _other_key(other: ErrorSample | None) -> tuple[KeyEntry, ...]:
    sign = Path((0.0, 1.0), (0.0, 0.0), _OTHER_INK, 2.2, Dash.DASHED)
    return () if other is None else (KeyEntry(sign, "other run"),)


def _key(observed: KeyEntry, band: str) -> tuple[KeyEntry, ...]:
    if not band:
        return (observed,)
    exact = KeyEntry(Path((0.0, 1.0), (0.0, 0.0), Role.TEXT, 1.8), "exact noise")
    return observed, exact, KeyEntry(Box(0, 1, -0.4, 0.4, Role.TEXT, Fill.FAINT), band)


_HALF_WIDTH, _HEIGHT, _BASE = 0.46, 0.68, 0.36
"""Of one small distribution as parts of its column and row, and how far below the middle of its row it stands."""
_JUDGED = 5
"""Bars in which fewer errors are to be expected are not judged."""


def distributions_figure(samples: Sequence[ErrorSample]) -> Figure:
    """Return one small histogram per measured table (rows) and level (columns), each at its own scale; keys are queries.

    Args:
        samples: all cells of a query each, with known noise.
    """
    names = list(dict.fromkeys(each.query.table for each in samples))
    levels = [level for level in LEVELS if any(each.query.level == level for each in samples)]
    found = [histogram(each) for each in samples]
    judged = [
        low <= share <= high
        for each, bars in zip(samples, found, strict=True)
        for share, expected, low, high in zip(bars.shares, bars.expected, bars.low, bars.high, strict=True)
        if expected * len(each.errors) >= _JUDGED
    ]
    inside = sum(judged) / max(1, len(judged))
    words = f"{inside * 100:.1f} % of the bars lie in their 95 % band"
    sound = not judged or inside >= 1 - 2 * (1 - INTERVAL_CONFIDENCE)
    marks = tuple(
        _small(each, bars, levels.index(each.query.level), names.index(each.query.table))
        for each, bars in zip(samples, found, strict=True)
    )
    return Figure(
        "distributions",
        f"The noise follows its exact distribution: {words}" if sound else f"Only {words}: the noise is not as stated",
        f"Released minus truncated counts, {samples[0].trials:,} trials pooled over areas and cells; strokes: the scenario's margin; "
        "the percentage is how often it held.",
        Axis(
            domain=(-0.5, len(levels) - 0.5),
            ticks=tuple(Tick(place, level.title) for place, level in enumerate(levels)),
        ),
        ROWS,
        marks,
        partial(_distribution_numbers, tuple(samples)),
        labels=tuple(RowLabel("", name) for name in names),
        key=_key(_OBSERVED, "where a bar lies in 95 of 100 runs"),
        stretch=3.6,
        is_striped=True,
    )


def _small(sample: ErrorSample, bars: Histogram, column: int, row: int) -> Mark:
    reach, tallest = float(bars.edges[-1]), float(np.max([bars.shares, bars.high]))

    def across(value: float) -> float:
        return column + value / reach * _HALF_WIDTH

    def above(share: float) -> float:
        return _BASE - share / tallest * _HEIGHT

    edges = [across(edge) for edge in bars.edges.tolist()]
    parts: list[Part] = [
        Box(left, right, _BASE, above(share), Role.MAIN, Fill.SOFT)
        for left, right, share in zip(edges, edges[1:], bars.shares.tolist(), strict=False)
        if share
    ]
    parts += [
        Box(left, right, above(low), above(high), Role.TEXT, Fill.FAINT)
        for left, right, low, high in zip(edges, edges[1:], bars.low.tolist(), bars.high.tolist(), strict=False)
    ]
    heights = [above(share) for share in bars.expected.tolist()]
    parts.append(Path(tuple(edges), (*heights, heights[-1]), Role.TEXT, 1.0, is_stepped=True))
    parts += [Stroke(across(end), _BASE, Role.TEXT, reach=4.0, width=1.2) for end in (-sample.margin, sample.margin)]
    found = sample.coverage.share
    is_expected = found.low <= sample.expected_coverage <= found.high
    ink = Role.MUTED if is_expected else Role.MISSED
    place = column + _HALF_WIDTH
    parts.append(
        Words(place, _BASE - _HEIGHT + 0.05, f"{found.value * 100:.1f} %", ink, is_bold=not is_expected, align=1.0)
    )
    key = tuple(sample.query.text.split("/"))
    return Mark(key, tuple(parts), sample.query.table, tip=distribution_title(sample), row=row)


def _distribution_numbers(samples: Sequence[ErrorSample]) -> Table:
    rows: list[tuple[Value, ...]] = [
        (
            each.query.table, each.query.level.title, len(each.errors), each.margin, 100 * each.coverage.share.value,
            100 * each.expected_coverage, *each.quantiles,
        )
        for each in samples
    ]  # fmt: skip
    headers = ("Table", "Level", "Errors", f"Margin, {PEOPLE_OR_HOUSEHOLDS}", "Within it, %", "Expected, %")
    return Table((*headers, *box_numbers(samples).headers[2:-1]), tuple(rows))
