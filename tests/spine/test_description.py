from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from phexplore.errors import UnknownNameError
from phexplore.spine.building import build_spine
from phexplore.spine.description import class_entities, default_classes, describe_spine
from phexplore.spine.settings import spine_preset
from phexplore.systems.topdown.presets import topdown_presets


@pytest.fixture(scope="module")
def in_2020(rhode_island):
    spine = build_spine(rhode_island, spine_preset("pl94-2020").settings)
    return describe_spine(
        spine, scenario=("pl94-2020-persons-us", topdown_presets()["pl94-2020-persons-us"].scenario.method)
    )


def test_that_rhode_island_in_2020_is_described_with_reasons(in_2020):
    found = {each.name: each for each in in_2020.classes}
    assert found["place"].standard.mean == pytest.approx(24.17, abs=0.005)
    assert found["place"].this.mean == pytest.approx(25.9, abs=0.05)
    assert "targets county subdivisions, not places" in found["place"].reason
    assert found["cousub"].standard.mean == pytest.approx(6.15, abs=0.005)
    assert found["cousub"].this.mean == pytest.approx(6.18, abs=0.005)
    assert found["cousub"].reason.startswith("Every tract lies in one of these areas")
    assert "tribal" in found["cousub"].reason
    # The areas 2020 aims at: towns outside of the tribal area.
    assert found["place_mcd"].this.mean == pytest.approx(6.15, abs=0.005)
    assert found["school_dist"].reason == "This spine does not target the class."
    assert found["tract"].reason == ""


def test_that_a_targeted_class_needs_no_reason(rhode_island):
    spine = build_spine(rhode_island, spine_preset("pl94-2020").settings.with_targets(["place"]))
    (places,) = describe_spine(spine, classes=["place"]).classes
    assert places.reason == ""
    assert places.this.mean == pytest.approx(6.1, abs=0.05)


def test_that_the_json_has_what_the_contract_names(in_2020):
    content = json.loads(json.dumps(in_2020.json()))
    assert [level["name"] for level in content["levels"]] == ["State", "County", "Tract", "Block_Group", "Block"]
    assert content["levels"][-1]["fan_out"] == {}
    assert content["levels"][0]["fan_out"]["0.5"] == 6
    place = next(each for each in content["distance"] if each["class"] == "place")
    assert place["entities"] == 36
    assert set(place["standard"]) == set(place["this"]) == {"mean", "max", "quantiles"}
    assert content["bypassed"]["units"] == sum(level["units"] for level in content["bypassed"]["levels"])
    moved = sum(
        Fraction(share["share"]) * share["units"]
        for level in content["bypassed"]["levels"]
        for share in level["shares"]
    )
    assert Fraction(content["bypassed"]["budget_moved"]) == moved > 0
    assert content["bypassed"]["path_total"] == "3995/4099"
    assert content["settings"]["kind"] == "optimised"
    assert content["blocks"] == 25_181


def test_that_fan_out_counts_children(in_2020):
    for figures, level, below in zip(
        in_2020.levels, in_2020.spine.tree.levels, in_2020.spine.tree.levels[1:], strict=False
    ):
        assert figures.fan_out.sum() == below.units
        assert len(figures.fan_out) == level.units
        assert figures.quantiles()[1.0] == figures.fan_out.max()


def test_that_classes_are_those_of_the_blocks_and_the_tabulation(small):
    geography = small.geography(np.random.default_rng(1))
    standard = build_spine(geography, spine_preset("standard").settings)
    assert default_classes(standard) == ("place", "cousub", "school_dist", "aiannh", "county", "tract", "block_group")
    assert "place_mcd" in default_classes(build_spine(geography, spine_preset("pl94-2020").settings))
    with pytest.raises(UnknownNameError, match="wards"):
        describe_spine(standard, classes=["wards"])
    assert class_entities(standard, "tract").areas == standard.tree.levels[-3].units
    assert describe_spine(standard).json()["bypassed"] is None
