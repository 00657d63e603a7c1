"""Numbers as people read them, rounded in a direction that has a name: what is lost is never shown smaller than it is."""

from __future__ import annotations

import enum
import math
from fractions import Fraction

from phexplore.model.numbers import exact_text

ABSENT = "–"
"""Shown where there is no number."""


class Toward(enum.Enum):
    """Where a number goes that has more decimals than are shown."""

    NEAREST = "nearest"
    """To the nearest one, ties to even."""
    UP = "up"
    """Never less than it is: what is lost, and what is held against an upper limit."""
    DOWN = "down"
    """Never more than it is: what is gained, and what is held against a lower limit."""


def fixed(value: Fraction, places: int, toward: Toward = Toward.NEAREST) -> str:
    """Return a number with this many places, thousands separated, minus as −.

    Args:
        value: exact.
        places: decimals.
        toward: where it is rounded.
    """
    return _quotient(value.numerator, value.denominator, places, toward)


def _quotient(numerator: int, denominator: int, places: int, toward: Toward) -> str:
    # In whole numbers: a table shows fifty of these per frame, and every operation of fractions reduces them.
    scaled, rest = divmod(abs(numerator) * 10**places, denominator)
    if toward is Toward.NEAREST:
        is_over = 2 * rest > denominator or (2 * rest == denominator and scaled % 2 == 1)
    else:
        is_over = rest > 0 and (toward is Toward.UP) == (numerator > 0)
    scaled += is_over
    sign = "−" if numerator < 0 and scaled else ""
    whole, part = divmod(scaled, 10**places)
    return f"{sign}{whole:,}.{part:0{places}}" if places else f"{sign}{whole:,}"


def rounded_up(value: Fraction | float, places: int) -> str:
    """Return a number with so many places, never less than it is: what is printed is never less than what is spent.

    Args:
        value: not negative; ∞ where nothing bounds it.
        places: after the point.
    """
    return "∞" if value == math.inf else fixed(_meant(value), places, Toward.UP)


def rounded_down(value: Fraction | float, places: int) -> str:
    """Return a number with so many places, never more than it is: the low end of a bracket.

    Args:
        value: not negative.
        places: after the point.
    """
    return fixed(_meant(value), places, Toward.DOWN)


def _meant(value: Fraction | float) -> Fraction:
    """Return a number exactly, of a float the shortest decimal that names it: a budget of 0.1 is not one of 0.1 and a bit, which reads 0.11."""
    return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)


def epsilon_bound(epsilon: Fraction | float) -> str:
    """Return ε as a bound for reading: two decimals, two digits where it is small, never less than it is."""
    places = 2
    while 0 < epsilon * 10**places < 10 and places < 12:
        places += 1
    return rounded_up(epsilon, places)


def percent(share: Fraction | float | None, *, places: int | None = 1, toward: Toward = Toward.NEAREST) -> str:
    """Return a share as a percentage, – when there is none; what is not 0 never reads 0, what is not all never reads 100.

    Args:
        share: a part of 1, None or not a number when there is none.
        places: decimals; None for all, of what somebody chose: a confidence of 97.5 % is not one of 98 %.
        toward: where it is rounded.
    """
    if share is None or (isinstance(share, float) and not math.isfinite(share)):
        return ABSENT
    # A float differs from the share it stands for in its last digits, and a direction would follow them: 3 of 5 are 60 %, not 59.99 %.
    exact = Fraction(f"{share:.14g}") if isinstance(share, float) else Fraction(share)
    if places is None:
        return f"{exact_text(exact * 100)} %"
    text = _quotient(100 * exact.numerator, exact.denominator, places, toward)
    if exact and not text.strip("0.−"):
        return (
            f"< {_quotient(1, 10**places, places, toward)} %"
            if exact > 0
            else f"> {_quotient(-1, 10**places, places, toward)} %"
        )
    if text.startswith("100") and exact.numerator < exact.denominator:
        return f"> {_quotient(100 * 10**places - 1, 10**places, places, toward)} %"
    return f"{text} %"
