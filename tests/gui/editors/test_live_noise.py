"""Live noise: exact draws of the mechanism, seen twenty a second, by steps, and never when nobody looks."""

from __future__ import annotations

from fractions import Fraction

import pytest

from phexplore.gui.editors.live_noise import BEAT_MS, LiveNoise
from phexplore.noise.distributions import DiscreteGaussian
from phexplore.noise.draws import CHUNK, DrawRequest, NoisyAnswer, draws
from phexplore.noise.entropy import SeededEntropy
from phexplore.noise.sampler import sampler_for

NOISE = DiscreteGaussian(Fraction(1709))
ANSWER = NoisyAnswer("a count", (NOISE,), 68.0, Fraction(9, 10))


@pytest.fixture
def live(qtbot):
    found = LiveNoise()
    qtbot.addWidget(found)
    found.show_answer(ANSWER)
    found.show()
    yield found
    found.service.stop()


def test_that_draws_are_those_of_the_mechanism_and_sums_have_streams_of_their_own() -> None:
    single = draws(DrawRequest(ANSWER, 7, 2)).errors
    assert single == tuple(sampler_for(NOISE).sample(SeededEntropy(7, (2, 0)), CHUNK).tolist())
    double = draws(DrawRequest(NoisyAnswer("two", (NOISE, NOISE), 96.0, Fraction(9, 10)), 7, 2)).errors
    rest = [both - one for both, one in zip(double, single, strict=True)]
    assert rest != list(single)
    assert rest == sampler_for(NOISE).sample(SeededEntropy(7, (2, 1)), CHUNK).tolist()


def test_that_a_margin_holds_as_many_draws_as_it_promises() -> None:
    errors = draws(DrawRequest(ANSWER, 1)).errors
    inside = sum(abs(error) <= NOISE.margin(Fraction(9, 10)) for error in errors)
    assert abs(inside / CHUNK - 0.9) < 4 * (0.09 / CHUNK) ** 0.5


def test_that_it_draws_after_start_stops_and_steps(qtbot, live) -> None:
    assert not live.is_playing
    expected = draws(DrawRequest(ANSWER, 1)).errors
    live.play.click()
    qtbot.waitUntil(lambda: len(live.strip.trail) >= 3, timeout=60_000)
    assert "20 draws a second" in live.found.accessibleName() == live.held.accessibleName()  # not twenty names a second
    live.play.click()
    assert live.held.accessibleName() == live.held.text()
    seen = list(live.strip.trail)
    assert seen == list(expected[: len(seen)])
    assert not live.is_playing
    live.step.click()
    assert list(live.strip.trail) == list(expected[: len(seen) + 1])
    assert f"{1000 + expected[len(seen)]:,}" in live.found.text()
    # Orca 43 says these; it knows no announcements.
    assert live.play.accessibleDescription().startswith(f"{sum(abs(each) <= ANSWER.margin for each in seen)} of ")
    assert live.step.accessibleDescription() == live.found.text()
    assert BEAT_MS * 20 == 1000


def test_that_another_margin_begins_anew_and_hiding_ends_the_process(qtbot, live) -> None:
    live.step.click()
    qtbot.waitUntil(lambda: len(live.strip.trail) == 1, timeout=60_000)
    live.show_answer(NoisyAnswer("a count", (DiscreteGaussian(Fraction(9)),), 5.0, Fraction(9, 10)))
    assert not live.strip.trail
    assert live.step.accessibleDescription() == ""
    live.play.click()
    qtbot.waitUntil(lambda: len(live.strip.trail) > 0, timeout=60_000)
    assert live.service.process_id
    live.hide()
    assert not live.is_playing
    assert not live.service.process_id
