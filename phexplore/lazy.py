"""Functions that load their module when they are first called, so that a table of functions is quick to read."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy(module: str, name: str) -> Callable[..., Any]:
    """Return a function that calls `name` of `module`, loaded on the first call.

    Args:
        module: full name of a module of this program, written out in the code; never a text from a file or a user.
        name: of a function in it.
    """

    def call(*arguments: Any, **named: Any) -> Any:
        return getattr(import_module(module), name)(*arguments, **named)

    return call
