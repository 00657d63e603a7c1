"""What is the same in all parts of a state: which households are likely, and which groups live in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.household_types import ADULT_AGE
from phexplore.data.synthetic.races import fit_groups
from phexplore.data.synthetic.tables import (
    AGE_BAND_STARTS,
    LARGEST_SIZE,
    StateFigures,
    assumptions,
    group_quarters_ages,
    templates,
)
from phexplore.data.synthetic.targets import expected_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

KIND_STRIDE = LARGEST_SIZE + 1
"""A kind of household is numbered adults · stride + children."""


@dataclass(frozen=True, slots=True, eq=False)
class StatePlan:
    """Distributions from which the parts of a state are drawn.

    Attributes:
        figures: the real state.
        cumulative: ``float64[t + 1]``, running sum of template weights, starting with 0; templates are sorted by size.
        first: ``int64[22]``, first template of each size.
        chances: ``float64[stride², 8]``, chance of each group by kind of household.
    """

    figures: StateFigures
    cumulative: NDArray[np.float64]
    first: NDArray[np.int64]
    chances: NDArray[np.float64]


@lru_cache(maxsize=64)
def plan_state(figures: StateFigures) -> StatePlan:
    """Return the plan of a state: templates tilted towards its persons under 18, then groups fitted to them."""
    sample = templates()
    first = np.searchsorted(sample.size, np.arange(LARGEST_SIZE + 2))
    sizes = expected_sizes(figures)
    minors_in_quarters = figures.group_quarters_persons * _minor_share_in_quarters()
    weight = _tilted(sizes, float(figures.cells[0].sum()) - minors_in_quarters)

    adults = sample.size - sample.minors
    number = adults * KIND_STRIDE + sample.minors
    kinds: NDArray[np.float64] = np.bincount(number, weights=weight, minlength=KIND_STRIDE**2).astype(np.float64)
    kinds[KIND_STRIDE] += figures.group_quarters_persons - minors_in_quarters
    kinds[1] += minors_in_quarters
    used = np.flatnonzero(kinds)
    composition = np.stack([used // KIND_STRIDE, used % KIND_STRIDE], axis=1)
    # Kinds that only a correction of ages can make have the shares of the whole state.
    chances = np.tile(figures.cells.sum(axis=0) / figures.cells.sum(), (KIND_STRIDE**2, 1))
    chances[used] = fit_groups(composition, kinds[used], figures.cells)
    return StatePlan(figures, np.concatenate([[0.0], np.cumsum(weight)]), first, chances)


def _minor_share_in_quarters() -> float:
    """Return the share of group-quarters persons under 18, from the sample."""
    band = int(np.searchsorted(AGE_BAND_STARTS, ADULT_AGE)) - 1
    institutional = float(assumptions().institutional_share)
    ages = group_quarters_ages()
    return float(institutional * ages[37][band] + (1 - institutional) * ages[38][band])


def _tilted(sizes: NDArray[np.float64], minors: float) -> NDArray[np.float64]:
    """Return how many households each template stands for.

    Inside each size the sample's weights are multiplied by exp(θ · persons under 18), θ such that the state gets its
    minors: the distribution nearest to the sample. Sizes keep their totals.
    """
    sample = templates()
    low, high = -6.0, 6.0
    for _ in range(60):
        theta = (low + high) / 2
        raw = sample.weight * np.exp(theta * sample.minors)
        totals = np.bincount(sample.size, weights=raw, minlength=len(sizes))
        weight = raw * (sizes / np.maximum(totals, 1e-300))[sample.size]
        low, high = (theta, high) if weight @ sample.minors < minors else (low, theta)
    result: NDArray[np.float64] = weight
    return result


def draw_templates(plan: StatePlan, sizes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``int64[households]`` templates, sorted by size: an evenly spaced sample with a random start per size.

    Args:
        plan: the state's templates with their cumulative weights.
        sizes: ``sizes[size]``, households of each size.
        rng: source of the random starts.
    """
    drawn = []
    for size in np.flatnonzero(sizes):
        low, high = plan.cumulative[plan.first[size]], plan.cumulative[plan.first[size + 1]]
        points = low + (np.arange(sizes[size]) + rng.random()) * ((high - low) / sizes[size])
        place = np.searchsorted(plan.cumulative, points, side="right") - 1
        drawn.append(np.clip(place, plan.first[size], plan.first[size + 1] - 1))
    return np.concatenate(drawn) if drawn else np.empty(0, np.int64)
