"""A window with a run at work whose project is saved for the first time; it says where the run is and waits to be killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from PySide6.QtCore import QTimer

from phexplore.files import failure_log
from phexplore.gui.main import project_files, start
from phexplore.gui.run_manager.launch_form import LaunchRequest
from phexplore.runs.run_settings import RunSettings

PATH, HOME = Path(sys.argv[1]), Path(sys.argv[2])
project_files.scratch_folder = lambda: HOME
project_files.DEMONSTRATION = "sdhc-2020-pr"
failure_log.report_folder = lambda: HOME / "reports"


def drive(window) -> None:
    controller = window.areas.runs.controller
    controller.launch(window.session.scenario, LaunchRequest(RunSettings("demo-pr", trials=5000)))

    def save(directory) -> None:
        if window.session.project.path is None:
            window.files.save_to(PATH)
            QTimer.singleShot(200, window, lambda: os.write(1, f"{directory}\n".encode()))

    controller.progressed.connect(save)


start.main(None, drive)
