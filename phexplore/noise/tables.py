"""Exact cumulative tables of discrete distributions with weights exp(−A x² − C |x|), A and C rational.

These are the discrete Gaussian and the discrete Laplace distribution of Canonne, Kamath and Steinke (2020).

Outcomes are put in the order 0, 1, −1, 2, −2, … (or 0, 1, 2, … for the one-sided law), so that there is one tail. The
threshold of outcome j at `bits` binary places is the integer floor(2^bits F(j)), F(j) = Σ_{i≤j} w_i / Σ_i w_i, proved
by integer bounds on both sides; where the bounds leave two integers, more digits are computed. A uniform number U
selects the first j with U < F(j); its first `bits` digits decide unless they equal a threshold.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from phexplore.noise.enclosure import Enclosure, exp_negative

# Spare digits of the first attempt. Rounding takes some 30 of them over 10^4 terms; the mass left out is bounded by
# 2^-36 of the last digit, so that a threshold asks for a second attempt with a probability of about 2^-35.
_SPARE_BITS = 96


@dataclass(frozen=True, slots=True)
class Law:
    """A distribution on integers by its weights exp(−quadratic x² − linear |x|).

    Attributes:
        quadratic: A ≥ 0.
        linear: C ≥ 0; not both 0.
        two_sided: on all integers, else on 0, 1, 2, … only.
    """

    quadratic: Fraction
    linear: Fraction
    two_sided: bool = True

    def outcome(self, index: int) -> int:
        """Return the outcome at this place of the order."""
        if not self.two_sided:
            return index
        return (index + 1) // 2 if index % 2 else -(index // 2)

    def decay(self, start: int, offset: int) -> Fraction:
        """Return ln of the weight at `start` ≥ 0 over that at start + offset, offset ≥ 0.

        Args:
            start: absolute value of the nearer outcome.
            offset: distance to the farther one.
        """
        return self.quadratic * (2 * start * offset + offset * offset) + self.linear * offset


@lru_cache(maxsize=32)
def thresholds(law: Law, bits: int) -> tuple[int, ...]:
    """Return floor(2^bits F(j)) for j = 0, 1, … up to the first that is 2^bits − 1.

    Every later one is 2^bits − 1 too. About 9 σ √(bits/64) outcomes on either side, and some 3 µs for each.

    Args:
        law: the weights and the order of the outcomes.
        bits: binary places of the thresholds.
    """
    spare = _SPARE_BITS
    while True:
        found = _decided_thresholds(law, bits, spare)
        if found is not None:
            return found
        spare *= 2


def refine(law: Law, index: int, digits: int, bits: int, more: int) -> tuple[int, bool]:
    """Decide an outcome whose first digits equal a threshold, with 64 further random bits.

    Args:
        law: the distribution.
        index: the first place whose threshold is not below `digits`.
        digits: the first `bits` binary digits of U as an integer; they equal the threshold at `index`.
        bits: how many.
        more: the next 64 digits of U.

    Returns:
        The place, and whether it is decided; if not, the digits agree again, at bits + 64 places.
    """
    longer = (digits << 64) | more
    table = thresholds(law, bits + 64)
    place = bisect_left(table, longer, lo=index)
    return place, table[place] > longer


def _decided_thresholds(law: Law, bits: int, spare: int) -> tuple[int, ...] | None:
    """Return the thresholds, or None when the spare digits do not decide them all."""
    weights = _weights(law, bits, spare)
    copies = 2 if law.two_sided else 1
    total_low = weights[0][0] + copies * sum(low for low, _ in weights[1:])
    total_high = weights[0][1] + copies * sum(high for _, high in weights[1:])
    # Ratios of successive weights do not grow: beyond w_K there is at most w_K r / (1 − r), r = w_K / w_{K−1}.
    last, drop = weights[-1][1], weights[-2][0] - weights[-1][1]
    if drop <= 0:
        return None
    total_high += copies * (last * last // drop + 1)
    full = (1 << bits) - 1
    found: list[int] = []
    low = high = 0
    for x, (weight_low, weight_high) in enumerate(weights):
        for _ in range(copies if x else 1):
            low, high = low + weight_low, high + weight_high
            threshold = (low << bits) // total_high
            # F(j) < 1, whatever its upper bound says.
            if threshold != min((high << bits) // total_low, full):
                return None
            found.append(threshold)
            if threshold == full:
                return tuple(found)
    return None


def _weights(law: Law, bits: int, spare: int) -> list[tuple[int, int]]:
    """Return bounds of the weights of 0, 1, 2, …, scaled by 2^(bits + spare), until the rest does not matter."""
    working = bits + spare
    ratio = exp_negative(Enclosure.of(law.decay(0, 1), working))
    bend = exp_negative(Enclosure.of(2 * law.quadratic, working))
    low = high = 1 << working
    ratio_low, ratio_high, bend_low, bend_high = ratio.low, ratio.high, bend.low, bend.high
    weights = [(low, high)]
    negligible = 1 << (working - bits - spare * 3 // 8 - _support_bits(law, bits))
    while high > negligible or len(weights) < 2:
        low, high = low * ratio_low >> working, -(-high * ratio_high >> working)
        ratio_low, ratio_high = ratio_low * bend_low >> working, -(-ratio_high * bend_high >> working)
        weights.append((low, high))
    return weights


def _support_bits(law: Law, bits: int) -> int:
    """Return about log2 of how many outcomes have a weight that matters at `bits` places."""
    nats = bits * math.log(2)
    reach = math.sqrt(nats / law.quadratic) if law.quadratic else nats / law.linear
    return min(math.ceil(math.log2(reach + 2)), _SPARE_BITS // 2)
