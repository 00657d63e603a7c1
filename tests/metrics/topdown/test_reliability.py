from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from phexplore.metrics.topdown.redistricting import (
    GroupShares,
    group_shares,
    meeting_of,
    redistricting_criterion,
)
from phexplore.metrics.topdown.reliability import reliable_from


def shares_of(people, meets):
    """Group shares with a given verdict per unit."""
    meets = np.atleast_2d(np.array(meets, bool))
    people = np.array(people)
    return GroupShares(np.zeros(meets.shape, int), np.zeros(meets.shape), np.ones(meets.shape, bool), meets, people)


def plain(shares, least_units, required=Fraction(19, 20)):
    """Both answers, by looking at every N."""

    def holds(least):
        chosen = shares.people >= least
        return shares.meets[:, chosen].sum() >= required * shares.meets[:, chosen].size

    judged = [least for least in range(int(shares.people.max()) + 1) if (shares.people >= least).sum() >= least_units]
    good = [least for least in judged if holds(least)]
    lasting = [least for least in good if all(holds(larger) for larger in judged if larger >= least)]
    return (min(good, default=None), min(lasting, default=None))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("least_units", [1, 5, 20])
def test_that_both_answers_are_those_of_looking_at_every_number(seed, least_units):
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 60, 150)
    meets = rng.random((2, 150)) < 0.8 + 0.2 * np.minimum(people / 40, 1)
    shares = shares_of(people, meets)
    found = reliable_from(shares, least_units=least_units)
    assert (found.people, found.lasting) == plain(shares, least_units)
    if found.people is not None:
        assert found.units == (people >= found.people).sum()
        assert found.coverage.held == meets[:, people >= found.people].sum()


def test_that_a_place_that_fails_above_the_answer_shows_as_not_lasting():
    people = [10] * 60 + [20] * 20 + [30] * 20
    meets = [True] * 60 + [True] * 20 + [False] * 5 + [True] * 15
    found = reliable_from(shares_of(people, meets), required=Fraction(9, 10))
    assert (found.people, found.lasting) == (0, None)


def test_that_the_smallest_number_lies_just_above_the_next_smaller_place():
    people = [5] * 30 + [50] * 30
    found = reliable_from(shares_of(people, [False] * 30 + [True] * 30))
    assert (found.people, found.lasting, found.units) == (6, 6, 30)


def test_that_without_reliable_places_there_is_no_answer():
    found = reliable_from(shares_of([5] * 30, [False] * 30))
    assert (found.people, found.lasting, found.units) == (None, None, 0)
    assert found.coverage.errors == 0
    few = reliable_from(shares_of([5] * 3, [True] * 3))
    assert few.people is None


def test_that_exact_estimates_are_reliable_from_nobody_on(drawn):
    truth, _ = drawn
    found = reliable_from(group_shares(truth, truth))
    assert (found.people, found.lasting, found.units) == (0, 0, len(truth))
    assert found.sizes.tolist() == sorted(set(truth.sum(axis=1).tolist()))


def test_that_counts_of_trials_one_by_one_give_the_same_answers(drawn):
    truth, estimate = drawn
    whole = group_shares(truth, estimate)
    counts = meeting_of(group_shares(truth, estimate[0]))
    for trial in estimate[1:]:
        counts = counts.with_trials(group_shares(truth, trial))
    assert counts.trials == len(estimate)
    assert counts.coverage(20) == redistricting_criterion(whole, least_people=20).coverage
    assert counts.by_size() == meeting_of(whole).by_size()
    for least_units in (1, 20):
        one, other = (reliable_from(each, least_units=least_units) for each in (counts, whole))
        assert (one.people, one.lasting, one.coverage) == (other.people, other.lasting, other.coverage)
        assert one.meeting.tolist() == other.meeting.tolist()
