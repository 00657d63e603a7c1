from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester

from phexplore.figures.table import Table
from phexplore.gui.figures.data_table import NumbersModel, NumbersTable

THREE = Table(("Table", "people", "share"), (("PH1", 500, 0.25), ("PH2", 20, 0.5), ("PH3", None, 0.25)))


@pytest.fixture
def table(qtbot):
    found = NumbersTable()
    qtbot.addWidget(found)
    found.set_numbers(THREE)
    return found


def test_that_the_model_keeps_every_rule_of_item_models(qapp):
    model = NumbersModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_numbers(THREE)
    model.set_numbers(Table(THREE.headers, (*THREE.rows[:2], ("PH4", 7, 0.1))))
    model.set_numbers(Table(("one",), (("x",),)))
    model.set_numbers(Table(()))
    assert model.rowCount() == 0


def test_that_cells_are_worded_for_eyes_and_for_screen_readers(table):
    index = table.model().index(0, 1)
    assert index.data() == "500"
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "people: 500"
    assert index.data(Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight
    table.set_numbers(Table(("", "people"), (("A", 500),)))
    assert table.model().index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole) == "A"  # of no header


def test_that_new_numbers_of_the_same_shape_change_only_their_rows(table, qtbot):
    table.selectRow(1)
    with qtbot.waitSignal(table.model().dataChanged) as changed:
        table.set_numbers(Table(THREE.headers, (THREE.rows[0], ("PH2", 25, 0.5), THREE.rows[2])))
    assert (changed.args[0].row(), changed.args[1].row()) == (1, 1)
    assert table.currentIndex().row() == 1


def test_that_numbers_of_a_column_have_as_many_decimals_as_each_other(table):
    table.set_numbers(
        Table(("Cell", "Mean error, people", "σ"), (("a", 407.1, 0.00012), ("b", 454.35, 1234.5), ("c", 0.0, 3.0)))
    )
    model = table.model()
    column = [[model.index(row, column).data() for row in range(3)] for column in (1, 2)]
    assert column == [["407.10", "454.35", "0"], ["0.00012", "1,234.5", "3"]]  # a small number keeps its digits
    assert model.headerData(1, Qt.Orientation.Horizontal) == "Mean error,\npeople"
    assert model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.AccessibleTextRole) == "Mean error, people"
    long = "Root mean squared error, People in households by age (Nation, by race)"
    table.set_numbers(Table((long,), ((1.5,),)))
    assert model.headerData(0, Qt.Orientation.Horizontal).split("\n") == [
        "Root mean squared error,",
        "People in households by age",
        "(Nation, by race)",
    ]
    table.set_numbers(
        Table(("Cell", "Mean error, people", "σ"), (("a", 407.1, 0.00012), ("b", 454.35, 1234.5), ("c", 0.0, 3.0)))
    )
    assert table.numbers.tab_separated().startswith("Cell\tMean error, people\tσ\na\t407.1\t")
    run = "Proposal from redistricting 2020, 28 Nov 07:10, 3 trials"
    table.set_numbers(Table(("Rule", run, "Consensus draft"), (("a", "not judged", "95 %"),)))
    heads = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(3)]
    assert heads == ["Rule", "Proposal from redistricting\n2020, 28 Nov 07:10, 3 trials", "Consensus draft"]


def test_that_a_row_that_stayed_is_written_anew_when_its_column_gets_other_decimals(table, qtbot):
    table.set_numbers(Table(("Cell", "Error"), (("a", 1.5), ("b", 2.5))))
    assert table.model().index(0, 1).data() == "1.5"
    with qtbot.waitSignal(table.model().dataChanged) as changed:
        table.set_numbers(Table(("Cell", "Error"), (("a", 1.5), ("b", 2.25))))
    assert (changed.args[0].row(), changed.args[1].row()) == (0, 1)
    assert table.model().index(0, 1).data() == "1.50"


def test_that_a_block_is_copied_with_its_headers(table):
    model, chosen = table.model(), table.selectionModel()
    block = QItemSelection(model.index(0, 0), model.index(1, 1))
    chosen.select(block, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    table.copy()
    assert QGuiApplication.clipboard().text() == "Table\tpeople\nPH1\t500\nPH2\t20\n"


def test_that_everything_is_copied_when_nothing_is_selected(table):
    table.copy()
    assert QGuiApplication.clipboard().text() == THREE.tab_separated()


def test_that_ctrl_c_copies(table, qtbot):
    table.show()
    qtbot.keyClick(table, Qt.Key.Key_Home)  # no Shift of a test before is held: it would extend the choice
    table.selectRow(2)
    QGuiApplication.clipboard().clear()
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Table\tpeople\tshare\nPH3\t\t0.25\n"


def test_that_moving_announces_the_row_and_following_does_not(table, qtbot):
    heard = []
    table.row_chosen.connect(heard.append)
    table.choose_row(2)
    assert table.currentIndex().row() == 2
    table.choose_row(None)
    assert not table.currentIndex().isValid()
    table.choose_row(99)
    assert heard == []
    table.selectRow(1)
    assert heard == [1]


def test_that_names_are_whole_where_there_is_room_and_give_way_to_numbers_where_there_is_none(qtbot):
    name = "Own children by family type and age of the householder"
    table = NumbersTable()
    qtbot.addWidget(table)
    table.resize(400, 200)
    table.show()
    table.set_numbers(Table(("Table", "Mean error, people"), ((name, 454.35),)))
    qtbot.waitUntil(lambda: table.columnWidth(0) > 0)
    whole = table.fontMetrics().horizontalAdvance(name)
    qtbot.waitUntil(lambda: sum(table.columnWidth(column) for column in (0, 1)) <= table.viewport().width())
    assert table.columnWidth(0) < whole
    table.resize(900, 200)
    qtbot.waitUntil(lambda: table.columnWidth(0) > whole)


def test_that_long_names_of_a_few_rows_go_on_in_another_line(qtbot) -> None:
    table = NumbersTable(is_wrapped=True)
    qtbot.addWidget(table)
    table.resize(420, 300)
    table.show()
    table.set_numbers(
        Table(("Parameter", "A"), (("Bounded ρ of children by household type (State, by race)" * 2, 0.8), ("τ", 9)))
    )
    one = table.verticalHeader().defaultSectionSize()
    assert table.rowHeight(0) > one
    assert table.rowHeight(1) >= one
    table.resize(1400, 300)
    assert [table.rowHeight(row) for row in (0, 1)] == [one, one]


def test_that_a_longer_name_in_the_same_place_is_whole_where_there_is_room(qtbot) -> None:
    table = NumbersTable()
    qtbot.addWidget(table)
    table.resize(900, 200)
    table.show()
    for name in ("Ada", "S-DHC 2020, United States (production)"):
        table.set_numbers(Table(("Compared", "Loss"), ((name, 1.5),)))
        qtbot.waitUntil(lambda: table.columnWidth(0) >= table.sizeHintForColumn(0))


def test_that_the_first_column_still_tells_rows_apart_where_a_long_remark_is_cut(qtbot) -> None:
    table = NumbersTable()
    qtbot.addWidget(table)
    table.resize(790, 200)
    table.show()
    headers = ("Parameter", *(f"Member {number}" for number in range(8)), "Reasons")
    table.set_numbers(
        Table(headers, (("Margin of People by household type (Nation, all races)", *range(8), "why " * 60),))
    )
    assert table.columnWidth(0) >= table.viewport().width() // 3


def test_that_a_long_name_over_numbers_leaves_room_for_the_others(qtbot) -> None:
    table = NumbersTable()
    qtbot.addWidget(table)
    table.resize(790, 200)
    table.show()
    table.set_numbers(Table(("Parameter", "Long" * 75, "Median"), (("Margin of Households", 22, 25),)))
    qtbot.waitUntil(lambda: table.columnWidth(1) > 0)
    assert sum(map(table.columnWidth, range(3))) <= table.viewport().width()
    header = table.model().headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert header.replace("\n", " ") == "Long" * 75
