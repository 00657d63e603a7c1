"""One question, three systems: households by size in the counties of a state, by TopDown, the exact tree and exact totals.

The systems are those of the TopDown paper (section 6.5), of the group-size paper (section 7) and of the subspace paper
(Corollary 3.8).

All have the same ε and publish the same thing exactly, the number of households of the state. TopDown and the exact
tree (group sizes) measure state and counties with half of ε each and return consistent whole numbers of at least 0; the
projected Laplace mechanism measures the counties with all of ε, its states are sums of counties, and its numbers are
fractions that may be negative. Group sizes hide one person more or less in a household, exact totals one household
replaced by any other: in both a record moves two counts by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.accounting.subspace_noise import noise_plan
from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.data.regions.household_sizes import HouseholdSizes
from phexplore.data.regions.region_tree import tree_of_paths
from phexplore.errors import PhexploreError
from phexplore.model.group_sizes import GroupSizes, SizeMechanism, equal_shares
from phexplore.model.subspace import Axis, Histogram, Mechanism, Release, Subspace, Totals
from phexplore.noise.entropy import SeededEntropy
from phexplore.simulate.group_sizes.release import GroupSizeReleaser
from phexplore.simulate.subspace.drawing import draw_noise
from phexplore.workload.subspace.spaces import Floats

LEVELS = ("State", "County")
SYSTEMS = ("TopDown", "exact tree", "exact total (projected Laplace)")


@dataclass(frozen=True, slots=True, eq=False)
class SystemErrors:
    """What one system gave.

    Attributes:
        name: of the system.
        counties: ``float64[trials, counties, sizes]``, released − true.
        negative: share of released county counts below 0.
        smallest: places of the tenth of county counts that are smallest, in the flattened counts.
    """

    name: str
    counties: Floats
    negative: float
    smallest: NDArray[np.intp]

    @property
    def by_county(self) -> Floats:
        """Mean absolute error over trials and sizes, ``float64[counties]``, households."""
        return np.asarray(np.abs(self.counties).mean(axis=(0, 2)), dtype=np.float64)

    @property
    def by_state(self) -> float:
        """Mean absolute error of the state's sizes over trials, households."""
        return float(np.abs(self.counties.sum(axis=1)).mean())

    @property
    def bias_of_smallest(self) -> float:
        """Mean error of the smallest counts, households: what keeping them from below 0 does."""
        return float(self.counties.mean(axis=0).reshape(-1)[self.smallest].mean())


@dataclass(frozen=True, slots=True, eq=False)
class HouseholdComparison:
    """All systems on the same counties.

    Attributes:
        names: of the counties.
        counts: ``int64[counties, sizes]``, true.
        systems: in the order of `SYSTEMS`.
    """

    names: tuple[str, ...]
    counts: NDArray[np.int64]
    systems: tuple[SystemErrors, ...]


def compare_systems(
    households: HouseholdSizes, state: str, epsilon: Fraction, trials: int, seed: int
) -> HouseholdComparison:
    """Return the errors of every system.

    Args:
        households: by size and county.
        state: two digits.
        epsilon: of each system.
        trials: of each.
        seed: of the noise.

    Raises:
        PhexploreError: the state has fewer than two counties with known sizes.
    """
    rows = np.flatnonzero(households.fips.astype("U2") == state)
    if len(rows) < 2:
        raise PhexploreError(
            f"The table has {len(rows)} counties of state {state} with known sizes.", "Name a state with at least two."
        )
    counts = households.counts[rows]
    tree = tree_of_paths(LEVELS, [(code,) for code in households.fips[rows].tolist()])
    table = GroupSizeTable(tree, counts, "Households by size", open_ended=True)
    smallest = np.argsort(counts.reshape(-1), kind="stable")[: max(1, counts.size // 10)]
    found = []
    for name, mechanism in zip(SYSTEMS, (SizeMechanism.TOPDOWN, SizeMechanism.TREE, None), strict=True):
        if mechanism is None:
            errors = _subspace(counts, epsilon, trials, seed)
        else:
            method = GroupSizes(
                tree.levels, tree.widths, epsilon, equal_shares(tree.levels), counts.shape[1], mechanism
            )
            releaser = GroupSizeReleaser(table, method)
            drawn = [releaser.release(SeededEntropy(seed, (trial,)))[-1] for trial in range(trials)]
            errors = (np.stack(drawn) - counts).astype(np.float64)
        found.append(SystemErrors(name, errors, float(((errors + counts) < 0).mean()), smallest))
    return HouseholdComparison(tuple(households.names[row] for row in rows.tolist()), counts, tuple(found))


def _subspace(counts: NDArray[np.int64], epsilon: Fraction, trials: int, seed: int) -> Floats:
    axes = (Axis("county", counts.shape[0]), Axis("size", counts.shape[1]))
    release = Release(Histogram(), (Totals(),), Mechanism.PROJECTED_LAPLACE)
    plan = noise_plan(Subspace(axes, {"households": release}, epsilon), "households")
    drawn = [draw_noise(plan, SeededEntropy(seed, (trial, 1))).values for trial in range(trials)]
    return np.stack(drawn).reshape(trials, *counts.shape)
