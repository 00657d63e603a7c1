"""Real numbers enclosed between integers: the arithmetic behind every exact decision.

A number x is known through two integers with ``low <= x * 2**bits <= high``. Each operation rounds `low` down and
`high` up, so a comparison that holds between enclosures holds between the numbers (interval arithmetic with
outward rounding: Moore, Interval Analysis, 1966).
Nothing here passes through a float.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

# The Taylor series of e^y is summed for y below 2^-8: some 20 terms at 192 bits, and few squarings to come back.
_REDUCED_EXPONENT_BITS = 8


@dataclass(frozen=True, slots=True)
class Enclosure:
    """An interval that contains one real number.

    Attributes:
        low: integer with low / 2**bits not above the number.
        high: integer with high / 2**bits not below the number.
        bits: binary places; both operands of an operation have the same.
    """

    low: int
    high: int
    bits: int

    @classmethod
    def of(cls, value: Fraction | int, bits: int) -> Enclosure:
        """Enclose a rational number; the width is at most one unit of the last place.

        Args:
            value: the exact number.
            bits: binary digits behind the point.
        """
        scaled = value.numerator << bits
        return cls(scaled // value.denominator, _divided_up(scaled, value.denominator), bits)

    def __add__(self, other: Enclosure) -> Enclosure:
        """Return the sum."""
        return Enclosure(self.low + other.low, self.high + other.high, self.bits)

    def __sub__(self, other: Enclosure) -> Enclosure:
        """Return the difference."""
        return Enclosure(self.low - other.high, self.high - other.low, self.bits)

    def __neg__(self) -> Enclosure:
        """Return the number with the other sign."""
        return Enclosure(-self.high, -self.low, self.bits)

    def __mul__(self, other: Enclosure) -> Enclosure:
        """Return the product."""
        if self.low >= 0 and other.low >= 0:
            smallest, largest = self.low * other.low, self.high * other.high
        else:
            products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
            smallest, largest = min(products), max(products)
        return Enclosure(smallest >> self.bits, -(-largest >> self.bits), self.bits)

    def __truediv__(self, other: Enclosure) -> Enclosure:
        """Return the quotient.

        Raises:
            ZeroDivisionError: the divisor is not known to be positive.
        """
        if other.low <= 0:
            raise ZeroDivisionError(f"the divisor is not known to be positive: {other}")
        below = other.high if self.low >= 0 else other.low
        above = other.low if self.high >= 0 else other.high
        return Enclosure((self.low << self.bits) // below, _divided_up(self.high << self.bits, above), self.bits)

    def scaled(self, factor: int, divisor: int = 1) -> Enclosure:
        """Return the number times `factor` ≥ 0, divided by `divisor` > 0.

        Args:
            factor: a whole number, at least 0.
            divisor: a whole number, at least 1.
        """
        return Enclosure(self.low * factor // divisor, _divided_up(self.high * factor, divisor), self.bits)

    def power(self, exponent: int) -> Enclosure:
        """Return the number to a whole power ≥ 0."""
        result, square = Enclosure.of(1, self.bits), self
        while exponent:
            if exponent & 1:
                result = result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return result

    def at(self, bits: int) -> Enclosure:
        """Return the same number with more or fewer binary places."""
        if bits >= self.bits:
            return Enclosure(self.low << (bits - self.bits), self.high << (bits - self.bits), bits)
        drop = self.bits - bits
        return Enclosure(self.low >> drop, -(-self.high >> drop), bits)

    def joined(self, other: Enclosure) -> Enclosure:
        """Return the smallest interval that contains both."""
        return Enclosure(min(self.low, other.low), max(self.high, other.high), self.bits)


def exp_negative(exponent: Enclosure) -> Enclosure:
    """Enclose e^-x for x ≥ 0; a few units of the last place wider than what the width of x makes of it.

    Method: halve x below 2^-8, sum the series of e^y (all terms positive), invert, square back.

    Raises:
        ValueError: x is not known to be at least 0.
    """
    if exponent.low < 0:
        raise ValueError(f"the exponent is not known to be at least 0: {exponent}")
    bits = exponent.bits
    # e^-x < 2^-(bits+1) from here on; the bound is of use to callers that ask for far tails.
    if exponent.low >> bits > bits:
        return Enclosure(0, 1, bits)
    halvings = max((exponent.high >> bits).bit_length() + _REDUCED_EXPONENT_BITS, 0)
    # Every squaring doubles the relative width: as many guard bits as squarings, and eight for the series.
    working = exponent.at(bits + halvings + 8)
    reduced = Enclosure(working.low >> halvings, -(-working.high >> halvings), working.bits)
    result = Enclosure.of(1, working.bits) / _exp_series(reduced)
    for _ in range(halvings):
        result = result * result
    return result.at(bits)


def _exp_series(y: Enclosure) -> Enclosure:
    """Enclose e^y for 0 ≤ y ≤ 2^-8."""
    term = total = Enclosure.of(1, y.bits)
    order = 0
    while term.high > 1:
        order += 1
        term = (term * y).scaled(1, order)
        total = total + term
    # The terms left out add up to less than the last one taken, which is at most one unit.
    return Enclosure(total.low, total.high + 1, total.bits)


@lru_cache(maxsize=32)
def pi(bits: int) -> Enclosure:
    """Enclose π by Machin's formula, 16 arctan(1/5) − 4 arctan(1/239)."""
    working = bits + 16
    return (_arctan_of_inverse(5, working).scaled(16) - _arctan_of_inverse(239, working).scaled(4)).at(bits)


def _arctan_of_inverse(n: int, bits: int) -> Enclosure:
    """Enclose arctan(1/n), n > 1, by its alternating series."""
    power = Enclosure.of(1, bits).scaled(1, n)
    total, order = power, 1
    while power.high > 1:
        power = power.scaled(1, n * n)
        order += 2
        term = power.scaled(1, order)
        total = total - term if order % 4 == 3 else total + term
    # Alternating with falling terms: what is left out is smaller than the last term, at most one unit.
    return Enclosure(total.low - 1, total.high + 1, bits)


def sine_of_pi(numerator: int, denominator: int, bits: int) -> Enclosure:
    """Enclose sin(π numerator / denominator), any sign of the numerator; the argument is reduced without error.

    Args:
        numerator: of the angle over π, of any sign.
        denominator: of the angle over π, above 0.
        bits: binary digits behind the point.
    """
    phase = numerator % (2 * denominator)
    negative = phase >= denominator
    phase %= denominator
    phase = min(phase, denominator - phase)
    working = bits + 8
    sine = _sine_series(pi(working).scaled(phase, denominator)).at(bits)
    return -sine if negative else sine


def cosine_of_pi(numerator: int, denominator: int, bits: int) -> Enclosure:
    """Enclose cos(π numerator / denominator).

    Args:
        numerator: of the angle over π, of any sign.
        denominator: of the angle over π, above 0.
        bits: binary digits behind the point.
    """
    return sine_of_pi(2 * numerator + denominator, 2 * denominator, bits)


def _sine_series(angle: Enclosure) -> Enclosure:
    """Enclose sin(x) for 0 ≤ x ≤ π/2."""
    square = angle * angle
    term = total = angle
    order = 1
    while term.high > 1:
        order += 2
        term = (term * square).scaled(1, (order - 1) * order)
        total = total - term if order % 4 == 3 else total + term
    # x²/6 < 1: the terms fall from the first one on, so the rest is smaller than the last term taken.
    return Enclosure(total.low - 1, total.high + 1, total.bits)


def _divided_up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
