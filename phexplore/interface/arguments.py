"""What Python code is told that gave a public name something it cannot take: an error of the program, with its sentence."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from phexplore.errors import PhexploreError

Called = TypeVar("Called", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)
_LONGEST = 300


class ArgumentError(PhexploreError, ValueError, TypeError):
    """A public name was given what it cannot take; the error of Python is its cause."""


class FrozenValueError(PhexploreError, AttributeError):
    """A value that never changes was assigned to; the remedy says how to make another one."""


def typed(function: Called) -> Called:
    """Let a public function raise errors of the program alone."""

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except PhexploreError:
            raise
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, OSError) as error:
            said = f"{error} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
            raise ArgumentError(
                f"{function.__qualname__} cannot take what it was given: {said.rstrip('.')[:_LONGEST]}.",
                f"See help(phexplore.{function.__qualname__}).",
            ) from error

    return call  # type: ignore[return-value]


def typed_class(cls: Class) -> Class:
    """Let the public methods and properties of a class raise errors of the program alone."""
    for name, value in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if isinstance(value, classmethod):
            setattr(cls, name, classmethod(typed(value.__func__)))
        elif isinstance(value, property) and value.fget is not None:
            setattr(cls, name, property(typed(value.fget)))
        elif callable(value):
            setattr(cls, name, typed(value))
    return cls


def whole(number: object) -> int:
    """Return a whole number of any library as one of Python's.

    Raises:
        TypeError: it is none.
    """
    return operator.index(number)  # type: ignore[arg-type]


def several(given: Iterable[Any]) -> list[Any]:
    """Return values as a list; a text is one of them, not its letters."""
    return [given] if isinstance(given, str) else list(given)
