"""The open project as the views of TopDown see it, with their own figures."""

from __future__ import annotations

from PySide6.QtCore import QObject

from phexplore.gui.binding.session import Session
from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.systems.topdown.scenario_view import TopDownShown, topdown_shown
from phexplore.model.topdown import LevelQuery
from phexplore.systems.topdown.system import TOPDOWN

Place = LevelQuery | str | None
"""What is inspected: a query at a level, a whole level, or everything."""
TopDownSession = SystemSession[TopDownShown]


def topdown_session(whole: Session, parent: QObject | None = None) -> TopDownSession:
    """Return the session of TopDown's pages; a selection goes when its level does."""
    return SystemSession(whole, TOPDOWN, topdown_shown, parent, holds=_holds)


def _holds(shown: TopDownShown, place: LevelQuery | str) -> bool:
    return (place.level if isinstance(place, LevelQuery) else place) in shown.method.levels
