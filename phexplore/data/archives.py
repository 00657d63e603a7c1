"""Files inside of files: gzip, and members of ZIP archives, which have a path as if the archive were a folder.

``archive.zip/folder/member.csv`` is read where it lies. Nothing is written to disk, so no member can lead out of the archive, and what
unpacks beyond what a table can is stopped while it is read.
"""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, cast

from phexplore.model.issues import InputProblemsError
from phexplore.opening import open_regular, unreadable

MOST_UNPACKED, LARGEST_RATIO = 16 * 2**20, 200
"""From so many bytes on, a packed file must not have unpacked to more than so many times its size; tables reach thirty."""
_PIECE = 2**20
"""Bytes after which the growth is looked at, however much is asked for at once."""
MOST_MEMBERS = 200_000
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"

_NO_NAME = {"\\", "\0", ":"}
_BESIDE = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}
_DAMAGE = (
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    struct.error,
    RuntimeError,  # a password is needed, or a way of packing that nobody uses for tables
    ValueError,
    KeyError,
    OverflowError,
)


class Unpacked(io.RawIOBase):
    """What a packed stream unpacks to; stops where it has grown beyond what a table can."""

    def __init__(self, inner: IO[bytes], packed: int, *, owner: Any = None) -> None:
        """Read from a stream.

        Args:
            inner: gives the unpacked content.
            packed: bytes of the packed content.
            owner: is closed with this object, behind `inner`.
        """
        self._inner, self._packed, self._owner = inner, packed, owner
        self._given = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer and return how many bytes that were.

        Raises:
            OSError: the content is damaged, or grows without end.
        """
        try:
            piece = self._inner.read(min(len(buffer), _PIECE))
        except _DAMAGE as error:
            raise OSError(errno.EIO, f"the compressed file is damaged ({error})") from error
        buffer[: len(piece)] = piece
        self._given += len(piece)
        if self._given > max(MOST_UNPACKED, LARGEST_RATIO * self._packed):
            reached, packed = self._given // 2**20, max(1, self._packed // 2**10)
            raise OSError(errno.EFBIG, f"it has unpacked to {reached} MB from {packed:,} kB, which no table does")
        return len(piece)

    def close(self) -> None:
        """Close the streams."""
        with suppress(*_DAMAGE):
            self._inner.close()
        if self._owner is not None:
            self._owner.close()
        super().close()


def open_content(path: Path) -> BinaryIO:
    """Open a file, or a member of a ZIP archive, for reading what it holds, unpacked where it is gzip.

    Raises:
        InputProblemsError: it is missing, damaged or no regular file.
        OSError: it cannot be read.
    """
    opened, size = _open(path)
    try:
        if opened.peek(2)[:2] != GZIP:
            return cast("BinaryIO", opened)
    except BaseException:
        opened.close()
        raise
    unpacked = Unpacked(cast("IO[bytes]", gzip.GzipFile(fileobj=opened)), size, owner=opened)
    return cast("BinaryIO", io.BufferedReader(unpacked))


def read_whole(path: Path, limit: int) -> bytes:
    """Return what a file or a member holds, unpacked.

    Args:
        path: of a file or of a member.
        limit: most bytes.

    Raises:
        InputProblemsError: it cannot be read, or is larger.
    """
    try:
        with open_content(path) as stream:
            if len(content := stream.read(limit + 1)) <= limit:
                return content
    except OSError as error:
        raise unreadable(path, f"The file cannot be read: {error.strerror or error}.", "Check the file.") from error
    raise unreadable(path, f"The file holds more than {limit // 2**20} MB.", "Cut it to the area of interest.")


def members(archive: Path) -> tuple[Path, ...]:
    """Return the files in a ZIP archive as paths below it; folders and what systems leave behind are no files.

    Raises:
        InputProblemsError: it is damaged, holds too many files, or one whose name leads out of it.
    """
    with ExitStack() as opened:
        found = _archive(archive, opened)
        names = [info.filename for info in found.infolist() if not info.filename.endswith("/")]
    if len(names) > MOST_MEMBERS:
        raise unreadable(archive, f"The archive holds {len(names):,} files.", "Give one of fewer files.")
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise unreadable(archive, f"The archive holds two files of the name {twice[:80]!r}.", "Pack the files again.")
    places = []
    for name in names:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or set(name) & _NO_NAME or {"..", "."} & set(parts):
            sentence = f"A member of the archive has the name {name[:80]!r}, which is no name within it."
            raise unreadable(archive, sentence, "Pack the files again.")
        if not _BESIDE & set(parts) and not name.lower().endswith(".xml"):
            places.append(archive.joinpath(*parts))
    return tuple(places)


def heads(archive: Path, size: int) -> Iterator[tuple[Path, bytes]]:
    """Yield the files in a ZIP archive as `members` names them, each with its first bytes, unpacked where it is gzip.

    Args:
        archive: opened once, whatever it holds.
        size: most bytes of each.

    Raises:
        InputProblemsError: it or a member is damaged.
    """
    places = members(archive)
    with ExitStack() as opened:
        found = _archive(archive, opened)
        infos = {PurePosixPath(info.filename).as_posix(): info for info in found.infolist()}
        for place in places:
            info = infos[place.relative_to(archive).as_posix()]
            try:
                with found.open(info) as member:
                    content = io.BufferedReader(Unpacked(member, info.compress_size))
                    is_packed = content.peek(2)[:2] == GZIP
                    stream = Unpacked(gzip.GzipFile(fileobj=content), info.compress_size) if is_packed else content  # type: ignore[arg-type]
                    yield place, io.BufferedReader(stream).read(size)
            except (*_DAMAGE, OSError) as error:
                raise _damaged(place, error) from error


def archive_of(path: Path) -> Path | None:
    """Return the archive a path leads into, None for a path of the file system."""
    with suppress(OSError, ValueError):
        if path.exists():
            return None
        for parent in path.parents:
            if parent.exists():
                return parent if parent.is_file() else None
    return None


def _open(path: Path) -> tuple[io.BufferedReader, int]:
    """Return a stream of a file's or a member's bytes, and how many they are packed."""
    archive = archive_of(path)
    if archive is None:
        stream = open_regular(path)
        return cast("io.BufferedReader", stream), os.fstat(stream.fileno()).st_size
    opened = ExitStack()
    with ExitStack() as failing:
        failing.callback(opened.close)
        found = _archive(archive, opened)
        name = path.relative_to(archive).as_posix()
        info = next((each for each in found.infolist() if PurePosixPath(each.filename).as_posix() == name), None)
        if info is None:
            raise unreadable(path, f"The archive {archive.name} holds no file {name!r}.", "Check the name.")
        try:
            member = Unpacked(found.open(info), info.compress_size, owner=opened)
        except _DAMAGE as error:
            raise _damaged(path, error) from error
        failing.pop_all()
    return io.BufferedReader(member), info.compress_size


def _archive(path: Path, opened: ExitStack) -> zipfile.ZipFile:
    """Return a ZIP archive that `opened` closes."""
    stream = opened.enter_context(open_regular(path))
    try:
        return opened.enter_context(zipfile.ZipFile(stream))
    except (*_DAMAGE, OSError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> InputProblemsError:
    if isinstance(error, RuntimeError) and "password" in str(error):
        return unreadable(path, "The archive is locked by a password.", "Unpack it with the password first.")
    return unreadable(path, f"The archive is damaged ({str(error)[:120]}).", "Fetch or pack the file again.")
