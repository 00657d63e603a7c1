"""How wide Gaussian noise must be for (ε, δ): decided exactly, without a float, and rounded up.

A Gaussian of standard deviation σ on an answer of L2 sensitivity Δ has μ = Δ/σ and the exact curve (Balle and Wang 2018,
Theorem 8)

    δ(ε) = Q(ε/μ − μ/2) − e^ε Q(ε/μ + μ/2),      Q(x) = P(N(0, 1) > x).

It is enclosed between whole numbers here (`noise.enclosure`), so that "at most δ" is proven, not estimated. What is
returned is v = σ²/Δ², because σ² of the noise and Δ² of a counting query are rational where σ and Δ are not.

The subspace paper's own constant c = ε⁻¹(1 + √(1 + ln 1/δ)) (Lemma 3.4, Algorithm 1) is here as well, as an erratum: at
δ = 1e-10 it already fails at ε = 1.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from phexplore.accounting.zcdp import rho_for_epsilon
from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conversion
from phexplore.noise.enclosure import Enclosure, exp_negative, pi
from phexplore.text.messages import msg

SIGNIFICANT_DIGITS = 12
"""v is rounded up at this digit: at most 1e-11 of it is given away."""

LARGEST_EPSILON = 1000
"""Beyond it nothing is protected, and the arithmetic only grows longer."""

SMALLEST_DELTA = Fraction(1, 10**300)
"""Below it the arithmetic only grows longer."""

_LOG2_E = 1.4427
_SPARE_BITS = 96
_MOST_BITS = 1 << 15


class CalibrationError(PhexploreError):
    """An (ε, δ) for which no Gaussian noise is computed."""


@dataclass(frozen=True, slots=True)
class PaperConstant:
    """What the paper's constant gives at one (ε, δ).

    Attributes:
        v: c², rounded up at the 12th digit: the noise it asks for is σ = cΔ.
        delta: the δ this noise really has at ε, as a float.
        protects: whether that is at most the δ asked for, decided exactly.
        factor: `delta` over the δ asked for.
    """

    v: Fraction
    delta: float
    protects: bool
    factor: float


@lru_cache(maxsize=512)
def smallest_variance(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the smallest v = σ²/Δ² whose exact δ(ε) is at most `delta`, rounded up at its 12th significant digit.

    Args:
        epsilon: ε of the guarantee, in (0, 1000].
        delta: δ of the guarantee, in [1e-300, 1).

    Raises:
        CalibrationError: ε is not in (0, 1000] or δ not in [1e-300, 1).
    """
    _require(epsilon, delta)
    guess = 1 / (2 * rho_for_epsilon(epsilon, delta, Conversion.GAUSSIAN_CONTINUOUS))
    step = _digit(guess)
    multiple = -(-guess // step)

    def keeps(count: int) -> bool:
        return delta_is_at_most(epsilon, count * step, delta)

    # The float of the guess is right to about 1e-11, so this takes a few steps.
    stride = 1
    if keeps(multiple):
        while multiple > stride and keeps(multiple - stride):
            multiple, stride = multiple - stride, 2 * stride
        low, high = max(multiple - stride, 0), multiple
    else:
        while not keeps(multiple + stride):
            multiple, stride = multiple + stride, 2 * stride
        low, high = multiple, multiple + stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high * step


def delta_is_at_most(epsilon: Fraction, v: Fraction, delta: Fraction) -> bool:
    """Return whether the exact δ(ε) of Gaussian noise with σ² = vΔ² is at most `delta`.

    Args:
        epsilon: ε of the guarantee, in (0, 1000].
        v: variance of the noise over the squared L2 sensitivity of the answer.
        delta: the δ to compare with, in [1e-300, 1).

    Raises:
        CalibrationError: ε, v or δ is out of range.
        ArithmeticError: the two agree to 32 000 bits.
    """
    _require(epsilon, delta)
    bits = _SPARE_BITS + delta.denominator.bit_length() - delta.numerator.bit_length()
    while bits <= _MOST_BITS:
        found = exact_delta(epsilon, v, bits)
        threshold = Fraction(delta.numerator << bits, delta.denominator)
        if found.high <= threshold:
            return True
        if found.low > threshold:
            return False
        bits *= 2
    raise ArithmeticError(f"δ({epsilon}) at v = {v} and {delta} do not part within {_MOST_BITS} bits")


def exact_delta(epsilon: Fraction, v: Fraction, bits: int) -> Enclosure:
    """Enclose δ(ε) of Gaussian noise with σ² = vΔ²; the width is about 2^-bits.

    Args:
        epsilon: ε of the guarantee, in (0, 1000].
        v: variance of the noise over the squared L2 sensitivity of the answer, in [1e-9, 1e40].
        bits: binary digits behind the point.

    Raises:
        CalibrationError: ε or v is out of range.
    """
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise CalibrationError(
            msg("ε = {epsilon:g} is out of range.", epsilon=float(epsilon)),
            msg("Choose an ε above 0 and at most {largest}.", largest=LARGEST_EPSILON),
        )
    if not Fraction(1, 10**9) <= v <= 10**40:
        raise CalibrationError(
            msg("A variance of {v:g} Δ² is out of range.", v=float(v)), msg("Choose another ε or δ.")
        )
    # e^ε multiplies one of the two tails; their arguments are sums of two quotients.
    working = bits + 32 + int(_LOG2_E * float(epsilon)) + v.numerator.bit_length()
    root = _square_root(v, working)
    high = root.scaled(epsilon.numerator, epsilon.denominator)
    half = (Enclosure.of(1, working) / root).scaled(1, 2)
    growth = Enclosure.of(1, working) / exp_negative(Enclosure.of(epsilon, working))
    return (_upper_tail(high - half) - growth * _upper_tail(high + half)).at(bits)


@lru_cache(maxsize=512)
def paper_constant(epsilon: Fraction, delta: Fraction) -> PaperConstant:
    """Return what the paper's c = ε⁻¹(1 + √(1 + ln 1/δ)) gives (Lemma 3.4): an erratum, shown beside the exact noise.

    Args:
        epsilon: ε of the guarantee, in (0, 1000].
        delta: δ of the guarantee, in [1e-300, 1).

    Raises:
        CalibrationError: ε or δ is out of range.
    """
    _require(epsilon, delta)
    bits = 192
    logarithm = _logarithm(1 / delta, bits)
    one = Enclosure.of(1, bits)
    root = one + _root_of(one + logarithm)
    squared = (root * root).high
    v = Fraction(squared, 1 << bits) / epsilon**2
    step = _digit(v)
    v = -(-v // step) * step
    found = exact_delta(epsilon, v, 64 + delta.denominator.bit_length())
    true = found.high / (1 << found.bits)
    return PaperConstant(v, true, delta_is_at_most(epsilon, v, delta), true / float(delta))


def _require(epsilon: Fraction, delta: Fraction) -> None:
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise CalibrationError(
            msg("ε = {epsilon:g} is out of range.", epsilon=float(epsilon)),
            msg("Choose an ε above 0 and at most {largest}.", largest=LARGEST_EPSILON),
        )
    if not SMALLEST_DELTA <= delta < 1:
        raise CalibrationError(
            msg("δ of Gaussian noise must be strictly between 0 and 1 (got {delta}).", delta=delta),
            msg("Choose a δ such as 1e-10, or a Laplace mechanism for δ = 0."),
        )


def _digit(value: Fraction) -> Fraction:
    """Return the unit of the last of the significant digits."""
    # The lengths give the power of ten to within one.
    power = len(str(value.numerator)) - len(str(value.denominator))
    power -= value < Fraction(10) ** power
    return Fraction(10) ** (power - SIGNIFICANT_DIGITS + 1)


def _upper_tail(x: Enclosure) -> Enclosure:
    """Enclose Q(x); it falls, so the ends of x give the ends of the result."""
    return Enclosure(_tail_at(x.high, x.bits).low, _tail_at(x.low, x.bits).high, x.bits)


def _tail_at(scaled: int, bits: int) -> Enclosure:
    """Enclose Q at the point scaled / 2^bits: 1/2 − φ(x) Σ x^(2k+1) / (1·3·…·(2k+1)) for x ≥ 0, all terms positive."""
    growth = _LOG2_E * (scaled / (1 << bits)) ** 2 / 2
    if growth > bits + 2:
        # Q(x) < e^(−x²/2) < 2^−bits.
        return Enclosure(0, 1, bits) if scaled >= 0 else Enclosure((1 << bits) - 1, 1 << bits, bits)
    # The sum grows to e^(x²/2), and φ multiplies its error.
    return _tail_by_series(scaled << (extra := int(growth) + 16), bits + extra).at(bits)


def _tail_by_series(scaled: int, bits: int) -> Enclosure:
    x = Enclosure(abs(scaled), abs(scaled), bits)
    square = x * x
    term = total = x
    odd = 1
    while True:
        odd += 2
        term = (term * square).scaled(1, odd)
        total = total + term
        # From here on every term is less than half of the one before: what is left out is less than the last term.
        if term.high <= 1 and square.high < (odd << bits) >> 1:
            break
    total = Enclosure(total.low, total.high + term.high, bits)
    density = exp_negative(square.scaled(1, 2)) / _root_of(pi(bits).scaled(2))
    half = Enclosure(1 << (bits - 1), 1 << (bits - 1), bits)
    inner = density * total
    return half - inner if scaled >= 0 else half + inner


def _square_root(value: Fraction, bits: int) -> Enclosure:
    """Enclose √value, value > 0."""
    scaled = value.numerator << (2 * bits)
    low = math.isqrt(scaled // value.denominator)
    return Enclosure(low, low + 1, bits)


def _root_of(value: Enclosure) -> Enclosure:
    """Enclose the square root of an enclosed number ≥ 0."""
    return Enclosure(math.isqrt(value.low << value.bits), math.isqrt(value.high << value.bits) + 1, value.bits)


def _logarithm(value: Fraction, bits: int) -> Enclosure:
    """Enclose ln(value), value ≥ 1: 2^k y with y in [1, 2), and ln y = 2 artanh((y − 1)/(y + 1))."""
    power = max((value.numerator // value.denominator).bit_length() - 1, 0)
    rest = value / 2**power
    working = bits + 16 + power.bit_length()
    return (_log_near_one(Fraction(2), working).scaled(power) + _log_near_one(rest, working)).at(bits)


def _log_near_one(value: Fraction, bits: int) -> Enclosure:
    ratio = Enclosure.of((value - 1) / (value + 1), bits)
    square, power = ratio * ratio, ratio
    total, odd = ratio, 1
    while power.high > 1:
        odd += 2
        power = power * square
        total = total + power.scaled(1, odd)
    # The terms fall by a factor of at least 9: what is left out is less than the last power.
    return Enclosure(total.low, total.high + 1, bits).scaled(2)
