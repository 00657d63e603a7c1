"""Areas that need not follow the tree of a run (towns, places, districts): summed up from blocks, their errors are reported like those of a level."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.population import BlockPopulation
from phexplore.simulate.outer_passes.partitions import gathered
from phexplore.simulate.topdown.design import Design, LevelDesign
from phexplore.simulate.topdown.histograms import Histograms, histograms_of


@dataclass(frozen=True, slots=True, eq=False)
class AreaLevels:
    """The areas of every class that the data name.

    Attributes:
        designs: what is reported of each class, under its name.
        of_leaf: ``int64[leaves]`` for each class: the number of a leaf's area, -1 in none.
        truth: exact histograms of the areas of each class.
    """

    designs: tuple[LevelDesign, ...] = ()
    of_leaf: tuple[NDArray[np.int64], ...] = ()
    truth: tuple[Histograms, ...] = ()

    def of(self, leaves: Histograms) -> tuple[Histograms, ...]:
        """Return the histograms of the areas of each class, given those of the leaves in the order of their codes."""
        return tuple(_summed(leaves, areas) for areas in self.of_leaf)


NO_AREAS = AreaLevels()


def area_levels(population: BlockPopulation, design: Design) -> AreaLevels:
    """Return the areas that data name.

    Args:
        population: exact counts of the blocks.
        design: over the levels that are reported; areas are reported as the level above the leaves is.
    """
    above = design.levels[max(0, len(design.levels) - 2)]
    found = {}
    for name, codes in population.places.items():
        names, numbers = np.unique(codes, return_inverse=True)
        of_leaf = np.where(codes == "", -1, numbers - int(names[0] == "")).astype(np.int64)
        if of_leaf.max(initial=-1) >= 0:
            found[name] = of_leaf
    leaves = histograms_of(population)
    return AreaLevels(
        tuple(replace(above, name=name, exact_total=False) for name in found),
        tuple(found.values()),
        tuple(_summed(leaves, of_leaf) for of_leaf in found.values()),
    )


def _summed(leaves: Histograms, of_leaf: NDArray[np.int64]) -> Histograms:
    area = np.repeat(of_leaf, np.diff(leaves.starts))
    inside = area >= 0
    return gathered(int(of_leaf.max()) + 1, area[inside], leaves.cells[inside].astype(np.int64), leaves.counts[inside])
