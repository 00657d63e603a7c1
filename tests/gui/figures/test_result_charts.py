"""The pictures of results: what they show, select and tell; drawn in both themes, empty, and with extreme values."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from origins import SYNTHETIC
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from phexplore.figures.marks import Role
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.metrics.coverage import Interval, coverage_of
from phexplore.model.keys import TableId, parse_query
from phexplore.model.provenance import UNMARKED
from phexplore.noise.distributions import DiscreteGaussian
from phexplore.systems.phsafe.error_figures import (
    ErrorSample,
    boxes_figure,
    cumulated_figure,
    errors_figure,
    histogram,
)
from phexplore.systems.phsafe.number_trace import NumberTrace, trace_figure
from phexplore.systems.phsafe.observed_figures import (
    coverage_figure,
    diagonal_figure,
    difference_figure,
    observed_numbers,
    observed_summary,
    observed_title,
)
from phexplore.systems.phsafe.run_snapshot import LevelResult, NumberResult, QueryResult, Reason, overall_of
from phexplore.systems.phsafe.truncation_figures import (
    CellBias,
    SizeCut,
    TableTruncation,
    bias_words,
    cells_figure,
    levels_figure,
    sizes_figure,
)
from phexplore.systems.phsafe.worst_figure import worst_figure

QUERY, OTHER = parse_query("PH3/state_A-G"), parse_query("PH2/usa_*")
NOISE = DiscreteGaussian(Fraction(148))
themes = pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])


def errors(count=500):
    rng = np.random.default_rng(1)
    drawn = np.rint(rng.normal(0, 12.2, count)).astype(np.int64)
    return ErrorSample(QUERY, "all cells", drawn, NOISE, 20.0, Fraction(9, 10), trials=5)


def result(query, margin, band, observed, held, errors, **changes):
    given = QueryResult(
        query, margin, band, NOISE, 20, coverage_of(held, errors), (held // 2, held - held // 2), 0.9, observed
    )
    return replace(given, **changes)


def margins(**changes):
    agreeing = result(QUERY, 20.0, (19.0, 20.0), Interval(20.5, 19.5, 21.5), 450, 500, **changes)
    return [agreeing, result(OTHER, 500.0, (498.0, 500.04), Interval(560.0, 530.0, 600.0), 10, 40)]


SIZES = TableTruncation(
    TableId("PH3"), 5, (SizeCut(1, 90, 90, 0), SizeCut(5, 2, 10, 0), SizeCut(6, 3, 18, 3), SizeCut(9, 1, 9, 4)), 9
)
CELLS = (CellBias("Grandchild", -3.5, -9, 100.0, 20.0, 52), CellBias("A very long name of a cell " * 5, 0, 0, 5, 20, 1))


def story(**changes):
    given = NumberTrace(
        "PH3, Texas, Grandchild", 1000, 990, [985, 1100, 991], [0, 1, 2], 20.0, 0.9, provenance=SYNTHETIC, unit="people"
    )
    return replace(given, **changes)


def number(**changes):
    given = NumberResult(QUERY, "48", "D", 9, 1000, 1001, -2, 20.0, mean_error=13.0, mean_noise=12.0, largest_error=-40)
    return replace(given, **changes)


# Errors


def distributions():
    sample = errors()
    return (errors_figure(sample), cumulated_figure(sample), boxes_figure(sample, [sample]))


def test_that_every_kind_of_distribution_shows_its_own_table(shown):
    chart = shown(FigureView("Errors", "x"))
    headers = set()
    for figure in distributions():
        chart.show_figure(figure)
        headers.add(chart.numbers.headers)
        assert not chart.is_empty
        assert not chart.sheet.image(1.0).isNull()
    assert len(headers) == 3
    assert chart.numbers.column("Errors") == (500,)


def test_that_a_histogram_holds_the_shares_and_the_exact_noise_over_them():
    figure = distributions()[0]
    found = histogram(errors())
    assert sum(mark.parts[0].top for mark in figure.marks) == pytest.approx(found.shares.sum())
    (steps,) = [part for part in figure.over if getattr(part, "is_stepped", False)]
    assert steps.ys[:-1] == pytest.approx(found.expected)
    assert len(figure.key) == 3


@themes
@pytest.mark.parametrize("kind", range(3))
def test_that_distributions_are_drawn_in_the_theme(shown, colours_in, theme, kind):
    appearance().choose(theme)
    chart = shown(FigureView("Errors", "x"), 700, 400)
    chart.show_figure(distributions()[kind])
    seen = colours_in(chart.canvas)
    assert {appearance().colours.base, appearance().colours.text} <= seen


# Observed margins


def test_that_an_interval_that_meets_the_conventions_agrees():
    agreeing, missing = margins()
    assert agreeing.agrees
    assert not missing.agrees
    assert agreeing.percent_off(21.0) == pytest.approx(5)
    assert observed_title([agreeing]) == "All 1 observed margins agree with the forecast"
    endless = replace(agreeing, observed=Interval(20.5, 19.5, math.inf))
    assert observed_title([endless]).endswith("; trials are too few to bound 1 of them from above")
    assert observed_title(margins()).startswith("1 of 2 observed margins agree with the forecast")


def test_that_no_noise_as_expected_is_no_difference():
    silent = result(QUERY, 0.0, (0.0, 0.0), Interval(0.0, 0.0, 0.0), 10, 10)
    assert silent.agrees
    assert silent.percent_off(0.0) == 0
    assert "trial" in observed_summary([silent], Fraction(9, 10), 1)


def test_that_the_sentence_names_the_largest_difference():
    assert "the largest difference is +12.0 % at PH2 (Nation, Unattributed) (560 against 500 people)" in (
        observed_summary(margins(), Fraction(9, 10), 5)
    )


def test_that_the_other_run_has_a_column_only_when_there_is_one():
    assert "Other run" not in observed_numbers(margins()).headers
    assert observed_numbers(margins(compared=19.0)).column("Other run") == (19.0, None)


def test_that_the_key_explains_the_third_colour_where_the_range_lies_over_the_bars():
    *_, band = errors_figure(errors()).key
    assert band.text == "95 % range of 500 errors, darker over the bars"
    *_, band = cumulated_figure(errors()).key  # of lines alone
    assert band.text == "95 % range of 500 errors"


def test_that_the_scroll_bar_takes_the_dots_of_another_run_for_no_changes(shown):
    chart = shown(FigureView("Observed margins", "Nothing yet"))
    chart.show_figure(difference_figure(margins(compared=19.0), Fraction(9, 10), 5))
    assert set(chart.plot.bar.told.values()) == {Role.MISSED}


def test_that_an_interval_beyond_the_axis_says_where_it_ends():
    wide = result(OTHER, 10.0, (9.0, 10.0), Interval(12.0, 5.0, 45.0), 3, 4)
    inside, beyond = difference_figure([margins()[0], wide], Fraction(9, 10), 1).marks
    assert inside.text == ""
    assert beyond.text.endswith("interval to +350.0 % →")


@pytest.mark.parametrize("kind", [difference_figure, diagonal_figure])
def test_that_a_row_is_selected_by_key_and_pointer(shown, kind):
    chart = shown(FigureView("Observed margins", "x"))
    chart.show_figure(kind(margins(compared=22.0), Fraction(9, 10), 5))
    heard = []
    chart.key_selected.connect(heard.append)
    QTest.keyClick(chart.canvas, Qt.Key.Key_Down)
    QTest.keyClick(chart.canvas, Qt.Key.Key_Down)
    first, second = (mark.key for mark in chart.marks)
    assert heard == [first, second]
    chart.select_key(first)
    assert heard == [first, second]
    assert chart.numbers.column("Agrees") == ("yes", "no")
    assert not chart.sheet.image(1.0).isNull()


@themes
def test_that_a_margin_that_disagrees_is_drawn_in_the_colour_of_attention(shown, colours_in, theme):
    appearance().choose(theme)
    chart = shown(FigureView("Observed margins", "x"), 700, 400)
    chart.show_figure(difference_figure(margins()[:1], Fraction(9, 10), 5))
    assert appearance().colours.attention not in colours_in(chart.canvas)
    chart.show_figure(difference_figure(margins(), Fraction(9, 10), 5))
    assert appearance().colours.attention in colours_in(chart.canvas)


def test_that_a_coverage_outside_its_interval_is_marked_and_the_whole_is_judged():
    given = margins()
    figure = coverage_figure(given, Fraction(9, 10), overall_of(given))
    assert [mark.is_warned for mark in figure.marks] == [False, True]
    assert [mark.value for mark in figure.marks] == [0.9, 0.25]
    assert (
        figure.title
        == "The 90 % margins contained 85.19 % of the noise (standard error 1.53 %), as they should (90.00 %)"
    )
    wrong = [replace(each, expected_coverage=0.99) for each in given]
    assert "PH5_num from PH4, PH8_num from PH7" in figure.summary  # why fewer numbers are measured than published
    assert "but should hold 99.00 %" in coverage_figure(wrong, Fraction(9, 10), overall_of(wrong)).title


def test_that_no_observed_margins_teach(shown):
    chart = shown(FigureView("Observed margins", "x"))
    chart.show_figure(difference_figure([], Fraction(9, 10), 0))
    assert chart.is_empty


# Truncation


def test_that_cut_people_are_counted_by_household_size(shown):
    chart = shown(FigureView("Truncation bias", "x"))
    chart.show_figure(sizes_figure([SIZES]))
    assert chart.title == "PH3: a threshold of 5 leaves out at least 7 people (5.512 %) of 4 households"
    assert chart.numbers.column("Left out, people") == (0, 3, 4)
    assert chart.numbers.column("Household") == ("1 to 5 people", "6 people", "9 or more people")
    assert sum(chart.numbers.column("People")) == SIZES.persons == 127


def test_that_bias_and_noise_of_cells_stand_side_by_side(shown):
    chart = shown(FigureView("Truncation bias", "x"))
    chart.show_figure(cells_figure(QUERY, CELLS))
    assert "truncation takes 3.5 people on average from Grandchild; the noise margin is ±20" in chart.title
    assert chart.numbers.column("Truncation bias, mean people") == (-3.5, 0)
    assert chart.numbers.column("Noise margin, ± people") == (20.0, 20)
    assert not chart.sheet.image(1.0).isNull()


def test_that_all_tables_stand_below_each_other_and_the_worst_is_named():
    other = replace(SIZES, table=TableId("PH7"), sizes=(SizeCut(1, 10, 10, 0), SizeCut(6, 9, 54, 9)))
    figure = sizes_figure([SIZES, other], "all-sizes")
    assert [mark.group for mark in figure.marks] == ["PH3"] * 3 + ["PH7"] * 2
    assert figure.title.startswith("PH7: a threshold of 5 leaves out 9 people")
    assert sum(figure.table.column("Left out, people")) == SIZES.cut + other.cut


def test_that_bias_and_noise_of_every_query_are_two_signs():
    nothing = float("nan")
    small = LevelResult(QUERY, 10, nothing, nothing, -1.0, 2.0, nothing, nothing, nothing, sigma=12.0)
    large = replace(small, query=OTHER, noise_rmse=4.0, bias_rmse=8.0)
    figure = levels_figure([small, large])
    assert [[part.x for part in mark.parts[1:]] for mark in figure.marks] == [[12.0, 2.0], [4.0, 8.0]]
    assert figure.title.startswith("Truncation costs more than noise in 1 of 2 truncated queries, most of all PH2")
    assert levels_figure([small]).title == "Noise outweighs truncation bias in all 1 truncated queries"


def test_that_a_table_without_threshold_says_so(shown):
    chart = shown(FigureView("Truncation bias", "x"))
    chart.show_figure(sizes_figure([]))
    assert chart.is_empty
    assert "no truncation threshold" in chart.accessibleDescription()


def test_that_a_threshold_nobody_reaches_leaves_nobody_out(shown):
    chart = shown(FigureView("Truncation bias", "x"))
    chart.show_figure(sizes_figure([replace(SIZES, sizes=SIZES.sizes[:2])]))
    assert chart.title == "PH3: a threshold of 5 leaves nobody out"
    chart.show_figure(cells_figure(QUERY, CELLS[1:]))
    assert chart.title == "PH3 (State, A-G): truncation changes no number"


@pytest.mark.parametrize(("value", "words"), [(0, "0"), (-0.004, "−0.004"), (0.0004, "+0.0004"), (-12.34, "−12.3")])
def test_that_a_bias_reads_0_only_when_there_is_none(value, words):
    assert bias_words(value) == words


# One number


def test_that_one_number_is_told_from_truth_to_release(shown):
    chart = shown(FigureView("One number", "x"))
    chart.show_figure(trace_figure(story()))
    assert chart.title == "PH3, Texas, Grandchild: true 1,000, truncated 990, measured between 985 and 1,100"
    assert (
        "Truncation changes the number by −10 people; in 2 of 3 trials the noise stayed within ±20 people (90 %)"
        in (chart.summary)
    )
    assert chart.numbers.column("Noise, people") == (None, None, -5, 110, 1)
    assert chart.numbers.column("Truncation bias, people")[1] == -10


def test_that_real_data_is_called_confidential(shown):
    chart = shown(FigureView("One number", "x"))
    chart.show_figure(trace_figure(story(provenance=UNMARKED)))
    assert "The true count is confidential" in chart.summary
    assert chart.plot.axis.labels[0].name == "true (confidential)"


def test_that_a_number_that_is_not_published_says_why(shown):
    chart = shown(FigureView("One number", "x"))
    chart.show_figure(trace_figure(None, "It may not be published."))
    assert chart.is_empty
    assert chart.accessibleDescription() == "It may not be published."


@pytest.mark.parametrize("measured", [[], [990], [990] * 3000, [-(10**9), 10**9]])
def test_that_no_trial_equal_trials_and_huge_noise_are_drawn(shown, measured):
    chart = shown(FigureView("One number", "x"))
    chart.show_figure(trace_figure(story(measured=measured, trials=list(range(len(measured))))))
    assert not chart.sheet.image(1.0).isNull()
    assert len(chart.numbers.rows) == 2 + len(measured)


# Worst numbers


@pytest.mark.parametrize(
    ("bias", "noise", "reason"),
    [
        (-100, 12.0, Reason.TRUNCATION),
        (-10, 12.0, Reason.BOTH),
        (0, 12.0, Reason.NOISE),
        (-1, 45.0, Reason.UNUSUAL_NOISE),
    ],
)
def test_that_a_bad_number_names_its_reason(bias, noise, reason):
    assert number(bias=bias, mean_noise=noise).reason is reason


def test_that_the_worst_come_first_as_a_table_with_reasons(shown):
    chart = shown(FigureView("Worst numbers", "x"))
    chart.show_figure(worst_figure([number(bias=-100, mean_error=99.0), number()], 5))
    assert chart.title == "Worst: PH3, Texas, Asian alone, off by 99 people on average (truncation)"
    assert chart.numbers.column("Reason") == ("truncation", "noise")
    assert chart.numbers.column("Mean absolute error") == (99.0, 13.0)
    first = (
        "Table",
        "Mean absolute error",
        "Counted",
        "Reason",
        "Region",
        "Group",
        "Cell",
        "True count",
    )  # in sight in a narrow window
    assert chart.numbers.headers[:8] == first
    assert "truncation makes up much of the error of 1 of them" in chart.summary


def test_that_an_error_of_a_count_of_households_is_no_number_of_people():
    families = number(query=parse_query("PH5_denom/state_*"), code="*", cell_code=1)
    assert "off by 13 families on average" in worst_figure([families], 5).title
    assert families.explanation.startswith("noise 12 families on average")
    figure = worst_figure([families, number()], 5)
    assert figure.table.column("Counted") == ("families", "people")
    assert figure.x.title.startswith("people or households:")
    sample = replace(errors(), query=families.query)
    for each in (errors_figure(sample), cumulated_figure(sample), boxes_figure(sample, [sample])):
        assert "families" in each.title
        assert each.x.title == "error, families"
        assert "people" not in " ".join((each.title, each.summary, *each.table.headers))
    (mark,) = difference_figure([replace(margins()[0], query=families.query)], Fraction(9, 10), 5).marks
    assert "20.5 families" in mark.tip


def test_that_a_bad_number_is_chosen_and_looked_into(shown):
    chart = shown(FigureView("Worst numbers", "x"))
    given = [number(), number(region_id="39")]
    chart.show_figure(worst_figure(given, 5))
    chosen, opened = [], []
    chart.key_selected.connect(chosen.append)
    chart.key_activated.connect(opened.append)
    chart.show_table(visible=True)
    chart.table.selectRow(1)
    chart.show_table(visible=False)
    QTest.keyClick(chart.canvas, Qt.Key.Key_Home)
    QTest.keyClick(chart.canvas, Qt.Key.Key_Return)
    first, second = (mark.key for mark in chart.marks)
    assert chosen == [second, first]
    assert opened == [first]
    assert not chart.sheet.image(1.0).isNull()


def test_that_without_trials_there_are_no_worst_numbers(shown):
    chart = shown(FigureView("Worst numbers", "x"))
    chart.show_figure(worst_figure([], 0))
    assert chart.is_empty
