"""The discrete Gaussian (Canonne, Kamath and Steinke 2020) in figures: normalisation, variance, tail.

Theta-function identity (Poisson summation), s = σ²:

    Σ_x exp(−x²/2s) = √(2πs) (1 + 2 Σ_{k≥1} exp(−2π²s k²)).

Wide noise: the midpoint Euler–Maclaurin formula from m + ½, with f(x) = exp(−x²/2s), t = (m + ½)/σ and He_n the
Hermite polynomials of probability, f⁽ⁿ⁾ = (−1)ⁿ σ⁻ⁿ He_n(t) f, gives

    P(|X| > m) = erfc(t/√2) + 2/√(2πs) Σ_{j=1}^{p} B_{2j}(½)/(2j)! · σ^{1−2j} He_{2j−1}(t) e^{−t²/2} + R,

    |R| ≤ 4 √((2p)!) / (2πσ)^{2p}      (|B_{2p}(·)| ≤ 4 (2p)!/(2π)^{2p}; E|He_{2p}| ≤ √((2p)!) by Cauchy–Schwarz),

up to the factor 1 + 2e^{−2π²s}, which is 1 in floats here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from phexplore.noise.certified_quantile import Tail, normal_guess
from phexplore.noise.lattice import Mixture

if TYPE_CHECKING:
    from fractions import Fraction

    from phexplore.noise.enclosure import Enclosure

# From σ = 16 up six terms of Euler-Maclaurin leave |R| ≤ 4 √(12!) / (32π)^12 < 9e-20.
_WIDE = 256.0
_REMAINDER = 9e-20
_BERNOULLI = (-1 / 24, 7 / 5760, -31 / 967680, 127 / 154828800, -73 / 3503554560, 1414477 / 2678117105664000)
"""B_{2j}(½) / (2j)! for j = 1 … 6."""

# Below σ² = 1/2 the sum itself has fewer terms than its theta image.
_NARROW = 0.5
_UNIT = 2.3e-16


def normalisation(sigma2: float) -> float:
    """Return Σ_x exp(−x²/(2σ²)) over the integers."""
    if sigma2 < _NARROW:
        # exp(-x² / 2σ²) ≤ exp(-x²) here: below 1e-40 beyond x = 9.
        return 1 + 2 * sum(math.exp(-x * x / (2 * sigma2)) for x in range(1, 10))
    rate = 2 * math.pi**2 * sigma2
    return math.sqrt(2 * math.pi * sigma2) * (1 + 2 * (math.exp(-rate) + math.exp(-4 * rate) + math.exp(-9 * rate)))


def variance(sigma2: float) -> float:
    """Return the true variance, s − 8π²s² Σ k² e^{−2π²sk²} / (1 + 2 Σ e^{−2π²sk²}), in people²."""
    if sigma2 < _NARROW:
        return 2 * sum(x * x * math.exp(-x * x / (2 * sigma2)) for x in range(1, 10)) / normalisation(sigma2)
    rate = 2 * math.pi**2 * sigma2
    weights = [math.exp(-rate * k * k) for k in (1, 2, 3)]
    moment = sum(k * k * weight for k, weight in enumerate(weights, start=1))
    return sigma2 - 8 * math.pi**2 * sigma2**2 * moment / (1 + 2 * sum(weights))


def tail(sigma2: float, m: int) -> Tail:
    """Return P(|X| > m), m ≥ 0, with its error bound.

    Args:
        sigma2: variance parameter σ² of the discrete Gaussian, in people².
        m: margin in people, at least 0.
    """
    return _wide_tail(sigma2, m) if sigma2 >= _WIDE else _narrow_tail(sigma2, m)


def guess(sigma2: float, confidence: Fraction) -> int:
    """Return about the margin, in people: that of normal noise.

    Args:
        sigma2: variance parameter σ² of the discrete Gaussian, in people².
        confidence: P(|X| ≤ margin) asked for, strictly between 0 and 1.
    """
    return normal_guess(math.sqrt(sigma2), confidence)


def exact_tail(sigma2: Fraction, m: int, bits: int) -> Enclosure:
    """Enclose P(|X| > m), m ≥ 0; the width is about 2^-bits.

    Args:
        sigma2: variance parameter σ² of the discrete Gaussian, in people².
        m: margin in people, at least 0.
        bits: binary digits behind the point.
    """
    return Mixture(gaussians=((sigma2, 1),)).exact_tail(m, bits)


def _wide_tail(sigma2: float, m: int) -> Tail:
    sigma = math.sqrt(sigma2)
    t = (m + 0.5) / sigma
    t2 = t * t
    lower, hermite = 1.0, t
    total, scale = 0.0, 1 / sigma
    for order, coefficient in zip((1, 3, 5, 7, 9, 11), _BERNOULLI, strict=True):
        total += coefficient * scale * hermite
        scale /= sigma2
        # He_{n+1} = t He_n − n He_{n−1}, twice.
        lower = t * hermite - order * lower
        hermite = t * lower - (order + 1) * hermite
    value = math.erfc(t / math.sqrt(2)) + math.sqrt(2 / math.pi) / sigma * total * math.exp(-t2 / 2)
    # A relative error of three units in t is one of 3 (t² + 1) in the tail; twice that for good measure.
    return Tail(value, value * _UNIT * (20 + 6 * t2) + _REMAINDER)


def _narrow_tail(sigma2: float, m: int) -> Tail:
    rate = 1 / (2 * sigma2)
    total = normalisation(sigma2)
    if m * m < 9 * sigma2:
        inside = 1 + 2 * sum([math.exp(-rate * x * x) for x in range(1, m + 1)])
        return Tail(1 - inside / total, 40 * _UNIT)
    outside, x = 0.0, m + 1
    while (weight := math.exp(-rate * x * x)) > outside * 1e-18:
        outside, x = outside + weight, x + 1
    value = 2 * outside / total
    # e^{-y} from a rounded y has a relative error of y units; a tail that underflows is below 1e-300.
    return Tail(value, value * _UNIT * (20 + 4 * rate * m * m) + 1e-300)
