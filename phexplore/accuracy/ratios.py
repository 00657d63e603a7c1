"""Margins of the published averages: a noisy numerator over a noisy denominator."""

from __future__ import annotations

import math
from dataclasses import dataclass

from phexplore.errors import PhexploreError

SAFE_SIGMAS = 3.0
"""A denominator closer than this many standard deviations to 0 makes the interval unreliable."""


@dataclass(frozen=True, slots=True)
class RatioMargin:
    """The interval of a ratio at one confidence.

    Attributes:
        ratio: expected numerator over expected denominator.
        low: lower end of Fieller's interval, -inf when it is unbounded.
        high: upper end, +inf when it is unbounded.
        margin: half the width, inf when unbounded.
        reliable: False when the denominator lies within 3 σ of 0.
    """

    ratio: float
    low: float
    high: float
    margin: float
    reliable: bool


def fieller(
    numerator: float, denominator: float, numerator_variance: float, denominator_variance: float, z: float
) -> RatioMargin:
    """Return Fieller's interval of numerator/denominator for independent normal errors (Fieller 1954).

    Args:
        numerator: expected count.
        denominator: expected count, not 0.
        numerator_variance: of the noise in the numerator, people².
        denominator_variance: of the noise in the denominator, households².
        z: normal factor of the confidence.

    Raises:
        PhexploreError: the expected denominator is 0.
    """
    if denominator == 0:
        raise PhexploreError("The expected denominator is 0; the average is undefined.", "Give a positive count.")
    ratio = numerator / denominator
    reliable = abs(denominator) > SAFE_SIGMAS * math.sqrt(denominator_variance)
    g = z * z * denominator_variance / denominator**2
    if g >= 1:
        return RatioMargin(ratio, -math.inf, math.inf, math.inf, reliable=False)
    spread = numerator_variance * (1 - g) + ratio**2 * denominator_variance
    half = z / (abs(denominator) * (1 - g)) * math.sqrt(max(0.0, spread))
    centre = ratio / (1 - g)
    return RatioMargin(ratio, centre - half, centre + half, half, reliable)
