"""The reader of results as a process of its own: ``phexplore --results``.

Reading and aggregating in a thread makes the window stutter: imports, text columns and loops hold the interpreter. Requests
come in on standard input, answers go out on standard output; the end of standard input ends the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, Protocol

from phexplore.catalog.names import called
from phexplore.errors import PhexploreError
from phexplore.gui.binding.frames import Progress, Refused, read_frame, send, serve_parent
from phexplore.runs.store import load_spec
from phexplore.systems.registry import system_of
from phexplore.systems.run_results import RunRequest

_NICENESS = 5
"""The window goes first, this reader before the workers of runs."""


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the requests end."""
    tell = partial(send, answers)
    reader = Readers(tell)
    while (request := read_frame(requests)) is not None:
        try:
            tell(reader.answer(request))
        except PhexploreError as error:
            tell(Refused(error.sentence, error.remedy))


Tell = Callable[[object], None]
Answer = Callable[[Any], object]


class Question(Protocol):
    """What can be asked: it knows what answers it."""

    def reader(self) -> tuple[str, Callable[[Tell], Answer]]:
        """Return the name of its reader, and what makes it; both take what is to be said before the answer is there."""


class Readers:
    """Readers by name, made with their first question: each brings its own libraries.

    Args:
        tell: takes what is to be said before the answer is there.
    """

    def __init__(self, tell: Tell) -> None:
        self._tell = lambda value: tell(Progress(value))
        self._readers: dict[str, Answer] = {}

    def answer(self, request: Question | RunRequest) -> object:
        """Return what is asked.

        Raises:
            PhexploreError: it cannot be read.
        """
        if not isinstance(request, RunRequest):
            return self._reader(*request.reader())(request)
        with called(request.naming):  # this process knows no settings
            return self._reader(*_results_of(request))(request)

    def _reader(self, name: str, make: Callable[[Tell], Answer]) -> Answer:
        if name not in self._readers:
            self._readers[name] = make(self._tell)
        return self._readers[name]


def _results_of(request: RunRequest) -> tuple[str, Callable[[Tell], Answer]]:
    system = system_of(load_spec(request.directory).scenario)
    return system.id, lambda _tell: system.results.stated_reader().answer


def main() -> int:
    """Serve the process that started this one."""
    with suppress(OSError, AttributeError):  # not allowed, or a system without priorities
        os.nice(_NICENESS)
    return serve_parent(serve)
