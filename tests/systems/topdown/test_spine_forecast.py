from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.data.blocks.source import read_population
from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conventions
from phexplore.spine.building import build_spine
from phexplore.spine.description import class_entities
from phexplore.spine.distance import distances
from phexplore.spine.geography import geography_of
from phexplore.spine.settings import spine_preset
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.spine_forecast import Fit, Spread, compare_with_standard, forecast_spine
from phexplore.workload.schema import load_schema


@pytest.fixture(scope="module")
def rhode_island(real_data):
    return geography_of(read_population(real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz"))


@pytest.fixture(scope="module")
def persons():
    return topdown_presets()["pl94-2020-persons-us"].scenario.method


@pytest.fixture(scope="module")
def comparison(rhode_island, persons):
    spine = build_spine(rhode_island, spine_preset("pl94-2020").settings.with_targets(["place"]))
    return compare_with_standard(
        spine, persons, Conventions(), queries=["total", "hispanic * cenrace"], classes=["place", "tract"]
    )


def test_that_targeting_places_lowers_their_predicted_margins(comparison):
    before, after = comparison.standard.of_class("place"), comparison.this.of_class("place")
    entities = class_entities(comparison.this.spine, "place")
    trees = (each.spine.tree for each in (comparison.standard, comparison.this))
    far, near = (distances(tree, entities).distance for tree in trees)
    assert (after[near < far, 0] < before[near < far, 0]).all()
    assert (near < far).sum() > 24
    # Cities that are towns were close already; the other block groups of their tracts make them a little worse.
    assert after[near == far, 0] == pytest.approx(before[near == far, 0], rel=0.25)
    assert np.sqrt(after[:, 0]).mean() < 0.05 * np.sqrt(before[:, 0]).mean()


def test_that_the_order_of_published_errors_is_met(comparison):
    """The Bureau's published standard deviation of tract totals is about 1.6 (opportunities, 9)."""
    total = np.sqrt(comparison.this.at_level("Tract")[:, 0])
    assert 1.0 < total.mean() < 2.5


def test_that_an_area_that_is_a_unit_has_the_unit_s_variance(comparison):
    tracts = comparison.standard.of_class("tract")
    assert tracts == pytest.approx(comparison.standard.at_level("Tract"), rel=1e-9)
    assert comparison.standard.added_of_class("tract") == pytest.approx(tracts, rel=1e-9)


def test_that_the_json_is_finite_and_says_what_is_not_seen(comparison):
    content = json.loads(json.dumps(comparison.json(), allow_nan=False))
    assert "nonnegativity" in content["unseen"]
    place = next(each for each in content["entities"] if each["class"] == "place")
    assert place["entities"] == 36
    assert [query["query"] for query in place["queries"]] == ["total", "hispanic * cenrace"]
    (answer,) = place["queries"][0]["answers"]
    assert answer["this"]["moe"]["mean"] == pytest.approx(1.645 * answer["this"]["sigma"]["mean"])
    assert answer["this"]["moe"]["mean"] < answer["added"]["moe"]["mean"] < answer["standard"]["moe"]["mean"]
    nation = [{"level": "US", "share": "104/4099"}]
    assert content["unspent"] == {"this": nation, "standard": nation}
    assert content["levels"][-1]["units"] == 25_181


def test_that_budgets_and_spines_change_the_forecast(rhode_island, persons):
    spine = build_spine(rhode_island, spine_preset("pl94-2020").settings)
    now = forecast_spine(spine, persons, Conventions(), queries=["detailed"])
    richer = forecast_spine(spine, replace(persons, total=2 * persons.total), Conventions(), queries=["detailed"])
    assert (richer.on_spine < now.on_spine).all()
    wide = forecast_spine(spine, persons, replace(Conventions(), confidence=Fraction(99, 100)), queries=["detailed"])
    assert float(wide.z) == pytest.approx(2.5758, abs=1e-4)
    assert wide.on_spine == pytest.approx(now.on_spine)


def test_that_a_smaller_schema_of_the_data_is_asked_its_images(rhode_island, persons):
    spine = build_spine(rhode_island, spine_preset("pl94-2020").settings)
    found = forecast_spine(spine, persons, Conventions(), onto=load_schema("pl94_reduced16"))
    assert {kinds.query.schema.id for kinds in found.kinds} == {"pl94_reduced16"}
    assert found.at_level("Block").shape == (25_181, sum(len(kinds.answers) for kinds in found.kinds))


def test_that_units_keep_their_totals_in_every_block(rhode_island):
    method = topdown_presets()["pl94-2020-units-us"].scenario.method
    spine = build_spine(rhode_island, spine_preset("pl94-2020-units").settings)
    found = forecast_spine(spine, method, Conventions(), queries=["total", "detailed"])
    assert (found.at_level("Block")[:, 0] == 0).all()
    assert (found.at_level("Block")[:, 1] > 0).all()


def test_that_the_spine_of_the_dhc_has_no_standard_beside_it(small_dhc):
    spine, method = small_dhc
    assert compare_with_standard(spine, method, Conventions(), queries=["total"], classes=["place"]).standard is None
    with pytest.raises(PhexploreError, match="is not a level of both"):
        forecast_spine(build_spine(spine.geography, spine_preset("standard").settings), method, Conventions())


@pytest.fixture
def small_dhc(rhode_island):
    from phexplore.spine.geography import AreaCodes

    method = topdown_presets()["dhc-2020-persons-us"].scenario.method
    # Six blocks, and the queries that need no large blocks of the histogram.
    kept = {key: Fraction(1, 2) for key in method.query_shares if key.query in {"hispanic * sex", "detailed"}}
    method = replace(method, query_shares=kept, constraints={}, invariants={"State": ("tot",)})
    chosen = np.array([0, 1, 2, 5000, 5001, 20000])
    places = AreaCodes(np.array(["a", "b"]), np.array([0, 0, -1, 1, 1, -1], np.int32))
    towns = AreaCodes(np.array(["c"]), np.zeros(6, np.int32))
    areas = {
        "place": places,
        "cousub": towns,
        "aiannh": AreaCodes(np.array(["2415"]), np.array([-1] * 5 + [0], np.int32)),
    }
    geography = replace(rhode_island, geoids=rhode_island.geoids[chosen].copy(), areas=areas)
    return build_spine(geography, spine_preset("dhc-2020").settings), method


def test_that_undetermined_figures_are_none_in_json():
    found = Spread(np.array([4.0, np.inf]), Fraction(2)).json()
    assert found["moe"]["max"] is None
    assert found["moe"]["quantiles"]["0.0"] == 4.0
    assert Spread(np.array([]), Fraction(2)).json()["moe"] is None


def test_that_pooled_answers_with_the_stated_part_of_rho_have_the_variance_of_a_fit_level_by_level(persons):
    spine = build_spine(geography_of(synthesize_blocks(400, 3, "44")), spine_preset("standard").settings)
    found = compare_with_standard(
        spine, persons, Conventions(), queries=["total"], classes=[], fit=Fit.TOP_DOWN, with_pooled=True
    )
    levels = {entry["level"]: entry["queries"][0]["answers"][0]["pooled_rho"] for entry in found.json()["levels"]}
    assert levels["State"] is None  # its total is exact
    assert 0.3 < levels["Tract"] < 0.9
    less = replace(persons, total=persons.total * Fraction(levels["Tract"]).limit_denominator(10**6))
    pooled = forecast_spine(spine, less, Conventions(), queries=["total"], fit=Fit.AT_ONCE)
    # The variance of the discrete Gaussian is that of 1/ρ but for a thousandth, where the noise is narrow.
    assert pooled.at_level("Tract").mean() == pytest.approx(found.this.at_level("Tract").mean(), rel=2e-3)
    plain = compare_with_standard(spine, persons, Conventions(), queries=["total"], classes=[], fit=Fit.TOP_DOWN)
    assert "pooled_rho" not in plain.json()["levels"][0]["queries"][0]["answers"][0]
