"""Writing microdata of the redistricting data in production's layout: 13 columns per person, 9 per unit (formats, section 2).

Records of equal length are laid out as a matrix of bytes, so a million persons are a few array assignments.
"""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Self, cast

import numpy as np

from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, characters, digits
from phexplore.data.blocks.layouts import PL94_PERSONS, PL94_UNITS
from phexplore.data.blocks.whole_file import whole_file
from phexplore.errors import PhexploreError
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from numpy.typing import NDArray

    from phexplore.data.blocks.population import BlockPopulation

    Letters = NDArray[np.uint8]

SCHEMA_BUILD_ID = "1.1.0"
RECORDS_AT_ONCE = 1 << 19
LARGEST_EPNUM = 999_999_999
_COMPRESSION = 3
PARTS = ((0, 2), (2, 5), (5, 11), (11, 12), (11, 15))
"""State, county, tract, block group and block in a 15-digit code."""

Metadata = Sequence[tuple[str, str]]
"""Names and values of the lines in front of the header, e.g. ``("Classification", "Simulated")``."""


def metadata_lines(metadata: Metadata) -> bytes:
    """Return the lines in front of a header; a name or value never begins a line of its own."""
    return "".join(" ".join(f"# {name}: {value}".splitlines()) + "\n" for name, value in metadata).encode()


class _RecordWriter:
    """A file that is written part by part and has its name only after `close`.

    Attributes:
        records: written so far.
    """

    def __init__(self, path: Path, columns: Sequence[str], metadata: Metadata) -> None:
        self._file = _MicrodataFile(path, columns, metadata)
        self.records = 0

    def close(self) -> None:
        """Give the file its name."""
        self._file.leave(None, None, None)

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, or remove it after an exception."""
        self._file.leave(kind, error, trace)


class PersonWriter(_RecordWriter):
    """Writes person records part by part; the file has its name only after `close`.

    Records ascend by block and cell; EPNUM counts from 0 through all parts. Use it as a context manager: leaving it by
    an exception removes what was begun.
    """

    def __init__(self, path: Path, metadata: Metadata = ()) -> None:
        super().__init__(path, PL94_PERSONS.columns, metadata)

    def write(self, persons: BlockPopulation) -> None:
        """Append the records of some blocks, whose codes are larger than all before.

        Raises:
            ValueError: the population has other attributes or codes than the layout.
            PhexploreError: more records than EPNUM can number, or the disk is full.
        """
        _check(persons, "pl94_persons")
        if self.records + persons.total > LARGEST_EPNUM + 1:
            raise PhexploreError(
                f"The layout numbers persons up to {LARGEST_EPNUM:,}; there are more.", "Write a file per state."
            )
        endings = _person_endings()
        for block, ending, first in self._file.pieces(persons.rows(), persons.cells, persons.counts):
            for part in _equal_digits(self.records + first, len(block)):
                numbers = np.arange(part.start, part.stop)
                inside = slice(part.start - self.records - first, part.stop - self.records - first)
                self._file.write(
                    _beginnings(persons.geoids, block[inside], "MPD"),
                    digits(numbers, len(str(part.start))),
                    endings[ending[inside]],
                )
        self.records += persons.total


class UnitWriter(_RecordWriter):
    """Writes unit records part by part: in every block occupied units, vacant ones, then group quarters."""

    def __init__(self, path: Path, metadata: Metadata = ()) -> None:
        super().__init__(path, PL94_UNITS.columns, metadata)

    def write(self, units: BlockPopulation) -> None:
        """Append the records of some blocks, whose codes are larger than all before.

        Args:
            units: in the schema ``pl94_units``; `facilities` gives the group quarters (all columns but the first), none
                without it.

        Raises:
            ValueError: the population has other attributes or codes than the layout.
            PhexploreError: the disk is full.
        """
        _check(units, "pl94_units")
        table = unit_table(units)
        rows, kinds = np.nonzero(table)
        for block, ending, _ in self._file.pieces(rows, kinds, table[rows, kinds]):
            self._file.write(_beginnings(units.geoids, block, "MUD"), _UNIT_ENDINGS[ending])
        self.records += int(table.sum())


def unit_table(units: BlockPopulation) -> NDArray[np.int64]:
    """Return how many records of each of `UNIT_KINDS` every block has, ``int64[blocks, kinds]``."""
    quarters = np.zeros(units.blocks, np.int64)
    if units.facilities is not None:
        quarters = units.facilities[:, 1:].sum(axis=1, dtype=np.int64)
    # Cells of the schema: 0 vacant, 1 occupied.
    return np.concatenate([units.dense(0, units.blocks)[:, ::-1], quarters[:, None]], axis=1)


def write_persons(persons: BlockPopulation, path: Path, metadata: Metadata = ()) -> int:
    """Write one record per person, gzip-compressed when the name ends in ``.gz``; return how many.

    Args:
        persons: in the schema ``pl94_persons``.
        path: of the file, replaced as a whole.
        metadata: (name, value) lines written before the header.

    Raises:
        ValueError: the population is not in the schema ``pl94_persons``.
        PhexploreError: the file cannot be written.
    """
    with PersonWriter(path, metadata) as writer:
        writer.write(persons)
    return writer.records


def write_units(units: BlockPopulation, path: Path, metadata: Metadata = ()) -> int:
    """Write one record per housing unit and group quarters; return how many.

    Args:
        units: in the schema ``pl94_units``.
        path: of the file, replaced as a whole.
        metadata: (name, value) lines written before the header.

    Raises:
        ValueError: the population is not in the schema ``pl94_units``.
        PhexploreError: the file cannot be written.
    """
    with UnitWriter(path, metadata) as writer:
        writer.write(units)
    return writer.records


class _MicrodataFile:
    """The file under its temporary name."""

    def __init__(self, path: Path, columns: Sequence[str], metadata: Metadata) -> None:
        self._stack = contextlib.ExitStack()
        self._file = self._stack.enter_context(whole_file(path))
        if path.suffix == ".gz":
            packed = gzip.GzipFile("", "wb", _COMPRESSION, self._file, mtime=0)
            self._file = cast("IO[bytes]", self._stack.enter_context(packed))
        self._file.write(metadata_lines(metadata) + "|".join(columns).encode() + b"\n")

    def pieces(
        self, rows: NDArray[np.integer], kinds: NDArray[np.integer], counts: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], int]]:
        """Yield row and kind of each record of a list of filled cells, some records at a time, and the first's number."""
        ends = np.cumsum(counts, dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        for first in range(0, total, RECORDS_AT_ONCE):
            last = min(first + RECORDS_AT_ONCE, total)
            low, high = np.searchsorted(ends, [first, last - 1], side="right")
            part = slice(int(low), int(high) + 1)
            stops = np.minimum(ends[part], last)
            repeats = np.diff(stops, prepend=first)
            yield (
                np.repeat(rows[part].astype(np.int64), repeats),
                np.repeat(kinds[part].astype(np.int64), repeats),
                first,
            )

    def write(self, *columns: Letters) -> None:
        """Write equally many rows of letters side by side."""
        self._file.write(np.concatenate(columns, axis=1).tobytes())

    def leave(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Give the file its name, or remove it after an exception."""
        self._stack.__exit__(kind, error, trace)


def _check(population: BlockPopulation, schema: str) -> None:
    if population.schema.id != schema or population.layout != CENSUS_BLOCKS:
        raise ValueError(f"the layout holds {schema} of census blocks, got {population.schema.id}")


def _beginnings(geoids: NDArray[np.str_], blocks: NDArray[np.int64], kind: str) -> Letters:
    """Return the records up to the bar behind the block, ``uint8[records, 31]``."""
    first, last = int(blocks[0]), int(blocks[-1]) + 1
    code = characters(geoids[first:last], CENSUS_BLOCKS.public_length).astype(np.uint8)
    bar = np.full((last - first, 1), ord("|"), np.uint8)
    front = np.tile(np.frombuffer(f"{kind}|{SCHEMA_BUILD_ID}|".encode(), np.uint8), (last - first, 1))
    parts = [column for low, high in PARTS for column in (code[:, low:high], bar)]
    return np.concatenate([front, *parts], axis=1)[blocks - first]


def _person_endings() -> Letters:
    """Return what follows EPNUM in a record of each cell, ``uint8[cells, 12]``."""
    schema = load_schema("pl94_persons")
    quarters, adult, hispanic, race = np.unravel_index(np.arange(schema.cells), schema.shape)
    lines = [
        f"|{5 if kind else 3}|{kind}|{age + 1}|{ethnicity + 1}|{code + 1:02d}\n"
        for kind, age, ethnicity, code in zip(
            quarters.tolist(), adult.tolist(), hispanic.tolist(), race.tolist(), strict=True
        )
    ]
    return _letters(lines)


def _letters(lines: Sequence[str]) -> Letters:
    return np.frombuffer("".join(lines).encode(), np.uint8).reshape(len(lines), -1)


UNIT_KINDS = (("2", "1"), ("2", "2"), ("4", "0"))
"""RTYPE and HH_STATUS of an occupied unit, a vacant one, group quarters."""
_UNIT_ENDINGS = _letters([f"{'|'.join(kind)}\n" for kind in UNIT_KINDS])


def _equal_digits(first: int, records: int) -> Iterator[range]:
    """Yield the running numbers ``first`` to ``first + records - 1`` in ranges of equally many digits."""
    start, stop = first, first + records
    while start < stop:
        end = min(stop, 10 ** len(str(start)))
        yield range(start, end)
        start = end
