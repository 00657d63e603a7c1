"""Tails of one two-sided geometric noise, and of a sum of n independent ones of the same scale b.

With q = e^{-1/b}, p = 1 − q and T = m + n, the sum X of n has

    P(|X| > m) = 2 P(V + W ≤ n − 1),

V negative binomial (failures before the n-th success, success 1/(1+q)) and W binomial (T trials, success p): a finite
sum of positive terms. Derivation: P(X = x) is the coefficient of z^x in p^{2n} (1 − qz)^{-n} (1 − q/z)^{-n}, for x ≥ 0

    p^{2n} q^x Σ_{k<n} C(n−1+k, k) C(x+n−1, n−1−k) q^{2k} / (1 − q²)^{n+k}      (Vandermonde),

and Σ_{x>m} C(x+n−1, a) q^x is a negative binomial tail, which is a binomial one. For n = 1 it is 2 q^{m+1} / (1+q).
The noise is the geometric mechanism of Ghosh, Roughgarden and Sundararajan (2012).
"""

from __future__ import annotations

import math
from fractions import Fraction

from phexplore.noise.certified_quantile import Tail
from phexplore.noise.enclosure import Enclosure, exp_negative

_UNIT = 2.3e-16
# e^-y leaves the range of floats at y = 745.
_FAR = 600.0


def variance(scale: float, count: int = 1) -> float:
    """Return the variance n · 2q / (1 − q)² = n / (2 sinh²(1/2b)), in people².

    Args:
        scale: b of each summand, in people.
        count: number n of independent summands.
    """
    half = 0.5 / scale
    return count * (0.5 / math.sinh(half) ** 2 if half < 300 else 2 * math.exp(-2 * half))


def tail(scale: float, m: int, count: int = 1) -> Tail:
    """Return P(|X| > m), m ≥ 0, for at most 64 summands, with its error bound.

    Args:
        scale: b of each summand, in people.
        m: margin in people, at least 0.
        count: number n of independent summands, 1 to 64.
    """
    exponent = (m + 1) / scale
    if exponent > _FAR:
        # P(W ≤ n − 1) ≤ n (T/b + 1)^n q^{m+1}.
        log_bound = math.log(2 * count) + count * math.log1p((m + count) / scale) - exponent
        return Tail(0.0, math.exp(min(log_bound, 0.0)))
    q = math.exp(-1 / scale)
    p = -math.expm1(-1 / scale)
    # at_most[a] = P(W ≤ a) / q^{m+1}
    choices, running = 1.0, q ** (count - 1)
    at_most = [running]
    for i in range(1, count):
        choices *= (m + count + 1 - i) / i * p
        running += choices * q ** (count - 1 - i)
        at_most.append(running)
    weight = (1 + q) ** -count
    total = 0.0
    for k in range(count):
        total += weight * at_most[count - 1 - k]
        weight *= (count + k) / (k + 1) * q / (1 + q)
    value = 2 * math.exp(-exponent) * total
    # Positive terms: at most a dozen roundings for each of n factors, and those of the exponents.
    return Tail(value, value * _UNIT * (16 + 12 * count + 2 * exponent + 2 * count / scale) + 1e-300)


def guess(scale: float, confidence: Fraction) -> int:
    """Return about the margin of a single noise: the float solution of 2 q^{m+1} = (1 + q) (1 − confidence).

    Args:
        scale: b of the noise, in people.
        confidence: P(|X| ≤ margin) asked for, strictly between 0 and 1.
    """
    outside = max((confidence.denominator - confidence.numerator) / confidence.denominator, 1e-300)
    return max(math.ceil(scale * math.log(2 / (outside * (1 + math.exp(-1 / scale))))) - 1, 0)


def exact_tail(scale: Fraction, m: int, bits: int, count: int = 1) -> Enclosure:
    """Enclose P(|X| > m), m ≥ 0; the width is about 2^-bits.

    Args:
        scale: b of each summand, in people.
        m: margin in people, at least 0.
        bits: binary digits behind the point.
        count: number n of independent summands.
    """
    # C(T, i) p^i ≤ e^{Tp} ≤ e^{T/b}, and not above T^n: that many bits before the point need as many behind it.
    trials = m + count
    size = min(int(trials / scale * Fraction(3, 2)), count * trials.bit_length()) + 4 * count
    working = bits + 32 + size + trials.bit_length()
    one = Enclosure.of(1, working)
    q = exp_negative(Enclosure.of(1 / scale, working))
    p = one - q
    choices, running = one, q.power(count - 1)
    at_most = [running]
    for i in range(1, count):
        choices = (choices * p).scaled(trials + 1 - i, i)
        running = running + choices * q.power(count - 1 - i)
        at_most.append(running)
    inverse = one / (one + q)
    weight, step = inverse.power(count), q * inverse
    total = Enclosure.of(0, working)
    for k in range(count):
        total = total + weight * at_most[count - 1 - k]
        weight = (weight * step).scaled(count + k, k + 1)
    decay = exp_negative(Enclosure.of((m + 1) / scale, working))
    return (decay * total).scaled(2).at(bits)
