from __future__ import annotations

import json

import numpy as np
import pytest

from phexplore.metrics.topdown.figures import error_figures
from phexplore.metrics.topdown.plausibility import UnitFigures, plausibility
from phexplore.metrics.topdown.shapes import mean_and_error
from phexplore.metrics.topdown.summary import level_entry, plausibility_json, redistricting_entry


def test_that_an_entry_is_json_with_means_and_their_errors(drawn):
    truth, estimate = drawn
    entry = json.loads(json.dumps(level_entry("Tract", "hispanic", truth, estimate), allow_nan=False))
    assert (entry["level"], entry["query"], entry["units"], entry["numbers"]) == ("Tract", "hispanic", 60, 300)
    mae = error_figures(truth, estimate).mae
    assert entry["total"]["mae"] == {
        "value": pytest.approx(mae.mean()),
        "error": pytest.approx(mae.std(ddof=1) / np.sqrt(3)),
    }
    assert sum(part["numbers"] for part in entry["by_size"].values()) == 300
    assert entry["quantiles"]["probability"][4] == 0.5


def test_that_one_trial_has_no_monte_carlo_error(drawn):
    truth, estimate = drawn
    assert level_entry("Tract", "x", truth, estimate[0])["total"]["mae"]["error"] is None
    assert mean_and_error(np.array([2.0])) == (2.0, float("inf"))
    assert np.isnan(mean_and_error(np.empty(0))[0])


def test_that_the_criterion_is_json(drawn):
    truth, estimate = drawn
    entry = json.loads(json.dumps(redistricting_entry("Tract", "race", truth, estimate), allow_nan=False))
    assert entry["criterion"]["least_people"] == 500
    assert entry["criterion"]["units"] == (truth.sum(axis=1) >= 500).sum()
    assert set(entry["reliable"]) == {"people", "lasting", "units", "least_units", "share"}


def test_that_all_checks_are_json():
    figures = {"Block": UnitFigures(np.array([3, 0]), minors=np.array([1, 0]))}
    found = json.loads(json.dumps(plausibility_json(plausibility(figures, figures))))
    assert len(found) == 23
    assert found[17]["found_published"] == 0
