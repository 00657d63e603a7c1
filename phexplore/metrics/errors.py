"""How far estimates are from the truth: the measures census releases are judged by.

Definitions are those of the detailed summary metrics of the 2020 disclosure avoidance system (workbook of
2023-04-03). Every measure returns ``float64[...]``: one figure over the last axis. A figure that is not defined (no
numbers at all, a coefficient of variation around a mean of 0) is NaN.

Args:
    truth: ``truth[..., numbers]``, what was counted.
    estimate: ``estimate[..., numbers]``, what was published, of the same shape.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Values = NDArray[np.int64] | Floats
Measure = Callable[[Values, Values], Floats]


class Better(enum.Enum):
    """Which way a metric should go."""

    LOW = "low"
    NEAR_ZERO = "near zero"


@dataclass(frozen=True, slots=True)
class Metric:
    """One measure of error.

    Attributes:
        id: as the command line and files spell it.
        text: what it is, in words.
        unit: ``people`` (persons or units, whatever the table counts), ``%`` of the truth, or ``share`` in [0, 1].
        function: of truth and estimate.
        better: which way it should go.
    """

    id: str
    text: str
    unit: str
    function: Measure
    better: Better = Better.LOW


def differences(truth: Values, estimate: Values) -> Floats:
    """Return estimate − truth, in people.

    Raises:
        ValueError: the shapes differ.
    """
    if truth.shape != estimate.shape:
        raise ValueError(f"truth and estimate have one shape, got {truth.shape} and {estimate.shape}")
    return np.subtract(estimate, truth).astype(np.float64)


def percent_differences(truth: Values, estimate: Values) -> Floats:
    """Return the differences in percent of the truth, with the zero-denominator rule of the census workbook.

    Where the truth is 0: 0 if the estimate is 0 too, else the difference over the mean of truth and estimate, which is
    200 % of the difference's sign. (Post-processed census estimates are never negative; noisy counts can be, and then
    the sign is still that of the difference.)
    """
    difference = differences(truth, estimate)
    percent = 200.0 * np.sign(difference)
    positive = truth != 0
    percent[positive] = 100.0 * difference[positive] / truth[positive]
    return percent


def mean_error(truth: Values, estimate: Values) -> Floats:
    """Return the mean difference, in people: the bias."""
    return _mean(differences(truth, estimate))


def mean_absolute_error(truth: Values, estimate: Values) -> Floats:
    """Return the mean size of the difference, in people."""
    return _mean(np.abs(differences(truth, estimate)))


def root_mean_squared_error(truth: Values, estimate: Values) -> Floats:
    """Return the square root of the mean squared difference, in people."""
    return np.asarray(np.sqrt(_mean(differences(truth, estimate) ** 2)), dtype=np.float64)


def mean_absolute_percent_error(truth: Values, estimate: Values) -> Floats:
    """Return the mean size of the percent difference."""
    return _mean(np.abs(percent_differences(truth, estimate)))


def mean_algebraic_percent_error(truth: Values, estimate: Values) -> Floats:
    """Return the mean percent difference, signed: the bias in percent (MALPE)."""
    return _mean(percent_differences(truth, estimate))


def coefficient_of_variation(truth: Values, estimate: Values) -> Floats:
    """Return 100 × root mean squared error / mean truth, in percent: one figure per group, not per cell."""
    level = _mean(truth.astype(np.float64))
    spread = root_mean_squared_error(truth, estimate)
    ratio = np.divide(100.0 * spread, level, out=np.full_like(spread, np.nan), where=level != 0)
    return np.asarray(ratio, dtype=np.float64)


def total_absolute_error_of_shares(truth: Values, estimate: Values) -> Floats:
    """Return Σ |share in truth − share in estimate|: how much of a fixed sum would go elsewhere."""
    if truth.shape != estimate.shape:
        raise ValueError(f"truth and estimate have one shape, got {truth.shape} and {estimate.shape}")
    if truth.shape[-1] == 0:
        return np.full(truth.shape[:-1], np.nan)
    return np.asarray(np.abs(_shares(truth) - _shares(estimate)).sum(axis=-1), dtype=np.float64)


def absolute_quantile(probability: float) -> Measure:
    """Return the measure: this quantile of the size of the difference, in people, linearly interpolated."""

    def quantile(truth: Values, estimate: Values) -> Floats:
        size = np.abs(differences(truth, estimate))
        if size.shape[-1] == 0:
            return np.full(size.shape[:-1], np.nan)
        return np.asarray(np.quantile(size, probability, axis=-1), dtype=np.float64)

    return quantile


def share_of_percent_above(limit: float) -> Measure:
    """Return the measure: share of numbers more than `limit` percent off."""
    return lambda truth, estimate: _mean(np.abs(percent_differences(truth, estimate)) > limit)


def share_of_percent_between(low: float, high: float) -> Measure:
    """Return the measure: share of numbers that are at least `low` and at most `high` percent off.

    Args:
        low: smallest percent difference that counts, at least 0.
        high: largest one.
    """

    def share(truth: Values, estimate: Values) -> Floats:
        size = np.abs(percent_differences(truth, estimate))
        return _mean((size >= low) & (size <= high))

    return share


def share_of_people_above(limit: float) -> Measure:
    """Return the measure: share of numbers more than `limit` people off."""
    return lambda truth, estimate: _mean(np.abs(differences(truth, estimate)) > limit)


def _mean(values: NDArray[Any]) -> Floats:
    if values.shape[-1] == 0:
        return np.full(values.shape[:-1], np.nan)
    return np.asarray(values.mean(axis=-1), dtype=np.float64)


def _shares(values: Values) -> Floats:
    parts = values.astype(np.float64)
    total = parts.sum(axis=-1, keepdims=True)
    shares = np.divide(parts, total, out=np.full_like(parts, np.nan), where=total != 0)
    return np.asarray(shares, dtype=np.float64)


KNOWN: Mapping[str, Metric] = MappingProxyType(
    {
        metric.id: metric
        for metric in (
            Metric("me", "Mean error", "people", mean_error, Better.NEAR_ZERO),
            Metric("mae", "Mean absolute error", "people", mean_absolute_error),
            Metric("rmse", "Root mean squared error", "people", root_mean_squared_error),
            Metric("malpe", "Mean algebraic percent error", "%", mean_algebraic_percent_error, Better.NEAR_ZERO),
            Metric("mape", "Mean absolute percent error", "%", mean_absolute_percent_error),
            Metric("cv", "Coefficient of variation", "%", coefficient_of_variation),
            Metric("abs-median", "Median absolute error", "people", absolute_quantile(0.5)),
            Metric(
                "abs-p90", "90th percentile of the absolute error, mean over trials", "people", absolute_quantile(0.9)
            ),
            Metric(
                "abs-p95", "95th percentile of the absolute error, mean over trials", "people", absolute_quantile(0.95)
            ),
            Metric("abs-max", "Largest absolute error, mean over trials", "people", absolute_quantile(1.0)),
            Metric("off-2-to-5", "Share off by 2 to 5 %", "share", share_of_percent_between(2, 5)),
            Metric("off-over-5", "Share off by more than 5 %", "share", share_of_percent_above(5)),
            Metric("off-over-10", "Share off by more than 10 %", "share", share_of_percent_above(10)),
            Metric("off-over-200-people", "Share off by more than 200", "share", share_of_people_above(200)),
            Metric("taes", "Total absolute error of shares", "share", total_absolute_error_of_shares),
        )
    }
)
"""All metrics by id. A new one is one function and one line."""


def figure_title(name: str) -> str:
    """Return what a figure of a run is called, with how trials are put together where it is not the error itself; other names stay.

    Args:
        name: of a figure of a summary, e.g. ``abs-p90``.
    """
    return KNOWN[name].text if name in KNOWN else name
