"""The accuracy report of a PHSafe run: production's columns, and beside them noise and truncation kept apart.

Production's report (PHSafe 3.0.0, ``accuracy_report.py``) takes the 90 % quantile of |noisy − untruncated truth| over
all regions of a type and all trials, so its margin contains truncation bias without saying so. Here the same figure is
followed by the quantile of the noise alone, by how often the scenario's margin held it, and by the bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.coverage import Coverage, Interval, coverage_of, observed_margin
from phexplore.metrics.numbers import CellGroup, NumberKeys, Rows

Integers = NDArray[np.int64]
Reader = Callable[[Rows], Integers]
"""Gives the released counts of some numbers: ``int64[trials, rows]``."""

REPORT_PROBABILITY = 0.9
"""The quantile of production's report."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The exact counts behind each number, ``int64[numbers]`` each.

    Attributes:
        truncated: what a run measures at infinite budget: the noise is released − truncated.
        untruncated: the same count without truncation: the bias is truncated − untruncated.
        non_private: production's non-private count of the cell, the truth of its accuracy report. Differs from
            `untruncated` only where production's two programs count differently (PH8_num sums FINAL_POP).
    """

    truncated: Integers
    untruncated: Integers
    non_private: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """What the parameters promise for each number, before any run.

    Attributes:
        margin: ``float64[numbers]``, people: the scenario's margin at its confidence.
        expected_moe: ``float64[numbers]``, people: the EXPECTED_MOE of production's report, 90 %, rounded to 0.1.
        confidence: of `margin`.
    """

    margin: NDArray[np.float64]
    expected_moe: NDArray[np.float64]
    confidence: float


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """One line of the report.

    Attributes:
        group: what is pooled.
        count: errors pooled: regions × trials.
        experimental_moe: production's figure, people; truncation bias is in it.
        expected_moe: production's expectation, people.
        noise_moe: the same quantile of the noise alone, people.
        margin: the scenario's margin, people.
        coverage: how often the noise lay within that margin.
        bias: mean of truncated − untruncated over the regions, people.
        largest_bias: the bias farthest from 0 among the regions, people.
        measured_bias: mean of noise over regions and trials, people; near 0 unless something is wrong.
    """

    group: CellGroup
    count: int
    experimental_moe: Interval
    expected_moe: float
    noise_moe: Interval
    margin: float
    coverage: Coverage
    bias: float
    largest_bias: int
    measured_bias: float


def accuracy_rows(
    groups: Sequence[CellGroup], truth: Truth, expectation: Expectation, released: Reader
) -> list[AccuracyRow]:
    """Return the report.

    Args:
        groups: the lines, see `metrics.numbers.cell_groups`.
        truth: exact counts.
        expectation: margins; equal for all numbers of a group, which have one budget.
        released: the counts of the trials.
    """
    return [_row(group, truth, expectation, released(group.rows)) for group in groups]


def _row(group: CellGroup, truth: Truth, expectation: Expectation, released: Integers) -> AccuracyRow:
    rows = group.rows
    noise = released - truth.truncated[rows]
    bias = truth.truncated[rows] - truth.untruncated[rows]
    margin = float(expectation.margin[rows[0]])
    return AccuracyRow(
        group=group,
        count=noise.size,
        experimental_moe=observed_margin(released - truth.non_private[rows], REPORT_PROBABILITY),
        expected_moe=float(expectation.expected_moe[rows[0]]),
        noise_moe=observed_margin(noise, REPORT_PROBABILITY),
        margin=margin,
        coverage=coverage_of(int(np.count_nonzero(np.abs(noise) <= margin)), noise.size),
        bias=float(bias.mean()),
        largest_bias=int(bias[np.argmax(np.abs(bias))]),
        measured_bias=float(noise.mean()) if noise.size else 0.0,
    )


def covered(
    keys: NumberKeys, measured: NDArray[np.bool_], noise: Integers, margin: NDArray[np.float64]
) -> tuple[int, int]:
    """Return how many directly measured numbers of one trial lie within their margin, and how many there are.

    Derived numbers repeat the noise of measured ones and would count it twice.

    Args:
        keys: of the numbers.
        measured: ``bool[numbers]``, which are measured directly.
        noise: ``int64[numbers]``, released − truncated.
        margin: ``float64[numbers]``.

    Raises:
        ValueError: the lengths differ.
    """
    if not len(keys) == len(measured) == len(noise) == len(margin):
        raise ValueError(f"one value per number, got {len(keys)}, {len(measured)}, {len(noise)} and {len(margin)}")
    within = np.abs(noise[measured]) <= margin[measured]
    return int(np.count_nonzero(within)), int(np.count_nonzero(measured))
