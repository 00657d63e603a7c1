"""The options of ``phexplore run``: flags made of declared fields, of every run and of systems, and what was typed as a value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import typer

from phexplore.errors import PhexploreError
from phexplore.model.fields import Declared, Field, Record, declared_fields
from phexplore.model.kinds import Flag, Optional, Switch, Whole, typed_value
from phexplore.model.scenario import Scenario
from phexplore.model.wishes import YES, Wish
from phexplore.runs.place import read_place
from phexplore.runs.run_settings import Memory, PlaceOfRun, RunSettings
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of, systems
from phexplore.systems.stop_metrics import read_stop

_BEFORE = "as_json"
"""The option of the command in front of which the declared ones stand."""


def with_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of every run and of every system, which it takes as ``**asked``.

    Raises:
        ValueError: two systems declare the same option for different kinds of value.
    """
    signature = inspect.signature(command)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    place = [each.name for each in own].index(_BEFORE)
    further: dict[str, inspect.Parameter] = {}
    for system, part in _fields():
        for flag in _flags(part):
            made = _parameter(system, part, flag)
            parameter = further.setdefault(made.name, made)
            if parameter.annotation != made.annotation:
                title = "" if system is None else system.title
                raise ValueError(f"{title} declares {flag} for another kind of value than the system before it")

    @functools.wraps(command)
    def held(**given: Any) -> None:
        command(**given)

    parameters = [*own[:place], *further.values(), *own[place:]]
    held.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    types = {each.name: each.annotation for each in further.values()}
    held.__annotations__ = {name: kind for name, kind in command.__annotations__.items() if name != "asked"} | types
    return held


def with_words(arguments: list[str]) -> list[str]:
    """Return the arguments with a word behind every flag that may be followed by one."""
    wishes = {part.option: part.kind.further for _, part in _fields() if isinstance(part.kind, Wish)}
    found = []
    for place, argument in enumerate(arguments):
        found.append(argument)
        if argument in wishes and arguments[place + 1 : place + 2][0:1] not in [[word] for word in wishes[argument]]:
            found.append(YES)
    return found


def chosen_settings(scenario: Scenario, asked: Mapping[str, Any], certificates: tuple[str, ...]) -> dict[str, Any]:
    """Return what was typed of the settings of every run, by the names of `RunSettings`.

    Args:
        scenario: to be run.
        asked: the value of every option by its name.
        certificates: typed paths, for a scheduler.

    Raises:
        BadParameter: an option belongs to another system, excludes another one, or cannot be understood.
    """
    system, typed = system_of(scenario), _typed(asked)
    for name in ("scheduler", "memory"):
        if name in typed and not system.has_geography:
            owners = ", ".join(each.title for each in systems().values() if each.has_geography)
            raise typer.BadParameter(f"{scenario.name} is no scenario of {owners}: --{name} belongs to it.")
    values = _values(RunSettings, typed, system)
    if "scheduler" in typed or any(certificates):
        address = typed.get("scheduler", "")
        values["place"] = _understood("--scheduler", lambda: read_place(address, certificates))
    return values


def chosen_options(scenario: Scenario, asked: Mapping[str, Any]) -> Declared | None:
    """Return the run options of a scenario's system with what was typed, None for a system without any.

    Args:
        scenario: to be run.
        asked: the value of every option by its name.

    Raises:
        BadParameter: an option belongs to another system, excludes another one, or cannot be understood.
    """
    system, typed = system_of(scenario), _typed(asked)
    declared = system.run_options
    own = {_name(flag) for each, part in _fields() if each is None or each is system for flag in _flags(part)}
    for each, part in _fields():
        for flag in _flags(part):
            if each is not None and _name(flag) in typed and _name(flag) not in own:
                raise typer.BadParameter(f"{scenario.name} is no scenario of {each.title}: {flag} belongs to it.")
    if declared is None:
        return None
    values = _values(declared, typed, system)
    try:
        return declared(**values)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _fields() -> Iterator[tuple[System | None, Field]]:
    """Yield what can be typed, with the system it belongs to: None for the settings of every run."""
    yield from ((None, part) for part in declared_fields(RunSettings) if part.option)
    for system in systems().values():
        if system.run_options is not None:
            yield from ((system, part) for part in declared_fields(system.run_options) if part.option)


def _flags(part: Field) -> dict[str, Any]:
    """Return the flags of a field; those of a `Switch` with the value each chooses, others with None."""
    if isinstance(part.kind, Switch):
        return {f"--{member.value}": member for member in list(part.kind.options)[1:]}
    return {part.option: None}


def _name(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _typed(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what somebody typed: flags that are there, and texts."""
    return {name: value for name, value in asked.items() if value is not None and value is not False}


def _plain(part: Field) -> Any:
    return part.kind.kind if isinstance(part.kind, Optional) else part.kind


def _parameter(system: System | None, part: Field, flag: str) -> inspect.Parameter:
    """Return an option as the command's signature states it."""
    said, kind = part.doc, _plain(part)
    if system is not None:
        said = f"{system.title}: {said[:1].lower()}{said[1:]}"
    elif isinstance(kind, Switch):
        said = _said_of_release(_flags(part)[flag])
    elif part.name == "data":
        said = f"{said} {_data_of_systems()}"
    annotation: Any = bool if isinstance(kind, Flag | Switch) else str | None
    shown = kind.words(part.default) if isinstance(part.default, int) and not isinstance(part.default, bool) else False
    metavar = (
        "AMOUNT"
        if isinstance(kind, Memory)
        else "NUMBER"
        if isinstance(kind, Whole)
        else "FIGURE=LIMIT"
        if isinstance(kind, Record)
        else None
    )
    if isinstance(kind, Wish):
        metavar = f"[{'|'.join(kind.further)}]"
    untyped = False if annotation is bool else None
    option = typer.Option(untyped, flag, help=said, show_default=shown, metavar=metavar if untyped is None else None)
    return inspect.Parameter(
        _name(flag), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=option, annotation=annotation
    )


def _said_of_release(mode: Any) -> str:
    """Return what a release is in the words of the systems that offer it."""
    said = {each.title: each.runs.releases[mode] for each in systems().values() if mode in each.runs.releases}
    return " ".join(f"{title}: {words[:1].lower()}{words[1:]}" for title, words in said.items())


def _data_of_systems() -> str:
    """Return which data the systems read."""
    return " ".join(f"{each.title}: {each.runs.data}." for each in systems().values())


def _values(declared: type[Declared], typed: Mapping[str, Any], system: System) -> dict[str, Any]:
    """Return the values of a declared class that were typed, by the names of its fields.

    Raises:
        BadParameter: two of them exclude each other, or one cannot be understood.
    """
    parts = {part.name: part for part in declared_fields(declared)}
    given = {part.name: [flag for flag in _flags(part) if _name(flag) in typed] for part in parts.values()}
    values: dict[str, Any] = {}
    for name, flags in given.items():
        part = parts[name]
        further = given[part.unless] if part.unless and not isinstance(parts[part.unless].kind, Switch) else []
        if flags and len(excluding := [*further, *flags]) > 1:
            raise typer.BadParameter(f"{excluding[0]} and {excluding[1]} exclude each other; leave one out.")
        if flags and not isinstance(part.kind, PlaceOfRun):
            values[name] = _value(part, flags[0], typed[_name(flags[0])], system)
    return values


def _value(part: Field, flag: str, typed: Any, system: System) -> Any:
    """Return what was typed as the value of a field.

    Raises:
        BadParameter: it is none.
    """
    kind = _plain(part)
    if isinstance(kind, Switch):
        return _flags(part)[flag]
    if isinstance(kind, Flag):
        return True
    if isinstance(kind, Record):
        return _understood(flag, lambda: read_stop(typed, system.runs.metrics()))
    return _understood(flag, lambda: typed_value(kind, typed, part.phrase))


def _understood(flag: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (ValueError, TypeError, PhexploreError) as error:
        remedy = f" {error.remedy}" if isinstance(error, PhexploreError) else ""
        raise typer.BadParameter(f"{flag}: {error}{remedy}") from error
