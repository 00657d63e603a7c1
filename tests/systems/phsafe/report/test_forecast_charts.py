from __future__ import annotations

from fractions import Fraction

import pytest
from report_fixtures import NOW, edited, pure_dp, unlimited, unpublished

from phexplore.figures.style import FigureFormat, chart_bytes, look
from phexplore.model.keys import parse_query
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.forecast_charts import (
    margins_chart,
    power_text,
    scenario_charts,
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
        "PH3 takes 54.0 % of the privacy loss",
        "Bounded ε = 16.98 at δ = 10⁻¹⁰ (zCDP, optimal α)",
    ]


def test_that_the_title_names_the_worst_miss(us):
    assert findings(edited(us))[0] == "One of 45 margins misses its target: PH3 (State, A-G), 28 instead of 20"
    two = set_budget(edited(us), parse_query("PH4/usa_*"), Fraction("0.002"))
    assert findings(two)[0] == "2 of 45 margins miss their target, most of all\nPH3 (State, A-G), 28 instead of 20"


def test_that_charts_without_meaning_are_left_out(us):
    assert [len(findings(shape(us))) for shape in (unlimited, pure_dp, unpublished)] == [1, 2, 1]
    assert findings(unpublished(us)) == ["Nothing is published: every budget is 0"]


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
    (axes,) = drawn(scenario_charts(scenario_snapshot(us, NOW))[1]).axes
    assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(100)
    assert [label.get_text() for label in axes.get_yticklabels()][:4] == ["PH3", "PH1_num", "PH4", "PH7"]


def test_that_the_curve_passes_the_certified_points(us):
    (axes,) = drawn(scenario_charts(scenario_snapshot(us, NOW))[2]).axes
    dots = {line.get_ydata()[0] for line in axes.lines if line.get_marker() == "o"}
    assert dots == {figure.value for figure in forecast(us).privacy.epsilons if figure.delta == Fraction(1, 10**10)}
    curves = [line for line in axes.lines if len(line.get_xdata()) > 2]
    assert len(curves) == 6
    assert all(list(curve.get_ydata()) == sorted(curve.get_ydata()) for curve in curves)


@pytest.mark.parametrize("index", [1, pytest.param(0, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_that_each_chart_is_the_same_bytes_twice(us, index):
    first, second = (scenario_charts(scenario_snapshot(edited(us), NOW, us))[index] for _ in range(2))
    assert chart_bytes(first, FigureFormat.SVG) == chart_bytes(second, FigureFormat.SVG)


@pytest.mark.parametrize(("value", "text"), [(1e-10, "10⁻¹⁰"), (1e3, "10³"), (2e-5, "2e-05")])
def test_that_powers_of_ten_are_set_in_print(value, text):
    assert power_text(value) == text
