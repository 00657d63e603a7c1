"""The options of ``phexplore run`` that systems declare: flags made of declared fields, and what was typed as a value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import typer

from phexplore.errors import PhexploreError
from phexplore.model.fields import Declared, Field, declared_fields
from phexplore.model.kinds import Flag, Optional, Switch, Whole
from phexplore.model.scenario import Scenario
from phexplore.runs.spec import StopRule
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of, systems

_AFTER = "non_private"
"""The option of the command behind which those of the systems stand."""


def with_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for every run option of every system, which it takes as ``**wishes``.

    Raises:
        ValueError: two systems declare the same option for different kinds of value.
    """
    signature = inspect.signature(command)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    place = 1 + [each.name for each in own].index(_AFTER)
    further: dict[str, inspect.Parameter] = {}
    for system, part in _run_options():
        parameter = further.setdefault(_name(part), made := _parameter(system, part))
        if (parameter.annotation, parameter.default.default) != (made.annotation, made.default.default):
            raise ValueError(
                f"{system.title} declares {part.option} for another kind of value than the system before it"
            )

    @functools.wraps(command)
    def held(**given: Any) -> None:
        command(**given)

    parameters = [*own[:place], *further.values(), *own[place:]]
    held.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    types = {each.name: each.annotation for each in further.values()}
    held.__annotations__ = {name: kind for name, kind in command.__annotations__.items() if name != "wishes"} | types
    return held


def chosen_options(scenario: Scenario, wishes: Mapping[str, Any]) -> Declared | None:
    """Return the run options of a scenario's system with what was typed, None for a system without any.

    Args:
        scenario: to be run.
        wishes: the value of every option by its name.

    Raises:
        BadParameter: an option belongs to another system, excludes another one, or cannot be understood.
    """
    declared = system_of(scenario).run_options
    own = {part.name: part for part in declared_fields(declared)} if declared is not None else {}
    usual = {_name(part): _untyped(part) for _, part in _run_options()}
    typed = {name: value for name, value in wishes.items() if value != usual[name]}
    flags = {_name(part) for part in own.values() if part.option}
    for system, part in _run_options():
        if _name(part) in typed and _name(part) not in flags:
            raise typer.BadParameter(f"{scenario.name} is no scenario of {system.title}: {part.option} belongs to it.")
    values: dict[str, Any] = {}
    for part in own.values():
        if not part.option or _name(part) not in typed:
            continue
        if part.unless and _name(own[part.unless]) in typed:
            raise typer.BadParameter(f"{own[part.unless].option} and {part.option} exclude each other; leave one out.")
        values[part.name] = _value(part, typed[_name(part)])
    try:
        return None if declared is None else declared(**values)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _run_options() -> Iterator[tuple[System, Field]]:
    """Yield what can be typed, with the system it belongs to."""
    for system in systems().values():
        if system.run_options is not None:
            yield from ((system, part) for part in declared_fields(system.run_options) if part.option)


def _name(part: Field) -> str:
    return part.option.removeprefix("--").replace("-", "_")


def _parameter(system: System, part: Field) -> inspect.Parameter:
    """Return an option as the command's signature states it."""
    said = f"{system.title}: {part.doc[:1].lower()}{part.doc[1:]}"
    kind = part.kind.kind if isinstance(part.kind, Optional) else part.kind
    annotation: Any = str | None
    limits: dict[str, Any] = {}
    if isinstance(kind, Flag | Switch):
        annotation = bool
    elif isinstance(kind, Whole):
        annotation, limits = int | None, {"min": kind.low, "max": kind.high}
    option = typer.Option(_untyped(part), part.option, help=said, **limits)
    return inspect.Parameter(
        _name(part), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=option, annotation=annotation
    )


def _untyped(part: Field) -> Any:
    """Return what an option holds when nobody types it."""
    if isinstance(part.kind, Flag | Switch):
        return False
    if part.default in {None, ""}:
        return None
    return part.default if isinstance(part.kind, Whole) else part.kind.encode(part.default)


def _value(part: Field, typed: Any) -> Any:
    """Return what was typed as the value of a field.

    Raises:
        BadParameter: it is none.
    """
    if isinstance(part.kind, Switch):
        return list(part.kind.options)[-1]
    if not isinstance(typed, str):
        return typed
    try:
        return part.kind.parse(typed)
    except (ValueError, TypeError, PhexploreError) as error:
        raise typer.BadParameter(f"{part.option}: {error}.") from error


def parse_stop(text: str) -> StopRule | None:
    """Read ``FIGURE=LIMIT``, e.g. ``County/total/mae=0.5`` or ``coverage=0.001``; None for an empty text.

    Raises:
        BadParameter: it is something else.
    """
    if not text:
        return None
    figure, sign, limit = text.rpartition("=")
    try:
        return StopRule(Fraction(limit if sign else ""), figure="" if figure == "coverage" else figure)
    except (ValueError, ZeroDivisionError) as error:
        raise typer.BadParameter(
            f"--stop-at is FIGURE=LIMIT, e.g. County/total/mae=0.5 or coverage=0.001, got {text!r} ({error})."
        ) from error
