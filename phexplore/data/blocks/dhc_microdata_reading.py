"""Reading microdata of the DHC: 16 columns per person, 27 per unit (formats, sections 2.3 and 2.4).

Columns that follow from others (HHT2, UPART) are not read. A unit is a household, a vacant unit or group quarters; all of them are
counted by tenure, vacancy or type in the unit histogram of their block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.collecting import CellCounter
from phexplore.data.blocks.delimited import Problems, read_batches
from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, texts_of_numbers
from phexplore.data.blocks.household_cells import type_numbers
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
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from phexplore.data.blocks.delimited import Header
    from phexplore.data.blocks.layouts import DhcLayout

    Ints = NDArray[np.int64]

_HOUSEHOLDER, _INSTITUTIONAL, _NONINSTITUTIONAL = 20, 37, 38
_INSTITUTIONAL_TYPES, _RELATIONSHIPS, _TENURES, _HOUSING_UNITS, _UNIT_KINDS = 15, 18, 4, 11, 35
_COUPLES = np.array([0, 1, 2, 3, 4, 0])
"""Couples of the types of households by CPLT."""
_CHILDREN = np.array([0, 1, 2, 3, 0])
"""Ages of children by PAOC and PAC."""
_NOT_OWNED = 3
_IN_HOUSEHOLDS = ("HHSIZE", "HHT", "THHLDRAGE", "THHSPAN", "THHRACE", "HHSEX")


def dhc_microdata_from(header: Header, layout: DhcLayout) -> BlockPopulation:
    """Read microdata of the DHC whose header is known.

    Args:
        header: of the file.
        layout: that the header was recognised as.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    schema, problems, areas, records = load_schema(layout.schema), Problems(header.path), BlockAreas(header.names), 0
    counter, units = CellCounter(schema.cells), CellCounter(_UNIT_KINDS)
    is_person = schema.id == "dhc_persons"
    for batch in read_batches(header, [*layout.needed, *areas.columns]):
        rows = Records(problems, header, batch)
        blocks = rows.blocks(layout.geography)
        areas.add(rows, blocks)
        codes = {column.name: rows.levels(column) for column in layout.attributes}
        if is_person:
            cells, is_counted = _person_cells(rows, codes, schema.shape), np.ones(batch.rows, bool)
        else:
            kinds = _unit_kinds(rows, codes)
            units.add(blocks, kinds)
            is_counted = kinds < _TENURES
            cells = np.where(is_counted, _household_cells(rows, codes, schema.shape, is_counted), 0)
        rows.check_rules(schema, np.where(is_counted, cells, -1).astype(np.int64), layout.attributes[0].name)
        counter.add(blocks[is_counted], cells[is_counted].astype(np.int64))
        records += batch.rows
    check_any(problems, header, records)
    problems.finish()
    numbers, places, cells, counts = counter.result()
    further: dict[str, NDArray[np.int32]] = {}
    remarks = (f"{layout.title}: blocks without persons are absent.",)
    if not is_person:
        of_all, block, kind, count = units.result()
        table = np.zeros((len(of_all), _UNIT_KINDS), np.int32)
        table[block, kind] = count
        places, numbers = np.searchsorted(of_all, numbers)[places], of_all
        vacant, occupied = table[:, _TENURES:_HOUSING_UNITS].sum(axis=1), table[:, :_TENURES].sum(axis=1)
        further = {"facilities": table, "housing": np.stack([vacant, occupied], axis=1).astype(np.int32)}
        remarks = (f"{layout.title}: blocks without units are absent.",)
    geoids = texts_of_numbers(numbers, CENSUS_BLOCKS.public_length)
    return from_filled(
        schema,
        geoids,
        rows=places,
        cells=cells,
        counts=counts,
        places=areas.of(numbers, geoids),
        remarks=remarks,
        **further,
    )


def _person_cells(rows: Records, codes: Mapping[str, Ints], shape: tuple[int, ...]) -> Ints:
    """Return the cell of each person."""
    quarters, relation, alone = codes["GQTYPE"], codes["RELSHIP"], codes["LIVE_ALONE"]
    rows.check_type(np.where(quarters > 0, QUARTERS_PERSON, HOUSEHOLD_PERSON))
    in_quarters = np.where(quarters <= _INSTITUTIONAL_TYPES, _INSTITUTIONAL, _NONINSTITUTIONAL)
    fits = np.where(quarters > 0, relation == in_quarters, relation < _INSTITUTIONAL)
    rows.refuse(~fits, "RELSHIP", "RELSHIP does not fit the GQTYPE of the record.")
    fits = np.where(quarters > 0, alone == 0, (alone == 2) | ((alone == 1) & (relation == _HOUSEHOLDER)))
    rows.refuse(~fits, "LIVE_ALONE", "LIVE_ALONE does not fit the rest of the record.")
    head = relation == _HOUSEHOLDER
    member = np.where(head, np.where(alone == 1, 0, 1), np.clip(relation - _HOUSEHOLDER + 1, 0, _RELATIONSHIPS - 1))
    relgq = np.where(quarters > 0, _RELATIONSHIPS - 1 + quarters, member)
    place = (relgq, *(codes[name] for name in ("QSEX", "QAGE", "CENHISP", "CENRACE")))
    return np.ravel_multi_index(place, shape)


def _unit_kinds(rows: Records, codes: Mapping[str, Ints]) -> Ints:
    """Return tenure, vacancy or type of each unit, a number of the unit histogram."""
    quarters, tenure, vacancy = codes["GQTYPE"], codes["TEN"], codes["VACS"]
    rows.check_type(np.where(quarters > 0, QUARTERS, HOUSING_UNIT))
    several = (quarters > 0).astype(int) + (tenure > 0) + (vacancy > 0) != 1
    rows.refuse(several, "TEN", "Exactly one of TEN, VACS and GQTYPE must be above 0; here several are, or none.")
    for name in _IN_HOUSEHOLDS:
        wrong = (codes[name] > 0) != (tenure > 0)
        rows.refuse(wrong, name, f"{name} is above 0 in households and 0 in all other records.")
    kinds = np.where(
        tenure > 0, tenure - 1, np.where(vacancy > 0, _TENURES - 1 + vacancy, _HOUSING_UNITS - 1 + quarters)
    )
    return np.clip(kinds, 0, _UNIT_KINDS - 1)


def _household_cells(
    rows: Records, codes: Mapping[str, Ints], shape: tuple[int, ...], is_household: NDArray[np.bool_]
) -> Ints:
    """Return the cell of each household, of other records any."""
    size, household, couple = codes["HHSIZE"], codes["HHT"], _COUPLES[codes["CPLT"]]
    female = codes["HHSEX"] == 2
    married, relatives = (couple == 1) | (couple == 2), (household >= 1) & (household <= 3)
    other = np.where(relatives, 2 + female, 4 + 2 * female + (size > 1))
    wrong = is_household & (household != np.where(married, 1, other))
    rows.refuse(wrong, "HHT", "HHT does not fit the size, couple and sex of the record.")
    definition = np.stack(
        [
            size,
            (codes["MULTG"] == 2).astype(np.int64),
            couple,
            _CHILDREN[codes["PAOC"]],
            _CHILDREN[codes["PAC"]],
            relatives.astype(np.int64),
            codes["TP18"],
        ],
        axis=1,
    )
    kind = type_numbers(definition)
    rows.refuse(is_household & (kind < 0), "HHT", "The household fits none of the 522 types of the schema.")
    elderly = np.where(codes["TP75"], 3, np.where(codes["TP65"], 2, codes["TP60"]))
    tenure = np.clip(codes["TEN"], 1, _NOT_OWNED) - 1
    levels = (female, codes["THHLDRAGE"] - 1, codes["THHSPAN"] - 1, codes["THHRACE"] - 1, elderly, tenure, kind)
    place = tuple(np.where(is_household, np.maximum(level, 0), 0) for level in levels)
    return np.ravel_multi_index(place, shape)
