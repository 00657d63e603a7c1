from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from phexplore.gui.systems.phsafe.launch import FOLDER, LaunchFields
from phexplore.gui.systems.phsafe.launch_form import LaunchForm
from phexplore.runs.spec import RunMode


@pytest.fixture
def form(qtbot):
    found = LaunchForm()
    qtbot.addWidget(found)
    found.show()
    found.asked = []
    found.launched.connect(found.asked.append)
    return found


def test_that_the_form_opens_ready_to_run_the_demonstration(form, qtbot):
    assert form.fields == LaunchFields()
    qtbot.mouseClick(form.run, Qt.MouseButton.LeftButton)
    assert [request.path for request in form.asked] == [Path("demo")]


def test_that_what_is_filled_in_comes_out_again(form):
    given = LaunchFields(FOLDER, "/my/data", 7, RunMode.PRIVATE, False, "9", 2, True, "1 %")
    form.show_fields(given)
    assert form.fields == given


def test_that_a_refused_value_keeps_what_was_typed_and_says_why(form):
    form.seed.setText("abc")
    assert form.seed.text() == "abc"
    assert "got 'abc'" in form._reasons["seed"].text()
    assert form.seed.property("refused") is True
    assert not form.run.isEnabled()
    form.launch()
    assert form.asked == []
    form.seed.setText("12")
    assert form._reasons["seed"].isHidden()
    assert form.run.isEnabled()


def test_that_a_folder_is_asked_for_only_when_it_counts(form):
    assert form.folder.isHidden() or not form.folder.isVisible()
    form.use_folder(Path("/dropped/here"))
    assert form.folder.isVisible()
    assert form.fields.folder == "/dropped/here"
    form.folder.clear()
    assert not form.run.isEnabled()


def test_that_exact_runs_have_neither_trials_nor_seed(form):
    form.show_fields(LaunchFields(mode=RunMode.NON_PRIVATE))
    for field in (form.trials, form.seed, form.seeded, form.workers, form.stops, form.stop_error):
        assert not field.isEnabled()


def test_that_a_scenario_with_errors_cannot_be_run_and_the_form_says_why(form):
    form.block("The scenario cannot be run: nothing is published.")
    assert not form.run.isEnabled()
    assert form._sentence.text() == "The scenario cannot be run: nothing is published."
    form.launch()
    assert form.asked == []
    form.block("")
    assert form.run.isEnabled()


def test_that_every_field_has_a_name(form):
    fields = (form.data, form.folder, form.browse, form.mode, form.trials, form.seed, form.workers, form.stop_error)
    assert all(field.accessibleName() for field in fields)
    assert all(box.text() for box in (form.seeded, form.stops, form.run))
