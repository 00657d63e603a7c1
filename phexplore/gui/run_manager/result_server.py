"""The reader of results as a process of its own: ``python -m phexplore.gui.run_manager.result_server``.

Reading and aggregating in a thread makes the window stutter: imports, text columns and loops hold the interpreter. Requests
come in on standard input, answers go out on standard output; the end of standard input ends the process.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from phexplore.errors import PhexploreError
from phexplore.gui.binding.frames import Progress, Refused, frame, read_frame
from phexplore.gui.run_manager.mechanism_results import MechanismRequest
from phexplore.gui.systems.phsafe.result_reader import ResultReader
from phexplore.gui.systems.topdown.results import TopDownRequest
from phexplore.gui.systems.topdown.spine_views import SpineRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from phexplore.gui.run_manager.mechanism_result_reader import MechanismResultReader
    from phexplore.gui.systems.topdown.result_reader import TopDownResultReader
    from phexplore.gui.systems.topdown.spine_reader import SpineReader

_NICENESS = 5
"""The window goes first, this reader before the workers of runs."""


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the requests end."""

    def tell(value: object) -> None:
        answers.write(frame(value))
        answers.flush()

    reader = Readers(tell)
    while (request := read_frame(requests)) is not None:
        tell(_reply(reader, request))


class Readers:
    """The reader of each system, made with its first request: each brings its own libraries.

    Args:
        tell: takes what is to be said before the answer is there.
    """

    def __init__(self, tell: Callable[[object], None]) -> None:
        self._tell = lambda value: tell(Progress(value))
        self._phsafe: ResultReader | None = None
        self._topdown: TopDownResultReader | None = None
        self._mechanisms: MechanismResultReader | None = None
        self._spines: SpineReader | None = None

    def answer(self, request: object) -> object:
        """Return what is asked.

        Raises:
            PhexploreError: it cannot be read.
        """
        if isinstance(request, TopDownRequest):
            from phexplore.gui.systems.topdown.result_reader import TopDownResultReader

            self._topdown = self._topdown or TopDownResultReader()
            return self._topdown.answer(request)
        if isinstance(request, MechanismRequest):
            from phexplore.gui.run_manager.mechanism_result_reader import MechanismResultReader

            self._mechanisms = self._mechanisms or MechanismResultReader()
            return self._mechanisms.answer(request)
        if isinstance(request, SpineRequest):
            from phexplore.gui.systems.topdown.spine_reader import SpineReader

            self._spines = self._spines or SpineReader()
            return self._spines.answer(request, self._tell)
        self._phsafe = self._phsafe or ResultReader()
        return self._phsafe.answer(request)  # type: ignore[arg-type]


def _reply(reader: Readers, request: object) -> object:
    try:
        return reader.answer(request)
    except PhexploreError as error:
        return Refused(error.sentence, error.remedy)


def main() -> int:
    """Serve the process that started this one."""
    with suppress(OSError, AttributeError):  # not allowed, or a system without priorities
        os.nice(_NICENESS)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints must not end up among the answers
    with suppress(BrokenPipeError):  # the window is gone
        serve(sys.stdin.buffer, answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
