"""The pictures of TopDown: findings, selection, drags, both themes, copies."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from phexplore.figures.axis import Axis, Scale, signed_text
from phexplore.figures.figure import nothing, row_figure
from phexplore.figures.histogram import curve_of, error_histogram, noise_share, normal_curve
from phexplore.figures.map import area_true, map_figure, tint_of
from phexplore.figures.marks import Patch, Row
from phexplore.figures.table import Table
from phexplore.gui.binding.scenario_view import shown
from phexplore.gui.figures.axes import BottomAxis
from phexplore.gui.figures.view import FigureView
from phexplore.gui.systems.topdown.session import topdown_shown
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import HALF
from phexplore.model.edits import set_item
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import Workbook
from phexplore.noise.distributions import DiscreteGaussian, TwoSidedGeometric
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.figures import level_figure, semantics_figure
from phexplore.systems.topdown.heat import heat_figure
from phexplore.systems.topdown.share_cells import Quantity


def version(change=lambda scenario: scenario, name="pl94-2020-persons-us"):
    scenario = change(replace(preset(name).scenario, name="Proposal"))
    return topdown_shown(shown(Workbook((scenario,), "Proposal", name)))


def levels(shown):
    return level_figure(shown.method, shown.reference.scenario.topdown)


def put(qtbot, chart, size=(640, 480)):
    qtbot.addWidget(chart)
    chart.resize(*size)
    chart.show()
    return chart


def test_that_the_heat_table_holds_every_measurement_and_the_finding():
    heat = heat_figure(version(), Quantity.OF_TOTAL)
    assert heat.title == "Total at State takes 32.4 % of the privacy loss"
    cells = [cell for cell in heat.cells if cell.strength is not None]
    assert len(cells) == 65
    assert max(cell.strength for cell in cells) == 1.0
    assert heat.cells[0].strength is None
    margins = heat_figure(version(), Quantity.MARGIN)
    assert margins.title.startswith("Margins run from ±1.81 (total at State)")


def test_that_the_heat_chart_selects_by_pointer_and_keys(qtbot):
    chart = put(qtbot, FigureView("Heat", "x"))
    chart.show_figure(heat_figure(version(), Quantity.OF_TOTAL))
    chosen = []
    chart.key_selected.connect(chosen.append)
    pixels = chart.canvas.pixels
    chart.plot.gestures.pointer_pressed(QPointF(pixels.x(1.5), pixels.y(0)))
    assert chosen == [LevelQuery("State", "total")]
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Right)
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Down)
    assert chosen[-1] == LevelQuery("County", "cenrace")
    activated = []
    chart.key_activated.connect(activated.append)
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Return)
    assert activated == [LevelQuery("County", "cenrace")]


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_every_picture_draws_in_both_themes(qtbot, theme):
    appearance().choose(theme)
    heat, bars = put(qtbot, FigureView("Heat", "x")), put(qtbot, FigureView("Levels", "x"))
    heat.show_figure(heat_figure(version(), Quantity.OF_TOTAL))
    bars.show_figure(levels(version()))
    for chart in (heat, bars):
        image = chart.sheet.image(1.0).toImage()
        found = {image.pixelColor(x, y).name() for x in range(0, image.width(), 5) for y in range(0, image.height(), 5)}
        assert len(found) > 8
        assert not chart.is_empty
        assert chart.numbers.rows


def test_that_level_bars_show_the_reference_and_locks():
    content = levels(
        version(lambda s: set_item(set_level_share(s, "County", Fraction(1, 5)), "locked_levels", "US", value=True))
    )
    county = next(bar for bar in content.marks if bar.key == "County")
    assert (county.value, round(county.before, 2)) == (20.0, 10.91)
    assert content.marks[0].is_locked
    assert sum(row[1] for row in content.table.rows) == 1


def test_that_semantics_are_those_of_the_certificate():
    content = semantics_figure(version().figures)
    found = {(bar.group, bar.name): bar.text for bar in content.marks}
    assert found["Everything", "zCDP, optimal α"] == "17.15"
    assert found["Block within", "County"] == "11.71"
    assert found["One attribute", "hhgq"] == "7.25"
    assert content.title == "Best protected: which block of its block group a person lives in (ε 2.93)"


def test_that_what_is_proven_stands_short_beside_every_part():
    """Cut off at "proven …" a number was lost; the sentence above says what the brackets hold."""
    parts = dict.fromkeys(("County", "hhgq"), (2.0, 2.345))
    content = semantics_figure(version().figures, None, parts)
    found = {(bar.group, bar.name): bar.text for bar in content.marks}
    assert found["Block within", "County"] == "11.71 (2.35)"
    assert "in brackets the proven ε" in content.summary
    assert "brackets" not in semantics_figure(version().figures).summary


def test_that_every_column_of_a_narrow_heat_table_keeps_its_whole_name_above_it(qtbot):
    axis = BottomAxis()
    axis.use(heat_figure(version(), Quantity.OF_TOTAL).x)
    names = [tick.text for tick in axis.ticks(0.0, 6.0)]
    assert names[4] == "Block group"
    below = axis.extent(0.0, 6.0)
    axis.length = 38.0 * 6
    assert axis._upright(0.0, 6.0) == tuple(names), "whole, and upright"
    tallest = max(map(lettering().width, names))
    assert axis.extent(0.0, 6.0) == below + round(tallest - lettering().height)
    axis.names_above = True
    assert axis.rise(0.0, 6.0) == round(tallest) + HALF
    assert axis.extent(0.0, 6.0) < below, "and not below, too"
    axis.length = 6.0 * 6
    assert axis._upright(0.0, 6.0) == (), "columns narrower than a line"
    wide = max((lettering().width(name) + lettering().width("County")) / 2 for name in names) + HALF
    axis.length = wide * 6
    assert axis._upright(0.0, 6.0) == (), "a longer one beside shorter ones has room"


def test_that_no_column_of_a_heat_table_is_called_by_a_code(qtbot):
    figure = heat_figure(version(name="dhc-2020-persons-us"), Quantity.MARGIN)
    assert {"Primitive area", "Tract subset group", "Tract subset", "Block group"} <= set(figure.columns)
    chart = put(qtbot, FigureView("Heat", "x"))
    chart.show_figure(figure)
    assert chart.canvas.area.top() > chart.plot.upright > 0, "names stand above the rows"


def test_that_the_end_of_a_bar_is_dragged_and_escape_gives_it_back(qtbot):
    chart = put(qtbot, FigureView("Levels", "x"))
    chart.show_figure(levels(version()))
    dragged, cancelled = [], []
    chart.handle_dragged.connect(lambda key, value: dragged.append((key, value)))
    chart.drag_cancelled.connect(lambda _key: cancelled.append(True))
    pixels = chart.canvas.pixels
    chart.plot.gestures.pointer_pressed(QPointF(pixels.x(chart.marks[1].value), pixels.y(-1)))
    chart.plot.gestures.pointer_moved(QPointF(pixels.x(20.0), pixels.y(-1)))
    assert dragged[0][0] == "State"
    assert dragged[0][1] == pytest.approx(20.0)
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Escape)
    assert cancelled == [True]


def test_that_a_locked_bar_is_not_dragged(qtbot):
    chart = put(qtbot, FigureView("Levels", "x"))
    chart.show_figure(levels(version(lambda s: set_item(s, "locked_levels", "State", value=True))))
    dragged = []
    chart.handle_dragged.connect(lambda key, _value: dragged.append(key))
    pixels = chart.canvas.pixels
    chart.plot.gestures.pointer_pressed(QPointF(pixels.x(chart.marks[1].value), pixels.y(-1)))
    chart.plot.gestures.pointer_moved(QPointF(pixels.x(20.0), pixels.y(-1)))
    assert not dragged


def rows():
    marks = (
        Row("a", "", "First", value=-3.0, low=-20.0, high=10.0, inner_low=-5.0, inner_high=2.0, text="three"),
        Row("b", "", "Second", value=4.0, tick=1.0, dots=(3.0, 5.0), is_warned=True),
    )
    axis = Axis("people", Scale.SIGNED_LOG, text=signed_text)
    return row_figure("errors", marks, axis, "A finding", "A sentence.", Table(("x",), ((1,), (2,))), guide=0.0)


def test_that_rows_keep_zero_in_the_middle_and_hold_everything():
    figure = rows()
    low, high = figure.x_range
    assert low == -high
    assert low <= figure.x.position(-20.0)
    assert figure.x.values_between(low, high) == [-10.0, -1.0, 0.0, 1.0, 10.0]
    assert replace(figure, x=Axis("percent", domain=(0.0, 100.0))).x_range == (0.0, 100.0)


def test_that_rows_are_drawn_selected_and_activated(qtbot):
    chart = put(qtbot, FigureView("Errors", "x"))
    chart.show_figure(rows())
    assert chart.title == "A finding"
    selected, activated = [], []
    chart.key_selected.connect(selected.append)
    chart.key_activated.connect(activated.append)
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Down)
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Down)
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Return)
    assert (selected, activated) == (["a", "b"], ["b"])
    assert not chart.sheet.image(1.0).isNull()


def test_that_no_rows_say_why(qtbot):
    chart = put(qtbot, FigureView("Errors", "x"))
    chart.show_figure(nothing("errors", "Too many numbers."))
    assert chart.is_empty


def test_that_the_histogram_shows_shares_and_the_noise_over_it(qtbot):
    chart = put(qtbot, FigureView("Errors", "x"))
    edges = np.array([-1.5, -0.5, 0.5, 1.5])
    bins = (edges, np.array([25.0, 50.0, 25.0]))
    figure = error_histogram(
        "shape", bins, normal_curve(1.0, "normal"), "people", ("Half", "s"), Table(("x",), ((1,),))
    )
    chart.show_figure(figure)
    assert noise_share(0.0, 1.0, 1.0) == pytest.approx(38.29, abs=0.01)
    (curve,) = figure.over
    assert max(curve.ys) == pytest.approx(38.29, abs=0.01)
    assert not chart.sheet.image(1.0).isNull()


def test_that_noise_narrower_than_a_bin_stays_within_it_and_within_the_picture():
    edges = np.arange(-35.0, 36.0, 10.0)
    bins = (edges, np.full(7, 100 / 7))
    figure = error_histogram(
        "shape", bins, normal_curve(1.8, "normal"), "people", ("Half", "s"), Table(("x",), ((1,),))
    )
    (curve,) = figure.over
    # Of a normal distribution, 99.45 % lie within 5 / 1.8 standard deviations; its density there would be 222 %.
    assert max(curve.ys) == pytest.approx(99.45, abs=0.01)
    assert max(curve.ys) <= figure.y_range[1]
    assert sum(noise_share(10.0 * step, 1.8, 10.0) for step in range(-3, 4)) == pytest.approx(100)


@pytest.mark.parametrize("noise", [TwoSidedGeometric(Fraction(2)), DiscreteGaussian(Fraction(1, 4))])
def test_that_the_curve_is_the_distribution_of_the_noise_itself(noise):
    curve = curve_of(noise)
    assert [curve.share(x, 1.0) for x in (-3, 0, 2)] == pytest.approx([100 * exp(noise.log_pmf(x)) for x in (-3, 0, 2)])
    assert curve.share(0.0, 5.0) == pytest.approx(100 * noise.coverage(2))
    assert curve.sigma == pytest.approx(noise.variance() ** 0.5)
    same = sum(exp(2 * noise.log_pmf(x)) for x in range(-80, 81))
    assert curve_of(noise, 2).share(0.0, 1.0) == pytest.approx(100 * same)


def test_that_wide_noise_is_drawn_in_steps():
    noise = TwoSidedGeometric(Fraction(100_000))
    curve = curve_of(noise)
    assert curve.share(0.0, 200_001.0) == pytest.approx(100 * noise.coverage(100_000), abs=0.1)


def square(code, left, value):
    ring = np.array([[left, 41.0], [left + 0.1, 41.0], [left + 0.1, 41.1], [left, 41.1], [left, 41.0]], np.float32)
    return Patch(code, (area_true(ring),), value, f"{code}: {value}")


def test_that_the_map_finds_units_under_the_pointer_and_keeps_degrees_equal(qtbot):
    chart = put(qtbot, FigureView("Map", "x"))
    pieces = (square("A", -71.4, 3.0), square("B", -71.3, -1.0), square("C", -71.2, float("nan")))
    picture = map_figure("map", pieces, "people", ("t", "s"), Table(("x",), ((1,),)), is_signed=True)
    chart.show_figure(picture)
    pixels = chart.canvas.pixels
    # A degree across is cos φ as long as one upward; upward, a degree of the sine stands for 1 / cos φ degrees.
    assert abs(pixels.per_x / pixels.per_y) == pytest.approx(math.cos(math.radians(41.05)) ** 2, rel=0.02)
    chosen = []
    chart.key_selected.connect(chosen.append)
    chart.plot.gestures.pointer_pressed(
        QPointF(pixels.x(-71.25), pixels.y(float(area_true(np.array([[0.0, 41.05]]))[0, 1])))
    )
    assert chosen == ["B"]
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Right)
    assert chosen[-1] == "C"
    assert tint_of(picture.tint, 3.0)[0] != tint_of(picture.tint, -1.0)[0]
    assert tint_of(picture.tint, float("nan")) is None
    assert not chart.sheet.image(1.0).isNull()
