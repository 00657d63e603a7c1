"""Coverage by distance from a limit, against a brute count, and in the class where theory says 90 %."""

from __future__ import annotations

import math

import numpy as np
import pytest

from phexplore.metrics.numbers import NumberKeys
from phexplore.systems.phsafe.published_coverage import (
    COMPARISON_COLUMNS,
    comparison_file,
    coverage_by_room,
    rooms,
)
from phexplore.systems.phsafe.publishing import ReleaseNumbers, coverage, publish, publish_exactly

SIGMA = 20.0


def counts_of_ph4(values, seed):
    """Return keys, truth and one noisy release of PH4 (two basis cells) with these true counts in both cells."""
    rows = [("PH4", "STATE", f"{n:04d}", "*", cell) for n in range(len(values)) for cell in (2, 3)]
    keys = NumberKeys(*(np.array(column) for column in zip(*rows, strict=True)))
    truth = np.repeat(np.array(values, np.int64), 2)
    noise = np.random.default_rng(seed).normal(0, SIGMA, len(truth)).round().astype(np.int64)
    return keys, truth, truth + noise


def judged(values, seed):
    keys, truth, noisy = counts_of_ph4(values, seed)
    variance = np.full(len(truth), SIGMA**2)
    published = publish(keys, noisy, variance, draws=1000)
    exact = publish_exactly(ReleaseNumbers(keys, truth, np.zeros(len(truth))))
    return published, exact, rooms(ReleaseNumbers(keys, truth, variance))


def test_that_far_from_zero_nine_of_ten_intervals_hold_and_at_zero_fewer() -> None:
    # 2,000 numbers per class: five standard errors of 0.9 are 0.034 (the sums share their parts).
    published, exact, room = judged([1000] * 700 + [0] * 700, 3)
    found = {(each.table, each.low): each.coverage for each in coverage_by_room(published, exact, room)}
    assert found["PH4", 6.0].share.value == pytest.approx(0.9, abs=0.034)
    assert found["PH4", 0.0].share.value < 0.7


def test_that_averaged_over_the_flat_prior_it_is_nine_of_ten() -> None:
    # Counts spread evenly from 0 to 40 σ: the prior of the method, up to its end. Five standard errors are 0.02.
    values = np.linspace(0, 40 * SIGMA, 3000).round().astype(int).tolist()
    published, exact, _ = judged(values, 4)
    assert coverage(published, exact)["PH4"].share.value == pytest.approx(0.9, abs=0.02)


def test_that_classes_add_up_to_the_whole_and_agree_with_a_count_by_hand() -> None:
    published, exact, room = judged(list(range(0, 300, 3)), 5)
    classes = coverage_by_room(published, exact, room)
    whole = coverage(published, exact)["PH4"]
    assert sum(each.coverage.errors for each in classes) == whole.errors
    assert sum(each.coverage.held for each in classes) == whole.held
    table = published[0]
    by_hand = sum(
        bool(table.low[row, column] <= exact["PH4", group, cell] <= table.high[row, column])
        for row, group in enumerate(table.groups)
        for column, cell in enumerate(table.cells)
        if exact["PH4", group, 2] < SIGMA
    )
    assert next(each for each in classes if each.low == 0).coverage.held == by_hand
    assert [each.title for each in classes] == ["below 1 σ", "1 to 3 σ", "3 to 6 σ", "from 6 σ on"]


def test_that_the_room_of_a_sum_is_that_of_its_smallest_part() -> None:
    keys = NumberKeys(*(np.array(c) for c in (["PH7"] * 3, ["USA"] * 3, ["1"] * 3, ["*"] * 3, [2, 3, 4])))
    found = rooms(ReleaseNumbers(keys, np.array([100, 5, 60]), np.array([100.0, 25.0, 0.0])))
    group = ("USA", "1", "*")
    assert [found["PH7", group, cell] for cell in (2, 3, 4)] == [10.0, 1.0, math.inf]
    assert found["PH7", group, 1] == 1.0


def test_that_the_room_of_an_average_is_its_smallest_slack() -> None:
    tables = ["PH1_num", "PH1_num", "PH1_denom", "PH8_num", "PH8_num", "PH8_denom", "PH8_denom"]
    columns = (tables, ["USA"] * 7, ["1"] * 7, ["*"] * 7, [2, 3, 1, 2, 3, 2, 3])
    keys = NumberKeys(*(np.array(column) for column in columns))
    counts = np.array([300, 900, 1000, 400, 90, 200, 80])
    variance = np.array([100.0, 100.0, 25.0, 4.0, 4.0, 4.0, 4.0])
    found = rooms(ReleaseNumbers(keys, counts, variance))
    group = ("USA", "1", "*")
    # One person per household at least: 1200 − 1000 over √(100 + 100 + 25).
    assert found["PH1", group, 1] == pytest.approx(200 / 15)
    assert found["PH8", group, 3] == pytest.approx((90 - 80) / math.sqrt(8))
    assert found["PH8", group, 1] == pytest.approx((490 - 280) / 4)


def test_that_the_comparison_lists_every_number_with_its_truth() -> None:
    published, exact, room = judged([10, 200], 6)
    lines = comparison_file(published, exact, room).decode().splitlines()
    assert tuple(lines[0].split("|")) == COMPARISON_COLUMNS
    assert len(lines) == 1 + 2 * 3
    cells = dict(zip(COMPARISON_COLUMNS, lines[1].split("|"), strict=True))
    assert float(cells["TRUTH"]) == exact["PH4", ("STATE", cells["REGION_ID"], "*"), int(cells["DATA_CELL"])]
