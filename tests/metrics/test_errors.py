from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from phexplore.metrics.errors import KNOWN, Metric, figure_title, percent_differences

COUNTS = st.integers(0, 10_000)


def values(name: str, truth: list[int], estimate: list[int]) -> float:
    return float(KNOWN[name].function(np.array(truth, np.int64), np.array(estimate, np.int64)))


def percent(truth: int, estimate: int) -> float:
    """The workbook's rule, written out."""
    difference = estimate - truth
    if truth == 0:
        return 0.0 if difference == 0 else math.copysign(200.0, difference)
    return 100.0 * difference / truth


def quantile(sizes: list[int], probability: float) -> float:
    """Linear interpolation between order statistics, written out."""
    ordered = sorted(sizes)
    place = probability * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def share_off(truth: list[int], estimate: list[int], wanted: Callable[[float], bool]) -> float:
    percents = [abs(percent(t, e)) for t, e in zip(truth, estimate, strict=True)]
    return sum(map(wanted, percents)) / len(percents)


def off(truth: list[int], estimate: list[int]) -> list[int]:
    return [e - t for t, e in zip(truth, estimate, strict=True)]


def sizes(truth: list[int], estimate: list[int]) -> list[int]:
    return [abs(d) for d in off(truth, estimate)]


def root(truth: list[int], estimate: list[int]) -> float:
    return math.sqrt(statistics.fmean(d * d for d in off(truth, estimate)))


def shares_off(truth: list[int], estimate: list[int]) -> float:
    if not sum(truth) or not sum(estimate):
        return math.nan
    return sum(abs(t / sum(truth) - e / sum(estimate)) for t, e in zip(truth, estimate, strict=True))


BRUTE_FORCE: dict[str, Callable[[list[int], list[int]], float]] = {
    "me": lambda t, e: statistics.fmean(off(t, e)),
    "mae": lambda t, e: statistics.fmean(sizes(t, e)),
    "rmse": root,
    "malpe": lambda t, e: statistics.fmean(map(percent, t, e)),
    "mape": lambda t, e: statistics.fmean(abs(percent(a, b)) for a, b in zip(t, e, strict=True)),
    "cv": lambda t, e: 100 * root(t, e) / statistics.fmean(t) if sum(t) else math.nan,
    "abs-median": lambda t, e: quantile(sizes(t, e), 0.5),
    "abs-p90": lambda t, e: quantile(sizes(t, e), 0.9),
    "abs-p95": lambda t, e: quantile(sizes(t, e), 0.95),
    "abs-max": lambda t, e: max(sizes(t, e)),
    "off-2-to-5": lambda t, e: share_off(t, e, lambda p: 2 <= p <= 5),
    "off-over-5": lambda t, e: share_off(t, e, lambda p: p > 5),
    "off-over-10": lambda t, e: share_off(t, e, lambda p: p > 10),
    "off-over-200-people": lambda t, e: sum(d > 200 for d in sizes(t, e)) / len(t),
    "taes": shares_off,
}


@pytest.mark.parametrize("name", KNOWN)
@settings(max_examples=40)
@given(pairs=st.lists(st.tuples(COUNTS, st.integers(-500, 10_000)), min_size=1, max_size=30))
def test_that_a_metric_equals_its_definition_written_out(name: str, pairs: list[tuple[int, int]]) -> None:
    truth, estimate = map(list, zip(*pairs, strict=True))
    assert values(name, truth, estimate) == pytest.approx(BRUTE_FORCE[name](truth, estimate), rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("metric", KNOWN.values(), ids=KNOWN)
class TestEveryMetric:
    def test_that_a_perfect_estimate_has_no_error(self, metric: Metric) -> None:
        truth = np.array([0, 3, 70, 12_345], np.int64)
        assert float(metric.function(truth, truth)) == 0

    def test_that_groups_are_measured_along_the_last_axis(self, metric: Metric) -> None:
        rng = np.random.default_rng(3)
        truth = rng.integers(0, 500, (4, 2, 9))
        estimate = truth + rng.integers(-30, 30, truth.shape)
        together = metric.function(truth, estimate)
        assert together.shape == (4, 2)
        assert together[3, 1] == pytest.approx(float(metric.function(truth[3, 1], estimate[3, 1])))

    def test_that_no_numbers_give_no_figure(self, metric: Metric) -> None:
        none = np.empty((2, 0), np.int64)
        found = metric.function(none, none)
        assert found.shape == (2,)
        assert np.isnan(found).all()

    def test_that_unequal_shapes_are_refused(self, metric: Metric) -> None:
        with pytest.raises(ValueError, match="one shape"):
            metric.function(np.zeros(3, np.int64), np.zeros(4, np.int64))

    def test_that_it_is_described(self, metric: Metric) -> None:
        assert metric.text
        assert metric.unit in {"people", "%", "share"}


@pytest.mark.parametrize(
    ("truth", "estimate", "expected"),
    [(0, 0, 0.0), (0, 7, 200.0), (0, -7, -200.0), (100, 103, 3.0), (100, 0, -100.0), (4, -4, -200.0)],
)
def test_that_a_truth_of_zero_follows_the_rule_of_the_census_workbook(
    truth: int, estimate: int, expected: float
) -> None:
    assert percent_differences(np.array([truth]), np.array([estimate])).tolist() == [expected]


def test_that_shares_off_are_counted_at_their_limits_as_the_workbook_does() -> None:
    truth, estimate = [100] * 5, [102, 105, 106, 110, 111]
    assert values("off-2-to-5", truth, estimate) == 2 / 5
    assert values("off-over-5", truth, estimate) == 3 / 5
    assert values("off-over-10", truth, estimate) == 1 / 5


@given(hnp.arrays(np.int64, st.integers(1, 20), elements=st.integers(0, 10**12)))
def test_that_large_counts_are_exact(truth: np.ndarray) -> None:
    assert float(KNOWN["me"].function(truth, truth + 1)) == 1


def test_that_figures_that_are_means_over_trials_say_so():
    assert figure_title("abs-p95") == "95th percentile of the absolute error, mean over trials"
    assert figure_title("abs-max").endswith("mean over trials")
    assert figure_title("coverage") == "coverage"
