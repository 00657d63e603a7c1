from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.catalog.tables import queries
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.edits import set_field
from phexplore.model.issues import Severity, has_errors
from phexplore.model.keys import TableId, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.edits import set_budget, set_states
from phexplore.systems.registry import check


def with_method(scenario, **fields):
    return replace(scenario, method=replace(scenario.method, **fields))


def without(mapping, key):
    return {k: v for k, v in mapping.items() if k != key}


def test_that_the_production_parameters_are_ready(us, puerto_rico):
    assert not has_errors(check(us))
    assert not has_errors(check(puerto_rico))


STATE = parse_query("PH3/state_A-G")
CASES = {
    "missing budget": (
        lambda s: with_method(s, budgets=without(s.method.budgets, STATE)), "error", ("budgets", "PH3/state_A-G")),
    "foreign budget": (
        lambda s: with_method(s, budgets={**s.method.budgets, parse_query("PH9/usa_*"): Fraction(1)}),
        "error", ("budgets", "PH9/usa_*")),
    "missing threshold": (
        lambda s: with_method(s, thresholds=without(s.method.thresholds, TableId("PH3"))), "error", ("thresholds", "PH3")),
    "foreign threshold": (
        lambda s: with_method(s, thresholds={**s.method.thresholds, TableId("PH1_denom"): 3}),
        "error", ("thresholds", "PH1_denom")),
    "foreign target": (
        lambda s: with_method(s, targets={**s.method.targets, parse_query("PH9/usa_*"): Fraction(5)}),
        "error", ("targets", "PH9/usa_*")),
    "foreign lock": (
        lambda s: with_method(s, locks=frozenset({parse_query("PH9/usa_*")})), "error", ("locks", "PH9/usa_*")),
    "noise beyond any count": (
        lambda s: set_budget(s, STATE, Fraction(1, 10**40)), "error", ("budgets", "PH3/state_A-G")),
    "no states": (lambda s: with_method(s, states=()), "error", ("states",)),
    "unknown state": (lambda s: set_states(s, ("44", "99")), "error", ("states",)),
    "mixed Puerto Rico": (lambda s: set_states(s, ("44", "72")), "error", ("states",)),
    "nation in Puerto Rico": (lambda s: set_states(s, ("72",)), "error", ("budgets", "PH1_num/usa_*")),
    "unknown reader": (lambda s: with_method(s, reader="xml"), "error", ("reader",)),
    "nothing published": (
        lambda s: with_method(s, budgets=dict.fromkeys(s.method.budgets, Fraction(0))), "error", ("budgets",)),
    "unlimited": (lambda s: set_budget(s, STATE, UNLIMITED), "warning", ("budgets", "PH3/state_A-G")),
    "no decimal": (lambda s: set_budget(s, STATE, Fraction(1, 3)), "warning", ("budgets", "PH3/state_A-G")),
    "missed target": (lambda s: set_budget(s, STATE, Fraction(1, 10)), "warning", ("targets", "PH3/state_A-G")),
    "half a ratio": (
        lambda s: set_budget(s, parse_query("PH7/usa_*"), Fraction(0)), "warning", ("budgets", "PH7/usa_*")),
    "paper margin under pure privacy": (
        lambda s: set_field(
            set_field(s, "conventions", Conventions(margin=MarginConvention.PAPER)), "framework", PrivacyFramework.PURE_DP),
        "error", ("conventions", "margin")),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "severity", "path"), CASES.values(), ids=CASES.keys())
def test_that_a_contradiction_is_listed_with_place_and_remedy(us, damage, severity, path):
    issues = check(damage(us))
    found = [issue for issue in issues if issue.path == path]
    assert found, issues
    assert found[0].severity is Severity(severity)
    assert found[0].remedy


def test_that_errors_come_first(us):
    scenario = set_states(set_budget(us, queries()[0], UNLIMITED), ("44",))
    severities = [issue.severity for issue in check(with_method(scenario, reader="xml"))]
    assert severities == sorted(severities, key=lambda severity: severity is not Severity.ERROR)
