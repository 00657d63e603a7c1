"""Populations made comparable: the same blocks in the same order, the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.workload.schema_reduction import cell_image

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.workload.schema import Schema


def align(populations: Sequence[BlockPopulation]) -> tuple[BlockPopulation, ...]:
    """Return the populations with the blocks of all of them; a block one lacks has nobody, no unit and no place there.

    Raises:
        ValueError: the populations have different kinds of codes, or there is none.
    """
    if len({population.layout for population in populations}) != 1:
        raise ValueError(f"only populations of one kind of code are aligned, got {len(populations)}")
    geoids = reduce(np.union1d, (population.geoids for population in populations))
    return tuple(_on(population, geoids) for population in populations)


def _on(population: BlockPopulation, geoids: NDArray[np.str_]) -> BlockPopulation:
    if len(geoids) == population.blocks:
        return population
    at = np.searchsorted(geoids, population.geoids)

    def spread(table: NDArray[np.int32] | None) -> NDArray[np.int32] | None:
        if table is None:
            return None
        wide = np.zeros((len(geoids), table.shape[1]), table.dtype)
        wide[at] = table
        return wide

    def placed(codes: NDArray[np.str_]) -> NDArray[np.str_]:
        wide = np.full(len(geoids), "", codes.dtype)
        wide[at] = codes
        return wide

    return from_filled(
        population.schema,
        geoids,
        rows=at[population.rows()],
        cells=population.cells,
        counts=population.counts,
        facilities=spread(population.facilities),
        housing=spread(population.housing),
        places={kind: placed(codes) for kind, codes in population.places.items()},
        remarks=population.remarks,
        layout=population.layout,
    )


def collapse(population: BlockPopulation, schema: Schema) -> BlockPopulation:
    """Return the population in a smaller schema that declares how its cells arise; facilities are left out.

    Raises:
        NoImageError: the smaller schema does not say how it arises.
    """
    if schema == population.schema:
        return population
    return from_filled(
        schema,
        population.geoids,
        rows=population.rows(),
        cells=cell_image(population.schema, schema)[population.cells],
        counts=population.counts,
        housing=population.housing,
        places=population.places,
        remarks=(*population.remarks, f"Counted in the cells of {schema.id}."),
        layout=population.layout,
    )
