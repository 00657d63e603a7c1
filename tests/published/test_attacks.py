"""Files made to harm: bombs, endless queries, giant counts, names that lead out or lie. Each is refused in little work, or read as it is."""

import gzip
import io
import os
import sqlite3
import struct
import zipfile

import pytest

from phexplore.data.archives import MOST_UNPACKED, Unpacked
from phexplore.errors import PhexploreError
from phexplore.published.door import read_files, recognise
from phexplore.systems.topdown.shapes import read_outlines

HEADER = "gisjoin,name,H72001_dp,H72001_sf\n"
SQUARE = struct.pack("<2sBBi", b"GP", 0, 1, 4269) + struct.pack("<BIII10d", 1, 3, 1, 5, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0)
TABLES = (
    "CREATE TABLE gpkg_contents(table_name); CREATE TABLE gpkg_geometry_columns(table_name, column_name);"
    "INSERT INTO gpkg_geometry_columns VALUES('t', 'geom');"
)
FILLED = f"CREATE TABLE t(GEOID, geom); INSERT INTO t VALUES('44', X'{SQUARE.hex()}');"
RENAMED = (
    "PRAGMA writable_schema = ON;"
    "UPDATE sqlite_master SET sql = replace(sql, 'CREATE VIRTUAL', 'CREATE{}VIRTUAL'); PRAGMA writable_schema = OFF;"
)
GAPS = (" ", "  ", "\t", "\n", "/**/")
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"


def geopackage(path, script):
    with sqlite3.connect(path) as database:
        database.executescript(script)
    database.close()
    return path


@pytest.mark.parametrize(
    "script",
    [
        TABLES + f"CREATE VIEW t AS {ENDLESS} SELECT '44' AS GEOID, NULL AS geom FROM c",  # noqa: S608
        f"CREATE TABLE gpkg_contents(a); CREATE VIEW gpkg_geometry_columns AS {ENDLESS} SELECT 't' AS table_name, 'g' AS column_name FROM c",  # noqa: S608
        TABLES.replace("'t'", "'t\" UNION SELECT sql, sql FROM sqlite_master; --'") + FILLED,
        TABLES.replace("'t', 'geom'", "'sqlite_master', 'sql'") + FILLED,
        TABLES + f"CREATE TABLE t(GEOID, geom); INSERT INTO t VALUES('44', X'{SQUARE[:13].hex()}ffffffffffffffff')",
        *(TABLES + FILLED.replace("TABLE t(", "VIRTUAL TABLE t USING fts5(") + RENAMED.format(gap) for gap in GAPS),
    ],
)
def test_that_a_geopackage_is_asked_nothing_but_what_its_tables_keep(script, tmp_path):
    with pytest.raises(PhexploreError):
        read_outlines(geopackage(tmp_path / "a.gpkg", script))


def test_that_triggers_and_computed_columns_of_a_geopackage_do_nothing(tmp_path):
    computed = FILLED.replace("geom)", "geom, NAME AS (upper(GEOID)))", 1).replace("t VALUES", "t(GEOID, geom) VALUES")
    path = geopackage(
        tmp_path / "a.gpkg",
        TABLES + computed + "CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t; END;",  # noqa: S608
    )
    before = path.read_bytes()
    assert [(each.code, each.name) for each in read_outlines(path)] == [("44", "")]
    assert path.read_bytes() == before


def shapefile_of(folder, parts, points, content=b"", records=1):
    body = struct.pack("<i4dii", 5, 0, 0, 1, 1, parts, points) + content
    record = struct.pack(">ii", 1, len(body) // 2) + body
    head = struct.pack(">7i", 9994, 0, 0, 0, 0, 0, (100 + len(record)) // 2) + struct.pack("<ii8d", 1000, 5, *[0.0] * 8)
    (folder / "a.shp").write_bytes(head + record)
    field = b"GEOID".ljust(11, b"\0") + b"C" + b"\0" * 4 + bytes([19, 0]) + b"\0" * 14
    table = struct.pack("<BBBBIHH20x", 3, 120, 1, 1, records, 65, 20) + field + b"\r" + b" 44".ljust(20)
    (folder / "a.dbf").write_bytes(table)
    return folder / "a.shp"


@pytest.mark.parametrize("counts", [(2**31 - 1, 5), (1, 2**31 - 1), (-5, -5)])
def test_that_giant_counts_of_a_shapefile_are_not_believed(counts, tmp_path):
    with pytest.raises(PhexploreError):
        read_outlines(shapefile_of(tmp_path, *counts, struct.pack("<i", 0)))


def test_that_records_that_are_not_there_are_not_waited_for(tmp_path):
    square = struct.pack("<i10d", 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0)
    with pytest.raises(PhexploreError):
        read_outlines(shapefile_of(tmp_path, 1, 5, square, records=2**32 - 1))


AMC = b"PRODUCT_TABLE,QUERY,GEO,ITERATION,COUNT\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("header.csv", HEADER.strip().encode() + b",x" * 2_000_000),
        ("line.csv", HEADER.encode() + b"G440," + b"x" * 20_000_000),
        ("field.csv", AMC + b"x" * 1_000_000),
        ("number.csv", AMC + b"A,B,STATE: 1,0," + b"9" * 4000 + b"\n"),
        ("iteration.csv", AMC + b"A,B,STATE: 1,1e5,1\n"),
        ("set.pl", b"PLST  RI" + b" " * 20_000_000),
        ("deep.json", b'[["PH1_001N","NAME"],' + b"[" * 1_000_000),
        ("deep.yaml", b"url_slug: " + b"[" * 1_000_000),
        ("aliases.yaml", b"url_slug: x\na: &a [x]\n" + b"".join(b"a%d: &a%d [*a, *a]\n" % (n, n) for n in range(30))),
        ("object.yaml", b"url_slug: !!python/object/apply:os.getcwd []\n"),
    ],
)
def test_that_text_without_end_is_refused(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(PhexploreError) as refused:
        read_files(path)
    assert refused.value.remedy


def packed(path, *members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "names", [("a.csv", "a.csv"), ("C:a.csv",), ("C:/a.csv",), ("..\\a.csv",), ("a/./../../b.csv",)]
)
def test_that_names_of_members_neither_repeat_nor_lead_elsewhere(names, tmp_path):
    with pytest.raises(PhexploreError):
        recognise(packed(tmp_path / "a.zip", *((name, HEADER) for name in names)))


def test_that_archives_in_archives_are_not_followed(tmp_path):
    inner = packed(tmp_path / "inner.zip", ("a.csv", HEADER + "G440,x,1,1\n"))
    assert recognise(packed(tmp_path / "outer.zip", ("inner.zip", inner.read_bytes()))) is None
    twice = tmp_path / "a.csv.gz"
    twice.write_bytes(gzip.compress(gzip.compress(HEADER.encode())))
    assert recognise(twice) is None


def test_that_a_member_is_not_unpacked_without_end(tmp_path):
    content = io.BytesIO(b"PAR1" + b"\0" * 60_000_000)
    with pytest.raises(PhexploreError):
        read_files(packed(tmp_path / "a.zip", ("x.parquet", content.getvalue())))


def test_that_an_archive_of_many_files_is_opened_once(tmp_path, monkeypatch):
    path = packed(tmp_path / "a.zip", *((f"{number}.txt", "x") for number in range(500)))
    opened = []
    begin = zipfile.ZipFile.__init__
    monkeypatch.setattr(
        zipfile.ZipFile, "__init__", lambda self, *given, **more: (opened.append(1), begin(self, *given, **more))[1]
    )
    assert recognise(path) is None
    assert len(opened) <= 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are of Unix")
def test_that_links_in_circles_pipes_and_devices_are_passed_by(tmp_path):
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.csv")
    assert recognise(tmp_path) is None
    for name in ("device.csv", "pipe.csv"):
        with pytest.raises(PhexploreError):
            recognise(tmp_path / name)


def test_that_growth_is_looked_at_however_much_is_asked_for_at_once():
    class Endless(io.BytesIO):
        given = 0

        def read(self, size=-1):
            self.given += size
            return bytes(size)

    source = Endless()
    with pytest.raises(OSError, match="has unpacked to"):
        io.BufferedReader(Unpacked(source, 28_000)).read(200_000_000)
    assert source.given <= MOST_UNPACKED + 2 * 2**20
