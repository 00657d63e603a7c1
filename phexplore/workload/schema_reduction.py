"""What becomes of a workload when the data know less than the schema it was written for.

The rule (stated once, used by every run): each query maps to its image in the data's schema; equal images are merged and
their shares added; queries over absent attributes give their share to `detailed`. Shares still sum to exactly what they
summed to before.

The image of a query is the finest query of the smaller schema that can be computed from the query's answers: in the
lattice of partitions of the larger schema's cells, the join of the query's partition with that of the smaller schema.
`hispanic * cenrace` becomes `race_ethnicity`; `cenrace` alone becomes `total`, because every race lives on both sides of
the cell "Hispanic or Latino".
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from phexplore.errors import PhexploreError
from phexplore.text.messages import msg
from phexplore.workload.queries import OMITTED, Factor, MarginalQuery, detailed_query
from phexplore.workload.schema import Schema


class NoImageError(PhexploreError):
    """The smaller schema does not say how it arises from the larger one."""


@dataclass(frozen=True, slots=True)
class Projection:
    """A workload in a smaller schema.

    Attributes:
        shares: share of each query of the smaller schema; they sum to the sum of the shares given.
        images: for each query given, the query that receives its share.
    """

    shares: Mapping[MarginalQuery, Fraction]
    images: Mapping[MarginalQuery, MarginalQuery]


def project_shares(shares: Mapping[MarginalQuery, Fraction], onto: Schema) -> Projection:
    """Return the workload that a smaller schema can be asked, with all of the budget.

    Args:
        shares: share of each query group, all of one schema.
        onto: the data's schema; the larger schema itself is allowed and changes nothing.

    Raises:
        NoImageError: `onto` does not declare how it arises from the queries' schema.
    """
    images = {query: image_of(query, onto) for query in shares}
    merged: dict[MarginalQuery, Fraction] = {}
    for query, share in shares.items():
        merged[images[query]] = merged.get(images[query], Fraction(0)) + share
    return Projection(merged, images)


def project_passes(passes: Sequence[Sequence[MarginalQuery]], onto: Schema) -> tuple[tuple[MarginalQuery, ...], ...]:
    """Return the images of an ordering: each query in the first pass that names it, passes left empty dropped.

    The ordering of the schema itself comes back unchanged, repetitions included.

    Args:
        passes: the queries of each pass, in order.
        onto: schema of the data.

    Raises:
        NoImageError: `onto` does not declare how it arises from the queries' schema.
    """
    if all(query.schema == onto for queries in passes for query in queries):
        return tuple(tuple(queries) for queries in passes)
    named: set[MarginalQuery] = set()
    kept = []
    for queries in passes:
        images = tuple(
            image for image in dict.fromkeys(image_of(query, onto) for query in queries) if image not in named
        )
        named.update(images)
        if images:
            kept.append(images)
    return tuple(kept)


def image_of(query: MarginalQuery, onto: Schema) -> MarginalQuery:
    """Return the query of a smaller schema that receives the share of `query`.

    Args:
        query: over the scenario's schema.
        onto: schema of the data.

    Raises:
        NoImageError: `onto` does not declare how it arises from the query's schema.
    """
    if query.schema == onto:
        return query
    if query.schema.id not in onto.images:
        raise NoImageError(
            msg("The schema {onto!r} does not define its cells from {schema!r}.", onto=onto.id, schema=query.schema.id),
            msg(
                "Add an [[images]] entry of {schema!r} to its file, or expand the data to the full schema.",
                schema=query.schema.id,
            ),
        )
    return _image_of(query, onto)


def cell_image(larger: Schema, smaller: Schema) -> npt.NDArray[np.int32]:
    """Return the cell of the smaller schema for each cell of the larger one, ``int32[larger.cells]``.

    Args:
        larger: schema of the scenario.
        smaller: schema of the data.

    Raises:
        NoImageError: no image is declared, or it does not give every cell exactly one place.
    """
    if larger.id not in smaller.images:
        raise NoImageError(
            msg(
                "The schema {smaller!r} does not define its cells from {larger!r}.",
                smaller=smaller.id,
                larger=larger.id,
            )
        )
    image = np.zeros(larger.cells, dtype=np.int32)
    for attribute in smaller.attributes:
        level_of = np.full(larger.cells, OMITTED, dtype=np.int32)
        for level, where in enumerate(smaller.images[larger.id][attribute.name]):
            chosen = larger.selection(where)
            if (level_of[chosen] != OMITTED).any():
                raise NoImageError(
                    msg(
                        "Two levels of {name!r} in {smaller!r} contain the same cell of {larger!r}.",
                        name=attribute.name,
                        smaller=smaller.id,
                        larger=larger.id,
                    )
                )
            level_of[chosen] = level
        if (level_of == OMITTED).any():
            raise NoImageError(
                msg(
                    "Some cells of {larger!r} have no level of {name!r} in {smaller!r}.",
                    larger=larger.id,
                    name=attribute.name,
                    smaller=smaller.id,
                )
            )
        image = image * attribute.levels + level_of
    return image


@lru_cache(maxsize=256)
def _image_of(query: MarginalQuery, onto: Schema) -> MarginalQuery:
    if query.factors and not any(_depends(onto, query.schema, name) for name in _attributes(query)):
        return detailed_query(onto)
    joined = _join(cell_image(query.schema, onto), query.cell_map(), onto.cells)
    fitting = [candidate for candidate in _queries(onto) if _is_coarser(candidate.cell_map(), joined)]
    return max(fitting, key=lambda candidate: candidate.answers)


def _attributes(query: MarginalQuery) -> list[str]:
    return [attribute.name for attribute in query.schema.attributes if query.axis_map(attribute.name) is not None]


def _depends(onto: Schema, larger: Schema, name: str) -> bool:
    return any(name in level for levels in onto.images[larger.id].values() for level in levels)


def _join(image: npt.NDArray[np.int32], answers: npt.NDArray[np.int32], cells: int) -> npt.NDArray[np.int32]:
    """Return the block of each small cell: cells that share an answer of the query belong together."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - heavy, and only projections need it
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    counted = answers != OMITTED
    pairs = np.unique(np.stack([image[counted], cells + answers[counted]]), axis=1)
    size = cells + int(answers.max()) + 1
    graph = coo_array((np.ones(pairs.shape[1], dtype=np.int8), (pairs[0], pairs[1])), shape=(size, size))
    _, block = connected_components(graph, directed=False)
    joined: npt.NDArray[np.int32] = block[:cells].astype(np.int32)
    # A small cell that holds omitted cells of the larger schema only is not counted by the image either.
    seen = np.zeros(cells, dtype=bool)
    seen[image[counted]] = True
    partly = np.zeros(cells, dtype=bool)
    partly[image[~counted]] = True
    joined[~seen] = OMITTED
    # One that holds both cannot be computed; neither can its block.
    joined[np.isin(joined, joined[seen & partly])] = OMITTED
    return joined


def _is_coarser(candidate: npt.NDArray[np.int32], joined: npt.NDArray[np.int32]) -> bool:
    """Return whether every block of the join lies inside one answer of the candidate, or outside of all."""
    if (candidate[joined == OMITTED] != OMITTED).any():
        return False
    pairs = set(zip(joined.tolist(), candidate.tolist(), strict=True))
    return len({block for block, _ in pairs}) == len(pairs)


def _queries(schema: Schema) -> list[MarginalQuery]:
    """Every product of attributes and recodes of a (small) schema."""
    options: list[list[Factor | None]] = [
        [None, attribute, *(recode for recode in schema.recodes.values() if recode.attribute == attribute.name)]
        for attribute in schema.attributes
    ]
    return [
        MarginalQuery(schema, tuple(factor for factor in chosen if factor is not None))
        for chosen in itertools.product(*options)
    ]
