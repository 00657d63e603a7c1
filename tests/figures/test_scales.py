from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.figures.scales import (
    linear_ticks,
    log_people,
    log_range,
    log_ticks,
    nice_at_least,
    nice_at_most,
    spread,
    whole_people_near,
)

positive = st.floats(1e-6, 1e9)


@given(positive)
def test_that_nice_numbers_enclose_a_value_and_are_one_two_or_five(value):
    below, above = nice_at_most(value), nice_at_least(value)
    assert below <= value * (1 + 1e-8)
    assert above >= value * (1 - 1e-8)
    for nice in (below, above):
        mantissa = nice / 10 ** math.floor(math.log10(nice) + 1e-9)
        assert any(math.isclose(mantissa, factor, rel_tol=1e-9) for factor in (1, 2, 5))
    assert above / below <= 2.5 * (1 + 1e-8)


@given(st.floats(-2, 6), st.floats(0.3, 9))
def test_that_logarithmic_ticks_are_round_inside_and_few(low, width):
    ticks = log_ticks(low, low + width)
    assert ticks == sorted(ticks)
    assert len(ticks) <= 12
    assert all(low - 1e-6 <= math.log10(tick) <= low + width + 1e-6 for tick in ticks)


@given(st.floats(-1e6, 1e6), st.floats(0.01, 1e6))
def test_that_linear_ticks_are_inside_and_few(low, width):
    ticks = linear_ticks(low, low + width)
    assert 0 < len(ticks) <= 9
    assert all(low - 1e-6 * width <= tick <= low + width * (1 + 1e-6) for tick in ticks)


def test_that_a_range_without_width_has_one_tick():
    assert linear_ticks(3.0, 3.0) == [3.0]


@given(st.floats(0.01, 1e7), st.floats(0.001, 1e5))
def test_that_a_dragged_value_is_whole_positive_and_within_half_a_step_of_the_pointer(people, resolution):
    value = whole_people_near(people, resolution)
    assert isinstance(value, int)
    assert value >= 1
    step = max(1.0, resolution)
    assert abs(value - people) <= step / 2 + 1e-6 * people or value == 1


def test_that_a_dragged_value_is_as_round_as_the_pixels_are_coarse():
    assert whole_people_near(503.7, 6.0) == 505
    assert whole_people_near(503.7, 30.0) == 500
    assert whole_people_near(20.3, 0.2) == 20


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=12), st.floats(5, 60))
def test_that_labels_keep_their_order_and_their_distance_where_there_is_room(wanted, gap):
    placed = spread(wanted, gap, 0.0, 1000.0)
    pairs = sorted(zip(wanted, placed, strict=True))
    positions = [position for _, position in pairs]
    if len(wanted) * gap <= 1000:
        assert all(second - first >= gap - 1e-6 for first, second in itertools.pairwise(positions))
        assert all(-1e-6 <= position <= 1000 + 1e-6 for position in positions)


def test_that_labels_that_do_not_collide_stay_where_they_want_to_be():
    assert spread([100.0, 10.0, 50.0], 20, 0, 200) == [100.0, 10.0, 50.0]


@pytest.mark.parametrize("values", [[], [0.0], [500.0, 500.0], [0.2, 1e9], [math.inf, 20.0]])
def test_that_a_range_holds_every_finite_value_with_room(values):
    low, high = log_range(values)
    assert high - low >= 1
    assert all(low <= log_people(value) <= high for value in values if math.isfinite(value))
