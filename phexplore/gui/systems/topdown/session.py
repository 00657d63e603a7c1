"""The open project as the views of TopDown see it: the same session, with their own figures and their own selection."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from phexplore.gui.binding.coalesced import Coalesced
from phexplore.gui.binding.session import Refusal, Session
from phexplore.gui.binding.shown import Shown, Update
from phexplore.gui.systems.topdown.scenario_view import TopDownShown, TopDownUpdate, topdown_shown
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown

Place = LevelQuery | str | None
"""What is inspected: a query at a level, a whole level, or everything."""


class TopDownSession(QObject):
    """Passes on what happens while the active scenario is TopDown; silent while it is another system.

    Signals:
        updated: `TopDownUpdate`, synchronously after every edit, undo or opening. For cheap listeners: tables, texts.
        settled: the newest `TopDownShown`, at most once per frame. For pictures.
        selected: the `Place` under inspection.
    """

    updated = Signal(object)
    settled = Signal(object)
    selected = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._shown: TopDownShown | None = None
        self._selection: Place = None
        self._frames = Coalesced(self)
        self._frames.due.connect(self.settled)
        session.updated.connect(self._on_updated)
        self._take(session.shown)

    @property
    def is_active(self) -> bool:
        """Whether the active scenario is TopDown."""
        return isinstance(self._session.project.workbook.scenario.method, TopDown)

    @property
    def whole(self) -> Session:
        """The session of all systems."""
        return self._session

    @property
    def shown(self) -> TopDownShown:
        """What is shown now, or was when the active scenario was TopDown last.

        Raises:
            TypeError: no TopDown scenario was shown yet.
        """
        if self._shown is None:
            raise TypeError("the project has shown no TopDown scenario yet")
        return self._shown

    @property
    def scenario(self) -> Scenario:
        """The TopDown scenario that is shown."""
        return self.shown.scenario

    @property
    def selection(self) -> Place:
        """What is inspected."""
        return self._selection

    def select(self, place: Place) -> None:
        """Inspect a query at a level, a level, or everything."""
        if place != self._selection:
            self._selection = place
            self.selected.emit(place)

    def edit(self, label: str, change: Callable[[Scenario], Scenario], *, merge_key: object = None) -> Refusal | None:
        """Edit the active scenario as one named step; return why not, or None."""
        return self._session.edit(label, change, merge_key=merge_key)

    def report(self, refusal: Refusal | None) -> bool:
        """Announce a refusal that has no field of its own; return whether the edit was made."""
        return self._session.report(refusal)

    def end_merge(self) -> None:
        """Close the step being merged: the slider was released."""
        self._session.end_merge()

    def undo(self) -> None:
        """Go one step back."""
        self._session.undo()

    def _take(self, whole: Shown) -> TopDownShown | None:
        """Bring what is shown up to a version of the project; return what it was before."""
        before = self._shown
        if isinstance(whole.scenario.method, TopDown):
            self._shown = topdown_shown(whole, before)
        return before

    def _on_updated(self, update: Update) -> None:
        if not isinstance(update.after.scenario.method, TopDown):
            return
        before = self._take(update.after)
        after = self.shown
        was = update.before
        has_jumped = was is None or before is None or was.scenario is not before.scenario
        if isinstance(self._selection, LevelQuery | str) and not _exists(self._selection, after.method):
            self.select(None)
        self.updated.emit(TopDownUpdate(None if has_jumped else before, after))
        self._frames.request(after)


def _exists(place: LevelQuery | str, method: TopDown) -> bool:
    return (place.level if isinstance(place, LevelQuery) else place) in method.levels
