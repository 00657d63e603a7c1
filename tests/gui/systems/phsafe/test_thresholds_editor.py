from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import Qt

from phexplore.gui.systems.phsafe.thresholds_editor import ThresholdsEditor


@pytest.fixture
def thresholds(qtbot, session):
    found = ThresholdsEditor(session)
    qtbot.addWidget(found)
    found.show()
    return found


def _type(qtbot, field, text):
    field.line.setFocus()
    field.line.selectAll()
    qtbot.keyClicks(field.line, text)
    qtbot.keyClick(field.line, Qt.Key.Key_Return)


def test_that_there_is_a_field_per_truncated_table(thresholds) -> None:
    assert list(thresholds.fields) == ["PH1_num", "PH2", "PH3", "PH4", "PH6", "PH7"]
    assert thresholds.fields["PH3"].line.text() == "6"


def test_that_budgets_stay_and_margins_follow(qtbot, thresholds, session, query) -> None:
    _type(qtbot, thresholds.fields["PH3"], "10")
    assert session.scenario.phsafe.thresholds["PH3"] == 10
    assert session.scenario.phsafe.budgets[query] == Fraction("0.662976")
    assert session.shown.figures.query(query).margins.normal == pytest.approx(20 * 22 / 14, rel=1e-6)


def test_that_margins_stay_and_budgets_follow_on_demand(qtbot, thresholds, session, query) -> None:
    thresholds.keep_margins.setChecked(True)
    _type(qtbot, thresholds.fields["PH3"], "10")
    assert session.shown.figures.query(query).margins.normal <= 20
    assert session.scenario.phsafe.budgets[query] == pytest.approx(0.662976 * (22 / 14) ** 2, rel=1e-5)
    assert session.project.labels[-1] == "Set τ of PH3 to 10, keeping margins"


@pytest.mark.parametrize(("typed", "reason"), [("0", "from 1"), ("2.5", "whole number"), ("many", "not a number")])
def test_that_an_impossible_threshold_is_refused_in_place(qtbot, thresholds, session, typed, reason) -> None:
    before = session.scenario
    field = thresholds.fields["PH3"]
    _type(qtbot, field, typed)
    assert reason in field.reason
    assert field.line.text() == typed
    assert session.scenario is before


def test_that_buttons_step_and_stop_at_one(thresholds, session) -> None:
    line = thresholds._lines[2]
    line._more.click()
    assert session.scenario.phsafe.thresholds["PH3"] == 7
    for _ in range(10):
        line._less.click()
    assert session.scenario.phsafe.thresholds["PH3"] == 1
    assert not line._less.isEnabled()
    session.go_to(0)
    assert thresholds.fields["PH3"].line.text() == "6"
