import itertools
from fractions import Fraction

import numpy as np
import pytest
from topdown_worlds import PERSONS, UNITS, blocks, draws, full, world_of

from phexplore.errors import CancelledError
from phexplore.optimize.rounder import RounderOptions, Target
from phexplore.simulate.topdown.baseline import leaves_alone
from phexplore.simulate.topdown.driver import Threads, descend, range_edges
from phexplore.simulate.topdown.families import Estimation
from phexplore.simulate.topdown.histograms import sums_up
from phexplore.simulate.topdown.run_checks import broken_bounds, trial_checks
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.run_data import units_of_persons

NOTHING_WRONG = {"sums": 0, "invariants": 0, "structural_zeros": 0, "non_negativity": 0}


def same(one, other):
    return (
        all(
            (getattr(one, name) == getattr(other, name)).all()
            for name in ("starts", "cells", "counts")
            if getattr(one, name).shape == getattr(other, name).shape
        )
        and one.cells.shape == other.cells.shape
    )


@pytest.fixture(scope="module")
def units_world():
    return world_of(units_of_persons(None, full()), UNITS)


@pytest.fixture(scope="module")
def alone(full_world):
    return leaves_alone(full_world, PERSONS.total, lambda budget: noise_of(PERSONS.framework, budget)[0])


@pytest.fixture(params=["reduced_world", "full_world", "units_world"])
def world(request):
    return request.getfixturevalue(request.param)


def test_that_exact_measurements_give_the_input_back(world):
    found = descend(world, draws(world, exact=True))
    assert found.leaves.differences(world.truth[-1]) == 0


def test_that_every_unit_keeps_sums_invariants_and_signs(world):
    for trial in range(2):
        found = descend(world, draws(world, trial))
        assert trial_checks(world, found) == NOTHING_WRONG
        assert (found.record.failed, found.record.relaxed) == (0, 0)


def test_that_the_state_total_is_kept_and_counties_are_not(full_world):
    found = descend(full_world, draws(full_world))
    assert found.leaves.total == full_world.truth[0].total
    assert (found.levels[-1].totals() != full_world.truth[-1].totals()).any()


def test_that_units_keep_their_number_in_every_block(units_world):
    found = descend(units_world, draws(units_world))
    assert (found.leaves.totals() == units_world.truth[-1].totals()).all()
    assert found.leaves.differences(units_world.truth[-1]) > 0


def test_that_facilities_keep_between_one_person_and_nobody_where_none_are(full_world):
    found = descend(full_world, draws(full_world))
    facilities = full().facilities
    query = full_world.design.levels[-1].plan.bounded[-1]
    people = found.leaves.answers(query.cell_map(), query.answers)
    assert (people[:, 1:] >= facilities[:, 1:]).all()
    assert (people[facilities == 0] == 0).all()


def test_that_a_broken_estimate_is_counted(full_world):
    """The checks can fail: the truth of another world breaks this one's bounds."""
    other = world_of(full(150, 4))
    assert broken_bounds(full_world, sums_up(other.truth[-1], full_world.tree, 2016)) > 0


def test_that_threads_change_no_bit(world):
    alone = descend(world, draws(world))
    with Threads(3) as threads:
        together = descend(world, draws(world), mapper=threads)
    assert same(alone.leaves, together.leaves)
    assert (alone.record.within, alone.record.numbers) == (together.record.within, together.record.numbers)


def test_that_threads_take_values_as_they_become_free():
    taken = []
    values = (taken.append(value) or value for value in range(40))
    with Threads(2) as threads:
        doubled = threads(lambda value: 2 * value, values)
        assert next(doubled) == 0
        assert len(taken) == 4
        assert list(doubled) == list(range(2, 80, 2))


def test_that_the_cut_into_ranges_changes_no_bit(full_world, monkeypatch):
    whole = descend(full_world, draws(full_world))
    monkeypatch.setattr("phexplore.simulate.topdown.driver._LEAST_BYTES", 1)
    monkeypatch.setattr("phexplore.simulate.topdown.driver._RANGES", 10**6)
    assert same(descend(full_world, draws(full_world)).leaves, whole.leaves)


def test_that_ranges_cover_every_family_once():
    rng = np.random.default_rng(2)
    size = rng.integers(0, 20 << 20, 60)
    edges = range_edges(size)
    assert edges[0] == 0
    assert edges[-1] == 60
    assert (np.diff(edges) > 0).all()
    assert len(edges) > 10


def test_that_progress_ends_with_all_units_and_may_stop(full_world):
    seen = {}
    descend(
        full_world, draws(full_world), on_progress=lambda level, done, total: seen.__setitem__(level, (done, total))
    )
    assert list(seen) == ["State", "County", "Tract", "Block_Group", "Block"]
    assert all(done == total for done, total in seen.values())

    def stop(level, done, total):
        raise CancelledError("enough")

    with pytest.raises(CancelledError):
        descend(full_world, draws(full_world), on_progress=stop)


def test_that_another_trial_is_another_result(full_world):
    one, other = (descend(full_world, draws(full_world, trial)) for trial in range(2))
    assert one.leaves.differences(other.leaves) > 0


def test_that_error_falls_as_the_budget_grows():
    """Mean absolute error of block totals and of block cells over three trials, budgets a factor 8 apart.

    Shared random bits make the steps certain: at these factors the errors are about √8 apart, their spread a few percent.
    """
    errors = []
    for factor in (Fraction(1, 8), 1, 8, 64, 512):
        world = world_of(blocks(), PERSONS, factor)
        truth = world.truth[-1]
        totals, cells = [], []
        for trial in range(3):
            leaves = descend(world, draws(world, trial)).leaves
            totals.append(np.abs(leaves.totals() - truth.totals()).mean())
            cells.append(leaves.differences(truth))
        errors.append((np.mean(totals), np.mean(cells)))
    assert all(after < before for (before, _), (after, _) in itertools.pairwise(errors))
    assert all(after < before for (_, before), (_, after) in itertools.pairwise(errors))


def test_that_pure_dp_keeps_everything_too(pure_method):
    world = world_of(full(), pure_method)
    found = descend(world, draws(world))
    assert trial_checks(world, found) == NOTHING_WRONG


def test_that_the_productions_target_changes_ties_and_keeps_everything(full_world):
    options = Estimation(rounder=RounderOptions(target=Target.WHOLE))
    found = descend(full_world, draws(full_world), options)
    assert trial_checks(full_world, found) == NOTHING_WRONG


class TestBlockByBlock:
    def test_that_all_of_the_budget_is_at_the_blocks_in_their_shares(self, full_world, alone):
        (level,) = alone.design.levels
        leaf = full_world.design.levels[-1].measuring
        assert level.measuring.spent == PERSONS.total
        shares = [budget / leaf.spent for budget in leaf.budgets]
        assert [budget / PERSONS.total for budget in level.measuring.budgets] == shares

    def test_that_blocks_keep_their_own_invariants_and_break_the_states(self, full_world, alone):
        found = descend(alone, draws(alone))
        assert trial_checks(alone, found) == NOTHING_WRONG
        assert found.leaves.total != full_world.truth[0].total

    def test_that_a_block_does_not_depend_on_its_neighbours(self, alone):
        from dataclasses import replace

        found = descend(alone, draws(alone)).leaves
        truth = alone.truth[0]
        changed = truth.counts.copy()
        changed[truth.starts[140] : truth.starts[141]] += 1
        moved = descend(replace(alone, truth=(replace(truth, counts=changed),)), draws(alone)).leaves
        assert same(found.part(0, 140), moved.part(0, 140))
        assert not same(found.part(140, 141), moved.part(140, 141))

    def test_that_exact_measurements_give_the_input_back(self, alone):
        assert descend(alone, draws(alone, exact=True)).leaves.differences(alone.truth[0]) == 0


class TestShapes:
    def test_that_one_block_is_a_state(self):
        world = world_of(full(1, 5))
        found = descend(world, draws(world))
        assert trial_checks(world, found) == NOTHING_WRONG
        assert found.leaves.total == world.truth[0].total

    def test_that_an_empty_state_stays_empty(self):
        population = blocks(30, 2)
        from phexplore.data.blocks.population import from_dense

        empty = from_dense(population.schema, population.geoids, np.zeros((30, 16), np.int64))
        world = world_of(empty)
        assert descend(world, draws(world)).leaves.total == 0

    def test_that_everybody_in_one_cell_of_one_block_is_kept_in_number(self):
        from phexplore.data.blocks.population import from_dense

        population = blocks(30, 2)
        table = np.zeros((30, 16), np.int64)
        table[17, 9] = 100_000
        world = world_of(from_dense(population.schema, population.geoids, table))
        found = descend(world, draws(world))
        assert trial_checks(world, found) == NOTHING_WRONG
        assert found.leaves.total == 100_000

    def test_that_another_state_runs_without_change(self):
        world = world_of(full(120, 8, "56"))
        found = descend(world, draws(world))
        assert trial_checks(world, found) == NOTHING_WRONG
