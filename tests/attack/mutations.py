"""Seeded damage to files: what crashes, networks, editors, other programs and ill will do to them."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import zipfile
from collections.abc import Callable

HUGE = (
    "9" * 5000, "1e999999999", "-1e999999999", "1e-999999999", "NaN", "Infinity", "-Infinity", "1" + "0" * 400, "0x1F", "1_000",
    "1/0", "1/3", "-1", "0", "0.1", "18446744073709551616", "-9223372036854775809", "2147483648", "٣", "1,5", "1e5", "+", "-", ".",
    "9" * 300 + "/" + "7" * 300, "1e20000", "true", "null", '""', "[]", "{}", "%", "100 %", "1e4000/3",
)  # fmt: skip
ODD = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\x80", b"\r", b"\r\n", b"\n", b"\x1a", b"\x0b", b"\x85", "\u2028".encode(), b'"',
    b"'", b",", b"|", b";", b"\t", b"#", b"=", b"\\", b"\\ud800", b"\\u0000", b"{", b"}", b"[", b"]", b"<", b"&", b"%", b"${HOME}",
    b"\xed\xa0\x80", "\u202e".encode(), "é".encode("latin-1"), b"\xf0\x9f\x92\xa9", b"=cmd|'/c calc'!A1", b"../../../../etc/passwd",
    b"\x1b[2J", b"__import__('os')", b"!!python/object/apply:os.system", b"/dev/zero", b"file:///etc/passwd",
)  # fmt: skip
JUNK = (
    None, True, False, 0, -1, 1.5, 10**400, float("1e308"), "", " ", "x" * 10_000, [], {}, [[]], {"": {}}, [None] * 50, "\ud800",
    "\0", "1e999999999", "9" * 5000, "../x", "NaN", {"format": "phexplore project"}, [1, "1", None], "2026-99-99T99:99:99", -(2**63),
)  # fmt: skip
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")

Mutate = Callable[[bytes, random.Random], bytes]


def flip_bits(content: bytes, dice: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(dice.choice((1, 1, 3, 20))):
        if found:
            found[dice.randrange(len(found))] ^= 1 << dice.randrange(8)
    return bytes(found)


def put_odd_bytes(content: bytes, dice: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = dice.randrange(len(found) + 1)
        found[at : at + dice.choice((0, 1))] = dice.choice(ODD)
    return bytes(found)


def cut_off(content: bytes, dice: random.Random) -> bytes:
    return content[: dice.randrange(len(content) + 1)]


def cut_out(content: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(content) + 1)
    return content[:at] + content[at + dice.choice((1, 10, 100, 1000)) :]


def repeat_part(content: bytes, dice: random.Random) -> bytes:
    at, length = dice.randrange(len(content) + 1), dice.choice((1, 10, 100, 1000))
    return content[:at] + content[at : at + length] * dice.choice((2, 3, 50)) + content[at + length :]


def zero_part(content: bytes, dice: random.Random) -> bytes:
    at, length = dice.randrange(len(content) + 1), dice.choice((1, 16, 512))
    return content[:at] + bytes(len(content[at : at + length])) + content[at + length :]


def change_lines(content: bytes, dice: random.Random) -> bytes:
    lines = content.split(b"\n")
    first, second = dice.randrange(len(lines)), dice.randrange(len(lines))
    match dice.randrange(5):
        case 0:
            lines[first], lines[second] = lines[second], lines[first]
        case 1:
            lines.insert(second, lines[first])
        case 2:
            del lines[first]
        case 3:
            lines[first] = b""
        case _:
            dice.shuffle(lines)
    return dice.choice((b"\n", b"\n", b"\r\n", b"\r")).join(lines)


def change_fields(content: bytes, dice: random.Random) -> bytes:
    lines = content.split(b"\n")
    place = dice.randrange(len(lines))
    sign = dice.choice((b",", b"|", b":", b"="))
    fields = lines[place].split(sign)
    first, second = dice.randrange(len(fields)), dice.randrange(len(fields))
    match dice.randrange(6):
        case 0:
            fields[first], fields[second] = fields[second], fields[first]
        case 1:
            fields.insert(first, fields[second])
        case 2:
            del fields[first]
        case 3:
            fields[first] = dice.choice(HUGE).encode()
        case 4:
            fields[first] = b"x" * dice.choice((100, 70_000))
        case _:
            fields[first] = b'"' + fields[first]
    lines[place] = sign.join(fields)
    return b"\n".join(lines)


def change_numbers(content: bytes, dice: random.Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    for match in sorted(dice.sample(found, min(len(found), dice.choice((1, 1, 3)))), key=lambda m: -m.start()):
        content = content[: match.start()] + dice.choice(HUGE).encode() + content[match.end() :]
    return content


def encode_otherwise(content: bytes, dice: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(
        dice.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-7", "cp037", "utf-8-sig")), "replace"
    )


def write_a_long_line(content: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(content) + 1)
    return content[:at] + dice.choice((b"x", b"1", b'"', b",", b" ", b"[", b"\\")) * 300_000 + content[at:]


def nest_deeply(content: bytes, dice: random.Random) -> bytes:
    opening, closing = dice.choice(((b"[", b"]"), (b'{"a":', b"}")))
    depth = dice.choice((70, 2_000, 100_000))
    nested = opening * depth + dice.choice((b"", b"1")) + closing * dice.choice((depth, 0))
    match dice.randrange(3):
        case 0:
            return nested
        case 1:
            at = dice.randrange(len(content) + 1)
            return content[:at] + nested + content[at:]
    return _NUMBER.sub(lambda _: nested, content, count=1)


def begin_anew(_content: bytes, dice: random.Random) -> bytes:
    return dice.choice(
        (
            b"",
            b"\n",
            b"\0" * 4096,
            dice.randbytes(2000),
            b"PK\x03\x04",
            b"\x1f\x8b",
            b"PAR1",
            b"{}",
            b"[]",
            b"null",
            b'"x"',
        )
    )


def _nodes(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += _nodes(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            found += _nodes(item, (*path, place))
    return found


def change_values(content: bytes, dice: random.Random) -> bytes:
    """Change the structure of JSON that stays JSON: other types, missing, renamed and added members."""
    lines = content.split(b"\n") if content.count(b"\n{") else [content]
    place = dice.randrange(len(lines))
    try:
        value = json.loads(lines[place])
    except (ValueError, RecursionError):
        return put_odd_bytes(content, dice)
    for _ in range(dice.choice((1, 1, 2, 4))):
        value = _changed(value, dice)
    lines[place] = json.dumps(value, ensure_ascii=dice.random() < 0.5, indent=dice.choice((None, 1))).encode(
        "utf-8", "surrogatepass"
    )
    return b"\n".join(lines)


def _changed(value: object, dice: random.Random) -> object:
    paths = [path for path in _nodes(value) if path]
    if not paths:
        return dice.choice(JUNK)
    path = dice.choice(paths)
    holder = value
    for step in path[:-1]:
        holder = holder[step]  # type: ignore[index]
    last = path[-1]
    match dice.randrange(6):
        case 0 | 1 | 2:
            holder[last] = dice.choice(JUNK)  # type: ignore[index]
        case 3:
            del holder[last]  # type: ignore[attr-defined]
        case 4:
            other = dice.choice(paths)
            found = value
            for step in other:
                try:
                    found = found[step]  # type: ignore[index]
                except (KeyError, IndexError, TypeError):
                    break
            holder[last] = json.loads(json.dumps(found))  # type: ignore[index]
        case _:
            if isinstance(holder, dict):
                holder[dice.choice(("", "x", "\0", "format", "kind", str(last) + " "))] = holder.pop(last)
            else:
                holder[last] = [holder[last]]  # type: ignore[index]
    return value


def point_elsewhere(content: bytes, dice: random.Random) -> bytes:
    """Let an .ini file include what it must not: itself, others in a ring, files outside, devices, folders, nothing."""
    target = dice.choice((
        "US.ini", "persons.ini", "../all.ini", "persons/US.ini", "../../../../../../etc/passwd", "/etc/passwd", "/dev/zero", "/dev/stdin",
        "..", ".", "", "x" * 5000, "\0", "~/x.ini", "$HOME/x.ini", "http://localhost:9/x.ini", "C:\\x.ini", "a.ini,b.ini", "missing.ini",
    ))  # fmt: skip
    line = f"\n[DEFAULT]\nINCLUDE = {target}\n".encode("utf-8", "replace")
    if b"INCLUDE" in content and dice.random() < 0.7:
        return re.sub(rb"INCLUDE\s*=.*", lambda _: line.strip().split(b"\n")[-1], content)
    return line + content if dice.random() < 0.5 else content + line


def _archive(content: bytes) -> list[tuple[zipfile.ZipInfo, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return [(info, file.read(info)) for info in file.infolist()]


def _packed(parts: list[tuple[zipfile.ZipInfo | str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for info, data in parts:
            file.writestr(info if isinstance(info, str) else info.filename, data)
    return buffer.getvalue()


def change_a_part(content: bytes, dice: random.Random) -> bytes:
    """Damage one part inside an archive that stays whole."""
    parts = _archive(content)
    place = dice.randrange(len(parts))
    info, data = parts[place]
    mutate = dice.choice(
        (flip_bits, put_odd_bytes, cut_off, cut_out, repeat_part, change_numbers, zero_part, begin_anew, insert_xml)
    )
    parts[place] = (info, mutate(data, dice))
    return _packed(parts)  # type: ignore[arg-type]


def insert_xml(content: bytes, dice: random.Random) -> bytes:
    """Put into XML what XML can be abused for."""
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    begin = content.find(b"?>") + 2 if b"?>" in content[:200] else 0
    match dice.randrange(4):
        case 0:
            return (
                content[:begin]
                + f'<!DOCTYPE x [<!ENTITY l0 "lol">{laughs}]>'.encode()
                + content[begin:].replace(b"<v>", b"<v>&l11;", 3)
            )
        case 1:
            entity = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
            return content[:begin] + entity + content[begin:].replace(b"<v>", b"<v>&e;", 3)
        case 2:
            return re.sub(
                rb'r="[A-Z]+\d+"',
                lambda _: dice.choice((b'r="XFD1048576"', b'r="ZZZZZZ99999999999"', b'r="A0"')),
                content,
                count=2,
            )
    return content.replace(b"<row", b"<row " * dice.choice((1, 5)), 1).replace(b'r="', b'r="9', dice.choice((1, 3)))


def change_entries(content: bytes, dice: random.Random) -> bytes:
    """Change the names and number of the parts of an archive."""
    parts: list[tuple[zipfile.ZipInfo | str, bytes]] = list(_archive(content))
    place = dice.randrange(len(parts))
    info, data = parts[place]
    name = info.filename if isinstance(info, zipfile.ZipInfo) else info
    match dice.randrange(6):
        case 0:
            parts[place] = (
                dice.choice(
                    ("../evil", "/etc/cron.d/x", "..\\evil", "x" * 300, "a/../../b", "\u202ex", "con", name + "/")
                ),
                data,
            )
        case 1:
            del parts[place]
        case 2:
            parts.append((f"extra{dice.randrange(9)}.xml", bytes(dice.choice((0, 10, 5_000_000)))))
        case 3:
            parts[place] = (name, bytes(dice.choice((20_000_000, 60_000_000))))
        case 4:
            dice.shuffle(parts)
        case _:
            parts += [(f"{number}.bin", b"") for number in range(dice.choice((3, 600, 5000)))]
    return _packed(parts)


def lie_about_sizes(content: bytes, dice: random.Random) -> bytes:
    """Change sizes, offsets and sums in the headers of an archive."""
    found = bytearray(content)
    signs = (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06")
    places = [m.start() for sign in signs for m in re.finditer(re.escape(sign), content)]
    for _ in range(dice.choice((1, 2, 4))):
        if places:
            at = dice.choice(places) + dice.randrange(4, 46)
            found[at : at + 4] = dice.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", dice.randbytes(4)))
    return bytes(found[: len(content)])


def squeeze_otherwise(content: bytes, dice: random.Random) -> bytes:
    """Damage what is inside gzip, or pack something that grows."""
    plain = gzip.decompress(content)
    match dice.randrange(5):
        case 0:
            mutate = dice.choice((flip_bits, put_odd_bytes, change_lines, change_fields, change_numbers))
            return gzip.compress(mutate(plain, dice), mtime=0)
        case 1:
            return gzip.compress(plain[:100] + bytes(30_000_000), mtime=0)
        case 2:
            return content + dice.choice((b"\0" * 10, b"trailing", content))
        case 3:
            return gzip.compress(content, mtime=0)
    return gzip.compress(plain + plain.split(b"\n")[-2] + b"," * 20_000_000 + b"\n", mtime=0)


def change_columns(content: bytes, dice: random.Random) -> bytes:
    """Write the table of a Parquet file again with other types, columns, nulls, nesting or compression."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(content))
    place = dice.randrange(table.num_columns)
    name, rows = table.column_names[place], table.num_rows
    junk = [
        pa.array([None] * rows), pa.array([dice.random() for _ in range(rows)]), pa.array([[1, 2]] * rows), pa.array([{"a": 1}] * rows),
        pa.array([b"\xff\x00"] * rows), pa.array(["x" * 1000] * rows), pa.array([True] * rows), pa.array([2**63 - 1] * rows),
        pa.array(["44"] * rows).dictionary_encode(), pa.array([float("nan")] * rows), pa.array([-1] * rows, pa.int8()),
        pa.array([0] * rows, pa.timestamp("us")), pa.array(["é"] * rows, pa.large_string()), pa.array([1] * rows, pa.decimal128(38, 10)),
    ]  # fmt: skip
    match dice.randrange(8):
        case 0 | 1 | 2:
            table = table.set_column(place, name, dice.choice(junk))
        case 3:
            table = table.remove_column(place)
        case 4:
            table = table.append_column(dice.choice((name, "", "x\0", "MAFID")), dice.choice(junk))
        case 5:
            table = table.slice(0, dice.choice((0, 1)))
        case 6:
            table = pa.concat_tables([table] * dice.choice((2, 500)))
        case _:
            table = table.replace_schema_metadata({"phexplore": dice.choice(("", "{", "[]", "null", "\ud7ff"))})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression=dice.choice(("none", "snappy", "gzip", "zstd")))
    return buffer.getvalue()


BYTES: tuple[Mutate, ...] = (flip_bits, put_odd_bytes, cut_off, cut_out, repeat_part, zero_part, begin_anew)
TEXT: tuple[Mutate, ...] = (*BYTES, change_lines, change_fields, change_numbers, encode_otherwise, write_a_long_line)
FAMILIES: dict[str, tuple[Mutate, ...]] = {
    "text": TEXT,
    "csv": (*TEXT, change_lines, change_fields, change_fields, change_fields, change_numbers),
    "json": (*TEXT, nest_deeply, change_values, change_values, change_values, change_values, change_values),
    "ini": (*TEXT, change_lines, change_fields, change_numbers, point_elsewhere, point_elsewhere),
    "zip": (*BYTES, change_a_part, change_a_part, change_a_part, change_entries, lie_about_sizes, lie_about_sizes),
    "gzip": (*BYTES, squeeze_otherwise, squeeze_otherwise),
    "parquet": (*BYTES, change_columns, change_columns, change_columns, flip_bits),
}


def mutated(content: bytes, family: str, dice: random.Random) -> tuple[bytes, str]:
    """Return damaged content and the name of what was done."""
    mutate = dice.choice(FAMILIES[family])
    try:
        return mutate(content, dice), mutate.__name__
    except (ValueError, OSError, RecursionError, zipfile.BadZipFile):
        return flip_bits(content, dice), "flip_bits"
