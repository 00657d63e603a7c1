from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMessageBox

from phexplore.decide.scenario_export import report_bytes
from phexplore.document.project import Project
from phexplore.gui.binding.areas import Area
from phexplore.gui.dialogs.messages import Message
from phexplore.gui.main.project_files import (
    DEMONSTRATION,
    first_project,
    opened_sentence,
    project_of,
    scratch_file,
)
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.file_dialogs import (
    FileDialog,
    SaveDialog,
    SeveralDialog,
    ask_for_folder,
    ask_for_several,
    ask_to_open,
    ask_to_save,
)
from phexplore.model.diff import diff, parameters_only
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.phsafe.edits import set_budget, set_threshold
from phexplore.systems.registry import preset


def _press(dialog, text):
    next(button for button in dialog.findChildren(TextButton) if button.text() == text).click()


@pytest.fixture
def edit(window, query):
    return lambda value=1: window.session.edit("Set", lambda s: set_budget(s, query, Fraction(value)))


def test_that_saving_and_opening_keeps_everything_including_undo(window, edit, query, tmp_path, monkeypatch) -> None:
    path = tmp_path / "a.phx"
    edit(1)
    edit(2)
    window.files.save_to(path)
    assert window.session.project.is_clean
    assert window.settings.recent_files() == [path]
    assert window.bottom.message.text() == f"a.phx was saved in {tmp_path}."
    monkeypatch.chdir(tmp_path)
    window.files.saved.emit(Path("a.phx"))  # as it was opened from a terminal
    assert window.bottom.message.text() == f"a.phx was saved in {tmp_path}."
    assert window.commands.recent.actions() == []  # it is open
    window.session.undo()
    window.files.save()
    window.files.new(preset("sdhc-2020-pr"))
    assert window.session.project.path is None
    assert [action.text() for action in window.commands.recent.actions()] == [f"a.phx\t{tmp_path}"]
    window.files.open(path)
    assert window.session.scenario.phsafe.budgets[query] == 1
    window.session.redo()
    assert window.session.scenario.phsafe.budgets[query] == 2


def test_that_unsaved_edits_are_asked_about_before_another_project_opens(window, edit, query) -> None:
    edit(1)
    window.files.new(preset("sdhc-2020-pr"))
    assert isinstance(window.files.dialog, Message)
    assert window.session.scenario.phsafe.budgets[query] == 1
    _press(window.files.dialog, "Cancel")
    assert window.session.scenario.phsafe.budgets[query] == 1
    window.files.new(preset("sdhc-2020-pr"))
    _press(window.files.dialog, "Don't save")
    assert window.session.scenario.phsafe.states == ("72",)


def test_that_closing_a_project_asks_and_goes_back_to_what_the_program_starts_with(window, edit, tmp_path) -> None:
    window.files.save_to(tmp_path / "a.phx")
    edit(1)
    window.actions_table["file.close"].trigger()
    assert window.session.project.path is not None
    _press(window.files.dialog, "Don't save")
    assert window.session.project.path is None
    assert window.session.scenario.name == "Proposal from S-DHC 2020"


def test_that_save_of_a_new_project_asks_for_a_name(window, edit) -> None:
    edit()
    window.files.save()
    assert isinstance(window.files.dialog, QFileDialog)
    window.files.dialog.reject()
    assert Path(window.files.dialog.selectedFiles()[0]).name == "Proposal.phx"


def test_that_a_file_changed_by_another_program_is_not_overwritten_unasked(window, edit, tmp_path) -> None:
    path = tmp_path / "a.phx"
    window.files.save_to(path)
    foreign = path.read_bytes() + b"\n"
    path.write_bytes(foreign)
    edit()
    window.files.save()
    assert path.read_bytes() == foreign
    _press(window.files.dialog, "Overwrite")
    assert path.read_bytes() != foreign
    assert window.session.project.is_clean


@pytest.mark.parametrize("name", ["broken.phx", "broken.json", "missing.phx"])
def test_that_a_file_that_cannot_be_read_changes_nothing(window, name, tmp_path) -> None:
    path = tmp_path / name
    if "broken" in name:
        path.write_text("{ not json")
    before = window.session.project
    window.files.open(path)
    assert window.session.project is before
    assert isinstance(window.files.dialog, Message)
    assert window.files.dialog.isVisible()


def test_that_an_imported_config_is_one_more_scenario_and_one_step(window, us, tmp_path) -> None:
    path = tmp_path / "config.json"
    path.write_text(write_config(us))
    window.files.open(path)
    assert len(window.session.shown.workbook.scenarios) == 1
    assert "46 parameters differ from 'Proposal'" in window.files.dialog.sentence.text()  # it has no targets
    _press(window.files.dialog, "Import")
    assert len(window.session.shown.workbook.scenarios) == 2
    assert window.session.project.labels[-1] == "Import config.json"
    assert "config.json" in window.notice.text


def test_that_the_differences_of_an_edited_file_are_shown_before_it_is_imported(window, us, query, tmp_path) -> None:
    edited = replace(edit_margin(set_threshold(us, "PH3", 9), query, Fraction(40)), note="edited")
    path = tmp_path / "edited.xlsx"
    path.write_bytes(report_bytes(edited, None, "xlsx", datetime(2026, 7, 1, tzinfo=UTC)))
    for button, count in (("Cancel", 1), ("Import", 2)):
        window.files.open(path)
        said = window.files.dialog
        said.copy_details()
        lines = QGuiApplication.clipboard().text().splitlines()[2:]
        assert len(lines) == len(parameters_only(diff(us, edited)))
        assert f"{len(lines)} parameters differ from 'Proposal'" in said.sentence.text()
        assert "Threshold of PH3: 6 → 9" in lines
        assert [line for line in lines if line.startswith("Budget of PH3 (State, A-G): 0.662976 → 0.")]
        _press(said, button)
        assert len(window.session.shown.workbook.scenarios) == count
    assert window.session.scenario.method == edited.method
    assert "edited in edited.xlsx" in window.session.scenario.name
    path.write_bytes(report_bytes(edited, None, "xlsx", datetime(2026, 7, 1, tzinfo=UTC)))
    window.files.open(path)  # it is what is being edited already: there is nothing to ask
    assert len(window.session.shown.workbook.scenarios) == 3


@pytest.mark.parametrize("chosen", ["counties-invariant-2010", "group-sizes-census-2010", "pl94-2020-persons-us"])
def test_that_a_project_of_any_system_is_opened(window, tmp_path, chosen) -> None:
    scenario = preset(chosen).scenario
    path = tmp_path / "another.phx"
    other = Project.new(Workbook((scenario,), scenario.name))
    other.save(path)
    other.close()
    window.files.open(path)
    assert window.session.project.path == path
    assert window.session.scenario == scenario


def test_that_the_first_project_is_a_demonstration() -> None:
    opening = first_project(None)
    assert opening.project.scenario.phsafe == preset(DEMONSTRATION).scenario.phsafe
    assert opening.project.workbook.comparison == DEMONSTRATION
    assert opening.note == ""
    opening.project.close()


def test_that_a_named_config_is_imported_into_the_first_project(us, tmp_path) -> None:
    path = tmp_path / "config.json"
    path.write_text(write_config(us))
    opening = first_project(path)
    assert opening.project.scenario.source_text
    opening.project.close()


def test_that_edits_of_a_project_that_was_never_saved_come_back_after_a_crash(query) -> None:
    lost = project_of(preset(DEMONSTRATION))
    scratch = scratch_file().with_name(lost._keeping.scratch.name)
    lost.edit("Set", lambda s: set_budget(s, query, Fraction(1, 3)))
    lost.flush()
    lost._keeping._journal.close(remove=False)  # as when the process ends without a word
    opening = first_project(None)
    assert opening.project.scenario.phsafe.budgets[query] == Fraction(1, 3)
    assert opening.note.startswith("1 unsaved edit was recovered")
    assert opening.project.scratch == scratch
    opening.project.close()


def test_that_an_untouched_project_left_behind_is_cleared_away(tmp_path) -> None:
    left = project_of(preset(DEMONSTRATION))
    left._keeping._journal.close(remove=False)
    opening = first_project(None)
    assert opening.note == ""
    opening.project.close()
    assert list(tmp_path.glob("*.phx*")) == []


def test_that_recovery_and_issues_are_put_in_one_sentence(project) -> None:
    assert opened_sentence(project) == ""


@pytest.mark.defect("M6")
def test_that_a_new_project_opens_on_its_overview(window) -> None:
    window.navigation.choose(Area.DECISION)
    window.files.new(preset("counties-invariant-2010"))
    assert window.navigation.area is Area.OVERVIEW


def test_that_a_path_typed_behind_the_proposed_name_makes_no_folders(qtbot, window, tmp_path) -> None:
    chosen = []
    (tmp_path / "known").mkdir()
    ask_to_save(window, "Save", chosen.append, proposed=tmp_path / "report.pdf")
    (dialog,) = window.findChildren(SaveDialog)
    dialog.findChild(QLineEdit).setText(f"report.pdf{tmp_path}/other.pdf")
    dialog.accept()
    (box,) = dialog.findChildren(QMessageBox)
    assert f"There is no folder {tmp_path}/report.pdf{tmp_path}." in box.text()
    assert dialog.isVisible()
    box.close()
    dialog.findChild(QLineEdit).setText(f"{tmp_path}/known/other.pdf")
    dialog.accept()
    assert chosen == [tmp_path / "known" / "other.pdf"]
    assert not (tmp_path / "report.pdf").exists()


def test_that_every_file_that_is_typed_is_taken_or_none(qtbot, window, tmp_path) -> None:
    names = ("Ada.phx", "Grace Hopper.phx", "Alan.txt")
    for name in names:
        (tmp_path / name).touch()
    taken = []
    ask_for_several(window, "Members", taken.append, kinds="Proposals (*.phx *.json)", folder=tmp_path)
    (dialog,) = window.findChildren(SeveralDialog)
    field = dialog.findChild(QLineEdit, "fileNameEdit")

    def enter(text):
        field.clear()
        qtbot.keyClicks(field, text)
        qtbot.keyClick(field, Qt.Key.Key_Return)

    enter('"Ada.phx" "Grace Hopper.phx" "Gone.phx"')
    (box,) = dialog.findChildren(QMessageBox)
    assert box.text() == f"There is no file {tmp_path / 'Gone.phx'}."
    assert (taken, dialog.isVisible()) == ([], True)
    box.close()
    enter(f'"Ada.phx" "Grace Hopper.phx" "{tmp_path}/Alan.txt"')  # the list shows no *.txt
    assert taken == [[tmp_path / name for name in names]]


@pytest.mark.defect("T21")
@pytest.mark.parametrize("ask", [ask_to_save, ask_to_open, ask_for_several, ask_for_folder])
@pytest.mark.parametrize("again", ["accept", "reject"])
def test_that_a_dialog_answers_once_however_often_it_is_answered(qtbot, window, tmp_path, ask, again) -> None:
    (tmp_path / "there.csv").write_text("")
    taken = []
    ask(
        window,
        "Which one?",
        taken.append,
        **({"proposed": tmp_path / "new.csv"} if ask is ask_to_save else {"folder": tmp_path}),
    )
    (dialog,) = window.findChildren(FileDialog)
    if ask is not ask_for_folder:
        dialog.selectFile(str(tmp_path / ("new.csv" if ask is ask_to_save else "there.csv")))
    dialog.accept()
    getattr(dialog, again)()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert len(taken) == 1
    assert window.findChildren(FileDialog) == []
