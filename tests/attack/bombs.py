"""Large files made to take more than they weigh: of memory, of time, of the disk."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable, Iterator

from attack.samples import Sample

MEGABYTE = 2**20


def deflated(**parts: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def sheet_of(sample: bytes, xml: Callable[[bytes], bytes]) -> bytes:
    """Return a workbook with every sheet changed."""
    with zipfile.ZipFile(io.BytesIO(sample)) as file:
        parts = {info.filename: file.read(info) for info in file.infolist()}
    return deflated(**{name: xml(data) if "worksheets/sheet" in name else data for name, data in parts.items()})


def laughing(data: bytes) -> bytes:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    declared = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>'.encode()
    at = data.index(b"?>") + 2
    return data[:at] + declared + data[at:].replace(b"<v>", b"<v>&l9;")


def blown_up(data: bytes) -> bytes:
    """A quadratic entity instead of an exponential one: what counters of expansion let pass."""
    at = data.index(b"?>") + 2
    return (
        data[:at]
        + b'<!DOCTYPE x [<!ENTITY a "'
        + b"a" * 50_000
        + b'">]>'
        + data[at:].replace(b"<v>", b"<v>" + b"&a;" * 5_000, 1)
    )


def constant_persons(sample: bytes, rows: int) -> bytes:
    """Return persons of one value per column, repeated, in a file of some kilobytes."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(sample)).slice(0, 1)
    buffer = io.BytesIO()
    part = pa.concat_tables([table] * 1000).combine_chunks()
    with parquet.ParquetWriter(buffer, part.schema, compression="zstd") as writer:
        for _ in range(rows // 100_000):
            writer.write_table(pa.concat_tables([part] * 100).combine_chunks())
    return buffer.getvalue()


def make_bombs(samples: list[Sample]) -> Iterator[tuple[str, Sample, str, bytes]]:
    """Yield name, sample, target and content of every bomb."""
    by = {sample.kind: sample for sample in samples}

    def whole(kind: str, target: str = "") -> tuple[Sample, str, bytes]:
        sample = by[kind]
        name = target or sample.targets[0]
        path = sample.folder / name
        return sample, name, path.read_bytes() if path.exists() else b""

    project, name, content = whole("project")
    begin = content[: content.index(b'"log"')]
    yield "lists in a log", project, name, begin + b'"log": [' + b"[]," * (8 * MEGABYTE) + b"[]]}"
    yield "numbers in a log", project, name, begin + b'"log": [' + b"1," * (16 * MEGABYTE) + b"1]}"
    yield "objects in a log", project, name, begin + b'"log": [' + b"{}," * (4 * MEGABYTE) + b"{}]}"
    yield "a long text", project, name, content.replace(b'"fine"', b'"' + b"x" * (40 * MEGABYTE) + b'"')
    yield "depth", project, name, b"[" * (20 * MEGABYTE)
    yield "more than any project", project, name, b" " * (80 * MEGABYTE)
    yield "escapes", project, name, b'"' + b"\\u0041" * (4 * MEGABYTE) + b'"'
    config, name, content = whole("config-us")
    yield "numbers in a config", config, name, b'{"a": [' + b"0," * (4 * MEGABYTE) + b"0]}"
    yield "a number of many digits", config, name, b'{"a": ' + b"9" * (8 * MEGABYTE) + b"}"
    yield "keys", config, name, b"{" + b",".join(b'"%d":0' % n for n in range(400_000)) + b"}"
    ini, name, content = whole("ini", "persons/US.ini")
    yield "keys of an ini", ini, name, content + b"".join(b"key%d = 1\n" % n for n in range(100_000))
    yield "a list of an ini", ini, name, content.replace(b"Block,Block_Group", b"Block," * 200_000 + b"Block_Group", 1)
    blocks, name, content = whole("blocks")
    first, _, rest = content.partition(b"\n")
    yield "a line of a table", blocks, name, first + b"\n" + b"1" * (60 * MEGABYTE)
    yield "commas of a table", blocks, name, first + b"\n" + b"," * (30 * MEGABYTE)
    yield "a header", blocks, name, first + b",x" * (10 * MEGABYTE) + b"\n" + rest
    yield "empty lines", blocks, name, content + b"\n" * (30 * MEGABYTE)
    yield "bad lines", blocks, name, content + b"x\n" * (2 * MEGABYTE)
    packed, name, content = whole("blocks-gzip")
    yield "zeros in gzip", packed, name, gzip.compress(bytes(600 * MEGABYTE), mtime=0)
    row = content and gzip.decompress(content).split(b"\n")[1] + b"\n"
    yield (
        "rows in gzip",
        packed,
        name,
        gzip.compress(gzip.decompress(content) + row * (300 * MEGABYTE // len(row)), mtime=0),
    )
    yield "gzip in gzip", packed, name, gzip.compress(gzip.compress(bytes(300 * MEGABYTE), mtime=0), mtime=0)
    table, name, content = whole("table-xlsx")
    yield "laughs", table, name, sheet_of(content, laughing)
    yield "a quadratic entity", table, name, sheet_of(content, blown_up)
    yield (
        "an outside entity",
        table,
        name,
        sheet_of(
            content,
            lambda d: d.replace(b"<worksheet", b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><worksheet', 1),
        ),
    )
    yield "the last corner", table, name, sheet_of(content, lambda d: d.replace(b'r="A1"', b'r="XFD1048576"', 1))
    joined = b'<mergeCells count="1"><mergeCell ref="B2:XFD1048576"/></mergeCells><pageMargins'
    yield "joined cells", table, name, sheet_of(content, lambda d: d.replace(b"<pageMargins", joined, 1))
    yield "zeros in a sheet", table, name, sheet_of(content, lambda d: d + b" " * (200 * MEGABYTE))
    yield (
        "columns",
        table,
        name,
        sheet_of(content, lambda d: d.replace(b"</row>", b'<c t="s"><v>0</v></c>' * 200_000 + b"</row>", 1)),
    )
    spine, name, _ = whole("spine")
    yield "zeros in a spine", spine, name, deflated(**{"content.npy": bytes(400 * MEGABYTE)})
    persons, name, content = whole("population-parquet", "persons.parquet")
    yield "rows of one person", persons, name, constant_persons(content, 3_000_000)
    bundle, name, content = whole("bundle")
    yield "a bundle with a tail", bundle, name, content + bytes(60 * MEGABYTE)
    yield "packed entries in a bundle", bundle, name, deflated(**{"manifest.json": bytes(300 * MEGABYTE)})
    events, name, content = whole("run-phsafe-json", "events.jsonl")
    yield "events", events, name, content + b'{"event": "Note", "text": "x"}\n' * 200_000
    key, name, _ = whole("key")
    yield "a key", key, name, b"-----BEGIN PRIVATE KEY-----\n" + b"A" * (30 * MEGABYTE)
