"""What differs between two scenarios, as values that can be shown, counted and applied."""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from phexplore.model.group_sizes import GroupSizes
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Method, Scenario
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import LevelQuery, SpineChoice, TopDown


class ChangedField(enum.Enum):
    """The kinds of parameters that can differ. The value is the word in a path."""

    METHOD = "method"
    BUDGET = "budget"
    TARGET = "target"
    THRESHOLD = "threshold"
    LOCK = "lock"
    STATES = "states"
    READER = "reader"
    FRAMEWORK = "framework"
    SCHEMA = "schema"
    LEVELS = "levels"
    TOTAL = "total"
    LEVEL_SHARE = "level share"
    QUERY_SHARE = "query share"
    PASSES = "passes"
    INVARIANTS = "invariants"
    CONSTRAINTS = "constraints"
    SPINE = "spine"
    LEVEL_LOCK = "level lock"
    QUERY_LOCK = "query lock"
    AXES = "axes"
    RELEASE = "release"
    EPSILON = "epsilon"
    DELTA = "delta"
    CALIBRATION = "calibration"
    TABLE = "table"
    REGIONS = "regions"
    LARGEST_SIZE = "largest size"
    LARGEST_QUANTITY = "largest quantity"
    MECHANISM = "mechanism"
    TAIL = "tail"
    CONVENTIONS = "conventions"
    NAME = "name"
    NOTE = "note"
    BASELINE = "baseline"
    SOURCE_TEXT = "source text"


ChangedKey = QueryKey | TableId | LevelQuery | str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One parameter that differs.

    Attributes:
        field: what kind of parameter.
        key: which one: a query, a table, a level, or None for parameters that exist once.
        before: its value in the first scenario, None when absent.
        after: its value in the second.
    """

    field: ChangedField
    key: ChangedKey
    before: Any
    after: Any

    @property
    def path(self) -> str:
        """A readable path, e.g. ``budget PH3/state_A-G``."""
        key = self.key.text if isinstance(self.key, QueryKey | LevelQuery) else (self.key or "")
        return f"{self.field.value} {key}".strip()


@dataclass(frozen=True, slots=True)
class _Parts:
    """Which attributes of a method are mappings, sets and single values, and the word for each."""

    mappings: Mapping[ChangedField, str]
    sets: Mapping[ChangedField, str]
    values: Mapping[ChangedField, str]

    @property
    def names(self) -> dict[ChangedField, str]:
        return {**self.mappings, **self.sets, **self.values}


_PARTS: Mapping[type[Method], _Parts] = {
    PhSafe: _Parts(
        {ChangedField.BUDGET: "budgets", ChangedField.TARGET: "targets", ChangedField.THRESHOLD: "thresholds"},
        {ChangedField.LOCK: "locks"},
        {ChangedField.STATES: "states", ChangedField.FRAMEWORK: "framework", ChangedField.READER: "reader"},
    ),
    TopDown: _Parts(
        {
            ChangedField.LEVEL_SHARE: "level_shares",
            ChangedField.QUERY_SHARE: "query_shares",
            ChangedField.PASSES: "passes",
            ChangedField.INVARIANTS: "invariants",
            ChangedField.CONSTRAINTS: "constraints",
        },
        {ChangedField.LEVEL_LOCK: "locked_levels", ChangedField.QUERY_LOCK: "locked_queries"},
        {
            ChangedField.SCHEMA: "schema",
            ChangedField.LEVELS: "levels",
            ChangedField.TOTAL: "total",
            ChangedField.FRAMEWORK: "framework",
            ChangedField.SPINE: "spine",
        },
    ),
    Subspace: _Parts(
        {ChangedField.RELEASE: "releases"},
        {},
        {
            ChangedField.AXES: "axes",
            ChangedField.EPSILON: "epsilon",
            ChangedField.DELTA: "delta",
            ChangedField.CALIBRATION: "calibration",
            ChangedField.TABLE: "table",
        },
    ),
    GroupSizes: _Parts(
        {ChangedField.LEVEL_SHARE: "level_shares"},
        {ChangedField.LEVEL_LOCK: "locked_levels"},
        {
            ChangedField.LEVELS: "levels",
            ChangedField.REGIONS: "regions",
            ChangedField.TOTAL: "total",
            ChangedField.LARGEST_SIZE: "largest",
            ChangedField.LARGEST_QUANTITY: "largest_quantity",
            ChangedField.MECHANISM: "mechanism",
            ChangedField.FRAMEWORK: "framework",
            ChangedField.TAIL: "tail",
        },
    ),
}
_SCENARIO = {
    ChangedField.CONVENTIONS: "conventions",
    ChangedField.NAME: "name",
    ChangedField.NOTE: "note",
    ChangedField.BASELINE: "baseline",
    ChangedField.SOURCE_TEXT: "source_text",
}


def diff(before: Scenario, after: Scenario) -> tuple[Change, ...]:
    """Return every parameter that differs, in the order of the first scenario. Law: ``apply(diff(a, b), a) == b``."""
    return (*_method_changes(before.method, after.method), *_values(_SCENARIO, before, after))


def _method_changes(before: Method, after: Method) -> tuple[Change, ...]:
    if type(before) is not type(after):
        return (Change(ChangedField.METHOD, None, before, after),)
    parts = _PARTS.get(type(before))
    if parts is None:
        return (Change(ChangedField.METHOD, None, before, after),) if before != after else ()
    changes: list[Change] = []
    for field, name in parts.mappings.items():
        changes += _entries(field, getattr(before, name), getattr(after, name))
    for field, name in parts.sets.items():
        was, now = getattr(before, name), getattr(after, name)
        changes += [Change(field, key, key in was, key in now) for key in sorted(was ^ now, key=str)]
    return (*changes, *_values(parts.values, before, after))


def _entries(field: ChangedField, old: Mapping[Any, Any], new: Mapping[Any, Any]) -> list[Change]:
    """Return the changed entries; what an edit left alone is the same object in both, which costs no comparison."""
    if len(old) == len(new) and all(map(operator.is_, old, new)):
        pairs = zip(old.items(), new.values(), strict=True)
        return [Change(field, key, a, b) for (key, a), b in pairs if a is not b and a != b]
    keys = [*old, *(key for key in new if key not in old)]
    return [Change(field, key, old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)]


def _values(names: Mapping[ChangedField, str], before: object, after: object) -> tuple[Change, ...]:
    pairs = [(field, getattr(before, name), getattr(after, name)) for field, name in names.items()]
    return tuple(Change(field, None, old, new) for field, old, new in pairs if old is not new and old != new)


def parameters_only(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return the changes that alter a number: no names, notes, locks or provenance."""
    words = {ChangedField.NAME, ChangedField.NOTE, ChangedField.BASELINE, ChangedField.SOURCE_TEXT}
    locks = {ChangedField.LOCK, ChangedField.LEVEL_LOCK, ChangedField.QUERY_LOCK}
    return tuple(change for change in changes if change.field not in words | locks)


def in_parts(change: Change) -> tuple[tuple[str, Any, Any], ...]:
    """Return path, value before and value after of every single value that a change moves: of a spine, its settings."""
    return tuple(_parts(change.path, change.before, change.after))


def _parts(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if before == after:
        return
    if isinstance(before, SpineChoice) and isinstance(after, SpineChoice):
        old, new = ({"kind": each.kind, **dict(each.settings)} for each in (before, after))
    elif is_dataclass(before) and type(before) is type(after) and not _is_method(before):
        old, new = ({part.name: getattr(each, part.name) for part in fields(before)} for each in (before, after))
    else:
        yield path, before, after
        return
    for name in dict.fromkeys([*old, *new]):
        yield from _parts(f"{path}: {name.replace('_', ' ')}", old.get(name), new.get(name))


_BETWEEN = (", ", "; ", " / ")


def value_text(value: Any) -> str:
    """Return a parameter's value for people; "-" where there is none.

    Queries of one pass stand between commas, passes between semicolons, outer passes between strokes.
    """
    match value:
        case None:
            text = "-"
        case enum.Enum():
            text = str(value.value)
        case Fraction():
            text = exact_text(value)
        case tuple():
            text = _BETWEEN[min(_depth(value), len(_BETWEEN)) - 1].join(map(value_text, value))
        case _ if _is_method(value):
            text = type(value).__name__
        case SpineChoice():
            text = ", ".join([value.kind, *(f"{name} {setting}" for name, setting in value.settings)])
        case _ if is_dataclass(value):
            parts = ((part.name.replace("_", " "), getattr(value, part.name)) for part in fields(value))
            text = ", ".join(f"{name} {value_text(part)}" for name, part in parts)
        case _:
            text = str(value)
    return text


def _is_method(value: object) -> bool:
    """Return whether a value holds all parameters of a system, which are shown by the name of their class alone."""
    return hasattr(type(value), "data_kind")


def _depth(value: tuple[Any, ...]) -> int:
    return 1 + max((_depth(part) for part in value if isinstance(part, tuple)), default=0)


def apply(changes: tuple[Change, ...], scenario: Scenario) -> Scenario:
    """Return the scenario with every change's `after` in place.

    Changes of one method are applied together, because a share alone may not make a legal value.
    """
    outer: dict[str, Any] = {_SCENARIO[c.field]: c.after for c in changes if c.field in _SCENARIO}
    inner = [change for change in changes if change.field not in _SCENARIO]
    replaced = [change.after for change in inner if change.field is ChangedField.METHOD]
    if replaced:
        outer["method"] = replaced[-1]
    elif inner:
        outer["method"] = _applied(scenario.method, inner)
    return replace(scenario, **outer)


def _applied(method: Method, changes: list[Change]) -> Method:
    if isinstance(method, PhSafe) and all(c.field is ChangedField.BUDGET and c.after is not None for c in changes):
        return method.with_budgets({change.key: change.after for change in changes})  # type: ignore[misc]
    parts = _PARTS[type(method)]
    names = parts.names
    edited: dict[str, Any] = {}
    for change in changes:
        name = names[change.field]
        current = edited.get(name, getattr(method, name))
        if change.field in parts.values:
            edited[name] = change.after
        elif change.field in parts.sets:
            edited[name] = current | {change.key} if change.after else current - {change.key}
        elif change.after is None:
            edited[name] = {key: value for key, value in current.items() if key != change.key}
        else:
            edited[name] = current | {change.key: change.after}  # copied without hashing every key
    return replace(method, **edited)


def people(value: Fraction) -> str:
    """Return a margin as text: whole where it is whole."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.2f}"
