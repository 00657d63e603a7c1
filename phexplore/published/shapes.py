"""Shapes of areas from shapefiles and GeoPackages: outlines in degrees with the code of each area, and its name where the file has it.

Facts: ../shared/data/published/NOTES.md, section 8.
"""

from __future__ import annotations

import re
import sqlite3
import struct
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.archives import archive_of, members, read_whole
from phexplore.opening import refuse_irregular
from phexplore.published.forms import Description, Published

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_SHAPES = 2 << 30
"""Bytes of the largest file of shapes that is read."""
_KEYS = ("GEOID", "BLOCKID", "GEOCODE")
_NAMES = ("NAMELSAD", "NAME", "BASENAME", "NAME10", "NAME20", "NAMELSAD10", "NAMELSAD20")
_LENGTHS = {2: "State", 5: "County", 11: "Tract", 12: "Block_Group", 15: "Block"}
_POLYGON, _MULTIPOLYGON = 3, 6
_HAS_Z, _HAS_M, _HAS_SRID = 0x80000000, 0x40000000, 0x20000000
_MOST_DEGREES = 360.0
_ENVELOPES = (0, 32, 48, 48, 64)
_DAMAGE = (
    struct.error,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    EOFError,
    MemoryError,
    OSError,
)
_FIELD = re.compile(r"(?i)(GEOID|BLOCKID|GEOCODE)\d*$|NAME|BASENAME|ALAND|AREALAND")
"""Fields of a GeoPackage that are read."""
_LONGEST_SHAPE = 256 << 20
_FETCH = "Fetch the file again."


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """One area.

    Attributes:
        code: public code of the area.
        rings: outlines and holes, ``float32[points, 2]`` each, longitude and latitude.
        name: as the file gives it, "" for none.
    """

    code: str
    rings: tuple[NDArray[np.float32], ...]
    name: str = ""


def describe(found: Published) -> Description:
    """Return what the files hold."""
    levels: Counter[str] = Counter()
    points = several = water = 0
    land = 0
    box = np.array([np.inf, np.inf, -np.inf, -np.inf])
    for record, rings, _ in _records(found):
        code = _code(found, record)
        levels[_LENGTHS.get(len(code), f"codes of {len(code)} digits")] += 1
        points += sum(map(len, rings))
        several += len(rings) > 1
        own = next((value for name, value in record.items() if name.startswith(("ALAND", "AREALAND"))), None)
        land += int(own or 0)
        water += own == 0
        every = np.concatenate(rings)
        box = np.concatenate([np.minimum(box[:2], every.min(axis=0)), np.maximum(box[2:], every.max(axis=0))])
    more: dict[str, Any] = {"points": points, "several_parts": several, "water_only": water, "land_square_metres": land}
    if points:
        more["box"] = [round(float(each), 6) for each in box]
    return Description(found.kind, found.title, dict(levels), (), more)


def outlines(found: Published) -> tuple[Outline, ...]:
    """Return the shapes of all files.

    Raises:
        InputProblemsError: a file is damaged, has no polygons, no codes, or is not in degrees.
    """
    shapes = [
        Outline(_code(found, record), tuple(ring.astype(np.float32) for ring in rings), _name(record))
        for record, rings, _ in _records(found)
    ]
    if not shapes:
        raise found.refused("it holds no shapes.", _FETCH)
    return tuple(shapes)


def _code(found: Published, record: Mapping[str, Any]) -> str:
    """Return the code of a record: the field that is called so and holds figures."""
    fields = [name for key in _KEYS for name in record if re.fullmatch(rf"{key}\d*", name.upper())]
    for name in fields:
        text = str(record[name]).strip()
        if text.isdigit() and text.isascii():
            return text
    remedy = "Give shapes of the Census Bureau, with a field GEOID, BLOCKID or GEOCODE."
    raise found.refused(f"no field holds the code of an area ({', '.join(list(record)[:8])}).", remedy)


def _name(record: Mapping[str, Any]) -> str:
    return next((str(record[name]).strip() for name in _NAMES if record.get(name)), "")


def _records(found: Published) -> Iterator[tuple[dict[str, Any], list[NDArray[np.float64]], int]]:
    """Yield fields, rings and the number of outer rings of every record with a shape."""
    paths = [part.path for part in found.parts if part.path.suffix.lower() != ".shx"]
    for path in paths:
        read = _shapefile(found, path) if found.kind == "tiger-shapes" else _geopackage(found, path)
        for fields, rings, outer in read:
            if not all(ring.ndim == 2 and len(ring) and bool(np.all(np.abs(ring) <= _MOST_DEGREES)) for ring in rings):
                remedy = "Bring the shapes to degrees of longitude and latitude (NAD83, EPSG:4269)."
                raise found.refused("its coordinates are not degrees.", remedy, path)
            if rings:
                yield fields, rings, outer


def _beside(path: Path) -> dict[str, Path]:
    """Return the files of a shapefile by suffix, whatever the case of their letters."""
    archive = archive_of(path)
    near = members(archive) if archive is not None else tuple(path.parent.iterdir())
    return {
        each.suffix.lower(): each
        for each in near
        if each.parent == path.parent and each.stem.lower() == path.stem.lower()
    }


def _shapefile(found: Published, path: Path) -> list[tuple[dict[str, Any], list[NDArray[np.float64]], int]]:
    import shapefile  # noqa: PLC0415 - only shapes need it

    files = _beside(path)
    if ".dbf" not in files:
        remedy = "Keep .shp, .shx, .dbf and .prj together, in one folder or archive."
        raise found.refused(f"{path.stem}.dbf, which holds the codes, is missing.", remedy, path)
    encoding = read_whole(files[".cpg"], 1 << 10).decode("ascii", "replace").strip() if ".cpg" in files else "latin-1"
    shp, dbf = (
        BytesIO(read_whole(files[suffix] if suffix != ".shp" else path, LARGEST_SHAPES)) for suffix in (".shp", ".dbf")
    )
    records = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", shapefile.PossiblyCorruptFileHeader)  # what it would only tell the terminal
            with shapefile.Reader(shp=shp, dbf=dbf, encoding=_codec(encoding), encodingErrors="replace") as reader:
                names = [field[0] for field in reader.fields if field[0] != "DeletionFlag"]
                for shape, record in zip(reader.iterShapes(), reader.iterRecords(), strict=True):
                    if shape.shapeType != shapefile.NULL:
                        points = np.array(shape.points, np.float64).reshape(-1, 2)
                        ends = [*shape.parts[1:], len(points)]
                        rings = [points[first:last] for first, last in zip(shape.parts, ends, strict=True)]
                        outer = sum(_area(ring) < 0 for ring in rings)
                        records.append((dict(zip(names, record, strict=True)), rings, outer))
    except (*_DAMAGE, shapefile.ShapefileException, shapefile.PossiblyCorruptFileHeader) as error:
        raise found.refused(f"it is damaged ({str(error)[:80]}).", _FETCH, path) from error
    return records


def _codec(name: str) -> str:
    return "utf-8" if "UTF" in name.upper() else "latin-1"


def _area(ring: NDArray[np.float64]) -> float:
    """Return twice the area of a ring, below 0 where it is clockwise."""
    x, y = ring[:, 0], ring[:, 1]
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _geopackage(found: Published, path: Path) -> Iterator[tuple[dict[str, Any], list[NDArray[np.float64]], int]]:
    try:
        with closing(_database(path)) as database:
            layers = _rows(database, "gpkg_geometry_columns", ("table_name", "column_name"))
            for table, column in [tuple(map(str, layer)) for layer in layers]:
                names = [name for name in _columns(database, table) if name == column or _FIELD.match(name)]
                for row in _rows(database, table, names):
                    fields = dict(zip(names, row, strict=True))
                    blob = fields.pop(column)
                    if blob is not None:
                        rings, outer = _rings(bytes(blob))
                        yield fields, rings, outer
    except (sqlite3.Error, *_DAMAGE) as error:
        raise found.refused(f"it is damaged ({str(error)[:80]}).", _FETCH, path) from error


def _rows(database: sqlite3.Connection, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of a table of a file that is not trusted: of a view, or of what is computed, nothing is asked.

    Raises:
        ValueError: there is no such table, or it lacks a column.
    """
    if not columns or not set(columns) <= set(_columns(database, table)):
        raise ValueError(f"the table {table[:40]!r} has no columns {', '.join(columns)[:60]}")
    names = ", ".join(map(_quoted, columns))
    yield from database.execute(f"SELECT {names} FROM {_quoted(table)}")  # noqa: S608 - names of the file, quoted


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns that a table keeps; none of a view, of a virtual table, or of what is no table."""
    kept = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE 'CREATE TABLE %'"  # as SQLite writes it
    if database.execute(kept, (table,)).fetchone() != (1,):
        return []
    return [str(row[0]) for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _database(path: Path) -> sqlite3.Connection:
    """Open a database for reading only, in memory where it lies in an archive."""
    if archive_of(path) is None:
        refuse_irregular(path)
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            if database.execute("PRAGMA schema_version").fetchone():
                return _wary(database)
        except sqlite3.Error:
            database.close()
            raise
    database = sqlite3.connect(":memory:")
    database.deserialize(read_whole(path, LARGEST_SHAPES))
    return _wary(database)


def _wary(database: sqlite3.Connection) -> sqlite3.Connection:
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.execute("PRAGMA query_only = ON")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_SHAPE)
    return database


def _quoted(name: str) -> str:
    return '"' + str(name).replace('"', '""') + '"'


def _rings(blob: bytes) -> tuple[list[NDArray[np.float64]], int]:
    """Return the rings of a geometry of a GeoPackage, and how many of them are outer ones.

    Raises:
        ValueError: it is no polygon, or damaged.
    """
    if blob[:2] != b"GP":
        raise ValueError("a shape does not begin as it should")
    flags = blob[3]
    if flags & 0x10:
        return [], 0
    position = 8 + _ENVELOPES[flags >> 1 & 7]
    rings: list[NDArray[np.float64]] = []
    order, kind, position = _head(blob, position)
    polygons = 1
    if kind % 1000 == _MULTIPOLYGON:
        (polygons,) = struct.unpack_from(order + "I", blob, position)
        position += 4
    for _ in range(polygons):
        if kind % 1000 == _MULTIPOLYGON:
            order, inner, position = _head(blob, position)
        else:
            inner = kind
        if inner % 1000 != _POLYGON:
            raise ValueError(f"a shape is of the kind {inner}, not a polygon")
        width = 2 + (inner // 1000 in {1, 2}) + 2 * (inner // 1000 == 3)
        (number,) = struct.unpack_from(order + "I", blob, position)
        position += 4
        for _ in range(number):
            (points,) = struct.unpack_from(order + "I", blob, position)
            position += 4
            values = np.frombuffer(blob, np.dtype(order + "f8"), points * width, position).reshape(points, width)
            rings.append(values[:, :2].astype(np.float64))
            position += values.nbytes
    return rings, polygons


def _head(blob: bytes, position: int) -> tuple[str, int, int]:
    """Return byte order, kind (thousands: 1 Z, 2 M, 3 both) and the place behind the head of a geometry."""
    order = "<" if blob[position] else ">"
    (kind,) = struct.unpack_from(order + "I", blob, position + 1)
    position += 5 + 4 * bool(kind & _HAS_SRID)
    return order, (kind & 0x1FFFFFFF) + 1000 * bool(kind & _HAS_Z) + 2000 * bool(kind & _HAS_M), position
