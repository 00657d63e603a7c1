"""Subspace scenarios and their edits survive files; what cannot be read is listed with its place."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from phexplore.files.scenario_json import decode_change, decode_scenario, encode_change, encode_scenario
from phexplore.model.diff import diff
from phexplore.model.issues import InputProblemsError
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import (
    Axis,
    Basis,
    Calibration,
    Grouping,
    Histogram,
    LinearCount,
    LinearQuery,
    Mechanism,
    Release,
    Subspace,
    Totals,
)
from phexplore.systems.registry import preset

RICH = Subspace(
    (Axis("county", 3, ("a", "b", "c"), (Grouping("state", ("x", "x", "y")),)), Axis("hour", 2)),
    {
        "cells": Release(Histogram(), (Totals(("state", "hour")), Totals()), Mechanism.EXTENDED_LAPLACE, Fraction(1, 3), Basis.HELMERT),
        "sums": Release(
            LinearQuery((LinearCount("night", ((0, Fraction(1)), (4, Fraction(-2, 3)))),)),
            (LinearCount("exact", ((0, Fraction(1, 7)),)),),
            Mechanism.CORRELATED_GAUSSIAN,
            Fraction(2, 3),
        ),
    },
    Fraction("0.192"),
    Fraction(1, 10**10),
    Calibration.PAPER,
    "counties",
)  # fmt: skip


def through_json(value):
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("method", [RICH, preset("counties-invariant-2010").scenario.method], ids=["rich", "preset"])
def test_that_a_scenario_comes_back_equal(method):
    scenario = Scenario("s", method)
    assert decode_scenario(through_json(encode_scenario(scenario))) == scenario


def test_that_every_edit_comes_back_equal():
    other = Subspace((Axis("cell", 4),), {"cells": Release(Histogram(), (), Mechanism.K_NORM)}, Fraction(2))
    for change in diff(Scenario("s", RICH), Scenario("s", other)):
        assert decode_change(through_json(encode_change(change))) == change


WRONG = {
    "epsilon": ({"epsilon": "-1"}, ("method",), "ε is positive"),
    "epsilon missing": ({"epsilon": None}, ("method", "epsilon"), "text is expected"),
    "axes": ({"axes": "x"}, ("method", "axes"), "a list is expected"),
    "axis": ({"axes": [{"size": 2}]}, ("method", "axes", "0"), "'name' is missing"),
    "size": ({"axes": [{"name": "a", "size": "2"}]}, ("method", "axes", "0"), "a whole number is expected"),
    "releases": ({"releases": []}, ("method", "releases"), "an object is expected"),
    "mechanism": ({"releases": {"r": {"mechanism": "magic"}}}, ("method", "releases", "r"), "magic"),
    "no mechanism": ({"releases": {"r": {}}}, ("method", "releases", "r"), "'mechanism' is missing"),
    "weights": (
        {"releases": {"r": {"mechanism": "k-norm", "exact": [{"name": "x", "weights": {"a": "1"}}]}}},
        ("method", "releases", "r"), "numbered from 0, got 'a'",
    ),
    "calibration": ({"calibration": "loose"}, ("method", "calibration"), "loose"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "path", "words"), WRONG.values(), ids=WRONG.keys())
def test_that_a_field_that_cannot_be_read_is_listed(changes, path, words):
    content = through_json(encode_scenario(Scenario("s", RICH)))
    content["method"] |= changes
    with pytest.raises(InputProblemsError) as caught:
        decode_scenario(content)
    assert any(issue.path == path and words in issue.sentence for issue in caught.value.issues), caught.value.issues
