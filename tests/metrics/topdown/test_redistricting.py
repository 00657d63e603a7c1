from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from phexplore.metrics.coverage import wilson_interval
from phexplore.metrics.topdown.redistricting import (
    ONE_IS_EMPTY,
    group_shares,
    meeting_of,
    redistricting_criterion,
)

GROUPS = arrays(np.int64, (4, 3), elements=st.integers(0, 60))


def plain(truth, published):
    """Group, error and verdict of one unit, in fractions."""
    people, total = sum(truth), sum(published)
    group = max(range(len(published)), key=lambda index: (published[index], -index))
    if people == 0 and total == 0:
        return group, 0.0, True
    if people == 0 or total == 0:
        return group, ONE_IS_EMPTY, False
    error = abs(Fraction(published[group], total) - Fraction(truth[group], people))
    return group, float(error), error <= Fraction(1, 20)


@given(GROUPS, arrays(np.int64, (2, 4, 3), elements=st.integers(0, 60)))
def test_that_shares_are_compared_as_fractions(truth, estimate):
    found = group_shares(truth, estimate)
    for trial in range(2):
        for unit in range(4):
            group, error, meets = plain(truth[unit].tolist(), estimate[trial, unit].tolist())
            assert found.group[trial, unit] == group
            assert found.error[trial, unit] == pytest.approx(error, abs=1e-15)
            assert found.meets[trial, unit] == meets


@pytest.mark.parametrize(
    ("truth", "published", "meets"),
    [
        ([50, 50], [55, 45], True),  # 50 % to 55 %: exactly 5 points
        ([500, 500], [551, 449], False),
        ([60, 40], [40, 60], False),  # the other group is the largest now: 40 % to 60 %
        ([0, 0], [0, 0], True),
        ([0, 0], [1, 0], False),
        ([1, 0], [0, 0], False),
        ([300_000_000, 30_000_000], [283_500_000, 46_500_000], True),
        ([300_000_000, 30_000_000], [283_499_999, 46_500_001], False),
    ],
)
def test_that_five_points_are_within_and_a_hair_more_is_not(truth, published, meets):
    assert group_shares(np.array([truth]), np.array([published])).meets.tolist() == [[meets]]


def test_that_equally_large_groups_give_the_first():
    assert group_shares(np.array([[1, 2, 3]]), np.array([[7, 7, 2]])).group.tolist() == [[0]]


def test_that_numbers_too_large_for_a_word_are_compared_exactly():
    truth = np.array([[2**40, 2**40]])
    exact = group_shares(truth, np.array([[11 * 2**38, 9 * 2**38]]))
    more = group_shares(truth, np.array([[11 * 2**38 + 1, 9 * 2**38 - 1]]))
    assert (exact.meets.item(), more.meets.item()) == (True, False)


@pytest.mark.parametrize("least_people", [0, 1, 400, 10**6])
def test_that_the_criterion_counts_units_by_true_population(drawn, least_people):
    truth, estimate = drawn
    shares = group_shares(truth, estimate)
    found = redistricting_criterion(shares, least_people=least_people)
    chosen = [unit for unit in range(len(truth)) if truth[unit].sum() >= least_people]
    rows = [[plain(truth[unit].tolist(), trial[unit].tolist()) for unit in chosen] for trial in estimate]
    assert found.units == len(chosen)
    assert found.meeting.tolist() == [sum(meets for _, _, meets in row) for row in rows]
    assert found.incomparable.tolist() == [sum(error == ONE_IS_EMPTY for _, error, _ in row) for row in rows]
    if not chosen:
        assert found.is_met is None
        assert np.isnan(found.mean_error).all()
        return
    # A place without people in both is exact and passes, but has no shares to compare.
    comparable = [
        [error for unit, (_, error, _) in zip(chosen, row, strict=True) if truth[unit].sum() and trial[unit].sum()]
        for row, trial in zip(rows, estimate, strict=True)
    ]
    assert np.allclose(found.mean_error, [np.mean(errors) for errors in comparable])
    assert np.allclose(found.error_quantiles[[0, 10, -1]], np.quantile(np.concatenate(comparable), [0, 0.5, 1]))
    held, of = int(found.meeting.sum()), 3 * len(chosen)
    assert (found.coverage.share.low, found.coverage.share.high) == wilson_interval(held, of)
    assert found.is_met == (held / of >= 0.95)


@pytest.mark.parametrize(("good", "met"), [(19, True), (18, False), (20, True)])
def test_that_exactly_ninety_five_percent_is_enough(good, met):
    truth = np.tile([600, 400], (20, 1))
    estimate = truth.copy()
    estimate[good:] = [400, 600]
    found = redistricting_criterion(group_shares(truth, estimate))
    assert found.is_met is met
    assert found.trials_met == int(met)


def test_that_classes_of_size_are_judged_apart(drawn):
    truth, estimate = drawn
    shares = group_shares(truth, estimate)
    found = meeting_of(shares).by_size()
    people = truth.sum(axis=1)
    assert found["0"].errors == 3 * (people == 0).sum()
    inside = (people >= 501) & (people <= 550)
    assert found["501-550"].held == shares.meets[:, inside].sum()
    assert sum(coverage.errors for coverage in found.values()) == shares.meets.size


def test_that_shares_of_something_else_are_refused():
    with pytest.raises(ValueError, match="0 or more"):
        group_shares(np.array([[1, 2]]), np.array([[-1, 2]]))
    with pytest.raises(ValueError, match="units and groups"):
        group_shares(np.array([1, 2]), np.array([1, 2]))
