"""The page of the spine: its settings, and what they do to areas, units and margins, before any run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from phexplore.errors import PhexploreError
from phexplore.figures.figure import Figure, nothing
from phexplore.figures.histogram import Counts, paired_histograms
from phexplore.figures.map import map_figure
from phexplore.figures.marks import Patch
from phexplore.figures.table import Table
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.request_service import RequestService
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.figures.frame import ChartFrame
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.result_reader import BLOCKS, reader_process
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, run_words
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.systems.topdown.spine_choices import FITTING, NO_RUN, SpineChoices
from phexplore.gui.systems.topdown.spine_editor import SpineKeysEditor
from phexplore.gui.systems.topdown.spine_pictures import (
    bins_of,
    bypass_rows,
    distribution_numbers,
    map_tip,
    map_words,
    margin_rows,
)
from phexplore.gui.systems.topdown.spine_settings_editor import SpineSettingsEditor
from phexplore.gui.systems.topdown.spine_tree import Unit
from phexplore.gui.systems.topdown.spine_tree_chart import SpineTreeChart
from phexplore.gui.systems.topdown.spine_views import (
    BlocksRefused,
    BypassContent,
    DistributionContent,
    Impossible,
    MarginsContent,
    SpineAnswer,
    SpineMap,
    SpineProgress,
    SpineRequest,
    SpineTab,
    TreeContent,
)
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.labels import ElidedText, Paragraph, Text
from phexplore.gui.widgets.lazy_tabs import LazyTabs
from phexplore.model.issues import Issue
from phexplore.model.topdown import TopDown
from phexplore.resources import resource
from phexplore.runs.confidentiality import warning_about_blocks
from phexplore.runs.spec import DEMONSTRATION_BLOCKS, RunMode
from phexplore.spine.settings import settings_of
from phexplore.systems.topdown.wording import level_title, plural_level

_SLOW_MS = 200
"""Work that takes longer is shown."""
_PANEL = 34 * GRID
_EMPTY_TITLE = "No blocks yet"
_EMPTY = (
    "A spine is seen over blocks: choose a file with area codes (a geographic crosswalk, a block file, or microdata). Then the tree "
    "appears here, how far places and towns are from it, and what that means for their accuracy, before any run."
)
_THIS = "this spine"


class SpinePage(QWidget):
    """Settings at the left, pictures at the right; the blocks are held by a process of their own.

    Signals:
        failed: a `PhexploreError` of a chart.
    """

    failed = Signal(object)

    def __init__(
        self,
        session: TopDownSession,
        data: ProjectData,
        desk: RunController,
        parent: QWidget | None = None,
        *,
        service: RequestService | None = None,
    ) -> None:
        """Show the spine of the active scenario.

        Args:
            session: what is edited.
            data: of the project.
            desk: of the runs whose errors can be drawn.
            parent: owner.
            service: answers; one of its own by default.
        """
        super().__init__(parent)
        self._session, self._data, self._desk = session, data, desk
        self._path: Path | None = None
        self._answer: SpineAnswer | None = None
        self._rings: tuple[str, tuple[tuple[Any, ...], ...]] = ("", ())
        self._stale = True
        self.service = service or RequestService(reader_process(self, wording=BLOCKS), self, is_alone=True)
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(_SLOW_MS)
        self._make_widgets()
        self._lay_out()
        self._connect()
        self._show_runs(desk.rows)
        self._take_data()

    @property
    def path(self) -> Path | None:
        """The file of the blocks."""
        return self._path

    @property
    def answer(self) -> SpineAnswer | None:
        """What is shown."""
        return self._answer

    @property
    def tab(self) -> SpineTab:
        """The picture in front."""
        found: SpineTab = self.tabs.tab
        return found

    def open(self, path: Path) -> None:
        """Look at the spine over the blocks of a file."""
        self._path, self._answer = path, None
        mark = " (treated as confidential)" if path.suffix != ".spine" and warning_about_blocks(path) else ""
        self._name_file(path, f"{path.name}{mark}")
        self._data.use_blocks(path)
        self._pages.setCurrentWidget(self._scrolled)
        self._ask()

    def _take_data(self) -> None:
        """Look at the blocks and shapes of the project, or at none."""
        shapes = "" if self._data.shapes is None else str(self._data.shapes)
        if shapes != self.choices.look.shapes:
            self.choices.use_shapes(Path(shapes) if shapes else None)
        if self._data.blocks is None:
            self._forget()
        elif self._data.blocks != self._path:
            self.open(self._data.blocks)

    def _forget(self) -> None:
        """Show that no blocks are chosen."""
        self._path = self._answer = None
        self._file.setText("no file")
        self.browse.setToolTip("")
        for text in (self.finding, self.reason, self.problem, self.notes):
            text.setText("")
        self.notes_shown.hide()
        self._pages.setCurrentWidget(self.empty)

    def open_demonstration(self) -> None:
        """Look at the blocks that come with the program."""
        self.open(resource(DEMONSTRATION_BLOCKS))

    def show_tab(self, tab: SpineTab) -> None:
        """Bring a picture to the front."""
        self.tabs.show_tab(tab)

    def stop(self) -> None:
        """End the work because the window closes."""
        self.service.stop()

    # Building

    def _make_widgets(self) -> None:
        self._file = ElidedText("no file", look="muted")
        self.browse = TextButton("Choose blocks…", name="Choose the file of blocks")
        self.demonstration = TextButton("Demonstration", name="Use the demonstration's blocks")
        self.demonstration.setToolTip("4,000 blocks that describe no real place, with towns, places and a tribal area.")
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Progress of reading and building")
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(GRID)
        self._doing = Text(look="muted")
        self.cancel = TextButton("Cancel", name="Cancel reading and building")
        self._working = QWidget()
        self.finding = Paragraph(bold=True, relative=1.15)
        self.reason = Paragraph(look="muted")
        self.problem = Paragraph(look="refused")
        self.notes = Paragraph(look="muted")
        self.notes_shown = TextButton("Notes", name="Show what was assumed and what is odd")
        self.notes_shown.setCheckable(True)
        self.notes_shown.hide()
        self.notes.hide()
        self.editor = SpineSettingsEditor(self._session)
        self.keys = SpineKeysEditor(self._session)
        self.keys_shown = TextButton("Production's keys", name="Show production's keys of the spine")
        self.keys_shown.setCheckable(True)
        self._pages = QStackedWidget(self)
        self._filled = QWidget(self)
        self.choices = SpineChoices(self._filled)
        self.tabs = LazyTabs(
            {
                SpineTab.TREE: _TreePanel,
                SpineTab.DISTANCE: lambda place: FigureView("Off-spine distance", _teaching(), place),
                SpineTab.MARGINS: lambda place: FigureView("Predicted margins of areas", _teaching(), place),
                SpineTab.LEVELS: lambda place: FigureView("Predicted margins of levels", _teaching(), place),
                SpineTab.FAN_OUT: lambda place: FigureView("Fan-out", _teaching(), place),
                SpineTab.BYPASSED: lambda place: FigureView("Bypassed units", _teaching(), place),
                SpineTab.MAP: lambda place: FigureView("Map of the spine", _teaching(), place),
            },
            self._filled,
        )
        self.tabs.setAccessibleName("Pictures of the spine")
        self.empty = EmptyPlace("spine", _EMPTY_TITLE, _EMPTY, action="Choose blocks…", run=self._browse)
        self.refused = _RefusedBlocks()

    def _name_file(self, path: Path, words: str) -> None:
        """Say which file is shown; where it lies is in the tool tip of the button that chooses another."""
        self._file.setText(words)
        self.browse.setToolTip(f"Instead of {path}")

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(Text("Blocks", bold=True))
        head.addWidget(self._file, 1)
        head.addWidget(self.notes_shown)
        head.addWidget(self.browse)
        head.addWidget(self.demonstration)
        working = QHBoxLayout(self._working)
        working.setContentsMargins(0, 0, 0, 0)
        working.setSpacing(GRID)
        working.addWidget(self._doing)
        working.addWidget(self.progress, 1)
        working.addWidget(self.cancel)
        self._working.hide()
        filled = QVBoxLayout(self._filled)
        filled.setContentsMargins(GRID, 0, 0, 0)
        filled.setSpacing(GRID)
        for text in (self.reason, self.notes):
            filled.addWidget(text)
        filled.addWidget(self.choices)
        filled.addWidget(self.tabs, 1)
        # Pictures keep a height they can be read at; a small window scrolls.
        self._scrolled = QScrollArea()
        self._scrolled.setWidgetResizable(True)
        self._scrolled.setFrameShape(QFrame.Shape.NoFrame)
        self._scrolled.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scrolled.setAccessibleName("Pictures of the spine")
        self._scrolled.setWidget(self._filled)
        for page in (self._scrolled, self.empty, self.refused):
            self._pages.addWidget(page)
        self._pages.setCurrentWidget(self.empty)
        body = self._body = QSplitter(Qt.Orientation.Horizontal)
        body.setChildrenCollapsible(False)
        body.setHandleWidth(GRID)
        body.addWidget(self._settings_panel())
        body.addWidget(self._pages)
        body.setStretchFactor(1, 1)
        body.setCollapsible(0, True)
        body.setSizes([_PANEL, 3 * _PANEL])
        whole = QVBoxLayout(self)
        whole.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        whole.setSpacing(HALF + 2)
        whole.addLayout(head)
        whole.addWidget(self._working)
        for text in (self.finding, self.problem):
            whole.addWidget(text)
        whole.addWidget(body, 1)
        self.setAccessibleName("Spine")

    def _settings_panel(self) -> QScrollArea:
        panel = QWidget()
        left = QVBoxLayout(panel)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(GRID)
        left.addWidget(self.editor)
        left.addWidget(self.keys_shown, 0, Qt.AlignmentFlag.AlignLeft)
        left.addWidget(self.keys)
        left.addStretch(1)
        self.keys.hide()
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setAccessibleName("Settings of the spine")
        scroll.setMinimumWidth(_PANEL)
        scroll.setWidget(panel)
        return scroll

    def _connect(self) -> None:
        self.browse.clicked.connect(self._browse)
        self.demonstration.clicked.connect(self.open_demonstration)
        self.cancel.clicked.connect(self._cancel)
        self.keys_shown.toggled.connect(self.keys.setVisible)
        self.notes_shown.toggled.connect(self.notes.setVisible)
        self.choices.changed.connect(self._choices_changed)
        self.tabs.currentChanged.connect(self._tab_chosen)
        self.tabs.made.connect(self._join_chart)
        self._slow.timeout.connect(self._working.show)
        self.service.answered.connect(self._show_answer)
        self.service.progressed.connect(self._show_progress)
        self.service.failed.connect(self._show_failure)
        self.service.busy_changed.connect(self._show_busy)
        self._session.settled.connect(self._ask)
        self._data.left.connect(self.service.end)
        self._data.changed.connect(self._take_data)
        self._desk.changed.connect(self._show_runs)
        self._desk.progressed.connect(self._on_progress)

    def _join_chart(self, tab: SpineTab, chart: QWidget) -> None:
        frame = chart.chart if isinstance(chart, _TreePanel) else chart
        if isinstance(frame, ChartFrame):
            frame.failed.connect(self.failed)
        if tab is SpineTab.MARGINS and isinstance(chart, FigureView):
            chart.key_activated.connect(self._make_up)
        if tab is SpineTab.MAP and isinstance(chart, FigureView):
            chart.key_selected.connect(self._unit_on_map)

    # What is asked

    def _ask(self, _signal: object = None) -> None:
        """Ask for the picture in front, now if the page can be seen, else when it is."""
        self._stale = not self.isVisible()
        if self._stale or self._path is None or not self._session.is_active:
            return
        shown = self._session.shown
        reference = None
        if shown.reference is not None:
            try:
                reference = (f"spine of {shown.reference.title}", settings_of(shown.reference.scenario.topdown.spine))
            except PhexploreError:
                reference = None
        self.choices.offer_others(reference)
        title, other = self.choices.other_spine()
        look = replace(self.choices.look, run=self._run(), known_shapes=self._rings[0])
        self.service.request(SpineRequest(self._path, shown.method, shown.scenario.conventions, other, title, look))

    def _run(self) -> Path | None:
        """Return the run whose errors are drawn: the chosen one, or the newest of these parameters and blocks."""
        chosen = self.choices.run_choice
        if chosen == NO_RUN:
            return None
        if isinstance(chosen, Path):
            return chosen
        return next((row.directory for row in self._desk.rows if self._fits(row)), None)

    def _fits(self, row: RunRow) -> bool:
        if not row.trials or row.spec is None or row.spec.mode is not RunMode.PRIVATE:
            return False
        return row.spec.scenario.method == self._session.shown.method and row.spec.data.path == str(self._path)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._ask()

    def _choices_changed(self) -> None:
        if self.choices.look.shapes:
            self._data.use_shapes(Path(self.choices.look.shapes))
        self._ask()

    def _tab_chosen(self, _index: int) -> None:
        self.choices.show_tab(self.tab)
        self._ask()

    def _make_up(self, area: object) -> None:
        """Show in the tree which units make up an area of the list."""
        self.choices.make_up(str(area))
        self.show_tab(SpineTab.TREE)

    def _unit_on_map(self, code: object) -> None:
        panel: _TreePanel = self.tabs[SpineTab.TREE]
        tree = panel.chart.tree
        found = tree.find(self.choices.look.level, str(code)) if tree is not None else None
        if found is not None:
            panel.chart.choose(found)

    def _browse(self) -> None:
        folder = str(self._path.parent) if self._path is not None else ""
        dialog = QFileDialog(self, "Choose the file of blocks", folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["Blocks (*.csv *.csv.gz *.txt *.gz *.parquet *.spine)", "All files (*)"])
        dialog.fileSelected.connect(lambda name: self.open(Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _cancel(self) -> None:
        self.service.end()
        if self._answer is None:
            self._path = None
            self._file.setText("no file")
            self._pages.setCurrentWidget(self.empty)
        else:
            self.problem.setText("Cancelled: the pictures show the spine as it was before the last change.")

    # What is shown

    def _show_busy(self, busy: bool) -> None:
        if busy:
            if not self._slow.isActive() and self._working.isHidden():
                self._doing.setText("Working")
                self.progress.setRange(0, 0)
                self._slow.start()
        else:
            self._slow.stop()
            self._working.hide()

    def _show_progress(self, progress: SpineProgress) -> None:
        self._doing.setText(f"{progress.words} (step {progress.step} of {progress.steps})")
        self.progress.setRange(0, progress.steps)
        self.progress.setValue(progress.step - 1)

    def _show_failure(self, error: PhexploreError) -> None:
        self.problem.setText(error.full)

    def _show_runs(self, rows: Sequence[RunRow]) -> None:
        runs = [
            row for row in rows if row.trials and row.spec is not None and isinstance(row.spec.scenario.method, TopDown)
        ]
        self.choices.offer_runs([(run_words(row), row.directory) for row in runs])
        answer = self._answer
        if self.choices.run_choice == FITTING and answer is not None and self._run() != answer.request.look.run:
            self._ask()

    def _on_progress(self, directory: Path) -> None:
        if directory == self._run():
            self._ask()

    def _show_answer(self, answer: object) -> None:
        if isinstance(answer, BlocksRefused):
            if answer.path == self._path:
                self._refuse(answer)
            return
        if not isinstance(answer, SpineAnswer) or answer.request.path != self._path:
            return
        self._answer = answer
        self._pages.setCurrentWidget(self._scrolled)
        self.finding.setText(answer.finding)
        self.reason.setText(answer.reason)
        notes = (*answer.remarks, *_warned(answer))
        self.notes.setText("\n".join(notes))
        self.notes_shown.setText(f"Notes ({len(notes)})")
        self.notes_shown.setVisible(bool(notes))
        self.notes.setVisible(bool(notes) and self.notes_shown.isChecked())
        self.problem.setText(answer.problem)
        found = f"{answer.blocks.blocks:,} {plural_level('Block', answer.blocks.blocks)}"
        self._name_file(answer.request.path, f"{answer.request.path.name}: {found}")
        self.editor.offer_classes(answer.blocks.classes)
        if answer.look.tab is self.tab:
            self.choices.settle(answer)
            self._draw(answer)

    def _refuse(self, answer: BlocksRefused) -> None:
        self._answer = None
        several = "s" if len(answer.issues) != 1 else ""
        self.finding.setText(f"{answer.path.name} cannot be used: {len(answer.issues):,} problem{several}.")
        self.problem.setText("")
        self.refused.show_issues(answer.issues)
        self._pages.setCurrentWidget(self.refused)

    def _draw(self, answer: SpineAnswer) -> None:
        chart, content = self.tabs[answer.look.tab], answer.content
        if isinstance(content, Impossible):
            frame = chart.chart if isinstance(chart, _TreePanel) else chart
            frame.show_empty(content.reason)
        elif isinstance(content, TreeContent):
            chart.chart.show_tree(content)
        elif isinstance(content, DistributionContent):
            chart.show_figure(_histograms(content, answer.request.other_title))
        elif isinstance(content, MarginsContent):
            chart.show_figure(margin_rows(content, _THIS, answer.request.other_title))
        elif isinstance(content, BypassContent):
            chart.show_figure(bypass_rows(content))
        else:
            chart.show_figure(self._map_picture(content))

    def _map_picture(self, content: SpineMap) -> Figure:
        if content.rings is not None:
            self._rings = (content.shapes, content.rings)
        unit, title, summary = map_words(content)
        if content.reason:
            return nothing("map", content.reason)
        pieces = tuple(
            Patch(
                code,
                rings,
                float(value),
                map_tip(content, code, value, blocks, unit),
            )
            for code, rings, value, blocks in zip(
                content.units, self._rings[1], content.values.tolist(), content.blocks.tolist(), strict=True
            )
        )
        if unit:
            header, values = f"{content.colour.value}, {unit}", {piece.key: piece.value for piece in pieces}
        else:
            header, values = "blocks", dict(zip(content.units, content.blocks.tolist(), strict=True))
        values.pop("", None)
        numbers = Table((level_title(content.level), header), tuple(sorted(values.items())))
        return map_figure("map", pieces, unit, (title, summary), numbers)


class _TreePanel(QWidget):
    """The icicle with what is known of the chosen unit below it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.chart = SpineTreeChart("Tree of the spine", _teaching(), self)
        self.sentence = Paragraph()
        self.path = NumbersTable(self)
        self.path.setAccessibleName("Budget along the path from the root over the chosen unit to a block")
        self.path.setMinimumHeight(10 * GRID)
        self.path.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        column.addWidget(self.chart, 3)
        column.addWidget(self.sentence)
        column.addWidget(self.path, 2)
        self.chart.unit_chosen.connect(self._show_unit)

    def _show_unit(self, unit: Unit) -> None:
        tree = self.chart.tree
        if tree is not None:
            self.sentence.setText(tree.sentence(unit))
            self.path.set_numbers(tree.path_numbers(unit))


class _RefusedBlocks(QWidget):
    """Everything that is wrong with a file of blocks, with its line."""

    def __init__(self) -> None:
        super().__init__()
        self.table = NumbersTable(self)
        self.table.setAccessibleName("Problems of the file of blocks")
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, 0, 0, 0)
        column.addWidget(
            Text(
                "Nothing of it was read. Correct the lines listed, and choose the file again.", look="muted", wrap=True
            )
        )
        column.addWidget(self.table)

    def show_issues(self, issues: Sequence[Issue]) -> None:
        """List problems."""
        rows = tuple((each.line or None, each.column or None, each.sentence, each.remedy) for each in issues)
        self.table.set_numbers(Table(("Line", "Column", "What is wrong", "What to do"), rows))


def _histograms(content: DistributionContent, other_title: str) -> Figure:
    edges = bins_of(content.this, content.other)
    return paired_histograms(
        content.what,
        edges,
        _counts(_THIS, content.this, edges),
        None if content.other is None else _counts(other_title, content.other, edges),
        (content.axis, content.what),
        (content.finding, content.reason),
        distribution_numbers(content, edges, _THIS, other_title),
    )


def _counts(title: str, values: NDArray[np.int64], edges: NDArray[np.int64]) -> Counts:
    counts = np.histogram(values, edges)[0].astype(np.int64)
    return Counts(title, counts, float(values.mean()) if len(values) else 0.0)


def _warned(answer: SpineAnswer) -> tuple[str, ...]:
    warnings = answer.blocks.warnings
    if not warnings:
        return ()
    first = warnings[0]
    more = f" And {len(warnings) - 1:,} more like it." if len(warnings) > 1 else ""
    return (f"Odd, but read: {first.place}: {first.sentence}{more}",)


def _teaching() -> str:
    return "The picture appears here once the blocks are read."
