from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from phexplore.gui.systems.phsafe.levels_page import ThresholdsEditor
from phexplore.gui.tables.model import REFUSAL_ROLE


@pytest.fixture
def thresholds(qtbot, session):
    found = ThresholdsEditor(session)
    qtbot.addWidget(found)
    found.show()
    qtbot.waitExposed(found)
    return found


def _cell(thresholds, table):
    return thresholds.view.index_of(table, "τ, people")


def _type(thresholds, table, text):
    return thresholds.table.setData(_cell(thresholds, table), text)


def test_that_there_is_a_row_per_truncated_table(thresholds) -> None:
    assert [row.key for row in thresholds.table.rows] == ["PH1_num", "PH2", "PH3", "PH4", "PH6", "PH7"]
    assert _cell(thresholds, "PH3").data() == "6"
    assert thresholds.view.verticalScrollBar().maximum() == 0


def test_that_budgets_stay_and_margins_follow(thresholds, session, query) -> None:
    assert _type(thresholds, "PH3", "10")
    assert session.scenario.phsafe.thresholds["PH3"] == 10
    assert session.scenario.phsafe.budgets[query] == Fraction("0.662976")
    assert session.shown.figures.query(query).margins.normal == pytest.approx(20 * 22 / 14, rel=1e-6)


def test_that_margins_stay_and_budgets_follow_on_demand(thresholds, session, query) -> None:
    thresholds.keep_margins.setChecked(True)
    assert _type(thresholds, "PH3", "10")
    assert session.shown.figures.query(query).margins.normal <= 20
    assert session.scenario.phsafe.budgets[query] == pytest.approx(0.662976 * (22 / 14) ** 2, rel=1e-5)
    assert session.project.labels[-1] == "Set the threshold of PH3 to 10, keeping margins"


@pytest.mark.parametrize(("typed", "reason"), [("0", "from 1"), ("2.5", "whole number"), ("many", "not a number")])
def test_that_an_impossible_threshold_is_refused_in_place(thresholds, session, typed, reason) -> None:
    before = session.scenario
    assert not _type(thresholds, "PH3", typed)
    assert reason in _cell(thresholds, "PH3").data(REFUSAL_ROLE).full
    assert _cell(thresholds, "PH3").data() == typed
    assert session.scenario is before


def test_that_buttons_and_keys_step_and_stop_at_one(qtbot, thresholds, session) -> None:
    thresholds.view.setCurrentIndex(_cell(thresholds, "PH3"))
    less, more = thresholds.steps
    assert [less.text(), more.text()] == ["One less", "One more"]
    more.click()
    assert session.scenario.phsafe.thresholds["PH3"] == 7
    qtbot.keyClick(thresholds.view, Qt.Key.Key_Plus)
    assert session.scenario.phsafe.thresholds["PH3"] == 8
    qtbot.keyClick(thresholds.view, Qt.Key.Key_Plus, Qt.KeyboardModifier.ShiftModifier)
    assert session.scenario.phsafe.thresholds["PH3"] == 9
    for _ in range(10):
        less.click()
    assert session.scenario.phsafe.thresholds["PH3"] == 1
    session.go_to(0)
    assert _cell(thresholds, "PH3").data() == "6"


def test_that_a_block_of_thresholds_is_one_step(thresholds, session) -> None:
    thresholds.view.setCurrentIndex(_cell(thresholds, "PH3"))
    QGuiApplication.clipboard().setText("7\n8")
    assert thresholds.view.commands.paste()
    assert [session.scenario.phsafe.thresholds[table] for table in ("PH3", "PH4")] == [7, 8]
    session.undo()
    assert session.scenario.phsafe.thresholds["PH3"] == 6
