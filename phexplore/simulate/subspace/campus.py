"""The paper's spatio-temporal case (§5.2): 14 groups, 24 hours, 20 places; totals per place and hour, and per place and group.

It needs no data: the noise is the same whatever the counts. The paper prints a median "standard deviation" of 0.88 (5 % and
95 % quantiles 0.86 and 0.91) over 50 repetitions of unit noise. The variance of every cell is exactly 299/336 = 0.890; over the
6,720 cells of a repetition the mean square varies within the printed band, the standard deviation is 0.943.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from phexplore.model.subspace import Axis, Totals
from phexplore.noise.distributions import DiscreteGaussian
from phexplore.noise.entropy import SeededEntropy
from phexplore.noise.sampler import sampler_for
from phexplore.workload.subspace.margin_space import MarginSpace

AXES = (Axis("group", 14), Axis("hour", 24), Axis("place", 20))
EXACT = (Totals(("hour", "place")), Totals(("group", "place")))
PRINTED = (0.86, 0.88, 0.91)
"""5 % quantile, median and 95 % quantile as printed."""

_STEPS = 64


@dataclass(frozen=True, slots=True)
class CampusFigures:
    """What the case gives.

    Attributes:
        cells: of the histogram.
        rank: independent totals.
        variance: of every cell at unit noise, exact.
        variances: 5 % quantile, median and 95 % quantile over repetitions of the mean square over cells.
        deviations: the same of its root.
        broken: totals that did not hold exactly, over all repetitions.
    """

    cells: int
    rank: int
    variance: Fraction
    variances: tuple[float, float, float]
    deviations: tuple[float, float, float]
    broken: int


def campus_figures(repetitions: int, seed: int) -> CampusFigures:
    """Return the figures of the case.

    Args:
        repetitions: at least 1; the paper has 50.
        seed: of the noise.
    """
    space = MarginSpace(AXES, EXACT)
    (variance, _), *_ = space.unit_variances().classes()
    sampler = sampler_for(DiscreteGaussian(Fraction(_STEPS**2)))
    nothing = np.zeros(space.size, dtype=np.int64)
    squares, broken = [], 0
    for repetition in range(repetitions):
        noise = space.project(np.asarray(sampler.sample(SeededEntropy(seed, (repetition,)), space.size)))
        broken += space.broken(noise, nothing)
        squares.append(float(((noise.values / _STEPS) ** 2).mean()))
    low, middle, high = np.quantile(squares, [0.05, 0.5, 0.95]).tolist()
    return CampusFigures(
        space.size, space.rank, variance, (low, middle, high), (low**0.5, middle**0.5, high**0.5), broken
    )
