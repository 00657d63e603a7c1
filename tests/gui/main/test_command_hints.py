"""What the window says an action is called on the command line can be typed there."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path

import pytest
import typer
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from phexplore.cli.app import program
from phexplore.gui.main.action_dialogs import ActionLogDialog, Palette, script_of
from phexplore.gui.main.actions import Subject
from phexplore.gui.main.exporting import export_formats
from phexplore.model.fingerprint import fingerprint
from phexplore.systems.phsafe.edits import set_budget

ALONE = Subject(Path("/data/my proposal.phx"), "Draft", "sdhc-2020-us", ("Draft",))
TWO = Subject(None, "B", "A", ("A", "B"))


@pytest.mark.parametrize("subject", [ALONE, TWO], ids=["saved", "unsaved"])
def test_that_every_hint_is_a_command_with_known_options(window, subject) -> None:
    hints = [hint for action in window.actions_table.entries.values() if (hint := subject.hint(action))]
    assert len(hints) >= 12 + len(export_formats())
    for hint in hints:
        first, name, *words = shlex.split(hint)
        assert first == "phexplore"
        command = typer.main.get_command(program())
        if name != "--help":
            known = {option for parameter in command.commands[name].params for option in parameter.opts}
            assert {word for word in words if word.startswith("--")} <= known, hint


def test_that_scenarios_are_named_as_the_command_line_takes_them(window) -> None:
    compare, undo = (window.actions_table.entries[each] for each in ("decide.compare", "edit.undo"))
    assert ALONE.hint(compare) == "phexplore compare '/data/my proposal.phx' sdhc-2020-us"
    assert TWO.hint(compare) == "phexplore compare 'PROJECT.phx#B' 'PROJECT.phx#A'"
    assert ALONE.hint(undo) == ""


def test_that_the_palette_says_the_command(qtbot, window) -> None:
    window.commands.show_palette()
    palette = window.findChild(Palette)
    qtbot.keyClicks(palette.search, "new run")
    assert palette._hint.text().startswith("On the command line: phexplore run PROJECT.phx --data demo")
    qtbot.keyClick(palette.search, Qt.Key.Key_Escape)


def test_that_actions_edits_and_undo_are_logged_once_each(qtbot, window, query) -> None:
    table = window.actions_table
    table["view.issues"].trigger()
    window.session.edit("Set ρ of PH3", lambda s: set_budget(s, query, Fraction(1, 2)))
    qtbot.waitUntil(lambda: len(table.done) == 2)
    table["edit.undo"].trigger()
    qtbot.waitUntil(lambda: len(table.done) == 4)
    words = [done.words for done in table.done]
    assert words == ["Issues", "Set ρ of PH3", "Undo", f"Back to: {window.session.project.labels[0]}"]
    assert table.done[0].hint == "phexplore check PROJECT.phx"
    window.commands.show_log()
    dialog = window.findChild(ActionLogDialog)
    assert [row[1] for row in dialog.table.numbers.rows] == words
    assert script_of(list(table.done)[:2]) == "phexplore check PROJECT.phx\n# Set ρ of PH3\n"
    dialog.close()


def test_that_a_list_and_a_table_are_copied_with_headers(qtbot, window) -> None:
    from PySide6.QtWidgets import QListWidget, QTableWidget, QTableWidgetItem

    table = QTableWidget(2, 2, window)
    table.setHorizontalHeaderLabels(["Name", "Figure"])
    for row, (name, figure) in enumerate((("a", "1.5"), ("b\tc", "2"))):
        table.setItem(row, 0, QTableWidgetItem(name))
        table.setItem(row, 1, QTableWidgetItem(figure))
    names = QListWidget(window)
    names.addItems(["first", "second"])
    for view, keys, expected in (
        (table, (0, 0), "Name\tFigure\na\t1.5\nb c\t2\n"),
        (names, (1, 0), "second\n"),
    ):
        view.show()
        view.setFocus()
        qtbot.waitUntil(view.hasFocus)
        if view is names:
            view.setCurrentRow(keys[0])
        else:
            view.clearSelection()
        qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        assert QGuiApplication.clipboard().text() == expected
        assert [action.text() for action in view.actions()] == ["Copy with headers"]


def test_that_what_was_done_is_copied_and_saved_as_python_that_gives_the_same_fingerprint(
    window, query, tmp_path
) -> None:
    session = window.session
    session.edit("Set ρ of PH3", lambda s: set_budget(s, query, Fraction(1, 2)))
    window.actions_table["edit.python"].trigger()
    names = {}
    exec(QGuiApplication.clipboard().text().partition("# Its forecast")[0], names)  # noqa: S102 - what is being tested
    assert names["scenario"].fingerprint == fingerprint(session.scenario)
    window.commands.show_log()
    dialog = window.findChild(ActionLogDialog)
    dialog.python.write(tmp_path / "done.ipynb")
    cells = json.loads((tmp_path / "done.ipynb").read_text(encoding="utf-8"))["cells"]
    assert "Set ρ of PH3" in "".join("".join(cell["source"]) for cell in cells)
    dialog.close()
