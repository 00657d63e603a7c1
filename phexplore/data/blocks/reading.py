"""Reading public block files: one line per block, 16 person cells, any further columns."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.delimited import (
    Header,
    Problems,
    digit_codes,
    missing_columns,
    read_batches,
    refuse,
)
from phexplore.data.blocks.geocodes import CENSUS_BLOCKS
from phexplore.data.blocks.layouts import VALID_STATES
from phexplore.data.blocks.population import BlockPopulation, from_dense
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from phexplore.data.blocks.delimited import Batch

GROUPS = ("hisp", "white", "black", "aian", "asian", "nhpi", "other", "two")
"""Columns of the race and ethnicity groups in the order of the schema ``pl94_reduced16``."""

COUNT_COLUMNS = tuple(f"{kind}_{group}" for kind in ("pop", "vap") for group in GROUPS)
NEEDED = ("geoid", *COUNT_COLUMNS)
"""The columns a block file must have."""

TOTALS = ("pop", "vap")
"""Columns with the sums of the groups; checked where they stand."""

PLACE_CLASSES = ("place", "cousub", "school_dist", "secondary_sd", "aiannh", "sldu", "sldl", "zcta")
"""Columns with codes of areas off the spine; each names its class."""

LARGEST_COUNT = 10**7
"""More people than any census block can hold."""

_REMEDY = (
    "A block file has geoid and the columns pop_ and vap_ for hisp, white, black, aian, asian, nhpi, other and two."
)
_CUT = "The block codes have 14 digits: their leading zero was put back."
_CUT_STATES = np.array([f"{state:02d}" for state in sorted(VALID_STATES) if state < 10])
_WHOLE = re.compile(r"\s*(\d{1,12})(\.0*)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Some lines of a block file.

    Attributes:
        codes: ``U15[rows]``.
        counts: ``int64[rows, columns]``.
        areas: ``U[rows]`` per class of area.
    """

    codes: NDArray[np.str_]
    counts: NDArray[np.int64]
    areas: tuple[NDArray[np.str_], ...]

    def part(self, first: int, last: int) -> _Rows:
        return _Rows(self.codes[first:last], self.counts[first:last], tuple(each[first:last] for each in self.areas))


class _BlockFile:
    """A block file while it is read."""

    def __init__(self, header: Header) -> None:
        missing_columns(header, NEEDED, _REMEDY)
        self.header = header
        self.counted = [*COUNT_COLUMNS, *(name for name in TOTALS if name in header.names)]
        self.places = [name for name in PLACE_CLASSES if name in header.names]
        self.problems = Problems(header.path)
        self.width = 0

    def rows(self) -> Iterator[_Rows]:
        """Yield the lines, some at a time; what is wrong is collected."""
        problems, header = self.problems, self.header
        any_rows = False
        for batch in read_batches(header, [*self.counted, *self.places], ["geoid"]):
            self.width = self.width or _width(batch)
            any_rows |= batch.rows > 0
            yield _Rows(
                _codes(problems, header, batch, self.width),
                _counts(problems, header, batch, self.counted),
                tuple(batch.columns[name].strings() for name in self.places),
            )
        if not any_rows:
            problems.add("The file has no blocks.", "Check that it is the right one.", line=header.line)

    def population(self, parts: Sequence[_Rows], classes: Sequence[str] = ()) -> BlockPopulation:
        """Return lines as a population.

        Args:
            parts: of the file.
            classes: of areas that the population has besides those of the file, with no area in any.

        Raises:
            InputProblemsError: every problem with line and column.
        """
        self.problems.finish()
        geoids, table = (np.concatenate([getattr(part, name) for part in parts]) for name in ("codes", "counts"))
        _refuse_repeated(self.problems, self.header, geoids)
        _refuse_contradictions(self.problems, self.header, table, self.counted)
        self.problems.finish()
        people, adults = table[:, :8], table[:, 8:16]
        places = {
            name: np.concatenate(found)
            for name, found in zip(self.places, zip(*(part.areas for part in parts), strict=True), strict=False)
        }
        places |= {name: np.full(len(geoids), "") for name in classes if name not in places}
        return from_dense(
            load_schema("pl94_reduced16"),
            geoids,
            np.concatenate([people - adults, adults], axis=1),
            places={name: places[name] for name in PLACE_CLASSES if name in places},
            remarks=(_CUT,) if self.width < CENSUS_BLOCKS.public_length else (),
        )


def in_small_letters(header: Header) -> Header:
    """Return the header of a block file as the reader knows it, whatever the case of its letters; others as they are."""
    small = replace(header, names=tuple(name.lower() for name in header.names))
    meant = is_block_file(small) and not is_block_file(header) and len(set(small.names)) == len(small.names)
    return small if meant else header


def is_block_file(header: Header) -> bool:
    """Return whether a header is meant to be that of a block file, be it complete or not."""
    return "geoid" in header.names and any(name in header.names for name in COUNT_COLUMNS)


def blocks_from(header: Header) -> BlockPopulation:
    """Read a block file whose header is known.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    file = _BlockFile(header)
    parts = list(file.rows())
    return file.population(parts)


def states_from(header: Header, classes: Sequence[str] = ()) -> Iterator[BlockPopulation]:
    """Read a block file state by state, holding one at a time.

    Args:
        header: of the file, the lines of each state together.
        classes: of areas that other files of the same population have.

    Raises:
        InputProblemsError: every problem with line and column; a state that stands in two places of the file.
    """
    file = _BlockFile(header)
    held: list[_Rows] = []
    seen: set[str] = set()
    for rows in file.rows():
        states = rows.codes.astype("U2")
        edges = [0, *(np.flatnonzero(states[1:] != states[:-1]) + 1).tolist(), len(states)]
        for first, last in pairwise(edges):
            part, state = rows.part(first, last), str(states[first])
            if held and str(held[-1].codes[-1])[:2] != state:
                yield file.population(held, classes)
                held = []
            if not held and state in seen:
                file.problems.add(
                    "The blocks of a state are not on consecutive lines.", "Sort the file by geoid.", line=1
                )
                file.problems.finish()
            seen.add(state)
            held.append(part)
    file.problems.finish()
    yield file.population(held, classes)


def _width(batch: Batch) -> int:
    """Return how many digits the codes of a file have: 14 where all of them lost the leading zero of their state."""
    full = CENSUS_BLOCKS.public_length
    _, wrong = digit_codes(batch.identifiers["geoid"], full - 1)
    return full if wrong.any() else full - 1


def _codes(problems: Problems, header: Header, batch: Batch, width: int) -> NDArray[np.str_]:
    column = batch.identifiers["geoid"]
    geoids, wrong = digit_codes(column, width)
    if width < CENSUS_BLOCKS.public_length:
        geoids = np.char.add("0", geoids)
        wrong |= ~np.isin(geoids.astype("U2"), _CUT_STATES)
    refuse(
        problems,
        header,
        wrong,
        column="geoid",
        sentence="geoid is not a block code of 15 digits.",
        remedy="Write state 2, county 3, tract 6 and block 4 digits; a spreadsheet may have cut the leading zero.",
        first=batch.first,
    )
    return geoids


def _counts(problems: Problems, header: Header, batch: Batch, names: Sequence[str]) -> NDArray[np.int64]:
    """Return whole numbers of 0 or more, ``int64[rows, names]``; others are reported and read as 0."""
    table = np.empty((batch.rows, len(names)), np.int64)
    for place, name in enumerate(names):
        column = batch.columns[name]
        table[:, place], wrong = column.numbers(whole_count)
        sentence = f"{name} is not a whole number from 0 to {LARGEST_COUNT:,}."
        refuse(problems, header, wrong, column=name, sentence=sentence, first=batch.first)
    return table


def whole_count(text: str) -> int | None:
    """Return a text as a count, None where it is none; ``12.0`` is 12."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    number = int(match[1])
    return number if number <= LARGEST_COUNT else None


def _refuse_repeated(problems: Problems, header: Header, geoids: NDArray[np.str_]) -> None:
    if (geoids[1:] > geoids[:-1]).all():
        return
    order = np.argsort(geoids, kind="stable")
    repeated = np.zeros(len(geoids), bool)
    repeated[order[1:]] = geoids[order[1:]] == geoids[order[:-1]]
    refuse(
        problems,
        header,
        repeated,
        column="geoid",
        sentence="geoid is that of an earlier line.",
        remedy="Keep one line per block.",
    )


def _refuse_contradictions(problems: Problems, header: Header, table: NDArray[np.int64], names: Sequence[str]) -> None:
    people, adults = table[:, :8], table[:, 8:16]
    for place, group in enumerate(GROUPS):
        refuse(
            problems,
            header,
            adults[:, place] > people[:, place],
            column=f"vap_{group}",
            sentence=f"vap_{group} is larger than pop_{group}.",
        )
    for name, parts in zip(TOTALS, (people, adults), strict=True):
        if name in names:
            written, sums = table[:, names.index(name)], parts.sum(axis=1)
            refuse(
                problems,
                header,
                written != sums,
                column=name,
                sentence=f"{name} is not the sum of its eight groups.",
            )
