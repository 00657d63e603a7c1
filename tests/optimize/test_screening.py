from __future__ import annotations

import numpy as np
import pytest
from topdown_worlds import PERSONS, draws, full, world_of

from phexplore.optimize.least_squares import Status, least_squares
from phexplore.optimize.screening import screened_least_squares, worth_screening
from phexplore.simulate.topdown.driver import family_ranges
from phexplore.simulate.topdown.families import level_data
from phexplore.systems.topdown.presets import topdown_presets

DEMONSTRATION = topdown_presets()["ddp-2019-persons-us"].scenario.method


def root(factor=1, trial=0):
    """Return plan and data of a state measured as the 2010 demonstration data were: overlapping queries in one pass."""
    world = world_of(full(), DEMONSTRATION, factor)
    (task,) = family_ranges(world, 0, None)
    answers = draws(world, trial)[0].measure(task.level, task.truth, 0, task.classes)
    return task.level.plan, level_data(task, answers)


@pytest.mark.parametrize("factor", [1, 10, 100])
@pytest.mark.parametrize("trial", [0, 1])
def test_that_solving_few_cells_gives_the_solution_of_all(factor, trial):
    plan, data = root(factor, trial)
    whole, screened = least_squares(plan, data), screened_least_squares(plan, data)
    assert screened.families_with(Status.SOLVED).tolist() == [0]
    assert 0 < np.count_nonzero(screened.values) < len(data.cells)
    assert np.abs(whole.values - screened.values).max() < 1e-4


def test_that_bounds_and_totals_hold():
    plan, data = root()
    found = screened_least_squares(plan, data)
    for query, start in plan.bound_start.items():
        sums = np.bincount(query.cell_map()[data.cells], weights=found.values, minlength=query.answers)
        inside = slice(start, start + query.answers)
        assert (sums >= data.lower[0, inside] - 1e-6).all()
        assert (sums <= data.upper[0, inside] + 1e-6).all()


def test_that_only_single_roots_with_many_cells_and_one_pass_are_screened(monkeypatch):
    plan, data = root()
    assert not worth_screening(plan, data)
    monkeypatch.setattr("phexplore.optimize.screening.MANY_CELLS", 100)
    assert worth_screening(plan, data)
    world = world_of(full(), PERSONS)  # two passes at the state
    (task,) = family_ranges(world, 0, None)
    answers = draws(world)[0].measure(task.level, task.truth, 0, task.classes)
    assert not worth_screening(task.level.plan, level_data(task, answers))
