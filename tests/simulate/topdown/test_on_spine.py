from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from topdown_worlds import PERSONS, blocks, draws, full, world_of

from phexplore.accuracy.topdown_forecast import noise_of
from phexplore.data.blocks.source import read_population
from phexplore.model.topdown import SpineChoice
from phexplore.simulate.topdown.design import DesignError
from phexplore.simulate.topdown.driver import descend
from phexplore.simulate.topdown.histograms import histograms_of, sums_up
from phexplore.simulate.topdown.on_spine import in_code_order, world_on_spine
from phexplore.spine.settings import SpineSettings, choice_of, settings_of


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


def test_that_tribal_parts_of_several_states_are_refused(real_data):
    one = read_population(real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz").part(9000, 11500)
    places = {kind: codes.copy() for kind, codes in one.places.items()}
    places["aiannh"] = np.where(np.arange(one.blocks) % 50 == 0, "2415R", "")
    geoids = one.geoids.copy()
    geoids[-500:] = np.char.add("45", np.array([code[2:] for code in geoids[-500:].tolist()]))
    two = replace(one, geoids=geoids, places=places)
    with pytest.raises(DesignError, match="tribal parts of 2 states"):
        on_spine(two, settings_of(PERSONS.spine))
    world, found, _ = on_spine(two, SpineSettings(kind="optimised", bypass="single-child"))
    assert found is not world
    assert found.tree.levels[0].name == "US"
