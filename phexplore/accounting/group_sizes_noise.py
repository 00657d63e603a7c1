"""The noise of group-size answers, level by level, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from phexplore.accounting.composition import confirm_spent
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.phsafe import PrivacyFramework
from phexplore.noise.distributions import DiscreteGaussian, Noise, TwoSidedGeometric


@dataclass(frozen=True, slots=True)
class LevelNoise:
    """The noise of one level's answers.

    Attributes:
        level: its name.
        noise: of one answer.
        sensitivity: number of answers one individual changes, by 1 each: the L1 and the squared L2 sensitivity.
    """

    level: str
    noise: Noise
    sensitivity: int

    @property
    def spends(self) -> Fraction:
        """What the level costs: ε = Δ / b of geometric noise, ρ = Δ² / (2 σ²) of Gaussian noise.

        Raises:
            TypeError: answers without noise have no finite cost.
        """
        match self.noise:
            case TwoSidedGeometric(scale):
                return self.sensitivity / scale
            case DiscreteGaussian(sigma2):
                return self.sensitivity / (2 * sigma2)
            case _:
                raise TypeError(f"{type(self.noise).__name__} has no finite cost")


def noise_of(framework: PrivacyFramework, sensitivity: int, budget: Fraction) -> Noise:
    """Return the noise that spends a budget on answers of which one individual changes `sensitivity`, by 1 each.

    Geometric noise of scale Δ₁/ε under pure DP (paper, Definition 2), discrete Gaussian noise of σ² = Δ₂²/(2ρ) under
    zCDP.

    Args:
        framework: which of the two guarantees the budget is of.
        sensitivity: how many answers one individual changes, at least 1.
        budget: ε under pure DP, ρ under zCDP, above 0.

    Raises:
        ValueError: the budget or the sensitivity is not positive.
        NoiseOutOfRangeError: the noise is wider or narrower than any count needs.
    """
    if framework is PrivacyFramework.PURE_DP:
        return TwoSidedGeometric.for_budget(sensitivity, budget)
    if budget <= 0 or sensitivity < 1:
        raise ValueError(f"budget and sensitivity are positive, got {budget} and {sensitivity}")
    return DiscreteGaussian(Fraction(sensitivity) / (2 * budget))


def level_noises(method: GroupSizes) -> tuple[LevelNoise, ...]:
    """Return the noise of every level, widest first.

    Raises:
        BudgetMismatchError: it would not cost exactly what is declared.
        ValueError: a level without budget.
        NoiseOutOfRangeError: noise that no count needs.
    """
    reach = method.sensitivity
    noises = tuple(
        LevelNoise(level, noise_of(method.framework, reach, method.budget(level)), reach) for level in method.levels
    )
    confirm_spent(method.total, [level.spends for level in noises])
    return noises
