"""δ(ε) of a few discrete Gaussian answers by adding up every value the privacy loss can take.

The loss of an answer is L = a(v² − 2vy)/2 with a = 1/σ² and noise y, so the losses of equal answers add to a whole number of steps
av. Probabilities of sums come from convolution, kinds are combined value by value. Everything is positive: a sum keeps its relative
accuracy, and what is cut off is counted. For variances so small that the curve has jumps (σ² = 0.05) there is no better way.

Errors: a probability is within (10·exponent + 20)u per answer and convolution adds its length; a loss within a few u of the sum of
its terms, and since δ falls with ε, the bounds are taken that much to the left and to the right. u = 2^-53; `exp` and `expm1` of
NumPy count 8u. Source: the definition of the discrete Gaussian (Canonne, Kamath and Steinke 2020, Definition 1) and of δ(ε).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from phexplore.accounting.composition import Part

Floats = NDArray[np.float64]

_U = 2.0**-53
_MOST_VALUES = 150_000
_BEYOND = 45.0
"""What is cut off is e^-45 of δ in each place."""
_SMALLEST = 600.0
"""Of −ln δ: probabilities would leave the floats."""
_MOST_COPIES = 500


def few_enough(parts: Sequence[Part], logarithm: float) -> bool:
    """Return whether the losses of a release are few enough to be listed.

    Args:
        parts: of the release, equal ones merged.
        logarithm: −ln of the smallest δ that is asked.
    """
    if logarithm > _SMALLEST:
        return False
    values = 1.0
    for part in parts:
        # A sum of copies is nearly Gaussian around 0; for few answers its ends are those of one.
        reach = logarithm + _BEYOND
        spread = float(part.variance) * part.copies
        values *= 2 * math.sqrt(2 * spread * reach) + 3
        if values > _MOST_VALUES or part.copies > _MOST_COPIES:
            return False
    return True


class EnumeratedCurve:
    """All losses with their probabilities.

    Args:
        parts: of the release, equal ones merged.
        logarithm: −ln of the smallest δ that will be asked.
    """

    def __init__(self, parts: Sequence[Part], logarithm: float) -> None:
        reach = logarithm + _BEYOND
        losses, weights = np.zeros(1), np.ones(1)
        self._cut_off, self._relative, self._moved = 0.0, 20 * _U, 0.0
        for part in sorted(parts, key=lambda part: part.variance * part.copies):
            steps, chances, lost, relative = _sums(part, reach)
            self._cut_off += lost
            self._relative += relative + 4 * _U
            own = float(part.copies * part.rho) - float(part.shift / part.variance) * steps
            self._moved += 4 * _U * (float(np.abs(own).max()) + 2 * float(part.copies * part.rho))
            losses = np.add.outer(losses, own).ravel()
            weights = np.multiply.outer(weights, chances).ravel()
            # Values too rare to count together do not multiply further.
            rare = weights < math.exp(-reach) / len(weights)
            self._cut_off += float(weights[rare].sum()) * (1 + 1e-9)
            losses, weights = losses[~rare], weights[~rare]
            self._moved += 4 * _U * float(np.abs(losses).max(initial=0.0))
        order = np.argsort(losses)
        self._losses, self._weights = losses[order], weights[order]
        self._relative += 2 * len(losses) * _U
        self._cut_off *= 1 + 1e-6

    def bounds(self, epsilon: float, logarithm: float) -> tuple[float, float]:
        """Return proven bounds of δ(ε) as multiples of e^-logarithm.

        Args:
            epsilon: any number, exact as it stands.
            logarithm: −ln of the unit, at least 0.
        """
        doubt = self._moved + 4 * _U * abs(epsilon)
        unit = math.exp(logarithm)
        relative = self._relative + (4 * logarithm + 30) * _U
        low = self._sum(epsilon + doubt) * (1 - relative)
        high = self._sum(epsilon - doubt) * (1 + relative) + self._cut_off
        return low * unit, high * unit

    def _sum(self, epsilon: float) -> float:
        first = int(np.searchsorted(self._losses, epsilon, side="right"))
        return float(-(self._weights[first:] * np.expm1(epsilon - self._losses[first:])).sum())


def _sums(part: Part, reach: float) -> tuple[Floats, Floats, float, float]:
    """Return the values of the sum of the copies' noise, their probabilities, what was cut off, and the relative error.

    Args:
        part: of the release.
        reach: −ln of what may be cut off.
    """
    a = float(1 / part.variance)
    widest = max(math.ceil(math.sqrt(2 * (reach + 1) / a)), 1)
    noise = np.arange(-widest, widest + 1, dtype=np.float64)
    exponents = a * noise**2 / 2
    chances = np.exp(-exponents)
    # Beyond the widest each term is at most e^-a(2·widest+3)/2 of the one before.
    beyond = 2 * math.exp(-a * (widest + 1) ** 2 / 2) / -math.expm1(-a * (2 * widest + 3) / 2)
    total = float(chances.sum())
    chances /= total
    # x e^-x ≤ 1/e per term of the total; its end adds e^-reach.
    relative = (10 * float(exponents[-1]) + 60 + 12 * len(noise)) * _U + beyond
    kept, lost, error = np.ones(1), 0.0, 0.0
    for _ in range(part.copies):
        kept = np.convolve(kept, chances)
        error += relative + (len(noise) + 2) * _U
        lost += beyond * (1 + 1e-9)
        rare = kept < math.exp(-reach) / len(kept)
        if rare.any():
            last = int(np.flatnonzero(~rare)[-1])
            ends = kept[last + 1 :].sum() + kept[: len(kept) - 1 - last].sum()
            lost += float(ends) * (1 + 1e-9)
            kept = kept[len(kept) - 1 - last : last + 1]
    half = len(kept) // 2
    return np.arange(-half, half + 1, dtype=np.float64), kept, lost, error
