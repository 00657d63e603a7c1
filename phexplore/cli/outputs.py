"""The folder a command writes into: empty, or written by the same command before; else the command does not begin."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from pathlib import Path
from typing import ParamSpec, TypeVar

from phexplore.files.output_folder import output_folder

Given = ParamSpec("Given")
Result = TypeVar("Result")


def writes_into_out(
    command: str, *, resumed: Collection[str] = ()
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Return the decorator of a command whose option ``out`` may be a folder; see `output_folder`.

    Args:
        command: its name.
        resumed: names of files that the command goes on from.
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @functools.wraps(function)
        def held(*arguments: Given.args, **options: Given.kwargs) -> Result:
            out = options["out"]
            if not isinstance(out, str | Path) or not str(out):
                return function(*arguments, **options)
            with output_folder(Path(out), command, resumed=resumed):
                return function(*arguments, **options)

        return held

    return decorate
