from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget

from phexplore.catalog.names import Naming, called
from phexplore.catalog.tables import tables
from phexplore.gui.dialogs.help import GlossaryDialog, show_about
from phexplore.gui.dialogs.messages import Message, ask, ask_to_save, show_failure, show_problems
from phexplore.gui.dialogs.preset_dialog import PresetDialog
from phexplore.gui.systems.phsafe.sum_dialog import SumDialog
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.gui.theme.plain_words import speak_plainly, speaks_plainly
from phexplore.gui.widgets.buttons import TextButton
from phexplore.model.issues import Issue
from phexplore.model.keys import LEVELS, parse_level, parse_query
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import Pick, SelectionMargin, sum_of
from phexplore.systems.registry import presets, systems
from phexplore.text.glossary import glossary


@pytest.fixture
def parent(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    return widget


def _press(qtbot, dialog, text):
    button = next(button for button in dialog.findChildren(TextButton) if button.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_that_a_failure_opens_at_once_and_its_details_are_copied(qtbot, parent) -> None:
    message = show_failure(parent, "Not written", "The disk is full. Free some space.", details="Traceback …")
    assert message.isVisible()
    message.copy_details()
    assert QGuiApplication.clipboard().text() == "The disk is full. Free some space.\n\nTraceback …"
    _press(qtbot, message, "Close")
    qtbot.waitUntil(lambda: not parent.findChildren(type(message)))


def test_that_every_problem_of_a_file_is_listed_with_its_place(parent) -> None:
    issues = [Issue(("config.json",), "The budget is negative.", "Enter 0 or more.", line=n, column=2) for n in (3, 9)]
    message = show_problems(parent, "config.json cannot be read", issues)
    assert message.sentence.text().startswith("2 problems")
    assert "config.json:3:2: The budget is negative. Enter 0 or more." in message._details
    assert "config.json:9:2" in message._details


@pytest.mark.parametrize(("button", "done"), [("Save", ["save"]), ("Don't save", ["discard"]), ("Cancel", [])])
def test_that_unsaved_edits_have_three_ways_out(qtbot, parent, button, done) -> None:
    seen = []
    question = ask_to_save(parent, "a.phx", save=lambda: seen.append("save"), discard=lambda: seen.append("discard"))
    _press(qtbot, question, button)
    assert seen == done


@pytest.mark.defect("M19")
def test_that_keys_pressed_without_looking_save(qtbot, parent) -> None:
    seen: list[str] = []
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return):
        question = ask_to_save(
            parent, "a.phx", save=lambda: seen.append("save"), discard=lambda: seen.append("discard")
        )
        qtbot.waitUntil(lambda question=question: question.focusWidget() is not None)
        qtbot.keyClick(question.focusWidget(), key)
    careful = ask(parent, "Really?", "It is gone then.", action="Do it", run=lambda: seen.append("done"), careful=True)
    qtbot.keyClick(careful.focusWidget(), Qt.Key.Key_Space)
    assert seen == ["save", "save"]


def test_that_escape_does_nothing(qtbot, parent) -> None:
    seen = []
    question = ask(parent, "Delete?", "For good.", action="Delete", run=lambda: seen.append(1))
    qtbot.keyClick(question, Qt.Key.Key_Escape)
    assert seen == []


def test_that_presets_say_where_they_come_from_before_they_are_chosen(qtbot, parent) -> None:
    chosen = []
    dialog = PresetDialog(parent, chosen.append)
    assert [dialog.list.item(n).toolTip() for n in range(3)] == ["", "sdhc-2020-us", "sdhc-2020-pr"]
    listed = {dialog.list.item(n).toolTip() for n in range(dialog.list.count())}
    assert listed - {""} == set(presets())
    with called(Naming.NAMES):
        named = PresetDialog(parent, chosen.append).list
    assert {named.item(n).toolTip() for n in range(named.count())} == {""}
    assert dialog.list.visualItemRect(dialog.list.item(1)).height() == dialog.list.sizeHintForRow(1)
    dialog.list.setCurrentRow(2)
    assert "config.json" in dialog._about.text()
    appearance().show_depth(Depth.COMMITTEE)
    dialog._describe()
    appearance().show_depth(Depth.EXPERT)
    assert dialog._about.text()
    assert "config.json" not in dialog._about.text()
    _press(qtbot, dialog, "Create")
    assert [preset.id for preset in chosen] == ["sdhc-2020-pr"]


def test_that_the_chosen_preset_stays_in_sight_where_its_source_takes_more_lines(qtbot, parent) -> None:
    dialog = PresetDialog(parent, print)
    dialog.show()
    last = dialog.list.item(dialog.list.count() - 1)
    qtbot.keyClick(dialog.list, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: dialog.list.currentItem() is last)
    qtbot.waitUntil(lambda: dialog.list.viewport().rect().contains(dialog.list.visualItemRect(last)))


def test_that_a_preset_is_found_by_words_of_its_title_or_system_typed_over_the_list(qtbot, parent) -> None:
    chosen = []
    dialog = PresetDialog(parent, chosen.append)
    dialog.show()
    qtbot.keyClicks(dialog.list, "puerto topdown")
    every = len(presets()) + len(systems())

    def titles():
        items = [dialog.list.item(n) for n in range(dialog.list.count())]
        assert not any(item.isHidden() for item in items)  # a screen reader would hear the name of another row
        return [item.text().strip() for item in items]

    shown = titles()
    assert dialog.search.text() == "puerto topdown"
    assert shown[0] == "TopDown"
    assert len(shown) > 2
    assert all("Puerto Rico" in title for title in shown[1:])
    assert dialog.list.currentItem().text().strip() == shown[1]
    qtbot.keyClick(dialog.search, Qt.Key.Key_Down)
    assert dialog.list.currentItem().text().strip() == shown[2]
    dialog.search.setText("redistricting")  # what members call P.L. 94-171
    shown = titles()
    assert [title.startswith("P.L. 94-171") for title in shown[1:]] == [True] * 4
    dialog.search.setText("atlantis")
    assert titles() == []
    assert "No preset" in dialog._about.text()
    assert not dialog._create.isEnabled()
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert chosen == []
    dialog.search.clear()
    assert dialog._create.isEnabled()
    assert len(titles()) == every
    assert dialog.list.currentItem() is not None


def test_that_details_are_as_large_as_the_text(qtbot, parent) -> None:
    sizes = []
    for scale in (100, 200):
        appearance().set_scale(scale)
        message = Message(parent, "Title", "Sentence.", details="Line")
        sizes.append(message.findChild(QPlainTextEdit).font().pointSizeF())
        message.close()
    appearance().set_scale(100)
    assert sizes[1] == 2 * sizes[0]


def test_that_the_glossary_is_searched(qtbot, parent) -> None:
    dialog = GlossaryDialog(parent)
    dialog.show()
    assert [term.term for term in glossary()] == sorted((term.term for term in glossary()), key=_word)
    dialog.search.setText("truncation")
    shown = [name for name, entry in dialog.entries.items() if entry.isVisibleTo(dialog)]
    assert "truncation-threshold" in shown
    assert "lock" not in shown


def test_that_definitions_are_shown_as_they_are_written(qtbot, parent) -> None:
    """A member read that "a privacy loss is twice the privacy loss by the other count"."""
    before = speaks_plainly()
    speak_plainly(True)
    try:
        with called(Naming.NAMES):
            dialog = GlossaryDialog(parent)
            shown = {label.text() for entry in dialog.entries.values() for label in entry.findChildren(QLabel)}
            painted = {QLabel.text(label) for entry in dialog.entries.values() for label in entry.findChildren(QLabel)}
    finally:
        speak_plainly(before)
    assert {term.definition for term in glossary()} <= shown & painted


def _word(text):
    return text.replace("ε", "epsilon").lower()


def test_that_about_names_the_versions(parent) -> None:
    assert "Qt 6" in show_about(parent)._details


def _pick(table, level, regions, groups, cells):
    return Pick(tables()[table].id, parse_level(level), regions, groups, cells)


def test_that_independent_cells_add_in_variance(us) -> None:
    one = sum_of(us, [_pick("PH1_num", "state_*", ("44",), ("*",), (2,))])
    four = sum_of(us, [_pick("PH1_num", "state_*", ("44", "09"), ("*",), (2, 3))])
    assert isinstance(one, SelectionMargin)
    assert four.measurements == 4
    assert four.margins.normal == pytest.approx(2 * one.margins.normal)


def test_that_the_same_measurement_twice_adds_its_noise(us) -> None:
    once = _pick("PH4", "usa_*", ("1",), ("*",), (2,))
    copy = _pick("PH5_num", "usa_*", ("1",), ("*",), (2,))
    both = sum_of(us, [once, copy])
    assert (both.measurements, both.repeated) == (1, 1)
    assert both.margins.normal == pytest.approx(2 * sum_of(us, [once]).margins.normal)


def test_that_sums_without_a_margin_say_why(us) -> None:
    assert "Choose" in sum_of(us, [])
    many = _pick("PH3", "state_A-G", us.phsafe.states, tuple("ABCDEFG"), (2, 4, 5, 6, 7, 9, 10))
    assert "2,499 numbers" in sum_of(us, [many])
    without = set_budget(us, parse_query("PH2/usa_*"), Fraction(0))
    assert "not published" in sum_of(without, [_pick("PH2", "usa_*", ("1",), ("*",), (3,))])


def test_that_the_sum_dialog_follows_edits(qtbot, parent, session) -> None:
    dialog = SumDialog(parent, session)
    dialog.show()
    dialog.table.setCurrentIndex(dialog.table.findData("PH3"))
    dialog.level.setCurrentIndex(LEVELS.index(parse_level("state_A-G")))
    dialog.cells.setCurrentRow(1)
    dialog.add.click()
    assert dialog.headline.text() == "± 20.0 people"
    session.edit("Set", lambda s: set_budget(s, parse_query("PH3/state_A-G"), Fraction("0.424305")))
    qtbot.waitUntil(lambda: dialog.headline.text() == "± 25.0 people")
    dialog.chosen.setCurrentRow(0)
    dialog.remove.click()
    assert dialog.headline.text() == ""
    assert dialog.picks == []
