"""Edits of a scenario: functions from a value to the next. Nothing is changed that the user did not name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.model.diff import Change, apply
from phexplore.model.fields import Field, declared_fields, field_of
from phexplore.model.kinds import Members
from phexplore.model.scenario import Scenario

_OUTER = {field.name for field in declared_fields(Scenario)}


class EditRefusedError(PhexploreError):
    """An edit that the scenario does not allow; nothing was changed."""


def set_field(scenario: Scenario, name: str, value: Any) -> Scenario:
    """Give a declared field of the scenario or of its parameters another value.

    Args:
        scenario: that is edited.
        name: of the field, e.g. ``total`` or ``note``.
        value: for it.

    Raises:
        EditRefusedError: the value is out of range, or contradicts the others.
    """
    if name in _OUTER:
        return replace(scenario, **{name: value})
    field = field_of(type(scenario.method), name)
    with _refusing(field):
        field.kind.check(value, field.phrase)
        return replace(scenario, method=replace(scenario.method, **{name: value}))


def set_item(scenario: Scenario, name: str, key: Any, value: Any) -> Scenario:
    """Give one entry of a declared field another value: of a mapping, or whether something is in a set.

    Args:
        scenario: that is edited.
        name: of the field, e.g. ``passes`` or ``locked_levels``.
        key: of the entry.
        value: for it; None takes the entry out of a mapping.

    Raises:
        EditRefusedError: the value is out of range, or contradicts the others.
    """
    field = field_of(type(scenario.method), name)
    change = Change(field, key, getattr(scenario.method, name), value)
    with _refusing(field):
        return apply((change,), scenario)


@contextlib.contextmanager
def _refusing(field: Field) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        said = str(error)
        first = said[:1].upper() if said[:1].isascii() else said[:1]  # a Greek letter is a symbol, no word
        raise EditRefusedError(f"{first}{said[1:]}.", field.kind.entry.remedy) from error


def step_label(field: Field, value: Any, key: Any = None) -> str:
    """Return the name of the step that gives a field, or one of its entries, a value.

    Args:
        field: that changes.
        value: it gets.
        key: of the entry, None for the whole field.
    """
    kind = field.kind
    whose = "" if key is None or kind.keys is None else f" of {kind.keys.words(key)}"
    if isinstance(kind, Members):
        return f"{'Lock' if value else 'Unlock'} {field.phrase}{whose}"
    return f"Set {field.phrase}{whose} to {kind.entry.words(value)}"


def rename(scenario: Scenario, name: str) -> Scenario:
    """Give the scenario another name.

    Args:
        scenario: to rename.
        name: blanks around it are removed.

    Raises:
        EditRefusedError: the name is empty or holds `#`, which separates file and scenario on the command line.
    """
    if not name.strip() or "#" in name:
        raise EditRefusedError(f"{name!r} cannot be a name.", "Use at least one character and no #.")
    return replace(scenario, name=name.strip())


def apply_all(scenario: Scenario, edits: list[Callable[[Scenario], Scenario]]) -> Scenario:
    """Apply edits in order; refused as a whole if one is refused.

    Args:
        scenario: to change.
        edits: functions from a scenario to the next.
    """
    for edit in edits:
        scenario = edit(scenario)
    return scenario
