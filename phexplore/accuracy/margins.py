"""Margins of error of single and summed noises in the three named conventions, and budgets from margins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.numbers import Rounding, exact_text, round_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.noise.distributions import DiscreteGaussian, Noise, TwoSidedGeometric, noise_for
from phexplore.noise.sums import sum_margin
from phexplore.text.messages import Number, msg

PAPER_Z = Fraction(164, 100)
"""The factor printed in the PHSafe paper, §7.1. The published budgets were computed with 1.645 (see errata)."""

NINETY_PERCENT = Fraction(9, 10)


class MarginError(PhexploreError):
    """A margin of error for which no budget can be given."""


@dataclass(frozen=True, slots=True)
class Margins:
    """Half-widths in people that hold a count at one confidence.

    Attributes:
        exact: smallest whole m with P(|noise| ≤ m) ≥ confidence; None where no exact distribution applies (ratios).
        normal: z σ; under pure DP the real-valued quantile of the two-sided geometric noise.
        paper: ⌊1.64 σ⌋ (PHSafe paper §7.1), 90 % only, else None.
    """

    exact: int | None
    normal: float
    paper: int | None

    def by(self, convention: MarginConvention) -> float:
        """Return the margin of this convention; falls back to normal where the convention does not apply."""
        match convention:
            case MarginConvention.EXACT if self.exact is not None:
                return float(self.exact)
            case MarginConvention.PAPER if self.paper is not None:
                return float(self.paper)
            case _:
                return self.normal


def is_met(margin: float, target: Fraction) -> bool:
    """Return whether a margin is at most its target, exactly or to the nearest person: the one rule of the program.

    To the nearest person because the published budgets were rounded to six decimals: 1.645 σ of the row (Nation,
    Unattributed) of PH1_num is 500.04 people for a target of 500.

    Args:
        margin: in people; an infinite margin meets no target.
        target: in people.
    """
    if math.isinf(margin):
        return False
    # Whole people first: an edit asks this of every target, and a fraction compares with a float five times as slowly.
    return round(margin) * target.denominator <= target.numerator or margin <= target


def equals_target(margin: float, target: Fraction) -> bool:
    """Return whether a margin meets its target and is shown with the same digits: 500.04 people for a target of 500.

    Tables show whole people from 100 up, one decimal from 10 up, and two below.

    Args:
        margin: in people.
        target: in people.
    """
    step = 1 if target >= 100 else 0.1 if target >= 10 else 0.01
    return is_met(margin, target) and abs(margin - float(target)) < step / 2


@lru_cache(maxsize=256)
def normal_factor(confidence: Fraction, z: Fraction) -> Fraction:
    """Return the factor of σ at this confidence: `z` at 90 %, the normal quantile elsewhere (rounded up at 1e-12).

    Args:
        confidence: strictly between 0 and 1.
        z: the scenario's factor at 90 %, e.g. 1.64.
    """
    if confidence == NINETY_PERCENT:
        return z
    return round_exact(Fraction(NormalDist().inv_cdf(float((1 + confidence) / 2))), Fraction(1, 10**12), Rounding.UP)


def margins_of(noise: Noise, count: int, confidence: Fraction, z: Fraction) -> Margins:
    """Return the margins of the sum of `count` independent noises of this distribution.

    Args:
        noise: the distribution of one basis cell.
        count: how many basis cells are added, at least 1.
        confidence: in (0, 1).
        z: factor of the normal convention at 90 %.
    """
    return _remembered(noise, count, confidence, z)


def margin_by(noise: Noise, conventions: Conventions) -> float:
    """Return the margin of one noise by the scenario's convention alone: the exact quantile is not looked for unasked.

    Args:
        noise: the distribution, in people.
        conventions: convention, confidence and z of the scenario.
    """
    if conventions.margin is MarginConvention.NORMAL:
        return _normal_margin([noise], conventions.confidence, conventions.z)
    return margins_of(noise, 1, conventions.confidence, conventions.z).by(conventions.margin)


@lru_cache(maxsize=8192)
def _remembered(noise: Noise, count: int, confidence: Fraction, z: Fraction) -> Margins:
    return _margins([noise] * count, confidence, z)


def margins_of_sum(noises: Sequence[Noise], conventions: Conventions) -> Margins:
    """Return the margins of a sum of independent, possibly different noises.

    Args:
        noises: the summands, in people.
        conventions: confidence and z of the scenario.
    """
    return _margins(list(noises), conventions.confidence, conventions.z)


def _margins(noises: list[Noise], confidence: Fraction, z: Fraction) -> Margins:
    exact = noises[0].margin(confidence) if len(noises) == 1 else sum_margin(noises, confidence)
    normal = _normal_margin(noises, confidence, z)
    paper = _paper_margin(noises) if confidence == NINETY_PERCENT else None
    return Margins(exact, normal, paper)


def _normal_margin(noises: list[Noise], confidence: Fraction, z: Fraction) -> float:
    if len(noises) == 1 and isinstance(noises[0], TwoSidedGeometric):
        return _geometric_quantile(float(noises[0].scale), float(confidence))
    return float(normal_factor(confidence, z)) * math.sqrt(sum(noise.reported_variance() for noise in noises))


def _geometric_quantile(scale: float, confidence: float) -> float:
    """Return b ln(2 / ((1 − c)(1 + e^(1/b)))), the margin PHSafe's accuracy report expects under pure DP, at least 0."""
    if scale < 1e-2:
        return 0.0
    return max(0.0, scale * math.log(2 / ((1 - confidence) * (1 + math.exp(1 / scale)))))


def _paper_margin(noises: list[Noise]) -> int | None:
    if any(isinstance(noise, TwoSidedGeometric) for noise in noises):
        return None
    sigma2 = sum((noise.sigma2 for noise in noises if isinstance(noise, DiscreteGaussian)), Fraction(0))
    squared = PAPER_Z**2 * sigma2
    return math.isqrt(squared.numerator // squared.denominator)


def budget_for_margin(
    margin: Fraction, sensitivity: int, framework: PrivacyFramework, conventions: Conventions, unit: str = "people"
) -> Fraction:
    """Return the budget whose basis-cell margin is `margin` under the scenario's convention.

    It is rounded to the convention's step in its direction; upward the margin is kept, never exceeded.

    Args:
        margin: half-width in people, > 0.
        sensitivity: L2 sensitivity Δ of the query in people.
        framework: decides whether the result is ρ or ε.
        conventions: margin convention, confidence, z, rounding.
        unit: what the query counts, e.g. people.

    Raises:
        MarginError: the margin is not positive, below 1 for a whole-number convention, or so wide that the
            rounded budget would be 0, which means "not published".
    """
    needed = unrounded_budget(margin, sensitivity, framework, conventions)
    budget = round_exact(needed, conventions.rounding_step, conventions.rounding)
    if budget == 0:
        raise MarginError(
            msg(
                "A margin of error of {margin} {unit} needs a budget below the rounding step {step}, which would round to 0 (not published).",
                margin=Number(exact_text(margin)),
                unit=unit,
                step=Number(exact_text(conventions.rounding_step)),
            ),
            msg("Choose a smaller margin or step, or enter a budget of 0 to publish nothing."),
        )
    return budget


@lru_cache(maxsize=4096)
def unrounded_budget(
    margin: Fraction, sensitivity: int, framework: PrivacyFramework, conventions: Conventions
) -> Fraction:
    """Return the budget that gives this margin before it is rounded to the convention's step.

    Exact where a formula gives it; where a search does, the smallest multiple of 1/1024 of the step that keeps the margin,
    which rounds to the same multiple of the step as the exact one.

    Args:
        margin: half-width in people, > 0.
        sensitivity: L2 sensitivity Δ of the query in people.
        framework: decides whether the result is ρ or ε.
        conventions: margin convention, confidence, z, step.

    Raises:
        MarginError: the margin is not positive, or below 1 for a whole-number convention.
    """
    if margin <= 0:
        raise MarginError(
            msg("A margin of error must be more than 0 (got {margin}).", margin=Number(exact_text(margin))),
            msg("Enter a positive number."),
        )
    if framework is PrivacyFramework.PURE_DP or conventions.margin is MarginConvention.EXACT:
        return _search_budget(margin, sensitivity, framework, conventions)
    return _gaussian_budget(margin, sensitivity, conventions)


def _gaussian_budget(margin: Fraction, sensitivity: int, conventions: Conventions) -> Fraction:
    """ρ = z² Δ² / (2 m²), from σ² = Δ²/(2ρ) and m = zσ (PHSafe paper, Corollary 2 with its z named)."""
    if conventions.margin is MarginConvention.PAPER:
        z, margin = PAPER_Z, _whole(margin)
    else:
        z = normal_factor(conventions.confidence, conventions.z)
    return z**2 * sensitivity**2 / (2 * margin**2)


def _whole(margin: Fraction) -> Fraction:
    if margin < 1:
        raise MarginError(
            msg(
                "This convention uses whole numbers; a margin of error of {margin} is below 1.",
                margin=Number(exact_text(margin)),
            ),
            msg("Enter 1 or more."),
        )
    return Fraction(math.floor(margin))


def _search_budget(
    margin: Fraction, sensitivity: int, framework: PrivacyFramework, conventions: Conventions
) -> Fraction:
    if conventions.margin is not MarginConvention.NORMAL:
        margin = _whole(margin)
    return _smallest_multiple(margin, sensitivity, framework, conventions, conventions.rounding_step / 1024)


def _smallest_multiple(
    margin: Fraction, sensitivity: int, framework: PrivacyFramework, conventions: Conventions, step: Fraction
) -> Fraction:
    def keeps(multiple: int) -> bool:
        noise = noise_for(framework, sensitivity=sensitivity, budget=multiple * step)
        if conventions.margin is MarginConvention.NORMAL:
            return _normal_margin([noise], conventions.confidence, conventions.z) <= margin
        return noise.margin(conventions.confidence) <= margin

    low, high = 0, 1
    while not keeps(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high * step
