"""The compiled inner loops of the PHSafe tabulation. They know look-up tables, not tables of the S-DHC.

All person tables are counted in one pass over the persons. Counts go to one flat ``int64`` array that holds, for every
table one after the other, ``[state, group, atom]`` (atoms: see `phexplore.data.classification`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

STATE_SLOTS = 100
"""Places for states in every count array: one per two-digit FIPS code."""

LARGEST_SIZE = 1000
"""Households are counted by size up to here; the last place also takes larger ones."""

NOBODY, HOUSEHOLDER, PERSON = 0, 1, 2
"""Whose race and Hispanic origin decide the group of a table's records."""


class Coded(NamedTuple):
    """The records of one frame, ready to be classed.

    Attributes:
        columns: ``uint8[n]`` each: the columns of the classes.
        summands: ``uint16[columns, 256]``; see `CodeClasses`.
        class_of: ``uint16[grid]``.
        race: ``uint8[n]``.
        hispanic: ``uint8[n]``.
        group_summands: ``uint16[2, 256]``; see `Groups`.
        group_of: ``uint8[grid]``.
    """

    columns: tuple[NDArray[np.uint8], ...]
    summands: NDArray[np.uint16]
    class_of: NDArray[np.uint16]
    race: NDArray[np.uint8]
    hispanic: NDArray[np.uint8]
    group_summands: NDArray[np.uint16]
    group_of: NDArray[np.uint8]


class Persons(NamedTuple):
    """The person side of the join.

    Attributes:
        row: ``int32[n]``: first located unit of each person, -1 for none.
        coded: the person records.
    """

    row: NDArray[np.int32]
    coded: Coded


class Units(NamedTuple):
    """The unit side of the join, one entry per located unit.

    Attributes:
        record: ``uint32[n]``: class << 16 | group << 8 | state.
        following: ``int32[n]``: next located unit with the same MAFID, empty when none repeats.
    """

    record: NDArray[np.uint32]
    following: NDArray[np.int32]


class Layout(NamedTuple):
    """Where each person table counts.

    Attributes:
        atoms: ``int8[unit classes, person classes, tables]``.
        person_in: ``bool[person classes, tables]``: rows that count towards a truncation threshold.
        unit_in: ``bool[unit classes, tables]``.
        source: ``int64[tables]``: `NOBODY`, `HOUSEHOLDER` or `PERSON`.
        offset: ``int64[tables]``: first place of the table in the flat counts.
        groups: ``int64[tables]``: groups per state.
        width: ``int64[tables]``: atoms per group.
        every_match: a person counts once per matching unit of a repeated MAFID; otherwise only if exactly one matches.
    """

    atoms: NDArray[np.int8]
    person_in: NDArray[np.bool_]
    unit_in: NDArray[np.bool_]
    source: NDArray[np.int64]
    offset: NDArray[np.int64]
    groups: NDArray[np.int64]
    width: NDArray[np.int64]
    every_match: bool


@njit(cache=True, nogil=True)
def _class(coded: Any, row: int) -> Any:
    index = 0
    for column in range(len(coded.columns)):
        index += coded.summands[column, coded.columns[column][row]]
    return np.int64(coded.class_of[index])


@njit(cache=True, nogil=True)
def _group(coded: Any, row: int) -> Any:
    summands = coded.group_summands
    return np.int64(coded.group_of[summands[0, coded.race[row]] + summands[1, coded.hispanic[row]]])


@njit(cache=True, nogil=True)
def _add(counts: Any, layout: Any, table: int, record: int, person_class: int, person_group: int) -> None:
    atom = layout.atoms[record >> 16, person_class, table]
    if atom < 0:
        return
    group = 0
    if layout.source[table] == 1:
        group = (record >> 8) & 0xFF
    elif layout.source[table] == 2:
        group = person_group
    place = ((record & 0xFF) * layout.groups[table] + group) * layout.width[table] + atom
    counts[layout.offset[table] + place] += 1


@njit(cache=True, nogil=True)
def _add_repeated(
    counts: Any, units: Any, layout: Any, table: int, first: int, person_class: int, person_group: int
) -> None:
    matches = 0
    match = first
    row = first
    while row >= 0:
        record = np.int64(units.record[row])
        if layout.unit_in[record >> 16, table]:
            matches += 1
            match = row
            if layout.every_match:
                _add(counts, layout, table, record, person_class, person_group)
        row = units.following[row]
    if matches == 1 and not layout.every_match:
        _add(counts, layout, table, np.int64(units.record[match]), person_class, person_group)


@njit(cache=True, nogil=True)
def count_persons(persons: Any, units: Any, layout: Any, counts: Any, sizes: Any) -> None:
    """Count every joined person in every person table, untruncated.

    Args:
        persons: `Persons`.
        units: `Units`.
        layout: `Layout`.
        counts: ``int64[places]``, added to.
        sizes: ``uint16[located units, tables]``, added to, saturating: persons per MAFID that count towards the
            threshold of each table, kept at the first unit of the MAFID. Zero rows: not wanted.
    """
    tables = layout.person_in.shape[1]
    repeats = len(units.following) > 0
    wanted = len(sizes) > 0
    for person in range(len(persons.row)):
        row = persons.row[person]
        if row < 0:
            continue
        person_class = _class(persons.coded, person)
        person_group = _group(persons.coded, person)
        if repeats and units.following[row] >= 0:
            for table in range(tables):
                _add_repeated(counts, units, layout, table, row, person_class, person_group)
        else:
            record = np.int64(units.record[row])
            for table in range(tables):
                _add(counts, layout, table, record, person_class, person_group)
        if wanted:
            for table in range(tables):
                if layout.person_in[person_class, table] and sizes[row, table] < 65535:
                    sizes[row, table] += 1


@njit(cache=True, nogil=True)
def select_oversized(persons: Any, layout: Any, sizes: Any, thresholds: Any) -> Any:
    """Return the persons whose household exceeds a threshold of a table that counts them: ``int64[n]``, ascending.

    Args:
        persons: `Persons`.
        layout: `Layout`.
        sizes: ``uint16[located units, tables]`` from `count_persons`.
        thresholds: ``int64[tables]``: τ per person table.
    """
    selected = np.empty(1024, np.int64)
    count = 0
    for person in range(len(persons.row)):
        row = persons.row[person]
        if row < 0:
            continue
        oversized = False
        for table in range(len(thresholds)):
            oversized |= sizes[row, table] > thresholds[table]
        if not oversized:
            continue
        person_class = _class(persons.coded, person)
        for table in range(len(thresholds)):
            if sizes[row, table] > thresholds[table] and layout.person_in[person_class, table]:
                if count == len(selected):
                    longer = np.empty(2 * count, np.int64)
                    longer[:count] = selected
                    selected = longer
                selected[count] = person
                count += 1
                break
    return selected[:count].copy()


@njit(cache=True, nogil=True)
def count_dropped(persons: Any, units: Any, layout: Any, thresholds: Any, ordered: Any, counts: Any) -> None:
    """Count the persons beyond the threshold of each table, in the order production keeps them.

    Args:
        persons: `Persons`.
        units: `Units`.
        layout: `Layout`.
        thresholds: ``int64[tables]``.
        ordered: ``int64[n]``: the persons of `select_oversized`, household by household, first kept first.
        counts: ``int64[places]``, added to.
    """
    tables = len(thresholds)
    repeats = len(units.following) > 0
    kept = np.zeros(tables, np.int64)
    household = -1
    for position in range(len(ordered)):
        person = ordered[position]
        row = persons.row[person]
        if row != household:
            household = row
            kept[:] = 0
        person_class = _class(persons.coded, person)
        person_group = _group(persons.coded, person)
        for table in range(tables):
            if not layout.person_in[person_class, table]:
                continue
            kept[table] += 1
            if kept[table] <= thresholds[table]:
                continue
            if repeats and units.following[row] >= 0:
                _add_repeated(counts, units, layout, table, row, person_class, person_group)
            else:
                _add(counts, layout, table, np.int64(units.record[row]), person_class, person_group)


@njit(cache=True, nogil=True)
def count_sizes(units: Any, layout: Any, sizes: Any, households: Any) -> None:
    """Count households by the number of their persons a table would count.

    Args:
        units: `Units`.
        layout: `Layout`.
        sizes: ``uint16[located units, tables]`` from `count_persons`.
        households: ``int64[tables, LARGEST_SIZE + 1]``, added to.
    """
    repeats = len(units.following) > 0
    for row in range(len(sizes)):
        for table in range(sizes.shape[1]):
            if sizes[row, table] == 0:
                continue
            matches = 0
            other = row
            while other >= 0:
                matches += layout.unit_in[np.int64(units.record[other]) >> 16, table]
                other = units.following[other] if repeats else -1
            if matches == 1:
                households[table, min(np.int64(sizes[row, table]), 1000)] += 1


@njit(cache=True, nogil=True)
def unit_records(coded: Any, unit: Any, state: Any, record: Any) -> None:
    """Write class << 16 | group << 8 | state of every located unit.

    Args:
        coded: `Coded` units.
        unit: ``int64[located units]``: row among the coded units.
        state: ``uint8[located units]``.
        record: ``uint32[located units]``, written.
    """
    for position in range(len(unit)):
        row = unit[position]
        record[position] = (_class(coded, row) << 16) | (_group(coded, row) << 8) | np.int64(state[position])


@njit(cache=True, nogil=True)
def count_units(record: Any, atoms: Any, weights: Any, weighted: Any, layout: Any, counts: Any, records: Any) -> None:
    """Count or sum every located unit in every unit table.

    Args:
        record: ``uint32[located units]`` as in `Units`.
        atoms: ``int8[unit classes, tables]``.
        weights: ``int32[located units]``: the summed column.
        weighted: ``bool[tables]``: sum the weights instead of counting.
        layout: ``int64[4, tables]``: source, offset, groups and width as in `Layout`.
        counts: ``int64[places]``, added to.
        records: ``int64[places]``, added to: plain counts, also of weighted tables.
    """
    for unit in range(len(record)):
        code = np.int64(record[unit])
        for table in range(atoms.shape[1]):
            atom = atoms[code >> 16, table]
            if atom < 0:
                continue
            group = (code >> 8) & 0xFF if layout[0, table] == 1 else 0
            place = layout[1, table] + ((code & 0xFF) * layout[2, table] + group) * layout[3, table] + atom
            counts[place] += weights[unit] if weighted[table] else 1
            records[place] += 1
