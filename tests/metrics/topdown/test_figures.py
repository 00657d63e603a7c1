from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from phexplore.metrics.errors import KNOWN
from phexplore.metrics.topdown.figures import error_figures

COUNTS = arrays(np.int64, (3, 4), elements=st.integers(0, 300))


@given(COUNTS, arrays(np.int64, (2, 3, 4), elements=st.integers(0, 600)))
def test_that_every_figure_is_that_of_its_own_function(truth, estimate):
    found = error_figures(truth, estimate).by_id()
    for name, values in found.items():
        expected = [KNOWN[name].function(truth.ravel(), trial.ravel()) for trial in estimate]
        assert np.allclose(values, expected, rtol=1e-12, atol=1e-9, equal_nan=True), name
    assert set(found) == set(KNOWN) - {"abs-median", "abs-p90", "abs-p95"}


def plain(truth, estimate):
    """The figures of the census workbook, number by number."""
    percents, differences = [], []
    for true, published in zip(truth, estimate, strict=True):
        difference = published - true
        differences.append(difference)
        if true:
            percents.append(100 * difference / true)
        else:
            percents.append(0 if difference == 0 else 100 * difference / ((true + published) / 2))
    count = len(truth)
    square = sum(d * d for d in differences) / count
    return {
        "me": sum(differences) / count,
        "mae": sum(map(abs, differences)) / count,
        "rmse": square**0.5,
        "malpe": sum(percents) / count,
        "mape": sum(map(abs, percents)) / count,
        "cv": 100 * square**0.5 / (sum(truth) / count),
        "off_2_to_5": sum(2 <= abs(p) <= 5 for p in percents),
        "off_over_5": sum(abs(p) > 5 for p in percents),
        "off_over_10": sum(abs(p) > 10 for p in percents),
        "off_over_200": sum(abs(d) > 200 for d in differences),
        "largest": max(map(abs, differences)),
    }


def test_that_figures_are_those_of_a_plain_loop(drawn):
    truth, estimate = drawn
    found = error_figures(truth, estimate)
    for trial, values in enumerate(estimate):
        for name, value in plain(truth.ravel().tolist(), values.ravel().tolist()).items():
            assert getattr(found, name)[trial] == pytest.approx(value, rel=1e-12), name
    assert found.numbers == truth.size


@pytest.mark.parametrize(
    ("true", "published", "between", "over_5", "over_10"),
    [
        (100, 102, 1, 0, 0),
        (100, 98, 1, 0, 0),
        (100, 101, 0, 0, 0),
        (20, 21, 1, 0, 0),
        (20, 19, 1, 0, 0),
        (20, 22, 0, 1, 0),
        (10, 11, 0, 1, 0),
        (19, 21, 0, 1, 1),
        (0, 1, 0, 1, 1),
        (0, 0, 0, 0, 0),
        (300_000_000, 315_000_000, 1, 0, 0),
        (300_000_000, 315_000_001, 0, 1, 0),
    ],
)
def test_that_limits_in_percent_are_met_exactly(true, published, between, over_5, over_10):
    found = error_figures(np.array([true]), np.array([published]))
    assert (found.off_2_to_5[0], found.off_over_5[0], found.off_over_10[0]) == (between, over_5, over_10)


@pytest.mark.parametrize(("published", "percent"), [(0, 0.0), (1, 200.0), (500, 200.0)])
def test_that_an_error_where_nobody_lives_is_two_hundred_percent(published, percent):
    found = error_figures(np.array([0]), np.array([published]))
    assert (found.mape[0], found.malpe[0]) == (percent, percent)


def test_that_exact_estimates_have_no_error():
    truth = np.array([[3, 0], [10, 700]])
    found = error_figures(truth, truth).by_id()
    assert all(values.tolist() == [0.0] for values in found.values())


def test_that_undefined_figures_are_nan():
    zeros = error_figures(np.zeros(3, int), np.ones(3, int))
    assert np.isnan([zeros.cv[0], zeros.taes[0]]).all()
    nothing = error_figures(np.empty((0, 2), int), np.empty((4, 0, 2), int))
    assert np.isnan(nothing.mae).all()
    assert nothing.off_over_5.tolist() == [0] * 4
    assert len(error_figures(np.ones(2, int), np.ones((0, 2), int)).mae) == 0


@pytest.mark.parametrize("shape", [(2, 3, 4), (3,), (2, 4, 3)])
def test_that_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="estimates of a truth"):
        error_figures(np.zeros((4, 3), int), np.zeros((1, *shape), int))
    with pytest.raises(ValueError, match="whole numbers"):
        error_figures(np.zeros(3), np.zeros(3, int))
