"""The provenance of block data and tables, derived from the content of their files.

Shipped files are recognized by their bytes, synthetic ones by their own mark, published ones by their layout. All others are
real. A mark and a layout are statements of a file, never proven: the source says so.
"""

from __future__ import annotations

from pathlib import Path

from phexplore.data.blocks.census_1940_reading import looks_like_1940
from phexplore.data.blocks.delimited import read_head
from phexplore.data.blocks.marks import SYNTHETIC, has_synthetic_mark, stated_kinds
from phexplore.data.digest import READ_SUFFIXES, digest_files
from phexplore.model.issues import InputProblemsError
from phexplore.model.provenance import UNMARKED, Provenance, ProvenanceKind, together
from phexplore.published import door
from phexplore.resources import resource

_SHIPPED = {
    "synthetic/demo-blocks.csv.gz": Provenance(
        ProvenanceKind.SYNTHETIC, "demonstration blocks shipped with phexplore, verified by content"
    ),
    "tables/household_sizes_2010.csv": Provenance(
        ProvenanceKind.PUBLISHED, "2010 Census, households by size and county, shipped with phexplore"
    ),
    "tables/illinois_counties_2010.csv": Provenance(
        ProvenanceKind.PUBLISHED, "2010 Census, counties of Illinois, shipped with phexplore"
    ),
}
_KNOWN = {
    378269: ("865c034fa9dabf986c3b8ff283c22c92e584c32b32b4a1a52b104f3bbfcc7cb2", "counties with 16 person cells"),
    248163: ("b45cdc52f17ffea4d843e20450920b48894fdd38e38902547ff74f3c3c31337c", "households by size and county"),
}
"""Published tables that the program does not ship, by their size and the digest of their bytes."""
_MARKED = Provenance(ProvenanceKind.SYNTHETIC, "the file marks itself as synthetic; not verified")
_CENSUS_1940 = Provenance(
    ProvenanceKind.PUBLISHED, "1940 Census full count, public since 2012, by the layout of the file; not verified"
)
_OWN_KINDS = {"blocks", "block-assignment", "tiger-shapes", "geopackage"}
"""Kinds that hold no published count: a block file is anyone's; the others only add geography."""


def provenance_of(path: Path) -> Provenance:
    """Return the provenance of block data or a table; what cannot be read is unmarked, and its reader refuses it later.

    Args:
        path: file, archive or folder, as the readers take it.
    """
    try:
        if path.is_file() and (shipped := _shipped_as(path)) is not None:
            return shipped
        found = door.recognise(path)
        if found is not None and found.kind not in _OWN_KINDS:
            layout = Provenance(ProvenanceKind.PUBLISHED, f"{found.title}, by the layout of the file; not verified")
            return together(_stated(part.path) or layout for part in found.parts)
        packed = [part.path for part in found.parts if part.path != path] if found and path.is_file() else []
        if packed or path.is_dir():
            files = packed or [
                file for file in sorted(path.rglob("*")) if file.suffix in READ_SUFFIXES and file.is_file()
            ]
            parts = [part.path for group in (found.beside if found else ()) for part in group.parts]
            return together(provenance_of(file) for file in files if file not in parts)
        is_1940 = looks_like_1940(read_head(path))
        stated = None if is_1940 else _stated(path)
        if stated is None and has_synthetic_mark(path, is_1940=is_1940):
            return _MARKED
    except (InputProblemsError, OSError):
        return UNMARKED
    return _CENSUS_1940 if is_1940 else stated or UNMARKED


def _stated(path: Path) -> Provenance | None:
    """Return what a file states of itself; that it is published is never taken from a statement.

    Raises:
        InputProblemsError: it cannot be read as a table.
    """
    kinds = stated_kinds(path) - {ProvenanceKind.PUBLISHED.value}
    return None if not kinds else _MARKED if kinds == {SYNTHETIC} else UNMARKED


def _shipped_as(path: Path) -> Provenance | None:
    """Return the provenance of a file whose bytes are known, under whatever name."""
    size = path.stat().st_size
    digest, title = _KNOWN.get(size, ("", ""))
    if digest and _digest(path) == digest:
        return Provenance(ProvenanceKind.PUBLISHED, f"2010 Census, {title}, verified by content")
    names = [name for name in _SHIPPED if resource(name).stat().st_size == size]
    return next((_SHIPPED[name] for name in names if _digest(path) == _digest(resource(name))), None)


def _digest(path: Path) -> str:
    return digest_files({"": path}).sha256
