from __future__ import annotations

import numpy as np
import pytest

from phexplore.metrics.topdown.accuracy import by_diversity, goal, level_accuracy


def test_that_figures_of_a_level_are_those_of_a_plain_loop(drawn):
    truth, estimate = drawn
    found = level_accuracy(truth, estimate)
    for trial, published in enumerate(estimate):
        sizes = [
            [abs(int(p) - int(t)) for p, t in zip(row, true, strict=True)]
            for row, true in zip(published, truth, strict=True)
        ]
        both = [not t.any() and not p.any() for t, p in zip(truth, published, strict=True)]
        assert found.one_minus_tvd[trial] == pytest.approx(1 - sum(map(sum, sizes)) / (2 * truth.sum()))
        assert found.sum_absolute[trial] == sum(map(sum, sizes))
        assert found.mean_largest[trial] == pytest.approx(sum(map(max, sizes)) / len(truth))
        assert found.mean_largest_of_inhabited[trial] == pytest.approx(sum(map(max, sizes)) / both.count(False))
        assert found.largest[trial] == max(map(max, sizes))
        assert found.empty_in_estimate[trial] == sum(not p.any() for p in published)
        assert found.empty_in_both[trial] == both.count(True)
        totals = published.sum(axis=1) - truth.sum(axis=1)
        assert found.total_error[trial] == totals.sum()
        assert found.total_absolute_error[trial] == np.abs(totals).sum()
    assert found.empty_in_truth == sum(not t.any() for t in truth)


def test_that_undefined_figures_are_nan():
    empty = level_accuracy(np.zeros((2, 3), int), np.zeros((2, 3), int))
    assert np.isnan(empty.one_minus_tvd).all()
    assert np.isnan(empty.mean_largest_of_inhabited).all()
    none = level_accuracy(np.zeros((0, 3), int), np.zeros((2, 0, 3), int))
    assert np.isnan(none.mean_largest).all()


def test_that_diversity_makes_five_equal_classes(drawn):
    truth, estimate = drawn
    found = by_diversity(truth, estimate)
    people = truth.sum(axis=1)
    inhabited = [unit for unit in range(len(truth)) if people[unit]]
    index = {unit: 1 - sum((count / people[unit]) ** 2 for count in truth[unit]) for unit in inhabited}
    ranked = sorted(inhabited, key=lambda unit: (index[unit], unit))
    sizes = [len(part) for part in np.array_split(ranked, 5)]
    assert [part.units for part in found] == sizes
    start = 0
    for part, size in zip(found, sizes, strict=True):
        chosen = ranked[start : start + size]
        start += size
        errors = estimate[:, chosen].sum(axis=2) - people[chosen]
        assert (part.low, part.high) == (pytest.approx(index[chosen[0]]), pytest.approx(index[chosen[-1]]))
        assert part.mean_error == pytest.approx(errors.mean())
        assert part.mean_absolute_error == pytest.approx(np.abs(errors).mean())
    assert by_diversity(truth[:3], truth[:3]) == ()


@pytest.mark.parametrize(("limit", "kept"), [(0, [1, 0]), (20, [2, 2]), (21, [3, 2])])
def test_that_a_goal_is_kept_up_to_its_limit(limit, kept):
    truth = np.array([100, 200, 300])
    estimate = np.array([[100, 220, 279], [101, 219, 400]])
    found = goal(truth, estimate, limit)
    assert found.kept.tolist() == kept
    assert found.units == 3
    assert found.mean_absolute_error.tolist() == pytest.approx([41 / 3, 40])
