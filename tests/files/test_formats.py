"""The schemas describe what the program writes, checked by a validator that knows nothing of the program."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from generators import SCENARIOS
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from origins import SYNTHETIC
from signed_bundles import signed_bundle

from phexplore.catalog.tables import queries
from phexplore.files.goals_file import goals_json
from phexplore.files.project_file import LoggedStep, ProjectContent, write_project
from phexplore.files.rules_json import write_rules
from phexplore.files.scenario_json import encode_scenario
from phexplore.model.goals import Cap, CapOn, Goals, Tie, TiedBy
from phexplore.model.keys import parse_query
from phexplore.model.rules import Bound, Measure, Rule
from phexplore.model.topdown import TopDown
from phexplore.model.workbook import Workbook
from phexplore.runs.spec import RunData, RunMode, RunSpec, StopRule, encode_spec
from phexplore.systems.formats import FORMATS, json_schema
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.registry import preset, presets
from phexplore.systems.topdown.run_options import Mechanism, RounderTarget, TopDownOptions

FIRST, SECOND = queries()[:2]
GOALS = Goals(
    {FIRST: Fraction(20)},
    {SECOND: Fraction(1, 3)},
    (Cap(CapOn.EPSILON, Fraction(11), delta=Fraction(1, 10**10)), Cap(CapOn.BOUNDED, Fraction(5, 2))),
    (Tie((FIRST, SECOND), TiedBy.MARGIN),),
    frozenset({SECOND}),
)
RULES = (
    Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(20), "PH3/state_A-G"),
    Rule(
        Measure.LARGEST_GROUP,
        Bound.AT_LEAST,
        Fraction(19, 20),
        "County",
        least_people=1000,
        tolerance=Fraction(1, 10),
    ),
)
DATA = RunData("/data", "0" * 64, 12, provenance=SYNTHETIC)


def problems(name, value):
    text = json.loads(json.dumps(value))
    return [error.message for error in Draft202012Validator(json_schema(name)).iter_errors(text)]


@pytest.mark.parametrize("name", FORMATS)
def test_that_every_schema_is_a_valid_schema(name):
    Draft202012Validator.check_schema(json_schema(name))


@pytest.mark.parametrize("chosen", presets())
def test_that_every_preset_is_a_valid_scenario(chosen):
    assert problems("scenario", encode_scenario(preset(chosen).scenario)) == []


@settings(max_examples=40, deadline=None)
@given(SCENARIOS)
def test_that_any_scenario_is_valid(scenario):
    assert problems("scenario", encode_scenario(scenario)) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [(("name",), 3), (("method", "kind"), "other"), (("conventions", "z"), 1.645), (("method", "budgets"), [])],
)
def test_that_a_wrong_field_is_invalid(place, value):
    content = encode_scenario(preset("sdhc-2020-us").scenario)
    holder = content
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    assert problems("scenario", content)


def test_that_a_project_with_every_kind_of_step_is_valid():
    first = preset("sdhc-2020-us").scenario
    changed = edit_margin(first, parse_query("PH3/state_A-G"), Fraction(25))
    added = preset("pl94-2020-persons-us").scenario
    shown = replace(changed, note="as discussed")
    books = [
        Workbook((first,), first.name, "sdhc-2020-us"),
        Workbook((changed,), first.name, "sdhc-2020-us"),
        Workbook((changed, added), added.name, "sdhc-2020-us"),
        Workbook((added, shown), added.name, "", RULES, {"phsafe": GOALS}),
        Workbook((added, shown), added.name, "", RULES, {"phsafe": GOALS}),
    ]
    steps = tuple(LoggedStep(f"step {number}", "2026-07-01T12:00:00Z", book) for number, book in enumerate(books))
    value = json.loads(write_project(ProjectContent(steps, 4)))
    assert problems("project", value) == []
    assert {key for step in value["log"] for key in step} >= {"edited", "added", "order", "active", "comparison"}
    assert problems("project", value | {"cursor": "last"})


def test_that_targets_are_valid():
    assert problems("targets", goals_json(GOALS)) == []
    assert (
        problems("targets", {"targets": {"PH3": {"usa": 68, "state_A-G": "20"}}, "caps": [{"bounded_rho": "2.5"}]})
        == []
    )
    assert problems("targets", {"targets": {"PH3": 0}})


def test_that_rules_are_valid():
    assert problems("rules", json.loads(write_rules(RULES))) == []
    assert problems("rules", {"rules": [{"measure": "speed", "at_most": "1"}]})


@pytest.mark.parametrize("mode", RunMode)
def test_that_a_run_specification_is_valid(mode):
    spec = RunSpec(preset("sdhc-2020-us").scenario, DATA, 3, 1, mode, stop=StopRule(Fraction(1, 100)))
    assert problems("run-specification", encode_spec(spec)) == []


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("target", RounderTarget)
def test_that_a_specification_of_topdown_is_valid(mechanism, target):
    scenario = preset("pl94-2020-persons-us").scenario
    assert isinstance(scenario.method, TopDown)
    spec = RunSpec(scenario, replace(DATA, blocks=True), 1, None, options=TopDownOptions(3, mechanism, target))
    assert problems("run-specification", encode_spec(spec)) == []


def test_that_the_manifest_of_a_bundle_is_valid():
    manifest = json.loads(signed_bundle(preset("sdhc-2020-us").scenario).manifest)
    assert problems("bundle-manifest", manifest) == []
    assert problems("bundle-manifest", manifest | {"self": "abc"})


@pytest.mark.parametrize("chosen", ["sdhc-2020-us", "sdhc-2020-pr"])
def test_that_a_configuration_is_valid(chosen):
    assert problems("phsafe-config", json.loads(write_config(preset(chosen).scenario))) == []


def test_that_the_printed_reference_is_current(tmp_path):
    root = Path(__file__).parents[2]
    command = [sys.executable, str(root / "packaging/derive_format_reference.py"), str(tmp_path)]
    subprocess.run(command, check=True, timeout=120)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert {path.name for path in made} == {"file_formats.md", *(f"{name}.schema.json" for name in FORMATS)}
    for path in made:
        assert (root / "docs" / path).read_text(encoding="utf-8") == (tmp_path / path).read_text(encoding="utf-8"), path
