from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester

from phexplore.document.project import Project
from phexplore.gui.systems.phsafe.budget_table import COLUMNS, Column, budget_table
from phexplore.gui.tables.model import REFUSAL_ROLE, ParameterModel
from phexplore.model.edits import set_field, set_item
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.workbook import Workbook, add_scenario
from phexplore.systems.phsafe.edits import set_budget

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


@pytest.fixture
def table(session):
    found = ParameterModel(session, budget_table)
    found.tester = QAbstractItemModelTester(found, FATAL)
    return found


@pytest.fixture
def cell(table, query):
    return lambda column: table.index(_line(table, query), COLUMNS.index(column))


def _line(table, query):
    return [row.key for row in table.rows].index(query)


def _changed_rows(table):
    rows = set()
    table.dataChanged.connect(
        lambda first, last: rows.update(
            (row, column)
            for row in range(first.row(), last.row() + 1)
            for column in range(first.column(), last.column() + 1)
        )
    )
    return rows


def test_that_there_is_a_row_per_measured_query(table) -> None:
    assert table.rowCount() == 46
    assert table.columnCount() == len(COLUMNS)
    assert table.rowCount(table.index(0, 0)) == 0


def test_that_typing_a_budget_is_one_named_step(table, session, cell, query) -> None:
    assert table.setData(cell(Column.BUDGET), "1/4")
    assert session.scenario.method.budgets[query] == Fraction(1, 4)
    assert session.project.labels[-1] == "Set unbounded ρ of PH3 (State, A-G) to 0.25"
    assert cell(Column.BOUNDED).data() == "0.500000"


def _cells(table):
    return {
        (row, column): table.cell(row, column)
        for row in range(table.rowCount())
        for column in range(table.columnCount())
    }


def test_that_only_cells_that_look_different_are_redrawn(table, session, query) -> None:
    before, changed = _cells(table), _changed_rows(table)
    session.edit("Set", lambda s: set_budget(s, query, Fraction(1, 4)))
    after, edited, share = _cells(table), _line(table, query), COLUMNS.index(Column.SHARE)
    assert {place for place in after if after[place] != before[place]} <= changed
    assert {column for row, column in changed if row != edited} == {share}
    columns = {COLUMNS[column] for row, column in changed if row == edited}
    assert columns >= {Column.MARGIN, Column.BUDGET, Column.BOUNDED, Column.SHARE}
    assert not columns & {Column.TABLE, Column.LEVEL, Column.PUBLISHED, Column.LOCK}


def test_that_an_edit_that_changes_nothing_redraws_nothing(table, session, query) -> None:
    changed = _changed_rows(table)
    session.edit("Note", lambda s: set_item(s, "locks", query, value=False))
    assert changed == set()


def test_that_a_refused_entry_stays_visible_with_its_reason(table, session, cell) -> None:
    before, steps = session.scenario, session.project.labels
    assert not table.setData(cell(Column.BUDGET), "abc")
    assert cell(Column.BUDGET).data() == cell(Column.BUDGET).data(Qt.ItemDataRole.EditRole) == "abc"
    assert "'abc' is not a number" in cell(Column.BUDGET).data(Qt.ItemDataRole.ToolTipRole)
    assert "refused" in cell(Column.BUDGET).data(Qt.ItemDataRole.AccessibleTextRole)
    assert session.scenario is before
    assert session.project.labels == steps
    assert cell(Column.BOUNDED).data() == "1.325952"


def test_that_a_refused_entry_goes_when_it_is_restored_or_corrected(table, cell) -> None:
    table.setData(cell(Column.BUDGET), "abc")
    assert table.setData(cell(Column.BUDGET), None, REFUSAL_ROLE)
    assert cell(Column.BUDGET).data() == "0.662976"
    table.setData(cell(Column.BUDGET), "abc")
    assert table.setData(cell(Column.BUDGET), "0.5")
    assert cell(Column.BUDGET).data() == "0.500000"
    table.setData(cell(Column.BUDGET), "-3")
    assert table.setData(cell(Column.BUDGET), "0.5")
    assert cell(Column.BUDGET).data(REFUSAL_ROLE) is None


def test_that_a_refused_entry_goes_when_its_row_changes_elsewhere(table, session, cell, query) -> None:
    table.setData(cell(Column.BUDGET), "abc")
    session.edit("Set", lambda s: set_budget(s, query, Fraction(1, 4)))
    assert cell(Column.BUDGET).data() == "0.250000"


def test_that_undo_and_redo_show_in_the_table(table, session, cell) -> None:
    table.setData(cell(Column.MARGIN), "25")
    assert cell(Column.BUDGET).data() == "0.424305"
    session.undo()
    assert cell(Column.BUDGET).data() == "0.662976"
    session.redo()
    assert cell(Column.BUDGET).data() == "0.424305"


def test_that_ticks_publish_and_lock(table, session, cell, query) -> None:
    role = Qt.ItemDataRole.CheckStateRole
    assert table.setData(cell(Column.PUBLISHED), Qt.CheckState.Unchecked, role)
    assert session.scenario.method.budgets[query] == 0
    session.undo()
    assert table.setData(cell(Column.LOCK), Qt.CheckState.Checked, role)
    assert query in session.scenario.method.locks
    assert not table.flags(cell(Column.BUDGET)) & Qt.ItemFlag.ItemIsEditable
    assert not table.setData(cell(Column.BUDGET), "1")
    assert table.flags(cell(Column.LOCK)) & Qt.ItemFlag.ItemIsUserCheckable


def test_that_computed_columns_take_nothing(table, cell) -> None:
    for column in (Column.TABLE, Column.LEVEL, Column.SHARE, Column.MARGIN_EXACT, Column.BUDGET_CHANGE):
        assert not table.flags(cell(column)) & Qt.ItemFlag.ItemIsEditable
        assert not table.setData(cell(column), "1")


def test_that_headers_follow_framework_and_confidence(qtbot, table, session) -> None:
    number = COLUMNS.index(Column.BUDGET)
    with qtbot.waitSignal(table.headerDataChanged):
        session.edit("Pure", lambda s: set_field(s, "framework", PrivacyFramework.PURE_DP))
    assert table.headerData(number, Qt.Orientation.Horizontal) == "ε"
    conventions = session.scenario.conventions
    with qtbot.waitSignal(table.headerDataChanged):
        changed = type(conventions)(confidence=Fraction(95, 100))
        session.edit("95", lambda s: set_field(s, "conventions", changed))
    assert "95 %" in table.headerData(COLUMNS.index(Column.MARGIN), Qt.Orientation.Horizontal)


def test_that_another_scenario_shows_its_values(table, session, cell, puerto_rico, query) -> None:
    session.edit_workbook("Add", lambda book: add_scenario(book, puerto_rico))
    shown = cell(Column.BUDGET).data(Qt.ItemDataRole.EditRole)
    assert Fraction(shown) == puerto_rico.method.budgets[query]


def test_that_every_cell_says_what_it_is(table) -> None:
    for row in (0, 20, 45):
        for column in range(table.columnCount()):
            spoken = table.index(row, column).data(Qt.ItemDataRole.AccessibleTextRole)
            header = table.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.AccessibleTextRole)
            assert spoken.lower().startswith(f"{header.lower()[:4]}")
            assert ":" in spoken
            # a reader says the header of a row once, not in each of its cells
            assert "PH" not in spoken.partition(":")[0]
        assert "PH" in table.headerData(row, Qt.Orientation.Vertical, Qt.ItemDataRole.AccessibleTextRole)


def test_that_the_filter_keeps_what_was_asked_for(table, session, query) -> None:
    table.show_only(lambda row: row.key.table == "PH3")
    assert (table.rowCount(), len(table.table.rows)) == (6, 46)
    table.show_only(lambda row: row.key == query)
    session.edit("Set", lambda s: set_budget(s, query, Fraction(1, 10)))
    assert table.index(0, COLUMNS.index(Column.BUDGET)).data() == "0.100000"
    table.show_only(lambda row: row.entry.budget == Fraction(1, 10))
    assert table.rowCount() == 1
    session.undo()
    assert table.rowCount() == 1  # a row does not vanish under the cursor
    table.show_only(lambda row: row.entry.budget == Fraction(1, 10))
    assert table.rowCount() == 0
    session.redo()
    assert table.rowCount() == 0


def test_that_a_paused_table_catches_up_with_one_update(table, session, query) -> None:
    table.pause()
    changed = _changed_rows(table)
    for value in (Fraction(1, 4), Fraction(1, 3), Fraction(1, 2)):
        session.edit("Set", lambda s, v=value: set_budget(s, query, v))
    assert changed == set()
    table.resume()
    assert {row for row, column in changed if column == COLUMNS.index(Column.BUDGET)} == {_line(table, query)}
    assert table.rows == budget_table(session.shown).rows
    table.resume()
    assert table.rows == budget_table(session.shown).rows


def test_that_a_paused_table_starts_anew_for_another_project(qtbot, table, session, us) -> None:
    table.pause()
    session.edit("Set", lambda s: set_budget(s, next(iter(us.phsafe.budgets)), Fraction(1)))
    other = Project.new(Workbook((us,), us.name))
    session.install(other)
    with qtbot.waitSignal(table.modelReset):
        table.resume()
    assert table.rows == budget_table(session.shown).rows
