"""The files of a run of group sizes: one Parquet table per trial, the exact counts, and the first trial as CSV.

A table has one line per level, region and size with groups; what is not listed is 0.

Args:
    path: of the file.
    directory: of the release, made if missing.
    tree: the regions.
    largest: size N.
    levels: ``int64[regions, N]``, widest first.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from phexplore.data.regions.region_tree import SEPARATOR, RegionTree, tree_of_paths
from phexplore.files.atomic_files import write_atomically
from phexplore.runs.run_files import MARK, integers, read_columns, read_mark, reading, words
from phexplore.runs.store import REMEDY, RunUnreadableError

Ints = NDArray[np.int64]


def write_sizes(path: Path, tree: RegionTree, levels: Sequence[Ints], meta: Mapping[str, Any]) -> None:
    """Write numbers of groups by level, region and size.

    Args:
        path: the unfinished file.
        tree: the regions.
        levels: ``int64[regions, N]``, widest first.
        meta: kept in the file's metadata.
    """
    parts: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], Ints]] = []
    start = 0
    for number, level in enumerate(levels):
        region, size = np.nonzero(level)
        parts.append(
            (
                np.full(len(region), number, np.int32),
                (region + start).astype(np.int32),
                (size + 1).astype(np.int32),
                level[region, size],
            )
        )
        start += len(level)
    columns = [np.concatenate([part[place] for part in parts]) for place in range(4)]
    paths = [path for codes in tree.codes for path in codes]
    table = pa.table(
        {
            "level": pa.DictionaryArray.from_arrays(columns[0], list(tree.levels)),
            "region": pa.DictionaryArray.from_arrays(columns[1], paths),
            "size": columns[2],
            "count": columns[3],
        }
    )
    stated = {**meta, "regions": list(tree.widths), "largest": int(levels[0].shape[1])}
    table = table.replace_schema_metadata({MARK: json.dumps(stated).encode()})
    pq.write_table(table, path, compression="zstd", version="2.6")


def read_sizes(path: Path, tree: RegionTree, largest: int) -> list[Ints]:
    """Return numbers of groups, ``int64[regions, N]`` per level, widest first.

    Args:
        path: of a trial's file.
        tree: of the regions.
        largest: N, the largest size.

    Raises:
        RunUnreadableError: the file is damaged or holds other regions or sizes.
    """
    meta = read_mark(path)
    if meta.get("regions") != list(tree.widths) or meta.get("largest") != largest:
        raise RunUnreadableError(f"{path} holds other regions or sizes than the run.", REMEDY)
    with reading(path):
        table = read_columns(path, {"level": words, "region": words, "size": integers, "count": integers})
        level = _places(table, "level", tree.levels)
        region = _places(table, "region", [path for codes in tree.codes for path in codes])
        size, count = (np.asarray(table.column(name).to_numpy(), np.int64) for name in ("size", "count"))
        starts = np.concatenate([[0], np.cumsum(tree.widths)])
        if not ((region >= starts[level]) & (region < starts[level + 1]) & (size >= 1) & (size <= largest)).all():
            raise ValueError("a line has a region of another level, or a size there is not")
        if len(np.unique(region * largest + size)) != len(size):
            raise ValueError("a region and size is there twice")
        found = [np.zeros((width, largest), np.int64) for width in tree.widths]
        for number, values in enumerate(found):
            own = level == number
            values[region[own] - starts[number], size[own] - 1] = count[own]
    return found


def read_tree(path: Path) -> tuple[RegionTree, int]:
    """Return the regions of a run from its exact counts, and its largest size.

    Raises:
        RunUnreadableError: the file is damaged.
    """
    meta = read_mark(path)
    with reading(path):
        table = read_columns(path, {"level": words, "region": words})
        levels = tuple(table.column("level").combine_chunks().dictionary.to_pylist())
        paths = table.column("region").combine_chunks().dictionary.to_pylist()
        leaves = paths[len(paths) - int(meta["regions"][-1]) :]
        codes = [tuple(leaf.split(SEPARATOR)) if leaf else () for leaf in leaves]
        return tree_of_paths(levels, codes), int(meta["largest"])


def _places(table: Any, name: str, known: Sequence[str]) -> Ints:
    column = table.column(name).combine_chunks()
    if column.dictionary.to_pylist() != list(known):
        raise ValueError(f"column {name} has other names than the run")
    return np.asarray(column.indices.to_numpy(zero_copy_only=False), np.int64)


def write_release(directory: Path, tree: RegionTree, levels: Sequence[Ints]) -> None:
    """Write one CSV per level: code and name of the region, size, number of groups; zeros left out.

    Args:
        directory: that receives the files.
        tree: of the regions.
        levels: ``levels[i][regions, N]``, numbers of groups, widest level first.

    Raises:
        WriteError: the file system refuses.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for number, (level, values) in enumerate(zip(tree.levels, levels, strict=True)):
        text = io.StringIO()
        text.write("region|name|size|count\n")
        for region, size in zip(*(part.tolist() for part in np.nonzero(values)), strict=True):
            text.write(f"{tree.codes[number][region]}|{tree.names[number][region]}|{size + 1}|{values[region, size]}\n")
        write_atomically(directory / f"{number + 1}-{_file_name(level)}.csv", text.getvalue().encode())


def _file_name(level: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in level.lower()) or "level"
