from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.model.diff import apply, diff
from phexplore.model.fingerprint import fingerprint
from phexplore.model.group_sizes import GroupSizes, HeavyTail, SizeMechanism, equal_shares
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.registry import preset

CENSUS = preset("group-sizes-census-2010").scenario


def test_that_the_preset_divides_the_budget_as_the_paper_does():
    method = CENSUS.group_sizes
    assert [method.budget(level) for level in method.levels] == [Fraction(1, 3)] * 3
    assert method.regions == (1, 51, 3107)
    assert method.largest == 1000


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (SizeMechanism.RELAXED, 2),
        (SizeMechanism.TREE, 2),
        (SizeMechanism.TOPDOWN, 2),
        (SizeMechanism.CUMULATIVE_RELAXED, 1),
        (SizeMechanism.CUMULATIVE_TREE, 1),
        (SizeMechanism.CHAIN, 1),
    ],
)
def test_that_the_sensitivity_is_what_neighbouring_tables_show(mechanism, expected):
    """Every way to add one individual to a group of a small table, tried out."""
    method = replace(CENSUS.group_sizes, mechanism=mechanism)
    table = np.array([[2, 1, 0, 3], [0, 4, 1, 0]])
    most = most_squared = 0
    for region, size in np.argwhere(table[:, :-1] > 0):
        moved = table.copy()
        moved[region, size] -= 1
        moved[region, size + 1] += 1
        change = np.cumsum(moved - table, axis=1) if mechanism.is_cumulative else moved - table
        most, most_squared = max(most, np.abs(change).sum()), max(most_squared, (change**2).sum())
    assert most == most_squared == method.sensitivity == expected


def test_that_one_individual_moves_a_place_of_the_chain_for_every_region():
    """The chain runs through all regions before the next size: its sensitivity is their number, not 1."""
    method = replace(CENSUS.group_sizes, mechanism=SizeMechanism.CHAIN, regions=(1, 2, 5))
    for level, regions in enumerate(method.regions):
        table = np.full((regions, 6), 3)
        most = 0
        for region in range(regions):
            for size in range(5):
                moved = table.copy()
                moved[region, size] -= 1
                moved[region, size + 1] += 1
                most = max(most, int(np.abs(np.cumsum((moved - table).T.ravel())).sum()))
        assert most == method.published_chain_sensitivity[level] == regions


def test_that_a_larger_quantity_reaches_further_in_cumulative_sizes_only():
    method = replace(CENSUS.group_sizes, largest_quantity=4)
    assert method.sensitivity == 4
    assert replace(method, mechanism=SizeMechanism.TREE).sensitivity == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"total": Fraction(0)}, "positive"),
        ({"largest": 0}, "largest size is at least 1"),
        ({"largest_quantity": 0}, "quantity is at least 1"),
        ({"regions": (1, 51)}, "one number of regions"),
        ({"regions": (1, 0, 5)}, "numbers of regions is at least 1"),
        ({"level_shares": {"Nation": Fraction(1)}}, "one share"),
        ({"level_shares": dict.fromkeys(("Nation", "State", "County"), Fraction(2))}, "between 0 and 1"),
    ],
)
def test_that_impossible_values_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        replace(CENSUS.group_sizes, **change)


@pytest.mark.parametrize("change", [{"outliers": -1}, {"smallest": 0}, {"seed": -1}])
def test_that_impossible_tails_are_refused(change):
    with pytest.raises(ValueError, match="at least"):
        replace(HeavyTail(), **change)


def test_that_values_cross_processes_and_hash_by_content():
    method = CENSUS.group_sizes
    assert pickle.loads(pickle.dumps(method)) == method  # noqa: S301 - our own bytes
    assert hash(replace(method)) == hash(method)
    with pytest.raises(TypeError, match="holds PhSafe, not GroupSizes"):
        _ = preset("sdhc-2020-us").scenario.group_sizes


def test_that_differences_are_found_and_applied():
    method = CENSUS.group_sizes
    other = replace(
        CENSUS,
        method=replace(
            method,
            mechanism=SizeMechanism.TREE,
            framework=PrivacyFramework.ZCDP,
            total=Fraction(3, 7),
            level_shares={"Nation": Fraction(1, 2), "State": Fraction(1, 4), "County": Fraction(1, 4)},
            tail=None,
            largest=7,
            locked_levels=frozenset({"State"}),
        ),
    )
    changes = diff(CENSUS, other)
    assert {change.word for change in changes} == {
        "mechanism", "framework", "total", "level share", "tail", "largest size", "level lock",
    }  # fmt: skip
    assert apply(changes, CENSUS) == other
    assert apply(diff(other, CENSUS), other) == CENSUS


def test_that_the_fingerprint_follows_parameters_and_ignores_locks():
    method = CENSUS.group_sizes
    prints = {
        fingerprint(replace(CENSUS, method=changed))
        for changed in (
            method,
            replace(method, total=Fraction(2)),
            replace(method, mechanism=SizeMechanism.TREE),
            replace(method, largest=999),
            replace(method, tail=None),
            replace(method, tail=HeavyTail(seed=1)),
            replace(method, largest_quantity=2),
        )
    }
    assert len(prints) == 7
    assert fingerprint(replace(CENSUS, method=replace(method, locked_levels=frozenset({"State"})))) in prints


def test_that_shares_are_equal_for_any_number_of_levels():
    levels = ("a", "b", "c", "d")
    method = GroupSizes(levels, (1, 2, 3, 4), Fraction(1), equal_shares(levels), 5)
    assert sum(method.level_shares.values()) == 1
