"""A small schema with relationships, sexes and ages, and families over it; exact problems for independent solvers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from scipy import sparse

from phexplore.noise.distributions import DiscreteGaussian
from phexplore.optimize.plan import LevelPlan
from phexplore.simulate.outer_passes.descent import OuterWorld
from phexplore.simulate.outer_passes.partitions import answered, gathered, of_cells, projection
from phexplore.simulate.topdown.design import Design, LevelDesign, measuring
from phexplore.simulate.topdown.driver import world_over
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.workload.queries import MarginalQuery, parse_query
from phexplore.workload.schema import Attribute, Link, Recode, Schema, StructuralZero


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
                _recode("types", "kin", (0, 1), (2,), (3,), (4,)),
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
    links=(Link("published", "place * adult", "small_release", None),),
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

CHILDREN = ((3,), (2, 2, 2))
"""Children of every unit, level by level: a root, three parts, two blocks each."""


def outer_world(leaves, orders, variances, children=CHILDREN, later=1):
    """Return a world of the small schema and what is published of its leaves.

    Args:
        leaves: ``int64[leaves, cells]``, exact counts.
        orders: outer passes of every level.
        variances: per level, σ² of an answer of every measured query, people².
        children: of every unit, level by level.
        later: how many times larger σ² is in all passes but the first.
    """
    counts = [1, *(sum(each) for each in children)]
    below = [np.array([0, *np.cumsum(each)], np.int64) for each in children]
    first = np.arange(counts[-1] + 1, dtype=np.int64)
    units = [TreeLevel(f"level {len(children)}", np.arange(counts[-1]).astype("U"), first, None)]
    for number in range(len(children) - 1, -1, -1):
        first = first[below[number]]
        units.insert(0, TreeLevel(f"level {number}", np.arange(counts[number]).astype("U"), first, below[number]))
    measured = tuple(dict.fromkeys(one for queries, _ in orders for one in queries))
    factors = [1 if query in orders[0][0] else later for query in measured]
    plan = LevelPlan(SCHEMA, measured, tuple(queries for queries, _ in orders), tuple(rounds for _, rounds in orders))
    levels = tuple(
        LevelDesign(
            level.name,
            plan,
            (
                measuring(
                    [1 / Fraction(variance * factor) for factor in factors], lambda budget: DiscreteGaussian(1 / budget)
                ),
            ),
            exact_total=False,
            least=False,
            most=False,
            zeros=ZEROS,
            orders=orders,
        )
        for level, variance in zip(units, variances, strict=True)
    )
    unit, cell = np.nonzero(leaves)
    sparse_leaves = gathered(len(leaves), unit, cell, leaves[unit, cell])
    world = world_over(Design(SCHEMA, levels, (), Fraction(0), (), ()), GeoTree(tuple(units), ()), sparse_leaves, None)
    return OuterWorld(world), {PUBLISHED: answered(sparse_leaves, of_cells(SCHEMA, PUBLISHED))}


def dense(histograms, width=None):
    """Return histograms as a table, ``int64[units, cells]``."""
    table = np.zeros((histograms.units, width or SCHEMA.cells), np.int64)
    table[np.repeat(np.arange(histograms.units), np.diff(histograms.starts)), histograms.cells] = histograms.counts
    return table


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
