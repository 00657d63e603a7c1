from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.decide.approving import decision_about
from phexplore.document.project import Project
from phexplore.document.reference_versions import APPROVED, SAVED, ReferenceVersions, approved_scenario
from phexplore.gui.binding.session import Session
from phexplore.model.approval import Status
from phexplore.model.edits import rename
from phexplore.model.workbook import Workbook, compare_with
from phexplore.systems.phsafe.edits import set_budget
from tests.signed_bundles import NOW


@pytest.fixture
def saved(us, tmp_path):
    """A saved project with one scenario."""
    project = Project.new(Workbook((replace(us, name="Vote"),), "Vote"))
    project.save(tmp_path / "vote.phx")
    yield project
    project.close()


def _approve(project):
    project.decide(decision_about(project.scenario, Status.APPROVED, who="Ada", role="Chair", now=NOW))


def test_that_a_project_never_saved_keeps_nothing(project) -> None:
    assert ReferenceVersions(project).offers() == []
    assert ReferenceVersions(project).find("sdhc-2020-us") is None


def test_that_the_reference_as_last_saved_follows_every_save(qapp, saved, query) -> None:
    session = Session(saved)
    session.edit_workbook("Compare", lambda book: compare_with(book, SAVED))
    before = saved.scenario.phsafe.budgets[query]
    session.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    assert session.shown.reference.title == "as last saved"
    assert session.shown.reference.scenario.phsafe.budgets[query] == before
    saved.save()
    session.mark_saved()
    assert session.shown.reference.scenario.phsafe.budgets[query] == Fraction(1, 50)


def test_that_a_scenario_renamed_since_the_save_is_found_by_its_place(saved) -> None:
    saved.edit("Rename", lambda scenario: rename(scenario, "Another"))
    assert ReferenceVersions(saved).find(SAVED)[1].name == "Vote"


def test_that_the_approved_parameters_stay_the_reference_while_edits_go_on(qapp, saved, query) -> None:
    _approve(saved)
    session = Session(saved)
    approved = saved.scenario
    session.edit_workbook("Compare", lambda book: compare_with(book, APPROVED))
    session.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    assert session.shown.reference.title == "as approved on 1 Jul 2026"
    assert session.shown.reference.scenario == approved
    assert approved_scenario(saved) == approved


def test_that_a_newer_approval_is_the_reference_from_then_on(saved, query) -> None:
    _approve(saved)
    kept = ReferenceVersions(saved)
    assert kept.find(APPROVED) is not None
    saved.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    saved.save()
    _approve(saved)
    assert kept.find(APPROVED)[1].phsafe.budgets[query] == Fraction(1, 50)
    assert [key for _, key in kept.offers()] == [SAVED, APPROVED]
