"""Everything the window shows at one moment, computed once per version: one immutable value."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Shown:
    """One version of the project with its figures.

    Attributes:
        workbook: all scenarios.
        scenario: the active one.
        figures: its forecast.
        issues: what is wrong with it, errors first.
        reference: what it is compared with, None for nothing.
    """

    workbook: Workbook
    scenario: Scenario
    figures: Forecast
    issues: tuple[Issue, ...]
    reference: Reference | None


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


def shown(workbook: Workbook) -> Shown:
    """Return what is to be shown of a workbook."""
    scenario = workbook.scenario
    return Shown(workbook, scenario, forecast(scenario), tuple(check(scenario)), _reference(workbook))


def _reference(workbook: Workbook) -> Reference | None:
    name = workbook.comparison
    if name in workbook.names:
        scenario = workbook.find(name)
        return Reference(name, scenario, forecast(scenario))
    preset = presets().get(name)
    if preset is not None and isinstance(preset.scenario.method, PhSafe):
        return Reference(preset.title, preset.scenario, forecast(preset.scenario))
    return None
