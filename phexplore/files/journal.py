"""The journal beside a project file: each edit as one line, written before it is acknowledged.

A line is whole or absent: it ends with the first eight digits of its SHA-256. The first line names the project file the
journal belongs to by its hash, so that a journal is never replayed onto another state of the file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import FileIO
from itertools import chain, count
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import PART_SUFFIX, WriteError, flush_directory, write_atomically
from phexplore.files.json_text import require_whole_characters
from phexplore.files.project_file import LoggedStep, ProjectContent, decode_step, encode_step, with_cursor
from phexplore.model.issues import InputProblemsError
from phexplore.opening import open_regular, read_bytes, refuse_irregular_target
from phexplore.platforms import replaces_open_files, try_lock

SUFFIX = ".journal"
_BINARY = getattr(os, "O_BINARY", 0)
_LARGEST = 2**30
"""Bytes of a journal that is read: sixteen times the largest project file, since every edit is kept as it was made."""

_BEGINNING, _ENDING = b'{"cursor":', re.compile(rb"\t[0-9a-f]{8}\Z")
"""Of the line of an edit; JSON within it has no such beginning, because quotation marks in texts are escaped."""
_OWED: dict[Path, str] = {}
"""Journals with edits in no other place, by path, and the suffix of the copy that must be made before they are replaced."""


def journal_path(project: Path) -> Path:
    """Return where the journal of a project file lies."""
    return project.with_name(project.name + SUFFIX)


class JournalInUseError(PhexploreError):
    """Another window has the project open."""


class Journal:
    """An open journal, held by this process alone. Not thread-safe: the document writes it from one thread."""

    def __init__(self, path: Path) -> None:
        """Take the journal of a project; what an earlier session left in it stays until `restart`.

        Raises:
            JournalInUseError: another process holds it.
            WriteError: the folder is not there or cannot be written.
        """
        self.path = path
        self._flushed = True
        self._file = _take(path)

    def restart(self, base: bytes, steps: Sequence[LoggedStep] = (), *, first: int = 0, cursor: int = 0) -> None:
        """Begin anew for a project file with this content; it replaces the older journal in one instant.

        Args:
            base: bytes of the project file it belongs to.
            steps: all versions, if some of them are not in the file yet.
            first: index of the first version that is not in the file.
            cursor: index of the current version, used with `steps`.

        Raises:
            WriteError: the folder cannot be written; the older journal stays.
        """
        lines = [_line({"base": hashlib.sha256(base).hexdigest()})]
        for index in range(max(first, 1), len(steps)):
            step = encode_step(steps[index - 1].workbook, steps[index])
            lines.append(_line({"cursor": index, "merged": False, "step": step}))
        if steps:
            lines.append(_line({"cursor": cursor}))
        if self.path in _OWED:
            keep_copy(self.path, _OWED[self.path])
        before, self._file = self._file, _replacement(self.path, b"".join(lines), self._file)
        before.close()
        self._flushed = True

    def step(self, entry: Mapping[str, Any], *, cursor: int, merged: bool) -> None:
        """Record a committed step.

        Args:
            entry: what `encode_step` returned of it.
            cursor: its index.
            merged: it replaces the step before it.

        Raises:
            WriteError: no space, or the journal is gone; the line is not half-written.
        """
        self._write({"cursor": cursor, "merged": merged, "step": entry})

    def moved(self, cursor: int) -> None:
        """Record that the cursor moved (undo, redo, jump).

        Raises:
            WriteError: as for a step.
        """
        self._write({"cursor": cursor})

    def flush(self) -> None:
        """Force what was written to disk; called within a second of an edit.

        Raises:
            WriteError: the disk refuses, or the file is no longer where it was: its folder is gone or unmounted.
        """
        if self._flushed:
            return
        try:
            os.fsync(self._file.fileno())
            if not _is_at(self.path, self._file):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        except OSError as error:
            raise _not_written(self.path, error) from error
        self._flushed = True

    def retire(self) -> None:
        """Empty the journal because its entries are kept elsewhere; the project stays held by this process."""
        with contextlib.suppress(OSError):
            if self.path not in _OWED:
                self._file.truncate(0)

    def close(self, *, remove: bool) -> None:
        """Close; remove the file when the project was saved or given up on purpose, or when there is nothing in it."""
        with contextlib.suppress(OSError):  # its folder may be gone or read-only by now
            remove = remove and self.path not in _OWED
            if (remove or not self._file.seek(0, os.SEEK_END)) and _is_at(self.path, self._file):
                self.path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, entry: Mapping[str, Any]) -> None:
        line = _line(entry)
        try:
            length = self._file.seek(0, os.SEEK_END)
            written = self._file.write(line)
        except OSError as error:
            raise _not_written(self.path, error) from error
        if written != len(line):
            with contextlib.suppress(OSError):
                self._file.truncate(length)
            raise _not_written(self.path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        self._flushed = False


def _not_written(path: Path, error: OSError) -> WriteError:
    return WriteError(
        f"The journal {path} cannot be written: {error.strerror or error}.",
        "Free space, then save the project: the window still holds every edit.",
    )


def _take(path: Path) -> FileIO:
    """Open a journal, made if it is not there, with the lock that says this process has the project."""
    while True:
        try:
            refuse_irregular_target(path)
            file = _open(path)
        except OSError as error:
            refuse_if_in_use(path)  # somebody who may write here can still have it open
            raise _not_written(path, error) from error
        try:
            _lock(file.fileno())
        except JournalInUseError:
            file.close()
            raise
        if _is_at(path, file):
            return file
        file.close()  # whoever held it replaced or removed it between the two calls


def _open(path: Path) -> FileIO:
    return FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o644), "ab+")


def _replacement(path: Path, content: bytes, held: FileIO) -> FileIO:
    """Put `content` in the place of a journal and return it open and locked, so that the project is never without a lock."""
    aside: Path | None = None
    file: FileIO | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART_SUFFIX, dir=path.parent)
        aside, file = Path(name), FileIO(handle, "ab+")
        if file.write(content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 - one way out for every refusal
        os.fsync(handle)
        aside.chmod(0o644)
        _lock(handle)
        if not replaces_open_files():
            held.close()
        aside.replace(path)
    except OSError as error:
        if file is not None:
            file.close()
        if aside is not None:
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)
        raise _not_written(path, error) from error
    flush_directory(path.parent)
    return file


def _is_at(path: Path, file: FileIO) -> bool:
    """Return whether the open file still is the one of this name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except OSError:
        return False


def _line(entry: Mapping[str, Any]) -> bytes:
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\t{hashlib.sha256(text.encode()).hexdigest()[:8]}\n".encode()


def refuse_if_in_use(path: Path) -> None:
    """Raise if another process holds this journal.

    Raises:
        JournalInUseError: it does; the project is open in another window.
    """
    try:
        with open_regular(path) as file:
            _lock(file.fileno())
    except InputProblemsError:
        return  # there is none, or it cannot be looked at: then a changed file is seen when the project is saved


def _lock(handle: int) -> None:
    """Take the lock that ends with the process, where the file system has one."""
    with contextlib.suppress(OSError):  # a network file system without locks: the changed file is seen instead
        if not try_lock(handle):
            raise JournalInUseError(
                "The project is open in another window.", "Close that window, or open a copy of the file."
            )


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a journal gave back.

    Attributes:
        content: of the project file, with the edits of the journal.
        edits: number of edits that were restored.
        lost: number of edits in the journal that were not restored.
        base: SHA-256 of another state of the file that the journal belongs to; "" for this state, or where that is damaged.
    """

    content: ProjectContent
    edits: int = 0
    lost: int = 0
    base: str = ""


def recover(path: Path, base: bytes, content: ProjectContent) -> Recovered:
    """Replay a journal onto the content of its project file, up to the first damaged line: each edit builds on the one before.

    Args:
        path: of the journal.
        base: bytes of the project file the content was read from.
        content: what the file holds.
    """
    lines = _lines(path)
    entries: list[Mapping[str, Any]] = []
    for line in lines:
        if (entry := _entry(line)) is None:
            break
        entries.append(entry)
    total = max(_edits_in(lines), len(entries) - 1, len(lines) > len(entries))
    stated = entries[0].get("base") if entries else None
    if stated != hashlib.sha256(base).hexdigest():
        return Recovered(content, lost=total, base=stated if isinstance(stated, str) else "")
    edits = 0
    for entry in entries[1:]:
        try:
            content = _replayed(content, entry)
        except (ValueError, TypeError, KeyError, AttributeError, PhexploreError):
            break
        edits += 1
    return Recovered(content, edits, total - edits)


def keep_copy(path: Path, suffix: str) -> Path:
    """Return a copy of a journal next to it, made unless there is one; until it is made, the journal is not replaced or removed.

    Args:
        path: of the journal.
        suffix: of the name of the first copy; further ones are numbered.

    Raises:
        WriteError: it cannot be copied.
    """
    _OWED[path] = suffix
    try:
        content = read_bytes(path, limit=_LARGEST)
        more = (f"{suffix.removesuffix('-1')}-{number}" for number in count(2))
        names = (path.with_name(path.name + each) for each in chain([suffix], more))
        copy = next(name for name in names if not os.path.lexists(name) or _holds(name, content))
    except InputProblemsError as error:
        raise WriteError(f"{path} cannot be copied. {error.issues[0].sentence}", "Copy the file.") from error
    if not os.path.lexists(copy):
        write_atomically(copy, content)
    del _OWED[path]
    return copy


def _holds(path: Path, content: bytes) -> bool:
    with contextlib.suppress(InputProblemsError):
        return read_bytes(path, limit=_LARGEST) == content
    return False


def _replayed(content: ProjectContent, entry: Mapping[str, Any]) -> ProjectContent:
    cursor = entry["cursor"]
    if type(cursor) is not int:
        raise TypeError(f"the cursor is {cursor!r}")
    if "step" not in entry:
        if not 0 <= cursor < len(content.steps):
            raise ValueError(f"the cursor {cursor} is outside the {len(content.steps)} versions")
        return with_cursor(content, cursor)
    kept = content.steps[:cursor]
    if len(kept) != cursor or cursor == 0:
        raise ValueError(f"step {cursor} does not follow {len(content.steps)} versions")
    steps = (*kept, decode_step(kept[-1].workbook, entry["step"]))
    return replace(content, steps=steps, cursor=cursor)


def _lines(path: Path) -> list[bytes]:
    """Return the lines of a journal; what a crash left of a last line is none."""
    try:
        *lines, rest = read_bytes(path, limit=_LARGEST).split(b"\n")
    except InputProblemsError:
        return []
    return lines if _entry(rest[:-1]) is None else [*lines, rest[:-1]]  # its line feed is another character now


def _edits_in(lines: Sequence[bytes]) -> int:
    """Return how many edits lines hold, by how edits begin and end: a changed bit hides, splits or joins no more than one."""
    begun = sum(line.count(_BEGINNING) for line in lines)
    return max(begun, sum(_ENDING.search(line) is not None for line in lines) - 1)


def _entry(line: bytes) -> Mapping[str, Any] | None:
    """Return the entry of a line, None when it is damaged."""
    text, _, check = line.rpartition(b"\t")
    if hashlib.sha256(text).hexdigest()[:8].encode() != check:
        return None
    try:
        words = text.decode()
        entry = json.loads(words)
        require_whole_characters(entry, words, 0, len(words))
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None
