"""The window in tests: no screen, no settings of the user, no files of the user."""

from __future__ import annotations

import os
from dataclasses import replace

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt is imported

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QStandardPaths
from pytestqt.qtbot import QtBot

from phexplore.catalog.names import Naming
from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import Settings
from phexplore.gui.main.window import MainWindow
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.gui.theme.depth import Depth
from phexplore.model.keys import parse_query
from phexplore.model.workbook import Workbook

PATIENCE_MS = 180_000
"""A wait ends as soon as it can; how long it may take says only how slow the machine is, and kernels compile in some."""
for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitExposed, QtBot.waitActive):
    wait.__kwdefaults__["timeout"] = PATIENCE_MS


@pytest.fixture(autouse=True)
def own_places(qapp, tmp_path, monkeypatch):
    """Keep settings and scratch files in the test's folder, and start light at normal size, with everything, in codes."""
    QStandardPaths.setTestModeEnabled(True)
    monkeypatch.setattr("phexplore.gui.main.project_files.scratch_folder", lambda: tmp_path)
    appearance().choose(ThemeChoice.LIGHT)
    appearance().set_scale(100)
    appearance().show_depth(Depth.EXPERT)
    appearance().call_things(Naming.CODES)
    yield
    # No event loop ends here, so what asked to be deleted later would live on into the next tests.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def query():
    """The query most tests edit."""
    return parse_query("PH3/state_A-G")


@pytest.fixture
def project(us):
    """An unsaved project with a copy of the 2020 parameters, compared with them."""
    scenario = replace(us, name="Proposal")
    return Project.new(Workbook((scenario,), "Proposal", "sdhc-2020-us"))


@pytest.fixture
def session(qapp, project):
    """The project as the window sees it."""
    return Session(project)


@pytest.fixture
def settings(tmp_path):
    """Settings in a file of the test."""
    return Settings(tmp_path / "settings.json")


@pytest.fixture
def window(qtbot, project, settings, tmp_path):
    """The main window, shown, with its first page."""
    found = MainWindow(project, settings, tmp_path / "runs")
    qtbot.addWidget(found, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
    found.resize(1280, 800)
    found.show()
    qtbot.waitExposed(found)
    return found
