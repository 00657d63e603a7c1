"""Exact numbers as people write them, and back. No budget ever passes through a float."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Literal

_DECIMAL = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}( \d{3})+([.,]\d*)?", re.ASCII)
"""Thousands apart, as the screen writes them with narrow spaces: what is seen can be typed."""
_RATIO = re.compile(r"[+-]?\d+\s*/\s*\d+", re.ASCII)
"""Digits are 0 to 9: what looks like another number to one reader, or is another script's, is refused."""
_MOST_DIGITS = 2_000
_MOST_BITS = 6_650
"""Of numerator and denominator: what `_MOST_DIGITS` digits take. Sums and products of such numbers stay quick and can be shown."""
_WIDEST = 249
"""Powers of two from 1, as 1e75: a margin squared against a factor squared still is a finite floating-point number."""
_LONGEST_SHOWN = 40


class Unlimited(enum.Enum):
    """A budget without bound: no noise. Production spells it ``Infinity``."""

    UNLIMITED = "Infinity"


UNLIMITED: Literal[Unlimited.UNLIMITED] = Unlimited.UNLIMITED

Budget = Fraction | Literal[Unlimited.UNLIMITED]
"""A privacy-loss budget: ρ under zCDP, ε under pure DP. 0 means not published."""


class Rounding(enum.Enum):
    """The direction of a rounding that decides a budget."""

    UP = "up"
    NEAREST = "nearest"


@lru_cache(maxsize=4096)
def parse_exact(text: str) -> Fraction:
    """Read ``0.25``, ``0,25``, ``1 234,5``, ``1/3``, ``25 %`` or ``2.2e-5`` exactly as written.

    Texts are remembered: the log of a project names the same numbers over and over.

    Raises:
        ValueError: not one number, or one beyond what `require_bounded` allows; the message says what is read.
    """
    if len(text) > 2 * _MOST_DIGITS + 2:
        raise ValueError(
            f"{_shortened(text)!r} has {len(text):,} characters; a number has {_MOST_DIGITS:,} digits at most"
        )
    body, percent, rest = text.strip().partition("%")
    body = body.strip().replace("\u00a0", "").replace("\u202f", "").replace("−", "-")
    body = body.replace(" ", "") if _GROUPED.fullmatch(body) else body
    if re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", body):
        plain, point = body.replace(",", ""), body.replace(",", ".")
        raise ValueError(f"{text.strip()!r} may mean {plain} or {point}; write {plain} or {point}")
    if not rest.strip() and (_DECIMAL.fullmatch(body) or _RATIO.fullmatch(body)):
        try:
            value = Fraction(re.sub(r"\s", "", body).replace(",", "."))
            value = value / 100 if percent else value
        except ZeroDivisionError:
            raise ValueError(f"{_shortened(text)!r} divides by zero") from None
        require_bounded(value, repr(_shortened(text)))
        return value
    text = _shortened(text)
    if re.fullmatch(r"[+-]?\d{1,3}([.,]\d{3})+[.,]\d+", body):
        raise ValueError(f"{text!r} has more than one separator; write it without grouping, e.g. 1234.5")
    raise ValueError(f"{text!r} is not a number; write it like 0.25; 1/3; 25 % or 2.2e-5")


def is_bounded(value: Fraction) -> bool:
    """Return whether `require_bounded` passes a number: an edit checks a hundred of them."""
    upper, lower = value.numerator.bit_length(), value.denominator.bit_length()
    return upper <= _MOST_BITS >= lower and (not upper or -_WIDEST <= upper - lower <= _WIDEST)


def require_bounded(value: Fraction, what: str) -> None:
    """Pass a number that everything computed from it can hold: as a text, and as a floating-point number.

    Args:
        value: the number.
        what: it is, as the beginning of the message.

    Raises:
        ValueError: it lies beyond 1e75 or is closer to 0 than 1e-75, or a part of it has more than 2,000 digits.
    """
    if is_bounded(value):
        return
    upper, lower = value.numerator.bit_length(), value.denominator.bit_length()
    if upper and not -_WIDEST <= upper - lower <= _WIDEST:
        side = "larger than 1e75" if upper > lower else "closer to 0 than 1e-75"
        raise ValueError(f"{what} is {side}; no privacy parameter is")
    raise ValueError(f"{what} has more than {_MOST_DIGITS:,} digits; round it")


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def parse_budget(text: str) -> Budget:
    """Read a budget: any exact number of 0 or more, or ``Infinity`` / ``∞`` for no noise.

    Raises:
        ValueError: not a number, or negative.
    """
    if text.strip().lower() in {"infinity", "inf", "∞"}:
        return UNLIMITED
    value = parse_exact(text)
    if value.numerator < 0:
        raise ValueError(f"a budget is 0 (not published) or more, got {_shortened(text.strip())}")
    return value


def has_decimal(value: Fraction) -> bool:
    """Return whether a finite decimal equals `value`: its denominator divides a power of ten."""
    return pow(10, value.denominator.bit_length(), value.denominator) == 0


def decimal_text(value: Fraction) -> str | None:
    """Return the plain decimal that equals `value`, or None when no finite decimal does."""
    denominator, twos, fives = value.denominator, 0, 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    if denominator != 1:
        return None
    places = max(twos, fives)
    scaled: int = abs(value.numerator) * int(10**places) // value.denominator
    digits = str(scaled).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def exact_text(value: Budget) -> str:
    """Return the shortest exact spelling: a decimal where there is one, else a fraction, or ``Infinity``."""
    if isinstance(value, Unlimited):
        return str(value.value)
    return decimal_text(value) or f"{value.numerator}/{value.denominator}"


def scientific_text(value: Fraction) -> str:
    """Return a small number such as δ exactly: ``1e-10``, ``2.5e-10``, or a fraction where no short decimal equals it."""
    texts = (f"{float(value):.0e}", repr(float(value)))
    return next((text for text in texts if Fraction(text) == value), exact_text(value))


def round_exact(value: Fraction, step: Fraction, rounding: Rounding) -> Fraction:
    """Return a multiple of `step`: the smallest not below `value` (UP), or the nearest one (ties to even).

    Args:
        value: to round.
        step: above 0.
        rounding: up or to the nearest.

    Raises:
        ValueError: the step is not positive.
    """
    if step <= 0:
        raise ValueError(f"a rounding step is positive, got {step}")
    quotient = value / step
    match rounding:
        case Rounding.UP:
            return -(-quotient.numerator // quotient.denominator) * step
        case Rounding.NEAREST:
            return round(quotient) * step


def total_budget(budgets: list[Budget]) -> Budget:
    """Return the exact sum; unlimited as soon as one part is."""
    finite = [budget for budget in budgets if not isinstance(budget, Unlimited)]
    return exact_sum(finite) if len(finite) == len(budgets) else UNLIMITED


def exact_sum(numbers: Iterable[Fraction]) -> Fraction:
    """Return the sum."""
    # By denominator: budgets are decimals, and fractions add ten times as slowly as whole numbers.
    parts: dict[int, int] = {}
    for number in numbers:
        parts[number.denominator] = parts.get(number.denominator, 0) + number.numerator
    return sum((Fraction(numerator, denominator) for denominator, numerator in parts.items()), Fraction(0))
