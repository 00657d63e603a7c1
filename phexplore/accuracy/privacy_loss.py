"""The privacy loss of a whole scenario as figures that say what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from phexplore.model.conventions import Conversion, Neighbours, Proof
from phexplore.model.numbers import Budget
from phexplore.model.phsafe import PrivacyFramework

HEADLINE_DELTA = Fraction(1, 10**10)
"""δ of the production certificates; always among the reported conversions."""


@dataclass(frozen=True, slots=True)
class EpsilonFigure:
    """One ε, with everything needed to know what it means.

    Attributes:
        conversion: how it was computed; None for pure DP, where ε is the budget itself. A proof does without ρ.
        neighbours: whose ρ went in.
        rho: the ρ it was computed from, or that the proven noise has; None for pure DP.
        delta: exact.
        value: ε, rounded up; of a bracket the high end.
        low: end of a bracket, None for a conversion.
        bypass_high: of a bracket on a geography whose units gave budgets away, the largest high end over all paths.
    """

    conversion: Conversion | Proof | None
    neighbours: Neighbours
    rho: Fraction | None
    delta: Fraction
    value: float
    low: float | None = None
    bypass_high: float | None = None


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """The privacy loss of the whole scenario.

    Attributes:
        framework: zCDP (the totals are ρ) or pure DP (they are ε).
        total: unbounded, exact.
        bounded_total: bounded, exact: the headline of PHSafe.
        epsilons: (ε, δ) figures; empty when the total is 0 or unlimited.
    """

    framework: PrivacyFramework
    total: Budget
    bounded_total: Budget
    epsilons: tuple[EpsilonFigure, ...]
