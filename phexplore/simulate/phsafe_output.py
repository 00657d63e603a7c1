"""Tables in production's output layout: one directory per table with one CSV file, ``|`` between the fields.

Source: PHSafe 3.0.0, output. Rows come nation first, then states by code; codes in the order of the iterations; cells
by number. Production leaves the order undefined.
"""

from __future__ import annotations

import os
import shutil
import uuid
from typing import TYPE_CHECKING

from phexplore.catalog.tables import tables
from phexplore.data.classification import Mode
from phexplore.errors import PhexploreError
from phexplore.model.keys import QueryKey, Region, TableId
from phexplore.simulate.phsafe_release import PhsafeRelease
from phexplore.simulate.tabulation import Tabulation, tabulated_cells

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REGION_TYPES = {Region.NATION: "USA", Region.STATE: "STATE"}
"""The text of REGION_TYPE."""

PART_FILE = "part-00000.csv"
"""The one file in the directory of a table."""


class OutputPlaceError(PhexploreError):
    """The output cannot be put where the user wants it."""


def output_tables(result: Tabulation | PhsafeRelease) -> tuple[TableId, ...]:
    """Return the tables that have output, in the order of the catalogue."""
    present = {query.table for query in result.counts}
    return tuple(name for name in tables() if name in present)


def header(table_id: TableId, *, noisy: bool) -> str:
    """Return the first line of a table's file.

    Args:
        table_id: which table.
        noisy: output of a private run, which says what noise it has.
    """
    product = tables()[table_id]
    columns = ["REGION_ID", "REGION_TYPE"]
    if product.iterated:
        columns.append("ITERATION_CODE")
    columns += [product.cell_column, "COUNT"]
    if noisy:
        columns += ["NOISE_DISTRIBUTION", "VARIANCE"]
    return "|".join(columns)


def output_lines(result: Tabulation | PhsafeRelease, table_id: TableId) -> Iterator[str]:
    """Yield the lines of a table's file without line ends, header first.

    Non-private counts leave out rows without records; private ones, noisy or not, write every row.

    Args:
        result: exact counts, or a release.
        table_id: which table.
    """
    noisy = isinstance(result, PhsafeRelease)
    yield header(table_id, noisy=noisy)
    for level in tables()[table_id].levels:
        query = QueryKey(table_id, level)
        if query in result.counts:
            yield from _level_lines(result, query)


def write_output(result: Tabulation | PhsafeRelease, directory: Path, *, private: bool = False) -> tuple[Path, ...]:
    """Write every table into a directory of its own and return the files.

    Each table's directory is written aside and then put in place of an earlier one, whose contents are removed; other
    entries of `directory` stay.

    Args:
        result: what is written.
        directory: made if it is missing.
        private: whether only their owner may read files and directories that are made.

    Raises:
        OutputPlaceError: something that is not a directory stands in the way, or the place cannot be written.
    """
    try:
        directory.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
        return tuple(_write_table(result, name, directory, private=private) for name in output_tables(result))
    except OSError as error:
        raise OutputPlaceError(
            f"The tables cannot be written to {directory}: {error.strerror or error}.",
            "Choose another folder, or free this one.",
        ) from error


def _write_table(result: Tabulation | PhsafeRelease, table_id: TableId, directory: Path, *, private: bool) -> Path:
    place = directory / table_id
    if place.exists() and not place.is_dir():
        raise OutputPlaceError(
            f"{place} is a file, but {table_id} needs a folder of that name.",
            "Move the file, or choose another folder.",
        )
    mark = uuid.uuid4().hex
    aside, former = directory / f".{table_id}-{mark}.part", directory / f".{table_id}-{mark}.old"
    try:
        aside.mkdir(mode=0o700 if private else 0o777)
        if private:
            (aside / PART_FILE).touch(mode=0o600)
        with (aside / PART_FILE).open("w", encoding="utf-8", newline="\n") as file:
            for line in output_lines(result, table_id):
                file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            place.rename(former)
        aside.rename(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(former, ignore_errors=True)
    return place / PART_FILE


def _level_lines(result: Tabulation | PhsafeRelease, query: QueryKey) -> Iterator[str]:
    product = tables()[query.table]
    region, iteration = query.level
    if isinstance(result, PhsafeRelease):
        mode, wanted = Mode.PRIVATE, None
        noise = result.noise[query]
        tails = [f"|{noise.distribution}|{variance!r}" for variance in noise.variances]
    else:
        mode = result.mode
        records = result.records.get(query, result.counts[query])
        wanted = (records != 0).tolist() if mode is Mode.NON_PRIVATE else None
        tails = [""] * records.shape[-1]
    cells = [cell.code for cell in tabulated_cells(query.table, mode)]
    counts = result.counts[query].tolist()
    for i, region_id in enumerate(result.regions(region)):
        for j, code in enumerate(iteration.codes):
            start = f"{region_id}|{REGION_TYPES[region]}|" + (f"{code}|" if product.iterated else "")
            for k, cell in enumerate(cells):
                if wanted is None or wanted[i][j][k]:
                    yield f"{start}{cell}|{counts[i][j][k]}{tails[k]}"
