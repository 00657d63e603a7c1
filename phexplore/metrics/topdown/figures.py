"""Error figures of one level and query, all computed in one pass per trial.

Definitions are those of `metrics.errors` (workbook of 2023-04-03), where each figure is a function of its own; here
they share their differences, and limits in percent are compared as whole numbers: a count that is off by exactly 5 % is
never on the wrong side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.topdown.shapes import Floats, Integers, as_trials

QUANTILES = (0.005, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.995)
"""Probabilities of the census error tables."""


@dataclass(frozen=True, slots=True, eq=False)
class ErrorFigures:
    """How far some numbers are off, one value per trial.

    Error = estimate − truth. In percent of the truth; where the truth is 0: 0 if the estimate is 0 too, else the
    difference over the mean of both, which is ±200 %.

    Attributes:
        numbers: how many numbers each trial has.
        me: mean error, ``float64[trials]``, people.
        mae: mean absolute error, people.
        rmse: root mean squared error, people.
        malpe: mean algebraic percent error.
        mape: mean absolute percent error.
        cv: 100 × rmse / mean truth, percent; NaN where every truth is 0.
        taes: Σ |share in truth − share in estimate|; NaN where either sum is 0.
        off_2_to_5: numbers off by 2 to 5 %, both included, ``int64[trials]``.
        off_over_5: numbers off by more than 5 %.
        off_over_10: numbers off by more than 10 %.
        off_over_200: numbers off by more than 200 people.
        largest: the largest absolute error, people.
    """

    numbers: int
    me: Floats
    mae: Floats
    rmse: Floats
    malpe: Floats
    mape: Floats
    cv: Floats
    taes: Floats
    off_2_to_5: Integers
    off_over_5: Integers
    off_over_10: Integers
    off_over_200: Integers
    largest: Integers

    def by_id(self) -> Mapping[str, Floats]:
        """Return each figure, ``float64[trials]``, under its id in `metrics.errors.KNOWN`; counts become shares."""
        found: dict[str, Floats] = {name: getattr(self, name) for name in _FLOATS}
        of = self.numbers or float("nan")
        found |= {_SHARES[name]: getattr(self, name) / of for name in _SHARES}
        return {**found, "abs-max": self.largest.astype(np.float64)}


_FLOATS = ("me", "mae", "rmse", "malpe", "mape", "cv", "taes")
_COUNTS = ("off_2_to_5", "off_over_5", "off_over_10", "off_over_200", "largest")
_SHARES = {
    "off_2_to_5": "off-2-to-5",
    "off_over_5": "off-over-5",
    "off_over_10": "off-over-10",
    "off_over_200": "off-over-200-people",
}


def error_figures(truth: Integers, estimate: Integers, counts: Integers | None = None) -> ErrorFigures:
    """Return all figures over every number of each trial.

    Args:
        truth: ``int64[...]``, e.g. units × answers.
        estimate: the same shape, or that of the truth behind one axis of trials.
        counts: ``int64[...]``, how often each pair of truth and estimate occurs, in the shape of the truth; None for once each.

    Raises:
        ValueError: the shapes do not fit.
    """
    trials = as_trials(truth, estimate)
    if counts is not None and counts.shape != truth.shape:
        raise ValueError(f"{truth.shape} numbers cannot occur {counts.shape} times")
    base = _Base(truth.ravel(), np.ones(truth.size, np.int64) if counts is None else counts.ravel())
    return base.collect([base.measure(trial.ravel()) for trial in trials])


class _Base:
    """What depends on the truth alone. Most counts of small units are 0, so percents are made of the others only."""

    def __init__(self, truth: Integers, counts: Integers) -> None:
        self.truth = truth
        self.counts = counts
        self.numbers = int(counts.sum())
        self.filled = np.flatnonzero(truth)
        self.filled_truth = np.abs(truth[self.filled])
        self.filled_counts = counts[self.filled]
        self.percent_per_person = 100.0 / truth[self.filled]
        self.sum = int(truth @ counts)

    def measure(self, estimate: Integers) -> tuple[float, ...]:
        """Return the fields of `ErrorFigures` for one trial, without the number of numbers."""
        if not self.numbers:
            return (*[float("nan")] * len(_FLOATS), *[0] * len(_COUNTS))
        error = estimate - self.truth
        size = np.abs(error)
        inner, inner_size = error[self.filled], size[self.filled]
        percent = inner * self.percent_per_person
        # Where the truth is 0 an error is ±200 %, beyond every limit.
        raised = self._times(error > 0) - self._times_filled(inner > 0)
        lowered = self._times(error < 0) - self._times_filled(inner < 0)
        scaled = 100 * inner_size
        over = {limit: self._times_filled(scaled > limit * self.filled_truth) for limit in (5, 10)}
        least_2 = self._times_filled(scaled >= 2 * self.filled_truth)
        squares = error.astype(np.float64) ** 2
        rmse = float(np.sqrt(squares @ self.counts / self.numbers))
        return (
            float((error @ self.counts) / self.numbers),
            float((size @ self.counts) / self.numbers),
            rmse,
            float((percent @ self.filled_counts + 200.0 * (raised - lowered)) / self.numbers),
            float((np.abs(percent) @ self.filled_counts + 200.0 * (raised + lowered)) / self.numbers),
            100.0 * rmse * self.numbers / self.sum if self.sum else float("nan"),
            self._total_share_error(estimate),
            least_2 - over[5],
            over[5] + raised + lowered,
            over[10] + raised + lowered,
            self._times(size > 200),
            int(size.max()),
        )

    def _times(self, chosen: NDArray[np.bool_]) -> int:
        return int(self.counts[chosen].sum())

    def _times_filled(self, chosen: NDArray[np.bool_]) -> int:
        return int(self.filled_counts[chosen].sum())

    def _total_share_error(self, estimate: Integers) -> float:
        total = int(estimate @ self.counts)
        if not total or not self.sum:
            return float("nan")
        return float(np.abs(self.truth / self.sum - estimate / total) @ self.counts)

    def collect(self, rows: Sequence[tuple[float, ...]]) -> ErrorFigures:
        table = np.array(rows, np.float64).reshape(len(rows), len(_FLOATS) + len(_COUNTS))
        me, mae, rmse, malpe, mape, cv, taes = table[:, : len(_FLOATS)].T
        # Counts and people are far below 2**53, so they came through the table unharmed.
        off_2_to_5, off_over_5, off_over_10, off_over_200, largest = table[:, len(_FLOATS) :].T.astype(np.int64)
        return ErrorFigures(
            numbers=self.numbers,
            me=me,
            mae=mae,
            rmse=rmse,
            malpe=malpe,
            mape=mape,
            cv=cv,
            taes=taes,
            off_2_to_5=off_2_to_5,
            off_over_5=off_over_5,
            off_over_10=off_over_10,
            off_over_200=off_over_200,
            largest=largest,
        )
