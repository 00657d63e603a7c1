from __future__ import annotations

import numpy as np
import pytest

from phexplore.accuracy.published_counts import ALPHA, count_tables, publish_counts
from phexplore.catalog.tables import tables


def cells_of(table):
    return tuple(cell.code for cell in tables()[table].basis_cells)


def test_that_the_sums_are_those_of_the_reference():
    """The sums that SDHC_Model_Based_Estimates 3.0.2.2 makes, in the order in which it draws them."""
    reference = {
        "PH2": {2: (3, 4), 5: (6, 7), 8: (9, 10), 11: (12, 13), 1: (3, 4, 6, 7, 9, 10, 12, 13)},
        "PH3": {3: (4, 5, 6, 7), 8: (9, 10), 1: (2, 4, 5, 6, 7, 9, 10)},
        "PH4": {1: (2, 3)},
        "PH6": {
            2: (3, 4, 5, 6),
            7: (8, 9, 10, 11),
            12: (13, 14, 15, 16),
            17: (18, 19, 20, 21),
            1: (3, 4, 5, 6, 8, 9, 10, 11, 13, 14, 15, 16, 18, 19, 20, 21),
        },
        "PH7": {1: (2, 3, 4)},
    }
    found = {table: list(sums.items()) for table, sums in count_tables().items()}
    assert found == {table: list(sums.items()) for table, sums in reference.items()}


@pytest.mark.parametrize("table", count_tables())
def test_that_published_tables_add_up_and_hold_no_negative_count(table):
    random = np.random.default_rng(3)
    cells = cells_of(table)
    noisy = random.normal(30, 60, (40, len(cells))).round().astype(np.int64)
    found = publish_counts(table, cells, noisy, np.full(noisy.shape, 900.0), seed=1, draws=2000)
    assert (found.estimate >= 0).all()
    assert (found.low >= 0).all()
    assert (found.low <= found.high).all()
    for cell, parts in count_tables()[table].items():
        columns = [found.column(part) for part in parts]
        assert (found.estimate[:, found.column(cell)] == found.estimate[:, columns].sum(axis=1)).all()
        assert (found.noisy[:, found.column(cell)] == found.noisy[:, columns].sum(axis=1)).all()


def test_that_far_from_zero_nothing_changes_and_intervals_are_normal():
    noisy = np.array([[10_000, 20_000, 30_000]])
    found = publish_counts("PH7", (2, 3, 4), noisy, np.full((1, 3), 100.0), seed=1)
    assert found.estimate[0, :3].tolist() == noisy[0].tolist()
    width = 1.6448536269514722 * 300**0.5
    assert (found.low[0, 3], found.high[0, 3]) == (np.floor(60_000 - width), np.ceil(60_000 + width))


def test_that_the_interval_of_a_sum_is_not_the_sum_of_intervals():
    noisy = np.array([[3, -8]])
    found = publish_counts("PH4", (2, 3), noisy, np.full((1, 2), 100.0), seed=4)
    # By brute force: a million draws of both cells, kept where none is negative.
    random = np.random.default_rng(9)
    drawn = random.normal(noisy[0], 10, (4_000_000, 2))
    total = drawn[(drawn >= 0).all(axis=1)].sum(axis=1)
    low, high = np.quantile(total, (ALPHA, 1 - ALPHA))
    # Monte-Carlo error of either quantile below 0.1 people: after rounding outward they agree to a person.
    assert abs(found.low[0, 2] - np.floor(low)) <= 1
    assert abs(found.high[0, 2] - np.ceil(high)) <= 1
    assert found.high[0, 2] < found.high[0, :2].sum()


def test_that_a_count_far_below_zero_gets_a_small_estimate_not_infinity():
    found = publish_counts("PH4", (2, 3), np.array([[-500, 40]]), np.full((1, 2), 25.0), seed=1)
    assert found.estimate[0, 0] == 0
    assert 0 <= found.low[0, 0] <= found.high[0, 0] <= 1


def test_that_no_noise_is_published_as_it_is():
    found = publish_counts("PH4", (2, 3), np.array([[7, 0]]), np.zeros((1, 2)), seed=1)
    assert found.estimate[0].tolist() == [7, 0, 7]
    assert (found.low[0] == found.high[0]).all()


def test_that_nine_of_ten_intervals_hold_the_truth():
    # 2 000 groups of 3 cells: standard error of a coverage of 0.9 is 0.004 per cell; ±0.02 is five of them.
    random = np.random.default_rng(11)
    truth = random.integers(20, 3000, (2000, 3))
    noisy = truth + random.normal(0, 12, truth.shape).round().astype(np.int64)
    found = publish_counts("PH7", (2, 3, 4), noisy, np.full(noisy.shape, 144.0), seed=2, draws=4000)
    whole = np.concatenate([truth, truth.sum(axis=1, keepdims=True)], axis=1)
    held = ((found.low <= whole) & (whole <= found.high)).mean(axis=0)
    assert (held > 0.89).all()  # rounding outward holds a little more
    assert (held < 0.95).all()


def test_that_the_same_seed_gives_the_same_bytes_and_wrong_shapes_are_refused():
    noisy, variance = np.array([[1, 2]]), np.full((1, 2), 30.0)
    first, second = (publish_counts("PH4", (2, 3), noisy, variance, seed=5, draws=500) for _ in range(2))
    assert (first.low == second.low).all()
    with pytest.raises(ValueError, match="columns"):
        publish_counts("PH4", (2, 3, 4), noisy, variance, seed=5)
    with pytest.raises(ValueError, match="0 or more"):
        publish_counts("PH4", (2, 3), noisy, -variance, seed=5)
