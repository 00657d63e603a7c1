"""The log of errors of the program: a text file that stays small, holds where in the program each happened, and no data."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from phexplore import __version__
from phexplore.errors import trace_without_data
from phexplore.opening import own_record
from phexplore.platforms import user_folder

LARGEST_LOG = 256 * 1024
"""Bytes after which a new log is begun."""
KEPT_LOGS = 3
"""Older logs that are retained."""


class FailureLog:
    """A text file of failures, the newest last; it never grows beyond a fixed size, and never raises."""

    def __init__(self, folder: Path, *, largest: int = LARGEST_LOG) -> None:
        """Write into a folder.

        Args:
            folder: made when there is something to write.
            largest: bytes after which a new file is begun.
        """
        self.path = folder / "phexplore.log"
        self._largest = largest

    def write(self, details: str) -> bool:
        """Add an entry with its time; return whether it is on disk. A full or read-only disk loses the entry, nothing else."""
        entry = f"{datetime.now(UTC).isoformat(timespec='seconds')}\n{details.rstrip()}\n\n".encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and self.path.stat().st_size + len(entry) > self._largest:
                self._rotate()
            with open(self.path, "ab", opener=own_record) as file:
                file.write(entry)
        except OSError:
            return False
        return True

    def end_badly(self, details: str) -> None:
        """Record what ended the program before there was a window, for this log and for the next start."""
        self.write(details)
        with suppress(OSError):
            report = self.path.parent / f"crash-{os.getpid()}.txt"
            with open(report, "w", encoding="utf-8", opener=own_record) as file:
                file.write(details)

    def _rotate(self) -> None:
        names = [self.path, *(self.path.with_suffix(f".{number}.log") for number in range(1, KEPT_LOGS + 1))]
        for newer, older in reversed(list(pairwise(names))):
            if newer.exists():
                newer.replace(older)


def report_folder() -> Path:
    """Return the folder of the log of failures and of reports of crashes."""
    return user_folder("data") / "reports"


def failure_details(error: BaseException, *libraries: str) -> str:
    """Return what a maintainer needs to know: the program, the type of machine, and where it happened. No data in it.

    Args:
        error: what was not expected.
        libraries: further libraries with their versions.
    """
    import platform  # noqa: PLC0415 - only failures pay for it

    about = ", ".join((f"phexplore {__version__}", f"Python {platform.python_version()}", *libraries))
    return f"{about}, {platform.system()} {platform.machine()}\n{trace_without_data(error)}"
