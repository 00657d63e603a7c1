"""What the privacy-curve chart shows, as values: (ε, δ) under the named conversions, each with its ρ and neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from phexplore.accounting.zcdp import curve, epsilon
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import budget_text, power_text
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.numbers import Unlimited
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.forecast import Forecast

POINTS = 15
"""Enough for lines that are nearly straight in √(ln 1/δ): between two points they are off by less than half a pixel."""
LARGEST_EXPONENT, SMALLEST_EXPONENT = -2, -20
"""The axis reaches from δ = 10⁻² to 10⁻²⁰."""

SHORT_NAMES = {
    Conversion.BUN_STEINKE: "ρ + 2√(ρ ln 1/δ)",
    Conversion.ZCDP_OPTIMAL_ALPHA: "zCDP, optimal α",
    Conversion.GAUSSIAN_CONTINUOUS: "continuous Gaussian (approximation)",
}

SHORTEST_NAMES = {
    Conversion.BUN_STEINKE: "Bun–Steinke",
    Conversion.ZCDP_OPTIMAL_ALPHA: "optimal α",
    Conversion.GAUSSIAN_CONTINUOUS: "≈ Gaussian",
}


@dataclass(frozen=True, slots=True)
class EpsilonCurve:
    """One line of the picture.

    Attributes:
        conversion: how ρ and δ become ε; None under pure DP, where ε holds for every δ.
        neighbours: whose ρ it is for.
        budget: that ρ, or the pure ε.
        exponents: log10 δ of the points of the line, descending.
        epsilons: at these δ, rounded up.
        marked: ε at δ = 10⁻¹⁰.
    """

    conversion: Conversion | None
    neighbours: Neighbours
    budget: Fraction
    exponents: tuple[float, ...]
    epsilons: tuple[float, ...]
    marked: float

    @property
    def label(self) -> str:
        """Words at the end of the line: ε at the mark, whose ρ, which conversion."""
        side = self.neighbours.value
        if self.conversion is None:
            return f"ε {self.marked:.4g} · {side}, pure DP"
        return f"ε {self.marked:.2f} · {side} ρ {budget_text(self.budget)} · {SHORT_NAMES[self.conversion]}"

    @property
    def short_label(self) -> str:
        """The same for a narrow picture, whose sentence names the ρ."""
        word = "pure DP" if self.conversion is None else SHORTEST_NAMES[self.conversion]
        return f"{self.marked:.2f} {self.neighbours.value}, {word}"


def epsilon_curves(figures: Forecast) -> tuple[EpsilonCurve, ...]:
    """Return the lines of a forecast, the scenario's neighbours first; empty when nothing or everything is spent."""
    privacy = figures.privacy
    total = privacy.total
    if isinstance(total, Unlimited) or isinstance(privacy.bounded_total, Unlimited) or total == 0:
        return ()
    sides = sorted(Neighbours, key=lambda side: side is not figures.conventions.neighbours)
    totals = {Neighbours.BOUNDED: privacy.bounded_total, Neighbours.UNBOUNDED: total}
    if privacy.framework is PrivacyFramework.PURE_DP:
        return tuple(_pure(side, totals[side]) for side in sides)
    marked = {
        (each.neighbours, each.conversion): each.value for each in privacy.epsilons if each.delta == HEADLINE_DELTA
    }
    return tuple(
        _zcdp(side, totals[side], conversion, marked[side, conversion]) for side in sides for conversion in Conversion
    )


def _pure(side: Neighbours, total: Fraction) -> EpsilonCurve:
    ends = (float(LARGEST_EXPONENT), float(SMALLEST_EXPONENT))
    return EpsilonCurve(None, side, total, ends, (float(total), float(total)), float(total))


@lru_cache(maxsize=64)
def _zcdp(side: Neighbours, rho: Fraction, conversion: Conversion, marked: float) -> EpsilonCurve:
    points = curve(rho, conversion, _deltas())
    return EpsilonCurve(conversion, side, rho, _exponents(), tuple(point.epsilon for point in points), marked)


@lru_cache(maxsize=1)
def _exponents() -> tuple[float, ...]:
    first, last = math.sqrt(-LARGEST_EXPONENT), math.sqrt(-SMALLEST_EXPONENT)
    roots = (first + (last - first) * index / (POINTS - 1) for index in range(POINTS))
    return tuple(-round(root * root, 12) for root in roots)


@lru_cache(maxsize=1)
def _deltas() -> tuple[Fraction, ...]:
    return tuple(Fraction(10**exponent) for exponent in _exponents())


def _epsilon_at(line: EpsilonCurve, delta: Fraction) -> float:
    return line.marked if line.conversion is None else epsilon(line.budget, delta, line.conversion)


def epsilon_title(curves: Sequence[EpsilonCurve], figures: Forecast) -> str:
    """Return the finding: ε at the scenario's δ by the tightest sound conversion, saying whose."""
    side = figures.conventions.neighbours
    first = curves[0]
    if first.conversion is None:
        return f"{side.value.capitalize()} ε = {budget_text(first.budget)}, for every δ"
    delta = figures.conventions.delta
    value = epsilon(first.budget, delta, Conversion.ZCDP_OPTIMAL_ALPHA)
    return f"{side.value.capitalize()} ε = {value:.2f} at δ = {power_text(delta)} (zCDP, optimal α)"


def epsilon_summary(curves: Sequence[EpsilonCurve]) -> str:
    """Return one sentence: which ρ the lines are for, and how the conversions compare at the mark."""
    first = curves[0]
    if first.conversion is None:
        return "Pure differential privacy needs no conversion: its ε is the sum of all budgets and holds with δ = 0."
    values = {each.conversion: each.marked for each in curves if each.neighbours is first.neighbours}
    return (
        f"For {first.neighbours.value} ρ = {budget_text(first.budget)} and δ = 10⁻¹⁰: "
        f"{values[Conversion.BUN_STEINKE]:.2f} by ρ + 2√(ρ ln 1/δ), "
        f"{values[Conversion.ZCDP_OPTIMAL_ALPHA]:.2f} by zCDP with optimal α, and "
        f"{values[Conversion.GAUSSIAN_CONTINUOUS]:.2f} for a continuous Gaussian, which is an approximation."
    )


def epsilon_numbers(curves: Sequence[EpsilonCurve]) -> Table:
    """Return the table twin: the mark first, then ε at every power of ten; one column per line."""
    names = [
        f"{each.neighbours.value} ρ {budget_text(each.budget)}, {SHORT_NAMES[each.conversion]}"
        if each.conversion
        else f"{each.neighbours.value}, pure DP"
        for each in curves
    ]
    marked: tuple[Value, ...] = ("1e-10 (marked)", *(each.marked for each in curves))
    powers = range(-LARGEST_EXPONENT, -SMALLEST_EXPONENT + 1)
    rows: list[tuple[Value, ...]] = [
        (f"1e-{power:02d}", *(_epsilon_at(each, Fraction(1, 10**power)) for each in curves)) for power in powers
    ]
    return Table(("δ", *names), (marked, *rows))
