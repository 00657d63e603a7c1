"""Slow and plain: the distributions by their definition, in 60 digits."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import mpmath

from phexplore.noise.distributions import DiscreteGaussian, Noise, NoNoise, TwoSidedGeometric

PLACES = 200
UNIT = 1 << PLACES
ROUNDING = Fraction(1, 10**54)
"""More than what cutting 10^4 products after 200 places changes."""


def weight(noise: Noise, x: int) -> mpmath.mpf:
    """Return the unnormalised weight of x, from the defining formula."""
    match noise:
        case NoNoise():
            return mpmath.mpf(x == 0)
        case DiscreteGaussian(sigma2):
            return mpmath.exp(-mpmath.mpf(x * x) * sigma2.denominator / (2 * sigma2.numerator))
        case TwoSidedGeometric(scale):
            return mpmath.exp(-mpmath.mpf(abs(x)) * scale.denominator / scale.numerator)
    raise TypeError(noise)


@lru_cache(maxsize=64)
def half_pmf(noise: Noise) -> tuple[int, ...]:
    """Return P(X = 0), P(X = 1), … as multiples of 2^-200, until the rest is below 2^-200."""
    with mpmath.workprec(PLACES + 60):
        weights = [weight(noise, 0)]
        while weights[-1] > mpmath.mpf(2) ** -(PLACES + 8):
            weights.append(weight(noise, len(weights)))
        total = weights[0] + 2 * mpmath.fsum(weights[1:])
        return tuple(int(mpmath.floor(w / total * UNIT)) for w in weights)


def pmf(noise: Noise) -> tuple[int, ...]:
    """Return P(X = -K) … P(X = K) as multiples of 2^-200."""
    half = half_pmf(noise)
    return (*reversed(half[1:]), *half)


def convolved(noises: list[Noise]) -> tuple[int, ...]:
    """Return the distribution of the sum, centred, as multiples of 2^-200: polynomial products packed in integers."""
    result = (UNIT,)
    for noise in noises:
        width = 2 * PLACES + 40
        product = _packed(result, width) * _packed(pmf(noise), width)
        mask = (1 << width) - 1
        length = len(result) + len(pmf(noise)) - 1
        result = tuple((product >> (width * i) & mask) >> PLACES for i in range(length))
    return result


def _packed(coefficients: tuple[int, ...], width: int) -> int:
    return int.from_bytes(b"".join(c.to_bytes(width // 8, "little") for c in coefficients), "little")


def coverages(distribution: tuple[int, ...]) -> list[Fraction]:
    """Return P(|X| ≤ m) for m = 0, 1, …; each within ROUNDING of the truth."""
    centre = len(distribution) // 2
    pairs = [distribution[centre], *(2 * p for p in distribution[centre + 1 :])]
    return [Fraction(total, UNIT) for total in accumulate(pairs)]


def smallest_covering(distribution: tuple[int, ...], confidence: Fraction) -> int:
    """Return the margin by looking at every m."""
    return next(m for m, coverage in enumerate(coverages(distribution)) if coverage >= confidence)
