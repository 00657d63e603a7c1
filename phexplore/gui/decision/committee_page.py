"""What every member proposes, where they agree, and a draft in the middle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from phexplore.decide.committee import CommitteeMatrix, committee_matrix, consensus
from phexplore.errors import PhexploreError
from phexplore.gui.binding.scenario_view import ScenarioView, Update
from phexplore.gui.binding.session import Session
from phexplore.gui.decision.matrix import MatrixView, matrix_view
from phexplore.gui.dialogs.messages import show_problems
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.file_tasks import FileTasks
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook, activate, add_scenario
from phexplore.systems.registry import presets

CONSENSUS = "Consensus draft"
_TEACHING = (
    "Import the members' files – projects, config.json, workbooks, .ini chains – or tick scenarios of this project: "
    "the matrix shows who moves what, where they agree, and drafts the middle."
)
FILES = "Proposals (*.phx *.json *.ini *.csv *.xlsx *.zip);;All files (*)"

ReadProposal = Callable[[Path, Scenario], Scenario]
"""Reads a member's file; a table of parameters changes what it names in the given scenario."""


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """What became of the members' files: proposals by file name, problems by file name."""

    proposals: tuple[Scenario, ...]
    problems: tuple[Issue, ...]


def read_files(paths: Sequence[Path], like: Scenario, read: ReadProposal) -> ReadFiles:
    """Read members' files; each proposal is called after its file, and every problem of every file is kept."""
    proposals: list[Scenario] = []
    problems: list[Issue] = []
    for path in paths:
        try:
            proposals.append(replace(read(path, like), name=path.stem.replace("#", "-").strip() or "member"))
        except InputProblemsError as error:
            problems += [replace(each, path=(path.name, *each.path)) for each in error.issues]
        except PhexploreError as error:
            problems.append(Issue((path.name,), error.sentence, error.remedy))
    return ReadFiles(tuple(proposals), tuple(problems))


def with_proposals(workbook: Workbook, proposals: Sequence[Scenario]) -> Workbook:
    """Return the workbook with the members' proposals behind its scenarios; the active one stays active."""
    active = workbook.active
    for proposal in proposals:
        workbook = add_scenario(workbook, proposal)
    return activate(workbook, active)


class CommitteePage(QWidget):
    """Members at the left, matrix and picture at the right.

    Signals:
        compared: keys of the scenarios to lay over each other.
        said: a sentence worth a message.
        failed: a `PhexploreError` of the picture.
    """

    compared = Signal(object)
    said = Signal(object)
    failed = Signal(object)

    def __init__(self, session: Session, read: ReadProposal, folder: Callable[[], Path]) -> None:
        """Make the page.

        Args:
            session: the project.
            read: reads a member's file.
            folder: gives where files are likely to be.
        """
        super().__init__()
        self._session, self._read, self._folder = session, read, folder
        self._matrix: CommitteeMatrix | None = None
        self._listed: object = None
        self._is_touched = False
        self._chores = FileTasks(self)
        self._chores.failed.connect(lambda error: self._say_empty(error.full))
        self._make_widgets()
        self._lay_out()
        self._seen = WhenSeen(self, self.refresh)
        session.updated.connect(self._forget)
        session.settled.connect(self._seen.request)
        self._seen.request()

    @property
    def members(self) -> tuple[Scenario, ...]:
        """The proposals that are ticked."""
        workbook = self._session.project.workbook
        items = (self.list.item(row) for row in range(self.list.count()))
        names = (item.text() for item in items if item.checkState() is Qt.CheckState.Checked)
        return tuple(workbook.find(name) for name in names if name in workbook.names)

    def stop(self) -> None:
        """Finish what was begun, because the window closes."""
        self._chores.stop()

    def import_files(self, paths: Sequence[Path]) -> None:
        """Add the members' files to the project as one step."""
        like, read = self._session.scenario, self._read
        self.add.setEnabled(False)
        self._chores.do(lambda: read_files(paths, like, read), self._take)

    def refresh(self) -> None:
        """Show the proposals as they stand."""
        workbook = self._session.project.workbook
        system = type(workbook.scenario.method)
        own = [each for each in workbook.scenarios if isinstance(each.method, system)]
        ticked = {each.name for each in self.members} if self._is_touched else self._first_ticks(own)
        listed = (tuple(each.name for each in own), frozenset(ticked))
        if listed != self._listed:
            self._listed = listed
            self._fill([each.name for each in own], ticked)
        self._fill_starts(own, system)
        self._show()

    def tick(self, names: Sequence[str]) -> None:
        """Let exactly these scenarios be the members' proposals."""
        self._is_touched = True
        blocked = self.list.blockSignals(True)
        for row in range(self.list.count()):
            item = self.list.item(row)
            item.setCheckState(Qt.CheckState.Checked if item.text() in names else Qt.CheckState.Unchecked)
        self.list.blockSignals(blocked)
        self._show()

    def make_draft(self) -> None:
        """Add a scenario with the middle of every number, and work on it."""
        matrix, members = self._matrix, self.members
        if matrix is None:
            return
        try:
            draft = consensus(matrix, members, CONSENSUS)
        except PhexploreError as error:
            self._say_empty(error.full)
            return
        label = f"Consensus draft of {', '.join(matrix.members)}"
        if self._session.report(self._session.edit_workbook(label, lambda book: add_scenario(book, draft))):
            self.said.emit(
                f"{self._session.scenario.name!r} is being edited now: the middle of {len(members)} proposals."
            )

    def _take(self, found: ReadFiles) -> None:
        self.add.setEnabled(True)
        if found.problems:
            show_problems(self, "Some files cannot be read", found.problems)
        if not found.proposals:
            return
        count = len(found.proposals)
        label = f"Import {count} proposal" + ("" if count == 1 else "s")
        before = set(self._session.project.workbook.names)
        ticked = {each.name for each in self.members}
        if self._session.report(self._session.edit_workbook(label, lambda book: with_proposals(book, found.proposals))):
            self._is_touched = True
            self.refresh()
            self.tick([name for name in self._session.project.workbook.names if name in ticked or name not in before])

    def _forget(self, update: Update[ScenarioView]) -> None:
        """Tick anew when another project was opened: a name there may be another member's."""
        if update.before is None:
            self._is_touched = False

    def _first_ticks(self, own: Sequence[Scenario]) -> set[str]:
        return {each.name for each in own if not each.name.startswith(CONSENSUS)}

    def _show(self) -> None:
        members, start = self.members, self._start()
        self._matrix = None
        self.draft.setEnabled(False)
        self.overlay.setEnabled(len(members) > 1)
        if not members or start is None:
            self._say_empty(_TEACHING)
            return
        try:
            matrix = committee_matrix(members, start)
        except PhexploreError as error:
            self._say_empty(error.full)
            return
        self._matrix = matrix
        self.draft.setEnabled(len(members) > 1 and bool(matrix.rows))
        self._show_view(matrix_view(matrix))

    def _show_view(self, view: MatrixView) -> None:
        self.title.setText(view.title)
        self.sentence.setText(view.sentence if view.numbers.rows else _TEACHING)
        self._place.setVisible(bool(view.numbers.rows))
        self.table.set_numbers(view.numbers)
        self.table.set_looks(lambda row, column: view.looks.get((row, column)))
        self.picture.show_figure(view.picture)

    def _say_empty(self, sentence: str) -> None:
        self.add.setEnabled(True)
        self.title.setText("Committee")
        self.sentence.setText(sentence)
        self._place.setVisible(False)

    def _start(self) -> Scenario | None:
        key = self.start.currentData()
        workbook = self._session.project.workbook
        if not isinstance(key, str):
            return None
        if key in workbook.names:
            return workbook.find(key)
        found = presets().get(key)
        return None if found is None else replace(found.scenario, name=found.title)

    def _make_widgets(self) -> None:
        self.list = QListWidget()
        self.list.setAccessibleName("Members' proposals")
        self.list.setWordWrap(True)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemChanged.connect(self._on_ticked)
        self.start = Chooser("Where all started", tip="What members' values are compared with", letters=12)
        self.start.currentIndexChanged.connect(self._show)
        self.add = TextButton("Import files…", name="Import the members' files", symbol="import")
        self.add.clicked.connect(self._choose)
        self.overlay = TextButton("Compare them", name="Lay the margins of the members over each other")
        self.overlay.clicked.connect(lambda: self.compared.emit([f"scenario:{each.name}" for each in self.members]))
        self.draft = TextButton("Make a consensus draft", look="primary")
        self.draft.clicked.connect(self.make_draft)
        self.title = Text("Committee", relative=1.3, bold=True, wrap=True)
        self.sentence = Paragraph(look="muted")
        self.table = NumbersTable()
        self.table.setAccessibleName("Matrix of parameters and members")
        self.table.horizontalHeader().setStretchLastSection(False)
        self.picture = FigureView("Where members stand", "Every number that a member moved is drawn here.")
        self.picture.failed.connect(self.failed)

    def _lay_out(self) -> None:
        left = QFrame()
        left.setProperty("look", "card")
        column = QVBoxLayout(left)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(Text("Members", bold=True))
        column.addWidget(self.list, 1)
        column.addWidget(self.add)
        column.addWidget(Text("Started from", look="muted"))
        column.addWidget(self.start)
        self._left = left
        self._right = QSplitter(Qt.Orientation.Vertical)
        self._right.setChildrenCollapsible(False)
        self._right.addWidget(self.table)
        self._right.addWidget(self.picture)
        self._place = scrolling("Proposals", self._right)
        self._right.setSizes([230, 260])
        buttons = FlowRow(self.draft, self.overlay, gap=GRID)
        right = QVBoxLayout()
        right.setSpacing(HALF)
        right.addWidget(self.title)
        right.addWidget(self.sentence)
        right.addWidget(buttons)
        right.addWidget(self._place, 1)
        right.addStretch(0)
        row = QHBoxLayout(self)
        row.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        row.setSpacing(2 * GRID)
        row.addWidget(left)
        row.addLayout(right, 1)
        appearance().changed.connect(self._fit)
        self._fit()

    def _fill(self, names: Sequence[str], ticked: set[str]) -> None:
        blocked = self.list.blockSignals(True)
        row = self.list.currentRow()
        self.list.clear()
        for name in names:
            item = QListWidgetItem(name)
            item.setToolTip(name)
            item.setCheckState(Qt.CheckState.Checked if name in ticked else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.list.setCurrentRow(row)
        self.list.blockSignals(blocked)

    def _fill_starts(self, own: Sequence[Scenario], system: type) -> None:
        entries = [(each.title, each.id) for each in presets().values() if isinstance(each.scenario.method, system)]
        entries += [(each.name, each.name) for each in own]
        if [(self.start.itemText(n), self.start.itemData(n)) for n in range(self.start.count())] == entries:
            return
        chosen = self.start.currentData()
        blocked = self.start.blockSignals(True)
        self.start.clear()
        for title, key in entries:
            self.start.addItem(title, key)
        keys = [key for _, key in entries]
        wanted = next((each.baseline for each in own if each.baseline in keys), keys[0] if keys else "")
        self.start.select(chosen if chosen in keys else wanted)
        self.start.blockSignals(blocked)

    def _on_ticked(self, _item: QListWidgetItem) -> None:
        self._is_touched = True
        self._show()

    def _choose(self) -> None:
        dialog = QFileDialog(self, "The members' files", str(self._folder()), FILES)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self.import_files([Path(name) for name in names]))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _fit(self, _colours: object = None) -> None:
        self._left.setFixedWidth(28 * GRID * min(appearance().scale, 140) // 100)
