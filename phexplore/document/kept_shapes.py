"""The shapes of a project's maps: a copy in a folder beside its file, which goes where the file and its runs go.

The project file holds no path and no polygons: it is signed, read by people and kept small. Whoever copies a project to another computer
takes ``project.phx.shapes`` along as ``project.phx.runs``; without it the maps ask for shapes again.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

SHAPES_SUFFIX = ".shapes"
LARGEST_KEPT = 64 << 20
"""Bytes of files that are copied; larger ones are read where they lie."""
_OF_SHAPEFILES = {".shp", ".shx", ".dbf", ".prj", ".cpg"}


def shapes_folder(project: Path) -> Path:
    """Return the folder of the shapes of a project file."""
    return project.with_name(project.name + SHAPES_SUFFIX)


def kept_shapes(project: Path) -> Path | None:
    """Return the file of shapes that is kept beside a project file, None for none."""
    with suppress(OSError):
        files = sorted(path for path in shapes_folder(project).iterdir() if path.is_file() and not path.is_symlink())
        return next((path for path in files if path.suffix.lower() not in _OF_SHAPEFILES - {".shp"}), None)
    return None


def keep_shapes(project: Path, shapes: Path) -> Path | None:
    """Copy shapes beside a project file, in place of earlier ones; return the copy, None where they stay where they are.

    Args:
        project: saved file.
        shapes: shapefile with its companions, or any other one file.
    """
    folder = shapes_folder(project)
    if shapes.parent == folder:
        return shapes
    fresh = folder.with_name(f"{folder.name}.new")
    try:
        files = [shapes, *_companions(shapes)]
        if all(_is_copy(folder / file.name, file) for file in files):
            return folder / shapes.name
        is_small = sum(file.stat().st_size for file in files) <= LARGEST_KEPT
        shutil.rmtree(fresh, ignore_errors=True)
        if is_small:
            fresh.mkdir()
            for file in files:
                shutil.copy2(file, fresh / file.name)
        shutil.rmtree(folder, ignore_errors=True)
        if is_small:
            os.replace(fresh, folder)  # noqa: PTH105 - the word of the system for one step
            return folder / shapes.name
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
    return None


def _is_copy(copy: Path, file: Path) -> bool:
    if not copy.is_file():
        return False
    known, found = copy.stat(), file.stat()
    return (known.st_size, known.st_mtime_ns) == (found.st_size, found.st_mtime_ns)


def _companions(shapes: Path) -> list[Path]:
    if shapes.suffix.lower() != ".shp":
        return []
    own = (path for path in shapes.parent.iterdir() if path.stem.lower() == shapes.stem.lower() and path != shapes)
    return [path for path in own if path.suffix.lower() in _OF_SHAPEFILES]
