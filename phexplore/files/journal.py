"""The journal beside a project file: each edit as one line, written before it is acknowledged.

A line is whole or absent: it ends with the first eight digits of its SHA-256. The first line names the project file the
journal belongs to by its hash, so that a journal is never replayed onto another state of the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.files.project_file import LoggedStep, ProjectContent, decode_step, encode_step, with_cursor
from phexplore.files.whole import WriteError, write_whole

SUFFIX = ".journal"


def journal_path(project: Path) -> Path:
    """Return where the journal of a project file lies."""
    return project.with_name(project.name + SUFFIX)


class JournalInUseError(PhexploreError):
    """Another window has the project open."""


class Journal:
    """An open journal. Not thread-safe: the document writes it from one thread."""

    def __init__(
        self, path: Path, base: bytes, steps: Sequence[LoggedStep] = (), *, first: int = 0, cursor: int = 0
    ) -> None:
        """Start a journal for a project file with this content; it replaces an older one in one instant.

        Args:
            path: of the journal.
            base: bytes of the project file it belongs to.
            steps: all versions, if some of them are not in the file yet (they were recovered).
            first: index of the first version that is not in the file.
            cursor: index of the current version, used with `steps`.

        Raises:
            JournalInUseError: another process holds the journal.
            WriteError: the folder cannot be written.
        """
        self.path = path
        self._flushed = True
        lines = [_line({"base": hashlib.sha256(base).hexdigest()})]
        for index in range(max(first, 1), len(steps)):
            step = encode_step(steps[index - 1].workbook, steps[index])
            lines.append(_line({"cursor": index, "merged": False, "step": step}))
        if steps:
            lines.append(_line({"cursor": cursor}))
        refuse_if_in_use(path)
        write_whole(path, b"".join(lines))
        self._file = path.open("ab", buffering=0)
        _lock(self._file.fileno())

    def step(self, before: LoggedStep, step: LoggedStep, *, cursor: int, merged: bool) -> None:
        """Record a committed step; `merged` says that it replaces the step before it.

        Raises:
            WriteError: no space; the line is not half-written.
        """
        self._write({"cursor": cursor, "merged": merged, "step": encode_step(before.workbook, step)})

    def moved(self, cursor: int) -> None:
        """Record that the cursor moved (undo, redo, jump)."""
        self._write({"cursor": cursor})

    def flush(self) -> None:
        """Force what was written to disk; called within a second of an edit."""
        if not self._flushed:
            os.fsync(self._file.fileno())
            self._flushed = True

    def close(self, *, remove: bool) -> None:
        """Close; remove the file when the project was saved or given up on purpose."""
        if remove:
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, entry: Mapping[str, Any]) -> None:
        line, length = _line(entry), self._file.seek(0, os.SEEK_END)
        reason = "the disk is full"
        try:
            written = self._file.write(line)
        except OSError as error:
            written, reason = 0, error.strerror or str(error)
        if written != len(line):
            with contextlib.suppress(OSError):
                self._file.truncate(length)
            raise WriteError(
                f"The journal {self.path} cannot be written: {reason}.",
                "Free space, then save the project: the window still holds every edit.",
            )
        self._flushed = False


def _line(entry: Mapping[str, Any]) -> bytes:
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\t{hashlib.sha256(text.encode()).hexdigest()[:8]}\n".encode()


def refuse_if_in_use(path: Path) -> None:
    """Raise if another process holds this journal.

    Raises:
        JournalInUseError: it does; the project is open in another window.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        _lock(file.fileno())


def _lock(handle: int) -> None:
    """Take the advisory lock that ends with the process, where the system has one."""
    try:
        import fcntl  # noqa: PLC0415 - absent on Windows, where the rename of an open journal fails instead
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise JournalInUseError(
            "The project is open in another window.", "Close that window, or open a copy of the file."
        ) from error
    except OSError:
        return  # a network file system without locks: two windows are then seen by the changed file instead


def recover(path: Path, base: bytes, content: ProjectContent) -> tuple[ProjectContent, int]:
    """Replay a journal onto the content of its project file.

    Args:
        path: of the journal.
        base: bytes of the project file the content was read from.
        content: what the file holds.

    Returns:
        The recovered content and the number of recovered entries, 0 when the journal is absent, empty, or belongs to
        another state of the file.
    """
    entries = _whole_lines(path)
    head = next(entries, None)
    if head is None or head.get("base") != hashlib.sha256(base).hexdigest():
        return content, 0
    count = 0
    for entry in entries:
        try:
            content = _replayed(content, entry)
        except (ValueError, TypeError, KeyError, AttributeError, PhexploreError):
            break
        count += 1
    return content, count


def _replayed(content: ProjectContent, entry: Mapping[str, Any]) -> ProjectContent:
    cursor = entry["cursor"]
    if "step" not in entry:
        if not 0 <= cursor < len(content.steps):
            raise ValueError(f"the cursor {cursor} is outside the {len(content.steps)} versions")
        return with_cursor(content, cursor)
    kept = content.steps[:cursor]
    if len(kept) != cursor or cursor == 0:
        raise ValueError(f"step {cursor} does not follow {len(content.steps)} versions")
    steps = (*kept, decode_step(kept[-1].workbook, entry["step"]))
    return replace(content, steps=steps, cursor=cursor)


def _whole_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines[:-1]:
        text, _, check = line.rpartition(b"\t")
        if hashlib.sha256(text).hexdigest()[:8].encode() != check:
            return
        yield json.loads(text)
