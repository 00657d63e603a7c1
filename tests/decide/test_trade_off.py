from __future__ import annotations

from fractions import Fraction

import pytest

from phexplore.decide.trade_off import left_out, reliable_from
from phexplore.systems.registry import preset


def test_that_leaving_out_everything_frees_everything(us):
    assert sum(entry.frees for entry in left_out(us, whole_levels=True)) == sum(us.phsafe.budgets.values())
    assert sum(entry.frees for entry in left_out(us, whole_levels=False)) == sum(us.phsafe.budgets.values())
    # 51 states and the nation, as in a full production run: 10 608 directly measured numbers (phsafe.md, §4).
    assert sum(entry.numbers for entry in left_out(us, whole_levels=False)) == 10608


def test_that_a_lost_average_is_named(us):
    found = {entry.name: entry for entry in left_out(us, whole_levels=False)}
    assert found["PH1_num (State, A-G)"].averages == ("PH1 (State, A-G)",)
    assert found["PH2 (State, Unattributed)"].averages == ()
    assert found["PH3 (State, A-G)"].share == pytest.approx(0.527, abs=5e-4)


def test_that_what_topdown_leaves_out_is_said_in_words():
    scenario = preset("dhc-2020-persons-us").scenario
    levels, queries = left_out(scenario, whole_levels=True), left_out(scenario, whole_levels=False)
    assert "Tract subset group" in {entry.name for entry in levels}
    assert not [entry.name for entry in levels if "_" in entry.name]
    assert {entry.name.rpartition(" at ")[2] for entry in queries} == {entry.name for entry in levels}
    assert len(queries) == 80
    assert sum(entry.frees for entry in queries) == sum(entry.frees for entry in levels) == scenario.topdown.total


def test_that_reliable_from_is_the_smallest_count():
    assert reliable_from(20.0, Fraction(1, 20)) == 400
    assert reliable_from(20.001, Fraction(1, 20)) == 401
    assert reliable_from(0.0, Fraction(1, 20)) == 1
    with pytest.raises(ValueError, match="relative margin"):
        reliable_from(1.0, Fraction(0))
