"""Reading census microdata, one line per person or unit, into block populations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.collecting import CellCounter
from phexplore.data.blocks.delimited import Problems, missing_columns, read_batches
from phexplore.data.blocks.dhc_microdata_reading import dhc_microdata_from
from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, texts_of_numbers
from phexplore.data.blocks.layouts import LAYOUTS, DhcLayout, UnitLayout, whole
from phexplore.data.blocks.microdata_records import (
    HOUSEHOLD_PERSON,
    HOUSING_UNIT,
    QUARTERS,
    QUARTERS_PERSON,
    BlockAreas,
    Records,
    check_any,
)
from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.blocks.delimited import Header
    from phexplore.data.blocks.layouts import Layout, PersonLayout

NOT_IN_UNIVERSE, OCCUPIED, VACANT = 0, 1, 2
"""Codes of HH_STATUS."""

HOUSING_UNITS_PLACE, QUARTERS_PLACE = 0, 1
"""Columns of `BlockPopulation.facilities` of a unit file: housing units, group quarters of any type."""


def recognise(header: Header, wanted: str = "") -> Layout | None:
    """Return the layout a header belongs to, None if to none.

    Args:
        header: of the file.
        wanted: id of the schema that is preferred: records of 2020 tell the cells of the redistricting data and those of the DHC.
    """
    names = set(header.names)
    found = [layout for layout in LAYOUTS if layout.recognised_by <= names]
    return next((layout for layout in found if layout.schema == wanted), next(iter(found), None))


def microdata_from(header: Header, layout: Layout) -> BlockPopulation:
    """Read microdata whose header is known.

    Args:
        header: of the file.
        layout: that the header was recognised as.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    missing_columns(header, layout.needed, f"{layout.title}: the columns are {', '.join(layout.columns)}.")
    if isinstance(layout, DhcLayout):
        return dhc_microdata_from(header, layout)
    return _units(header, layout) if isinstance(layout, UnitLayout) else _persons(header, layout)


def _persons(header: Header, layout: PersonLayout) -> BlockPopulation:
    schema = load_schema(layout.schema)
    problems = Problems(header.path)
    counter = CellCounter(schema.cells)
    by_attribute = {column.attribute: column for column in layout.attributes}
    records = 0
    areas = BlockAreas(header.names)
    for batch in read_batches(header, [*layout.needed, *areas.columns]):
        rows = Records(problems, header, batch)
        blocks = rows.blocks(layout.geography)
        areas.add(rows, blocks)
        levels = {name: rows.levels(column) for name, column in by_attribute.items()}
        rows.check_type(np.where(levels[layout.quarters] > 0, QUARTERS_PERSON, HOUSEHOLD_PERSON))
        cells = np.ravel_multi_index([levels[attribute.name] for attribute in schema.attributes], schema.shape)
        rows.check_rules(schema, cells, by_attribute[layout.quarters].name)
        counter.add(blocks, cells.astype(np.int64))
        records += batch.rows
    check_any(problems, header, records)
    problems.finish()
    numbers, places, cells, counts = counter.result()
    return from_filled(
        schema,
        geoids := texts_of_numbers(numbers, CENSUS_BLOCKS.public_length),
        rows=places,
        cells=cells,
        counts=counts,
        places=areas.of(numbers, geoids),
        remarks=(f"{layout.title}: blocks without persons are absent.",),
    )


def _units(header: Header, layout: UnitLayout) -> BlockPopulation:
    schema = load_schema("pl94_units")
    problems = Problems(header.path)
    # Cells 0 and 1 are those of the schema, vacant and occupied; 2 holds group quarters, which are outside of it.
    counter = CellCounter(schema.cells + 1)
    records = 0
    areas = BlockAreas(header.names)
    for batch in read_batches(header, [*layout.needed, *areas.columns]):
        rows = Records(problems, header, batch)
        blocks = rows.blocks(layout.geography)
        areas.add(rows, blocks)
        status = _statuses(rows)
        rows.check_type(np.where(status == NOT_IN_UNIVERSE, QUARTERS, HOUSING_UNIT))
        counter.add(blocks, np.array([2, 1, 0])[status])
        records += batch.rows
    check_any(problems, header, records)
    problems.finish()
    numbers, places, cells, counts = counter.result()
    table = np.zeros((len(numbers), schema.cells + 1), np.int32)
    table[places, cells] = counts
    housing = table[:, : schema.cells].copy()
    units = cells < schema.cells
    return from_filled(
        schema,
        geoids := texts_of_numbers(numbers, CENSUS_BLOCKS.public_length),
        rows=places[units],
        cells=cells[units],
        counts=counts[units],
        facilities=np.stack([housing.sum(axis=1, dtype=np.int32), table[:, schema.cells]], axis=1),
        housing=housing,
        places=areas.of(numbers, geoids),
        remarks=(f"{layout.title}: group quarters are counted without their type.",),
    )


<<<<<<< HEAD
def _statuses(rows: Records) -> NDArray[np.int64]:
    """Return HH_STATUS of each record; what is no code is reported and read as 0."""
    coded = rows.column("HH_STATUS")
    status, wrong = coded.numbers(_status)
    rows.refuse(
        wrong,
        "HH_STATUS",
        lambda row: f"HH_STATUS {coded.text(row)[:40]!r} is not 0 (group quarters), 1 (occupied) or 2 (vacant).",
    )
    return status
=======
class _Areas:
    """Codes of areas off the spine, which microdata repeat on every record of a block."""

    def __init__(self, names: Sequence[str]) -> None:
        self._classes = [each for each in area_classes() if each.present(names)]
        self.columns = [column for each in self._classes for column in each.present(names)]
        self._of_block: dict[int, tuple[str, ...]] = {}

    def add(self, rows: _Records, blocks: NDArray[np.int64]) -> None:
        """Take the codes of the first record of every block; a record that says others is reported."""
        if not self.columns or not len(blocks):
            return
        coded = [rows.column(name) for name in self.columns]
        found, first, which = np.unique(blocks, return_index=True, return_inverse=True)
        for name, column in zip(self.columns, coded, strict=True):
            differs = column.index != column.index[first][which]
            rows.refuse(differs, name, _always(f"Its block lies in two areas of {name}."), _ONE_AREA)
        firsts = zip(*(column.strings()[first].tolist() for column in coded), strict=True)
        for block, texts in zip(found.tolist(), firsts, strict=True):
            known = self._of_block.setdefault(block, texts)
            if known != texts:
                name = next(each for each, one, other in zip(self.columns, known, texts, strict=True) if one != other)
                rows.refuse(
                    blocks == block, name, _always(f"Block {block:015d} lies in two areas of {name}."), _ONE_AREA
                )

    def of(self, numbers: NDArray[np.int64], geoids: NDArray[np.str_]) -> dict[str, NDArray[np.str_]]:
        """Return public codes by class, for the blocks with these numbers and codes."""
        if not self.columns or not len(numbers):
            return {each.name: each.public(np.empty(0, "U1"), geoids) for each in self._classes}
        every = zip(*(self._of_block[number] for number in numbers.tolist()), strict=True)
        columns = dict(zip(self.columns, map(np.array, every), strict=True))
        places = {}
        for each in self._classes:
            texts, *others = (columns[name] for name in each.present(self.columns))
            for other in others:
                texts = np.where(texts == "", other, texts)
            places[each.name] = each.public(texts, geoids)
        return places


_ONE_AREA = "Every record of a block names the same areas; fetch the file again."


class _Records:
    """The records of a batch as numbers. A record is reported once, for the first thing that is wrong with it."""

    def __init__(self, problems: Problems, header: Header, batch: Batch) -> None:
        self._problems = problems
        self._header = header
        self._batch = batch
        self._bad = np.zeros(batch.rows, bool)

    def refuse(
        self,
        wrong: NDArray[np.bool_],
        column: str,
        sentence: Callable[[int], str],
        remedy: str = "Correct the line, or leave it out.",
    ) -> None:
        """Report the records where `wrong` holds and that were not reported before."""
        refuse(
            self._problems,
            self._header,
            wrong & ~self._bad,
            column=column,
            sentence=sentence,
            remedy=remedy,
            first=self._batch.first,
        )
        self._bad |= wrong

    def column(self, name: str) -> CodedColumn:
        """Return a column of the batch."""
        return self._batch.columns[name]

    def blocks(self, geography: Sequence[GeographyColumn]) -> NDArray[np.int64]:
        """Return the 15 digits of each record's block as a number; what is no code is reported and read as 0."""
        parts = [self._numbers(column) for column in geography]
        state, county, tract, group, block = parts
        self.refuse(
            group != block // 1000,
            geography[3].name,
            lambda row: (
                f"{geography[3].name} {group[row]} is not the first digit of {geography[4].name} {block[row]:04d}."
            ),
        )
        return ((state * 1000 + county) * 10**6 + tract) * 10**4 + block

    def levels(self, column: AttributeColumn) -> NDArray[np.int64]:
        """Return the level of an attribute; what is no code is reported and read as 0."""
        return self._numbers(column)

    def status(self) -> NDArray[np.int64]:
        """Return HH_STATUS; what is no code is reported and read as 0."""
        coded = self._batch.columns["HH_STATUS"]
        status, wrong = coded.numbers(_status)
        self.refuse(
            wrong,
            "HH_STATUS",
            lambda row: f"HH_STATUS {coded.text(row)[:40]!r} is not 0 (group quarters), 1 (occupied) or 2 (vacant).",
        )
        return status

    def check_type(self, expected: NDArray[np.int64]) -> None:
        """Report records whose RTYPE says something else than their other columns."""
        coded = self._batch.columns["RTYPE"]
        found, _ = coded.numbers(lambda text: whole(text, 1))
        self.refuse(
            found != expected,
            "RTYPE",
            lambda row: f"RTYPE is {coded.text(row)[:40]!r}, the rest of the record says {expected[row]}.",
            "RTYPE is 3 for a person in a household, 5 in group quarters, 2 for a housing unit, 4 for group quarters.",
        )

    def check_rules(self, schema: Schema, cells: NDArray[np.int64], column: str) -> None:
        """Report records in cells that the schema keeps empty."""
        for zero in schema.structural_zeros:
            sentence = f"The record breaks a rule: {zero.title[0].lower()}{zero.title[1:]}."
            self.refuse(schema.selection(zero.where)[cells], column, _always(sentence), "Correct the age or the type.")

    def _numbers(self, column: GeographyColumn | AttributeColumn) -> NDArray[np.int64]:
        coded = self._batch.columns[column.name]
        numbers, wrong = coded.numbers(column.number)
        self.refuse(wrong, column.name, lambda row: f"{column.name} {coded.text(row)[:40]!r} is not {column.legal}.")
        return numbers


def _always(sentence: str) -> Callable[[int], str]:
    return lambda _: sentence
>>>>>>> 50ce0aa9 (Read microdata of a state in less time; treat blocks of water; hold the forms of 2000 and of 2020 to samples)


def _status(text: str) -> int | None:
    number = whole(text, 1)
    return number if number in {NOT_IN_UNIVERSE, OCCUPIED, VACANT} else None
