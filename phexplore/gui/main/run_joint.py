"""Runs and results, joined to the window: pages, progress strip, the tile of the last run."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.session import Session
from phexplore.gui.main.navigation import Area
from phexplore.gui.widgets.empty_place import EmptyPlace


class RunJoint(QObject):
    """Makes the pages when they are wanted.

    Signals:
        headline_changed: `TileContent` of the newest finished run, None when there is none.
        opened: the `Area` to go to.
        noted: a sentence worth a notice.
    """

    headline_changed = Signal(object)
    opened = Signal(object)
    noted = Signal(object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session

    def make_strip(self) -> QWidget:
        """Return the progress of runs for the bottom bar."""
        return QWidget()

    def make_runs_page(self) -> QWidget:
        """Return the page that starts and lists runs."""
        return EmptyPlace("runs", "Simulated runs", "Run the real algorithm on a population, many times.")

    def make_results_page(self) -> QWidget:
        """Return the page of results."""
        return EmptyPlace("results", "Results", "Errors of finished runs against the forecast.")

    def ask_for_run(self) -> None:
        """Go to where a run is started."""
        self.opened.emit(Area.RUNS)

    def stop(self) -> None:
        """End what is running, because the window closes."""
