"""The area "Targets": from what a committee wants to parameters, and what every choice costs. A tab per question."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from phexplore.gui.binding.session import Session
from phexplore.gui.targets.frontier_view import FrontierView
from phexplore.gui.targets.project_runs import ProjectRuns
from phexplore.gui.targets.rules_view import RulesView
from phexplore.gui.targets.solve_view import SolveView
from phexplore.systems.registry import system_of

SOLVE, TRADE, RULES = "Solve from targets", "Trade-off", "Decision rules"
"""The questions to all systems, as the tabs are called; the first two are about budgets that are traded query by query."""


class TargetsPage(QWidget):
    """Tabs, each made when it is first looked at.

    Signals:
        failed: a `PhexploreError`.
        noted: a sentence about what was done.
        runs_wanted: the user wants to start a run.
    """

    failed = Signal(object)
    noted = Signal(object)
    runs_wanted = Signal()

    def __init__(
        self,
        session: Session,
        parent: QWidget | None = None,
        *,
        runs: ProjectRuns | None = None,
        own: Mapping[str, Mapping[str, Callable[[], QWidget]]] | None = None,
    ) -> None:
        """Show the questions about a project.

        Args:
            session: the project.
            parent: owner.
            runs: of the project; None shows no runs.
            own: makers of the questions of one system only, by its id and their titles.
        """
        super().__init__(parent)
        self._session = session
        self._own = own or {}
        self._views: dict[str, QWidget] = {}
        self._makers: Mapping[str, Callable[[], QWidget]] = {
            SOLVE: lambda: SolveView(session),
            TRADE: lambda: FrontierView(session),
            RULES: lambda: RulesView(session, runs),
            **{title: make for makers in self._own.values() for title, make in makers.items()},
        }
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName("Questions about targets")
        self.tabs.setDocumentMode(True)
        self.tabs.setUsesScrollButtons(True)
        self._places: dict[str, QWidget] = {}
        for tab in self._makers:
            place = QWidget(self.tabs)
            QVBoxLayout(place).setContentsMargins(0, 0, 0, 0)
            self._places[tab] = place
            self.tabs.addTab(place, tab)
        self.tabs.currentChanged.connect(self._make_current)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tabs)
        session.updated.connect(self._follow_system)
        self._follow_system()
        self._make_current()

    @property
    def tab(self) -> str:
        """The tab in front."""
        return list(self._makers)[self.tabs.currentIndex()]

    @property
    def shown_tabs(self) -> tuple[str, ...]:
        """The tabs of the active scenario's system."""
        return tuple(tab for number, tab in enumerate(self._makers) if self.tabs.isTabVisible(number))

    def show_tab(self, tab: str) -> QWidget:
        """Bring a tab to the front and return its view."""
        self.tabs.setCurrentWidget(self._places[tab])
        return self.view(tab)

    def view(self, tab: str) -> QWidget:
        """Return the view of a tab, made on first use."""
        if tab not in self._views:
            found = self._views[tab] = self._makers[tab]()
            for name, signal in (("failed", self.failed), ("noted", self.noted), ("runs_wanted", self.runs_wanted)):
                if hasattr(found, name):
                    getattr(found, name).connect(signal)
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
        system = system_of(self._session.scenario)
        offered = {RULES, *self._own.get(system.id, ())} | ({SOLVE, TRADE} if system.budgets is not None else set())
        for number, tab in enumerate(self._makers):
            self.tabs.setTabVisible(number, tab in offered)

    def _make_current(self, _number: int = 0) -> None:
        self.view(self.tab)
