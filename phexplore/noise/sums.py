"""Margins of sums of independent noises: totals over cells, lists of areas.

A sum of discrete Gaussians is nearly one (Kairouz, Liu and Steinke, The distributed discrete Gaussian mechanism, ICML 2021);
`merging_error` bounds by how much, by the argument stated there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from phexplore.noise import gaussian_tail, geometric_mixture, geometric_tail
from phexplore.noise.certified_quantile import Tail, normal_guess, require_confidence, secant_guess, smallest_margin
from phexplore.noise.distributions import DiscreteGaussian, Noise, NoNoise, TwoSidedGeometric
from phexplore.noise.lattice import MOST_TERMS, FloatSeries, Mixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction

    from phexplore.noise.enclosure import Enclosure

# From σ² = 5 on, a sum of discrete Gaussians is one within 2e-21 per summand (merging_error).
_SUMMABLE = 5
# The finite sum for n equal geometrics has 2n terms, each of factors up to e^600.
_MOST_EQUAL = 64
# Partial fractions of this many geometrics are faster than a series of as many terms.
_MOST_EXPANDED = 16
_SLOW_SERIES = 1 << 14


def sum_margin(noises: Iterable[Noise] | Mapping[Noise, int], confidence: Fraction) -> int:
    """Return the smallest integer m with P(|X₁ + … + X_n| ≤ m) at least `confidence`, decided exactly.

    Args:
        noises: independent summands, or how often each occurs; NoNoise adds nothing, an empty sum has margin 0.
        confidence: strictly between 0 and 1.

    Raises:
        ValueError: the confidence is not strictly between 0 and 1.
        TypeError: a noise of another kind than those of this package.
    """
    require_confidence(confidence)
    mixture = mixture_of(noises)
    if not mixture.summands:
        return 0
    start = normal_guess(math.sqrt(_variance(mixture)), confidence)
    if not mixture.geometrics and (mixture.summands == 1 or min(mixture.gaussians)[0] >= _SUMMABLE):
        return smallest_margin(confidence, start, _merged_tail(mixture), mixture.exact_tail)
    tail, exact_tail = _tails(mixture)
    return smallest_margin(confidence, secant_guess(start, confidence, tail), tail, exact_tail)


def mixture_of(noises: Iterable[Noise] | Mapping[Noise, int]) -> Mixture:
    """Return the summands by kind and parameter, without those that add nothing.

    Raises:
        TypeError: a noise of another kind than those of this package.
    """
    gaussians: list[tuple[Fraction, int]] = []
    geometrics: list[tuple[Fraction, int]] = []
    for noise, count in _counted(noises).items():
        match noise:
            case NoNoise():
                continue
            case DiscreteGaussian(sigma2):
                gaussians.append((sigma2, count))
            case TwoSidedGeometric(scale):
                geometrics.append((scale, count))
            case _:
                raise TypeError(f"no sum is known for noise of the kind {type(noise).__name__}")
    return Mixture(tuple(gaussians), tuple(geometrics))


def merging_error(gaussians: Iterable[tuple[Fraction, int]]) -> float:
    """Return a bound of |ln P(ΣX = x) / P(Y = x)| for discrete Gaussians X_i and Y with the summed σ².

    Two of them: Σ_y exp(−y²/2s − (x−y)²/2r) is exp(−x²/2(s+r)) times a theta function of x that stays within
    1 ± 2Σ_k exp(−2π²k²c) of a constant, c = sr/(s+r), so that the probabilities, normalised, part by a factor of
    at most (1+δ)/(1−δ), δ = 2.0001 e^{−2π²c}. Adding one by one, c is at least half the smallest σ². The bound holds
    at every x, hence for the tails.

    Args:
        gaussians: (σ², how many); the bound is stated for every σ² ≥ 1.
    """
    counted = list(gaussians)
    smallest = float(min(sigma2 for sigma2, _ in counted))
    additions = sum(count for _, count in counted) - 1
    return additions * 4.01 * math.exp(-(math.pi**2) * smallest)


def _merged_tail(mixture: Mixture) -> Callable[[int], Tail]:
    total = float(sum(sigma2 * count for sigma2, count in mixture.gaussians))
    change = 1.01 * merging_error(mixture.gaussians)

    def tail(m: int) -> Tail:
        value, error = gaussian_tail.tail(total, m)
        return Tail(value, error + change * value)

    return tail


def _tails(mixture: Mixture) -> tuple[Callable[[int], Tail], Callable[[int, int], Enclosure]]:
    """Return the quick and the exact way to the tail of this sum."""
    scales = mixture.geometrics
    if not mixture.gaussians and len(scales) == 1 and scales[0][1] <= _MOST_EQUAL:
        scale, count = scales[0]
        return (
            lambda m: geometric_tail.tail(float(scale), m, count),
            lambda m, bits: geometric_tail.exact_tail(scale, m, bits, count),
        )
    series = FloatSeries(mixture)
    expanded = partial(geometric_mixture.exact_tail, scales)
    if not mixture.gaussians and series.terms > (_SLOW_SERIES if mixture.summands <= _MOST_EXPANDED else MOST_TERMS):
        return lambda m: _as_float(expanded(m, 80)), expanded
    return series.tail, expanded if mixture.summands <= _MOST_EXPANDED and not mixture.gaussians else mixture.exact_tail


def _as_float(tail: Enclosure) -> Tail:
    unit = 2.0**-tail.bits
    return Tail(tail.low * unit, (tail.high - tail.low + 1) * unit + 2.3e-16 * tail.high * unit)


def _variance(mixture: Mixture) -> float:
    return math.fsum(
        [count * gaussian_tail.variance(float(sigma2)) for sigma2, count in mixture.gaussians]
        + [geometric_tail.variance(float(scale), count) for scale, count in mixture.geometrics]
    )


def _counted(noises: Iterable[Noise] | Mapping[Noise, int]) -> Mapping[Noise, int]:
    if isinstance(noises, Mapping):
        return noises
    # Lists repeat the same few objects: counting those first spares hashing a Fraction per cell.
    summands = list(noises)
    objects = dict(zip(map(id, summands), summands, strict=True))
    counted: Counter[Noise] = Counter()
    for identity, count in Counter(map(id, summands)).items():
        counted[objects[identity]] += count
    return counted
