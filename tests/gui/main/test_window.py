from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import pytest
from PySide6.QtCore import QByteArray, QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QCloseEvent, QDropEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
)
from window_areas import focus_chain, offered_areas

from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.settings import GEOMETRY, TEXT_SIZE, THEME
from phexplore.gui.experiments.page import ExperimentPage
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.gui.theme.colours import DARK
from phexplore.gui.theme.depth import Depth
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.tile import TileLine
from phexplore.model.edits import rename
from phexplore.model.keys import TableId
from phexplore.model.numbers import UNLIMITED
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.budget_edits import edit_threshold
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.registry import preset

CONTROLS = (QAbstractButton, QAbstractItemView, QAbstractSlider, QComboBox, QLineEdit, QPlainTextEdit)


def _controls(window):
    return [widget for kind in CONTROLS for widget in window.findChildren(kind)]


def _visit(window, area):
    window.navigation.choose(area)
    QApplication.sendPostedEvents()
    return window.pages.currentWidget()


@pytest.mark.parametrize("area", offered_areas("phsafe"), ids=lambda area: area.name.lower())
def test_that_every_visible_control_has_a_name(window, area) -> None:
    _visit(window, area)
    unnamed = [
        (type(widget).__name__, widget.objectName())
        for widget in _controls(window)
        if widget.isVisible()
        and not isinstance(widget, QScrollBar)
        and not widget.objectName().startswith("qt_")
        and type(widget).__name__ != "QHeaderView"
        and not QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name).strip()
    ]
    assert unnamed == []


@pytest.mark.parametrize("area", [Area.BUDGETS, Area.LEVELS, Area.SCENARIO], ids=lambda area: area.name.lower())
def test_that_the_tab_key_reaches_every_control_once(window, area) -> None:
    _visit(window, area)
    reached = {w for w in focus_chain(window.navigation) if w.isVisible() and w.focusPolicy() & Qt.FocusPolicy.TabFocus}
    wanted = {
        w for w in _controls(window) if w.isVisible() and w.isEnabled() and w.focusPolicy() & Qt.FocusPolicy.TabFocus
    }
    assert wanted <= reached


def test_that_shortcuts_are_unique_and_every_action_has_a_name(window) -> None:
    actions = window.actions_table.entries.values()
    keys = [QKeySequence(action.shortcut).toString() for action in actions if action.shortcut]
    assert len(set(keys)) == len(keys)
    assert all(action.text for action in actions)


def test_that_what_can_be_done_follows_a_drag_when_it_pauses(qtbot, window, query) -> None:
    asked = []
    refresh = window.actions_table.refresh
    window.actions_table.refresh = lambda: asked.append(1) or refresh()
    window._after_drag.timeout.disconnect()
    window._after_drag.timeout.connect(window.actions_table.refresh)
    for budget in range(1, 10):
        value = Fraction(budget)
        window.session.edit("Drag", lambda s, v=value: set_budget(s, query, v), merge_key="drag")
        window.session._frames.flush()
        assert window.actions_table["edit.undo"].isEnabled()
    assert len(asked) == 1  # with its first step
    qtbot.waitUntil(lambda: len(asked) == 2)
    window.session.undo()
    window.session._frames.flush()
    assert len(asked) == 3
    assert window.actions_table["edit.redo"].isEnabled()


def test_that_undo_is_enabled_when_there_is_something_to_undo(qtbot, window, query) -> None:
    undo = window.actions_table["edit.undo"]
    assert not undo.isEnabled()
    window.session.edit("Set", lambda s: set_budget(s, query, Fraction(1)))
    qtbot.waitUntil(undo.isEnabled)
    undo.trigger()
    assert window.session.project.cursor == 0
    qtbot.waitUntil(window.actions_table["edit.redo"].isEnabled)


def test_that_the_headline_follows_every_edit_and_ends_on_the_last(qtbot, window, query) -> None:
    for value in range(1, 201):
        window.session.edit("Drag", lambda s, v=value: set_budget(s, query, Fraction(v)), merge_key="drag")
    total = window.session.shown.figures.privacy.bounded_total
    tile = window.headline.tiles[0]
    qtbot.waitUntil(lambda: f"{int(total)}." in tile.accessibleName())


def test_that_the_title_names_file_scenario_and_unsaved_edits(qtbot, window, query, tmp_path) -> None:
    assert "Unsaved project*" in window.windowTitle()
    window.files.save_to(tmp_path / "a.phx")
    assert window.windowTitle() == "a.phx – Proposal – phexplore"
    window.session.edit("Set", lambda s: set_budget(s, query, Fraction(1)))
    qtbot.waitUntil(lambda: "a.phx*" in window.windowTitle())


@pytest.mark.parametrize("shaken", [False, True], ids=["double click", "hand that shakes"])
def test_that_one_gesture_chooses_one_area_although_the_list_moves_under_it(qtbot, window, shaken) -> None:
    window.navigation.choose(Area.OVERVIEW)
    QApplication.processEvents()
    areas, left = window.navigation, Qt.MouseButton.LeftButton
    place = areas.visualItemRect(areas.item(1)).center()
    later = areas.visualItemRect(areas.item(3)).center()  # what is under the pointer when the headline has shrunk
    qtbot.mousePress(areas.viewport(), left, pos=place)
    if shaken:
        at = QPointF(areas.viewport().mapToGlobal(later))
        none = Qt.KeyboardModifier.NoModifier
        move = QMouseEvent(QEvent.Type.MouseMove, QPointF(later), at, Qt.MouseButton.NoButton, left, none)
        QApplication.sendEvent(areas.viewport(), move)
    else:
        qtbot.mouseDClick(areas.viewport(), left, pos=later)
    qtbot.mouseRelease(areas.viewport(), left, pos=later)
    assert areas.area is Area.BUDGETS


def test_that_an_issue_leads_to_its_row(qtbot, window, query) -> None:
    window.session.edit("τ", lambda s: edit_threshold(s, TableId("PH4"), 12))
    qtbot.waitUntil(lambda: window.issues.counts == (0, 6))
    assert "6 warnings" in window.bottom.issues.accessibleName()
    window.issues.opened.emit(window.session.shown.issues[0])
    assert window.navigation.area is Area.BUDGETS
    assert window.session.selection.table == "PH4"


def test_that_a_refusal_is_said_above_the_content(window, query) -> None:
    refusal = window.session.edit("Set", lambda s: set_budget(s, query, Fraction(-1)))
    window.session.report(refusal)
    assert "0 or more" in window.notice.text


def test_that_what_was_noted_of_a_version_goes_with_the_next_edit_or_save(window, query, tmp_path) -> None:
    for goes_on in (lambda: window.files.save_to(tmp_path / "kept.phx"), window.session.undo):
        window.session.edit("Set", lambda s: set_budget(s, query, Fraction(1, 7)))
        window.news.noted.emit("The solution was applied.")
        assert window.notice.text == "The solution was applied."
        goes_on()
        assert window.notice.text == ""


def test_that_the_choosers_stay_where_they_are_when_the_status_changes(window, query) -> None:
    header, places = window.header, []
    for text in ("Draft", "Recommended"):
        header.status.setText(text)
        header.layout().activate()
        places.append(header.reference.geometry())
    assert places[0] == places[1]


def test_that_what_came_back_is_said_until_it_is_saved(window, tmp_path) -> None:
    window.files.noted.emit("2 unsaved edits were recovered.")
    assert "recovered" in window.notice.text
    window.files.save_to(tmp_path / "kept.phx")
    assert window.notice.text == ""
    window.notice.warn("The program stopped unexpectedly last time.")
    window.files.save()
    assert window.notice.text


def test_that_a_run_that_cannot_be_read_is_said_until_another_one_is_shown(window) -> None:
    error = PhexploreError("A trial was altered.", "Run it again.")
    window.news.failed.emit(error)
    window.news.mended.emit(PhexploreError("Another one.", ""))
    assert "altered" in window.notice.text
    window.news.mended.emit(error)
    assert window.notice.text == ""


def test_that_theme_and_text_size_are_chosen_and_remembered(window) -> None:
    window.actions_table["view.theme-dark"].trigger()
    assert appearance().colours is DARK
    window.actions_table["view.larger"].trigger()
    assert appearance().scale == 125
    assert window.settings.read(THEME) is ThemeChoice.DARK
    assert window.settings.read(TEXT_SIZE) == 125


def drop(window, path) -> None:
    content = QMimeData()
    content.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        content,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


def test_that_a_dropped_config_becomes_a_scenario(window, us, tmp_path) -> None:
    path = tmp_path / "config.json"
    path.write_text(write_config(us))
    drop(window, path)
    buttons = window.files.dialog.findChildren(TextButton)
    next(button for button in buttons if button.text() == "Import").click()
    assert len(window.session.shown.workbook.scenarios) == 2


def test_that_a_dropped_folder_becomes_the_data_of_the_next_run(window, tmp_path) -> None:
    drop(window, tmp_path)
    assert window.navigation.area is Area.RUNS
    form = window.areas.runs.page.form_of(window.room.system)
    assert form.controls["data"].read() == str(tmp_path)


def test_that_a_published_table_is_shown_from_a_scenario_of_another_system(window, tmp_path, monkeypatch) -> None:
    shown = []
    monkeypatch.setattr(ExperimentPage, "run_with", lambda _, name, given: shown.append((name, given["file"])))
    window.published._paths = (tmp_path / "table.csv",)
    window.published._show(json.dumps({"kind": "nhgis-demonstration", "areas_by_level": {"County": 2}}))
    offer = next(each for each in window.published.dialog.findChildren(QAbstractButton) if "TopDown" in each.text())
    offer.click()
    assert window.room.system.id == "topdown"
    assert shown == [("published-errors", str(tmp_path / "table.csv"))]
    window.session.undo()
    assert window.room.system.id == "phsafe"


def test_that_closing_with_unsaved_edits_asks_and_stays(window, query) -> None:
    window.session.edit("Set", lambda s: set_budget(s, query, Fraction(1)))
    event = QCloseEvent()
    window.closeEvent(event)
    assert not event.isAccepted()
    assert window.files.dialog.isVisible()


def test_that_a_query_chosen_in_a_picture_is_shown_in_the_table(window, query) -> None:
    page = _visit(window, Area.OVERVIEW)
    page.chart("margins").key_activated.emit(query)
    assert window.navigation.area is Area.BUDGETS
    assert window.rooms["phsafe"].budgets.view.currentIndex().isValid()
    assert window.session.selection == query


@pytest.mark.defect("M1")
def test_that_a_dot_dragged_in_a_picture_is_one_step_and_leaves_the_target(window, query) -> None:
    page, target = _visit(window, Area.OVERVIEW), window.session.scenario.phsafe.targets[query]
    for people in range(21, 41):
        page.chart("margins").handle_dragged.emit(query, people)
    page.chart("margins").handle_released.emit(query)
    budget = window.session.scenario.phsafe.budgets[query]
    assert forecast(window.session.scenario).query(query).margins.normal == pytest.approx(40, abs=0.01)
    assert window.session.project.cursor == 1
    page.chart("margins").handle_dragged.emit(query, 50)
    page.chart("margins").drag_cancelled.emit(query)
    assert window.session.scenario.phsafe.budgets[query] == budget
    assert window.session.scenario.phsafe.targets[query] == target


def test_that_a_page_out_of_sight_is_drawn_when_it_comes_back(qtbot, window, query, monkeypatch) -> None:
    page = _visit(window, Area.OVERVIEW)
    drawn = []
    monkeypatch.setattr(page.chart("margins"), "show_figure", drawn.append)
    window.navigation.choose(Area.HISTORY)
    with qtbot.waitSignal(window.session.settled):
        window.session.edit("Set", lambda s: set_budget(s, query, Fraction(1)))
    assert drawn == []
    window.navigation.choose(Area.OVERVIEW)
    assert len(drawn) == 1


@pytest.mark.parametrize(
    "value", [Fraction(0), UNLIMITED, Fraction(10**30), Fraction(1, 10**13), Fraction(1, 7)], ids=str
)
def test_that_every_area_shows_extreme_budgets(qtbot, window, query, value) -> None:
    window.session.select(query)
    assert window.session.edit("Set", lambda s: set_budget(s, query, value)) is None
    for area in (Area.OVERVIEW, Area.BUDGETS, Area.LEVELS):
        _visit(window, area)
        window.session._frames.flush()
        window.inspector.refresh_now()
        window.grab()
    assert window.notice.text == ""


def test_that_a_very_long_name_keeps_the_window_in_shape(window) -> None:
    window.session.edit("Rename", lambda s: rename(s, "Proposal of the subcommittee " * 30))
    window.session._frames.flush()
    for area in offered_areas("phsafe"):
        _visit(window, area)
    assert window.minimumSizeHint().width() <= 1280


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_the_window_is_drawn_in_both_themes(window, theme) -> None:
    appearance().choose(theme)
    _visit(window, Area.BUDGETS)
    picture = window.grab().toImage()
    corner = picture.pixelColor(2, picture.height() - 3).name()
    assert corner == appearance().colours.window


def test_that_the_window_fits_at_double_text_size(window) -> None:
    appearance().set_scale(200)
    for area in offered_areas("phsafe"):
        _visit(window, area)
        QApplication.processEvents()
        assert window.minimumSizeHint().width() <= 1280, area
    window.navigation.choose(Area.OVERVIEW)
    QApplication.processEvents()
    told = [line for line in window.headline.findChildren(TileLine) if line.isVisible()]
    assert told[0].accessibleName().startswith("Privacy loss")


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_that_a_number_in_a_field_is_not_cut_at_any_text_size(window, query, percent) -> None:
    window.session.select(query)
    _visit(window, Area.BUDGETS)
    appearance().set_scale(percent)
    QApplication.processEvents()
    line = window.rooms["phsafe"].budgets.panel.budget.field.line
    assert line.text() == "1.325952"
    assert line.fontMetrics().horizontalAdvance(line.text()) < line.contentsRect().width() - 16


def test_that_a_scenario_without_a_reference_shows_every_area(qtbot, us, settings, tmp_path) -> None:
    lone = MainWindow(Project.new(Workbook((us,), us.name)), settings, tmp_path / "runs")
    qtbot.addWidget(lone, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
    lone.show()
    for area in offered_areas("phsafe"):
        _visit(lone, area)
    assert lone.session.shown.reference is None


def test_that_pages_are_made_ahead_one_by_one(qtbot, window) -> None:
    """So that no page is made while a run works; what is made ahead is not shown."""
    _visit(window, Area.OVERVIEW)
    made = window.pages._made
    counts = []
    window.pages._idle.timeout.connect(lambda: counts.append(len(made)))
    window.pages._idle.setInterval(1)
    window._prepare()
    qtbot.waitUntil(lambda: len(made) == len(offered_areas("phsafe")))
    assert all(after - before <= 1 for before, after in pairwise(counts))
    assert window.pages.currentWidget() is made["phsafe", Area.OVERVIEW]
    qtbot.waitUntil(lambda: not window.pages._idle.isActive())


def test_that_the_division_of_the_window_is_remembered(qtbot, window, project, settings, tmp_path) -> None:
    _visit(window, Area.BUDGETS)
    window._splitter.setSizes([600, 500])
    chosen = window._splitter.sizes()
    window.leave_without_asking()
    settings.keep(GEOMETRY, QByteArray())  # the screen of the tests is too small for it
    again = MainWindow(project_of(preset("sdhc-2020-us")), settings, tmp_path / "other")
    qtbot.addWidget(again, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
    again.resize(1280, 800)
    again.show()
    _visit(again, Area.BUDGETS)
    assert again._splitter.sizes() == chosen


@pytest.mark.defect("minor 5")
def test_that_redo_has_the_keys_of_both_worlds(window) -> None:
    keys = [keys.toString() for keys in window.actions_table["edit.redo"].shortcuts()]
    assert keys == ["Ctrl+Shift+Z", "Ctrl+Y"]


@pytest.mark.defect("T19")
@pytest.mark.parametrize(
    "preset_id", ["sdhc-2020-us", "pl94-2020-persons-us", "group-sizes-census-2010", "counties-invariant-2010"]
)
@pytest.mark.parametrize("depth", Depth, ids=lambda depth: depth.name)
def test_that_typed_letters_reach_the_areas_that_are_listed_and_no_others(window, preset_id, depth) -> None:
    appearance().show_depth(depth)
    window.session.install(project_of(preset(preset_id)))
    listed = window.navigation.offered
    for letter in "abcdefghijklmnopqrstuvwxyz":
        window.navigation.choose(Area.OVERVIEW)
        window.navigation.keyboardSearch("")  # what is typed next begins anew
        window.navigation.keyboardSearch(letter)
        first = window.navigation.area
        assert first in listed
        titles = [window.navigation.item(row).text().casefold() for row in range(len(listed))]
        assert any(title.startswith(letter) for title in titles) is (
            titles[window.navigation.currentRow()].startswith(letter)
        )
