"""The pages of group sizes and of releases under exact sums; everything is loaded when it is first looked at."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.headline import TileContent
from phexplore.gui.binding.mechanism_session import MechanismSession
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.systems import System
from phexplore.gui.main.navigation import Area
from phexplore.gui.main.palette import Offer
from phexplore.gui.main.system_view import SystemView
from phexplore.model.issues import Issue
from phexplore.systems.registry import system_of

if TYPE_CHECKING:
    from phexplore.gui.experiments.page import ExperimentPage
    from phexplore.gui.main.mechanism_pages import MechanismOverview, SubspaceOverview
    from phexplore.gui.systems.group_sizes.editor import GroupSizesPage
    from phexplore.gui.systems.subspace.editor import SubspacePage

_TITLES = {Area.BUDGETS: "Parameters"}


class MechanismJoint(QObject):
    """Makes the pages of one of the two systems and joins them to the window.

    Signals:
        wanted: the `Area` to go to.
        failed: a `PhexploreError` of a chart.
    """

    wanted = Signal(object)
    failed = Signal(object)

    def __init__(self, whole: Session, system: System, experiments_home: Path, parent: QObject) -> None:
        """Join a system.

        Args:
            whole: the session of all systems.
            system: group sizes or releases under exact sums.
            experiments_home: folder of what experiments found.
            parent: owner.
        """
        super().__init__(parent)
        self._home = experiments_home
        self.experiments: ExperimentPage | None = None
        self.session = MechanismSession(whole, system, self)
        self._system = system
        self.sizes_page: GroupSizesPage | None = None
        self.releases_page: SubspacePage | None = None
        self._subspace_overview: SubspaceOverview | None = None

    def view(self) -> SystemView:
        """Return what the window does for scenarios of this system."""
        return SystemView(
            {
                Area.OVERVIEW: self._make_overview,
                Area.BUDGETS: self._make_parameters,
                Area.SCENARIO: self._make_scenario_page,
                Area.EXPERIMENT: self._make_experiments,
            },
            self._tiles,
            self._make_inspector,
            self._go_to_issue,
            self._offers,
            titles=_TITLES,
        )

    def show_place(self, name: str | None) -> None:
        """Go to the parameters, of one level or release if it is named."""
        self.session.select(name)
        self.wanted.emit(Area.BUDGETS)
        if self.sizes_page is not None and name is not None:
            self.sizes_page.levels.reveal(name)

    def stop(self) -> None:
        """End what works beside the window, because it closes."""
        if self._subspace_overview is not None:
            self._subspace_overview.stop()
        if self.experiments is not None:
            self.experiments.shut_down()

    @property
    def _is_sizes(self) -> bool:
        return self._system is System.GROUP_SIZES

    def _make_overview(self) -> QWidget:
        from phexplore.gui.main.mechanism_pages import GroupSizesOverview, SubspaceOverview

        page: MechanismOverview
        if self._is_sizes:
            page = GroupSizesOverview(self.session)
        else:
            page = self._subspace_overview = SubspaceOverview(self.session)
        page.opened.connect(self.show_place)
        page.failed.connect(self.failed)
        return page

    def _make_parameters(self) -> QWidget:
        if self._is_sizes:
            from phexplore.gui.systems.group_sizes.editor import GroupSizesPage

            self.sizes_page = GroupSizesPage(self.session)
            return self.sizes_page
        from phexplore.gui.systems.subspace.editor import SubspacePage

        self.releases_page = SubspacePage(self.session)
        return self.releases_page

    def _make_experiments(self) -> QWidget:
        from phexplore.gui.experiments.page import ExperimentPage

        self.experiments = ExperimentPage(system_of(self.session.scenario).experiments(), self._home)
        self.experiments.failed.connect(self.failed)
        return self.experiments

    def _make_scenario_page(self) -> QWidget:
        from phexplore.gui.main.mechanism_pages import mechanism_scenario_page

        neighbours = (
            "Group sizes are always stated for one individual more or less in a group."
            if self._is_sizes
            else "Releases under exact sums are always stated for bounded neighbours: one record replaced."
        )
        return mechanism_scenario_page(self.session, neighbours)

    def _make_inspector(self) -> QWidget:
        from phexplore.gui.binding.mechanism_inspection import explain_releases, explain_sizes
        from phexplore.gui.editors.mechanism_panels import MechanismInspector

        return MechanismInspector(self.session, explain_sizes if self._is_sizes else explain_releases)

    def _tiles(self) -> tuple[TileContent, ...]:
        from phexplore.gui.binding.mechanism_headline import size_tiles, subspace_tiles

        return size_tiles(self.session.shown) if self._is_sizes else subspace_tiles(self.session.shown)

    def _go_to_issue(self, issue: Issue) -> None:
        from phexplore.gui.binding.mechanism_inspection import level_of

        if issue.path[:1] == ("conventions",):
            self.wanted.emit(Area.SCENARIO)
        else:
            self.show_place(level_of(issue, self.session.scenario))

    def _offers(self) -> list[Offer]:
        method = self.session.scenario.method
        names = getattr(method, "levels", None) or tuple(getattr(method, "releases", ()))
        go: Callable[[str], None] = self.show_place
        return [Offer(f"Go to {name}", "", partial(go, name)) for name in names]
