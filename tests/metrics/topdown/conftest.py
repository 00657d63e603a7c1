"""Truths and trials for the measures of TopDown runs."""

from __future__ import annotations

import numpy as np
import pytest


def draw(seed, units=60, cells=5, trials=3):
    """Sparse counts and noisy non-negative trials of them."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random((units, cells)) < 0.4, 0, rng.integers(0, 400, (units, cells)))
    truth[: units // 10] = 0
    noise = rng.integers(-25, 26, (trials, units, cells))
    return truth, np.maximum(truth + noise, 0)


@pytest.fixture(params=range(4))
def drawn(request):
    """Truth ``[60, 5]`` and three trials."""
    return draw(request.param)
