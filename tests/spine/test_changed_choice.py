"""Editing a spine changes the keys that say so, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phexplore.model.topdown import SpineChoice
from phexplore.spine.settings import changed_choice, settings_for, settings_of, spine_preset, with_levels
from phexplore.systems.topdown.presets import topdown_presets

PERSONS = topdown_presets()["pl94-2020-persons-us"].scenario.method
DHC = topdown_presets()["dhc-2020-persons-us"].scenario.method


def differing(before, after):
    one, other = dict(before.settings), dict(after.settings)
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({"fanout_cutoff": 20}, {"fanout_cutoff"}),
        ({"bypass_cutoff": 7}, {"bypass_cutoff"}),
        ({"redefine_counties": "everywhere"}, {"redefine_counties"}),
        ({"targets": ("place_mcd", "aiannh")}, {"ignore_gqs_in_block_groups"}),
        ({"targets": ("place", "aiannh", "gq")}, {"targets"}),
        ({"bypass": "sum-of-squares"}, {"bypass"}),
        ({"tract_groups": "paper", "grouping": "paper"}, {"tract_groups", "grouping"}),
        ({}, set()),
    ],
)
def test_that_only_the_keys_of_a_change_are_written(change, keys):
    wanted = replace(settings_of(PERSONS.spine), **change)
    found = changed_choice(PERSONS.spine, wanted)
    assert settings_of(found) == wanted
    assert differing(PERSONS.spine, found) == keys


def test_that_a_change_taken_back_leaves_the_choice_as_it_was():
    before = settings_of(PERSONS.spine)
    there = changed_choice(PERSONS.spine, replace(before, targets=("place",), fanout_cutoff=3, bypass="none"))
    assert changed_choice(there, before) == PERSONS.spine


def test_that_keys_this_program_does_not_read_stay():
    found = changed_choice(DHC.spine, replace(settings_of(DHC.spine), fanout_cutoff=5))
    assert dict(found.settings)["use_prim_crosswalk"] == "true"
    assert dict(found.settings)["target_orig_block_groups"] == "1"  # as it was spelled
    assert differing(DHC.spine, found) == {"fanout_cutoff"}


@pytest.mark.parametrize("name", ["standard", "aian", "pl94-2020", "pl94-2020-units", "dhc-2020"])
@pytest.mark.parametrize("start", [PERSONS.spine, DHC.spine, SpineChoice("standard")])
def test_that_every_preset_can_be_chosen_from_every_spine(start, name):
    wanted = spine_preset(name).settings
    assert settings_of(changed_choice(start, wanted)) == wanted


def test_that_the_standard_spine_has_the_groups_of_tracts_that_have_a_budget():
    old = topdown_presets()["ddp-2019-persons-us"].scenario.method
    assert settings_of(old.spine).tract_groups == "none"
    assert settings_for(old).tract_groups == "standard"
    assert with_levels(settings_of(PERSONS.spine), PERSONS) == settings_of(PERSONS.spine)
