from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conventions
from phexplore.spine.allocation import allocation_of
from phexplore.spine.building import build_spine
from phexplore.spine.geography import AreaCodes, Geography
from phexplore.spine.settings import SpineSettings, spine_preset
from phexplore.systems.registry import preset
from phexplore.systems.topdown import spine_study
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.spine_forecast import Fit, forecast_spine, predicted
from phexplore.systems.topdown.spine_study import SpineStudy, possible

STANDARD = SpineSettings()
PLACES = spine_preset("pl94-2020").settings.with_targets(("place",))
METHOD = topdown_presets()["pl94-2020-persons-us"].scenario.method


@pytest.fixture
def study():
    """Two counties, five tracts, places that cut tracts."""
    geoids = [
        f"06{county:03d}{tract:06d}{1000 + block:04d}"
        for county in (1, 3)
        for tract in (100, 200)
        for block in range(30)
    ]
    geoids += [f"06005000100{1000 + block:04d}" for block in range(7)]
    place = np.array([0 if n % 3 == 0 else 1 if n % 3 == 1 else -1 for n in range(len(geoids))], np.int32)
    return SpineStudy(Geography(np.array(geoids), {"place": AreaCodes(np.array(["0600001", "0600002"]), place)}))


def test_that_spines_are_built_once(study):
    assert not study.has_spine(PLACES)
    assert study.spine(PLACES) is study.spine(PLACES)
    assert study.has_spine(PLACES)


def test_that_predictions_are_those_made_from_scratch_and_follow_the_budget(study):
    def asked(method):
        return study.forecast(PLACES, method, Conventions(), query="total", fit=Fit.TOP_DOWN)

    first = asked(METHOD)
    assert asked(METHOD) is first
    assert asked(replace(METHOD, locked_levels=frozenset({"County"}))) is first  # a lock changes no variance
    scenario = set_level_share(preset("pl94-2020-persons-us").scenario, "Block", Fraction(1, 2))
    moved = asked(scenario.topdown)
    spine = build_spine(study.geography, PLACES)
    fresh = forecast_spine(spine, scenario.topdown, Conventions(), queries=["total"], fit=Fit.TOP_DOWN)
    assert np.array_equal(moved.of_class("place"), fresh.of_class("place"))
    assert not np.allclose(moved.of_class("place"), first.of_class("place"))


def test_that_distances_are_those_of_both_spines(study):
    found = study.distances(PLACES, STANDARD, "place")
    assert found.this.mean < found.standard.mean


def test_that_the_bypassed_parents_are_listed_one_by_one(study):
    allocation = study.allocation(replace(PLACES, bypass="sum-of-squares"), METHOD)
    assert allocation.parents
    for level, parents in zip(allocation.bypassed, allocation.parents, strict=True):
        assert (level.level, level.units) == (parents.level, len(parents.codes))
        moved = sum((parents.shares[place] for place in parents.of_unit.tolist()), Fraction(0))
        assert moved == level.moved
        assert (parents.children >= 1).all()
        assert len(set(parents.codes.tolist())) == len(parents.codes)
    single = study.allocation(replace(PLACES, bypass="single-child"), METHOD)
    assert all((parents.children == 1).all() for parents in single.parents)
    assert allocation_of(study.spine(PLACES), METHOD).total == single.total


def test_that_what_cannot_be_said_comes_with_its_reason():
    def fail():
        raise PhexploreError("It does not fit.", "Choose another.")

    assert possible(fail) == (None, "It does not fit. Choose another.")
    assert possible(lambda: 3) == (3, "")


def test_that_a_query_needs_only_its_part_of_the_histogram_and_another_one_predicts_nothing_anew(study, monkeypatch):
    """All 144 parts of persons took a minute of a processor, for every query again."""
    made = []

    def counted(*arguments):
        made.append(arguments)
        return predicted(*arguments)

    monkeypatch.setattr(spine_study, "predicted", counted)
    total, other = (
        study.forecast(PLACES, METHOD, Conventions(), query=query, fit=Fit.TOP_DOWN) for query in ("total", "hispanic")
    )
    assert len(made) == 1
    assert total.prediction is other.prediction
    done = [each for each in total.prediction.covariances if "result" in vars(each)]
    assert 0 < len(done) < len(total.prediction.covariances)
    fresh = forecast_spine(study.spine(PLACES), METHOD, Conventions(), queries=["hispanic"], fit=Fit.TOP_DOWN)
    assert np.array_equal(other.of_class("place"), fresh.of_class("place"))
