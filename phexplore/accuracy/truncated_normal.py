"""The normal distribution cut to an interval, safe in both tails: moments, quantiles and draws, vectorised.

Formulas: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 1, second edition (1994), chapter 13, section 10.1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx, log_ndtr, ndtr, ndtri, ndtri_exp

Floats = NDArray[np.float64]


def mean_above_zero(centre: ArrayLike, variance: ArrayLike) -> Floats:
    """Return the mean of a normal cut to y ≥ 0, in people, ``float64[...]``.

    By Mills' ratio through erfcx, so that nothing underflows where the centre lies far below 0.

    Args:
        centre: ``centre[...]``, mean of the normal before the cut.
        variance: ``variance[...]``, of the normal before the cut, ≥ 0; 0 is a point mass at the larger of centre and 0.
    """
    mean, variance = np.broadcast_arrays(np.asarray(centre, np.float64), np.asarray(variance, np.float64))
    spread = np.sqrt(variance)
    scale = np.where(spread > 0, spread, 1.0)
    ratio = math.sqrt(2 / math.pi) / erfcx(-mean / scale / math.sqrt(2))
    # The difference of two close numbers may fall below 0 by a rounding; a mean above 0 is never.
    return np.asarray(np.where(spread > 0, np.maximum(mean + scale * ratio, 0.0), np.maximum(mean, 0.0)), np.float64)


def quantile_above_zero(probability: float, centre: ArrayLike, variance: ArrayLike) -> Floats:
    """Return a quantile of a normal cut to y ≥ 0, ``float64[...]``: Z − s Φ⁻¹((1 − p) Φ(Z/s)), in logarithms.

    Args:
        probability: in (0, 1).
        centre: ``centre[...]``, mean Z of the normal before the cut.
        variance: ``variance[...]``, s² of the normal before the cut, ≥ 0; 0 is a point mass.
    """
    mean, variance = np.broadcast_arrays(np.asarray(centre, np.float64), np.asarray(variance, np.float64))
    spread = np.sqrt(variance)
    scale = np.where(spread > 0, spread, 1.0)
    value = mean - scale * ndtri_exp(math.log1p(-probability) + log_ndtr(mean / scale))
    return np.asarray(np.where(spread > 0, np.maximum(value, 0.0), np.maximum(mean, 0.0)), np.float64)


def draws_between(uniform: Floats, centre: ArrayLike, spread: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
    """Return draws ``float64[...]`` of normals cut to [low, high], by inverse distribution functions exact in the tails.

    Args:
        uniform: ``uniform[...]``, in (0, 1).
        centre: means of the normals before the cut; all shapes broadcast.
        spread: standard deviations, > 0.
        low: lower ends, -inf allowed.
        high: upper ends, not below `low`.
    """
    middle, width = np.asarray(centre, np.float64), np.asarray(spread, np.float64)
    start, end = (np.asarray(low) - middle) / width, (np.asarray(high) - middle) / width
    # Mirrored where the interval lies above the centre: distribution functions are precise below it.
    mirrored = start > 0
    left, right = np.where(mirrored, -end, start), np.where(mirrored, -start, end)
    part = np.where(mirrored, 1 - uniform, uniform)
    value = np.empty(np.broadcast_shapes(left.shape, part.shape))
    left, right, part = (np.broadcast_to(each, value.shape) for each in (left, right, part))
    deep = right < -5
    near = ~deep
    value[near] = ndtri(ndtr(left[near]) + part[near] * (ndtr(right[near]) - ndtr(left[near])))
    if deep.any():
        lower, upper = log_ndtr(left[deep]), log_ndtr(right[deep])
        value[deep] = ndtri_exp(np.logaddexp(np.log1p(-part[deep]) + lower, np.log(part[deep]) + upper))
    value = np.clip(np.where(mirrored, -value, value), start, end)
    return np.asarray(middle + width * value, np.float64)
