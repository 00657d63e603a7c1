"""Everything in the user's library, read once, with what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from phexplore.catalog.tables import tables
from phexplore.files.rules_json import own_rules
from phexplore.library import KINDS, library_folder, own_files, refused
from phexplore.systems.registry import presets


class LibraryFile(NamedTuple):
    """One file that is in use: its kind, the name it is called by, and where it is."""

    kind: str
    name: str
    path: Path


class Library(NamedTuple):
    """The user's library: its folder, the files in use, and those left out with the sentence why."""

    folder: Path
    files: tuple[LibraryFile, ...]
    problems: tuple[tuple[Path, str], ...]


def read_library() -> Library:
    """Read every file of the library as what it is for."""
    from phexplore.data.blocks.published_tables import own_tables  # noqa: PLC0415 - loads arrays, which few commands need
    from phexplore.spine.settings import spine_presets  # noqa: PLC0415 - as above
    from phexplore.workload.schema import schema_ids  # noqa: PLC0415 - as above

    for read in (presets, spine_presets, schema_ids, own_tables, tables, own_rules):
        read()
    wrong = refused()
    files = [
        LibraryFile(kind, path.stem, path) for kind in KINDS for path in own_files(kind).values() if path not in wrong
    ]
    return Library(library_folder(), tuple(files), tuple((path, error.full) for path, error in wrong.items()))
