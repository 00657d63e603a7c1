from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from phexplore.catalog.names import Naming, called
from phexplore.gui.run_manager.run_details import RunStrip
from phexplore.gui.run_manager.run_rows import RunAction
from phexplore.gui.run_manager.runs_page import RunsPage
from phexplore.gui.run_manager.runs_table import DATA
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.runs.states import RunState
from phexplore.systems.registry import systems


@pytest.fixture
def page(qtbot, pretence, session):
    found = RunsPage(pretence.controller, session)
    qtbot.addWidget(found)
    found.resize(1200, 700)
    found.show()
    return found


@pytest.fixture
def begun(page, pretence, qtbot):
    """A run that works, and its pretended process."""
    page.start_run()
    qtbot.waitUntil(lambda: bool(pretence.processes))
    pretence.processes[0].begin()
    return pretence.processes[0]


def press(page, action, qtbot):
    qtbot.mouseClick(page.details.buttons[action], Qt.MouseButton.LeftButton)


def test_that_an_empty_place_teaches_and_its_button_starts_a_run(page, pretence, qtbot):
    assert page.empty.isVisible()
    assert not page.table.isVisible()
    page.empty._act()
    qtbot.waitUntil(lambda: bool(pretence.processes))
    assert page.table.isVisible()
    assert pretence.controller.rows[0].spec.scenario.name == "Proposal"


def test_that_the_chosen_run_is_followed(page, begun, pretence, qtbot):
    begun.finish_trial(0, total=20)
    qtbot.waitUntil(lambda: page.details.progress.value() == 50)  # 1 of 20, in thousandths
    assert page.details._words.text() == "running · 5 % · 3 s left"
    begun.end()
    qtbot.waitUntil(lambda: page.details.row.state is RunState.COMPLETE)
    assert "Complete." in page.details.log.toPlainText()
    assert not page.details.progress.isVisible()


def test_that_seed_and_folder_of_a_run_are_told_to_experts_alone(page, begun):
    assert "seed" in page.details._facts.text()
    assert page.details._place.isVisible()
    try:
        appearance().show_depth(Depth.COMMITTEE)
        assert "seed" not in page.details._facts.text()
        assert not page.details._place.isVisible()
    finally:
        appearance().show_depth(Depth.EXPERT)
    assert page.details._place.isVisible()


def test_that_the_log_calls_levels_by_name(page, begun):
    with called(Naming.NAMES):
        page.details._show_log(
            replace(page.details.row, notes=("Spine: standard, 9 County, 1,572 Block_Group.", "Read."))
        )
    assert page.details.log.toPlainText() == "Spine: standard, 9 County, 1,572 Block group.\nRead."


def test_that_a_form_is_no_higher_than_it_needs_beside_a_higher_one(page, qtbot):
    for name in ("topdown", "phsafe"):
        page.form_of(systems()[name])
    form, other = page.forms["phsafe"], page.forms["topdown"]
    qtbot.waitUntil(form.isVisible)
    QApplication.processEvents()
    needed, high = (each.layout().totalHeightForWidth(form.width()) for each in (form, other))
    assert form.height() == needed < high


def test_that_a_wide_list_shows_names_and_data_in_full(page, begun):
    page.table.show_rows(page.table._model.rows)
    needed = page.table.fontMetrics().horizontalAdvance("Households of 2010, 3,107 counties")
    page.resize(1600, 700)
    assert page.table.columnWidth(DATA) > needed
    widths = [page.table.columnWidth(column) for column in range(page.table.model().columnCount())]
    assert sum(widths) == page.table.viewport().width()


@pytest.mark.defect("M3")
def test_that_a_new_run_is_chosen_and_pause_and_cancel_belong_to_it(page, begun, pretence, qtbot):
    first = begun.directory
    begun.end()
    page.start_run()
    qtbot.waitUntil(lambda: len(pretence.processes) == 2)
    new = pretence.processes[1]
    assert page.details.row.directory == new.directory == page.table.chosen_directory
    new.begin()
    press(page, RunAction.CANCEL, qtbot)
    assert new.commands == ["start", "cancel"]
    page.table.choose(first)
    new.finish_trial(0)
    qtbot.waitUntil(lambda: pretence.controller.row(new.directory).trials == 1)
    assert page.details.row.directory == first


def test_that_the_buttons_do_what_the_state_allows(page, begun, qtbot):
    enabled = {action for action, button in page.details.buttons.items() if button.isEnabled()}
    assert enabled == {RunAction.PAUSE, RunAction.CANCEL, RunAction.RERUN, RunAction.OPEN}
    assert page.details.buttons[RunAction.DELETE].toolTip() == "Cancel the run before you delete it."
    press(page, RunAction.PAUSE, qtbot)
    begun.become(RunState.PAUSED)
    press(page, RunAction.RESUME, qtbot)
    begun.become(RunState.RUNNING)
    press(page, RunAction.CANCEL, qtbot)
    assert begun.commands == ["start", "pause", "resume", "cancel"]


def test_that_space_pressed_again_undoes_a_pause_and_never_cancels(page, begun, qtbot):
    page.window().activateWindow()
    buttons = page.details.buttons
    buttons[RunAction.PAUSE].setFocus()
    for state, follower in ((RunState.PAUSED, RunAction.RESUME), (RunState.RUNNING, RunAction.PAUSE)):
        qtbot.keyClick(page.window().focusWidget(), Qt.Key.Key_Space)
        begun.become(state)
        assert page.window().focusWidget() is buttons[follower]
    assert begun.commands == ["start", "pause", "resume"]
    buttons[RunAction.CANCEL].setFocus()
    press(page, RunAction.CANCEL, qtbot)
    begun.become(RunState.CANCELLING)
    assert page.window().focusWidget() is buttons[RunAction.OPEN]


def test_that_results_are_asked_for_with_the_directory(page, begun, qtbot):
    opened = []
    page.opened.connect(opened.append)
    press(page, RunAction.OPEN, qtbot)
    page.table.opened.emit(begun.directory)
    assert opened == [begun.directory, begun.directory]


def test_that_a_failure_shows_reason_remedy_and_details_to_copy(page, begun, qtbot):
    assert not page.details.failure.isVisible()
    begun.fail()
    qtbot.waitUntil(page.details.failure.isVisible)
    page.details.failure.copy_details()
    copied = QGuiApplication.clipboard().text()
    for part in ("It broke.", "Mend it.", str(begun.directory), "Traceback: here"):
        assert part in copied
    assert page.details.buttons[RunAction.RESUME].isEnabled()


def test_that_deleting_asks_first(page, begun, pretence, qtbot):
    begun.end()
    qtbot.waitUntil(lambda: not pretence.controller.is_busy)
    press(page, RunAction.DELETE, qtbot)
    question = page.findChild(QMessageBox)
    assert "'Proposal'" in question.text()
    assert begun.directory.exists()
    delete = next(each for each in question.buttons() if each.text() == "Delete")
    qtbot.mouseClick(delete, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not begun.directory.exists())
    qtbot.waitUntil(page.empty.isVisible)


def test_that_a_scenario_with_errors_cannot_be_started(page, session, qtbot):
    nothing = {query: Fraction(0) for query in session.scenario.method.budgets}
    session.edit(
        "Publish nothing", lambda scenario: replace(scenario, method=replace(scenario.method, budgets=nothing))
    )
    qtbot.waitUntil(lambda: not page.forms["phsafe"].run.isEnabled())
    assert "Nothing is published" in page.forms["phsafe"]._sentence.text()
    session.undo()
    qtbot.waitUntil(page.forms["phsafe"].run.isEnabled)


def test_that_an_edit_after_the_start_does_not_reach_the_run(page, begun, pretence, session):
    session.edit("Rename", lambda scenario: replace(scenario, name="Other"))
    assert pretence.controller.rows[0].spec.scenario.name == "Proposal"


@pytest.fixture
def strip(qtbot, pretence):
    found = RunStrip(pretence.controller)
    qtbot.addWidget(found)
    return found


def test_that_the_strip_is_hidden_until_a_run_works(strip, page, pretence, qtbot):
    assert strip.isHidden()
    page.start_run()
    qtbot.waitUntil(lambda: not strip.isHidden())
    pretence.processes[0].begin()
    pretence.processes[0].finish_trial(0, total=20)
    qtbot.waitUntil(lambda: strip.progress.value() == 50)
    assert strip._title.text() == "Proposal"
    pretence.processes[0].end()
    qtbot.waitUntil(strip.isHidden)


def test_that_the_strip_pauses_resumes_cancels_and_leads_to_the_runs(strip, begun, qtbot):
    wanted = []
    strip.wanted.connect(lambda: wanted.append(1))
    qtbot.mouseClick(strip._title, Qt.MouseButton.LeftButton)
    assert wanted == [1]
    qtbot.mouseClick(strip.pause, Qt.MouseButton.LeftButton)
    begun.become(RunState.PAUSED)
    assert strip.pause.accessibleName() == "Resume the run"
    qtbot.mouseClick(strip.pause, Qt.MouseButton.LeftButton)
    begun.become(RunState.RUNNING)
    qtbot.mouseClick(strip.cancel, Qt.MouseButton.LeftButton)
    assert begun.commands == ["start", "pause", "resume", "cancel"]
    assert not strip.cancel.isEnabled()


def test_that_the_form_of_another_project_begins_anew(page, session):
    system = systems()["phsafe"]
    form = page.form_of(system)
    before = form.controls["trials"].read()
    form.fill(trials=7)
    assert form.controls["trials"].read() == 7 != before
    session.install(session.project)
    anew = page.form_of(system)
    assert anew.controls["trials"].read() == before
    assert anew.isVisibleTo(page)
