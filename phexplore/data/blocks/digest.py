"""What identifies block data: the hash of what would be read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from phexplore.model.issues import InputProblemsError, Issue
from phexplore.opening import open_regular

_CHUNK_BYTES = 1 << 20
_READ_SUFFIXES = {".csv", ".txt", ".gz"}


def block_files(path: Path) -> list[Path]:
    """Return the files that would be read, in the order of their names.

    Raises:
        InputProblemsError: there is none.
    """
    if path.is_file():
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix in _READ_SUFFIXES) if path.is_dir() else []
    if not found:
        remedy = "Name a block file, or a directory with microdata of persons and units; see docs/block_data.md."
        raise InputProblemsError([Issue((str(path),), "There are no block-level data here.", remedy)])
    return found


def digest_blocks(path: Path, on_progress: Callable[[int, int], None] | None = None) -> tuple[str, int]:
    """Return the SHA-256 over names and contents of the files that would be read, and their size in bytes.

    A single file counts by its content alone, so it may be renamed.

    Args:
        path: of a file, or of a directory with block files.
        on_progress: called with the bytes read so far and all of them; may raise to stop.

    Raises:
        InputProblemsError: there is none.
        OSError: one cannot be read.
    """
    files = block_files(path)
    size, seen = sum(file.stat().st_size for file in files), 0
    overall = hashlib.sha256()
    for file in files:
        own = hashlib.sha256()
        with open_regular(file) as stream:
            while piece := stream.read(_CHUNK_BYTES):
                own.update(piece)
                seen += len(piece)
                if on_progress is not None:
                    on_progress(seen, size)
        name = "" if path.is_file() else file.name
        overall.update(f"{name}\0{own.hexdigest()}\n".encode())
    return overall.hexdigest(), size
