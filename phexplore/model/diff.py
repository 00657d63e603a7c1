"""What differs between two scenarios, as values that can be shown, counted and applied."""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from phexplore.model.fields import Declared, Field, declared_fields, field_of, logged_fields
from phexplore.model.kinds import Members, Pairs
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Change:
    """One parameter that differs.

    Attributes:
        field: of the scenario or of its parameters.
        key: which entry of a mapping or set: a query, a table, a level; None for parameters that exist once.
        before: its value in the first scenario, None when absent.
        after: its value in the second.
    """

    field: Field
    key: Any
    before: Any
    after: Any

    @property
    def word(self) -> str:
        """What kind of parameter it is, e.g. ``budget``."""
        return self.field.word

    @property
    def path(self) -> str:
        """A readable path, e.g. ``budget PH3/state_A-G``."""
        keys = self.field.kind.keys
        return self.word if keys is None else f"{self.word} {keys.words(self.key)}"


_SCENARIO = frozenset(map(id, declared_fields(Scenario)))
_METHOD = field_of(Scenario, "method")


def diff(before: Scenario, after: Scenario) -> tuple[Change, ...]:
    """Return every parameter that differs, in the order of the first scenario. Law: ``apply(diff(a, b), a) == b``.

    Args:
        before: the scenario compared with.
        after: the scenario compared.
    """
    if type(before.method) is not type(after.method):
        return (Change(_METHOD, None, before.method, after.method), *_changes(before, after))
    return (*_changes(before.method, after.method), *_changes(before, after))


def _changes(before: Declared, after: Declared) -> Iterator[Change]:
    if before is after:
        return
    for field in logged_fields(type(before)):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old is new or field is _METHOD:
            continue
        if isinstance(field.kind, Members):
            yield from (Change(field, key, key in old, key in new) for key in sorted(old ^ new, key=str))
        elif field.kind.keys is not None:
            yield from _entries(field, old, new)
        elif old != new:
            yield Change(field, None, old, new)


def _entries(field: Field, old: Mapping[Any, Any], new: Mapping[Any, Any]) -> list[Change]:
    """Return the changed entries; what an edit left alone is the same object in both, which costs no comparison."""
    if len(old) == len(new) and all(map(operator.is_, old, new)):
        pairs = zip(old.items(), new.values(), strict=True)
        return [Change(field, key, a, b) for (key, a), b in pairs if a is not b and a != b]
    keys = [*old, *(key for key in new if key not in old)]
    return [Change(field, key, old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)]


def parameters_only(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return the changes that alter a number: no names, notes, locks or provenance."""
    return tuple(change for change in changes if change.field.is_parameter)


def in_parts(change: Change) -> tuple[tuple[str, Any, Any], ...]:
    """Return path, value before and value after of every single value that a change moves: of a spine, its settings."""
    return tuple(_parts(change.path, change.before, change.after))


def _parts(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if before == after:
        return
    if not _has_parts(before) or type(before) is not type(after):
        yield path, before, after
        return
    old, new = dict(_named(before)), dict(_named(after))
    for name in dict.fromkeys([*old, *new]):
        yield from _parts(f"{path}: {name.replace('_', ' ')}", old.get(name), new.get(name))


def _has_parts(value: Any) -> bool:
    """Return whether a value is shown part by part; all parameters of a system are shown by the name of their class alone."""
    return is_dataclass(value) and not hasattr(type(value), "data_kind")


def _named(value: Any) -> Iterator[tuple[str, Any]]:
    """Return the parts of a value by name; settings that it has as pairs are parts too."""
    for part in fields(value):
        held = getattr(value, part.name)
        settings = isinstance(value, Declared) and isinstance(field_of(type(value), part.name).kind, Pairs)
        if settings and all(isinstance(pair, tuple) and isinstance(pair[0], str) for pair in held):
            yield from held
        else:
            yield part.name, held


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
        case _ if is_dataclass(value) and type(value).__str__ is not object.__str__:
            text = str(value)
        case _ if _has_parts(value):
            text = ", ".join(f"{name.replace('_', ' ')} {value_text(part)}" for name, part in _named(value))
        case _ if is_dataclass(value):
            text = type(value).__name__
        case _:
            text = str(value)
    return text


def changed_values(change: Change) -> tuple[str, str]:
    """Return the values before and after for people; of what is shown part by part only the parts that differ."""
    parts = in_parts(change)
    if len(parts) == 1 and parts[0][0] == change.path:
        return value_text(change.before), value_text(change.after)
    names = [path.removeprefix(f"{change.path}: ") for path, _, _ in parts]
    before, after = (
        ", ".join(f"{name} {value_text(part[side])}" for name, part in zip(names, parts, strict=True))
        for side in (1, 2)
    )
    return before, after


def _depth(value: tuple[Any, ...]) -> int:
    return 1 + max((_depth(part) for part in value if isinstance(part, tuple)), default=0)


def apply(changes: tuple[Change, ...], scenario: Scenario) -> Scenario:
    """Return the scenario with every change's `after` in place.

    Changes of one method are applied together, because a share alone may not make a legal value.

    Args:
        changes: from `diff`.
        scenario: of the same method, unless a change replaces the method.
    """
    outer = {change.field.name: change.after for change in changes if id(change.field) in _SCENARIO}
    inner = [change for change in changes if id(change.field) not in _SCENARIO]
    if inner and "method" not in outer:
        outer["method"] = _applied(scenario.method, inner)
    return replace(scenario, **outer)


def _applied(method: Declared, changes: list[Change]) -> Declared:
    first = changes[0].field
    if _sets_entries(changes):
        return method.with_entries(first.name, {change.key: change.after for change in changes})
    edited: dict[str, Any] = {}
    for change in changes:
        field, name = change.field, change.field.name
        current = edited.get(name, getattr(method, name))
        if field.kind.keys is None:
            edited[name] = change.after
        elif isinstance(field.kind, Members):
            edited[name] = current | {change.key} if change.after else current - {change.key}
        elif change.after is None:
            edited[name] = {key: value for key, value in current.items() if key != change.key}
        else:
            edited[name] = current | {change.key: change.after}  # copied without hashing every key
    return replace(method, **edited)


def _sets_entries(changes: list[Change]) -> bool:
    """Return whether all changes set entries of one mapping, and none goes."""
    first = changes[0].field
    entries = first.kind.keys is not None and not isinstance(first.kind, Members)
    return entries and all(change.field is first and change.after is not None for change in changes)
