"""Marginal query groups: products of attributes and recodes, with their maps from cells to answers.

A query group counts every cell at most once, so adding one record changes one answer by one, and replacing a record
moves the vector of answers by at most √2 in the L2 norm (TopDown paper, section 4). The maps are index arrays; dense
matrices exist in the tests only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.text.messages import msg
from phexplore.workload.schema import Attribute, Recode, Schema, load_schema

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

OMITTED = -1
"""Stands in a map for a cell that no answer of the query counts."""

Factor = Attribute | Recode


class QueryError(PhexploreError):
    """A query that the schema cannot ask."""


@dataclass(frozen=True, slots=True)
class MarginalQuery:
    """Counts of records by a product of attributes and recodes.

    Equal queries ask the same of the same schema, in whatever order their factors were written: factors stand in the
    order of the schema's attributes. `total` has no factor; `detailed` has every attribute.
    """

    schema: Schema
    factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        positions = [self.schema.position(_attribute(factor)) for factor in self.factors]
        if positions != sorted(set(positions)):
            raise QueryError(
                msg(
                    "The query {query} uses an attribute twice or out of order.",
                    query=" * ".join(factor.name for factor in self.factors),
                ),
                msg("Use each attribute once, itself or one recode of it."),
            )

    @property
    def name(self) -> str:
        """The canonical name: ``total``, ``detailed``, or the factors joined by `` * ``."""
        if not self.factors:
            return "total"
        if self.factors == self.schema.attributes:
            return "detailed"
        return " * ".join(factor.name for factor in self.factors)

    @property
    def shape(self) -> tuple[int, ...]:
        """Answers per factor."""
        return tuple(len(factor.labels) for factor in self.factors)

    @property
    def answers(self) -> int:
        """The number of answers."""
        return math.prod(self.shape)

    def axis_map(self, attribute: str) -> npt.NDArray[np.int32] | None:
        """Return the answer index along one attribute, ``int32[levels]`` with -1 for omitted, None where summed over."""
        for factor in self.factors:
            if _attribute(factor) == attribute:
                return _axis_map(factor, self.schema.attribute(attribute).levels)
        return None

    def cell_map(self) -> npt.NDArray[np.int32]:
        """Return for every cell the answer that counts it, ``int32[cells]``, -1 where none does. Read-only, shared."""
        return _cell_map(self)

    def tabulate(self, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return ``int64[..., answers]`` for ``counts[..., cells]``."""
        import numpy as np

        answers = self.cell_map()
        flat = counts.reshape(-1, self.schema.cells)
        out = np.zeros((len(flat), self.answers), dtype=counts.dtype)
        kept = answers != OMITTED
        for row, record in zip(out, flat, strict=True):
            np.add.at(row, answers[kept], record[kept])
        return out.reshape(*counts.shape[:-1], self.answers)

    def answer_labels(self, answer: int) -> tuple[str, ...]:
        """Return one label per factor for an answer index; empty for `total`."""
        import numpy as np

        if not self.factors:
            return ()
        places = np.unravel_index(answer, self.shape)
        return tuple(factor.labels[int(place)] for factor, place in zip(self.factors, places, strict=True))

    def distinguishes(self, attribute: str) -> bool:
        """Return whether two records that differ only in this attribute can change different answers.

        Counts for the loss of a single attribute: the factor keeps at least two groups of its levels apart, or counts
        some levels and leaves others out.
        """
        axis = self.axis_map(attribute)
        return axis is not None and len(set(axis.tolist())) > 1

    def determines(self, other: MarginalQuery) -> bool:
        """Return whether the answers of `other` are sums of answers of this query."""
        import numpy as np

        if other.schema != self.schema:
            return False
        for attribute in self.schema.attributes:
            mine, theirs = self.axis_map(attribute.name), other.axis_map(attribute.name)
            group = np.zeros(attribute.levels, dtype=np.int32)
            pairs = set(
                zip(
                    (group if mine is None else mine).tolist(),
                    (group if theirs is None else theirs).tolist(),
                    strict=True,
                )
            )
            if any(here == OMITTED and there != OMITTED for here, there in pairs):
                return False
            if len({here for here, _ in pairs}) != len(pairs):
                return False
        return True


def parse_query(schema: Schema, name: str) -> MarginalQuery:
    """Read a query as production writes it: names joined by ``*`` in any order, ``total`` or ``detailed``.

    A name that the schema lacks is looked for in its companion (the unit histogram of the household release).

    Args:
        schema: whose attributes and recodes the names are.
        name: as in production's parameter files.

    Raises:
        UnknownNameError: no attribute or recode has that name.
        QueryError: two factors use the same attribute.
    """
    if name.strip() == "total":
        return MarginalQuery(schema, ())
    if name.strip() == "detailed":
        return MarginalQuery(schema, schema.attributes)
    names = [part.strip() for part in name.split("*")]
    attributes = {attribute.name: attribute for attribute in schema.attributes}
    known: dict[str, Factor] = {**attributes, **schema.recodes}
    missing = [part for part in names if part not in known]
    if missing and schema.companion is not None and len(missing) == len(names):
        return parse_query(load_schema(schema.companion), name)
    if missing:
        raise UnknownNameError(
            msg("attribute or recode of {schema}", schema=schema.id), missing[0], [*known, "total", "detailed"]
        )
    factors = sorted((known[part] for part in names), key=lambda factor: schema.position(_attribute(factor)))
    return MarginalQuery(schema, tuple(factors))


def total_query(schema: Schema) -> MarginalQuery:
    """Return the query with one answer: the number of records."""
    return MarginalQuery(schema, ())


def detailed_query(schema: Schema) -> MarginalQuery:
    """Return the query with one answer per cell."""
    return MarginalQuery(schema, schema.attributes)


def catalogue(schema: Schema) -> tuple[MarginalQuery, ...]:
    """Return the query groups the schema's file offers, each once, in its order."""
    return tuple(dict.fromkeys(parse_query(schema, name) for name in schema.catalogue))


def _attribute(factor: Factor) -> str:
    return factor.attribute if isinstance(factor, Recode) else factor.name


def _axis_map(factor: Factor, levels: int) -> npt.NDArray[np.int32]:
    import numpy as np

    if isinstance(factor, Attribute):
        return np.arange(levels, dtype=np.int32)
    axis = np.full(levels, OMITTED, dtype=np.int32)
    for index, group in enumerate(factor.groups):
        axis[list(group)] = index
    return axis


@lru_cache(maxsize=128)
def _cell_map(query: MarginalQuery) -> npt.NDArray[np.int32]:
    import numpy as np

    shape = query.schema.shape
    cell_map = np.zeros(shape, dtype=np.int32)
    omitted = np.zeros(shape, dtype=bool)
    for position, attribute in enumerate(query.schema.attributes):
        axis = query.axis_map(attribute.name)
        if axis is None:
            continue
        axis = axis.reshape([-1 if place == position else 1 for place in range(len(shape))])
        groups = int(axis.max()) + 1
        cell_map *= groups
        cell_map += axis
        omitted |= axis == OMITTED
    cell_map[omitted] = OMITTED
    flat: npt.NDArray[np.int32] = cell_map.ravel()
    flat.setflags(write=False)
    return flat
