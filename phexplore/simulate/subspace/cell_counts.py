"""Counts of the cells of a histogram from a table: one column per axis, one column ``count``; or a table of counties."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.delimited import read_header
from phexplore.data.regions.counties import read_counties_2010
from phexplore.data.regions.table_file import TableFile
from phexplore.library import own_files
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.subspace import Axis, Subspace
from phexplore.resources import resource
from phexplore.workload.subspace.releases import cell_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.workload.subspace.exact import Integers

COUNT = "count"
"""The column of the counts."""

_MOST_LISTED = 20


def shipped_table(method: Subspace) -> Path | None:
    """Return the table that came with the parameters, None when a run has to name its data.

    Raises:
        FileNotFoundError: nobody has such a table.
    """
    if not method.table:
        return None
    name = f"{method.table}.csv"
    return own_files("tables").get(name) or resource(f"tables/{name}")


def read_cell_counts(path: Path, method: Subspace) -> Integers:
    """Return the counts of all cells: ``int64[cells]``, the last axis running fastest.

    Every cell has one line, zeros included: a forgotten line must not pass for nobody. A histogram of counties named by
    code is also read from a table like ``counties_2010.csv`` (columns ``fips``, ``pop``, …), other counties left out.

    Args:
        path: of the table.
        method: the scenario whose axes the columns name.

    Raises:
        InputProblemsError: all problems with line and column: columns missing, unknown levels, counts that are none,
            cells twice or not at all.
    """
    names = [axis.name for axis in method.axes]
    if len(names) == 1 and {"fips", "pop"} <= set(columns := read_header(path).names) and COUNT not in columns:
        return _counties(path, method)
    table = TableFile(path, [*names, COUNT], f"The table needs a column for each of {', '.join(names)}, and {COUNT}.")
    cells = np.zeros(table.rows, dtype=np.int64)
    for axis in method.axes:
        cells = cells * axis.size + _levels(table, axis)
    counts = table.counts(COUNT)
    _, first = np.unique(cells, return_index=True)
    repeated = np.ones(table.rows, dtype=bool)
    repeated[first] = False
    if not table.failed:
        table.refuse(repeated, COUNT, "The cell is that of an earlier line.", "Keep one of its lines.")
    table.finish()
    if len(first) < method.cells:
        _refuse_missing(path, method, cells)
    found = np.zeros(method.cells, dtype=np.int64)
    found[cells] = counts
    return found


def _counties(path: Path, method: Subspace) -> Integers:
    counties = read_counties_2010(path)
    population = dict(zip(counties.fips.tolist(), counties.population.tolist(), strict=True))
    (axis,) = method.axes
    labels = [axis.label(level) for level in range(axis.size)]
    present = np.array([level for level, label in enumerate(labels) if label in population], dtype=np.int64)
    if len(present) < axis.size:
        _refuse_missing(path, method, present)
    return np.array([population[label] for label in labels], dtype=np.int64)


def _levels(table: TableFile, axis: Axis) -> Integers:
    texts = table.texts(axis.name)
    known = {axis.label(level): level for level in range(axis.size)}
    levels = np.array([known.get(text, -1) for text in texts.tolist()], dtype=np.int64)
    first = f"{axis.label(0)} to {axis.label(axis.size - 1)}" if not axis.labels else f"e.g. {axis.labels[0]}"
    table.refuse(
        levels < 0,
        axis.name,
        f"The value is no level of {axis.name}.",
        f"Use one of its {axis.size:,} levels, {first}.",
    )
    return levels


def _refuse_missing(path: Path, method: Subspace, cells: NDArray[np.int64]) -> None:
    present = np.zeros(method.cells, dtype=bool)
    present[cells] = True
    missing = np.flatnonzero(~present)
    issues = [
        Issue(
            (path.name,), f"The cell {cell_text(method.axes, int(cell))} has no line.", "Write its count, 0 if nobody."
        )
        for cell in missing[:_MOST_LISTED]
    ]
    if len(missing) > _MOST_LISTED:
        issues.append(
            Issue((path.name,), f"{len(missing) - _MOST_LISTED:,} more cells have no line.", "Write all of them.")
        )
    raise InputProblemsError(issues)
