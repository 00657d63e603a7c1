"""Edits of a scenario: functions from a value to the next. Nothing is changed that the user did not name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conventions
from phexplore.model.scenario import Scenario


class EditRefusedError(PhexploreError):
    """An edit that the scenario does not allow; nothing was changed."""


def set_conventions(scenario: Scenario, conventions: Conventions) -> Scenario:
    """Choose what the shown numbers mean. No parameter changes."""
    return replace(scenario, conventions=conventions)


def rename(scenario: Scenario, name: str) -> Scenario:
    """Give the scenario another name.

    Raises:
        EditRefusedError: the name is empty or holds `#`, which separates file and scenario on the command line.
    """
    if not name.strip() or "#" in name:
        raise EditRefusedError(f"{name!r} cannot be a name.", "Use at least one character and no #.")
    return replace(scenario, name=name.strip())


def set_note(scenario: Scenario, note: str) -> Scenario:
    """Replace the free text."""
    return replace(scenario, note=note)


def apply_all(scenario: Scenario, edits: list[Callable[[Scenario], Scenario]]) -> Scenario:
    """Apply edits in order; refused as a whole if one is refused."""
    for edit in edits:
        scenario = edit(scenario)
    return scenario
