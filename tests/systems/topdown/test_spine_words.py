"""Two spines in words: what differs, as the settings apply and not as a file spells them."""

from __future__ import annotations

from dataclasses import replace

from phexplore.model.topdown import SpineChoice
from phexplore.spine.settings import changed_choice, settings_of, spine_presets
from phexplore.systems.registry import preset
from phexplore.systems.topdown.spine_words import SETTINGS, TARGETS, spine_difference

SPINE = preset("pl94-2020-persons-us").scenario.topdown.spine


def changed(**values):
    return changed_choice(SPINE, replace(settings_of(SPINE), **values))


def test_that_targets_are_added_and_dropped_by_name():
    after = changed(targets=("aiannh", "place", "school_dist"))
    words = spine_difference(SPINE, after)
    assert words == (
        "block groups follow: places added, school districts added, towns or places, by state dropped, "
        "group quarters apart dropped"
    )
    assert "[" not in words


def test_that_numbers_and_choices_are_named_as_the_controls_name_them():
    words = spine_difference(SPINE, changed(fanout_cutoff=3, bypass="single-child"))
    assert words == "fan-out cutoff 12 → 3; rule of bypassing as in 2020 → only children (zCDP)"


def test_that_a_key_nobody_described_and_a_spine_nobody_can_read_are_still_said():
    odd = SpineChoice(SPINE.kind, (*SPINE.settings, ("moon_phase", "full")))
    assert spine_difference(SPINE, odd) == "moon phase not set → full"
    broken = SpineChoice(SPINE.kind, (*SPINE.settings, ("grouping", "by moonlight")))
    assert "by moonlight" in spine_difference(SPINE, broken)
    assert spine_difference(SPINE, SpineChoice("standard")) == "Optimised → Standard hierarchy"


def test_that_every_target_and_value_of_the_shipped_spines_has_words():
    for each in spine_presets().values():
        assert set(each.settings.targets) <= set(TARGETS)
        for name in ("grouping", "redefine_counties", "tract_groups", "bypass"):
            assert getattr(each.settings, name) in SETTINGS[name].values
