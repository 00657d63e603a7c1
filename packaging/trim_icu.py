"""Leave out of Qt's copy of ICU's data what English does not need: 29 of its 32 MB are other languages, code pages and units.

    python packaging/trim_icu.py FOLDER        every libicudata.so.* in it is written anew; needs ld and objcopy (binutils)

Format of the data: ICU's common data, https://unicode-org.github.io/icu/userguide/icu_data/#icu-data-file-formats (`CmnD`, a
table of names and offsets in the order of the names). Qt asks it for the order of words and for capitals only; what is not there
ICU takes from its root.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = re.compile(
    r"""(.*/)?( [^/]*\.(icu|nrm|cfu|brk)            # properties, normal forms, breaks
      | (root|en|en_US|pool|res_index)\.res         # the root, and English
      | [A-Za-z]*[A-Z][A-Za-z]*\.res | [a-z]{4,}[A-Za-z0-9]*\.res )  # supplementalData and the like, which are no language""",
    re.VERBOSE,
)
DROPPED = re.compile(r"(translit|unit|rbnf|zone|curr|lang|region)/.*(?<!res_index\.res)(?<!root\.res)(?<!pool\.res)$")


def trimmed(data: bytes) -> bytes:
    """Return common data with the items that are kept.

    Raises:
        ValueError: it is no common data.
    """
    if data[12:16] != b"CmnD":
        raise ValueError("this is not ICU's common data")
    start = struct.unpack_from("<H", data)[0]
    (count,) = struct.unpack_from("<I", data, start)
    places = [struct.unpack_from("<II", data, start + 4 + 8 * item) for item in range(count)]
    ends = [place for _, place in places[1:]] + [len(data) - start]
    items = []
    for (name_at, place), end in zip(places, ends, strict=True):
        name = data[start + name_at : data.index(b"\0", start + name_at)]
        short = name.decode().partition("/")[2]
        if KEPT.fullmatch(short) and not DROPPED.match(short):
            items.append((name, data[start + place : start + end]))
    table = 4 + 8 * len(items)
    names = b"".join(name + b"\0" for name, _ in items)
    body, entries, name_at = b"", b"", table
    first = -(-(table + len(names)) // 16) * 16
    for name, content in items:
        entries += struct.pack("<II", name_at, first + len(body))
        name_at += len(name) + 1
        body += content + b"\0" * (-len(content) % 16)
    head = struct.pack("<I", len(items)) + entries + names
    return data[:start] + head.ljust(first, b"\0") + body


def main() -> int:
    for library in (found for found in Path(sys.argv[1]).rglob("libicudata.so.*") if not found.is_symlink()):
        found = library.read_bytes()
        symbol = re.search(rb"icudt\d+_dat", found)
        at = found.index(b"CmnD") - 12
        if symbol is None:
            raise ValueError(f"{library} holds no data of ICU")
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            (work / "data").write_bytes(trimmed(found[at : _end(found, at)]))
            for step in (
                "ld -r -b binary -o read data",
                "objcopy --rename-section .data=.rodata,alloc,load,readonly,data,contents --set-section-alignment .data=16 read whole",
                f"ld -shared -z noexecstack -soname {library.name} --defsym {symbol.group().decode()}=_binary_data_start -o made whole",
            ):
                subprocess.run(step.split(), cwd=work, check=True)  # noqa: S603 - written out above
            library.write_bytes((work / "made").read_bytes())
        print(f"{library.name}: {len(found) >> 20} MB, now {library.stat().st_size >> 20}")
    return 0


def _end(found: bytes, at: int) -> int:
    """Return where the data end: in the table of symbols the size stands behind the place."""
    behind = (match.end() for match in re.finditer(re.escape(struct.pack("<Q", at)), found[:at]))
    sizes = [struct.unpack_from("<Q", found, place)[0] for place in behind]
    return at + max(size for size in sizes if size <= len(found) - at)


if __name__ == "__main__":
    sys.exit(main())
