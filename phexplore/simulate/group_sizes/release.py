"""One release of hierarchical group sizes by any of the mechanisms, with what it must keep checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

import numpy as np
from numpy.typing import NDArray

from phexplore.accounting.group_sizes_noise import LevelNoise, level_noises
from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.data.regions.region_tree import RegionTree
from phexplore.errors import PhexploreError
from phexplore.model.group_sizes import GroupSizes, SizeMechanism
from phexplore.noise.distributions import NoNoise
from phexplore.simulate.group_sizes.fitting import (
    fit_chain,
    fit_exactly,
    fit_level_by_level,
    fit_region_by_region,
    fit_relaxed,
    fit_relaxed_cumulative_sizes,
)
from phexplore.simulate.group_sizes.measuring import (
    chain_as_published,
    chain_of_noisy_regions,
    noisy_cumulative_sizes,
    noisy_sizes,
)
from phexplore.simulate.group_sizes.size_tree import size_tree

if TYPE_CHECKING:
    from phexplore.noise.entropy import Entropy

Ints = NDArray[np.int64]


class GroupSizeDataError(PhexploreError):
    """Data that do not fit the parameters."""


class BrokenPromiseError(PhexploreError):
    """An output that breaks what its mechanism guarantees; it must not leave the program."""


@dataclass(frozen=True, slots=True)
class ConsistencyChecks:
    """What the problem asks of an output (paper, section 4), as numbers of failures.

    Attributes:
        consistency: pairs of an inner region and a size whose subregions do not add up to it: the paper's violations.
        validity: negative values.
        faithfulness: levels whose groups do not add up to G.
    """

    consistency: int
    validity: int
    faithfulness: int

    @property
    def kept(self) -> bool:
        """Whether nothing failed."""
        return not (self.consistency or self.validity or self.faithfulness)


def consistency_checks_of(levels: Sequence[Ints], tree: RegionTree, groups: int) -> ConsistencyChecks:
    """Count what an output breaks.

    Args:
        levels: ``int64[regions, N]``, widest first.
        tree: the regions.
        groups: G.
    """
    consistency = 0
    for above, below, first in zip(levels, levels[1:], tree.first_child, strict=False):
        consistency += int(np.count_nonzero(above != np.add.reduceat(below, first[:-1], axis=0)))
    return ConsistencyChecks(
        consistency,
        sum(int(np.count_nonzero(level < 0)) for level in levels),
        sum(int(level.sum()) != groups for level in levels),
    )


class GroupSizeReleaser:
    """Draws releases of one table under one set of parameters.

    Args:
        table: exact counts.
        method: parameters; the regions are those of the table.
        noise: False for no noise at all, for tests of the path.

    Raises:
        GroupSizeDataError: other levels or another largest size than the parameters have.
        BudgetMismatchError: the noise would not cost exactly what is declared.
        NoiseOutOfRangeError: noise that no count needs.
    """

    def __init__(self, table: GroupSizeTable, method: GroupSizes, *, noise: bool = True) -> None:
        if len(method.levels) != len(table.tree.levels):
            raise GroupSizeDataError(
                f"The data have {len(table.tree.levels)} levels ({', '.join(table.tree.levels)}), the parameters "
                f"{len(method.levels)} ({', '.join(method.levels)}).",
                "Give every level of the data a share of the budget.",
            )
        if method.largest != table.largest:
            raise GroupSizeDataError(
                f"The data have sizes up to {table.largest:,}, the parameters {method.largest:,}.",
                "Set the largest size of the parameters, or read the data with it.",
            )
        self.table = table
        self.method = method
        self.levels = table.by_level()
        if noise:
            self.noises = level_noises(method)
        else:
            self.noises = tuple(LevelNoise(level, NoNoise(), method.sensitivity) for level in method.levels)
        self._tree = size_tree(table.tree, table.largest)

    def release(self, entropy: Entropy) -> list[Ints]:
        """Return released sizes, ``int64[regions, N]`` per level, widest first.

        Args:
            entropy: of the noise.

        Raises:
            BrokenPromiseError: an exact mechanism broke what it promises; a fault of the program.
        """
        levels = self._fitted(entropy)
        promises = consistency_checks_of(levels, self.table.tree, self.table.groups)
        if promises.validity or (self.method.mechanism.is_exact and not promises.kept):
            raise BrokenPromiseError(
                f"The release breaks its promises ({promises.consistency:,} sums, {promises.validity:,} negative values, "
                f"{promises.faithfulness} totals).",
                "It must not be used. Please report the error with the scenario and the seed.",
            )
        return levels

    def _fitted(self, entropy: Entropy) -> list[Ints]:
        regions, groups, exact = self.table.tree, self.table.groups, self.levels
        match self.method.mechanism:
            case SizeMechanism.RELAXED:
                return fit_relaxed(noisy_sizes(exact, self.noises, entropy), self._tree, groups)
            case SizeMechanism.TREE:
                return fit_exactly(noisy_sizes(exact, self.noises, entropy), self._tree, groups)
            case SizeMechanism.TOPDOWN:
                return fit_level_by_level(noisy_sizes(exact, self.noises, entropy), self._tree, groups)
            case SizeMechanism.CUMULATIVE_RELAXED:
                answers = noisy_cumulative_sizes(exact, self.noises, entropy)
                return fit_relaxed_cumulative_sizes(answers, regions, groups)
            case SizeMechanism.CUMULATIVE_TREE:
                return fit_region_by_region(noisy_cumulative_sizes(exact, self.noises, entropy), self._tree, groups)
            case SizeMechanism.CHAIN:
                chains = chain_of_noisy_regions(exact, self.noises, entropy)
                return fit_chain(chains, regions, self.table.largest, groups, self._chain_weights())
            case _:
                assert_never(self.method.mechanism)

    def _chain_weights(self) -> list[int]:
        """Weights near the inverse variances: a place of a level's chain carries the noise of each of its regions."""
        widths = self.table.tree.widths
        return [max(1, widths[-1] // width) for width in widths]

    def release_published_chain(self, entropy: Entropy) -> list[Ints]:
        """Return ``sizes[regions, N]`` per level of the paper's chain with the paper's noise: for its experiment only.

        It costs more than declared (`GroupSizes.published_chain_sensitivity`), so nothing of it may be released.
        """
        chains = chain_as_published(self.levels, self.noises, entropy)
        ones = [1] * len(self.levels)
        return fit_chain(chains, self.table.tree, self.table.largest, self.table.groups, ones)
