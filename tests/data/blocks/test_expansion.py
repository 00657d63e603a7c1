from __future__ import annotations

import numpy as np
import pytest

from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.facilities import people_by_type
from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.data.blocks.population import from_dense
from phexplore.errors import PhexploreError
from phexplore.workload.schema import load_schema
from phexplore.workload.schema_reduction import cell_image

FULL, REDUCED = load_schema("pl94_persons"), load_schema("pl94_reduced16")


def collapsed(population):
    """The 16 cells of an expanded population, by the image that the smaller schema declares."""
    image = cell_image(FULL, REDUCED)
    table = np.zeros((population.blocks, 16), np.int64)
    np.add.at(table, (population.rows(), image[population.cells]), population.counts)
    return table


@pytest.mark.parametrize("seed", range(3))
def test_that_every_published_margin_of_every_real_block_is_kept(rhode_island, seed):
    full = expand(rhode_island, seed)
    assert (collapsed(full) == rhode_island.dense(0, rhode_island.blocks)).all()
    assert full.geoids.tolist() == rhode_island.geoids.tolist()
    assert full.places.keys() == rhode_island.places.keys()


@pytest.mark.parametrize("blocks", [1, 2, 700])
def test_that_margins_of_synthetic_blocks_are_kept(blocks):
    made = synthesize_blocks(blocks, 3)
    assert (collapsed(expand(made, 0)) == made.dense(0, blocks)).all()


def test_that_every_facility_has_a_person_and_nobody_lives_in_none(expanded):
    people, facilities = people_by_type(expanded), expanded.facilities
    quarters = facilities[:, 1:]
    assert (people[:, 1:] >= quarters).all()
    assert (people[:, 1:][quarters == 0] == 0).all()
    assert (people[:, 0][facilities[:, 0] == 0] == 0).all()
    least = FULL.facility_bounds.least_per_unit
    assert (people >= facilities * np.array(least)).all()
    assert (people <= facilities.astype(np.int64) * FULL.facility_bounds.most_per_unit).all()


def test_that_about_two_percent_of_the_populated_blocks_hold_a_facility(expanded):
    share = (expanded.facilities[:, 1:].sum(axis=1) > 0).sum() / (expanded.totals() > 0).sum()
    # 17,644 blocks at 2 %, some of them without anybody whom the type admits: 0.0011 is one standard deviation.
    assert 0.014 < share < 0.0255
    assert set(np.flatnonzero(expanded.facilities[:, 1:].sum(axis=0)).tolist()) == set(range(7))


def test_that_nobody_is_in_a_structurally_empty_cell(expanded):
    assert not FULL.structurally_empty()[expanded.cells].any()


def test_that_juvenile_facilities_hold_minors_only(expanded):
    adults = FULL.selection({"hhgq": (2,), "votingage": (1,)})
    assert not adults[expanded.cells].any()
    assert FULL.selection({"hhgq": (2,)})[expanded.cells].any()


def test_that_housing_fits_the_people(expanded):
    vacant, occupied = expanded.housing.T
    people = people_by_type(expanded)[:, 0]
    assert (occupied == np.ceil(people / 2.5)).all()
    assert (expanded.facilities[:, 0] == vacant + occupied).all()
    assert abs(vacant.sum() / (vacant.sum() + occupied.sum()) - 0.11) < 0.01


def test_that_race_codes_follow_the_shipped_shares(expanded):
    races = np.zeros(63, np.int64)
    np.add.at(races, expanded.cells % 63, expanded.counts)
    hispanic = FULL.selection({"hispanic": (1,)})[expanded.cells]
    white = expanded.counts[hispanic & (expanded.cells % 63 == 0)].sum() / expanded.counts[hispanic].sum()
    # 130,655 Hispanics, shipped share 0.52966: standard deviation 0.0014, so 6 of them.
    assert abs(white - 0.52966) < 6 * 0.0014
    assert (races > 0).all()


def test_that_a_seed_determines_the_expansion(synthetic):
    one, two, other = (expand(synthetic, seed) for seed in (1, 1, 2))
    assert (one.cells.tolist(), one.housing.tolist()) == (two.cells.tolist(), two.housing.tolist())
    assert one.cells.tolist() != other.cells.tolist()
    assert "seed 1" in one.remarks[-1]


def test_that_blocks_without_people_stay_without():
    codes = np.array(["440010301001000", "440010301001001"])
    full = expand(from_dense(REDUCED, codes, np.zeros((2, 16), int)), 1)
    assert full.total == 0
    assert full.facilities[:, 1:].sum() == 0


def test_that_other_schemas_and_seeds_are_refused(expanded, synthetic):
    with pytest.raises(ValueError, match="pl94_persons"):
        expand(expanded, 1)
    with pytest.raises(PhexploreError, match="-1"):
        expand(synthetic, -1)
