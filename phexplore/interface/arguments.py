"""Arguments of the public names: checked by their annotations before a call, so that an error inside it stays what it is."""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import wraps
from numbers import Real
from os import PathLike
from typing import Any, TypeVar

from phexplore.errors import PhexploreError

Called = TypeVar("Called", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)
_LONGEST = 300
_TAKEN: Mapping[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: hasattr(value, "__index__"),
    "float": lambda value: isinstance(value, Real | Decimal),
    "PathLike": lambda value: isinstance(value, PathLike),
    "Mapping": lambda value: isinstance(value, Mapping),
    "Sequence": lambda value: isinstance(value, Iterable),
    "Callable": callable,
    "None": lambda value: value is None,
}
"""Which values a name in an annotation takes; a class that is not named here takes its own."""
_UNCHECKED = {"Any", "object", "bool", "Population"}


class ArgumentError(PhexploreError, ValueError, TypeError):
    """A public name was given what it cannot take."""


class FrozenValueError(PhexploreError, AttributeError):
    """A value that never changes was assigned to; the remedy says how to make another one."""

    is_public = True


def typed(function: Called) -> Called:
    """Let a public function refuse arguments of another type than it names; every error inside it is raised as it is."""
    signature = inspect.signature(function)

    def call(*given: Any, **named: Any) -> Any:
        with argument_of(function.__qualname__):
            confirm(signature, given, named)
        return function(*given, **named)

    return wraps(function)(_with_remedy(call))  # type: ignore[return-value]


def _with_remedy(function: Called) -> Called:
    """Let the errors of a public function state their remedy in their text, also those of the file system."""

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except PhexploreError as error:
            error.is_public = True
            raise
        except OSError as error:
            if error.filename is None:
                raise
            failure = PhexploreError(
                f"{error.filename}: {error.strerror}.", "Check the file name, its folder and the free space."
            )
            failure.is_public = True
            raise failure from error

    return call  # type: ignore[return-value]


def typed_class(cls: Class) -> Class:
    """Do the same for the public methods of a class; its properties take no arguments."""
    for name, value in list(vars(cls).items()):
        if name == "__init__":
            cls.__init__ = _with_remedy(value)  # type: ignore[misc]
        if name.startswith("_"):
            continue
        if isinstance(value, classmethod):
            setattr(cls, name, classmethod(typed(value.__func__)))
        elif isinstance(value, property) and value.fget is not None:
            setattr(cls, name, property(_with_remedy(value.fget)))
        elif inspect.isfunction(value):
            setattr(cls, name, typed(value))
    return cls


@contextmanager
def argument_of(name: str) -> Iterator[None]:
    """Read an argument: a value that it cannot be is refused. Only the reading belongs inside, nothing that computes with it.

    Args:
        name: of the argument, or of the public name.

    Raises:
        ArgumentError: the value is refused.
    """
    try:
        yield
    except PhexploreError:
        raise
    except (ValueError, TypeError, ArithmeticError) as error:
        sentence = str(error).rstrip(".")[:_LONGEST]
        raise ArgumentError(f"{name} was refused: {sentence}.", "Correct the argument.") from error


def confirm(signature: inspect.Signature, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pass arguments that have the types a signature names.

    Args:
        signature: of the function.
        given: arguments by position.
        named: arguments by name.

    Raises:
        TypeError: one has another type, is missing, or is not expected.
    """
    bound = signature.bind(*given, **named)
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        accepted = _names(parameter.annotation)
        values = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
        if parameter.kind is parameter.VAR_KEYWORD:
            values = value.values()
        if accepted and not all(_is_one_of(each, accepted) for each in values):
            raise TypeError(f"{name} must be {parameter.annotation}, not {type(value).__name__}")
        if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
            raise TypeError(f"{name} must have text as keys")


def _names(annotation: Any) -> frozenset[str]:
    """Return the names of the types in an annotation; none where everything is taken."""
    bare, brackets = "Any" if annotation is inspect.Parameter.empty else str(annotation), 1
    while brackets:
        bare, brackets = re.subn(r"\[[^\[\]]*\]", "", bare)
    names = frozenset(name.strip() for name in bare.split("|"))
    return frozenset() if names & _UNCHECKED else names


def _is_one_of(value: object, names: frozenset[str]) -> bool:
    classes = {each.__name__ for each in type(value).__mro__}
    return any(_TAKEN[name](value) if name in _TAKEN else name in classes for name in names)


def whole(number: object) -> int:
    """Return an integer of any library as one of Python's.

    Raises:
        ArgumentError: it is none.
    """
    with argument_of("an integer"):
        return operator.index(number)  # type: ignore[arg-type]


def several(given: Iterable[Any]) -> list[Any]:
    """Return values as a list; a text is one of them, not its letters."""
    return [given] if isinstance(given, str) else list(given)
