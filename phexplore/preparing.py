"""Notification that the solver is being prepared, without loading the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

Listener = Callable[[int, int], None]

PREPARING: Final = "Preparing the solver, once per computer"
"""The phase in which machine code is made in front of a user: nothing that is installed should ever need it."""

listeners: Final[list[Listener]] = []
"""Called before a kernel is compiled, with how many kernels are ready and how many are loaded, in whatever thread it is."""


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let somebody hear of it for the length of the block."""
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)
