from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.figures.tile import Tone
from phexplore.metrics.coverage import coverage_of
from phexplore.model.provenance import UNMARKED
from phexplore.model.rounded import percent
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.states import RunState
from phexplore.systems.phsafe.run_tiles import (
    RunHeadline,
    bias_tile,
    coverage_tile,
    headline_tile,
    trials_tile,
    worst_tile,
)


@pytest.fixture
def run(us, run_data):
    spec = RunSpec(us, run_data, 20, 1)
    coverage = coverage_of(9020, 10000)
    return RunHeadline(
        spec, RunState.COMPLETE, 20, Fraction(9, 10), coverage, 0.004, 0.9, -0.34, (37, 100), 505.0, "PH3, Texas"
    )


def test_that_the_coverage_has_its_monte_carlo_error_and_its_aim(run):
    tile = coverage_tile(run)
    assert (tile.value, tile.beside) == ("90.20 %", "standard error 0.40 %, aimed at 90 %")
    assert tile.tone is Tone.NEUTRAL


def test_that_one_trial_has_the_error_of_independent_numbers(run):
    one = replace(run, trials=1, coverage_error=math.inf)
    error = math.sqrt(0.902 * 0.098 / 10000) * 100
    assert coverage_tile(one).beside.startswith(f"standard error {error:.2f} %")


def test_that_a_coverage_chance_cannot_explain_is_marked(run):
    off = replace(run, coverage=coverage_of(8000, 10000))
    assert coverage_tile(off).tone is Tone.ATTENTION
    assert (
        coverage_tile(off).change
        == f"further off the forecast ({percent(off.expected, places=2)}) than chance explains"
    )


def test_that_the_coverage_of_narrow_noise_is_held_against_its_exact_one(run):
    """A margin of 2 people for σ = 1.216: the discrete Gaussian, added up, lies within it with 96 %, not 90."""
    weights = [math.exp(-x * x / (2 * 1.216**2)) for x in range(-40, 41)]
    exact = sum(weights[38:43]) / sum(weights)
    narrow = replace(run, coverage=coverage_of(round(10000 * exact), 10000), coverage_error=0.002, expected=exact)
    assert exact > 0.95
    assert coverage_tile(narrow).tone is Tone.NEUTRAL
    assert coverage_tile(replace(narrow, coverage=coverage_of(9000, 10000))).tone is Tone.ATTENTION


def test_that_two_trials_alike_by_chance_do_not_make_the_coverage_certain(run):
    alike = replace(run, trials=2, coverage=coverage_of(9030, 10000), coverage_error=1e-6)
    assert coverage_tile(alike).tone is Tone.NEUTRAL
    assert coverage_tile(alike).beside.startswith("standard error 0.30 %")


def test_that_runs_without_noise_or_trials_have_no_coverage(run):
    silent = replace(run, spec=replace(run.spec, mode=RunMode.NO_NOISE), coverage=None)
    assert coverage_tile(silent).value == "–"
    assert "no noise" in coverage_tile(silent).change
    assert coverage_tile(replace(run, coverage=None)).change == "No trial yet."


def test_that_bias_and_worst_number_are_told_with_their_extent(run):
    assert (bias_tile(run).value, bias_tile(run).change) == ("−0.34", "37 of 100 measured numbers are affected")
    assert (worst_tile(run).value, worst_tile(run).change) == ("505", "PH3, Texas")
    assert bias_tile(replace(run, bias=None)).change == "The data is not counted yet."
    assert worst_tile(replace(run, worst=None)).value == "–"
    exact = replace(run, spec=replace(run.spec, mode=RunMode.NON_PRIVATE))
    assert bias_tile(exact).value == "none"


def test_that_a_second_run_is_compared_in_the_last_line(run):
    other = replace(run, coverage=coverage_of(8920, 10000), bias=-0.14, worst=500.0)
    assert coverage_tile(run, other).change == "+1.00 points against the other run"
    assert bias_tile(run, other).change == "−0.2 against the other run"
    assert worst_tile(run, other).change == "+5 against the other run"


def test_that_trials_say_whether_more_will_come_and_what_the_data_is(run):
    assert trials_tile(run).change == "complete; synthetic data"
    growing = replace(run, state=RunState.RUNNING, trials=3)
    assert (trials_tile(growing).value, trials_tile(growing).beside) == ("3", "of 20")
    assert trials_tile(growing).change.startswith("in progress")
    real = replace(run, spec=replace(run.spec, data=replace(run.spec.data, provenance=UNMARKED)))
    assert "confidential" in trials_tile(real).change


def test_that_the_window_gets_coverage_and_bias_of_the_last_run(run):
    tile = headline_tile(run)
    assert (tile.caption, tile.value, tile.beside) == ("Last run: coverage", "90.20 %", "standard error 0.40 %")
    assert tile.change == "bias −0.34 people (truncation)"
    assert headline_tile(replace(run, coverage=None)).value == "–"
