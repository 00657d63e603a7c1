from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import Qt

from phexplore.gui.widgets.labels import ElidedText
from phexplore.model.edits import set_item
from phexplore.model.keys import parse_query
from phexplore.systems.phsafe.edits import set_budget


@pytest.fixture
def panel(editor, session, query):
    session.select(query)
    return editor.panel


def test_that_dragging_the_margin_is_one_step_and_the_budget_follows(panel, session, query) -> None:
    slider = panel.margin.slider
    for position in range(slider.value() + 1, slider.value() + 101):
        slider.setValue(position)
    slider.released.emit()
    margin = session.shown.figures.query(query).margins.normal
    assert len(session.project.labels) == 2
    assert margin > 21
    assert margin == pytest.approx(round(margin), abs=0.1)
    assert session.scenario.phsafe.targets[query] == 20
    assert Fraction(panel.budget.field.line.text()) == session.shown.figures.query(query).bounded_budget


def test_that_dragging_the_budget_moves_the_margin(panel, session, query) -> None:
    before = panel.margin.slider.value()
    panel.budget.slider.setValue(panel.budget.slider.value() - 100)
    panel.budget.slider.released.emit()
    assert session.project.labels[-1].startswith("Set bounded ρ of PH3")
    assert panel.margin.slider.value() > before
    assert session.scenario.phsafe.targets[query] == 20  # the aim stays, and is missed now


def test_that_two_drags_are_two_steps(panel, session) -> None:
    for _ in range(2):
        panel.margin.slider.setValue(panel.margin.slider.value() + 1)
        panel.margin.slider.setValue(panel.margin.slider.value() + 1)
        panel.margin.slider.released.emit()
    assert len(session.project.labels) == 3


def test_that_a_drag_of_200_steps_leaves_no_backlog(qtbot, panel, session) -> None:
    settled, updates = [], []
    session.settled.connect(settled.append)
    session.updated.connect(updates.append)
    slider = panel.margin.slider
    slider.setValue(0)
    for position in range(1, 201):
        slider.setValue(position)
    slider.released.emit()
    assert len(updates) >= 200
    assert len(settled) < 150  # pictures are drawn per frame, not per step
    qtbot.waitUntil(lambda: bool(settled) and settled[-1] is session.shown)
    count = len(settled)
    qtbot.wait(60)
    assert len(settled) == count
    assert session.project.cursor == 1


def test_that_typed_values_are_taken_exactly_or_refused_in_place(qtbot, panel, session, query) -> None:
    line = panel.budget.field.line
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, "2/3")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert session.scenario.phsafe.budgets[query] == Fraction(1, 3)
    line.selectAll()
    qtbot.keyClicks(line, "two")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert "'two' is not a number" in panel.budget.field.reason
    assert session.scenario.phsafe.budgets[query] == Fraction(1, 3)
    session.select(parse_query("PH7/usa_*"))
    assert panel.budget.field.reason == ""


def test_that_a_locked_row_is_greyed_with_the_reason(panel, session, query) -> None:
    session.edit("Lock", lambda s: set_item(s, "locks", query, value=True))
    assert not panel.margin.slider.isEnabled()
    assert "locked" in panel.budget.field.toolTip()
    assert panel.lock.isChecked()
    panel.lock.click()
    assert query not in session.scenario.phsafe.locks


def test_that_the_reference_is_one_click_away(panel, session, query) -> None:
    assert not panel.reset.isEnabled()
    session.edit("Set", lambda s: set_budget(s, query, Fraction(1)))
    assert panel.reset.isEnabled()
    panel.reset.click()
    assert session.scenario.phsafe.budgets[query] == Fraction("0.662976")


def test_that_without_a_row_nothing_can_be_edited(panel, session) -> None:
    session.select(None)
    assert not panel.margin.slider.isEnabled()
    assert not panel.lock.isEnabled()


@pytest.mark.defect("minor 11")
def test_that_without_a_row_no_value_of_the_row_before_is_shown(panel, session) -> None:
    assert panel.margin.field.line.text()
    session.select(None)
    assert panel.findChild(ElidedText).text() == "No row chosen: click one to edit it with sliders"
    assert panel._hint.text() == "", "a second text beside it was cut in a window of 1,920 pixels"
    assert (panel.margin.field.line.text(), panel.budget.field.line.text()) == ("", "")
    assert (panel.margin.slider.value(), panel.budget.slider.value()) == (0, 0)


def test_that_a_row_that_is_not_published_meets_no_target(panel, session, query) -> None:
    session.edit("Leave out", lambda scenario: set_budget(scenario, query, Fraction(0)))
    assert panel._hint.text() == "target 20 people, not published"
