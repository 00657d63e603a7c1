"""What must hold in every trial of a TopDown run, counted from its estimates: 0, or the number of failures.

Source: topdown, section 9 (invariants: section 4).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from phexplore.noise.distributions import DiscreteGaussian, Noise, TwoSidedGeometric
from phexplore.simulate.topdown.histograms import Histograms, sums_up

if TYPE_CHECKING:
    from phexplore.simulate.topdown.design import Design
    from phexplore.simulate.topdown.driver import Descent, World

CHECKS = ("sums", "invariants", "structural_zeros", "non_negativity")
"""Names of the checks of a trial, as in the summary."""


def trial_checks(world: World, descent: Descent) -> dict[str, int]:
    """Return the failures of one trial, by check.

    Sums: cells in which the sum of a unit's leaves is not what was estimated for it, at every level. Invariants: exact totals
    and facility bounds broken by the sums of the leaves, at every level. Structural zeros: leaves with people in such cells.
    Non-negativity: counts below 0 after rounding, which the rest of the run sees as 0.

    Args:
        world: exact counts and bounds of every level.
        descent: a finished trial.
    """
    summed = sums_up(descent.leaves, world.tree, world.design.schema.cells)
    possible = world.design.possible()
    return {
        "sums": sum(one.differences(other) for one, other in zip(summed, descent.levels, strict=True)),
        "invariants": broken_bounds(world, summed),
        "structural_zeros": int(np.count_nonzero(~possible[descent.leaves.cells])),
        "non_negativity": descent.record.negative,
    }


def broken_bounds(world: World, levels: tuple[Histograms, ...]) -> int:
    """Return how many bounds and totals of groups are broken by histograms of every level.

    Args:
        world: exact counts and bounds of every level.
        levels: histograms of every level, the widest first.
    """
    broken = 0
    for design, found, lower, upper in zip(world.design.levels, levels, world.lower, world.upper, strict=True):
        for query, start in design.plan.bound_start.items():
            answers = found.answers(query.cell_map(), query.answers)
            inside = slice(start, start + query.answers)
            broken += int(np.count_nonzero(answers < lower[:, inside]))
            broken += int(np.count_nonzero(answers > upper[:, inside]))
    for shared, found in zip(world.shared, levels, strict=False):
        broken += 0 if shared is None else shared.broken(found)
    return broken


def spent_on_noise(design: Design) -> Fraction:
    """Return the budget that the noise itself costs, recomputed from its distributions (replace-one neighbours).

    Raises:
        TypeError: a noise of another kind.
    """
    return sum(
        (cost(noise) for level in design.levels for noise in level.measuring.noises if noise is not None), Fraction(0)
    )


def cost(noise: Noise) -> Fraction:
    """Return ρ or ε of one query group with this noise: two answers move by one each, so ρ = 2/(2σ²), ε = 2/b.

    Raises:
        TypeError: a noise of another kind.
    """
    match noise:
        case DiscreteGaussian(sigma2):
            return 1 / sigma2
        case TwoSidedGeometric(scale):
            return 2 / scale
        case _:
            raise TypeError(f"the cost of {type(noise).__name__} is not known")
