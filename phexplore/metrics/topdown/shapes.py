"""The shapes all measures of a TopDown run agree on: a truth, and one or several trials of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def as_trials(truth: Integers, estimate: Integers) -> Integers:
    """Return the estimates with a leading axis of trials, ``int64[trials, *truth.shape]``.

    Args:
        truth: any shape.
        estimate: the same shape, or that of the truth behind one axis of trials.

    Raises:
        ValueError: the shapes do not fit, or the values are not whole numbers.
    """
    for name, values in (("truth", truth), ("estimate", estimate)):
        if not np.issubdtype(values.dtype, np.integer):
            raise ValueError(f"{name} holds whole numbers, got {values.dtype}")
    if estimate.shape == truth.shape:
        return estimate[None]
    if estimate.shape[1:] == truth.shape:
        return estimate
    raise ValueError(f"estimates of a truth {truth.shape} have that shape behind the trials, got {estimate.shape}")
