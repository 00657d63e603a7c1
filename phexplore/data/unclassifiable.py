"""The cross-field rules production's validation lacks: records its private run would stop at.

A private run of PHSafe 3.0.0 raises when a record of a table's universe fits no basis cell (own children in a
household type without own children, a couple type that contradicts the household type, no tenure in an occupied unit,
a group-quarters relationship in a household) or, at an iteration that must place everybody, has no race code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.catalog.races import iteration_levels
from phexplore.catalog.tables import RaceOf, TableProduct, own_tables
from phexplore.data.classification import GROUP_ITERATIONS, OUTSIDE, Classification, Mode, classification
from phexplore.data.mafid_index import MafidIndex
from phexplore.data.unit_geography import LocatedUnits, locate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from phexplore.data.population import SdhcData
    from phexplore.model.keys import TableId

_NO_CELL = "fits no basis cell"
_NO_RACE = "has no race code that any iteration A to G counts"

_BLOCK = 1 << 18
"""Persons looked at together: large enough for NumPy, small enough to add little memory."""


@dataclass(frozen=True, slots=True)
class UnclassifiableRecord:
    """A record that is counted by a table but belongs to none of its cells or groups.

    Attributes:
        table: the table that stops at the record.
        mafid: of the unit.
        person_row: row in the persons frame from 0, None when the unit alone is counted.
        unit_row: row in the units frame from 0.
        reason: what does not fit, as the end of a sentence.
    """

    table: TableId
    mafid: int
    person_row: int | None
    unit_row: int
    reason: str

    @property
    def fits_no_cell(self) -> bool:
        """Whether no basis cell takes the record; otherwise it has no place among the codes of an iteration."""
        return self.reason == _NO_CELL

    @property
    def sentence(self) -> str:
        """The finding in one sentence, without a value of the record."""
        return f"{self.table} counts a {'unit' if self.person_row is None else 'person'} whose record {self.reason}."


def unclassifiable_records(
    data: SdhcData,
    *,
    states: Collection[int] | None = None,
    table_ids: Collection[TableId] | None = None,
    limit: int = 1000,
) -> tuple[UnclassifiableRecord, ...]:
    """Return the records a private run would stop at, at most `limit`, without regard to truncation.

    Args:
        data: a population, or a chunk of whole households.
        states: FIPS codes of the states in the run, None for all.
        table_ids: the published tables, None for all.
        limit: the most findings reported; units first, then persons, in file order per table.
    """
    rules = classification(Mode.PRIVATE, own_tables(table_ids or ()))
    wanted = set(rules.membership) if table_ids is None else set(table_ids)
    located = locate(data.units, data.geo, states)
    found: list[UnclassifiableRecord] = []
    for finding in _findings(data, rules, located, wanted):
        if len(found) >= limit:
            break
        found.append(finding)
    return tuple(found)


def _findings(
    data: SdhcData, rules: Classification, located: LocatedUnits, wanted: set[TableId]
) -> Iterator[UnclassifiableRecord]:
    unit_class = rules.units.of(data.units)[located.unit]
    unit_group = rules.groups.of(data.units.hhrace, data.units.hhspan)[located.unit]
    unplaced = _unplaced(rules)
    for position, product in enumerate(rules.unit_tables):
        if product.id not in wanted:
            continue
        atoms = rules.unit_atoms[unit_class, position]
        yield from _unit_findings(data, product, located.unit[atoms == rules.unfit[product.id]], _NO_CELL)
        if product.iteration_source is RaceOf.HOUSEHOLDER:
            bad = (atoms != OUTSIDE) & unplaced[unit_group]
            yield from _unit_findings(data, product, located.unit[bad], _NO_RACE)
    rows = MafidIndex(located.mafid).rows(data.persons.mafid)
    person_class = rules.persons.of(data.persons)
    person_group = rules.groups.of(data.persons.cenrace, data.persons.cenhisp)
    for position, product in enumerate(rules.person_tables):
        if product.id not in wanted:
            continue
        for start in range(0, len(rows), _BLOCK):
            person = start + np.flatnonzero(rows[start : start + _BLOCK] >= 0)
            row = rows[person]
            atoms = rules.person_atoms[unit_class[row], person_class[person], position]
            bad = atoms == rules.unfit[product.id]
            yield from _person_findings(data, product, person[bad], located.unit[row[bad]], _NO_CELL)
            if product.iteration_source is RaceOf.NOBODY:
                continue
            group = person_group[person] if product.iteration_source is RaceOf.PERSON else unit_group[row]
            bad = (atoms != OUTSIDE) & unplaced[group]
            yield from _person_findings(data, product, person[bad], located.unit[row[bad]], _NO_RACE)


def _unplaced(rules: Classification) -> NDArray[np.bool_]:
    """Per group number: outside all codes of an iteration that must place everybody."""
    places = np.array(np.unravel_index(np.arange(rules.groups.count), rules.groups.shape))
    unplaced = np.zeros(rules.groups.count, bool)
    for axis, iteration in enumerate(GROUP_ITERATIONS):
        if iteration_levels()[iteration].complete:
            unplaced |= places[axis] == rules.groups.shape[axis] - 1
    return unplaced


def _unit_findings(
    data: SdhcData, product: TableProduct, unit_rows: NDArray[np.int64], reason: str
) -> Iterator[UnclassifiableRecord]:
    for row in unit_rows.tolist():
        yield UnclassifiableRecord(product.id, int(data.units.mafid[row]), None, row, reason)


def _person_findings(
    data: SdhcData,
    product: TableProduct,
    person_rows: NDArray[np.intp],
    unit_rows: NDArray[np.int64],
    reason: str,
) -> Iterator[UnclassifiableRecord]:
    for person, unit in zip(person_rows.tolist(), unit_rows.tolist(), strict=True):
        yield UnclassifiableRecord(product.id, int(data.units.mafid[unit]), person, unit, reason)
