"""A deterministic archive: the same files give the same bytes, so an archive can be rebuilt from its parts and compared.

The format is ZIP (PKWARE APPNOTE 6.3), restricted to what needs no decision: entries stored without compression in the order
of their names, ASCII names, one fixed date, no comments, no extra fields. Any program can unpack it; only one sequence of bytes
packs given files. Because nothing is compressed, an archive cannot grow when it is unpacked.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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
_LOCAL_SUM, _CENTRAL_SUM = 14, 16
"""Offsets of the check sum in the two headers of an entry."""
_REGULAR_FILE = 0o100644 << 16
_MADE_BY_UNIX = (3 << 8) | _VERSION


class ArchiveError(PhexploreError):
    """Files that cannot be packed, or something that is no archive."""


def is_safe_name(name: str) -> bool:
    """Return whether a name can be packed: relative, plain ASCII, nothing that leads out of a folder."""
    return bool(
        len(name) <= _LONGEST_NAME
        and _NAME.fullmatch(name)
        and not any(part in {".", ".."} or part != part.strip() for part in name.split("/"))
    )


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return the one archive that holds exactly these files.

    Raises:
        ArchiveError: a name is not plain, or there is too much.
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
        numbers = (0, _STORED, _TIME, _DATE, zlib.crc32(content), len(content), len(content), len(encoded), 0)
        local = _LOCAL.pack(_LOCAL_SIGN, _VERSION, *numbers) + encoded
        central = _CENTRAL.pack(_CENTRAL_SIGN, _MADE_BY_UNIX, _VERSION, *numbers, 0, 0, 0, _REGULAR_FILE, position)
        directory.append(central + encoded)
        pieces += (local, content)
        position += len(local) + len(content)
    index = b"".join(directory)
    end = _END.pack(_END_SIGN, 0, 0, len(files), len(files), len(index), position, 0)
    return b"".join((*pieces, index, end))


@dataclass(slots=True)
class Unpacked:
    """What was found in an archive, however damaged.

    Attributes:
        files: contents by name; of two entries with one name the first.
        places: where each content begins and ends in the archive.
        problems: what is wrong with the archive itself, in words.
        unsure: files whose check sum in the archive does not fit them: one of the two was changed.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unsure: set[str] = field(default_factory=set)


def unpack(content: bytes) -> Unpacked:
    """Read an archive as far as it can be read.

    The entries are found by the directory at the end; where that is damaged, by going through the file from its beginning.
    Contents are taken as they stand: a wrong check sum is a matter for whoever knows what they should be.

    Raises:
        ArchiveError: it is no archive at all, or larger than any that is written here.
    """
    if len(content) > LARGEST_ARCHIVE + 2**20:
        raise ArchiveError(f"The file has {len(content) // 2**20} MB.", "No bundle is that large.")
    found = Unpacked()
    entries = _by_directory(content) or list(_by_walking(content))
    if not entries:
        raise ArchiveError(
            "The file is no bundle: it holds no archive.", "Choose the file phexplore bundle has written."
        )
    for name, start, end in entries:
        if name in found.files:
            found.problems.append(f"the entry {name!r} stands twice")
            continue
        if not is_safe_name(name):
            found.problems.append(f"an entry has the name {name[:60]!r}")
            continue
        found.files[name] = content[start:end]
        found.places[name] = (start, end)
    if len(entries) <= MOST_FILES and (rebuilt := pack(found.files)) != content:
        found.problems += _structure_problems(_with_sums_of(content, rebuilt, found), rebuilt, found)
    return found


def _with_sums_of(content: bytes, rebuilt: bytes, found: Unpacked) -> bytes:
    """Return the archive with the check sums its contents have, and remember where it had others."""
    if len(content) < len(rebuilt):
        return content
    changed = bytearray(content)
    position, index = 0, sum(_LOCAL.size + len(name) + len(data) for name, data in found.files.items())
    for name in sorted(found.files):
        for start in (position + _LOCAL_SUM, index + _CENTRAL_SUM):
            if changed[start : start + 4] != rebuilt[start : start + 4]:
                found.unsure.add(name)
                changed[start : start + 4] = rebuilt[start : start + 4]
        position += _LOCAL.size + len(name) + len(found.files[name])
        index += _CENTRAL.size + len(name)
    return bytes(changed)


def _by_directory(content: bytes) -> list[tuple[str, int, int]]:
    """Return name, start and end of every entry of the directory; nothing when the directory is damaged."""
    place = content.rfind(_END_SIGN)
    if place < 0 or place + _END.size > len(content):
        return []
    _, _, _, _, count, length, start, _ = _END.unpack_from(content, place)
    if count > MOST_FILES or start + length != place:
        return []
    entries: list[tuple[str, int, int]] = []
    position = start
    for _ in range(count):
        if content[position : position + 4] != _CENTRAL_SIGN or position + _CENTRAL.size > place:
            return []
        fields = _CENTRAL.unpack_from(content, position)
        method, size, name_length, extra, comment, local = (
            fields[4],
            fields[8],
            fields[10],
            fields[11],
            fields[12],
            fields[16],
        )
        name = content[position + _CENTRAL.size :][:name_length].decode("latin-1")
        data = local + _LOCAL.size + name_length
        if method != _STORED or content[local : local + 4] != _LOCAL_SIGN or data + size > start:
            return []
        entries.append((name, data, data + size))
        position += _CENTRAL.size + name_length + extra + comment
    return entries if position == place else []


def _by_walking(content: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield the entries one finds going from one local header to the next, as long as they make sense."""
    position = count = 0
    while content[position : position + 4] == _LOCAL_SIGN and position + _LOCAL.size <= len(content):
        fields = _LOCAL.unpack_from(content, position)
        method, size, name_length, extra = fields[3], fields[8], fields[9], fields[10]
        data = position + _LOCAL.size + name_length + extra
        count += 1
        if method != _STORED or data + size > len(content) or count > MOST_FILES:
            return
        yield content[position + _LOCAL.size :][:name_length].decode("latin-1"), data, data + size
        position = data + size


def _structure_problems(content: bytes, rebuilt: bytes, found: Unpacked) -> list[str]:
    """Say where an archive differs from the one that its own files give."""
    if content == rebuilt:
        return []
    if content.startswith(rebuilt):
        return [f"{len(content) - len(rebuilt)} bytes stand behind the end of the archive"]
    pairs = enumerate(zip(content, rebuilt, strict=False))
    first = next((place for place, (a, b) in pairs if a != b), min(len(content), len(rebuilt)))
    following = [name for name, (start, _) in sorted(found.places.items(), key=lambda item: item[1]) if start > first]
    if following:
        return [f"byte {first} was changed, in the header of {following[0]!r}"]
    where = "the directory of the archive" if found.places else "the archive"
    return [f"byte {first} was changed, in {where}"]
