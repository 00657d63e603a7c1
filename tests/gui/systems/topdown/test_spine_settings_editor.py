"""The settings of the spine as controls: each is one step, and the choice says exactly what was set."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.systems.topdown.session import topdown_session
from phexplore.gui.systems.topdown.spine_settings_editor import SpineSettingsEditor
from phexplore.model.edits import set_field
from phexplore.model.topdown import SpineChoice
from phexplore.model.workbook import Workbook, activate, add_scenario
from phexplore.spine.settings import AIAN_AREAS_2020, settings_of, spine_preset, spine_presets
from phexplore.systems.registry import preset
from phexplore.systems.topdown.spine_views import AreaClass


@pytest.fixture
def session(qapp):
    scenario = replace(preset("pl94-2020-persons-us").scenario, name="Proposal")
    return topdown_session(Session(Project.new(Workbook((scenario,), "Proposal", "pl94-2020-persons-us"))))


@pytest.fixture
def editor(qtbot, session):
    found = SpineSettingsEditor(session)
    qtbot.addWidget(found)
    found.resize(320, 900)
    found.show()
    return found


def settings(session):
    return settings_of(session.shown.method.spine)


def labels(session):
    return session.whole.project.labels


def pick(chooser, value):
    chooser.setCurrentIndex(chooser.findData(value))
    chooser.activated.emit(chooser.currentIndex())


def test_that_every_preset_is_chosen_in_one_step_and_taken_back(session, editor):
    for number, name in enumerate(spine_presets(), start=1):
        pick(editor.preset, name)
        assert settings(session) == spine_preset(name).settings
        assert editor.preset.currentData() == name
        assert len(labels(session)) == number + 1
    assert editor.reset.isEnabled()
    editor.reset.click()
    assert session.shown.method.spine == session.shown.reference.scenario.topdown.spine
    assert not editor.reset.isEnabled()


def test_that_ticks_follow_areas_and_places_replace_the_choice_by_state(session, editor):
    editor.targets["place"].click()
    assert settings(session).targets == ("aiannh", "gq", "place")
    assert not editor.targets["place_mcd"].isChecked()
    assert labels(session)[-1] == "Let block groups follow places"
    assert editor.preset.currentData() == ""
    editor.targets["place_mcd"].click()
    assert settings(session).targets == ("place_mcd", "aiannh", "gq")
    assert editor.preset.currentData() == "pl94-2020"
    editor.targets["gq"].click()
    assert editor.preset.currentData() == "pl94-2020-units"
    session.undo()
    assert editor.targets["gq"].isChecked()


def test_that_a_drag_of_the_cutoff_is_one_step(session, editor):
    editor.slider.setSliderDown(True)
    for value in (20, 30, 41):
        editor.slider.setValue(value)
    editor.slider.setSliderDown(False)
    assert settings(session).fanout_cutoff == 41
    assert labels(session)[1:] == ("Set the fan-out cutoff of the spine to 41",)
    assert editor.numbers["fanout_cutoff"].value() == 41
    editor.numbers["fanout_cutoff"].setValue(5000)
    assert editor.slider.value() == editor.slider.maximum()
    assert settings(session).fanout_cutoff == 5000


def test_that_rules_are_chosen_and_explained(session, editor):
    pick(editor.choosers["bypass"], "sum-of-squares")
    assert settings(session).bypass == "sum-of-squares"
    assert "rejects" in editor._rule.text()
    assert "No production file" in editor._export.text()
    assert not editor.numbers["bypass_cutoff"].isVisible()
    pick(editor.choosers["grouping"], "paper")
    pick(editor.choosers["redefine_counties"], "everywhere")
    pick(editor.choosers["tract_groups"], "production")
    assert editor.numbers["entity_threshold"].isVisible()
    assert "no level of tract groups" in editor._no_level.text()
    editor.numbers["entity_threshold"].setValue(4)
    found = settings(session)
    assert (found.grouping, found.redefine_counties, found.tract_groups) == ("paper", "everywhere", "production")
    assert found.entity_threshold == 4
    pick(editor.choosers["bypass"], "as-in-2020")
    editor.numbers["bypass_cutoff"].setValue(99)
    assert settings(session).bypass_cutoff == 99


def test_that_tribal_areas_stand_apart_or_not(session, editor):
    editor.aian.click()
    assert settings(session).aian_areas == ()
    editor.aian.click()
    assert settings(session).aian_areas == AIAN_AREAS_2020


def test_that_kinds_show_what_shapes_them(session, editor):
    pick(editor.kind, "standard")
    assert settings(session) == spine_preset("standard").settings
    assert not editor.slider.isVisible()
    pick(editor.kind, "aian")
    assert editor.aian.isVisible()
    assert not editor.slider.isVisible()
    pick(editor.kind, "prim")
    assert editor.slider.isVisible()
    assert settings(session).targets == spine_preset("dhc-2020").settings.targets


def test_that_a_spine_without_the_scenario_s_levels_is_an_issue(qtbot, session, editor):
    pick(editor.kind, "prim")
    issues = [issue for issue in session.shown.issues if issue.path[0] == "spine"]
    assert "no level Tract" in issues[0].sentence
    assert issues[0].remedy


def test_that_settings_that_cannot_be_read_are_said_and_locked(qtbot, session, editor):
    spine = session.shown.method.spine
    broken = SpineChoice(spine.kind, (*spine.settings, ("grouping", "by moonlight")))
    session.edit("Import", lambda s: set_field(s, "spine", broken))
    assert not editor.kind.isEnabled()
    assert any("by moonlight" in issue.sentence for issue in session.shown.issues)
    session.undo()
    assert editor.kind.isEnabled()


def test_that_classes_of_the_blocks_are_offered(session, editor):
    editor.offer_classes(
        (AreaClass("zcta", "ZCTA", 7, targeted=False), AreaClass("tract", "Tracts", 3, targeted=False))
    )
    editor.targets["zcta"].click()
    assert "zcta" in settings(session).targets
    assert "tract" not in editor.targets


def test_that_the_keyboard_reaches_every_control(qtbot, editor):
    named = [
        editor.preset,
        editor.kind,
        editor.aian,
        editor.slider,
        editor.numbers["fanout_cutoff"],
        editor.choosers["bypass"],
        *editor.targets.values(),
    ]
    assert all(widget.accessibleName() or widget.text() for widget in named)
    assert all(widget.focusPolicy() & Qt.FocusPolicy.TabFocus for widget in named)


@pytest.mark.defect("T20")
def test_that_an_edit_of_a_page_out_of_sight_is_refused_while_another_system_is_active(session, editor):
    other = replace(preset("sdhc-2020-us").scenario, name="Other")
    session.whole.edit_workbook("Add", lambda book: activate(add_scenario(book, other), "Other"))
    refusals, steps = [], len(labels(session))
    session.whole.refused.connect(refusals.append)
    editor.numbers["fanout_cutoff"].setValue(7)
    assert [len(refusals), len(labels(session))] == [1, steps]
    assert session.whole.scenario == other
