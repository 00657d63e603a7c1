from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from fractions import Fraction

import pytest

from phexplore.catalog.tables import queries
from phexplore.document.project import FileChangedError, Project
from phexplore.files.journal import JournalInUseError, journal_path
from phexplore.model.edits import rename, set_field
from phexplore.model.issues import InputProblemsError, Severity
from phexplore.model.workbook import Workbook, activate, add_scenario, remove_scenario
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.registry import preset

FIRST = queries()[0]


@pytest.fixture
def workbook(us):
    return Workbook((us,), us.name)


def budget(project):
    return project.scenario.method.budgets[FIRST]


def edit(project, value):
    project.edit(f"Set to {value}", lambda scenario: set_budget(scenario, FIRST, Fraction(value)))


def abandon(project):
    """Leave the project as a killed program would: the journal stays, its lock goes."""
    project._keeping._journal.close(remove=False)


def test_that_undo_goes_on_after_reopening(tmp_path, workbook):
    project = Project.new(workbook)
    for value in (1, 2, 3):
        edit(project, value)
    project.undo()
    project.save(tmp_path / "a.phx")
    project.close()
    again = Project.open(tmp_path / "a.phx")
    assert (budget(again), again.can_redo, again.is_clean) == (2, True, True)
    assert again.labels == ("New project", "Set to 1", "Set to 2", "Set to 3")
    again.redo()
    assert budget(again) == 3
    for _ in range(3):
        again.undo()
    assert again.workbook == workbook
    again.close()


def test_that_every_kind_of_step_survives_the_file(tmp_path, workbook, puerto_rico):
    project = Project.new(workbook)
    project.commit("Add", add_scenario(project.workbook, puerto_rico))
    project.edit("Rename", lambda scenario: rename(scenario, "PR draft"))
    project.edit("Note", lambda scenario: set_field(scenario, "note", "ρ ≤ 1/3\n„quoted”"))
    project.commit("Back", activate(project.workbook, workbook.active))
    project.commit("Remove", remove_scenario(project.workbook, "PR draft"))
    project.save(tmp_path / "a.phx")
    project.close()
    again = Project.open(tmp_path / "a.phx")
    assert [step.value for step in again.steps] == [step.value for step in project.steps]
    again.close()


def test_that_unsaved_edits_come_back_after_a_crash(tmp_path, workbook):
    project = Project.new(workbook)
    project.save(tmp_path / "a.phx")
    for value in (1, 2, 3):
        edit(project, value)
    project.undo()
    abandon(project)
    for _ in range(2):  # a second crash right after the recovery loses nothing either
        again = Project.open(tmp_path / "a.phx")
        assert (budget(again), again.is_clean) == (2, False)
        assert again.recovered > 0
        assert again.labels[-1] == "Set to 3"
        abandon(again)


def test_that_a_merged_drag_is_recovered_as_one_step(tmp_path, workbook):
    project = Project.new(workbook)
    project.save(tmp_path / "a.phx")
    for value in range(1, 50):
        project.edit("Drag", lambda s, v=value: set_budget(s, FIRST, Fraction(v)), merge_key="drag")
    abandon(project)
    again = Project.open(tmp_path / "a.phx")
    assert (again.labels, budget(again)) == (("New project", "Drag"), 49)
    again.close()


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_that_a_half_written_last_line_costs_only_that_line(tmp_path, workbook, cut):
    project = Project.new(workbook)
    project.save(tmp_path / "a.phx")
    edit(project, 1)
    edit(project, 2)
    abandon(project)
    journal = journal_path(tmp_path / "a.phx")
    journal.write_bytes(journal.read_bytes()[:-cut])
    again = Project.open(tmp_path / "a.phx")
    assert budget(again) == 1
    again.close()


def test_that_a_journal_of_another_state_of_the_file_is_not_replayed(tmp_path, workbook):
    project = Project.new(workbook)
    project.save(tmp_path / "a.phx")
    edit(project, 1)
    abandon(project)
    path = tmp_path / "a.phx"
    path.write_bytes(path.read_bytes() + b"\n")
    again = Project.open(path)
    assert (again.workbook, again.recovered) == (workbook, 0)
    again.close()


def test_that_an_unsaved_project_is_rescued_from_its_scratch_file(tmp_path, workbook):
    scratch = tmp_path / "untitled.phx"
    project = Project.new(workbook, scratch=scratch)
    edit(project, 5)
    abandon(project)
    again = Project.rescue(scratch)
    assert (budget(again), again.path, again.is_clean) == (5, None, False)
    again.save(tmp_path / "named.phx")
    assert not scratch.exists()
    assert not journal_path(scratch).exists()
    again.close()


def test_that_a_saved_project_leaves_no_journal_of_old_edits(tmp_path, workbook):
    project = Project.new(workbook)
    project.save(tmp_path / "a.phx")
    edit(project, 1)
    project.save()
    assert len(journal_path(tmp_path / "a.phx").read_bytes().splitlines()) == 1
    assert project.is_clean
    previous = json.loads((tmp_path / "a.phx.previous").read_text(encoding="utf-8"))
    assert previous["log"] == []
    project.close()
    assert not journal_path(tmp_path / "a.phx").exists()


def test_that_two_windows_cannot_open_one_project(tmp_path, workbook):
    project = Project.new(workbook)
    project.save(tmp_path / "a.phx")
    with pytest.raises(JournalInUseError, match="another window"):
        Project.open(tmp_path / "a.phx")
    project.close()
    Project.open(tmp_path / "a.phx").close()


def test_that_a_file_changed_by_another_program_is_not_overwritten(tmp_path, workbook):
    path = tmp_path / "a.phx"
    project = Project.new(workbook)
    project.save(path)
    edit(project, 1)
    path.write_bytes(path.read_bytes().replace(b"S-DHC", b"s-dhc"))
    with pytest.raises(FileChangedError):
        project.save()
    project.save(overwrite_foreign=True)
    project.close()


def test_that_a_damaged_log_keeps_the_saved_parameters(tmp_path, workbook):
    path = tmp_path / "a.phx"
    project = Project.new(workbook)
    for value in (1, 2, 3):
        edit(project, value)
    project.save(path)
    project.close()
    value = json.loads(path.read_text(encoding="utf-8"))
    value["log"][1] = {"label": "?", "edited": {"nobody": []}}
    path.write_text(json.dumps(value), encoding="utf-8")
    again = Project.open(path)
    assert budget(again) == 3
    assert [issue.severity for issue in again.issues] == [Severity.WARNING] * 2
    assert "Step 2" in again.issues[0].sentence
    again.undo()
    assert budget(again) == 1
    again.close()


NO_PROJECT = {
    "not JSON": "{",
    "other JSON": "[1, 2]",
    "no workbook": '{"format": "phexplore project", "version": 1}',
    "newer": '{"format": "phexplore project", "version": 99}',
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("text", NO_PROJECT.values(), ids=NO_PROJECT.keys())
def test_that_other_files_are_refused_with_their_name(tmp_path, text):
    (tmp_path / "x.phx").write_text(text, encoding="utf-8")
    with pytest.raises(InputProblemsError) as caught:
        Project.open(tmp_path / "x.phx")
    assert caught.value.issues[0].path[0] == "x.phx"


def test_that_true_is_no_version(tmp_path):
    (tmp_path / "x.phx").write_text('{"format": "phexplore project", "version": true}', encoding="utf-8")
    with pytest.raises(InputProblemsError) as caught:
        Project.open(tmp_path / "x.phx")
    assert caught.value.issues[0].path == ("x.phx", "version")


_EDITOR = """
import sys
from fractions import Fraction
from pathlib import Path
from phexplore.catalog.tables import queries
from phexplore.document.project import Project
from phexplore.systems.phsafe.edits import set_budget

project = Project.open(Path(sys.argv[1]))
value = 0
while True:
    value += 1
    project.edit(f"Set to {value}", lambda s: set_budget(s, queries()[0], Fraction(value)))
    print(value, flush=True)
    if value % 7 == 0:
        project.save()
"""


@pytest.mark.parametrize("edits", [1, 6, 7, 8, 20])
def test_that_a_killed_program_loses_no_acknowledged_edit(tmp_path, workbook, edits):
    path = tmp_path / "a.phx"
    project = Project.new(workbook)
    project.save(path)
    project.close()
    with subprocess.Popen([sys.executable, "-c", _EDITOR, str(path)], stdout=subprocess.PIPE) as editor:
        acknowledged = 0
        while acknowledged < edits:
            acknowledged = int(editor.stdout.readline())
        os.kill(editor.pid, signal.SIGKILL)
        rest = editor.stdout.read().split()
    acknowledged = int(rest[-1]) if rest else acknowledged
    again = Project.open(path)
    assert budget(again) in {acknowledged, acknowledged + 1}  # the last one may have been written, not yet printed
    again.close()


def test_that_thousands_of_steps_stay_small(tmp_path, workbook):
    project = Project.new(workbook)
    for value in range(1, 2001):
        edit(project, value)
    project.save(tmp_path / "a.phx")
    assert (tmp_path / "a.phx").stat().st_size < 700 * 2000
    project.close()
    again = Project.open(tmp_path / "a.phx")
    assert len(again.steps) == 2001
    again.close()


def test_that_the_presets_are_not_changed_by_a_project(workbook):
    before = preset("sdhc-2020-us").scenario
    edit(Project.new(workbook), 9)
    assert preset("sdhc-2020-us").scenario == before
