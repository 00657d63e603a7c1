"""What the window shows of a TopDown scenario at one moment, computed once per version: one immutable value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from phexplore.accuracy.check import check
from phexplore.accuracy.topdown_forecast import (
    JointRelease,
    LevelQueryForecast,
    TopDownForecast,
    forecast_topdown,
    joint_release,
)
from phexplore.catalog.presets import Preset, presets
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.model.workbook import Workbook


@dataclass(frozen=True, eq=False)
class TopDownReference:
    """What the current parameters are compared with.

    Attributes:
        title: for people.
        scenario: its parameters.
        figures: its forecast.
    """

    title: str
    scenario: Scenario
    figures: TopDownForecast

    @cached_property
    def entries(self) -> dict[LevelQuery, LevelQueryForecast]:
        """The figures by level and query."""
        return {entry.key: entry for entry in self.figures.entries}


@dataclass(frozen=True, eq=False)
class TopDownShown:
    """One version of a project whose active scenario is TopDown. Compared by identity: there is one per version.

    Attributes:
        workbook: all scenarios.
        scenario: the active one.
        figures: its forecast.
        reference: what it is compared with, None for nothing.
    """

    workbook: Workbook
    scenario: Scenario
    figures: TopDownForecast
    reference: TopDownReference | None

    @property
    def method(self) -> TopDown:
        """The parameters."""
        return self.scenario.topdown

    @cached_property
    def entries(self) -> dict[LevelQuery, LevelQueryForecast]:
        """The figures by level and query."""
        return {entry.key: entry for entry in self.figures.entries}

    @cached_property
    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with the scenario, errors first."""
        return tuple(check(self.scenario))

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


@dataclass(frozen=True, slots=True)
class TopDownUpdate:
    """From one moment to the next; `before` is None after another project or scenario was opened."""

    before: TopDownShown | None
    after: TopDownShown


def topdown_shown(workbook: Workbook, before: TopDownShown | None = None) -> TopDownShown:
    """Return what is to be shown of a workbook whose active scenario is TopDown.

    Args:
        workbook: the version to show.
        before: what was shown last; figures and reference are taken over where they are still the ones.

    Raises:
        TypeError: the active scenario holds another system.
        PhexploreError: the schema or a query is unknown.
    """
    scenario = workbook.scenario
    if before is not None and before.scenario is scenario:
        figures = before.figures
    else:
        figures = forecast_topdown(scenario.topdown, scenario.conventions)
    return TopDownShown(workbook, scenario, figures, _reference(workbook, before.reference if before else None))


def _reference(workbook: Workbook, before: TopDownReference | None) -> TopDownReference | None:
    name = workbook.comparison
    if name in workbook.names:
        title, scenario = name, workbook.find(name)
    elif (preset := presets().get(name)) is not None:
        title, scenario = preset.title, preset.scenario
    else:
        return None
    if not isinstance(scenario.method, TopDown):
        return None
    if before is not None and before.scenario is scenario and before.title == title:
        return before
    return TopDownReference(title, scenario, forecast_topdown(scenario.topdown, scenario.conventions))
