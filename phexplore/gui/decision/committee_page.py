"""What every member proposes, where they agree, and a draft in the middle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Signal

from phexplore.decide.committee import (
    DRAFT,
    KEPT,
    CommitteeMatrix,
    ReadProposal,
    committee_matrix,
    consensus,
    proposes_nothing,
    read_proposals,
    with_draft,
    with_proposals,
)
from phexplore.decide.matrix_view import MatrixView, matrix_view
from phexplore.errors import PhexploreError
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.tasks import Latest, Tasks
from phexplore.gui.decision.tick_page import TickPage
from phexplore.gui.dialogs.messages import show_problems
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.metrics import GRID, PICTURE_HEIGHT
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.file_dialogs import ask_for_several
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.layout import stacked
from phexplore.gui.widgets.tick_list import TickEntry
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.systems.protocol import UnsupportedError
from phexplore.systems.registry import presets

_TEACHING = (
    "Import the members' files (projects, workbooks or production's files), or tick scenarios of this project: a table shows "
    "who changes what and where they agree, and one click drafts the middle."
)
FILES = "Proposals (*.phx *.json *.ini *.csv *.xlsx *.zip);;All files (*)"

_MATRIX = 24 * GRID
"""Least height of the table of members."""


class CommitteePage(TickPage):
    """Members at the left, matrix and picture at the right.

    Signals:
        compared: keys of the scenarios to lay over each other.
        said: a sentence worth a message.
    """

    compared = Signal(object)
    said = Signal(object)

    def __init__(self, session: Session, read: ReadProposal, folder: Callable[[], Path]) -> None:
        """Make the page.

        Args:
            session: the project.
            read: reads a member's file.
            folder: gives where files are likely to be.
        """
        super().__init__(session, "Committee", "Members' proposals")
        self._read, self._folder = read, folder
        self._from: Path | None = None
        self._matrix: CommitteeMatrix | None = None
        self._tasks = Tasks(self)
        self._tasks.failed.connect(self.refuse)
        self._work = Latest(lambda asked: (asked[0], matrix_view(*asked)), self)
        self._work.finished.connect(self._show)
        self._work.failed.connect(self.refuse)
        tip = "What members' values are compared with"
        self.start = Chooser("Baseline", tip=tip, letters=12, run=self.follow)
        self.add = TextButton("Import files…", name="Import the members' files", symbol="import", run=self._choose)
        name = "Lay the margins of the members over each other"
        self.overlay = TextButton("Compare them", name=name, run=self._compare)
        self.draft = TextButton("Make a consensus draft", look="primary", run=self.make_draft)
        self.table = NumbersTable()
        self.table.setAccessibleName("Matrix of parameters and members")
        self.table.horizontalHeader().setStretchLastSection(False)
        self.table.setMinimumHeight(_MATRIX)
        self.table.row_chosen.connect(self._tell_reasons)
        self.reasons = Paragraph(look="muted")
        self.picture = FigureView("Members' positions", "Every value that a member changed is shown here.")
        self.picture.failed.connect(self.failed)
        self.lay_out(
            (Text("Members", bold=True), self.list, self.add, Text("Baseline", look="muted"), self.start),
            (FlowRow(self.draft, self.overlay, gap=GRID),),
            "Proposals",
            (self.picture, stacked(self.reasons, (self.table, 1))),
            (PICTURE_HEIGHT, _MATRIX),
        )
        self._seen = WhenSeen(self, self.refresh, session.settled)
        self._seen.request()

    @property
    def members(self) -> tuple[Scenario, ...]:
        """The proposals that are ticked."""
        workbook = self._session.project.workbook
        return tuple(workbook.find(str(name)) for name in self.list.keys if name in workbook.names)

    def stop(self) -> None:
        """Finish what was begun, because the window closes."""
        self._tasks.stop()
        self._work.stop()

    def import_files(self, paths: Sequence[Path]) -> None:
        """Add the members' files to the project as one step; nothing of them where one cannot be read: a matrix without a member misleads."""
        like, read = self._session.scenario, self._read
        self._from = paths[0].parent
        self._tasks.do(lambda: read_proposals(paths, like, read), self._take)

    def refresh(self) -> None:
        workbook = self._session.project.workbook
        system = type(workbook.scenario.method)
        own = [each for each in workbook.scenarios if isinstance(each.method, system)]
        starts = [(each.title, each.id) for each in presets().values() if isinstance(each.scenario.method, system)]
        starts += [(each.name, each.name) for each in own]
        keys = {key for _, key in starts}
        self.start.offer(starts, first=next((each.baseline for each in own if each.baseline in keys), None))
        ticked = {each.name for each in self.members} if self._is_touched else self._likely(own)
        self.list.show_entries([TickEntry(each.name, each.name) for each in own], ticked)
        self.follow()

    def make_draft(self) -> None:
        """Add a scenario with the middle of every number, and work on it."""
        matrix, members = self._matrix, self.members
        if matrix is None:
            return
        try:
            draft = consensus(matrix, members)
        except PhexploreError as error:
            self.say_empty(error.full)
            return
        label = f"{DRAFT} of {', '.join(matrix.members)}"
        if self._session.report(self._session.edit_workbook(label, lambda book: with_draft(book, draft))):
            name = self._session.scenario.name
            self.said.emit(f"{name!r} is being edited now: the middle of {len(members)} proposals.")

    def _likely(self, own: Sequence[Scenario]) -> set[str]:
        """Return who proposes something: not the project's first scenario while files were imported and nobody edits it."""
        likely = [each for each in own if not each.name.startswith((DRAFT, KEPT))]
        start = self._start()
        if len(likely) > 1 and start is not None and proposes_nothing(likely[0], start):
            del likely[0]
        return {each.name for each in likely}

    def _take(self, read: tuple[tuple[Scenario, ...], tuple[Issue, ...]]) -> None:
        proposals, problems = read
        if problems:
            show_problems(self, "Some files cannot be used", problems)
            return
        count = len(proposals)
        label = f"Import {count} proposal" + ("" if count == 1 else "s")
        before = set(self._session.project.workbook.names)
        ticked = {each.name for each in self.members}
        if self._session.report(self._session.edit_workbook(label, lambda book: with_proposals(book, proposals))):
            self.refresh()
            if self._is_touched:
                names = self._session.project.workbook.names
                self.tick(*(name for name in names if name in ticked or name not in before))

    def follow(self) -> None:
        members, start = self.members, self._start()
        matrix, reason = None, _TEACHING
        if members and start is not None:
            try:
                matrix = committee_matrix(members, start)
            except UnsupportedError as error:
                reason = (
                    f"{error.sentence} The tab Compare lays these scenarios beside each other, parameter by parameter."
                )
            except PhexploreError as error:
                reason = error.full
        self._matrix = matrix
        self.overlay.setEnabled(len(members) > 1)
        # Once, not off and on again: the button would lose the focus to the table.
        self.draft.setEnabled(matrix is not None and len(members) > 1 and bool(matrix.rows))
        if matrix is None:
            self.say_empty(reason)
        else:
            self._work.request((matrix, members))

    def _show(self, shown: tuple[CommitteeMatrix, MatrixView]) -> None:
        matrix, view = shown
        if matrix is not self._matrix:
            return  # a tick was taken away meanwhile
        has_rows = bool(view.numbers.rows)
        title = view.title if has_rows or len(matrix.members) > 1 else "No proposals yet"
        self.show_finding(title, view.sentence if has_rows else _TEACHING, is_visible=has_rows)
        self.table.set_numbers(view.numbers)
        self.picture.show_figure(view.picture)
        chosen = self.table.currentIndex().row()  # -1 for none
        self._tell_reasons(
            chosen if chosen >= 0 else next((at for at, row in enumerate(view.numbers.rows) if row[-1]), 0)
        )

    def _tell_reasons(self, row: int) -> None:
        """Say whole what the last column cuts: of the row that was moved to, at first of the first that has a reason."""
        rows = self.table.numbers.rows
        if row < len(rows):
            self.reasons.setText(f"{rows[row][0]} – {rows[row][-1] or 'nobody gave a reason'}")

    def _start(self) -> Scenario | None:
        key = self.start.currentData()
        workbook = self._session.project.workbook
        if not isinstance(key, str):
            return None
        if key in workbook.names:
            return workbook.find(key)
        offered = presets().get(key)
        return None if offered is None else replace(offered.scenario, name=offered.title)

    def _compare(self) -> None:
        self.compared.emit([f"scenario:{each.name}" for each in self.members])

    def _choose(self) -> None:
        folder = self._from or self._folder()  # where the files of before lay, also those that were refused
        ask_for_several(self, "The members' files", self.import_files, kinds=FILES, folder=folder)
