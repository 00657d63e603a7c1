from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.spine.building import build_spine, chunks, place_mcd
from phexplore.spine.distance import distances
from phexplore.spine.geography import AreaCodes, EntitySet, Geography
from phexplore.spine.settings import SpineSettings, spine_preset
from phexplore.spine.tree import tree_of


def number_of(tree, name):
    return [level.name for level in tree.levels].index(name)


EVERY = ["standard", "aian", "pl94-2020", "pl94-2020-units", "dhc-2020"]


def unit_of_leaf(tree, number):
    """Return the unit of a level of every leaf."""
    return np.repeat(np.arange(tree.levels[number].units), np.diff(tree.levels[number].first_block))


@pytest.mark.parametrize("preset", EVERY)
@pytest.mark.parametrize("groups", ["none", "standard", "production", "paper"])
@pytest.mark.parametrize("counties", ["nowhere", "everywhere", "in_strong_MCDs"])
def test_that_units_nest_and_every_block_is_in_one(preset, groups, counties, small):
    rng = np.random.default_rng(len(preset))
    geography = small.geography(rng, blocks=200, states=("06", "44"))
    settings = spine_preset(preset).settings
    settings = replace(settings, tract_groups=groups, redefine_counties=counties)
    tree = build_spine(geography, settings).tree
    order = np.arange(200) if tree.order is None else tree.order
    assert sorted(order.tolist()) == list(range(200))
    assert tree.levels[0].units == 1
    for number, (upper, lower) in enumerate(zip(tree.levels, tree.levels[1:], strict=False)):
        assert (np.diff(upper.first_block) > 0).all()
        assert (lower.first_block[upper.first_child] == upper.first_block).all()
        assert len(set(upper.codes.tolist())) == upper.units, upper.name
        pairs = set(zip(unit_of_leaf(tree, number).tolist(), unit_of_leaf(tree, number + 1).tolist(), strict=True))
        assert len(pairs) == lower.units
    assert tree.levels[-1].codes.tolist() == geography.geocodes()[order].tolist()


def test_that_the_standard_spine_is_the_tree_of_the_codes(rhode_island):
    built = build_spine(rhode_island, SpineSettings()).tree
    expected = tree_of(rhode_island.geocodes(), ("US", "State", "County", "Tract", "Block_Group", "Block"))
    assert built.order is None
    assert built.dropped == expected.dropped
    for own, other in zip(built.levels, expected.levels, strict=True):
        assert own.name == other.name
        assert own.codes.tolist() == other.codes.tolist()
        assert own.first_block.tolist() == other.first_block.tolist()
    groups = build_spine(rhode_island, SpineSettings(tract_groups="standard")).tree
    levels = ("US", "State", "County", "Tract_Group", "Tract", "Block_Group", "Block")
    for own, other in zip(groups.levels, tree_of(rhode_island.geocodes(), levels).levels, strict=True):
        assert own.codes.tolist() == other.codes.tolist()


def test_that_tribal_parts_stand_apart_from_state_to_block(small):
    geography = small.geography(np.random.default_rng(2), blocks=150, states=("44", "06"))
    settings = spine_preset("aian").settings
    spine = build_spine(geography, settings)
    # 2415 is federal; 9600 is a state-designated statistical area, which 2020 did not target.
    area = geography.areas["aiannh"]
    inside = np.array([code >= 0 and area.codes[code] == "2415" for code in area.of_block.tolist()])
    assert (geography.aian(settings.aian_areas) == inside).all()
    tree = spine.tree
    for number in range(1, len(tree.levels)):
        units = unit_of_leaf(tree, number)
        for unit in range(tree.levels[number].units):
            assert len(set(inside[spine.order[units == unit]].tolist())) == 1
    codes = tree.levels[1].codes.tolist()
    assert codes == ["006", "044", "106", "144"]
    assert all(code.startswith(("00610", "04410", "10610", "14410")) for code in tree.levels[2].codes.tolist())
    # Without the branch the blocks of a county stay together.
    assert build_spine(geography, SpineSettings()).tree.levels[2].units == 4
    assert tree.levels[2].units == 8


def test_that_the_tribal_parts_of_one_state_stand_apart_from_the_county_down(rhode_island):
    spine = build_spine(rhode_island, spine_preset("aian").settings)
    tree = spine.tree
    assert tree.dropped == ("US",)
    assert tree.levels[0].codes.tolist() == ["44"]
    assert tree.levels[1].codes.tolist() == ["04410001", "04410003", "04410005", "04410007", "04410009", "14410009"]
    inside = rhode_island.areas["aiannh"].of_block[spine.order] >= 0
    assert inside[tree.levels[1].first_block[5] :].all()
    assert not inside[: tree.levels[1].first_block[5]].any()
    assert any("county level down" in remark for remark in spine.remarks)


def test_that_tribal_areas_take_the_place_of_counties_where_wanted(small):
    geography = small.geography(np.random.default_rng(2), blocks=150, states=("44", "06"))
    both = ("Legal_Federally_Recognized_American_Indian_Area", "State_Designated_Tribal_Statistical_Area")
    settings = replace(spine_preset("aian").settings, aian_areas=both)
    everywhere = build_spine(geography, replace(settings, redefine_counties="everywhere")).tree
    assert [code for code in everywhere.levels[2].codes.tolist() if code[0] == "1"] == [
        "10602415", "10609600", "14402415", "14409600",
    ]  # fmt: skip
    strong = build_spine(geography, replace(settings, redefine_counties="in_strong_MCDs")).tree
    assert [code for code in strong.levels[2].codes.tolist() if code[0] == "1"] == [
        "10610001", "10610002", "14402415", "14409600",
    ]  # fmt: skip


def test_that_puerto_rico_is_its_own_root(small):
    geography = small.geography(np.random.default_rng(1), states=("72",), aian=False)
    for preset in EVERY:
        tree = build_spine(geography, spine_preset(preset).settings).tree
        assert tree.levels[0].name == "State"
        assert tree.dropped == ("US",)
    mixed = small.geography(np.random.default_rng(1), states=("72", "44"))
    with pytest.raises(PhexploreError, match="Puerto Rico"):
        build_spine(mixed, SpineSettings())


def test_that_no_blocks_make_no_spine():
    with pytest.raises(PhexploreError, match="no blocks"):
        build_spine(Geography(np.empty(0, "U15")), SpineSettings())


@pytest.mark.parametrize("grouping", ["production", "paper"])
@pytest.mark.parametrize("cutoff", [0, 3, 12])
def test_that_block_groups_keep_areas_together_and_are_no_larger_than_the_rule_says(grouping, cutoff, small):
    """Counted one block after the other, as production's code does (errata G2), and with the paper's bound."""
    geography = small.geography(np.random.default_rng(8), blocks=300)
    settings = replace(spine_preset("pl94-2020").settings, grouping=grouping, fanout_cutoff=cutoff)
    spine = build_spine(geography, settings)
    tree, order = spine.tree, spine.order
    entity = place_mcd(geography, settings).of_block
    key = list(
        zip(entity.tolist(), geography.areas["aiannh"].of_block.tolist(), geography.quarters.tolist(), strict=True)
    )
    tracts, groups = (unit_of_leaf(tree, number_of(tree, name)) for name in ("Tract", "Block_Group"))
    found = defaultdict(list)
    for leaf, block in enumerate(order.tolist()):
        found[int(tracts[leaf]), int(groups[leaf])].append(block)
    expected = set()
    for tract in range(tree.levels[number_of(tree, "Tract")].units):
        blocks = sorted(order[tracts == tract].tolist())
        limit = int(math.sqrt(len(blocks)) + cutoff)
        open_groups = {}
        for block in blocks:
            own = open_groups.setdefault(key[block], [])
            full = bool(own) and (len(own) > limit if grouping == "production" else len(own) >= max(limit, 1))
            if full:
                expected.add(tuple(own))
                own = open_groups[key[block]] = []
            own.append(block)
        expected.update(tuple(own) for own in open_groups.values())
    assert {tuple(sorted(blocks)) for blocks in found.values()} == expected


def test_that_group_quarters_are_isolated_for_persons_and_not_for_units(small):
    geography = small.geography(np.random.default_rng(8), blocks=300)
    persons, units = (build_spine(geography, spine_preset(name).settings) for name in ("pl94-2020", "pl94-2020-units"))
    for spine, isolated in ((persons, True), (units, False)):
        groups = unit_of_leaf(spine.tree, number_of(spine.tree, "Block_Group"))
        mixed = [
            len(set(geography.quarters[spine.order[groups == unit]].tolist())) > 1
            for unit in range(int(groups.max()) + 1)
        ]
        assert any(mixed) != isolated


def test_that_the_entity_of_2020_is_the_town_in_strong_states_and_the_place_elsewhere(small):
    geography = small.geography(np.random.default_rng(4), blocks=200, states=("44", "06"))
    settings = spine_preset("pl94-2020").settings
    found, inside = place_mcd(geography, settings), geography.aian(settings.aian_areas)
    for block in range(200):
        strong = geography.geoids[block][:2] == "44" and not inside[block]
        area = geography.areas["cousub" if strong else "place"]
        own, other = int(found.of_block[block]), int(area.of_block[block])
        assert (own < 0) == (other < 0)
        if own >= 0:
            assert found.codes[own] == area.codes[other]


def test_that_prims_are_towns_and_places_with_estimates(small):
    geography = small.geography(np.random.default_rng(5), blocks=200, states=("44", "06"), aian=False)
    rng = np.random.default_rng(6)
    known = replace(geography, governed=rng.random(200) < 0.5, incorporated=rng.random(200) < 0.5)
    for each, remarks in ((known, 0), (geography, 2)):
        spine = build_spine(each, spine_preset("dhc-2020").settings)
        assert len([r for r in spine.remarks if "status" in r]) == remarks
        names = [level.name for level in spine.tree.levels]
        assert names[3:] == ["Prim", "Tract_Subset_Group", "Tract_Subset", "Block_Group", "Block"]
        strong = np.array([code[:2] == "44" for code in each.geoids.tolist()])
        governed = strong if each.governed is None else each.governed
        settled = np.ones(200, bool) if each.incorporated is None else each.incorporated
        prim = [
            (
                each.geoids[b][:5],
                int(each.areas["cousub"].of_block[b]) if governed[b] else -1,
                int(each.areas["place"].of_block[b]) if settled[b] else -1,
            )
            for b in range(200)
        ]
        units = unit_of_leaf(spine.tree, 3)
        assert len({(int(u), prim[b]) for u, b in zip(units, spine.order, strict=True)}) == spine.tree.levels[3].units
        assert len(set(prim)) == spine.tree.levels[3].units
        subsets = {(prim[b], each.geoids[b][:11]) for b in range(200)}
        assert spine.tree.levels[5].units == len(subsets)
    one = small.geography(np.random.default_rng(5), blocks=50, states=("72",), aian=False)
    tree = build_spine(one, spine_preset("dhc-2020").settings).tree
    assert tree.levels[2].units == tree.levels[1].units


def test_that_missing_areas_are_said_or_named(small):
    geography = small.geography(np.random.default_rng(5))
    bare = Geography(geography.geoids)
    spine = build_spine(bare, spine_preset("pl94-2020").settings)
    assert any("cousub" in remark for remark in spine.remarks)
    assert any("group quarters" in remark for remark in spine.remarks)
    assert any("tribal" in remark for remark in spine.remarks)
    with pytest.raises(UnknownNameError, match="plaace"):
        build_spine(geography, spine_preset("pl94-2020").settings.with_targets(["plaace"]))


def test_that_chunks_of_one_kind_lie_in_order():
    parent = np.array([0, 0, 0, 0, 0, 1, 1])
    kind = np.array([1, 0, 1, 1, 0, 0, 0])
    settings = SpineSettings(kind="optimised", grouping="paper", fanout_cutoff=0)
    # √5 and √2 rounded down: two blocks in a group of the first parent, one in the second.
    assert chunks(parent, kind, settings).tolist() == [1, 0, 1, 2, 0, 3, 4]


def naive_tract_groups(geography, settings, base):
    """Algorithm 2 as printed: a whole run of Algorithm 1 per pair of groups. Returns the group of each tract."""
    tree = base.tree
    county_level = [level.name for level in tree.levels].index("County")
    first_tract = tree.levels[county_level].first_child
    groups = [[tract] for tract in range(tree.levels[county_level + 1].units)]
    county_of = np.repeat(np.arange(len(first_tract) - 1), np.diff(first_tract))
    sets = []
    for partition in (place_mcd(geography, settings).of_block, geography.areas["aiannh"].of_block, geography.quarters):
        sets.extend(np.flatnonzero(partition == value) for value in np.unique(partition))
    entities = EntitySet("all", np.arange(len(sets)).astype(str), np.cumsum([0, *map(len, sets)]), np.concatenate(sets))
    bounds = None

    def costs(level_groups):
        """Algorithm 1 with groups between county and tract, on sets of leaves."""
        found = []
        place = np.empty(tree.blocks, np.int64)
        place[base.order] = np.arange(tree.blocks)
        for members in sets:
            cost = np.zeros(tree.blocks, np.int64)
            cost[place[members]] = 1
            rest = 1 - cost
            for number in range(len(tree.levels) - 2, -1, -1):
                first = tree.levels[number].first_child
                if number == county_level:
                    x = np.array([cost[g].sum() for g in level_groups])
                    y = np.array([rest[g].sum() for g in level_groups])
                    cost, rest = np.minimum(x, y + 1), np.minimum(y, x + 1)
                    of = np.array([county_of[g[0]] for g in level_groups])
                    x = np.bincount(of, weights=cost, minlength=len(first) - 1).astype(int)
                    y = np.bincount(of, weights=rest, minlength=len(first) - 1).astype(int)
                else:
                    x, y = np.add.reduceat(cost, first[:-1]), np.add.reduceat(rest, first[:-1])
                cost, rest = np.minimum(x, y + 1), np.minimum(y, x + 1)
            found.append(int(cost[0]))
        return found

    if settings.tract_groups == "production":
        bounds = []
        place = np.empty(tree.blocks, np.int64)
        place[base.order] = np.arange(tree.blocks)
        for members in sets:
            cost = np.zeros(tree.blocks, np.int64)
            cost[place[members]] = 1
            rest = 1 - cost
            for number in range(len(tree.levels) - 2, county_level, -1):
                first = tree.levels[number].first_child
                x, y = np.add.reduceat(cost, first[:-1]), np.add.reduceat(rest, first[:-1])
                cost, rest = np.minimum(x, y + 1), np.minimum(y, x + 1)
            bounds.append(int(cost.sum()))
    chosen = [e for e in range(len(sets)) if bounds is None or bounds[e] > settings.entity_threshold]

    def ordered(level_groups):
        every = costs(level_groups)
        return sorted((every[e] for e in chosen), reverse=True)

    assert distances(tree, entities).distance.tolist() == costs(groups)
    current = ordered(groups)
    changed = True
    while changed:
        changed = False
        for county in range(len(first_tract) - 1):
            tracts = first_tract[county + 1] - first_tract[county]
            u = 0
            while u < len(groups):
                v = u + 1
                while v < len(groups):
                    own = county_of[groups[u][0]] == county_of[groups[v][0]] == county
                    if not own or len(groups[u]) + len(groups[v]) > math.sqrt(tracts) + settings.fanout_cutoff:
                        v += 1
                        continue
                    merged = [*groups[:u], groups[u] + groups[v], *groups[u + 1 : v], *groups[v + 1 :]]
                    trial = ordered(merged)
                    if trial < current or (trial == current and settings.tract_groups == "paper"):
                        groups, current, changed = merged, trial, True
                    else:
                        v += 1
                u += 1
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("rule", ["paper", "production"])
@pytest.mark.parametrize("seed", range(4))
def test_that_tract_groups_are_those_of_the_printed_algorithm(rule, seed):
    rng = np.random.default_rng(seed)
    blocks = 90
    codes = set()
    while len(codes) < blocks:
        codes.add(
            f"44{rng.integers(1, 3):03d}{rng.integers(1, 7):06d}{rng.integers(1, 4) * 1000 + rng.integers(9):04d}"
        )
    geoids = np.array(sorted(codes))
    tract = np.unique(geoids.astype("U11"), return_inverse=True)[1]
    # Towns follow tracts but for some blocks, so that grouping tracts matters.
    town = np.where(
        rng.random(blocks) < 0.9, rng.integers(0, 4, int(tract.max()) + 1)[tract], rng.integers(0, 4, blocks)
    )
    tribal = np.where(rng.random(blocks) < 0.1, 0, -1)
    geography = Geography(
        geoids,
        {
            "cousub": AreaCodes(np.array(["a", "b", "c", "d"]), town.astype(np.int32)),
            "place": AreaCodes(np.array(["a"]), np.full(blocks, -1, np.int32)),
            "aiannh": AreaCodes(np.array(["2415"]), tribal.astype(np.int32)),
        },
        (rng.random(blocks) < 0.05).astype(np.int32),
    )
    production = spine_preset("pl94-2020").settings
    settings = replace(production, tract_groups=rule, fanout_cutoff=int(seed % 2), entity_threshold=3)
    spine = build_spine(geography, settings)
    base = build_spine(geography, replace(settings, tract_groups="none"))
    expected = naive_tract_groups(geography, settings, base)
    number = [level.name for level in spine.tree.levels].index("Tract_Group")
    tracts, groups = unit_of_leaf(base.tree, number), np.empty(blocks, np.int64)
    groups[spine.order] = unit_of_leaf(spine.tree, number)
    found = defaultdict(set)
    for block, own in zip(base.order.tolist(), tracts.tolist(), strict=True):
        found[int(groups[block])].add(own)
    assert {frozenset(each) for each in found.values()} == expected


def test_that_tracts_are_put_together_in_order_where_no_area_needs_them(small):
    geography = small.geography(np.random.default_rng(0), blocks=60, aian=False)
    settings = replace(
        spine_preset("pl94-2020").settings, tract_groups="production", entity_threshold=1000, fanout_cutoff=1
    )
    tree = build_spine(geography, settings).tree
    number = [level.name for level in tree.levels].index("Tract_Group")
    county = tree.levels[number - 1]
    tracts = np.diff(tree.levels[number].first_child)
    per_county = [tracts[a:b].tolist() for a, b in zip(county.first_child[:-1], county.first_child[1:], strict=True)]
    # Three tracts in each county: √3 + 1 rounded down is 2.
    assert per_county == [[2, 1], [2, 1]]
