"""Everything the window shows at one moment, computed once per version: one immutable value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from phexplore.accuracy.check import check
from phexplore.accuracy.forecast import Forecast, forecast
from phexplore.catalog.presets import Preset, presets
from phexplore.errors import PhexploreError
from phexplore.model.issues import Issue
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook


@dataclass(frozen=True, slots=True)
class Reference:
    """What the current scenario is compared with.

    Attributes:
        title: for people.
        scenario: its parameters.
        figures: its forecast.
    """

    title: str
    scenario: Scenario
    figures: Forecast


@dataclass(frozen=True, eq=False)
class Shown:
    """One version of the project with its figures. Compared by identity: there is one per version.

    Attributes:
        workbook: all scenarios.
        scenario: the active one.
        figures: its forecast.
        reference: what it is compared with, None for nothing.
    """

    workbook: Workbook
    scenario: Scenario
    figures: Forecast
    reference: Reference | None

    @cached_property
    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with the scenario, errors first; found when first asked for, which a drag does once per frame."""
        return tuple(check(self.scenario))


@dataclass(frozen=True, slots=True)
class Update:
    """From one moment to the next; `before` is None after another project was opened."""

    before: Shown | None
    after: Shown


class NotShownError(PhexploreError):
    """A project with parameters of a system that the window does not edit."""


def require_shown(workbook: Workbook) -> Workbook:
    """Return the workbook if the window can show all of it.

    Raises:
        NotShownError: a scenario holds another system than PHSafe.
    """
    for scenario in workbook.scenarios:
        if not isinstance(scenario.method, PhSafe):
            raise NotShownError(
                f"The scenario {scenario.name!r} holds {type(scenario.method).__name__} parameters; the window edits the "
                "S-DHC (PHSafe).",
                "Use it on the command line, e.g. phexplore forecast.",
            )
    return workbook


def shown_presets() -> tuple[Preset, ...]:
    """Return the presets the window can start from and compare with, in order."""
    return tuple(preset for preset in presets().values() if isinstance(preset.scenario.method, PhSafe))


def shown(workbook: Workbook, before: Shown | None = None) -> Shown:
    """Return what is to be shown of a workbook.

    Args:
        workbook: the version to show.
        before: what was shown last; its reference is taken over when it is still the one.
    """
    scenario = workbook.scenario
    reference = _reference(workbook, before.reference if before is not None else None)
    return Shown(workbook, scenario, forecast(scenario), reference)


def _reference(workbook: Workbook, before: Reference | None) -> Reference | None:
    name = workbook.comparison
    if name in workbook.names:
        title, scenario = name, workbook.find(name)
    else:
        preset = presets().get(name)
        if preset is None or not isinstance(preset.scenario.method, PhSafe):
            return None
        title, scenario = preset.title, preset.scenario
    if before is not None and before.scenario is scenario and before.title == title:
        return before
    return Reference(title, scenario, forecast(scenario))
