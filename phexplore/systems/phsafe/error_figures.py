"""How wrong will published numbers be? The errors of a run with the exact noise over them, as figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.axis import Axis, Tick, percent_text, whole_text
from phexplore.figures.figure import ROWS, Figure, KeyEntry, nothing
from phexplore.figures.marks import Box, Dash, Dot, Fill, Mark, Part, Path, Role, Rule, Span, Stroke
from phexplore.figures.scales import nice_at_least
from phexplore.figures.table import Table, grouped
from phexplore.figures.wording import people
from phexplore.metrics.coverage import INTERVAL_CONFIDENCE, Coverage, coverage_of
from phexplore.model.keys import QueryKey
from phexplore.noise.distributions import Noise, NoNoise

BINS_PER_SIGMA = 4
REACH_SIGMAS = 3.6
"""How far the axis reaches at least, in σ of the noise: 0.03 % of the errors lie beyond."""

Errors = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ErrorSample:
    """The noise errors of one group of published numbers: noisy − truncated, truncation bias not included.

    Attributes:
        query: the measured table and level.
        label: which cells, e.g. "all cells" or the words of one cell.
        errors: ``int64[n]``, in people, pooled over regions, iterations and trials.
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


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Shares of errors in bins of whole people, symmetric around 0.

    Attributes:
        edges: ``float64[bins + 1]``; bin i holds the integers between edge i and edge i + 1, which end in ½.
        shares: ``float64[bins]``, observed.
        expected: ``float64[bins]``, of the exact noise; empty without noise.
        low: ``float64[bins]``; lower end of the 95 % range of an observed share.
        high: ``float64[bins]``; upper end.
        outside: share of errors beyond the last bins.
    """

    edges: NDArray[np.float64]
    shares: NDArray[np.float64]
    expected: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    outside: float

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
    """

    values: NDArray[np.float64]
    shares: NDArray[np.float64]
    expected: NDArray[np.float64]
    band: float


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Five quantiles and the extremes of one group of errors, in people.

    Attributes:
        label: of the group.
        smallest: error.
        low: quantile at (1 − confidence) / 2, comparable with − margin.
        lower: quartile.
        middle: median.
        upper: quartile.
        high: quantile at (1 + confidence) / 2, comparable with the margin.
        largest: error.
        margin: of the group.
        count: errors in it.
    """

    label: str
    smallest: float
    low: float
    lower: float
    middle: float
    upper: float
    high: float
    largest: float
    margin: float
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class ErrorPicture:
    """Everything the pictures of one group of errors need: small, whatever the number of errors.

    Attributes:
        query: the measured table and level.
        label: which cells.
        margin: in people, by the scenario's convention.
        confidence: of that margin.
        trials: how many trials the errors come from.
        mean: of the errors, people.
        largest: size of the error farthest from 0, people.
        coverage: how many errors lie within the margin.
        expected_coverage: exact probability of the margin; whole numbers make it differ from the confidence.
        histogram: of the errors.
        cumulated: share up to each value.
        has_noise: whether the exact noise is drawn beside them.
    """

    query: QueryKey
    label: str
    margin: float
    confidence: Fraction
    trials: int
    mean: float
    largest: int
    coverage: Coverage
    expected_coverage: float
    histogram: Histogram
    cumulated: Cumulated
    has_noise: bool

    @property
    def title(self) -> str:
        """Words for headings, e.g. ``PH3 (State, A-G), all cells``."""
        return f"{self.query.title}, {self.label}"


def picture_of(sample: ErrorSample) -> ErrorPicture | None:
    """Return what the pictures of a sample need, None when it is empty."""
    if not len(sample.errors):
        return None
    sizes = np.abs(sample.errors)
    expected = float(sample.confidence)
    if sample.noise is not None:
        expected = sample.noise.coverage(math.floor(sample.margin))
    return ErrorPicture(
        query=sample.query,
        label=sample.label,
        margin=sample.margin,
        confidence=sample.confidence,
        trials=sample.trials,
        mean=float(np.mean(sample.errors)),
        largest=int(np.max(sizes)),
        coverage=coverage_of(int(np.count_nonzero(sizes <= sample.margin)), len(sizes)),
        expected_coverage=expected,
        histogram=histogram(sample),
        cumulated=cumulated(sample),
        has_noise=sample.noise is not None,
    )


def histogram(sample: ErrorSample) -> Histogram:
    """Return the histogram of a sample; its bins depend on the noise, so they stay while trials arrive."""
    edges = bin_edges(sample)
    counts, _ = np.histogram(sample.errors, edges)
    total = max(1, len(sample.errors))
    shares = counts / total
    if sample.noise is None:
        nothing = np.empty(0)
        return Histogram(edges, shares, nothing, nothing, nothing, 1 - float(shares.sum()))
    below = cumulated_noise(sample.noise, [int(edge - 0.5) for edge in edges])
    expected = np.diff(below)
    reach = NormalDist().inv_cdf((1 + INTERVAL_CONFIDENCE) / 2) * np.sqrt(expected * (1 - expected) / total)
    return Histogram(
        edges, shares, expected, np.maximum(0, expected - reach), expected + reach, 1 - float(shares.sum())
    )


def bin_edges(sample: ErrorSample) -> NDArray[np.float64]:
    """Return edges halfway between whole numbers, symmetric around 0, bins of an odd number of people."""
    sigma = _spread(sample)
    width = 2 * int(nice_at_least(max(sigma / BINS_PER_SIGMA, 1.0)) // 2) + 1
    largest = int(np.max(np.abs(sample.errors))) if len(sample.errors) else 0
    reach = max(REACH_SIGMAS * sigma, min(largest, 2 * REACH_SIGMAS * max(sigma, 1.0)), 1.2 * sample.margin, 1.0)
    half = math.ceil(reach / width)
    return np.asarray((np.arange(-half, half + 2) - 0.5) * width, dtype=np.float64)


def cumulated(sample: ErrorSample, points: int = 160) -> Cumulated:
    """Return observed and exact cumulated shares on a grid of whole people."""
    edges = bin_edges(sample)
    values = np.unique(np.rint(np.linspace(edges[0], edges[-1], points)))
    total = max(1, len(sample.errors))
    shares = np.searchsorted(np.sort(sample.errors), values, side="right") / total
    expected = np.empty(0)
    if sample.noise is not None:
        expected = cumulated_noise(sample.noise, [int(value) for value in values])
    band = math.sqrt(math.log(2 / (1 - INTERVAL_CONFIDENCE)) / (2 * total))
    return Cumulated(values, shares, expected, band)


def box(sample: ErrorSample) -> Quantiles | None:
    """Return the box of a sample, None when it is empty."""
    if not len(sample.errors):
        return None
    tail = float((1 - sample.confidence) / 2)
    probabilities = [0, tail, 0.25, 0.5, 0.75, 1 - tail, 1]
    smallest, low, lower, middle, upper, high, largest = map(float, np.quantile(sample.errors, probabilities))
    return Quantiles(
        sample.label, smallest, low, lower, middle, upper, high, largest, sample.margin, count=len(sample.errors)
    )


def cumulated_noise(noise: Noise, values: Sequence[int]) -> NDArray[np.float64]:
    """Return P(X ≤ x) of the exact noise for whole x, from its coverage and its symmetry around 0."""
    return np.array(
        [(1 + noise.coverage(value)) / 2 if value >= 0 else (1 - noise.coverage(-value - 1)) / 2 for value in values],
        dtype=np.float64,
    )


def _spread(sample: ErrorSample) -> float:
    if sample.noise is not None and not isinstance(sample.noise, NoNoise):
        return math.sqrt(sample.noise.variance())
    return float(np.std(sample.errors)) if len(sample.errors) else 0.0


def distribution_title(picture: ErrorPicture) -> str:
    """Return the finding: the share of errors within the margin, with its Monte-Carlo error, against what is exact."""
    if not picture.largest:
        return f"{picture.title}: every error is 0, no noise was added"
    found = picture.coverage
    points = found.standard_error * 100
    error = f" ± {points:.1f}" if points >= 0.05 else f" ± {points:.1g}" if points else ""
    return (
        f"{found.share.value * 100:.1f}{error} % of errors lie within ±{people(picture.margin)} people"
        f" (expected {picture.expected_coverage * 100:.1f} %)"
    )


def distribution_summary(picture: ErrorPicture) -> str:
    """Return one sentence: whose noise errors, how many, their mean and largest size."""
    return (
        f"Noise errors of {picture.title}: {picture.coverage.errors:,} errors from {picture.trials:,} "
        f"{'trial' if picture.trials == 1 else 'trials'}, mean {_signed(picture.mean)}, "
        f"largest {people(picture.largest)} people; truncation is not included."
    )


def _signed(value: float) -> str:
    return ("+" if value > 0 else "−" if value < 0 else "") + f"{abs(value):.3g}"


def histogram_numbers(found: Histogram) -> Table:
    """Return the data table of a histogram."""
    headers = ("Error from, people", "Error to, people", "Observed, %", "Expected, %", "95 % range from", "to")
    rows = []
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
            )
        )
    return Table(headers, tuple(rows))


def cumulated_numbers(found: Cumulated) -> Table:
    """Return the data table of a cumulated distribution."""
    exact: Sequence[float | None] = [float(value) * 100 for value in found.expected] or [None] * len(found.values)
    return Table(
        ("Error up to, people", "Observed, %", "Expected, %"),
        tuple(
            (int(value), float(share) * 100, expected)
            for value, share, expected in zip(found.values, found.shares, exact, strict=True)
        ),
    )


def box_numbers(boxes: Sequence[Quantiles], confidence: Fraction) -> Table:
    """Return the data table of boxes."""
    tail = float((1 - confidence) / 2) * 100
    headers = (
        "Cells",
        "Errors",
        "Smallest, people",
        f"{tail:g} %",
        "25 %",
        "Median",
        "75 %",
        f"{100 - tail:g} %",
        "Largest, people",
        "Margin, people",
    )
    return Table(
        headers,
        tuple(
            (b.label, b.count, b.smallest, b.low, b.lower, b.middle, b.upper, b.high, b.largest, b.margin)
            for b in boxes
        ),
    )


def errors_figure(picture: ErrorPicture) -> Figure:
    """Return the histogram of errors with the exact noise, its 95 % range, and the margin."""
    found = picture.histogram
    edges, shares = found.edges.tolist(), found.shares.tolist()
    peak = max(*shares, *found.high.tolist(), 1e-9)
    unit = "person" if found.width == 1 else f"{found.width} people"
    over: list[Part] = []
    for left, right, low, high in zip(edges, edges[1:], found.low.tolist(), found.high.tolist(), strict=False):
        over.append(Box(left, right, low, high, Role.TEXT, Fill.FAINT))
    if found.expected.size:
        expected = (*found.expected.tolist(), float(found.expected[-1]))
        over.append(Path(tuple(edges), expected, Role.TEXT, 1.8, is_stepped=True))
    return Figure(
        "errors",
        distribution_title(picture),
        distribution_summary(picture),
        Axis("error, people", domain=(edges[0], edges[-1]), text=whole_text),
        Axis(f"share of errors per {unit}", domain=(0.0, 1.12 * peak), text=percent_text),
        tuple(
            Mark(
                parts=(Box(left, right, 0.0, share, Role.MAIN, Fill.SOFT),),
                tip=f"{left + 0.5:,.0f} to {right - 0.5:,.0f} people: {share:.2%}".replace("-", "−"),
            )
            for left, right, share in zip(edges, edges[1:], shares, strict=False)
            if share
        ),
        partial(histogram_numbers, found),
        over=(*over, *_margin_rules(picture)),
        key=_key(picture, KeyEntry(Box(0, 1, -0.4, 0.4, Role.MAIN, Fill.SOFT), "observed")),
    )


def cumulated_figure(picture: ErrorPicture) -> Figure:
    """Return the cumulated share of errors with the exact one and its 95 % band."""
    found = picture.cumulated
    values = tuple(found.values.tolist())
    over: list[Part] = []
    if found.expected.size:
        upper = tuple(np.minimum(1, found.expected + found.band).tolist())
        lower = tuple(np.maximum(0, found.expected - found.band).tolist())
        over += [
            Path(values, upper, Role.TEXT, lows=lower),
            Path(values, tuple(found.expected.tolist()), Role.TEXT, 1.6),
        ]
    line = Path(values, tuple(found.shares.tolist()), Role.MAIN, 2.4)
    return Figure(
        "cumulated-errors",
        distribution_title(picture),
        distribution_summary(picture),
        Axis("error, people", domain=(values[0], values[-1]), text=whole_text),
        Axis(
            "share of errors up to this value",
            domain=(-0.02, 1.14),
            ticks=tuple(Tick(part / 4, f"{part * 25} %") for part in range(5)),
        ),
        (Mark(parts=(line,), tip=distribution_title(picture)),),
        partial(cumulated_numbers, found),
        over=(*over, *_margin_rules(picture)),
        key=_key(picture, KeyEntry(Path((0.0, 1.0), (0.0, 0.0), Role.MAIN, 2.4), "observed")),
    )


def boxes_figure(picture: ErrorPicture, boxes: Sequence[Quantiles]) -> Figure:
    """Return a box per group of cells with its margin.

    Args:
        picture: of the group chosen, for the words.
        boxes: one row each.
    """
    if not boxes:
        return nothing("error-boxes", "")
    reach = 1.06 * max(*(max(each.largest, -each.smallest, each.margin) for each in boxes), 1.0)
    return Figure(
        "error-boxes",
        distribution_title(picture),
        distribution_summary(picture),
        Axis("error, people", domain=(-reach, reach), text=whole_text),
        ROWS,
        tuple(_box_mark(each) for each in boxes),
        partial(box_numbers, tuple(boxes), picture.confidence),
    )


def _box_mark(each: Quantiles) -> Mark:
    band = Box(-each.margin, each.margin, 0.5, -0.5, Role.MUTED, Fill.FAINT)
    ends = tuple(
        Stroke(end, ink=Role.TEXT, reach=12.0, width=1.4, dash=Dash.DASHED) for end in (-each.margin, each.margin)
    )
    return Mark(
        parts=(
            band,
            *ends,
            Span(each.low, each.high, ink=Role.MAIN, cap=6.0),
            Box(each.lower, each.upper, 0.27, -0.27, Role.MAIN, Fill.SOFT),
            Stroke(each.middle, ink=Role.TEXT, width=2.2),
            *(Dot(value, ink=Role.MAIN, is_hollow=True, size=2.6) for value in (each.smallest, each.largest)),
        ),
        name=each.label,
        tip=f"{each.label}: median {people(each.middle)}, middle half {people(each.lower)} to {people(each.upper)}, "
        f"margin ±{people(each.margin)}, {each.count:,} errors",
    )


def _margin_rules(picture: ErrorPicture) -> tuple[Part, ...]:
    words = f"±{people(picture.margin)}: {float(picture.confidence) * 100:g} % margin"
    left = Rule(x=-picture.margin, ink=Role.TEXT, width=1.4)
    return (left, Rule(x=picture.margin, ink=Role.TEXT, width=1.4, text=words))


def _key(picture: ErrorPicture, observed: KeyEntry) -> tuple[KeyEntry, ...]:
    if not picture.has_noise:
        return (observed,)
    return (
        observed,
        KeyEntry(Path((0.0, 1.0), (0.0, 0.0), Role.TEXT, 1.8), "exact noise"),
        KeyEntry(
            Box(0, 1, -0.4, 0.4, Role.TEXT, Fill.FAINT), f"95 % range of {grouped(picture.coverage.errors)} errors"
        ),
    )
