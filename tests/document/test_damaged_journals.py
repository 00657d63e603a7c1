"""A damaged journal gives back every edit before the damage; the rest is in a copy, and both numbers are stated."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re

import pytest

from phexplore.cli.app import EXPECTED_FAILURE, run
from phexplore.document import safekeeping
from phexplore.document.project import Project
from phexplore.files import journal as journals
from phexplore.files.atomic_files import WriteError
from phexplore.files.journal import journal_path
from phexplore.model.edits import set_field
from phexplore.model.workbook import Workbook


def _edit(project, number) -> None:
    project.edit(f"Edit {number}", lambda scenario: set_field(scenario, "note", f"note {number}"))


def _abandon(project) -> None:
    """Leave the project as a killed program would."""
    for held in {project._keeping._journal, project._keeping._held} - {None}:
        held._file.close()


@pytest.fixture
def saved(tmp_path, us):
    project = Project.new(Workbook((us,), us.name))
    project.save(tmp_path / "a.phx")
    project.close()
    return tmp_path / "a.phx"


def _left(path, edits, refuge=None) -> bytes:
    project = Project.open(path, refuge=refuge)
    for number in range(edits):
        _edit(project, number)
    _abandon(project)
    return journal_path(path).read_bytes()


def _met(path, content, edits, refuge=None) -> int:
    """Open a project with this journal; return how many edits came back, after checking what the promise says of the others."""
    journal_path(path).write_bytes(content)
    project = Project.open(path, refuge=refuge)
    notes = [step.value.scenario.note for step in project.steps[1:]]
    assert notes == [f"note {number}" for number in range(len(notes))]
    copies = list(path.parent.glob("*.damaged-*"))
    if len(notes) < edits:
        (issue,) = project.issues
        stated = [int(number) for number in re.findall(r"\d+", issue.sentence)]
        assert stated == [len(notes), edits - len(notes)]
        (copy,) = copies
        assert copy.read_bytes() == content
        assert copy.name in issue.remedy
        assert (project.recovered, project.lost) == (len(notes), edits - len(notes))
    else:
        assert copies == []
    _edit(project, len(notes))  # the new journal goes on from what came back
    _abandon(project)
    again = Project.open(path)
    assert len(again.steps) == len(notes) + 2
    again.close()
    for copy in copies:
        assert copy.read_bytes() == content
        copy.unlink()
    return len(notes)


@pytest.mark.parametrize(
    ("edits", "every"),
    [
        (1, 13),
        (10, 127),
        (60, 4001),
        pytest.param(10, 1, marks=[pytest.mark.slow, pytest.mark.timeout(3600)], id="each bit"),
    ],
)
def test_that_each_flipped_bit_costs_no_edit_without_a_word(edits, every, saved, monkeypatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no power fails here
    whole = _left(saved, edits)
    start = random.Random(edits).randrange(every)
    line_feeds = [8 * place + bit for place, sign in enumerate(whole) if sign == 10 for bit in range(8)]
    bits = {*range(start, 8 * len(whole), every), *line_feeds[:: 1 + len(line_feeds) // 40], *line_feeds[-8:]}
    restored = set()
    for bit in sorted(bits):
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        restored.add(_met(saved, bytes(content), edits))
    assert restored >= {0, edits}


@pytest.mark.parametrize("cursor", [1.0, True, "1", None, -1, 10**30, [1]])
def test_that_an_entry_of_another_type_is_damage(cursor, saved) -> None:
    """Its checksum is right: whoever wrote it knows how."""
    whole = _left(saved, 3)
    lines = whole.split(b"\n")
    text = json.dumps({"cursor": cursor}, separators=(",", ":"))
    lines[3] = f"{text}\t{hashlib.sha256(text.encode()).hexdigest()[:8]}".encode()
    assert _met(saved, b"\n".join(lines), 3) == 2


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_that_a_torn_last_line_is_a_crash_and_no_damage(cut, saved) -> None:
    whole = _left(saved, 3)
    journal_path(saved).write_bytes(whole[:-cut])
    project = Project.open(saved)
    assert (project.recovered, project.lost, project.issues) == (2, 0, ())
    assert list(saved.parent.glob("*.damaged-*")) == []
    project.close()


def test_that_the_damaged_journal_of_a_refuge_is_kept_and_named(saved, tmp_path, us) -> None:
    shelter = tmp_path / "elsewhere" / "kept.phx"
    shelter.parent.mkdir()
    whole = _left(saved, 4)
    journal_path(saved).unlink()
    shelter.write_bytes(saved.read_bytes())
    damaged = bytearray(whole)
    damaged[-20] ^= 4
    journal_path(shelter).write_bytes(damaged)
    project = Project.open(saved, refuge=lambda _: shelter)
    (copy,) = shelter.parent.glob("*.damaged-*")
    assert copy.read_bytes() == damaged
    assert (project.recovered, project.lost) == (3, 1)
    assert str(copy) in project.issues[0].remedy
    project.close()
    assert copy.exists()


def test_that_a_journal_that_cannot_be_copied_is_neither_replaced_nor_removed(saved, monkeypatch) -> None:
    damaged = bytearray(_left(saved, 3))
    damaged[len(damaged) // 2] ^= 1
    journal_path(saved).write_bytes(damaged)

    def full(*_given, **_named):
        raise WriteError("The disk is full.", "Free some space.")

    with monkeypatch.context() as patch:
        patch.setattr(journals, "write_atomically", full)
        project = Project.open(saved)
        assert str(journal_path(saved)) in project.issues[0].remedy
        assert "disk is full" in str(project.trouble)
        _edit(project, 7)
        assert journal_path(saved).read_bytes() == damaged
        project.close()
        assert journal_path(saved).read_bytes() == damaged
        project = Project.open(saved)
        _edit(project, 8)
        project.save()
        assert journal_path(saved).read_bytes() == damaged
    _edit(project, 9)
    (copy,) = saved.parent.glob("*.damaged-*")
    assert copy.read_bytes() == damaged
    assert project.trouble is None
    project.close()
    assert not journal_path(saved).exists()


def test_that_a_decision_on_a_project_with_unsaved_edits_leaves_them(saved, capsys) -> None:
    whole = _left(saved, 2)
    assert run(["approve", str(saved), "--who", "A", "--role", "B"]) == EXPECTED_FAILURE
    assert "2 unsaved edits" in capsys.readouterr().err
    assert journal_path(saved).read_bytes() == whole
    project = Project.open(saved)
    assert project.recovered == 2
    project.close()


def test_that_the_suffixes_of_copies_are_as_documented() -> None:
    assert (safekeeping.KEPT_SUFFIX, safekeeping.DAMAGED_SUFFIX) == (".kept", ".damaged-1")
