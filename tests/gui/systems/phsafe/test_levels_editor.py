from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from phexplore.gui.systems.phsafe.levels_page import LevelsEditor
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.library import reread
from phexplore.model.edits import set_item
from phexplore.model.keys import parse_query
from phexplore.resources import resource


@pytest.fixture
def levels(qtbot, session):
    found = LevelsEditor(session)
    qtbot.addWidget(found)
    found.show()
    return found


def _whole(levels, name):
    return levels._whole[name][0]


def test_that_there_is_a_tick_per_query_with_its_numbers(levels) -> None:
    assert len(levels.ticks) == 46
    assert levels.ticks[parse_query("PH3/state_A-G")].text() == "2,499"  # 51 states x 7 groups x 7 cells
    assert all(tick.accessibleName() for tick in levels.ticks.values())


def test_that_a_tick_publishes_and_leaves_out(levels, session, query) -> None:
    levels.ticks[query].click()
    assert session.scenario.phsafe.budgets[query] == 0
    assert _whole(levels, "Publish all levels of PH3").checkState() == Qt.CheckState.PartiallyChecked
    levels.ticks[query].click()
    assert session.scenario.phsafe.budgets[query] > 0
    assert _whole(levels, "Publish all levels of PH3").checkState() == Qt.CheckState.Checked


def test_that_derived_tables_follow_their_source(levels, session) -> None:
    levels.ticks[parse_query("PH4/usa_*")].click()
    label, _ = levels._derived[parse_query("PH5_num/usa_*")]
    assert label.text() == "–"


def test_that_a_whole_level_is_one_step_and_toggles_back(levels, session) -> None:
    tick = _whole(levels, "Publish Nation, A-G of all tables")
    tick.click()
    assert session.project.labels[-1] == "Leave out 7 queries"
    assert len(session.scenario.phsafe.published) == 39
    tick.click()
    assert len(session.scenario.phsafe.published) == 46
    session.undo()
    assert tick.checkState() == Qt.CheckState.Unchecked


def test_that_a_lock_is_respected(qtbot, levels, session, query) -> None:
    session.edit("Lock", lambda s: set_item(s, "locks", query, value=True))
    assert not levels.ticks[query].isEnabled()
    with qtbot.waitSignal(session.refused):
        _whole(levels, "Publish all levels of PH3").click()
    assert len(session.scenario.phsafe.published) == 46
    assert _whole(levels, "Publish all levels of PH3").checkState() == Qt.CheckState.Checked


def test_that_a_table_of_the_library_is_offered_added_and_taken_back(qtbot, session, tmp_path, monkeypatch) -> None:
    text = resource("tables/ph4.toml").read_text().replace('id = "PH4"', 'id = "Mine"')
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "Mine.toml").write_text(text)
    monkeypatch.setenv("PHEXPLORE_LIBRARY", str(tmp_path))
    reread()
    try:
        found = LevelsEditor(session)
        qtbot.addWidget(found)
        found.show()
        assert len(found.ticks) == 46
        (add,) = found.findChildren(TextButton)
        assert add.accessibleName() == "Add Mine to the scenario"
        add.click()
        assert sum(query.table == "Mine" for query in found.ticks) == 6
        assert session.scenario.phsafe.thresholds["Mine"] == 10
        session.undo()
        qtbot.waitUntil(lambda: len(found.ticks) == 46)
        assert "Mine" not in session.scenario.phsafe.thresholds
    finally:
        monkeypatch.undo()
        reread()


def test_that_a_level_a_table_does_not_have_says_so(levels):
    told = [text for text in levels.findChildren(Text) if text.text() == "–" and "PH2" in text.toolTip()]
    assert len(told) == 4
    assert {text.toolTip() for text in told} >= {"PH2 is not tabulated at State, A-G"}
