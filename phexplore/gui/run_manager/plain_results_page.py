"""The results of a system without pictures of its own: the table its report is written from, run by run."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from phexplore.figures.table import Table
from phexplore.gui.binding.latest import Latest
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, run_words
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Text, field_label
from phexplore.runs.store import load_spec
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of


def results_table(directory: Path) -> tuple[Path, Table]:
    """Return the figures of a run as its system writes them into a table.

    Raises:
        PhexploreError: they cannot be read.
    """
    report = system_of(load_spec(directory).scenario).report(directory, datetime.now(UTC))
    head, *lines = csv.reader(report.table().decode("utf-8-sig").splitlines())
    return directory, Table(tuple(head), tuple(map(tuple, lines)))


class PlainResultsPage(QWidget):
    """A chooser of runs and their table.

    Signals:
        runs_wanted: the user wants to start a run.
        failed: a `PhexploreError`.
    """

    runs_wanted = Signal()
    failed = Signal(object)

    def __init__(self, desk: RunController, system: System, parent: QWidget | None = None) -> None:
        """Show the runs of a system.

        Args:
            desk: all runs.
            system: whose.
            parent: owner.
        """
        super().__init__(parent)
        self._system = system
        self._work = Latest(results_table, self)
        self._work.finished.connect(self._show)
        self._work.failed.connect(self.failed)
        self.run = Chooser("Run", letters=10)
        self.run.currentIndexChanged.connect(self._ask)
        self.table = NumbersTable()
        self.title = Text(bold=True, relative=1.08)
        self._stack = QStackedWidget(self)
        filled = QWidget(self._stack)
        column = QVBoxLayout(filled)
        column.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        column.setSpacing(GRID)
        column.addWidget(FlowRow(field_label("&Run", self.run), self.run, gap=GRID))
        column.addWidget(self.title)
        column.addWidget(self.table, 1)
        self._stack.addWidget(filled)
        sentence = "A run shows what the forecast is worth. Start one on the page of runs."
        self._stack.addWidget(
            EmptyPlace("results", "No result yet", sentence, action="Start a run", run=self.runs_wanted.emit)
        )
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self._stack)
        desk.changed.connect(self._show_runs)
        self._show_runs(desk.rows)

    @property
    def directory(self) -> Path | None:
        """The run shown."""
        found = self.run.currentData()
        return found if isinstance(found, Path) else None

    def show_run(self, directory: Path) -> None:
        """Show the results of a run."""
        self.run.select(directory)
        self._ask()

    def stop(self) -> None:
        """End reading because the window closes."""
        self._work.stop()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ask()

    def _show_runs(self, rows: tuple[RunRow, ...]) -> None:
        own = [row for row in rows if row.spec is not None and system_of(row.spec.scenario) is self._system]
        own = [row for row in own if row.trials]
        self._stack.setCurrentIndex(0 if own else 1)
        chosen = self.directory
        blocked = self.run.blockSignals(True)
        self.run.clear()
        for row in own:
            self.run.addItem(run_words(row), row.directory)
        if chosen is not None:
            self.run.select(chosen)
        if own and self.run.currentIndex() < 0:
            self.run.setCurrentIndex(0)
        self.run.blockSignals(blocked)
        self._ask()

    def _ask(self, _index: int = 0) -> None:
        if self.directory is not None and self.isVisible():
            self._work.request(self.directory)

    def _show(self, found: tuple[Path, Table]) -> None:
        directory, table = found
        if directory == self.directory:
            self.title.setText(f"{len(table.rows):,} line" + ("" if len(table.rows) == 1 else "s"))
            self.table.set_numbers(table)
