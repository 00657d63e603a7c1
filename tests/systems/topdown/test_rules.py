"""Every name that production uses has words, and constraints without their counts are issues."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phexplore.model.edits import set_item
from phexplore.model.issues import Severity
from phexplore.model.topdown import TopDown
from phexplore.systems.registry import check, presets
from phexplore.systems.topdown.rules import constraint_rule, constraint_rules, invariant_rule, invariant_rules
from phexplore.workload.schema import load_schema

TOPDOWN = [found for found in presets().values() if isinstance(found.scenario.method, TopDown)]


@pytest.mark.parametrize("found", TOPDOWN, ids=lambda found: found.id)
def test_that_every_rule_of_production_is_known(found):
    method = found.scenario.topdown
    schema = load_schema(method.schema)
    for names in method.constraints.values():
        assert not [name for name in names if "does not know" in constraint_rule(schema, name).forces]
    for names in method.invariants.values():
        assert not [name for name in names if "does not know" in invariant_rule(name).forces]
    assert not [issue for issue in check(found.scenario) if issue.severity is Severity.ERROR]


def test_that_the_choice_holds_what_the_redistricting_data_use():
    assert {"tot", "gqhh_vect", "gqhh_tot"} <= {rule.name for rule in invariant_rules("pl94_persons")}
    names = {rule.name for rule in constraint_rules("pl94_persons")}
    assert names == {"total", "hhgq_total_lb", "hhgq_total_ub", "nurse_nva_0"}
    assert "does not know" in constraint_rule(load_schema("pl94_units"), "new_rule").forces


def test_that_a_constraint_without_its_counts_is_an_issue():
    scenario = next(found for found in TOPDOWN if found.id == "pl94-2020-persons-us").scenario
    without = set_item(scenario, "invariants", "State", ())
    issues = [issue for issue in check(without) if issue.path[0] == "constraints"]
    assert [issue.path[1] for issue in issues] == ["US/total"]
    assert "tot" in issues[0].remedy
    assert not [issue for issue in check(set_item(without, "constraints", "US", ())) if issue.path[0] == "constraints"]


def test_that_rules_of_unknown_levels_are_issues():
    scenario = next(found for found in TOPDOWN if found.id == "pl94-2020-persons-us").scenario
    method = replace(scenario.topdown, invariants={**scenario.topdown.invariants, "Ward": ("tot",)})
    assert [issue.path for issue in check(replace(scenario, method=method))] == [("invariants", "Ward")]
