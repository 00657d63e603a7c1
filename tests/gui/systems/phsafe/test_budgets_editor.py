from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QWidget

from phexplore.catalog.names import Naming, chosen_naming
from phexplore.gui.systems.phsafe.budget_table import COLUMNS, CONVENTION_COLUMNS, Column
from phexplore.gui.systems.phsafe.budgets_page import BudgetsPage
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.model.keys import parse_query


def _queries(editor):
    return [row.key for row in editor.table.rows]


def test_that_search_and_choosers_filter_together(qtbot, editor) -> None:
    editor.search.setText("state a-g")
    qtbot.waitUntil(lambda: len(_queries(editor)) == 7)
    editor.tables.setCurrentIndex(editor.tables.findData("PH3"))
    assert [query.text for query in _queries(editor)] == ["PH3/state_A-G"]
    editor.clear_filter()
    assert len(_queries(editor)) == 46


def test_that_an_empty_filter_teaches_how_to_see_all(qtbot, editor) -> None:
    editor.subsets.setCurrentIndex(editor.subsets.findData("locked"))
    place = editor.findChild(EmptyPlace)
    assert place.isVisible()
    editor.clear_filter()
    assert not place.isVisible()


def test_that_revealing_a_hidden_query_clears_the_filter(editor, session, query) -> None:
    editor.tables.setCurrentIndex(editor.tables.findData("PH7"))
    editor.reveal(query)
    assert session.selection == query
    assert query in _queries(editor)


def test_that_the_three_conventions_are_shown_on_demand(editor) -> None:
    hidden = [editor.view.isColumnHidden(COLUMNS.index(column)) for column in CONVENTION_COLUMNS]
    assert all(hidden)
    editor.side_by_side.setChecked(True)
    hidden = [editor.view.isColumnHidden(COLUMNS.index(column)) for column in CONVENTION_COLUMNS]
    assert not any(hidden)
    editor.side_by_side.setChecked(False)
    assert not editor.view.isColumnHidden(COLUMNS.index(Column.MARGIN_CHANGE))


def _choose(editor, text):
    next(action for action in editor.view.commands.menu().actions() if action.text() == text).trigger()


def test_that_the_menu_acts_on_all_selected_rows_as_one_step(editor, session) -> None:
    editor.tables.setCurrentIndex(editor.tables.findData("PH3"))
    editor.view.selectAll()
    _choose(editor, "Lock")
    assert len(session.scenario.phsafe.locks) == 6
    assert session.project.labels[-1] == "Lock 6 queries"
    _choose(editor, "Unlock")
    _choose(editor, "Leave unpublished")
    assert len(session.scenario.phsafe.published) == 40
    _choose(editor, "Take from the reference")
    assert session.scenario.phsafe.budgets == session.shown.reference.scenario.phsafe.budgets
    assert session.project.labels[-1].startswith("Take 6 queries from")


def test_that_a_locked_row_in_the_selection_refuses_all(qtbot, editor, session) -> None:
    editor.view.setCurrentIndex(editor.view.model().index(0, 0))
    _choose(editor, "Lock")
    editor.view.selectAll()
    with qtbot.waitSignal(session.refused):
        _choose(editor, "Leave unpublished")
    assert len(session.scenario.phsafe.published) == 46


@pytest.fixture(params=Depth)
def _depth(request):
    before = appearance().depth
    appearance().show_depth(request.param)
    yield
    appearance().show_depth(before)


@pytest.mark.usefixtures("_depth")
def test_that_the_count_moves_nothing(qtbot, editor) -> None:
    editor.resize(831, 600)  # of a window of 1280 with the inspector
    QApplication.processEvents()
    before = editor.view.mapTo(editor, QPoint(0, 0))
    editor.search.setText("PH3")
    qtbot.waitUntil(lambda: bool(editor._count.text()))
    QApplication.processEvents()
    assert editor.view.mapTo(editor, QPoint(0, 0)) == before
    assert editor._count.width() >= editor._count.fontMetrics().horizontalAdvance(editor._count.text())


def test_that_the_count_of_a_filtered_table_is_shown(editor) -> None:
    editor.levels.setCurrentIndex(editor.levels.findData("usa_*"))
    assert editor._count.text() == "9 of 46"
    assert parse_query("PH3/usa_*") in _queries(editor)


@pytest.fixture
def page(qtbot, session, settings):
    look = appearance()
    depth, naming = look.depth, chosen_naming()
    look.show_depth(Depth.EXPERT)
    look.call_things(Naming.NAMES)
    found = BudgetsPage(session, QWidget(), settings)
    qtbot.addWidget(found)
    found.show()
    qtbot.waitExposed(found)
    yield found
    look.show_depth(depth)
    look.call_things(naming)


def hidden_part(page):
    return page.editor.view.horizontalScrollBar().maximum()


def test_that_the_picture_stands_beside_the_table_only_where_every_column_is_seen(page) -> None:
    sides = []
    for width in range(1000, 1900, 20):
        page.resize(width, 800)
        QApplication.processEvents()
        sides.append(page.picture.isVisible())
        assert not (page.picture.isVisible() and hidden_part(page)), width
    assert sides == sorted(sides)  # no width takes away what a smaller one has
    assert (sides[0], sides[-1]) == (False, True)


def test_that_the_picture_gives_way_to_columns_that_are_added(page) -> None:
    page.resize(page.editor.view.widths.whole() + 460, 800)
    assert page.picture.isVisible()
    page.editor.side_by_side.setChecked(True)
    assert not page.picture.isVisible()
    page.editor.side_by_side.setChecked(False)
    assert page.picture.isVisible()


def test_that_a_narrow_table_cuts_the_name_it_repeats_and_no_level(page) -> None:
    page.resize(820, 800)
    QApplication.processEvents()
    view = page.editor.view
    level, change = (
        view.index_of(page.editor.table.rows[0].key, column) for column in (Column.LEVEL, Column.MARGIN_CHANGE)
    )
    longest = max(view.fontMetrics().horizontalAdvance(row.key.level.title) for row in page.editor.table.rows)
    assert view.columnWidth(level.column()) > longest
    assert hidden_part(page) > 0
    assert view.visualRect(change).right() <= view.viewport().width()
