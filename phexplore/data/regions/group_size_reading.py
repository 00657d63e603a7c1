"""Groups by size from any of the files they come in, brought to the largest size of the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.delimited import read_header
from phexplore.data.regions.group_records import COLUMNS, read_group_records, split_paths
from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.data.regions.household_sizes import OPEN, group_sizes_of, read_household_sizes, with_heavy_tail
from phexplore.data.regions.region_tree import SEPARATOR, tree_of_paths
from phexplore.data.regions.table_file import TableFile
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from phexplore.model.group_sizes import GroupSizes

SIZE_COLUMNS = ("region", "size", "count")
LARGEST_SIZE = 10**6

_FORMS = (
    "Known are tables of counties with hh1 to hh6 and hh7plus, tables with region, size and count, and person records with user, "
    "unit, region and quantity."
)


def shipped_group_sizes() -> Path:
    """Return the table that comes with the program: households of 2010 by size and county."""
    return resource("tables/household_sizes_2010.csv")


def read_group_sizes(path: Path, method: GroupSizes) -> GroupSizeTable:
    """Return exact groups by size for these parameters.

    Args:
        path: a file of one of the three forms, or a directory with person records.
        method: says the levels, the largest size, the largest quantity and the tail.

    Raises:
        InputProblemsError: all problems of the file with line and column, or a form that is not known.
    """
    if path.is_dir():
        return read_group_records(path, method.levels, method.largest, method.largest_quantity)
    names = set(read_header(path).names)
    if set(COLUMNS) <= names:
        return read_group_records(path, method.levels, method.largest, method.largest_quantity)
    if OPEN in names:
        return _households(path, method)
    if set(SIZE_COLUMNS) <= names:
        return _resized(read_size_counts(path, method.levels), method, path)
    raise InputProblemsError([Issue((path.name,), "This is no table of group sizes.", _FORMS, line=1)])


def _households(path: Path, method: GroupSizes) -> GroupSizeTable:
    table = group_sizes_of(read_household_sizes(path))
    if len(method.levels) != len(table.tree.levels):
        raise InputProblemsError(
            [
                Issue(
                    (path.name,),
                    f"Counties lie in 3 levels ({', '.join(table.tree.levels)}), the parameters have {len(method.levels)}.",
                    "Give the parameters three levels.",
                )
            ]
        )
    if method.tail is not None and method.largest > table.largest:
        return with_heavy_tail(table, method.largest, method.tail)
    return _resized(table, method, path)


def _resized(table: GroupSizeTable, method: GroupSizes, path: Path) -> GroupSizeTable:
    try:
        return table.resized(method.largest)
    except ValueError as error:
        raise InputProblemsError(
            [Issue((path.name,), f"{error}.", "Give the parameters a heavy tail, or a smaller largest size.")]
        ) from error


def read_size_counts(path: Path, levels: tuple[str, ...]) -> GroupSizeTable:
    """Read a table with one line per region and size: ``region,size,count``; what is not listed is 0.

    Args:
        path: of the table.
        levels: of the regions, widest first; the first is the whole.

    Raises:
        InputProblemsError: every bad field with its line and column: regions of another depth, sizes below 1 or beyond
            `LARGEST_SIZE`, counts that are none, a region and size twice.
    """
    table = TableFile(path, SIZE_COLUMNS, "The table needs region, size and count.")
    regions, sizes, counts = table.texts("region"), table.counts("size"), table.counts("count")
    depth = len(levels) - 1
    parts = [len(codes) if all(codes) else -1 for codes in split_paths(regions.tolist())]
    table.refuse(
        np.array(parts) != depth,
        "region",
        f"The region does not name {depth} levels ({', '.join(levels[1:])}).",
        f"Name a region from the widest level down, with {SEPARATOR!r} between.",
    )
    if not table.failed:
        table.refuse(
            (sizes < 1) | (sizes > LARGEST_SIZE),
            "size",
            f"size is not between 1 and {LARGEST_SIZE:,}.",
            "Leave out groups of size 0.",
        )
    codes, region = np.unique(regions, return_inverse=True)
    if not table.failed:
        _, first = np.unique(region * (LARGEST_SIZE + 1) + sizes, return_index=True)
        repeated = np.ones(table.rows, bool)
        repeated[first] = False
        table.refuse(
            repeated,
            "size",
            "An earlier line has the same region and size.",
            "Add the counts up in one line.",
        )
    table.finish()
    tree = tree_of_paths(levels, list(split_paths(codes.tolist())))
    place = {code: number for number, code in enumerate(tree.codes[-1])}
    dense = np.zeros((tree.leaves, int(sizes.max())), np.int64)
    dense[np.array([place[code] for code in codes.tolist()])[region], sizes - 1] = counts
    return GroupSizeTable(tree, dense, "Groups by size")
