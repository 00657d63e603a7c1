"""The range of an axis: texts beside the marks fit, and a small edit leaves it where it was."""

from __future__ import annotations

import pytest

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import ROWS, Figure
from phexplore.figures.marks import Box, Mark
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


@pytest.mark.parametrize("scale", [Scale.LINEAR, Scale.LOG, Scale.SIGNED_LOG, Scale.COUNT])
def test_that_the_range_holds_every_value(scale: Scale) -> None:
    axis, values = Axis(scale=scale), (0.2, 7.0, 41.5)
    low, high = axis.range_of((*values, float("inf"), float("nan")))
    assert all(low <= axis.position(value) <= high for value in values)
