"""What the privacy loss means as (ε, δ): a figure of the named conversions, each with its ρ and neighbours.

Args:
    curves: lines of the picture.
    figures: the forecast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from phexplore.accounting.zcdp import curve, epsilon
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.figures.axis import Axis, Tick
from phexplore.figures.figure import Figure, KeyEntry, nothing
from phexplore.figures.marks import Dash, Dot, Mark, Path, Rule
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import CONVERTED, budget_text, power_text
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.numbers import Unlimited
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import epsilon_bound
from phexplore.systems.phsafe.forecast import Forecast

POINTS = 12
"""Enough for lines that are nearly straight in √(ln 1/δ) and bend most where δ is large, where the points are closer: between two
of them a line is off by less than half a pixel."""
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
            return f"ε {epsilon_bound(self.marked)} · {side}, pure DP"
        return f"ε {epsilon_bound(self.marked)} · {side} ρ {budget_text(self.budget)} · {SHORT_NAMES[self.conversion]}"

    @property
    def short_label(self) -> str:
        """The same for a narrow picture, whose sentence names the ρ."""
        word = "pure DP" if self.conversion is None else SHORTEST_NAMES[self.conversion]
        return f"{epsilon_bound(self.marked)} {self.neighbours.value}, {word}"


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
    first, last = (-LARGEST_EXPONENT) ** 0.25, (-SMALLEST_EXPONENT) ** 0.25
    roots = (first + (last - first) * index / (POINTS - 1) for index in range(POINTS))
    return tuple(-round(root**4, 12) for root in roots)


@lru_cache(maxsize=1)
def _deltas() -> tuple[Fraction, ...]:
    return tuple(Fraction(10**exponent) for exponent in _exponents())


def _epsilon_at(line: EpsilonCurve, delta: Fraction) -> float:
    return line.marked if line.conversion is None else epsilon(line.budget, delta, line.conversion)


def epsilon_title(curves: Sequence[EpsilonCurve], figures: Forecast) -> str:
    """Return the finding: ε at the scenario's δ by the tightest sound conversion, saying whose.

    Args:
        curves: one per conversion, the tightest sound one first.
        figures: the forecast they are of.
    """
    side = figures.conventions.neighbours
    first = curves[0]
    if first.conversion is None:
        return f"{side.value.capitalize()} ε = {budget_text(first.budget)}, for every δ"
    delta = figures.conventions.delta
    value = epsilon(first.budget, delta, Conversion.ZCDP_OPTIMAL_ALPHA)
    return f"{side.value.capitalize()} ε = {epsilon_bound(value)} at δ = {power_text(delta)}, {CONVERTED}"


def epsilon_summary(curves: Sequence[EpsilonCurve]) -> str:
    """Return one sentence: which ρ the lines are for, and how the conversions compare at the mark."""
    first = curves[0]
    if first.conversion is None:
        return "Pure differential privacy needs no conversion: its ε is the sum of all budgets and holds with δ = 0."
    values = {each.conversion: each.marked for each in curves if each.neighbours is first.neighbours}
    return (
        f"For {first.neighbours.value} ρ = {budget_text(first.budget)} and δ = 10⁻¹⁰: "
        f"{epsilon_bound(values[Conversion.BUN_STEINKE])} by ρ + 2√(ρ ln 1/δ), "
        f"{epsilon_bound(values[Conversion.ZCDP_OPTIMAL_ALPHA])} by zCDP with optimal α, and "
        f"{epsilon_bound(values[Conversion.GAUSSIAN_CONTINUOUS])} for a continuous Gaussian, which is an approximation."
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


TEACHING = "What the privacy loss means as (ε, δ) appears here as soon as a level has a budget above 0."
UNLIMITED_SENTENCE = (
    "Without a limit on the budget there is no (ε, δ) guarantee. Give every published level a finite budget to see it."
)
_MARKED = -10.0
_KEY = KeyEntry(Dot(0.5, ink=0), "ε at δ = 10⁻¹⁰, written beside its line")
_DASHES = {
    Conversion.ZCDP_OPTIMAL_ALPHA: Dash.SOLID,
    Conversion.BUN_STEINKE: Dash.DASHED,
    Conversion.GAUSSIAN_CONTINUOUS: Dash.DOTTED,
    None: Dash.SOLID,
}


def epsilon_figure(figures: Forecast) -> Figure:
    """Return lines of ε over δ, the smaller δ to the right; every line says whose ρ and which conversion."""
    curves = epsilon_curves(figures)
    if not curves:
        return nothing("epsilon", UNLIMITED_SENTENCE if isinstance(figures.privacy.total, Unlimited) else TEACHING)
    main = figures.conventions.neighbours
    ticks = tuple(Tick(float(power), power_text(Fraction(1, 10**power))) for power in (2, 6, 10, 14, 18))
    return Figure(
        "epsilon",
        epsilon_title(curves, figures),
        epsilon_summary(curves),
        Axis(
            "δ, the chance that the guarantee does not hold (smaller to the right)",
            domain=(-float(LARGEST_EXPONENT), -float(SMALLEST_EXPONENT)),
            ticks=ticks,
        ),
        Axis("ε", is_round=True),
        tuple(_line(each, is_main=each.neighbours is main) for each in curves),
        partial(epsilon_numbers, curves),
        under=(Rule(x=-_MARKED, text="δ = 10⁻¹⁰", width=1.2),),
        key=() if curves[0].conversion is None else (_KEY,),
        explain="ρ of zero-concentrated differential privacy becomes (ε, δ) by ε = ρ + 2√(ρ ln 1/δ) (Bun and Steinke 2016, "
        "Proposition 1.3) or, tighter, by the optimal order α of Rényi divergence (Canonne, Kamath and Steinke 2020). The continuous "
        "Gaussian is an approximation, not a bound for the discrete noise.",
    )


def _line(each: EpsilonCurve, *, is_main: bool) -> Mark:
    ink = 0 if is_main else 1
    exponents = tuple(-exponent for exponent in each.exponents)
    path = Path(exponents, each.epsilons, ink, 2.4 if is_main else 1.6, _DASHES[each.conversion])
    dot = Dot(-_MARKED, each.marked, ink)
    return Mark((each.neighbours, each.conversion), (path, dot), text=each.short_label, tip=each.label)
