"""A small schema with relationships, sexes and ages, and families over it; exact problems for independent solvers."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy import sparse

from phexplore.simulate.outer_passes.partitions import gathered, of_cells, projection
from phexplore.workload.queries import MarginalQuery, parse_query
from phexplore.workload.schema import Attribute, Recode, Schema, StructuralZero


def _recode(name: str, attribute: str, *groups: tuple[int, ...]) -> Recode:
    return Recode(name, attribute, name, groups, tuple(f"{name} {number}" for number in range(len(groups))))


SCHEMA = Schema(
    id="small_test_schema",
    title="Small",
    record="person",
    source="",
    attributes=(
        Attribute("kin", "Kin", ("head", "child", "jail", "dorm", "camp")),
        Attribute("sex", "Sex", ("m", "f")),
        Attribute("age", "Age", tuple(map(str, range(12)))),
    ),
    recodes=MappingProxyType(
        {
            each.name: each
            for each in (
                _recode("place", "kin", (0, 1), (2,), (3, 4)),
                _recode("kin4", "kin", (0,), (1,), (2,), (3, 4)),
                _recode("adult", "age", (0, 1, 2, 3), tuple(range(4, 12))),
                _recode("ages5", "age", (0, 1), (2, 3), (4, 5), (6, 7, 8), (9, 10, 11)),
                _recode("ages3", "age", (0, 1, 2, 3), (4, 5, 6, 7, 8), (9, 10, 11)),
            )
        }
    ),
    catalogue=(),
    structural_zeros=(
        StructuralZero("old_child", "no child over 10", MappingProxyType({"kin": (1,), "age": (11,)})),
        StructuralZero("young_head", "no head under 3", MappingProxyType({"kin": (0,), "age": (0, 1, 2)})),
    ),
)
ZEROS = ("old_child", "young_head")


def query(name: str) -> MarginalQuery:
    return parse_query(SCHEMA, name)


PUBLISHED = query("place * adult")
TWO = (
    (
        tuple(map(query, ("ages3 * sex", "kin", "kin4 * sex * ages5", "kin * sex * ages5"))),
        tuple(map(query, ("place * sex * adult", "place * sex * ages3", "kin4 * sex * ages5", "kin * sex * ages5"))),
    ),
    ((query("detailed"),), (query("detailed"),)),
)
THREE = (
    (
        tuple(map(query, ("kin", "place * ages3", "kin * ages3"))),
        tuple(map(query, ("place * ages3", "kin * ages3"))),
    ),
    (
        tuple(map(query, ("ages5 * sex", "kin * sex", "kin * sex * ages5"))),
        tuple(map(query, ("kin * ages5", "kin * sex * ages5"))),
    ),
    ((query("detailed"), query("age")), (query("detailed"),)),
)


@dataclass(frozen=True)
class Rows:
    """A query as a matrix over the cells of one child."""

    query: MarginalQuery

    @property
    def matrix(self) -> sparse.csr_array:
        cells = np.arange(SCHEMA.cells)
        answer = of_cells(SCHEMA, self.query)(cells)
        return sparse.coo_array((np.ones(len(cells)), (answer, cells)), shape=(self.query.answers, len(cells))).tocsr()


def children(rng: np.random.Generator, number: int, people: int) -> np.ndarray:
    """Return exact counts, ``int64[children, cells]``, none where nobody can be."""
    free = ~SCHEMA.structurally_empty(ZEROS)
    share = np.where(free, rng.random(SCHEMA.cells) ** 6, 0.0)
    return rng.multinomial(people, share / share.sum(), size=number)


def histograms_over(table: np.ndarray, fine: MarginalQuery):
    """Return the answers of a query, sparse."""
    unit, cell = np.nonzero(table)
    return gathered(len(table), unit, of_cells(SCHEMA, fine)(cell), table[unit, cell])


def coarser(fine: MarginalQuery, coarse: MarginalQuery):
    return projection(fine, coarse)
