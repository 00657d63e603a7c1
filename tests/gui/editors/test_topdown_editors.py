"""The editors of TopDown, driven as a user would: keys, sliders, ticks, clipboard."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import QApplication, QCheckBox, QStackedWidget, QWidget

from phexplore.catalog.names import Naming, chosen_naming
from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.editors.inspector import Inspector
from phexplore.gui.systems.topdown.place_issues import PlaceIssues
from phexplore.gui.systems.topdown.processing_page import (
    PassesEditor,
    RuleKind,
    RulesEditor,
    StageGrid,
    TickGrid,
    processing_page,
)
from phexplore.gui.systems.topdown.scenario_editor import TopDownScenarioEditor
from phexplore.gui.systems.topdown.session import topdown_session
from phexplore.gui.systems.topdown.shares_editor import TopDownBudgetsEditor
from phexplore.gui.systems.topdown.spine_settings_editor import SpineKeysEditor
from phexplore.gui.systems.topdown.summary import inspect
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.gui.theme.number_style import in_chosen_words
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.page import Sideways
from phexplore.model.edits import set_field
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import remove_query, set_query_share
from phexplore.systems.topdown.share_cells import Quantity

TOTAL = LevelQuery("County", "total")


@pytest.fixture
def session(qapp):
    scenario = replace(preset("pl94-2020-persons-us").scenario, name="Proposal")
    return topdown_session(Session(Project.new(Workbook((scenario,), "Proposal", "pl94-2020-persons-us"))))


@pytest.fixture
def editor(qtbot, session):
    found = TopDownBudgetsEditor(session)
    qtbot.addWidget(found)
    found.resize(1000, 620)
    found.show()
    found.reveal(TOTAL)
    return found


def labels(session):
    return session.whole.project.labels


def shares(session):
    return session.shown.method.query_shares


def test_that_typing_opens_the_cell_and_enter_commits(qtbot, session, editor):
    for key in "50":
        qtbot.keyClick(editor.view.focusWidget() or editor.view, key)
    qtbot.keyClick(editor.view.focusWidget(), Qt.Key.Key_Return)
    assert Fraction(49, 100) < shares(session)[TOTAL] < Fraction(51, 100)  # the stop next to it
    assert labels(session)[-1] == "Set the share of total at County to 50 %"
    assert sum(share for key, share in shares(session).items() if key.level == "County") == 1


def test_that_a_refused_share_stays_with_its_reason(session, editor):
    index = editor.view.currentIndex()
    assert not editor.table.setData(index, "150", Qt.ItemDataRole.EditRole)
    assert editor.table.data(index) == "150"
    assert "between 0 % and 100 %" in editor.table.data(index, Qt.ItemDataRole.ToolTipRole)
    assert len(labels(session)) == 1


def test_that_space_stops_measuring_and_measures_again(qtbot, session, editor):
    qtbot.keyClick(editor.view, Qt.Key.Key_Space)
    assert TOTAL not in shares(session)
    qtbot.keyClick(editor.view, Qt.Key.Key_Space)
    assert shares(session)[TOTAL] == Fraction(3126, 4097)


def test_that_l_locks_the_selected_shares(qtbot, session, editor):
    qtbot.keyClick(editor.view, Qt.Key.Key_L)
    assert session.shown.method.locked_queries == {TOTAL}
    index = editor.view.index_of(TOTAL)
    assert editor.table.cell(index.row(), index.column()).is_locked
    assert not index.flags() & Qt.ItemFlag.ItemIsEditable
    qtbot.keyClick(editor.view, Qt.Key.Key_L)
    assert not session.shown.method.locked_queries


def test_that_a_block_is_copied_and_filled_down(session, editor):
    top = editor.view.index_of(LevelQuery("Tract", "hispanic"))
    chosen = editor.view.selectionModel()
    editor.view.setCurrentIndex(top)
    for down in (1, 2):
        chosen.select(top.siblingAtRow(top.row() + down), QItemSelectionModel.SelectionFlag.Select)
    editor.view.commands.copy()
    assert QGuiApplication.clipboard().text() == "5/4102\n5/4102\n5/4102\n"
    assert editor.table.setData(top, "1/100", Qt.ItemDataRole.EditRole)
    assert editor.view.commands.fill_down()
    assert shares(session)[LevelQuery("Tract", "votingage")] == Fraction(1, 100)
    assert shares(session)[LevelQuery("Tract", "hhinstlevels")] == Fraction(1, 100)


def test_that_a_drag_is_one_step_and_coming_back_changes_nothing(session, editor):
    editor.show_sliders(shown=True)
    editor.show_level("County")
    before = dict(shares(session))
    slider = editor.query_sliders.lines[0].slider
    start = slider.value()
    slider.setSliderDown(True)
    for position in (start - 40, start - 120, start - 200):
        slider.setValue(position)
    assert shares(session)[TOTAL] < Fraction(1, 10)
    slider.setSliderDown(False)
    assert len(labels(session)) == 2
    session.undo()
    assert dict(shares(session)) == before


def test_that_a_slider_stops_at_what_locks_leave(session, editor):
    editor.reveal(LevelQuery("County", "detailed"))
    editor.toggle_lock()
    editor.show_sliders(shown=True)
    editor.show_level("County")
    line = editor.query_sliders.lines[0]
    line.slider.setValue(line.slider.maximum())
    assert shares(session)[TOTAL] == 1 - Fraction(754, 4097)


def test_that_the_total_is_set_by_rho_epsilon_and_slider(session, editor):
    bar = editor.total
    bar.total.line.setText("5/2")
    bar.total.line.offered.emit("5/2")
    assert session.shown.method.total == Fraction(5, 2)
    bar.epsilon.line.offered.emit("10")
    assert session.shown.figures.epsilons[1].value <= 10
    assert labels(session)[-1] == "Set ε to 10 (zCDP, optimal α)"
    bar.total.line.offered.emit("-1")
    assert "positive" in bar.total.reason
    bar.total.line.offered.emit("999999999999")
    assert re.fullmatch("[0-9]{13}", bar.epsilon.line.text()), "whole: decimals would be cut at the end of the field"


def test_that_another_quantity_is_shown_and_typed(session, editor):
    editor.quantity.setCurrentIndex(list(Quantity).index(Quantity.MARGIN))
    index = editor.view.index_of(TOTAL)
    assert editor.table.data(index) == "±3.57"
    assert editor.table.setData(index, "10", Qt.ItemDataRole.EditRole)
    assert session.shown.entries[TOTAL].margins.normal <= 10


def test_that_an_unmeasured_query_group_is_offered(session, editor):
    editor._fill_offers()
    texts = [action.text() for action in editor._offers.actions()]
    assert "hhgq × hispanic at County" in texts
    editor._offers.actions()[texts.index("hhgq × hispanic at County")].trigger()
    assert LevelQuery("County", "hhgq * hispanic") in shares(session)
    assert session.selection == LevelQuery("County", "hhgq * hispanic")


def test_that_no_tick_stands_beside_a_query_group_that_is_not_measured(session, editor):
    box, place = editor.panel.measured, LevelQuery("US", "total")
    assert isinstance(box, QCheckBox), "a button with a tick as its symbol says that it is measured, pressed or not"
    editor.reveal(place)
    assert not box.isChecked()
    box.click()
    assert box.isChecked()
    assert place in shares(session)


def test_that_the_column_is_taken_back_from_the_reference(session, editor):
    editor.table.setData(editor.view.currentIndex(), "1/2", Qt.ItemDataRole.EditRole)
    assert editor.panel.reset.isEnabled()
    editor.panel.reset.click()
    assert session.shown.method.query_shares == session.shown.reference.scenario.topdown.query_shares
    assert not editor.panel.reset.isEnabled()


def test_that_an_impossible_setting_is_said_at_its_place(qtbot, session, editor):
    session.edit("Drop", lambda s: remove_query(s, LevelQuery("US", "detailed")))
    notices = editor.findChildren(PlaceIssues)
    qtbot.waitUntil(lambda: bool(notices[0].issues))
    assert "detailed query is not measured at US" in notices[0].issues[0].sentence


def test_that_names_are_read_whole_where_the_table_scrolls_anyway(editor):
    naming = chosen_naming()
    appearance().call_things(Naming.NAMES)
    appearance().set_scale(200)
    editor.resize(1045, 620)  # of a window of 1366
    QApplication.processEvents()
    try:
        assert editor.view.horizontalScrollBar().maximum() > 0
        texts = [str(editor.table.index(number, 0).data()) for number in range(editor.table.rowCount())]
        widest = max(map(editor.view.fontMetrics().horizontalAdvance, texts))
        assert editor.view.columnWidth(0) >= min(widest, editor.view.viewport().width() // 2)
    finally:
        appearance().call_things(naming)


def test_that_names_beside_sliders_stand_whole_in_a_wide_window(qtbot, editor):
    """Two of them were cut to the same words beside a slider of half a screen."""
    naming = chosen_naming()
    appearance().call_things(Naming.NAMES)
    try:
        editor.resize(1480, 800)
        editor.show_sliders(shown=True)
        editor.query_sliders.show_column("State")
        qtbot.waitUntil(lambda: bool(editor.query_sliders.lines) and editor.query_sliders.lines[0].slider.isVisible())
        QApplication.processEvents()
        for line in editor.query_sliders.lines:
            whole = in_chosen_words(line.name.text())
            assert line.name.width() >= line.name.fontMetrics().horizontalAdvance(whole)
            assert line.slider.width() > line.name.width()
    finally:
        appearance().call_things(naming)


@pytest.mark.parametrize("as_sliders", [False, True])
def test_that_an_issue_moves_nothing_that_is_clicked_or_dragged(qtbot, session, editor, as_sliders):
    editor.show_sliders(shown=as_sliders)
    held = (editor.level_sliders, editor.query_sliders) if as_sliders else (editor.view, editor.panel)
    QApplication.processEvents()
    before = [each.mapTo(editor, each.rect().topLeft()) for each in held]
    session.edit("Drop", lambda s: remove_query(s, LevelQuery("US", "detailed")))
    qtbot.waitUntil(lambda: any(notice.isVisible() for notice in editor.findChildren(PlaceIssues)))
    QApplication.processEvents()
    assert [each.mapTo(editor, each.rect().topLeft()) for each in held] == before


def test_that_a_tick_moves_a_query_between_passes_of_all_alike_levels(qtbot, session):
    editor = PassesEditor(session)
    qtbot.addWidget(editor)
    editor.show()
    from phexplore.systems.topdown.pass_order import Stage

    grid = editor.grids[Stage.LEAST_SQUARES]
    grid.grid.ticks["hispanic", "Pass 1"].click()
    for level in ("State", "County", "Tract", "Block_Group"):
        assert session.shown.method.passes[level].least_squares[0][0] == ("total", "hispanic")
    editor.together.setChecked(False)
    grid.grid.ticks["hispanic", "Pass 2"].click()
    assert "hispanic" in session.shown.method.passes["State"].least_squares[0][1]
    assert session.shown.method.passes["County"].least_squares[0][0] == ("total", "hispanic")
    assert editor.reset.isEnabled()
    editor.reset.click()
    assert session.shown.method.passes["State"] == session.shown.reference.scenario.topdown.passes["State"]


def test_that_rules_are_held_and_dropped_level_by_level(qtbot, session):
    editor = RulesEditor(session, RuleKind.INVARIANT)
    qtbot.addWidget(editor)
    editor.show()
    editor.grid.ticks["tot", "County"].click()
    assert session.shown.method.invariants["County"] == ("tot",)
    assert "Not held in the reference" in editor.grid.ticks["tot", "County"].toolTip()
    editor.grid.ticks["tot", "County"].click()
    assert session.shown.method.invariants["County"] == ()


@pytest.mark.parametrize("kind", RuleKind)
def test_that_rules_need_no_more_room_in_large_text(qtbot, kind):
    scenario = preset("dhc-2020-units-us").scenario
    session = topdown_session(Session(Project.new(Workbook((scenario,), scenario.name))))
    appearance().set_scale(200)
    editor = RulesEditor(session, kind)
    qtbot.addWidget(editor)
    assert editor.minimumSizeHint().width() < 900
    words = [editor.grid.itemAtPosition(row, 0).widget() for row in (2, 3)]
    assert [word.text() for word in words] == [editor._rules(session.shown.method)[0].title, words[1].text()]
    assert len(words[1].text()) > 20


@pytest.mark.parametrize("scale", [100, 200])
def test_that_every_rule_is_within_its_table_when_the_page_is_first_shown(qtbot, session, scale):
    appearance().set_scale(scale)
    stack = QStackedWidget()
    qtbot.addWidget(stack)
    stack.addWidget(QWidget())
    stack.resize(1200, 600)
    stack.show()
    page = processing_page(session)
    stack.addWidget(page)
    stack.setCurrentWidget(page)
    for _turn in range(5):
        QApplication.processEvents()
    for table in page.findChildren(Sideways):
        content = table.widget()
        assert table.height() >= content.height()
        shown = [part for part in content.findChildren(Text) if part.isVisible()]
        assert shown
        assert [part.text() for part in shown if not content.rect().contains(part.geometry())] == []


def test_that_names_of_two_lines_in_neighbouring_rows_stay_apart(qtbot, session):
    page = processing_page(session)
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    names = [part for part in page.findChild(StageGrid).findChildren(Text) if part.contentsMargins().top()]
    spans = sorted(
        (part.mapTo(page, part.contentsRect().topLeft()).y(), part.contentsRect().height()) for part in names
    )
    assert len(spans) > 5
    assert min(below - top - height for (top, height), (below, _) in pairwise(spans)) >= 4


@pytest.mark.parametrize("scale", [100, 200])
def test_that_every_tick_of_a_grid_is_a_target_of_its_own(qtbot, session, scale):
    appearance().set_scale(scale)
    page = processing_page(session)
    qtbot.addWidget(page)
    page.resize(1200, 700)
    page.show()
    ticks = [tick for grid in page.findChildren(TickGrid) for tick in grid.ticks.values()]
    assert ticks
    assert min(min(tick.width(), tick.height()) for tick in ticks) >= 24


def test_that_many_issues_take_two_lines_from_the_table(qtbot, session):
    place = PlaceIssues(session, frozenset({"queries", "levels"}))
    qtbot.addWidget(place)
    session.edit("Spend far too much", lambda scenario: set_field(scenario, "total", Fraction(10**12)))
    qtbot.waitUntil(lambda: len(place.issues) > 2)
    first, more = place.findChild(Text).text().split("\n")
    assert first.startswith("Margins at")
    assert more == f"{len(place.issues) - 1} more: see the list of issues below."


def test_that_a_key_of_the_spine_is_typed_and_a_wrong_one_refused(qtbot, session):
    editor = SpineKeysEditor(session)
    qtbot.addWidget(editor)
    editor.show()
    editor.fields["fanout_cutoff"].line.offered.emit("20")
    assert dict(session.shown.method.spine.settings)["fanout_cutoff"] == "20"
    editor.fields["fanout_cutoff"].line.offered.emit("many")
    assert "whole number" in editor.fields["fanout_cutoff"].reason
    assert dict(session.shown.method.spine.settings)["fanout_cutoff"] == "20"


def test_that_the_scenario_shows_schema_origin_and_misprints(qtbot, session):
    editor = TopDownScenarioEditor(session)
    qtbot.addWidget(editor)
    editor.show()
    assert "447/4099" in editor.errata.text()
    assert "2,016 cells" in editor._schema.text()
    framework = editor.privacy.controls["framework"].chooser
    framework.setCurrentIndex(framework.findData(PrivacyFramework.PURE_DP))
    assert session.shown.method.framework is PrivacyFramework.PURE_DP


def test_that_the_inspector_explains_and_goes_back_in_history(qtbot, session):
    inspector = Inspector(session, lambda: inspect(session.shown, session.selection, session.project))
    qtbot.addWidget(inspector)
    inspector.show()
    session.select(TOTAL)
    inspector.refresh_now()
    assert inspector.title.text() == "Total at County"
    assert "1.645 ×" in inspector.card.text
    session.edit("Halve", lambda s: set_query_share(s, TOTAL, Fraction(1, 2)))
    inspector.refresh_now()
    inspector.history.chosen.emit(1)
    assert shares(session)[TOTAL] == Fraction(3126, 4097)
    session.edit("ε 10", lambda s: set_field(s, "total", Fraction("0.9938913988985")))
    history = inspect(session.shown, None, session.project).history
    assert [step.value for step in history] == ["0.993892", "2.556226"]  # as the headline says them, never less


def test_that_a_hidden_editor_waits_and_shows_the_newest(qtbot, session):
    editor = SpineKeysEditor(session)
    qtbot.addWidget(editor)
    before = editor.fields["fanout_cutoff"].line.text()
    spine = session.shown.method.spine
    settings = tuple((key, "77" if key == "fanout_cutoff" else value) for key, value in spine.settings)
    session.edit("Fan-out", lambda s: set_field(s, "spine", replace(spine, settings=settings)))
    assert editor.fields["fanout_cutoff"].line.text() == before
    editor.show()
    assert editor.fields["fanout_cutoff"].line.text() == "77"


def test_that_a_refusal_disappears_when_its_column_changes(session, editor):
    index = editor.view.currentIndex()
    editor.table.setData(index, "150", Qt.ItemDataRole.EditRole)
    session.edit("Other level", lambda s: set_query_share(s, LevelQuery("Block", "detailed"), Fraction(1, 2)))
    assert editor.table.cell(index.row(), index.column()).text == "76.30 %"


def test_that_only_moved_columns_are_painted_again(qtbot, session, editor):
    changed = []
    editor.table.dataChanged.connect(lambda first, last: changed.append((first.column(), last.column())))
    session.edit("One level", lambda s: set_query_share(s, TOTAL, Fraction(1, 2)))
    place = editor.view.index_of(TOTAL).column()
    assert changed == [(place, place)]
    assert editor.table.cell(1, place).text == "50.00 %"


def test_that_every_tick_of_many_long_queries_is_in_view(qtbot):
    scenario = replace(preset("dhc-2020-persons-us").scenario, name="Proposal")
    passes = PassesEditor(topdown_session(Session(Project.new(Workbook((scenario,), "Proposal")))))
    qtbot.addWidget(passes)
    passes.resize(1150, 900)  # the page in a window 1366 pixels wide
    passes.show()
    for grid in passes.grids.values():
        place = grid.findChild(Sideways)
        assert grid.grid.ticks
        assert place.widget().width() <= place.viewport().width()


def test_that_the_lock_of_a_share_is_called_by_what_it_locks_as_its_slider_is(session, editor):
    before = chosen_naming()
    appearance().call_things(Naming.NAMES)
    try:
        editor.show_sliders(shown=True)
        session.select(LevelQuery("State", "hhgq"))
        line = next(line for line in editor.query_sliders.lines if line.key == LevelQuery("State", "hhgq"))
        assert line.slider.accessibleName() == "Share of household or group-quarters type at State"
        assert line.lock.accessibleName() == "Lock the share of household or group-quarters type at State"
        assert line.lock.toolTip() == line.lock.accessibleName()
    finally:
        appearance().call_things(before)


def test_that_a_committee_sees_and_hears_shares_in_percent_and_the_fraction_stays_exact(qtbot, session, editor):
    line, total = editor.panel.line, editor.total
    before = dict(shares(session)), session.shown.method.total
    assert line.field.line.text() == "3126/4097"
    assert line.field.line.accessibleDescription() == "76.30 %"
    assert line.percent.text() == "76.30 %"
    appearance().show_depth(Depth.COMMITTEE)
    try:
        seen = [(field.text(), field.toolTip()) for field in (line.field.line, total.total.line)]
        assert line.percent.text() == ""  # its field has it
        assert seen == [("76.30 %", "Exactly 3126/4097"), ("2.556226", "Exactly 293764/114921")]
        controls = [editor, *editor.findChildren(QWidget)]
        spoken = [f"{each.accessibleName()} {each.accessibleDescription()}" for each in controls]
        assert [words for words in spoken if re.search(r"\d/\d", words)] == []
        for field in (line.field.line, total.total.line):
            qtbot.keyClick(field, Qt.Key.Key_Return)
        assert (dict(shares(session)), session.shown.method.total) == before
        line.field.line.offered.emit("80 %")
        assert shares(session)[TOTAL] == Fraction(4, 5)
    finally:
        appearance().show_depth(Depth.EXPERT)


def test_that_a_cell_of_percents_is_edited_in_percent_and_left_alone_changes_nothing(session, editor):
    index = editor.view.index_of(TOTAL)
    assert index.data(Qt.ItemDataRole.EditRole) == "76.30 %"
    assert editor.table.setData(index, "76.30 %", Qt.ItemDataRole.EditRole)
    assert shares(session)[TOTAL] == Fraction(3126, 4097)
    editor.view.commands.copy()
    assert QGuiApplication.clipboard().text().strip() == "3126/4097"
    absent = editor.view.index_of(LevelQuery("US", "total")).data(Qt.ItemDataRole.AccessibleTextRole)
    assert absent.endswith("no number. Not measured.")


def test_that_a_slider_of_shares_tells_its_value_in_percent_and_takes_it_so(session, editor):
    value = QAccessible.queryAccessibleInterface(editor.panel.line.slider).valueInterface()
    assert value.currentValue() == 76.29973
    assert value.maximumValue() == 100
    value.setCurrentValue(50.0)
    assert Fraction(49, 100) < shares(session)[TOTAL] < Fraction(51, 100)  # the stop next to it
