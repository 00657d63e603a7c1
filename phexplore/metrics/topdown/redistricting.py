"""The redistricting criterion: does the largest group keep its share of a place?

For at least 95 % of the places with at least 500 people, the share of the largest race or ethnicity group is to lie within
5 percentage points of its enumerated share (TopDown paper, sections 6.3 and 8.1). As production computes it, the group is the one
with the largest *protected* count, the first of equally large ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.coverage import Coverage, coverage_of
from phexplore.metrics.topdown.shapes import Floats, Integers, as_trials
from phexplore.metrics.topdown.size_classes import FIFTIES, SizeClasses

TOLERANCE = Fraction(1, 20)
REQUIRED = Fraction(19, 20)
LEAST_PEOPLE = 500
ONE_IS_EMPTY = 2.0
"""The error of a place that has people in only one of truth and estimate: it fails, and no mean or quantile counts it."""

QUANTILES = (*(step / 20 for step in range(20)), 0.975, 0.99, 1.0)
_WIDEST = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False)
class GroupShares:
    """The largest group of every unit and how far its share is off.

    Attributes:
        group: index of the group with the largest protected count, ``int64[trials, units]``.
        error: |protected share − true share|, ``float64[trials, units]``: 0 where both totals are 0, 2 where one is.
        comparable: both totals are positive, ``bool[trials, units]``.
        meets: the error is at most the tolerance, compared as whole numbers, ``bool[trials, units]``.
        people: true total of each unit, ``int64[units]``.
    """

    group: Integers
    error: Floats
    comparable: NDArray[np.bool_]
    meets: NDArray[np.bool_]
    people: Integers

    def chosen(self, units: NDArray[np.bool_]) -> GroupShares:
        """Return the shares of some ``units[units]``."""
        return GroupShares(
            self.group[:, units],
            self.error[:, units],
            self.comparable[:, units],
            self.meets[:, units],
            self.people[units],
        )


def group_shares(truth: Integers, estimate: Integers, tolerance: Fraction = TOLERANCE) -> GroupShares:
    """Return how far the share of the largest group is off in every unit.

    Args:
        truth: ``int64[units, groups]``; groups are disjoint and make up the total.
        estimate: the same shape, or behind one axis of trials; 0 or more.
        tolerance: in shares, e.g. 1/20 for 5 percentage points.

    Raises:
        ValueError: the shapes do not fit, or a count is negative.
    """
    trials = as_trials(truth, estimate)
    if truth.ndim != 2 or not truth.shape[1]:
        raise ValueError(f"the truth has units and groups, got {truth.shape}")
    if min(int(truth.min(initial=0)), int(trials.min(initial=0))) < 0:
        raise ValueError("shares need counts of 0 or more")
    group = trials.argmax(axis=2)
    protected = np.take_along_axis(trials, group[:, :, None], axis=2)[:, :, 0]
    true = np.take_along_axis(np.broadcast_to(truth, trials.shape), group[:, :, None], axis=2)[:, :, 0]
    people, published = truth.sum(axis=1), trials.sum(axis=2)
    comparable = (people > 0) & (published > 0)
    one_is_empty = (people > 0) != (published > 0)
    meets = _within(protected, true, published, np.broadcast_to(people, published.shape), tolerance) & ~one_is_empty
    product = np.where(comparable, published.astype(np.float64) * people, 1.0)
    error = np.abs(protected * people - true * published) / product
    error = np.where(comparable, error, np.where(one_is_empty, ONE_IS_EMPTY, 0.0))
    return GroupShares(group.astype(np.int64), error, comparable, meets, people)


def _within(
    protected: Integers, true: Integers, published: Integers, people: Integers, tolerance: Fraction
) -> NDArray[np.bool_]:
    """Return |protected/published − true/people| ≤ tolerance without a division; true where a total is 0."""
    top, bottom = tolerance.numerator, tolerance.denominator
    largest = int(people.max(initial=0)) * int(published.max(initial=0)) * max(top, bottom)
    kind = np.int64 if largest <= _WIDEST else object
    left = np.abs(protected.astype(kind) * people - true.astype(kind) * published) * bottom
    within: NDArray[np.bool_] = (left <= published.astype(kind) * people * top).astype(bool)
    return within


@dataclass(frozen=True, slots=True, eq=False)
class RedistrictingResult:
    """How a level does on the criterion.

    Attributes:
        least_people: smallest true population of a unit that counts.
        units: how many there are.
        meeting: of them within the tolerance, ``int64[trials]``.
        coverage: share of units within the tolerance over all trials, with its Wilson interval. Units of one trial share their
            ancestors' noise, so with many trials the interval is narrower than what is known.
        required: share that is wanted.
        mean_error: of the comparable units, ``float64[trials]``, in shares; NaN without.
        error_quantiles: of the comparable units of all trials, at `QUANTILES`; NaN without.
        incomparable: units with people in only one of truth and estimate, ``int64[trials]``.
    """

    least_people: int
    units: int
    meeting: Integers
    coverage: Coverage
    required: Fraction
    mean_error: Floats
    error_quantiles: Floats
    incomparable: Integers

    @property
    def is_met(self) -> bool | None:
        """Whether the share over all trials is at least the wanted one, compared exactly; None without units."""
        if self.coverage.errors == 0:
            return None
        return self.coverage.held >= self.required * self.coverage.errors

    @property
    def trials_met(self) -> int:
        """In how many trials the share was at least the wanted one."""
        return sum(int(count) >= self.required * self.units for count in self.meeting) if self.units else 0


def redistricting_criterion(
    shares: GroupShares, *, least_people: int = LEAST_PEOPLE, required: Fraction = REQUIRED
) -> RedistrictingResult:
    """Return how the units with at least so many people (in truth) do.

    Args:
        shares: of the units that may be chosen, from `group_shares`.
        least_people: smallest true total of a unit that counts.
        required: share of units that has to meet the tolerance.
    """
    chosen = shares.people >= least_people
    units = int(np.count_nonzero(chosen))
    meeting = shares.meets[:, chosen].sum(axis=1)
    comparable = shares.comparable[:, chosen]
    error = shares.error[:, chosen]
    counts = comparable.sum(axis=1)
    sums = np.where(comparable, error, 0.0).sum(axis=1)
    compared = error[comparable]
    return RedistrictingResult(
        least_people=least_people,
        units=units,
        meeting=meeting,
        coverage=coverage_of(int(meeting.sum()), units * len(meeting)),
        required=required,
        mean_error=np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0),
        error_quantiles=np.quantile(compared, QUANTILES) if len(compared) else np.full(len(QUANTILES), np.nan),
        incomparable=(error == ONE_IS_EMPTY).sum(axis=1),
    )


@dataclass(frozen=True, slots=True, eq=False)
class MeetingCounts:
    """In how many trials each unit was within the tolerance: all that shares of units need, however many trials there are.

    Attributes:
        people: true total of each unit, ``int64[units]``.
        meeting: trials within the tolerance, ``int64[units]``.
        trials: how many.
    """

    people: Integers
    meeting: Integers
    trials: int

    def coverage(self, least_people: int = LEAST_PEOPLE) -> Coverage:
        """Return the share over all trials of the units with at least so many people, with its Wilson interval."""
        chosen = self.people >= least_people
        return coverage_of(int(self.meeting[chosen].sum()), int(np.count_nonzero(chosen)) * self.trials)

    def by_size(self, classes: SizeClasses = FIFTIES) -> dict[str, Coverage]:
        """Return the share of units within the tolerance by true population, classes with units only."""
        found = classes.class_of(self.people)
        return {
            classes.labels[index]: coverage_of(
                int(self.meeting[found == index].sum()), int(np.count_nonzero(found == index)) * self.trials
            )
            for index in np.unique(found).tolist()
        }

    def with_trials(self, shares: GroupShares) -> MeetingCounts:
        """Return the counts with further trials of the same units."""
        return MeetingCounts(self.people, self.meeting + shares.meets.sum(axis=0), self.trials + len(shares.meets))


def meeting_of(shares: GroupShares) -> MeetingCounts:
    """Return in how many trials each unit was within the tolerance."""
    return MeetingCounts(shares.people, shares.meets.sum(axis=0).astype(np.int64), len(shares.meets))
