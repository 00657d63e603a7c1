"""The area of decisions, joined to the window: its tabs, their work beside the window, and what they report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.files.atomic_files import read_text
from phexplore.files.project_file import read_project
from phexplore.gui.binding.room import Room
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import FOLDER, Settings
from phexplore.gui.decision.decision_page import DecisionPage, DecisionTab
from phexplore.gui.main.importing import PROJECT_SUFFIX, read_parameters
from phexplore.gui.main.project_files import ProjectFiles
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.model.scenario import Scenario

if TYPE_CHECKING:
    from phexplore.gui.decision.approve_page import ApprovePage
    from phexplore.gui.decision.bundle_page import BundlePage
    from phexplore.gui.decision.committee_page import CommitteePage
    from phexplore.gui.decision.compare_page import ComparePage
    from phexplore.gui.decision.meeting_page import MeetingPage


class DecisionArea(QObject):
    """Makes the tabs of a decision and looks after them.

    Signals:
        written: the `Path` of a bundle.
        said: a sentence worth a message.
        failed: a `PhexploreError` of a picture.
    """

    written = Signal(object)
    said = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        session: Session,
        room: Callable[[], Room],
        desk: RunController,
        files: ProjectFiles,
        settings: Settings,
        tiles: Callable[[], tuple[TileContent, ...]],
        parent: QObject,
    ) -> None:
        """Prepare the area.

        Args:
            session: the project.
            room: of the active scenario.
            desk: its runs.
            files: saves it.
            settings: remembers folders.
            tiles: the figures of the headline.
            parent: owner.
        """
        super().__init__(parent)
        self._room, self._tiles = room, tiles
        self._session, self._desk, self._files, self._settings = session, desk, files, settings
        self._approve: ApprovePage | None = None
        self._bundle: BundlePage | None = None
        self._compare: ComparePage | None = None
        self._committee: CommitteePage | None = None
        self._meeting: MeetingPage | None = None
        self.page = DecisionPage(
            {
                DecisionTab.COMPARE: self._make_compare,
                DecisionTab.COMMITTEE: self._make_committee,
                DecisionTab.MEETING: self._make_meeting,
                DecisionTab.APPROVE: self._make_approve,
                DecisionTab.BUNDLE: self._make_bundle,
            }
        )

    def stop(self) -> None:
        """Finish or end what was begun, because the window closes."""
        for page in (self._approve, self._bundle, self._compare, self._committee, self._meeting):
            if page is not None:
                page.stop()

    def _folder(self) -> Path:
        path = self._session.project.path
        return path.parent if path is not None else Path(self._settings.read(FOLDER))

    def _make_compare(self) -> QWidget:
        from phexplore.gui.decision.compare_page import ComparePage

        page = self._compare = ComparePage(self._session, self._desk)
        page.failed.connect(self.failed)
        return page

    def _make_committee(self) -> QWidget:
        from phexplore.gui.decision.committee_page import CommitteePage

        page = self._committee = CommitteePage(self._session, read_proposal, self._folder)
        page.compared.connect(self.compare)
        page.said.connect(self.said)
        page.failed.connect(self.failed)
        return page

    def _make_meeting(self) -> QWidget:
        from phexplore.gui.decision.meeting_page import MeetingPage

        self._meeting = MeetingPage(self._session, self._tiles, lambda: self._room().pictures())
        return self._meeting

    def start_meeting(self) -> None:
        """Fill the screen with today's sliders."""
        self.page.content(DecisionTab.MEETING)
        if self._meeting is not None:
            self._meeting.start()

    def compare(self, keys: Sequence[str]) -> None:
        """Lay these over each other."""
        self.page.show_tab(DecisionTab.COMPARE)
        if self._compare is not None:
            self._compare.refresh()
            self._compare.tick(*keys)

    def _make_approve(self) -> QWidget:
        from phexplore.gui.decision.approve_page import ApprovePage

        page = self._approve = ApprovePage(
            self._session, self._desk, self._files.save, lambda: self._room().decision_part()
        )
        page.decided.connect(lambda one: self.said.emit(f"{one.scenario}: {one.status.value} by {one.who}."))
        page.bundle_wanted.connect(lambda: self.page.show_tab(DecisionTab.BUNDLE))
        return page

    def _make_bundle(self) -> QWidget:
        from phexplore.gui.decision.bundle_page import BundlePage

        page = self._bundle = BundlePage(self._session, self._desk, self._folder)
        page.written.connect(self.written)
        return page


def read_proposal(path: Path, like: Scenario) -> Scenario:
    """Return a member's proposal: the active scenario of a project, or the parameters of a file.

    Raises:
        InputProblemsError: everything that is wrong with it.
        PhexploreError: it cannot be read.
    """
    if path.suffix.lower() == PROJECT_SUFFIX:
        return read_project(read_text(path), name=path.name).workbook.scenario
    return read_parameters(path, like)[0]
