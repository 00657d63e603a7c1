"""Privacy-protected microdata of 2020 and of the demonstrations of 2010: persons, units, and units counted by block.

Facts: ../shared/data/published/NOTES.md, section 4. Codes are those of the microdata detail files, which `phexplore.data.blocks` reads with
all codes of areas; what the published forms add is said here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.delimited import Header, Problems, missing_columns, read_batches, read_header, refuse
from phexplore.data.blocks.facilities import join_units
from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, texts_of_numbers
from phexplore.data.blocks.layouts import PL94_UNITS, GeographyColumn, PersonLayout
from phexplore.data.blocks.microdata_reading import microdata_from, recognise
from phexplore.data.blocks.population import BlockPopulation, from_dense, from_filled
from phexplore.data.blocks.reading import whole_count
from phexplore.data.blocks.source import read_population as read_blocks
from phexplore.published.forms import Part, Published
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COUNTED = ("VACANT_COUNT", "OCCUPIED_COUNT")
_BEFORE_2021 = "2020"
_OF_UNITS = {"pl94_units", "dhc_households"}


def population(found: Published, seed: int = 0) -> BlockPopulation:
    """Return people or units by block; units beside persons are joined to them.

    Args:
        found: what was recognised.
        seed: not used: nothing is invented.

    Raises:
        InputProblemsError: the files cannot be read, or persons and units contradict each other.
    """
    del seed
    units = next((group for group in found.beside if group.kind == "ppmf-units"), None)
    if units is not None and found.wanted in _OF_UNITS:
        return population(replace(units, wanted=found.wanted))
    made = _united(found, [read_part(found, part) for part in found.parts])
    if units is None:
        return made
    beside = "dhc_households" if made.schema.id == "dhc_persons" else ""
    return join_units(made, population(replace(units, wanted=beside)))


def _united(found: Published, parts: Sequence[BlockPopulation]) -> BlockPopulation:
    """Return the blocks of several files, one per state as a rule, as one population."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if len({part.schema.id for part in parts}) > 1:
        raise found.refused("the files count different things.", "Name files of one kind.")
    geoids = np.concatenate([part.geoids for part in parts])
    order = np.argsort(geoids, kind="stable")
    ordered = geoids[order]
    if (twice := np.flatnonzero(ordered[1:] == ordered[:-1])).size:
        raise found.refused(f"the block {ordered[int(twice[0])]} stands in two files.", "Name one file per state.")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    before = np.cumsum([0, *(part.blocks for part in parts)])
    further = {
        name: np.concatenate([getattr(part, name) for part in parts])[order]
        for name in ("facilities", "housing")
        if all(getattr(part, name) is not None for part in parts)
    }
    shared = set.intersection(*(set(part.places) for part in parts))
    return from_filled(
        first.schema,
        ordered,
        rows=place[np.concatenate([part.rows() + start for part, start in zip(parts, before, strict=False)])],
        cells=np.concatenate([part.cells for part in parts]),
        counts=np.concatenate([part.counts for part in parts]),
        places={name: np.concatenate([part.places[name] for part in parts])[order] for name in sorted(shared)},
        remarks=first.remarks,
        **further,
    )


def read_part(found: Published, part: Part) -> BlockPopulation:
    """Return the people or units of one file.

    Args:
        found: what it belongs to.
        part: the file.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    path = part.path
    if found.kind == "blocks":
        return read_blocks(path)
    header = read_header(path)
    if part.layout == "ppmf-2010-unit-counts":
        return _counted(header)
    known = recognise(header, found.wanted)
    if known is None:
        raise found.refused(
            "its columns are not those of persons or units that can be simulated.", _REMEDY, path, header.line
        )
    if isinstance(known, PersonLayout) and _vintage(header).startswith(_BEFORE_2021):
        ages = [
            replace(column, levels={0: 0, 1: 1}) if column.name == "VOTING_AGE" else column
            for column in known.attributes
        ]
        known = replace(known, attributes=tuple(ages))
    return microdata_from(header, known)


_REMEDY = "Take files of persons or units of the redistricting data (GQTYPE_PL, VOTING_AGE; HH_STATUS) or of the DHC (QAGE; HHSIZE)."


def _vintage(header: Header) -> str:
    """Return the vintage of the first record: until 2020 voting age was coded 0 and 1."""
    if "VINTAGE" not in header.names:
        return ""
    first = next(read_batches(header, ["VINTAGE"]), None)
    return first.columns["VINTAGE"].text(0) if first is not None and first.rows else ""


def _counted(header: Header) -> BlockPopulation:
    """Read units counted by block, one line per block.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    problems = Problems(header.path)
    geography = [_present(header, column) for column in PL94_UNITS.geography]
    names = [*(column.name for column in geography), *_COUNTED]
    missing_columns(header, names, "Fetch the file again.")
    numbers, tables = [], []
    for batch in read_batches(header, names):
        number = np.zeros(batch.rows, np.int64)
        for column in geography:
            number = _with_digits(
                problems, header, batch.columns[column.name].numbers(column.number), column, batch.first, number
            )
        table = np.zeros((batch.rows, 2), np.int64)
        for place, name in enumerate(_COUNTED):
            table[:, place], wrong = batch.columns[name].numbers(whole_count)
            _refuse_counts(problems, header, wrong, name, batch.first)
        numbers.append(number)
        tables.append(table)
    problems.finish()
    found = np.concatenate(numbers) if numbers else np.zeros(0, np.int64)
    _, first = np.unique(found, return_index=True)
    twice = np.ones(len(found), bool)
    twice[first] = False
    refuse(problems, header, twice, column=geography[-1].name, sentence=lambda _: "The block stands twice.")
    if not len(found):
        problems.add("The file has no records.", "Check that it is the right one.", line=header.line)
    problems.finish()
    housing = np.concatenate(tables)
    units = np.concatenate([housing.sum(axis=1, keepdims=True), np.zeros((len(found), 1), np.int64)], axis=1)
    return from_dense(
        load_schema("pl94_units"),
        texts_of_numbers(found, CENSUS_BLOCKS.public_length),
        housing,
        housing=housing.astype(np.int32),
        facilities=units.astype(np.int32),
        remarks=("Housing units were counted by block; group quarters are not in the file.",),
    )


def _refuse_counts(problems: Problems, header: Header, wrong: NDArray[np.bool_], name: str, first: int) -> None:
    refuse(problems, header, wrong, column=name, sentence=lambda _: f"{name} is no count.", first=first)


def _present(header: Header, column: GeographyColumn) -> GeographyColumn:
    """Return a column of geography under the name the file gives it: later files cut the last letters."""
    short = {"TABTRACTCE": "TABTRACT", "TABBLKGRPCE": "TABBLKGRP"}.get(column.name, "")
    return replace(column, name=short) if column.name not in header.names and short in header.names else column


def _with_digits(
    problems: Problems,
    header: Header,
    numbers: tuple[NDArray[np.int64], NDArray[np.bool_]],
    column: GeographyColumn,
    first: int,
    before: NDArray[np.int64],
) -> NDArray[np.int64]:
    values, wrong = numbers
    refuse(
        problems,
        header,
        wrong,
        column=column.name,
        sentence=lambda _: f"{column.name} is not {column.legal}.",
        first=first,
    )
    return before if column.width == 1 else before * 10**column.width + values
