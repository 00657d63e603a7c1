from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from phexplore.accounting.zcdp import epsilon
from phexplore.gui.figures.canvas import Canvas
from phexplore.gui.figures.view import FigureView
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.edits import set_field
from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import epsilon_bound
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.epsilon_curves import POINTS, epsilon_curves, epsilon_figure
from phexplore.systems.phsafe.forecast import forecast

PH3 = parse_query("PH3/state_A-G")


@pytest.fixture
def chart(shown, figures):
    found = shown(FigureView("Privacy curve", "x"), 900, 420)
    found.show_figure(epsilon_figure(figures))
    return found


def test_that_every_conversion_has_a_line_for_both_neighbours_the_scenarios_first(figures):
    curves = epsilon_curves(figures)
    assert [(each.neighbours, each.conversion) for each in curves] == [
        (side, conversion) for side in (Neighbours.BOUNDED, Neighbours.UNBOUNDED) for conversion in Conversion
    ]
    assert {each.budget for each in curves} == {Fraction("2.514562"), Fraction("1.257281")}


def test_that_a_line_is_the_printed_formula(figures):
    """ρ + 2 √(ρ ln 1/δ), computed with 50 digits."""
    line = next(each for each in epsilon_curves(figures) if each.conversion is Conversion.BUN_STEINKE)
    assert len(line.exponents) == POINTS
    with mpmath.workdps(50):
        rho = mpmath.mpf(line.budget.numerator) / line.budget.denominator
        for exponent, value in zip(line.exponents, line.epsilons, strict=True):
            exact = rho + 2 * mpmath.sqrt(rho * -mpmath.log(mpmath.mpf(10) ** exponent))
            assert float(exact) <= value <= float(exact) * (1 + 1e-12)


def test_that_lines_rise_towards_smaller_delta_and_keep_their_order(figures):
    lines = {each.conversion: each for each in epsilon_curves(figures)[:3]}
    for line in lines.values():
        assert list(line.epsilons) == sorted(line.epsilons)
    for place in range(POINTS):
        assert (
            lines[Conversion.GAUSSIAN_CONTINUOUS].epsilons[place]
            < lines[Conversion.ZCDP_OPTIMAL_ALPHA].epsilons[place]
            < lines[Conversion.BUN_STEINKE].epsilons[place]
        )


def test_that_every_label_says_whose_rho_and_which_conversion(chart, figures):
    for each in epsilon_curves(figures):
        assert each.neighbours.value in each.label
        assert ("2.514562" if each.neighbours is Neighbours.BOUNDED else "1.257281") in each.label
    assert "approximation" in epsilon_curves(figures)[2].label
    assert len({each.short_label for each in epsilon_curves(figures)}) == 6


def test_that_the_number_beside_a_line_is_said_to_be_that_of_its_dot(figures):
    (entry,) = epsilon_figure(figures).key
    assert entry.text == "ε at δ = 10⁻¹⁰, written beside its line"


def test_that_the_title_is_the_forecasts_own_figure(chart, figures):
    figure = next(
        each
        for each in figures.privacy.epsilons
        if each.neighbours is Neighbours.BOUNDED and each.conversion is Conversion.ZCDP_OPTIMAL_ALPHA
    )
    assert chart.title == f"Bounded ε = {epsilon_bound(figure.value)} at δ = 10⁻¹⁰, converted from ρ"


def test_that_the_table_starts_with_the_mark_and_has_every_power_of_ten(chart, figures):
    numbers = chart.numbers
    assert numbers.rows[0] == ("1e-10 (marked)", *(each.marked for each in epsilon_curves(figures)))
    assert [row[0] for row in numbers.rows[1:]] == [f"1e-{power:02d}" for power in range(2, 21)]
    assert numbers.rows[9][1:] == numbers.rows[0][1:]
    for column, line in enumerate(epsilon_curves(figures), start=1):
        assert numbers.rows[-1][column] == epsilon(line.budget, Fraction(1, 10**20), line.conversion)


def test_that_few_points_draw_the_line_to_half_a_pixel(chart, figures):
    """Between its points a line is straight; the formula there is off by less than half a pixel of 400."""
    top = max(epsilon_curves(figures)[0].epsilons)
    for line in epsilon_curves(figures):
        for tenth in range(20, 201):
            exact = epsilon(line.budget, Fraction(10 ** (-tenth / 10)), line.conversion)
            drawn = float(np.interp(tenth / 10, [-each for each in line.exponents], line.epsilons))
            assert abs(drawn - exact) < 0.5 / 400 * top


def test_that_the_scenarios_neighbours_lead(chart, us):
    other = set_field(us, "conventions", replace(us.conventions, neighbours=Neighbours.UNBOUNDED))
    figure = epsilon_figure(forecast(other))
    chart.show_figure(figure)
    assert "unbounded" in figure.marks[0].tip
    assert chart.title.startswith("Unbounded ε")


def test_that_pure_privacy_needs_no_conversion(chart, us):
    figure = epsilon_figure(forecast(set_field(us, "framework", PrivacyFramework.PURE_DP)))
    chart.show_figure(figure)
    assert ["pure DP" in mark.tip for mark in figure.marks] == [True, True]
    assert chart.title.startswith("Bounded ε = 2.514562, for every δ")
    assert not chart.grab().isNull()


def test_that_an_unlimited_budget_has_no_guarantee(chart, us):
    figure = epsilon_figure(forecast(set_budget(us, next(iter(us.method.budgets)), UNLIMITED)))
    chart.show_figure(figure)
    assert chart.is_empty
    assert "no (ε, δ) guarantee" in chart.accessibleDescription()


def test_that_a_chosen_line_stays_chosen_when_its_number_changes(chart, us):
    chart.plot.choose_item(1)
    before = chart.plot.chosen_words
    chart.show_figure(epsilon_figure(forecast(set_budget(us, PH3, Fraction("0.5")))))
    assert chart.plot.chosen_words != before
    assert "zCDP, optimal α" in chart.plot.chosen_words


def test_that_small_steps_write_every_number_anew_and_draw_lines_before_they_are_a_quarter_pixel_off(
    chart, us, monkeypatch
):
    whole, names = [], []
    paint = Canvas.refresh

    def watched(canvas, *parts):
        names.append(chart.plot.figure.marks)
        if not parts:
            whole.append(chart.plot.figure.marks)
        paint(canvas, *parts)

    monkeypatch.setattr(Canvas, "refresh", watched)
    pixels, steps = chart.canvas.pixels, 40
    whole.append(chart.plot.figure.marks)
    for step in range(1, steps + 1):
        more = us.method.budgets[PH3] * (1 + Fraction(step, 4000))
        chart.show_figure(epsilon_figure(forecast(set_budget(us, PH3, more))))
        assert names[-1] is chart.plot.figure.marks
        for drawn, mark in zip(whole[-1], chart.plot.figure.marks, strict=True):
            off = np.abs(np.subtract(drawn.parts[0].ys, mark.parts[0].ys)) * pixels.per_y
            assert off.max() <= 0.125
    assert 2 < len(whole) < steps / 2


def test_that_lines_that_were_painted_closer_are_drawn_again_where_they_were_before(chart, us, figures):
    """A step too small to be seen is seen after zooming in; undone there, it would stay on the screen."""
    small = forecast(set_budget(us, PH3, us.method.budgets[PH3] * Fraction(20_001, 20_000)))
    chart.show_figure(epsilon_figure(small))
    chart.plot.viewport.zoom(1e-3)
    QApplication.processEvents()
    strips = []
    chart.plot.canvas.refresh = lambda *parts: strips.append(parts)
    chart.show_figure(epsilon_figure(figures))
    assert strips == [()], "everything"
