from __future__ import annotations

from fractions import Fraction

import pytest

from phexplore.decide.sensitivity import (
    left_out_levels,
    left_out_queries,
    leverages,
    reliable_from,
)
from phexplore.model.keys import parse_query
from phexplore.systems.phsafe.edits import set_budget, set_threshold
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.registry import preset

CHILDREN = parse_query("PH3/state_A-G")


def margin(scenario, query):
    return forecast(scenario).query(query).margins.normal


def test_that_a_leverage_is_the_measured_change(us):
    found = {entry.parameter: entry for entry in leverages(us) if entry.query == CHILDREN}
    more = set_budget(us, CHILDREN, us.phsafe.budgets[CHILDREN] * Fraction(101, 100))
    by_budget = found["budget PH3/state_A-G"]
    assert by_budget.per_percent == pytest.approx(margin(more, CHILDREN) - margin(us, CHILDREN))
    by_threshold = found["threshold PH3"]
    wider = set_threshold(us, "PH3", us.phsafe.thresholds["PH3"] + 1)
    assert by_threshold.per_percent == pytest.approx(margin(wider, CHILDREN) - margin(us, CHILDREN))


def test_that_leverages_come_with_the_largest_first(us):
    sizes = [abs(entry.per_percent) for entry in leverages(us)]
    assert sizes == sorted(sizes, reverse=True)


def test_that_leaving_out_everything_frees_everything(us):
    assert sum(entry.frees for entry in left_out_levels(us)) == sum(us.phsafe.budgets.values())
    assert sum(entry.frees for entry in left_out_queries(us)) == sum(us.phsafe.budgets.values())
    # 51 states and the nation, as in a full production run: 10 608 directly measured numbers (phsafe.md, §4).
    assert sum(entry.numbers for entry in left_out_queries(us)) == 10608


def test_that_a_lost_average_is_named(us):
    found = {entry.name: entry for entry in left_out_queries(us)}
    assert found["PH1_num (State, A-G)"].averages == ("PH1 (State, A-G)",)
    assert found["PH2 (State, Unattributed)"].averages == ()
    assert found["PH3 (State, A-G)"].share == pytest.approx(0.527, abs=5e-4)


def test_that_what_topdown_leaves_out_is_said_in_words():
    scenario = preset("dhc-2020-persons-us").scenario
    levels, queries = left_out_levels(scenario), left_out_queries(scenario)
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
