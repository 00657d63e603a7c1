"""What the frame gives every figure: zoom, pan, walk, menu, full page, files, explanation."""

from __future__ import annotations

import gc
import json
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import delete, isValid

from phexplore.catalog.names import Naming, called
from phexplore.figures.axis import Axis
from phexplore.figures.figure import Figure, KeyEntry, row_figure
from phexplore.figures.map import map_figure
from phexplore.figures.marks import Dot, Mark, Patch, Row
from phexplore.figures.scatter import Series, scatter_figure
from phexplore.figures.table import Table
from phexplore.gui.figures.canvas import MOST_MAGNIFIED
from phexplore.gui.figures.sheet import PictureError
from phexplore.gui.figures.view import FigureView, FullPage
from phexplore.gui.theme.appearance import ThemeChoice, appearance

TABLE = Table(("x", "y"), ((1.0, 2.0), (2.0, 4.0), (3.0, 1.0)))


def plane(**changes):
    marks = tuple(Mark(f"k{x}", (Dot(x, y),), tip=f"point {x}") for x, y in ((1.0, 2.0), (2.0, 4.0), (3.0, 1.0)))
    values = {"explain": "By counting.", **changes}
    return Figure("plane", "Finding", "Sentence.", Axis("across"), Axis("up"), marks, TABLE, **values)


@pytest.fixture
def view(shown):
    found = shown(FigureView("Test", "Later"), 700, 420)
    found.show_figure(plane())
    return found


def seen(view):
    shown = view.canvas.pixels.view
    return shown.width(), shown.height()


def test_that_a_finding_that_is_a_sentence_has_one_full_stop_where_it_is_spoken(view):
    for title in ("Finding", "Finding."):
        view.show_figure(replace(plane(), title=title))
        assert "Finding. Sentence." in view.canvas.accessibleDescription()


@pytest.mark.parametrize("rows", [3, 60])
def test_that_a_key_that_comes_or_goes_leaves_the_rows_the_room_they_have_without_it(shown, rows):
    view = shown(FigureView("Test", "Later"), 700, 620)
    figure = row_figure(
        "rows", [Row(row, "", f"row {row}", float(row)) for row in range(rows)], "people", "T", "S.", TABLE
    )
    key = tuple(KeyEntry(Dot(0.5, ink=0), f"a level with a long name, number {number}") for number in range(9))

    def room():
        canvas, viewport = view.canvas, view.plot.viewport
        return canvas.view, canvas.magnified, canvas.area, viewport.page, viewport._bar.maximum()

    seen = []
    for present in ((), key, key[:1], ()):
        view.show_figure(replace(figure, key=present))
        seen.append(room())
        view.plot.fit()
        assert room() == seen[-1]
    assert seen[0] == seen[-1]
    assert seen[0] != seen[1]


def test_that_keys_zoom_at_the_chosen_mark_move_and_show_all_again(view):
    whole = seen(view)
    QTest.keyClick(view.canvas, Qt.Key.Key_Right)
    for _ in range(4):
        QTest.keyClick(view.canvas, Qt.Key.Key_Plus)
    assert seen(view)[0] == pytest.approx(whole[0] * 0.8**4)
    assert seen(view)[1] == pytest.approx(whole[1] * 0.8**4)
    pixels = view.canvas.pixels
    assert pixels.area.contains(QPointF(pixels.x(1.0), pixels.y(2.0)))
    left = pixels.view.left()
    QTest.keyClick(view.canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert view.canvas.pixels.view.left() > left
    QTest.keyClick(view.canvas, Qt.Key.Key_0)
    assert seen(view) == whole
    assert not view.plot.viewport.is_zoomed


def test_that_the_wheel_zooms_a_picture_in_focus_and_leaves_the_page_to_scroll_otherwise(shown):
    page = shown(QScrollArea(), 500, 300)
    view = FigureView("Test", "Later")
    view.setFixedSize(480, 600)
    page.setWidget(view)
    view.show_figure(plane())
    QApplication.processEvents()
    assert not view.plot.gestures.wheel_turned(-3)
    view.canvas.setFocus()
    QApplication.processEvents()
    assert view.plot.gestures.wheel_turned(-3)
    assert view.plot.viewport.is_zoomed


def test_that_the_wheel_zooms_a_picture_at_once_on_a_page_that_does_not_scroll(shown):
    page = shown(QScrollArea(), 700, 500)
    page.setWidgetResizable(True)
    page.setWidget(view := FigureView("Test", "Later"))
    view.show_figure(plane())
    QApplication.processEvents()
    assert not view.canvas.hasFocus()
    assert view.plot.gestures.wheel_turned(-3)
    assert view.plot.viewport.is_zoomed


def test_that_a_picture_shown_in_part_says_so_and_a_button_shows_all_of_it(view):
    (button,) = (each for each in view.findChildren(QToolButton) if each.text() == "Show all")
    whole = seen(view)
    assert button.isHidden()
    QTest.keyClick(view.canvas, Qt.Key.Key_Plus)
    assert not button.isHidden()
    button.click()
    assert button.isHidden()
    assert seen(view) == whole
    QTest.keyClick(view.canvas, Qt.Key.Key_Plus)
    view.show_figure(replace(plane(), id="other"))
    assert button.isHidden()


def test_that_the_wheel_zooms_a_map_at_once_and_its_tool_tip_names_the_place(view, monkeypatch):
    corner = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    patch = Patch("440070003004", (corner,), 1.0, "440070003004: 1,497 people")
    view.show_figure(map_figure("map", (patch,), "people", ("Finding", "Sentence."), TABLE))
    view.grab()
    assert not view.canvas.hasFocus()
    assert view.plot.gestures.wheel_turned(-3)
    assert view.plot.viewport.is_zoomed
    told = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, words, _widget: told.append(words))
    with called(Naming.NAMES):
        view.plot.gestures.pointer_moved(view.canvas.pixels.area.center())
    assert told == ["Block group 4, tract 3, Providence County, RI: 1,497 people"]


def test_that_dragging_moves_what_is_zoomed_never_beyond_the_whole_and_a_double_click_shows_all(view):
    whole = view.canvas.pixels.view
    view.plot.viewport.zoom(0.25)
    left = view.canvas.pixels.view.left()
    view.plot.gestures.pointer_pressed(QPointF(300, 200))
    view.plot.gestures.pointer_moved(QPointF(200, 200))
    assert view.canvas.pixels.view.left() > left
    view.plot.gestures.pointer_moved(QPointF(-90000, 200))
    assert view.canvas.pixels.view.right() == pytest.approx(whole.right())
    view.plot.gestures.pointer_released(QPointF(200, 200))
    view.plot.gestures.pointer_double_clicked(QPointF(350, 210))
    assert view.canvas.pixels.view == whole


def test_that_a_line_across_the_figure_is_broken_at_a_number(shown):
    row, axis = Row("k", "", "n", value=10.0, text="9.5 % of 200"), Axis("percent", domain=(0.0, 100.0))
    view = shown(FigureView("Test", "Later"), 540, 200)
    view.show_figure(row_figure("rows", [row], axis, "Finding", "Sentence.", TABLE))
    bare, pixels = view.canvas.grab().toImage(), view.canvas.pixels
    at = pixels.value_x(pixels.x(10.0) + 15)
    view.show_figure(row_figure("rows", [row], axis, "Finding", "Sentence.", TABLE, guide=at))
    ruled = view.canvas.grab().toImage()
    columns = [(round(pixels.x(at)) + shift, y) for shift in (-1, 0, 1) for y in range(ruled.height())]
    struck = [y for x, y in columns if ruled.pixel(x, y) != bare.pixel(x, y)]
    middle = pixels.y(0.0)
    assert struck
    assert all(abs(y - middle) > 4 for y in struck)


def test_that_a_walk_tells_every_mark_in_words(view):
    said = []
    for _ in range(3):
        QTest.keyClick(view.canvas, Qt.Key.Key_Right)
        said.append(view.canvas.accessibleDescription())
    assert said == ["point 1.0", "point 2.0", "point 3.0"]
    QTest.keyClick(view.canvas, Qt.Key.Key_Home)
    assert view.chosen_key == "k1.0"


def test_that_a_reader_hears_a_chart_whose_value_is_the_chosen_mark(view):
    heard = QAccessible.queryAccessibleInterface(view.canvas)
    gc.collect()
    assert heard.role() is QAccessible.Role.Chart
    assert heard.text(QAccessible.Text.Name) == "Test, picture"
    assert heard.text(QAccessible.Text.Description) == "Finding. Sentence."
    assert not heard.text(QAccessible.Text.Value)
    QTest.keyClick(view.canvas, Qt.Key.Key_Right)
    assert heard.text(QAccessible.Text.Value) == "point 1.0"
    view.select_key("k3.0")
    assert heard.text(QAccessible.Text.Value) == "point 3.0"
    inside = QAccessible.queryAccessibleInterface(view.plot)
    assert inside.child(inside.indexOfChild(heard)).role() is QAccessible.Role.Chart


def test_that_a_reader_that_knew_a_deleted_chart_is_told_nothing_of_it(qtbot):
    for _ in range(3):
        gone = FigureView("Gone", "Later")
        gone.show_figure(plane())
        heard = QAccessible.queryAccessibleInterface(gone.canvas)
        assert heard.role() is QAccessible.Role.Chart
        delete(gone)
        gc.collect()
        assert not isValid(heard)


def test_that_the_table_and_the_picture_follow_each_other(view):
    chosen = []
    view.key_selected.connect(chosen.append)
    view.show_table(visible=True)
    view.table.selectRow(2)
    assert chosen == ["k3.0"]
    view.select_key("k1.0")
    assert view.table.currentIndex().row() == 0
    assert chosen == ["k3.0"]


def test_that_the_figure_fills_the_window_and_closes_again(view, qtbot):
    QTest.keyClick(view.canvas, Qt.Key.Key_F)
    (page,) = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, FullPage)]
    assert page.view.title == "Finding"
    assert len(page.view.marks) == 3
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not page.isVisible())


def test_that_slides_and_data_are_saved_and_held_back_for_a_reason(view, tmp_path):
    view.menu.save_slide(tmp_path / "slide.svg")
    assert (tmp_path / "slide.svg").read_bytes().startswith(b"<?xml")
    view.menu.save_table(tmp_path / "data.json")
    assert json.loads((tmp_path / "data.json").read_text(encoding="utf-8"))["rows"][1] == [2.0, 4.0]
    with pytest.raises(PictureError):
        view.menu.save_slide(tmp_path / "slide.bmp")
    view.hold_back("Confidential.")
    for act in (view.menu.save_slide, view.menu.save_table):
        with pytest.raises(PictureError, match="Confidential"):
            act(tmp_path / "no.png")
    view.menu.show_full_page()
    (page,) = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, FullPage)]
    assert page.view.menu.held_back == "Confidential."
    page.close()


def test_that_an_explanation_names_axes_method_and_the_chosen_mark(view):
    QTest.keyClick(view.canvas, Qt.Key.Key_Right)
    words = plane().explained(view.plot.chosen_words)
    assert "across" in words
    assert "By counting." in words
    assert "point 1.0" in words
    view.menu.explain()
    (box,) = view.findChildren(QMessageBox)
    assert box.text() == "Finding"
    box.close()


def test_that_the_menu_offers_everything_by_key_too(view):
    texts = [action.text().replace("&", "") for action in view.menu.actions() if action.text()]
    assert texts == [
        "Copy numbers", "Copy picture", "Save picture…", "Save for slides, 16 : 9…", "Save data…", "Data table", "Explain…",
        "Comment…", "Full page\tF", "Show all\t0",
    ]  # fmt: skip


def test_that_many_points_are_found_under_the_pointer(shown):
    rng = np.random.default_rng(4)
    x, y = rng.lognormal(6, 2, 5000), rng.normal(0, 10, 5000)
    names = tuple(f"place {number}" for number in range(5000))
    view = shown(FigureView("Points", "Later"), 800, 500)
    series = (Series("s", x, y, names),)
    view.show_figure(scatter_figure("points", series, ("size", "error"), "t", "s", Table(("x",))))
    figure, pixels = view.plot.figure, view.canvas.pixels
    place = int(np.argmax(x))
    at = QPointF(pixels.x(figure.x.position(float(x[place]))), pixels.y(float(y[place])))
    view.plot.gestures.pointer_pressed(at)
    assert view.plot.chosen_words.startswith(f"place {place},")
    view.plot.viewport.zoom(0.5)
    assert not view.grab().isNull()


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_rows_with_long_names_and_nothing_to_draw_are_painted(shown, theme):
    appearance().choose(theme)
    view = shown(FigureView("Rows", "Later"), 420, 240)
    rows = [
        Row(str(n), "group " * 9, "a very long name " * 9, None if n % 2 else 1e12, text="text " * 40)
        for n in range(60)
    ]
    view.show_figure(row_figure("rows", rows, "people", "Title " * 40, "Sentence.", TABLE))
    QTest.keyClick(view.canvas, Qt.Key.Key_End)
    assert view.chosen_key == "59"
    QTest.mouseMove(view.canvas, QPoint(300, 60))
    assert not view.sheet.image(1.0).isNull()


def press(widget, text):
    """Press a key that is written in the menu, as a person would: through the window, by its shortcuts."""
    for combination in QKeySequence(text):
        QTest.keyClick(widget, combination.key(), combination.keyboardModifiers())


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_every_key_of_the_menu_works_at_twice_the_text_size(view, theme, qtbot):
    appearance().choose(theme)
    appearance().set_scale(200)
    view.activateWindow()
    view.canvas.setFocus()
    qtbot.waitUntil(view.canvas.hasFocus)
    press(view.canvas, "Right")
    press(view.canvas, "Ctrl+Shift+C")
    assert QGuiApplication.clipboard().text().splitlines()[1].split("\t") == ["1.0", "2.0"]
    press(view.canvas, "Ctrl+C")
    picture = QGuiApplication.clipboard().pixmap()
    assert picture.width() > 2 * view.canvas.width()
    press(view.canvas, "T")
    assert view.shows_table
    assert view.table.hasFocus()
    assert view.table.currentIndex().row() == 0
    press(view.table, "T")
    assert not view.shows_table
    assert view.canvas.hasFocus()
    press(view.canvas, "E")
    (box,) = view.findChildren(QMessageBox)
    assert "Chosen: point 1.0" in box.informativeText()
    box.close()
    whole = seen(view)
    press(view.canvas, "+")
    assert seen(view)[0] < whole[0]
    press(view.canvas, "0")
    assert seen(view) == whole
    press(view.canvas, "F")
    (page,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, FullPage) and each.isVisible()]
    assert page.view.chosen_key == "k1.0"
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not page.isVisible())


@pytest.mark.parametrize(
    ("letter", "ending"), [("S", ".png"), ("S", ".svg"), ("S", ".pdf"), ("L", ".png"), ("D", ".csv")]
)
def test_that_the_menu_saves_by_its_letters(view, monkeypatch, tmp_path, letter, ending):
    path, asked = tmp_path / f"picture{ending}", []

    def ask(_parent, _title, take, *, kinds, proposed):
        asked.append((kinds, proposed))
        take(path)

    monkeypatch.setattr("phexplore.gui.figures.view.ask_to_save", ask)
    view.menu.popup(view.mapToGlobal(QPoint(0, 0)))
    QTest.keyClick(view.menu, letter)
    ((kinds, _proposed),) = asked
    assert f"*{ending}" in kinds
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".csv": b"x,y"}[ending]
    assert path.read_bytes().removeprefix(b"\xef\xbb\xbf").startswith(start)


def test_that_the_page_around_stays_where_it_is_when_a_picture_becomes_its_table(shown, qtbot):
    view, page = FigureView("Test", "Later"), QScrollArea()
    view.setMinimumHeight(600)
    view.show_figure(plane())
    column = QVBoxLayout(content := QWidget())
    column.addWidget(view)
    column.addSpacing(1500)
    column.addWidget(QPushButton("Far below"))
    page.setWidgetResizable(True)
    page.setWidget(content)
    shown(page, 700, 420)
    page.activateWindow()
    page.verticalScrollBar().setValue(60)
    view.canvas.setFocus()
    qtbot.waitUntil(view.canvas.hasFocus)
    for _ in range(2):
        press(QApplication.focusWidget(), "T")
        assert page.verticalScrollBar().value() == 60
    assert view.canvas.hasFocus()


def test_that_a_double_click_beside_all_marks_fills_the_window(qtbot, view) -> None:
    area = view.canvas.area
    empty = next(
        point
        for point in (area.topLeft(), area.topRight(), area.bottomLeft(), area.bottomRight())
        if view.plot._choice.at(point, view.canvas.pixels) is None
    )
    with qtbot.waitSignal(view.plot.gestures.page_wanted, timeout=5000):
        view.plot.gestures.pointer_double_clicked(empty)


def test_that_a_chosen_row_stays_in_sight_when_the_picture_gets_smaller(shown):
    view = shown(FigureView("Test", "Later"), 700, 700)
    rows = tuple(Row(number, "", f"row {number}", value=float(number)) for number in range(60))
    view.show_figure(row_figure("rows", rows, "count", "Finding", "Sentence.", TABLE))
    last = view.plot.viewport.page - 1
    view.select_key(last)
    view.resize(700, 400)
    QApplication.processEvents()
    viewport = view.plot.viewport
    assert last in viewport.rows_to_paint(view.canvas.pixels)


def test_that_few_rows_are_magnified_on_a_large_screen_and_found_where_they_are_painted(shown):
    view = shown(FigureView("Test", "Later"), 1600, 800)
    rows = tuple(Row(number, "", f"row {number}", value=float(number), is_linked=True) for number in range(4))
    view.show_figure(row_figure("rows", rows, "count", "Finding", "Sentence.", TABLE))
    canvas = view.canvas
    assert canvas.magnified == MOST_MAGNIFIED
    pixels = canvas.pixels
    assert pixels.area.height() * canvas.magnified > 0.4 * canvas.height()
    place = QPointF(pixels.x(3.0), pixels.y(-3.0)) * canvas.magnified
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=place.toPoint())
    assert view.chosen_key == 3
    assert view.sheet.image(1.0).height() > canvas.height()
    long = replace(rows[0], name="a check whose name takes more than half of the page " * 2)
    view.show_figure(row_figure("long", (long, *rows[1:]), "count", "Finding", "Sentence.", TABLE))
    assert 1.0 <= canvas.magnified < MOST_MAGNIFIED
    assert "…" not in "".join(view.plot.axis._shown)
    view.resize(500, 420)
    QApplication.processEvents()
    assert canvas.magnified == 1.0


def test_that_a_picture_saved_from_its_menu_has_no_mark_of_the_pointer(shown):
    view = shown(FigureView("Test", "Later"), 700, 420)
    rows = tuple(Row(number, "", f"row {number}", value=float(number)) for number in range(4))
    view.show_figure(row_figure("rows", rows, "count", "Finding", "Sentence.", TABLE))
    plain = view.canvas.grab().toImage()
    pixels, scale = view.canvas.pixels, view.canvas.magnified
    point = QPointF(pixels.x(2.0), pixels.y(-2.0)) * scale
    view.plot.gestures.pointer_moved(point / scale)
    assert view.canvas.grab().toImage() != plain
    QApplication.sendEvent(view, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point.toPoint(), QPoint(5, 5)))
    view.menu.close()
    assert view.canvas.grab().toImage() == plain
