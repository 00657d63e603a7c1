"""The page of results of any system: figures above, choosers and pictures below, growing while trials arrive."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from phexplore.catalog.names import chosen_naming
from phexplore.errors import PhexploreError
from phexplore.gui.binding.request_service import RequestService, reader_process
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.report_process import ExportButton
from phexplore.gui.run_manager.result_choosers import ResultChoosers, RunChooser
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, run_words
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import HALF, MARGIN
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.labels import Paragraph, Text, field_label
from phexplore.gui.widgets.layout import column, row, stacked
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.speech import said, say_beside
from phexplore.gui.widgets.stack import LazyTabs
from phexplore.gui.widgets.tile import tile_sentence
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of
from phexplore.systems.result_tabs import ResultTab
from phexplore.systems.run_results import NAMES, Asks, Choice, RunAnswer, RunRequest

READING = "Reading the results of the run…"
MakeChart = Callable[[QWidget], FigureView]


class ResultsPage(QWidget):
    """Results of the runs of one system.

    Signals:
        runs_wanted: the user wants to start a run.
        failed: a `PhexploreError`.
        mended: the `PhexploreError` of a run that could not be read, once another one is shown.
        written: the `Path` of an exported file or folder.
        chosen: id of a choice a person made, and what was chosen.
        read: the `RunAnswer` that is shown, whenever one came.
    """

    runs_wanted = Signal()
    failed = Signal(object)
    mended = Signal(object)
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
        self.reader = service or RequestService(reader_process(self), self, is_alone=True)
        self.choices: dict[str, Choice] = {}
        """What a person chose, by id."""
        self._is_stale = self._is_awaited = False
        self._shown_on: dict[str, Path] = {}
        self.answer: RunAnswer | None = None
        self._unreadable: PhexploreError | None = None
        # From the page inward: a widget that changes its parent has all in it styled anew.
        self._stack = QStackedWidget(self)
        self._filled = QWidget(self._stack)
        self.run = RunChooser()
        self.choosers = ResultChoosers(self._filled)
        self.ribbon = Text(look="attention", wrap=True)
        self.sentence = Paragraph(most=2)
        self.reservation = Paragraph(look="attention", bold=True)
        self.verdicts = Paragraph(bold=True)
        tabs = {tab.id: (charts or {}).get(tab.id, _maker(tab)) for tab in self._results.tabs}
        titles = {tab.id: tab.title for tab in self._results.tabs}
        self.tabs = self.charts = LazyTabs(tabs, self._filled, titles)
        self._problems = Text(look="attention", wrap=True)
        self.export = ExportButton(lambda: self.directory, self._chosen_pictures)
        self.empty = EmptyPlace(
            "results", "No results yet", self._results.teaching, action="Start a run", run=self.runs_wanted.emit
        )
        self._lay_out()
        self._connect()
        self._show_runs(controller.rows)
        # The first picture is there before the page is opened, but not made in the same turn as the page.
        QTimer.singleShot(0, self, lambda: self.tabs[self.tab])

    @property
    def directory(self) -> Path | None:
        """The run shown."""
        return self.run.directory

    @property
    def tab(self) -> str:
        """The picture shown."""
        return str(self.tabs.tab)

    def show_run(self, directory: Path) -> None:
        """Show the results of a run."""
        if directory in self.run.values:
            self.run.setCurrentIndex(self.run.values.index(directory))
            self._ask()

    def choose(self, choices: Mapping[str, Choice], drops: tuple[str, ...] = ()) -> None:
        """Look at other numbers; nothing is announced.

        Args:
            choices: what is looked at, by id.
            drops: choices that are open again.
        """
        changed = {name: value for name, value in self.choices.items() if name not in drops} | dict(choices)
        if changed != self.choices:
            self.choices = changed
            self._ask()

    def stop(self) -> None:
        """End reading and writing because the window closes."""
        self.reader.stop()
        self.export.stop()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale or self.answer is None or self.answer.request.naming is not chosen_naming():
            self._ask()

    def sizeHint(self) -> QSize:
        return QSize(900, 700)

    def _lay_out(self) -> None:
        for hidden in (self.ribbon, self._problems, self.reservation, self.verdicts):
            hidden.hide()
        column(
            row(field_label("&Run", self.run), (self.run, 1), self.export),
            self.ribbon,
            (self.tabs, 1),
            of=self._filled,
            gap=HALF,
            margins=(MARGIN, 0, MARGIN, HALF),
        )
        self._stack.addWidget(scrolling("Results of the run", self._filled))  # at twice the text size
        self._stack.addWidget(self.empty)
        # Below the tabs: what stands above them would move them whenever it takes another line.
        said = (self.reservation, self.verdicts, self.sentence, self._problems)
        self.tabs.keep_under_tabs(stacked(self.choosers, *said, gap=HALF // 2))
        self.tabs.offer_by_depth({tab.id: tab.question for tab in self._results.tabs if tab.question})
        column(self._stack, of=self, margins=(0, HALF, 0, 0))

    def _connect(self) -> None:
        def take(name: str, value: Choice, drops: tuple[str, ...]) -> None:
            self._is_awaited = True
            self.choose({name: value}, drops)
            self.chosen.emit(name, value)

        def join(_tab: str, chart: Any) -> None:
            chart.failed.connect(self.failed)
            chart.key_selected.connect(partial(self._follow, activated=False))
            chart.key_activated.connect(partial(self._follow, activated=True))

        self.reader.answered.connect(self._show_answer)
        self.reader.failed.connect(self._on_unreadable)
        self.export.written.connect(self.written)
        self.export.failed.connect(self.failed)
        self.run.currentIndexChanged.connect(self._ask)
        self.choosers.chosen.connect(take)
        self.tabs.currentChanged.connect(self._ask)
        self.tabs.made.connect(join)
        self._controller.changed.connect(self._show_runs)
        self._controller.progressed.connect(self._on_progress)
        appearance().changed.connect(self._name_again)

    def _name_again(self, _colours: object = None) -> None:
        """Read the results again when things are called otherwise: names are given where runs are read."""
        if self.answer is None or self.answer.request.naming is not chosen_naming():
            self._ask()

    def _chosen_pictures(self) -> Mapping[str, Choice]:
        shown = () if self.answer is None else self.answer.choosers
        chosen = {name: value for name, value in self.choices.items() if name != NAMES}
        return {each.id: each.chosen for each in shown if each.asks is Asks.RUNS and each.chosen} | chosen

    # What is asked

    def _request(self, directory: Path) -> RunRequest:
        others = (row.directory for row in self._rows() if row.trials and row.directory != directory)
        return RunRequest(directory, self.tab, dict(self.choices), tuple(others))

    def _ask(self, _index: int = 0) -> None:
        """Read what the choosers say, now if the page can be seen, else when it is."""
        self._is_stale = not self.isVisible()
        directory = self.directory
        if self.answer is not None and self.answer.request.directory != directory:
            self.answer = None
        if directory is None or self._is_stale:
            return
        if self._shown_on.get(self.tab) != directory:
            self.charts[self.tab].show_empty(READING)
        self.reader.request(self._request(directory))

    def _follow(self, key: Hashable, *, activated: bool) -> None:
        """Look at what a mark stands for, on another picture where that shows more of it."""
        jump = None if self.answer is None else self.answer.jump
        if activated and (jump is None or not jump.tab):
            self.charts[self.tab].menu.show_full_page()
            return
        if jump is None or key is None or (bool(jump.tab) is not activated):
            return
        parts = key if isinstance(key, tuple) else (key,)
        self.choices |= {name: str(part) for name, part in zip(jump.choices, parts, strict=False)}
        if jump.tab and jump.tab != self.tab:
            self.tabs.show_tab(jump.tab)
        else:
            self._ask()

    def _on_progress(self, directory: Path) -> None:
        compared = {each for value in self.choices.values() for each in ((value,) if isinstance(value, str) else value)}
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
        self.run.show_rows(rows)
        if self.directory != chosen:
            self._ask()

    def _show_answer(self, answer: RunAnswer) -> None:
        asked = answer.request
        if asked.directory != self.directory or dict(asked.choices) != self.choices:
            return  # something else was chosen meanwhile; its answer is on the way
        self.answer = answer
        if self._unreadable is not None:
            self.mended.emit(self._unreadable)
            self._unreadable = None
        if answer.waiting and self.isVisible():
            self.reader.request(self._request(asked.directory))  # the rest of the trials, a slice of time at a time
        self.sentence.setText(" · ".join(map(tile_sentence, answer.tiles)))
        self.ribbon.setText(" Compared with: ".join(each.sentence for each in answer.provenance))
        self.ribbon.setVisible(bool(answer.provenance))
        self._problems.setText("\n".join(answer.problems[:3]))
        self._problems.setVisible(bool(answer.problems))
        if asked.tab == self.tab:
            words = {str(row.directory): run_words(row) for row in self._rows()}
            self.choosers.show_offers(answer.choosers, words)
        if asked.tab:
            self._shown_on[asked.tab] = asked.directory
            _show_picture(self.charts[asked.tab], answer)
            if self._is_awaited:
                _say_found(self.choosers, answer)
            self._is_awaited = False
        self.read.emit(answer)

    def _on_unreadable(self, error: PhexploreError) -> None:
        self.sentence.setText("")  # the figures of another run, or of this one before, are not its own
        self.charts[self.tab].show_empty(error.full)
        self._unreadable = error
        self.failed.emit(error)


def _say_found(choosers: QWidget, answer: RunAnswer) -> None:
    """Let a screen reader say what the chooser that was used leads to: e.g. how a town that was typed comes out."""
    used = QApplication.focusWidget()
    if used is not None and choosers.isAncestorOf(used):
        say_beside(used, said(answer.reason if answer.picture is None else answer.picture.title))


def _maker(tab: ResultTab) -> MakeChart:
    def make(place: QWidget) -> FigureView:
        view = FigureView(tab.name, tab.teaching, place)
        view.show_table(visible=tab.is_table)
        return view

    return make


def _show_picture(chart: Any, answer: RunAnswer) -> None:
    chart.hold_back(answer.held_back)
    if answer.picture is None:
        chart.show_empty(answer.reason)
    else:
        chart.show_figure(answer.picture)
        chart.select_key(answer.marked)
