"""Goals as somebody states them, about the queries of one scenario: from a file, as options, or as its own targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from phexplore.accuracy.solving_separable import rounded_as_in_2020
from phexplore.errors import UnknownNameError
from phexplore.files.goals_file import read_goals
from phexplore.model.goals import Cap, CapOn, GoalError, Goals
from phexplore.model.numbers import Rounding, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import budgets_of

ROUNDINGS = ("up", "as-in-2020")


def with_rounding(scenario: Scenario, rounding: str) -> Scenario:
    """Return the scenario with its margins and rounding as asked for.

    Args:
        scenario: to solve.
        rounding: up or as-in-2020; "" leaves it.

    Raises:
        UnknownNameError: no such rounding.
    """
    match rounding:
        case "":
            return scenario
        case "up":
            return replace(scenario, conventions=replace(scenario.conventions, rounding=Rounding.UP))
        case "as-in-2020":
            return replace(scenario, conventions=rounded_as_in_2020(scenario.conventions))
        case _:
            raise UnknownNameError("rounding", rounding, list(ROUNDINGS))


def goals_of(content: str, name: str, caps: Mapping[str, str], scenario: Scenario) -> Goals:
    """Return the goals of a file, about the queries of this scenario, joined with caps given as options.

    Args:
        content: of the file, "" for none.
        name: of the file, for messages.
        caps: text of each cap by what it is on, "" for none.
        scenario: whose queries the goals may name.

    Raises:
        InputProblemsError: the file cannot be understood.
        PhexploreError: a cap cannot be.
    """
    known = tuple(budgets_of(scenario).budgets)
    goals = read_goals(content.encode(), name, known) if content else Goals()
    further: list[Cap] = []
    for on in CapOn:
        if text := caps.get(on.value):
            try:
                further.append(Cap(on, parse_exact(text)))
            except ValueError as error:
                raise GoalError(f"The cap on {on.value} cannot be read: {error}.", "Write e.g. 2.5.") from error
    return replace(goals, caps=(*goals.caps, *further))


def aimed_at(scenario: Scenario, goals: Goals) -> Scenario:
    """Return the scenario with the margins of the goals as its targets: who names targets means to change them.

    Args:
        scenario: of a system that keeps no targets, it is returned as it is.
        goals: asked for in a file.
    """
    return budgets_of(scenario).with_targets(goals.margins)
