from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from generators import SCENARIOS
from hypothesis import given, settings

from phexplore.catalog.tables import queries
from phexplore.model.conventions import Neighbours
from phexplore.model.diff import apply, changed_values, diff, in_parts, parameters_only, value_text
from phexplore.model.topdown import SpineChoice
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.registry import preset


@settings(max_examples=40, deadline=None)
@given(SCENARIOS, SCENARIOS)
def test_that_applying_a_difference_leads_from_one_scenario_to_the_other(a, b):
    assert apply(diff(a, b), a) == b


@settings(max_examples=20, deadline=None)
@given(SCENARIOS)
def test_that_equal_scenarios_have_no_difference(a):
    assert diff(a, a) == ()


def test_that_one_edit_is_one_change_with_both_values(us):
    query = queries()[0]
    (change,) = diff(us, set_budget(us, query, Fraction(1, 3)))
    assert (change.word, change.key, change.after) == ("budget", query, Fraction(1, 3))
    assert change.before == us.method.budgets[query]
    assert change.path == "budget PH1_num/usa_*"


def test_that_names_and_notes_are_no_parameters(us, puerto_rico):
    fields = {change.word for change in parameters_only(diff(us, puerto_rico))}
    assert "name" not in fields
    assert {"states", "budget", "target"} == fields


@pytest.mark.defect("D5")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pl94-2020-persons-us", "dhc-2020-persons-us"),
        ("sdhc-2020-us", "sdhc-2020-pr"),
        ("group-sizes-census-2010", "counties-invariant-2010"),
    ],
)
def test_that_every_value_that_differs_is_told_in_words(one, other):
    changes = diff(preset(one).scenario, preset(other).scenario)
    told = [
        (path, value_text(before), value_text(after)) for change in changes for path, before, after in in_parts(change)
    ]
    assert told
    assert all(before != after for _, before, after in told)
    assert not [row for row in told for text in row[1:] if "(" in text and "=" in text]


@pytest.mark.defect("D5")
def test_that_a_spine_is_compared_setting_by_setting():
    scenario = preset("pl94-2020-persons-us").scenario
    spine = SpineChoice(
        "prim", tuple((k, "16" if k == "fanout_cutoff" else v) for k, v in scenario.topdown.spine.settings)
    )
    (change,) = diff(scenario, replace(scenario, method=replace(scenario.topdown, spine=spine)))
    assert in_parts(change) == (("spine: kind", "optimised", "prim"), ("spine: fanout cutoff", "12", "16"))


def test_that_of_conventions_only_what_differs_is_told(us):
    other = replace(
        us, conventions=replace(us.conventions, confidence=Fraction(19, 20), neighbours=Neighbours.UNBOUNDED)
    )
    (change,) = diff(us, other)
    assert changed_values(change) == (
        "neighbours bounded, confidence 0.9",
        "neighbours unbounded, confidence 0.95",
    )
    (budget,) = diff(us, set_budget(us, queries()[0], Fraction(1, 3)))
    assert changed_values(budget) == ("0.002619", "1/3")


def test_that_a_release_is_compared_part_by_part():
    scenario = preset("counties-invariant-2010").scenario
    name, release = next(iter(scenario.subspace.releases.items()))
    changed = replace(scenario.subspace, releases={name: replace(release, share=release.share / 2)})
    (change,) = diff(scenario, replace(scenario, method=changed))
    assert in_parts(change) == ((f"release {name}: share", release.share, release.share / 2),)


def test_that_a_release_that_came_or_went_is_told_in_words():
    """It read *query , invariants by , mechanism projected-laplace*."""
    start = preset("counties-invariant-2010").scenario
    (_name, release), *_ = start.method.releases.items()
    renamed = replace(start, method=replace(start.method, releases={"other": release}))
    texts = [text for change in diff(start, renamed) for text in changed_values(change)]
    assert sorted(set(texts)) == ["-", str(release)]
    assert release.mechanism.title in str(release)
