from __future__ import annotations

import json
from dataclasses import replace

import pytest

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.model.topdown import SpineChoice
from phexplore.spine.geodict import geodict_of
from phexplore.spine.settings import (
    AIAN_AREAS_2020,
    SpineSettings,
    choice_of,
    preset_of,
    settings_from,
    settings_json,
    settings_of,
    spine_preset,
    spine_presets,
)
from phexplore.systems.topdown.presets import topdown_presets


def test_that_the_presets_are_those_of_the_contract_and_name_a_scenario():
    assert next(iter(spine_presets())) == "standard"
    assert {"standard", "pl94-2020", "pl94-2020-units", "dhc-2020"} <= set(spine_presets())
    for preset in spine_presets().values():
        assert preset.scenario in topdown_presets()
        assert preset.source
        assert preset_of(preset.settings) == preset


def test_that_the_presets_are_what_the_scenarios_of_2020_carry():
    for name, scenario in (
        ("pl94-2020", "pl94-2020-persons-us"),
        ("pl94-2020-units", "pl94-2020-units-us"),
        ("dhc-2020", "dhc-2020-persons-us"),
        ("standard", "ddp-2019-persons-us"),
    ):
        assert settings_of(topdown_presets()[scenario].scenario.method.spine) == spine_preset(name).settings


@pytest.mark.parametrize(
    "settings",
    [
        *(preset.settings for preset in spine_presets().values()),
        SpineSettings(bypass="sum-of-squares", tract_groups="standard"),
        replace(spine_preset("pl94-2020").settings, targets=("place",), grouping="paper", fanout_cutoff=3),
        replace(spine_preset("pl94-2020").settings, targets=(), tract_groups="paper", bypass="none"),
        replace(spine_preset("dhc-2020").settings, targets=("gq", "school_dist"), bypass_cutoff=0),
    ],
)
def test_that_settings_come_back_from_a_scenario_and_from_json(settings):
    assert settings_of(choice_of(settings)) == settings
    assert settings_from(json.loads(json.dumps(settings_json(settings)))) == settings


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"kind": "optimized"}, "kind of a spine is called 'optimized'"),
        ({"grouping": "other"}, "grouping"),
        ({"bypass": "all"}, "bypass"),
        ({"kind": "aian", "aian_areas": ("Nowhere",)}, "class of tribal areas"),
        ({"strong_mcd_states": ("09", "9")}, "strong_mcd_states of the spine.* is called '9'"),
        ({"fanout_cutoff": -1}, "fanout_cutoff must be between"),
        ({"kind": "standard", "aian_areas": AIAN_AREAS_2020}, "does not separate tribal areas"),
    ],
)
def test_that_settings_that_cannot_be_are_refused(change, match):
    with pytest.raises(PhexploreError, match=match):
        SpineSettings(**change)


def test_that_areas_cannot_shape_a_spine_with_the_tabulation_s_block_groups():
    with pytest.raises(PhexploreError, match="block groups of the tabulation"):
        spine_preset("standard").settings.with_targets(["place"])


def test_that_unknown_names_are_answered_with_known_ones():
    with pytest.raises(UnknownNameError, match="pl94-2021") as error:
        spine_preset("pl94-2021")
    assert "pl94-2020" in error.value.remedy
    with pytest.raises(UnknownNameError, match="fan_out"):
        settings_from({"fan_out": 3})
    with pytest.raises(UnknownNameError, match="round"):
        settings_of(SpineChoice("round"))


@pytest.mark.parametrize(
    ("key", "text"),
    [("fanout_cutoff", "twelve"), ("target_das_aian_areas", "perhaps"), ("aian_areas", "[1, 2]"), ("aian_areas", "[")],
)
def test_that_texts_that_are_no_settings_are_refused_with_their_value(key, text):
    with pytest.raises(PhexploreError) as error:
        settings_of(SpineChoice("optimised", ((key, text),)))
    assert key in str(error.value)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("scenario", sorted(topdown_presets()))
def test_that_a_scenario_of_2020_keeps_its_geodict(scenario):
    choice = topdown_presets()[scenario].scenario.method.spine
    found = geodict_of(choice)
    assert found.inexpressible == ()
    written = dict(found.entries)
    assert {key: written[key] for key, _ in choice.settings} == dict(choice.settings)
    assert settings_of(SpineChoice(choice.kind, found.entries)) == settings_of(choice)


def test_that_edits_production_has_keys_for_are_written_and_others_said():
    choice = topdown_presets()["pl94-2020-persons-us"].scenario.method.spine
    settings = settings_of(choice)
    units = geodict_of(choice_of(replace(settings, targets=("place_mcd", "aiannh"), fanout_cutoff=20)))
    assert dict(units.entries)["ignore_gqs_in_block_groups"] == "true"
    assert dict(units.entries)["fanout_cutoff"] == "20"
    assert units.inexpressible == ()
    places = geodict_of(
        choice_of(replace(settings, targets=("place",), grouping="paper", bypass="none", tract_groups="paper"))
    )
    assert len(places.inexpressible) == 4
    assert "place" in places.inexpressible[0]
    assert not {"targets", "grouping", "bypass", "tract_groups"} & set(dict(places.entries))
    assert geodict_of(SpineChoice("standard")).entries == (("spine", "non_aian_spine"),)
    assert dict(geodict_of(choice_of(spine_preset("dhc-2020").settings)).entries)["prim_spine"] == "true"


@pytest.mark.parametrize("name", ["standard", "aian", "pl94-2020-units"])
def test_that_choosing_a_spine_changes_the_exported_configuration(name):
    from phexplore.model.edits import set_field
    from phexplore.systems.registry import preset
    from phexplore.systems.topdown.ini_reading import read_chain
    from phexplore.systems.topdown.ini_text import IniChain
    from phexplore.systems.topdown.ini_writing import write_ini

    settings = spine_preset(name).settings
    scenario = set_field(preset("pl94-2020-persons-us").scenario, "spine", choice_of(settings))
    output = write_ini(scenario)
    back, _ = read_chain(IniChain(output.root, output.files))
    assert settings_of(back.topdown.spine) == settings


def test_that_a_spine_production_cannot_build_is_not_exported():
    from phexplore.model.edits import set_field
    from phexplore.systems.registry import preset
    from phexplore.systems.topdown.ini_writing import write_ini

    settings = spine_preset("pl94-2020").settings.with_targets(["place"])
    scenario = set_field(preset("pl94-2020-persons-us").scenario, "spine", choice_of(settings))
    with pytest.raises(PhexploreError, match="change spine") as error:
        write_ini(scenario)
    assert "place" in error.value.remedy
