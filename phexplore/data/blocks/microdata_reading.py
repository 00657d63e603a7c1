"""Reading census microdata, one line per person or unit, into block populations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.collecting import CellCounter
from phexplore.data.blocks.delimited import Problems, missing_columns, read_batches
from phexplore.data.blocks.dhc_microdata_reading import dhc_microdata_from
from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, texts_of_numbers
from phexplore.data.blocks.layouts import LAYOUTS, DhcLayout, PersonLayout, whole
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
    from phexplore.data.blocks.layouts import Layout

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
    return _persons(header, layout) if isinstance(layout, PersonLayout) else _units(header, layout)


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


def _units(header: Header, layout: Layout) -> BlockPopulation:
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


def _statuses(rows: Records) -> NDArray[np.int64]:
    """Return HH_STATUS of each record; what is no code is reported and read as 0."""
    status, wrong = rows.column("HH_STATUS").numbers(_status)
    rows.refuse(wrong, "HH_STATUS", "HH_STATUS is not 0 (group quarters), 1 (occupied) or 2 (vacant).")
    return status


def _status(text: str) -> int | None:
    number = whole(text, 1)
    return number if number in {NOT_IN_UNIVERSE, OCCUPIED, VACANT} else None
