"""The forecast of a scenario on its own spine: what blocks add, and that the spine changes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phexplore.model.conventions import Conventions
from phexplore.model.topdown import SpineChoice
from phexplore.spine.geography import AreaCodes, Geography
from phexplore.spine.settings import changed_choice, settings_of, spine_preset
from phexplore.systems.topdown.check import check_topdown
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.spine_forecast import Fit, forecast_on_blocks

METHOD = topdown_presets()["pl94-2020-persons-us"].scenario.method


def blocks(states, tribal=False):
    geoids = [
        f"{state}{county:03d}{tract:06d}{1000 + block:04d}"
        for state in states
        for county in (1, 3)
        for tract in (100, 200)
        for block in range(12)
    ]
    number = np.arange(len(geoids))
    areas = {"place": AreaCodes(np.array(["0600001", "0600002"]), (number % 3 - 1).astype(np.int32))}
    if tribal:
        areas["aiannh"] = AreaCodes(np.array(["0010"]), np.where(number % 24 == 0, 0, -1).astype(np.int32))
    return Geography(np.array(geoids), areas)


def test_that_the_spine_of_the_scenario_changes_its_forecast():
    geography = blocks(["06"])
    places = replace(
        METHOD, spine=changed_choice(METHOD.spine, spine_preset("pl94-2020").settings.with_targets(["place"]))
    )
    plain = replace(METHOD, spine=SpineChoice("standard"))
    aimed = forecast_on_blocks(geography, places, Conventions(), queries=["total"])
    tabulated = forecast_on_blocks(geography, plain, Conventions(), queries=["total"])
    assert aimed.this.fit is Fit.TOP_DOWN
    assert aimed.this.spine.settings == settings_of(places.spine)
    assert (aimed.this.of_class("place") < tabulated.this.of_class("place")).all()
    assert aimed.standard.of_class("place") == pytest.approx(tabulated.this.of_class("place"))


def test_that_states_with_tribal_parts_are_fitted_at_once():
    found = forecast_on_blocks(blocks(["06", "44"], tribal=True), METHOD, Conventions(), queries=["total"])
    assert found.this.fit is Fit.AT_ONCE
    assert forecast_on_blocks(blocks(["06", "44"]), METHOD, Conventions(), queries=["total"]).this.fit is Fit.TOP_DOWN


@pytest.mark.parametrize(
    ("spine", "words"),
    [
        (SpineChoice("prim"), "no level Tract"),
        (SpineChoice("optimised", (("fanout_cutoff", "many"),)), "whole number"),
        (SpineChoice("round"), "No kind of spine"),
    ],
)
def test_that_a_spine_that_does_not_fit_is_an_issue_with_a_remedy(spine, words):
    issues = check_topdown(replace(METHOD, spine=spine))
    assert [words in issue.sentence for issue in issues] == [True]
    assert issues[0].path == ("spine",)
    assert issues[0].remedy


def test_that_groups_of_tracts_need_a_rule_on_other_spines():
    old = topdown_presets()["ddp-2019-persons-us"].scenario.method
    assert not check_topdown(old)
    aian = replace(old, spine=SpineChoice("aian"))
    assert "Tract_Group" in check_topdown(aian)[0].sentence
    assert not check_topdown(replace(old, spine=SpineChoice("aian", (("tract_groups", "standard"),))))
