from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from phexplore.figures.axis import Axis
from phexplore.figures.figure import ROWS, Figure
from phexplore.figures.marks import Dot, Mark, Role, Span
from phexplore.figures.table import Table
from phexplore.gui.figures.painter import colour_of
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.gui.theme.lettering import Lettering, lettering
from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.margin_figure import TEACHING, margins_figure
from phexplore.systems.phsafe.share_figure import shares_figure

PH1 = parse_query("PH1_num/usa_*")
PH3 = parse_query("PH3/state_A-G")


class Heard:
    """What a chart said, in order."""

    def __init__(self, chart):
        self.all = []
        for name in ("key_selected", "key_activated", "handle_dragged", "handle_released", "drag_cancelled"):
            getattr(chart, name).connect(lambda *values, name=name: self.all.append((name, *values)))

    def of(self, name):
        return [entry[1:] for entry in self.all if entry[0] == name]


@pytest.fixture
def chart(shown, us, figures):
    found = shown(FigureView("Margins of error", TEACHING))
    found.show_figure(margins_figure(figures, us.method.targets, figures, frozenset()))
    return found


def test_that_the_wheel_scrolls_the_rows_and_at_their_end_the_page(chart):
    chart.canvas.setFocus()
    assert chart.plot.viewport.has_hidden_rows
    assert chart.plot.gestures.wheel_turned(3)
    assert chart.plot.gestures.wheel_turned(1000)
    assert not chart.plot.gestures.wheel_turned(3)
    assert not chart.plot.viewport.is_zoomed


def test_that_the_scroll_bar_shows_where_missed_and_changed_rows_lie(chart, us, figures):
    assert chart.plot.bar.told == {}
    other = forecast(set_budget(us, PH3, Fraction("0.5")))
    chart.show_figure(margins_figure(other, us.method.targets, figures, frozenset()))
    row = [mark.key for mark in chart.marks].index(PH3)
    assert chart.plot.bar.told == {row: Role.MISSED}
    assert chart.plot.bar.toolTip() == "Strokes show where rows lie: 1 marked for attention"
    picture = chart.plot.bar.grab().toImage()
    missed = QColor(colour_of(Role.MISSED, appearance().colours))
    assert any(picture.pixelColor(2, y) == missed for y in range(picture.height()))


class Paintings(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget):
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched, event):
        self.count += event.type() == QEvent.Type.Paint
        return False


def test_that_the_scroll_bar_is_painted_again_only_where_a_stroke_comes_or_goes(chart, us, figures):
    QApplication.processEvents()
    paintings = Paintings(chart.plot.bar)
    found = []
    for budget in ("0.5", "0.4", "0.3"):  # missed with each of them
        other = forecast(set_budget(us, PH3, Fraction(budget)))
        chart.show_figure(margins_figure(other, us.method.targets, figures, frozenset()))
        QApplication.processEvents()
        found.append(paintings.count)
    assert found == [1, 1, 1]


def position_of(chart, query):
    """Return where the dot of a query is, in pixels of the canvas."""
    pixels, figure = chart.canvas.pixels, chart.plot.figure
    row = [mark.key for mark in figure.marks].index(query)
    x = max(pixels.x(figure.x.position(figure.marks[row].anchor)), pixels.area.left() + 7)
    return QPointF(x, pixels.y(-row))


def drag(chart, query, *steps):
    """Take a dot and move it horizontally by these pixels, one after the other, without letting go."""
    start = position_of(chart, query).toPoint()
    viewport = chart.canvas
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
    for step in steps:
        QTest.mouseMove(viewport, start + QPoint(step, 0))
    return start + QPoint(steps[-1], 0)


def let_go(chart, place):
    QTest.mouseRelease(chart.canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)


def test_that_the_table_has_the_numbers_of_the_picture(chart, figures):
    assert len(chart.marks) == 46
    assert chart.numbers.headers[:3] == ("Table", "Level", "Margin, 90 %")  # in sight in a narrow picture, too
    assert chart.numbers.column("Margin, 90 %") == tuple(entry.margins.normal for entry in figures.queries)
    assert chart.title == "All 46 targets are met"


def test_that_a_drag_tells_every_value_once_and_ends_once(chart):
    heard = Heard(chart)
    let_go(chart, drag(chart, PH1, -5, -20, -20, -60))
    values = [value for _, value in heard.of("handle_dragged")]
    assert {query for query, _ in heard.of("handle_dragged")} == {PH1}
    assert values == sorted(set(values), reverse=True)
    assert len(values) == 3
    assert all(isinstance(value, int) and 1 <= value < 500 for value in values)
    assert heard.of("handle_released") == [(PH1,)]
    assert heard.of("drag_cancelled") == []


def test_that_a_click_without_a_move_selects_and_edits_nothing(chart):
    heard = Heard(chart)
    place = position_of(chart, PH1).toPoint()
    QTest.mouseClick(chart.canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert heard.all == [("key_selected", PH1)]


def test_that_escape_during_a_drag_cancels_it(chart):
    heard = Heard(chart)
    place = drag(chart, PH1, -30)
    QTest.keyClick(chart.canvas, Qt.Key.Key_Escape)
    let_go(chart, place)
    assert heard.of("drag_cancelled") == [(PH1,)]
    assert heard.of("handle_released") == []


def test_that_the_axis_stays_under_a_dragged_dot(chart, us, figures):
    before = chart.canvas.pixels.view
    drag(chart, PH1, -100)
    narrower = set_budget(us, PH1, us.method.budgets[PH1] * 10000)
    chart.show_figure(margins_figure(forecast(narrower), us.method.targets, figures))
    assert chart.canvas.pixels.view == before


def test_that_a_locked_dot_stays(chart, us, figures):
    chart.show_figure(margins_figure(figures, us.method.targets, None, frozenset({PH1})))
    heard = Heard(chart)
    let_go(chart, drag(chart, PH1, -40))
    assert heard.of("handle_dragged") == []
    assert heard.of("key_selected") == [(PH1,)]


def test_that_the_keyboard_walks_rows_and_moves_dots(chart):
    heard = Heard(chart)
    QTest.keyClick(chart.canvas, Qt.Key.Key_Down)
    QTest.keyClick(chart.canvas, Qt.Key.Key_End)
    QTest.keyClick(chart.canvas, Qt.Key.Key_Home)
    assert heard.of("key_selected") == [(PH1,), (chart.marks[-1].key,), (PH1,)]
    QTest.keyPress(chart.canvas, Qt.Key.Key_Left)
    QTest.keyPress(chart.canvas, Qt.Key.Key_Left)
    assert heard.of("handle_released") == []
    QTest.keyRelease(chart.canvas, Qt.Key.Key_Left)
    values = [value for _, value in heard.of("handle_dragged")]
    assert values == [495, 490]
    assert heard.of("handle_released") == [(PH1,)]
    QTest.keyClick(chart.canvas, Qt.Key.Key_Return)
    assert heard.of("key_activated") == [(PH1,)]


def test_that_a_row_chosen_elsewhere_is_shown_and_not_announced(chart):
    heard = Heard(chart)
    chart.select_key(chart.marks[-1].key)
    assert heard.all == []
    assert position_of(chart, chart.marks[-1].key).y() < chart.canvas.height()
    chart.show_table(visible=True)
    assert chart.table.currentIndex().row() == 45


def test_that_moving_in_the_table_selects_the_row_of_the_picture(chart):
    heard = Heard(chart)
    chart.show_table(visible=True)
    chart.table.selectRow(3)
    assert heard.of("key_selected") == [(chart.marks[3].key,)]


def test_that_hovering_tells_the_query_and_changes_nothing(chart, qtbot):
    hovered = []
    chart.key_hovered.connect(hovered.append)
    heard = Heard(chart)
    QTest.mouseMove(chart.canvas, position_of(chart, PH1).toPoint())
    chart.plot.gestures.pointer_left()
    assert hovered == [PH1, None]
    assert heard.all == []


def test_that_nothing_published_teaches(chart, us):
    empty = us
    for query in us.method.budgets:
        empty = set_budget(empty, query, Fraction(0))
    chart.show_figure(margins_figure(forecast(empty), {}))
    assert chart.is_empty


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_a_missed_target_is_drawn_in_the_colour_of_attention(chart, us, figures, theme, colours_in):
    appearance().choose(theme)
    colours = appearance().colours
    assert colours.attention not in colours_in(chart.canvas)
    worse = set_budget(us, PH1, us.method.budgets[PH1] / 4)
    chart.show_figure(margins_figure(forecast(worse), us.method.targets, figures))
    seen = colours_in(chart.canvas)
    assert {colours.attention, colours.base, colours.accent_ink} <= seen


def test_that_no_noise_and_huge_margins_are_drawn_inside_the_picture(chart, us):
    scenario = set_budget(set_budget(us, PH1, UNLIMITED), PH3, Fraction(1, 10**12))
    chart.show_figure(margins_figure(forecast(scenario), {}))
    area = chart.canvas.pixels.area
    for query in (PH1, PH3):
        assert area.left() <= position_of(chart, query).x() <= area.right()
    assert not chart.grab().isNull()


@pytest.mark.parametrize("width", [400, 430, 700, 1200])  # the window leaves it 430 at least
def test_that_numbers_beside_dots_are_not_cut_at_any_width(shown, us, width, monkeypatch):
    """Also those of the widest rows, with what they exceed their target by."""
    wide = us
    for query in list(us.method.budgets)[:4]:
        wide = set_budget(wide, query, us.method.budgets[query] / 50)
    chart = shown(FigureView("Margins of error", TEACHING), width, 700)
    drawn = []
    monkeypatch.setattr(
        Lettering, "draw", lambda face, _painter, place, text, *_: drawn.append((text, place.x(), face.width(text)))
    )
    figure = margins_figure(forecast(wide), us.method.targets)
    chart.show_figure(figure)
    chart.grab()
    numbers, area = {mark.text for mark in figure.marks}, chart.canvas.area
    beside = [(left, left + width) for text, left, width in drawn if text in numbers]
    assert beside
    assert [place for place in beside if not area.left() <= place[0] <= place[1] <= area.right()] == []


def test_that_few_rows_take_the_height_of_a_tall_picture_but_do_not_become_blocks(shown, us, figures):
    chart = shown(FigureView("Margins of error", TEACHING))
    chart.resize(600, 520)
    chart.show_figure(margins_figure(figures, us.method.targets).brief(6))
    pixels = chart.canvas.pixels
    height = pixels.y(-1.0) - pixels.y(0.0)
    assert 2.2 * (lettering().height + 6) < height < 2.7 * (lettering().height + 6)
    assert chart.canvas.area.height() == pytest.approx(6 * height, abs=2), "the axis stands below the last row"
    chart.show_figure(margins_figure(figures, us.method.targets))
    assert chart.canvas.area.bottom() > chart.canvas.height() - 60, "many rows take all there is"


@pytest.mark.parametrize("dot", [-30.0, 55.0])  # the words keep off the dot, too
def test_that_no_line_strikes_out_words_that_lie_over_it(shown, dot, monkeypatch):
    places = []

    paint = Lettering.draw

    def draw(face, painter, place, text, *more):
        if text == "interval without an end":
            places.append(place.x())
        paint(face, painter, place, text, *more)

    monkeypatch.setattr(Lettering, "draw", draw)
    line = Mark("a", (Span(-95.0, 100.0), Dot(dot)), "", "a", "interval without an end", anchor=100.0)
    figure = Figure("f", "", "", Axis(domain=(-100.0, 100.0)), ROWS, (line,), Table(()))
    chart = shown(FigureView("Margins of error", TEACHING))
    chart.resize(300, 200)
    chart.show_figure(figure)
    pixels, image = chart.canvas.pixels, chart.canvas.grab().toImage()
    ink = QColor(colour_of(Role.MAIN, appearance().colours)).rgb()
    middle = round(pixels.y(0.0))
    width = lettering().width(line.text)
    over = range(int(places[-1]), int(places[-1] + width) - 2)
    assert not places[-1] - 5 < pixels.x(dot) < places[-1] + width + 5
    assert len(over) > 100
    assert ink not in {image.pixelColor(x, y).rgb() for x in over for y in (middle - 1, middle)}


def test_that_no_dot_is_hidden_behind_words_that_lie_over_it(shown):
    """Where words have no room beside a line they are put on a plate, and the plate hid the number."""
    line = Mark("a", (Span(-80.0, 100.0), Dot(55.0, ink=Role.MISSED)), "", "a", "interval without an end", anchor=100.0)
    chart = shown(FigureView("Margins of error", TEACHING))
    chart.resize(300, 200)
    chart.show_figure(Figure("f", "", "", Axis(domain=(-100.0, 100.0)), ROWS, (line,), Table(())))
    pixels, image = chart.canvas.pixels, chart.canvas.grab().toImage()
    ink = QColor(colour_of(Role.MISSED, appearance().colours)).rgb()
    dot, middle = round(pixels.x(55.0)), round(pixels.y(0.0))
    around = {image.pixelColor(x, y).rgb() for x in range(dot - 4, dot + 5) for y in range(middle - 4, middle + 4)}
    assert ink in around


def test_that_a_bar_that_appears_while_the_picture_shrinks_has_its_width(shown, us, qtbot):
    """Rows lay out of sight, and nothing said so."""
    chart = shown(FigureView("Shares", TEACHING), 576, 411)
    chart.show_figure(shares_figure(forecast(us)))
    qtbot.waitUntil(lambda: not chart.plot.bar.isVisible())
    chart.resize(576, 380)
    qtbot.waitUntil(chart.plot.bar.isVisible)
    qtbot.waitUntil(lambda: chart.plot.bar.width() > 8)
    assert chart.plot.bar.geometry().right() < chart.plot.width()


def test_that_a_number_left_of_its_dot_keeps_off_the_ring_beside_it(shown, monkeypatch):
    drawn = {}
    monkeypatch.setattr(
        Lettering, "draw", lambda face, _painter, place, text, *_: drawn.update({text: place.x() + face.width(text)})
    )
    chart = shown(FigureView("Margins of error", TEACHING), 576, 300)
    ring, dot = Dot(88.7, ink=Role.REFERENCE, is_hollow=True), Dot(90.0)
    marks = (Mark("a", (ring, dot), "", "a", "591  +91.0 people", anchor=90.0),)
    chart.show_figure(Figure("f", "", "", Axis(domain=(0.0, 100.0)), ROWS, marks, Table(())))
    drawn.clear()
    chart.grab()
    pixels = chart.canvas.pixels
    assert pixels.x(90.0) - pixels.x(88.7) < 7
    assert drawn["591  +91.0 people"] < pixels.x(88.7) - ring.size


def test_that_the_number_of_a_dot_at_the_edge_stands_before_the_ring_and_not_beyond_it(shown, monkeypatch):
    """Beyond it, it was read as the number of the reference."""
    drawn = {}
    monkeypatch.setattr(
        Lettering, "draw", lambda face, _painter, place, text, *_: drawn.update({text: (place.x(), face.width(text))})
    )
    chart = shown(FigureView("Margins of error", TEACHING), 576, 300)
    parts = (Span(80.0, 2.0, ink=Role.REFERENCE), Dot(80.0, ink=Role.REFERENCE, is_hollow=True), Dot(2.0))
    figure = Figure(
        "f", "", "", Axis(domain=(0.0, 100.0)), ROWS, (Mark("a", parts, "", "a", "20.0", anchor=2.0),), Table(())
    )
    chart.show_figure(figure)
    drawn.clear()
    chart.grab()
    pixels, (left, width) = chart.canvas.pixels, drawn["20.0"]
    assert pixels.x(2.0) < left
    assert left + width < pixels.x(80.0) - 5.5
