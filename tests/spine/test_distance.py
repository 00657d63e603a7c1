from __future__ import annotations

import itertools

import numpy as np
import pytest

from phexplore.spine.building import build_spine
from phexplore.spine.distance import composition, distances
from phexplore.spine.geography import EntitySet, entity_set
from phexplore.spine.settings import spine_preset


def entities_of(areas, name="any"):
    starts = np.cumsum([0, *map(len, areas)])
    return EntitySet(name, np.arange(len(areas)).astype(str), starts, np.concatenate([np.array([], np.int64), *areas]))


def indicators(tree):
    """Return one row of leaves per unit of the tree."""
    rows = []
    for level in tree.levels:
        for unit in range(level.units):
            row = np.zeros(tree.blocks, np.int8)
            row[level.first_block[unit] : level.first_block[unit + 1]] = 1
            rows.append(row)
    return np.array(rows)


def fewest_units(tree):
    """Return for every set of leaves the fewest units that add and subtract to it, by trying all combinations."""
    rows = indicators(tree)
    best = {}
    signs = np.array(list(itertools.product((-1, 0, 1), repeat=len(rows))), np.int8)
    sums, used = signs @ rows, np.abs(signs).sum(axis=1)
    fine = ((sums == 0) | (sums == 1)).all(axis=1)
    for row, count in zip(sums[fine], used[fine], strict=True):
        key = row.tobytes()
        best[key] = min(best.get(key, 99), int(count))
    return best


@pytest.mark.parametrize(
    "sizes", [[[2], [2, 3]], [[1], [3], [1, 2, 1]], [[3], [1, 1, 3]], [[6]], [[2], [1, 1], [3, 2]]]
)
def test_that_distances_are_the_fewest_units_of_all_combinations(sizes, small):
    tree = small.tree_of_fanouts([np.array(level) for level in sizes])
    best = fewest_units(tree)
    for size in range(1, tree.blocks + 1):
        for members in itertools.combinations(range(tree.blocks), size):
            row = np.zeros(tree.blocks, np.int8)
            row[list(members)] = 1
            found = distances(tree, entities_of([np.array(members)]))
            assert found.distance[0] == best[row.tobytes()], members


@pytest.mark.parametrize("seed", range(5))
def test_that_a_composition_makes_up_the_area_with_as_many_units_as_its_distance(seed, small):
    rng = np.random.default_rng(seed)
    geography = small.geography(rng, blocks=80)
    tree = build_spine(geography, spine_preset("pl94-2020").settings).tree
    areas = [np.sort(rng.choice(80, size, replace=False)) for size in (1, 5, 20, 60, 79, 80)] + [np.array([], np.int64)]
    entities = entities_of(areas)
    found = distances(tree, entities)
    for number, members in enumerate(areas):
        parts = composition(tree, entities, number)
        assert len(parts) == found.distance[number]
        leaves = np.zeros(80, np.int64)
        for part in parts:
            level = tree.levels[part.level]
            leaves[level.first_block[part.unit] : level.first_block[part.unit + 1]] += part.sign
        order = np.arange(80) if tree.order is None else tree.order
        assert (leaves == np.isin(order, members)).all()


def test_that_overlapping_areas_are_measured_one_by_one(small):
    rng = np.random.default_rng(3)
    tree = build_spine(small.geography(rng), spine_preset("standard").settings).tree
    areas = [np.sort(rng.choice(60, size, replace=False)) for size in (3, 30, 3, 59)]
    together = distances(tree, entities_of(areas)).distance
    assert together.tolist() == [int(distances(tree, entities_of([area])).distance[0]) for area in areas]


def test_that_an_area_that_names_a_block_twice_is_refused(small):
    tree = small.tree_of_fanouts([np.array([4])])
    with pytest.raises(ValueError, match="twice"):
        distances(tree, entities_of([np.array([1, 1])]))


def test_that_reductions_say_mean_largest_and_distribution(small):
    tree = small.tree_of_fanouts([np.array([5])])
    found = distances(tree, entities_of([np.array([0]), np.array([0, 1]), np.arange(5), np.array([], np.int64)]))
    assert found.distance.tolist() == [1, 2, 1, 0]
    assert found.mean == 1.0
    assert found.largest == 2
    assert found.histogram().tolist() == [1, 2, 1]
    assert found.quantiles((0.0, 0.5, 1.0)) == (0.0, 1.0, 2.0)
    none = distances(tree, entities_of([]))
    assert (none.mean, none.largest, none.quantiles((0.5,))) == (0.0, 0, (0.0,))


def test_that_rhode_island_has_the_known_distances(rhode_island):
    standard = build_spine(rhode_island, spine_preset("standard").settings).tree
    production = spine_preset("pl94-2020").settings
    targeted = build_spine(rhode_island, production.with_targets(["place"])).tree
    in_2020 = build_spine(rhode_island, production).tree
    places, towns = entity_set(rhode_island, "place"), entity_set(rhode_island, "cousub")
    assert (places.areas, towns.areas) == (36, 39)
    assert distances(standard, places).mean == pytest.approx(24.17, abs=0.005)
    assert distances(targeted, places).mean == pytest.approx(6.1, abs=0.05)
    assert distances(standard, towns).mean == pytest.approx(6.15, abs=0.005)
    assert distances(in_2020, places).mean == pytest.approx(25.9, abs=0.05)
    # One town more is cut by the tribal branch, which the file's one reservation makes: 241 / 39 instead of 240 / 39.
    assert distances(in_2020, towns).distance.sum() == distances(standard, towns).distance.sum() + 1
