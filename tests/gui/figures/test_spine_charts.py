"""The pictures of a spine, driven with keys and pointer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from phexplore.figures.axis import Scale
from phexplore.figures.histogram import Counts, paired_histograms
from phexplore.figures.map import map_figure, tint_of
from phexplore.figures.marks import Patch
from phexplore.figures.table import Table
from phexplore.figures.table import shown as written
from phexplore.gui.figures.view import FigureView
from phexplore.gui.systems.topdown.spine_panel import SpineTreeView
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.systems.topdown.spine_pictures import (
    bins_of,
    bypass_rows,
    distribution_numbers,
    map_tip,
    map_words,
    margin_rows,
)
from phexplore.systems.topdown.spine_tree import Unit
from phexplore.systems.topdown.spine_views import (
    BypassContent,
    BypassedParent,
    DistributionContent,
    MapColour,
    MarginsContent,
    Observed,
    SpineMap,
)
from tests.systems.topdown.test_spine_tree import content


@pytest.fixture
def view(qtbot):
    found = SpineTreeView()
    qtbot.addWidget(found)
    found.resize(800, 500)
    found.show()
    found.show_tree(content(blocks=60))
    return found


def test_that_arrows_walk_the_tree(qtbot, view):
    chosen = []
    view.chart.key_selected.connect(chosen.append)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Left, Qt.Key.Key_Up):
        qtbot.keyClick(view.chart.canvas, key)
    assert chosen == [Unit(1, 0), Unit(1, 1), Unit(2, 59), Unit(1, 1), Unit(1, 0), Unit(0, 0)]


def test_that_enter_fills_the_picture_with_a_unit_and_on_the_root_shows_all(qtbot, view):
    view.choose(Unit(1, 1))
    qtbot.keyClick(view.chart.canvas, Qt.Key.Key_Return)
    assert view.chart.plot.figure.x.domain == (59, 60)
    assert "County C1: 1 block." in view.sentence.text()
    assert view.path.numbers.rows[-1][3] == 1
    view.chart.plot.choose_item(0)
    qtbot.keyClick(view.chart.canvas, Qt.Key.Key_Return)
    assert view.chart.plot.figure.x.domain == (0, 60)


def test_that_the_pointer_chooses_and_a_double_click_looks_into_a_unit(view):
    pixels = view.chart.canvas.pixels
    place = QPointF(pixels.x(59.5), pixels.y(-1))
    view.chart.plot.gestures.pointer_pressed(place)
    view.chart.plot.gestures.pointer_released(place)
    assert view.chosen == Unit(1, 1)
    view.chart.plot.gestures.pointer_double_clicked(QPointF(pixels.x(5), pixels.y(-1)))
    assert view.seen == Unit(1, 0)
    view.choose(Unit(2, 59))  # out of sight
    assert view.seen == Unit(1, 1)


def test_that_choice_and_view_survive_another_budget_and_a_unit_that_went_is_let_go(view):
    view.look_into(Unit(1, 1))
    view.show_tree(content(blocks=60, total=Fraction(3)))
    assert (view.chosen, view.seen) == (Unit(1, 1), Unit(1, 1))
    view.choose(Unit(2, 30))
    view.show_tree(content(blocks=8))
    assert (view.chosen, view.seen) == (Unit(0, 0), Unit(0, 0))


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_one_block_and_many_are_drawn(qtbot, theme):
    appearance().choose(theme)
    view = SpineTreeView()
    qtbot.addWidget(view)
    view.resize(700, 600)
    view.show()
    for blocks in (2, 400_000):
        view.show_tree(content(blocks=blocks))
        picture = view.chart.canvas.grab().toImage()
        size = picture.size()
        colours = {
            picture.pixelColor(x, y).name() for x in range(80, size.width(), 9) for y in range(0, size.height(), 9)
        }
        assert len(colours) > 3
    assert "400,000 blocks" in view.chart.title
    assert view.chart.numbers.column("Units")[-1] == 400_000


def histograms(this, other):
    found = DistributionContent(
        np.array(this), None if other is None else np.array(other), "places", "distance", np.empty(0, "U1"), "F", "R"
    )
    edges = bins_of(found.this, found.other)

    def counts(title, values):
        return None if values is None else Counts(title, np.histogram(values, edges)[0], float(values.mean()))

    numbers = distribution_numbers(found, edges, "this spine", "standard spine")
    return paired_histograms(
        "distance", edges, counts("this spine", found.this), counts("standard spine", found.other),
        ("distance", "places"), ("F", "R"), numbers,
    )  # fmt: skip


@pytest.mark.parametrize(
    "values", [([1], None), ([1, 2, 3, 60], [5, 5, 900]), (list(range(2000)), [0]), ([7] * 9, [7] * 9)]
)
def test_that_bins_hold_every_number_once(values):
    this, other = values
    found = histograms(this, other)
    heights = [[part.top for part in mark.parts] for mark in found.marks]
    assert sum(parts[-1] for parts in heights) == len(this)
    assert other is None or sum(parts[0] for parts in heights) == len(other)
    assert len(found.marks) <= 33


def test_that_bins_are_walked_and_described(qtbot):
    chart = FigureView("Distance", "Later")
    qtbot.addWidget(chart)
    chart.resize(600, 400)
    chart.show()
    chart.show_figure(histograms([1, 1, 2], [2, 2, 3]))
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Right)
    assert chart.canvas.accessibleDescription() == "1: standard spine: 0; this spine: 2 places"
    qtbot.keyClick(chart.canvas, Qt.Key.Key_Right)
    assert chart.canvas.accessibleDescription() == "2: standard spine: 2; this spine: 1 places"
    assert chart.numbers.rows == (("1", 0, 2), ("2", 2, 1), ("3", 1, 0))
    chart.show_figure(histograms([4], None))
    assert chart.grab().width() == 600


def margins(**changes):
    values = {
        "what": "places",
        "names": ("a", "b", "c"),
        "this": np.array([5.0, 12.0, np.inf]),
        "other": np.array([20.0, 10.0, np.inf]),
        "why_not": "",
        "units": np.array([3, 4, 5]),
        "other_units": np.array([9, 4, 5]),
        "units_title": "off-spine distance",
        "answers": "the total",
        "z": Fraction(1645, 1000),
        "confidence": "90 %",
        "unseen": "Not seen: rounding.",
        "observed": None,
        "unobserved": "",
        "finding": "F",
        "schema": "",
    }
    return MarginsContent(**(values | changes))


def test_that_margins_stand_side_by_side_widest_first():
    found = margin_rows(margins(), "this spine", "standard spine")
    assert [row.key for row in found.marks] == ["c", "a", "b"]
    assert (found.marks[1].tick, found.marks[1].value, found.marks[1].text) == (20.0, 5.0, "±20.0 → ±5.00")
    assert found.marks[2].is_warned
    assert found.marks[0].text == "not determined"
    assert "Not seen: rounding." in found.summary
    assert found.table.rows[1] == ("a", 20.0, 5.0, -15.0, 9, 3)
    assert found.x.scale is Scale.LINEAR


def test_that_errors_of_a_run_lie_over_the_prediction():
    seen = Observed("7", 6, np.array([2.0, 8.0, 1.0]), np.full(3, 1.03), 1.03, 0.06)
    found = margin_rows(margins(observed=seen, schema="16 cells"), "this spine", "standard spine")
    assert found.marks[1].crosses == (pytest.approx(2 * 1.645),)
    assert (
        "6 trials, 1.645 × their root mean square; squared errors are 1.03 (standard error 0.06) times" in found.summary
    )
    assert (
        "Predicted for the run's data, 16 cells; the margins of the tree are for the scenario's own cells."
        in found.summary
    )
    assert found.table.headers[-1] == "Squared errors ÷ predicted variance"
    assert found.table.rows[1][-1] == pytest.approx((2 * 1.645 / 5) ** 2)
    refused = margin_rows(margins(unobserved="Run 7 was made with other parameters."), "this", "other")
    assert "other parameters" in refused.summary


def test_that_one_spine_alone_says_why_the_other_is_missing():
    found = margin_rows(
        margins(other=None, other_units=None, why_not="It does not fit."), "this spine", "standard spine"
    )
    assert "No margins on standard spine: It does not fit." in found.summary
    assert all(row.tick is None for row in found.marks)


def test_that_a_wide_range_of_margins_is_drawn_by_powers():
    values = np.array([1.0, 1.0, 900.0])
    assert margin_rows(margins(this=values, other=values), "a", "b").x.scale is Scale.COUNT


def test_that_what_bypassing_freed_is_said_exactly(qtbot):
    found = BypassContent(
        "single-child",
        (("Tract", 3, Fraction(3, 7)),),
        (("State", 1), ("Tract", 9), ("Block", 40)),
        (BypassedParent("Tract", "T1", 1, Fraction(1, 7)),),
        Fraction(3, 7),
        Fraction(6, 7),
        (("US", Fraction(1, 7)),),
        Fraction(2),
        "ρ",
    )
    rows = bypass_rows(found)
    assert rows.title == "3 units take over their children's budgets"
    assert "ρ 0.857143" in rows.summary
    assert "carries 85.71 % of the total" in rows.summary
    assert "US (14.29 %)" in rows.summary
    assert "lists the first 1" in rows.summary
    assert rows.table.rows == (("Tract", "T1", 1, Fraction(1, 7), Fraction(2, 7)),)
    assert written(rows.table.rows[0][3]) == "14.29 %", "as in its sentence"
    assert [row.text for row in rows.marks] == ["0 of 1", "3 of 9, moved 14.29 % of the total each on average"]
    chart = FigureView("Bypassed", "Later")
    qtbot.addWidget(chart)
    chart.show_figure(rows)
    assert chart.title == rows.title


def test_that_a_map_is_worded_by_what_it_colours():
    found = SpineMap(
        "Block_Group", MapColour.CHILDREN, "f", None, ("a", "b"), np.array([2.0, 30.0]), 2, "", np.array([14, 1])
    )
    assert map_words(found)[:2] == ("children", "2 block groups with shapes: children per unit 2 to 30 children")


@pytest.mark.defect("S3")
def test_that_colours_that_tell_neighbours_apart_are_no_quantity(qtbot):
    blocks = np.array([14, 1, 0])
    found = SpineMap(
        "Block_Group", MapColour.UNITS, "f", None, ("a", "b", ""), np.array([1.0, 2.0, np.nan]), 2, "", blocks
    )
    unit, title, _ = map_words(found)
    assert (unit, title) == ("", "2 block groups with shapes")
    assert map_tip(found, "a", 1.0, 14, unit) == "Block group a: 14 blocks"
    assert map_tip(found, "b", 2.0, 1, unit) == "Block group b: 1 block"
    ring = np.array([[0, 0], [1, 0], [1, 1], [0, 0]], np.float32)
    pieces = tuple(Patch(code, (ring + i,), value, "") for i, (code, value) in enumerate((("a", 1.0), ("b", 2.0))))
    series = []
    for shown in (unit, "people"):
        tint = map_figure("map", pieces, shown, ("t", "s"), Table(("x",))).tint
        series.append({tint_of(tint, piece.value)[0] for piece in pieces})
    assert len(series[0]) == 2  # colours of their own
    assert len(series[1]) == 1  # shades of one
