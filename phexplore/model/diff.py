"""What differs between two scenarios, as values that can be shown, counted and applied."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from phexplore.model.keys import QueryKey, TableId
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario


class ChangedField(enum.Enum):
    """The kinds of parameters that can differ. The value is the word in a path."""

    BUDGET = "budget"
    TARGET = "target"
    THRESHOLD = "threshold"
    LOCK = "lock"
    STATES = "states"
    FRAMEWORK = "framework"
    READER = "reader"
    CONVENTIONS = "conventions"
    NAME = "name"
    NOTE = "note"
    BASELINE = "baseline"
    SOURCE_TEXT = "source text"


@dataclass(frozen=True, slots=True)
class Change:
    """One parameter that differs.

    Attributes:
        field: what kind of parameter.
        key: which one: a query, a table, or None for parameters that exist once.
        before: its value in the first scenario, None when absent.
        after: its value in the second.
    """

    field: ChangedField
    key: QueryKey | TableId | None
    before: Any
    after: Any

    @property
    def path(self) -> str:
        """A readable path, e.g. ``budget PH3/state_A-G``."""
        key = self.key.text if isinstance(self.key, QueryKey) else (self.key or "")
        return f"{self.field.value} {key}".strip()


_MAPPINGS = {ChangedField.BUDGET: "budgets", ChangedField.TARGET: "targets", ChangedField.THRESHOLD: "thresholds"}
_METHOD = {ChangedField.STATES: "states", ChangedField.FRAMEWORK: "framework", ChangedField.READER: "reader"}
_SCENARIO = {
    ChangedField.CONVENTIONS: "conventions",
    ChangedField.NAME: "name",
    ChangedField.NOTE: "note",
    ChangedField.BASELINE: "baseline",
    ChangedField.SOURCE_TEXT: "source_text",
}


def diff(before: Scenario, after: Scenario) -> tuple[Change, ...]:
    """Return every parameter that differs, in the order of the first scenario. Law: ``apply(diff(a, b), a) == b``."""
    changes: list[Change] = []
    for field, name in _MAPPINGS.items():
        old, new = getattr(before.method, name), getattr(after.method, name)
        keys = [*old, *(key for key in new if key not in old)]
        changes += [Change(field, key, old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)]
    was, now = before.method.locks, after.method.locks
    changes += [Change(ChangedField.LOCK, key, key in was, key in now) for key in sorted(was ^ now, key=str)]
    for field, name in _METHOD.items():
        if (old := getattr(before.method, name)) != (new := getattr(after.method, name)):
            changes.append(Change(field, None, old, new))
    for field, name in _SCENARIO.items():
        if (old := getattr(before, name)) != (new := getattr(after, name)):
            changes.append(Change(field, None, old, new))
    return tuple(changes)


def parameters_only(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return the changes that alter a number: no names, notes or provenance."""
    words = {ChangedField.NAME, ChangedField.NOTE, ChangedField.BASELINE, ChangedField.SOURCE_TEXT, ChangedField.LOCK}
    return tuple(change for change in changes if change.field not in words)


def apply(changes: tuple[Change, ...], scenario: Scenario) -> Scenario:
    """Return the scenario with every change's `after` in place."""
    for change in changes:
        scenario = _apply_one(change, scenario)
    return scenario


def _apply_one(change: Change, scenario: Scenario) -> Scenario:
    method: PhSafe = scenario.method
    if (name := _SCENARIO.get(change.field)) is not None:
        return replace(scenario, **{name: change.after})
    if (name := _METHOD.get(change.field)) is not None:
        return replace(scenario, method=replace(method, **{name: change.after}))
    if change.field is ChangedField.LOCK:
        if not isinstance(change.key, QueryKey):
            raise TypeError(f"a lock belongs to a query, got {change.key!r}")
        keys = frozenset((change.key,))
        locks = method.locks | keys if change.after else method.locks - keys
        return replace(scenario, method=replace(method, locks=locks))
    name = _MAPPINGS[change.field]
    values: dict[Any, Any] = dict(getattr(method, name))
    if change.after is None:
        values.pop(change.key, None)
    else:
        values[change.key] = change.after
    edited: dict[str, Any] = {name: values}
    return replace(scenario, method=replace(method, **edited))


def people(value: Fraction) -> str:
    """Return a margin as text: whole where it is whole."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.2f}"
