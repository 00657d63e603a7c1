"""One worker per run directory: a lock the operating system drops when its process dies."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from phexplore.errors import PhexploreError
from phexplore.platforms import try_lock, unlock
from phexplore.runs.writing import run_record

LOCK_FILE = "worker.lock"

_PATIENCE_SECONDS = 1.0
"""A reader that asks whether the run is alive holds the lock for an instant; a worker waits that long for it."""


class RunBusyError(PhexploreError):
    """Another process works in this run directory."""

    def __init__(self, directory: Path) -> None:
        super().__init__(
            f"Another process is working in {directory}.", "Wait for it, cancel it, or choose another directory."
        )


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the run directory for the length of the block.

    Raises:
        RunBusyError: another process holds it.
        OSError: the lock file cannot be made.
    """
    with open(directory / LOCK_FILE, "ab", opener=run_record) as file:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not _try_lock(file):
            if time.monotonic() > deadline:
                raise RunBusyError(directory)
            time.sleep(0.02)
        try:
            yield
        finally:
            unlock(file.fileno())


def is_locked(directory: Path) -> bool:
    """Return whether a process works in this directory now. Changes nothing."""
    try:
        with (directory / LOCK_FILE).open("rb+") as file:
            if _try_lock(file):
                unlock(file.fileno())
                return False
            return True
    except OSError:
        return False


def _try_lock(file: BinaryIO) -> bool:
    try:
        return try_lock(file.fileno())
    except OSError:
        return False
