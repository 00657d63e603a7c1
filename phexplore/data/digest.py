"""What identifies data: the hash of what would be read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from phexplore.model.issues import InputProblemsError, Issue
from phexplore.opening import open_regular

_CHUNK_BYTES = 1 << 20
READ_SUFFIXES = {".csv", ".txt", ".gz", ".zip", ".pl", ".upl"}


class FilesDigest(NamedTuple):
    """The identity of some files.

    Attributes:
        sha256: 64 hexadecimal digits over their names and contents.
        size: of all, in bytes.
        hashes: of each content, by name.
    """

    sha256: str
    size: int
    hashes: Mapping[str, str]


def digest_files(files: Mapping[str, Path], on_progress: Callable[[int, int], None] | None = None) -> FilesDigest:
    """Return the identity of files, in their order.

    Args:
        files: by the names that count.
        on_progress: called with the bytes read so far and all of them; may raise to stop.

    Raises:
        InputProblemsError: one is missing, or no regular file.
        OSError: one cannot be read.
    """
    size, seen, hashes = sum(file.stat().st_size for file in files.values()), 0, dict[str, str]()
    for name, file in files.items():
        own = hashlib.sha256()
        with open_regular(file) as stream:
            while piece := stream.read(_CHUNK_BYTES):
                own.update(piece)
                seen += len(piece)
                if on_progress is not None:
                    on_progress(seen, size)
        hashes[name] = own.hexdigest()
    overall = "".join(f"{name}\0{digest}\n" for name, digest in hashes.items())
    return FilesDigest(hashlib.sha256(overall.encode()).hexdigest(), size, hashes)


def digest_blocks(path: Path, on_progress: Callable[[int, int], None] | None = None) -> FilesDigest:
    """Return the identity of block data. A single file counts by its content alone, so it may be renamed.

    Args:
        path: of a file, or of a directory with block files.
        on_progress: called with the bytes read so far and all of them; may raise to stop.

    Raises:
        InputProblemsError: there is none.
        OSError: one cannot be read.
    """
    if path.is_file():
        return digest_files({"": path}, on_progress)
    files = sorted(file for file in path.iterdir() if file.suffix in READ_SUFFIXES) if path.is_dir() else []
    if not files and path.is_dir():
        measured = {
            file.relative_to(path).as_posix(): file for file in sorted(path.rglob("*.parquet")) if file.is_file()
        }
        if measured:  # noisy measurements: folders of folders
            return digest_files(measured, on_progress)
    if not files:
        remedy = "Name a block file, or a directory with microdata of persons and units; see docs/block_data.md."
        raise InputProblemsError([Issue((str(path),), "There are no block-level data here.", remedy)])
    return digest_files({file.name: file for file in files}, on_progress)
