"""Which folder the runs of a project are in: beside its file, beside its scratch file while it was never saved.

The first save takes the runs along. A run at work moves when it has ended, so before that the folder it is in promises
them to the file: whoever opens that file fetches what was left behind, whatever happened in between.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import WriteError, read_text, write_atomically
from phexplore.files.journal import SUFFIX
from phexplore.runs.lock import is_locked
from phexplore.runs.store import SPEC_FILE, present_trials
from phexplore.runs.writing import PART_SUFFIX

RUNS_SUFFIX = ".runs"
_PROMISE_FILE = "project.txt"


def runs_folder(project: Path) -> Path:
    """Return the folder of the runs of a project file or a scratch file."""
    return project.with_name(project.name + RUNS_SUFFIX)


def runs_in(folder: Path) -> tuple[Path, ...]:
    """Return the directories of runs in a folder, by name; none where there is no folder."""
    with suppress(OSError):
        return tuple(sorted(path for path in folder.iterdir() if (path / SPEC_FILE).is_file()))
    return ()


def runs_with_trials(folder: Path) -> int:
    """Return how many runs in a folder have a finished trial: what would be lost with it."""
    found = 0
    for path in runs_in(folder):
        with suppress(OSError):
            found += bool(present_trials(path))
    return found


def promise_runs(folder: Path, project: Path) -> None:
    """Write down that the runs of an unsaved project belong to the file it is saved as. A folder without runs stays away.

    Args:
        folder: of the runs beside the scratch file.
        project: file that the project is saved as.

    Raises:
        WriteError: the folder cannot be written.
    """
    if folder.is_dir():
        write_atomically(folder / _PROMISE_FILE, f"{project.absolute()}\n".encode())


def promised_runs(scratch_folder: Path, project: Path) -> tuple[Path, ...]:
    """Return the runs that were promised to a project file and are still beside its scratch file.

    A promise is only compared, never followed; one whose scratch file is there was made by a save that did not happen.

    Args:
        scratch_folder: where scratch files are.
        project: file that was opened.
    """
    found: list[Path] = []
    for folder in sorted(scratch_folder.glob(f"*{RUNS_SUFFIX}")):
        if folder.with_name(folder.name.removesuffix(RUNS_SUFFIX)).exists():
            continue
        with suppress(PhexploreError):
            if read_text(folder / _PROMISE_FILE).strip() == str(project.absolute()):
                found += runs_in(folder)
    return tuple(found)


def abandoned_runs(scratch_folder: Path, before: float) -> tuple[Path, ...]:
    """Return the folders with finished runs that no project fetches: theirs was given up, or is not where it was saved.

    One in which nothing finished is removed. A folder of a project that is there, or that anything changed in lately,
    is left alone: its window may be at work, and its runs may still be waiting.

    Args:
        scratch_folder: of the projects that were never saved, and their runs; earlier versions named those after a
            process.
        before: seconds since 1970; what changed later is in use.
    """
    found = []
    for folder in sorted({*scratch_folder.glob(f"*{RUNS_SUFFIX}"), *scratch_folder.glob("*-runs")}):
        with suppress(OSError, PhexploreError):
            runs = runs_in(folder)
            if folder.is_symlink() or folder.with_name(folder.name.removesuffix(RUNS_SUFFIX)) in _projects(
                scratch_folder
            ):
                continue
            if max(path.stat().st_mtime for path in (folder, *runs)) >= before or any(map(is_locked, runs)):
                continue
            if runs_with_trials(folder):
                promise = folder / _PROMISE_FILE
                if not (promise.is_file() and Path(read_text(promise).strip()).is_file()):
                    found.append(folder)
            elif set(folder.iterdir()) <= {*runs, folder / _PROMISE_FILE}:
                shutil.rmtree(folder)
    return tuple(found)


def _projects(scratch_folder: Path) -> set[Path]:
    """Return the projects that a scratch folder has, also where a journal alone is left of one."""
    return {path.with_name(path.name.removesuffix(SUFFIX)) for path in scratch_folder.glob("*.phx*") if path.is_file()}


def fetch_runs(directories: Iterable[Path], root: Path) -> dict[Path, Path]:
    """Move runs into a folder, made if it is not there; return where each of them is now.

    A run a worker is at, or one that is gone meanwhile, is left out. A folder that holds no run any more is removed.

    Args:
        directories: of the runs.
        root: where they belong.

    Raises:
        WriteError: the system refuses; every run is whole, where it was or where it belongs.
    """
    moved: dict[Path, Path] = {}
    folders = set()
    for directory in directories:
        if not directory.is_dir() or is_locked(directory):
            continue
        try:
            root.mkdir(parents=True, exist_ok=True)
            moved[directory] = _move(directory, root)
        except OSError as error:
            raise WriteError(
                f"The run {directory.name} could not be moved to {root}: {error.strerror or error}.",
                "It stays in the program's own folder and is fetched when the project is opened again.",
            ) from error
        folders.add(directory.parent)
    for folder in folders:
        if not runs_in(folder):
            shutil.rmtree(folder, ignore_errors=True)
    return moved


def _move(directory: Path, root: Path) -> Path:
    """Move a directory; at every moment it is whole in one of both places."""
    target, number = root / directory.name, 2
    while target.exists():
        target, number = root / f"{directory.name}-{number}", number + 1
    try:
        return directory.rename(target)
    except OSError:
        if _is_same_disk(directory, root):
            raise
    # Another disk: the copy is made where no list looks, and becomes the run at once.
    copies = root / f".{directory.name}{PART_SUFFIX}"
    shutil.rmtree(copies, ignore_errors=True)
    shutil.copytree(directory, copies / directory.name)
    (copies / directory.name).rename(target)
    copies.rmdir()
    shutil.rmtree(directory, ignore_errors=True)
    return target


def _is_same_disk(one: Path, other: Path) -> bool:
    return one.stat().st_dev == other.stat().st_dev
