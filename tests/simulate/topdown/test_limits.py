"""The ends of the scale: with ever more budget the output becomes the input; with ever less it keeps what is exact."""

from __future__ import annotations

from fractions import Fraction

import pytest
from topdown_worlds import PERSONS, UNITS, blocks, draws, full, world_of

from phexplore.simulate.topdown.driver import descend
from phexplore.simulate.topdown.run_checks import trial_checks
from phexplore.systems.topdown.run_data import units_of_persons

NOTHING_WRONG = {"sums": 0, "invariants": 0, "structural_zeros": 0, "non_negativity": 0}
POPULATIONS = {
    "reduced": (blocks, PERSONS),
    "full": (full, PERSONS),
    "units": (lambda: units_of_persons(None, full()), UNITS),
}


@pytest.mark.parametrize("case", POPULATIONS)
def test_that_a_huge_budget_gives_the_input_back(case):
    """At 10⁹ times the budget every σ² is below 1e-5: a nonzero draw has a probability below exp(-50000)."""
    make, method = POPULATIONS[case]
    world = world_of(make(), method, 10**9)
    widest = max(
        noise.variance() for level in world.design.levels for noise in level.measuring.noises if noise is not None
    )
    assert widest < 1e-5
    for trial in range(2):
        found = descend(world, draws(world, trial))
        assert found.leaves.differences(world.truth[-1]) == 0
        assert found.record.failed == 0


@pytest.mark.parametrize("case", POPULATIONS)
def test_that_a_tiny_budget_keeps_everything_that_is_exact(case):
    make, method = POPULATIONS[case]
    world = world_of(make(), method, Fraction(1, 10**6))
    found = descend(world, draws(world))
    assert trial_checks(world, found) == NOTHING_WRONG
    assert found.leaves.total == world.truth[0].total
    assert found.leaves.differences(world.truth[-1]) > 0
