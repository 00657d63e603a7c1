"""What the program writes down about itself: a log of failures that stays small, and the report of a crash for the next start.

Nothing leaves the machine. Reports hold where in the program it happened, never data.
"""

from __future__ import annotations

import faulthandler
import os
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import IO

from phexplore.errors import PhexploreError
from phexplore.opening import read_bytes, refuse_irregular_target

LARGEST_LOG = 256 * 1024
"""Bytes after which a new log is begun."""
KEPT_LOGS = 3
"""Older logs kept beside it."""
_LONGEST_REPORT = 20_000


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

    def write(self, details: str) -> None:
        """Add an entry with its time. A full or read-only disk costs the entry, nothing else."""
        entry = f"{datetime.now(UTC).isoformat(timespec='seconds')}\n{details.rstrip()}\n\n".encode()
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            refuse_irregular_target(self.path)
            if self.path.exists() and self.path.stat().st_size + len(entry) > self._largest:
                self._rotate()
            with self.path.open("ab") as file:
                file.write(entry)

    def end_badly(self, details: str) -> None:
        """Write down what ended the program before there was a window, for this log and for the next start."""
        self.write(details)
        with suppress(OSError):
            report = self.path.parent / f"crash-{os.getpid()}.txt"
            refuse_irregular_target(report)
            report.write_text(details, encoding="utf-8")

    def _rotate(self) -> None:
        names = [self.path, *(self.path.with_suffix(f".{number}.log") for number in range(1, KEPT_LOGS + 1))]
        for newer, older in reversed(list(pairwise(names))):
            if newer.exists():
                newer.replace(older)


class CrashReport:
    """Catches what no Python code can: the interpreter writes where it was when the process was brought down."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"crash-{os.getpid()}.txt"
        self._file: IO[str] | None = None

    def begin(self) -> str:
        """Write from now on; return the report of a crash that was not told yet, "" when there is none."""
        told = self._take_reports()
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            refuse_irregular_target(self._path)
            self._file = self._path.open("w", encoding="utf-8")
            faulthandler.enable(self._file)
        return told

    def end(self) -> None:
        """Stop because the program ends as it should."""
        if self._file is None:
            return
        faulthandler.disable()
        self._file.close()
        self._file = None
        with suppress(OSError):
            self._path.unlink()

    def _take_reports(self) -> str:
        """Return what earlier processes wrote, and forget it. Empty files belong to programs that run or were killed."""
        found = []
        with suppress(OSError):
            for path in sorted(self._folder.glob("crash-*.txt")):
                with suppress(OSError, PhexploreError):
                    text = read_bytes(path).decode(errors="replace").strip()
                    if text:
                        found.append(text[:_LONGEST_REPORT])
                    if text or not _lives(path):
                        path.unlink()
        return "\n\n".join(found)


def _lives(path: Path) -> bool:
    """Return whether the process a report belongs to may still run."""
    number = path.stem.rpartition("-")[2]
    if os.name != "posix" or not number.isdecimal():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
