"""The open project as the views of one system see it: the session of the window, silent while another system is active."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from phexplore.document.project import Project
from phexplore.gui.binding.scenario_view import ScenarioView, Update
from phexplore.gui.binding.session import Refusal, Session
from phexplore.model.scenario import Scenario
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of

View = TypeVar("View")


class SystemSession(QObject, Generic[View]):
    """Passes on what happens while the active scenario is of one system; edits go to the session of the window.

    Signals:
        updated: `Update` of views, synchronously after every edit, undo or opening. For cheap listeners: tables, texts.
        settled: the newest view, at most once per frame, and again once its proof is known. For pictures.
        selected: the key under inspection, None for everything.

    Attributes:
        done: the signal of the session of the window.
    """

    updated = Signal(object)
    settled = Signal(object)
    selected = Signal(object)

    def __init__(
        self,
        whole: Session,
        system: System,
        view: Callable[[ScenarioView, View | None], View],
        parent: QObject | None = None,
        *,
        holds: Callable[[View, Any], bool] = lambda _view, _key: True,
    ) -> None:
        """Follow a session.

        Args:
            whole: the session of the window.
            system: whose scenarios are passed on.
            view: what this system's pages see of a version, given what they saw last.
            parent: owner.
            holds: whether a version still has a selected key.
        """
        super().__init__(parent)
        self._whole, self._system, self._view, self._holds = whole, system, view, holds
        self.done = whole.done
        self._version: ScenarioView | None = None
        self._shown: View | None = None
        if self.is_active:
            self._take(whole.shown)
        whole.updated.connect(self._pass_update)
        whole.settled.connect(self._pass_settled)
        whole.proved.connect(self._pass_settled)
        whole.selected.connect(self._pass_selection)

    @property
    def is_active(self) -> bool:
        """Whether the active scenario is of this system."""
        return system_of(self._whole.scenario) is self._system

    @property
    def whole(self) -> Session:
        """The session of the window."""
        return self._whole

    @property
    def project(self) -> Project:
        """The open project."""
        return self._whole.project

    @property
    def shown(self) -> View:
        """What is shown now, or was when the active scenario was of this system last.

        Raises:
            TypeError: no such scenario was shown yet.
        """
        if self._shown is None:
            raise TypeError(f"the project has shown no scenario of {self._system.title} yet")
        return self._shown

    @property
    def scenario(self) -> Scenario:
        """The scenario that is shown.

        Raises:
            TypeError: none was shown yet.
        """
        if self._version is None:
            raise TypeError(f"the project has shown no scenario of {self._system.title} yet")
        return self._version.scenario

    @property
    def selection(self) -> Any:
        """The key under inspection, None for everything."""
        return self._whole.selection if self.is_active else None

    def select(self, key: Hashable) -> None:
        """Inspect a part of the parameters, None for everything. A page of a system that is not active selects nothing."""
        if self.is_active:
            self._whole.select(key)

    def edit(self, label: str, change: Callable[[Scenario], Scenario], *, merge_key: object = None) -> Refusal | None:
        """Edit the active scenario as one named step; return why not, or None. A scenario of another system is not edited."""
        if not self.is_active:
            active = self._whole.scenario
            return Refusal(
                "",
                f"this page edits {self._system.title}, but the active scenario “{active.name}” is for {system_of(active).title}",
                f"Activate a scenario of {self._system.title}, then repeat the edit.",
            )
        return self._whole.edit(label, change, merge_key=merge_key)

    def report(self, refusal: Refusal | None) -> bool:
        """Announce a refusal that has no field of its own; return whether the edit was made."""
        return self._whole.report(refusal)

    def undo(self) -> None:
        """Go one step back."""
        self._whole.undo()

    def _take(self, version: ScenarioView) -> None:
        self._shown, self._version = self._view(version, self._shown), version

    def _pass_update(self, update: Update[ScenarioView]) -> None:
        if not self.is_active:
            return
        # Rows of another system cannot be told apart from ours: start anew, as after another project was opened.
        before = self._shown if update.before is not None and update.before is self._version else None
        self._take(update.after)
        if self._whole.selection is not None and not self._holds(self.shown, self._whole.selection):
            self.select(None)
        self.updated.emit(Update(before, self.shown))

    def _pass_settled(self, _version: ScenarioView) -> None:
        if self.is_active:
            self.settled.emit(self.shown)

    def _pass_selection(self, key: object) -> None:
        if self.is_active:
            self.selected.emit(key)


PlainSession = SystemSession[ScenarioView]
"""Of a system whose pages see the version as it is."""


def plain_session(whole: Session, system: System, parent: QObject | None = None) -> PlainSession:
    """Return the session of a system whose pages see the version as it is."""
    return SystemSession(whole, system, lambda version, _before: version, parent)
