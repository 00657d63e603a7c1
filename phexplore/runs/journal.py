"""The record of what happened in a run: ``events.jsonl``, appended line by line."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from phexplore.runs.events import Event, Progress, encode
from phexplore.runs.writing import run_record


class EventJournal:
    """Appends events with the time they were recorded. Progress is not recorded: it says nothing afterwards."""

    def __init__(self, path: Path) -> None:
        # Without a buffer: what a full disk refused must not be tried again when the file is closed.
        self._file = open(path, "ab", buffering=0, opener=run_record)  # noqa: SIM115 - until `close`
        if self._ends_inside_a_line(path):
            self._write(b"\n")

    @staticmethod
    def _ends_inside_a_line(path: Path) -> bool:
        """Return whether an earlier worker died in the middle of a line."""
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if not size:
                return False
            file.seek(size - 1)
            return file.read(1) != b"\n"

    def add(self, event: Event) -> None:
        """Append one event and hand it to the operating system, so that a crash of the program keeps it."""
        if isinstance(event, Progress):
            return
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._write(encode(event, at=at).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        """Return the journal."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()
