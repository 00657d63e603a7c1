from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from phexplore.gui.run_manager.launch_request import LaunchRequest, read_seed
from phexplore.gui.systems.phsafe.launch import FOLDER, LaunchFields, explanation, read_fields
from phexplore.runs.spec import LARGEST_SEED, RunMode, StopRule, read_limit


def test_that_the_form_as_it_opens_is_a_run_of_the_demonstration():
    assert read_fields(LaunchFields()) == LaunchRequest(Path("demo"), 20, 1, RunMode.PRIVATE, 1, None)


def test_that_every_field_reaches_the_request(us, run_data):
    fields = LaunchFields(
        data=FOLDER, folder=" /my/data ", trials=7, seed="42", workers=2, stops=True, stop_error="0,25 %"
    )
    request = read_fields(fields)
    assert request == LaunchRequest(Path("/my/data"), 7, 42, RunMode.PRIVATE, 2, StopRule(Fraction(1, 400)))
    spec = request.spec(us, run_data)
    assert (spec.trials, spec.seed, spec.workers, spec.stop) == (7, 42, 2, StopRule(Fraction(1, 400)))


def test_that_without_a_seed_the_noise_comes_from_the_system(us, run_data):
    request = read_fields(LaunchFields(seeded=False, seed="nonsense"))
    assert request.seed is None
    assert request.spec(us, run_data).is_releasable


def test_that_all_refused_fields_are_told_at_once():
    problems = read_fields(LaunchFields(data=FOLDER, seed="-1", stops=True, stop_error="200 %"))
    assert set(problems) == {"folder", "seed", "stop_error"}
    assert "'-1'" in problems["seed"]
    assert "200 %" in problems["stop_error"]


def test_that_fields_that_do_not_count_are_not_read():
    fields = LaunchFields(mode=RunMode.NO_NOISE, seed="nonsense", stops=True, stop_error="nonsense")
    assert isinstance(read_fields(fields), LaunchRequest)


def test_that_an_exact_run_has_one_trial(us, run_data):
    for mode in (RunMode.NO_NOISE, RunMode.NON_PRIVATE):
        spec = read_fields(LaunchFields(mode=mode, trials=50, workers=2)).spec(us, run_data)
        assert (spec.trials, spec.workers, spec.stop, spec.mode) == (1, 1, None, mode)


@pytest.mark.parametrize("text", ["", "1.5", "x", str(LARGEST_SEED + 1), "-3"])
def test_that_a_seed_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="A seed is a whole number"):
        read_seed(text)


@pytest.mark.parametrize("text", ["0", "100 %", "-1 %"])
def test_that_a_limit_outside_its_range_is_refused(text):
    with pytest.raises(ValueError, match="between 0 and 100 %"):
        read_limit(text)


def test_that_each_kind_of_run_says_what_it_is_not_fit_for():
    fields = LaunchFields()
    assert "never for a release" in explanation(fields)
    assert "nobody can draw it again" in explanation(replace(fields, seeded=False))
    assert "truncated counts" in explanation(replace(fields, mode=RunMode.NO_NOISE))
    assert "without protection" in explanation(replace(fields, mode=RunMode.NON_PRIVATE))
