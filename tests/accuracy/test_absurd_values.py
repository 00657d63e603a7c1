from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.accuracy.absurd_values import MOST_EPSILON
from phexplore.model.edits import set_field
from phexplore.model.issues import Severity
from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.topdown import LevelQuery
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.edits import set_budget, set_target
from phexplore.systems.registry import check, loss_of, preset, presets
from phexplore.systems.topdown.edits import set_query_share

QUERY = parse_query("PH3/state_A-G")
pytestmark = pytest.mark.defect("M2")


def _said(scenario, reference=None):
    issues = check(scenario, reference)
    assert {issue.severity for issue in issues} <= {Severity.WARNING}
    return {issue.path: issue.sentence for issue in issues}


@pytest.mark.parametrize("name", sorted(presets()))
def test_that_no_preset_looks_absurd(name):
    scenario = preset(name).scenario
    assert loss_of(scenario).epsilon_at(scenario.conventions.delta) < MOST_EPSILON
    assert not [path for path in _said(scenario) if path[0] in {"total", "budgets", "targets", "queries"}]


@pytest.mark.parametrize("margin", [Fraction(1, 4), Fraction(1, 3)])
def test_that_a_margin_below_one_person_is_said_at_its_row_and_of_the_loss(us, margin):
    said = _said(edit_margin(us, QUERY, margin))
    assert "below one" in said["budgets", QUERY.text]
    assert "above 50" in said["total",]


def test_that_a_target_below_one_person_is_said(us):
    assert "below one" in _said(set_target(us, QUERY, Fraction(1, 10**15)))["targets", QUERY.text]


@pytest.mark.parametrize(
    ("factor", "words"), [(10, "10 times"), (Fraction(1, 10), "1/10 of"), (9, ""), (Fraction(1, 9), "")]
)
def test_that_a_budget_ten_times_the_reference_is_said(us, factor, words):
    low = parse_query("PH1_num/usa_*")
    scenario = set_budget(us, low, us.method.budgets[low] * factor)
    said = _said(scenario).get(("budgets", low.text), "")
    assert words in said
    assert bool(words) == bool(said)
    assert ("budgets", low.text) not in _said(scenario, scenario)


def test_that_a_margin_ten_times_the_reference_by_its_threshold_is_said(us):
    table = next(table for table in us.method.thresholds if table == QUERY.table)
    wide = replace(us, method=replace(us.method, thresholds={**us.method.thresholds, table: 400}))
    assert "its margin is" in _said(wide)["budgets", QUERY.text]


def test_that_an_unlimited_budget_is_said_once(us):
    said = _said(set_budget(us, QUERY, UNLIMITED))
    assert list(said) == [("budgets", QUERY.text)]


def test_that_topdown_is_judged_by_total_level_and_query():
    scenario = preset("pl94-2020-persons-us").scenario
    assert "10 times" in _said(set_field(scenario, "total", scenario.method.total * 10))["total",]
    assert (
        "above 50"
        in _said(set_field(scenario, "total", Fraction(100)), set_field(scenario, "total", Fraction(90)))["total",]
    )
    assert any("below one" in text for text in _said(set_field(scenario, "total", Fraction(10**4))).values())
    homes = preset("pl94-2020-units-us").scenario
    said = _said(set_field(homes, "total", Fraction(10**12))).values()
    assert any("below one housing unit" in text for text in said)
    key = min(scenario.method.query_shares, key=scenario.method.query_shares.get)
    moved = set_query_share(scenario, key, Fraction(1, 2))
    said = _said(moved)["queries", key.level]
    assert said.startswith("The budget of ")
    assert said.endswith("times that of the reference.")
    wide = set_query_share(scenario, LevelQuery("State", "cenrace"), Fraction(999, 1000))
    assert any(
        " and 2 more at State look like a slip: they are 1/" in issue.sentence for issue in check(wide, scenario)
    )


def test_that_group_sizes_and_releases_are_judged_by_their_total():
    sizes = preset("group-sizes-census-2010").scenario
    assert "10 times that of the baseline" in _said(set_field(sizes, "total", sizes.method.total * 10))["total",]
    releases = preset("counties-invariant-2010").scenario
    assert (
        "above 50"
        in _said(set_field(releases, "epsilon", Fraction(51)), set_field(releases, "epsilon", Fraction(51)))["total",]
    )
