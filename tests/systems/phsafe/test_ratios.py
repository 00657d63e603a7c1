from __future__ import annotations

import math

import numpy as np
import pytest

from phexplore.errors import PhexploreError
from phexplore.systems.phsafe.ratios import fieller


def test_that_the_interval_covers_as_often_as_it_says():
    # 200,000 draws: the share has a standard error of 0.0007; a false alarm at 5 of them is below 1e-6.
    rng = np.random.default_rng(20)
    numerator, denominator = 2600.0, 1000.0
    noisy_n = rng.normal(numerator, 60, 200_000)
    noisy_d = rng.normal(denominator, 25, 200_000)
    inside = 0
    for n, d in zip(noisy_n[:20_000], noisy_d[:20_000], strict=True):
        interval = fieller(n, d, 3600, 625, 1.6448536269514722)
        inside += interval.low <= numerator / denominator <= interval.high
    assert inside / 20_000 == pytest.approx(0.9, abs=5 * math.sqrt(0.09 / 20_000))


def test_that_a_wide_denominator_gives_the_delta_method():
    interval = fieller(2_600_000, 1_000_000, 3600, 625, 1.645)
    delta = 1.645 / 1_000_000 * math.sqrt(3600 + 2.6**2 * 625)
    assert interval.margin == pytest.approx(delta, rel=1e-6)
    assert interval.reliable


def test_that_a_denominator_near_zero_is_flagged_and_unbounded():
    near = fieller(50, 20, 3600, 625, 1.645)
    assert (near.reliable, near.margin) == (False, math.inf)
    assert not fieller(150, 60, 3600, 625, 1.645).reliable


def test_that_a_denominator_of_zero_is_refused():
    with pytest.raises(PhexploreError, match="undefined"):
        fieller(1, 0, 1, 1, 1.645)
