"""Exact values that sliders stand on."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

_PER_DECADE = tuple(
    Fraction(digits, 100) for digits in (
        100, 102, 105, 107, 110, 113, 115, 118, 121, 124, 127, 130, 133, 137, 140, 143, 147, 150, 154, 158, 162, 165,
        169, 174, 178, 182, 187, 191, 196, 200, 205, 210, 215, 221, 226, 232, 237, 243, 249, 255, 261, 267, 274, 280,
        287, 294, 301, 309, 316, 324, 332, 340, 348, 357, 365, 374, 383, 392, 402, 412, 422, 432, 442, 453, 464, 475,
        487, 499, 511, 523, 536, 549, 562, 576, 590, 604, 619, 634, 649, 665, 681, 698, 715, 732, 750, 768, 787, 806,
        825, 845, 866, 887, 909, 931, 953, 976,
    )
)  # fmt: skip
"""Three-digit numbers evenly spread on a logarithmic scale: the preferred numbers of series E96 (IEC 60063)."""


def log_stops(low: int, high: int) -> tuple[Fraction, ...]:
    """Return three-digit stops from 10^low to 10^high, 96 per decade, ascending.

    Args:
        low: power of ten of the first stop.
        high: power of ten of the last stop.
    """
    decades = [Fraction(10) ** exponent for exponent in range(low, high)]
    return (*(decade * digits for decade in decades for digits in _PER_DECADE), Fraction(10) ** high)


@lru_cache(maxsize=4)
def people_stops(high: int) -> tuple[Fraction, ...]:
    """Return whole numbers of people from 1 to 10^high on a logarithmic scale, ascending."""
    return tuple(map(Fraction, sorted({round(stop) for stop in log_stops(0, high)})))
