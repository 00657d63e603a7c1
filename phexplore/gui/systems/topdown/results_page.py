"""The page of TopDown results: figures of a run and the pictures of its errors, growing while trials arrive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.figure import Figure
from phexplore.gui.binding.request_service import RequestService
from phexplore.gui.charts.controls import field_label
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.chart_tabs import ChartTabs
from phexplore.gui.run_manager.result_reader import reader_process
from phexplore.gui.run_manager.run_desk import RunDesk
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.gui.systems.phsafe.results_page import run_words, show_tile
from phexplore.gui.systems.topdown.compare_pictures import compare_rows
from phexplore.gui.systems.topdown.other_runs import OtherRuns
from phexplore.gui.systems.topdown.place_pictures import path_rows, place_rows
from phexplore.gui.systems.topdown.plausible_pictures import partners_of, plausible_rows
from phexplore.gui.systems.topdown.result_pictures import (
    BY_WORDS,
    bias_rows,
    criterion_rows,
    criterion_tile,
    error_rows,
    error_tile,
    histogram,
    map_picture,
    reliable_tile,
    topdown_trials_tile,
    worst_rows,
)
from phexplore.gui.systems.topdown.results import (
    ALL_SIZES,
    BiasContent,
    CompareBy,
    CompareContent,
    CompareFigure,
    CriterionContent,
    ErrorsContent,
    MapContent,
    MapValue,
    PathContent,
    PlaceContent,
    PlausibleContent,
    TopDownAnswer,
    TopDownChoice,
    TopDownContent,
    TopDownHeadline,
    TopDownOffer,
    TopDownRequest,
    TopDownTab,
    WorstContent,
)
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.tile import Tile
from phexplore.model.topdown import TopDown
from phexplore.runs.disclosure import HELD_BACK
from phexplore.systems.topdown.wording import counted, level_title, query_title

EMPTY_TITLE = "No TopDown result yet"
EMPTY_SENTENCE = (
    "A run shows how far published counts are from the true ones: by level, query and size, place by place, and whether "
    "redistricting could use them. Start one on the page of runs."
)
READING = "Reading the results of the run…"
COUNTING = "The run is adding up its data; the first errors appear here with its first trial."
_TEACHING = "Errors appear here with the first trial of a run."
_SHOWN = {
    TopDownTab.ERRORS: ("query", "size"),
    TopDownTab.SHAPE: ("level", "query", "size"),
    TopDownTab.BIAS: ("level", "query"),
    TopDownTab.CRITERION: ("level",),
    TopDownTab.WORST: ("level", "query", "by"),
    TopDownTab.PLACE: ("level", "query", "unit"),
    TopDownTab.PATH: ("level", "query", "unit"),
    TopDownTab.PLAUSIBLE: ("partner",),
    TopDownTab.COMPARE: ("others", "compare", "figure", "level", "query", "size"),
    TopDownTab.MAP: ("level", "value", "shapes"),
}
"""Which choosers each picture has."""
_ERRORS_ALONE = {TopDownTab.ERRORS, TopDownTab.SHAPE, TopDownTab.COMPARE}
"""Pictures that show how large errors are, and nothing about single places or true counts."""
_ROWS: Mapping[type, Callable[[Any, str], Figure]] = MappingProxyType(
    {
        BiasContent: bias_rows,
        CriterionContent: lambda content, _unit: criterion_rows(content),
        WorstContent: worst_rows,
        PlaceContent: place_rows,
        PathContent: path_rows,
        PlausibleContent: lambda content, _unit: plausible_rows(content),
        CompareContent: compare_rows,
    }
)
"""What makes rows of each content, given what is counted."""


class TopDownResultsPage(QWidget):
    """Results of the TopDown runs of a desk.

    Signals:
        runs_wanted: the user wants to start a run.
        failed: a `PhexploreError`.
        shapes_chosen: the `Path` of the file the user chose for the map.
        headline_read: the `TopDownHeadline` of the run shown, whenever it was read.
    """

    runs_wanted = Signal()
    failed = Signal(object)
    headline_read = Signal(object)
    shapes_chosen = Signal(object)

    def __init__(self, desk: RunDesk, parent: QWidget | None = None, *, service: RequestService | None = None) -> None:
        """Show the runs of a desk.

        Args:
            desk: its TopDown runs can be chosen.
            parent: owner.
            service: reads the results; one of its own by default.
        """
        super().__init__(parent)
        self._desk = desk
        self._choice = TopDownChoice()
        self._answer: TopDownAnswer | None = None
        self._reader = service or RequestService(reader_process(self), self, is_alone=True)
        self._stale = False
        self._shown_on: dict[TopDownTab, Path] = {}
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
    def tab(self) -> TopDownTab:
        """The picture shown."""
        found: TopDownTab = self.tabs.tab
        return found

    @property
    def answer(self) -> TopDownAnswer | None:
        """What is shown, None before anything was read."""
        return self._answer

    @property
    def is_reading(self) -> bool:
        """Whether an answer is on the way."""
        return self._reader.is_busy

    @property
    def choice(self) -> TopDownChoice:
        """Which numbers are looked at."""
        return self._choice

    def show_run(self, directory: Path) -> None:
        """Show the results of a run."""
        place = next((n for n in range(self.run.count()) if self.run.itemData(n) == directory), -1)
        if place >= 0:
            self.run.setCurrentIndex(place)
            self._ask()

    def show_tab(self, tab: TopDownTab) -> None:
        """Show a picture."""
        self.tabs.show_tab(tab)

    def choose(self, choice: TopDownChoice) -> None:
        """Look at other numbers."""
        moved = choice.compare is not self._choice.compare
        self._choice = choice
        if moved:
            self._show_choosers()
        self._ask()

    def use_shapes(self, path: Path | None) -> None:
        """Draw the map with the shapes of a file, or with none."""
        shapes = "" if path is None else str(path)
        if shapes != self._choice.shapes:
            self.choose(replace(self._choice, shapes=shapes))

    def stop(self) -> None:
        """End reading because the window closes."""
        self._reader.stop()

    # Building

    def _fit(self, _colours: object = None) -> None:
        self.unit.setFixedWidth(20 * GRID * appearance().scale // 100)  # a block's code has 15 digits

    def _make_widgets(self) -> None:
        self.run = Chooser("Run", letters=10)
        self.level = Chooser("Level")
        self.query = Chooser("Query group", letters=18)
        self.sizes = Chooser("Size of the units")
        self.by = Chooser("Worst in what")
        for by, words in BY_WORDS.items():
            self.by.addItem(words, by)
        self.value = Chooser("What the map colours")
        for value in MapValue:
            self.value.addItem(value.value, value)
        self.unit = QLineEdit()
        self.unit.setAccessibleName("Code of the unit")
        self.unit.setPlaceholderText("code, e.g. 44007")
        appearance().changed.connect(self._fit)
        self._fit()
        self.unit.returnPressed.connect(self._unit_typed)
        self.shapes = TextButton("Shapes…", name="Choose the file of the map's shapes")
        self.shapes.clicked.connect(self._browse)
        self.others = OtherRuns()
        self.others.changed.connect(self._others_chosen)
        self.compare = Chooser("Groups of the comparison")
        for each in CompareBy:
            self.compare.addItem(f"by {each.value}", each)
        self.figure = Chooser("Figure that is compared")
        for figure in CompareFigure:
            self.figure.addItem(figure.value, figure)
        self.partner = Chooser("Run of the other records", letters=24)
        self.partner.setToolTip(
            "Some checks need people and housing units: choose a run of the other records of the same blocks."
        )
        self._choosers: dict[str, QWidget] = {
            "level": self.level,
            "query": self.query,
            "size": self.sizes,
            "by": self.by,
            "value": self.value,
            "unit": self.unit,
            "shapes": self.shapes,
            "others": self.others,
            "compare": self.compare,
            "figure": self.figure,
            "partner": self.partner,
        }
        self._labels = {
            "level": field_label("&Level", self.level),
            "query": field_label("&Query", self.query),
            "size": field_label("Si&ze", self.sizes),
            "by": field_label("B&y", self.by),
            "value": field_label("Sho&w", self.value),
            "unit": field_label("&Place", self.unit),
            "partner": field_label("Toget&her with", self.partner),
        }
        self.tiles = {name: Tile(self._filled) for name in ("criterion", "reliable", "error", "trials")}
        self.tabs = self.charts = ChartTabs(
            {
                TopDownTab.ERRORS: lambda place: FigureView("Errors by level", _TEACHING, place),
                TopDownTab.SHAPE: lambda place: FigureView("Distribution of errors", _TEACHING, place),
                TopDownTab.BIAS: lambda place: FigureView("Bias by true count", _TEACHING, place),
                TopDownTab.CRITERION: lambda place: FigureView("Redistricting criterion", _TEACHING, place),
                TopDownTab.WORST: lambda place: FigureView("Units farthest off", _TEACHING, place),
                TopDownTab.PLACE: lambda place: FigureView("One place", _TEACHING, place),
                TopDownTab.PATH: lambda place: FigureView("Measurements of one place", _TEACHING, place),
                TopDownTab.PLAUSIBLE: lambda place: FigureView("Checks of plausibility", _TEACHING, place),
                TopDownTab.COMPARE: lambda place: FigureView("Runs compared", _TEACHING, place),
                TopDownTab.MAP: lambda place: FigureView("Map of errors", _TEACHING, place),
            },
            self._filled,
        )
        self._problems = Text(look="attention", wrap=True)
        self.empty = EmptyPlace("results", EMPTY_TITLE, EMPTY_SENTENCE, action="Start a run", run=self.runs_wanted.emit)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(field_label("&Run", self.run))
        head.addWidget(self.run, 1)
        tiles = QHBoxLayout()
        tiles.setSpacing(GRID)
        for tile in self.tiles.values():
            tiles.addWidget(tile, 1)
        self._parts = {name: _beside(self._labels.get(name), widget) for name, widget in self._choosers.items()}
        bar = FlowRow(*self._parts.values(), gap=GRID)
        column = QVBoxLayout(self._filled)
        column.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        column.setSpacing(GRID)
        column.addLayout(head)
        column.addLayout(tiles)
        column.addWidget(self._problems)
        column.addWidget(bar)
        column.addWidget(self.tabs, 1)
        self._problems.hide()
        self._stack.addWidget(self._filled)
        self._stack.addWidget(self.empty)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, HALF, 0, 0)
        whole.addWidget(self._stack)
        self._show_choosers()

    def _connect(self) -> None:
        self._reader.answered.connect(self._show_answer)
        self._reader.failed.connect(self._on_unreadable)
        self.run.currentIndexChanged.connect(self._run_chosen)
        self.tabs.currentChanged.connect(self._tab_chosen)
        for chooser in (
            self.level,
            self.query,
            self.sizes,
            self.by,
            self.value,
            self.compare,
            self.figure,
            self.partner,
        ):
            chooser.currentIndexChanged.connect(self._chosen)
        self.tabs.made.connect(self._join_chart)
        self._desk.changed.connect(self._show_runs)
        self._desk.progressed.connect(self._on_progress)

    def _join_chart(self, tab: TopDownTab, chart: ChartFrame) -> None:
        chart.failed.connect(self.failed)
        if isinstance(chart, FigureView) and tab in {TopDownTab.ERRORS, TopDownTab.CRITERION}:
            chart.key_activated.connect(self._look_at_level)
        if isinstance(chart, FigureView) and tab in {TopDownTab.WORST, TopDownTab.MAP}:
            chart.key_activated.connect(self._look_at_unit)
        if isinstance(chart, FigureView) and tab is TopDownTab.PLAUSIBLE:
            chart.key_activated.connect(self._look_at_place)

    def _make_first_picture(self) -> None:
        _ = self.tabs[self.tab]

    # What is asked

    def _ask(self, _index: int = 0) -> None:
        """Read what the choosers say, now if the page can be seen, else when it is."""
        self._stale = not self.isVisible()
        directory = self.directory
        if directory is None or self._stale:
            return
        if self._shown_on.get(self.tab) != directory:
            self.charts[self.tab].show_empty(READING)
        self._reader.request(TopDownRequest(directory, self.tab, self._choice))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale or self._answer is None:
            self._ask()

    def sizeHint(self) -> QSize:
        return QSize(900, 700)

    def _run_chosen(self, _index: int) -> None:
        self._answer = None
        self._ask()

    def _tab_chosen(self, _index: int) -> None:
        self._show_choosers()
        if self.tab is TopDownTab.COMPARE and not self._choice.others:
            self.others.choose_first(self.directory)
            self._choice = replace(self._choice, others=self.others.chosen)
        if self.tab is TopDownTab.PLAUSIBLE and self._choice.partner is None:
            self._choice = replace(self._choice, partner=self._offer_partners())
        self._ask()

    def _chosen(self, _index: int) -> None:
        # The query stays open until the user picks one: every picture has its own best first one.
        self.choose(
            replace(
                self._choice,
                level=self.level.currentData() or "",
                query=self.query.currentData() if self.sender() is self.query else self._choice.query,
                size=self.sizes.currentData() or ALL_SIZES,
                unit="" if self.level.currentData() != self._choice.level else self._choice.unit,
                by=self.by.currentData(),
                value=self.value.currentData(),
                compare=self.compare.currentData(),
                figure=self.figure.currentData(),
                partner=self.partner.currentData(),
            )
        )

    def _others_chosen(self) -> None:
        self.choose(replace(self._choice, others=self.others.chosen))

    def _unit_typed(self) -> None:
        self.choose(replace(self._choice, unit=self.unit.text().strip()))

    def _look_at_level(self, level: str) -> None:
        self._choice = replace(self._choice, level=level, unit="")
        self.show_tab(TopDownTab.SHAPE)
        self._ask()

    def _look_at_unit(self, code: str) -> None:
        self._choice = replace(self._choice, unit=code)
        self.show_tab(TopDownTab.PLACE)
        self._ask()

    def _look_at_place(self, key: str | None) -> None:
        if key is not None:
            level, _slash, code = key.partition("/")
            self._choice = replace(self._choice, level=level, unit=code)
            self.show_tab(TopDownTab.PLACE)
            self._ask()

    def _browse(self) -> None:
        dialog = QFileDialog(self, "Choose the shapes", self._choice.shapes)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["Shapes (*.geojson *.geojson.gz *.json *.json.gz)", "All files (*)"])
        dialog.fileSelected.connect(self._take_shapes)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _take_shapes(self, name: str) -> None:
        self.use_shapes(Path(name))
        self.shapes_chosen.emit(Path(name))

    def _on_progress(self, directory: Path) -> None:
        if directory == self.directory:
            self._ask()

    # What is shown

    def _show_runs(self, rows: tuple[RunRow, ...]) -> None:
        readable = [row for row in rows if row.spec is not None and isinstance(row.spec.scenario.method, TopDown)]
        self._stack.setCurrentIndex(0 if readable else 1)
        chosen = self.directory
        entries = [(run_words(row), row.directory) for row in readable]
        blocked = self.run.blockSignals(True)
        if [self.run.itemData(n) for n in range(self.run.count())] != [directory for _words, directory in entries]:
            self.run.clear()
            for words, directory in entries:
                self.run.addItem(words, directory)
        for place, (words, _directory) in enumerate(entries):
            if self.run.itemText(place) != words:
                self.run.setItemText(place, words)
        with_trials = [row.directory for row in readable if row.trials]
        self.others.offer([(words, directory) for words, directory in entries if directory in with_trials])
        wanted = chosen if chosen in [row.directory for row in readable] else next(iter(with_trials), None)
        self.run.setCurrentIndex(next((n for n in range(self.run.count()) if self.run.itemData(n) == wanted), 0))
        self.run.blockSignals(blocked)
        if self.directory != chosen:
            self._answer = None
            self._ask()

    def _show_answer(self, answer: object) -> None:
        if not isinstance(answer, TopDownAnswer) or answer.asked.directory != self.directory:
            return
        if replace(self._choice, query="") not in {
            replace(choice, query="") for choice in (answer.asked.choice, answer.request.choice)
        }:
            return  # something else was chosen meanwhile; its answer is on the way
        self._answer = answer
        if answer.waiting and self.isVisible():
            self._reader.request(answer.asked)  # the rest of the trials, a slice of time at a time
        self._show_tiles(answer.headline)
        self._problems.setVisible(bool(answer.problems))
        self._problems.setText("\n".join(answer.problems[:3]))
        if answer.offer is not None:
            self._choice = replace(answer.request.choice, query=answer.asked.choice.query)
            self._show_offer(answer.offer, answer.request.choice)
        if answer.request.tab is not None:
            self._shown_on[answer.request.tab] = answer.request.directory
            self._show_content(answer.request.tab, answer.content, answer.headline)
        self.headline_read.emit(answer.headline)

    def _show_tiles(self, run: TopDownHeadline) -> None:
        contents = {
            "criterion": criterion_tile(run),
            "reliable": reliable_tile(run),
            "error": error_tile(run),
            "trials": topdown_trials_tile(run),
        }
        for name, content in contents.items():
            show_tile(self.tiles[name], content)

    def _show_offer(self, offer: TopDownOffer, choice: TopDownChoice) -> None:
        _offer(self.level, [(level_title(level), level) for level in offer.levels], choice.level)
        _offer(self.query, [(query_title(query), query) for query in offer.queries], choice.query)
        sizes = [("all sizes", ALL_SIZES), *((f"{size} people", size) for size in offer.sizes)]
        _offer(self.sizes, sizes, choice.size)
        self.by.select(choice.by)
        self.compare.select(choice.compare)
        self._offer_partners()
        self.others.show_chosen(choice.others)
        self.figure.select(choice.figure)
        self.value.select(choice.value)
        if not self.unit.hasFocus():
            self.unit.setText(choice.unit)
        name = Path(choice.shapes).name if choice.shapes else "Shapes…"
        self.shapes.setText(name)

    def _offer_partners(self) -> Path | None:
        """Offer runs of the other records; return the newest of the same data."""
        shown = None if self.directory is None else self._desk.row(self.directory)
        if shown is None or shown.spec is None:
            return None
        found = partners_of(shown.spec, self._desk.rows)
        entries: list[tuple[str, Path | None]] = [("no other run", None)]
        entries += [(run_words(row), row.directory) for row in found]
        _offer(self.partner, entries, self._choice.partner)
        same = [
            row.directory for row in found if row.spec is not None and row.spec.data.sha256 == shown.spec.data.sha256
        ]
        return next(iter(same), None)

    def _show_choosers(self) -> None:
        wanted = set(_SHOWN[self.tab])
        if self.tab is TopDownTab.COMPARE:
            wanted -= {
                {CompareBy.LEVEL: "level", CompareBy.QUERY: "query", CompareBy.SIZE: "size"}[self._choice.compare]
            }
        for name, part in self._parts.items():
            part.setVisible(name in wanted)

    def _show_content(self, tab: TopDownTab, content: TopDownContent | None, run: TopDownHeadline) -> None:
        chart, unit = self.charts[tab], counted(run.spec.scenario.topdown.schema)
        chart.hold_back(HELD_BACK if run.confidential and tab not in _ERRORS_ALONE else "")
        if content is None:
            chart.show_empty(COUNTING)
        elif isinstance(chart, FigureView):
            self._show_rows(chart, content, unit)

    def _show_rows(self, chart: FigureView, content: TopDownContent, unit: str) -> None:
        if isinstance(content, PlaceContent | PathContent) and not self.unit.hasFocus():
            self.unit.setText(content.code)
        if isinstance(content, ErrorsContent):
            draw = histogram if self.tab is TopDownTab.SHAPE else error_rows
            chart.show_figure(draw(content, self._choice, unit))
        elif isinstance(content, MapContent):
            chart.show_figure(map_picture(content, unit))
        else:
            chart.show_figure(_ROWS[type(content)](content, unit))
        if isinstance(content, ErrorsContent | CriterionContent):
            chart.select_key(self._choice.level)

    def _on_unreadable(self, error: PhexploreError) -> None:
        self.charts[self.tab].show_empty(f"{error.sentence} {error.remedy}")
        self.failed.emit(error)


def _offer(chooser: Chooser, entries: Sequence[tuple[str, object]], chosen: object) -> None:
    """Make a chooser hold these entries and show one, without telling anybody."""
    blocked = chooser.blockSignals(True)
    if [(chooser.itemText(n), chooser.itemData(n)) for n in range(chooser.count())] != list(entries):
        chooser.clear()
        for words, data in entries:
            chooser.addItem(words, data)
    chooser.select(chosen)
    chooser.blockSignals(blocked)


def _beside(label: QWidget | None, widget: QWidget) -> QWidget:
    """Return a widget with its label before it, which a line break keeps together."""
    part = QWidget()
    row = QHBoxLayout(part)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(HALF)
    if label is not None:
        row.addWidget(label)
    row.addWidget(widget)
    return part
