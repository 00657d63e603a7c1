"""Published averages: a simulated release as it would be published, beside the noisy numbers and the truth."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from phexplore.catalog.expected_counts import AVERAGES
from phexplore.entry import program_command
from phexplore.errors import PhexploreError
from phexplore.files.output_folder import output_folder
from phexplore.gui.binding.process_service import CommandProcess
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.tasks import Latest
from phexplore.gui.figures.view import FigureView
from phexplore.gui.targets.project_runs import ListedRun, ProjectRuns, listed_title
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.buttons import Chooser, TextButton, take_turns
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.file_dialogs import ask_for_folder
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, labelled
from phexplore.gui.widgets.layout import column, stacked
from phexplore.gui.widgets.stack import Stack
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.phsafe import PhSafe
from phexplore.systems.phsafe.published_figure import (
    NEAR_A_LIMIT,
    PublishedRelease,
    cell_words,
    coverage_bars,
    published_figure,
    read_release,
)

_TEACHING = "Noisy and published numbers of a simulated release appear here, each with its interval and the truth."
_MOST_TRIALS = 200
_DRAWS = {1000: "1,000 draws: quick", 10_000: "10,000 draws: as in 2020"}
_NO_TRUTH = (
    "The published tables can be saved. They are not shown beside exact counts, for the data of the run carry no mark of synthetic or "
    "published origin and are treated as confidential."
)
_NOTHING_YET = (
    "Once a run has simulated a release, this shows what would be published of it: noisy against published, and how often the "
    "90 % intervals hold the truth."
)
_SEED = 777


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is being published."""

    run: Path
    trial: int
    draws: int


class PublishedView(QWidget):
    """Publish a trial of a run, look at it table by table, save the tables.

    Signals:
        failed: a `PhexploreError`.
        noted: a sentence about what was done.
        runs_wanted: the user wants to start a run.
    """

    failed = Signal(object)
    noted = Signal(object)
    runs_wanted = Signal()

    def __init__(self, session: Session, runs: ProjectRuns | None = None, *, command: list[str] | None = None) -> None:
        """Make the view.

        Args:
            session: the project.
            runs: of the project.
            command: the command line's program, instead of the shipped one.
        """
        super().__init__()
        self._session, self._runs, self._command = session, runs, command
        self._folder = TemporaryDirectory(prefix="phexplore-published-")
        self._asked: _Asked | None = None
        self._shown: _Asked | None = None
        self.release: PublishedRelease | None = None
        self.process = CommandProcess(self)
        self.process.done.connect(self._read)
        self.process.failed.connect(self._on_failed)
        self.process.stopped.connect(self._on_stopped)
        self.process.busy_changed.connect(self._on_busy)
        self._reader = Latest(read_release, self)
        self._reader.finished.connect(self._show)
        self._reader.failed.connect(self._on_unreadable)
        self.chart = FigureView("Noisy and published", _TEACHING)
        teaching = "How often intervals hold the truth appears here."
        self.coverage = FigureView("Coverage of published intervals", teaching)
        self._lay_out()
        for chart in (self.chart, self.coverage):
            chart.failed.connect(self.failed)
        self._seen = WhenSeen(self, self._refresh, session.settled, *(() if runs is None else (runs.changed,)))
        self._seen.request()

    def stop(self) -> None:
        """End what is being computed, because the window closes."""
        self.process.shut_down()
        self._reader.stop()
        self._folder.cleanup()

    def publish(self) -> None:
        """Publish the chosen trial, beside the window."""
        run = self.run.currentData()
        if run is None or self.process.is_busy:
            return
        self._asked = _Asked(run, int(self.trial.currentData() or 0), int(self.draws.currentData()))
        arguments = ["publish", str(run), "--trial", str(self._asked.trial), "--seed", str(_SEED),
                     "--draws", str(self._asked.draws), "--out", str(self._out(self._asked)), "--json"]  # fmt: skip
        command = [*(self._command or program_command()), *arguments]
        self.words.setText("Publishing: estimates and intervals of every number are drawn…")
        self.process.start(command)

    def save(self, folder: Path) -> None:
        """Write the published tables into a folder that is empty or that contains published tables only."""
        if self._shown is None:
            return
        try:
            with output_folder(folder, "publish"):
                shutil.copytree(self._out(self._shown), folder, dirs_exist_ok=True)
        except PhexploreError as error:
            self.failed.emit(error)
            return
        except OSError as error:
            reason = f"The tables could not be written: {error.strerror or error}."
            self.failed.emit(PhexploreError(reason, "Choose another folder."))
            return
        self.noted.emit(f"The published tables were written to {folder}.")

    def _out(self, asked: _Asked) -> Path:
        return Path(self._folder.name) / f"{asked.run.name}-{asked.trial}-{asked.draws}"

    def _listed(self) -> list[ListedRun]:
        rows = self._runs.rows if self._runs is not None else ()
        return [row for row in rows if row.trials and row.spec and isinstance(row.spec.scenario.method, PhSafe)]

    def _refresh(self, _signal: object = None) -> None:
        rows = self._listed()
        self.run.offer([(listed_title(row), row.directory) for row in rows])
        self._fill_trials()
        self.pages.setCurrentIndex(1 if rows else 0)

    def _fill_trials(self, _number: int = 0) -> None:
        found = next((row for row in self._listed() if row.directory == self.run.currentData()), None)
        count = min(found.trials, _MOST_TRIALS) if found is not None else 0
        self.trial.offer([(f"trial {number + 1}", number) for number in range(count)])

    def _read(self, printed: str) -> None:
        if self._asked is not None:
            self._shown = self._asked
            self._reader.request((self._out(self._asked), printed))

    def _show(self, found: PublishedRelease) -> None:
        self.release = found
        self._shown_of.setVisible(bool(found.tables))
        self.table.offer([(f"{name}, {'average' if name in AVERAGES else 'count'}", name) for name in found.tables])
        self._fill_cells()
        if not found.numbers:
            self.chart.show_empty(_NO_TRUTH)
        self.coverage.show_figure(coverage_bars(found.coverage))
        self.words.setText(NEAR_A_LIMIT if found.numbers else _NO_TRUTH)
        self.save_button.setEnabled(True)

    def _fill_cells(self, _number: int = 0) -> None:
        table = self.table.currentData()
        if self.release is None or table is None:
            return
        self.cell.offer([(cell_words(table, cell), cell) for cell in self.release.cells(table)])
        self._show_cell()

    def _show_cell(self, _number: int = 0) -> None:
        table, cell = self.table.currentData(), self.cell.currentData()
        if self.release is None or table is None or cell is None:
            self.chart.show_empty()
            return
        unit = "people per household" if table in AVERAGES else "people"
        rows = self.release.numbers[table, cell]
        self.chart.show_figure(published_figure(f"{table}, {cell_words(table, cell)}", unit, rows))

    def _on_busy(self, busy: bool) -> None:
        take_turns(self.publish_button, self.stop_button, is_first=not busy)

    def _on_failed(self, error: PhexploreError) -> None:
        self.words.setText("")
        self.failed.emit(error)

    def _on_stopped(self) -> None:
        self.words.setText("Stopped; nothing was published.")

    def _on_unreadable(self, error: Exception) -> None:
        remedy = "Publish a run whose truth is known, with noise."
        self._on_failed(PhexploreError(f"The published numbers could not be read: {error}.", remedy))

    def _lay_out(self) -> None:
        self.run = Chooser("Run to publish", letters=34, grows=True, run=self._fill_trials)
        self.trial = Chooser("Trial to publish", letters=9)
        self.draws = Chooser("Draws per average", options=[(words, number) for number, words in _DRAWS.items()])
        name = "Publish the trial"
        self.publish_button = TextButton("Publish", look="primary", symbol="run", name=name, run=self.publish)
        self.stop_button = TextButton("Stop", name="Stop publishing", run=self.process.stop)
        name = "Save the published tables into a folder"
        self.save_button = TextButton("Save tables…", name=name, run=lambda: ask_for_folder(self, name, self.save))
        for button in (self.stop_button, self.save_button):
            button.setEnabled(False)
        self.table = Chooser("Published table", letters=14, run=self._fill_cells)
        self.cell = Chooser("Cell of the table", letters=22, run=self._show_cell)
        self._shown_of = FlowRow(self.table, self.cell, gap=GRID)
        self._shown_of.hide()  # until there is something to choose from
        self.chart.controls.addWidget(self._shown_of)
        self.words = Paragraph(
            "Choose a run and press Publish: every number gets an estimate that respects what is known (no count below 0, no "
            "household smaller than one person) and a 90 % interval.",
            look="muted",
        )
        buttons = (self.publish_button, self.stop_button, self.save_button)
        controls = FlowRow(labelled("Run", self.run), self.trial, self.draws, *buttons, gap=GRID)
        charts = Beside("Published averages", self.chart, self.coverage, shares=(3, 2))
        self.pages = Stack()
        title, go = "No release to publish yet", "Go to the runs"
        self.pages.addWidget(EmptyPlace("results", title, _NOTHING_YET, action=go, run=self.runs_wanted.emit))
        self.pages.addWidget(stacked(controls, self.words, (charts, 1), margins=(MARGIN, GRID, MARGIN, GRID)))
        column(self.pages, of=self)
