from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from phexplore.figures.marks import Fill
from phexplore.gui.figures.painter import FigurePainter
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.model.keys import Region, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.share_figure import share_bars, share_title, shares_figure

PH3 = parse_query("PH3/state_A-G")


@pytest.fixture
def chart(shown, figures):
    found = shown(FigureView("Privacy loss by table", "x"), 900, 460)
    found.show_figure(shares_figure(figures))
    return found


def test_that_the_shares_of_all_bars_add_to_exactly_one(figures):
    bars = share_bars(figures)
    assert sum((bar.share for bar in bars), Fraction(0)) == 1
    assert sum((bar.budget for bar in bars), Fraction(0)) == Fraction("1.257281")
    assert list(bars) == sorted(bars, key=lambda bar: -bar.share)


def test_that_segments_fill_their_bar_without_gaps(figures):
    for bar in share_bars(figures):
        ends = [0.0, *(segment.last for segment in bar.segments)]
        assert [segment.first for segment in bar.segments] == ends[:-1]
        assert ends[-1] == pytest.approx(float(bar.share) * 100)


def test_that_the_title_names_who_takes_more_than_half(us, figures):
    spent = sum(budget for query, budget in us.method.budgets.items() if query.table == "PH3")
    share = float(spent / Fraction("1.257281")) * 100
    assert share_title(share_bars(figures)) == f"PH3 takes {share:.1f} % of the privacy loss"
    less = set_budget(us, PH3, us.method.budgets[PH3] / 2)
    bars = share_bars(forecast(less))
    both = (bars[0].share + bars[1].share) * 100
    assert share_title(bars) == f"PH3 and {bars[1].table} take {float(both):.1f} % of the privacy loss"


def test_that_the_table_has_every_segment_with_exact_numbers(chart, us):
    numbers = chart.numbers
    assert len(numbers.rows) == 46
    assert sum(numbers.column("ρ (bounded)")) == Fraction("2.514562")
    assert sum(numbers.column("Share, %")) == 100
    assert numbers.rows[0][0] == "PH3"
    assert "Bounded ρ 2.514562 is spent on 46 queries of 9 tables" in chart.summary


def test_that_small_steps_paint_what_can_be_seen_and_never_add_up_unseen(chart, us, monkeypatch):
    """A segment on the screen is never a quarter of a pixel off, and its words are never old."""
    screen, count = {mark.key: mark for mark in chart.marks}, []
    paint = FigurePainter.paint_mark

    def watched(brush, mark, row, *, is_chosen):
        count.append(mark.key)
        screen[mark.key] = mark
        paint(brush, mark, row, is_chosen=is_chosen)

    QApplication.processEvents()
    monkeypatch.setattr(FigurePainter, "paint_mark", watched)
    steps, pixels = 40, chart.canvas.pixels
    for step in range(1, steps + 1):
        more = us.method.budgets[PH3] * (1 + Fraction(step, 4000))
        chart.show_figure(shares_figure(forecast(set_budget(us, PH3, more))))
        QApplication.processEvents()
        for mark in chart.marks:
            (box,), (old,) = mark.parts, screen[mark.key].parts
            assert abs(box.low - old.low) * pixels.per_x <= 0.25
            assert abs(box.high - old.high) * pixels.per_x <= 0.25
            assert (box.text, mark.text) == (old.text, screen[mark.key].text)
    assert len(count) < steps * len(chart.marks) * 2 / 3
    first, last = shares_figure(forecast(us)).marks, chart.marks
    moved = max(abs(a.parts[0].high - b.parts[0].high) for a, b in zip(first, last, strict=True))
    assert moved * pixels.per_x > 0.5, "the steps together can be seen"


def test_that_a_click_on_a_segment_selects_it(chart):
    heard = []
    chart.key_selected.connect(heard.append)
    (box,) = next(mark for mark in chart.marks if mark.key == PH3).parts
    pixels = chart.canvas.pixels
    place = QPoint(round(pixels.x((box.low + box.high) / 2)), round(pixels.y(0)))
    viewport = chart.canvas
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place + QPoint(1, 0))
    QTest.mouseClick(
        viewport,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        QPoint(chart.canvas.width() - 3, chart.canvas.height() - 3),
    )
    assert heard == [PH3]


def test_that_the_keyboard_walks_tables_and_levels(chart):
    heard = []
    chart.key_selected.connect(heard.append)
    opened = []
    chart.key_activated.connect(opened.append)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(chart.canvas, key)
    first, second = ([mark.key for mark in chart.marks if mark.row == row] for row in (0, 1))
    assert heard[:2] == first[:2]
    assert heard[2] in second
    assert opened == heard[-1:]


def test_that_an_unlimited_budget_is_named_instead_of_drawn(chart, us):
    chart.show_figure(shares_figure(forecast(set_budget(us, PH3, UNLIMITED))))
    assert chart.is_empty
    assert "PH3 (State, A-G) is unlimited" in chart.accessibleDescription()


def test_that_nothing_published_teaches(chart, us):
    empty = us
    for query in us.method.budgets:
        empty = set_budget(empty, query, Fraction(0))
    chart.show_figure(shares_figure(forecast(empty)))
    assert chart.is_empty


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_segments_have_the_colours_of_their_levels(chart, theme, colours_in):
    from phexplore.gui.figures.painter import level_colour

    appearance().choose(theme)
    seen = colours_in(chart.canvas)
    assert level_colour(PH3.level, appearance().colours) in seen
    assert appearance().colours.base in seen


def test_that_regions_differ_without_colour(chart):
    fills = {(mark.key.level.region, part.fill) for mark in chart.marks for part in mark.parts}
    assert fills == {(Region.STATE, Fill.HATCHED), (Region.NATION, Fill.SOLID)}
