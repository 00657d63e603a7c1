"""Everything the window shows at one moment, computed once per version: one immutable value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from phexplore.document.soundness import require_figures
from phexplore.errors import PhexploreError
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook
from phexplore.systems.group_sizes.forecast import GroupSizesForecast, forecast_group_sizes
from phexplore.systems.phsafe.forecast import Forecast, forecast
from phexplore.systems.registry import check, presets
from phexplore.systems.topdown.forecast import TopDownForecast, forecast_topdown

if TYPE_CHECKING:
    from phexplore.systems.subspace.forecast import SubspaceForecast


@dataclass(frozen=True)
class Reference:
    """What the current scenario is compared with: parameters of the same system.

    Attributes:
        title: for people.
        scenario: its parameters.
    """

    title: str
    scenario: Scenario

    @cached_property
    def figures(self) -> Forecast:
        """The forecast of PHSafe parameters.

        Raises:
            TypeError: they are of another system.
        """
        return forecast(self.scenario)

    @cached_property
    def topdown(self) -> TopDownForecast:
        """The forecast of TopDown parameters.

        Raises:
            TypeError: they are of another system.
        """
        return forecast_topdown(self.scenario.topdown, self.scenario.conventions)


@dataclass(frozen=True, eq=False)
class Shown:
    """One version of the project with its figures. Compared by identity: there is one per version.

    Attributes:
        workbook: all scenarios.
        scenario: the active one.
        reference: what it is compared with, None for nothing.
    """

    workbook: Workbook
    scenario: Scenario
    reference: Reference | None

    @cached_property
    def figures(self) -> Forecast:
        """The forecast of PHSafe parameters.

        Raises:
            TypeError: the active scenario is of another system.
        """
        return forecast(self.scenario)

    @cached_property
    def topdown(self) -> TopDownForecast:
        """The forecast of TopDown parameters.

        Raises:
            TypeError: the active scenario is of another system.
        """
        return forecast_topdown(self.scenario.topdown, self.scenario.conventions)

    @cached_property
    def group_sizes(self) -> GroupSizesForecast | None:
        """The forecast of group sizes; None while an error of the parameters stands in its way, which the issues name.

        Raises:
            TypeError: the active scenario is of another system.
        """
        try:
            return forecast_group_sizes(self.scenario.group_sizes, self.scenario.conventions)
        except PhexploreError:
            return None

    @cached_property
    def reference_group_sizes(self) -> GroupSizesForecast | None:
        """The forecast of the reference of group sizes, None without one that has figures."""
        if self.reference is None:
            return None
        try:
            return forecast_group_sizes(self.reference.scenario.group_sizes, self.reference.scenario.conventions)
        except PhexploreError:
            return None

    @cached_property
    def subspace(self) -> SubspaceForecast | None:
        """The forecast of subspace releases; None while an error of the parameters stands in its way.

        Raises:
            TypeError: the active scenario is of another system.
        """
        from phexplore.systems.subspace.forecast import forecast_subspace  # loads numpy; the window starts without

        try:
            return forecast_subspace(self.scenario.subspace, self.scenario.conventions)
        except PhexploreError:
            return None

    @cached_property
    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with the scenario, errors first; found when first asked for, which a drag does once per frame."""
        return tuple(check(self.scenario, None if self.reference is None else self.reference.scenario))


@dataclass(frozen=True, slots=True)
class Update:
    """From one moment to the next; `before` is None after another project was opened."""

    before: Shown | None
    after: Shown


def shown(
    workbook: Workbook, before: Shown | None = None, *, kept: Callable[[str], tuple[str, Scenario] | None] | None = None
) -> Shown:
    """Return what is to be shown of a workbook.

    Args:
        workbook: the version to show.
        before: what was shown last; its reference is taken over when it is still the one.
        kept: gives title and parameters of what the project keeps to compare with: as last saved, as approved.
    """
    scenario = workbook.scenario
    found_kept = kept(workbook.comparison) if kept is not None else None
    reference = _reference(workbook, before.reference if before is not None else None, found_kept)
    return Shown(workbook, scenario, reference)


def _reference(workbook: Workbook, before: Reference | None, kept: tuple[str, Scenario] | None) -> Reference | None:
    name = workbook.comparison
    if kept is not None:
        title, scenario = kept
    elif name in workbook.names:
        title, scenario = name, workbook.find(name)
    else:
        preset = presets().get(name)
        if preset is None:
            return None
        title, scenario = preset.title, preset.scenario
    if type(scenario.method) is not type(workbook.scenario.method):
        return None
    if before is not None and before.scenario is scenario and before.title == title:
        return before
    try:
        require_figures(scenario)
    except PhexploreError:  # a version of a damaged file: there is nothing to compare with
        return None
    return Reference(title, scenario)
