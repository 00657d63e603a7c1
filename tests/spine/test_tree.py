from __future__ import annotations

import numpy as np
import pytest

from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, ENUMERATION_DISTRICTS_1940
from phexplore.errors import PhexploreError
from phexplore.spine.tree import tree_of

LEVELS = ("US", "State", "County", "Tract", "Block_Group", "Block")


@pytest.fixture(scope="module")
def geocodes():
    return synthesize_blocks(3000, 5).geocodes()


def test_that_every_unit_is_its_code_s_prefix_and_children_are_its_own(geocodes):
    tree = tree_of(geocodes, LEVELS)
    for upper, lower in zip(tree.levels, tree.levels[1:], strict=False):
        length = CENSUS_BLOCKS.length(upper.name)
        for unit in range(upper.units):
            children = lower.codes[upper.first_child[unit] : upper.first_child[unit + 1]]
            assert len(children)
            assert {str(code)[:length] for code in children} == {str(upper.codes[unit])}
        assert upper.first_child[-1] == lower.units
    for level in tree.levels:
        sizes = np.diff(level.first_block)
        assert (sizes > 0).all()
        assert sizes.sum() == tree.blocks == len(geocodes)


def test_that_one_state_is_its_own_root_and_says_what_it_dropped(geocodes):
    tree = tree_of(geocodes, LEVELS)
    assert [level.name for level in tree.levels] == list(LEVELS[1:])
    assert tree.dropped == ("US",)
    assert tree.levels[0].codes.tolist() == ["44"]


def test_that_two_states_have_the_nation_above_them(geocodes):
    both = np.concatenate([geocodes, np.char.add("45", np.array([code[2:] for code in geocodes.tolist()]))])
    tree = tree_of(both, LEVELS)
    assert [level.name for level in tree.levels] == list(LEVELS)
    assert tree.levels[0].first_child.tolist() == [0, 2]
    with pytest.raises(PhexploreError, match="2 geographic units of State"):
        tree_of(both, LEVELS[1:])


def test_that_a_level_without_a_place_in_the_code_is_named(geocodes):
    with pytest.raises(PhexploreError, match="Prim"):
        tree_of(geocodes, ("US", "State", "Prim", "Block"))


def test_that_the_demonstration_of_2010_has_tract_groups_and_a_nation(geocodes):
    levels = ("Nation", "State", "County", "Tract_Group", "Tract", "Block_Group", "Block")
    tree = tree_of(geocodes, levels)
    assert [level.name for level in tree.levels] == list(levels[1:])
    groups, tracts = tree.levels[2], tree.levels[3]
    assert groups.codes.tolist() == sorted({code[:9] for code in tracts.codes.tolist()})


def test_that_districts_of_1940_have_levels_of_their_own():
    codes = np.array(["0900100010001", "0900100010002", "0900100020001", "4400100010001"])
    levels = ("Nation", "State", "County", "Supdist", "Enumdist")
    tree = tree_of(codes, levels, ENUMERATION_DISTRICTS_1940)
    assert [level.units for level in tree.levels] == [1, 2, 2, 3, 4]
    assert tree.levels[3].codes.tolist() == ["090010001", "090010002", "440010001"]
    without = tree_of(codes, ("Nation", "County", "Enumdist"), ENUMERATION_DISTRICTS_1940)
    assert [level.units for level in without.levels] == [1, 2, 4]
    with pytest.raises(PhexploreError, match="A code of 13 characters does not contain the level Tract"):
        tree_of(codes, ("Nation", "Tract", "Enumdist"), ENUMERATION_DISTRICTS_1940)


@pytest.mark.parametrize("levels", [("State", "US", "Block"), ("State", "County"), ("US", "Nation", "Block"), ()])
def test_that_levels_that_are_no_spine_are_refused(geocodes, levels):
    with pytest.raises(PhexploreError, match="not a spine"):
        tree_of(geocodes, levels)
