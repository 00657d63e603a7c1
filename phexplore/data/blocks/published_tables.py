"""The tables of the redistricting data and of the DHC that people know, at every level, from histograms of blocks.

What a cell counts is read from ``resources/tables/pl94`` and ``dhc``; a table is one more file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.catalog.states import us_states
from phexplore.data.blocks.aggregation import Units, units_of
from phexplore.data.blocks.whole_file import whole_file
from phexplore.errors import PhexploreError
from phexplore.library import own_entries, text_of, until_reread
from phexplore.resources import resource
from phexplore.text.quoted import quote
from phexplore.workload.schema import Schema, SchemaError, load_schema, parse_levels

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from phexplore.data.blocks.population import BlockPopulation


@dataclass(frozen=True, slots=True)
class PublishedCell:
    """One line of a published table.

    Attributes:
        code: of the summary file, e.g. ``P0010003``.
        label: as printed.
        depth: of the indentation; a line with deeper ones below it is their sum.
        where: levels of each named attribute; records in all of them are counted.
    """

    code: str
    label: str
    depth: int
    where: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One published table.

    Attributes:
        id: e.g. ``P1``.
        title: as printed.
        universe: what is counted, as printed.
        source: where the definition is written down.
        schema: of the histograms it is computed from.
        cells: in published order.
    """

    id: str
    title: str
    universe: str
    source: str
    schema: Schema
    cells: tuple[PublishedCell, ...]

    def selection(self, cells: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which of some ``cells[n]`` of the schema each line counts, ``bool[lines, n]``.

        Raises:
            IndexError, UnknownNameError: a line names a level or an attribute that the schema lacks.
        """
        levels = np.unravel_index(cells, self.schema.shape)
        counted = np.ones((len(self.cells), len(cells)), bool)
        for row, line in enumerate(self.cells):
            for name, chosen in line.where.items():
                place = self.schema.position(name)
                keep = np.zeros(self.schema.shape[place], bool)
                keep[list(chosen)] = True
                counted[row] &= keep[levels[place]]
        return counted


@dataclass(frozen=True, slots=True, eq=False)
class Tabulation:
    """A table filled in for all units of a level.

    Attributes:
        table: which.
        units: in the order of the rows.
        counts: ``int64[units, lines]``.
    """

    table: PublishedTable
    units: Units
    counts: NDArray[np.int64]


_FOLDERS = ("tables/pl94", "tables/dhc")
UNITS_AT_ONCE = 1 << 15
"""Rows of a table in memory at a time: 20 MB of the longest."""


@until_reread
def published_tables(schema: str) -> tuple[PublishedTable, ...]:
    """Return the tables that can be computed from a schema, by id; none for a schema without tables.

    Raises:
        SchemaError: a file contradicts itself.
    """
    found = [table for table in (*_shipped_tables(), *own_tables()) if table.schema.id == schema]
    return tuple(sorted(found, key=lambda table: table.id))


def _shipped_tables() -> list[PublishedTable]:
    return [_read(path) for folder in _FOLDERS for path in sorted(resource(folder).glob("*.toml"))]


def own_tables() -> list[PublishedTable]:
    """Return the published tables over schemas of the user's library."""
    shipped = {table.id.casefold() for table in _shipped_tables()}
    return [table for _, table in own_entries("tables", lambda path: _read_own(path, shipped), ".toml")]


def tabulate(
    population: BlockPopulation, table: PublishedTable, levels: Sequence[str] | None = None
) -> tuple[Tabulation, ...]:
    """Return a table for all units of some levels.

    Args:
        population: in the table's schema.
        table: see `published_tables`.
        levels: by name; None for all, widest first. The nation is a level only of data that hold all its states: the
            sum of some of them is no figure of the nation.

    Raises:
        ValueError: the table is computed from another schema.
        UnknownNameError: there is no such level.
    """
    counted = _counting(population, table)
    chosen = _levels_of(population) if levels is None else levels
    found = (units_of(population, level) for level in chosen)
    return tuple(Tabulation(table, units, counted(units)) for units in found)


def _levels_of(population: BlockPopulation) -> tuple[str, ...]:
    """Return the levels of which every unit is whole in the data."""
    whole = set(us_states()) <= set(units_of(population, "State").codes.tolist())
    return tuple(name for name in population.layout.names if whole or name not in _NATIONS)


_NATIONS = frozenset({"US", "Nation"})


def _counting(population: BlockPopulation, table: PublishedTable) -> Callable[[Units], NDArray[np.int64]]:
    """Return what fills a table in for some units of a level, one after the other: filled cells alone are looked at."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - heavy, and only tables need it

    if table.schema != population.schema:
        raise ValueError(f"table {table.id} is computed from {table.schema.id}, got {population.schema.id}")
    used = np.flatnonzero(np.bincount(population.cells))
    place = np.zeros(used.max(initial=0) + 1, np.int32)
    place[used] = np.arange(len(used))
    columns, counts = place[population.cells], population.counts.astype(np.int64)
    lines = csr_array(table.selection(used).T.astype(np.int64))

    def counted(units: Units) -> NDArray[np.int64]:
        starts = population.starts[units.starts]
        filled = slice(starts[0], starts[-1])
        histogram = csr_array((counts[filled], columns[filled], starts - starts[0]), shape=(len(units), len(used)))
        found: NDArray[np.int64] = (histogram @ lines).toarray(order="F")  # written column by column
        return found

    return counted


def write_tables(
    populations: Sequence[BlockPopulation], directory: Path, *, in_columns: bool = False
) -> tuple[Path, ...]:
    """Write every table that the populations determine as ``<id>.csv`` or ``<id>.parquet``; return the files.

    Columns: ``level``, ``geoid``, then one per line of the table under its code. Rows go from the widest level down.

    Args:
        populations: persons, units, or both.
        directory: it may exist; files of these names are replaced.
        in_columns: whether they become Parquet, a fifteenth of the text.

    Raises:
        PhexploreError: a file cannot be written, or there is no table to write.
    """
    tables = [(population, table) for population in populations for table in published_tables(population.schema.id)]
    if not tables:
        names = ", ".join(population.schema.id for population in populations)
        raise PhexploreError(
            f"No published table is computed from the schema {names}.",
            "Tables need data of the redistricting or DHC schemas, or of 16 cells per block.",
        )
    return tuple(_write(population, table, directory, in_columns=in_columns) for population, table in tables)


def _write(population: BlockPopulation, table: PublishedTable, directory: Path, *, in_columns: bool) -> Path:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above
    from pyarrow import csv  # noqa: PLC0415 - as above

    path, counted = directory / f"{table.id}.{'parquet' if in_columns else 'csv'}", _counting(population, table)
    numbers = [(cell.code, pa.int64()) for cell in table.cells]
    schema = pa.schema([("level", pa.string()), ("geoid", pa.string()), *numbers])
    options = csv.WriteOptions(include_header=False, quoting_style="none")
    with whole_file(path) as file:
        if not in_columns:
            file.write((",".join(schema.names) + "\n").encode())
        opened = (
            pq.ParquetWriter(file, schema, compression="zstd", write_statistics=False)
            if in_columns
            else csv.CSVWriter(file, schema, write_options=options)
        )
        with opened as writer:
            for level in _levels_of(population):
                units = units_of(population, level)
                for first in range(0, len(units), UNITS_AT_ONCE):
                    last = first + UNITS_AT_ONCE
                    part = Units(level, units.codes[first:last], units.starts[first : last + 1])
                    columns = [np.full(len(part), level), part.codes, *counted(part).T]
                    writer.write_table(pa.table(list(map(pa.array, columns)), schema=schema))
    return path


def _read_own(path: Path, shipped: Collection[str]) -> PublishedTable | None:
    """Return a table over a schema of the user's library; None for one of the S-DHC."""
    if "private" in tomllib.loads(text_of(path)):
        return None  # a table of the S-DHC, see `catalog.tables`
    table = _read(path)
    quote(table.title, table.universe, table.source, *(cell.label for cell in table.cells))
    wrong = [cell.code for cell in table.cells if not re.fullmatch(r"\w{1,64}", cell.code)]
    if table.id != path.stem or table.id.casefold() in shipped:
        raise SchemaError(
            f"The id is {table.id!r}: it is the name of the file, and no shipped table has it.", "Rename it."
        )
    if wrong or not table.cells:
        raise SchemaError(f"{(wrong or ['nothing'])[0]!r} is no code of a cell.", "Use letters and digits.")
    try:
        table.selection(np.zeros(1, np.int64))
    except (IndexError, PhexploreError) as error:
        raise SchemaError(
            f"A cell names a level the schema lacks: {error}.", "Correct the levels; the schema says which there are."
        ) from error
    return table


def _read(path: Path) -> PublishedTable:
    try:
        entries = tomllib.loads(text_of(path))
        schema = load_schema(entries["schema"])
        universe = _where(entries.get("where", {}))
        cells = tuple(_cell(item) for item in entries["cells"])
        table = PublishedTable(entries["id"], entries["title"], entries["universe"], entries["source"], schema, cells)
        return replace(table, cells=tuple(replace(cell, where=_both(cell.where, universe)) for cell in cells))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"entry {error} is missing" if isinstance(error, KeyError) else str(error)
        raise SchemaError(f"{path.name}: {message}.", "Correct the file; the shipped ones show every entry.") from error


def _cell(item: Mapping[str, Any]) -> PublishedCell:
    return PublishedCell(item["code"], item["label"], item["depth"], _where(item.get("where", {})))


def _where(entry: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
    return {name: parse_levels(text) for name, text in entry.items()}


def _both(one: Mapping[str, tuple[int, ...]], other: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    if set(one) & set(other):
        raise ValueError(f"a cell and its universe both restrict {min(set(one) & set(other))!r}")
    return {**one, **other}
