"""The open project as the views of PHSafe see it: silent while the active scenario is of another system."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QObject

from phexplore.document.project import Project
from phexplore.gui.binding.kept import KeptVersions
from phexplore.gui.binding.session import Refusal, Session
from phexplore.gui.binding.shown import Shown, Update, shown
from phexplore.model.keys import QueryKey
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset

_STAND_IN = "sdhc-2020-us"


class PhSafeSession(Session):
    """Follows the session of all systems and passes on what concerns PHSafe; edits go to that session.

    Views that exist before the first PHSafe scenario are hidden; what they would show meanwhile is a preset.
    """

    def __init__(self, whole: Session, parent: QObject | None = None) -> None:
        QObject.__init__(self, parent)  # a session of its own would listen to the project twice
        self._whole = whole
        self._is_current = _is_phsafe(whole.shown.scenario)
        self._last: Shown | None = whole.shown if self._is_current else None
        whole.updated.connect(self._pass_update)
        whole.settled.connect(self._pass_settled)
        whole.selected.connect(self.selected)
        whole.refused.connect(self.refused)
        whole.saved.connect(self.saved)

    @property
    def project(self) -> Project:
        """The open project."""
        return self._whole.project

    @property
    def kept(self) -> KeptVersions:
        """What the project itself keeps to compare with."""
        return self._whole.kept

    @property
    def shown(self) -> Shown:
        """What is shown now, or was when the active scenario was PHSafe last."""
        return self._last if self._last is not None else _stand_in()

    @property
    def scenario(self) -> Scenario:
        """The PHSafe scenario that is shown."""
        return self.shown.scenario

    @property
    def selection(self) -> QueryKey | None:
        """The query under inspection."""
        return self._whole.selection

    def install(self, project: Project) -> None:
        """Show another project."""
        self._whole.install(project)

    def select(self, query: QueryKey | None) -> None:
        """Inspect a query."""
        self._whole.select(query)

    def edit(self, label: str, change: Callable[[Scenario], Scenario], *, merge_key: object = None) -> Refusal | None:
        """Edit the active scenario as one named step; return why not, or None."""
        return self._whole.edit(label, change, merge_key=merge_key)

    def edit_workbook(self, label: str, change: Callable[[Workbook], Workbook]) -> Refusal | None:
        """Edit the list of scenarios as one named step; return why not, or None."""
        return self._whole.edit_workbook(label, change)

    def report(self, refusal: Refusal | None) -> bool:
        """Announce a refusal that has no field of its own; return whether the edit was made."""
        return self._whole.report(refusal)

    def end_merge(self) -> None:
        """Close the step being merged."""
        self._whole.end_merge()

    def undo(self) -> None:
        """Go one step back."""
        self._whole.undo()

    def redo(self) -> None:
        """Go one step forward."""
        self._whole.redo()

    def go_to(self, step: int) -> None:
        """Show another version of the history."""
        self._whole.go_to(step)

    def mark_saved(self) -> None:
        """Say that the project was written."""
        self._whole.mark_saved()

    def tell_trouble(self) -> None:
        """Announce why edits are not kept beside the file, if that is so and was not said yet."""
        self._whole.tell_trouble()

    def _pass_update(self, update: Update) -> None:
        was_current, self._is_current = self._is_current, _is_phsafe(update.after.scenario)
        if not self._is_current:
            return
        self._last = update.after
        # Rows of another system cannot be told apart from ours: start anew, as after another project was opened.
        self.updated.emit(update if was_current else Update(None, update.after))

    def _pass_settled(self, version: Shown) -> None:
        if _is_phsafe(version.scenario):
            self.settled.emit(version)


def _is_phsafe(scenario: Scenario) -> bool:
    return isinstance(scenario.method, PhSafe)


@lru_cache(maxsize=1)
def _stand_in() -> Shown:
    scenario = preset(_STAND_IN).scenario
    return shown(Workbook((scenario,), scenario.name))
