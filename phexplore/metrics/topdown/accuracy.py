"""The accuracy metrics the disclosure avoidance system prints for a level (production's accuracy metrics).

Errors are estimate − truth throughout; production prints some of them with the opposite sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.topdown.shapes import Floats, Integers, as_trials

COUNTY_TOTAL_GOAL, COUNTY_ADULTS_GOAL = 20, 15
"""People: production's goals for the total and the voting-age population of a county."""

QUINTILES = 5


@dataclass(frozen=True, slots=True, eq=False)
class LevelAccuracy:
    """How far a level is off as a whole, one value per trial.

    Attributes:
        one_minus_tvd: 1 − Σ|error| / (2 × true total), ``float64[trials]``; NaN where the truth is empty.
        sum_absolute: Σ|error| over units and cells, people.
        mean_largest: mean over units of the largest |error| of a cell, people; NaN without units.
        mean_largest_of_inhabited: the same over units that are not empty in both, people; NaN without.
        largest: the largest |error|, people.
        empty_in_truth: units without people, the same in every trial.
        empty_in_estimate: units published without people, ``int64[trials]``.
        empty_in_both: ``int64[trials]``.
        total_error: Σ over units of the error of the total, people.
        total_absolute_error: Σ over units of its size, people.
    """

    one_minus_tvd: Floats
    sum_absolute: Integers
    mean_largest: Floats
    mean_largest_of_inhabited: Floats
    largest: Integers
    empty_in_truth: int
    empty_in_estimate: Integers
    empty_in_both: Integers
    total_error: Integers
    total_absolute_error: Integers


def level_accuracy(truth: Integers, estimate: Integers) -> LevelAccuracy:
    """Return the figures of a level.

    Args:
        truth: ``int64[units, cells]``.
        estimate: the same shape, or behind one axis of trials.

    Raises:
        ValueError: the shapes do not fit.
    """
    trials = as_trials(truth, estimate)
    people = truth.sum(axis=1)
    empty = ~np.any(truth, axis=1)
    rows = [_trial(truth, trial, people, empty) for trial in trials]
    sums, largest_sums, inhabited, largest, published_empty, both, totals, absolute_totals = (
        (np.array(column) for column in zip(*rows, strict=True)) if rows else [np.empty(0, np.int64)] * 8
    )
    total = int(people.sum())
    units = len(truth)
    return LevelAccuracy(
        one_minus_tvd=1.0 - sums / (2.0 * total) if total else np.full(len(trials), np.nan),
        sum_absolute=sums,
        mean_largest=largest_sums / units if units else np.full(len(trials), np.nan),
        mean_largest_of_inhabited=np.divide(
            largest_sums, inhabited, out=np.full(len(trials), np.nan), where=inhabited > 0
        ),
        largest=largest,
        empty_in_truth=int(np.count_nonzero(empty)),
        empty_in_estimate=published_empty,
        empty_in_both=both,
        total_error=totals,
        total_absolute_error=absolute_totals,
    )


def _trial(truth: Integers, trial: Integers, people: Integers, empty: NDArray[np.bool_]) -> tuple[int, ...]:
    size = np.abs(trial - truth)
    widest = size.max(axis=1, initial=0)
    published = trial.sum(axis=1)
    published_empty = ~np.any(trial, axis=1)
    both = int(np.count_nonzero(empty & published_empty))
    return (
        int(size.sum()),
        int(widest.sum()),
        len(truth) - both,
        int(widest.max(initial=0)),
        int(np.count_nonzero(published_empty)),
        both,
        int((published - people).sum()),
        int(np.abs(published - people).sum()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class DiversityQuintile:
    """Errors of the total population in units of like diversity.

    Attributes:
        low: smallest Blau index of the class.
        high: largest.
        units: in the class.
        mean_error: of the total, over units and trials, people.
        mean_absolute_error: the same of its size.
    """

    low: float
    high: float
    units: int
    mean_error: float
    mean_absolute_error: float


def by_diversity(truth: Integers, estimate: Integers) -> tuple[DiversityQuintile, ...]:
    """Return the errors of the total in five classes of equally many units, the least diverse first.

    The Blau index is 1 − Σ p² over the groups of the true data: the chance that two people are of different groups.
    Production merges no Hispanic races, so it gives 14 groups. Empty units are left out; equal indices may fall into two classes.

    Args:
        truth: ``int64[units, groups]``.
        estimate: the same shape, or behind one axis of trials.

    Raises:
        ValueError: the shapes do not fit.
    """
    trials = as_trials(truth, estimate)
    people = truth.sum(axis=1)
    inhabited = np.flatnonzero(people > 0)
    if len(inhabited) < QUINTILES:
        return ()
    shares = truth[inhabited] / people[inhabited, None]
    index = 1.0 - (shares * shares).sum(axis=1)
    error = trials[:, inhabited].sum(axis=2) - people[inhabited]
    order = np.argsort(index, kind="stable")
    return tuple(
        DiversityQuintile(
            low=float(index[part[0]]),
            high=float(index[part[-1]]),
            units=len(part),
            mean_error=float(error[:, part].mean()),
            mean_absolute_error=float(np.abs(error[:, part]).mean()),
        )
        for part in np.array_split(order, QUINTILES)
    )


@dataclass(frozen=True, slots=True, eq=False)
class GoalResult:
    """How many units keep a goal.

    Attributes:
        limit: largest error that keeps it, people.
        units: per trial.
        kept: ``int64[trials]``.
        mean_absolute_error: people, ``float64[trials]``; NaN without units.
    """

    limit: int
    units: int
    kept: Integers
    mean_absolute_error: Floats


def goal(truth: Integers, estimate: Integers, limit: int) -> GoalResult:
    """Return how many totals are off by at most so many people (county goals: 20 people, 15 adults).

    Args:
        truth: ``int64[units]``.
        estimate: the same shape, or behind one axis of trials.
        limit: people.

    Raises:
        ValueError: the shapes do not fit.
    """
    size = np.abs(as_trials(truth, estimate) - truth)
    means = size.mean(axis=1) if truth.size else np.full(len(size), np.nan)
    return GoalResult(limit, truth.size, (size <= limit).sum(axis=1), means)
