"""Files of a run that are too large to hold in memory: written beside their place, flushed to disk, renamed."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from phexplore.files.atomic_files import WriteError, write_atomically
from phexplore.opening import own_record

PART_SUFFIX = ".part"
"""What the name of an unfinished file ends with."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Give the path to write to; when the block ends well, flush that file to disk and rename it to `path`.

    On any error the unfinished file is removed and a file already at `path` stays as it was. A folder of whole files stays
    unfinished, to be gone on with.

    Raises:
        WriteError: the file system refuses; the remedy says what to do.
    """
    part = path.with_name(path.name + PART_SUFFIX)
    try:
        yield part
        if not part.is_dir():  # the files of a folder are flushed one by one
            with part.open("rb+") as file:
                os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        remove_quietly(part)
        raise write_error(path, error) from error
    except BaseException:
        remove_quietly(part)
        raise


def write_error(path: Path, error: OSError) -> WriteError:
    """Return the failure to write `path` as a sentence with a remedy.

    Args:
        path: of the file.
        error: of the file system.
    """
    return WriteError(
        f"{path} could not be written: {error.strerror or error}.",
        "Free some space, or check that you may write there, then resume the run: finished trials are kept.",
    )


def write_json(path: Path, content: Mapping[str, Any], *, private: bool = False) -> None:
    """Write a JSON object, indented, so that the file is whole or absent.

    Args:
        path: the file.
        content: the object.
        private: whether only its owner may read it.

    Raises:
        WriteError: the file system refuses.
        ValueError: the content holds a number JSON has no spelling for.
    """
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(path, (text + "\n").encode(), private=private)


def is_private(directory: Path) -> bool:
    """Return whether a directory is its owner's alone, as that of a run on records treated as confidential."""
    return directory.is_dir() and not directory.stat().st_mode & 0o077


def run_record(path: str, flags: int) -> int:
    """Open a record in a run directory; in a private one it is private. An opener for `open`.

    Args:
        path: of the record.
        flags: of the mode of `open`.
    """
    return own_record(path, flags, private=is_private(Path(path).parent))


def remove_quietly(path: Path) -> None:
    """Remove a file that may be missing, and stay silent when the system refuses: a better error is on its way."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
