"""From how many people on is a number of a level reliable?

Reliable means: at least 95 % of the units with at least N people meet the redistricting criterion's 5 percentage points. The share that meets it is
no monotone function of N, since single units enter it, so no bisection is made: every N is looked at. Two answers are given, the
smallest N at which the requirement holds, and the smallest from which on it holds for every larger N too, as long as
enough units are left to tell (Wright and Irimata 2021 report the like per class of 50 people).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from phexplore.metrics.coverage import Coverage, coverage_of
from phexplore.metrics.topdown.redistricting import REQUIRED, GroupShares, MeetingCounts, meeting_of
from phexplore.metrics.topdown.shapes import Integers

LEAST_UNITS = 20
"""With fewer units a single one decides whether 95 % meet the criterion."""


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """From how many people on units are reliable.

    Attributes:
        people: the smallest N such that the units with at least N people meet the requirement; None if no N does.
        lasting: the smallest N from which on every larger N does too, while at least `least_units` units are left; None if none.
        units: with at least `people` people; 0 without it.
        coverage: of these units over all trials.
        least_units: fewer units are not judged.
        sizes: the distinct true populations, ascending.
        at_least: units with at least that many people, ``int64[sizes]``.
        meeting: of them, over all trials, ``int64[sizes]``.
        trials: how many.
    """

    people: int | None
    lasting: int | None
    units: int
    coverage: Coverage
    least_units: int
    sizes: Integers
    at_least: Integers
    meeting: Integers
    trials: int


@dataclass(frozen=True, slots=True, eq=False)
class MeetingSizes:
    """Units and those within the tolerance, by true population: it grows with the different populations, not with the units.

    Attributes:
        sizes: the distinct true populations, ascending, ``int64[sizes]``.
        units: how many have each, ``int64[sizes]``.
        meeting: of them within the tolerance, all trials added up, ``int64[sizes]``.
        trials: how many.
    """

    sizes: Integers
    units: Integers
    meeting: Integers
    trials: int


def meeting_sizes(shares: GroupShares | MeetingCounts) -> MeetingSizes:
    """Return the units of `redistricting.group_shares`, or of `redistricting.meeting_of`, by their true population."""
    counts = meeting_of(shares) if isinstance(shares, GroupShares) else shares
    sizes, place = np.unique(counts.people, return_inverse=True)
    units = np.bincount(place, minlength=len(sizes))
    meeting = np.bincount(place, weights=counts.meeting, minlength=len(sizes)).astype(np.int64)
    return MeetingSizes(sizes, units, meeting, counts.trials)


def sizes_together(parts: Sequence[MeetingSizes]) -> MeetingSizes:
    """Return several parts of a level, of the same trials, as one."""
    sizes, place = np.unique(np.concatenate([part.sizes for part in parts]), return_inverse=True)
    units, meeting = (
        np.bincount(place, weights=np.concatenate(counts), minlength=len(sizes)).astype(np.int64)
        for counts in ([part.units for part in parts], [part.meeting for part in parts])
    )
    return MeetingSizes(sizes, units, meeting, parts[0].trials)


def trials_together(parts: Sequence[MeetingSizes]) -> MeetingSizes:
    """Return several trials of the same units as one."""
    first = parts[0]
    meeting: Integers = np.sum([part.meeting for part in parts], axis=0)
    return MeetingSizes(first.sizes, first.units, meeting, sum(part.trials for part in parts))


def reliable_from(
    shares: GroupShares | MeetingCounts | MeetingSizes, *, required: Fraction = REQUIRED, least_units: int = LEAST_UNITS
) -> Reliability:
    """Return from how many people on units are reliable.

    Args:
        shares: see `redistricting.group_shares`, or the counts of `redistricting.meeting_of` or of `meeting_sizes`.
        required: share of units that must meet the tolerance.
        least_units: an N that leaves fewer units is not looked at.
    """
    counts = shares if isinstance(shares, MeetingSizes) else meeting_sizes(shares)
    trials, sizes, units, meeting = counts.trials, counts.sizes, counts.units, counts.meeting
    at_least = np.cumsum(units[::-1])[::-1]
    at_least_meeting = np.cumsum(meeting[::-1])[::-1]
    judged = at_least >= least_units
    holds = at_least_meeting * required.denominator >= at_least * trials * required.numerator
    reached = np.flatnonzero(judged & holds)
    broken = np.flatnonzero(judged & ~holds)
    last_broken = int(broken[-1]) if len(broken) else -1
    lasting = reached[reached > last_broken]
    index = int(reached[0]) if len(reached) else None
    return Reliability(
        people=None if index is None else _smallest(sizes, index),
        lasting=_smallest(sizes, int(lasting[0])) if len(lasting) else None,
        units=0 if index is None else int(at_least[index]),
        coverage=coverage_of(0, 0)
        if index is None
        else coverage_of(int(at_least_meeting[index]), int(at_least[index]) * trials),
        least_units=least_units,
        sizes=sizes,
        at_least=at_least,
        meeting=at_least_meeting,
        trials=trials,
    )


def _smallest(sizes: Integers, index: int) -> int:
    """Return the smallest N that leaves the units from a size on: one more than the next smaller size."""
    return int(sizes[index - 1]) + 1 if index else 0
