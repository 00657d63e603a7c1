"""The page of results: one run, or two compared; figures above, pictures below, growing while trials arrive."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from phexplore.errors import PhexploreError
from phexplore.gui.binding.request_service import RequestService
from phexplore.gui.binding.tiles import TileContent, Tone
from phexplore.gui.charts.controls import field_label
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.figures.choice import FigureChoice
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.chart_tabs import ChartTabs
from phexplore.gui.run_manager.report_process import FORMATS, ReportFormat, ReportProcess
from phexplore.gui.run_manager.result_reader import reader_process
from phexplore.gui.run_manager.result_tiles import bias_tile, coverage_tile, trials_tile, worst_tile
from phexplore.gui.run_manager.run_desk import RunDesk
from phexplore.gui.run_manager.run_rows import RunRow, started_words, state_words, trials_words
from phexplore.gui.systems.phsafe.number_chooser import NumberChooser
from phexplore.gui.systems.phsafe.result_choices import ResultChoice, ResultRequest, ResultTab
from phexplore.gui.systems.phsafe.result_reader import (
    Content,
    DistributionContent,
    NumberContent,
    ObservedContent,
    ResultAnswer,
    RunHeadline,
    TruncationContent,
    WorstContent,
)
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.tile import Tile
from phexplore.model.keys import QueryKey
from phexplore.model.phsafe import PhSafe
from phexplore.runs.disclosure import HELD_BACK
from phexplore.systems.phsafe.error_figures import boxes_figure, cumulated_figure, errors_figure
from phexplore.systems.phsafe.number_trace import trace_figure
from phexplore.systems.phsafe.observed_figures import diagonal_figure, difference_figure
from phexplore.systems.phsafe.truncation_figures import cells_figure, sizes_figure
from phexplore.systems.phsafe.worst_figure import WorstNumber, worst_figure

EMPTY_TITLE = "No results yet"
EMPTY_SENTENCE = (
    "What a simulated run found appears here while it works: how often the margins held, how the errors are spread, "
    "what truncation costs, single numbers from truth to release, and the worst ones with their reason."
)

READING = "Reading the results of the run…"
NOTHING = "The run has no numbers: none of the scenario's states is in the data."
COUNTING = "The run is still counting its data; the first numbers appear here with its first trial."

_EXACT = {ResultTab.TRUNCATION, ResultTab.NUMBER, ResultTab.WORST}
"""Pictures that show exact counts."""


DISTRIBUTIONS = ("Histogram", "Cumulated share (ECDF)", "Boxes by cell")
OBSERVED = ("Difference by table and level", "Observed against expected")
TRUNCATIONS = ("People left out, by household size", "Bias and noise, by cell")
"""What can be chosen in the pictures that have several kinds."""


def _distribution(place: QWidget) -> FigureView:
    teaching = (
        "The errors of a simulated run appear here, with the exact distribution of the noise drawn over them. "
        "Start a run on the page Runs; the picture grows with every finished trial."
    )
    return FigureChoice("Error distribution", teaching, DISTRIBUTIONS, place)


def _observed(place: QWidget) -> FigureView:
    teaching = (
        "Observed margins of a simulated run appear here beside the expected ones. Start a run on the page Runs; "
        "the intervals shrink with every finished trial."
    )
    return FigureChoice("Observed margins", teaching, OBSERVED, place)


def _truncation(place: QWidget) -> FigureView:
    teaching = "What the truncation thresholds cost appears here once a run has counted its data. Start a run on the page Runs."
    return FigureChoice("Truncation bias", teaching, TRUNCATIONS, place)


def _number(place: QWidget) -> FigureView:
    teaching = (
        "One published number appears here on its way from the true count over truncation to the measured counts. "
        "Choose a run, then table, region, group and cell above."
    )
    return FigureView("One number", teaching, place)


def _worst(place: QWidget) -> FigureView:
    """Return the worst numbers, which open as a table, because names matter most here."""
    teaching = (
        "The published numbers with the largest errors appear here, the worst first, each with its reason. "
        "Start a run on the page Runs."
    )
    found = FigureView("Worst numbers", teaching, place)
    found.show_table(visible=True)
    return found


class ResultsPage(QWidget):
    """Results of the runs of a desk.

    Signals:
        runs_wanted: the user wants to start a run.
        failed: a `PhexploreError`.
        written: the `Path` of an exported file or folder.
        headline_read: the `RunHeadline` of the run shown, whenever it was read.
    """

    runs_wanted = Signal()
    failed = Signal(object)
    written = Signal(object)
    headline_read = Signal(object)

    def __init__(self, desk: RunDesk, parent: QWidget | None = None, *, service: RequestService | None = None) -> None:
        """Show the runs of a desk.

        Args:
            desk: its runs can be chosen.
            parent: owner.
            service: reads the results; one of its own by default.
        """
        super().__init__(parent)
        self._desk = desk
        self._choice = ResultChoice()
        self._answer: ResultAnswer | None = None
        self._reader = service or RequestService(reader_process(self), self, is_alone=True)
        self._report = ReportProcess(self)
        self._stale = False
        self._shown_on: dict[ResultTab, Path] = {}
        # From the page inward: a widget that changes its parent has all in it styled anew.
        self._stack = QStackedWidget(self)
        self._filled = QWidget(self._stack)
        self._make_widgets()
        self._lay_out()
        self._connect()
        self._show_runs(desk.rows)
        # The first picture is there before the page is opened, but not made in the same turn as the page.
        QTimer.singleShot(0, self, self._make_first_picture)

    @property
    def directory(self) -> Path | None:
        """The run shown."""
        found = self.run.currentData()
        return found if isinstance(found, Path) else None

    @property
    def tab(self) -> ResultTab:
        """The picture shown."""
        found: ResultTab = self.tabs.tab
        return found

    @property
    def answer(self) -> ResultAnswer | None:
        """What is shown, None before anything was read."""
        return self._answer

    def show_run(self, directory: Path) -> None:
        """Show the results of a run."""
        place = _place_of(self.run, directory)
        if place >= 0:
            self.run.setCurrentIndex(place)
            self._ask()

    def show_tab(self, tab: ResultTab) -> None:
        """Show a picture."""
        self.tabs.show_tab(tab)

    def select_query(self, query: QueryKey | None) -> None:
        """Look at the table and level chosen elsewhere."""
        if query is not None and query != self._choice.query:
            self._choose(ResultChoice(query, self._choice.region, self._choice.code, None))

    def stop(self) -> None:
        """End reading and writing because the window closes."""
        self._reader.stop()
        self._report.shut_down()

    # Building

    def _make_widgets(self) -> None:
        self.run = Chooser("Run", letters=10)
        self.other = Chooser("Compared with", letters=10)
        self.export = QToolButton()
        self.export.setText("Export…")
        self.export.setAccessibleName("Export the run")
        self.export.setProperty("look", "bordered")
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.export)
        for form in FORMATS:
            menu.addAction(form.title).setData(form)
        menu.triggered.connect(self._export_chosen)
        self.export.setMenu(menu)
        self.tiles = {name: Tile(self._filled) for name in ("coverage", "bias", "worst", "trials")}
        self.chooser = NumberChooser(self._filled)
        self.tabs = ChartTabs(
            {
                ResultTab.DISTRIBUTION: _distribution,
                ResultTab.OBSERVED: _observed,
                ResultTab.TRUNCATION: _truncation,
                ResultTab.NUMBER: _number,
                ResultTab.WORST: _worst,
            },
            self._filled,
        )
        self.charts = self.tabs
        self._problems = Text(look="attention", wrap=True)
        self.empty = EmptyPlace("results", EMPTY_TITLE, EMPTY_SENTENCE, action="Start a run", run=self.runs_wanted.emit)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID)
        for words, chooser in (("&Run", self.run), ("Compared &with", self.other)):
            head.addWidget(field_label(words, chooser))
            head.addWidget(chooser, 3 if chooser is self.run else 2)
        head.addWidget(self.export)
        tiles = QHBoxLayout()
        tiles.setSpacing(GRID)
        for tile in self.tiles.values():
            tiles.addWidget(tile, 1)
        column = QVBoxLayout(self._filled)
        column.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        column.setSpacing(GRID)
        column.addLayout(head)
        column.addLayout(tiles)
        column.addWidget(self._problems)
        column.addWidget(self.chooser)
        column.addWidget(self.tabs, 1)
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
        self.other.currentIndexChanged.connect(self._ask)
        self.tabs.currentChanged.connect(self._tab_chosen)
        self.chooser.chosen.connect(self._choose)
        self.tabs.made.connect(self._join_chart)
        self._desk.changed.connect(self._show_runs)
        self._desk.progressed.connect(self._on_progress)

    def _join_chart(self, tab: ResultTab, chart: ChartFrame) -> None:
        chart.failed.connect(self.failed)
        if tab is ResultTab.OBSERVED and isinstance(chart, FigureView):
            chart.key_selected.connect(self.select_query)
        if tab is ResultTab.WORST and isinstance(chart, FigureView):
            chart.key_activated.connect(self._look_into)

    def _make_first_picture(self) -> None:
        _ = self.tabs[self.tab]

    # What is asked

    def _request(self) -> ResultRequest | None:
        directory = self.directory
        if directory is None:
            return None
        other = self.other.currentData()
        return ResultRequest(directory, other if other != directory else None, self.tab, self._choice)

    def _ask(self, _index: int = 0) -> None:
        """Read what the choosers say, now if the page can be seen, else when it is."""
        self._stale = not self.isVisible()
        request = self._request()
        if request is None or self._stale:
            return
        if self._shown_on.get(self.tab) != request.directory:
            self.charts[self.tab].show_empty(READING)
        self._reader.request(request)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale or self._answer is None:
            self._ask()

    def sizeHint(self) -> QSize:
        return QSize(900, 700)

    def _run_chosen(self, _index: int) -> None:
        self._answer = None
        self._show_others()
        self._ask()

    def _tab_chosen(self, _index: int) -> None:
        self.chooser.show_for(self.tab)
        self._ask()

    def _choose(self, choice: ResultChoice) -> None:
        self._choice = choice
        self._ask()

    def _look_into(self, number: WorstNumber) -> None:
        region, code, cell = number.key
        self._choice = ResultChoice(number.query, region, code, cell)
        self.show_tab(ResultTab.NUMBER)

    def _on_progress(self, directory: Path) -> None:
        if directory in {self.directory, self.other.currentData()}:
            self._ask()

    # What is shown

    def _show_runs(self, rows: tuple[RunRow, ...]) -> None:
        readable = [row for row in rows if _is_phsafe(row)]
        self._stack.setCurrentIndex(0 if readable else 1)
        chosen = self.directory
        self._fill_runs(readable)
        if self.directory != chosen:
            self._answer = None
            self._show_others()
            self._ask()
        else:
            self._show_others()

    def _fill_runs(self, rows: list[RunRow]) -> None:
        """List the runs; the chosen one stays, else the newest with trials is."""
        chosen = self.directory
        blocked = self.run.blockSignals(True)
        _fill(self.run, [(run_words(row), row.directory) for row in rows])
        if _place_of(self.run, chosen) < 0:
            with_trials = [row.directory for row in rows if row.trials]
            chosen = next(iter(with_trials), rows[0].directory if rows else None)
        self.run.setCurrentIndex(_place_of(self.run, chosen))
        self.run.blockSignals(blocked)

    def _show_others(self) -> None:
        others = [row for row in self._desk.rows if _is_phsafe(row) and row.directory != self.directory]
        chosen = self.other.currentData()
        blocked = self.other.blockSignals(True)
        _fill(self.other, [("no other run", None), *((run_words(row), row.directory) for row in others)])
        self.other.setCurrentIndex(max(0, _place_of(self.other, chosen)))
        self.other.blockSignals(blocked)

    def _show_answer(self, answer: ResultAnswer) -> None:
        if answer.asked.directory != self.directory:
            return
        if self._choice not in {answer.asked.choice, answer.request.choice}:
            return  # something else was chosen meanwhile; its answer is on the way
        self._answer = answer
        self._show_tiles(answer.headline, answer.compared)
        self._problems.setVisible(bool(answer.problems))
        self._problems.setText("\n".join(f"{issue.sentence} {issue.remedy}" for issue in answer.problems[:3]))
        if answer.choices is not None:
            self._choice = answer.request.choice
            self.chooser.show_choice(answer.choices, answer.request.choice)
        if answer.request.tab is not None:
            self._shown_on[answer.request.tab] = answer.request.directory
            self._hold_back(answer)
            self._show_content(answer.request.tab, answer.content, counted=answer.headline.bias is not None)
        self.headline_read.emit(answer.headline)

    def _hold_back(self, answer: ResultAnswer) -> None:
        """Let exact counts of records without a mark be looked at only."""
        tab, runs = answer.request.tab, (answer.headline, answer.compared)
        if tab in _EXACT:
            unmarked = any(run is not None and not run.spec.data.synthetic for run in runs)
            self.charts[tab].hold_back(HELD_BACK if unmarked else "")

    def _show_tiles(self, run: RunHeadline, other: RunHeadline | None) -> None:
        contents = {
            "coverage": coverage_tile(run, other),
            "bias": bias_tile(run, other),
            "worst": worst_tile(run, other),
            "trials": trials_tile(run),
        }
        for name, content in contents.items():
            show_tile(self.tiles[name], content)

    def _show_content(self, tab: ResultTab, content: Content | None, *, counted: bool) -> None:
        match content:
            case DistributionContent(errors, boxes) if errors is not None:
                makers = (
                    partial(errors_figure, errors),
                    partial(cumulated_figure, errors),
                    partial(boxes_figure, errors, boxes),
                )
                self.charts[tab].show_figures(dict(zip(DISTRIBUTIONS, makers, strict=True)))
            case ObservedContent(margins, confidence, trials):
                given = (margins, confidence, trials)
                observed = (partial(difference_figure, *given), partial(diagonal_figure, *given))
                self.charts[tab].show_figures(dict(zip(OBSERVED, observed, strict=True)))
            case TruncationContent(query, sizes, cells):
                cells_maker = partial(sizes_figure, None) if sizes is None else partial(cells_figure, query, cells)
                self.charts[tab].show_figures(
                    dict(zip(TRUNCATIONS, (partial(sizes_figure, sizes), cells_maker), strict=True))
                )
            case NumberContent(trace, reason):
                self.charts[tab].show_figure(trace_figure(trace, reason))
            case WorstContent(numbers, trials):
                self.charts[tab].show_figure(worst_figure(numbers, trials))
            case _ if content is not None:
                self.charts[tab].show_empty()
            case None:
                self.charts[tab].show_empty(NOTHING if counted else COUNTING)

    def _on_unreadable(self, error: PhexploreError) -> None:
        self.charts[self.tab].show_empty(f"{error.sentence} {error.remedy}")
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

    def export_to(self, form: ReportFormat, path: Path) -> None:
        """Write the report, the figures or the noisy measurements of the run shown."""
        if self.directory is not None:
            self._report.write(self.directory, form, path)

    def _show_writing(self, writing: bool) -> None:
        self.export.setText("Writing…" if writing else "Export…")
        self.export.setEnabled(not writing)


def _place_of(chooser: Chooser, value: object) -> int:
    """Return the entry with an equal value, -1 for none; Qt compares Python objects by identity."""
    return next((place for place in range(chooser.count()) if chooser.itemData(place) == value), -1)


def _is_phsafe(row: RunRow) -> bool:
    return row.spec is not None and isinstance(row.spec.scenario.method, PhSafe)


def run_words(row: RunRow) -> str:
    """Return one line for a run: scenario, when, trials, state."""
    parts = (row.title, started_words(row.directory), f"{trials_words(row)} trials", state_words(row))
    return " · ".join(part for part in parts if part)


def show_tile(tile: Tile, content: TileContent) -> None:
    """Show a worded figure in a tile."""
    look = {Tone.NEUTRAL: "muted", Tone.GOOD: "good", Tone.ATTENTION: "attention", Tone.REFUSED: "refused"}
    tile.show_figure(
        content.caption, content.value, beside=content.beside, change=content.change, look=look[content.tone]
    )


def _fill(chooser: Chooser, entries: list[tuple[str, Path | None]]) -> None:
    """Make a chooser hold these entries; words that changed are changed in place, so that an open list stays open."""
    if [chooser.itemData(place) for place in range(chooser.count())] != [data for _, data in entries]:
        chooser.clear()
        for words, data in entries:
            chooser.addItem(words, data)
        return
    for place, (words, _) in enumerate(entries):
        if chooser.itemText(place) != words:
            chooser.setItemText(place, words)
