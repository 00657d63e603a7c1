"""Which whole number is the margin: floats where they are sure, exact arithmetic where they are not.

The margin is the smallest m with P(|X| ≤ m) at least the confidence, for the noise of the PHSafe paper (section 4.3).
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from phexplore.noise.enclosure import Enclosure

_NORMAL = NormalDist()
# Exact decisions start with this many bits beyond those of 1 - confidence, and double them until the sides part.
_SPARE_BITS = 96
_MOST_BITS = 1 << 14
_SECANT_STEPS = 12


class Tail(NamedTuple):
    """P(|X| > m) as a float, with a bound on its error.

    The error bound covers rounding, truncation of series and, where stated, a change of distribution.
    """

    value: float
    error: float


def require_confidence(confidence: Fraction) -> None:
    """Refuse a confidence that no margin can have.

    Raises:
        ValueError: the confidence is not strictly between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies strictly between 0 and 1, got {confidence}")


def normal_guess(standard_deviation: float, confidence: Fraction) -> int:
    """Return about the margin of normal noise of this width: a start for the search, nothing more.

    Args:
        standard_deviation: of the noise, in people.
        confidence: P(|X| ≤ margin) asked for, strictly between 0 and 1.
    """
    outside = max((confidence.denominator - confidence.numerator) / confidence.denominator, 1e-300)
    return max(math.ceil(-_NORMAL.inv_cdf(outside / 2) * standard_deviation - 0.5), 0)


def secant_guess(start: int, confidence: Fraction, tail: Callable[[int], Tail]) -> int:
    """Return about the margin, by the secant method on ln P(|X| > m), which is nearly straight in m.

    Args:
        start: a first guess at the margin, in people.
        confidence: P(|X| ≤ margin) asked for, strictly between 0 and 1.
        tail: gives P(|X| > m) for m ≥ 0.
    """
    outside = max((confidence.denominator - confidence.numerator) / confidence.denominator, 1e-300)

    def excess(m: int) -> float:
        return math.log(max(tail(m).value, 1e-300) / outside)

    left, right = start, start + 1 + start // 64
    at_left, at_right = excess(left), excess(right)
    for _ in range(_SECANT_STEPS):
        if at_left == at_right:
            break
        step = at_right * (right - left) / (at_right - at_left)
        following = max(math.ceil(right - step), 0)
        if following in {left, right}:
            return following
        left, at_left, right, at_right = right, at_right, following, excess(following)
    return right


def smallest_margin(
    confidence: Fraction,
    start: int,
    tail: Callable[[int], Tail],
    exact_tail: Callable[[int, int], Enclosure],
) -> int:
    """Return the smallest integer m ≥ 0 with P(|X| ≤ m) ≥ `confidence`.

    Args:
        confidence: strictly between 0 and 1.
        start: where to begin; only the speed depends on it.
        tail: m -> P(|X| > m), not increasing in m, with its error bound.
        exact_tail: (m, bits) -> an enclosure of the same, asked only where the float cannot tell the sides apart.

    Raises:
        ValueError: the confidence is not strictly between 0 and 1.
        ArithmeticError: P(|X| ≤ m) equals the confidence to 16 000 bits.
    """
    require_confidence(confidence)
    outside = (confidence.denominator - confidence.numerator) / confidence.denominator

    def covers(m: int) -> bool:
        value, error = tail(m)
        # `outside` itself carries half a unit of the last place.
        error += outside * 2.3e-16
        if value + error <= outside:
            return True
        return value - error <= outside and _covers_exactly(m, confidence, exact_tail)

    if covers(start):
        covering, step = start, 1
        while covering > 0 and covers(below := max(covering - step, 0)):
            covering, step = below, 2 * step
        if covering == 0:
            return 0
        missing = max(covering - step, 0)
    else:
        missing, step = start, 1
        while not covers(missing + step):
            missing, step = missing + step, 2 * step
        covering = missing + step
    while covering - missing > 1:
        middle = (missing + covering) // 2
        if covers(middle):
            covering = middle
        else:
            missing = middle
    return covering


def _covers_exactly(m: int, confidence: Fraction, exact_tail: Callable[[int, int], Enclosure]) -> bool:
    outside = 1 - confidence
    bits = _SPARE_BITS + max(outside.denominator.bit_length() - outside.numerator.bit_length(), 0)
    while bits <= _MOST_BITS:
        enclosure = exact_tail(m, bits)
        threshold = Fraction(outside.numerator << bits, outside.denominator)
        if enclosure.high <= threshold:
            return True
        if enclosure.low > threshold:
            return False
        bits *= 2
    raise ArithmeticError(f"P(|X| ≤ {m}) and {confidence} do not part within {_MOST_BITS} bits")
