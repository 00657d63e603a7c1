from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.decide.rule_evaluation import judge, run_metrics
from phexplore.decide.verdict_words import verdict_detail, verdict_text
from phexplore.metrics.coverage import Judgement, coverage_of
from phexplore.model.conventions import Neighbours
from phexplore.model.paths import with_parameters
from phexplore.model.rules import REDISTRICTING, Bound, Measure, Outcome, Rule
from phexplore.runs.summary_shape import failed_checks
from phexplore.systems.registry import preset

SUMMARY = {
    "checks": {"sums": True, "invariants": 0, "non_negative": 2},
    "coverage": {"value": 0.91, "low": 0.9, "high": 0.92},
    "metrics": [
        {"level": "County", "query": "total", "total": {"mae": {"value": 1.5}, "rmse": {"value": None}}},
        {"level": "Block", "query": "total", "total": {"mae": {"value": 3.5}}},
    ],
    "redistricting": [
        {
            "level": "Block_Group",
            "criterion": {"share": {"held": 95, "of": 100, "value": 0.95, "low": 0.89, "high": 0.98}},
        },
        {"level": "Tract", "criterion": {"share": {"held": 99, "of": 100, "value": 0.99}}},
        {"level": "Block", "criterion": {"share": {"held": 0, "of": 0, "value": None}}},
    ],
}
PERSONS = preset("pl94-2020-persons-us").scenario


def verdict(rule, scenario=PERSONS, summary=SUMMARY):
    return judge((rule,), scenario, summary)[0]


def test_that_a_check_that_is_false_counts_as_failed():
    """False is 0 in Python: ρ that was spent and not declared passed, in rules and in signed certificates."""
    checks = {"budget_spent_equals_declared": False, "sums": True, "invariants": 0, "non_negative": 2}
    assert failed_checks(checks) == ["budget_spent_equals_declared", "non_negative"]
    rule = Rule(Measure.CHECKS, Bound.AT_MOST, Fraction(0))
    found = verdict(rule, summary=SUMMARY | {"checks": {"budget_spent_equals_declared": False}})
    assert (found.outcome, found.value, found.where) == (Outcome.FAIL, 1, "budget_spent_equals_declared")


def test_that_owners_and_renters_of_a_place_have_figures_of_their_own():
    """PH8_num is measured once and has two margins: the wider one of owners was lost."""
    metrics = [
        {"table": "PH8_num", "level": "usa_*", "cells": [cell], "total": {"mae": {"value": mae}},
         "observed_margin": {"value": margin}} for cell, mae, margin in ((2, 309.0, 707.0), (3, 218.0, 500.0))
    ]  # fmt: skip
    assert run_metrics({"metrics": metrics}) == {
        ("PH8_num/usa_*", "mae, cell 2"): 309.0, ("PH8_num/usa_*", "observed margin, cell 2"): 707.0,
        ("PH8_num/usa_*", "mae, cell 3"): 218.0, ("PH8_num/usa_*", "observed margin, cell 3"): 500.0,
    }  # fmt: skip


@pytest.mark.parametrize(("confidence", "outcome"), [(0.9, Outcome.PASS), (0.95, Outcome.NOT_JUDGED)])
def test_that_margins_observed_at_another_confidence_are_neither_judged_nor_compared(confidence, outcome):
    """A margin of 400 people at 90 % passed where 450 were allowed at 95 %."""
    metrics = [{"table": "PH2", "level": "usa_*", "total": {}, "confidence": 0.9, "observed_margin": {"value": 400.0}}]
    scenario = preset("sdhc-2020-us").scenario
    aimed = replace(scenario, conventions=replace(scenario.conventions, confidence=Fraction(str(confidence))))
    assert verdict(Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(450)), aimed, {"metrics": metrics}).outcome is outcome
    wider = [metrics[0] | {"confidence": 0.95}]
    assert list(run_metrics({"metrics": wider})) == [("PH2/usa_*", "observed margin at 95 %")]


def test_that_a_bias_is_judged_by_its_size():
    metrics = [{"level": level, "query": "total", "total": {"me": {"value": bias}}} for level, bias in
               (("County", 1.5), ("Block", -50.0))]  # fmt: skip
    found = verdict(Rule(Measure.ERROR, Bound.AT_MOST, Fraction(2), figure="me"), summary={"metrics": metrics})
    assert (found.outcome, found.value, found.where) == (Outcome.FAIL, 50, "Block/total")


@pytest.mark.parametrize(("beyond", "outcome"), [(0, Outcome.PASS), (Fraction(1, 10**30), Outcome.FAIL)])
def test_that_the_loss_is_judged_exactly(beyond, outcome):
    """Floats of both were equal, or the wrong way round."""
    total = Fraction(PERSONS.topdown.total)
    assert verdict(Rule(Measure.LOSS, Bound.AT_MOST, total - beyond), summary=None).outcome is outcome


def test_that_a_loss_is_said_with_its_neighbours_and_rounded_towards_more_of_it(us):
    """16.98011 was said to be 16.98, and nothing told 11.41 of unbounded neighbors from it."""
    rule = Rule(Measure.EPSILON, Bound.AT_MOST, Fraction("16.982"))
    other = replace(us, conventions=replace(us.conventions, neighbours=Neighbours.UNBOUNDED))
    texts = [verdict_detail(verdict(rule, each, None)) for each in (us, other)]
    assert texts[0].endswith("✓ ε 16.981, 0.0018875 to spare\nFor bounded neighbors")
    assert texts[1].endswith("✓ ε 11.413, 5.5696 to spare\nFor unbounded neighbors")


def test_that_the_criterion_passes_exactly_at_its_limit_and_the_worst_level_decides():
    found = verdict(REDISTRICTING)
    assert (found.outcome, found.where, found.distance, found.low) == (Outcome.TOO_FEW, "Block_Group", 0.0, 0.89)
    exact = {"redistricting": [{"level": "Block", "criterion": {"share": {"held": 95, "of": 100}}}]}
    assert verdict(REDISTRICTING, summary=exact).outcome is Outcome.PASS
    stricter = Rule(Measure.LARGEST_GROUP, Bound.AT_LEAST, Fraction(96, 100), "Tract")
    assert verdict(stricter).where == "Tract"
    assert verdict(Rule(Measure.LARGEST_GROUP, Bound.AT_LEAST, Fraction(99, 100))).outcome is Outcome.FAIL


def test_that_other_sizes_are_not_judged_by_a_summary():
    assert (
        verdict(Rule(Measure.LARGEST_GROUP, Bound.AT_LEAST, Fraction(1, 2), least_people=400)).outcome
        is Outcome.NOT_JUDGED
    )


def test_that_rules_about_runs_are_not_judged_without_one():
    for measure in Measure:
        rule = Rule(measure, Bound.AT_MOST, Fraction(1), figure="mae" if measure is Measure.ERROR else "")
        outcome = verdict(rule, summary=None).outcome
        assert (outcome is Outcome.NOT_JUDGED) == measure.needs_run


@pytest.mark.parametrize(
    ("rule", "value", "where"),
    [
        (Rule(Measure.ERROR, Bound.AT_MOST, Fraction(2), figure="mae"), 3.5, "Block/total"),
        (Rule(Measure.ERROR, Bound.AT_MOST, Fraction(2), "County", "mae"), 1.5, "County/total"),
        (Rule(Measure.COVERAGE, Bound.AT_LEAST, Fraction(9, 10)), 0.91, ""),
        (Rule(Measure.CHECKS, Bound.AT_MOST, Fraction(0)), 1.0, "non_negative"),
    ],
)
def test_that_a_run_is_judged_at_its_worst_place(rule, value, where):
    found = verdict(rule)
    assert (found.value, found.where) == (value, where)


@pytest.mark.parametrize(
    "rule",
    [
        Rule(Measure.ERROR, Bound.AT_MOST, Fraction(2), figure="rmse"),
        Rule(Measure.ERROR, Bound.AT_MOST, Fraction(2), "Moon", "mae"),
        Rule(Measure.COVERAGE, Bound.AT_LEAST, Fraction(1, 2), "Moon"),
        Rule(Measure.LARGEST_GROUP, Bound.AT_LEAST, Fraction(1, 2), "Moon"),
    ],
)
def test_that_what_a_run_does_not_say_is_not_judged(rule):
    assert verdict(rule).outcome is Outcome.NOT_JUDGED


def test_that_a_scenario_is_judged_by_its_forecast(us):
    margin = Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(20), "PH3/state_A-G")
    found = verdict(margin, us, None)
    assert found.value == pytest.approx(20, abs=0.001)
    everywhere = verdict(Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(500)), us, None)
    assert (everywhere.outcome, everywhere.value) == (Outcome.PASS, 500.0)
    assert verdict(Rule(Measure.LOSS, Bound.AT_MOST, Fraction(3)), us, None).value == pytest.approx(2.514562)
    assert verdict(Rule(Measure.EPSILON, Bound.AT_MOST, Fraction(18)), PERSONS, None).value == pytest.approx(17.1435507)


def test_that_a_margin_keeps_its_limit_to_the_nearest_person(us) -> None:
    published = Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(500), "PH1_num/usa_*")
    closer = Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(499), "PH1_num/usa_*")
    assert judge((published,), us)[0].outcome is Outcome.PASS
    assert judge((published,), us)[0].distance == 0
    assert judge((closer,), us)[0].outcome is Outcome.FAIL


@pytest.mark.defect("S1")
@pytest.mark.parametrize(
    ("name", "loss"), [("group-sizes-census-2010", Fraction(1)), ("counties-invariant-2010", Fraction(24, 125))]
)
@pytest.mark.parametrize("measure", [Measure.LOSS, Measure.EPSILON])
def test_that_the_loss_of_every_system_has_its_bound_and_is_judged_at_it(name, loss, measure):
    scenario = preset(name).scenario
    found = verdict(Rule(measure, Bound.AT_MOST, loss), scenario, None)
    assert (found.outcome, found.value) == (Outcome.PASS, float(loss))
    assert verdict(Rule(measure, Bound.AT_MOST, loss / 2), scenario, None).outcome is Outcome.FAIL


@pytest.mark.parametrize(("name", "symbol"), [("sdhc-2020-us", "ρ"), ("group-sizes-census-2010", "ε")])
def test_that_a_limit_of_the_loss_is_said_with_what_it_met(name, symbol):
    """A limit of 17 meant for ε passed with 14.48 to spare, and nothing told that ρ was judged."""
    found = verdict(Rule(Measure.LOSS, Bound.AT_MOST, Fraction(17)), preset(name).scenario, None)
    assert verdict_text(found).startswith(f"✓ {symbol} ")


RUNS = {
    "group-sizes-census-2010": (
        {"level": "State", "l1": {"mean": 900.0, "sd": None}, "mae": 2.5},
        {"level": "County", "l1": {"mean": 400.0, "sd": 3.0}, "mae": 4.0},
    ),
    "counties-invariant-2010": ({"release": "counties", "mae": 13.5, "rmse": 15.0},),
}


@pytest.mark.parametrize(
    ("name", "figure", "place", "value", "where"),
    [
        ("group-sizes-census-2010", "mae", "", 4.0, "County/one size"),
        ("group-sizes-census-2010", "l1", "", 900.0, "State/one size"),
        ("group-sizes-census-2010", "mae", "State/one size", 2.5, "State/one size"),
        ("counties-invariant-2010", "rmse", "counties", 15.0, "counties"),
    ],
)
def test_that_errors_of_every_system_are_judged(name, figure, place, value, where):
    """Summaries without a member "total" were said to have no such figure."""
    rule = Rule(Measure.ERROR, Bound.AT_MOST, Fraction(3), place, figure)
    found = verdict(rule, preset(name).scenario, {"metrics": RUNS[name]})
    assert (found.value, found.where) == (value, where)


def test_that_errors_of_every_system_stand_beside_those_of_other_runs():
    found = [run_metrics({"metrics": metrics}) for metrics in RUNS.values()]
    assert found == [
        {("State/one size", "mae"): 2.5, ("County/one size", "mae"): 4.0},
        {("counties", "mae"): 13.5, ("counties", "rmse"): 15.0},
    ]


@pytest.mark.parametrize(
    ("name", "place", "unit"),
    [
        ("group-sizes-census-2010", "County", "groups"),
        ("sdhc-2020-us", "PH3/state_A-G", "people"),
        ("sdhc-2020-us", "PH5_denom/usa_*", "families"),
        ("dhc-2020-units-us", "County", "households"),
    ],
)
def test_that_a_margin_is_judged_in_what_its_query_counts(name, place, unit):
    rule = Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(1, 10), place)
    found = verdict(rule, preset(name).scenario, None)
    assert verdict_text(found).endswith(f" {unit} over")
    assert "people" not in rule.title


@pytest.mark.parametrize(
    ("place", "said"),
    [("state", "nothing here is called state"), ("PH3/state_A-G", "nothing is published at PH3/state_A-G")],
)
def test_that_what_is_not_known_is_not_called_unpublished(us, place, said):
    scenario = with_parameters(us, {"budget PH3/state_A-G": "0"})
    found = verdict(Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(9), place), scenario, None)
    assert said in verdict_text(found)


@pytest.mark.parametrize("bound", Bound)
@pytest.mark.parametrize("limit", [Fraction(n, 100) for n in range(88, 96)])
def test_that_a_share_is_judged_as_its_interval_is(bound, limit):
    """Twelve areas of twelve passed 95 %, which their interval of 76 % to 100 % does not show."""
    coverage = coverage_of(91, 100)
    whole = {"value": 0.91, "low": coverage.share.low, "high": coverage.share.high}
    for few in ({"value": 1.0, "low": 0.758, "high": 1.0}, whole):
        rule = Rule(Measure.COVERAGE, bound, limit)
        found = verdict(rule, summary={"coverage": few}).outcome
        inside = few["low"] < limit <= few["high"] if bound is Bound.AT_LEAST else few["low"] <= limit < few["high"]
        holds = few["value"] >= limit if bound is Bound.AT_LEAST else few["value"] <= limit
        assert found is (Outcome.TOO_FEW if inside else Outcome.PASS if holds else Outcome.FAIL)
    if bound is Bound.AT_LEAST:
        same = {Judgement.MET: Outcome.PASS, Judgement.NOT_MET: Outcome.FAIL, Judgement.TOO_FEW: Outcome.TOO_FEW}
        assert verdict(rule, summary={"coverage": whole}).outcome is same[coverage.judge(limit)]


def test_that_a_place_that_fails_decides_before_one_with_too_few_values():
    """The worst value alone decided: a place whose failure is certain was hidden by one that nobody can judge."""
    metrics = [
        {"level": level, "query": "total", "total": {}, "coverage": {"value": value, "low": low, "high": high}}
        for level, value, low, high in (("Block", 0.85, 0.7, 0.93), ("County", 0.88, 0.875, 0.885))
    ]
    rule = Rule(Measure.COVERAGE, Bound.AT_LEAST, Fraction(9, 10), "total")
    assert (verdict(rule, summary={"metrics": metrics}).outcome, verdict(rule, summary={"metrics": metrics}).where) == (
        Outcome.FAIL,
        "County/total",
    )
    few = verdict(rule, summary={"metrics": metrics[:1]})
    assert few.outcome is Outcome.TOO_FEW
    assert "too few to judge" in verdict_text(few)
