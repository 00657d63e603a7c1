from __future__ import annotations

from datetime import datetime
from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester

from phexplore.gui.binding.history_list import IS_CURRENT_ROLE, TIME_ROLE, HistoryList
from phexplore.systems.phsafe.edits import set_budget


@pytest.fixture
def history(session):
    found = HistoryList(session)
    found.tester = QAbstractItemModelTester(found, QAbstractItemModelTester.FailureReportingMode.Fatal)
    return found


@pytest.fixture
def set_to(session, query):
    return lambda value, key=None: session.edit(
        f"Set {value}", lambda s: set_budget(s, query, Fraction(value)), merge_key=key
    )


def _labels(history):
    return [history.index(row).data() for row in range(history.rowCount())]


def test_that_every_step_is_listed_and_the_current_one_marked(history, set_to) -> None:
    set_to(1)
    set_to(2)
    assert _labels(history) == ["New project", "Set 1", "Set 2"]
    assert [history.index(row).data(IS_CURRENT_ROLE) for row in range(3)] == [False, False, True]
    assert history.index(2).data(TIME_ROLE)


def test_that_undone_steps_stay_until_the_next_edit(history, session, set_to) -> None:
    set_to(1)
    set_to(2)
    session.go_to(0)
    assert _labels(history) == ["New project", "Set 1", "Set 2"]
    assert history.index(2).data(Qt.ItemDataRole.FontRole).italic()
    assert "undone" in history.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    set_to(3)
    assert _labels(history) == ["New project", "Set 3"]
    assert history.cursor == 1


def test_that_a_drag_renames_its_one_step(history, session, set_to) -> None:
    for value in range(1, 200):
        set_to(value, "drag")
    assert _labels(history) == ["New project", "Set 199"]
    session.undo()
    assert history.cursor == 0


@pytest.mark.defect("minor 18")
def test_that_the_time_of_a_step_has_its_day(history, set_to) -> None:
    set_to(1)
    assert datetime.strptime(history.index(1).data(TIME_ROLE), "%d %b %Y, %H:%M").year >= 2024  # noqa: DTZ007 - local time is shown
