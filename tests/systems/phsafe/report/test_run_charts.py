from __future__ import annotations

import pytest
from report_fixtures import NOW

from phexplore.figures.style import FigureFormat, chart_bytes, look
from phexplore.runs.spec import RunMode
from phexplore.systems.phsafe.results import RunResults
from phexplore.systems.phsafe.run_charts import bias_chart, coverage_chart, errors_chart, run_charts, sizes_chart
from phexplore.systems.phsafe.run_snapshot import run_snapshot
from tests.report.run_builder import made_run


def drawn(chart):
    from matplotlib.figure import Figure

    figure = Figure()
    with look():
        chart.draw(figure)
    return figure


def test_that_the_charts_of_a_sound_run_say_so(run_figures):
    findings = {chart.id: chart.finding for chart in run_charts(run_figures)}
    assert list(findings) == ["coverage", "errors", "observed", "bias", "sizes"]
    assert findings["errors"].startswith("The noise follows its exact distribution")
    assert "as they should" in findings["coverage"]
    assert findings["bias"] == "Noise outweighs truncation bias in all 28 truncated queries"
    assert findings["sizes"] == "Truncation cuts most in PH3: 170 persons, 2.18 % of the table"


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    from phexplore.systems.registry import preset

    directory = made_run(tmp_path_factory.mktemp("w") / "r", preset("sdhc-2020-us").scenario, trials=40, scale=1.5)
    return run_snapshot(RunResults.open(directory), NOW)


def test_that_the_charts_of_a_wrong_run_say_so(wrong):
    assert "the noise is not as stated" in errors_chart(wrong).finding
    assert "but should hold 90.13 %" in coverage_chart(wrong).finding


def test_that_a_run_without_noise_shows_truncation_only(tmp_path, us):
    figures = run_snapshot(RunResults.open(made_run(tmp_path / "r", us, trials=1, mode=RunMode.NO_NOISE)), NOW)
    assert [chart.id for chart in run_charts(figures)] == ["bias", "sizes"]
    with pytest.raises(ValueError, match="no coverage"):
        coverage_chart(figures)


def test_that_every_query_has_its_distribution(run_figures):
    (axes,) = drawn(errors_chart(run_figures)).axes
    # Bars, band and exact line of each.
    assert len(axes.patches) == 3 * 46
    shares = [text.get_text() for text in axes.texts if text.get_text().endswith("%")]
    assert shares == [f"{query.coverage.share.value * 100:.1f} %" for query in run_figures.queries]


def test_that_dots_of_coverage_stand_at_the_observed_share(run_figures):
    panels = drawn(coverage_chart(run_figures)).axes
    dots = sorted(line.get_xdata()[0] for axes in panels for line in axes.lines if line.get_marker() in {"o", "D"})
    assert dots == sorted(query.coverage.share.value for query in run_figures.queries)


def test_that_truncation_and_noise_are_two_marks(run_figures):
    panels = drawn(bias_chart(run_figures)).axes
    squares = [line.get_xdata()[0] for axes in panels for line in axes.lines if line.get_marker() == "s"]
    dots = [line.get_xdata()[0] for axes in panels for line in axes.lines if line.get_marker() == "o"]
    assert len(squares) == len(dots) == 28


def test_that_persons_by_household_size_are_drawn_per_table(run_figures):
    panels = drawn(sizes_chart(run_figures)).axes
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles[2] == "PH3, τ = 6: 170 cut"
    assert max(bar.get_height() for bar in panels[0].patches) == 1600


@pytest.mark.parametrize("index", [3, *(pytest.param(index, marks=pytest.mark.slow) for index in (0, 1, 2, 4))])
def test_that_each_chart_is_the_same_bytes_twice(run_figures, index):
    first, second = (run_charts(run_figures)[index] for _ in range(2))
    assert chart_bytes(first, FigureFormat.SVG) == chart_bytes(second, FigureFormat.SVG)
