"""Least squares of every level and shape against an interior-point solver that knows nothing of its structure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from optimize.least_squares_program import FamilyProgram
from optimize.measured_families import designs, level_of, measured_family, state_as_root, with_unequal_weights

from phexplore.optimize.least_squares import LeastSquaresOptions, Status, least_squares

SHAPES = {
    "two children": {"children": 2, "people": 300, "households": 12, "facilities": 6},
    "wide": {"children": 40, "people": 900, "households": 14, "facilities": 4},
    "deep": {"children": 3, "people": 20_000, "households": 90, "facilities": 60},
    "sparse": {"children": 10, "people": 25, "households": 12, "facilities": 12},
    "one cell": {"children": 9, "people": 700, "households": 1, "facilities": 0},
    "lone types": {"children": 5, "people": 600, "households": 14, "facilities": 14, "lone": True},
    "facilities only": {"children": 6, "people": 500, "households": 0, "facilities": 20},
    "few households": {"children": 20, "people": 60, "households": 6, "facilities": 2, "concentrated": 0.05},
    "large counts": {"children": 4, "people": 30_000_000, "households": 30, "facilities": 20},
    "an only child": {"children": 1, "people": 200, "households": 10, "facilities": 4},
}

CLOSED = ("State", "County", "Tract", "Block_Group", "Block")


def assert_minimum(plan, level, options=None):
    """Assert that every family of a level is where an interior-point solver ends."""
    chosen = options or LeastSquaresOptions()
    result = least_squares(plan, level, options=chosen)
    starts = level.value_start
    assert result.families_with(Status.CONTRADICTION, Status.UNFINISHED).tolist() == []
    for family in range(level.parents):
        program = FamilyProgram(plan, level, family, slack=chosen.slack)
        table = result.values[starts[family] : starts[family + 1]].reshape(program.possible.shape)
        assert (table[~program.possible] == 0).all()
        scale = 1.0 if program.counts is None else max(1.0, program.counts.max(initial=0) / 1e4)
        mine = program.unknowns(table)
        last = program.last_program(mine)
        best = last.solve(mine)
        assert np.abs(mine - best).max() < 1e-6 * scale
        assert last.objective(mine) == pytest.approx(last.objective(best), rel=1e-9, abs=1e-12)
        assert last.violation(mine) < 1e-6 * scale
        assert last.violation(best) < 1e-6 * scale


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CLOSED)
def test_that_families_end_where_an_interior_point_solver_ends(name, shape):
    design = designs()[name]
    rng = np.random.default_rng([CLOSED.index(name), list(SHAPES).index(shape)])
    assert_minimum(design.plan, level_of([measured_family(rng, design, **SHAPES[shape])]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", CLOSED)
def test_that_families_of_random_shapes_end_where_an_interior_point_solver_ends(name, seed):
    design = designs()[name]
    rng = np.random.default_rng([seed, CLOSED.index(name), 1])
    family = measured_family(
        rng,
        design,
        children=int(rng.integers(2, 30)),
        people=int(rng.integers(1, 5000)),
        households=int(rng.integers(0, 30)),
        facilities=int(rng.integers(1, 20)),
        lone=bool(rng.integers(2)),
        concentrated=float(rng.choice([0.05, 0.3, 3.0])),
    )
    assert_minimum(design.plan, level_of([family]))


@pytest.mark.parametrize("name", CLOSED)
def test_that_a_parent_of_nobody_between_others_has_children_of_nobody(name):
    design = designs()[name]
    rng = np.random.default_rng([8, CLOSED.index(name)])
    families = [measured_family(rng, design, 4, people, 8, 4) for people in (60, 0, 90)]
    level = level_of(families)
    result = least_squares(design.plan, level)
    assert result.outcome.status.tolist() == [Status.SOLVED, Status.EMPTY, Status.SOLVED]
    assert level.value_start[2] == level.value_start[1]
    assert_minimum(design.plan, level_of([families[0], families[2]]))
    assert (result.values == least_squares(design.plan, level_of([families[0], families[2]])).values).all()


@pytest.mark.parametrize("root", ["US", "State"])
def test_that_roots_end_where_an_interior_point_solver_ends(root):
    design = designs()["US"] if root == "US" else state_as_root()
    rng = np.random.default_rng(3)
    shapes = ((30, 20), (60, 40))
    families = [measured_family(rng, design, 1, 9_000, *cells, closed=False) for cells in shapes]
    assert_minimum(design.plan, level_of(families))


@pytest.mark.parametrize("slack", [0.0, 0.5])
def test_that_the_slack_of_held_totals_is_kept(slack):
    design = designs()["Tract"]
    rng = np.random.default_rng(4)
    level = level_of([measured_family(rng, design, 6, 800, 15, 6) for _ in range(3)])
    assert_minimum(design.plan, level, LeastSquaresOptions(slack=slack))


def test_that_children_may_be_measured_differently():
    rng = np.random.default_rng(6)
    for name in CLOSED[1:]:
        design = designs()[name]
        family = with_unequal_weights(rng, measured_family(rng, design, 7, 500, 16, 6))
        assert_minimum(design.plan, level_of([family]))


def test_that_totals_of_groups_of_children_are_kept():
    """The two parts of a state in the AIAN spine share one exact total."""
    design = designs()["County"]
    plan = replace(design.plan, shares_totals=True)
    rng = np.random.default_rng(7)
    family = measured_family(rng, design, 6, 900, 20, 8)
    people = family.counts.sum()
    level = level_of([family], group=np.array([0, 0, 1, 1, 2, 2]), group_total=np.array([people // 5, people // 2, 0]))
    level.group_total[2] = people - level.group_total[:2].sum()
    assert_minimum(plan, level)


def test_that_margins_held_over_three_passes_are_kept():
    design = designs()["Block_Group"]
    plan = design.plan
    coarse = tuple(query for query in plan.measured if query.answers < 10 and query.name != "total")
    fine = tuple(query for query in plan.measured if query.answers >= 10)
    three = replace(plan, passes=(plan.passes[0], coarse, fine), held=None)
    rng = np.random.default_rng(9)
    assert_minimum(three, level_of([measured_family(rng, design, 4, 600, 14, 6)]))
