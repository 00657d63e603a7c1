"""Answers of queries at every level of the spine and for areas off it, as plain arrays for metrics and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.geocodes import characters
from phexplore.workload.queries import OMITTED, MarginalQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.blocks.population import BlockPopulation


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The units of a level, ascending by code.

    Attributes:
        level: name.
        codes: public codes, ``U[units]``.
        starts: ``int64[units + 1]``: unit i holds the leaves ``starts[i]:starts[i + 1]``.
    """

    level: str
    codes: NDArray[np.str_]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        """Return how many units there are."""
        return len(self.codes)

    @property
    def of_leaf(self) -> NDArray[np.int64]:
        """The unit of each leaf, ``int64[leaves]``."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


def units_of(population: BlockPopulation, level: str) -> Units:
    """Return the units of a level that hold at least one leaf.

    Args:
        population: whose leaves they hold.
        level: name of the level in the population's codes.

    Raises:
        UnknownNameError: the codes of the population have no such level.
    """
    prefixes = population.layout.prefixes(population.geoids, level)
    if not len(prefixes):
        return Units(level, prefixes, np.zeros(1, np.int64))
    letters = characters(prefixes, max(1, prefixes.dtype.itemsize // 4))
    new = np.concatenate([[True], (letters[1:] != letters[:-1]).any(axis=1)])
    first = np.flatnonzero(new)
    return Units(level, prefixes[first], np.append(first, len(prefixes)))


def add_answers(
    population: BlockPopulation, query: MarginalQuery, unit_of_leaf: NDArray[np.integer], units: int
) -> NDArray[np.int64]:
    """Return the answers of a query summed over any grouping of the leaves, ``int64[units, answers]``.

    Args:
        population: the leaves.
        query: over the population's schema.
        unit_of_leaf: ``unit_of_leaf[leaves]``, from 0 to `units` − 1.
        units: how many units there are.

    Raises:
        ValueError: the query asks another schema.
    """
    if query.schema != population.schema:
        raise ValueError(f"the query asks {query.schema.id}, the population is in {population.schema.id}")
    answer = query.cell_map()[population.cells]
    unit = np.repeat(np.asarray(unit_of_leaf, np.int64), np.diff(population.starts))
    kept = answer != OMITTED
    keys = unit[kept] * query.answers + answer[kept]
    # Sums of whole numbers far below 2**53 are exact in the doubles that bincount adds.
    sums = np.bincount(keys, weights=population.counts[kept], minlength=units * query.answers)
    return sums.astype(np.int64).reshape(units, query.answers)
