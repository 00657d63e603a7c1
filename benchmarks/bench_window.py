"""Time from an edit to the painted screen, and what a dragged slider leaves behind.

Usage: QT_QPA_PLATFORM=offscreen python benchmarks/bench_window.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from fractions import Fraction
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject, QSettings
from PySide6.QtWidgets import QApplication, QTableView

from phexplore.accuracy.solving import edit_margin
from phexplore.catalog.presets import preset
from phexplore.gui.main.navigation import Area
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.settings import Settings
from phexplore.gui.main.window import MainWindow
from phexplore.model.keys import parse_query

STEPS = 200


class Painted(QObject):
    """Remembers that a widget was painted."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    def eventFilter(self, watched, event):  # noqa: N802 - Qt's name
        """Note paint events."""
        del watched
        if event.type() == QEvent.Type.Paint:
            self.seen = True
        return False


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    start = time.perf_counter()
    application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat))
        window = MainWindow(project_of(preset("sdhc-2020-us")), settings, Path(folder) / "runs")
        window.show()
        application.processEvents()
        shown = time.perf_counter() - start
        result = {"window_shown_s": shown}
        for area in (Area.BUDGETS, Area.OVERVIEW):
            window.navigation.choose(area)
            for _ in range(50):
                application.processEvents()
            result[area.name.lower()] = drag(application, window, area)
        window.leave_without_asking()
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")
    os._exit(0)


def drag(application, window, area):
    """Drag the margin of one query over 200 steps and return milliseconds from edit to paint."""
    query = parse_query("PH3/state_A-G")
    session, painted = window.session, Painted()
    if area is Area.BUDGETS:
        watched = max(window.findChildren(QTableView), key=lambda table: table.isVisible() * table.width()).viewport()
    else:
        watched = window.centralWidget()
        application.installEventFilter(painted)
    if area is Area.BUDGETS:
        watched.installEventFilter(painted)
    before, found, processor = len(session.project.labels), [], []
    for step in range(STEPS):
        painted.seen = False
        start, used = time.perf_counter(), time.process_time()
        margin = Fraction(20 + (step % 50) + (1 if area is Area.BUDGETS else 2))
        session.edit("Drag the margin", lambda s, m=margin: edit_margin(s, query, m), merge_key="bench")
        while not painted.seen:
            application.processEvents()
        found.append(1e3 * (time.perf_counter() - start))
        processor.append(1e3 * (time.process_time() - used))
    last = session.project.scenario.phsafe.targets[query]
    application.removeEventFilter(painted)
    return {
        "edit_to_paint_median_ms": statistics.median(found),
        "edit_to_paint_p95_ms": sorted(found)[int(0.95 * len(found))],
        "edit_to_paint_processor_median_ms": statistics.median(processor),
        "steps_in_history": len(session.project.labels) - before,
        "ends_on_last_value": last == margin,
    }


if __name__ == "__main__":
    main()
