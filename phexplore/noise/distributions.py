"""The noise a measurement gets: distributions on the integers, symmetric around 0.

Figures (variance, coverage) are floats; what is decided (a margin) is decided exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from phexplore.errors import PhexploreError
from phexplore.model.numbers import Budget, Unlimited
from phexplore.model.phsafe import PrivacyFramework
from phexplore.noise import gaussian_tail, geometric_tail
from phexplore.noise.certified_quantile import require_confidence, smallest_margin
from phexplore.text.messages import msg

WIDEST = 2**96
"""Bound of σ² and of b²: a spread of 2^48 people is beyond any count, and its noise still fits an int64."""


class NoiseOutOfRangeError(PhexploreError):
    """A budget so small or so large that its noise has no meaning on counts."""

    def __init__(self, quantity: str, value: Fraction) -> None:
        super().__init__(
            msg(
                "The noise of this budget is out of range: {quantity} = {magnitude}.",
                quantity=quantity,
                magnitude=_magnitude(value),
            ),
            msg("Use a budget whose noise is between 2^-48 and 2^48 people."),
        )


class Noise(Protocol):
    """A distribution of integer noise, symmetric around 0. Equal parameters make equal, hashable values."""

    def __hash__(self) -> int:
        """Hash by parameters: noises are keys of caches."""

    @property
    def name(self) -> str:
        """What production writes into NOISE_DISTRIBUTION."""

    def variance(self) -> float:
        """Return the true variance, in people²."""

    def reported_variance(self) -> float:
        """Return what production writes into VARIANCE."""

    def coverage(self, m: int) -> float:
        """Return P(|X| ≤ m)."""

    def margin(self, confidence: Fraction) -> int:
        """Return the smallest integer m with P(|X| ≤ m) at least `confidence`, decided exactly.

        Raises:
            ValueError: the confidence is not strictly between 0 and 1.
        """

    def log_pmf(self, x: int) -> float:
        """Return ln P(X = x); -inf where it is impossible."""


@dataclass(frozen=True, slots=True)
class NoNoise:
    """The noise of an unlimited budget: always 0.

    Attributes:
        name: of the mechanism whose noise has vanished, as production keeps writing it.
    """

    name: str = "Discrete Gaussian"

    def variance(self) -> float:
        """Return 0."""
        return 0.0

    def reported_variance(self) -> float:
        """Return 0, what production writes for an infinite budget."""
        return 0.0

    def coverage(self, m: int) -> float:
        """Return 1 for every m ≥ 0."""
        return 1.0 if m >= 0 else 0.0

    def margin(self, confidence: Fraction) -> int:
        """Return 0.

        Raises:
            ValueError: the confidence is not strictly between 0 and 1.
        """
        require_confidence(confidence)
        return 0

    def log_pmf(self, x: int) -> float:
        """Return 0 at 0, -inf elsewhere."""
        return 0.0 if x == 0 else -math.inf


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """P(X = x) ∝ exp(-x² / (2σ²)) on the integers (PHSafe paper, Definition 9; Canonne, Kamath, Steinke 2020).

    Attributes:
        sigma2: the parameter σ², in people², > 0. Not the variance, though within 3e-7 of it from σ = 1 up.
    """

    sigma2: Fraction

    def __post_init__(self) -> None:
        """Refuse a σ² that is not positive, or out of range."""
        if self.sigma2 <= 0:
            raise ValueError(f"σ² is positive, got {self.sigma2}")
        if self.sigma2 > WIDEST or self.sigma2 * WIDEST < 1:
            raise NoiseOutOfRangeError("σ²", self.sigma2)

    @classmethod
    def for_budget(cls, sensitivity: int, rho: Fraction) -> DiscreteGaussian:
        """Return the noise that spends `rho` (zCDP) at this L2 sensitivity: σ² = Δ² / (2ρ) (Algorithm 5).

        Args:
            sensitivity: L2 sensitivity Δ of the count, at least 1.
            rho: zCDP budget, above 0.

        Raises:
            ValueError: ρ or the sensitivity is not positive.
            NoiseOutOfRangeError: the noise is wider or narrower than any count needs.
        """
        _require_positive(sensitivity, rho)
        return cls(Fraction(sensitivity * sensitivity * rho.denominator, 2 * rho.numerator))

    @property
    def name(self) -> str:
        """What production writes into NOISE_DISTRIBUTION."""
        return "Discrete Gaussian"

    def variance(self) -> float:
        """Return the true variance, in people²; below σ²."""
        return gaussian_tail.variance(float(self.sigma2))

    def reported_variance(self) -> float:
        """Return σ², which production writes as the variance."""
        return float(self.sigma2)

    def coverage(self, m: int) -> float:
        """Return P(|X| ≤ m)."""
        return 1.0 - gaussian_tail.tail(float(self.sigma2), m).value if m >= 0 else 0.0

    def margin(self, confidence: Fraction) -> int:
        """Return the smallest integer m with P(|X| ≤ m) at least `confidence`, decided exactly.

        Raises:
            ValueError: the confidence is not strictly between 0 and 1.
        """
        require_confidence(confidence)
        sigma2 = float(self.sigma2)
        return smallest_margin(
            confidence,
            start=gaussian_tail.guess(sigma2, confidence),
            tail=lambda m: gaussian_tail.tail(sigma2, m),
            exact_tail=lambda m, bits: gaussian_tail.exact_tail(self.sigma2, m, bits),
        )

    def log_pmf(self, x: int) -> float:
        """Return ln P(X = x)."""
        return -float(x * x / (2 * self.sigma2)) - math.log(gaussian_tail.normalisation(float(self.sigma2)))


@dataclass(frozen=True, slots=True)
class TwoSidedGeometric:
    """P(X = x) = (1 − q)/(1 + q) · q^|x| with q = e^{-1/b} on the integers: the discrete Laplace distribution.

    Attributes:
        scale: b, in people, > 0.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        """Refuse a scale that is not positive, or out of range."""
        if self.scale <= 0:
            raise ValueError(f"the scale b is positive, got {self.scale}")
        if self.scale**2 > WIDEST or self.scale**2 * WIDEST < 1:
            raise NoiseOutOfRangeError("b", self.scale)

    @classmethod
    def for_budget(cls, sensitivity: int, epsilon: Fraction) -> TwoSidedGeometric:
        """Return the noise that spends `epsilon` (pure DP) at this L1 sensitivity: b = Δ / ε.

        Args:
            sensitivity: L1 sensitivity Δ of the count, at least 1.
            epsilon: pure-DP budget, above 0.

        Raises:
            ValueError: ε or the sensitivity is not positive.
            NoiseOutOfRangeError: the noise is wider or narrower than any count needs.
        """
        _require_positive(sensitivity, epsilon)
        return cls(sensitivity / epsilon)

    @property
    def name(self) -> str:
        """What production writes into NOISE_DISTRIBUTION."""
        return "Two-Sided Geometric"

    def variance(self) -> float:
        """Return the variance 2q / (1 − q)², in people²."""
        return geometric_tail.variance(float(self.scale))

    def reported_variance(self) -> float:
        """Return the variance, which production writes as such."""
        return self.variance()

    def coverage(self, m: int) -> float:
        """Return P(|X| ≤ m)."""
        return 1.0 - geometric_tail.tail(float(self.scale), m).value if m >= 0 else 0.0

    def margin(self, confidence: Fraction) -> int:
        """Return the smallest integer m with P(|X| ≤ m) at least `confidence`, decided exactly.

        Raises:
            ValueError: the confidence is not strictly between 0 and 1.
        """
        require_confidence(confidence)
        scale = float(self.scale)
        return smallest_margin(
            confidence,
            start=geometric_tail.guess(scale, confidence),
            tail=lambda m: geometric_tail.tail(scale, m),
            exact_tail=lambda m, bits: geometric_tail.exact_tail(self.scale, m, bits),
        )

    def log_pmf(self, x: int) -> float:
        """Return ln P(X = x)."""
        half = 0.5 / float(self.scale)
        return -float(abs(x) / self.scale) + math.log(math.tanh(half))


def noise_for(framework: PrivacyFramework, *, sensitivity: int, budget: Budget) -> Noise:
    """Return the noise PHSafe adds to a count of this sensitivity under this budget (phsafe.md §5.1).

    Args:
        framework: which guarantee the budget is of.
        sensitivity: how far one individual can move the count, at least 1.
        budget: ρ under zCDP, ε under pure DP; unlimited adds no noise.

    Raises:
        ValueError: the budget is 0 (such a query is not measured) or negative, or the sensitivity not positive.
        NoiseOutOfRangeError: the noise is wider or narrower than any count needs.
    """
    match framework:
        case PrivacyFramework.ZCDP:
            if isinstance(budget, Unlimited):
                return NoNoise("Discrete Gaussian")
            return DiscreteGaussian.for_budget(sensitivity, budget)
        case PrivacyFramework.PURE_DP:
            if isinstance(budget, Unlimited):
                return NoNoise("Two-Sided Geometric")
            return TwoSidedGeometric.for_budget(sensitivity, budget)


def _require_positive(sensitivity: int, budget: Fraction) -> None:
    if sensitivity < 1:
        raise ValueError(f"a sensitivity is at least 1, got {sensitivity}")
    if budget <= 0:
        raise ValueError(f"a measured query has a positive budget, got {budget}")


def _magnitude(value: Fraction) -> str:
    """Return a power of ten near the value; it may be far outside the floats."""
    digits = len(str(value.numerator)) - len(str(value.denominator))
    return f"about 1e{digits}"
