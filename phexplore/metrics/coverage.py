"""How often a margin holds, how wide the observed margin is, and how sure a simulation can be of either."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.errors import Values

INTERVAL_CONFIDENCE = 0.95
"""Confidence of every interval around a simulated figure."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A simulated figure with its Monte-Carlo error.

    Attributes:
        value: the figure; NaN when nothing was simulated.
        low: lower end at `INTERVAL_CONFIDENCE`.
        high: upper end, infinite where nothing simulated bounds the figure.
    """

    value: float
    low: float
    high: float


class Judgement(enum.Enum):
    """How a share does against a criterion, given its interval."""

    MET = "met"
    NOT_MET = "not met"
    TOO_FEW = "too few to judge"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often a margin held.

    Attributes:
        held: errors no larger than the margin.
        errors: in all.
        share: with its Wilson interval.
        standard_error: √(p (1 − p) / n), NaN without errors.
    """

    held: int
    errors: int
    share: Interval
    standard_error: float

    def judge(self, required: Fraction) -> Judgement:
        """Return whether the share meets a criterion: only where its whole interval lies on one side of it.

        Args:
            required: the least share, above 0 and below 1.
        """
        if not self.errors or self.share.low < required <= self.share.high:
            return Judgement.TOO_FEW
        return Judgement.MET if self.share.low >= required else Judgement.NOT_MET


def coverage_of(held: int, errors: int) -> Coverage:
    """Return the coverage of `held` out of `errors` independent errors.

    Args:
        held: how many errors lie within the margin, from 0 to `errors`.
        errors: how many there are.

    Raises:
        ValueError: more held than there were.
    """
    if not 0 <= held <= errors:
        raise ValueError(f"between 0 and {errors} errors lie within the margin, got {held}")
    if errors == 0:
        return Coverage(0, 0, Interval(math.nan, math.nan, math.nan), math.nan)
    share = held / errors
    low, high = wilson_interval(held, errors)
    return Coverage(held, errors, Interval(share, low, high), math.sqrt(share * (1 - share) / errors))


def wilson_interval(held: int, errors: int, confidence: float = INTERVAL_CONFIDENCE) -> tuple[float, float]:
    """Return the score interval of a share (Wilson 1927): never outside [0, 1], sound at shares near 0 and 1.

    Args:
        held: how many errors lie within the margin.
        errors: how many there are, at least 1.
        confidence: coverage of the interval, strictly between 0 and 1.
    """
    z2 = _z(confidence) ** 2
    share = held / errors
    centre = (share + z2 / (2 * errors)) / (1 + z2 / errors)
    half = math.sqrt(z2 * (share * (1 - share) / errors + z2 / (4 * errors**2))) / (1 + z2 / errors)
    low = 0.0 if held == 0 else centre - half
    high = 1.0 if held == errors else centre + half
    return low, high


def error_between_trials(shares: NDArray[np.float64]) -> float:
    """Return the standard error of the mean of ``shares[trials]``; infinite with fewer than two trials.

    Trials are independent whatever ties the numbers inside one together, so this needs no further assumption.
    """
    if len(shares) < 2:
        return math.inf
    return float(np.std(shares, ddof=1) / math.sqrt(len(shares)))


ROOTS = frozenset({"rmse", "cv"})
"""The metrics that are roots of mean squares: over trials the squares are averaged, or few numbers would look less far off than they are."""


def over_trials(metric: str, figures: NDArray[np.float64]) -> tuple[float, float]:
    """Return a metric over all trials and its Monte-Carlo error: NaN and infinite without trials.

    Args:
        metric: its id, see `metrics.errors.KNOWN`.
        figures: its value in each trial.
    """
    if not len(figures):
        return math.nan, math.inf
    if metric not in ROOTS or len(figures) == 1:
        return float(figures.mean()), error_between_trials(figures)
    squares = figures**2
    root = math.sqrt(float(squares.mean()))
    return root, error_between_trials(squares) / (2 * root) if root else error_between_trials(squares)


def observed_margin(errors: Values, probability: float) -> Interval:
    """Return the quantile of the errors' sizes: the margin a simulation shows, with its Monte-Carlo error.

    The value is interpolated linearly, as PHSafe's accuracy report does. The interval is made of the order statistics
    that hold the true quantile at `INTERVAL_CONFIDENCE` by the normal approximation of the binomial count below it; it
    assumes nothing about the errors' distribution but that they share one and are independent. Where there are too few errors for
    an order statistic to be an end, no observed error bounds the quantile: the interval is open, from 0 or to infinity.

    Args:
        errors: any shape, pooled.
        probability: of the quantile, in (0, 1).
    """
    sizes = np.sort(np.abs(errors).ravel()).astype(np.float64)
    if not len(sizes):
        return Interval(math.nan, math.nan, math.nan)
    reach = _z(INTERVAL_CONFIDENCE) * math.sqrt(len(sizes) * probability * (1 - probability))
    first = math.floor(len(sizes) * probability - reach) - 1
    last = math.ceil(len(sizes) * probability + reach) - 1
    place = probability * (len(sizes) - 1)
    below = math.floor(place)
    low, high = float(sizes[below]), float(sizes[min(below + 1, len(sizes) - 1)])
    return Interval(
        low + (place - below) * (high - low),
        float(sizes[first]) if first >= 0 else 0.0,
        float(sizes[last]) if last < len(sizes) else math.inf,
    )


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)
