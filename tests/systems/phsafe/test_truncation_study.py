from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.cli.app import run
from phexplore.model.conventions import Conventions
from phexplore.model.issues import InputProblemsError
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.truncation_study import (
    HouseholdSizes,
    StudyError,
    read_sizes,
    scaled,
    sizes_of_run,
    study,
)

ZCDP, PURE = PrivacyFramework.ZCDP, PrivacyFramework.PURE_DP
SIZES = HouseholdSizes({1: 400, 2: 500, 3: 200, 4: 150, 6: 40, 12: 3}, "made up")
RHO = Fraction("0.141622")


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.integers(1, 15), st.integers(1, 30), min_size=1), st.integers(1, 12))
def test_that_the_bias_is_that_of_truncating_every_household(counts, threshold):
    sizes = HouseholdSizes(counts)
    people = [size for size, count in counts.items() for _ in range(count)]
    kept = sum(min(size, threshold) for size in people)
    point = study(sizes, ZCDP, Conventions(), budget=RHO, thresholds=[threshold]).point(threshold)
    assert point.bias == kept - sum(people)
    assert point.people_cut == pytest.approx(1 - kept / sum(people))
    assert point.households_cut == pytest.approx(np.mean([size > threshold for size in people]))


def test_that_noise_grows_and_bias_shrinks_and_they_stand_apart():
    found = study(SIZES, ZCDP, Conventions(), budget=RHO)
    assert [point.threshold for point in found.points] == list(range(1, 14))
    for point in found.points:
        assert point.deviation == pytest.approx((2 * point.threshold + 2) / math.sqrt(2 * float(RHO)))
        assert point.margin == pytest.approx(1.645 * point.deviation)
        assert point.rmse == pytest.approx(math.hypot(point.bias, point.deviation))
    deviations, biases = [p.deviation for p in found.points], [p.bias for p in found.points]
    assert deviations == sorted(deviations)
    assert biases == sorted(biases)
    assert biases[-1] == 0


def test_that_the_optimum_is_the_smallest_error_of_all():
    found = study(SIZES, ZCDP, Conventions(), budget=RHO)
    assert found.point(found.best).rmse == min(point.rmse for point in found.points)
    assert 1 < found.best < 13
    assert study(SIZES, ZCDP, Conventions(), budget=RHO * 10**6).best == 12  # without noise nothing is cut
    assert study(SIZES, ZCDP, Conventions(), budget=RHO / 10**6).best == 1


def test_that_a_kept_margin_lets_the_budget_follow():
    found = study(SIZES, ZCDP, Conventions(), margin=Fraction(68))
    assert all(point.margin <= 68 for point in found.points)
    budgets = [point.budget for point in found.points]
    assert budgets == sorted(budgets)
    assert found.point(10).budget == Fraction("0.141622")
    assert found.cheapest == next(point.threshold for point in found.points if -point.bias <= 68)


def test_that_a_part_of_the_people_has_its_part_of_the_bias_and_sums_more_noise():
    whole = study(SIZES, PURE, Conventions(), budget=Fraction(1)).point(3)
    half = study(SIZES, PURE, Conventions(), budget=Fraction(1), share=Fraction(1, 2), cells=4).point(3)
    assert half.bias == whole.bias / 2
    assert half.deviation == pytest.approx(2 * whole.deviation)


def test_that_a_smaller_place_has_the_same_shape():
    small = scaled(SIZES, Fraction(1, 10))
    assert (small.households, small.people) == (129, round(sum(s * n for s, n in SIZES.counts.items()) / 10))
    assert study(small, ZCDP, Conventions(), budget=RHO).best <= study(SIZES, ZCDP, Conventions(), budget=RHO).best


@pytest.mark.parametrize("areas", [2, 7, 51])
def test_that_areas_lose_together_what_the_whole_loses_however_few_households_are_large(areas):
    found = study(scaled(SIZES, Fraction(1, areas)), ZCDP, Conventions(), budget=RHO)
    for point in found.points:
        lost = sum(count * max(0, size - point.threshold) for size, count in SIZES.counts.items())
        assert point.bias * areas == pytest.approx(-lost)
        assert point.people_cut == pytest.approx(lost / sum(size * count for size, count in SIZES.counts.items()))


def test_that_the_study_predicts_what_a_run_cuts(tmp_path):
    population, wide, narrow = tmp_path / "p", tmp_path / "wide", tmp_path / "narrow"
    assert run(["synth", "sdhc", "--persons", "4000", "--states", "44", "--seed", "3", "--out", str(population)]) == 0
    assert run(["export", "sdhc-2020-us", "--format", "phsafe-config", "--out", str(tmp_path / "c.json")]) == 0
    config = json.loads((tmp_path / "c.json").read_text())
    config["tau"] = dict.fromkeys(config["tau"], 3)
    (tmp_path / "narrow.json").write_text(json.dumps(config))
    for scenario, out in (("sdhc-2020-us", wide), (str(tmp_path / "narrow.json"), narrow)):
        assert run(["run", scenario, "--data", str(population), "--no-noise", "--out", str(out)]) == 0
    before = json.loads((wide / "summary.json").read_text())["truncation"]
    after = json.loads((narrow / "summary.json").read_text())["truncation"]
    for entry in after:
        sizes = sizes_of_run(before, entry["table"])
        cut = sum(size["cut"] for size in entry["sizes"])
        assert study(sizes, ZCDP, Conventions(), budget=RHO, thresholds=[3]).point(3).bias == -cut
        assert cut > 0


def test_that_sizes_are_read_from_a_file_with_all_problems_listed():
    found = read_sizes("size,households\n1,10\n2,20\n\n7+,3\n")
    assert (dict(found.counts), found.is_open) == ({1: 10, 2: 20, 7: 3}, True)
    with pytest.raises(InputProblemsError) as caught:
        read_sizes("size,households\nx,1\n2\n3,-1\n4,1\n4,2\n99999,1\n")
    assert [issue.line for issue in caught.value.issues] == [2, 3, 4, 6, 7]
    with pytest.raises(InputProblemsError):
        read_sizes("a,b\n")


@pytest.mark.parametrize(
    "make",
    [
        lambda: HouseholdSizes({}),
        lambda: HouseholdSizes({0: 5}),
        lambda: HouseholdSizes({1: -1}),
        lambda: study(SIZES, ZCDP, Conventions()),
        lambda: study(SIZES, ZCDP, Conventions(), budget=RHO, margin=Fraction(1)),
        lambda: study(SIZES, ZCDP, Conventions(), budget=Fraction(0)),
        lambda: study(SIZES, ZCDP, Conventions(), budget=RHO, share=Fraction(2)),
        lambda: study(SIZES, ZCDP, Conventions(), budget=RHO, thresholds=[0]),
        lambda: sizes_of_run([], "PH3"),
    ],
)
def test_that_what_cannot_be_studied_is_refused(make):
    with pytest.raises(StudyError):
        make()


def test_that_an_unknown_threshold_is_not_interpolated():
    with pytest.raises(KeyError):
        study(SIZES, ZCDP, Conventions(), budget=RHO, thresholds=[2]).point(3)
