"""The range of an axis: texts beside the marks fit, and a small edit leaves it where it was."""

from __future__ import annotations

import numpy as np
import pytest

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import ROWS, Figure, Tint
from phexplore.figures.map import area_true, map_figure, outer_edges, scale_words
from phexplore.figures.marks import Bar, Box, Mark, Patch, Role
from phexplore.figures.table import Table

WIDTH, LETTER = 600.0, 7.0


def bars(*ends: float, text: str = "12.3 %   ρ 0.456", axis: Axis | None = None) -> Figure:
    """Return bars with a text at the end of each."""
    marks = tuple(Mark(number, (Box(0, end, -0.4, 0.4, 0),), text=text) for number, end in enumerate(ends))
    return Figure("bars", "", "", axis or Axis(is_round=True), ROWS, marks, Table(()))


def measure(text: str) -> float:
    return LETTER * len(text)


def test_that_a_small_edit_leaves_the_range() -> None:
    ranges = {bars(57.0 + 0.05 * step, 20.0).x_range_in(WIDTH, measure) for step in range(20)}
    assert len(ranges) <= 2  # one step of the rounding at most, not a new range for each


@pytest.mark.parametrize("end", [0.013, 1.0, 33.3, 57.4, 59.99, 812.0])
def test_that_the_text_beside_the_longest_mark_fits(end: float) -> None:
    figure = bars(end, end / 3)
    low, high = figure.x_range_in(WIDTH, measure)
    behind = (high - end) / (high - low) * WIDTH
    assert behind >= measure(figure.marks[0].text)


def test_that_the_range_without_texts_is_that_of_the_marks() -> None:
    figure = bars(57.4, text="")
    assert figure.x_range_in(WIDTH, measure) == figure.x_range == (0.0, 60.0)


def test_that_a_number_beside_the_longest_bar_fits_a_narrow_picture() -> None:
    """Of two thirds of it the number was cut off, and the bars kept room they did not need."""
    low, high = bars(16.89, text="16.89 (16.22)").x_range_in(150.0, measure)
    assert (high - 16.89) / (high - low) * 150.0 >= measure("16.89 (16.22)")


@pytest.mark.parametrize("scale", [Scale.LINEAR, Scale.LOG, Scale.SIGNED_LOG, Scale.COUNT])
def test_that_the_range_holds_every_value(scale: Scale) -> None:
    axis, values = Axis(scale=scale), (0.2, 7.0, 41.5)
    low, high = axis.range_of((*values, float("inf"), float("nan")))
    assert all(low <= axis.position(value) <= high for value in values)


def square(x, y):
    return np.array([[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1], [x, y]], np.float32)


def test_that_the_border_of_polygons_side_by_side_has_no_line_between_them():
    border = outer_edges([square(0, 0), square(1, 0)[::-1]])
    assert len(border) == 6
    assert not (border[:, :, 0] == 1).all(axis=1).any()
    assert len(outer_edges([square(0, 0), square(5, 0)[:-1]])) == 8  # apart, one of them not closed
    assert len(outer_edges([])) == 0
    hole = outer_edges([square(0, 0), square(0.25, 0.25) / 2])
    assert len(hole) == 8


def test_that_the_scale_says_that_farther_values_have_its_last_colour():
    assert scale_words(Tint("people", 61.24, is_signed=True)) == "−61.2 or less to +61.2 people or more"
    assert scale_words(Tint("points", 5.0, is_signed=False)) == "0 to 5 points or more"


def test_that_latitudes_of_a_map_are_round_where_it_is_not_stretched_evenly() -> None:
    ring = area_true(np.array([[-71.5, 41.77], [-71.4, 41.77], [-71.4, 41.86], [-71.5, 41.86]]))
    axis = map_figure("map", [Patch("a", (ring,), 1.0, "")], "people", ("", ""), Table(())).y
    low, high = axis.range_of([])
    assert (low, high) == pytest.approx((float(ring[0, 1]), float(ring[2, 1])), abs=1e-4)
    values = axis.values_between(low, high)
    assert [axis.label(value) for value in values][:2] == ["41.780° N", "41.800° N"]
    assert [axis.value(axis.position(value)) for value in values] == pytest.approx(values)


@pytest.mark.parametrize(("values", "limit"), [((0.0, 0.0), 1.0), ((), 1.0), ((0.0,) * 99 + (-7.0,), 7.0)])
def test_that_a_map_on_which_nothing_is_off_has_a_scale_in_whole_units(values, limit) -> None:
    patches = [Patch(str(number), (), value, "") for number, value in enumerate(values)]
    found = map_figure("map", patches, "people", ("", ""), Table(()), is_signed=True)
    assert found.tint == Tint("people", limit, is_signed=True)


def test_that_no_tick_of_a_share_stands_beyond_all_of_it() -> None:
    values = Axis(is_round=True, most_value=100.0).values_between(0.0, 130.0)
    assert max(values) == 100.0
    assert max(Axis(is_round=True).values_between(0.0, 130.0)) > 100.0


def test_that_every_bent_scale_says_so_with_the_quantity():
    captions = {scale: Axis("errors, people", scale).caption for scale in Scale}
    assert captions == {
        Scale.LINEAR: "errors, people",
        Scale.ROWS: "errors, people",
        Scale.LATITUDE: "errors, people",
        Scale.LOG: "errors, people (logarithmic)",
        Scale.SIGNED_LOG: "errors, people (logarithmic on both sides of 0)",
        Scale.COUNT: "errors, people (logarithmic from 0)",
    }
    assert Axis(scale=Scale.LOG).caption == ""


def test_that_the_stroke_of_the_reference_is_seen_on_its_bar():
    inks = [Bar("a", "", "US", 20.0, before, "", "").parts[1].ink for before in (10.0, 20.0, 30.0)]
    assert inks == [Role.BASE, Role.REFERENCE, Role.REFERENCE]
