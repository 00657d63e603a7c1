from __future__ import annotations

import numpy as np
import pytest

from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.errors import PhexploreError
from phexplore.spine.tree import CODE_LENGTHS, tree_of

LEVELS = ("US", "State", "County", "Tract", "Block_Group", "Block")


@pytest.fixture(scope="module")
def geocodes():
    return synthesize_blocks(3000, 5).geocodes()


def test_that_every_unit_is_its_code_s_prefix_and_children_are_its_own(geocodes):
    tree = tree_of(geocodes, LEVELS)
    for upper, lower in zip(tree.levels, tree.levels[1:], strict=False):
        length = CODE_LENGTHS[upper.name]
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
    with pytest.raises(PhexploreError, match="2 units of State"):
        tree_of(both, LEVELS[1:])


def test_that_a_level_without_a_place_in_the_code_is_named(geocodes):
    with pytest.raises(PhexploreError, match="Prim"):
        tree_of(geocodes, ("US", "State", "Prim", "Block"))
