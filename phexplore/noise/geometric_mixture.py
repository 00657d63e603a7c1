"""Tails of a sum of two-sided geometric noises of different scales, by partial fractions.

With s = sin²(t/2) and A_i = 4q_i / (1 − q_i)², the characteristic function is Π_i (1 + A_i s)^{-n_i}. Expanding it in
the powers of 1 / (1 + A_i s), the characteristic functions of sums of equal noises, gives

    P(|X| > m) = Σ_i Σ_{k=1}^{n_i} c_{i,k} P(|sum of k noises of scale b_i| > m),

c_{i,k} being the coefficient of v^{n_i − k} in Π_{j≠i} ((1 − A_j/A_i) + (A_j/A_i) v)^{-n_j}. Similar scales make huge
coefficients of both signs; the digits they cost are paid in exact arithmetic. The noise is that of Ghosh, Roughgarden
and Sundararajan (2012), as in `geometric_tail`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from phexplore.noise import geometric_tail
from phexplore.noise.enclosure import Enclosure, exp_negative

if TYPE_CHECKING:
    from fractions import Fraction

_MOST_BITS = 1 << 20


def exact_tail(scales: tuple[tuple[Fraction, int], ...], m: int, bits: int) -> Enclosure:
    """Enclose P(|X| > m), m ≥ 0; the width is about 2^-bits.

    Args:
        scales: (scale b, how many) of the summands, no scale twice.
        m: in people.
        bits: binary places wanted.

    Raises:
        ArithmeticError: the scales are too similar to be told apart within a million bits.
    """
    # Noises that are 0 but for a probability below n 2q < 2^-(bits+4) are left out.
    kept = [(b, n) for b, n in scales if 1 / b < (bits + 5 + n.bit_length()) * math.log(2)]
    left_out = len(scales) - len(kept)
    if len(kept) < 2:
        tail = geometric_tail.exact_tail(kept[0][0], m, bits + 8, kept[0][1]) if kept else Enclosure.of(0, bits + 8)
        return _with_slack(tail, left_out, bits)
    working = 2 * bits
    while working <= _MOST_BITS:
        working *= 2
        expanded = _partial_fractions(kept, m, working)
        if expanded is not None and (expanded.high - expanded.low) >> (working - bits) == 0:
            return _with_slack(expanded.at(bits + 8), left_out, bits)
    raise ArithmeticError(f"the scales {[str(b) for b, _ in kept]} are too similar for partial fractions")


def _with_slack(tail: Enclosure, left_out: int, bits: int) -> Enclosure:
    # Each kind left out changes a probability by less than 2^-(bits+4), which is 16 units of 2^-(bits+8).
    slack = 16 * left_out
    return Enclosure(max(tail.low - slack, 0), tail.high + slack, tail.bits).at(bits)


def _partial_fractions(scales: list[tuple[Fraction, int]], m: int, bits: int) -> Enclosure | None:
    """Enclose the tail, or return None when the digits do not tell the scales apart."""
    slopes = [_slope(scale, bits) for scale, _ in scales]
    total = Enclosure.of(0, bits)
    for i, (scale, count) in enumerate(scales):
        series = [Enclosure.of(1, bits)] + [Enclosure.of(0, bits)] * (count - 1)
        for j, (_, other) in enumerate(scales):
            if j != i:
                gap = slopes[i] - slopes[j]
                if gap.low <= 0 <= gap.high:
                    return None
                series = _product(series, _factor(slopes[i], slopes[j], gap, other, count))
        for k in range(1, count + 1):
            total = total + series[count - k] * geometric_tail.exact_tail(scale, m, bits, k)
    return total


def _slope(scale: Fraction, bits: int) -> Enclosure:
    q = exp_negative(Enclosure.of(1 / scale, bits))
    p = Enclosure.of(1, bits) - q
    return q.scaled(4) / (p * p)


def _factor(slope: Enclosure, other: Enclosure, gap: Enclosure, power: int, length: int) -> list[Enclosure]:
    """Return the first coefficients of ((1 − r) + r v)^{-n}, r = A_j/A_i: (A_i/D)^n C(n−1+d, d) (−A_j/D)^d."""
    negative = gap.high < 0
    size = -gap if negative else gap
    # With D < 0, (A_i/D)^n has the sign (−1)^n and −A_j/D is positive.
    term = (slope / size).power(power)
    if negative and power % 2 == 1:
        term = -term
    step = other / size if negative else -(other / size)
    coefficients = [term]
    for degree in range(1, length):
        term = (term * step).scaled(power + degree - 1, degree)
        coefficients.append(term)
    return coefficients


def _product(a: list[Enclosure], b: list[Enclosure]) -> list[Enclosure]:
    """Return the product of two power series to their common length."""
    result = []
    for degree in range(len(a)):
        coefficient = a[0] * b[degree]
        for lower in range(1, degree + 1):
            coefficient = coefficient + a[lower] * b[degree - lower]
        result.append(coefficient)
    return result
