"""What the error-distribution chart shows, as values: bins, cumulated shares, boxes, and the exact noise beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.scales import nice_at_least
from phexplore.figures.table import Table
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
class Box:
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


def box(sample: ErrorSample) -> Box | None:
    """Return the box of a sample, None when it is empty."""
    if not len(sample.errors):
        return None
    tail = float((1 - sample.confidence) / 2)
    probabilities = [0, tail, 0.25, 0.5, 0.75, 1 - tail, 1]
    smallest, low, lower, middle, upper, high, largest = map(float, np.quantile(sample.errors, probabilities))
    return Box(
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
    """Return the table twin of a histogram."""
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
    """Return the table twin of a cumulated distribution."""
    exact: Sequence[float | None] = [float(value) * 100 for value in found.expected] or [None] * len(found.values)
    return Table(
        ("Error up to, people", "Observed, %", "Expected, %"),
        tuple(
            (int(value), float(share) * 100, expected)
            for value, share, expected in zip(found.values, found.shares, exact, strict=True)
        ),
    )


def box_numbers(boxes: Sequence[Box], confidence: Fraction) -> Table:
    """Return the table twin of boxes."""
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
