"""Files that somebody names are opened here: regular files only, answered at once, and never read beyond a limit."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from phexplore.model.issues import InputProblemsError, Issue
from phexplore.text.messages import msg

LARGEST_FILE = 64 * 2**20
"""Bytes of the largest parameter or project file that is read: about 60,000 steps of the edit log."""

_NOT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_KINDS = (
    (stat.S_ISDIR, msg("This is a directory, not a file."), msg("Name the file itself.")),
    (stat.S_ISFIFO, msg("This is a pipe, not a file."), msg("Write its content to a file, and name that file.")),
    (stat.S_ISSOCK, msg("This is a socket, not a file."), msg("Name a file.")),
    (lambda mode: not stat.S_ISREG(mode), msg("This is a device, not a file."), msg("Name a file.")),
)


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading. A pipe or a device is refused without waiting for anybody, whatever its name was before.

    Raises:
        InputProblemsError: missing, unreadable, a name no file can have, or something else than a regular file.
    """
    refuse_irregular(path)  # opening a device can have effects of its own
    try:
        handle = os.open(path, os.O_RDONLY | _NOT_WAITING)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    try:
        _refuse_kind(path, os.fstat(handle).st_mode)
        return os.fdopen(handle, "rb")
    except BaseException:
        with suppress(OSError):
            os.close(handle)
        raise


def refuse_irregular(path: Path) -> None:
    """Pass a file that a library opens by its name.

    Raises:
        InputProblemsError: as for `open_regular`.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    _refuse_kind(path, mode)


def refuse_irregular_target(path: Path) -> None:
    """Pass the name of a file to be written: nothing is there, or a regular file. A device must not be replaced by a file.

    Raises:
        OSError: a directory, a pipe, a socket or a device has this name, or it is no name.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EEXIST
        reason = os.strerror(code) if stat.S_ISDIR(mode) else "this is a pipe, a socket or a device, not a file"
        raise OSError(code, reason, str(path))


def own_record(path: str, flags: int, *, private: bool = True) -> int:
    """Open a log, a journal or a crash report for writing: an opener for `open` that follows no link.

    Args:
        path: of the record; a link there was put by somebody else.
        flags: of the mode of `open`.
        private: whether only its owner may read it, also one that is there already.

    Raises:
        OSError: a link or something else than a regular file has this name, or the system refuses.
    """
    if Path(path).is_symlink():
        raise OSError(errno.ELOOP, "this is a symbolic link, not a file", path)
    refuse_irregular_target(Path(path))
    handle = os.open(path, flags | _NOT_WAITING | getattr(os, "O_NOFOLLOW", 0), 0o600 if private else 0o666)
    if private and hasattr(os, "fchmod"):
        try:
            os.fchmod(handle, 0o600)
        except OSError:
            os.close(handle)
            raise
    return handle


def read_bytes(path: Path, *, limit: int = LARGEST_FILE) -> bytes:
    """Return the content of a file.

    Args:
        path: the file.
        limit: of its size, in bytes; no more than this is read, also when the file grows meanwhile.

    Raises:
        InputProblemsError: as for `open_regular`, or larger than `limit` bytes.
    """
    with open_regular(path) as file:
        try:
            if os.fstat(file.fileno()).st_size <= limit and len(content := file.read(limit + 1)) <= limit:
                return content
        except OSError as error:
            raise _unreadable(path, error) from error
    raise unreadable(
        path, msg("The file is larger than {limit} MB.", limit=limit // 2**20), msg("Choose a parameter file.")
    )


def unreadable(path: Path, sentence: str, remedy: str, *, line: int = 0, column: int = 0) -> InputProblemsError:
    """Return the refusal of a file, to be raised.

    Args:
        path: of the file.
        sentence: what is wrong.
        remedy: what to do.
        line: from 1, 0 for the whole file.
        column: from 1, 0 for the whole line.
    """
    return InputProblemsError([Issue((str(path),), sentence, remedy, line=line, column=column)])


def _refuse_kind(path: Path, mode: int) -> None:
    for is_kind, sentence, remedy in _KINDS:
        if is_kind(mode):
            raise unreadable(path, sentence, remedy)


def _unreadable(path: Path, error: OSError | ValueError) -> InputProblemsError:
    reason = error.strerror if isinstance(error, OSError) else None
    return unreadable(
        path, msg("The file cannot be read: {reason}.", reason=reason or str(error)), msg("Check the name.")
    )
