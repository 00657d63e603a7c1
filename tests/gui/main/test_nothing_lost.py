"""The window when disks, folders and files misbehave: a sentence with a way out, and every edit still there."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QMainWindow

from phexplore.data.source import demonstration_directory
from phexplore.document.project import Project
from phexplore.files.atomic_files import WriteError
from phexplore.gui.binding.settings import GEOMETRY
from phexplore.gui.main import project_files
from phexplore.gui.main.project_files import opened_sentence
from phexplore.gui.main.window import MainWindow
from phexplore.gui.run_manager.launch_form import LaunchRequest
from phexplore.gui.widgets.buttons import TextButton
from phexplore.model.keys import parse_query
from phexplore.model.workbook import Workbook
from phexplore.runs.run_settings import RunSettings
from phexplore.systems.phsafe.edits import set_budget

_OTHER_WINDOW = """
import sys
from pathlib import Path
from phexplore.document.project import Project
project = Project.open(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def _buttons(dialog):
    return {button.text(): button for button in dialog.findChildren(TextButton)}


@pytest.fixture
def edit(window, query):
    return lambda value=1: window.session.edit(f"Set to {value}", lambda s: set_budget(s, query, Fraction(value)))


@pytest.fixture
def path(tmp_path, us):
    found = tmp_path / "share" / "a.phx"
    found.parent.mkdir()
    project = Project.new(Workbook((us,), us.name))
    project.save(found)
    project.close()
    return found


def test_that_a_folder_that_is_gone_is_said_with_save_as_and_the_edits_are_kept(window, edit, path, query) -> None:
    window.files.open(path)
    edit(1)
    shutil.rmtree(path.parent)
    edit(2)
    window.session._flush_journal()
    assert "program's own folder" in window.notice.text
    assert window.notice._button.text() == "Save as…"
    window.files.save()
    assert "folder is not there" in window.files.dialog.sentence.text()
    assert "Save as…" in _buttons(window.files.dialog)
    assert window.session.scenario.phsafe.budgets[query] == 2
    kept = project_files.refuge(path)
    window.session._journal.stop()
    journals = window.session.project._keeping._journal, window.session.project._keeping._held
    for journal in journals:
        journal.close(remove=False)  # as when the program is killed now
    again = Project.rescue(kept)
    assert again.labels[-2:] == ("Set to 1", "Set to 2")
    again.close()


def test_that_a_save_that_fails_offers_another_name_and_loses_nothing(window, edit, path, monkeypatch, query) -> None:
    window.files.open(path)
    edit(7)
    before = path.read_bytes()

    def full(*_arguments, **_options):
        raise WriteError("a.phx could not be written: No space left on device.", "Free space.")

    with monkeypatch.context() as patch:
        patch.setattr("phexplore.document.project.write_atomically", full)
        window.files.save()
    dialog = window.files.dialog
    assert "No space left" in dialog.sentence.text()
    assert (path.read_bytes(), window.session.project.is_clean) == (before, False)
    _buttons(dialog)["Save as…"].click()
    window.files.dialog.fileSelected.emit(str(path.with_name("b.phx")))
    window.files.dialog.close()
    assert window.session.project.path.name == "b.phx"
    assert window.session.project.is_clean


def test_that_a_damaged_project_is_opened_as_far_as_it_can_be_read_and_left_as_it_is(window, path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b'\n "log"')])
    damaged = path.read_bytes()
    window.files.open(path)
    _buttons(window.files.dialog)["Open what can be read"].click()
    assert "opened as a new project" in window.notice.text
    assert "cut off" in window.notice.text
    assert window.session.project.path is None
    assert path.read_bytes() == damaged


def test_that_the_version_before_is_offered_when_nothing_can_be_read(window, path) -> None:
    path.with_name("a.phx.previous").write_bytes(path.read_bytes())
    path.write_bytes(b"\0" * 4096)
    window.files.open(path)
    offered = _buttons(window.files.dialog)
    assert "Open what can be read" not in offered
    offered["Open the version before"].click()
    assert "a.phx.previous was opened as a new project" in window.notice.text
    assert path.read_bytes() == b"\0" * 4096


def test_that_a_file_changed_by_another_program_can_be_left_alone(window, edit, path) -> None:
    window.files.open(path)
    path.write_bytes(path.read_bytes() + b"\n")
    edit()
    window.files.save()
    assert {"Cancel", "Save as…", "Overwrite"} <= set(_buttons(window.files.dialog))


def test_that_reopening_a_file_that_was_damaged_meanwhile_keeps_the_open_project(window, edit, path, query) -> None:
    window.files.open(path)
    edit(3)
    window.files.save()
    path.write_bytes(b"{")
    window.files.open(path)
    assert window.session.scenario.phsafe.budgets[query] == 3
    edit(4)
    assert window.session.project.trouble is None


def test_that_a_second_window_is_told_that_the_project_is_open(window, path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _OTHER_WINDOW, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        other.stdout.readline()
        before = window.session.project
        window.files.open(path)
        assert "open in another window" in window.files.dialog.sentence.text()
        assert window.session.project is before
        other.stdin.close()


def test_that_a_clock_that_was_set_back_is_mentioned(path, monkeypatch) -> None:
    monkeypatch.setattr("phexplore.document.project._now", lambda: "2001-01-01T00:00:00+00:00")
    project = Project.open(path)
    assert "clock of this computer says 2001" in opened_sentence(project)
    project.close()


def test_that_a_run_on_unmarked_records_asks_who_answers_for_it(qtbot, window, tmp_path) -> None:
    population = tmp_path / "population"
    shutil.copytree(demonstration_directory(), population)
    (population / "provenance.json").unlink()
    controller = window.areas.runs.controller
    controller.launch(window.session.scenario, LaunchRequest(RunSettings(str(population), trials=20)))
    qtbot.waitUntil(lambda: window.areas.runs.question is not None)
    question = window.areas.runs.question
    assert "reveals information" in question.sentence.text()
    assert "SHA-256" in question.sentence.text()
    assert controller.rows == ()
    if (folder := os.environ.get("PHEXPLORE_PICTURES")) is not None:
        question.grab().save(f"{folder}/question.png")
    _buttons(question)["Cancel"].click()
    assert controller.rows == ()


def kill_windows(path, us, tmp_path, kills, seed):
    """Kill the whole program so many times while it edits and saves; return how many edits it had acknowledged."""
    total = 0
    script = str(Path(__file__).with_name("killed_window.py"))
    places = {name: str(tmp_path / "home") for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    query = parse_query("PH3/state_A-G")
    for number in range(kills):
        dice = random.Random(seed + number)
        with subprocess.Popen(
            [sys.executable, script, str(path), str(seed + number)],
            stdout=subprocess.PIPE,
            env={**os.environ, **places, "QT_QPA_PLATFORM": "offscreen"},
        ) as process:
            acknowledged, wanted = 0, dice.randrange(1, 25)
            while acknowledged < wanted:
                acknowledged = int(process.stdout.readline())
            deadline = time.perf_counter() + dice.uniform(0, 0.02)
            while time.perf_counter() < deadline:
                pass
            os.kill(process.pid, signal.SIGKILL)
            if rest := process.stdout.read().split():
                acknowledged = int(rest[-1])
        project = Project.open(path)
        assert project.scenario.phsafe.budgets[query] in {acknowledged, acknowledged + 1}
        labels = [label for label in project.labels if label.startswith("Set")]
        assert labels[-acknowledged - 1 :][-1] in {f"Set {acknowledged}", f"Set {acknowledged + 1}"}
        assert [issue.sentence for issue in project.issues] == []
        project._keeping._journal.close(remove=False)
        total += acknowledged
    return total


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_that_a_killed_window_loses_no_acknowledged_edit(path, us, tmp_path) -> None:
    assert kill_windows(path, us, tmp_path, 1, seed=5) > 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_that_40_killed_windows_lose_no_acknowledged_edit(path, us, tmp_path) -> None:
    assert kill_windows(path, us, tmp_path, 40, seed=100) >= 40


def test_that_a_place_on_another_screen_is_none_on_this_one(qtbot, window, settings, project, tmp_path) -> None:
    """A window that filled a large screen came back 800 pixels high on a laptop's 768: its status bar was out of sight."""
    for geometry, is_placed in (
        (window.saveGeometry(), True),
        (QByteArray(b"another screen"), False),
        (QByteArray(), False),
    ):
        settings.keep(GEOMETRY, geometry)
        again = MainWindow(project, settings, tmp_path / "runs")
        qtbot.addWidget(again, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
        assert again.is_placed is is_placed


def test_that_a_window_made_large_comes_back_large_after_a_kill(qtbot, window) -> None:
    window.settings.keep(GEOMETRY, QByteArray())
    window.showMaximized()
    qtbot.waitUntil(lambda: not window.settings.read(GEOMETRY).isEmpty())
    again = QMainWindow()
    qtbot.addWidget(again)
    again.restoreGeometry(window.settings.read(GEOMETRY))
    assert again.isMaximized()


def test_that_ctrl_c_in_the_terminal_closes_the_window(tmp_path):
    places = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    started = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("interrupted_window.py"))],
        env=os.environ | places,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "shown\n"
    started.send_signal(signal.SIGINT)
    _, written = started.communicate(timeout=600)
    assert started.returncode == 0
    assert "Traceback" not in written
