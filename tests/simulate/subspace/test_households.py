"""TopDown, the exact tree and an exact total on the same counties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from phexplore.data.regions.household_sizes import shipped_household_sizes
from phexplore.simulate.subspace.households import SYSTEMS, compare_systems


@pytest.fixture(scope="module")
def found():
    return compare_systems(shipped_household_sizes(), "44", Fraction(1, 2), 6, 1)


def test_that_every_system_keeps_the_number_of_households(found):
    assert tuple(system.name for system in found.systems) == SYSTEMS
    for system in found.systems:
        assert np.abs(system.counties.sum(axis=(1, 2))).max() < 1e-9


def test_that_group_sizes_are_whole_and_not_negative(found):
    for system in found.systems[:2]:
        assert (system.counties == np.rint(system.counties)).all()
        assert system.negative == 0


def test_that_errors_are_summed_up_as_said(found):
    system = found.systems[2]
    assert system.by_county[1] == pytest.approx(np.mean([np.abs(trial[1]).mean() for trial in system.counties]))
    assert system.by_state == pytest.approx(np.mean([np.abs(trial.sum(axis=0)).mean() for trial in system.counties]))
    order = np.argsort(found.counts.reshape(-1), kind="stable")[: found.counts.size // 10]
    assert system.bias_of_smallest == pytest.approx(system.counties.reshape(6, -1)[:, order].mean())
