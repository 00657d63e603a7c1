"""Bundles in a process of their own: ``phexplore --bundle``.

One job comes in on standard input; steps, then the result or a refusal, go out on standard output. Making a certificate as PDF
takes seconds and holds the interpreter, and private keys do not enter the window's memory.
"""

from __future__ import annotations

from functools import partial
from typing import BinaryIO

from phexplore.decide.bundle_jobs import Began, carry_out
from phexplore.errors import PhexploreError
from phexplore.gui.binding.frames import Progress, Refused, read_frame, send, serve_parent
from phexplore.model.issues import InputProblemsError


def work(orders: BinaryIO, answers: BinaryIO) -> None:
    """Carry out one order."""
    order = read_frame(orders)
    if order is None:
        return

    say = partial(send, answers)
    try:
        say(carry_out(order, lambda number, steps, sentence: say(Progress(Began(number, steps, sentence)))))
    except InputProblemsError as error:
        lines = " ".join(f"{issue.place}: {issue.sentence} {issue.remedy}" for issue in error.issues)
        say(Refused(lines, ""))
    except PhexploreError as error:
        say(Refused(error.sentence, error.remedy))


def main() -> int:
    """Serve the process that started this one."""
    return serve_parent(work)
