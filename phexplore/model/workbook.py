"""The content of a project: several scenarios, side by side, one of them active. One immutable value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from phexplore.errors import UnknownNameError
from phexplore.model.edits import EditRefusedError
from phexplore.model.goals import Goals
from phexplore.model.rules import Rule
from phexplore.model.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Workbook:
    """Scenarios in the order the user sees them.

    Attributes:
        scenarios: at least one; names are unique.
        active: name of the scenario being worked on.
        comparison: name of the scenario or preset id that figures are compared with, "" for none.
        rules: decision rules that every scenario and run of the project is judged by.
        goals: what the project asks of the budgets beside the targets and locks of its scenarios, by system
            (``phsafe``, ``topdown``).
    """

    scenarios: tuple[Scenario, ...]
    active: str
    comparison: str = ""
    rules: tuple[Rule, ...] = ()
    goals: Mapping[str, Goals] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse repeated names and an active scenario that is not there."""
        names = [scenario.name for scenario in self.scenarios]
        if len(set(names)) != len(names):
            raise ValueError(f"scenario names repeat: {names}")
        if self.active not in names:
            raise ValueError(f"the active scenario {self.active!r} is not among {names}")
        object.__setattr__(self, "goals", MappingProxyType(dict(self.goals)))

    @property
    def scenario(self) -> Scenario:
        """The active scenario."""
        return self.find(self.active)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(scenario.name for scenario in self.scenarios)

    def find(self, name: str) -> Scenario:
        """Return the scenario with this name.

        Raises:
            UnknownNameError: there is none.
        """
        for scenario in self.scenarios:
            if scenario.name == name:
                return scenario
        raise UnknownNameError("scenario", name, list(self.names))


def replace_active(workbook: Workbook, scenario: Scenario) -> Workbook:
    """Return the workbook with the active scenario replaced (it may have a new name).

    Args:
        workbook: to change.
        scenario: in place of the active one.

    Raises:
        EditRefusedError: the new name is taken.
    """
    if scenario.name != workbook.active and scenario.name in workbook.names:
        raise EditRefusedError(f"There is already a scenario {scenario.name!r}.", "Choose another name.")
    scenarios = tuple(scenario if old.name == workbook.active else old for old in workbook.scenarios)
    return replace(workbook, scenarios=scenarios, active=scenario.name)


def add_scenario(workbook: Workbook, scenario: Scenario) -> Workbook:
    """Return the workbook with one more scenario, active; its name gets a number if it is taken.

    Args:
        workbook: to change.
        scenario: the new one.
    """
    name = free_name(workbook, scenario.name)
    return replace(workbook, scenarios=(*workbook.scenarios, replace(scenario, name=name)), active=name)


def free_name(workbook: Workbook, wanted: str) -> str:
    """Return a name that no scenario has: the one that is wanted, with a number if it is taken.

    Args:
        workbook: with its scenarios.
        wanted: the name.
    """
    name, number = wanted, 2
    while name in workbook.names:
        name, number = f"{wanted} {number}", number + 1
    return name


def remove_scenario(workbook: Workbook, name: str) -> Workbook:
    """Return the workbook without this scenario.

    Args:
        workbook: to change.
        name: of a scenario.

    Raises:
        EditRefusedError: it is the last one.
        UnknownNameError: there is none of this name.
    """
    workbook.find(name)
    rest = tuple(scenario for scenario in workbook.scenarios if scenario.name != name)
    if not rest:
        raise EditRefusedError(f"{name!r} is the only scenario.", "Add another one before you remove it.")
    active = workbook.active if workbook.active != name else rest[-1].name
    comparison = "" if workbook.comparison == name else workbook.comparison
    return replace(workbook, scenarios=rest, active=active, comparison=comparison)


def activate(workbook: Workbook, name: str) -> Workbook:
    """Return the workbook with this scenario active.

    Args:
        workbook: to change.
        name: of a scenario.
    """
    return replace(workbook, active=workbook.find(name).name)


def compare_with(workbook: Workbook, name: str) -> Workbook:
    """Return the workbook compared with this scenario or preset, "" for none.

    Args:
        workbook: to change.
        name: of a scenario.
    """
    return replace(workbook, comparison=name)


def set_rules(workbook: Workbook, rules: tuple[Rule, ...]) -> Workbook:
    """Return the workbook with these decision rules.

    Args:
        workbook: to change.
        rules: in the order they are shown.
    """
    return replace(workbook, rules=rules)


def set_goals(workbook: Workbook, system: str, goals: Goals) -> Workbook:
    """Return the workbook that asks this of the budgets of a system; goals that ask nothing are left out.

    Args:
        workbook: to change.
        system: id of the system.
        goals: what is asked of its budgets.
    """
    others = {name: value for name, value in workbook.goals.items() if name != system}
    return replace(workbook, goals=others if goals == Goals() else {**others, system: goals})


def system_name(scenario: Scenario) -> str:
    """Return the name under which the project keeps the goals of a scenario's system."""
    return type(scenario.method).__name__.casefold()
