from __future__ import annotations

import numpy as np
import pytest

from phexplore.metrics.topdown.redistricting import group_shares
from phexplore.metrics.topdown.worst import Reason, WorstBy, WorstTally

LABELS = ("a", "b", "c", "d")


def worst_units(truth, trials, by=WorstBy.TOTAL, **chosen):
    tally = WorstTally(truth, by)
    for trial in trials:
        tally.add(trial)
    return tally.units(**chosen)


def share_errors(truth, trials):
    """The mean over the trials in which both truth and estimate have people; as one from nobody to nobody is right."""
    shares = group_shares(truth, trials)
    has_share = shares.comparable | (shares.error == 0)
    sums, trials_with_one = (shares.error * has_share).sum(axis=0), has_share.sum(axis=0)
    return np.where(trials_with_one > 0, sums / np.maximum(trials_with_one, 1), -1.0)  # never listed


@pytest.mark.parametrize("by", WorstBy)
def test_that_units_are_ordered_by_the_mean_over_trials(drawn, by):
    truth, estimate = drawn
    people, totals = truth.sum(axis=1), estimate.sum(axis=2)
    size = np.abs(totals - people)
    expected = {
        WorstBy.TOTAL: size.mean(axis=0),
        WorstBy.RELATIVE: np.where(people > 0, 100 * size / np.maximum(people, 1), 200.0 * (size > 0)).mean(axis=0),
        WorstBy.CELLS: np.abs(estimate - truth).sum(axis=2).mean(axis=0),
        WorstBy.LARGEST_GROUP: share_errors(truth, estimate),
    }[by]
    found = worst_units(truth, estimate, by=by, count=10)
    assert [unit.error for unit in found] == pytest.approx(sorted(expected, reverse=True)[:10])
    for unit in found:
        assert unit.error == pytest.approx(expected[unit.unit])
        assert (unit.truth, unit.estimate) == (people[unit.unit], pytest.approx(totals[:, unit.unit].mean()))
        sizes = np.abs(estimate[:, unit.unit] - truth[unit.unit]).mean(axis=0)
        assert sizes[unit.cell] == sizes.max()
        assert unit.cell_share == pytest.approx(sizes.max() / sizes.sum())


def test_that_small_units_can_be_left_out(drawn):
    truth, estimate = drawn
    found = worst_units(truth, estimate, count=100, least_people=500)
    assert len(found) == (truth.sum(axis=1) >= 500).sum()
    assert min(unit.truth for unit in found) >= 500


@pytest.mark.parametrize(("estimate", "said"), [(600, "40 too low"), (650, "10 too high")])
def test_that_one_number_is_not_mostly_itself(estimate, said):
    (unit,) = worst_units(np.array([[640]]), np.array([[[estimate]]]), count=1)
    assert unit.reason is Reason.ONE_CELL
    assert unit.sentence("X", ["all"], "people") == f"X: published {said} (640 → {estimate} people)."
    assert unit.brief(["all"], "people") == f"640 → {estimate}"


@pytest.mark.parametrize(
    ("truth", "estimate", "reason", "said"),
    [
        ([9, 9, 9, 9], [9, 9, 9, 9], Reason.EXACT, "X: nothing is off."),
        ([0, 0, 0, 0], [0, 3, 4, 0], Reason.FROM_NOTHING, "X has no people; 7 were put there."),
        ([1, 2, 0, 0], [0, 0, 0, 0], Reason.EMPTIED, "X: none of 3 people are published."),
        (
            [5, 5, 5, 5],
            [5, 25, 6, 4],
            Reason.ONE_CELL,
            "published 20 too high (20 → 40 people); 91 % of the error is in one group (b: 5 became 25)",
        ),
        ([5, 5, 5, 5], [8, 8, 8, 9], Reason.ALL_RAISED, "published 13 too high (20 → 33 people); no group lost ("),
        ([9, 9, 9, 9], [6, 6, 6, 5], Reason.ALL_LOWERED, "published 13 too low (36 → 23 people); no group gained ("),
        ([90, 90, 90, 90], [96, 84, 95, 86], Reason.SPREAD, "spread over many groups"),  # says nothing about the total
        ([9, 9, 9, 9], [15, 15, 14, 5], Reason.SMALL, "X is small: 36 people, published 49"),
        ([90, 90, 90, 90], [96, 96, 95, 86], Reason.SPREAD, "spread over many groups"),
    ],
)
def test_that_every_unit_has_the_reason_that_fits(truth, estimate, reason, said):
    (unit,) = worst_units(np.array([truth]), np.array([[estimate]]), count=20)
    assert unit.reason is reason
    assert said in unit.sentence("X", LABELS, "people")
    assert not {"because", "since", "took"} & set(unit.sentence("X", LABELS, "people").split()), "no cause is measured"
    of_units = unit.sentence("X", LABELS, "housing units")
    assert "people" not in of_units
    assert of_units.replace("housing units", "people") == unit.sentence("X", LABELS, "people")


def test_that_a_mean_that_is_whole_is_written_whole():
    trials = np.array([[[1, 0, 1, 1]], [[0, 1, 1, 0]], [[0, 0, 1, 0]]])  # thirds whose sum is not quite 2
    (unit,) = worst_units(np.array([[9, 9, 9, 9]]), trials, count=1)
    assert unit.brief(LABELS, "people").endswith("(36 → 2)")


@pytest.mark.parametrize("by", WorstBy)
def test_that_a_reason_is_about_what_is_measured(by):
    """An error of the total is no move between cells, and one that goes both ways is not in its mean."""
    truth, one = np.array([[90, 90, 90, 90]]), [[96, 84, 95, 86]]
    is_of_cells = by in {WorstBy.CELLS, WorstBy.LARGEST_GROUP}
    (once,) = worst_units(truth, np.array([one]), by=by, count=1)
    assert once.brief(LABELS, "people").startswith("people moved between groups" if is_of_cells else "spread over many")
    (unit,) = worst_units(truth, np.array([[[100, 92, 97, 95]], [[81, 86, 84, 86]]]), by=by, count=1)
    assert (unit.reason is Reason.BOTH_WAYS) is not is_of_cells
    if not is_of_cells:
        assert "published 360.5 on average, too high in some trials" in unit.sentence("X", LABELS, "people")


def test_that_a_unit_without_people_has_no_share_that_is_off():
    """As in summaries and on the map: no mean counts a trial where only one of truth and estimate has people."""
    truth = np.array([[0, 0], [6, 4], [8, 2]])
    trials = np.array([[[3, 1], [5, 5], [0, 0]], [[0, 2], [7, 3], [6, 4]]])
    found = worst_units(truth, trials, by=WorstBy.LARGEST_GROUP, count=3)
    assert [(unit.unit, unit.error) for unit in found] == [(2, pytest.approx(0.2)), (1, pytest.approx(0.1))]
