"""Start of further processes: with the program of this process, from source or in one binary."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

WORKER = "--worker"
"""Asks the program to be the worker of a run; its directory and place follow."""
READER = "--results"
"""Asks the program to be its window's reader of results and blocks."""
BUNDLE = "--bundle"
"""Asks the program to make, sign or check one bundle for its window."""
COMPLETION = "_PHEXPLORE_COMPLETE"
"""The environment variable by which a shell asks for completions; the words of its line are in others, and no argument is given."""

_program: list[str] = []


def start_with(program: Sequence[str]) -> None:
    """Let processes beside this one be another program: the entry script that has registered a system of its own.

    Args:
        program: and its first arguments, written out by whoever starts this process; never a text from a file.
    """
    _program[:] = program


def program_command(*arguments: str) -> list[str]:
    """Return program and arguments of a process beside this one."""
    if getattr(sys, "frozen", False):
        usual = [sys.executable]
    else:
        # -m alone would import what lies in the folder the program was started in, before what is installed.
        is_source = Path(__file__).parents[1] == Path.cwd()
        usual = [sys.executable, *([] if is_source else ["-P"]), "-m", "phexplore"]
    return [*(_program or usual), *arguments]
