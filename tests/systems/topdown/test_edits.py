"""Shares on a simplex: whatever is edited, every column adds to exactly 1 and locked shares stay."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.model.edits import EditRefusedError, set_item
from phexplore.model.shares import largest_share, rebalanced_block
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import preset
from phexplore.systems.topdown import edits

PERSONS = preset("pl94-2020-persons-us").scenario
TOTAL = LevelQuery("County", "total")


def columns_add_to_one(scenario):
    method = scenario.topdown
    assert sum(method.level_shares.values()) == 1
    for level in method.levels:
        assert sum(edits.query_column(method, level).values()) == 1


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 300_000), min_size=1), st.sets(st.sampled_from("abcdef"))
)
def test_that_a_block_of_shares_adds_to_one_and_keeps_locks(block, locked):
    shares = {key: Fraction(1, 6) for key in "abcdef"}
    given_shares = {key: Fraction(value, 10**6) for key, value in block.items() if key not in locked}
    try:
        found = rebalanced_block(shares, given_shares, frozenset(locked))
    except EditRefusedError:
        assert sum(given_shares.values()) + Fraction(len(locked), 6) > 1 or not set(shares) - set(given_shares) - locked
        return
    assert sum(found.values()) == 1
    assert all(found[key] == share for key, share in given_shares.items())
    assert all(found[key] == Fraction(1, 6) for key in locked)
    assert all(share >= 0 for share in found.values())


def test_that_the_unlocked_rest_keeps_its_proportions():
    found = edits.set_query_share(PERSONS, TOTAL, Fraction(1, 2)).topdown.query_shares
    before = PERSONS.topdown.query_shares
    rest = [key for key in before if key.level == "County" and key != TOTAL]
    factor = Fraction(1, 2) / (1 - before[TOTAL])
    largest = max(rest, key=lambda key: before[key])
    for key in rest:
        step = Fraction(1, 10**6) * (len(rest) if key == largest else 1)
        assert abs(found[key] - factor * before[key]) <= step


def test_that_a_locked_share_stays_and_limits_the_largest():
    locked = set_item(PERSONS, "locked_queries", LevelQuery("County", "detailed"), value=True)
    method = locked.topdown
    column = edits.query_column(method, "County")
    most = largest_share(column, TOTAL, method.locked_queries)
    assert most == 1 - Fraction(754, 4097)
    found = edits.set_query_share(locked, TOTAL, most)
    columns_add_to_one(found)
    assert found.topdown.query_shares[LevelQuery("County", "detailed")] == Fraction(754, 4097)
    with pytest.raises(EditRefusedError, match="locked shares hold"):
        edits.set_query_share(locked, TOTAL, most + Fraction(1, 10**6))


def test_that_several_shares_are_set_at_once_or_not_at_all():
    found = edits.set_shares(
        PERSONS,
        {"US": Fraction(1, 10), "Block": Fraction(1, 5)},
        {TOTAL: Fraction(1, 3), LevelQuery("US", "detailed"): Fraction(1, 2)},
    )
    columns_add_to_one(found)
    assert found.topdown.level_shares["US"] == Fraction(1, 10)
    assert found.topdown.query_shares[TOTAL] == Fraction(1, 3)
    with pytest.raises(EditRefusedError, match="more than 100 %"):
        edits.set_shares(PERSONS, {"US": Fraction(3, 5), "Block": Fraction(1, 2)}, {})
    with pytest.raises(EditRefusedError, match="not measured"):
        edits.set_shares(PERSONS, {}, {LevelQuery("US", "total"): Fraction(1, 3)})


def test_that_a_column_is_taken_back_from_the_reference():
    changed = edits.set_level_share(edits.set_query_share(PERSONS, TOTAL, Fraction(1, 2)), "Block", Fraction(1, 3))
    back = edits.take_level_shares(edits.take_query_shares(changed, "County", PERSONS.topdown), PERSONS.topdown)
    assert back.topdown == PERSONS.topdown
    locked = set_item(changed, "locked_queries", TOTAL, value=True)
    with pytest.raises(EditRefusedError, match="locked"):
        edits.take_query_shares(locked, "County", PERSONS.topdown)


def test_that_queries_are_switched_off_and_on():
    off = edits.remove_query(PERSONS, TOTAL)
    columns_add_to_one(off)
    assert TOTAL not in off.topdown.query_shares
    on = edits.add_query(off, TOTAL, Fraction(1, 4))
    columns_add_to_one(on)
    assert on.topdown.query_shares[TOTAL] == Fraction(1, 4)


def test_that_the_last_query_of_a_level_stays():
    units = preset("pl94-2020-units-us").scenario
    with pytest.raises(EditRefusedError, match="only query measured"):
        edits.remove_query(units, LevelQuery("Block", "detailed"))
