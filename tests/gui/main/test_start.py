from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from phexplore.document.project import Project
from phexplore.gui.main.project_files import left_unsaved
from phexplore.model.workbook import Workbook, add_scenario

FIRST_PICTURE = """
import gc, json, os, sys
from phexplore.gui.main import start

def watch(window):
    from PySide6.QtCore import QTimer
    window._warmup.stop()
    def look():
        charts = [chart for chart in getattr(window.pages.currentWidget(), "charts", ()) if chart.isVisible()]
        if charts and all(not chart.is_empty for chart in charts):
            found = {"modules": sorted(sys.modules), "title": charts[0].title}
            print(json.dumps({**found, "kept": gc.get_freeze_count()}), flush=True)
            os._exit(0)
    timer = QTimer(window)
    timer.timeout.connect(look)
    timer.start(10)

start.main(None, watch)
"""


def run(code, tmp_path, **environment):
    places = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **places, "QT_QPA_PLATFORM": "offscreen", **environment},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_that_the_first_picture_needs_nothing_heavy(tmp_path) -> None:
    """Start to first picture within a second: numbers, tables, runs and files are loaded afterwards."""
    done = run(FIRST_PICTURE, tmp_path)
    found = json.loads(done.stdout)
    assert found["title"] == "All 46 targets are met"
    heavy = {"numpy", "scipy", "numba", "pyarrow", "matplotlib", "pandas", "openpyxl", "xlsxwriter", "jinja2", "typer"}
    assert heavy & set(found["modules"]) == set()
    assert {"phexplore.runs.store", "phexplore.gui.dialogs.manual"} & set(found["modules"]) == set()
    assert found["kept"] > 10_000


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [('{"state_filter_us"', 2, "x.json"), ("", 2, "x.json")],
)
def test_that_a_file_that_cannot_be_read_ends_with_a_sentence_and_no_window(tmp_path, content, status, said) -> None:
    file = tmp_path / "x.json"
    file.write_text(content)
    done = run(f"import sys; from phexplore.gui.main.start import main; sys.exit(main({str(file)!r}))", tmp_path)
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_that_a_missing_display_is_said_and_nothing_aborts(tmp_path) -> None:
    code = "import sys; from phexplore.gui.main.start import main; sys.exit(main(None))"
    done = run(code, tmp_path, QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="")
    if sys.platform.startswith("linux"):
        assert done.returncode == 1
        assert "no display" in done.stderr


EDIT_AND_BE_KILLED = """
import os, signal, sys
from fractions import Fraction
from phexplore.gui.main import start
from phexplore.systems.phsafe.edits import set_budget
from phexplore.model.keys import parse_query

def drive(window):
    query = parse_query("PH3/state_A-G")
    window.session.edit("Set", lambda scenario: set_budget(scenario, query, Fraction(1, 3)))
    window.session.project.flush()
    os.kill(os.getpid(), signal.SIGKILL)

start.main(sys.argv[1], drive)
"""

SAY_THE_NOTICE = """
import os, sys
from PySide6.QtCore import QTimer
from phexplore.gui.main import start

def drive(window):
    def look():
        if "Reopen" in window.notice.text:
            print(window.notice.text, flush=True)
            window.notice._act()
            project = window.session.project
            print(project.path.name, project.recovered, flush=True)
            os._exit(0)
    timer = QTimer(window)
    timer.timeout.connect(look)
    timer.start(10)

start.main(None, drive)
"""


@pytest.mark.defect("M18")
@pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")
def test_that_the_start_after_a_crash_offers_the_project_with_its_unsaved_edit(tmp_path, us) -> None:
    path = tmp_path / "plan.phx"
    project = Project.new(Workbook((us,), us.name))
    project.save(path)
    project.close()
    assert Project.interrupted_edits(path) is None
    run(EDIT_AND_BE_KILLED.replace("sys.argv[1]", repr(str(path))), tmp_path)
    assert Project.interrupted_edits(path) == 1
    done = run(SAY_THE_NOTICE, tmp_path)
    assert done.stdout.splitlines() == [
        "phexplore ended unexpectedly. Reopen plan.phx with 1 unsaved edit?",
        "plan.phx 1",
    ], done.stderr


@pytest.mark.defect("M18")
@pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")
def test_that_the_start_after_a_crash_offers_the_project_also_when_nothing_was_unsaved(tmp_path, us) -> None:
    path = tmp_path / "plan.phx"
    project = Project.new(Workbook((us,), us.name))
    project.save(path)
    project.close()
    killed = EDIT_AND_BE_KILLED.replace("    window.session.edit", "    0 and window.session.edit")
    run(killed.replace("sys.argv[1]", repr(str(path))), tmp_path)
    done = run(SAY_THE_NOTICE, tmp_path)
    assert done.stdout.splitlines() == ["phexplore ended unexpectedly. Reopen plan.phx?", "plan.phx 0"], done.stderr


@pytest.mark.defect("M18")
def test_that_a_project_that_is_open_elsewhere_is_not_offered(tmp_path, us) -> None:
    path = tmp_path / "plan.phx"
    project = Project.new(Workbook((us,), us.name))
    project.save(path)
    project.commit("Add", add_scenario(project.workbook, replace(us, name="Other")))
    project.flush()
    assert Project.interrupted_edits(path) is None
    assert Project.interrupted_edits(tmp_path / "missing.phx") is None
    project.close()


def test_that_a_project_that_is_offered_is_told_apart_from_the_open_one_of_the_same_name(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Project, "interrupted_edits", lambda _path, **_more: 9)
    mine, other = tmp_path / "mine" / "plan.phx", tmp_path / "other" / "plan.phx"
    assert left_unsaved([mine], tmp_path / "vote.phx") == (
        "phexplore ended unexpectedly. Reopen plan.phx with 9 unsaved edits?",
        mine,
    )
    assert left_unsaved([mine], other) == (
        f"phexplore ended unexpectedly. Reopen plan.phx of {tmp_path / 'mine'} with 9 unsaved edits?",
        mine,
    )
