"""A member comments on the number in hand, and finds it in inspector, history and scenario."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from phexplore.gui.binding.areas import Area
from phexplore.gui.decision.comments import CommentDialog
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.systems.registry import presets


@pytest.fixture
def window(qtbot, settings, tmp_path):
    found = MainWindow(project_of(presets()["sdhc-2020-us"]), settings, tmp_path / "runs")
    qtbot.addWidget(found, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
    found.show()
    return found


def dialog_of(window):
    window.actions_table["edit.comment"].trigger()
    return window.findChildren(CommentDialog)[-1]


def test_that_a_comment_on_the_selected_number_is_a_step_that_is_seen(qtbot, window) -> None:
    query = next(query for query in window.session.scenario.phsafe.budgets if query.text == "PH3/usa_A-G")
    window.navigation.choose(Area.BUDGETS)
    window.room.session.select(query)
    dialog = dialog_of(window)
    assert dialog.about.currentData() == "PH3/usa_A-G"
    dialog.who.setText("Anna Member")
    dialog.add.click()
    assert dialog.reason.text()
    assert window.session.scenario.comments == ()
    dialog.text.setPlainText("Schools need it")
    assert not dialog.reason.text(), "what was refused is being mended"
    qtbot.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    (comment,) = window.session.scenario.comments
    assert (comment.who, comment.about, comment.text) == ("Anna Member", "PH3/usa_A-G", "Schools need it")
    assert comment.at.startswith("20")
    inspector = window.room.show_inspector()
    inspector.refresh_now()
    assert "Schools need it" in inspector.said.text()
    assert "Anna Member" in window.session.project.labels[-1]
    again = dialog_of(window)
    assert again.who.text() == "Anna Member"
    assert "Schools need it" in again.said.text()
    again.reject()
    window.session.undo()
    assert window.session.scenario.comments == ()


def test_that_the_whole_scenario_is_offered_where_nothing_is_selected(window) -> None:
    assert dialog_of(window).about.currentData() == ""
