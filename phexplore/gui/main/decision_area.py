"""The area of decisions, joined to the window: its tabs, their work beside the window, and what they report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.files.atomic_files import read_text
from phexplore.files.project_file import read_project
from phexplore.gui.binding.room import Surroundings
from phexplore.gui.decision.status import DecisionTab
from phexplore.gui.main.importing import PROJECT_SUFFIX, read_parameters
from phexplore.gui.main.project_files import ProjectFiles
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.widgets.stack import LazyTabs
from phexplore.model.scenario import Scenario


class DecisionArea:
    """Makes the tabs of a decision and looks after them."""

    def __init__(
        self,
        around: Surroundings,
        controller: RunController,
        files: ProjectFiles,
        tiles: Callable[[], tuple[TileContent, ...]],
    ) -> None:
        """Prepare the area.

        Args:
            around: what the window offers.
            controller: of the project's runs.
            files: saves the project.
            tiles: the figures of the headline.
        """
        self._around, self._controller, self._files, self._tiles = around, controller, files, tiles
        self._session, self._news = around.session, around.news
        self.page = LazyTabs(
            {
                DecisionTab.COMPARE: self._make_compare,
                DecisionTab.COMMITTEE: self._make_committee,
                DecisionTab.MEETING: self._make_meeting,
                DecisionTab.APPROVE: self._make_approve,
                DecisionTab.BUNDLE: self._make_bundle,
            },
            name="Steps of a decision",
        )
        self.page.make_as_shown()

    def stop(self) -> None:
        """Finish or end what was begun, because the window closes."""
        for page in self.page.contents:
            page.stop()

    def start_meeting(self) -> None:
        """Show the parameters under discussion full-screen."""
        self.page[DecisionTab.MEETING].start()

    def compare(self, keys: Sequence[str]) -> None:
        """Lay these over each other."""
        page = self.page.show_tab(DecisionTab.COMPARE)
        page.refresh()
        page.tick(*keys)

    def _make_compare(self, _place: QWidget) -> QWidget:
        from phexplore.gui.decision.compare_page import ComparePage

        page = ComparePage(self._session, self._controller)
        page.failed.connect(self._news.failed)
        return page

    def _make_committee(self, _place: QWidget) -> QWidget:
        from phexplore.gui.decision.committee_page import CommitteePage

        page = CommitteePage(self._session, read_proposal, self._files.folder)
        page.compared.connect(self.compare)
        page.said.connect(self._news.said)
        page.failed.connect(self._news.failed)
        return page

    def _make_meeting(self, _place: QWidget) -> QWidget:
        from phexplore.gui.decision.meeting_page import MeetingPage

        return MeetingPage(self._session, self._tiles, lambda: self._around.room().pictures())

    def _make_approve(self, _place: QWidget) -> QWidget:
        from phexplore.gui.decision.approve_page import ApprovePage

        page = ApprovePage(
            self._session, self._controller, self._files.save, lambda: self._around.room().decision_part()
        )
        page.decided.connect(lambda one: self._news.said.emit(f"{one.scenario}: {one.status.value} by {one.who}."))
        page.bundle_wanted.connect(lambda: self.page.show_tab(DecisionTab.BUNDLE))
        return page

    def _make_bundle(self, _place: QWidget) -> QWidget:
        from phexplore.gui.decision.bundle_page import BundlePage

        page = BundlePage(self._session, self._controller, self._files.folder)
        page.written.connect(self._news.written)
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
