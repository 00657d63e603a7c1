from __future__ import annotations

import json

import pytest

from phexplore.document.project import Project
from phexplore.files.approval_json import decode_decisions, encode_decisions
from phexplore.model.approval import CitedRun, Decision, DecisionError, Status, status_of
from phexplore.model.edits import rename, set_field
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.edits import set_threshold

RUNS = (CitedRun("run-1", "c" * 64, 25),)


def decision(scenario, status=Status.APPROVED):
    return Decision(
        status, fingerprint(scenario), scenario.name, "Ada", "chair", "2026-07-01T12:00:00+00:00", "why", RUNS
    )


@pytest.fixture
def project(us, tmp_path):
    found = Project.new(Workbook((us,), us.name))
    found.save(tmp_path / "p.phx")
    yield found
    found.close()


def test_that_decisions_are_written_and_read_back(us):
    decisions = (decision(us, Status.RECOMMENDED), decision(us))
    assert decode_decisions(json.loads(json.dumps(encode_decisions(decisions))), "x") == decisions


@pytest.mark.parametrize("value", [{}, [{}], [{"status": "signed"}], [3]])
def test_that_decisions_that_cannot_be_read_are_an_error_not_a_draft(value):
    with pytest.raises(InputProblemsError):
        decode_decisions(value, "x")


def test_that_a_decision_is_saved_with_the_project_and_survives_edits(project, us):
    project.decide(decision(us))
    project.edit("τ", lambda s: set_threshold(s, "PH2", 8))
    project.save()
    path = project.path
    project.close()
    again = Project.open(path)
    assert again.decisions == (decision(us),)
    assert status_of(again.decisions, fingerprint(again.scenario)) is Status.DRAFT  # an edit starts a new draft
    again.undo()
    assert status_of(again.decisions, fingerprint(again.scenario)) is Status.APPROVED
    again.close()


def test_that_names_and_notes_change_no_approval(project, us):
    project.decide(decision(us))
    project.edit("name", lambda s: set_field(rename(s, "Other"), "note", "text"))
    assert status_of(project.decisions, fingerprint(project.scenario)) is Status.APPROVED


def test_that_a_decision_about_unsaved_edits_is_refused(project, us):
    project.edit("τ", lambda s: set_threshold(s, "PH2", 8))
    with pytest.raises(DecisionError, match="not saved"):
        project.decide(decision(us))


def test_that_a_decision_that_cannot_be_saved_was_not_made(project, us, monkeypatch):
    from phexplore.files.atomic_files import WriteError

    monkeypatch.setattr(project, "save", lambda: (_ for _ in ()).throw(WriteError("full", "")))
    with pytest.raises(WriteError):
        project.decide(decision(us))
    assert project.decisions == ()


def test_that_a_crash_loses_no_decision(project, us):
    project.decide(decision(us))
    project.edit("τ", lambda s: set_threshold(s, "PH2", 8))
    project._keeping._journal._file.close()  # the program dies here
    again = Project.open(project.path)
    assert again.recovered == 1
    assert again.decisions == (decision(us),)
    again.close()
