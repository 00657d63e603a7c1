"""The area "Targets": from what a committee wants to parameters, and what every choice costs. A tab per question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.session import Session
from phexplore.gui.targets.frontier_view import FrontierView
from phexplore.gui.targets.project_runs import ProjectRuns
from phexplore.gui.targets.rules_view import RulesView
from phexplore.gui.targets.solve_view import SolveView
from phexplore.gui.targets.vary_view import VaryView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.widgets.stack import LazyTabs
from phexplore.systems.registry import system_of

SOLVE, TRADE, RULES, VARY = "Solve from targets", "Trade-off", "Decision rules", "Vary"
"""The questions to all systems, as the tabs are called; the first two are about budgets that are traded query by query."""
_NAME = "Questions about targets"


class TargetsPage(LazyTabs):
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
        sweeps: Callable[[], Path] = Path.cwd,
        data: ProjectData | None = None,
    ) -> None:
        """Show the questions about a project.

        Args:
            session: the project.
            parent: owner.
            runs: of the project; None shows no runs.
            own: makers of the questions of one system only, by its id and their titles.
            sweeps: gives the folder of the runs of sweeps.
            data: of the project.
        """
        makers: dict[str, Callable[[], QWidget]] = {
            SOLVE: lambda: SolveView(session),
            TRADE: lambda: FrontierView(session),
            RULES: lambda: RulesView(session, runs),
            VARY: lambda: VaryView(session, sweeps, data=data),
        }
        for questions in (own or {}).values():
            makers |= questions
        titles = {title: title for title in makers}
        super().__init__({title: partial(_made, makers[title]) for title in makers}, parent, titles, name=_NAME)
        self._session, self._own = session, own or {}
        self.made.connect(self._join)
        session.updated.connect(self._follow_system)
        appearance().changed.connect(self._follow_system)
        self._follow_system()
        self.make_as_shown()

    def stop(self) -> None:
        """End what is being computed, because the window closes."""
        for view in self.contents:
            if hasattr(view, "stop"):
                view.stop()

    def _join(self, _tab: str, view: QWidget) -> None:
        for name, signal in (("failed", self.failed), ("noted", self.noted), ("runs_wanted", self.runs_wanted)):
            if hasattr(view, name):
                getattr(view, name).connect(signal)

    def _follow_system(self, _update: object = None) -> None:
        """Hide the tabs that say nothing about the active scenario's system."""
        system = system_of(self._session.scenario)
        budgets = {SOLVE, TRADE} if system.budgets is not None else set()
        offered = {RULES, VARY, *self._own.get(system.id, ()), *budgets}
        if not appearance().is_expert:
            has_rules = bool(self._session.shown.workbook.rules) or not budgets
            offered = (offered & {SOLVE}) | ({RULES} if has_rules else set())
        self.offer(offered)


def _made(make: Callable[[], QWidget], _place: QWidget) -> QWidget:
    return make()
