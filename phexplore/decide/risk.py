"""What a privacy loss means to one person, in words that need no formula: how often a guess would be right.

An attacker knows everything about everybody else and has to say whether one person's record is the one or the other of two; the
two are neighbours, so this is the worst case. A stated prior says how often the guess is right without the release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from phexplore.accounting.zcdp import epsilon
from phexplore.model.conventions import Conversion
from phexplore.model.phsafe import PrivacyFramework

_EXPONENTS = tuple(step / 4 for step in range(2, 77))
"""δ from 10^-0.5 to 10^-19: the bound is the smallest over these, and every one of them holds."""


@dataclass(frozen=True, slots=True)
class GuessRisk:
    """How often a worst-case guess is right.

    Attributes:
        prior: probability of the better guess without the release, in [1/2, 1).
        bound: no attacker is right more often, whatever the mechanism of this loss.
        gaussian: the best attacker against one continuous Gaussian of this ρ: what the noise used comes close to; None
            under pure DP.
    """

    prior: float
    bound: float
    gaussian: float | None

    def sentence(self, people: int = 1000) -> str:
        """Return the risk in natural frequencies."""
        before, after = round(self.prior * people), math.ceil(self.bound * people - 1e-9)
        return f"Of {people:,} such guesses {before:,} are right without the release, and at most {min(after, people):,} with it."


def guess_risk(framework: PrivacyFramework, loss: Fraction, prior: Fraction = Fraction(1, 2)) -> GuessRisk:
    """Return how often a worst-case guess between two neighbours is right.

    Under (ε, δ)-DP a test with false alarms a has power at most e^ε a + δ and 1 − e^(−ε)(1 − δ − a) (Kairouz, Oh and
    Viswanath 2015); the best guess is at a corner of that region. Against a Gaussian of ρ, whose two means are μ = √(2ρ)
    standard deviations apart, it is the likelihood-ratio test at the prior odds (Dong, Roth and Su 2022).

    Args:
        framework: of the loss.
        loss: ρ under zCDP, ε under pure DP; 0 = nothing is released.
        prior: probability of the likelier of the two records, in [1/2, 1).

    Raises:
        ValueError: the prior or the loss is out of range.
    """
    if not Fraction(1, 2) <= prior < 1:
        raise ValueError(f"a prior of the better guess lies in [1/2, 1), got {prior}")
    if loss < 0:
        raise ValueError(f"a privacy loss is 0 or more, got {loss}")
    p = float(prior)
    if loss == 0:
        return GuessRisk(p, p, p if framework is PrivacyFramework.ZCDP else None)
    if framework is PrivacyFramework.PURE_DP:
        return GuessRisk(p, _best_guess(p, float(loss), 0.0), None)
    deltas = [Fraction(math.ceil(10 ** (20 - exponent)), 10**20) for exponent in _EXPONENTS]
    bound = min(_best_guess(p, epsilon(loss, delta, Conversion.ZCDP_OPTIMAL_ALPHA), float(delta)) for delta in deltas)
    return GuessRisk(p, min(1.0, bound), _gaussian_guess(p, math.sqrt(2 * float(loss))))


def _best_guess(prior: float, loss: float, delta: float) -> float:
    """Return the largest p·power + (1 − p)(1 − false alarms) in the region of (ε, δ); the prior is that of the alarm."""
    if loss > 700:
        return 1.0
    both = (math.exp(loss) + delta) / (1 + math.exp(loss))
    corners = (prior * delta + 1 - prior, both, prior + (1 - prior) * delta)
    return min(1.0, max(corners))


def _gaussian_guess(prior: float, distance: float) -> float:
    shift = math.log(prior / (1 - prior)) / distance
    return prior * _normal(distance / 2 + shift) + (1 - prior) * _normal(distance / 2 - shift)


def _normal(value: float) -> float:
    return math.erfc(-value / math.sqrt(2)) / 2
