from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester

from phexplore.errors import PhexploreError
from phexplore.gui.binding.scenario_list import ScenarioList, renamed
from phexplore.model.workbook import activate, add_scenario, compare_with, remove_scenario


@pytest.fixture
def scenarios(session):
    found = ScenarioList(session)
    found.tester = QAbstractItemModelTester(found, QAbstractItemModelTester.FailureReportingMode.Fatal)
    return found


def _names(scenarios):
    return [scenarios.index(row).data() for row in range(scenarios.rowCount())]


def test_that_scenarios_come_and_go(scenarios, session, us) -> None:
    session.edit_workbook("Add", lambda book: add_scenario(book, us))
    assert _names(scenarios) == ["Proposal", us.name]
    assert scenarios.index(1).data(Qt.ItemDataRole.FontRole).bold()
    session.edit_workbook("Back", lambda book: activate(book, "Proposal"))
    assert scenarios.index(0).data(Qt.ItemDataRole.FontRole).bold()
    session.edit_workbook("Delete", lambda book: remove_scenario(book, us.name))
    assert _names(scenarios) == ["Proposal"]


def test_that_editing_a_row_renames_and_the_comparison_follows(scenarios, session, us) -> None:
    session.edit_workbook("Add", lambda book: compare_with(add_scenario(book, us), "Proposal"))
    assert scenarios.setData(scenarios.index(0), "Baseline")
    assert session.shown.workbook.names == ("Baseline", us.name)
    assert session.shown.workbook.comparison == "Baseline"
    assert session.shown.workbook.active == us.name


@pytest.mark.parametrize("name", ["", "  ", "a#b"])
def test_that_an_impossible_name_is_refused(qtbot, scenarios, session, name) -> None:
    with qtbot.waitSignal(session.refused):
        assert not scenarios.setData(scenarios.index(0), name)
    assert session.scenario.name == "Proposal"


def test_that_a_taken_name_is_refused(us, session) -> None:
    workbook = add_scenario(session.shown.workbook, us)
    with pytest.raises(PhexploreError, match="already"):
        renamed(workbook, "Proposal", us.name)
