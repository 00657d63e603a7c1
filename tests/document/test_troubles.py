"""Full disks, read-only folders, drives that go, clocks that are wrong, files of other programs: nothing is lost."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from children import in_child, open_folder

from phexplore.catalog.tables import queries
from phexplore.document import project as project_module
from phexplore.document.project import FileChangedError, Project
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import WriteError
from phexplore.files.journal import JournalInUseError, journal_path
from phexplore.model.approval import Decision, DecisionError, Status
from phexplore.model.edits import set_field
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.edits import set_budget

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions, limits and locks of POSIX")
FIRST = queries()[0]
FROZEN = Path(__file__).with_name("frozen")


def edit(project, value):
    project.edit(f"Set to {value}", lambda scenario: set_budget(scenario, FIRST, Fraction(value)))


def budget(project):
    return project.scenario.method.budgets[FIRST]


@pytest.fixture
def workbook(us):
    return Workbook((us,), us.name)


@pytest.fixture
def path(tmp_path, workbook):
    """A saved project with one edit, open nowhere."""
    found = tmp_path / "folder" / "a.phx"
    found.parent.mkdir()
    project = Project.new(workbook)
    edit(project, 1)
    project.save(found)
    project.close()
    return found


@pytest.fixture
def refuge(tmp_path):
    shelter = tmp_path / "shelter"
    shelter.mkdir()
    return lambda home: shelter / f"kept-{hashlib.sha256(str(home).encode()).hexdigest()[:8]}.phx"


def limit_files(size):
    """Let no file of this process grow beyond `size`, as a full disk does."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


class TestFullDisk:
    def test_that_edits_made_while_there_is_no_space_are_on_disk_once_there_is(self, path):
        def work():
            project = Project.open(path)
            edit(project, 2)
            limit_files(journal_path(path).stat().st_size + 50)
            edit(project, 3)
            without = str(project.trouble), project.trouble.remedy, budget(project)
            edit(project, 4)
            limit_files(resource.RLIM_INFINITY)
            edit(project, 5)
            return *without, project.trouble

        sentence, remedy, value, after = in_child(work)
        assert "a crash would lose them" in sentence
        assert "save the project under another name" in remedy
        assert (value, after) == (3, None)
        again = Project.open(path)
        assert again.labels == ("New project", *(f"Set to {value}" for value in (1, 2, 3, 4, 5)))
        again.close()

    def test_that_what_was_acknowledged_before_the_disk_was_full_survives_a_crash(self, path):
        def work():
            project = Project.open(path)
            edit(project, 2)
            limit_files(journal_path(path).stat().st_size + 50)
            edit(project, 3)

        in_child(work)
        again = Project.open(path)
        assert budget(again) == 2
        again.close()

    def test_that_a_save_without_space_leaves_the_file_and_the_edits(self, path):
        before = path.read_bytes()

        def work():
            project = Project.open(path)
            edit(project, 2)
            limit_files(1000)
            with pytest.raises(WriteError, match=r"a\.phx could not be written") as caught:
                project.save()
            assert "previous file is untouched" in caught.value.remedy
            assert not project.is_clean
            return budget(project)

        assert in_child(work) == 2
        assert path.read_bytes() == before
        assert {each.name for each in path.parent.iterdir()} == {"a.phx", "a.phx.journal"}
        again = Project.open(path)
        assert (budget(again), again.recovered > 0) == (2, True)
        again.close()

    def test_that_a_project_on_a_full_drive_goes_on_elsewhere_and_comes_back(self, tmp_path, workbook, refuge):
        drive = tmp_path / "drive"
        drive.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(drive)], capture_output=True, check=False
        )
        if mounted.returncode:
            pytest.skip("mounting a small drive needs root")
        try:
            path = drive / "a.phx"
            project = Project.new(workbook)
            project.save(path)
            project.close()

            def work():
                project = Project.open(path, refuge=refuge)
                edit(project, 2)
                (drive / "ballast").write_bytes(b"x" * (shutil.disk_usage(drive).free))
                project.edit("Note", lambda s: set_field(s, "note", "n" * 8000))
                edit(project, 3)
                return str(project.trouble), project.labels

            sentence, labels = in_child(work)
            assert "program's own folder" in sentence
            assert "No space left" in sentence
            again = Project.open(path, refuge=refuge)
            assert again.labels == labels == ("New project", "Set to 2", "Note", "Set to 3")
            with pytest.raises(WriteError, match="No space left"):
                again.save()
            (drive / "ballast").unlink()
            again.save()
            assert (again.trouble, again.is_clean) == (None, True)
            assert list(refuge(path).parent.iterdir()) == []
            again.close()
        finally:
            subprocess.run(["umount", str(drive)], check=True)


def test_that_a_project_in_a_read_only_folder_opens_and_its_edits_survive_a_crash(workbook, us):
    with open_folder() as folder:
        shelter, home = folder / "shelter", folder / "home"
        shelter.mkdir(mode=0o777)
        shelter.chmod(0o777)
        home.mkdir()
        path = home / "a.phx"
        project = Project.new(workbook)
        project.save(path)
        project.close()
        home.chmod(0o555)

        def refuge(_):
            return shelter / "kept.phx"

        def work():
            project = Project.open(path, refuge=refuge)
            opened = str(project.trouble)
            edit(project, 2)
            project.flush()
            with pytest.raises(WriteError):
                project.save()
            edit(project, 3)
            return opened, project.labels

        opened, labels = in_child(work, unprivileged=True)
        assert "Permission denied" in opened
        assert "program's own folder" in opened

        def reopen():
            again = Project.open(path, refuge=refuge)
            found = again.labels, again.recovered > 0
            elsewhere = shelter / "b.phx"
            again.save(elsewhere)
            left = sorted(each.name for each in shelter.iterdir())
            return *found, str(again.trouble), left

        assert in_child(reopen, unprivileged=True) == (labels, True, "None", ["b.phx", "b.phx.journal"])


def test_that_a_folder_that_goes_is_noticed_within_a_second_and_not_made_again(path, refuge, tmp_path):
    project = Project.open(path, refuge=refuge)
    edit(project, 2)
    shutil.rmtree(path.parent)
    edit(project, 3)  # into a file without a name
    project.flush()
    assert "program's own folder" in str(project.trouble)
    with pytest.raises(WriteError, match="folder is not there"):
        project.save()
    assert not path.parent.exists()
    edit(project, 4)
    rescued = in_child(lambda: _rescued(refuge(path)))
    assert rescued == "the project is open in another window."
    for journal in (project._keeping._journal, project._keeping._held):
        journal.close(remove=False)  # as when the program is killed
    again = Project.rescue(refuge(path))
    assert (budget(again), again.labels[-3:]) == (4, ("Set to 2", "Set to 3", "Set to 4"))
    again.save(tmp_path / "b.phx")
    again.close()


def _rescued(scratch):
    try:
        return Project.rescue(scratch).labels
    except PhexploreError as error:
        return error.sentence[0].lower() + error.sentence[1:]


class TestOtherPrograms:
    def test_that_of_many_windows_opening_one_project_at_once_one_gets_it(self, path):
        reader, writer = os.pipe()
        gate_reader, gate_writer = os.pipe()
        children = []
        for _ in range(12):
            child = os.fork()
            if not child:
                os.close(gate_writer)
                os.read(gate_reader, 1)  # returns when the gate is closed by the parent
                try:
                    project = Project.open(path)
                    edit(project, os.getpid())
                    os.write(writer, b"1")
                    signal.pause()
                except JournalInUseError:
                    os.write(writer, b"0")
                os._exit(0)
            children.append(child)
        os.close(gate_reader)
        os.close(gate_writer)
        answers = b""
        while len(answers) < 12:
            answers += os.read(reader, 12)
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert sorted(answers) == sorted(b"000000000001")
        again = Project.open(path)
        assert again.recovered == 1
        again.close()

    def test_that_saving_over_a_project_open_elsewhere_is_refused(self, path, workbook, tmp_path):
        other = Project.open(path)
        project = Project.new(workbook)
        project.save(tmp_path / "b.phx")
        before = path.read_bytes()
        with pytest.raises(JournalInUseError, match="another window"):
            project.save(path)
        assert path.read_bytes() == before
        assert project.path == tmp_path / "b.phx"
        other.close()
        project.save(path)
        project.close()

    def test_that_edits_of_another_state_of_the_file_are_kept_and_named(self, path):
        in_child(partial(_edit_and_die, path))
        path.write_bytes(path.read_bytes().replace(b'"label": "New project"', b'"label": "Theirs"'))
        project = Project.open(path)
        assert (project.recovered, budget(project)) == (0, 1)
        assert "1 unsaved edits belong to another state" in project.issues[0].sentence
        kept = path.with_name("a.phx.journal.kept")
        assert "Set to 77" in kept.read_text(encoding="utf-8")
        project.close()
        assert kept.exists()

    @pytest.mark.defect("F15")
    def test_that_edits_kept_of_an_earlier_incident_stay(self, path):
        names = ["a.phx.journal.kept", "a.phx.journal.kept-2", "a.phx.journal.kept-3"]
        for number, name in enumerate(names):
            in_child(partial(_edit_and_die, path))
            path.write_bytes(path.read_bytes().replace(b'"label": "New project', b'"label": "New project, changed'))
            project = Project.open(path)
            assert name in project.issues[0].remedy
            project.close()
            assert [path.with_name(each).exists() for each in names] == [each <= number for each in range(3)]

    @pytest.mark.defect("F15")
    def test_that_saving_by_a_link_writes_the_file_behind_it(self, path):
        named = path.parent / "elsewhere" / "link.phx"
        named.parent.mkdir()
        named.symlink_to(path)
        before = path.read_bytes()
        project = Project.open(named)
        edit(project, 3)
        project.save()
        project.close()
        assert named.is_symlink()
        assert named.with_name("link.phx.previous").read_bytes() == before
        project = Project.open(path)
        assert budget(project) == 3
        project.close()

    def test_that_a_file_removed_by_another_program_is_written_again(self, path):
        project = Project.open(path)
        edit(project, 2)
        path.unlink()
        project.save()
        project.close()
        again = Project.open(path)
        assert budget(again) == 2
        again.close()

    def test_that_a_file_replaced_by_another_program_is_seen_even_when_it_looks_as_old(self, path):
        project = Project.open(path)
        edit(project, 2)
        times = path.stat().st_atime_ns, path.stat().st_mtime_ns
        path.write_bytes(path.read_bytes().replace(b"New", b"Old"))
        os.utime(path, ns=times)
        with pytest.raises(FileChangedError):
            project.save()
        project.close()


def _edit_and_die(path):
    edit(Project.open(path), 77)


class TestClockSetBack:
    def test_that_order_does_not_depend_on_the_clock_and_the_user_is_told(self, path, monkeypatch):
        monkeypatch.setattr(project_module, "_now", lambda: "2001-01-01T00:00:00+00:00")
        project = Project.open(path)
        assert "clock of this computer says 2001-01-01" in project.issues[0].sentence
        edit(project, 2)
        edit(project, 3)
        project.save()
        project.close()
        again = Project.open(path)
        assert again.labels == ("New project", "Set to 1", "Set to 2", "Set to 3")
        assert budget(again) == 3
        again.close()

    def test_that_a_right_clock_is_not_remarked_upon(self, path):
        project = Project.open(path)
        assert project.issues == ()
        project.close()

    def test_that_a_decision_before_the_last_one_is_refused(self, path):
        project = Project.open(path)
        mark = fingerprint(project.scenario)
        project.decide(Decision(Status.RECOMMENDED, mark, "a", "Ada", "chair", "2026-07-01T12:00:00+00:00"))
        with pytest.raises(DecisionError, match=r"at 2001-07-01"):
            project.decide(Decision(Status.APPROVED, mark, "a", "Ada", "chair", "2001-07-01T12:00:00+00:00"))
        assert len(project.decisions) == 1
        project.close()


class TestVersions:
    def test_that_a_project_of_the_first_version_opens_as_it_was(self):
        frozen = json.loads((FROZEN / "version-1.json").read_text(encoding="utf-8"))
        with open_folder() as folder:
            path = folder / "old.phx"
            shutil.copyfile(FROZEN / "version-1.phx", path)
            project = Project.open(path)
            assert [str(step.value.scenario.method.budgets[FIRST]) for step in project.steps] == frozen["budgets"]
            assert [list(project.labels), project.cursor] == [frozen["labels"], frozen["cursor"]]
            assert [decision.who for decision in project.decisions] == frozen["who"]
            assert fingerprint(project.scenario) == frozen["fingerprint"]
            assert [issue for issue in project.issues if issue.path[-1] != "log"] == []
            project.close()

    def test_that_a_newer_project_is_refused_and_left_as_it_is_with_its_journal(self, path):
        in_child(partial(_edit_and_die, path))
        path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 2'))
        before = path.read_bytes(), journal_path(path).read_bytes()
        with pytest.raises(InputProblemsError) as caught:
            Project.open(path)
        assert "version 2" in caught.value.sentence
        assert "newer phexplore" in caught.value.remedy
        assert (path.read_bytes(), journal_path(path).read_bytes()) == before


class TestDamagedFile:
    @pytest.mark.parametrize("share", range(1, 20))
    def test_that_of_a_file_cut_off_anywhere_all_whole_parts_are_read(self, path, tmp_path, share):
        project = Project.open(path)
        for value in range(2, 12):
            edit(project, value)
        project.save()
        steps = [(step.label, step.value) for step in project.steps]
        project.close()
        content = path.read_bytes()
        cut = tmp_path / "cut.phx"
        cut.write_bytes(content[: len(content) * share // 20])
        with pytest.raises(InputProblemsError, match=r"cut\.phx"):
            Project.open(cut)
        end_of_parameters = content.index(b'\n "cursor"')
        if cut.stat().st_size < end_of_parameters:
            with pytest.raises(InputProblemsError, match="Nothing of this project"):
                Project.salvage(cut)
            return
        saved = Project.salvage(cut)
        assert saved.workbook == project.workbook
        assert all(issue.path[0] == "cut.phx" for issue in saved.issues)
        assert saved.issues
        found = [(step.label, step.value) for step in saved.steps]
        assert found[: len(found) - 1] == steps[: len(found) - 1]
        assert saved.path is None

    def test_that_a_damaged_part_takes_no_other_part_with_it(self, path, tmp_path):
        content = path.read_bytes()
        places = {"workbook": b'\n "workbook": {', "first": b'\n "first": {', "log": b'\n "log": [\n  {'}
        for part, place in places.items():
            damaged = tmp_path / f"{part}.phx"
            damaged.write_bytes(content.replace(place, place[:-1] + b"\xff\x00"))
            with pytest.raises(InputProblemsError):
                Project.open(damaged)
            saved = Project.salvage(damaged)
            assert [issue.path for issue in saved.issues] == [(damaged.name, part)]
            assert budget(saved) == 1

    def test_that_something_that_is_no_project_is_not_salvaged(self, tmp_path):
        other = tmp_path / "other.phx"
        other.write_bytes(os.urandom(5000))
        with pytest.raises(InputProblemsError, match="Nothing of this project"):
            Project.salvage(other)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "missing", "empty"])
def test_that_what_is_no_file_is_refused_at_once(tmp_path, kind):
    path = tmp_path / "a.phx"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "empty":
            path.write_bytes(b"")
    before = sorted(each.name for each in tmp_path.iterdir())
    with pytest.raises(InputProblemsError, match=r"a\.phx"):
        Project.open(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == before


@pytest.mark.parametrize("half", ["\\ud800", "\\udfff"])
def test_that_a_journal_with_half_a_character_is_recovered_up_to_it(path, half):
    project = Project.open(path)
    for note in ("whole", "marked", "lost"):
        project.edit(note, lambda scenario, note=note: set_field(scenario, "note", note))
    project.flush()
    lines = journal_path(path).read_bytes().splitlines()
    text = lines[2].rpartition(b"\t")[0].replace(b'"marked"', f'"{half}"'.encode())
    lines[2] = text + b"\t" + hashlib.sha256(text).hexdigest()[:8].encode()
    project.close()
    journal_path(path).write_bytes(b"\n".join(lines) + b"\n")
    found = Project.open(path)
    assert found.scenario.note == "whole"
    found.save()
    found.close()
