"""Parameters by the paths that differences call them by: read all of a scenario, and give some of them other values.

A path is the word of a declared field, the name of an entry where it has entries, and a colon before every part of a
record: ``total``, ``budget PH3/state_A-G``, ``level share County``, ``conventions: confidence``. Python, sweeps and their
files name parameters so.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from numbers import Number
from typing import Any

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.model.diff import Change, apply
from phexplore.model.edits import EditRefusedError
from phexplore.model.fields import Declared, Field, Record, declared_fields, logged_fields
from phexplore.model.kinds import Exact, Flag, Kind, Members, Optional, Whole, shown
from phexplore.model.scenario import Scenario
from phexplore.model.shares import rebalanced_block
from phexplore.model.wishes import Wish

_BETWEEN = ": "


def parameters(scenario: Scenario) -> dict[str, Any]:
    """Return the value of every parameter that alters a number, by its path, in the order of differences."""
    return dict(_all(scenario))


def _all(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    for holder, field in _fields(scenario):
        value = getattr(holder, field.name)
        if not field.is_parameter or isinstance(field.kind, Members):
            continue
        if field.kind.keys is None:
            yield from _parts(field.word, field.kind, value)
        else:
            for key, entry in value.items():
                yield from _parts(f"{field.word} {field.kind.keys.words(key)}", field.kind.entry, entry)


def _fields(scenario: Scenario) -> Iterator[tuple[Declared, Field]]:
    """Yield the fields of the parameters, then those of every scenario that say how numbers are read."""
    yield from ((scenario.method, field) for field in logged_fields(type(scenario.method)))
    yield from ((scenario, field) for field in declared_fields(Scenario) if field.name == "conventions")


def _parts(path: str, kind: Kind, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(kind, Record) or kind.is_bare:
        yield path, value
        return
    for part in declared_fields(kind.cls):
        yield from _parts(f"{path}{_BETWEEN}{part.word}", part.kind, getattr(value, part.name))


def with_parameters(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """Give parameters other values, all at once: a share that is not named gives or takes so that its whole stays 1.

    Args:
        scenario: to start from.
        values: by path; exact numbers, their text, or a float, which stands for the decimal it is written as.

    Raises:
        UnknownNameError: no parameter has this path; the remedy names the nearest.
        EditRefusedError: a value is none of its kind, is out of range or contradicts the others; nothing was changed.
    """
    found: dict[tuple[str, Hashable], Change] = {}
    for path, value in values.items():
        holder, field, key, inner = _named(scenario, path)
        whole = getattr(holder, field.name)
        earlier = found.get((field.name, key))  # two paths may name parts of one record
        held = earlier.after if earlier else whole if key is None else whole.get(key)
        try:
            new = _replaced(field.kind if key is None else field.kind.entry, held, inner, value)
        except UnknownNameError:
            raise
        except (ValueError, TypeError, AttributeError, ArithmeticError, PhexploreError) as error:
            raise EditRefusedError(f"{path} cannot be {value!r}: {error}.", field.kind.entry.remedy) from error
        found[field.name, key] = Change(field, key, held, new)
    try:
        return apply(tuple(_balanced(scenario, list(found.values()))), scenario)
    except ValueError as error:
        raise EditRefusedError(f"{error}.", "Give other values.") from error


def _named(scenario: Scenario, path: str) -> tuple[Declared, Field, Any, list[str]]:
    """Return the holder, the field, the key and the inner parts that a path names; the longest word wins."""
    outer, *inner = path.split(_BETWEEN)
    fields = [(holder, field) for holder, field in _fields(scenario) if not isinstance(field.kind, Members)]
    for holder, field in sorted(fields, key=lambda each: -len(each[1].word)):
        keys = field.kind.keys
        if keys is None and outer == field.word:
            return holder, field, None, inner
        if keys is not None and outer.startswith(f"{field.word} "):
            name = outer.removeprefix(f"{field.word} ")
            known = {keys.words(key): key for key in getattr(holder, field.name)}
            if name in known:
                return holder, field, known[name], inner
            try:
                return holder, field, keys.parse(name), inner
            except (ValueError, TypeError, PhexploreError):
                break
    raise UnknownNameError("parameter", path, list(parameters(scenario)))


def _replaced(kind: Kind, held: Any, inner: list[str], value: Any) -> Any:
    """Return a value with one inner part replaced; itself where no part is named."""
    if not inner:
        return typed(kind, value)
    parts = {part.word: part for part in declared_fields(kind.cls)} if isinstance(kind, Record) else {}
    if (part := parts.get(inner[0])) is None:
        raise UnknownNameError("part", inner[0], list(parts))
    new = _replaced(part.kind, getattr(held, part.name), inner[1:], value)
    return replace(held, **{part.name: new})


def typed(kind: Kind, value: Any) -> Any:
    """Return what Python or a file says as a value of a kind.

    Args:
        kind: of the value.
        value: a value of the kind, its text, or a number; a float stands for the decimal it is written as.

    Raises:
        ValueError, TypeError, PhexploreError: it is none.
    """
    bare = kind.kind if isinstance(kind, Optional) else kind
    if value is None and isinstance(kind, Optional):
        return None
    if isinstance(value, bool) and not isinstance(bare, Flag | Wish):
        raise TypeError("neither true nor false is a value here")
    if isinstance(bare, Exact | Whole) and isinstance(value, Number):
        return bare.parse(
            str(value)
        )  # numbers of other libraries too; what is too long is refused before it is computed
    if isinstance(value, str):
        return bare.parse(value)
    try:
        encoded = bare.encode(value)  # a value of Python's own is taken when it goes through the file's form unharmed
    except AttributeError as error:
        raise TypeError(f"{shown(value)} is no value of this kind") from error
    return bare.read(encoded)


def _balanced(scenario: Scenario, changes: list[Change]) -> Iterator[Change]:
    """Yield the changes; shares of one whole as a block in which the unlocked others give or take."""
    for change in changes:
        if change.field.whole is None:
            yield change
    for field in dict.fromkeys(change.field for change in changes if change.field.whole is not None):
        given = {change.key: change.after for change in changes if change.field is field}
        held, whole, keys = getattr(scenario.method, field.name), field.whole, field.kind.keys
        if whole is None or keys is None:
            continue
        locked = getattr(scenario.method, field.locks)
        for name in dict.fromkeys(map(whole, given)):
            column = {key: share for key, share in held.items() if whole(key) == name}
            own = {key: share for key, share in given.items() if whole(key) == name}
            if missing := [key for key in own if key not in column]:
                raise EditRefusedError(f"{keys.words(missing[0])} has no share.", "Name one that has.")
            if own == {key: column[key] for key in own}:
                continue  # the others need not move, and would be rounded
            for key, share in rebalanced_block(column, own, locked).items():
                yield Change(field, key, column[key], share)
