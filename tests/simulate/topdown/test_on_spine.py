from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from topdown_worlds import PERSONS, blocks, draws, full, world_of

from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_states
from phexplore.model.topdown import SpineChoice
from phexplore.simulate.topdown.driver import descend, family_ranges
from phexplore.simulate.topdown.families import level_data, with_whole_totals
from phexplore.simulate.topdown.histograms import histograms_of, sums_up
from phexplore.simulate.topdown.measuring import Measured
from phexplore.simulate.topdown.on_spine import in_code_order, world_on_spine
from phexplore.simulate.topdown.run_checks import broken_bounds, trial_checks
from phexplore.spine.settings import choice_of, settings_of
from phexplore.systems.topdown.forecast import noise_of


def noise(budget):
    return noise_of(PERSONS.framework, budget)[0]


def in_towns(population):
    """Return a population whose blocks lie in towns that tracts do not follow."""
    towns = np.random.default_rng(1).integers(0, 3, population.blocks)
    return replace(population, places={"cousub": np.char.add(population.geoids.astype("U5"), towns.astype("U1"))})


def on_spine(population, settings, method=PERSONS):
    method = replace(method, spine=choice_of(settings))
    world = world_of(population, method)
    return world, *world_on_spine(world, method, population, noise)


def test_that_the_standard_spine_changes_nothing():
    method = replace(PERSONS, spine=SpineChoice("standard"))
    world = world_of(blocks(), method)
    found, remarks = world_on_spine(world, method, blocks(), noise)
    assert found is world
    assert remarks == ()


@pytest.mark.parametrize("population", [in_towns(blocks(400)), in_towns(full())], ids=["reduced", "expanded"])
def test_that_a_world_on_a_spine_holds_the_same_people_in_another_order(population):
    _, world, remarks = on_spine(population, settings_of(PERSONS.spine))
    assert world.tree.order is not None
    leaves = in_code_order(world.tree, world.truth[-1])
    assert leaves.differences(histograms_of(population)) == 0
    assert world.truth[0].total == population.total
    assert any(remark.startswith("Spine: optimised") for remark in remarks)
    if population.facilities is not None:
        assert world.upper[-1].shape[0] == population.blocks
        totals = population.facilities.sum(axis=1)[world.tree.order]
        assert (world.upper[-1].max(axis=1) > 0).tolist() == (totals > 0).tolist()


def test_that_every_unit_is_measured_with_the_budget_of_its_own():
    """The budgets along every path add up to what the levels of the tree have together, exactly."""
    _, world, _ = on_spine(blocks(400), settings_of(PERSONS.spine))
    sums = [Fraction(0)] * world.tree.blocks
    for design, level, classes in zip(world.design.levels, world.tree.levels, world.classes, strict=True):
        for unit in range(level.units):
            place = int(classes[unit])
            own = design.measurings[place].spent if place >= 0 else Fraction(0)
            assert own == PERSONS.total * level.shares.share(unit)
            for block in range(int(level.first_block[unit]), int(level.first_block[unit + 1])):
                sums[block] += own
    assert set(sums) == {world.design.spent}
    assert any((classes < 0).any() for classes in world.classes)
    assert any((classes > 0).any() for classes in world.classes)
    assert world.design.spent + world.design.unspent == PERSONS.total


def test_that_a_descent_on_a_spine_keeps_sums_and_totals():
    _, world, _ = on_spine(full(), settings_of(PERSONS.spine))
    found = descend(world, draws(world))
    assert found.record.failed == 0
    summed = sums_up(found.leaves, world.tree, world.design.schema.cells)
    assert sum(one.differences(other) for one, other in zip(summed, found.levels, strict=True)) == 0
    assert found.levels[0].totals().tolist() == world.truth[0].totals().tolist()
    # An only child has nothing of its own to say.
    for upper, above, below in zip(world.tree.levels, found.levels, found.levels[1:], strict=False):
        only = np.flatnonzero(np.diff(upper.first_child) == 1)
        child = upper.first_child[:-1][only]
        assert above.totals()[only].tolist() == below.totals()[child].tolist()


def test_that_exact_measurements_on_a_spine_give_the_exact_counts():
    _, world, _ = on_spine(full(), settings_of(PERSONS.spine))
    found = descend(world, draws(world, exact=True))
    assert in_code_order(world.tree, found.leaves).differences(histograms_of(full())) == 0


def several_states(seed=1):
    return synthesize_states(500, seed, ["04", "35", "40"], tribal=0.2)


@pytest.mark.parametrize("population", [several_states(), expand(several_states(), 2)], ids=["reduced", "expanded"])
def test_that_totals_of_states_are_kept_over_both_of_their_parts(population):
    full_world, world, _ = on_spine(population, settings_of(PERSONS.spine))
    assert [level.name for level in world.tree.levels][:2] == ["US", "State"]
    assert world.tree.levels[1].codes.tolist() == ["004", "035", "040", "104", "135", "140"]
    moved = 0
    for trial in range(3):
        found = descend(world, draws(world, trial))
        assert trial_checks(world, found) == {"sums": 0, "invariants": 0, "structural_zeros": 0, "non_negativity": 0}
        assert (found.record.failed, found.record.unfinished) == (0, 0)
        leaves = in_code_order(world.tree, found.leaves)
        summed = sums_up(leaves, full_world.tree, full_world.design.schema.cells)
        for level in (0, 1):
            assert summed[level].totals().tolist() == full_world.truth[level].totals().tolist()
        moved += int((found.levels[1].totals() != world.truth[1].totals()).sum())
    assert moved, "the parts of a state are not exact, only their sum is"


def test_that_exact_measurements_over_several_states_give_the_input_back():
    population = several_states()
    _, world, _ = on_spine(population, settings_of(PERSONS.spine))
    found = descend(world, draws(world, exact=True))
    assert in_code_order(world.tree, found.leaves).differences(histograms_of(population)) == 0


def test_that_a_broken_shared_total_is_counted():
    _, world, _ = on_spine(several_states(), settings_of(PERSONS.spine))
    moved = world.truth[-1].counts.copy()
    moved[0] += 1
    leaves = replace(world.truth[-1], counts=moved)
    sums = sums_up(leaves, world.tree, world.design.schema.cells)
    assert world.shared[1].broken(sums[1]) == 1
    assert broken_bounds(world, sums) == 2  # of that state, and of the nation


@pytest.mark.parametrize("seed", range(20))
def test_that_whole_totals_of_parts_are_the_nearest_that_add_up(seed):
    """Against all combinations of rounding down and up."""
    rng = np.random.default_rng(seed)
    _, world, _ = on_spine(several_states(), settings_of(PERSONS.spine))
    task = family_ranges(world, 1, world.truth[0])[0]
    data = level_data(task, Measured(np.zeros((6, world.design.levels[1].plan.answers), np.int32), 0, 0))
    width = len(data.cells)
    totals = rng.uniform(5, 50, 6)
    totals[3:] += np.ceil(totals[:3] + totals[3:]) - totals[:3] - totals[3:]  # parts of a state add to a whole number
    values = np.zeros((6, width))
    values[:, 0] = totals
    data = replace(data, group_total=np.rint(totals[:3] + totals[3:]).astype(np.int64))
    found = with_whole_totals(world.design.levels[1].plan, data, values.ravel())
    whole = found.lower[:, 0]
    assert (found.upper[:, 0] == whole).all()
    assert (whole[:3] + whole[3:] == data.group_total).all()
    for part in range(3):
        pair = totals[[part, part + 3]]
        options = [
            abs(low - pair[0]) + abs(data.group_total[part] - low - pair[1])
            for low in (np.floor(pair[0]), np.ceil(pair[0]))
        ]
        assert np.abs(whole[[part, part + 3]] - pair).sum() == pytest.approx(min(options))
