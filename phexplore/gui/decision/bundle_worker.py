"""Bundles in a process of their own: ``phexplore --bundle``.

One job comes in on standard input; steps, then the result or a refusal, go out on standard output. Making a certificate as PDF
takes seconds and holds the interpreter, and private keys do not enter the window's memory.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import BinaryIO

from phexplore.decide.bundle_jobs import Began, carry_out
from phexplore.errors import PhexploreError
from phexplore.gui.binding.frames import Progress, Refused, frame, read_frame
from phexplore.model.issues import InputProblemsError


def work(orders: BinaryIO, answers: BinaryIO) -> None:
    """Carry out one order."""
    order = read_frame(orders)
    if order is None:
        return

    def say(value: object) -> None:
        answers.write(frame(value))
        answers.flush()

    try:
        say(carry_out(order, lambda number, steps, sentence: say(Progress(Began(number, steps, sentence)))))
    except InputProblemsError as error:
        lines = " ".join(f"{issue.place}: {issue.sentence} {issue.remedy}" for issue in error.issues)
        say(Refused(lines, ""))
    except PhexploreError as error:
        say(Refused(error.sentence, error.remedy))


def main() -> int:
    """Serve the process that started this one."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints must not end up among the answers
    with suppress(BrokenPipeError):  # the window is gone
        work(sys.stdin.buffer, answers)
    return 0
