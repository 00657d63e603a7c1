"""The page of the spine: its settings, and what they do to areas, units and margins, before any run."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QProgressBar, QStackedWidget, QWidget

from phexplore.figures.table import Table
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.request_service import BLOCKS, RequestService, reader_process
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.systems.topdown.spine_panel import SpinePictures
from phexplore.gui.systems.topdown.spine_settings_editor import SpineKeysEditor, SpineSettingsEditor
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.flow import FlowRow, LargeTextRows
from phexplore.gui.widgets.labels import ElidedText, Paragraph, Text
from phexplore.gui.widgets.layout import column, row, stacked
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.resources import resource
from phexplore.runs.confidentiality import warning_about_blocks
from phexplore.runs.spec import DEMONSTRATION_BLOCKS
from phexplore.systems.topdown.spine_views import BlocksRefused, SpineAnswer, SpineProgress
from phexplore.systems.topdown.wording import plural_level

_SLOW_MS = 200
"""Work that takes longer is shown."""
_PANEL = 34 * GRID
_EMPTY_TITLE = "No blocks yet"
_EMPTY = (
    "A spine is seen over blocks: choose a file with area codes (a geographic crosswalk, a block file, or microdata). Then the tree "
    "appears here, how far places and towns are from it, and what that means for their accuracy, before any run."
)


class _Working(QStackedWidget):
    """What a service is doing, shown when it takes a while instead of something else, and the button that ends it."""

    def __init__(self, service: RequestService, instead: QWidget) -> None:
        super().__init__()
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Progress of reading and building")
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(GRID)
        self._doing = ElidedText(look="muted")
        self.cancel = SymbolButton("close", "Cancel reading and building")
        work = QWidget()
        row((self._doing, 2), (self.progress, 1), self.cancel, of=work)
        self.addWidget(instead)
        self.addWidget(work)
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(_SLOW_MS)
        self._slow.timeout.connect(lambda: self.setCurrentIndex(1))
        service.progressed.connect(self._show_progress)
        service.busy_changed.connect(self._show_busy)

    def _show_busy(self, busy: bool) -> None:
        if not busy:
            self._slow.stop()
            self.setCurrentIndex(0)
        elif not self._slow.isActive() and not self.currentIndex():
            self._doing.setText("Working out the picture")
            self.progress.setRange(0, 0)
            self._slow.start()

    def _show_progress(self, progress: SpineProgress) -> None:
        self._doing.setText(f"{progress.words} (step {progress.step} of {progress.steps})")
        self.progress.setRange(0, progress.steps)
        self.progress.setValue(progress.step - 1)


class SpinePage(QWidget):
    """Settings at the left, pictures at the right; the blocks are held by a process of their own.

    Signals:
        failed: a `PhexploreError` of a chart.
    """

    failed = Signal(object)

    def __init__(self, session: TopDownSession, data: ProjectData, controller: RunController) -> None:
        """Show the spine of the active scenario.

        Args:
            session: what is edited.
            data: of the project.
            controller: of the runs whose errors can be drawn.
        """
        super().__init__()
        self._session, self._data = session, data
        self.path: Path | None = None
        self.answer: SpineAnswer | None = None
        self.service = RequestService(reader_process(self, wording=BLOCKS), self, is_alone=True)
        self.finding, self.problem = Paragraph(bold=True), Paragraph(look="refused")
        self._working = _Working(self.service, stacked(self.finding, self.problem))
        self.cancel = self._working.cancel
        self.cancel.clicked.connect(self._cancel)
        self._file = ElidedText("no file", look="muted")
        self.browse = TextButton("Choose blocks…", name="Choose the file of blocks", run=self._browse)
        tip = "4,000 blocks that describe no real place, with towns, places and a tribal area."
        self.demonstration = TextButton("Demonstration", name="Use the demonstration's blocks", tip=tip)
        self.demonstration.clicked.connect(lambda: self.open(resource(DEMONSTRATION_BLOCKS)))
        self.editor, self.keys = SpineSettingsEditor(session), SpineKeysEditor(session)
        self.pictures = SpinePictures(session, controller)
        self.notes_shown = _switch("Notes", "Show what was assumed and what is odd", self.pictures.notes)
        self.keys_shown = _switch("Production's keys", "Show production's keys of the spine", self.keys)
        self.notes_shown.hide()
        self.empty = EmptyPlace("spine", _EMPTY_TITLE, _EMPTY, action="Choose blocks…", run=self._browse)
        self.refused = NumbersTable()
        self.refused.setAccessibleName("Problems of the file of blocks")
        advice = "Nothing of it was read. Correct the lines listed, and choose the file again."
        self._scrolled = scrolling("Pictures of the spine", self.pictures)
        self._unread = stacked(Text(advice, look="muted", wrap=True), self.refused, margins=(GRID, 0, 0, 0))
        self._pages = QStackedWidget(self)
        for page in (self.empty, self._scrolled, self._unread):
            self._pages.addWidget(page)
        panel = stacked(self.editor, (self.keys_shown, Qt.AlignmentFlag.AlignLeft), self.keys, 1)
        settings = scrolling("Settings of the spine", panel)
        sizes = (_PANEL, 3 * _PANEL)
        body = Beside("Spine", settings, self._pages, shares=(0, 1), sizes=sizes, handle=GRID, is_last_on_top=True)
        body.splitter.setCollapsible(0, True)
        file = row(Text("Blocks", bold=True), (self._file, 1))
        buttons = FlowRow(self.notes_shown, self.browse, self.demonstration, gap=GRID)
        head = LargeTextRows((file, 2), (self._working, 5), buttons)
        column(head, (body, 1), of=self, gap=HALF + 2, margins=(MARGIN, GRID, MARGIN, GRID))
        self.setAccessibleName("Spine")
        self.pictures.chosen.connect(self._share_shapes)
        self.pictures.failed.connect(self.failed)
        self.service.answered.connect(self._show_answer)
        self.service.failed.connect(lambda error: self._tell(error.full))
        self._tell("")
        self._seen = WhenSeen(self, self._ask, self.pictures.wanted, session.settled)
        data.left.connect(self.service.end)
        data.changed.connect(self._take_data)
        self._take_data()

    def open(self, path: Path) -> None:
        """Look at the spine over the blocks of a file."""
        self.path, self.answer = path, None
        mark = " (treated as confidential)" if path.suffix != ".spine" and warning_about_blocks(path) else ""
        self._name_file(path, f"{path.name}{mark}")
        self._data.use_blocks(path)
        self._pages.setCurrentWidget(self._scrolled)
        self._seen.request()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.pictures.fit()

    def stop(self) -> None:
        """End the work because the window closes."""
        self.service.stop()

    def _take_data(self) -> None:
        """Look at the blocks and shapes of the project, or at none."""
        shapes = "" if self._data.shapes is None else str(self._data.shapes)
        if shapes != self.pictures.choices.get("shapes", ""):
            self.pictures.choose("shapes", shapes)
        if self._data.blocks is None:
            self._forget()
        elif self._data.blocks != self.path:
            self.open(self._data.blocks)

    def _share_shapes(self, name: str, value: str) -> None:
        if name == "shapes" and value:
            self._data.use_shapes(Path(value))

    def _forget(self) -> None:
        """Show that no blocks are chosen."""
        self.path = self.answer = None
        self._file.setText("no file")
        self.browse.setToolTip("")
        self._tell("")
        for text in (self.finding, self.pictures.notes):
            text.setText("")
        self.notes_shown.hide()
        self._pages.setCurrentWidget(self.empty)

    def _name_file(self, path: Path, words: str) -> None:
        """Say which file is shown; where it lies is in the tool tip of the button that chooses another."""
        self._file.setText(words)
        self.browse.setToolTip(f"Instead of {path}")

    def _ask(self) -> None:
        """Ask for the picture in front."""
        if self.path is not None and self._session.is_active:
            self.service.request(self.pictures.request(self.path))

    def _browse(self) -> None:
        folder = "" if self.path is None else self.path.parent
        kinds = "Blocks (*.csv *.csv.gz *.txt *.gz *.parquet *.spine);;All files (*)"
        ask_to_open(self, "Choose the file of blocks", self.open, kinds=kinds, folder=folder)

    def _cancel(self) -> None:
        self.service.end()
        if self.answer is None:
            self._forget()
        else:
            is_shown = self.answer.look.tab is self.pictures.tab
            shown = "the pictures show the spine as it was before the last change."
            missing = "this picture is missing. Look at another one and come back, or change a choice, to begin again."
            self._tell(f"Cancelled: {shown if is_shown else missing}")

    def _tell(self, problem: str) -> None:
        """Say what cannot be done in the place of the finding, so that nothing on the page moves; "" for nothing."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.finding.setVisible(not problem)

    def _show_answer(self, answer: SpineAnswer | BlocksRefused) -> None:
        if isinstance(answer, BlocksRefused):
            if answer.path == self.path:
                self._refuse(answer)
            return
        if answer.request.path != self.path:
            return
        self.answer = answer
        self._pages.setCurrentWidget(self._scrolled)
        notes = [*filter(None, [answer.reason]), *answer.notes]
        self.finding.setText(answer.finding)
        self._tell(answer.problem)
        self.pictures.notes.setText("\n".join(notes))
        self.notes_shown.setText(f"Notes ({len(notes)})")
        self.notes_shown.setVisible(bool(notes))
        self.pictures.notes.setVisible(bool(notes) and self.notes_shown.isChecked())
        count = f"{answer.blocks.blocks:,} {plural_level('Block', answer.blocks.blocks)}"
        self._name_file(answer.request.path, f"{answer.request.path.name}: {count}, {answer.blocks.provenance.words}")
        self.editor.offer_classes(answer.blocks.classes)
        self.pictures.show_answer(answer)

    def _refuse(self, answer: BlocksRefused) -> None:
        """List everything that is wrong with a file of blocks, with its line."""
        self.answer = None
        several = "s" if len(answer.issues) != 1 else ""
        self.finding.setText(f"{answer.path.name} cannot be used: {len(answer.issues):,} problem{several}.")
        self._tell("")
        rows = tuple((each.line or None, each.column or None, each.sentence, each.remedy) for each in answer.issues)
        self.refused.set_numbers(Table(("Line", "Column", "What is wrong", "What to do"), rows))
        self._pages.setCurrentWidget(self._unread)


def _switch(text: str, name: str, part: QWidget) -> TextButton:
    """Return a button that shows and hides a part of the page, which is hidden first."""
    button = TextButton(text, name=name)
    button.setCheckable(True)
    button.toggled.connect(part.setVisible)
    part.hide()
    return button
