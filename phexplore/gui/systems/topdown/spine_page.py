"""The page of the spine: its settings, and what they do to areas, units and margins, before any run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QProgressBar, QStackedWidget, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.table import Table
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.request_service import RequestService
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.run_manager.result_reader import BLOCKS, reader_process
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.systems.topdown.spine_editor import SpineKeysEditor
from phexplore.gui.systems.topdown.spine_panel import SpinePictures
from phexplore.gui.systems.topdown.spine_settings_editor import SpineSettingsEditor
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.labels import ElidedText, Paragraph, Text
from phexplore.gui.widgets.layout import column, row, split, stacked
from phexplore.gui.widgets.page import scrolling
from phexplore.model.issues import Issue
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


class _Working(QWidget):
    """What a service is doing, shown when it takes a while, and the button that ends it."""

    def __init__(self, service: RequestService) -> None:
        super().__init__()
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Progress of reading and building")
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(GRID)
        self._doing = Text(look="muted")
        self.cancel = TextButton("Cancel", name="Cancel reading and building")
        row(self._doing, (self.progress, 1), self.cancel, of=self)
        self.hide()
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(_SLOW_MS)
        self._slow.timeout.connect(self.show)
        service.progressed.connect(self._show_progress)
        service.busy_changed.connect(self._show_busy)

    def _show_busy(self, busy: bool) -> None:
        if not busy:
            self._slow.stop()
            self.hide()
        elif not self._slow.isActive() and self.isHidden():
            self._doing.setText("Working")
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

    def __init__(
        self,
        session: TopDownSession,
        data: ProjectData,
        controller: RunController,
        parent: QWidget | None = None,
        *,
        service: RequestService | None = None,
    ) -> None:
        """Show the spine of the active scenario.

        Args:
            session: what is edited.
            data: of the project.
            controller: of the runs whose errors can be drawn.
            parent: owner.
            service: answers; one of its own by default.
        """
        super().__init__(parent)
        self._session, self._data = session, data
        self.path: Path | None = None
        self.answer: SpineAnswer | None = None
        self._stale = True
        self.service = service or RequestService(reader_process(self, wording=BLOCKS), self, is_alone=True)
        self._working = _Working(self.service)
        self.cancel = self._working.cancel
        self._file = ElidedText("no file", look="muted")
        self.browse = TextButton("Choose blocks…", name="Choose the file of blocks")
        self.demonstration = TextButton("Demonstration", name="Use the demonstration's blocks")
        self.demonstration.setToolTip("4,000 blocks that describe no real place, with towns, places and a tribal area.")
        self.finding, self.problem = Paragraph(bold=True, relative=1.15), Paragraph(look="refused")
        self.notes_shown = TextButton("Notes", name="Show what was assumed and what is odd")
        self.notes_shown.setCheckable(True)
        self.notes_shown.hide()
        self.editor, self.keys = SpineSettingsEditor(session), SpineKeysEditor(session)
        self.keys_shown = TextButton("Production's keys", name="Show production's keys of the spine")
        self.keys_shown.setCheckable(True)
        self.pictures = SpinePictures(session, controller)
        self.empty = EmptyPlace("spine", _EMPTY_TITLE, _EMPTY, action="Choose blocks…", run=self._browse)
        self.refused = _RefusedBlocks()
        self._pages = QStackedWidget(self)
        self._lay_out()
        self._connect()
        self._take_data()

    def open(self, path: Path) -> None:
        """Look at the spine over the blocks of a file."""
        self.path, self.answer = path, None
        mark = " (treated as confidential)" if path.suffix != ".spine" and warning_about_blocks(path) else ""
        self._name_file(path, f"{path.name}{mark}")
        self._data.use_blocks(path)
        self._pages.setCurrentWidget(self._scrolled)
        self._ask()

    def _take_data(self) -> None:
        """Look at the blocks and shapes of the project, or at none."""
        shapes = "" if self._data.shapes is None else str(self._data.shapes)
        if shapes != self.pictures.choices.look.shapes:
            self.pictures.choices.use_shapes(Path(shapes) if shapes else None)
        if self._data.blocks is None:
            self._forget()
        elif self._data.blocks != self.path:
            self.open(self._data.blocks)

    def _forget(self) -> None:
        """Show that no blocks are chosen."""
        self.path = self.answer = None
        self._file.setText("no file")
        self.browse.setToolTip("")
        for text in (self.finding, self.problem, self.pictures.reason, self.pictures.notes):
            text.setText("")
        self.notes_shown.hide()
        self._pages.setCurrentWidget(self.empty)

    def stop(self) -> None:
        """End the work because the window closes."""
        self.service.stop()

    # Building

    def _name_file(self, path: Path, words: str) -> None:
        """Say which file is shown; where it lies is in the tool tip of the button that chooses another."""
        self._file.setText(words)
        self.browse.setToolTip(f"Instead of {path}")

    def _lay_out(self) -> None:
        # Pictures keep a height they can be read at; a small window scrolls.
        self._scrolled = scrolling("Pictures of the spine", self.pictures)
        for page in (self._scrolled, self.empty, self.refused):
            self._pages.addWidget(page)
        self._pages.setCurrentWidget(self.empty)
        self.keys.hide()
        panel = stacked(self.editor, (self.keys_shown, Qt.AlignmentFlag.AlignLeft), self.keys, 1)
        settings = scrolling("Settings of the spine", panel)
        settings.setMinimumWidth(_PANEL)
        body = split(settings, self._pages, shares=(0, 1), sizes=(_PANEL, 3 * _PANEL))
        body.setHandleWidth(GRID)
        body.setCollapsible(0, True)
        head = row(Text("Blocks", bold=True), (self._file, 1), self.notes_shown, self.browse, self.demonstration)
        parts = (head, self._working, self.finding, self.problem, (body, 1))
        column(*parts, of=self, gap=HALF + 2, margins=(MARGIN, GRID, MARGIN, GRID))
        self.setAccessibleName("Spine")

    def _connect(self) -> None:
        self.browse.clicked.connect(self._browse)
        self.demonstration.clicked.connect(lambda: self.open(resource(DEMONSTRATION_BLOCKS)))
        self.cancel.clicked.connect(self._cancel)
        self.keys_shown.toggled.connect(self.keys.setVisible)
        self.notes_shown.toggled.connect(self.pictures.notes.setVisible)
        self.pictures.wanted.connect(self._ask)
        self.pictures.choices.changed.connect(self._share_shapes)
        self.pictures.failed.connect(self.failed)
        self.service.answered.connect(self._show_answer)
        self.service.failed.connect(self._show_failure)
        self._session.settled.connect(self._ask)
        self._data.left.connect(self.service.end)
        self._data.changed.connect(self._take_data)

    # What is asked

    def _ask(self, _signal: object = None) -> None:
        """Ask for the picture in front, now if the page can be seen, else when it is."""
        self._stale = not self.isVisible()
        if not self._stale and self.path is not None and self._session.is_active:
            self.service.request(self.pictures.request(self.path))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._ask()

    def _share_shapes(self) -> None:
        if self.pictures.choices.look.shapes:
            self._data.use_shapes(Path(self.pictures.choices.look.shapes))

    def _browse(self) -> None:
        folder = "" if self.path is None else self.path.parent
        kinds = "Blocks (*.csv *.csv.gz *.txt *.gz *.parquet *.spine);;All files (*)"
        ask_to_open(self, "Choose the file of blocks", self.open, kinds=kinds, folder=folder)

    def _cancel(self) -> None:
        self.service.end()
        if self.answer is None:
            self.path = None
            self._file.setText("no file")
            self._pages.setCurrentWidget(self.empty)
        else:
            self.problem.setText("Cancelled: the pictures show the spine as it was before the last change.")

    # What is shown

    def _show_failure(self, error: PhexploreError) -> None:
        self.problem.setText(error.full)

    def _show_answer(self, answer: object) -> None:
        if isinstance(answer, BlocksRefused):
            if answer.path == self.path:
                self._refuse(answer)
            return
        if not isinstance(answer, SpineAnswer) or answer.request.path != self.path:
            return
        self.answer = answer
        self._pages.setCurrentWidget(self._scrolled)
        self.finding.setText(answer.finding)
        self.problem.setText(answer.problem)
        notes = (*answer.remarks, *_warned(answer))
        self.pictures.reason.setText(answer.reason)
        self.pictures.notes.setText("\n".join(notes))
        self.notes_shown.setText(f"Notes ({len(notes)})")
        self.notes_shown.setVisible(bool(notes))
        self.pictures.notes.setVisible(bool(notes) and self.notes_shown.isChecked())
        count = f"{answer.blocks.blocks:,} {plural_level('Block', answer.blocks.blocks)}"
        self._name_file(answer.request.path, f"{answer.request.path.name}: {count}")
        self.editor.offer_classes(answer.blocks.classes)
        self.pictures.show_answer(answer)

    def _refuse(self, answer: BlocksRefused) -> None:
        self.answer = None
        several = "s" if len(answer.issues) != 1 else ""
        self.finding.setText(f"{answer.path.name} cannot be used: {len(answer.issues):,} problem{several}.")
        self.problem.setText("")
        self.refused.show_issues(answer.issues)
        self._pages.setCurrentWidget(self.refused)


class _RefusedBlocks(QWidget):
    """Everything that is wrong with a file of blocks, with its line."""

    def __init__(self) -> None:
        super().__init__()
        self.table = NumbersTable(self)
        self.table.setAccessibleName("Problems of the file of blocks")
        advice = "Nothing of it was read. Correct the lines listed, and choose the file again."
        column(Text(advice, look="muted", wrap=True), self.table, of=self, margins=(GRID, 0, 0, 0))

    def show_issues(self, issues: Sequence[Issue]) -> None:
        """List problems."""
        rows = tuple((each.line or None, each.column or None, each.sentence, each.remedy) for each in issues)
        self.table.set_numbers(Table(("Line", "Column", "What is wrong", "What to do"), rows))


def _warned(answer: SpineAnswer) -> tuple[str, ...]:
    warnings = answer.blocks.warnings
    if not warnings:
        return ()
    first = warnings[0]
    more = f" And {len(warnings) - 1:,} more like it." if len(warnings) > 1 else ""
    return (f"Odd, but read: {first.place}: {first.sentence}{more}",)
