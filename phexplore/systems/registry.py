"""The systems the program knows, one line each. Reading this loads nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from phexplore.accuracy.absurd_values import MOST_EPSILON, hardly_meant
from phexplore.catalog.presets import Preset
from phexplore.errors import UnknownNameError
from phexplore.lazy import lazy
from phexplore.library import own_files, until_reread
from phexplore.model.issues import Issue, errors_first, has_errors
from phexplore.model.numbers import Budget
from phexplore.model.scenario import Scenario, add_method
from phexplore.report.export_formats import ExportFormat
from phexplore.runs.spec import register_options
from phexplore.systems.group_sizes.system import GROUP_SIZES
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.protocol import Forecast, Handover, Loss, System, UnsupportedError
from phexplore.systems.subspace.system import SUBSPACE
from phexplore.systems.topdown.system import TOPDOWN

if TYPE_CHECKING:
    from phexplore.accuracy.budget_model import BudgetModel
    from phexplore.runs.place import Place
    from phexplore.runs.simulation import Simulation
    from phexplore.runs.spec import RunSpec
    from phexplore.systems.meeting import MeetingParameter

SYSTEMS: tuple[System, ...] = (PHSAFE, TOPDOWN, GROUP_SIZES, SUBSPACE)
"""In the order people are offered them."""

_own_presets = lazy("phexplore.systems.parameter_files", "own_presets")
_declared_parameters = lazy("phexplore.systems.meeting", "declared_parameters")

DEPLOYMENT = ExportFormat(
    "deployments-registry",
    ".yaml",
    "Draft for the registry of DP deployments",
    lazy("phexplore.systems.deployment_record", "deployment_record"),
    "deployment.yaml",
)

_BY_PARAMETERS: dict[type[object], System] = {}


def _add(system: System) -> None:
    _BY_PARAMETERS[system.parameters] = system
    register_options(system.parameters, system.id, system.run_options)


for _system in SYSTEMS:
    _add(_system)


def register(system: System) -> None:
    """Add a system to this process: for a program that brings one of its own, by its own entry script.

    Raises:
        ValueError: its id, its parameters or their word in files are taken.
    """
    if system.parameters in _BY_PARAMETERS or system.id in {known.id for known in _BY_PARAMETERS.values()}:
        raise ValueError(f"there is already a system {system.id!r}, or one of these parameters")
    add_method(system.parameters)
    _add(system)
    presets.cache_clear()


def formats_of(system: System) -> Mapping[str, ExportFormat]:
    """Return the formats that parameters of a system are written in: its own, and the record of a deployment, which all have."""
    return {**system.formats, DEPLOYMENT.id: DEPLOYMENT}


def systems() -> Mapping[str, System]:
    """Return all systems by id."""
    return MappingProxyType({system.id: system for system in _BY_PARAMETERS.values()})


@until_reread
def presets() -> Mapping[str, Preset]:
    """Return the presets of all systems by id, in the order they are shown; of every system the user's come last."""
    shipped = {id_: preset for system in systems().values() for id_, preset in system.presets().items()}
    places = {system.parameters: number for number, system in enumerate(systems().values())}
    found = {**shipped, **(_own_presets(systems(), shipped) if own_files("presets") else {})}
    return MappingProxyType(dict(sorted(found.items(), key=lambda item: places[type(item[1].scenario.method)])))


def presets_of(system: System) -> Mapping[str, Preset]:
    """Return the presets of one system by id, in the order they are shown; files of other systems are not read."""
    if not own_files("presets"):
        return system.presets()
    return {id_: each for id_, each in presets().items() if isinstance(each.scenario.method, system.parameters)}


def find_preset(preset_id: str) -> Preset | None:
    """Return one preset, None when there is none; systems behind its own are not asked."""
    shipped = (system.presets().get(preset_id) for system in systems().values())
    return next((found for found in shipped if found is not None), None) or presets().get(preset_id)


def preset(preset_id: str) -> Preset:
    """Return one preset.

    Raises:
        UnknownNameError: no such preset; the remedy names the nearest.
    """
    if (found := find_preset(preset_id)) is None:
        raise UnknownNameError("preset", preset_id, list(presets()))
    return found


def system_of(scenario: Scenario) -> System:
    """Return the system whose parameters a scenario holds.

    Raises:
        KeyError: no system of this program has such parameters.
    """
    return _BY_PARAMETERS[type(scenario.method)]


def check(scenario: Scenario, reference: Scenario | None = None) -> list[Issue]:
    """Return all issues of a scenario, errors first; empty when it is ready to run and export.

    Args:
        scenario: any.
        reference: what it is compared with; None for the preset it started from.
    """
    system = system_of(scenario)
    issues = list(system.check(scenario))
    if not has_errors(issues):
        origin = find_preset(scenario.baseline)
        other = reference or (origin.scenario if origin is not None else None)
        comparable = other if other is not None and system_of(other) is system else None
        if said := absurd_epsilon(scenario):
            issues.append(hardly_meant(("total",), f"The privacy loss is hardly any protection: {said}."))
        issues += system.absurd_values(scenario, comparable)
    return errors_first(issues)


def absurd_epsilon(scenario: Scenario) -> str:
    """Return what is to be said of a privacy loss that protects hardly anybody, "" for one that does."""
    value = loss_of(scenario).epsilon_at(scenario.conventions.delta)
    return f"ε is {value:,.0f}, above {MOST_EPSILON:.0f}" if value is not None and value > MOST_EPSILON else ""


def forecast(scenario: Scenario) -> Forecast:
    """Return what is known of a scenario before any run.

    Raises:
        PhexploreError: its figures cannot be computed; `check` says why.
    """
    return system_of(scenario).forecast(scenario)


def loss_of(scenario: Scenario) -> Loss:
    """Return the privacy loss of a scenario under its conventions."""
    system = system_of(scenario)
    return system.forecast(scenario).loss if system.loss is None else system.loss(scenario)


def total_of_preset(preset_id: str) -> Budget:
    """Return the exact loss of a preset under its own neighbours.

    Raises:
        UnknownNameError: no such preset.
    """
    return loss_of(preset(preset_id).scenario).total


def margins_of_entries(scenario: Scenario) -> dict[str, float | None]:
    """Return the margin of every measured query by its place, by the scenario's convention; None when not published."""
    convention = scenario.conventions.margin
    return {
        entry.place: entry.margins.by(convention) if entry.margins else None for entry in forecast(scenario).entries
    }


def budgets_of(scenario: Scenario) -> BudgetModel:
    """Return a scenario as everything sees it that trades budgets.

    Raises:
        UnsupportedError: its system has no budgets to trade query by query.
    """
    system = system_of(scenario)
    if system.budgets is None:
        able = [known.title for known in systems().values() if known.budgets is not None]
        raise UnsupportedError(
            f"{scenario.name!r} is of the system {system.title}, which is not solved, traded or drafted query by query.",
            f"Choose a scenario of {' or '.join(able)}.",
        )
    return system.budgets(scenario)


def meeting_parameters(scenario: Scenario) -> tuple[MeetingParameter, ...]:
    """Return everything of a scenario that a meeting may move."""
    system = system_of(scenario)
    if system.meeting is not None:
        return system.meeting(scenario)
    found: tuple[MeetingParameter, ...] = _declared_parameters(scenario, margins_of_entries)
    return found


def handover(scenario: Scenario) -> Handover:
    """Return the production files of a scenario's system.

    Raises:
        UnsupportedError: production has no such system.
    """
    system = system_of(scenario)
    if system.handover is None:
        able = [known.title for known in systems().values() if known.handover is not None]
        raise UnsupportedError(
            f"{scenario.name!r} is of the system {system.title}, which has no production files.",
            f"Choose a scenario of {' or '.join(able)}; others are handed over as JSON, by export.",
        )
    return system.handover


def make_simulation(spec: RunSpec, directory: Path, place: Place) -> Simulation:
    """Return the simulation of a run; nothing is read yet.

    Args:
        spec: of the run.
        directory: of the run.
        place: where it is computed.
    """
    return system_of(spec.scenario).simulate(spec, directory, place)
