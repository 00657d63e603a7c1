from __future__ import annotations

import math

import numpy as np
import pytest

from phexplore.metrics.accuracy_report import Expectation, Truth, accuracy_rows, covered
from phexplore.metrics.numbers import NumberKeys, cell_groups, level_groups
from phexplore.metrics.summary import level_metrics, number, overall_coverage, report_json, truncation_by_size
from phexplore.model.keys import TableId

STATES = ("09", "44", "72")
TRIALS = 5


@pytest.fixture
def keys() -> NumberKeys:
    """Two cells of PH2 in the nation and three states, interleaved."""
    regions = ["1", *STATES]
    return NumberKeys(
        table=np.array(["PH2"] * 8),
        region_type=np.array(["USA", "USA"] + ["STATE"] * 6),
        region_id=np.repeat(regions, 2),
        iteration_code=np.array(["*"] * 8),
        cell=np.array([3, 4] * 4),
    )


@pytest.fixture
def truth() -> Truth:
    untruncated = np.array([1000, 0, 400, 30, 350, 0, 250, 12])
    truncated = untruncated - np.array([9, 0, 5, 1, 3, 0, 1, 0])
    return Truth(truncated, untruncated, untruncated + np.array([0, 2, 0, 0, 0, 0, 0, 0]))


@pytest.fixture
def released(truth: Truth) -> np.ndarray:
    return truth.truncated + np.random.default_rng(3).integers(-8, 9, (TRIALS, 8))


EXPECTATION = Expectation(np.array([6.0, 6, 4, 4, 4, 4, 4, 4]), np.array([6.1] * 2 + [4.2] * 6), 0.9)


def test_that_production_s_margin_is_the_pooled_quantile_of_the_total_error(keys, truth, released) -> None:
    """Written out: |noisy − non-private| of one cell over regions and trials, sorted, linear interpolation at 0.9."""
    rows = accuracy_rows(cell_groups(keys), truth, EXPECTATION, lambda rows: released[:, rows])
    assert [(row.group.region_type, row.group.cell, row.count) for row in rows] == [
        ("USA", 3, 5), ("USA", 4, 5), ("STATE", 3, 15), ("STATE", 4, 15),
    ]  # fmt: skip
    for row in rows:
        errors = sorted(
            abs(int(released[trial, place]) - int(truth.non_private[place]))
            for trial in range(TRIALS)
            for place in range(8)
            if keys.region_type[place] == row.group.region_type and keys.cell[place] == row.group.cell
        )
        at = 0.9 * (len(errors) - 1)
        low = math.floor(at)
        expected = errors[low] + (at - low) * (errors[min(low + 1, len(errors) - 1)] - errors[low])
        assert row.experimental_moe.value == pytest.approx(expected)


def test_that_noise_and_truncation_are_reported_apart(keys, truth, released) -> None:
    state = accuracy_rows(cell_groups(keys), truth, EXPECTATION, lambda rows: released[:, rows])[2]
    places = [2, 4, 6]
    noise = released[:, places] - truth.truncated[places]
    assert state.noise_moe.value == pytest.approx(np.quantile(np.abs(noise), 0.9))
    assert state.coverage.held == int((np.abs(noise) <= 4).sum())
    assert state.bias == pytest.approx((-5 - 3 - 1) / 3)
    assert state.largest_bias == -5
    assert state.measured_bias == pytest.approx(noise.mean())
    assert (state.margin, state.expected_moe) == (4.0, 4.2)


def test_that_the_report_has_production_s_columns(keys, truth, released) -> None:
    row = report_json(accuracy_rows(cell_groups(keys), truth, EXPECTATION, lambda rows: released[:, rows])[0])
    production = ["TABLE", "REGION_TYPE", "ITERATION_CODE", "DATA_CELL", "EXPERIMENTAL_MOE", "COUNT", "EXPECTED_MOE"]
    assert list(row)[:7] == production


def test_that_level_metrics_average_over_trials_with_their_error(keys, truth, released) -> None:
    levels = level_groups(cell_groups(keys))
    (nation, state) = level_metrics(levels, truth, EXPECTATION, lambda rows: released[:, rows])
    assert (nation["table"], nation["level"], state["level"]) == ("PH2", "usa_*", "state_*")
    per_trial = np.abs(released[:, 2:] - truth.non_private[2:]).mean(axis=1)
    assert state["total"]["mae"]["value"] == pytest.approx(per_trial.mean())
    assert state["total"]["mae"]["error"] == pytest.approx(per_trial.std(ddof=1) / math.sqrt(TRIALS))
    noise = released[:, 2:] - truth.truncated[2:]
    assert state["noise"]["rmse"]["value"] == pytest.approx(np.sqrt((noise**2).mean()))  # of all errors, as reports say
    assert state["truncation"]["me"] == pytest.approx(-10 / 6)
    assert state["coverage"]["of"] == 6 * TRIALS


def test_that_cells_with_margins_of_their_own_are_judged_by_them() -> None:
    """PH8_num: owners add two noises, renters copy one; a margin of the one says nothing about the other."""
    keys = NumberKeys(
        table=np.array(["PH8_num"] * 4),
        region_type=np.array(["STATE"] * 4),
        region_id=np.array(["09", "09", "44", "44"]),
        iteration_code=np.array(["*"] * 4),
        cell=np.array([2, 3, 2, 3]),
    )
    noise = np.array([[14, 8, -13, -11], [-2, 12, 9, 10]])
    zero = np.zeros(4, np.int64)
    expectation = Expectation(np.array([14.1, 10, 14.1, 10]), np.array([14.1, 10, 14.1, 10]), 0.9)
    owners, renters = level_metrics(
        level_groups(cell_groups(keys)), Truth(zero, zero, zero), expectation, lambda rows: noise[:, rows]
    )
    assert [(entry["cells"], entry["numbers"], entry["margin"]) for entry in (owners, renters)] == [
        ([2], 2, 14.1),
        ([3], 2, 10.0),
    ]
    assert [(entry["coverage"]["held"], entry["coverage"]["of"]) for entry in (owners, renters)] == [(4, 4), (2, 4)]
    assert owners["observed_margin"]["value"] == pytest.approx(np.quantile([14, 13, 2, 9], 0.9))
    assert renters["noise"]["mae"]["value"] == pytest.approx((8 + 11 + 12 + 10) / 4)


def test_that_one_trial_has_no_error_between_trials(keys, truth, released) -> None:
    (nation, _) = level_metrics(level_groups(cell_groups(keys)), truth, EXPECTATION, lambda rows: released[:1, rows])
    assert nation["total"]["mae"]["error"] is None


def test_that_a_run_without_trials_gives_nulls_and_no_warning(keys, truth, released) -> None:
    groups = cell_groups(keys)
    (nation, _) = level_metrics(level_groups(groups), truth, EXPECTATION, lambda rows: released[:0, rows])
    assert nation["total"]["mae"] == {"value": None, "error": None}
    row = report_json(accuracy_rows(groups, truth, EXPECTATION, lambda rows: released[:0, rows])[0])
    assert row["EXPERIMENTAL_MOE"] is None
    assert row["coverage"]["value"] is None


def test_that_only_directly_measured_numbers_are_counted_as_covered(keys) -> None:
    measured = np.array([True] * 4 + [False] * 4)
    noise = np.array([6, -7, 4, -5, 0, 0, 0, 0])
    assert covered(keys, measured, noise, EXPECTATION.margin) == (2, 4)
    with pytest.raises(ValueError, match="one value per number"):
        covered(keys, measured[:3], noise, EXPECTATION.margin)


def test_that_overall_coverage_pools_trials(keys) -> None:
    found = overall_coverage([9, 8, 10], 10, 0.9)
    assert found["value"] == pytest.approx(0.9)
    assert (found["held"], found["of"]) == (27, 30)
    assert found["error_between_trials"] == pytest.approx(0.1 / math.sqrt(3))
    assert overall_coverage([], 0, 0.9)["value"] is None


def test_that_a_household_loses_what_exceeds_the_threshold() -> None:
    households = np.bincount([0, 1, 3, 3, 4, 5], minlength=10)
    (entry,) = truncation_by_size({TableId("PH4"): households}, {TableId("PH4"): 3})
    assert entry["tau"] == 3
    assert {row["size"]: (row["households"], row["persons"], row["cut"]) for row in entry["sizes"]} == {
        1: (1, 1, 0),
        3: (2, 6, 0),
        4: (1, 4, 1),
        5: (1, 5, 2),
    }


@pytest.mark.parametrize(("value", "expected"), [(1.5, 1.5), (math.nan, None), (math.inf, None)])
def test_that_json_gets_null_for_what_it_cannot_spell(value: float, expected: float | None) -> None:
    assert number(value) == expected
