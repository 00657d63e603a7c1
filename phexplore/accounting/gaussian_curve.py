"""The exact privacy curve of one continuous Gaussian mechanism, inverted.

A Gaussian of the same ρ has μ = √(2ρ) and (Balle and Wang 2018, Theorem 8)

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).

With a = ε/μ − μ/2, b = a + μ and Mills' ratio M(x) = (1 − Φ(x)) / φ(x) it reads, without cancelling large numbers,

    δ = φ(a) (M(a) − M(b)) = φ(a) ∫_a^b h(x) dx,   h(x) = 1 − x M(x) > 0,   ε = ρ + μ a.
"""

from __future__ import annotations

import math
from typing import NamedTuple

_MOST_STEPS = 100
_ROOT_TWO = math.sqrt(2)
_LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)
# Below this μ, M(a) − M(b) loses digits and the integral is taken by Gauss-Legendre nodes.
_SMALL_MU = 0.25
# (largest μ, nodes and weights on [-1, 1]): relative error below 1e-14 up to there.
_NODES = (
    (1e-3, ((-0.5773502691896257, 1.0), (0.5773502691896257, 1.0))),
    (0.02, ((-0.7745966692414834, 5 / 9), (0.0, 8 / 9), (0.7745966692414834, 5 / 9))),
    (
        _SMALL_MU,
        (
            (-0.9061798459386640, 0.2369268850561891),
            (-0.5384693101056831, 0.4786286704993665),
            (0.0, 128 / 225),
            (0.5384693101056831, 0.4786286704993665),
            (0.9061798459386640, 0.2369268850561891),
        ),
    ),
)


class Solution(NamedTuple):
    """An ε and what is needed to round and to invert it.

    Attributes:
        epsilon: unrounded; below 0 where δ alone is guarantee enough.
        terms: sum of the sizes of the terms that make it, which its rounding error is proportional to.
        slope: dε/dρ at fixed δ.
    """

    epsilon: float
    terms: float
    slope: float


def gaussian_solution(rho: float, logarithm: float) -> Solution:
    """Return the ε at which the curve of a Gaussian with this ρ > 0 reaches δ = e^-logarithm.

    Args:
        rho: ρ of the Gaussian under zCDP, above 0.
        logarithm: −ln δ, above 0.
    """
    mu = _ROOT_TWO * math.sqrt(rho)
    at_zero = _log_delta_at_zero(mu)
    if at_zero <= -logarithm:
        # ε would be negative: follow the tangent at ε = 0, so that the sign is right and the value continuous.
        b = mu / 2
        per_log = math.exp(at_zero + b * b / 2 + _LOG_ROOT_TWO_PI) / _mills(b)
        return Solution((at_zero + logarithm) * per_log, per_log * (1 + logarithm), 1 / (mu * _mills(b)))
    lowest = -mu / 2
    a = math.sqrt(2 * (logarithm - math.log(2))) if logarithm > math.log(2) else 0.0
    for _ in range(_MOST_STEPS):
        log_delta, hazard = _log_delta(a, mu)
        # ln δ falls and is concave in a: from the right, Newton's steps do not pass the root.
        following = max(a + (log_delta + logarithm) / (mu * hazard), lowest)
        # The step after one of this size is below the last digit.
        done = abs(following - a) <= 1e-9 * (abs(a) + 1)
        a = following
        if done:
            break
    b = a + mu
    # An error r in ln δ is one of r / hazard in ε; a² is the size of the exponent. For wide μ the difference
    # M(a) − M(b) adds the rounding of M(a).
    terms = rho + mu * abs(a) + (a * a + 20) * min(1.0, 4 * logarithm) / hazard
    if mu >= _SMALL_MU and a > 0:
        terms += (a * a + 2) * _mills(a) / _mills(b)
    return Solution(rho + mu * a, terms, 1 / (mu * _mills(b)))


def _log_delta_at_zero(mu: float) -> float:
    """Return ln δ(0) = ln(2Φ(μ/2) − 1)."""
    half = mu / 2 / _ROOT_TWO
    return math.log(math.erf(half)) if half < 1 else math.log1p(-math.erfc(half))


def _log_delta(a: float, mu: float) -> tuple[float, float]:
    """Return ln δ and −d ln δ/dε = φ(a) M(b) / δ, for a ≥ −μ/2."""
    right = _mills(a + mu)
    if mu < _SMALL_MU:
        difference = _integral_of_h(a, mu)
    elif a >= 0:
        difference = _mills(a) - right
    else:
        density = math.exp(-a * a / 2 - _LOG_ROOT_TWO_PI)
        outside = 0.5 * math.erfc(-a / _ROOT_TWO) + density * right
        return math.log1p(-outside), density * right / (1 - outside)
    return math.log(difference) - a * a / 2 - _LOG_ROOT_TWO_PI, right / difference


def _integral_of_h(a: float, mu: float) -> float:
    nodes = next(nodes for largest, nodes in _NODES if mu <= largest)
    middle, half = a + mu / 2, mu / 2
    return half * sum(weight * _h(middle + half * node) for node, weight in nodes)


def _mills(x: float) -> float:
    """Return M(x) for x > -1."""
    if x < 6:
        return math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / _ROOT_TWO)
    return 1 / (x + _continued(x))


def _h(x: float) -> float:
    """Return 1 − x M(x) for x > -1, with a relative error below 2e-13."""
    if x < 6:
        return 1 - x * _mills(x)
    rest = _continued(x)
    return rest / (x + rest)


def _continued(x: float) -> float:
    """Return K(x) = 1/(x + 2/(x + 3/(x + …))), so that M(x) = 1/(x + K(x)); x ≥ 6."""
    terms = 6 + int(66 / x)
    # The rest of the fraction is near the fixed point of k = n / (x + k).
    rest = (math.sqrt(x * x + 4 * terms) - x) / 2
    for numerator in range(terms, 1, -1):
        rest = numerator / (x + rest)
    return 1 / (x + rest)
