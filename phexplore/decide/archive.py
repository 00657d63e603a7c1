"""A deterministic archive: the same files give the same bytes, so an archive can be rebuilt from its files and compared.

The format is ZIP (PKWARE APPNOTE 6.3) without options: entries are stored without compression in the order of their names, with
ASCII names, one fixed date, no comments, no extra fields. Any program can unpack it; one sequence of bytes packs given files.
Because nothing is compressed, an archive cannot grow when it is unpacked.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from phexplore.errors import PhexploreError

LARGEST_ARCHIVE = 512 * 2**20
MOST_FILES = 4096
_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_. +@-]*(/[A-Za-z0-9_.][A-Za-z0-9_. +@-]*)*")
_LONGEST_NAME = 200

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_LOCAL_SIGN, _CENTRAL_SIGN, _END_SIGN = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_VERSION, _STORED, _TIME, _DATE = 20, 0, 0, (1 << 5) | 1
"""Version 2.0, no compression, midnight of 1980-01-01: the first moment the format knows."""
_REGULAR_FILE = 0o100644 << 16
_MADE_BY_UNIX = (3 << 8) | _VERSION


class ArchiveError(PhexploreError):
    """Files that cannot be packed, or a file that is not an archive."""


def is_safe_name(name: str) -> bool:
    """Return whether a name can be packed: relative, plain ASCII, nothing that leads out of a folder."""
    return bool(
        len(name) <= _LONGEST_NAME
        and _NAME.fullmatch(name)
        and not any(part in {".", ".."} or part != part.strip() for part in name.split("/"))
    )


def pack(files: Mapping[str, bytes], checksums: Mapping[str, int] | None = None) -> bytes:
    """Return the one archive that contains exactly these files.

    Args:
        files: contents by name.
        checksums: CRC-32 by name to write instead of those of the contents.

    Raises:
        ArchiveError: a name is not plain, or there are too many files or bytes.
    """
    if wrong := [name for name in files if not is_safe_name(name)]:
        raise ArchiveError(f"The name {wrong[0]!r} cannot be packed.", "Use letters, digits, dots, dashes and slashes.")
    if len(files) > MOST_FILES or sum(map(len, files.values())) > LARGEST_ARCHIVE:
        raise ArchiveError(
            f"The archive would hold {len(files)} files of {sum(map(len, files.values())) // 2**20} MB in all.",
            f"Keep it within {MOST_FILES} files and {LARGEST_ARCHIVE // 2**20} MB: cite fewer runs.",
        )
    pieces: list[bytes] = []
    directory: list[bytes] = []
    position = 0
    for name in sorted(files):
        content, encoded = files[name], name.encode("ascii")
        checksum = zlib.crc32(content) if checksums is None else checksums[name]
        numbers = (0, _STORED, _TIME, _DATE, checksum, len(content), len(content), len(encoded), 0)
        local = _LOCAL.pack(_LOCAL_SIGN, _VERSION, *numbers) + encoded
        central = _CENTRAL.pack(_CENTRAL_SIGN, _MADE_BY_UNIX, _VERSION, *numbers, 0, 0, 0, _REGULAR_FILE, position)
        directory.append(central + encoded)
        pieces += (local, content)
        position += len(local) + len(content)
    index = b"".join(directory)
    end = _END.pack(_END_SIGN, 0, 0, len(files), len(files), len(index), position, 0)
    return b"".join((*pieces, index, end))


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The contents of an archive, and whether it is as it was packed.

    Attributes:
        files: contents by name; of two entries with one name the first.
        altered: names of files whose contents changed since they were packed.
        problem: how the archive differs from the one that its files give, "" when it does not.
    """

    files: Mapping[str, bytes]
    altered: tuple[str, ...] = ()
    problem: str = ""


def unpack(content: bytes) -> Unpacked:
    """Read an archive.

    Raises:
        ArchiveError: it is not an archive of this form, or is larger than any that is written here.
    """
    if len(content) > LARGEST_ARCHIVE + 2**20:
        raise ArchiveError(f"The file has {len(content) // 2**20} MB.", "No bundle is that large.")
    remedy = "Choose the file that phexplore bundle wrote."
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, RuntimeError, ValueError, OverflowError, struct.error, EOFError) as error:
        raise ArchiveError("This file is not a bundle (not a ZIP archive).", remedy) from error
    is_plain = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
    if not is_plain or not 0 < len(entries) <= MOST_FILES or sum(entry.file_size for entry in entries) > len(content):
        raise ArchiveError("This file is not a bundle: it is empty, too large, or compressed.", remedy)
    files: dict[str, bytes] = {}
    checksums: dict[str, int] = {}
    problem = ""
    for entry in entries:
        if not is_safe_name(entry.filename):
            problem = f"The archive has an entry with the name {entry.filename[:60]!r}."
            continue
        if entry.filename in files:
            problem = f"The archive has two entries with the name {entry.filename!r}."
            continue
        start = entry.header_offset + _LOCAL.size + len(entry.filename)
        files[entry.filename] = content[start : start + entry.file_size]
        checksums[entry.filename] = entry.CRC
    rebuilt = pack(files, checksums)
    if problem:
        return Unpacked(files, problem=problem)
    if rebuilt == content:
        return Unpacked(files, tuple(name for name in sorted(files) if zlib.crc32(files[name]) != checksums[name]))
    if content.startswith(rebuilt):
        return Unpacked(files, problem=f"{len(content) - len(rebuilt)} bytes follow the end of the archive.")
    return Unpacked(files, problem="The archive is not packed as bundles are: its structure was changed.")
