from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from phexplore.simulate.group_sizes.chain_kernel import at_least, fit_monotone


def fitted(answers, weights, lower, upper):
    out = np.empty(len(answers), np.int64)
    fit_monotone(answers * weights, weights, lower, upper, out)
    return out


@pytest.mark.parametrize(
    ("flat", "steep"), [(5000, 0), (0, 5000), (20_000, 4000), (4000, 20_000), (6000, 1), (1, 6000), (3000, 3000)]
)
@pytest.mark.parametrize("spread", [0, 3, 60])
def test_that_long_chains_equal_the_rounded_isotonic_regression(flat, steep, spread):
    random = np.random.default_rng(flat + steep + spread)
    rises = np.concatenate([np.zeros(flat // 2), random.poisson(30, steep), np.zeros(flat - flat // 2)]).astype(
        np.int64
    )
    exact = np.cumsum(rises)
    answers = exact + random.integers(-spread, spread + 1, len(exact))
    weights = random.integers(1, 4, len(exact))
    upper = int(exact[-1])
    found = fitted(answers, weights, 0, upper)
    means = isotonic_regression(answers.astype(float), weights=weights.astype(float)).x
    # The mean of a block is a fraction with a denominator of at most 1e5: its rounding is plain to see.
    expected = np.clip(np.floor(means + 0.5 + 1e-7), 0, upper).astype(np.int64)
    assert (found == expected).all()


def test_that_random_walks_and_falling_chains_are_fitted():
    random = np.random.default_rng(3)
    for answers in (np.cumsum(random.integers(-5, 6, 30_000)), np.arange(30_000)[::-1].copy(), np.full(30_000, 7)):
        weights = np.ones(len(answers), np.int64)
        for lower, upper in ((-(10**6), 10**6), (-10, 10), (5, 5)):
            means = isotonic_regression(answers.astype(float)).x
            expected = np.clip(np.floor(means + 0.5 + 1e-7), lower, upper).astype(np.int64)
            assert (fitted(answers, weights, lower, upper) == expected).all()


def test_that_means_are_compared_beyond_floating_point():
    big = 10**15 + 1
    assert at_least(big, 10**9, big, 10**9)
    assert not at_least(big - 1, 10**9, big, 10**9)
    assert at_least(big * 3, 3 * 10**8, big, 10**8)
    assert not at_least(-big, 7, -big + 1, 7)
    assert at_least(0, 5, -1, 2_000_000_000)
