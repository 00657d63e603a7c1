"""The open project as the views of group sizes and of subspace releases see it: silent while another system is active."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from phexplore.gui.binding.session import Refusal, Session
from phexplore.gui.binding.shown import Shown, Update
from phexplore.gui.binding.systems import System, system_of
from phexplore.model.scenario import Scenario


class MechanismSession(QObject):
    """Passes on what happens while the active scenario is of one system.

    Signals:
        updated: the `Shown`, synchronously after every edit, undo or opening. For cheap listeners: fields, texts.
        settled: the newest `Shown`, at most once per frame. For pictures.
        selected: the name of the level or release under inspection, None for everything.
    """

    updated = Signal(object)
    settled = Signal(object)
    selected = Signal(object)

    def __init__(self, whole: Session, system: System, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._whole, self._system = whole, system
        self._last: Shown | None = whole.shown if self.is_active else None
        self._selection: str | None = None
        whole.updated.connect(self._pass_update)
        whole.settled.connect(self._pass_settled)

    @property
    def is_active(self) -> bool:
        """Whether the active scenario is of this system."""
        return system_of(self._whole.shown.scenario) is self._system

    @property
    def whole(self) -> Session:
        """The session of all systems."""
        return self._whole

    @property
    def shown(self) -> Shown:
        """What is shown now, or was when the active scenario was of this system last.

        Raises:
            TypeError: no such scenario was shown yet.
        """
        if self._last is None:
            raise TypeError(f"the project has shown no scenario of {self._system.value} yet")
        return self._last

    @property
    def scenario(self) -> Scenario:
        """The scenario that is shown."""
        return self.shown.scenario

    @property
    def selection(self) -> str | None:
        """The level or release under inspection."""
        return self._selection

    def select(self, name: str | None) -> None:
        """Inspect a level or a release."""
        if name != self._selection:
            self._selection = name
            self.selected.emit(name)

    def edit(self, label: str, change: Callable[[Scenario], Scenario], *, merge_key: object = None) -> Refusal | None:
        """Edit the active scenario as one named step; return why not, or None."""
        return self._whole.edit(label, change, merge_key=merge_key)

    def report(self, refusal: Refusal | None) -> bool:
        """Announce a refusal that has no field of its own; return whether the edit was made."""
        return self._whole.report(refusal)

    def _pass_update(self, update: Update) -> None:
        if system_of(update.after.scenario) is self._system:
            self._last = update.after
            self.updated.emit(update.after)

    def _pass_settled(self, version: Shown) -> None:
        if system_of(version.scenario) is self._system:
            self.settled.emit(version)
