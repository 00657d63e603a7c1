from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.room import Offer
from phexplore.gui.main.action_dialogs import Palette, matching
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.systems.registry import preset


@pytest.fixture
def palette(window):
    window.actions_table["help.palette"].trigger()
    return window.findChild(Palette)


def test_that_every_action_that_can_be_done_is_offered_and_no_other(window, palette) -> None:
    entries = window.actions_table.entries.values()
    actions = [words for words in palette.shown if not words.startswith("Go to ")]
    assert len(actions) == sum(action.shown() and action.enabled() for action in entries)
    assert "File: Export: Production config.json" in actions
    assert "File: Export: Production .ini files" not in actions  # of another system
    assert "File: Open" in actions
    assert "Edit: Undo" not in actions  # nothing to undo yet


def test_that_every_row_of_the_budget_table_is_offered(window, palette) -> None:
    rows = [words for words in palette.shown if words.startswith("Go to ")]
    assert rows == [f"Go to {query.title}" for query in window.rooms["phsafe"].session.scenario.phsafe.budgets]


def test_that_typing_and_enter_goes_to_a_row(qtbot, window, palette, query) -> None:
    qtbot.keyClicks(palette.search, "ph3 state a-g")
    assert palette.shown == (f"Go to {query.title}",)
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert window.navigation.area is Area.BUDGETS
    assert window.session.selection == query


def test_that_arrow_keys_in_the_field_move_in_the_list(qtbot, window, palette) -> None:
    qtbot.keyClicks(palette.search, "view")
    qtbot.keyClick(palette.search, Qt.Key.Key_Down)
    assert palette.list.currentRow() == 1
    wanted = palette.shown[1]
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert wanted == "View: Budgets"
    assert window.navigation.area is Area.BUDGETS


def test_that_nothing_found_is_said(qtbot, palette) -> None:
    qtbot.keyClicks(palette.search, "xyzzy")
    assert palette.shown == ()
    assert palette._none.isVisible()
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_that_words_that_start_like_the_typed_one_come_first() -> None:
    offers = [Offer(words, "", lambda: None) for words in ("Edit: Paste", "View: As the system", "File: Save as")]
    assert [offer.words for offer in matching(offers, "as")] == ["View: As the system", "File: Save as", "Edit: Paste"]


def test_that_every_level_and_query_of_topdown_is_offered(qtbot, settings, tmp_path) -> None:
    window = MainWindow(project_of(preset("pl94-2020-persons-us")), settings, tmp_path / "runs")
    qtbot.addWidget(window, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
    window.show()
    window.commands.show_palette()
    palette = window.findChild(Palette)
    method = window.rooms["topdown"].session.shown.method
    rows = [words for words in palette.shown if words.startswith("Go to ")]
    assert len(rows) == len(method.levels) + len(method.query_shares)
    qtbot.keyClicks(palette.search, "hispanic county votingage cenrace")
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert window.navigation.area is Area.BUDGETS
    assert window.rooms["topdown"].session.selection.level == "County"
