from __future__ import annotations

import numpy as np
import pytest

from phexplore.metrics.topdown.bias import bias_by_size, bias_together
from phexplore.metrics.topdown.size_classes import SMALL_COUNTS, TENS


@pytest.mark.parametrize("classes", [TENS, SMALL_COUNTS], ids=lambda classes: classes.id)
def test_that_classes_are_those_of_a_plain_loop(drawn, classes):
    truth, estimate = drawn
    found = bias_by_size(truth, estimate, classes)
    for place, label in enumerate(found.labels):
        index = classes.labels.index(label)
        low = classes.starts[index]
        high = (*classes.starts[1:], 10**12)[index]
        inside = (truth >= low) & (truth < high)
        errors = (estimate - truth)[:, inside]
        assert found.numbers[place] == inside.sum()
        assert found.truth[place] == pytest.approx(truth[inside].mean())
        assert found.bias[place] == pytest.approx(errors.mean())
        assert found.spread[place] == pytest.approx(errors.std(), abs=1e-9)
        assert found.absolute[place] == pytest.approx(np.abs(errors).mean())
        assert found.raised[place] == pytest.approx((errors > 0).mean())
        assert found.lowered[place] == pytest.approx((errors < 0).mean())
        assert found.error_between_trials[place] == pytest.approx(errors.mean(axis=1).std(ddof=1) / np.sqrt(3))
    assert sum(found.numbers) == truth.size


def test_that_counts_kept_from_falling_below_nothing_are_raised():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 60, 20_000)
    estimate = np.maximum(truth + rng.integers(-8, 9, (5, 20_000)), 0)
    found = bias_by_size(truth, estimate)
    by_label = dict(zip(found.labels, found.bias, strict=True))
    # Uniform errors of -8 to 8: cut at 0 their mean is 36/17; at 8 and above nothing is cut. Six standard errors are 0.1.
    assert by_label["0"] == pytest.approx(36 / 17, abs=0.25)
    assert by_label["20-49"] == pytest.approx(0, abs=0.1)
    assert by_label["0"] > by_label["3"] > by_label["7"]


def test_that_one_trial_says_nothing_about_the_error_between_trials():
    found = bias_by_size(np.array([1, 2]), np.array([2, 2]))
    assert np.isinf(found.error_between_trials).all()


def test_that_trials_put_together_are_those_computed_at_once(drawn):
    truth, estimate = drawn
    whole = bias_by_size(truth, estimate)
    parts = bias_together([bias_by_size(truth, trial) for trial in estimate])
    assert parts.labels == whole.labels
    for name in ("numbers", "truth", "bias", "error_between_trials", "spread", "absolute", "raised", "lowered"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), abs=1e-9)
    with pytest.raises(ValueError, match="same numbers"):
        bias_together([])
