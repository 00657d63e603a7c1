from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from phexplore.decide.approving import decision_about, standing, superseded_sentence
from phexplore.document.project import Project
from phexplore.document.reference_versions import approved_scenario
from phexplore.gui.decision.run_citations import run_offers
from phexplore.gui.decision.status import status_now
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.model.approval import Status
from phexplore.model.edits import rename
from phexplore.model.provenance import UNMARKED
from phexplore.model.workbook import Workbook
from phexplore.runs.states import RunState
from phexplore.systems.phsafe.edits import set_budget
from tests.signed_bundles import NOW


@pytest.fixture
def decided(us, tmp_path):
    """A project whose one scenario is approved."""
    project = Project.new(Workbook((replace(us, name="Vote"),), "Vote"))
    project.save(tmp_path / "vote.phx")
    project.decide(decision_about(project.scenario, Status.APPROVED, who="Ada", role="Chair", now=NOW))
    yield project
    project.close()


def test_that_parameters_nobody_decided_about_are_a_draft(project) -> None:
    found = standing(project)
    assert (found.status, status_now(project)) == (Status.DRAFT, Status.DRAFT)
    assert found.following == (Status.RECOMMENDED, Status.APPROVED)
    assert "Nobody" in found.sentence


def test_that_an_approval_names_who_and_when(decided) -> None:
    found = standing(decided)
    assert found.status is Status.APPROVED
    assert found.sentence == "Approved by Ada, Chair, on 1 Jul 2026."
    assert found.following == (Status.SUPERSEDED,)


def test_that_an_edit_is_a_new_draft_that_says_how_far_it_is_from_what_was_approved(decided, query) -> None:
    project = decided
    project.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 100)))
    found = standing(project)
    assert found.status is Status.DRAFT
    assert found.sentence == "A new draft: 1 parameter differs from what Ada approved on 1 Jul 2026."
    project.undo()
    assert standing(project).status is Status.APPROVED


@pytest.mark.defect("B1")
def test_that_an_approval_says_which_one_it_supersedes(decided, query) -> None:
    assert superseded_sentence(decided, Status.APPROVED) == ""
    decided.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 100)))
    assert superseded_sentence(decided, Status.APPROVED) == "The approval of Vote by Ada on 1 Jul 2026 is superseded. "
    assert superseded_sentence(decided, Status.RECOMMENDED) == ""


def test_that_renaming_is_no_new_draft(decided) -> None:
    project = decided
    project.edit("Rename", lambda scenario: rename(scenario, "Another name"))
    assert standing(project).status is Status.APPROVED
    assert approved_scenario(project) is not None


def test_that_what_was_approved_is_found_in_the_log_after_edits(decided, query) -> None:
    project = decided
    before = project.scenario
    for number in range(1, 4):
        project.edit("Edit", lambda scenario, n=number: set_budget(scenario, query, Fraction(n, 100)))
    assert approved_scenario(project) == before


def test_that_runs_of_other_parameters_cannot_be_cited_and_say_why(us, query) -> None:
    class Spec:
        scenario, trials, options = us, 20, None
        provenance = UNMARKED

    other = set_budget(us, query, Fraction(1, 100))
    row = RunRow(Path("runs/first"), Spec(), RunState.COMPLETE, trials=20)
    assert [offer.reason for offer in run_offers([row], us)] == [""]
    assert "other parameters" in run_offers([row], other)[0].reason
    assert run_offers([replace(row, state=RunState.CANCELLED)], us)[0].reason == "it is not complete"
    assert run_offers([replace(row, spec=None)], us)[0].reason == "it cannot be read"
