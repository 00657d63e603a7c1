"""Load what the first picture did without, after it is on screen and without a stop anybody would notice.

Libraries are loaded in a thread: it hands the interpreter back every few milliseconds. Parts of the window are loaded on the
window's own thread, one per turn of the event loop.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from phexplore.gui.binding.collector import collector

LIBRARIES = (
    "numpy",
    "pyarrow",
    "pyarrow.parquet",
    "phexplore.metrics.accuracy_report",
    "phexplore.decide.verifying",
    "phexplore.accuracy.solving_separable",
    "phexplore.decide.sweep_answer",
    "phexplore.decide.trade_off",
    "phexplore.decide.comparison_view",
)
"""Without Qt, in this order; those of the rooms follow."""
PARTS = (
    "phexplore.gui.binding.run_process",
    "phexplore.gui.run_manager.runs_table",
    "phexplore.gui.run_manager.runs_page",
    "phexplore.gui.figures.view",
    "phexplore.gui.run_manager.results_page",
    "phexplore.gui.main.runs_area",
    "phexplore.gui.editors.conventions_editor",
    "phexplore.gui.decision.dialogs",
    "phexplore.gui.targets.solve_view",
    "phexplore.gui.targets.frontier_view",
    "phexplore.gui.targets.targets_page",
    "phexplore.gui.editors.scenario_manager",
    "phexplore.gui.editors.plain_parameters",
    "phexplore.gui.decision.compare_page",
    "phexplore.gui.editors.history_panel",
)
"""With Qt, each after what it needs; those of the rooms follow."""
_PAUSE_MS = 5
"""Between two parts, for whatever the user does meanwhile."""


class Warmup(QObject):
    """Loads libraries and parts once.

    Signals:
        done: everything is loaded; sent once.
    """

    done = Signal()
    _loaded = Signal()

    def __init__(self, parent: QObject | None, libraries: Sequence[str], parts: Sequence[str]) -> None:
        super().__init__(parent)
        self._libraries, self._parts = tuple(libraries), tuple(parts)
        self._thread: threading.Thread | None = None
        self._steps: Iterator[None] = iter(())
        self._is_stopped = False
        self._loaded.connect(self._on_loaded)

    def start(self) -> None:
        """Begin; a second call does nothing."""
        if self._thread is not None or self._is_stopped:
            return
        collector().hold()  # a collection of cycles in the thread would delete widgets there
        self._thread = threading.Thread(target=self._load, name="warm-up", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Load nothing more, because the window closes; waits for the library being loaded."""
        if self._is_stopped:
            return
        self._is_stopped = True
        if self._thread is not None:
            self._thread.join()
            collector().release()

    def _load(self) -> None:
        for name in self._libraries:
            if self._is_stopped:
                return
            if name not in sys.modules:
                importlib.import_module(name)
        self._loaded.emit()

    def _on_loaded(self) -> None:
        self._steps = self._load_parts()
        self._advance()

    def _load_parts(self) -> Iterator[None]:
        for name in self._parts:
            if name not in sys.modules:
                importlib.import_module(name)
                yield

    def _advance(self) -> None:
        if self._is_stopped:
            return
        try:
            next(self._steps)
        except StopIteration:
            self.done.emit()
        else:
            QTimer.singleShot(_PAUSE_MS, self, self._advance)
