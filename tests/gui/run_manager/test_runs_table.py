from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest

from phexplore.gui.run_manager.run_rows import RunRow, state_words
from phexplore.gui.run_manager.runs_table import (
    COLUMNS,
    PROGRESS,
    SCENARIO,
    STATE,
    RunsModel,
    RunsTable,
    progress_words,
)
from phexplore.runs.spec import RunSpec
from phexplore.runs.states import RunState


@pytest.fixture
def rows(us, run_data):
    spec = RunSpec(us, run_data, 10, 1)
    return tuple(
        RunRow(Path(f"/runs/2026050{day}T120000Z-aa"), spec, state, trials=3, phase="trials", seconds_left=20.0)
        for day, state in ((3, RunState.RUNNING), (2, RunState.COMPLETE), (1, RunState.FAILED))
    )


@pytest.fixture
def table(qtbot, rows):
    found = RunsTable()
    qtbot.addWidget(found)
    found.show_rows(rows)
    return found


def test_that_the_model_keeps_every_rule_of_item_models(qapp, rows):
    model = RunsModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows(rows)
    model.set_rows((replace(rows[0], trials=4), *rows[1:]))
    model.set_rows(rows[1:])
    model.set_rows(())
    assert model.rowCount() == 0


def test_that_a_run_is_a_row_of_words(table, rows):
    model = table.model()
    words = [model.index(0, column).data() for column in range(len(COLUMNS))]
    assert words[0] == rows[0].title
    assert words[1:4] == ["running", "30 % · 20 s left", "3 of 10"]
    assert words[5] == "data (synthetic)"
    assert model.index(0, STATE).data(Qt.ItemDataRole.AccessibleTextRole) == "State: running"


def test_that_a_phase_without_a_total_is_named_once(rows):
    counting = replace(rows[0], state=RunState.RUNNING, phase="count", total=0)
    assert progress_words(counting) == ""
    assert state_words(counting) == "running: counting"
    assert progress_words(replace(rows[0], phase="")) == "30 %"
    assert progress_words(replace(rows[0], spec=None, state=RunState.FAILED)) == ""


def test_that_news_change_only_their_row_and_keep_the_choice(table, rows, qtbot):
    table.choose(rows[1].directory)
    with qtbot.waitSignal(table.model().dataChanged) as changed:
        table.show_rows((replace(rows[0], trials=4), *rows[1:]))
    assert changed.args[0].row() == changed.args[1].row() == 0
    assert table.chosen_directory == rows[1].directory


def test_that_a_new_run_keeps_the_chosen_one_chosen(table, rows):
    table.choose(rows[1].directory)
    heard = []
    table.chosen.connect(heard.append)
    table.show_rows((replace(rows[0], directory=Path("/runs/20260509T120000Z-bb")), *rows))
    assert table.chosen_directory == rows[1].directory
    assert table.currentIndex().row() == 2
    assert heard == []


def test_that_the_newest_run_is_chosen_when_the_chosen_one_went(table, rows):
    table.choose(rows[0].directory)
    table.show_rows(rows[1:])
    assert table.chosen_directory == rows[1].directory
    table.show_rows(())
    assert table.chosen_directory is None


def test_that_moving_chooses_and_return_opens(table, rows):
    chosen, opened = [], []
    table.chosen.connect(chosen.append)
    table.opened.connect(opened.append)
    table.show()
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert chosen == [rows[1].directory]
    assert opened == [rows[1].directory]


def test_that_the_progress_bar_is_painted_for_what_is_not_complete(table):
    table.resize(900, 200)
    table.show()
    image = table.grab().toImage()

    def colours(row):
        area = table.visualRect(table.model().index(row, PROGRESS))
        y = area.bottom() - 5 + table.horizontalHeader().height()
        return {image.pixel(x, y) for x in range(area.left() + 6, area.right() - 12)}

    assert len(colours(2)) > len(colours(1))


def test_that_the_name_of_a_scenario_is_read_in_a_narrow_table_and_takes_the_rest_of_a_wide_one(table):
    letter = table.fontMetrics().averageCharWidth()
    table.show()
    table.resize(300, 200)
    assert table.columnWidth(SCENARIO) >= 30 * letter
    table.resize(1600, 200)
    assert sum(table.columnWidth(column) for column in range(len(COLUMNS))) == table.viewport().width()
