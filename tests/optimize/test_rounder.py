"""The rounder against integer programs that HiGHS solves to a gap of 0, pass by pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from optimize.instances import FULL, PRODUCTION_CHAIN, SMALL, SMALL_CHAIN, level_with, plan_of, rounder_family
from optimize.rounder_program import RounderProgram

from phexplore.optimize.least_squares import LevelError
from phexplore.optimize.rounder import RounderOptions, Target, round_level

TWO_PASSES = (("total",), PRODUCTION_CHAIN)
ONE_PASS = (("total", *PRODUCTION_CHAIN),)

PLANS = {
    "production, two passes": plan_of(FULL, TWO_PASSES, bounded=("hhgq",)),
    "production, one pass": plan_of(FULL, ONE_PASS, bounded=("hhgq",)),
    "state total kept": plan_of(FULL, TWO_PASSES, bounded=("total", "hhgq")),
    "detailed only": plan_of(FULL, (("detailed",),), bounded=("hhgq",)),
    "three passes": plan_of(SMALL, (("total",), SMALL_CHAIN[:1], SMALL_CHAIN[1:])),
    "four passes": plan_of(SMALL, (("total",), SMALL_CHAIN[:1], SMALL_CHAIN[1:2], SMALL_CHAIN)),
    "fine before coarse": plan_of(SMALL, (SMALL_CHAIN[1:2], ("total", "hispanic"), ("detailed",))),
    "detailed first": plan_of(SMALL, (("detailed",), ("total",), ("hispanic",))),
    "no objective on cells": plan_of(SMALL, (("total", "hispanic"),)),
    "sums of groups kept": plan_of(SMALL, (("total",), SMALL_CHAIN), shares_totals=True),
}

SHAPES = {
    "two children": {"cells": 14, "children": 2, "people": 40},
    "one child": {"cells": 12, "children": 1, "people": 30},
    "wide": {"cells": 5, "children": 25, "people": 90},
    "sparse": {"cells": 12, "children": 8, "people": 14},
    "one cell": {"cells": 1, "children": 9, "people": 100},
    "large counts": {"cells": 8, "children": 5, "people": 3_000_000},
    "lone children of a type": {"cells": 14, "children": 4, "people": 60, "concentrated": 0.02},
    "even": {"cells": 8, "children": 6, "people": 400, "concentrated": 5.0},
}


def rounded(plan, families, target=Target.FRACTION):
    level, values = level_with(plan, families)
    result = round_level(plan, level, values, options=RounderOptions(target=target))
    starts = level.value_start
    tables = [
        result.counts[starts[number] : starts[number + 1]].reshape(family.estimate.shape)
        for number, family in enumerate(families)
    ]
    return tables, result


def assert_optimal(plan, family, counts, target):
    """Assert that counts meet all constraints, and that every pass is optimal given the answers of the ones before.

    Of the first two passes also: no rounding that is as good in the first is better in the second.
    """
    program = RounderProgram(plan, family, whole_targets=target is Target.WHOLE)
    assert program.problems(counts) == []
    costs = [program.cost(counts, number) for number in range(program.passes)]
    for number, cost in enumerate(costs):
        assert cost == pytest.approx(program.cost(program.best_counts(number, keep=counts), number), abs=2e-6)
    if program.passes > 1:
        other = program.best_counts(1, costs=[costs[0] + 1e-4])
        assert program.cost(other, 0) > costs[0] + 2e-6 or program.cost(other, 1) >= costs[1] - 2e-6


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", PLANS)
def test_that_every_pass_costs_what_the_integer_program_costs(name, shape):
    plan = PLANS[name]
    rng = np.random.default_rng([list(PLANS).index(name), list(SHAPES).index(shape)])
    groups = 2 if plan.shares_totals else 0
    family = rounder_family(rng, plan, groups=groups, **SHAPES[shape])
    for target in Target:
        (counts,), result = rounded(plan, [family], target)
        assert len(result.unrounded) == 0
        assert_optimal(plan, family, counts, target)


@pytest.mark.parametrize("target", Target)
@pytest.mark.parametrize("name", ["production, one pass", "production, two passes", "state total kept", "three passes"])
def test_that_roots_without_parent_cost_what_the_integer_program_costs(name, target):
    plan = PLANS[name]
    rng = np.random.default_rng(5)
    cells = {"cells": 60 if plan.schema is FULL else 16, "people": 500}
    families = [rounder_family(rng, plan, children=children, closed=False, **cells) for children in (1, 1, 3)]
    tables, result = rounded(plan, families, target)
    assert len(result.unrounded) == 0
    for family, counts in zip(families, tables, strict=True):
        assert_optimal(plan, family, counts, target)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_that_large_families_cost_what_the_integer_program_costs(seed):
    rng = np.random.default_rng(seed)
    name = list(PLANS)[seed % len(PLANS)]
    plan = PLANS[name]
    cells = int(rng.integers(2, 16 if plan.schema is SMALL else 40))
    family = rounder_family(
        rng,
        plan,
        cells=cells,
        children=int(rng.integers(2, 14)),
        people=int(rng.integers(10, 2000)),
        groups=3 if plan.shares_totals else 0,
    )
    for target in Target:
        (counts,), result = rounded(plan, [family], target)
        assert len(result.unrounded) == 0
        assert_optimal(plan, family, counts, target)


def test_that_whole_estimates_stay_and_empty_parents_have_empty_children():
    plan = PLANS["production, two passes"]
    rng = np.random.default_rng(1)
    whole = rounder_family(rng, plan, cells=20, children=4, people=80, bounded=False)
    whole.estimate = np.rint(whole.estimate) + rng.uniform(-9e-7, 9e-7, whole.estimate.shape)
    whole.counts = np.rint(whole.estimate).astype(np.int64).sum(axis=0)
    empty = replace(whole, cells=whole.cells[:0], counts=whole.counts[:0], estimate=whole.estimate[:, :0])
    tables, result = rounded(plan, [empty, whole, empty])
    assert (tables[1] == np.rint(whole.estimate)).all()
    assert tables[0].shape == (4, 0)
    assert result.pivots.tolist() == [0, 0, 0]


def family_of(plan, counts, estimate, lower=0, upper=1 << 40):
    """Return a family over the first cells of the schema with the same bounds everywhere."""
    children, cells = np.shape(estimate)
    shape = (children, plan.bounds)
    return rounder_family(np.random.default_rng(0), plan, cells=cells, children=children, people=1).__class__(
        np.arange(cells),
        np.array(counts),
        np.array(estimate, dtype=float),
        np.full(shape, lower, np.int64),
        np.full(shape, upper, np.int64),
    )


@pytest.mark.parametrize(
    "estimate",
    [
        [[0.5, 0.5], [0.5, 1.0]],  # the second column reaches 2 at most, its parent holds 3
        [[0.5, 0.0], [0.5, 1.5]],  # the same
        [[0.5, 4.0], [0.5, 0.0]],  # the second column holds 4
        [[0.5, np.nan], [0.5, 2.0]],
        [[0.5, np.inf], [0.5, 2.0]],
        [[0.5, -0.5], [0.5, 3.5]],  # would need a negative count
        [[0.0, 3.0], [0.0, 0.0]],  # the first column is empty, its parent holds 1
    ],
)
def test_that_estimates_that_cannot_be_rounded_are_reported(estimate):
    plan = PLANS["three passes"]
    wrong = family_of(plan, [1, 3], estimate)
    right = family_of(plan, [1, 3], [[0.5, 1.5], [0.5, 1.5]])
    tables, result = rounded(plan, [right, wrong, right])
    assert result.unrounded.tolist() == [1]
    assert (tables[0] == tables[2]).all()
    assert (tables[0].sum(axis=0) == [1, 3]).all()


@pytest.mark.parametrize(("lower", "upper"), [(2, 1 << 40), (0, 1)])
def test_that_bounds_without_a_rounding_are_reported(lower, upper):
    plan = plan_of(SMALL, (("total",), SMALL_CHAIN), bounded=("total",))
    family = family_of(plan, [1, 2], [[0.5, 1.0], [0.5, 1.0]], lower, upper)
    _, result = rounded(plan, [family])
    assert result.unrounded.tolist() == [0]


def test_that_threads_change_nothing():
    plan = PLANS["production, two passes"]
    rng = np.random.default_rng(8)
    families = [rounder_family(rng, plan, cells=30, children=6, people=120) for _ in range(60)]
    level, values = level_with(plan, families)
    alone, together = round_level(plan, level, values), round_level(plan, level, values, threads=2)
    assert (alone.counts == together.counts).all()
    assert (alone.pivots == together.pivots).all()


def test_that_estimates_of_another_level_are_refused():
    plan = PLANS["three passes"]
    level, values = level_with(plan, [family_of(plan, [1, 3], [[0.5, 1.5], [0.5, 1.5]])])
    with pytest.raises(LevelError, match="4 counts, 3 estimates"):
        round_level(plan, level, values[:3])


def test_that_production_draws_to_whole_answers_and_the_paper_to_fractions():
    """Two people for three children with 0.6, 0.6 and 0.8: the fraction prefers the third, rounded targets are all 1."""
    plan = plan_of(SMALL, (("total", "detailed"),))
    estimate = [[0.6, 0.0, 0.0], [0.0, 0.6, 0.0], [0.4, 0.4, 1.0]]
    family = family_of(plan, [1, 1, 1], estimate)
    (fraction,), _ = rounded(plan, [family], Target.FRACTION)
    (whole,), _ = rounded(plan, [family], Target.WHOLE)
    for counts, target, other in ((fraction, False, whole), (whole, True, fraction)):
        program = RounderProgram(plan, family, whole_targets=target)
        assert program.cost(counts, 0) <= program.cost(other, 0)
