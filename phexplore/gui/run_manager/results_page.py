"""The page of results of any system: figures above, choosers and pictures below, growing while trials arrive."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.tile import TileContent, Tone
from phexplore.gui.binding.request_service import RequestService
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.report_process import FORMATS, ReportFormat, ReportProcess
from phexplore.gui.run_manager.result_choosers import ResultChoosers
from phexplore.gui.run_manager.result_reader import reader_process
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, run_words
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.labels import Text, field_label
from phexplore.gui.widgets.lazy_tabs import LazyTabs
from phexplore.gui.widgets.tile import Tile
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of
from phexplore.systems.run_results import Asks, Choice, ResultTab, RunAnswer, RunRequest

READING = "Reading the results of the run…"
_LOOKS = {Tone.NEUTRAL: "muted", Tone.GOOD: "good", Tone.ATTENTION: "attention", Tone.REFUSED: "refused"}
_TILES = 4


MakeChart = Callable[[QWidget], FigureView]


class ResultsPage(QWidget):
    """Results of the runs of one system.

    Signals:
        runs_wanted: the user wants to start a run.
        failed: a `PhexploreError`.
        written: the `Path` of an exported file or folder.
        chosen: id of a choice a person made, and what was chosen.
        read: the `RunAnswer` that is shown, whenever one came.
    """

    runs_wanted = Signal()
    failed = Signal(object)
    written = Signal(object)
    chosen = Signal(object, object)
    read = Signal(object)

    def __init__(
        self,
        controller: RunController,
        system: System,
        parent: QWidget | None = None,
        *,
        service: RequestService | None = None,
        charts: Mapping[str, MakeChart] | None = None,
    ) -> None:
        """Show the runs of a project.

        Args:
            controller: its runs of the system can be chosen.
            system: whose runs; it states its results.
            parent: owner.
            service: reads the results; one of its own by default.
            charts: makers of pictures that are no `Figure`, by tab.
        """
        super().__init__(parent)
        self._controller, self._system = controller, system
        self._results = system.results
        self._charts = charts or {}
        self._reader = service or RequestService(reader_process(self), self, is_alone=True)
        self._report = ReportProcess(self)
        self._choices: dict[str, Choice] = {}
        self._is_stale = False
        self._shown_on: dict[str, Path] = {}
        self.answer: RunAnswer | None = None
        # From the page inward: a widget that changes its parent has all in it styled anew.
        self._stack = QStackedWidget(self)
        self._filled = QWidget(self._stack)
        self.run = Chooser("Run", letters=10)
        self.choosers = ResultChoosers(self._filled)
        self.tiles = tuple(Tile(self._filled) for _ in range(_TILES))
        tabs = {tab.id: self._maker(tab) for tab in self._results.tabs}
        titles = {tab.id: tab.title for tab in self._results.tabs}
        self.tabs = self.charts = LazyTabs(tabs, self._filled, titles)
        self._problems = Text(look="attention", wrap=True)
        self.export = self._export_button()
        self.empty = EmptyPlace(
            "results", "No results yet", self._results.teaching, action="Start a run", run=self.runs_wanted.emit
        )
        self._lay_out()
        self._connect()
        self._show_runs(controller.rows)
        # The first picture is there before the page is opened, but not made in the same turn as the page.
        QTimer.singleShot(0, self, self._make_first_picture)

    @property
    def directory(self) -> Path | None:
        """The run shown."""
        found = self.run.currentData()
        return found if isinstance(found, Path) else None

    @property
    def tab(self) -> str:
        """The picture shown."""
        return str(self.tabs.tab)

    @property
    def choices(self) -> Mapping[str, Choice]:
        """What a person chose."""
        return self._choices

    @property
    def is_reading(self) -> bool:
        """Whether an answer is on the way."""
        return self._reader.is_busy

    def show_run(self, directory: Path) -> None:
        """Show the results of a run."""
        place = next((n for n in range(self.run.count()) if self.run.itemData(n) == directory), -1)
        if place >= 0:
            self.run.setCurrentIndex(place)
            self._ask()

    def show_tab(self, tab: str) -> None:
        """Show a picture."""
        self.tabs.show_tab(tab)

    def choose(self, choices: Mapping[str, Choice], drops: tuple[str, ...] = ()) -> None:
        """Look at other numbers; nothing is announced.

        Args:
            choices: what is looked at, by id.
            drops: choices that are open again.
        """
        changed = {name: value for name, value in self._choices.items() if name not in drops} | dict(choices)
        if changed != self._choices:
            self._choices = changed
            self._ask()

    def export_to(self, form: ReportFormat, path: Path) -> None:
        """Write the report, the figures or the noisy measurements of the run shown, with its pictures as they are chosen.

        Args:
            form: what is written.
            path: the file or folder.
        """
        if self.directory is not None:
            shown = () if self.answer is None else self.answer.choosers
            runs = {each.id: each.chosen for each in shown if each.asks is Asks.RUNS and each.chosen}
            self._report.write(self.directory, form, path, runs | self._choices)

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

    def _maker(self, tab: ResultTab) -> MakeChart:
        if tab.id in self._charts:
            return self._charts[tab.id]

        def make(place: QWidget) -> FigureView:
            view = FigureView(tab.name, tab.teaching, place)
            view.show_table(visible=tab.is_table)
            return view

        return make

    def _export_button(self) -> QToolButton:
        button = QToolButton()
        button.setText("Export…")
        button.setAccessibleName("Export the run")
        button.setProperty("look", "bordered")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        for form in FORMATS:
            menu.addAction(form.title).setData(form)
        menu.triggered.connect(self._export_chosen)
        button.setMenu(menu)
        return button

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(field_label("&Run", self.run))
        head.addWidget(self.run, 1)
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
        column.addWidget(self.choosers)
        column.addWidget(self.tabs, 1)
        self._problems.hide()
        self._stack.addWidget(self._filled)
        self._stack.addWidget(self.empty)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, HALF, 0, 0)
        whole.addWidget(self._stack)

    def _connect(self) -> None:
        self._reader.answered.connect(self._show_answer)
        self._reader.failed.connect(self._on_unreadable)
        self._report.written.connect(self.written)
        self._report.failed.connect(self.failed)
        self._report.busy_changed.connect(self._show_writing)
        self.run.currentIndexChanged.connect(self._run_chosen)
        self.choosers.chosen.connect(self._on_chosen)
        self.tabs.currentChanged.connect(self._ask)
        self.tabs.made.connect(self._join_chart)
        self._controller.changed.connect(self._show_runs)
        self._controller.progressed.connect(self._on_progress)

    def _join_chart(self, _tab: str, chart: Any) -> None:
        chart.failed.connect(self.failed)
        chart.key_selected.connect(self._on_selected)
        chart.key_activated.connect(self._on_activated)

    def _make_first_picture(self) -> None:
        _ = self.tabs[self.tab]

    # What is asked

    def _request(self, directory: Path) -> RunRequest:
        others = (row.directory for row in self._rows() if row.trials and row.directory != directory)
        return RunRequest(directory, self.tab, dict(self._choices), tuple(others))

    def _ask(self, _index: int = 0) -> None:
        """Read what the choosers say, now if the page can be seen, else when it is."""
        self._is_stale = not self.isVisible()
        directory = self.directory
        if directory is None or self._is_stale:
            return
        if self._shown_on.get(self.tab) != directory:
            self.charts[self.tab].show_empty(READING)
        self._reader.request(self._request(directory))

    def _run_chosen(self, _index: int) -> None:
        self.answer = None
        self._ask()

    def _on_chosen(self, name: str, value: Choice, drops: tuple[str, ...]) -> None:
        self.choose({name: value}, drops)
        self.chosen.emit(name, value)

    def _on_selected(self, key: Hashable) -> None:
        self._follow(key, activated=False)

    def _on_activated(self, key: Hashable) -> None:
        self._follow(key, activated=True)

    def _follow(self, key: Hashable, *, activated: bool) -> None:
        """Look at what a mark stands for, on another picture where that shows more of it."""
        jump = None if self.answer is None else self.answer.jump
        if jump is None or key is None or (bool(jump.tab) is not activated):
            return
        parts = key if isinstance(key, tuple) else (key,)
        self._choices |= {name: str(part) for name, part in zip(jump.choices, parts, strict=False)}
        if jump.tab and jump.tab != self.tab:
            self.show_tab(jump.tab)
        else:
            self._ask()

    def _on_progress(self, directory: Path) -> None:
        compared = {
            each for value in self._choices.values() for each in ((value,) if isinstance(value, str) else value)
        }
        if directory == self.directory or str(directory) in compared:
            self._ask()

    # What is shown

    def _rows(self) -> list[RunRow]:
        rows = self._controller.rows
        return [row for row in rows if row.spec is not None and system_of(row.spec.scenario) is self._system]

    def _show_runs(self, _rows: object) -> None:
        """List the runs; the chosen one stays, else the newest with trials is shown."""
        rows, chosen = self._rows(), self.directory
        self._stack.setCurrentIndex(0 if rows else 1)
        blocked = self.run.blockSignals(True)
        if [self.run.itemData(place) for place in range(self.run.count())] != [row.directory for row in rows]:
            self.run.clear()
            for row in rows:
                self.run.addItem(run_words(row), row.directory)
        for place, row in enumerate(rows):
            if self.run.itemText(place) != (words := run_words(row)):
                self.run.setItemText(place, words)  # in place, so that an open list stays open
        newest = next((row.directory for row in rows if row.trials), rows[0].directory if rows else None)
        self.run.select(chosen if chosen in [row.directory for row in rows] else newest)
        self.run.blockSignals(blocked)
        if self.directory != chosen:
            self._run_chosen(0)

    def _show_answer(self, answer: RunAnswer) -> None:
        asked = answer.request
        if asked.directory != self.directory or dict(asked.choices) != self._choices:
            return  # something else was chosen meanwhile; its answer is on the way
        self.answer = answer
        if answer.waiting and self.isVisible():
            self._reader.request(self._request(asked.directory))  # the rest of the trials, a slice of time at a time
        for tile, content in zip(self.tiles, answer.tiles, strict=True):
            show_tile(tile, content)
        self._problems.setText("\n".join(answer.problems[:3]))
        self._problems.setVisible(bool(answer.problems))
        if asked.tab == self.tab:
            words = {str(row.directory): run_words(row) for row in self._rows()}
            self.choosers.show_offers(answer.choosers, words)
        if asked.tab:
            self._shown_on[asked.tab] = asked.directory
            self._show_picture(self.charts[asked.tab], answer)
        self.read.emit(answer)

    def _show_picture(self, chart: Any, answer: RunAnswer) -> None:
        chart.hold_back(answer.held_back)
        if answer.picture is None:
            chart.show_empty(answer.reason)
        else:
            chart.show_figure(answer.picture)
            chart.select_key(answer.marked)

    def _on_unreadable(self, error: PhexploreError) -> None:
        self.charts[self.tab].show_empty(error.full)
        self.failed.emit(error)

    # Export

    def _export_chosen(self, action: QAction) -> None:
        form, directory = action.data(), self.directory
        if directory is None:
            return
        dialog = QFileDialog(self, form.title.rstrip("…"), str(directory.parent / f"{directory.name}{form.suffix}"))
        if form.is_folder:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        else:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(form.suffix.removeprefix("."))
        dialog.fileSelected.connect(lambda name: self.export_to(form, Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _show_writing(self, writing: bool) -> None:
        self.export.setText("Writing…" if writing else "Export…")
        self.export.setEnabled(not writing)


def show_tile(tile: Tile, content: TileContent) -> None:
    """Show a worded figure in a tile."""
    look = _LOOKS[content.tone]
    tile.show_figure(content.caption, content.value, beside=content.beside, change=content.change, look=look)
