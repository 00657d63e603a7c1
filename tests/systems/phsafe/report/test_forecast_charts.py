from __future__ import annotations

from fractions import Fraction

import pytest
from report_fixtures import NOW, edited, pure_dp, unlimited, unpublished

from phexplore.figures.look import FigureFormat, chart_bytes, look
from phexplore.model.keys import parse_query
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.forecast_charts import (
    epsilon_chart,
    margins_chart,
    power_text,
    scenario_charts,
    shares_chart,
    spread,
)
from phexplore.systems.phsafe.snapshot import scenario_snapshot


def findings(scenario, compared=None):
    return [chart.finding for chart in scenario_charts(scenario_snapshot(scenario, NOW, compared))]


def drawn(chart):
    from matplotlib.figure import Figure

    figure = Figure()
    with look():
        chart.draw(figure)
    return figure


def marks(axes, marker):
    return [line.get_xdata()[0] for line in axes.lines if line.get_marker() == marker]


def test_that_the_titles_say_what_was_found_in_2020(us):
    assert findings(us) == [
        "All 46 margins keep their target, to the nearest person",
        "PH3 (State, A-G) takes 52.7 % of the privacy loss",
        "Bounded ρ = 2.514562 means ε = 16.98 at δ = 10⁻¹⁰",
    ]


def test_that_the_title_names_the_worst_miss(us):
    assert findings(edited(us))[0] == "One of 45 margins misses its target: PH3 (State, A-G), 28 instead of 20"
    two = set_budget(edited(us), parse_query("PH4/usa_*"), Fraction("0.002"))
    assert findings(two)[0] == "2 of 45 margins miss their target, most of all\nPH3 (State, A-G), 28 instead of 20"


def test_that_charts_without_meaning_are_left_out(us):
    assert [len(findings(shape(us))) for shape in (unlimited, pure_dp, unpublished)] == [1, 2, 1]
    assert findings(unpublished(us)) == ["Nothing is published: every budget is 0"]
    with pytest.raises(ValueError, match="no privacy loss"):
        shares_chart(scenario_snapshot(unpublished(us), NOW))
    with pytest.raises(ValueError, match="only a finite"):
        epsilon_chart(forecast(pure_dp(us)))


def test_that_every_dot_and_tick_stands_at_its_figure(us):
    nation, state = drawn(margins_chart(scenario_snapshot(us, NOW))).axes
    figures = forecast(us).queries
    for axes, start in ((nation, "usa"), (state, "state")):
        expected = [entry.margins.normal for entry in figures if entry.query.level.text.startswith(start)]
        assert marks(axes, "o") == expected
    assert sorted(set(marks(state, "|"))) == [20, 68, 200]
    assert len(marks(nation, "|")) == len(marks(state, "|")) == 23


def test_that_a_compared_scenario_is_drawn_behind(us):
    nation, state = drawn(margins_chart(scenario_snapshot(edited(us), NOW, us))).axes
    hollow = [line for axes in (nation, state) for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert len(hollow) == 46
    assert "not published" in [text.get_text() for text in nation.texts]
    assert [round(value) for value in marks(state, "D")] == [28]


def test_that_bars_add_to_the_whole_loss(us):
    (axes,) = drawn(shares_chart(scenario_snapshot(us, NOW))).axes
    assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(1)
    assert [label.get_text() for label in axes.get_yticklabels()][:4] == ["PH3", "PH1_num", "PH4", "PH7"]


def test_that_the_curve_passes_the_certified_points(us):
    (axes,) = drawn(epsilon_chart(forecast(us))).axes
    dots = {line.get_ydata()[0] for line in axes.lines if line.get_marker() == "o"}
    headline = {figure.value for figure in forecast(us).privacy.epsilons if figure.neighbours.value == "bounded"}
    assert dots == headline
    curves = [line for line in axes.lines if len(line.get_xdata()) > 2]
    assert len(curves) == 3
    assert all(list(curve.get_ydata()) == sorted(curve.get_ydata(), reverse=True) for curve in curves)


@pytest.mark.parametrize("index", [1, pytest.param(0, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_that_each_chart_is_the_same_bytes_twice(us, index):
    first, second = (scenario_charts(scenario_snapshot(edited(us), NOW, us))[index] for _ in range(2))
    assert chart_bytes(first, FigureFormat.SVG) == chart_bytes(second, FigureFormat.SVG)


@pytest.mark.parametrize(
    ("heights", "expected"),
    [
        ([], []),
        ([1.0], [1.0]),
        ([0.0, 10.0], [0.0, 10.0]),
        ([5.0, 5.0], [4.5, 5.5]),
        ([1.0, 1.0, 1.0], [0.0, 1.0, 2.0]),
    ],
)
def test_that_labels_are_moved_apart_around_their_middle(heights, expected):
    assert spread(heights, 1.0) == expected


@pytest.mark.parametrize(("value", "text"), [(1e-10, "10⁻¹⁰"), (1e3, "10³"), (2e-5, "2e-05")])
def test_that_powers_of_ten_are_set_in_print(value, text):
    assert power_text(value) == text
