"""A decision keeps its object: approved parameters stay in the list and can be opened, whatever is edited, undone and saved."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from phexplore import load
from phexplore.cli.app import run
from phexplore.decide.approving import decision_about
from phexplore.document.decided_versions import opened_version, step_decided
from phexplore.document.project import Project
from phexplore.files.project_file import read_project
from phexplore.model.approval import DecisionError, Status, status_of
from phexplore.model.edits import EditRefusedError, rename, set_field
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError
from phexplore.model.workbook import Workbook, activate, add_scenario, compare_with, remove_scenario
from phexplore.systems.phsafe.edits import set_budget


@pytest.fixture
def approved(us, tmp_path):
    """A saved project whose scenario was approved after one edit."""
    project = Project.new(Workbook((replace(us, name="Vote"),), "Vote", "sdhc-2020-us"))
    _set(project, Fraction(1, 40))
    project.save(tmp_path / "vote.phx")
    _approve(project)
    yield project
    project.close()


def _set(project, value, key=None):
    query = next(iter(project.scenario.phsafe.budgets))
    return project.edit(f"Set {value}", lambda scenario: set_budget(scenario, query, value), key)


def _approve(project, status=Status.APPROVED):
    project.decide(decision_about(project.scenario, status, who="Ada", role="Chair", now=datetime.now(UTC)))


def _status(project, name):
    return status_of(project.decisions, fingerprint(project.workbook.find(name)))


def test_that_an_edit_of_approved_parameters_is_made_in_a_copy(approved) -> None:
    before = approved.scenario
    _set(approved, Fraction(1, 50))
    book = approved.workbook
    assert (book.names, book.active, book.comparison) == (("Vote", "Vote, revised"), "Vote, revised", "sdhc-2020-us")
    assert book.find("Vote") == before
    assert next(iter(book.scenario.phsafe.budgets.values())) == Fraction(1, 50)
    assert (_status(approved, "Vote"), _status(approved, "Vote, revised")) == (Status.APPROVED, Status.DRAFT)
    assert approved.spared == "Vote"
    _set(approved, Fraction(1, 60))
    assert (approved.workbook.names, approved.spared) == (("Vote", "Vote, revised"), "")
    approved.edit_workbook("Back", lambda book: activate(book, "Vote"))
    _set(approved, Fraction(1, 70))
    assert approved.workbook.names == ("Vote", "Vote, revised 2", "Vote, revised")
    assert approved.workbook.find("Vote") == before


def test_that_undo_removes_the_copy_and_redo_makes_it_again(approved) -> None:
    before = approved.workbook
    for value in range(50, 60):
        _set(approved, Fraction(1, value), "drag")
    after = approved.workbook
    approved.undo()
    assert approved.workbook == before
    approved.redo()
    assert approved.workbook == after
    assert len(approved.steps) == 3


def test_that_the_approved_parameters_are_opened_from_the_saved_file(approved, tmp_path) -> None:
    before = approved.scenario
    _set(approved, Fraction(1, 50))
    approved.save()
    approved.close()
    again = Project.open(tmp_path / "vote.phx")
    (decision,) = again.decisions
    again.edit_workbook("Open", lambda book: opened_version(book, again.steps, decision))
    assert again.scenario == before
    assert fingerprint(again.scenario) == decision.fingerprint
    _set(again, Fraction(1, 80))
    assert again.workbook.find("Vote") == before
    again.close()


def test_that_an_edit_after_undo_past_the_approved_version_keeps_it(approved) -> None:
    before = approved.scenario
    approved.undo()
    _set(approved, Fraction(1, 90))  # forgets the step that made what was approved
    assert approved.workbook.names == ("Vote", "Vote, as approved")
    assert approved.workbook.find("Vote, as approved") == rename(before, "Vote, as approved")
    assert next(iter(approved.scenario.phsafe.budgets.values())) == Fraction(1, 90)


def test_that_a_name_and_a_note_are_no_edit_of_the_parameters_and_deleting_is_refused(approved) -> None:
    approved.edit("Note", lambda scenario: set_field(scenario, "note", "Vote of May"))
    approved.edit("Rename", lambda scenario: rename(scenario, "May"))
    assert (approved.workbook.names, approved.spared) == (("May",), "")
    approved.edit_workbook("Add", lambda book: add_scenario(book, replace(book.scenario, name="May copy")))
    approved.edit_workbook("Delete", lambda book: remove_scenario(book, "May copy"))
    _set(approved, Fraction(1, 50))
    steps = approved.steps
    with pytest.raises(EditRefusedError, match="approved"):
        approved.edit_workbook("Delete", lambda book: remove_scenario(book, "May"))
    assert approved.steps == steps


def test_that_a_superseded_approval_keeps_its_object_too(approved) -> None:
    first = approved.scenario
    _set(approved, Fraction(1, 50))
    approved.save()
    _approve(approved)
    second = approved.scenario
    for name in approved.workbook.names:
        approved.edit_workbook("Work on", lambda book, name=name: activate(book, name))
        _set(approved, Fraction(1, 33))
    assert approved.workbook.find("Vote") == first
    assert approved.workbook.find("Vote, revised") == second
    assert len(approved.workbook.names) == 4


def test_that_a_copy_of_the_approved_scenario_does_not_unlock_it(approved) -> None:
    before = approved.scenario
    approved.edit_workbook("Copy", lambda book: add_scenario(book, replace(book.scenario, name="Copy")))
    approved.edit_workbook("Back", lambda book: compare_with(activate(book, "Vote"), "Vote"))
    _set(approved, Fraction(1, 50))
    assert approved.workbook.find("Vote") == before
    assert (approved.workbook.comparison, approved.workbook.active) == ("Vote", "Vote, revised")


def test_that_a_decision_stands_at_the_step_it_was_made_after(approved) -> None:
    _set(approved, Fraction(1, 50))
    _set(approved, Fraction(1, 60))
    assert step_decided(approved.steps, approved.decisions[0]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "sdhc-2020-us"),
        ("less-noise", "pl94-2020-persons-us"),
        ("frontier", "sdhc-2020-us", "--points", "2"),
        ("committee", "sdhc-2020-us", "sdhc-2020-us"),
        ("approve", "sdhc-2020-us", "--who", "Bo", "--role", "Chair", "--status", "approved"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_that_no_command_replaces_a_project_that_holds_a_decision(approved, tmp_path, capsys, arguments) -> None:
    approved.save()
    approved.close()
    path = tmp_path / "vote.phx"
    before = path.read_bytes()
    assert run([*arguments, "--out", str(path)]) == 1
    assert "vote.phx contains a decision" in capsys.readouterr().err
    assert path.read_bytes() == before
    other = tmp_path / "other.phx"
    assert run([*arguments, "--out", str(other)]) == 0
    if arguments[0] != "approve":
        assert run([*arguments, "--out", str(other)]) == 0


def test_that_python_does_not_replace_a_decision_and_approving_again_keeps_it(approved, us, tmp_path) -> None:
    approved.save()
    approved.close()
    path = tmp_path / "vote.phx"
    with pytest.raises(DecisionError, match="contains a decision"):
        load("sdhc-2020-us").save(path)
    again = ["approve", f"{path}#Vote", "--who", "Bo", "--role", "Clerk", "--status", "superseded", "--out", str(path)]
    assert run(again) == 0
    kept = read_project(path.read_text(encoding="utf-8"), name=path.name)
    assert [each.status for each in kept.decisions] == [Status.APPROVED, Status.SUPERSEDED]
    path.write_text("{half", encoding="utf-8")
    with pytest.raises(InputProblemsError):
        load("sdhc-2020-us").save(path)
    assert path.read_text(encoding="utf-8") == "{half"
