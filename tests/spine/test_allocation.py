from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.errors import BudgetMismatchError, PhexploreError
from phexplore.model.phsafe import PrivacyFramework
from phexplore.spine.allocation import allocate, allocation_of, bypassed_units, moved_budget, rule_of
from phexplore.spine.building import build_spine
from phexplore.spine.settings import SpineSettings, spine_preset
from phexplore.spine.squared_errors import SquaredErrors
from phexplore.spine.tree import GeoTree, TreeLevel, UnitShares
from phexplore.systems.topdown.presets import topdown_presets

NAMES = ("US", "State", "County", "Tract", "Block_Group", "Block")
RULES = ("none", "single-child", "pure-dp", "sum-of-squares")


def path_sums(tree):
    """Add the shares above every block, one by one."""
    sums = [Fraction(0)] * tree.blocks
    for level in tree.levels:
        for unit in range(level.units):
            for block in range(level.first_block[unit], level.first_block[unit + 1]):
                sums[block] += level.shares.share(unit)
    return sums


def level_shares(rng, tree):
    weights = [int(w) for w in rng.integers(1, 30, len(tree.levels))]
    return {level.name: Fraction(w, sum(weights)) for level, w in zip(tree.levels, weights, strict=True)}


def bypassed_by_hand(tree, shares, rule):
    """Algorithm 3 with units as lists of blocks: the operation of section 5, word by word."""
    units = [
        [(tuple(range(level.first_block[u], level.first_block[u + 1])), shares[level.name]) for u in range(level.units)]
        for level in tree.levels
    ]
    for number in range(len(units) - 2, -1, -1):
        new, lower = [], {}
        for blocks, share in units[number]:
            children = [each for each in units[number + 1] if set(each[0]) <= set(blocks)]
            smallest = min(child for _, child in children)
            count = len(children)
            goes = count == 1 or (rule == "pure-dp" and smallest >= Fraction(count - 1) * share / 2)
            if goes and (number > 0 or count == 1):
                new += [(own, share + child) for own, child in children]
                lower.update({own: Fraction(0) for own, _ in children})
            elif goes:
                new.append((blocks, Fraction(0)))
                lower.update({own: share + child for own, child in children})
            else:
                new.append((blocks, share))
                lower.update(dict(children))
        units[number] = new
        units[number + 1] = [(blocks, lower[blocks]) for blocks, _ in units[number + 1]]
    return units


@pytest.mark.parametrize("rule", ["single-child", "pure-dp"])
@pytest.mark.parametrize("seed", range(15))
def test_that_bypassing_is_algorithm_3_word_by_word(rule, seed, small):
    rng = np.random.default_rng(seed)
    tree = small.random_tree(rng, depth=4, blocks=18)
    shares = level_shares(rng, tree)
    found = allocate(tree, shares, rule).tree
    expected = bypassed_by_hand(tree, shares, rule)
    for level, units in zip(found.levels, expected, strict=True):
        own = [
            (tuple(range(level.first_block[u], level.first_block[u + 1])), level.shares.share(u))
            for u in range(level.units)
        ]
        assert own == units
    for upper, lower in zip(found.levels, found.levels[1:], strict=False):
        assert (lower.first_block[upper.first_child] == upper.first_block).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(8))
def test_that_every_block_s_path_carries_exactly_the_total(rule, seed, small):
    rng = np.random.default_rng(50 + seed)
    tree = small.random_tree(rng, depth=4, blocks=25)
    shares = level_shares(rng, tree)
    found = allocate(tree, shares, rule, pure_dp=rule == "pure-dp", cutoff=3 if seed % 2 else None)
    assert path_sums(found.tree) == [Fraction(1)] * tree.blocks
    assert found.total == 1


def test_that_a_path_with_another_sum_is_found():
    shares = UnitShares((Fraction(1, 3), Fraction(2, 3), Fraction(1, 2)), np.array([1, 1, 2], np.int32))
    leaves = TreeLevel("B", np.array(["0", "1", "2"]), np.arange(4), None, shares)
    root = TreeLevel(
        "A", np.array([""]), np.array([0, 3]), np.array([0, 3]), UnitShares((Fraction(1, 3),), np.zeros(1, np.int32))
    )
    with pytest.raises(BudgetMismatchError, match="5/6"):
        GeoTree((root, leaves), ()).check_paths(Fraction(1))
    with pytest.raises(ValueError, match="no shares"):
        GeoTree((replace(root, shares=None), leaves), ()).check_paths(Fraction(1))


@pytest.mark.parametrize("children", [2, 3, 5, 12])
def test_that_theorem_2_holds_on_both_sides_of_equality(children, small):
    """With 2 γ_child = (c - 1) γ_parent no variance rises; just below it one does (pure DP: precision is the squared share)."""
    tree = small.tree_of_fanouts([np.array([2]), np.array([children, 2])])
    for step, may_rise in ((Fraction(0), False), (Fraction(1, 50), False), (Fraction(-1, 50), True)):
        parent = Fraction(1, 4)
        child = parent * (children - 1) / 2 * (1 + step)
        shares = [[Fraction(1, 4)], [parent] * 2, [child] * (children + 2)]
        before = variances(tree, shares, 2)
        moved = [shares[0], [Fraction(0), parent], [child + parent] * children + [child] * 2]
        after = variances(tree, moved, 2)
        assert (after > before * (1 + 1e-9)).any() == may_rise


def test_that_bypassing_a_parent_of_two_or_more_raises_a_variance_under_gaussian_noise(small):
    rng = np.random.default_rng(4)
    for _ in range(40):
        children = int(rng.integers(1, 6))
        tree = small.tree_of_fanouts([np.array([2]), np.array([children, 2])])
        top, parent, child = (Fraction(int(w), 20) for w in rng.integers(1, 20, 3))
        before = variances(tree, [[top], [parent] * 2, [child] * (children + 2)], 1)
        after = variances(tree, [[top], [Fraction(0), parent], [child + parent] * children + [child] * 2], 1)
        assert (after > before * (1 + 1e-12)).any() == (children > 1)
        if children == 1:
            assert after == pytest.approx(before, rel=1e-12)


def variances(tree, shares, power):
    """Return the variance of every unit's count by one matrix over the blocks, precision = share ** power."""
    rows, information = [], np.zeros((tree.blocks, tree.blocks))
    for level, own in zip(tree.levels, shares, strict=True):
        for unit in range(level.units):
            row = np.zeros(tree.blocks)
            row[level.first_block[unit] : level.first_block[unit + 1]] = 1
            rows.append(row)
            information += float(own[unit]) ** power * np.outer(row, row)
    covariance = np.linalg.inv(information)
    return np.array([row @ covariance @ row for row in rows])


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_that_squared_errors_are_compared_as_dense_least_squares_compares_them(power, seed, small):
    rng = np.random.default_rng(70 + seed)
    tree = small.random_tree(rng, depth=3, blocks=12)
    shares = level_shares(rng, tree)
    units = [[shares[level.name]] * level.units for level in tree.levels]
    errors = SquaredErrors(tree, shares, pure_dp=power == 2)
    assert errors.total() == pytest.approx(variances(tree, units, power).sum(), rel=1e-12)
    for number in range(len(tree.levels) - 1):
        wanted = []
        for unit in range(tree.levels[number].units):
            moved = [list(own) for own in units]
            moved[number][unit] = Fraction(0)
            first, last = tree.levels[number].first_child[unit : unit + 2]
            for child in range(first, last):
                moved[number + 1][child] += units[number][unit]
            wanted.append(variances(tree, moved, power).sum() < variances(tree, units, power).sum() * (1 - 1e-12))
        assert errors.improves(number).tolist() == wanted


def test_that_the_rejected_rule_bypasses_more_lowers_the_sum_and_raises_single_errors(small):
    rng = np.random.default_rng(9)
    tree = small.random_tree(rng, depth=3, fanout=4, blocks=30)
    shares = {level.name: Fraction(1, 4) for level in tree.levels}
    few, many = (allocate(tree, shares, rule) for rule in ("single-child", "sum-of-squares"))
    assert bypassed_units(many.bypassed) > bypassed_units(few.bypassed)

    def errors(found):
        # All units of the original spine, whatever became of them.
        rows, information = [], np.zeros((tree.blocks, tree.blocks))
        for level in found.tree.levels:
            for unit in range(level.units):
                row = np.zeros(tree.blocks)
                row[level.first_block[unit] : level.first_block[unit + 1]] = 1
                information += float(level.shares.share(unit)) * np.outer(row, row)
        for level in tree.levels:
            for unit in range(level.units):
                row = np.zeros(tree.blocks)
                row[level.first_block[unit] : level.first_block[unit + 1]] = 1
                rows.append(row)
        covariance = np.linalg.inv(information)
        return np.array([row @ covariance @ row for row in rows])

    before, after = errors(few), errors(many)
    assert after.sum() < before.sum()
    assert (after > before * 1.01).any()


def test_that_production_s_limits_hold_under_pure_dp(small):
    tree = small.tree_of_fanouts(
        [np.array([2]), np.array([3, 3]), np.full(6, 3)], ["State", "County", "Tract", "Block"]
    )
    shares = {name: Fraction(1, 4) for name in ("State", "County", "Tract", "Block")}
    free = allocate(tree, shares, "pure-dp", pure_dp=True)
    limited = allocate(tree, shares, "pure-dp", pure_dp=True, cutoff=6)
    # Every tract fits the theorem; its county may not have more than 6 units below it.
    assert free.tree.levels[2].units == 18
    assert [level.units for level in limited.tree.levels] == [1, 2, 10, 18]
    for level in limited.tree.levels[1:2]:
        assert (np.diff(level.first_child) <= 6).all()
    assert {level.level for level in limited.bypassed} == {"Tract"}
    assert moved_budget(limited.bypassed) == 2 * Fraction(1, 4)


def shares_between(level, first, last):
    return [
        (int(block) - first, level.shares.share(unit))
        for unit, block in enumerate(level.first_block[:-1])
        if first <= block < last
    ]


@pytest.mark.parametrize("rule", ["single-child", "pure-dp"])
@pytest.mark.parametrize("seed", range(12))
def test_that_a_state_on_its_own_has_the_budgets_it_has_in_the_nation(rule, seed, small):
    """Two parts of a state, as with a tribal part: one of them, both or none with an only county."""
    rng = np.random.default_rng(200 + seed)
    nation = small.random_tree(rng, depth=5, fanout=4, blocks=40)
    nation = GeoTree(tuple(replace(level, name=name) for level, name in zip(nation.levels, NAMES, strict=True)), ())
    shares, parts = level_shares(rng, nation), nation.levels[1]
    whole = allocate(nation, shares, rule, pure_dp=rule == "pure-dp", cutoff=150).tree
    for part in range(parts.units - 1):
        first, last = int(parts.first_block[part]), int(parts.first_block[part + 2])
        inside = []
        for level in nation.levels[1:]:
            begin, end = np.searchsorted(level.first_block, (first, last))
            child = None if level.first_child is None else level.first_child[begin : end + 1]
            blocks = level.first_block[begin : end + 1] - first
            inside.append(
                TreeLevel(level.name, level.codes[begin:end], blocks, None if child is None else child - child[0])
            )
        own = {level.name: shares[level.name] for level in inside}
        alone = allocate(GeoTree(tuple(inside), ()), own, rule, pure_dp=rule == "pure-dp", cutoff=150).tree
        for one, other in zip(alone.levels, whole.levels[1:], strict=True):
            assert shares_between(one, 0, last - first) == shares_between(other, first, last)


def test_that_rhode_island_s_only_children_give_their_budget_to_their_parents(rhode_island):
    method = topdown_presets()["pl94-2020-persons-us"].scenario.method
    spine = build_spine(rhode_island, spine_preset("pl94-2020").settings)
    found = allocation_of(spine, method)
    assert found.rule == "single-child"
    # Blocks of one state: the nation's share stays unspent.
    assert found.total == 1 - Fraction(104, 4099)
    assert found.unspent == (("US", Fraction(104, 4099)),)
    tree = found.tree
    only = [int((np.diff(level.first_child) == 1).sum()) for level in tree.levels[:-1]]
    assert [level.units for level in found.bypassed] == [count for count in only if count]
    for upper, lower in zip(tree.levels, tree.levels[1:], strict=False):
        alone = upper.first_child[:-1][np.diff(upper.first_child) == 1]
        assert all(lower.shares.share(int(child)) == 0 for child in alone)
    sums = {
        sum(level.shares.share(np.searchsorted(level.first_block, b, "right") - 1) for level in tree.levels)
        for b in range(0, tree.blocks, 97)
    }
    assert sums == {found.total}


def test_that_one_state_without_a_tribal_part_leaves_the_nation_s_budget_unspent(rhode_island):
    method = topdown_presets()["pl94-2020-persons-us"].scenario.method
    found = allocation_of(build_spine(rhode_island, spine_preset("standard").settings), method)
    assert found.tree.levels[0].name == "State"
    assert found.unspent == (("US", Fraction(104, 4099)),)
    assert found.tree.dropped == ("US",)
    assert found.total == 1 - Fraction(104, 4099)


def test_that_a_scenario_of_another_spine_is_refused(rhode_island, small):
    spine = build_spine(rhode_island, spine_preset("pl94-2020").settings)
    with pytest.raises(PhexploreError, match="Prim is not a level of both"):
        allocation_of(spine, topdown_presets()["dhc-2020-persons-us"].scenario.method)
    prim = build_spine(rhode_island, spine_preset("dhc-2020").settings)
    with pytest.raises(PhexploreError, match="Tract is not a level of both"):
        allocation_of(prim, topdown_presets()["pl94-2020-persons-us"].scenario.method)
    two = build_spine(small.geography(np.random.default_rng(0), states=("44", "06")), spine_preset("aian").settings)
    with pytest.raises(PhexploreError, match="no level above the 4 geographic units of State"):
        allocation_of(two, topdown_presets()["pl94-2020-persons-pr"].scenario.method)


def test_that_the_rule_follows_the_framework():
    settings = spine_preset("pl94-2020").settings
    assert rule_of(settings, PrivacyFramework.ZCDP) == "single-child"
    assert rule_of(settings, PrivacyFramework.PURE_DP) == "pure-dp"
    assert rule_of(replace(settings, bypass="sum-of-squares"), PrivacyFramework.ZCDP) == "sum-of-squares"
    assert rule_of(SpineSettings(), PrivacyFramework.ZCDP) == "none"
