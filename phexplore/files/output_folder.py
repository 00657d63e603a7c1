"""Folders that commands write into: empty ones, or those the same command wrote before. Nobody else's file is ever replaced."""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar

from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import read_text, write_atomically

MARK_FILE = ".phexplore-output.json"
"""Says which command wrote the folder, and every file it left there. It lies among files, so in the first folder of a folder that
holds nothing but folders, and its name has a dot: readers of production's layout pass it over."""

_FORMAT = "phexplore output"
_MOST_NAMED = 3

Given = ParamSpec("Given")
Result = TypeVar("Result")


class OutputFolderError(PhexploreError):
    """A folder holds something that the command did not write."""


@contextlib.contextmanager
def output_folder(folder: Path, command: str, *, resumed: Collection[str] = ()) -> Iterator[None]:
    """Hold a folder for the length of a command, and leave a mark there of what it wrote.

    A path that is a file, or that becomes one, is left to the command: files of the same name are replaced.

    Args:
        folder: where the command writes; need not exist.
        command: its name.
        resumed: names of files that may lie there without a mark, because the command reads and checks them before it goes on.

    Raises:
        OutputFolderError: the folder holds files that this command did not write; all of them stay as they are.
        WriteError: the mark cannot be written.
    """
    if folder.is_dir():
        _refuse_foreign(folder, command, resumed)
    try:
        yield
    finally:
        if folder.is_dir():
            content = {"format": _FORMAT, "version": 1, "command": command, "files": sorted(_held(folder))}
            former, place = _marks(folder), _place_of_mark(folder)
            private = not folder.stat().st_mode & 0o077
            write_atomically(place, (json.dumps(content, indent=1) + "\n").encode(), private=private)
            for mark in former:
                if mark != place:
                    mark.unlink(missing_ok=True)


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


def _refuse_foreign(folder: Path, command: str, resumed: Collection[str]) -> None:
    held = _held(folder)
    if not held - set(resumed):
        return
    by, files = _marked(folder)
    foreign = sorted(held - files - set(resumed)) if by == command else sorted(held)
    if foreign:
        names = ", ".join(foreign[:_MOST_NAMED]) + (" …" if len(foreign) > _MOST_NAMED else "")
        whose = f"phexplore {by} wrote it" if by and by != command else f"phexplore {command} did not write all of it"
        raise OutputFolderError(
            f"{folder} is not empty, and {whose}: {names}.",
            "Name another folder, or empty this one yourself; nothing in it was touched.",
        )


def _marked(folder: Path) -> tuple[str, set[str]]:
    """Return the command that wrote a folder and its files; "" and none without one whole mark."""
    marks = _marks(folder)
    from phexplore.files.json_text import plain_values  # noqa: PLC0415 - most commands read no file

    try:
        content = plain_values(read_text(marks[0]), str(marks[0]), "Name another folder.")
        if len(marks) == 1 and content["format"] == _FORMAT and content["version"] == 1:
            return str(content["command"]), {str(name) for name in content["files"]}
    except (PhexploreError, KeyError, TypeError, IndexError):
        return "", set()
    return "", set()


def _marks(folder: Path) -> list[Path]:
    """Return the marks that lie in a folder and in its folders."""
    return [place / MARK_FILE for place in (folder, *_folders(folder)) if (place / MARK_FILE).is_file()]


def _place_of_mark(folder: Path) -> Path:
    if any(path.is_file() and path.name != MARK_FILE for path in folder.iterdir()):
        return folder / MARK_FILE
    return next(iter(_folders(folder)), folder) / MARK_FILE


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())


def _held(folder: Path) -> set[str]:
    """Return the names of all files and links under a folder, the mark left out."""
    found = set()
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        found |= {(Path(place) / name).relative_to(folder).as_posix() for name in (*files, *links)}
    return {name for name in found if name.rpartition("/")[2] != MARK_FILE}
