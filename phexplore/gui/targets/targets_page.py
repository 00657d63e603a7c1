"""The area "Targets": from what a committee wants to parameters, and what every choice costs. A tab per question."""

from __future__ import annotations

import enum
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from phexplore.gui.binding.session import Session
from phexplore.gui.systems.phsafe.published_view import PublishedView
from phexplore.gui.systems.phsafe.truncation_view import StudioView
from phexplore.gui.systems.topdown.tune_view import TuneView
from phexplore.gui.targets.project_runs import ProjectRuns
from phexplore.gui.targets.rules_view import RulesView
from phexplore.gui.targets.solve_view import SolveView
from phexplore.gui.targets.trade_view import TradeView
from phexplore.model.phsafe import PhSafe
from phexplore.model.topdown import TopDown


def scratch_home() -> Path:
    """Return a folder for searches of a project that has none."""
    return Path(tempfile.gettempdir()) / "phexplore-tuning"


class TargetsTab(enum.Enum):
    """The questions. The value is the title."""

    SOLVE = "Solve from targets"
    TRADE = "Trade-off"
    RULES = "Decision rules"
    STUDIO = "Truncation studio"
    PUBLISHED = "Published averages"
    TUNE = "Auto-tune"


_SYSTEMS: Mapping[TargetsTab, type[PhSafe | TopDown]] = {
    TargetsTab.STUDIO: PhSafe,
    TargetsTab.PUBLISHED: PhSafe,
    TargetsTab.TUNE: TopDown,
}
"""Tabs that are about one system only."""


class TargetsPage(QWidget):
    """Tabs, each made when it is first looked at.

    Signals:
        failed: a `PhexploreError`.
        noted: a sentence about what was done.
        runs_wanted: the user wants to start a run.
        doubted: what starts a search on data that may be confidential (callable), and the sentence to answer for first.
    """

    failed = Signal(object)
    noted = Signal(object)
    runs_wanted = Signal()
    doubted = Signal(object, object)

    def __init__(
        self,
        session: Session,
        parent: QWidget | None = None,
        *,
        runs: ProjectRuns | None = None,
        tuning_home: Callable[[], Path] = scratch_home,
    ) -> None:
        """Show the questions about a project.

        Args:
            session: the project.
            parent: owner.
            runs: of the project; None shows no runs.
            tuning_home: gives the folder that automatic searches are stored in.
        """
        super().__init__(parent)
        self._session = session
        self._views: dict[TargetsTab, QWidget] = {}
        self._makers: Mapping[TargetsTab, Callable[[], QWidget]] = {
            TargetsTab.SOLVE: lambda: SolveView(session),
            TargetsTab.TRADE: lambda: TradeView(session),
            TargetsTab.RULES: lambda: RulesView(session, runs),
            TargetsTab.STUDIO: lambda: StudioView(session, runs),
            TargetsTab.PUBLISHED: lambda: PublishedView(session, runs),
            TargetsTab.TUNE: lambda: TuneView(session, tuning_home),
        }
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName("Questions about targets")
        self.tabs.setDocumentMode(True)
        self.tabs.setUsesScrollButtons(True)
        self._places: dict[TargetsTab, QWidget] = {}
        for tab in self._makers:
            place = QWidget(self.tabs)
            QVBoxLayout(place).setContentsMargins(0, 0, 0, 0)
            self._places[tab] = place
            self.tabs.addTab(place, tab.value)
        self.tabs.currentChanged.connect(self._make_current)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tabs)
        session.updated.connect(self._follow_system)
        self._follow_system()
        self._make_current()

    @property
    def tab(self) -> TargetsTab:
        """The tab in front."""
        return list(self._makers)[self.tabs.currentIndex()]

    @property
    def shown_tabs(self) -> tuple[TargetsTab, ...]:
        """The tabs of the active scenario's system."""
        return tuple(tab for number, tab in enumerate(self._makers) if self.tabs.isTabVisible(number))

    def show_tab(self, tab: TargetsTab) -> QWidget:
        """Bring a tab to the front and return its view."""
        self.tabs.setCurrentWidget(self._places[tab])
        return self.view(tab)

    def view(self, tab: TargetsTab) -> QWidget:
        """Return the view of a tab, made on first use."""
        if tab not in self._views:
            found = self._views[tab] = self._makers[tab]()
            for name, signal in (("failed", self.failed), ("noted", self.noted), ("runs_wanted", self.runs_wanted)):
                if hasattr(found, name):
                    getattr(found, name).connect(signal)
            if isinstance(found, TuneView):
                found.doubted.connect(partial(self.doubted.emit, found.start_all_the_same))
            layout = self._places[tab].layout()
            if layout is not None:
                layout.addWidget(found)
        return self._views[tab]

    def stop(self) -> None:
        """End what is being computed, because the window closes."""
        for found in self._views.values():
            if hasattr(found, "stop"):
                found.stop()

    def _follow_system(self, _update: object = None) -> None:
        """Hide the tabs that say nothing about the active scenario's system."""
        method = self._session.scenario.method
        for number, tab in enumerate(self._makers):
            self.tabs.setTabVisible(number, isinstance(method, _SYSTEMS.get(tab, PhSafe | TopDown)))

    def _make_current(self, _number: int = 0) -> None:
        self.view(self.tab)
