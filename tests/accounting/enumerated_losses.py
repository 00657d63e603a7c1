"""δ(ε) of small releases by listing every outcome in forty digits: the definition, nothing else."""

from __future__ import annotations

import mpmath
from mpmath import mpf

mpmath.mp.dps = 40
_LEAST = mpf(10) ** -34


def losses(parts):
    """Return the values of the privacy loss and their probabilities; equal answers by the sum of their noise."""
    found = [(mpf(0), mpf(1))]
    for part in parts:
        a = mpf(part.variance.denominator) / part.variance.numerator
        reach = int(mpmath.sqrt(170 / a)) + part.shift + 2
        weights = {y: mpmath.exp(-a * y * y / 2) for y in range(-reach, reach + 1)}
        total = sum(weights.values())
        sums = {0: mpf(1)}
        for _ in range(part.copies):
            following = {}
            for one, p in sums.items():
                for more, w in weights.items():
                    if (q := p * w / total) > _LEAST:
                        following[one + more] = following.get(one + more, 0) + q
            sums = following
        v = part.shift
        atoms = [(a * (part.copies * v * v - 2 * v * y) / 2, q) for y, q in sums.items()]
        found = [(loss + more, p * q) for loss, p in found for more, q in atoms if p * q > _LEAST]
    return found


def delta_at(atoms, epsilon):
    """Return δ(ε), in forty digits."""
    epsilon = mpf(epsilon)
    return sum(p * -mpmath.expm1(epsilon - loss) for loss, p in atoms if loss > epsilon)
