from __future__ import annotations

import json

import pytest
from generators import SCENARIOS
from hypothesis import given, settings

from phexplore.files.scenario_json import (
    decode_change,
    decode_scenario,
    decode_workbook,
    encode_change,
    encode_scenario,
    encode_workbook,
)
from phexplore.model.diff import diff
from phexplore.model.issues import InputProblemsError
from phexplore.model.workbook import Workbook


def through_json(value):
    return json.loads(json.dumps(value))


@settings(max_examples=25, deadline=None)
@given(SCENARIOS)
def test_that_a_scenario_survives_its_json(scenario):
    assert decode_scenario(through_json(encode_scenario(scenario))) == scenario


@settings(max_examples=15, deadline=None)
@given(SCENARIOS, SCENARIOS)
def test_that_every_change_survives_its_json(a, b):
    for change in diff(a, b):
        assert decode_change(through_json(encode_change(change))) == change


def test_that_a_workbook_survives_its_json(us, puerto_rico):
    workbook = Workbook((us, puerto_rico), puerto_rico.name, "sdhc-2020-us")
    assert decode_workbook(through_json(encode_workbook(workbook))) == workbook


DAMAGES = {
    "budget is a float": (lambda v: v["method"]["budgets"].update({"PH2/usa_*": 0.5}), "PH2/usa_*"),
    "budget is negative": (lambda v: v["method"]["budgets"].update({"PH2/usa_*": "-1"}), "PH2/usa_*"),
    "unknown level": (lambda v: v["method"]["budgets"].update({"PH2/uta_*": "1"}), "PH2/uta_*"),
    "threshold of zero": (lambda v: v["method"]["thresholds"].update({"PH3": 0}), "method"),
    "threshold is text": (lambda v: v["method"]["thresholds"].update({"PH3": "6"}), "PH3"),
    "states are a text": (lambda v: v["method"].update({"states": "44"}), "states"),
    "unknown framework": (lambda v: v["method"].update({"framework": "rdp"}), "framework"),
    "confidence above 1": (lambda v: v["conventions"].update({"confidence": "2"}), "conventions"),
    "method is missing": (lambda v: v.pop("method"), "method"),
    "unknown method": (lambda v: v["method"].update({"kind": "magic"}), "method"),
    "name is a number": (lambda v: v.update({"name": 3}), "name"),
}


@pytest.mark.parametrize(("damage", "place"), DAMAGES.values(), ids=DAMAGES.keys())
def test_that_a_damaged_field_is_named(us, damage, place):
    value = through_json(encode_scenario(us))
    damage(value)
    with pytest.raises(InputProblemsError) as caught:
        decode_scenario(value, "file.phx")
    assert any(place in issue.path for issue in caught.value.issues)
    assert all(issue.path[0] == "file.phx" for issue in caught.value.issues)


def test_that_all_damages_are_listed_at_once(us):
    value = through_json(encode_scenario(us))
    value["method"]["budgets"]["PH2/usa_*"] = "x"
    value["method"]["budgets"]["PH3/usa_*"] = "y"
    value["name"] = None
    with pytest.raises(InputProblemsError) as caught:
        decode_scenario(value)
    assert len(caught.value.issues) == 3
