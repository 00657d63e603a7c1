from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.metrics.topdown.distribution import distribution_of, merge

ERRORS = st.lists(st.integers(-40, 40) | st.sampled_from([-(10**8), 10**8]), min_size=1, max_size=60)


@given(ERRORS, st.floats(0, 1))
def test_that_figures_are_those_of_the_errors_themselves(errors, probability):
    values = np.array(errors)
    found = distribution_of(values)
    assert found.total == len(errors)
    assert found.mean == pytest.approx(values.mean(), rel=1e-9, abs=1e-9)
    assert found.mean_absolute == pytest.approx(np.abs(values).mean(), rel=1e-9)
    assert found.root_mean_square == pytest.approx(np.sqrt((values.astype(float) ** 2).mean()), rel=1e-9)
    assert found.within(10) == pytest.approx((np.abs(values) <= 10).mean())
    assert found.quantile(probability) == np.quantile(values, probability, method="inverted_cdf")
    assert found.interpolated(probability) == pytest.approx(np.quantile(values, probability), rel=1e-9, abs=1e-6)
    assert found.sizes().quantile(probability) == np.quantile(np.abs(values), probability, method="inverted_cdf")


@given(ERRORS, ERRORS, ERRORS)
def test_that_parts_merge_in_any_order(one, two, three):
    whole = distribution_of(np.array([*one, *two, *three]))
    parts = [distribution_of(np.array(part)) for part in (one, two, three)]
    for ordered in (parts, parts[::-1], [merge(parts[:2]), parts[2]]):
        merged = merge(ordered)
        assert (merged.errors.tolist(), merged.counts.tolist()) == (whole.errors.tolist(), whole.counts.tolist())


@given(ERRORS, st.integers(1, 30))
def test_that_a_histogram_holds_every_error_once(errors, bins):
    edges, counts = distribution_of(np.array(errors)).histogram(bins)
    assert len(counts) <= bins
    assert counts.sum() == len(errors)
    assert len({*np.diff(edges).tolist()}) == 1
    expected, _ = np.histogram(errors, edges)
    assert counts.tolist() == expected.tolist()


def test_that_nothing_has_no_figures():
    nothing = distribution_of(np.empty(0, int))
    assert nothing.total == 0
    assert all(
        math.isnan(value)
        for value in (nothing.mean, nothing.mean_absolute, nothing.within(1), nothing.interpolated(0.5))
    )
    assert merge([]).total == 0
    with pytest.raises(ValueError, match="needs errors"):
        nothing.quantile(0.5)
    with pytest.raises(ValueError, match="needs errors"):
        nothing.histogram(5)


def test_that_a_probability_is_between_nothing_and_all():
    with pytest.raises(ValueError, match=r"1\.5"):
        distribution_of(np.array([1])).quantile(1.5)
