"""The page of results of group sizes, or of releases under exact sums: figures and pictures, growing while trials arrive."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.binding.request_service import RequestService
from phexplore.gui.binding.systems import System, system_of
from phexplore.gui.charts.controls import field_label
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.chart_tabs import ChartTabs, Make
from phexplore.gui.run_manager.mechanism_results import (
    RELEASE_TABS,
    SIZE_TABS,
    MechanismAnswer,
    MechanismRequest,
    MechanismTab,
)
from phexplore.gui.run_manager.report_process import FORMATS, ReportFormat, ReportProcess
from phexplore.gui.run_manager.result_reader import reader_process
from phexplore.gui.run_manager.run_desk import RunDesk
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.gui.systems.phsafe.results_page import run_words, show_tile
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.tile import Tile

READING = "Reading the results of the run…"
WAITING = "The run is reading its data; the first errors appear here with its first trial."
_TEACHING = "Errors appear here with the first trial of a run."
_WITHOUT_PART = frozenset({MechanismTab.ERRORS, MechanismTab.PROMISES})
_SENTENCES = {
    System.GROUP_SIZES: "A run shows how far released numbers of groups are from the true ones, level by level and size by size, and "
    "counts the sums that break. Start one on the page of runs.",
    System.SUBSPACE: "A run shows the errors of every answer against its true size, and checks every exact sum to the last bit. Start "
    "one on the page of runs.",
}


class MechanismResultsPage(QWidget):
    """Results of the runs of one of the two systems.

    Signals:
        runs_wanted: the user wants to start a run.
        failed: a `PhexploreError`.
        written: the `Path` of an exported file or folder.
    """

    runs_wanted = Signal()
    failed = Signal(object)
    written = Signal(object)

    def __init__(
        self, desk: RunDesk, system: System, parent: QWidget | None = None, *, service: RequestService | None = None
    ) -> None:
        """Show the runs of a desk.

        Args:
            desk: its runs of the system can be chosen.
            system: group sizes or releases under exact sums.
            parent: owner.
            service: reads the results; one of its own by default.
        """
        super().__init__(parent)
        self._desk, self._system = desk, system
        self._reader = service or RequestService(reader_process(self), self, is_alone=True)
        self._report = ReportProcess(self)
        self._part = ""
        self.answer: MechanismAnswer | None = None
        self._is_stale = False
        self._shown_on: dict[MechanismTab, Path] = {}
        self._stack = QStackedWidget(self)
        self._filled = QWidget(self._stack)
        self.run = Chooser("Run", letters=10)
        self.part = Chooser("Level" if system is System.GROUP_SIZES else "Release", letters=12)
        self.tiles = tuple(Tile(self._filled) for _ in range(4))
        self.tabs = self.charts = ChartTabs(self._makers(), self._filled)
        self._problems = Text(look="attention", wrap=True)
        self.export = self._export_button()
        self.empty = EmptyPlace(
            "results", "No result yet", _SENTENCES[system], action="Start a run", run=self.runs_wanted.emit
        )
        self._lay_out()
        self._reader.answered.connect(self._show_answer)
        self._reader.failed.connect(self._on_unreadable)
        self._report.written.connect(self.written)
        self._report.failed.connect(self.failed)
        self._report.busy_changed.connect(self._show_writing)
        self.run.currentIndexChanged.connect(self._on_run)
        self.part.currentIndexChanged.connect(self._on_part)
        self.tabs.currentChanged.connect(self._on_tab)
        self.tabs.made.connect(self._join_chart)
        desk.changed.connect(self._show_runs)
        desk.progressed.connect(self._on_progress)
        self._show_runs(desk.rows)

    @property
    def directory(self) -> Path | None:
        """The run shown."""
        found = self.run.currentData()
        return found if isinstance(found, Path) else None

    @property
    def tab(self) -> MechanismTab:
        """The picture shown."""
        found: MechanismTab = self.tabs.tab
        return found

    def show_run(self, directory: Path) -> None:
        """Show the results of a run."""
        place = next((n for n in range(self.run.count()) if self.run.itemData(n) == directory), -1)
        if place >= 0:
            self.run.setCurrentIndex(place)
            self._ask()

    def show_tab(self, tab: MechanismTab) -> None:
        """Show a picture."""
        self.tabs.show_tab(tab)

    def export_to(self, form: ReportFormat, path: Path) -> None:
        """Write the report or the figures of the run shown."""
        if self.directory is not None:
            self._report.write(self.directory, form, path)

    def stop(self) -> None:
        """End reading and writing because the window closes."""
        self._reader.stop()
        self._report.shut_down()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale or self.answer is None:
            self._ask()

    def sizeHint(self) -> QSize:
        return QSize(900, 700)

    # Building

    def _makers(self) -> dict[MechanismTab, Make]:
        def rows(name: str) -> Make:
            return lambda place: FigureView(name, _TEACHING, place)

        found: dict[MechanismTab, Make] = {
            MechanismTab.ERRORS: rows("Errors of the run"),
            MechanismTab.SHAPE: lambda place: FigureView("Distribution of errors", _TEACHING, place),
            MechanismTab.TRUTH: lambda place: FigureView("Errors against true size", _TEACHING, place),
            MechanismTab.SIZES: rows("Errors by group size"),
            MechanismTab.PROMISES: rows("Promises"),
        }
        if self._system is System.GROUP_SIZES:
            found[MechanismTab.TRUTH] = rows("Errors against true size")
        tabs = SIZE_TABS if self._system is System.GROUP_SIZES else RELEASE_TABS
        return {tab: found[tab] for tab in tabs}

    def _export_button(self) -> QToolButton:
        button = QToolButton()
        button.setText("Export…")
        button.setAccessibleName("Export the run")
        button.setProperty("look", "bordered")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        for form in FORMATS:
            title = "Figures, CSV…" if form.id == "csv" else form.title
            menu.addAction(title).setData(form)
        menu.triggered.connect(self._on_export)
        button.setMenu(menu)
        return button

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(field_label("&Run", self.run))
        head.addWidget(self.run, 2)
        word = "Le&vel" if self._system is System.GROUP_SIZES else "Re&lease"
        head.addWidget(field_label(word, self.part))
        head.addWidget(self.part, 1)
        head.addWidget(self.export)
        tiles = QHBoxLayout()
        tiles.setSpacing(GRID)
        for tile in self.tiles:
            tiles.addWidget(tile, 1)
        column = QVBoxLayout(self._filled)
        column.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        column.setSpacing(GRID)
        column.addLayout(head)
        column.addLayout(tiles)
        column.addWidget(self._problems)
        column.addWidget(self.tabs, 1)
        self._problems.hide()
        self._stack.addWidget(self._filled)
        self._stack.addWidget(self.empty)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, HALF, 0, 0)
        whole.addWidget(self._stack)

    def _join_chart(self, _tab: MechanismTab, chart: ChartFrame) -> None:
        chart.failed.connect(self.failed)

    # What is asked

    def _ask(self) -> None:
        """Read what the choosers say, now if the page can be seen, else when it is."""
        self._is_stale = not self.isVisible()
        directory = self.directory
        if directory is None or self._is_stale:
            return
        self.part.setEnabled(self.tab not in _WITHOUT_PART)
        if self._shown_on.get(self.tab) != directory:
            self.charts[self.tab].show_empty(READING)
        self._reader.request(MechanismRequest(directory, self.tab, self._part))

    def _on_run(self, _index: int) -> None:
        self.answer = None
        self._ask()

    def _on_part(self, _index: int) -> None:
        self._part = self.part.currentData() or ""
        self._ask()

    def _on_tab(self, _index: int) -> None:
        self._ask()

    def _on_progress(self, directory: Path) -> None:
        if directory == self.directory:
            self._ask()

    # What is shown

    def _show_runs(self, rows: tuple[RunRow, ...]) -> None:
        own = [row for row in rows if row.spec is not None and system_of(row.spec.scenario) is self._system]
        self._stack.setCurrentIndex(0 if own else 1)
        chosen = self.directory
        blocked = self.run.blockSignals(True)
        entries = [(run_words(row), row.directory) for row in own]
        if [(self.run.itemText(n), self.run.itemData(n)) for n in range(self.run.count())] != entries:
            self.run.clear()
            for words, directory in entries:
                self.run.addItem(words, directory)
            self.run.select(chosen)
            if own and self.run.currentIndex() < 0:
                self.run.setCurrentIndex(0)
        self.run.blockSignals(blocked)
        if own and self.directory != chosen:
            self.answer = None
            self._ask()

    def _show_answer(self, answer: MechanismAnswer) -> None:
        request = answer.request
        if request.directory != self.directory:
            return
        self.answer = answer
        blocked = self.part.blockSignals(True)
        if [self.part.itemData(n) for n in range(self.part.count())] != list(answer.parts):
            self.part.clear()
            for part in answer.parts:
                self.part.addItem(part, part)
        self.part.select(request.part)
        self.part.blockSignals(blocked)
        for tile, content in zip(self.tiles, answer.tiles, strict=True):
            show_tile(tile, content)
        self._problems.setText(" ".join(answer.problems))
        self._problems.setVisible(bool(answer.problems))
        if request.tab is None or request.tab is not self.tab:
            return
        chart = self.charts[request.tab]
        self._shown_on[request.tab] = request.directory
        if answer.content is None:
            chart.show_empty(WAITING)
        else:
            chart.show_figure(answer.content)

    def _on_unreadable(self, error: PhexploreError) -> None:
        self.charts[self.tab].show_empty(f"{error.sentence} {error.remedy}")
        self.failed.emit(error)

    def _show_writing(self, writing: bool) -> None:
        self.export.setText("Writing…" if writing else "Export…")
        self.export.setEnabled(not writing)

    def _on_export(self, action: QAction) -> None:
        form: ReportFormat = action.data()
        is_folder = form.id == "png"
        suffix = form.suffix or f".{form.id}"
        dialog = QFileDialog(self, form.title, "figures" if is_folder else f"report{suffix}")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        if not is_folder:
            dialog.setDefaultSuffix(suffix[1:])
        dialog.fileSelected.connect(lambda name: self.export_to(form, Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
