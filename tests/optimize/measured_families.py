"""Random families with measurements at the budgets of 2020, for every level and shape."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from optimize.instances import FULL, sums_of

from phexplore.noise.distributions import DiscreteGaussian
from phexplore.optimize.least_squares import UNBOUNDED, LevelData
from phexplore.simulate.topdown.design import make_design
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.workload.queries import total_query

LEVELS = ("US", "State", "County", "Tract", "Block_Group", "Block")

MOST_PER_FACILITY = 99_999

HOUSEHOLDS = 252
"""Cells of the full schema with household residents; the other 1,764 are facilities."""


@lru_cache(maxsize=1)
def designs():
    """Return the estimation of every level as production did it, by name."""
    method = topdown_presets()["pl94-2020-persons-us"].scenario.method
    design = make_design(method, FULL, LEVELS, lambda budget: DiscreteGaussian(1 / budget), has_facilities=True)
    return {level.name: level for level in design.levels}


@lru_cache(maxsize=1)
def state_as_root():
    """Return the estimation of a state without nation above it."""
    method = topdown_presets()["pl94-2020-persons-us"].scenario.method
    design = make_design(method, FULL, LEVELS[1:], lambda budget: DiscreteGaussian(1 / budget), has_facilities=True)
    return design.levels[0]


@dataclass
class Measured:
    """One family: its parent, and what was measured and is published of its children."""

    cells: np.ndarray
    counts: np.ndarray | None
    answers: np.ndarray
    weights: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def measured_family(
    rng, design, children, people, households, facilities, *, closed=True, lone=False, concentrated=0.3
) -> Measured:
    """Return children with noise, under a parent that an earlier estimation made: a little off their true sum.

    Args:
        households, facilities: cells of the support, at most; fewer where nobody lives.
        lone: whether every type of facility is in one child only.
    """
    plan = design.plan
    cells = np.sort(
        np.concatenate(
            [
                rng.choice(HOUSEHOLDS, households, replace=False),
                HOUSEHOLDS + rng.choice(FULL.cells - HOUSEHOLDS, facilities, replace=False),
            ]
        )
    )
    shares = rng.dirichlet(np.full(len(cells), 0.3))
    truth = np.zeros((children, len(cells)), np.int64)
    for cell, count in enumerate(rng.multinomial(people, shares)):
        where = rng.dirichlet(np.full(children, concentrated))
        if lone and cells[cell] >= HOUSEHOLDS:
            where = np.eye(children)[cells[cell] // HOUSEHOLDS % children]
        truth[:, cell] = rng.multinomial(count, where)
    parent = truth.sum(axis=0)
    if not any(query == total_query(FULL) for query in plan.bounded):
        parent += (parent > 0) * rng.poisson(1.0, len(parent))
    kept = np.flatnonzero(parent) if closed else np.arange(len(cells))
    cells, truth, parent = cells[kept], truth[:, kept], parent[kept]
    answers = [
        sums_of(query, cells, truth) + np.rint(rng.normal(0, weight**-0.5, (children, query.answers))).astype(int)
        for query, weight in zip(plan.measured, design.measuring.weights, strict=True)
    ]
    lower = np.zeros((children, plan.bounds), np.int64)
    upper = np.full((children, plan.bounds), UNBOUNDED, np.int64)
    for query, start in plan.bound_start.items():
        here = sums_of(query, cells, truth)
        inside = slice(start, start + query.answers)
        if query == total_query(FULL):
            lower[:, inside] = upper[:, inside] = here
            continue
        units = (here > 0) * rng.integers(1, 3, here.shape) + here // 50_000
        units = np.minimum(units, here)
        lower[:, inside] = units * np.array(FULL.facility_bounds.least_per_unit)
        upper[:, inside] = units * MOST_PER_FACILITY
    return Measured(
        cells,
        parent if closed else None,
        np.hstack(answers),
        np.tile(design.measuring.weights, (children, 1)),
        lower,
        upper,
    )


def level_of(families, *, group=None, group_total=None) -> LevelData:
    """Return measured families as one level."""
    return LevelData(
        child_start=np.cumsum([0, *(len(family.answers) for family in families)]).astype(np.int64),
        cell_start=np.cumsum([0, *(len(family.cells) for family in families)]).astype(np.int64),
        cells=np.concatenate([family.cells for family in families]).astype(np.int32),
        counts=None if families[0].counts is None else np.concatenate([f.counts for f in families]).astype(np.int64),
        answers=np.concatenate([family.answers for family in families]).astype(np.float64),
        weights=np.concatenate([family.weights for family in families]).astype(np.float64),
        lower=np.concatenate([family.lower for family in families]),
        upper=np.concatenate([family.upper for family in families]),
        group=group,
        group_total=group_total,
    )


def with_unequal_weights(rng, family: Measured) -> Measured:
    """Return the family with other variances in every child, and some queries not measured there.

    `total`, which stands first, and `detailed`, which stands last, are: without them the minimum is not a single point.
    """
    factors = rng.uniform(0.2, 5.0, family.weights.shape) * (rng.random(family.weights.shape) < 0.8)
    factors[:, [0, -1]] = np.maximum(factors[:, [0, -1]], 0.2)
    return replace(family, weights=family.weights * factors)
