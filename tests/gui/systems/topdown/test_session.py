"""TopDown and S-DHC scenarios in one project: every view hears of its own system only."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.system_session import plain_session
from phexplore.gui.systems.topdown.session import topdown_session
from phexplore.model.edits import set_field
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import Workbook, activate, add_scenario
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_level_share


@pytest.fixture
def whole(qapp):
    scenario = replace(preset("pl94-2020-persons-us").scenario, name="Proposal")
    return Session(Project.new(Workbook((scenario,), "Proposal", "pl94-2020-persons-us")))


@pytest.fixture
def session(whole):
    return topdown_session(whole)


def test_that_an_edit_is_shown_with_its_figures(session):
    heard = []
    session.updated.connect(heard.append)
    assert session.edit("Raise", lambda s: set_field(s, "total", Fraction(3))) is None
    assert session.shown.figures.total == 3
    assert heard[0].before.figures.total == Fraction(293764, 114921)
    assert session.shown.reference.figures.total == Fraction(293764, 114921)


def test_that_a_refused_edit_changes_nothing(session):
    before = session.shown
    refusal = session.edit("Too much", lambda s: set_level_share(s, "US", Fraction(2)))
    assert "does not fit" in refusal.reason
    assert session.shown is before


def test_that_each_system_hears_only_of_its_own_scenarios(whole, session):
    phsafe = plain_session(whole, PHSAFE)
    heard = {"topdown": [], "phsafe": []}
    session.updated.connect(heard["topdown"].append)
    phsafe.updated.connect(heard["phsafe"].append)
    assert whole.edit_workbook("Add", lambda b: add_scenario(b, preset("sdhc-2020-us").scenario)) is None
    assert not session.is_active
    assert [len(each) for each in heard.values()] == [0, 1]
    assert heard["phsafe"][0].before is None
    assert phsafe.shown.scenario.phsafe.budgets
    whole.edit_workbook("Back", lambda b: activate(b, "Proposal"))
    assert [len(each) for each in heard.values()] == [1, 1]
    assert heard["topdown"][0].before is None
    assert session.is_active


def test_that_a_reference_of_another_system_is_none(whole, session):
    whole.edit_workbook("Compare", lambda b: replace(b, comparison="sdhc-2020-us"))
    assert session.shown.reference is None


def test_that_a_selection_that_is_gone_is_dropped(whole, session):
    session.select(LevelQuery("US", "detailed"))
    puerto_rico = preset("pl94-2020-persons-pr").scenario
    whole.edit_workbook("Add", lambda b: add_scenario(b, puerto_rico))
    assert session.selection is None


def test_that_the_joint_release_and_misprints_come_from_the_origin(session):
    assert session.shown.joint.epsilon == pytest.approx(17.435, abs=5e-4)
    assert any("447/4099" in misprint for misprint in session.shown.origin.errata)
