"""From ρ to (ε, δ), and back: zero-concentrated differential privacy under named conversions.

Budgets are fractions; ε is shown as a float and always rounded up: what is printed is never less than what is spent.
Neighbours are those of ρ: a bounded ρ gives a bounded ε.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from phexplore.accounting.gaussian_curve import Solution, gaussian_solution
from phexplore.model.conventions import Conversion

if TYPE_CHECKING:
    from collections.abc import Iterable

# Every formula here is a handful of operations on well-conditioned terms: the rounding stays below 2e-15 of the sum of
# the terms (tested against 60 digits); ε is raised by ten times that.
_RAISE = 2e-14
_MOST_STEPS = 200


class CurvePoint(NamedTuple):
    """One point of the privacy curve: the guarantee is (ε, δ)-DP."""

    delta: Fraction
    epsilon: float


def bounded(rho: Fraction) -> Fraction:
    """Return the bounded (replace-one) ρ of a PHSafe run with this unbounded ρ: twice it (paper §5.3, Table 10).

    Raises:
        ValueError: ρ is negative.
    """
    _require_rho(rho)
    return 2 * rho


def epsilon(rho: Fraction, delta: Fraction, conversion: Conversion) -> float:
    """Return ε such that ρ-zCDP implies (ε, δ)-DP under this conversion, rounded up.

    The result exceeds the exact value by at most 1e-12 of it, more only where ε is small beside ρ and √ρ; it is inf
    beyond the floats, and ρ below 1e-300 counts as that. GAUSSIAN_CONTINUOUS holds for one continuous Gaussian only: an
    approximation here.

    Args:
        rho: zCDP budget, at least 0.
        delta: δ of the guarantee, strictly between 0 and 1.
        conversion: the published bound to apply.

    Raises:
        ValueError: ρ is negative, or δ is not strictly between 0 and 1.
    """
    _require_rho(rho)
    return _epsilon(_float_above(rho), log_inverse(delta), conversion)


def curve(rho: Fraction, conversion: Conversion, deltas: Iterable[Fraction]) -> tuple[CurvePoint, ...]:
    """Return ε for each δ, in their order, rounded up.

    Args:
        rho: zCDP budget, at least 0.
        conversion: the published bound to apply.
        deltas: each strictly between 0 and 1.

    Raises:
        ValueError: ρ is negative, or a δ is not strictly between 0 and 1.
    """
    _require_rho(rho)
    above = _float_above(rho)
    return tuple(CurvePoint(delta, _epsilon(above, log_inverse(delta), conversion)) for delta in deltas)


def rho_for_epsilon(target: Fraction, delta: Fraction, conversion: Conversion) -> Fraction:
    """Return a ρ, with at most 13 significant decimals, whose ε does not exceed the target.

    Rounded down: within 1e-11 of the largest such ρ, and ``epsilon(result, delta, conversion) <= target`` holds.

    Args:
        target: ε not to exceed, from 0 to 1e300.
        delta: δ of the guarantee, strictly between 0 and 1.
        conversion: the published bound to apply.

    Raises:
        ValueError: the target is negative or beyond the floats, or δ is not strictly between 0 and 1.
    """
    if target < 0:
        raise ValueError(f"ε is at least 0, got {target}")
    if target > 10**300:
        raise ValueError(f"ε is at most 1e300, got {target}")
    logarithm = log_inverse(delta)
    aim = target.numerator / target.denominator
    # The inverse of the simplest conversion; the others give a smaller ε, so their ρ is larger.
    root = aim / (math.sqrt(logarithm + aim) + math.sqrt(logarithm))
    if conversion is not Conversion.BUN_STEINKE:
        root = _invert(aim, logarithm, conversion, max(root, math.exp(-logarithm)))
    shrink = Fraction(1, 10**12)
    while shrink < 1:
        found = _rounded_down(Fraction(root) ** 2 * (1 - shrink))
        if epsilon(found, delta, conversion) <= target:
            return found
        shrink *= 2
    return Fraction(0)


def _invert(aim: float, logarithm: float, conversion: Conversion, start: float) -> float:
    """Return √ρ at which ε is the aim, by Newton's method: ε is nearly quadratic in √ρ."""
    root = max(start, 1e-150)
    for _ in range(_MOST_STEPS):
        solution = _solution(root * root, logarithm, conversion)
        step = (solution.epsilon - aim) / (2 * root * solution.slope)
        following = min(max(root - step, root / 16), root * 16)
        # The step after one of this size is below the last digit.
        done = abs(following - root) <= 1e-9 * root
        root = following
        if done or root < 1e-150:
            break
    return root


def _epsilon(rho: float, logarithm: float, conversion: Conversion) -> float:
    if rho in {0.0, math.inf}:
        return rho
    solution = _solution(rho, logarithm, conversion)
    return max(math.nextafter(solution.epsilon + _RAISE * solution.terms, math.inf), 0.0)


def _solution(rho: float, logarithm: float, conversion: Conversion) -> Solution:
    match conversion:
        case Conversion.BUN_STEINKE:
            return _bun_steinke(rho, logarithm)
        case Conversion.ZCDP_OPTIMAL_ALPHA:
            return _optimal_alpha(rho, logarithm)
        case Conversion.GAUSSIAN_CONTINUOUS:
            return gaussian_solution(rho, logarithm)


def _bun_steinke(rho: float, logarithm: float) -> Solution:
    """ε = ρ + 2 √(ρ ln 1/δ) (Bun and Steinke 2016, Proposition 1.3)."""
    root = math.sqrt(rho) * math.sqrt(logarithm)
    value = rho + 2 * root
    return Solution(value, value, 1 + root / rho)


def _optimal_alpha(rho: float, logarithm: float) -> Solution:
    """ε = min over α > 1 of ρα + ln(1/(αδ)) / (α−1) + ln(1 − 1/α) (Canonne, Kamath, Steinke 2020, Corollary 13).

    The derivative in α is ρ − (ln 1/δ − ln α) / (α−1)², so x = α − 1 solves ρx² + ln(1 + x) = ln 1/δ. Whatever x is
    reached, the formula bounds ε from above. By the envelope theorem dε/dρ = α.
    """
    x = math.sqrt(logarithm / rho) if logarithm < math.inf else math.inf
    if logarithm < 700:
        x = min(x, math.expm1(logarithm))
    for _ in range(_MOST_STEPS):
        step = (rho * x * x + math.log1p(x) - logarithm) / (2 * rho * x + 1 / (1 + x))
        # The left side is not convex for small ρx: halving keeps x positive.
        following = max(x - step, x / 2)
        if abs(following - x) <= 1e-9 * x:
            break
        x = following
    terms = (rho, rho * x, (logarithm - math.log1p(x)) / x, -math.log1p(1 / x))
    return Solution(sum(terms), rho + rho * x + (logarithm + math.log1p(x)) / x + math.log1p(1 / x), 1 + x)


def log_inverse(delta: Fraction) -> float:
    """Return ln 1/δ for any δ between 0 and 1, however small.

    Raises:
        ValueError: δ is not strictly between 0 and 1.
    """
    if not 0 < delta.numerator < delta.denominator:
        raise ValueError(f"δ lies strictly between 0 and 1, got {delta}")
    quotient = delta.numerator / delta.denominator
    if quotient > 0.5:
        # 1e-300: a larger logarithm is a larger ε.
        return max(-math.log1p(-((delta.denominator - delta.numerator) / delta.denominator)), 1e-300)
    # The quotient is rounded once; where it leaves the floats, the logarithms differ by hundreds.
    return -math.log(quotient) if quotient > 1e-300 else math.log(delta.denominator) - math.log(delta.numerator)


def _float_above(value: Fraction) -> float:
    """Return a float above a fraction, 0 of 0; else 1e-300 at least, inf beyond the largest."""
    if not value.numerator:
        return 0.0
    try:
        return max(math.nextafter(value.numerator / value.denominator, math.inf), 1e-300)
    except OverflowError:
        return math.inf


def _rounded_down(value: Fraction) -> Fraction:
    """Return the value cut after 13 significant decimals."""
    if value <= 0:
        return Fraction(0)
    # The lengths give the power of ten to within one.
    digits = len(str(value.numerator)) - len(str(value.denominator))
    step = Fraction(10) ** (digits - 13)
    return value // step * step


def _require_rho(rho: Fraction) -> None:
    if rho.numerator < 0:
        raise ValueError(f"ρ is at least 0, got {rho}")
