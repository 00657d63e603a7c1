from __future__ import annotations

from fractions import Fraction

import pytest
from report_fixtures import NOW, edited, pure_dp, unlimited, unpublished

from phexplore.errors import PhexploreError
from phexplore.figures.style import FigureFormat, chart_bytes, figure_style
from phexplore.model.keys import parse_query
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.scenario_document import scenario_charts
from phexplore.systems.phsafe.snapshot import scenario_snapshot
from phexplore.systems.phsafe.system import PHSAFE


def findings(scenario, compared=None):
    return [chart.finding for chart in scenario_charts(scenario_snapshot(scenario, NOW, compared))]


def drawn(chart):
    from matplotlib.figure import Figure

    figure = Figure()
    with figure_style():
        chart.draw(figure)
    (axes,) = figure.axes
    return axes


def test_that_the_titles_say_what_was_found_in_2020(us):
    assert findings(us) == [
        "All 46 targets are met",
        "PH3 takes 54.0 % of the privacy loss",
        "Bounded ε = 16.99 at δ = 10⁻¹⁰, converted from ρ",
    ]


def test_that_the_title_names_the_worst_miss(us):
    two = set_budget(edited(us), parse_query("PH4/usa_*"), Fraction("0.002"))
    assert findings(two)[0].startswith("43 of 45 targets met; widest miss PH4 (Nation, Unattributed), +")


def test_that_charts_without_meaning_are_left_out(us):
    assert [len(findings(shape(us))) for shape in (unlimited, pure_dp, unpublished)] == [1, 2, 0]
    with pytest.raises(PhexploreError, match="nothing to draw"):
        PHSAFE.formats["svg"].write(unpublished(us), None, NOW)


def test_that_every_margin_of_the_report_stands_at_its_figure(us):
    axes = drawn(scenario_charts(scenario_snapshot(us, NOW))[0])
    dots = [10 ** line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == pytest.approx([entry.margins.normal for entry in forecast(us).queries])


@pytest.mark.parametrize("index", [1, pytest.param(0, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_that_each_chart_is_the_same_bytes_twice(us, index):
    first, second = (scenario_charts(scenario_snapshot(edited(us), NOW, us))[index] for _ in range(2))
    assert chart_bytes(first, FigureFormat.SVG) == chart_bytes(second, FigureFormat.SVG)
