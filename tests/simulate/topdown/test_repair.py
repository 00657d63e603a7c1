import itertools

import numpy as np
import pytest

from phexplore.optimize.least_squares import LevelData
from phexplore.optimize.plan import LevelPlan
from phexplore.optimize.rounder import RounderOptions
from phexplore.simulate.topdown.repair import nearest_whole, repair
from phexplore.workload.queries import detailed_query, parse_query, total_query
from phexplore.workload.schema import load_schema

SCHEMA = load_schema("pl94_units")
ENDLESS = 1 << 62


def plan_of(bounded):
    detailed = detailed_query(SCHEMA)
    return LevelPlan(SCHEMA, (detailed,), ((detailed,),), ((detailed,),), bounded)


def brute_force(target, parent, least, most):
    """The nearest whole tables (two cells, few children) with these column sums and child totals."""
    children = len(target)
    best, found = None, None
    ranges = [range(int(parent[cell]) + 1) for cell in range(2) for _ in range(children)]
    for values in itertools.product(*ranges):
        table = np.array(values).reshape(2, children).T
        if (table.sum(axis=0) != parent).any():
            continue
        totals = table.sum(axis=1)
        if (totals < least).any() or (totals > most).any():
            continue
        distance = np.abs(table - target).sum()
        if best is None or distance < best:
            best, found = distance, table
    return best, found


@pytest.mark.parametrize("seed", range(12))
def test_that_the_failsafe_finds_a_nearest_table(seed):
    rng = np.random.default_rng(seed)
    parent = rng.integers(1, 5, 2)
    target = rng.dirichlet(np.ones(3), 2).T * parent
    # Totals that some table has, far from the target now and then.
    chosen = np.stack([rng.multinomial(int(count), np.ones(3) / 3) for count in parent]).T
    totals = chosen.sum(axis=1)
    found = nearest_whole(
        plan_of((total_query(SCHEMA),)), target, np.arange(2, dtype=np.int32), parent, totals[:, None], totals[:, None]
    )
    best, _ = brute_force(target, parent, totals, totals)
    assert (found.sum(axis=0) == parent).all()
    assert (found.sum(axis=1) == totals).all()
    assert np.abs(found - target).sum() == pytest.approx(best, abs=1e-6)


def test_that_contradicting_bounds_are_broken_as_little_as_can_be():
    """Parent's 5 people, children that must have 4 each: one bound is missed by 3, column sums hold."""
    plan = plan_of((total_query(SCHEMA),))
    parent = np.array([3, 2])
    least = np.full((2, 1), 4)
    found = nearest_whole(
        plan, np.array([[1.5, 1.0], [1.5, 1.0]]), np.arange(2, dtype=np.int32), parent, least, np.full((2, 1), ENDLESS)
    )
    assert (found.sum(axis=0) == parent).all()
    assert np.maximum(4 - found.sum(axis=1), 0).sum() == 3


def family(lower):
    detailed = detailed_query(SCHEMA)
    return LevelData(
        child_start=np.array([0, 2]),
        cell_start=np.array([0, 2]),
        cells=np.arange(2, dtype=np.int32),
        counts=np.array([3, 2]),
        answers=np.zeros((2, detailed.answers)),
        weights=np.ones((2, 1)),
        lower=np.array(lower, np.int64),
        upper=np.full((2, 1), ENDLESS),
    )


def test_that_a_family_that_is_whole_already_is_left_alone():
    counts = np.array([3, 0, 0, 2])
    found = repair(
        plan_of((parse_query(SCHEMA, "total"),)),
        family([[0], [0]]),
        counts.astype(float),
        counts,
        np.array([0]),
        RounderOptions(),
    )
    assert (found.families, found.relaxed) == (0, 0)
    assert counts.tolist() == [3, 0, 0, 2]


def test_that_contradicting_families_are_counted():
    counts = np.zeros(4, np.int64)
    found = repair(
        plan_of((total_query(SCHEMA),)), family([[4], [4]]), np.zeros(4), counts, np.array([0]), RounderOptions()
    )
    assert (found.families, found.relaxed) == (1, 1)
    assert counts.reshape(2, 2).sum(axis=0).tolist() == [3, 2]
