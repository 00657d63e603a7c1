"""The open project as the views of TopDown see it: one immutable value per version, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from phexplore.catalog.presets import Preset
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.system_session import SystemSession
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.registry import presets
from phexplore.systems.topdown.system import TOPDOWN

if TYPE_CHECKING:
    from phexplore.systems.topdown.forecast import JointRelease, LevelQueryForecast, TopDownForecast
    from phexplore.systems.topdown.share_cells import TopDownReference


@dataclass(frozen=True, eq=False)
class TopDownShown:
    """One version of a project whose active scenario is TopDown. Compared by identity: there is one per version.

    Attributes:
        whole: the version as all systems see it.
        reference: what it is compared with, None for nothing.
    """

    whole: ScenarioView
    reference: TopDownReference | None

    @property
    def scenario(self) -> Scenario:
        """The active scenario."""
        return self.whole.scenario

    @property
    def figures(self) -> TopDownForecast:
        """Its forecast."""
        return self.whole.figures  # type: ignore[no-any-return]

    @property
    def method(self) -> TopDown:
        """The parameters."""
        return self.scenario.topdown

    @cached_property
    def entries(self) -> dict[LevelQuery, LevelQueryForecast]:
        """The figures by level and query."""
        return {entry.key: entry for entry in self.figures.entries}

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with the scenario, errors first."""
        return self.whole.issues

    @property
    def origin(self) -> Preset | None:
        """The preset the scenario started from."""
        return presets().get(self.scenario.baseline)

    @cached_property
    def joint(self) -> JointRelease | None:
        """The loss together with the part released beside this one; None where there is none."""
        from phexplore.systems.topdown.forecast import joint_release

        origin = self.origin
        if origin is None or not origin.partner:
            return None
        partner = presets()[origin.partner]
        return joint_release(self.method, partner.title, partner.scenario.topdown)


def topdown_shown(whole: ScenarioView, before: TopDownShown | None = None) -> TopDownShown:
    """Return what is to be shown of a version whose active scenario is TopDown.

    Args:
        whole: the version as all systems see it.
        before: what was shown last; its reference is taken over where it is still the one.

    Raises:
        TypeError: the active scenario holds another system.
    """
    from phexplore.systems.topdown.share_cells import TopDownReference

    reference = whole.reference
    found = before.reference if before is not None else None
    if reference is None:
        found = None
    elif found is None or found.figures is not reference.figures or found.title != reference.title:
        found = TopDownReference(reference.title, reference.scenario, reference.figures)
    return TopDownShown(whole, found)


Place = LevelQuery | str | None
"""What is inspected: a query at a level, a whole level, or everything."""
TopDownSession = SystemSession[TopDownShown]


def topdown_session(whole: Session, parent: QObject | None = None) -> TopDownSession:
    """Return the session of TopDown's pages; a selection goes when its level does."""
    return SystemSession(whole, TOPDOWN, topdown_shown, parent, holds=_holds)


def _holds(shown: TopDownShown, place: LevelQuery | str) -> bool:
    return (place.level if isinstance(place, LevelQuery) else place) in shown.method.levels
