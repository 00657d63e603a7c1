"""The report of a crash for the next start of the program.

Nothing leaves the machine. Reports hold where in the program it happened, never data.
"""

from __future__ import annotations

import faulthandler
import os
from contextlib import suppress
from pathlib import Path
from typing import IO

from phexplore.errors import PhexploreError
from phexplore.opening import own_record, read_bytes

_LONGEST_REPORT = 20_000


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
            self._file = open(self._path, "w", encoding="utf-8", opener=own_record)  # noqa: SIM115 - kept open; a Path takes no opener
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
