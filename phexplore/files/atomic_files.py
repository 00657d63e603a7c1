"""Files are whole or absent: written aside, flushed to disk, renamed; the previous content can be kept."""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
from pathlib import Path

from phexplore.errors import PhexploreError
from phexplore.opening import LARGEST_FILE, read_bytes, refuse_irregular_target, unreadable

PART_SUFFIX = ".part"
"""What the name of an unfinished file ends with; before it stand a dot, the name of the file and something random."""


class WriteError(PhexploreError):
    """A file could not be written; what was there before is untouched."""


def write_atomically(
    path: Path, content: bytes, *, keep_previous: str = "", private: bool = False, keep_link: bool = False
) -> None:
    """Replace a file by `content`, so that a crash at any instant leaves the old or the new file, never a part.

    Args:
        path: the file; its directory is made if it is missing.
        content: all of it.
        keep_previous: suffix under which the old content stays, e.g. ``".previous"``; "" keeps none.
        private: whether only its owner may read it; a new file is never more open than its folder.
        keep_link: replace what a symbolic link leads to and not the link: for a file that somebody opened by this name.
            A link in a folder of ours was put there by somebody else, so it is not followed.

    Raises:
        WriteError: no space, no permission, or the directory is gone.
    """
    aside, named = None, path
    try:
        if keep_link:
            path = Path(os.path.realpath(path))
        refuse_irregular_target(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART_SUFFIX, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if not private:  # what `mkstemp` makes is its owner's alone
            mode = path.stat().st_mode if path.exists() else 0o644 & path.parent.stat().st_mode
            Path(aside).chmod(mode & 0o777)
        if keep_previous and path.exists():
            _keep(path, named.with_name(named.name + keep_previous))
        Path(aside).replace(path)
        flush_directory(path.parent)
    except OSError as error:
        if aside is not None:
            with contextlib.suppress(OSError):  # the folder may be gone or read-only; the reason is on its way
                Path(aside).unlink(missing_ok=True)
        raise WriteError(
            f"{named} could not be written: {error.strerror or error}.",
            "Nothing was lost: the previous file is untouched. Free space or choose another folder.",
        ) from error


def remove_parts(path: Path) -> None:
    """Remove what programs that were killed while they wrote this file left unfinished. Nobody may be writing it now."""
    path = Path(os.path.realpath(path))
    with contextlib.suppress(OSError):
        for part in path.parent.glob(f".{glob.escape(path.name)}*{PART_SUFFIX}"):
            part.unlink(missing_ok=True)


def _keep(path: Path, previous: Path) -> None:
    """Keep the old content beside the new one, by a second name where the file system knows links."""
    previous.unlink(missing_ok=True)
    try:
        os.link(path, previous)
    except OSError:
        previous.write_bytes(path.read_bytes())


def flush_directory(directory: Path) -> None:
    """Force the names in a directory to disk, where the file system can."""
    with contextlib.suppress(OSError):  # some network file systems cannot; the rename itself is atomic there
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_text(path: Path, *, limit: int = LARGEST_FILE, keep_mark: bool = False) -> str:
    """Return the text of a file.

    Args:
        path: the file.
        limit: of its size, in bytes.
        keep_mark: leave a byte order mark at the start of the text, for files that are written again as they were.

    Raises:
        InputProblemsError: missing, unreadable, larger than `limit` bytes, or not UTF-8.
    """
    return text_of(read_bytes(path, limit=limit), path, keep_mark=keep_mark)


def text_of(content: bytes, path: Path, *, keep_mark: bool = False) -> str:
    """Return the text that was read from a file.

    Args:
        content: of the file.
        path: of the file, for problems.
        keep_mark: whether a byte order mark stays in the text.

    Raises:
        InputProblemsError: it is not UTF-8.
    """
    try:
        return content.decode("utf-8" if keep_mark else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise unreadable(
            path, "This is not UTF-8 text.", "Save the file as UTF-8.", line=line, column=column
        ) from error
