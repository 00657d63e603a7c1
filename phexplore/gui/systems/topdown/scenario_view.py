"""What the window shows of a TopDown scenario at one moment, computed once per version: one immutable value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from phexplore.catalog.presets import Preset
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.registry import presets
from phexplore.systems.topdown.forecast import (
    JointRelease,
    LevelQueryForecast,
    TopDownForecast,
    joint_release,
)
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
    reference = whole.reference
    found = before.reference if before is not None else None
    if reference is None:
        found = None
    elif found is None or found.scenario is not reference.scenario or found.title != reference.title:
        found = TopDownReference(reference.title, reference.scenario, reference.figures)
    return TopDownShown(whole, found)
