from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QHeaderView

from phexplore.gui.systems.phsafe.budget_table import Column
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.colours import contrast
from phexplore.gui.widgets.exact_field import ExactLine
from phexplore.model.edits import set_item
from phexplore.model.keys import parse_query
from phexplore.systems.phsafe.edits import set_target


@pytest.fixture
def view(editor):
    return editor.view


@pytest.fixture
def cell(view):
    return view.index_of


@pytest.fixture
def edit(qtbot, view, cell):
    """Type into a cell with the keyboard, as people do: go there, type, press a key."""

    def do(query, column, text, key=Qt.Key.Key_Return):
        view.setCurrentIndex(cell(query, column))
        qtbot.keyClicks(view, text[0])  # the first letter opens the editor
        editor = view.viewport().findChild(ExactLine)
        assert "PH" in editor.accessibleName()
        assert ":" in editor.accessibleName()  # the row, the column and what stands there
        editor.setText(text[0])
        editor.setModified(True)
        qtbot.keyClicks(editor, text[1:])
        qtbot.keyClick(editor, key)
        return editor

    return do


def test_that_typing_and_enter_edits_and_moves_down(view, session, query, edit) -> None:
    edit(query, Column.MARGIN, "25")
    assert session.scenario.phsafe.budgets[query] == Fraction("0.424305")
    assert session.project.labels[-1] == "Set the margin of PH3 (State, A-G) to 25 people"
    assert view.place == parse_query("PH3/state_H,I")
    assert view.current_column is Column.MARGIN


def test_that_tab_commits_and_moves_right_over_hidden_columns(view, session, query, edit) -> None:
    edit(query, Column.MARGIN, "25", Qt.Key.Key_Tab)
    assert session.project.labels[-1] == "Set the margin of PH3 (State, A-G) to 25 people"
    assert view.current_column is Column.BUDGET


def test_that_a_refused_entry_keeps_the_editor_open_with_its_reason(view, session, query, edit) -> None:
    before = session.scenario
    editor = edit(query, Column.BUDGET, "1x")
    assert editor.isVisible()
    assert editor.text() == "1x"
    assert "'1x' is not a number" in view.cells.reason
    assert session.scenario is before


def test_that_escape_closes_the_editor_and_restores_the_value(qtbot, view, query, edit, cell) -> None:
    editor = edit(query, Column.BUDGET, "1x")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert cell(query, Column.BUDGET).data() == "0.662976"
    assert view.cells.reason == ""


def test_that_a_refused_entry_stays_in_its_cell_when_the_editor_is_left(qtbot, view, query, edit, cell) -> None:
    editor = edit(query, Column.BUDGET, "1x")
    editor.clearFocus()
    view.setFocus()
    qtbot.waitUntil(lambda: not view.viewport().findChildren(ExactLine))
    assert cell(query, Column.BUDGET).data() == "1x"
    view.setCurrentIndex(cell(query, Column.BUDGET))
    assert paper_of(view, cell(query, Column.BUDGET)) == QColor(appearance().colours.refused_soft)
    view.setCurrentIndex(cell(query, Column.MARGIN))
    assert paper_of(view, cell(query, Column.MARGIN)) == QColor(appearance().colours.accent)
    view.setCurrentIndex(cell(query, Column.BUDGET))
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert cell(query, Column.BUDGET).data() == "0.662976"


def paper_of(view, index):
    """Return the colour behind the text of a cell."""
    place = view.visualRect(index)
    return view.viewport().grab().toImage().pixelColor(place.left() + 3, place.center().y())


def test_that_an_open_lock_is_seen(view, query, cell) -> None:
    view.scrollTo(cell(query, Column.LOCK))
    place, picture = view.visualRect(cell(query, Column.LOCK)), view.viewport().grab().toImage()
    inside = [
        (x, y) for x in range(place.left() + 4, place.right() - 4) for y in range(place.top() + 4, place.bottom() - 4)
    ]
    paper = paper_of(view, cell(query, Column.LOCK)).name()
    assert max(contrast(picture.pixelColor(*at).name(), paper) for at in inside) >= 3


def test_that_opening_and_leaving_without_typing_edits_nothing(qtbot, view, session, query, cell) -> None:
    index = cell(query, Column.BUDGET)
    view.setCurrentIndex(index)
    view.edit(index)
    editor = view.viewport().findChild(ExactLine)
    assert editor.text() == "0.662976"
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert len(session.project.labels) == 1


def test_that_space_and_clicks_tick(qtbot, view, session, query, cell) -> None:
    view.setCurrentIndex(cell(query, Column.PUBLISHED))
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert session.scenario.phsafe.budgets[query] == 0
    view.scrollTo(cell(query, Column.LOCK))
    place = view.visualRect(cell(query, Column.LOCK)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert query in session.scenario.phsafe.locks


def test_that_a_locked_cell_cannot_be_opened(view, session, query, cell) -> None:
    session.edit("Lock", lambda s: set_item(s, "locks", query, value=True))
    assert not cell(query, Column.BUDGET).flags() & Qt.ItemFlag.ItemIsEditable


def _select(view, first, last):
    view.setCurrentIndex(first)
    model = view.selectionModel()
    model.clear()
    model.setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
    for row in range(first.row(), last.row() + 1):
        for column in range(first.column(), last.column() + 1):
            model.select(view.model().index(row, column), QItemSelectionModel.SelectionFlag.Select)


def test_that_a_block_is_copied_exactly(qtbot, view, session, query, cell) -> None:
    last = parse_query("PH3/state_H,I")
    _select(view, cell(query, Column.BUDGET), cell(last, Column.BOUNDED))
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "0.662976\t1.325952\n0.00663\t0.01326\n"
    view.commands.copy(headers=True)
    head, first, _ = QGuiApplication.clipboard().text().splitlines()
    assert head == "Table\tLevel\tρ\tBounded ρ"
    assert first == "PH3\tState, A-G\t0.662976\t1.325952"


def test_that_a_paste_is_one_step_and_undone_at_once(qtbot, view, session, query, cell) -> None:
    before = session.scenario
    QGuiApplication.clipboard().setText("0.1\n0.2\n")
    view.setCurrentIndex(cell(query, Column.BUDGET))
    with qtbot.waitSignal(session.done) as done:
        qtbot.keyClick(view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert done.args == [f"2 values changed: ρ of {query.title}, ρ of PH3 (State, H-I)."]
    assert view.selected_places() == [query, parse_query("PH3/state_H,I")]
    assert session.project.labels[1:] == (f"Paste 2 values: {query.title}, PH3 (State, H-I)",)
    assert session.scenario.phsafe.budgets[query] == Fraction(1, 10)
    with qtbot.waitSignal(session.done) as done:
        assert view.commands.paste()
    assert "Nothing changed" in done.args[0]
    session.undo()
    assert session.scenario == before


def test_that_a_bad_paste_changes_nothing_and_names_the_cell(qtbot, view, session, query, cell) -> None:
    before = session.scenario
    QGuiApplication.clipboard().setText("0.1\nabc\n")
    view.setCurrentIndex(cell(query, Column.BUDGET))
    with qtbot.waitSignal(session.refused) as refused:
        assert not view.commands.paste()
    assert "'abc' for ρ of PH3 (State, H-I)" in refused.args[0].reason
    assert session.scenario is before


def test_that_fill_down_repeats_the_first_value(view, session, query, cell) -> None:
    first = parse_query("PH3/usa_*")
    session.edit("Aim", lambda s: set_target(s, first, Fraction(25)))
    _select(view, cell(first, Column.TARGET), cell(query, Column.TARGET))
    assert view.commands.fill_down()
    assert session.project.labels[-1] == "Fill down"
    targets = session.scenario.phsafe.targets
    assert targets[query] == targets[parse_query("PH3/usa_A-G")] == 25
    assert targets[parse_query("PH3/state_H,I")] == 200


def test_that_delete_removes_targets(qtbot, view, session, query, cell) -> None:
    _select(view, cell(query, Column.TARGET), cell(parse_query("PH3/state_H,I"), Column.TARGET))
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    assert session.project.labels[-1] == "Remove 2 targets"
    assert query not in session.scenario.phsafe.targets


def test_that_the_cursor_is_shared_with_the_rest_of_the_window(view, session, query, cell) -> None:
    view.setCurrentIndex(cell(query, Column.MARGIN))
    assert session.selection == query
    other = parse_query("PH7/usa_A-G")
    session.select(other)
    assert view.place == other
    assert view.current_column is Column.MARGIN


def test_that_columns_are_never_measured_by_their_contents(view) -> None:
    header = view.horizontalHeader()
    modes = {header.sectionResizeMode(number) for number in range(header.count())}
    assert modes == {QHeaderView.ResizeMode.Interactive}


def test_that_tab_leaves_the_table(view) -> None:
    assert not view.tabKeyNavigation()
