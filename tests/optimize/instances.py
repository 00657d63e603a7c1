"""Random families: estimates and measurements of every shape, for the tests of the solvers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from phexplore.optimize.least_squares import LevelData
from phexplore.optimize.plan import LevelPlan
from phexplore.workload.queries import MarginalQuery, detailed_query, parse_query, total_query
from phexplore.workload.schema import load_schema

FULL = load_schema("pl94_persons")
SMALL = load_schema("pl94_reduced16")

PRODUCTION_CHAIN = ("hhgq", "hhgq * hispanic", "hhgq * hispanic * cenrace", "detailed", "detailed")
SMALL_CHAIN = ("hispanic", "votingage * hispanic", "detailed")


def queries(schema, *names: str) -> tuple[MarginalQuery, ...]:
    return tuple(parse_query(schema, name) for name in names)


@dataclass
class Family:
    """One parent, its children's bounds and estimates.

    Attributes:
        cells: the support.
        counts: of the parent; None for children without parent.
        estimate: ``float64[children, cells]``.
        lower, upper: ``int64[children, bounds]``.
        group: of each child, or empty.
        group_total: of each group of the family.
    """

    cells: np.ndarray
    counts: np.ndarray | None
    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    group: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    group_total: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


def plan_of(schema, rounding, *, bounded=(), shares_totals=False) -> LevelPlan:
    """Return a plan whose rounder has these passes, given by names."""
    detailed = (detailed_query(schema),)
    return LevelPlan(
        schema=schema,
        measured=detailed,
        passes=(detailed,),
        rounding=tuple(queries(schema, *names) for names in rounding),
        bounded=queries(schema, *bounded),
        shares_totals=shares_totals,
    )


def blended(rng, tables, parts=3):
    """Return a point between whole tables, so that it meets every bound that all of them meet."""
    weights = rng.dirichlet(np.ones(parts))
    return np.tensordot(weights, np.array(tables, dtype=float), axes=1)


def rounder_family(
    rng, plan, *, cells, children, people, closed=True, bounded=True, concentrated=0.3, groups=0
) -> Family:
    """Return a family whose estimate lies between three whole tables that all meet its bounds, which bind somewhere.

    Args:
        cells: of the support, at most; fewer where the parent has nobody.
        people: of the parent.
        concentrated: parameter of the Dirichlet distribution of the counts over children, small for few children.
        groups: how many groups of children have totals of their own.
    """
    chosen = np.sort(rng.choice(plan.schema.cells, cells, replace=False))
    counts = rng.multinomial(people, rng.dirichlet(np.full(cells, 0.5)))
    if closed:
        chosen, counts = chosen[counts > 0], counts[counts > 0]
    belongs = np.sort(rng.integers(0, groups, children)) if groups else np.zeros(children, np.int64)
    tables = []
    for _ in range(3):
        table = np.zeros((children, len(chosen)), np.int64)
        for cell, count in enumerate(counts):
            table[:, cell] = rng.multinomial(count, rng.dirichlet(np.full(children, concentrated)))
        tables.append(table)
    if groups:  # the same people, moved between cells of the children of a group only: totals of groups agree
        tables = [_within_groups(rng, tables[0], belongs) for _ in range(3)]
    if not closed:  # each child alone: the tables agree on its total only
        tables = [rng.multinomial(people, rng.dirichlet(np.full(cells, 0.2)), children) for _ in range(3)]
    estimate = blended(rng, tables)
    lower = np.zeros((children, plan.bounds), np.int64)
    upper = np.full((children, plan.bounds), 1 << 40, np.int64)
    for query, start in plan.bound_start.items():
        answers = np.array([sums_of(query, chosen, table) for table in tables])
        inside = slice(start, start + query.answers)
        if bounded:
            binds = rng.random((2, children, query.answers)) < 0.5
            lower[:, inside] = np.where(binds[0], answers.min(axis=0), 0)
            upper[:, inside] = np.where(binds[1], answers.max(axis=0), 1 << 40)
        if query == total_query(plan.schema) and not closed:
            lower[:, inside] = upper[:, inside] = people
    totals = np.array([tables[0][belongs == group].sum() for group in range(groups)], np.int64)
    return Family(
        chosen,
        counts if closed else None,
        estimate,
        lower,
        upper,
        belongs if groups else np.zeros(0, np.int64),
        totals,
    )


def _within_groups(rng, table, belongs):
    """Return a table with the same column sums within every group of children."""
    moved = np.zeros_like(table)
    for group in np.unique(belongs):
        members = np.flatnonzero(belongs == group)
        for cell in range(table.shape[1]):
            total = table[members, cell].sum()
            moved[members, cell] = rng.multinomial(total, rng.dirichlet(np.full(len(members), 0.3)))
    return moved


def sums_of(query, cells, table):
    """Return the answers of a query, ``[children, answers]``, from a table ``[children, cells]``."""
    answer_of = query.cell_map()[cells]
    sums = np.zeros((len(table), query.answers), table.dtype)
    for cell, answer in enumerate(answer_of):
        if answer >= 0:
            sums[:, answer] += table[:, cell]
    return sums


def level_with(plan, families) -> tuple[LevelData, np.ndarray]:
    """Return families as one level without measurements, and their estimates as the rounder takes them."""
    children = [len(family.estimate) for family in families]
    support = [len(family.cells) for family in families]
    closed = families[0].counts is not None
    grouped = any(len(family.group) for family in families)
    first_group = np.cumsum([0, *(len(family.group_total) for family in families)])
    level = LevelData(
        child_start=np.cumsum([0, *children]).astype(np.int64),
        cell_start=np.cumsum([0, *support]).astype(np.int64),
        cells=np.concatenate([family.cells for family in families]).astype(np.int32),
        counts=np.concatenate([family.counts for family in families]).astype(np.int64) if closed else None,
        answers=np.zeros((sum(children), plan.answers)),
        weights=np.ones((sum(children), len(plan.measured))),
        lower=np.concatenate([family.lower for family in families]),
        upper=np.concatenate([family.upper for family in families]),
        group=np.concatenate([f.group + first for f, first in zip(families, first_group, strict=False)])
        if grouped
        else None,
        group_total=np.concatenate([family.group_total for family in families]) if grouped else None,
    )
    return level, np.concatenate([family.estimate.ravel() for family in families])
