"""Reading public block files: one line per block, 16 person cells, any further columns."""

from __future__ import annotations

import re
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
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from phexplore.data.blocks.delimited import Batch, CodedColumn

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


def blocks_from(header: Header) -> BlockPopulation:
    """Read a block file whose header is known.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    missing_columns(header, NEEDED, _REMEDY)
    counted = [*COUNT_COLUMNS, *(name for name in TOTALS if name in header.names)]
    places = [name for name in PLACE_CLASSES if name in header.names]
    problems = Problems(header.path)
    counts: list[NDArray[np.int64]] = []
    codes: list[NDArray[np.str_]] = []
    areas: list[list[NDArray[np.str_]]] = [[] for _ in places]
    width = 0
    for batch in read_batches(header, [*counted, *places], ["geoid"]):
        width = width or _width(batch)
        codes.append(_codes(problems, header, batch, width))
        counts.append(_counts(problems, header, batch, counted))
        for found, name in zip(areas, places, strict=True):
            found.append(batch.columns[name].strings())
    if not counts or not sum(len(part) for part in counts):
        problems.add("The file has no blocks.", "Check that it is the right one.", line=header.line)
    problems.finish()
    geoids, table = np.concatenate(codes), np.concatenate(counts)
    _refuse_repeated(problems, header, geoids)
    _refuse_contradictions(problems, header, table, counted)
    problems.finish()
    people, adults = table[:, :8], table[:, 8:16]
    return from_dense(
        load_schema("pl94_reduced16"),
        geoids,
        np.concatenate([people - adults, adults], axis=1),
        places={name: np.concatenate(found) for name, found in zip(places, areas, strict=True)},
        remarks=(_CUT,) if width < CENSUS_BLOCKS.public_length else (),
    )


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
        sentence=lambda row: f"geoid {column[row].as_py()[:40]!r} is not a block code of 15 digits.",
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
        _refuse_number(problems, header, batch, wrong, name=name, column=column)
    return table


def _refuse_number(
    problems: Problems,
    header: Header,
    batch: Batch,
    wrong: NDArray[np.bool_],
    *,
    name: str,
    column: CodedColumn,
) -> None:
    refuse(
        problems,
        header,
        wrong,
        column=name,
        sentence=lambda row: f"{name} {column.text(row)[:40]!r} is not a whole number from 0 to {LARGEST_COUNT:,}.",
        first=batch.first,
    )


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
        sentence=lambda row: f"geoid {geoids[row]!s} names a block a second time.",
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
            sentence=lambda row, at=place, of=group: (  # type: ignore[misc]
                f"vap_{of} {adults[row, at]} is larger than pop_{of} {people[row, at]}."
            ),
        )
    for name, parts in zip(TOTALS, (people, adults), strict=True):
        if name in names:
            written, sums = table[:, names.index(name)], parts.sum(axis=1)
            refuse(
                problems,
                header,
                written != sums,
                column=name,
                sentence=lambda row, of=name, wrote=written, add=sums: (  # type: ignore[misc]
                    f"{of} {wrote[row]} is not the sum of its eight groups, {add[row]}."
                ),
            )
